// SPDX-License-Identifier: MIT
#include "tensor/descriptor_cache.h"

#include "core/command_ring.h"
#include "tensor/mover_ring.h"

#define FETCH_ROOM COMMAND_FETCH_WORDS

struct descriptor_cache descriptor_cache;
struct tensor_template *descriptor_used;

void descriptor_init(void)
{
	unsigned i;

	for (i = 0; i < DESCRIPTORS; i++) {
		descriptor_cache.entry[i].address = descriptor_cache.entry[i].wanted = DESCRIPTOR_NONE;
		descriptor_cache.entry[i].fetching = false;
		descriptor_cache.entry[i].t.used = 0;
	}
	descriptor_cache.forgotten = 0;
	descriptor_used = NULL;
}

COLD enum descriptor_state descriptor_fetch(uint64_t address, unsigned asid)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);
	uint32_t low = (uint32_t)address, tag = (uint32_t)(address >> 32) | asid << 16;

	if (d->fetching)
		return DESCRIPTOR_COMES;
	if (&d->t == descriptor_used || !mover_taken(d->t.used))
		return DESCRIPTOR_BUSY;
	if (!command_ask(FETCH_ROOM))
		return DESCRIPTOR_LATER;
	counters.tmau_misses++;
	d->address = DESCRIPTOR_NONE;
	d->wanted = low;
	d->tag = tag;
	d->age = counters.acquires + descriptor_cache.forgotten;
	d->fetching = true;
	command_fetch(asid, 0, address, sizeof(struct tutti_tensor), &d->t,
		      TAG_TENSOR | (unsigned)(d - descriptor_cache.entry));
	return DESCRIPTOR_COMES;
}

COLD void descriptor_forget(uint64_t address, unsigned asid)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);

	if (!address) {
		descriptor_cache.forgotten++;
		return;
	}
	if (d->tag != ((uint32_t)(address >> 32) | asid << 16))
		return;
	if (d->address == (uint32_t)address)
		d->address = DESCRIPTOR_NONE;
	if (d->wanted == (uint32_t)address)
		d->wanted = DESCRIPTOR_NONE;
}

COLD void descriptor_event_fetch(unsigned number, const struct tutti_event *event)
{
	struct descriptor *d = &descriptor_cache.entry[number % DESCRIPTORS];
	struct tutti_tensor copy;

	d->fetching = false;
	if (d->wanted != DESCRIPTOR_NONE && d->age == counters.acquires + descriptor_cache.forgotten) {
		d->cause = event->word[0] >> 8 & 0xff;
		d->fault = event->word[1] | (uint64_t)event->word[2] << 32;
		words_copy(&copy, &d->t, sizeof(copy) / 4);
		if (d->cause)
			d->t.match = TENSOR_NO_MATCH;
		else
			descriptor_compile(&d->t, &copy);
		d->address = d->wanted;
	}
	d->wanted = DESCRIPTOR_NONE;
}

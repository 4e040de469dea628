// SPDX-License-Identifier: MIT
#include "tensor/descriptor_cache.h"

#include "core/command_ring.h"
#include "tensor/mover_ring.h"
#include "tensor/tensor_requests.h"

#define FETCH_ROOM COMMAND_FETCH_WORDS

struct descriptor descriptor_entries[DESCRIPTORS];
uint32_t descriptor_forgotten HOT_DATA;
struct tensor_template *descriptor_used;

void descriptor_init(void)
{
	unsigned i;

	for (i = 0; i < DESCRIPTORS; i++) {
		descriptor_entries[i].asid = descriptor_entries[i].wanted = DESCRIPTOR_NONE;
		descriptor_entries[i].fetching = descriptor_entries[i].late = false;
		descriptor_entries[i].t.used = 0;
	}
	descriptor_forgotten = 0;
	descriptor_used = NULL;
}

COLD enum descriptor_state descriptor_fetch(uint64_t address, unsigned asid)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);

	if (d->fetching)
		return DESCRIPTOR_COMES;
	if (&d->t == descriptor_used || !mover_taken(d->t.used))
		return DESCRIPTOR_BUSY;
	if (!command_ask(FETCH_ROOM))
		return DESCRIPTOR_LATER;
	counters.tmau_misses++;
	d->low = (uint32_t)address;
	d->high = (uint32_t)(address >> 32);
	d->asid = DESCRIPTOR_NONE;
	d->wanted = (uint16_t)asid;
	d->age = counters.acquires + descriptor_forgotten;
	d->arrived = tmau_arrived;
	d->fetching = true;
	d->late = false;
	command_fetch(asid, 0, address, sizeof(struct tutti_tensor), &d->t,
		      TAG_TENSOR | (unsigned)(d - descriptor_entries));
	return DESCRIPTOR_COMES;
}

COLD struct descriptor *descriptor_late(uint64_t address, unsigned asid)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);
	bool is_it = d->late && d->low == (uint32_t)address && d->high == (uint32_t)(address >> 32) && d->asid == asid;

	return is_it && d->arrived - counters.tmau_requests - 1 < TMAU_SLOTS ? d : NULL;
}

static COLD void forget_all(void)
{
	unsigned i;

	descriptor_forgotten++;
	for (i = 0; i < DESCRIPTORS; i++) {
		descriptor_entries[i].wanted = DESCRIPTOR_NONE;
		descriptor_entries[i].late = false;
	}
}

COLD void descriptor_forget(uint64_t address, unsigned asid)
{
	struct descriptor *d = descriptor_entry((uint32_t)address);

	if (!address) {
		forget_all();
		return;
	}
	if (d->low != (uint32_t)address || d->high != (uint32_t)(address >> 32))
		return;
	if (d->asid == asid)
		d->asid = DESCRIPTOR_NONE;
	if (d->wanted == asid)
		d->wanted = DESCRIPTOR_NONE;
}

COLD void descriptor_event_fetch(unsigned number, const struct tutti_event *event)
{
	struct descriptor *d = &descriptor_entries[number % DESCRIPTORS];
	struct tutti_tensor copy;

	d->fetching = false;
	if (d->wanted != DESCRIPTOR_NONE) {
		d->late = d->age != counters.acquires + descriptor_forgotten;
		d->cause = event->word[0] >> 8 & 0xff;
		d->fault = event->word[1] | (uint64_t)event->word[2] << 32;
		if (d->cause)
			d->t.plain = TENSOR_NOT_PLAIN;
		else
			descriptor_compile(&d->t, &copy, descriptor_copy(&copy, &d->t));
		d->asid = d->wanted;
	}
	d->wanted = DESCRIPTOR_NONE;
}

// SPDX-License-Identifier: MIT
/*
 * Turns launches into condensed packets (spec PKT-12 .. PKT-22). These are pure
 * functions, which use neither a card nor a queue.
 *
 * Barriers: a condensed packet is ordered as its first kernel is, and its kernels run
 * in order. A barrier bit inside a packet therefore holds only if the packet's first
 * kernel has one, too. So as soon as any launch of a recording has a barrier bit, the
 * first kernel of every packet gets one; an additional barrier is always correct. If
 * kernels may not overlap, the bits inside a packet have no further meaning, and all
 * are set, so that they need no diffs.
 */
#include "record/condense.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES  256u
#define PLAIN_UNITS 32u /* 16-bit units of a launch that has a packet of its own */

static struct tutti_dispatch_packet canonical(const struct condense *c,
					      const struct tutti_dispatch_packet *launch, bool opens)
{
	struct tutti_dispatch_packet packet = *launch;

	if (c->barriers && (opens || !c->overlap))
		packet.header |= TUTTI_HEADER_BARRIER;
	packet.ref_num = 0;
	return packet;
}

static uint32_t groups(uint32_t grid, uint16_t workgroup)
{
	return workgroup ? (uint32_t)(((uint64_t)grid + workgroup - 1) / workgroup) : 0;
}

static void packet_fields(const struct tutti_dispatch_packet *p, uint64_t value[DIFF_FIELDS_MAX])
{
	value[0] = p->header >> 8;
	value[1] = p->setup;
	value[2] = p->workgroup_x;
	value[3] = p->workgroup_y;
	value[4] = p->workgroup_z;
	value[5] = p->grid_x;
	value[6] = p->grid_y;
	value[7] = p->grid_z;
	value[8] = p->private_bytes;
	value[9] = p->group_bytes;
	value[10] = p->kernel_object;
	value[11] = p->kernarg;
	value[12] = p->signal;
}

/* The values that the firmware would derive from the packet. It checks that they are consistent. */
static void table_fields(const struct condense *c, const struct tutti_dispatch_packet *p,
			 uint64_t value[DIFF_FIELDS_MAX])
{
	uint64_t items = (uint64_t)p->workgroup_x * p->workgroup_y * p->workgroup_z;
	uint64_t waves = (items + TUTTI_WAVE_ITEMS - 1) / TUTTI_WAVE_ITEMS;
	uint64_t block = c->shared_block_bytes;

	memset(value, 0, DIFF_FIELDS_MAX * sizeof(*value));
	value[0] = p->header >> 8;
	value[1] = p->setup;
	value[2] =
	    p->workgroup_x | (uint64_t)p->workgroup_y << 16 | (uint64_t)p->workgroup_z << 32 | waves << 48;
	value[3] = p->grid_x | (uint64_t)groups(p->grid_x, p->workgroup_x) << 32;
	value[4] = p->grid_y | (uint64_t)groups(p->grid_y, p->workgroup_y) << 32;
	value[5] = p->grid_z | (uint64_t)groups(p->grid_z, p->workgroup_z) << 32;
	value[6] = (uint64_t)p->private_bytes * TUTTI_WAVE_ITEMS; /* a multiple of 16 in any case */
	value[7] = (p->group_bytes + block - 1) / block * block;
	value[8] = p->kernel_object;
	value[9] = p->kernarg;
	value[10] = p->signal;
}

static void fields_of(const struct condense *c, const struct tutti_dispatch_packet *launch, bool opens,
		      uint64_t value[DIFF_FIELDS_MAX])
{
	struct tutti_dispatch_packet packet = canonical(c, launch, opens);

	if (c->table)
		table_fields(c, &packet, value);
	else
		packet_fields(&packet, value);
}

static uint16_t vector_of(const uint64_t *reference, const uint64_t *value)
{
	unsigned vector = 0;

	for (unsigned bit = 0; bit < DIFF_FIELDS_MAX; bit++)
		vector |= (unsigned)(reference[bit] != value[bit]) << bit;
	return (uint16_t)vector;
}

static unsigned write_diff(const struct condense *c, uint16_t *unit, unsigned reference, uint16_t vector,
			   const uint64_t *value)
{
	unsigned n = 1;

	unit[0] = (uint16_t)(c->entry[reference] | vector << TUTTI_DIFF_VECTOR_SHIFT);
	for (; vector; vector &= vector - 1) {
		unsigned bit = (unsigned)__builtin_ctz(vector), units = diff_field_units(c->table, bit);

		memcpy(&unit[n], &value[bit], units * sizeof(*unit));
		n += units;
	}
	return n;
}

/* ---- choosing references ---- */

/* Launches with equal contents are counted as one struct content. */
struct content {
	unsigned first; /* index of the first launch with this content */
	uint32_t count;
	unsigned cost; /* 16-bit units it takes with the best reference so far */
	uint8_t reference;
	uint64_t tmd;
	uint64_t value[DIFF_FIELDS_MAX];
};

struct contents {
	struct content *content;
	unsigned n;
	unsigned *of; /* for each launch, the index of its content */
	unsigned *bucket;
	unsigned mask;
};

static uint64_t hash_of(const struct content *content)
{
	uint64_t hash = content->tmd;

	for (unsigned i = 0; i < DIFF_FIELDS_MAX; i++)
		hash = (hash ^ content->value[i]) * 0x9e3779b97f4a7c15ull + (hash >> 29);
	return hash ^ hash >> 32;
}

static unsigned content_find(struct contents *all, const struct content *wanted)
{
	unsigned slot = (unsigned)hash_of(wanted) & all->mask;

	for (; all->bucket[slot] != ~0u; slot = (slot + 1) & all->mask) {
		const struct content *have = &all->content[all->bucket[slot]];

		if (have->tmd == wanted->tmd && !memcmp(have->value, wanted->value, sizeof(have->value)))
			return all->bucket[slot];
	}
	all->bucket[slot] = all->n;
	all->content[all->n] = *wanted;
	return all->n++;
}

static int contents_init(struct contents *all, const struct condense *c,
			 const struct tutti_dispatch_packet *launch, unsigned launches)
{
	unsigned buckets = 16;

	while (buckets < 2 * launches)
		buckets *= 2;
	*all = (struct contents){.mask = buckets - 1};
	all->content = calloc(launches + 1, sizeof(*all->content));
	all->of = calloc(launches + 1, sizeof(*all->of));
	all->bucket = malloc(buckets * sizeof(*all->bucket));
	if (!all->content || !all->of || !all->bucket)
		return -ENOMEM;
	memset(all->bucket, 0xff, buckets * sizeof(*all->bucket));
	for (unsigned i = 0; i < launches; i++) {
		struct content wanted = {
		    .first = i, .cost = PLAIN_UNITS, .reference = NO_REFERENCE, .tmd = launch[i].tmd};

		fields_of(c, &launch[i], !c->overlap, wanted.value);
		all->of[i] = content_find(all, &wanted);
		all->content[all->of[i]].count++;
	}
	return 0;
}

static void contents_fini(struct contents *all)
{
	free(all->content);
	free(all->of);
	free(all->bucket);
}

static unsigned cost_with(const struct condense *c, const struct content *content,
			  const struct content *reference)
{
	/* A diff cannot express another TMD, as the vector has no bit for it. */
	if (content->tmd != reference->tmd)
		return PLAIN_UNITS;
	return diff_units(c->table, vector_of(reference->value, content->value));
}

/* The content that saves the most units if it becomes the next reference; ~0 if none saves any. */
static unsigned best_candidate(const struct condense *c, const struct contents *all)
{
	unsigned candidates = all->n < CANDIDATES ? all->n : CANDIDATES, best = ~0u;
	uint64_t most = 0;

	for (unsigned i = 0; i < candidates; i++) {
		uint64_t saved = 0;

		for (unsigned j = 0; j < all->n; j++) {
			unsigned cost = cost_with(c, &all->content[j], &all->content[i]);

			if (cost < all->content[j].cost)
				saved += (uint64_t)(all->content[j].cost - cost) * all->content[j].count;
		}
		if (saved > most) {
			most = saved;
			best = i;
		}
	}
	return best;
}

static void add_reference(struct condense *c, struct contents *all, unsigned chosen,
			  const struct tutti_dispatch_packet *launch)
{
	const struct content *reference = &all->content[chosen];
	unsigned r = c->references++;

	c->reference[r] = canonical(c, &launch[reference->first], !c->overlap);
	c->entry[r] = (uint8_t)r;
	memcpy(c->value[r], reference->value, sizeof(c->value[r]));
	for (unsigned j = 0; j < all->n; j++) {
		unsigned cost = cost_with(c, &all->content[j], reference);

		if (cost < all->content[j].cost) {
			all->content[j].cost = cost;
			all->content[j].reference = (uint8_t)r;
		}
	}
}

int condense_choose(struct condense *c, const struct tutti_dispatch_packet *launch, unsigned launches,
		    struct place *place, unsigned *from, uint32_t *weight)
{
	struct contents all;
	int error;

	c->references = 0;
	c->barriers = false;
	for (unsigned i = 0; i < launches; i++)
		c->barriers |= !!(launch[i].header & TUTTI_HEADER_BARRIER);
	error = contents_init(&all, c, launch, launches);
	while (!error && c->references < TUTTI_REFERENCES) {
		unsigned chosen = best_candidate(c, &all);

		if (chosen == ~0u)
			break;
		from[c->references] = all.content[chosen].first;
		weight[c->references] = 0;
		add_reference(c, &all, chosen, launch);
	}
	for (unsigned i = 0; !error && i < launches; i++) {
		place[i] = (struct place){.reference = all.content[all.of[i]].reference};
		if (place[i].reference != NO_REFERENCE)
			weight[place[i].reference]++;
	}
	contents_fini(&all);
	return error;
}

/* ---- packing ---- */

struct packer {
	const struct condense *condense;
	union tutti_packet *image;
	unsigned packets;
	unsigned unit; /* next free 16-bit unit of the open packet */
	bool open;
};

static union tutti_packet *new_packet(struct packer *packer)
{
	union tutti_packet *packet = &packer->image[packer->packets++];

	memset(packet, 0, sizeof(*packet));
	return packet;
}

static void put_whole(struct packer *packer, const struct tutti_dispatch_packet *launch, uint16_t ref_num)
{
	union tutti_packet *packet = new_packet(packer);

	packet->dispatch = *launch;
	packet->dispatch.ref_num = ref_num;
	packer->open = false;
}

/* False if the launch differs so much from its reference that its diff fits into no packet. */
static bool put_condensed(struct packer *packer, const struct tutti_dispatch_packet *launch, struct place *place)
{
	const struct condense *c = packer->condense;
	const uint64_t *reference = c->value[place->reference];
	uint64_t value[DIFF_FIELDS_MAX];
	union tutti_packet *packet;
	uint16_t vector;

	fields_of(c, launch, false, value);
	vector = vector_of(reference, value);
	packet = packer->open ? &packer->image[packer->packets - 1] : NULL;
	place->promoted = false;
	if (!packet || packet->condensed.num_kernels == TUTTI_CONDENSED_KERNELS ||
	    packer->unit + diff_units(c->table, vector) > TUTTI_CONDENSED_UNITS) {
		place->promoted = true;
		fields_of(c, launch, true, value);
		vector = vector_of(reference, value);
		if (diff_units(c->table, vector) > TUTTI_CONDENSED_UNITS)
			return false;
		packet = new_packet(packer);
		packet->condensed.type = TUTTI_PACKET_CONDENSED;
		packer->unit = 0;
		packer->open = true;
	}
	place->packet = packer->packets - 1;
	place->unit = (uint8_t)packer->unit;
	place->vector = vector;
	packet->condensed.num_kernels++;
	packer->unit += write_diff(c, &packet->condensed.unit[packer->unit], place->reference, vector, value);
	return true;
}

unsigned condense_pack(const struct condense *c, const struct tutti_dispatch_packet *launch,
		       unsigned launches, struct place *place, union tutti_packet *image)
{
	struct packer packer = {.condense = c, .image = image};

	for (unsigned i = 0; i < launches; i++) {
		if (place[i].reference != NO_REFERENCE && put_condensed(&packer, &launch[i], &place[i]))
			continue;
		place[i].reference = NO_REFERENCE;
		put_whole(&packer, &launch[i], 0);
		place[i].packet = packer.packets - 1;
		place[i].unit = 0;
	}
	return packer.packets;
}

unsigned condense_first(const struct condense *c, const struct tutti_dispatch_packet *launch,
			unsigned launches, const struct place *place, const unsigned *from,
			union tutti_packet *image)
{
	struct packer packer = {.condense = c, .image = image};
	uint32_t stored = 0;

	for (unsigned i = 0; i < launches; i++) {
		unsigned r = place[i].reference;
		struct place at = place[i];

		if (r != NO_REFERENCE && from[r] == i) {
			put_whole(&packer, &c->reference[r], TUTTI_REF_STORE | c->entry[r]);
			stored |= 1u << r;
		} else if (r == NO_REFERENCE || !(stored >> r & 1) || !put_condensed(&packer, &launch[i], &at)) {
			put_whole(&packer, &launch[i], 0);
		}
	}
	return packer.packets;
}

bool condense_patch(const struct condense *c, const struct tutti_dispatch_packet *launch,
		    const struct place *place, union tutti_packet *image)
{
	uint64_t value[DIFF_FIELDS_MAX];
	union tutti_packet *packet = &image[place->packet];

	if (place->reference == NO_REFERENCE) {
		packet->dispatch = *launch;
		return true;
	}
	fields_of(c, launch, place->promoted, value);
	if (vector_of(c->value[place->reference], value) != place->vector)
		return false;
	write_diff(c, &packet->condensed.unit[place->unit], place->reference, place->vector, value);
	return true;
}

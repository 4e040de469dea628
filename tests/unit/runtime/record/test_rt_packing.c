/* SPDX-License-Identifier: MIT */
/*
 * The packets of a recording are the same, bit by bit, as those of a simple model (PKT-12 .. PKT-16, PKT-20, PKT-22). The
 * model tries each launch as a reference and adds up how much space that saves in all launches. Then it fills packets in
 * the order of the launches.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/condense.h"

#define MOST	   360u
#define NONE	   0xffu
#define WHOLE	   32u	/* 16-bit units of a packet; a launch without a reference takes all of them */
#define CANDIDATES 256u /* how many launches with different contents are tried as references */

#define UNITS(bit, name, units) [bit] = units,
static const uint8_t units_of[2][13] = {{TUTTI_DIFF_FIELDS(UNITS)}, {TUTTI_TABLE_FIELDS(UNITS)}};

static struct model {
	const struct condense *c;
	bool barriers; /* some launch has its barrier bit set, so the first kernel of each packet gets one, too */
	unsigned n, references, from[8];
	uint32_t weight[8];
	struct tutti_dispatch_packet launch[MOST], reference[8];
	unsigned reference_of[MOST];
	bool opens[MOST]; /* the launch is the first one in its packet */
	uint16_t vector[MOST];
	union tutti_packet image[MOST];
	unsigned packets;
} model;

/* ---- the fields of a launch ---- */

static uint64_t with_groups(uint32_t grid, uint16_t workgroup)
{
	uint64_t groups = grid / workgroup + (grid % workgroup != 0);

	return grid | groups << 32;
}

static void whole_blocks(const struct tutti_dispatch_packet *p, uint64_t value[13])
{
	uint64_t bytes = 0;
	unsigned waves = (p->workgroup_x * p->workgroup_y * p->workgroup_z + 31) / 32;

	while (bytes < p->group_bytes)
		bytes += model.c->shared_block_bytes;
	value[2] =
	    p->workgroup_x | (uint64_t)p->workgroup_y << 16 | (uint64_t)p->workgroup_z << 32 | (uint64_t)waves << 48;
	value[7] = bytes;
}

static void values_of(struct tutti_dispatch_packet p, bool opens, uint64_t value[13])
{
	if (model.barriers && (opens || !model.c->overlap))
		p.header |= TUTTI_HEADER_BARRIER;
	if (model.c->table) {
		const uint64_t all[13] = {p.header >> 8,
					  p.setup,
					  0,
					  with_groups(p.grid_x, p.workgroup_x),
					  with_groups(p.grid_y, p.workgroup_y),
					  with_groups(p.grid_z, p.workgroup_z),
					  32 * p.private_bytes,
					  0,
					  p.kernel_object,
					  p.kernarg,
					  p.signal};

		memcpy(value, all, sizeof(all));
		whole_blocks(&p, value);
	} else {
		const uint64_t all[13] = {p.header >> 8,   p.setup,   p.workgroup_x, p.workgroup_y,   p.workgroup_z,
					  p.grid_x,	   p.grid_y,  p.grid_z,	     p.private_bytes, p.group_bytes,
					  p.kernel_object, p.kernarg, p.signal};

		memcpy(value, all, sizeof(all));
	}
}

/* Return: how many 16-bit units a diff of @value against @reference takes; @vector: the bit mask of the fields in it. */
static unsigned diff_between(const uint64_t *reference, const uint64_t *value, uint16_t *vector)
{
	unsigned units = 1;

	*vector = 0;
	for (unsigned bit = 0; bit < 13; bit++)
		if (reference[bit] != value[bit]) {
			*vector |= (uint16_t)(1u << bit);
			units += units_of[model.c->table][bit];
		}
	return units;
}

/* ---- the choice of references ---- */

static uint64_t content[MOST][13];

static unsigned cost(unsigned launch, unsigned reference)
{
	uint16_t vector;

	return model.launch[launch].tmd == model.launch[reference].tmd
		   ? diff_between(content[reference], content[launch], &vector)
		   : WHOLE;
}

static bool seen_before(unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (cost(i, k) == 1)
			return true;
	return false;
}

/* Return: the first of the launches that save the most units as an additional reference; model.n if none saves any. */
static unsigned best(const unsigned *costs)
{
	unsigned most = 0, best = model.n, different = 0;

	for (unsigned i = 0; i < model.n; i++) {
		unsigned saved = 0;

		if (seen_before(i))
			continue;
		if (different++ == CANDIDATES)
			break;
		for (unsigned k = 0; k < model.n; k++)
			saved += costs[k] > cost(k, i) ? costs[k] - cost(k, i) : 0;
		if (saved > most) {
			most = saved;
			best = i;
		}
	}
	return best;
}

static void choose(void)
{
	unsigned costs[MOST];

	model.barriers = false;
	for (unsigned i = 0; i < model.n; i++)
		model.barriers |= (model.launch[i].header & TUTTI_HEADER_BARRIER) != 0;
	for (unsigned i = 0; i < model.n; i++) {
		costs[i] = WHOLE;
		model.reference_of[i] = NONE;
		values_of(model.launch[i], false, content[i]);
	}
	for (model.references = 0; model.references < 8; model.references++) {
		unsigned chosen = best(costs);

		if (chosen == model.n)
			break;
		model.from[model.references] = chosen;
		model.reference[model.references] = model.launch[chosen];
		if (model.barriers && !model.c->overlap)
			model.reference[model.references].header |= TUTTI_HEADER_BARRIER;
		for (unsigned i = 0; i < model.n; i++)
			if (cost(i, chosen) < costs[i]) {
				costs[i] = cost(i, chosen);
				model.reference_of[i] = model.references;
			}
	}
	memset(model.weight, 0, sizeof(model.weight));
	for (unsigned i = 0; i < model.n; i++)
		if (model.reference_of[i] != NONE)
			model.weight[model.reference_of[i]]++;
}

/* ---- packets ---- */

static struct {
	struct diff diff[TUTTI_CONDENSED_KERNELS];
	unsigned kernels, units;
} packet; /* the condensed packet that is being filled */

static void close_packet(void)
{
	if (packet.kernels)
		assert_true(diff_encode(&model.image[model.packets++].condensed, model.c->table, packet.diff,
					packet.kernels) > 0);
	packet.kernels = packet.units = 0;
}

static void put_whole(struct tutti_dispatch_packet p, uint16_t ref_num)
{
	close_packet();
	p.ref_num = ref_num;
	model.image[model.packets++].dispatch = p;
}

static unsigned diff_of(unsigned i, bool opens, struct diff *diff)
{
	unsigned r = model.reference_of[i], units;
	uint64_t reference[13];

	*diff = (struct diff){.reference = model.c->entry[r]};
	values_of(model.reference[r], false, reference);
	values_of(model.launch[i], opens, diff->value);
	units = diff_between(reference, diff->value, &diff->vector);
	return units;
}

/* Return: false if the launch needs a packet of its own. */
static bool put_diff(unsigned i)
{
	struct diff diff;
	unsigned units = diff_of(i, false, &diff);

	model.opens[i] = !packet.kernels || packet.kernels == 31 || packet.units + units > 31;
	if (model.opens[i]) {
		units = diff_of(i, true, &diff);
		if (units > 31)
			return false;
		close_packet();
	}
	model.vector[i] = diff.vector;
	packet.diff[packet.kernels++] = diff;
	packet.units += units;
	return true;
}

static void pack(void)
{
	model.packets = 0;
	for (unsigned i = 0; i < model.n; i++)
		if (model.reference_of[i] == NONE || !put_diff(i)) {
			model.reference_of[i] = NONE;
			put_whole(model.launch[i], 0);
		}
	close_packet();
}

/* The first replay sends the references, too, and a launch can only use a reference that has been sent before it. */
static void pack_first(void)
{
	unsigned sent = 0;

	model.packets = 0;
	for (unsigned i = 0; i < model.n; i++) {
		unsigned r = model.reference_of[i];

		if (r != NONE && model.from[r] == i) {
			put_whole(model.reference[r], TUTTI_REF_STORE | model.c->entry[r]);
			sent |= 1u << r;
		} else if (r == NONE || !(sent >> r & 1) || !put_diff(i)) {
			put_whole(model.launch[i], 0);
		}
	}
	close_packet();
}

/* ---- the library's packets, compared with the model's ---- */

static struct condense c;
static struct place place[MOST];
static union tutti_packet image[MOST];

static void assert_images(unsigned packets, const char *what)
{
	if (packets != model.packets)
		fail_msg("%s: %u packets instead of %u", what, packets, model.packets);
	for (unsigned i = 0; i < packets; i++)
		if (memcmp(&image[i], &model.image[i], sizeof(image[i])))
			fail_msg("%s: packet %u of %u differs", what, i, packets);
}

static void assert_choice(void)
{
	unsigned from[8];
	uint32_t weight[8];

	assert_int_equal(condense_choose(&c, model.launch, model.n, place, from, weight), 0);
	choose();
	assert_int_equal(c.references, model.references);
	assert_memory_equal(from, model.from, model.references * sizeof(*from));
	assert_memory_equal(weight, model.weight, model.references * sizeof(*weight));
	for (unsigned i = 0; i < model.n; i++)
		assert_int_equal(place[i].reference, model.reference_of[i]);
}

static void assert_packets(void)
{
	unsigned first = (unsigned)c.references * 3;

	for (unsigned r = 0; r < c.references; r++)
		c.entry[r] = (uint8_t)((5 * r + first) % 8); /* any different entries, as if only these were free */
	memset(image, 0xa5, sizeof(image));
	pack_first();
	assert_images(condense_first(&c, model.launch, model.n, place, model.from, image), "first");
	memset(image, 0xa5, sizeof(image));
	pack();
	assert_images(condense_pack(&c, model.launch, model.n, place, image), "again");
}

/* Launch @i has changed. Its packet is patched if its diff has the same fields as before; otherwise all are packed again. */
static void assert_change(unsigned i)
{
	struct diff diff;
	bool stays = true;

	if (model.reference_of[i] != NONE) {
		diff_of(i, model.opens[i], &diff);
		stays = diff.vector == model.vector[i];
	}
	assert_int_equal(condense_patch(&c, &model.launch[i], &place[i], image), stays);
	pack();
	assert_images(stays ? model.packets : condense_pack(&c, model.launch, model.n, place, image), "changed");
	for (i = 0; i < model.n; i++)
		if (model.reference_of[i] == NONE)
			assert_true(place[i].reference == NONE && !place[i].unit);
}

/* ---- recordings ---- */

static unsigned seed;

static unsigned any(unsigned n)
{
	return (unsigned)rand_r(&seed) / 7 % n;
}

/* Each field has only a few values, so that many launches have much in common and many references are equally good. */
static void change(struct tutti_dispatch_packet *p, unsigned what)
{
	static const uint32_t grid[] = {1, 31, 32, 33, 0xffffffff, 0x80000001, 65536, 7};
	static const uint32_t shared[] = {0, 1, 2047, 2048, 2049, 4096, 4097, 63 * 2048 + 1};

	switch (what) {
	case 0:
		p->header = (uint16_t)tutti_header(2, p->header & TUTTI_HEADER_BARRIER, any(3), any(3));
		break;
	case 1:
		p->setup = (uint16_t)(1 + any(3));
		break;
	case 2:
		p->workgroup_x = (uint16_t)(31 + any(4));
		break;
	case 3:
		p->workgroup_y = (uint16_t)(1 + any(3));
		break;
	case 4:
		p->workgroup_z = (uint16_t)(1 + any(2));
		break;
	case 5:
		p->grid_x = grid[any(8)];
		break;
	case 6:
		p->grid_y = grid[any(8)];
		break;
	case 7:
		p->grid_z = grid[any(8)];
		break;
	case 8:
		p->private_bytes = 16 * any(3);
		break;
	case 9:
		p->group_bytes = shared[any(8)];
		break;
	case 10:
		p->kernel_object = 0x7f0000010000ull + 64 * any(4);
		break;
	case 11:
		p->kernarg = 0x7f1234567000ull + 0x100000000ull * any(4);
		break;
	default:
		p->signal = any(2) ? 0 : 0x7f00deadbe00ull + 64 * any(4);
		break;
	}
}

static void random_launches(unsigned n, unsigned kinds, unsigned barriers)
{
	struct tutti_dispatch_packet kind[8];

	for (unsigned k = 0; k < kinds; k++) {
		kind[k] = (struct tutti_dispatch_packet){.header = tutti_header(2, false, 1, 2),
							 .setup = 1,
							 .workgroup_x = 32,
							 .workgroup_y = 1,
							 .workgroup_z = 1,
							 .grid_x = 1000,
							 .grid_y = 1,
							 .grid_z = 1,
							 .kernel_object = 0x7f0000010000ull,
							 .kernarg = 0x1000};
		for (unsigned what = 0; what < 13; what++)
			if (any(2))
				change(&kind[k], what);
		kind[k].tmd = any(4) ? 0 : 0x5000;
	}
	model.n = n;
	for (unsigned i = 0; i < n; i++) {
		model.launch[i] = kind[any(kinds)];
		for (unsigned changes = any(4); changes; changes--)
			change(&model.launch[i], any(13));
		if (barriers == 2 || (barriers && !any(8)))
			model.launch[i].header |= TUTTI_HEADER_BARRIER;
	}
}

static void begin(unsigned round)
{
	c = (struct condense){
	    .table = round & 1, .overlap = round >> 1 & 1, .shared_block_bytes = round % 3 ? 2048 : 1024};
	memset(c.entry, 0xff, sizeof(c.entry));
	memset(c.value, 0xff, sizeof(c.value));
	c.references = 7;
	c.barriers = round % 5 == 0; /* like the values above, left over from an earlier choice */
	model.c = &c;
}

static void as_the_model_says(void **state)
{
	seed = 7;
	for (unsigned round = 0; round < 900; round++) {
		begin(round);
		random_launches(any(round % 9 ? 40 : 130), 1 + any(8), round / 4 % 3);
		assert_choice();
		assert_packets();
		for (unsigned changes = model.n ? 12 : 0; changes; changes--) {
			unsigned i = any(model.n);

			for (unsigned fields = changes % 4 ? 1 + any(2) : 40; fields; fields--)
				change(&model.launch[i], any(13));
			assert_change(i);
		}
	}
}

/* Makes @n launches that differ in the same fields, so that as a reference, each saves as much as any other. */
static void different_launches(unsigned n)
{
	model.n = n;
	for (unsigned i = 0; i < n; i++)
		model.launch[i] = (struct tutti_dispatch_packet){.header = tutti_header(2, true, 1, 2),
								 .setup = 1,
								 .workgroup_x = (uint16_t)(1 + i),
								 .workgroup_y = 1,
								 .workgroup_z = 1,
								 .grid_x = 1 + i,
								 .grid_y = 1,
								 .grid_z = 1,
								 .kernel_object = 64 * (i + 1),
								 .kernarg = i,
								 .signal = 64 * i};
}

/*
 * In a long recording, not every launch is tried as a reference: the references are chosen from the first 256 launches with
 * different contents, no matter how often each of them occurs.
 */
static void only_so_many_are_tried(void **state)
{
	for (unsigned popular = CANDIDATES + 2; popular < CANDIDATES + 6; popular++) {
		begin(popular);
		different_launches(CANDIDATES + 6);
		for (unsigned i = 1; i < 5; i++)
			model.launch[i] = model.launch[0];
		for (unsigned i = 0; i < 80; i++) /* enough to fill several packets */
			model.launch[model.n++] = model.launch[popular];
		assert_choice();
		assert_int_equal(model.from[0] == popular, popular < CANDIDATES + 4);
		assert_packets();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_model_says),
					   cmocka_unit_test(only_so_many_are_tried)};

	return cmocka_run_group_tests_name("PKT-12, PKT-16, PKT-20, PKT-22 packets of a recording", tests, NULL, NULL);
}

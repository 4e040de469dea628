/* SPDX-License-Identifier: MIT */
/* Recordings through condensed packets give exactly the recorded launches (PKT-14, PKT-20, PKT-22). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/condense.h"

#define MOST 300

static uint64_t any(unsigned *seed)
{
	return (uint64_t)rand_r(seed) << 42 ^ (uint64_t)rand_r(seed) << 20 ^ (uint64_t)rand_r(seed);
}

static void random_launch(struct tutti_dispatch_packet *p, unsigned kinds, unsigned *seed)
{
	unsigned kind = (unsigned)rand_r(seed) % kinds;

	*p = (struct tutti_dispatch_packet){
	    .header = (uint16_t)tutti_header(2, rand_r(seed) % 2, rand_r(seed) % 3, 2),
	    .setup = (uint16_t)(1 + kind % 3),
	    .workgroup_x = (uint16_t)(31 + kind % 3),
	    .workgroup_y = (uint16_t)(1 + kind / 3 % 2),
	    .workgroup_z = (uint16_t)(1 + kind / 6 % 2),
	    .grid_x = 1000 * (kind + 1),
	    .grid_y = 1 + kind % 5,
	    .grid_z = 1 + kind % 7,
	    .group_bytes = kind % 2 ? 2048 * (kind % 4) : 0,
	    .private_bytes = 16 * (kind % 4),
	    .kernel_object = 0x10000ull + 64 * kind,
	    .kernarg = 0x7f0000000000ull + 4096 * (rand_r(seed) % 3),
	};
	if (!(rand_r(seed) % 5))
		p->signal = (any(seed) & 0x7fffffffffc0ull) | 64;
	if (!(rand_r(seed) % 40))
		p->tmd = 0x5000;
}

/* What the card would do: the RSB and the launches in their order. */
struct card {
	struct tutti_dispatch_packet rsb[8];
	bool valid[8];
	struct tutti_dispatch_packet ran[MOST];
	unsigned n;
	bool opens[MOST]; /* first of its packet */
};

static void apply(struct tutti_dispatch_packet *p, const struct diff *d)
{
#define TAKE(bit, member)                                                                                    \
	if (d->vector >> (bit)&1)                                                                            \
	p->member = (__typeof__(p->member))d->value[bit]
	if (d->vector & 1)
		p->header = (uint16_t)((p->header & 0xff) | d->value[0] << 8);
	TAKE(1, setup);
	TAKE(2, workgroup_x);
	TAKE(3, workgroup_y);
	TAKE(4, workgroup_z);
	TAKE(5, grid_x);
	TAKE(6, grid_y);
	TAKE(7, grid_z);
	TAKE(8, private_bytes);
	TAKE(9, group_bytes);
	TAKE(10, kernel_object);
	TAKE(11, kernarg);
	TAKE(12, signal);
}

/* The table form back to packet fields, checking what the firmware checks. */
static void apply_table(struct tutti_dispatch_packet *p, const struct diff *d)
{
	const uint64_t *v = d->value;

	if (d->vector & 1)
		p->header = (uint16_t)((p->header & 0xff) | v[0] << 8);
	TAKE(1, setup);
	if (d->vector & TUTTI_TABLE_WORKGROUP) {
		p->workgroup_x = (uint16_t)v[2];
		p->workgroup_y = (uint16_t)(v[2] >> 16);
		p->workgroup_z = (uint16_t)(v[2] >> 32);
		assert_int_equal(v[2] >> 48, (p->workgroup_x * p->workgroup_y * p->workgroup_z + 31) / 32);
	}
	TAKE(3, grid_x);
	TAKE(4, grid_y);
	TAKE(5, grid_z);
	if (d->vector & TUTTI_TABLE_PRIVATE) {
		assert_int_equal(v[6] % 32, 0);
		p->private_bytes = (uint32_t)(v[6] / 32);
	}
	TAKE(7, group_bytes);
	TAKE(8, kernel_object);
	TAKE(9, kernarg);
	TAKE(10, signal);
	if (d->vector & TUTTI_TABLE_GRID_X)
		assert_int_equal(v[3] >> 32, (p->grid_x + p->workgroup_x - 1) / p->workgroup_x);
	if (d->vector & 1 << 4)
		assert_int_equal(v[4] >> 32, (p->grid_y + p->workgroup_y - 1) / p->workgroup_y);
	if (d->vector & 1 << 5)
		assert_int_equal(v[5] >> 32, (p->grid_z + p->workgroup_z - 1) / p->workgroup_z);
}

static void run(struct card *card, bool table, const union tutti_packet *image, unsigned n)
{
	card->n = 0;
	for (unsigned i = 0; i < n; i++) {
		struct diff diffs[31];
		int kernels;

		if ((image[i].word[0] & 0xff) == TUTTI_PACKET_KERNEL_DISPATCH) {
			struct tutti_dispatch_packet p = image[i].dispatch;
			unsigned e = p.ref_num & 7;

			if (p.ref_num) {
				p.ref_num = 0;
				card->rsb[e] = p;
				card->valid[e] = true;
			}
			card->opens[card->n] = true;
			card->ran[card->n++] = p;
			continue;
		}
		kernels = diff_decode(&image[i].condensed, table, diffs, NULL);
		assert_true(kernels > 0);
		for (int k = 0; k < kernels; k++) {
			struct tutti_dispatch_packet p = card->rsb[diffs[k].reference];

			assert_true(card->valid[diffs[k].reference]);
			if (table)
				apply_table(&p, &diffs[k]);
			else
				apply(&p, &diffs[k]);
			card->opens[card->n] = !k;
			card->ran[card->n++] = p;
		}
	}
}

static void compare(const struct card *card, const struct tutti_dispatch_packet *launch, unsigned n,
		    bool overlap)
{
	bool any_barrier = false;

	assert_int_equal(card->n, n);
	for (unsigned i = 0; i < n; i++)
		any_barrier |= !!(launch[i].header & TUTTI_HEADER_BARRIER);
	for (unsigned i = 0; i < n; i++) {
		struct tutti_dispatch_packet want = launch[i], have = card->ran[i];

		/* a barrier may be added, never lost */
		if (want.header & TUTTI_HEADER_BARRIER)
			assert_true(have.header & TUTTI_HEADER_BARRIER);
		if (any_barrier && card->opens[i] && i + 1 < n && !card->opens[i + 1])
			assert_true(have.header & TUTTI_HEADER_BARRIER);
		if (overlap && !card->opens[i])
			assert_int_equal(have.header, want.header);
		have.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
		want.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
		assert_memory_equal(&have, &want, sizeof(have));
	}
}

/* How many launches are told by each reference, whatever was there before. */
static void assert_weights(const struct condense *c, const struct place *place, unsigned n, const uint32_t *weight)
{
	for (unsigned r = 0; r < c->references; r++) {
		uint32_t told = 0;

		for (unsigned i = 0; i < n; i++)
			told += place[i].reference == r;
		assert_int_equal(weight[r], told);
	}
}

static void random_recordings(void **state)
{
	static struct tutti_dispatch_packet launch[MOST];
	static struct place place[MOST];
	static union tutti_packet image[MOST];
	static struct card card;
	unsigned seed = 3;

	for (int round = 0; round < 600; round++) {
		struct condense c = {
		    .table = round & 1, .overlap = !!(round & 2), .shared_block_bytes = 2048};
		unsigned n = 1 + (unsigned)rand_r(&seed) % (round % 10 ? 60 : MOST - 1), from[8], packets;
		unsigned kinds = 1 + (unsigned)rand_r(&seed) % 20;
		uint32_t weight[8];

		for (unsigned i = 0; i < n; i++)
			random_launch(&launch[i], kinds, &seed);
		memset(weight, 0xff, sizeof(weight));
		assert_int_equal(condense_choose(&c, launch, n, place, from, weight), 0);
		assert_weights(&c, place, n, weight);
		for (unsigned r = 0; r < c.references; r++)
			c.entry[r] = (uint8_t)((r + round) % 8); /* as another recording left them */
		memset(&card, 0, sizeof(card));
		packets = condense_first(&c, launch, n, place, from, image);
		assert_true(packets <= n);
		run(&card, c.table, image, packets);
		compare(&card, launch, n, c.overlap);
		packets = condense_pack(&c, launch, n, place, image);
		run(&card, c.table, image, packets);
		compare(&card, launch, n, c.overlap);
		/* changes: in place where the shape stays, else packed anew */
		for (int change = 0; change < 30; change++) {
			unsigned i = (unsigned)rand_r(&seed) % n;

			if (rand_r(&seed) % 2)
				launch[i].kernarg = any(&seed) & 0x7ffffffff000ull;
			else if (rand_r(&seed) % 2)
				launch[i].signal = any(&seed) & 0x7fffffffffc0ull;
			else
				launch[i].grid_x = 1 + (uint32_t)any(&seed) % 100000;
			if (!condense_patch(&c, &launch[i], &place[i], image))
				packets = condense_pack(&c, launch, n, place, image);
			run(&card, c.table, image, packets);
			compare(&card, launch, n, c.overlap);
		}
	}
}

static void few_packets(void **state)
{
	struct tutti_dispatch_packet launch[62];
	struct place place[62];
	union tutti_packet image[62];
	struct condense c = {.shared_block_bytes = 2048};
	unsigned seed = 1, from[8];
	uint32_t weight[8];

	for (unsigned i = 0; i < 8; i++) {
		random_launch(&launch[i], 1, &seed);
		launch[i].kernel_object = 64 * (i + 1);
		launch[i].tmd = 0;
	}
	for (unsigned i = 8; i < 62; i++)
		launch[i] = launch[i % 8];
	assert_int_equal(condense_choose(&c, launch, 62, place, from, weight), 0);
	assert_int_equal(c.references, 8);
	assert_int_equal(condense_pack(&c, launch, 62, place, image), 2); /* 31 empty diffs each */
	assert_int_equal(condense_first(&c, launch, 62, place, from, image), 8 + 2);
	assert_int_equal(condense_pack(&c, launch, 6, place, image), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_recordings),
	    cmocka_unit_test(few_packets),
	};

	return cmocka_run_group_tests_name("PKT-22 condense", tests, NULL, NULL);
}

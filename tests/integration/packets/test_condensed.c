// SPDX-License-Identifier: MIT
/* Condensed packets, by the contract alone: PKT-12 .. PKT-15, PKT-18, PKT-19, PKT-21. */
#include "condensed_rig.h"

/* ---- condensed packets ---- */

static void worked_example_bytes(void **state)
{
	static const uint16_t units[10] = { 0x8004, 0xdead, 0xbeef, 0xfeed, 0x0bad,
					    0x4006, 0x1234, 0x5678, 0xdeed, 0xface };
	struct raw_condensed c;
	uint8_t byte[64];

	raw_condensed(&c);
	raw_diff(&c, 4, TUTTI_DIFF_SIGNAL);
	raw_units(&c, 0x0badfeedbeefdead, 4);
	raw_diff(&c, 6, TUTTI_DIFF_KERNARG);
	raw_units(&c, 0xfacedeed56781234, 4);
	assert_int_equal(c.units, 10);
	assert_int_equal(c.packet.condensed.num_kernels, 2);
	assert_memory_equal(c.packet.condensed.unit, units, sizeof(units));
	memcpy(byte, &c.packet, 64);
	assert_int_equal(byte[1], 2);
	assert_int_equal(byte[2], 0x04);
	assert_int_equal(byte[3], 0x80);
	/* neither address exists here, so the packet is refused as a whole and nothing runs */
	stored(4, 10, 1);
	stored(6, 10, 2);
	send(&c);
	assert_int_equal(raw_fault(&queue, TUTTI_ERROR_PACKET, 2).kernel, 0);
	assert_int_equal(*cell, 12);
}

static void worked_example_runs(void **state)
{
	struct tutti_signal *old = raw_signal(&space, 1), *new = raw_signal(&space, 1), *six = raw_signal(&space, 2);
	uint64_t *args = raw_args(&space, cell, 100, 9);
	struct raw_condensed c;

	store(&queue, 4, 10, 1, old, NONE);
	store(&queue, 6, 10, 2, six, NONE);
	assert_true(raw_until(raw, &six->value, 1, RAW_PATIENCE));
	assert_int_equal(*cell, 12);
	assert_int_equal(old->value, 0);
	raw_condensed(&c);
	raw_diff(&c, 4, TUTTI_DIFF_SIGNAL);
	raw_units(&c, (uintptr_t)new, 4);
	raw_diff(&c, 6, TUTTI_DIFF_KERNARG);
	raw_units(&c, (uintptr_t)args, 4);
	assert_int_equal(c.packet.condensed.unit[0], 0x8004);
	assert_int_equal(c.packet.condensed.unit[5], 0x4006);
	memset(&c.packet.condensed.unit[10], 0xee, 42); /* unused units may hold anything */
	send(&c);
	assert_true(raw_until(raw, &six->value, 0, RAW_PATIENCE)); /* reference 6's own signal */
	assert_int_equal(*cell, (12 * 10 + 1) * 100 + 9);
	assert_int_equal(new->value, 0);
	assert_int_equal(old->value, 0);
}

static void one_kernel_unchanged(void **state)
{
	struct raw_condensed c;

	stored(0, 10, 3);
	raw_condensed(&c);
	raw_diff(&c, 0, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 33, RAW_PATIENCE));
	raw_retired(&queue);
}

static void one_kernel_changed(void **state)
{
	struct raw_condensed c;

	stored(0, 10, 3);
	raw_condensed(&c);
	raw_diff(&c, 0, TUTTI_DIFF_KERNARG);
	raw_units(&c, (uintptr_t)raw_args(&space, cell, 5, 1), 4);
	send(&c);
	assert_true(raw_until(raw, cell, 16, RAW_PATIENCE));
	raw_condensed(&c); /* the entry itself has not changed */
	raw_diff(&c, 0, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 163, RAW_PATIENCE));
}

static void two_kernels_unchanged(void **state)
{
	struct raw_condensed c;

	stored(0, 10, 3);
	stored(1, 2, 1);
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	raw_diff(&c, 0, 0);
	send(&c);
	assert_true(raw_until(raw, cell, (7 * 2 + 1) * 10 + 3, RAW_PATIENCE));
}

static void two_kernels_changed(void **state)
{
	struct raw_condensed c;

	stored(0, 10, 3);
	stored(1, 2, 1);
	raw_condensed(&c);
	raw_diff(&c, 0, TUTTI_DIFF_KERNARG);
	raw_units(&c, (uintptr_t)raw_args(&space, cell, 3, 4), 4);
	raw_diff(&c, 0, TUTTI_DIFF_KERNARG | TUTTI_DIFF_GRID_X | TUTTI_DIFF_SCOPES);
	raw_units(&c, NONE >> 8, 1);
	raw_units(&c, 1, 2);
	raw_units(&c, (uintptr_t)raw_args(&space, cell, 5, 6), 4);
	send(&c);
	assert_true(raw_until(raw, cell, (7 * 3 + 4) * 5 + 6, RAW_PATIENCE));
}

static void thirty_one_empty_diffs(void **state)
{
	uint64_t expect = 3;
	struct raw_condensed c;
	unsigned i, round;

	stored(0, 3, 3);
	stored(1, 5, 1);
	expect = step(expect, 5, 1);
	for (round = 0; round < 5; round++) {
		raw_condensed(&c);
		for (i = 0; i < 31; i++) {
			raw_diff(&c, (i + round) % 3 == 0, 0);
			expect = (i + round) % 3 == 0 ? step(expect, 5, 1) : step(expect, 3, 3);
		}
		send(&c);
	}
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(*cell, expect);
}

static void everything_changed(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 1);
	uint64_t *counts = raw_new(&space, 4096);
	uint64_t *args = raw_args(&space, counts, 0, 0);
	struct raw_condensed c;
	unsigned i;

	stored(0, 10, 3);
	raw_condensed(&c);
	raw_diff(&c, 0, TUTTI_DIFF_ALL);
	raw_units(&c, tutti_header(0, 1, 2, 2) >> 8, 1);
	raw_units(&c, 3, 1);
	raw_units(&c, 8, 1);
	raw_units(&c, 4, 1);
	raw_units(&c, 2, 1);
	raw_units(&c, 20, 2);
	raw_units(&c, 8, 2);
	raw_units(&c, 5, 2);
	raw_units(&c, 16, 2);
	raw_units(&c, 256, 2);
	raw_units(&c, raw_kernel(raw, RAW_COUNT), 4);
	raw_units(&c, (uintptr_t)args, 4);
	raw_units(&c, (uintptr_t)signal, 4);
	assert_int_equal(c.units, 28); /* diff header + 27 units */
	send(&c);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(*cell, 3);
	for (i = 0; i < 3 * 2 * 3; i++) /* two waves each; at the grid's edge one may have nothing to do */
		assert_true(counts[i] == 2 || (counts[i] == 1 && (i % 3 == 2 || i / 6 == 2)));
	assert_int_equal(counts[18], 0);
}

/* each field alone, by its effect on RAW_COUNT: 4 items in workgroups of 2 */
static void each_field_alone(void **state)
{
	uint64_t *counts = raw_new(&space, 4096);
	union tutti_packet p = raw_dispatch(raw, RAW_COUNT, 64, 32, raw_args(&space, counts, 0, 0), NULL);
	struct raw_condensed c;
	static const struct {
		unsigned field, units;
		uint64_t value;
		unsigned groups;
	} change[] = {
		{ TUTTI_DIFF_WORKGROUP_X, 1, 8, 8 },   { TUTTI_DIFF_GRID_X, 2, 65, 3 },
		{ TUTTI_DIFF_PRIVATE_BYTES, 2, 64, 2 }, { TUTTI_DIFF_GROUP_BYTES, 2, 4096, 2 },
		{ TUTTI_DIFF_SETUP, 1, 2, 2 },         { TUTTI_DIFF_SCOPES, 1, 0, 2 },
	};
	unsigned i, k;

	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&queue, &p);
	raw_retired(&queue);
	raw_settle(raw);
	for (i = 0; i < sizeof(change) / sizeof(*change); i++) {
		memset(counts, 0, 4096);
		raw_condensed(&c);
		raw_diff(&c, 1, change[i].field);
		raw_units(&c, change[i].value, change[i].units);
		send(&c);
		raw_retired(&queue);
		raw_settle(raw);
		for (k = 0; k < change[i].groups; k++)
			assert_int_equal(counts[k], 1);
		assert_int_equal(counts[k], 0);
	}
	raw_no_fault(raw);
}

static void grid_changes(void **state)
{
	uint64_t *counts = raw_new(&space, 8 * 4096);
	union tutti_packet p = raw_dispatch(raw, RAW_COUNT, 1, 1, raw_args(&space, counts, 0, 0), NULL);
	struct raw_condensed c;
	unsigned i, k;

	p.dispatch.ref_num = TUTTI_REF_STORE;
	p.dispatch.header = NONE;
	raw_submit(&queue, &p);
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(counts[0], 1);
	raw_condensed(&c);
	for (i = 0; i < 6; i++) {
		raw_diff(&c, 0, TUTTI_DIFF_GRID_X);
		raw_units(&c, 100 * i + 50, 2);
	}
	send(&c);
	raw_retired(&queue);
	raw_settle(raw);
	for (k = 0; k < 1000; k++)
		assert_int_equal(counts[k], (k == 0) + (k < 50) + (k < 150) + (k < 250) + (k < 350) + (k < 450) + (k < 550));
}

/* ---- all or nothing ---- */

static void bad_one(struct raw_condensed *c, const char *what)
{
	uint64_t index, value = *cell;
	union tutti_packet seen;

	print_message("# %s\n", what);
	index = raw_put(&queue, &c->packet);
	seen = queue.ring[index & queue.mask];
	raw_ring(&queue, index);
	raw_fault(&queue, TUTTI_ERROR_PACKET, index);
	raw_no_fault(raw);
	assert_int_equal(*cell, value); /* nothing ran */
	assert_memory_equal(&queue.ring[index & queue.mask], &seen, sizeof(seen));
	raw_reset_queue(&queue);
}

static void bad_packets_start_nothing(void **state)
{
	static const struct {
		const char *what;
		unsigned field, units;
		uint64_t value;
	} bad[] = {
		{ "reserved scope bits", TUTTI_DIFF_SCOPES, 1, 0xe0 },
		{ "scope 3", TUTTI_DIFF_SCOPES, 1, 0x06 },
		{ "high byte of the scopes", TUTTI_DIFF_SCOPES, 1, 0x0100 },
		{ "no dimensions", TUTTI_DIFF_SETUP, 1, 0 },
		{ "reserved setup bits", TUTTI_DIFF_SETUP, 1, 0x11 },
		{ "workgroup x 0", TUTTI_DIFF_WORKGROUP_X, 1, 0 },
		{ "workgroup y 0", TUTTI_DIFF_WORKGROUP_Y, 1, 0 },
		{ "workgroup too large", TUTTI_DIFF_WORKGROUP_X, 1, 65535 },
		{ "grid x 0", TUTTI_DIFF_GRID_X, 2, 0 },
		{ "private memory", TUTTI_DIFF_PRIVATE_BYTES, 2, 1u << 24 },
		{ "group memory", TUTTI_DIFF_GROUP_BYTES, 2, 64 * 2048 + 1 },
		{ "null kernel", TUTTI_DIFF_KERNEL_OBJECT, 4, 0 },
		{ "kernel not mapped", TUTTI_DIFF_KERNEL_OBJECT, 4, 0x7000dead0000 },
		{ "kernel misaligned", TUTTI_DIFF_KERNEL_OBJECT, 4, 0x1008 },
		{ "signal misaligned", TUTTI_DIFF_SIGNAL, 4, 0x1004 },
		{ "signal not canonical", TUTTI_DIFF_SIGNAL, 4, 1ull << 60 },
	};
	struct raw_condensed c;
	unsigned i, ref;

	stored(1, 10, 5);
	stored(2, 10, 6);
	raw_condensed(&c);
	bad_one(&c, "no kernels");
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	c.packet.condensed.num_kernels = 32;
	bad_one(&c, "32 kernels");
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	c.packet.condensed.num_kernels = 255;
	bad_one(&c, "255 kernels");
	for (ref = 0; ref < 8; ref++) {
		if (ref == 1 || ref == 2)
			continue;
		raw_condensed(&c);
		raw_diff(&c, 1, 0);
		raw_diff(&c, 2, 0);
		raw_diff(&c, ref, 0);
		bad_one(&c, "last kernel's reference never stored");
	}
	raw_condensed(&c);
	for (i = 0; i < 6; i++) {
		raw_diff(&c, 1, TUTTI_DIFF_KERNARG);
		raw_units(&c, (uintptr_t)raw_args(&space, cell, 1, 1), 4);
	}
	raw_diff(&c, 2, TUTTI_DIFF_KERNARG); /* unit 30: its values lie behind the packet */
	assert_int_equal(c.units, 31);
	bad_one(&c, "diffs run past the packet");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		raw_condensed(&c);
		raw_diff(&c, 1, 0);
		raw_diff(&c, 2, bad[i].field);
		raw_units(&c, bad[i].value, bad[i].units);
		bad_one(&c, bad[i].what);
	}
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	send(&c);
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(*cell, 565);
}

static void condensed_needs_extended_queue(void **state)
{
	struct raw_condensed c;

	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	raw_submit(&plain, &c.packet);
	raw_fault(&plain, TUTTI_ERROR_PACKET, 0);
}

static void failing_kernel_stops_the_rest(void **state)
{
	struct tutti_signal *first = raw_signal(&space, 1), *last = raw_signal(&space, 1);
	union tutti_packet trap = raw_dispatch(raw, RAW_LOAD, 1, 1, raw_args(&space, cell, (uintptr_t)&cell[1], 0), NULL);
	struct raw_condensed c;
	struct tutti_fault fault;

	stored(1, 10, 5);
	trap.dispatch.ref_num = TUTTI_REF_STORE | 2;
	raw_submit(&queue, &trap); /* valid unchanged */
	raw_retired(&queue);
	raw_settle(raw);
	raw_condensed(&c);
	raw_diff(&c, 1, TUTTI_DIFF_SIGNAL);
	raw_units(&c, (uintptr_t)first, 4);
	raw_diff(&c, 1, 0);
	raw_diff(&c, 2, TUTTI_DIFF_KERNARG);
	raw_units(&c, (uintptr_t)raw_args(&space, (void *)0x7000dead000, 0, 0), 4);
	raw_diff(&c, 1, 0);
	raw_diff(&c, 1, TUTTI_DIFF_SIGNAL);
	raw_units(&c, (uintptr_t)last, 4);
	send(&c);
	fault = raw_fault(&queue, TUTTI_ERROR_MEMORY_FAULT, 2);
	assert_int_equal(fault.kernel, 2);
	assert_int_equal(fault.address, 0x7000dead000);
	raw_no_fault(raw);
	assert_int_equal(first->value, 0);
	assert_int_equal(last->value, 1);
	assert_int_equal(*cell, 555); /* kernels 0 and 1 ran, 3 and 4 did not */
	raw_reset_queue(&queue);
	stored(1, 10, 1);
	assert_int_equal(*cell, 5551);
}

static void everything_mixed(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 0), *none[5] = { NULL };
	uint64_t expect = 0;
	unsigned i, k, seed = 12345;
	union tutti_packet p;
	struct raw_condensed c;

	for (i = 0; i < 8; i++) {
		store(&queue, i, 3, i, NULL, NONE);
		expect = step(expect, 3, i);
	}
	for (i = 0; i < 300; i++) {
		seed = seed * 1103515245 + 12345;
		while (queue.write - *queue.read_index > queue.mask - 1)
			raw_run(raw, 1);
		switch ((seed >> 16) % 5) {
		case 0:
			p = raw_step(&space, cell, 5, i, NULL);
			raw_submit(&queue, &p);
			expect = step(expect, 5, i);
			break;
		case 1:
			memset(&p, 0, sizeof(p));
			p.barrier.header = tutti_header(i % 2 ? TUTTI_PACKET_BARRIER_AND : TUTTI_PACKET_BARRIER_OR, 1, 0, 0);
			p.barrier.dependency[i % 5] = (uintptr_t)signal;
			raw_submit(&queue, &p);
			break;
		case 2:
			store(&queue, i % 8, 3, i % 8, NULL, NONE);
			expect = step(expect, 3, i % 8);
			break;
		default:
			raw_condensed(&c);
			for (k = 0; k < 1 + (seed >> 20) % 4; k++) {
				if ((seed >> k) & 1) {
					raw_diff(&c, (i + k) % 8, TUTTI_DIFF_KERNARG);
					raw_units(&c, (uintptr_t)raw_args(&space, cell, 9, k), 4);
					expect = step(expect, 9, k);
				} else {
					raw_diff(&c, (i + k) % 8, 0);
					expect = step(expect, 3, (i + k) % 8);
				}
			}
			send(&c);
		}
	}
	(void)none;
	raw_retired(&queue);
	raw_settle(raw);
	raw_no_fault(raw);
	assert_int_equal(*cell, expect);
}

static void costs_nothing_twice(void **state)
{
	uint64_t first, plain_cost, empty_cost, again;
	struct raw_condensed c;
	unsigned i;

	/* PKT-19: instructions of plain launches against condensed ones, same machine, same kernels */
	stored(1, 3, 1);
	raw_settle(raw);
	first = tutti_card_instructions(raw->card);
	for (i = 0; i < 31; i++) {
		union tutti_packet p = raw_step(&space, cell, 3, 1, NULL);

		p.dispatch.header = NONE;
		raw_put(&queue, &p);
	}
	raw_ring(&queue, queue.write - 1);
	raw_retired(&queue);
	raw_settle(raw);
	plain_cost = tutti_card_instructions(raw->card) - first;
	raw_condensed(&c);
	for (i = 0; i < 31; i++)
		raw_diff(&c, 1, 0);
	for (again = 0; again < 3; again++) { /* stored the second time, recognised the third time */
		first = tutti_card_instructions(raw->card);
		send(&c);
		raw_retired(&queue);
		raw_settle(raw);
		empty_cost = tutti_card_instructions(raw->card) - first;
		print_message("# soft-core instructions for 31 kernels, all in all: plain %llu, condensed %llu\n",
			      (unsigned long long)plain_cost, (unsigned long long)empty_cost);
		assert_true(empty_cost < plain_cost);
	}
	raw_counters(raw, after);
	assert_true(after[TUTTI_COUNTER_REPEATED] >= 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BOTH("PKT-15: the source's worked example, its bytes", worked_example_bytes),
		BOTH("PKT-15: the source's worked example, running", worked_example_runs),
		BOTH("PKT-21, PKT-12: claims, one kernel unchanged", one_kernel_unchanged),
		BOTH("PKT-21, PKT-13: claims, one kernel changed", one_kernel_changed),
		BOTH("PKT-21: claims, two kernels unchanged", two_kernels_unchanged),
		BOTH("PKT-21: claims, two kernels changed by different diffs", two_kernels_changed),
		BOTH("PKT-21: 31 empty diffs", thirty_one_empty_diffs),
		BOTH("PKT-14: all fields of one kernel changed", everything_changed),
		BOTH("PKT-14: each field alone", each_field_alone),
		BOTH("PKT-14, PKT-19: grids changed by diffs", grid_changes),
		BOTH("PKT-18: a bad condensed packet starts nothing", bad_packets_start_nothing),
		BOTH("PKT-12: condensed packets need an extended queue", condensed_needs_extended_queue),
		BOTH("PKT-18: a failing kernel stops the rest", failing_kernel_stops_the_rest),
		BOTH("PKT-21: references, condensed, plain and barriers mixed", everything_mixed),
		BOTH("PKT-19: condensed costs less than plain", costs_nothing_twice),
	};

	return cmocka_run_group_tests_name("condensed", tests, NULL, NULL);
}

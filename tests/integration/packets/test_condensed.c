/* SPDX-License-Identifier: MIT */
/*
 * Reference and condensed packets, by the contract alone: PKT-08 .. PKT-19, PKT-21.
 * Everything that touches the reference state buffer runs with it in scratch RAM
 * and in card memory (PKT-10).
 */
#include "raw.h"

#define BOTH(name, function)                                               \
	{ name " (RSB in scratch RAM)", function, scratch, teardown, NULL }, \
	{ name " (RSB in card memory)", function, memory, teardown, NULL }

#define NONE tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE)

static struct raw *raw;
static struct raw_space space;
static struct raw_queue queue, plain;
static uint64_t *cell;
static unsigned placement;
static uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];

static void make_rsb(unsigned id, uint32_t asid)
{
	struct tutti_message rsb = { .type = TUTTI_MSG_RSB_CREATE };

	rsb.rsb.rsb = (uint16_t)id;
	rsb.rsb.asid = (uint16_t)asid;
	rsb.rsb.placement = placement;
	if (placement == TUTTI_RSB_MEMORY) {
		rsb.rsb.offset = raw->card_used;
		raw->card_used += 4096;
		assert_true(raw->card_used <= raw->discovery->reserved_bytes);
	}
	assert_int_equal(raw_call(raw, &rsb).status, 0);
}

static void make_queue(struct raw_queue *q, unsigned id, unsigned flags, unsigned rsb)
{
	struct tutti_message create =
		raw_queue_message(&space, q, id, flags | TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, 6);

	create.queue.rsb = (uint16_t)rsb;
	assert_int_equal(raw_call(raw, &create).status, 0);
}

static int setup(unsigned where)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 4, 2 }, .gpcs = 2 };

	placement = where;
	raw = raw_create(&config);
	raw_space_init(raw, &space, 1);
	make_rsb(2, 1);
	make_queue(&queue, 3, 0, 2);
	raw_queue_init(&space, &plain, 9, 0, 6);
	cell = raw_small(&space);
	return 0;
}

static int scratch(void **state)
{
	return setup(TUTTI_RSB_SCRATCH);
}

static int memory(void **state)
{
	return setup(TUTTI_RSB_MEMORY);
}

static int teardown(void **state)
{
	raw_destroy(raw);
	return 0;
}

static uint64_t step(uint64_t value, uint64_t mul, uint64_t add)
{
	return value * mul + add;
}

/* store reference @entry: kernel *cell = *cell * mul + add (runs as well) */
static void store(struct raw_queue *q, unsigned entry, uint64_t mul, uint64_t add, struct tutti_signal *signal,
		  unsigned header)
{
	union tutti_packet p = raw_step(&space, cell, mul, add, signal);

	p.dispatch.header = (uint16_t)header;
	p.dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | entry);
	raw_submit(q, &p);
}

static void stored(unsigned entry, uint64_t mul, uint64_t add)
{
	store(&queue, entry, mul, add, NULL, NONE);
	raw_retired(&queue);
	raw_settle(raw);
}

static void send(struct raw_condensed *c)
{
	raw_submit(&queue, &c->packet);
}

static void count_from_here(void)
{
	raw_counters(raw, before);
}

static uint64_t counted(enum tutti_counter counter)
{
	return after[counter] - before[counter];
}

static void count_to_here(void)
{
	raw_counters(raw, after);
}

/* ---- reference packets ---- */

static void reference_runs_and_stores(void **state)
{
	struct raw_condensed c;

	stored(5, 10, 7);
	assert_int_equal(*cell, 7); /* it runs as usual */
	raw_condensed(&c);
	raw_diff(&c, 5, 0);
	send(&c);
	raw_retired(&queue);
	assert_true(raw_until(raw, cell, 77, RAW_PATIENCE)); /* and its state is kept */
}

static void reference_valid_at_once(void **state)
{
	uint64_t *words = raw_small(&space);
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&queue, &p); /* this kernel is still running when its reference is used */
	raw_condensed(&c);
	raw_diff(&c, 1, TUTTI_DIFF_SIGNAL);
	raw_units(&c, (uintptr_t)signal, 4);
	send(&c);
	assert_true(raw_until(raw, &words[0], 2, RAW_PATIENCE));
	words[1] = 1;
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
}

static void ref_num_reserved_bits(void **state)
{
	unsigned bit;

	for (bit = 3; bit <= 14; bit++) {
		union tutti_packet p = raw_step(&space, cell, 1, 1, NULL);
		uint64_t index;

		p.dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | 1u << bit);
		index = raw_put(&queue, &p);
		raw_ring(&queue, index);
		raw_fault(&queue, TUTTI_ERROR_PACKET, index);
		raw_reset_queue(&queue);
	}
	assert_int_equal(*cell, 0);
}

static void field_ignored_on_plain_queues(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 1, 1, NULL);

	p.dispatch.ref_num = 0xffff;
	raw_submit(&plain, &p);
	raw_retired(&plain);
	assert_true(raw_until(raw, cell, 1, RAW_PATIENCE));
	raw_no_fault(raw);
}

static void retiring_clears_the_field(void **state)
{
	struct raw_condensed c;
	unsigned i;

	stored(2, 3, 4);
	assert_int_equal(queue.ring[0].dispatch.ref_num, 0);
	raw_condensed(&c);
	raw_diff(&c, 2, 0);
	for (i = c.units; i < 31; i++)
		c.packet.condensed.unit[i] = 0xffff;
	send(&c);
	raw_retired(&queue);
	assert_int_equal(queue.ring[1].dispatch.ref_num, 0);
	assert_int_equal(queue.ring[1].dispatch.header, TUTTI_PACKET_INVALID);
}

static const struct tutti_rsb *dump(void)
{
	static struct tutti_rsb table;
	uint64_t offset = raw->discovery->memory_bytes < (1u << 30) ? raw->discovery->memory_bytes - 4096 :
								      (1u << 30) - 4096;

	assert_int_equal(raw_ask(raw, TUTTI_MSG_RSB_READ, 2, offset, 0), 0);
	raw_settle(raw);
	memcpy(&table, raw->bar + raw->discovery->aperture + offset, sizeof(table));
	return &table;
}

static void table_holds_processed_state(void **state)
{
	union tutti_packet p = raw_dispatch(raw, RAW_COUNT, 1000, 96, raw_args(&space, raw_new(&space, 4096), 0, 0),
					    NULL);
	const struct tutti_reference *r;

	p.dispatch.setup = 2;
	p.dispatch.grid_y = 3;
	p.dispatch.workgroup_y = 2;
	p.dispatch.group_bytes = 2049;
	p.dispatch.private_bytes = 20;
	p.dispatch.ref_num = TUTTI_REF_STORE | 7;
	raw_submit(&queue, &p);
	raw_retired(&queue);
	r = &dump()->reference[7];
	assert_int_equal(r->flags & TUTTI_REFERENCE_VALID, TUTTI_REFERENCE_VALID);
	assert_int_equal(r->groups_x, 11);
	assert_int_equal(r->groups_y, 2);
	assert_int_equal(r->groups_z, 1);
	assert_int_equal(r->groups, 22);
	assert_int_equal(r->grid_x, 1000);
	assert_int_equal(r->waves, 6);
	assert_int_equal(r->shared_bytes, 4096);
	assert_int_equal(r->shared_blocks, 2);
	assert_int_equal(r->private_bytes, 640);
	assert_int_equal(r->entry, raw_kernel(raw, RAW_COUNT) + 64);
	assert_int_equal(r->kernel_object, raw_kernel(raw, RAW_COUNT));
	assert_int_equal(r->kernarg, p.dispatch.kernarg);
	assert_int_equal(r->header, p.dispatch.header);
	assert_int_equal(dump()->reference[0].flags & TUTTI_REFERENCE_VALID, 0);
}

static void invalidated_entry(void **state)
{
	struct raw_condensed c;

	stored(1, 10, 1);
	stored(2, 10, 2);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_RSB_INVALIDATE, 2, 1u << 1, 0), 0);
	raw_condensed(&c);
	raw_diff(&c, 2, 0);
	raw_diff(&c, 1, 0);
	send(&c);
	raw_fault(&queue, TUTTI_ERROR_PACKET, 2);
	assert_int_equal(*cell, 12);
	raw_reset_queue(&queue);
	raw_condensed(&c);
	raw_diff(&c, 2, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 122, RAW_PATIENCE));
}

static void shared_by_two_queues(void **state)
{
	struct raw_queue second;
	struct raw_condensed c;

	make_queue(&second, 4, 0, 2);
	stored(6, 10, 3);
	raw_condensed(&c);
	raw_diff(&c, 6, 0);
	raw_submit(&second, &c.packet);
	assert_true(raw_until(raw, cell, 33, RAW_PATIENCE));
	assert_int_not_equal(raw_ask(raw, TUTTI_MSG_RSB_DESTROY, 2, 0, 0), 0); /* attached */
}

static void not_for_another_context(void **state)
{
	struct raw_space stranger;
	struct raw_queue thief;
	struct tutti_message create;

	raw_space_init(raw, &stranger, 2);
	create = raw_queue_message(&stranger, &thief, 5, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, 6);
	create.queue.rsb = 2;
	assert_int_not_equal(raw_call(raw, &create).status, 0);
}

static void replaced_entry(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	store(&queue, 1, 10, 5, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	assert_true(raw_until(raw, cell, 5, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 55, RAW_PATIENCE)); /* later packets see the new one */
	words[1] = 1;
	assert_true(raw_until(raw, &words[2], 1, RAW_PATIENCE)); /* what was launched is not affected */
}

static void bad_reference_stores_nothing(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 1, 1, NULL);
	struct raw_condensed c;

	stored(3, 10, 1);
	p.dispatch.ref_num = TUTTI_REF_STORE | 3;
	p.dispatch.workgroup_x = 0;
	raw_submit(&queue, &p);
	raw_fault(&queue, TUTTI_ERROR_DIMENSIONS, 1);
	raw_reset_queue(&queue);
	raw_condensed(&c);
	raw_diff(&c, 3, 0);
	send(&c);
	assert_true(raw_until(raw, cell, 11, RAW_PATIENCE));
}

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
	/* neither address exists here: refused as a whole, nothing runs */
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

/* ---- order and clean-up ---- */

static void kernels_one_after_the_other(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	words[1] = 1;
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&queue, &p);
	store(&queue, 2, 10, 5, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	raw_retired(&queue);
	raw_settle(raw);
	words[1] = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, 0); /* no barrier bit anywhere: still one by one */
	raw_diff(&c, 2, 0);
	send(&c);
	assert_true(raw_until(raw, &words[0], 2, RAW_PATIENCE));
	raw_run(raw, 20);
	assert_int_equal(*cell, 5);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 55, RAW_PATIENCE));
}

static void overlap_option(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_queue overlap;
	struct raw_condensed c;

	make_queue(&overlap, 6, TUTTI_QUEUE_OVERLAP, 2);
	words[1] = 1;
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&overlap, &p);
	store(&overlap, 2, 10, 5, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	store(&overlap, 3, 7, 2, NULL, NONE); /* with the barrier bit */
	raw_retired(&overlap);
	raw_settle(raw);
	assert_int_equal(*cell, 37);
	words[1] = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	raw_diff(&c, 2, 0); /* may start while the first runs */
	raw_diff(&c, 3, 0); /* may not */
	raw_submit(&overlap, &c.packet);
	assert_true(raw_until(raw, cell, 375, RAW_PATIENCE));
	assert_int_equal(words[2], 1);
	raw_run(raw, 20);
	assert_int_equal(*cell, 375);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 375 * 7 + 2, RAW_PATIENCE));
	assert_int_equal(words[2], 2);
}

static void ordered_as_its_first_kernel(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	store(&queue, 1, 10, 5, NULL, NONE);
	store(&queue, 2, 10, 6, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	raw_retired(&queue);
	raw_settle(raw);
	*cell = 1;
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 2, 0); /* no barrier bit: does not wait for the gate */
	send(&c);
	assert_true(raw_until(raw, cell, 16, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 1, 0); /* barrier bit of the reference: waits */
	send(&c);
	raw_run(raw, 20);
	assert_int_equal(*cell, 16);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 165, RAW_PATIENCE));
}

static void barrier_bit_of_the_diff(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	stored(1, 10, 5);
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 1, TUTTI_DIFF_SCOPES);
	raw_units(&c, 0, 1);
	send(&c);
	assert_true(raw_until(raw, cell, 55, RAW_PATIENCE));
	words[1] = 1;
	raw_settle(raw);
}

static void later_barrier_waits_for_last_kernel(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	words[1] = 1;
	stored(1, 10, 5);
	p.dispatch.ref_num = TUTTI_REF_STORE | 2;
	raw_submit(&queue, &p);
	raw_retired(&queue);
	raw_settle(raw);
	words[1] = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	raw_diff(&c, 2, 0); /* the last one waits */
	send(&c);
	p = raw_step(&space, cell, 10, 7, NULL);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 2, RAW_PATIENCE));
	raw_run(raw, 20);
	assert_int_equal(*cell, 55);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 557, RAW_PATIENCE));
}

static void one_clean_up(void **state)
{
	unsigned system = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM);
	struct tutti_signal *last = raw_signal(&space, 4);
	struct raw_condensed c;
	unsigned i, kernels = 6;

	for (i = 0; i < kernels; i++)
		store(&queue, i, 3, i, NULL, system);
	raw_retired(&queue);
	raw_settle(raw);
	/* the last kernel alone has a signal: one release, one signal; acquires for each kernel */
	raw_condensed(&c);
	for (i = 0; i < kernels - 1; i++)
		raw_diff(&c, i, 0);
	raw_diff(&c, i, TUTTI_DIFF_SIGNAL);
	raw_units(&c, (uintptr_t)last, 4);
	count_from_here();
	send(&c);
	assert_true(raw_until(raw, &last->value, 3, RAW_PATIENCE));
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_KERNELS), 6);
	assert_int_equal(counted(TUTTI_COUNTER_PACKETS), 1);
	assert_int_equal(counted(TUTTI_COUNTER_PACKETS_CONDENSED), 1);
	assert_int_equal(counted(TUTTI_COUNTER_ACQUIRES), 6);
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 1);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 1);
	/* no signal at all: one release */
	raw_condensed(&c);
	for (i = 0; i < kernels; i++)
		raw_diff(&c, i, 0);
	count_from_here();
	send(&c);
	raw_retired(&queue);
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 1);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 0);
	/* kernel 2 and the last have signals: kernel 2 is cleaned up by itself */
	raw_condensed(&c);
	for (i = 0; i < kernels; i++) {
		raw_diff(&c, i, i == 2 || i == 5 ? TUTTI_DIFF_SIGNAL : 0);
		if (i == 2 || i == 5)
			raw_units(&c, (uintptr_t)last, 4);
	}
	count_from_here();
	send(&c);
	assert_true(raw_until(raw, &last->value, 1, RAW_PATIENCE));
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 2);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 2);
	/* the same launches as plain packets: six of each */
	count_from_here();
	for (i = 0; i < kernels; i++) {
		union tutti_packet p = raw_step(&space, cell, 3, i, last);

		last->value = 6;
		raw_submit(&queue, &p);
	}
	raw_retired(&queue);
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_PACKETS), 6);
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 6);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 6);
}

static void no_scope_no_fence(void **state)
{
	struct raw_condensed c;
	unsigned i;

	stored(1, 3, 1);
	raw_condensed(&c);
	for (i = 0; i < 31; i++)
		raw_diff(&c, 1, 0);
	count_from_here();
	send(&c);
	raw_retired(&queue);
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_KERNELS), 31);
	assert_int_equal(counted(TUTTI_COUNTER_ACQUIRES), 0);
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 0);
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
	raw_submit(&queue, &trap); /* fine as it is */
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

static void kernels_see_earlier_writes(void **state)
{
	uint64_t expect = 1;
	struct raw_condensed c;
	unsigned i;

	/* no fence anywhere, many CTAs: kernel i+1 reads what i wrote */
	stored(1, 7, 1);
	for (i = 0; i < 20; i++) {
		unsigned k;

		raw_condensed(&c);
		for (k = 0; k < 31; k++) {
			raw_diff(&c, 1, 0);
			expect = step(expect, 7, 1);
		}
		send(&c);
	}
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(*cell, expect);
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
	for (again = 0; again < 3; again++) { /* kept the second time, known the third */
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
		BOTH("PKT-08: a reference packet runs and is stored", reference_runs_and_stores),
		BOTH("PKT-08: the entry is valid while its kernel still runs", reference_valid_at_once),
		BOTH("PKT-08: bits 14..3 of ref_num must be 0", ref_num_reserved_bits),
		BOTH("PKT-08: the field is ignored on plain queues", field_ignored_on_plain_queues),
		BOTH("PKT-08: retiring clears bytes 10-11", retiring_clears_the_field),
		BOTH("PKT-09: the table holds processed state", table_holds_processed_state),
		BOTH("PKT-10: entries can be invalidated", invalidated_entry),
		BOTH("PKT-10: one RSB for two queues", shared_by_two_queues),
		BOTH("PKT-10: another context cannot attach it", not_for_another_context),
		BOTH("PKT-11: storing over an entry", replaced_entry),
		BOTH("PKT-08: a bad reference packet leaves the entry alone", bad_reference_stores_nothing),
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
		BOTH("PKT-16: kernels of a packet one after the other", kernels_one_after_the_other),
		BOTH("PKT-16: overlap option", overlap_option),
		BOTH("PKT-16: kernels see earlier writes without a fence", kernels_see_earlier_writes),
		BOTH("PKT-12: ordered as its first kernel", ordered_as_its_first_kernel),
		BOTH("PKT-12: barrier bit of the diff", barrier_bit_of_the_diff),
		BOTH("PKT-12: a later barrier bit waits for the last kernel", later_barrier_waits_for_last_kernel),
		BOTH("PKT-17: one clean-up for a packet", one_clean_up),
		BOTH("PKT-17: no scope, no fence", no_scope_no_fence),
		BOTH("PKT-18: a bad condensed packet starts nothing", bad_packets_start_nothing),
		BOTH("PKT-12: condensed packets need an extended queue", condensed_needs_extended_queue),
		BOTH("PKT-18: a failing kernel stops the rest", failing_kernel_stops_the_rest),
		BOTH("PKT-21: references, condensed, plain and barriers mixed", everything_mixed),
		BOTH("PKT-19: condensed costs less than plain", costs_nothing_twice),
	};

	return cmocka_run_group_tests_name("condensed", tests, NULL, NULL);
}

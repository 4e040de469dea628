/* SPDX-License-Identifier: MIT */
/* Metadata of kernels in condensed packets, by the contract alone: TSK-01, PKT-18, PKT-19, PKT-20. */
#include "raw.h"
#include "tutti/tmd.h"

#define T(name, function) { name, function, setup, teardown, NULL }
#define TABLE(name, function) { name, function, setup_table, teardown, NULL }
#define NONE tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE)

static struct raw *raw;
static struct raw_space space;
static struct raw_queue queue;
static struct tutti_tmd *tmd[2];
static uint64_t *cell;

static int make(unsigned flags)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 4 }, .gpcs = 1, .workers = 1 };
	unsigned i;

	raw = raw_create(&config);
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 0, TUTTI_QUEUE_EXTENDED | flags, 6);
	cell = raw_small(&space);
	for (i = 0; i < 2; i++) {
		tmd[i] = raw_new(&space, 4096);
		*tmd[i] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .priority = 3 };
	}
	return 0;
}

static int setup(void **state)
{
	return make(0);
}

static int setup_table(void **state)
{
	return make(TUTTI_QUEUE_TABLE_DIFFS);
}

static int teardown(void **state)
{
	raw_destroy(raw);
	return 0;
}

/* Stores and runs reference @entry: *cell = *cell * 3 + @add, with metadata if @with is not NULL. */
static void store(unsigned entry, uint64_t add, const struct tutti_tmd *with)
{
	union tutti_packet p = raw_step(&space, cell, 3, add, NULL);

	p.dispatch.header = NONE;
	p.dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | entry);
	p.dispatch.tmd = (uintptr_t)with;
	raw_submit(&queue, &p);
	raw_retired(&queue);
	raw_settle(raw);
}

/* A condensed packet of @n references. Return: packet index */
static uint64_t send(const unsigned *entries, unsigned n, struct tutti_signal *signal)
{
	struct raw_condensed c;
	uint64_t index;
	unsigned i;

	raw_condensed(&c);
	for (i = 0; i < n; i++) {
		raw_diff(&c, entries[i], signal && i + 1 == n ? TUTTI_DIFF_SIGNAL : 0);
		if (signal && i + 1 == n)
			raw_units(&c, (uintptr_t)signal, 4);
	}
	index = raw_put(&queue, &c.packet);
	raw_ring(&queue, index);
	return index;
}

/* The third kernel's metadata are bad: nothing of the packet runs, and the error names kernel and field. */
static void bad_before(void **state)
{
	static const struct { unsigned offset; uint8_t value; } bad[] = {
		{ offsetof(struct tutti_tmd, magic), 0 }, { offsetof(struct tutti_tmd, priority), 11 },
		{ offsetof(struct tutti_tmd, flags), 0x80 }, { offsetof(struct tutti_tmd, cga), 1 },
		{ offsetof(struct tutti_tmd, pad0), 1 },
	};
	struct tutti_signal *signal = raw_signal(&space, 1);
	uint64_t expect, index;
	unsigned i;

	store(0, 1, NULL);
	store(1, 2, tmd[0]);
	store(2, 3, tmd[1]);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t *byte = (uint8_t *)tmd[1] + bad[i].offset, before = *byte;
		struct tutti_fault fault;

		*byte = bad[i].value;
		expect = *cell;
		index = send((unsigned[]){ 0, 1, 2, 0 }, 4, signal);
		fault = raw_fault(&queue, TUTTI_ERROR_PACKET, index);
		assert_int_equal(fault.kernel, 2);
		assert_in_range(fault.address, (uintptr_t)tmd[1], (uintptr_t)tmd[1] + 255);
		raw_settle(raw);
		assert_int_equal(*cell, expect);
		assert_int_equal(signal->value, 1);
		raw_reset_queue(&queue);
		*byte = before;
	}
	/* after a repair the same packet runs, and again: metadata are read every time */
	expect = *cell;
	for (i = 0; i < 2; i++) {
		signal->value = 1;
		send((unsigned[]){ 0, 1, 2, 0 }, 4, signal);
		raw_retired(&queue);
		raw_settle(raw);
		assert_int_equal(signal->value, 0);
		expect = (((expect * 3 + 1) * 3 + 2) * 3 + 3) * 3 + 1;
		assert_int_equal(*cell, expect);
		assert_int_equal(tmd[0]->state, TUTTI_TMD_FINISHED);
		assert_int_equal(tmd[0]->completed, 1);
	}
	tmd[0]->version = 2;
	index = send((unsigned[]){ 0, 1, 2, 0 }, 4, signal);
	assert_int_equal(raw_fault(&queue, TUTTI_ERROR_PACKET, index).kernel, 1);
	assert_int_equal(*cell, expect);
}

/* Metadata that are no longer mapped. */
static void unmapped(void **state)
{
	struct tutti_fault fault;
	uint64_t expect;

	store(0, 1, NULL);
	store(1, 2, tmd[0]);
	expect = *cell;
	raw_unmap(&space, (uintptr_t)tmd[0], 4096);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_TLB_INVALIDATE, 1, 0, 0), 0);
	fault = raw_fault(&queue, TUTTI_ERROR_PACKET, send((unsigned[]){ 0, 1 }, 2, NULL));
	assert_int_equal(fault.kernel, 1);
	assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
	raw_settle(raw);
	assert_int_equal(*cell, expect);
}

/* CGAs that the grid cannot be divided into are found before anything starts, too. */
static void bad_groups(void **state)
{
	struct tutti_fault fault;
	uint64_t expect;

	store(0, 1, NULL);
	store(1, 2, tmd[0]);
	expect = *cell;
	tmd[0]->cga[0] = (struct tutti_cga_shape){ .x = 2, .y = 1, .z = 1, .kind = TUTTI_CGA_GPC };
	fault = raw_fault(&queue, TUTTI_ERROR_PACKET, send((unsigned[]){ 0, 0, 1 }, 3, NULL));
	assert_int_equal(fault.kernel, 2);
	raw_settle(raw);
	assert_int_equal(*cell, expect);
}

/*
 * Metadata that become bad while an earlier kernel runs: the kernels before have run, and the error names this one and
 * its metadata.
 */
static void bad_meanwhile(void **state)
{
	uint64_t *words = raw_small(&space), index, expect;
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct tutti_signal *signal = raw_signal(&space, 1);

	words[1] = 1; /* the gate is open the first time */
	p.dispatch.header = NONE;
	p.dispatch.ref_num = TUTTI_REF_STORE;
	raw_submit(&queue, &p);
	store(1, 2, tmd[0]);
	assert_true(raw_until(raw, &words[2], 1, RAW_PATIENCE));
	words[1] = 0;
	expect = *cell;
	index = send((unsigned[]){ 0, 1, 1 }, 3, signal);
	assert_true(raw_until(raw, &words[0], 2, RAW_PATIENCE));
	tmd[0]->priority = 11;
	words[1] = 1;
	assert_int_equal(raw_fault(&queue, TUTTI_ERROR_TMD, index).kernel, 1);
	assert_int_equal(words[2], 2);
	assert_int_equal(*cell, expect);
	assert_int_equal(signal->value, 1);
}

/* A rare diff of a reference with metadata: they are used all the same. */
static void rare_diff(void **state)
{
	struct raw_condensed c;
	union tutti_packet p;

	p = raw_dispatch(raw, RAW_ADD, 7 * 32, 32, raw_args(&space, cell, 1, 0), NULL);
	p.dispatch.header = NONE;
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	p.dispatch.tmd = (uintptr_t)tmd[0];
	raw_submit(&queue, &p);
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(tmd[0]->completed, 7);
	tmd[0]->completed = tmd[0]->state = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, TUTTI_DIFF_WORKGROUP_X);
	raw_units(&c, 16, 1);
	raw_submit(&queue, &c.packet);
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(*cell, 7 + 14);
	assert_int_equal(tmd[0]->completed, 14);
	assert_int_equal(tmd[0]->state, TUTTI_TMD_FINISHED);
	tmd[0]->priority = 11;
	assert_int_equal(raw_fault(&queue, TUTTI_ERROR_PACKET, (raw_submit(&queue, &c.packet), queue.write - 1)).kernel, 0);
}

static void rare_table_diff(void **state)
{
	struct raw_condensed c;
	union tutti_packet p;

	p = raw_dispatch(raw, RAW_ADD, 7 * 32, 32, raw_args(&space, cell, 1, 0), NULL);
	p.dispatch.header = NONE;
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	p.dispatch.tmd = (uintptr_t)tmd[0];
	raw_submit(&queue, &p);
	raw_retired(&queue);
	raw_settle(raw);
	tmd[0]->completed = tmd[0]->state = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, TUTTI_TABLE_GRID_X);
	raw_units(&c, 9 * 32, 2);
	raw_units(&c, 9, 2);
	raw_submit(&queue, &c.packet);
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(*cell, 7 + 9);
	assert_int_equal(tmd[0]->completed, 9);
	assert_int_equal(tmd[0]->state, TUTTI_TMD_FINISHED);
}

/* As many kernels with metadata as a packet can have, with two records in turn. */
static void thirty_one(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 1);
	uint64_t expect;
	unsigned entries[27], i;

	store(0, 1, tmd[0]);
	store(1, 2, tmd[1]);
	expect = *cell;
	for (i = 0; i < 27; i++) {
		entries[i] = i % 2;
		expect = expect * 3 + 1 + i % 2;
	}
	send(entries, 27, signal);
	raw_retired(&queue);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(*cell, expect);
}

/* The driver allows a queue's tasks no priority above 5: metadata with 5 run, those with 4 are refused. */
static void raised_priority(void **state)
{
	struct raw_queue held;
	struct tutti_message create = raw_queue_message(&space, &held, 1, TUTTI_QUEUE_EXTENDED, 6);
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_step(&space, cell, 3, 1, signal);
	uint64_t index;

	create.queue.priority = 7 | 5 << TUTTI_QUEUE_HIGHEST_SHIFT;
	assert_int_equal(raw_call(raw, &create).status, 0);
	p.dispatch.tmd = (uintptr_t)tmd[0];
	tmd[0]->priority = 5;
	raw_submit(&held, &p);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	tmd[0]->priority = 4;
	index = raw_put(&held, &p);
	raw_ring(&held, index);
	assert_int_equal(raw_fault(&held, TUTTI_ERROR_TMD, index).address,
			 (uintptr_t)tmd[0] + offsetof(struct tutti_tmd, priority));
	assert_int_equal(signal->value, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("PKT-18, TSK-01: bad metadata of a condensed packet: no kernel of it runs", bad_before),
		T("PKT-18, TSK-01: metadata that are gone: no kernel runs", unmapped),
		T("PKT-18, CGA-05: groups that the grid cannot have: no kernel runs", bad_groups),
		T("PKT-18, TSK-01: metadata that become bad while the packet runs", bad_meanwhile),
		T("PKT-19, TSK-01: a rare diff of a reference with metadata", rare_diff),
		TABLE("PKT-20, TSK-01: a diff of the table entry of a reference with metadata", rare_table_diff),
		T("PKT-21, TSK-01: a whole packet of kernels with metadata", thirty_one),
		T("REL-12, TSK-01: metadata cannot ask for a priority above that of their queue's driver", raised_priority),
	};

	return cmocka_run_group_tests_name("metadata of condensed packets", tests, NULL, NULL);
}

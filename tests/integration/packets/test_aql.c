// SPDX-License-Identifier: MIT
/* Plain AQL packets on the card, by the contract alone: PKT-01 .. PKT-05. */
#include "aql_rig.h"

/* ---- PKT-01 ---- */

static bool ring_has_room(void *context)
{
	(void)context;
	return queue.write - tutti_load_acquire(queue.read_index) <= queue.mask - 7;
}

static void ring_wraps(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 1);
	uint64_t expect = 0;
	union tutti_packet p;
	unsigned i;

	for (i = 0; i < 200; i++) {
		p = raw_step(&space, cell, 3, i, i == 199 ? signal : NULL);
		if (queue.write - *queue.read_index > queue.mask)
			assert_true(raw_pump(raw, ring_has_room, NULL, RAW_PATIENCE));
		raw_submit(&queue, &p);
		expect = step(expect, 3, i);
	}
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	raw_retired(&queue);
	assert_int_equal(*cell, expect);
}

static void publish_16_bits(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_step(&space, cell, 0, 5, signal), *slot = &queue.ring[0];

	memcpy((uint8_t *)slot + 2, (uint8_t *)&p + 2, sizeof(p) - 2);
	raw_ring(&queue, 0);
	raw_settle(raw);
	assert_int_equal(*cell, 0);
	tutti_store_release(&slot->dispatch.header, p.dispatch.header);
	queue.write++;
	raw_ring(&queue, 0);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(*cell, 5);
}

/* ---- PKT-02 ---- */

static void not_ready(uint32_t first_word)
{
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_step(&space, cell, 0, 5, signal);
	uint64_t index = queue.write;

	memcpy(&queue.ring[index & queue.mask], &p, sizeof(p));
	queue.ring[index & queue.mask].word[0] = first_word;
	raw_ring(&queue, index);
	raw_settle(raw);
	assert_int_equal(*queue.read_index, index);
	assert_int_equal(*cell, 0);
	raw_no_fault(raw);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(*cell, 5);
}

static void invalid_is_not_ready(void **state)
{
	not_ready(TUTTI_PACKET_INVALID | 0x00010000);
}

static void cleared_slot_is_not_ready(void **state)
{
	not_ready(0);
}

static void agent_dispatch(void **state)
{
	uint8_t *from = raw_new(&space, 3 * 4096), *to = raw_new(&space, 3 * 4096);
	uint64_t *time = raw_small(&space);
	struct tutti_signal *signal = raw_signal(&space, 4);
	union tutti_packet p[4];
	unsigned i;

	for (i = 0; i < 3 * 4096; i++)
		from[i] = (uint8_t)(i * 7 + i / 256);
	p[0] = agent(TUTTI_AGENT_NOP, 0, 0, 0, NULL, signal);
	p[1] = agent(TUTTI_AGENT_COPY, (uintptr_t)to + 5, (uintptr_t)from + 3, 2 * 4096 + 11, NULL, signal);
	p[2] = agent(TUTTI_AGENT_FILL, (uintptr_t)to + 10000, 0xa1b2c3d4, 400, NULL, signal);
	p[3] = agent(TUTTI_AGENT_TIME, 0, 0, 0, time, signal);
	for (i = 0; i < 4; i++)
		raw_submit(&queue, &p[i]);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_memory_equal(to + 5, from + 3, 2 * 4096 + 11);
	assert_int_equal(to[4], 0);
	assert_int_equal(to[5 + 2 * 4096 + 11], 0);
	for (i = 0; i < 100; i++)
		assert_int_equal(((uint32_t *)(to + 10000))[i], 0xa1b2c3d4);
	assert_int_equal(((uint32_t *)(to + 10000))[100], 0);
	assert_true(*time > 0);
}

static void every_other_type_is_an_error(void **state)
{
	unsigned type;

	for (type = 0; type < 256; type++) {
		union tutti_packet p = raw_step(&space, cell, 1, 1, NULL), *slot;
		union tutti_packet before;
		uint64_t index;

		if (type >= 1 && type <= 5)
			continue;
		p.dispatch.header = (uint16_t)type;
		p.dispatch.setup = 1; /* type 0 with a format: not "not ready" */
		index = raw_put(&queue, &p);
		slot = &queue.ring[index & queue.mask];
		before = *slot;
		raw_ring(&queue, index);
		raw_fault(&queue, TUTTI_ERROR_PACKET, index);
		assert_memory_equal(slot, &before, sizeof(before));
		raw_reset_queue(&queue);
		raw_no_fault(raw);
	}
	assert_int_equal(*cell, 0);
	alive(&queue);
}

/* ---- PKT-03 ---- */

static void completion_in_any_order(void **state)
{
	uint64_t *words = raw_small(&space);
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_step(&space, cell, 0, 9, signal);

	gate(&queue, words, false, NULL);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	p.dispatch.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(words[2], 0);
	words[1] = 1;
	assert_true(raw_until(raw, &words[2], 1, RAW_PATIENCE));
}

static void barrier_bit_waits(void **state)
{
	uint64_t *words = raw_small(&space);
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_step(&space, cell, 0, 9, signal);
	unsigned i;

	gate(&queue, words, false, NULL);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	for (i = 0; i < 50; i++)
		raw_run(raw, 1);
	assert_int_equal(*cell, 0);
	words[1] = 1;
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(words[2], 1);
	assert_int_equal(*cell, 9);
}

static union tutti_packet barrier(unsigned type, struct tutti_signal **dependency, struct tutti_signal *signal)
{
	union tutti_packet p = { .barrier = {
		.header = tutti_header(type, 0, 0, 0),
		.signal = (uintptr_t)signal,
	} };
	unsigned i;

	for (i = 0; i < 5; i++)
		p.barrier.dependency[i] = (uintptr_t)dependency[i];
	return p;
}

/* all 3^5 combinations of: no signal, signal at 0, signal at 1 */
static void truth_table(unsigned type)
{
	struct tutti_signal *deps[5], *use[5], *done = raw_signal(&space, 1);
	unsigned code, i;

	for (i = 0; i < 5; i++)
		deps[i] = raw_signal(&space, 0);
	for (code = 0; code < 243; code++) {
		unsigned zeros = 0, ones = 0, digits = code;
		union tutti_packet p;
		bool satisfied;

		for (i = 0; i < 5; i++, digits /= 3) {
			use[i] = digits % 3 ? deps[i] : NULL;
			deps[i]->value = digits % 3 == 2;
			zeros += digits % 3 == 1;
			ones += digits % 3 == 2;
		}
		if (type == TUTTI_PACKET_BARRIER_OR && !zeros && !ones)
			continue; /* nothing to wait for: not defined by HSA */
		satisfied = type == TUTTI_PACKET_BARRIER_AND ? ones == 0 : zeros > 0;
		done->value = 1;
		p = barrier(type, use, done);
		raw_submit(&queue, &p);
		if (satisfied) {
			assert_true(raw_until(raw, &done->value, 0, RAW_PATIENCE));
		} else {
			raw_settle(raw);
			assert_int_equal(done->value, 1);
			for (i = 0; i < 5; i++)
				tutti_store_release(&deps[i]->value, 0);
			assert_true(raw_until(raw, &done->value, 0, RAW_PATIENCE));
		}
	}
	raw_retired(&queue);
}

static void barrier_and(void **state)
{
	truth_table(TUTTI_PACKET_BARRIER_AND);
}

static void barrier_or(void **state)
{
	truth_table(TUTTI_PACKET_BARRIER_OR);
}

static void barrier_and_not_at_once(void **state)
{
	struct tutti_signal *a = raw_signal(&space, 0), *b = raw_signal(&space, 1), *done = raw_signal(&space, 1);
	struct tutti_signal *deps[5] = { a, NULL, b, NULL, NULL };
	union tutti_packet p = barrier(TUTTI_PACKET_BARRIER_AND, deps, done);

	raw_submit(&queue, &p);
	raw_settle(raw);
	tutti_store_release(&a->value, 1); /* was seen at 0 */
	tutti_store_release(&b->value, 0);
	assert_true(raw_until(raw, &done->value, 0, RAW_PATIENCE));
}

static void barrier_holds_later_packets(void **state)
{
	struct tutti_signal *a = raw_signal(&space, 1), *done = raw_signal(&space, 1);
	struct tutti_signal *deps[5] = { a };
	union tutti_packet p = barrier(TUTTI_PACKET_BARRIER_AND, deps, NULL), q = raw_step(&space, cell, 0, 4, done);

	raw_submit(&queue, &p);
	q.dispatch.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
	raw_submit(&queue, &q);
	raw_settle(raw);
	assert_int_equal(*cell, 0);
	alive(&other);
	tutti_store_release(&a->value, 0);
	assert_true(raw_until(raw, &done->value, 0, RAW_PATIENCE));
}

/* ---- PKT-04 ---- */

static void fences(unsigned acquire, unsigned release, unsigned expect_acquires, unsigned expect_releases)
{
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];
	struct tutti_signal *signal = raw_signal(&space, 10);
	unsigned i;

	raw_counters(raw, before);
	for (i = 0; i < 10; i++) {
		union tutti_packet p = raw_step(&space, cell, 1, 1, signal);

		p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, acquire, release);
		raw_submit(&queue, &p);
	}
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	raw_counters(raw, after);
	assert_int_equal(after[TUTTI_COUNTER_KERNELS] - before[TUTTI_COUNTER_KERNELS], 10);
	assert_int_equal(after[TUTTI_COUNTER_SIGNALS] - before[TUTTI_COUNTER_SIGNALS], 10);
	assert_int_equal(after[TUTTI_COUNTER_ACQUIRES] - before[TUTTI_COUNTER_ACQUIRES], expect_acquires);
	assert_int_equal(after[TUTTI_COUNTER_RELEASES] - before[TUTTI_COUNTER_RELEASES], expect_releases);
}

static void fence_counts(void **state)
{
	fences(TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE, 0, 0);
	fences(TUTTI_SCOPE_AGENT, TUTTI_SCOPE_NONE, 10, 0);
	fences(TUTTI_SCOPE_NONE, TUTTI_SCOPE_AGENT, 0, 10);
	fences(TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM, 10, 10);
}

static void interrupt_only_if_somebody_waits(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 2);
	union tutti_packet p = raw_step(&space, cell, 1, 1, signal);
	unsigned before;

	raw_settle(raw); /* interrupts of replies may still be under way */
	before = raw->interrupts;
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &signal->value, 1, RAW_PATIENCE));
	raw_settle(raw);
	assert_int_equal(raw->interrupts, before);
	tutti_store_release(&signal->waiters, 1);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	raw_settle(raw);
	assert_int_equal(raw->interrupts, before + 1);
}

/* ---- PKT-05 ---- */

static void doorbell_early_and_past_a_hole(void **state)
{
	union tutti_packet p0 = raw_step(&space, cell, 10, 1, NULL), p1 = raw_step(&space, cell, 10, 2, NULL);
	union tutti_packet p2 = raw_step(&space, cell, 10, 3, NULL);

	raw_ring(&queue, 0); /* nothing there yet */
	raw_settle(raw);
	raw_put(&queue, &p0);
	queue.write = 2;
	raw_put(&queue, &p2);
	raw_ring(&queue, 2);
	raw_settle(raw);
	assert_int_equal(*cell, 1); /* the card stops at the first packet that is not ready, and never skips it */
	assert_int_equal(*queue.read_index, 1);
	queue.write = 1;
	raw_put(&queue, &p1);
	raw_ring(&queue, 1); /* backwards */
	queue.write = 3;
	raw_retired(&queue);
	assert_true(raw_until(raw, cell, 123, RAW_PATIENCE));
}

static void doorbell_repeated_late_backwards(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 30);
	uint64_t expect = 0, index = 0;
	unsigned i, k;

	for (i = 0; i < 10; i++) {
		for (k = 0; k < 3; k++) {
			union tutti_packet p = raw_step(&space, cell, 3, i + k, signal);

			index = raw_put(&queue, &p); /* late: one doorbell for several packets */
			expect = step(expect, 3, i + k);
		}
		raw_ring(&queue, index);
		raw_ring(&queue, index - 2);
		raw_ring(&queue, index);
		raw_ring(&queue, index);
		if (i % 2)
			raw_settle(raw);
	}
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(*cell, expect);
	raw_no_fault(raw);
}

static void doorbell_past_the_end(void **state)
{
	static const uint64_t values[] = { 1, 64, 65, 1000, 1ull << 32, 1ull << 63, ~0ull - 1 };
	unsigned i;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		raw_ring(&queue, queue.write + values[i]);
		raw_settle(raw);
		assert_int_equal(*queue.read_index, queue.write);
		alive(&queue);
	}
	raw_no_fault(raw);
}

static void slot_invalid_before_read_index_moves(void **state)
{
	uint64_t seen = 0, now, i;

	for (i = 0; i < 3000; i++) {
		union tutti_packet p = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, NULL);

		p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
		while (queue.write - seen > 32 || (i % 7 == 6 && seen != queue.write)) {
			now = tutti_load_acquire(queue.read_index);
			for (; seen < now; seen++)
				assert_int_equal(queue.ring[seen & queue.mask].dispatch.header & 0xff,
						 TUTTI_PACKET_INVALID);
			if (seen != queue.write)
				tutti_card_run(raw->card, NULL, NULL);
		}
		raw_submit(&queue, &p);
	}
	raw_retired(&queue);
}

struct late {
	const uint64_t *read_index;
	uint64_t wanted;
};

static bool slots_are_back(void *context)
{
	const struct late *late = context;

	return tutti_load_acquire(late->read_index) >= late->wanted;
}

/*
 * Kernels that wait for each other are taken one by one. Their slots may be handed back some at a time, but the host
 * never misses more than a quarter of its ring.
 */
static void slots_come_back_in_time(void **state)
{
	enum { SIZE_LOG2 = 4, GATES = 15 };
	uint64_t *words[GATES];
	struct raw_queue small;
	struct late late;
	unsigned i;

	raw_queue_init(&space, &small, 7, 0, SIZE_LOG2);
	late.read_index = small.read_index;
	for (i = 0; i < GATES; i++) {
		words[i] = raw_new(&space, 64);
		gate(&small, words[i], true, NULL);
	}
	for (i = 0; i < GATES; i++) {
		assert_true(raw_until(raw, (int64_t *)&words[i][0], 1, RAW_PATIENCE));
		late.wanted = i + 1 - (1 << SIZE_LOG2) / 4;
		assert_true(i + 1 < (1 << SIZE_LOG2) / 4 || raw_pump(raw, slots_are_back, &late, RAW_PATIENCE));
		assert_true(*small.read_index <= i + 1);
		tutti_store_release(&words[i][1], 1);
	}
	raw_retired(&small);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("PKT-01, REL-07: packets wrap around the ring, run in order, once", ring_wraps),
		T("PKT-01: publication by a 16-bit store works", publish_16_bits),
		T("PKT-02: INVALID is not ready", invalid_is_not_ready),
		T("PKT-02: a cleared slot is not ready", cleared_slot_is_not_ready),
		T("PKT-02: agent dispatch: nop, copy, fill, time", agent_dispatch),
		T("PKT-02, PKT-06: every other type is an error", every_other_type_is_an_error),
		T("PKT-03: without the barrier bit completion is in any order", completion_in_any_order),
		T("PKT-03: the barrier bit waits for earlier packets", barrier_bit_waits),
		T("PKT-03: barrier-AND, truth table 3^5", barrier_and),
		T("PKT-03: barrier-OR, truth table 3^5", barrier_or),
		T("PKT-03: barrier-AND: seen at 0, not necessarily at once", barrier_and_not_at_once),
		T("PKT-03: a waiting barrier holds its queue only", barrier_holds_later_packets),
		T("PKT-04: one fence for each scope that asks for it", fence_counts),
		T("PKT-04, SYS-09: an interrupt only if somebody waits", interrupt_only_if_somebody_waits),
		T("PKT-05: doorbell early, and past a packet not ready", doorbell_early_and_past_a_hole),
		T("PKT-05: doorbells repeated, late, backwards", doorbell_repeated_late_backwards),
		T("PKT-05: doorbell past the end", doorbell_past_the_end),
		T("PKT-05, SYS-09: slots come back a quarter of the ring late at most", slots_come_back_in_time),
		TFAST("PKT-05: slot INVALID before the read index moves", slot_invalid_before_read_index_moves),
	};

	return cmocka_run_group_tests_name("aql", tests, NULL, NULL);
}

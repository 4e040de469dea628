/* SPDX-License-Identifier: MIT */
/* Plain AQL packets on the card, by the contract alone: PKT-01 .. PKT-07. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "raw_pair.h"

#define T(name, function) { name, function, raw_pair_deterministic, raw_pair_close, NULL }
#define TFAST(name, function) { name, function, raw_pair_fast, raw_pair_close, NULL }

static uint64_t step(uint64_t value, uint64_t mul, uint64_t add)
{
	return value * mul + add;
}

/* the queue still works: one more kernel runs */
static void alive(struct raw_queue *q)
{
	uint64_t *word = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_STORE, 1, 1, raw_args(&space, word, 77, 0), NULL);

	raw_submit(q, &p);
	assert_true(raw_until(raw, word, 77, RAW_PATIENCE));
}

/* ---- PKT-01 ---- */

static void ring_wraps(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 1);
	uint64_t expect = 0;
	union tutti_packet p;
	unsigned i;

	for (i = 0; i < 200; i++) {
		p = raw_step(&space, cell, 3, i, i == 199 ? signal : NULL);
		if (queue.write - *queue.read_index > queue.mask)
			raw_until(raw, queue.read_index, (int64_t)(queue.write - queue.mask + 7), RAW_PATIENCE);
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

static union tutti_packet agent(unsigned function, uint64_t a0, uint64_t a1, uint64_t a2, void *ret,
				struct tutti_signal *signal)
{
	union tutti_packet p = { .agent = {
		.header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, 2, 2),
		.type = (uint16_t)function,
		.return_address = (uintptr_t)ret,
		.arg = { a0, a1, a2, 0 },
		.signal = (uintptr_t)signal,
	} };

	return p;
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

static void gate(struct raw_queue *q, uint64_t *words, bool barrier, struct tutti_signal *signal)
{
	/* words: started, go, ended */
	uint64_t *args = raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1, args, signal);

	if (!barrier)
		p.dispatch.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
	raw_submit(q, &p);
}

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
	unsigned before = raw->interrupts;

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
	assert_int_equal(*cell, 1); /* stops at the first packet not ready, never skips it */
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

			index = raw_put(&queue, &p); /* late: not rung one by one */
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

/* ---- PKT-06 ---- */

struct bad {
	const char *what;
	unsigned code;
	void (*spoil)(union tutti_packet *packet);
};

#define SPOIL(name, code) \
	static void name(union tutti_packet *p) \
	{ \
		code; \
	}
SPOIL(no_dimensions, p->dispatch.setup = 0)
SPOIL(zero_workgroup, p->dispatch.workgroup_x = 0)
SPOIL(zero_workgroup_y, p->dispatch.setup = 2; p->dispatch.workgroup_y = 0)
SPOIL(zero_grid, p->dispatch.grid_x = 0)
SPOIL(zero_grid_z, p->dispatch.setup = 3; p->dispatch.grid_z = 0)
SPOIL(setup_reserved, p->dispatch.setup = 0x11)
SPOIL(header_reserved, p->dispatch.header |= 0x8000)
SPOIL(scope_reserved, p->dispatch.header |= TUTTI_HEADER_SCOPE << TUTTI_HEADER_ACQUIRE_SHIFT)
SPOIL(group_memory, p->dispatch.group_bytes = 64 * 2048 + 1)
SPOIL(group_memory_max, p->dispatch.group_bytes = ~0u)
SPOIL(private_memory, p->dispatch.private_bytes = 1u << 24)
SPOIL(private_memory_max, p->dispatch.private_bytes = ~0u)
SPOIL(workgroup_large, p->dispatch.workgroup_x = 65535; p->dispatch.grid_x = 65535)
SPOIL(workgroup_product, p->dispatch.setup = 3; p->dispatch.workgroup_x = 256; p->dispatch.workgroup_y = 256;
      p->dispatch.workgroup_z = 256)
SPOIL(workgroup_overflow, p->dispatch.setup = 3; p->dispatch.workgroup_x = 0x8000; p->dispatch.workgroup_y = 0x8000;
      p->dispatch.workgroup_z = 0x8000)
SPOIL(null_object, p->dispatch.kernel_object = 0)
SPOIL(unmapped_object, p->dispatch.kernel_object = 0x123456789000)
SPOIL(misaligned_object, p->dispatch.kernel_object += 8)
SPOIL(not_an_object, p->dispatch.kernel_object += 64)
SPOIL(noncanonical_object, p->dispatch.kernel_object |= 1ull << 60)
SPOIL(grid_overflow, p->dispatch.setup = 3; p->dispatch.grid_x = ~0u; p->dispatch.grid_y = ~0u;
      p->dispatch.grid_z = ~0u)

static const struct bad bad_packets[] = {
	{ "no dimensions", TUTTI_ERROR_DIMENSIONS, no_dimensions },
	{ "workgroup x 0", TUTTI_ERROR_DIMENSIONS, zero_workgroup },
	{ "workgroup y 0", TUTTI_ERROR_DIMENSIONS, zero_workgroup_y },
	{ "grid x 0", TUTTI_ERROR_DIMENSIONS, zero_grid },
	{ "grid z 0", TUTTI_ERROR_DIMENSIONS, zero_grid_z },
	{ "reserved setup bit", TUTTI_ERROR_PACKET, setup_reserved },
	{ "reserved header bit", TUTTI_ERROR_PACKET, header_reserved },
	{ "reserved scope", TUTTI_ERROR_PACKET, scope_reserved },
	{ "group memory one byte too large", TUTTI_ERROR_GROUP_MEMORY, group_memory },
	{ "group memory 2^32 - 1", TUTTI_ERROR_GROUP_MEMORY, group_memory_max },
	{ "private memory too large", TUTTI_ERROR_PRIVATE_MEMORY, private_memory },
	{ "private memory 2^32 - 1", TUTTI_ERROR_PRIVATE_MEMORY, private_memory_max },
	{ "workgroup too large", TUTTI_ERROR_WORKGROUP, workgroup_large },
	{ "workgroup product too large", TUTTI_ERROR_WORKGROUP, workgroup_product },
	{ "workgroup product overflows", TUTTI_ERROR_WORKGROUP, workgroup_overflow },
	{ "null kernel object", TUTTI_ERROR_CODE_OBJECT, null_object },
	{ "unmapped kernel object", TUTTI_ERROR_CODE_OBJECT, unmapped_object },
	{ "misaligned kernel object", TUTTI_ERROR_CODE_OBJECT, misaligned_object },
	{ "kernel object is something else", TUTTI_ERROR_CODE_OBJECT, not_an_object },
	{ "kernel object not canonical", TUTTI_ERROR_CODE_OBJECT, noncanonical_object },
	{ "grid of 2^96 work-items", TUTTI_ERROR_GRID, grid_overflow },
};

static void bad_packets_stop_only_their_queue(void **state)
{
	unsigned i;

	for (i = 0; i < sizeof(bad_packets) / sizeof(*bad_packets); i++) {
		struct tutti_signal *signal = raw_signal(&space, 1);
		union tutti_packet p = raw_step(&space, cell, 0, 100 + i, signal), after, before, *slot;
		uint64_t index;

		print_message("# %s\n", bad_packets[i].what);
		bad_packets[i].spoil(&p);
		index = raw_put(&queue, &p);
		slot = &queue.ring[index & queue.mask];
		before = *slot;
		after = raw_step(&space, cell, 0, 500 + i, NULL);
		raw_put(&queue, &after);
		raw_ring(&queue, index + 1);
		raw_fault(&queue, bad_packets[i].code, index);
		raw_no_fault(raw); /* reported once */
		assert_memory_equal(slot, &before, sizeof(before)); /* left untouched */
		assert_int_equal(signal->value, 1);
		assert_int_not_equal(*cell, 100 + i);
		assert_int_not_equal(*cell, 500 + i); /* the queue has stopped */
		alive(&other);
		raw_reset_queue(&queue); /* goes on behind it */
		assert_true(raw_until(raw, cell, 500 + i, RAW_PATIENCE));
		raw_retired(&queue);
	}
}

static struct tutti_fault kernel_fault(enum raw_kernel kernel, uint64_t *args, unsigned code)
{
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_dispatch(raw, kernel, 1, 1, args, signal);
	uint64_t index = raw_put(&queue, &p);
	struct tutti_fault fault;

	raw_ring(&queue, index);
	fault = raw_fault(&queue, code, index);
	raw_no_fault(raw);
	assert_int_equal(signal->value, 1);
	assert_int_equal(fault.engine, TUTTI_ENGINE_WAVE);
	assert_true(fault.sm < 6);
	alive(&other);
	raw_reset_queue(&queue);
	alive(&queue);
	return fault;
}

static void kernel_trap(void **state)
{
	struct tutti_fault fault = kernel_fault(RAW_TRAP, NULL, TUTTI_ERROR_KERNEL_TRAP);

	assert_int_equal(fault.cause, TUTTI_CAUSE_ILLEGAL);
	assert_int_equal(fault.pc, raw_kernel(raw, RAW_TRAP) + 64);
}

static void kernel_memory_fault(void **state)
{
	uint64_t *args = raw_args(&space, (void *)0x7000dead000, (uintptr_t)cell, 0);
	struct tutti_fault fault = kernel_fault(RAW_LOAD, args, TUTTI_ERROR_MEMORY_FAULT);

	assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(fault.access, TUTTI_ACCESS_READ);
	assert_int_equal(fault.address, 0x7000dead000);
	assert_int_equal(fault.pc, raw_kernel(raw, RAW_LOAD) + 64 + 8);
}

static void kernel_write_to_read_only(void **state)
{
	uint64_t *page = raw_alloc(raw, 4096);
	struct tutti_fault fault;

	raw_map(&space, (uintptr_t)page, raw_bus(page), 4096, TUTTI_PTE_R);
	fault = kernel_fault(RAW_STORE, raw_args(&space, page, 1, 0), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(fault.cause, TUTTI_CAUSE_PROTECTION);
	assert_int_equal(fault.access, TUTTI_ACCESS_WRITE);
	assert_int_equal(fault.address, (uintptr_t)page);
	assert_int_equal(*page, 0);
}

static void kernel_runs_away(void **state)
{
	struct tutti_message create;
	struct raw_queue hasty;
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_dispatch(raw, RAW_SPIN, 1, 1, NULL, signal);
	struct tutti_fault fault;

	create = raw_queue_message(&space, &hasty, 5, 0, 6);
	create.queue.timeout_ms = 50;
	assert_int_equal(raw_call(raw, &create).status, 0);
	raw_submit(&hasty, &p);
	fault = raw_fault(&hasty, TUTTI_ERROR_TIMEOUT, 0);
	assert_int_equal(fault.cause, TUTTI_CAUSE_WATCHDOG);
	assert_int_equal(fault.pc, raw_kernel(raw, RAW_SPIN) + 64);
	assert_int_equal(signal->value, 1);
	alive(&other);
	raw_reset_queue(&hasty);
	alive(&hasty);
}

static void bad_agent_dispatch(void **state)
{
	union tutti_packet p = agent(999, 0, 0, 0, NULL, NULL);

	raw_submit(&queue, &p);
	raw_fault(&queue, TUTTI_ERROR_AGENT, 0);
	raw_reset_queue(&queue);
	p = agent(TUTTI_AGENT_FILL, (uintptr_t)cell, 1, 3, NULL, NULL);
	raw_submit(&queue, &p);
	raw_fault(&queue, TUTTI_ERROR_AGENT, 1);
	raw_reset_queue(&queue);
	p = agent(TUTTI_AGENT_COPY, 0x7000dead000, (uintptr_t)cell, 64, NULL, NULL);
	raw_submit(&queue, &p);
	raw_fault(&queue, TUTTI_ERROR_MEMORY_FAULT, 2);
	raw_reset_queue(&queue);
	alive(&queue);
}

static void bad_signals(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 0, 1, NULL);

	p.dispatch.signal = 0x7000dead000; /* not mapped */
	raw_submit(&queue, &p);
	raw_fault(&queue, TUTTI_ERROR_RING_FAULT, 0);
	raw_reset_queue(&queue);
	alive(&queue);
	alive(&other);
}

static void timeout_spares_slow_but_live(void **state)
{
	uint64_t *words = raw_small(&space);
	struct tutti_signal *signal = raw_signal(&space, 1);

	gate(&queue, words, true, signal); /* limit 10 s, far off */
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	alive(&other);
	raw_no_fault(raw);
	words[1] = 1;
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
}

/* ---- PKT-07 ---- */

static void torn_fetch_is_not_executed(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 20);
	uint64_t expect = 0;
	unsigned i;

	assert_int_equal(tutti_card_inject(raw->card, TUTTI_INJECT_TORN_FETCH, 5), 0);
	for (i = 0; i < 20; i++) {
		union tutti_packet p = raw_step(&space, cell, 3, i, signal);

		raw_submit(&queue, &p);
		expect = step(expect, 3, i);
		if (i % 4 == 0)
			raw_settle(raw);
	}
	/* what was torn looked not ready; no doorbell follows, the firmware looks again by itself */
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(*cell, expect);
	raw_no_fault(raw);
}

/* The largest legal grid runs for minutes; kernels of other queues pass it, and it can be destroyed. */
static void huge_grid_starves_nobody(void **state)
{
	union tutti_packet p = raw_dispatch(raw, RAW_EMPTY, 0xffffffff, 1, NULL, NULL);
	uint64_t start = raw_ms();
	unsigned i;

	raw_submit(&queue, &p);
	raw_run(raw, 20);
	for (i = 0; i < 20; i++)
		alive(&other);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, queue.id, 0, 0), 0);
	alive(&other);
	assert_true(raw_ms() - start < 10000);
}

struct producer {
	pthread_t thread;
	unsigned seed;
	uint64_t *sum;
};

#define PRODUCERS 4
#define PACKETS_EACH 1500u

static void *produce(void *context)
{
	struct producer *me = context;
	uint64_t *write = &queue.write;
	unsigned i, k;

	for (i = 0; i < PACKETS_EACH; i++) {
		uint64_t index = __atomic_fetch_add(write, 1, __ATOMIC_RELAXED);
		union tutti_packet *slot = &queue.ring[index & queue.mask];
		union tutti_packet p = raw_dispatch(raw, RAW_ADD, 1, 1, me->sum, NULL);

		while (index - tutti_load_acquire(queue.read_index) > queue.mask)
			usleep(10);
		if (rand_r(&me->seed) % 4 == 0)
			p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
		/* the body word by word, with pauses, rubbish first: nobody may look before the header */
		for (k = 1; k < 16; k++)
			tutti_store_relaxed(&slot->word[k], 0xdeadbeef);
		if (rand_r(&me->seed) % 16 == 0)
			raw_ring(&queue, index);
		for (k = 1; k < 16; k++)
			tutti_store_relaxed(&slot->word[k], p.word[k]);
		if (rand_r(&me->seed) % 64 == 0)
			usleep(rand_r(&me->seed) % 50);
		if (rand_r(&me->seed) % 2) {
			tutti_store_release(&slot->word[0], p.word[0]);
		} else {
			tutti_store_relaxed(&slot->dispatch.setup, p.dispatch.setup);
			tutti_store_release(&slot->dispatch.header, p.dispatch.header);
		}
		raw_ring(&queue, index);
	}
	return NULL;
}

static void racing_producers(void **state)
{
	struct producer producer[PRODUCERS];
	unsigned i;

	for (i = 0; i < PRODUCERS; i++) {
		producer[i].seed = i + 1;
		producer[i].sum = raw_args(&space, cell, 1u << (8 * i / 2), 0);
		pthread_create(&producer[i].thread, NULL, produce, &producer[i]);
	}
	raw_until(raw, queue.read_index, PRODUCERS * PACKETS_EACH, RAW_PATIENCE);
	for (i = 0; i < PRODUCERS; i++)
		pthread_join(producer[i].thread, NULL);
	raw_retired(&queue);
	raw_settle(raw);
	assert_true(raw_until(raw, cell, PACKETS_EACH * (1 + 16 + 256 + 4096), RAW_PATIENCE));
	raw_no_fault(raw);
}

static struct vandal {
	pthread_t thread;
	union tutti_packet *ring;
	bool runs, stop;
} vandal;

/* rewrites published packets while the card processes them */
static void *vandalise(void *context)
{
	unsigned seed = 7;

	while (!tutti_load_relaxed(&vandal.stop)) {
		union tutti_packet *slot = tutti_load_relaxed(&vandal.ring) + ((unsigned)rand_r(&seed) & 63);
		unsigned word = 1 + (unsigned)rand_r(&seed) % 15;

		tutti_store_relaxed(&slot->word[word], (uint32_t)rand_r(&seed));
	}
	return NULL;
}

/* also after a failed assertion, before the ring is unmapped */
static int vandal_teardown(void **state)
{
	if (vandal.runs) {
		tutti_store_relaxed(&vandal.stop, true);
		pthread_join(vandal.thread, NULL);
	}
	memset(&vandal, 0, sizeof(vandal));
	return raw_pair_close(state);
}

static void reset_if_stopped(struct raw_queue *q)
{
	struct tutti_message event;

	while (raw_event(raw, TUTTI_MSG_QUEUE_ERROR, &event, 0)) {
		assert_int_equal(event.fault.queue, q->id);
		raw_reset_queue(q);
	}
}

/*
 * The victim's packets may become anything that is legal in its context: a grid of 2^32
 * workgroups, a store into its own ring. So the queue that must not notice belongs to
 * another context, and a victim that gets nowhere is destroyed with all it runs.
 */
static void checked_copy_is_private(void **state)
{
	uint64_t end = raw_ms() + 8000, moved = raw_ms(), last = 0, *word;
	struct raw_space bystander;
	struct raw_queue quiet;
	unsigned i, runs = 0, killed = 0;

	raw_space_init(raw, &bystander, 2);
	raw_queue_init(&bystander, &quiet, 41, 0, 6);
	word = raw_small(&bystander);
	vandal.ring = queue.ring;
	vandal.runs = !pthread_create(&vandal.thread, NULL, vandalise, NULL);
	for (i = 0; i < 400 && raw_ms() < end; i++) {
		union tutti_packet p = raw_step(&space, cell, 1, 1, NULL);

		raw_submit(&queue, &p);
		tutti_card_run(raw->card, NULL, NULL);
		reset_if_stopped(&queue);
		if (i % 20 == 0) {
			p = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&bystander, word, 1, 0), NULL);
			raw_submit(&quiet, &p);
			if (!raw_until(raw, word, ++runs, RAW_PATIENCE))
				fail_msg("packet %u: the other context's kernel %u waits for 5 s", i, runs);
		}
		while (queue.write - tutti_load_acquire(queue.read_index) > queue.mask - 8) {
			raw_run(raw, 1);
			reset_if_stopped(&queue);
			if (*queue.read_index != last)
				moved = raw_ms();
			last = *queue.read_index;
			if (raw_ms() - moved < 100)
				continue;
			assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, queue.id, 0, 0), 0);
			raw_queue_init(&space, &queue, queue.id, 0, 6);
			tutti_store_relaxed(&vandal.ring, queue.ring);
			killed++;
			moved = raw_ms();
		}
	}
	tutti_store_relaxed(&vandal.stop, true);
	assert_true(i >= 40);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, queue.id, 0, 0), 0);
	assert_int_equal(*word, runs);
	assert_int_equal(raw->status->state, TUTTI_STATE_RUNNING);
	print_message("# %u packets, %u kernels beside them, victim destroyed %u times\n", i, runs, killed);
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
		TFAST("PKT-05: slot INVALID before the read index moves", slot_invalid_before_read_index_moves),
		T("PKT-06: bad packets stop only their queue, once, untouched", bad_packets_stop_only_their_queue),
		T("PKT-06, SYS-07: kernel trap reported with wave and pc", kernel_trap),
		T("PKT-06, SYS-06: memory fault reported with pc and address", kernel_memory_fault),
		T("PKT-06, SYS-06: write to a read-only page", kernel_write_to_read_only),
		T("PKT-06, SYS-07: a runaway kernel meets the watchdog", kernel_runs_away),
		TFAST("PKT-06, SYS-07: a runaway kernel meets the watchdog, fast mode", kernel_runs_away),
		TFAST("PKT-06, SYS-07: kernel trap, fast mode", kernel_trap),
		T("PKT-06: bad agent dispatches", bad_agent_dispatch),
		T("PKT-06: completion signal not accessible", bad_signals),
		TFAST("PKT-06: a kernel that waits within its limit is left alone", timeout_spares_slow_but_live),
		T("TSK-14, SYS-09: a grid of 2^32 - 1 workgroups starves nobody", huge_grid_starves_nobody),
		TFAST("TSK-14, SYS-09: a grid of 2^32 - 1 workgroups starves nobody, fast mode", huge_grid_starves_nobody),
		T("PKT-07, SYS-15: a torn fetch is not executed", torn_fetch_is_not_executed),
		TFAST("PKT-07, REL-07: several producers racing", racing_producers),
		{ "PKT-07: what was checked is a private copy", checked_copy_is_private, raw_pair_fast, vandal_teardown, NULL },
	};

	return cmocka_run_group_tests_name("aql", tests, NULL, NULL);
}

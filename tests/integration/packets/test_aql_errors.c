// SPDX-License-Identifier: MIT
/* Bad packets, kernels that fail, and producers that race or cheat, by the contract alone: PKT-06, PKT-07, TSK-14. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "aql_rig.h"

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
		raw_reset_queue(&queue); /* the queue goes on behind it */
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

/* The agent's functions at the limits of their arguments: the last that is right is done, what is wrong is refused. */
static void agents_at_limits(void **state)
{
	static const struct { unsigned type; uint64_t a0, a1, a2, ret, signal; unsigned error; } cases[] = {
		{ TUTTI_AGENT_TIME, 0, 0, 0, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_TIME, 0, 0, 0, 4, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_TIME, 0, 0, 0, TUTTI_VA_END, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_COPY, TUTTI_VA_END, 0, 0, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_COPY, 0, TUTTI_VA_END, 0, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_COPY, TUTTI_VA_END - 64, 0, 64, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_COPY, 0, TUTTI_VA_END - 64, 64, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_COPY, 0, 0, TUTTI_VA_END + 1, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_COPY, 64, 64, 0ull - 64, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_COPY, 0, 0, 64, 0, 0, TUTTI_ERROR_MEMORY_FAULT },
		{ TUTTI_AGENT_COPY, TUTTI_VA_END - 128, TUTTI_VA_END - 128, 64, 0, 0, TUTTI_ERROR_MEMORY_FAULT },
		{ TUTTI_AGENT_FILL, 2, 0, 4, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_FILL, 0, 0, 2, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_FILL, TUTTI_VA_END, 0, 0, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_FILL, TUTTI_VA_END - 4, TUTTI_VA_END, 4, 0, 0, TUTTI_ERROR_AGENT },
		{ TUTTI_AGENT_FILL, TUTTI_VA_END - 8, TUTTI_VA_END, 4, 0, 0, TUTTI_ERROR_MEMORY_FAULT }, /* any value */
		{ TUTTI_AGENT_NOP, 0, 0, 0, 0, 8, TUTTI_ERROR_PACKET },
		{ TUTTI_AGENT_NOP, 0, 0, 0, 0, TUTTI_VA_END, TUTTI_ERROR_PACKET },
		{ TUTTI_AGENT_NOP, ~0ull, ~0ull, ~0ull, ~0ull, 0, 0 },
		{ TUTTI_AGENT_COPY, 0, 0, 0, 0, 0, 0 },
		{ TUTTI_AGENT_FILL, 0, 0, 0, 0, 0, 0 },
	};
	uint64_t before = *queue.read_index;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		union tutti_packet p = agent(cases[i].type, cases[i].a0, cases[i].a1, cases[i].a2,
					     (void *)(uintptr_t)cases[i].ret, (void *)(uintptr_t)cases[i].signal);

		raw_submit(&queue, &p);
		if (cases[i].error) {
			raw_fault(&queue, cases[i].error, before + i);
			raw_reset_queue(&queue);
		}
		raw_settle(raw);
		if (*queue.read_index != before + i + 1)
			fail_msg("case %u: packet %llu", i, (unsigned long long)*queue.read_index);
	}
	alive(&queue);
	raw_no_fault(raw);
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

	gate(&queue, words, true, signal); /* the limit is 10 s, far more than it takes */
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
	/* the torn packet looked not ready; without another doorbell, the firmware looks again by itself */
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	assert_int_equal(*cell, expect);
	raw_no_fault(raw);
}

/* The largest legal grid runs for minutes; kernels of other queues overtake it, and its queue can be destroyed. */
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
		/*
		 * the body is written word by word, with pauses, garbage first: nobody may read it before the header is
		 * valid
		 */
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
 * The victim's packets may become anything that is legal in its context: a grid of 2^32 workgroups, a store into its
 * own ring. So the queue that must not be affected belongs to another context, and a victim that makes no progress is
 * destroyed with all that it runs.
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
		T("PKT-06: bad packets stop only their queue, once, untouched", bad_packets_stop_only_their_queue),
		T("PKT-06, SYS-07: kernel trap reported with wave and pc", kernel_trap),
		T("PKT-06, SYS-06: memory fault reported with pc and address", kernel_memory_fault),
		T("PKT-06, SYS-06: write to a read-only page", kernel_write_to_read_only),
		T("PKT-06, SYS-07: a runaway kernel meets the watchdog", kernel_runs_away),
		TFAST("PKT-06, SYS-07: a runaway kernel meets the watchdog, fast mode", kernel_runs_away),
		TFAST("PKT-06, SYS-07: kernel trap, fast mode", kernel_trap),
		T("PKT-06: bad agent dispatches", bad_agent_dispatch),
		T("PKT-02, PKT-06: agent dispatches at their limits", agents_at_limits),
		T("PKT-06: completion signal not accessible", bad_signals),
		TFAST("PKT-06: a kernel that waits within its limit is left alone", timeout_spares_slow_but_live),
		T("TSK-14, SYS-09: a grid of 2^32 - 1 workgroups starves nobody", huge_grid_starves_nobody),
		TFAST("TSK-14, SYS-09: a grid of 2^32 - 1 workgroups starves nobody, fast mode", huge_grid_starves_nobody),
		T("PKT-07, SYS-15: a torn fetch is not executed", torn_fetch_is_not_executed),
		TFAST("PKT-07, REL-07: several producers racing", racing_producers),
		{ "PKT-07: what was checked is a private copy", checked_copy_is_private, raw_pair_fast, vandal_teardown, NULL },
	};

	return cmocka_run_group_tests_name("aql errors", tests, NULL, NULL);
}

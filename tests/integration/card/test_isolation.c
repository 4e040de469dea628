/* SPDX-License-Identifier: MIT */
/* Two address spaces on one card: SYS-06, SYS-09, PKT-06, PKT-10, TSK-13. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"
#include "tutti/tmd.h"

#define T(name, function) { name, function, setup, teardown, NULL }
#define TFAST(name, function) { name, function, setup_fast, teardown, NULL }

static struct raw *raw;
static struct raw_space a, b;
static struct raw_queue qa, qb;

static int make(enum tutti_card_mode mode)
{
	struct tutti_card_config config = { .mode = mode, .topology = { 4 }, .gpcs = 1, .workers = 1 };

	raw = raw_create(&config);
	raw_space_init(raw, &a, 1);
	raw_space_init(raw, &b, 2);
	raw_queue_init(&a, &qa, 0, TUTTI_QUEUE_EXTENDED, 6);
	raw_queue_init(&b, &qb, 1, TUTTI_QUEUE_EXTENDED, 6);
	return 0;
}

static int setup(void **state)
{
	return make(TUTTI_CARD_DETERMINISTIC);
}

static int setup_fast(void **state)
{
	return make(TUTTI_CARD_FAST);
}

static int teardown(void **state)
{
	raw_destroy(raw);
	return 0;
}

static void run(struct raw_queue *queue, enum raw_kernel kernel, uint64_t *args)
{
	struct tutti_signal *signal = raw_signal(queue->space, 1);
	union tutti_packet p = raw_dispatch(raw, kernel, 1, 1, args, signal);

	raw_submit(queue, &p);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
}

/* the same address means another page in each context */
static void same_address_different_memory(void **state)
{
	const uint64_t va = 0x10000000;
	uint64_t *pa = raw_alloc(raw, 4096), *pb = raw_alloc(raw, 4096);
	unsigned i;

	raw_map(&a, va, raw_bus(pa), 4096, TUTTI_PTE_R | TUTTI_PTE_W);
	raw_map(&b, va, raw_bus(pb), 4096, TUTTI_PTE_R | TUTTI_PTE_W);
	for (i = 0; i < 20; i++) {
		run(&qa, RAW_STORE, raw_args(&a, (void *)va, 100 + i, 0));
		run(&qb, RAW_STORE, raw_args(&b, (void *)va, 200 + i, 0));
		assert_int_equal(*pa, 100 + i);
		assert_int_equal(*pb, 200 + i);
	}
}

static void refused(struct raw_queue *queue, enum raw_kernel kernel, uint64_t *args, uint64_t address)
{
	union tutti_packet p = raw_dispatch(raw, kernel, 1, 1, args, NULL);
	uint64_t index = raw_put(queue, &p);
	struct tutti_fault fault;

	raw_ring(queue, index);
	fault = raw_fault(queue, TUTTI_ERROR_MEMORY_FAULT, index);
	assert_int_equal(fault.address, address);
	assert_int_equal(fault.context, queue->space->asid);
	raw_reset_queue(queue);
}

static void neither_sees_the_other(void **state)
{
	uint64_t *secret = raw_small(&a), *mine = raw_small(&b);

	*secret = 0x5ec4e7;
	refused(&qb, RAW_LOAD, raw_args(&b, secret, (uintptr_t)mine, 0), (uintptr_t)secret);
	refused(&qb, RAW_STORE, raw_args(&b, secret, 1, 0), (uintptr_t)secret);
	assert_int_equal(*secret, 0x5ec4e7);
	assert_int_equal(*mine, 0);
	run(&qa, RAW_LOAD, raw_args(&a, secret, (uintptr_t)secret + 8, 0));
	assert_int_equal(secret[1], 0x5ec4e7);
}

/* packets, signals, kernel arguments and copies all go through the page tables of the queue's context */
static void engines_use_the_context(void **state)
{
	uint64_t *secret = raw_small(&a), *mine = raw_small(&b);
	struct tutti_signal *foreign = raw_signal(&a, 5);
	union tutti_packet p;
	uint64_t index;

	*secret = 7;
	p = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, foreign);
	index = raw_put(&qb, &p);
	raw_ring(&qb, index);
	raw_fault(&qb, TUTTI_ERROR_RING_FAULT, index);
	raw_reset_queue(&qb);
	assert_int_equal(foreign->value, 5);

	memset(&p, 0, sizeof(p));
	p.agent.header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, 2, 2);
	p.agent.type = TUTTI_AGENT_COPY;
	p.agent.arg[0] = (uintptr_t)mine;
	p.agent.arg[1] = (uintptr_t)secret;
	p.agent.arg[2] = 8;
	index = raw_put(&qb, &p);
	raw_ring(&qb, index);
	raw_fault(&qb, TUTTI_ERROR_MEMORY_FAULT, index);
	raw_reset_queue(&qb);
	assert_int_equal(*mine, 0);
	p.agent.arg[0] = (uintptr_t)secret;
	p.agent.arg[1] = (uintptr_t)mine;
	index = raw_put(&qb, &p);
	raw_ring(&qb, index);
	raw_fault(&qb, TUTTI_ERROR_MEMORY_FAULT, index);
	raw_reset_queue(&qb);
	assert_int_equal(*secret, 7);

	memset(&p, 0, sizeof(p));
	p.barrier.header = tutti_header(TUTTI_PACKET_BARRIER_AND, 1, 0, 0);
	p.barrier.dependency[2] = (uintptr_t)foreign;
	index = raw_put(&qb, &p);
	raw_ring(&qb, index);
	raw_fault(&qb, TUTTI_ERROR_RING_FAULT, index);
	raw_reset_queue(&qb);
	run(&qa, RAW_EMPTY, NULL);
	run(&qb, RAW_EMPTY, NULL);
}

static void bus_addresses_are_not_for_users(void **state)
{
	uint64_t *secret = raw_small(&a), *mine = raw_small(&b);

	*secret = 9;
	refused(&qb, RAW_LOAD, raw_args(&b, (void *)raw_bus(secret), (uintptr_t)mine, 0), raw_bus(secret));
	refused(&qb, RAW_LOAD, raw_args(&b, NULL, (uintptr_t)mine, 0), 0); /* card memory 0 as bus address */
	assert_int_equal(*mine, 0);
}

/* hostile page tables: a pointer outside of all memory causes a bus error and nothing worse */
static void hostile_page_tables(void **state)
{
	static const uint64_t bus[] = { 0x00ffffffff000, TUTTI_BUS_HOST | 0x1000, TUTTI_BUS_HOST | 0x7fffffff0000,
					(1ull << 54) };
	uint64_t *mine = raw_small(&b);
	unsigned i;

	for (i = 0; i < sizeof(bus) / sizeof(*bus); i++) {
		uint64_t va = 0x20000000 + i * 0x40000000ull;

		raw_map(&b, va, bus[i], 4096, TUTTI_PTE_R | TUTTI_PTE_W);
		refused(&qb, RAW_LOAD, raw_args(&b, (void *)va, (uintptr_t)mine, 0), va);
		/* as a table instead of a leaf */
		b.root[16 + i] = tutti_pte(bus[i], TUTTI_PTE_V);
		refused(&qb, RAW_STORE, raw_args(&b, (void *)((16ull + i) << 39), 1, 0), (16ull + i) << 39);
	}
	run(&qa, RAW_EMPTY, NULL);
	run(&qb, RAW_EMPTY, NULL);
}

static void permissions_of_leaves(void **state)
{
	uint64_t *page = raw_alloc(raw, 4096), *mine = raw_small(&b);
	const uint64_t va = 0x30000000, ok = TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D;
	uint64_t *entry;
	unsigned level;

	raw_map(&b, va, raw_bus(page), 4096, TUTTI_PTE_R | TUTTI_PTE_W);
	entry = b.root;
	for (level = 3; level > 0; level--)
		entry = (void *)(uintptr_t)(tutti_pte_bus(entry[tutti_va_index(va, level)]) & ~TUTTI_BUS_HOST);
	entry += tutti_va_index(va, 0);
#define WITHOUT(bits, kernel, args)                                             \
	*entry = tutti_pte(raw_bus(page), ok & ~(uint64_t)(bits));              \
	assert_int_equal(raw_ask(raw, TUTTI_MSG_TLB_INVALIDATE, 2, 0, 0), 0);   \
	refused(&qb, kernel, args, va);
	WITHOUT(TUTTI_PTE_V, RAW_LOAD, raw_args(&b, (void *)va, (uintptr_t)mine, 0))
	WITHOUT(TUTTI_PTE_U, RAW_LOAD, raw_args(&b, (void *)va, (uintptr_t)mine, 0))
	WITHOUT(TUTTI_PTE_A, RAW_LOAD, raw_args(&b, (void *)va, (uintptr_t)mine, 0))
	WITHOUT(TUTTI_PTE_W, RAW_STORE, raw_args(&b, (void *)va, 1, 0))
	WITHOUT(TUTTI_PTE_D, RAW_STORE, raw_args(&b, (void *)va, 1, 0))
	*entry = tutti_pte(raw_bus(page), ok);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_TLB_INVALIDATE, 2, 0, 0), 0);
	run(&qb, RAW_STORE, raw_args(&b, (void *)va, 3, 0));
	assert_int_equal(*page, 3);
}

static void unmapped_after_invalidation(void **state)
{
	uint64_t *page = raw_alloc(raw, 4096), *other = raw_alloc(raw, 4096);
	const uint64_t va = 0x50000000;

	raw_map(&b, va, raw_bus(page), 4096, TUTTI_PTE_R | TUTTI_PTE_W);
	run(&qb, RAW_STORE, raw_args(&b, (void *)va, 3, 0));
	raw_unmap(&b, va, 4096);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_TLB_INVALIDATE, 2, va, 4096), 0);
	refused(&qb, RAW_STORE, raw_args(&b, (void *)va, 4, 0), va);
	raw_map(&b, va, raw_bus(other), 4096, TUTTI_PTE_R | TUTTI_PTE_W);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_TLB_INVALIDATE, 2, va, 4096), 0);
	run(&qb, RAW_STORE, raw_args(&b, (void *)va, 5, 0));
	assert_int_equal(*page, 3);
	assert_int_equal(*other, 5);
}

static void large_pages(void **state)
{
	/* 2 MiB leaf onto card memory */
	uint64_t *mid = raw_alloc(raw, 4096), *top = raw_alloc(raw, 4096);
	const uint64_t va = 0x600000000000ull & (TUTTI_VA_END - 1), card = 32ull << 20;
	const uint64_t flags = TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D;
	uint64_t *memory = (void *)(raw->bar + raw->discovery->aperture + card);

	b.root[tutti_va_index(va, 3)] = tutti_pte(raw_bus(top), TUTTI_PTE_V);
	top[tutti_va_index(va, 2)] = tutti_pte(raw_bus(mid), TUTTI_PTE_V);
	mid[tutti_va_index(va, 1)] = tutti_pte(card, flags);
	run(&qb, RAW_STORE, raw_args(&b, (void *)(va + 0x12340), 77, 0));
	assert_int_equal(memory[0x12340 / 8], 77);
	/* misaligned large leaf: refused */
	mid[tutti_va_index(va, 1) + 1] = tutti_pte(card + 4096, flags);
	refused(&qb, RAW_STORE, raw_args(&b, (void *)(va + (2 << 20)), 77, 0), va + (2 << 20));
}

static void references_are_private(void **state)
{
	uint64_t *cell = raw_small(&a);
	union tutti_packet p = raw_step(&a, cell, 10, 1, NULL);
	struct raw_condensed c;

	p.dispatch.ref_num = TUTTI_REF_STORE | 3;
	raw_submit(&qa, &p);
	raw_retired(&qa);
	raw_settle(raw);
	raw_condensed(&c);
	raw_diff(&c, 3, 0);
	raw_submit(&qb, &c.packet); /* its own table has no entry 3 */
	raw_fault(&qb, TUTTI_ERROR_PACKET, 0);
	raw_submit(&qa, &c.packet);
	raw_retired(&qa);
	assert_true(raw_until(raw, cell, 11, RAW_PATIENCE));
}

/* the same kernel address in both contexts is not the same kernel */
static void kernel_cache_is_per_context(void **state)
{
	const uint64_t va = 0x70000000;
	uint8_t *code_a = raw_alloc(raw, 4096), *code_b = raw_alloc(raw, 4096);
	uint64_t *wa = raw_small(&a), *wb = raw_small(&b);
	union tutti_packet p;

	memcpy(code_a, raw->code + RAW_STORE * RAW_KERNEL_BYTES, RAW_KERNEL_BYTES);
	memcpy(code_b, raw->code + RAW_ADD * RAW_KERNEL_BYTES, RAW_KERNEL_BYTES);
	raw_map(&a, va, raw_bus(code_a), 4096, TUTTI_PTE_R | TUTTI_PTE_X);
	raw_map(&b, va, raw_bus(code_b), 4096, TUTTI_PTE_R | TUTTI_PTE_X);
	*wa = *wb = 100;
	p = raw_dispatch(raw, RAW_STORE, 1, 1, raw_args(&a, wa, 5, 0), NULL);
	p.dispatch.kernel_object = va;
	raw_submit(&qa, &p);
	p.dispatch.kernarg = (uintptr_t)raw_args(&b, wb, 5, 0);
	raw_submit(&qb, &p);
	raw_retired(&qa);
	raw_retired(&qb);
	raw_settle(raw);
	assert_int_equal(*wa, 5);
	assert_int_equal(*wb, 105);
	/* changed code may be used only after the invalidation */
	memcpy(code_b, raw->code + RAW_STORE * RAW_KERNEL_BYTES, RAW_KERNEL_BYTES);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_CODE_INVALIDATE, 2, va, 4096), 0);
	p.dispatch.kernarg = (uintptr_t)raw_args(&b, wb, 6, 0);
	raw_submit(&qb, &p);
	raw_retired(&qb);
	raw_settle(raw);
	assert_int_equal(*wb, 6);
}

static void destroyed_context_is_gone(void **state)
{
	uint64_t *word = raw_small(&b);
	struct raw_space again;
	struct raw_queue queue;
	union tutti_packet p;

	*word = 1;
	run(&qb, RAW_STORE, raw_args(&b, word, 2, 0));
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, 1, 0, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_RSB_DESTROY, 1, 0, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_CONTEXT_DESTROY, 2, 0, 0), 0);
	raw_space_init(raw, &again, 2); /* the same id, without anything of the old context */
	raw_queue_init(&again, &queue, 1, 0, 6);
	p = raw_dispatch(raw, RAW_STORE, 1, 1, raw_args(&again, word, 3, 0), NULL);
	raw_submit(&queue, &p);
	assert_int_equal(raw_fault(&queue, TUTTI_ERROR_MEMORY_FAULT, 0).address, (uintptr_t)word);
	assert_int_equal(*word, 2);
}

/* ---- TSK-13: the client is stopped after its doorbell write ---- */

static int bell[2];

static void kick_through_pipe(void *context)
{
	char byte = 1;

	if (write(*(int *)context, &byte, 1) != 1)
		_exit(9);
}

/* The client writes packets and a doorbell, and is then stopped. The card runs in this process. */
static pid_t stop_client(const union tutti_packet *packets, unsigned n)
{
	pid_t client;
	int status;
	unsigned i;
	char byte;

	assert_int_equal(pipe(bell), 0);
	client = fork();
	if (!client) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* in case the test fails */
		raw->kick = kick_through_pipe;
		raw->kick_context = &bell[1];
		for (i = 0; i < n; i++)
			raw_put(&qa, &packets[i]);
		raw_ring(&qa, n - 1);
		kick_through_pipe(&bell[1]);
		raise(SIGSTOP);
		_exit(7);
	}
	assert_int_equal(read(bell[0], &byte, 1), 1);
	tutti_card_kick(raw->card);
	assert_int_equal(waitpid(client, &status, WUNTRACED), client);
	assert_true(WIFSTOPPED(status));
	raw->kick = NULL; /* memory shared with the client */
	qa.write = n;
	return client;
}

static void kill_client(pid_t client)
{
	int status;

	assert_int_equal(waitpid(client, &status, WUNTRACED | WNOHANG), 0); /* still stopped */
	kill(client, SIGKILL);
	waitpid(client, &status, 0);
	close(bell[0]);
	close(bell[1]);
	run(&qb, RAW_EMPTY, NULL); /* the card works for others after the client has died */
}

static void host_stopped(void **state)
{
	uint64_t *cell = raw_small(&a), expect = 0;
	struct tutti_signal *signal = raw_signal(&a, 1);
	union tutti_packet packets[48];
	struct raw_condensed c;
	unsigned i, k;
	pid_t client;

	/* plain packets, a gate, a barrier packet, references and condensed packets: 40 + 31 kernels */
	for (i = 0; i < 40; i++) {
		packets[i] = raw_step(&a, cell, 3, i, NULL);
		if (i < 8)
			packets[i].dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | i);
		expect = expect * 3 + i;
	}
	raw_condensed(&c);
	for (k = 0; k < 31; k++) {
		raw_diff(&c, k % 8, 0);
		expect = expect * 3 + k % 8;
	}
	packets[40] = c.packet;
	packets[41] = raw_dispatch(raw, RAW_COUNT, 400, 1, raw_args(&a, raw_new(&a, 4096), 0, 0), NULL);
	packets[42] = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, signal);
	client = stop_client(packets, 43);
	/* only the card's own threads work; this process only waits */
	for (i = 0; i < 10000 && tutti_load_acquire(&signal->value); i++)
		usleep(1000);
	assert_int_equal(signal->value, 0);
	assert_int_equal(*cell, expect);
	assert_int_equal(*qa.read_index, 43);
	kill_client(client);
}

static struct tutti_tmd *grid_task(enum raw_kernel kernel, uint32_t ctas, const void *args, struct tutti_signal *signal)
{
	struct tutti_tmd *tmd = raw_new(&a, 4096);

	*tmd = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION,
				   .kernel_object = raw_kernel(raw, kernel), .kernarg = (uintptr_t)args,
				   .signal = (uintptr_t)signal, .grid = { ctas, 1, 1 }, .workgroup = { 1, 1, 1 }, .setup = 1 };
	return tmd;
}

/* A work queue of 64 items without content, and the task that consumes them one by one. */
static struct tutti_tmd *items_task(struct tutti_work_queue **work)
{
	struct tutti_tmd *tmd = raw_new(&a, 4096);
	uint64_t *slot = raw_new(&a, 4096), i;

	*work = raw_new(&a, 4096);
	for (i = 0; i < 64; i++)
		slot[i] = i;
	**work = (struct tutti_work_queue){ .base = (uintptr_t)slot, .items = 64, .item_bytes = 8 };
	*tmd = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .type = TUTTI_TASK_QUEUE,
				   .queue = (uintptr_t)*work, .coalesce_min = 1, .coalesce_max = 1 };
	return tmd;
}

/*
 * Parents that wait for a child, which makes a grandchild of 300 CTAs and ends; and a queue task that kernels feed and
 * close. All of it is in the ring before the client is stopped; nothing is added afterwards.
 */
static void children_without_host(void **state)
{
	enum { PARENTS = 6, ITEMS = 5 };
	struct tutti_signal *done = raw_signal(&a, 1), *child[PARENTS], *grandchild[PARENTS];
	uint64_t *counts = raw_new(&a, 4096), *result[2 * PARENTS], *items = raw_small(&a);
	struct tutti_work_queue *work;
	union tutti_packet packets[PARENTS + 2 * ITEMS + 2];
	struct tutti_tmd *tmd = items_task(&work);
	unsigned i, n = 0;
	pid_t client;

	packets[n] = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&a, items, 1, 0), NULL);
	packets[n++].dispatch.tmd = (uintptr_t)tmd;
	for (i = 0; i < PARENTS; i++) {
		struct tutti_tmd *inner, *outer;

		child[i] = raw_signal(&a, 1);
		grandchild[i] = raw_signal(&a, 1);
		result[2 * i] = raw_small(&a);
		result[2 * i + 1] = raw_small(&a);
		*result[2 * i] = *result[2 * i + 1] = 1;
		inner = grid_task(RAW_COUNT, 300, raw_args(&a, counts, 0, 0), grandchild[i]);
		outer = grid_task(RAW_SPAWN, 1, raw_args(&a, inner, (uintptr_t)result[2 * i], 0), child[i]);
		packets[n++] = raw_dispatch(raw, RAW_SPAWN, 1, 1,
					    raw_args(&a, outer, (uintptr_t)result[2 * i + 1], (uintptr_t)&child[i]->value), NULL);
	}
	for (i = 0; i < ITEMS; i++) { /* one after another, while the consumer runs */
		struct tutti_signal *appended = raw_signal(&a, 1);

		packets[n++] = raw_dispatch(raw, RAW_APPEND, 1, 1, raw_args(&a, tmd, (uintptr_t)work, i == ITEMS - 1), appended);
		packets[n++] = (union tutti_packet){ .barrier = { .header = TUTTI_PACKET_BARRIER_AND,
								  .dependency = { (uintptr_t)appended } } };
	}
	for (i = 0; i < n; i++) /* all of it at once: the consumer ends last */
		packets[i].dispatch.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
	packets[n++] = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, done);
	client = stop_client(packets, n);
	for (i = 0; i < 10000 && tutti_load_acquire(&done->value); i++)
		usleep(1000);
	assert_int_equal(done->value, 0);
	assert_int_equal(*qa.read_index, n);
	for (i = 0; i < PARENTS; i++) {
		assert_int_equal(*result[2 * i], 0);
		assert_int_equal(*result[2 * i + 1], 0);
		assert_int_equal(child[i]->value, 0);
		assert_int_equal(grandchild[i]->value, 0);
	}
	for (i = 0; i < 300; i++)
		assert_int_equal(counts[i], PARENTS);
	assert_int_equal(*items, ITEMS);
	kill_client(client);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-06: the same address is different memory in two contexts", same_address_different_memory),
		T("SYS-06: two contexts cannot see each other", neither_sees_the_other),
		T("SYS-06, SYS-09: engines use the context's own tables", engines_use_the_context),
		T("SYS-06: bus addresses are not for users", bus_addresses_are_not_for_users),
		T("SYS-06: hostile page tables", hostile_page_tables),
		T("SYS-06: every permission bit counts", permissions_of_leaves),
		T("SYS-06, SYS-08: unmapped memory is gone after the invalidation", unmapped_after_invalidation),
		T("SYS-06: large pages", large_pages),
		T("PKT-10: references of another context", references_are_private),
		T("SYS-06, SYS-07: kernels are cached by context", kernel_cache_is_per_context),
		T("SYS-08: a destroyed context is gone", destroyed_context_is_gone),
		TFAST("TSK-13: the client stopped, the card finishes", host_stopped),
		TFAST("TSK-13, TSK-11, TSK-10: the client stopped, children and items are done", children_without_host),
		TFAST("SYS-06: two contexts cannot see each other, fast mode", neither_sees_the_other),
		TFAST("SYS-06: hostile page tables, fast mode", hostile_page_tables),
	};

	return cmocka_run_group_tests_name("isolation", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* The kernel channel, mirrors, doorbells, sleep, by the contract alone: SYS-02, SYS-04, SYS-08, SYS-09, SYS-13, SYS-26. */
#include <unistd.h>

#include "channel_rig.h"

/* ---- messages ---- */

static void ping(void **state)
{
	struct tutti_message m = { .type = TUTTI_MSG_PING }, reply;
	uint32_t ids[12];
	unsigned i, k;

	for (k = 0; k < 100; k++) {
		for (i = 0; i < 12; i++) {
			m.arg[0] = 0x123456789abcdef0ull + i + k;
			ids[i] = raw_send(raw, &m);
		}
		for (i = 12; i-- > 0;) {
			reply = raw_reply(raw, ids[i]);
			assert_int_equal(reply.status, 0);
			assert_true(reply.value == 0x123456789abcdef0ull + i + k);
		}
	}
}

static void unknown_messages(void **state)
{
	unsigned type;

	for (type = 0; type < 300; type++) {
		if (type >= TUTTI_MSG_PING && type <= TUTTI_MSG_OCCUPANCY)
			continue;
		assert_true(raw_ask(raw, type, 1, 2, 3) < 0);
	}
	assert_true(raw_ask(raw, 0xffff, 0, 0, 0) < 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 0, 0, 0), 0);
}

#define QUEUE_CASES(X)                                                                               \
	X("id out of range", m.queue.queue = (uint16_t)raw->discovery->max_queues)                   \
	X("id 65535", m.queue.queue = 65535)                                                         \
	X("no such context", m.queue.asid = 77)                                                      \
	X("context 0 (the bus)", m.queue.asid = 0)                                                   \
	X("context out of range", m.queue.asid = 65535)                                              \
	X("unknown flag", m.queue.flags = TUTTI_QUEUE_FLAGS + 1)                                     \
	X("ring misaligned", m.queue.ring += 8)                                                      \
	X("ring not canonical", m.queue.ring |= 1ull << 60)                                          \
	X("ring runs out of the address space", m.queue.ring = TUTTI_VA_END - 64)                    \
	X("ring too small", m.queue.size_log2 = 0)                                                   \
	X("ring too large", m.queue.size_log2 = 40)                                                  \
	X("ring absurd", m.queue.size_log2 = 255)                                                    \
	X("priority 0", m.queue.priority = 0)                                                        \
	X("priority 11", m.queue.priority = 11)                                                      \
	X("read index misaligned", m.queue.read_index += 4)                                          \
	X("no such RSB", m.queue.flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB; m.queue.rsb = 99)   \
	X("RSB out of range", m.queue.flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB; m.queue.rsb = 65535) \
	X("RSB without the extended flag", m.queue.flags = TUTTI_QUEUE_RSB; m.queue.rsb = 1)         \
	X("vector out of range", m.queue.vector = 65535)

static void bad_queue_messages(void **state)
{
	struct raw_queue queue;
	struct tutti_message good = raw_queue_message(&space, &queue, 7, 0, 6), m;

#define TRY(what, code)                                                        \
	m = good;                                                              \
	code;                                                                  \
	if (raw_call(raw, &m).status >= 0)                                     \
		fail_msg("accepted: %s", what);
	QUEUE_CASES(TRY)
	assert_int_equal(raw_call(raw, &good).status, 0);
	assert_int_equal(raw_call(raw, &good).status, -TUTTI_EEXIST);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, 7, 0, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, 7, 0, 0), -TUTTI_ENOENT);
	assert_true(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, 1u << 20, 0, 0) < 0);
	assert_true(raw_ask(raw, TUTTI_MSG_QUEUE_RESET, 7, 0, 0) < 0);
	assert_true(raw_ask(raw, TUTTI_MSG_QUEUE_QUERY, 7, 0, 0) < 0);
	assert_int_equal(raw_call(raw, &good).status, 0);
}

static void bad_context_messages(void **state)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE };
	struct raw_queue queue;

	m.context.root = raw_bus(space.root);
	m.context.asid = 0;
	assert_true(raw_call(raw, &m).status < 0);
	m.context.asid = raw->discovery->max_contexts;
	assert_true(raw_call(raw, &m).status < 0);
	m.context.asid = ~0u;
	assert_true(raw_call(raw, &m).status < 0);
	m.context.asid = 1;
	assert_int_equal(raw_call(raw, &m).status, -TUTTI_EEXIST);
	m.context.asid = 2;
	m.context.root += 8;
	assert_true(raw_call(raw, &m).status < 0);
	raw_queue_init(&space, &queue, 3, 0, 6);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_CONTEXT_DESTROY, 1, 0, 0), -TUTTI_EBUSY);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_CONTEXT_DESTROY, 9, 0, 0), -TUTTI_ENOENT);
	assert_true(raw_ask(raw, TUTTI_MSG_CONTEXT_DESTROY, 0, 0, 0) < 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, 3, 0, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_CONTEXT_DESTROY, 1, 0, 0), 0);
}

static void bad_rsb_messages(void **state)
{
	struct tutti_message m = { .type = TUTTI_MSG_RSB_CREATE };
	unsigned i, made = 0;

	m.rsb.asid = 55;
	assert_true(raw_call(raw, &m).status < 0);
	m.rsb.asid = 1;
	m.rsb.rsb = (uint16_t)raw->discovery->max_rsbs;
	assert_true(raw_call(raw, &m).status < 0);
	m.rsb.rsb = 1;
	m.rsb.placement = 2;
	assert_true(raw_call(raw, &m).status < 0);
	m.rsb.placement = TUTTI_RSB_MEMORY;
	m.rsb.offset = raw->discovery->reserved_bytes - 64; /* the ring wraps around */
	assert_true(raw_call(raw, &m).status < 0);
	m.rsb.offset = ~0ull - 63;
	assert_true(raw_call(raw, &m).status < 0);
	m.rsb.offset = 32;
	assert_true(raw_call(raw, &m).status < 0);
	assert_true(raw_ask(raw, TUTTI_MSG_RSB_DESTROY, 1, 0, 0) < 0);
	assert_true(raw_ask(raw, TUTTI_MSG_RSB_INVALIDATE, 1, 1, 0) < 0);
	assert_true(raw_ask(raw, TUTTI_MSG_RSB_READ, 1, 0, 0) < 0);
	/* scratch RAM is finite: the refusal says so, and all of it is free again afterwards */
	m.rsb.placement = TUTTI_RSB_SCRATCH;
	m.rsb.offset = 0;
	for (i = 0; i < raw->discovery->max_rsbs; i++) {
		int status;

		m.rsb.rsb = (uint16_t)i;
		status = raw_call(raw, &m).status;
		if (status == -TUTTI_ENOSPC)
			break;
		assert_int_equal(status, 0);
		made++;
	}
	assert_true(made >= 8);
	for (i = 0; i < made; i++)
		assert_int_equal(raw_ask(raw, TUTTI_MSG_RSB_DESTROY, i, 0, 0), 0);
	m.rsb.rsb = 0;
	assert_int_equal(raw_call(raw, &m).status, 0);
}

static void destroy_is_acknowledged_when_quiet(void **state)
{
	uint64_t *words = raw_small(&space);
	struct raw_queue queue;
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 96, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);

	raw_queue_init(&space, &queue, 3, 0, 6);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 96, RAW_PATIENCE));
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_DESTROY, 3, 0, 0), 0);
	words[1] = 1; /* no CTA is left that could see it */
	raw_run(raw, 20);
	assert_int_equal(words[2], 0);
	raw_unmap(&space, (uintptr_t)queue.ring, 4096);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_TLB_INVALIDATE, 1, 0, 0), 0);
	raw_no_fault(raw);
}

static void queue_query(void **state)
{
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_QUERY }, reply;
	struct raw_queue queue;
	union tutti_packet p = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, NULL);
	unsigned i;

	raw_queue_init(&space, &queue, 3, 0, 6);
	for (i = 0; i < 5; i++)
		raw_submit(&queue, &p);
	raw_retired(&queue);
	m.arg[0] = 3;
	reply = raw_call(raw, &m);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.arg[0], 5);
	p.dispatch.setup = 0;
	raw_submit(&queue, &p);
	raw_fault(&queue, TUTTI_ERROR_DIMENSIONS, 5);
	reply = raw_call(raw, &m);
	assert_int_equal(reply.arg[0], 5);
	assert_int_equal(reply.arg[2], TUTTI_ERROR_DIMENSIONS);
}

static void queue_starts_where_told(void **state)
{
	struct raw_queue queue;
	struct tutti_message create = raw_queue_message(&space, &queue, 3, 0, 6);
	uint64_t *word = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_STORE, 1, 1, raw_args(&space, word, 5, 0), NULL);

	create.queue.start = queue.write = (1ull << 32) - 3; /* across the limit of 32 bits */
	*queue.read_index = queue.write;
	assert_int_equal(raw_call(raw, &create).status, 0);
	for (unsigned i = 0; i < 10; i++) {
		*word = 0;
		raw_submit(&queue, &p);
		assert_true(raw_until(raw, word, 5, RAW_PATIENCE));
	}
	raw_retired(&queue);
	assert_true(*queue.read_index == (1ull << 32) + 7);
}

/* ---- SYS-09: what the firmware relies on is its own ---- */

static void host_scribbles_on_mirrors(void **state)
{
	struct raw_queue queue;
	uint64_t *word = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&space, word, 1, 0), NULL);
	unsigned i;

	raw_queue_init(&space, &queue, 3, 0, 6);
	for (i = 1; i <= 200; i++) {
		*queue.read_index = i * 0x123456789ull; /* only a mirror */
		raw_submit(&queue, &p);
		assert_true(raw_until(raw, word, i, RAW_PATIENCE));
		raw_settle(raw);
		assert_int_equal(*queue.read_index, i);
	}
}

static void progress_word(void **state)
{
	struct raw_queue queue;
	struct tutti_message create = raw_queue_message(&space, &queue, 3, 0, 6);
	uint64_t *progress = raw_alloc(raw, 4096); /* not mapped for the context */
	union tutti_packet p = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, NULL);
	unsigned i;

	create.queue.progress = raw_bus(progress);
	assert_int_equal(raw_call(raw, &create).status, 0);
	for (i = 0; i < 7; i++)
		raw_submit(&queue, &p);
	assert_true(raw_until(raw, progress, 7, RAW_PATIENCE));
}

/* Replies raise interrupts as well; those of the notification itself are not counted. */
static void notified_once(void **state)
{
	uint64_t *progress = raw_alloc(raw, 4096);
	struct raw_queue queue;
	struct tutti_message create = raw_queue_message(&space, &queue, 2, 0, 6);
	union tutti_packet packet = raw_dispatch(raw, RAW_EMPTY, 1, 1, NULL, NULL);
	unsigned before, i;

	create.queue.progress = raw_bus(progress);
	assert_int_equal(raw_call(raw, &create).status, 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_NOTIFY, 2, 5, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_NOTIFY, 2, 3, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_NOTIFY, 2, 9, 0), 0);
	raw_settle(raw);
	before = raw->interrupts;
	for (i = 1; i <= 8; i++) {
		raw_submit(&queue, &packet);
		assert_true(raw_until(raw, progress, i, RAW_PATIENCE));
		raw_settle(raw);
		assert_int_equal(raw->interrupts, before + (i >= 3));
	}
	/* a count that has been reached already is reported at once */
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_NOTIFY, 2, 8, 0), 0);
	raw_settle(raw);
	assert_int_equal(raw->interrupts, before + 3);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_NOTIFY, 3, 1, 0), -TUTTI_ENOENT);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_QUEUE_NOTIFY, ~0ull, 1, 0), -TUTTI_ENOENT);
}

/* completion is written in the order data, signal, read index */
static void order_of_completion(void **state)
{
	struct tutti_card_config fast = { .mode = TUTTI_CARD_FAST, .topology = { 2 }, .gpcs = 1, .workers = 1 };
	struct raw *deterministic = raw;
	struct raw_queue queue;
	uint64_t *word;
	struct tutti_signal *signal;
	unsigned i;

	raw = raw_create(&fast);
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 3, 0, 6);
	word = raw_small(&space);
	signal = raw_signal(&space, 0);
	for (i = 1; i <= 3000; i++) {
		union tutti_packet p = raw_dispatch(raw, RAW_STORE, 1, 1, raw_args(&space, word, i, 0), signal);

		tutti_store_release(&signal->value, 1);
		raw_submit(&queue, &p);
		if (i % 2) {
			while (tutti_load_acquire(&signal->value))
				tutti_card_run(raw->card, NULL, NULL);
			assert_int_equal(tutti_load_relaxed(word), i);
		} else {
			while (tutti_load_acquire(queue.read_index) != i)
				tutti_card_run(raw->card, NULL, NULL);
		}
		raw_until(raw, &signal->value, 0, 1000);
		if (raw->arena_used > raw->arena_bytes / 2)
			break;
	}
	raw_destroy(raw);
	raw = deterministic;
}

/* SYS-02: reads, and writes outside the words that the card watches, have no effect */
static void no_side_effects(void **state)
{
	uint64_t first[TUTTI_COUNTERS], before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];
	uint64_t i;

	raw_counters(raw, first);
	raw_counters(raw, before); /* instructions of the query itself */
	for (i = 0; i < raw->discovery->window_bytes; i += 8)
		(void)*(volatile uint64_t *)(raw->bar + i);
	raw_counters(raw, after);
	assert_int_equal(after[TUTTI_COUNTER_DOORBELLS], before[TUTTI_COUNTER_DOORBELLS]);
	assert_int_equal(after[TUTTI_COUNTER_INTERRUPTS] - before[TUTTI_COUNTER_INTERRUPTS],
			 before[TUTTI_COUNTER_INTERRUPTS] - first[TUTTI_COUNTER_INTERRUPTS]);
	assert_int_equal(raw->status->state, TUTTI_STATE_RUNNING);
}

static void doorbells_of_nobody(void **state)
{
	unsigned i;

	for (i = 0; i < raw->discovery->max_queues; i++)
		*(uint64_t *)(raw->bar + raw->discovery->doorbells.offset + i * TUTTI_PAGE_SIZE) = 3;
	tutti_card_kick(raw->card);
	raw_settle(raw);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 0, 0, 0), 0);
	raw_no_fault(raw);
}

static void sleeps_and_wakes(void **state)
{
	struct tutti_card_config fast = { .mode = TUTTI_CARD_FAST, .topology = { 2 }, .gpcs = 1 };
	struct raw *deterministic = raw;
	struct raw_queue queue;
	uint64_t *word;
	unsigned i, ms;

	raw = raw_create(&fast);
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 3, 0, 6);
	word = raw_small(&space);
	for (i = 1; i <= 20; i++) {
		union tutti_packet p = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&space, word, 1, 0), NULL);

		for (ms = 0; ms < 2000 && !tutti_load_acquire(&raw->status->asleep); ms++)
			usleep(1000);
		assert_int_equal(tutti_load_acquire(&raw->status->asleep), 1);
		raw_submit(&queue, &p);
		for (ms = 0; ms < 5000 && tutti_load_acquire(word) != i; ms++)
			usleep(1000); /* no thread drives the card */
		assert_int_equal(*word, i);
	}
	raw_destroy(raw);
	raw = deterministic;
}

static bool answered(uint32_t id)
{
	unsigned i;

	raw_run(raw, 20);
	raw_ask(raw, TUTTI_MSG_PING, 0, 0, 0); /* moves messages to the inbox */
	for (i = 0; i < raw->in; i++)
		if (raw->inbox[i].type == TUTTI_MSG_REPLY && raw->inbox[i].id == id)
			return true;
	return false;
}

/*
 * The answer comes when no work is left on the card. Packets published before RESUME start at RESUME and not earlier.
 */
static void suspend(void **state)
{
	struct raw_queue running, waiting, fresh;
	uint64_t *gate = raw_small(&space), *late = raw_small(&space), *next = raw_small(&space), *third = raw_small(&space);
	struct tutti_message suspend = { .type = TUTTI_MSG_SUSPEND }, create;
	union tutti_packet p;
	unsigned round;
	uint32_t id;

	create = raw_queue_message(&space, &running, 3, 0, 6);
	create.queue.timeout_ms = 0; /* the card's clock is fast */
	assert_int_equal(raw_call(raw, &create).status, 0);
	raw_queue_init(&space, &waiting, 4, 0, 6);
	for (round = 1; round <= 3; round++) {
		memset(gate, 0, 64);
		p = raw_dispatch(raw, RAW_GATE, 1, 1, raw_args(&space, gate, (uintptr_t)&gate[1], (uintptr_t)&gate[2]), NULL);
		raw_submit(&running, &p);
		p = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&space, next, 1, 0), NULL);
		raw_submit(&running, &p); /* fetched, and has the barrier bit */
		assert_true(raw_until(raw, gate, 1, RAW_PATIENCE));
		id = raw_send(raw, &suspend);
		assert_false(answered(id));
		p = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&space, late, 1, 0), NULL);
		raw_submit(&waiting, &p);
		assert_false(answered(id));
		assert_int_equal(gate[2], 0);
		assert_int_equal(*late, round - 1);
		gate[1] = 1;
		assert_true(raw_until(raw, &gate[2], 1, RAW_PATIENCE)); /* running kernels run to their end */
		assert_int_equal(raw_reply(raw, id).status, 0);
		if (round == 1) /* messages are still accepted */
			raw_queue_init(&space, &fresh, 5, 0, 6);
		p = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&space, third, 1, 0), NULL);
		raw_submit(&fresh, &p);
		raw_settle(raw);
		assert_int_equal(*late, round - 1);
		assert_int_equal(*next, round - 1);
		assert_int_equal(*third, round - 1);
		assert_int_equal(raw_ask(raw, TUTTI_MSG_RESUME, 0, 0, 0), 0);
		assert_true(raw_until(raw, late, round, RAW_PATIENCE));
		assert_true(raw_until(raw, next, round, RAW_PATIENCE));
		assert_true(raw_until(raw, third, round, RAW_PATIENCE));
		raw_retired(&running);
		raw_retired(&waiting);
		raw_no_fault(raw);
	}
	/* idle: answered at once; a second SUSPEND or RESUME is harmless */
	assert_int_equal(raw_ask(raw, TUTTI_MSG_SUSPEND, 0, 0, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_SUSPEND, 0, 0, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_RESUME, 0, 0, 0), 0);
	assert_int_equal(raw_ask(raw, TUTTI_MSG_RESUME, 0, 0, 0), 0);
	p = raw_dispatch(raw, RAW_ADD, 1, 1, raw_args(&space, late, 1, 0), NULL);
	raw_submit(&waiting, &p);
	assert_true(raw_until(raw, late, round, RAW_PATIENCE));
}

static void counts_by_function(void **state)
{
	static struct tutti_card_function f[1024];
	uint64_t sum = 0, all = tutti_card_instructions(raw->card);
	size_t n, i;

	tutti_card_count(raw->card, true);
	for (i = 0; i < 32; i++)
		assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 0, 0, 0), 0);
	tutti_card_count(raw->card, false);
	all = tutti_card_instructions(raw->card) - all;
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 0, 0, 0), 0);
	n = tutti_card_profile(raw->card, f, 1024);
	assert_in_range(n, 10, 1024);
	for (i = 0; i < n; i++) {
		sum += f[i].instructions;
		assert_true(f[i].name && f[i].name[0]);
	}
	assert_true(all > 1000);
	assert_in_range(sum, all - all / 50, all); /* helpers of the compiler may have no name */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-08: several messages in flight", ping),
		T("SYS-08: unknown messages are answered with an error", unknown_messages),
		T("SYS-08: bad queue messages", bad_queue_messages),
		T("SYS-08: bad context messages", bad_context_messages),
		T("SYS-08, PKT-10: bad RSB messages, scratch RAM runs out", bad_rsb_messages),
		T("SYS-08: destroy is acknowledged when nothing is in flight", destroy_is_acknowledged_when_quiet),
		T("SYS-08: queue query", queue_query),
		T("SYS-08: a queue starts at the index told", queue_starts_where_told),
		T("SYS-09: words the host can see are mirrors", host_scribbles_on_mirrors),
		T("SYS-09: progress word in kernel-owned memory", progress_word),
		T("SYS-26: one interrupt when so many packets have retired", notified_once),
		T("SYS-09, PKT-04: data, signal, read index, in this order", order_of_completion),
		T("SYS-02: reads have no side effect", no_side_effects),
		T("SYS-02: doorbells of queues that do not exist", doorbells_of_nobody),
		T("SYS-02: the card says when it sleeps", sleeps_and_wakes),
		T("SYS-08: suspend and resume", suspend),
		T("SYS-13: instruction counts by function", counts_by_function),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}

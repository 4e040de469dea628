/* SPDX-License-Identifier: MIT */
/*
 * What requests of the host lead to (SYS-08): the commands they write, word for word, what their answers say and when these
 * come, and what is different afterwards.
 */
#include "fw_notes.h"

#include "core/state.h"
#include "place/sm_order.h"
#include "queues/launch_plain.h"
#include "queues/queue_life.h"

static int ask_message(struct tutti_message *m)
{
	int status;

	notes = 0;
	rig_command = note;
	status = rig_message(m);
	rig_command = NULL;
	return status;
}

static int ask(unsigned type, uint64_t a, uint64_t b, uint64_t c)
{
	return ask_message(&(struct tutti_message){ .type = (uint16_t)type, .arg = { a, b, c } });
}

static void answer_held(void)
{
	for (unsigned i = 0; i < holds; i++)
		rig_event(TUTTI_EVENT_FETCH | held[i], 0, 0);
	holds = 0;
}

static uint32_t messages(void)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;

	return ((const struct tutti_status *)(hal_host.window + d->status.offset))->card_ring_tail;
}

static const struct tutti_message *last_message(void)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;
	const struct tutti_message *to_host = (const void *)(hal_host.window + d->card_ring.offset);

	return &to_host[(messages() - 1) % (d->card_ring.bytes / sizeof(*to_host))];
}

/* Behind its commands a request has a fence and a mark, and then the host is interrupted for the answer. */
static void expect_end(unsigned at)
{
	assert_int_equal(notes, at + 3);
	expect_command(at + 2, TUTTI_CMD_INTERRUPT, 0, NULL, 0);
	expect_command(at, TUTTI_CMD_FENCE, TUTTI_SCOPE_SYSTEM | TUTTI_FENCE_RELEASE, NULL, 0);
	assert_int_equal(noted[at + 1].word[0] & 0xff, TUTTI_CMD_FETCH);
}

static void contexts(void **unused)
{
	static const uint32_t create[] = { 0x89abc000, 0x1234, 0x44443330, 0x21 }, gone[4] = { 0 };
	static const uint32_t range[] = { 0x76543000, 0x1fed, 0x00021000, 0x7 };
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE,
				   .context = { .asid = 9, .root = 0x123489abc000, .print_ring = 0x2144443330 } };

	(void)unused;
	start(2, 0);
	assert_int_equal(ask_message(&m), 0);
	expect_command(0, TUTTI_CMD_CONTEXT, 9, create, 4);
	expect_end(1);
	assert_int_equal(ask(TUTTI_MSG_TLB_INVALIDATE, 9, 0x1fed76543000, 0x700021000), 0);
	expect_command(0, TUTTI_CMD_TLB, 9, range, 4);
	expect_end(1);
	assert_int_equal(ask(TUTTI_MSG_CODE_INVALIDATE, 9, 0x1fed76543000, 0x700021000), 0);
	expect_command(0, TUTTI_CMD_TLB, 9 | 0x8000, range, 4);
	expect_end(1);
	assert_int_equal(ask(TUTTI_MSG_CONTEXT_DESTROY, 9, 0, 0), 0);
	expect_command(0, TUTTI_CMD_CONTEXT, 9, gone, 4);
	expect_end(1);
	/* what is refused writes nothing */
	assert_int_equal(ask(TUTTI_MSG_CODE_INVALIDATE, 9, 0, 0), -TUTTI_ENOENT);
	assert_int_equal(ask(TUTTI_MSG_CONTEXT_DESTROY, 9, 0, 0), -TUTTI_ENOENT);
	assert_int_equal(notes, 1);
	expect_command(0, TUTTI_CMD_INTERRUPT, 0, NULL, 0);
}

/* How many descriptors have been fetched, after one more kernel. */
static uint32_t misses_after(unsigned q, unsigned kernel)
{
	struct tutti_dispatch_packet p = kernel_packet(kernel, 1);

	submit(q, &p);
	for (unsigned s = 0; s < SLOTS; s++)
		end_all(s);
	return (uint32_t)counters.kernel_misses;
}

/* After a change of mappings or of code in a range the kernels there are looked up again; others, and other contexts', are not. */
static void kernels_are_looked_up_again(void **unused)
{
	static const unsigned types[] = { TUTTI_MSG_TLB_INVALIDATE, TUTTI_MSG_CODE_INVALIDATE };

	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		start(2, 0);
		rig_queue(0, ASID, 0);
		rig_queue(1, ASID + 1, 0);
		assert_int_equal(misses_after(0, 0), 1);
		assert_int_equal(misses_after(0, 4), 2);
		assert_int_equal(misses_after(1, 0), 3);
		assert_int_equal(misses_after(0, 0), 3);
		launch_kept[3].next = (uintptr_t)ring + 64;
		assert_int_equal(ask(types[i], ASID, KERNEL_AT + 4 * 64, 1), 0);
		/* what was decoded before is not used any more, either */
		assert_int_equal(launch_kept[3].next & ~(uintptr_t)(KEPT_METADATA | KEPT_OWN), 0);
		assert_int_equal(misses_after(0, 0), 3);
		assert_int_equal(misses_after(0, 4), 4);
		assert_int_equal(ask(types[i], ASID, 0, 0), 0);
		assert_int_equal(misses_after(1, 0), 4);
		assert_int_equal(misses_after(0, 0), 5);
		assert_int_equal(misses_after(0, 4), 6);
	}
}

/* ---- when the answer comes ---- */

/* A request whose commands the engines have to carry out first is answered behind them; any other one at once. */
static void answered_in_time(void **unused)
{
	struct tutti_fault stop = { .code = TUTTI_ERROR_PACKET, .packet = 1 };
	const struct { uint16_t type; bool later; uint64_t arg[3]; } requests[] = {
		{ TUTTI_MSG_PING, false, { 1 } },
		{ TUTTI_MSG_QUEUE_QUERY, false, { 1 } },
		{ TUTTI_MSG_QUEUE_NOTIFY, false, { 1, 7 } },
		{ TUTTI_MSG_RSB_INVALIDATE, false, { 1, 255 } },
		{ TUTTI_MSG_RSB_READ, false, { 1, 4096 } },
		{ TUTTI_MSG_RSB_DESTROY, false, { 3 } },
		{ TUTTI_MSG_SM_ENABLE, false, { 0, 1, 0 } },
		{ TUTTI_MSG_LOAD, false, { 0 } },
		{ TUTTI_MSG_RESUME, false, { 0 } },
		{ TUTTI_MSG_TLB_INVALIDATE, true, { ASID, 0, 0 } },
		{ TUTTI_MSG_CODE_INVALIDATE, true, { ASID, 0, 0 } },
		{ TUTTI_MSG_CONTEXT_DESTROY, true, { ASID + 1 } },
		{ TUTTI_MSG_POLICY, true, { TUTTI_POLICY_ISSUE, 0, 0 } },
		{ TUTTI_MSG_TASK_CANCEL, true, { 2, 0 } },
		{ TUTTI_MSG_QUEUE_RESET, true, { 1 } },
		{ TUTTI_MSG_COUNTERS, true, { 0 } },
		{ TUTTI_MSG_QUEUE_DESTROY, true, { 1 } },
		{ TUTTI_MSG_SUSPEND, true, { 0 } },
	};
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	for (unsigned i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
		struct tutti_message m = { .type = requests[i].type };
		uint32_t before;

		start(4, 0);
		rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
		rig_rsb(3, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(1, ASID, 0);
		if (m.type == TUTTI_MSG_TASK_CANCEL) {
			rig_queue(2, ASID, 0);
			submit(2, &p);
		}
		queue_stop(queue_at(1), &stop);
		memcpy(m.arg, requests[i].arg, sizeof(requests[i].arg));
		before = messages();
		hold_answers = true;
		holds = 0;
		if (ask_message(&m) != requests[i].later || messages() - before != !requests[i].later || holds != requests[i].later)
			fail_msg("request %u: %u answers", m.type, messages() - before);
		hold_answers = false;
		answer_held();
		assert_int_equal(messages(), before + 1);
		assert_int_equal(last_message()->type, TUTTI_MSG_REPLY);
		assert_int_equal(last_message()->id, m.id);
		assert_int_equal(last_message()->status, 0);
	}
}

/* ---- what the answers say ---- */

static void values_of_answers(void **unused)
{
	struct tutti_message m = { .type = TUTTI_MSG_PING, .arg = { 0xfedcba9876543210ull } };

	(void)unused;
	start(4, 0);
	assert_int_equal(ask_message(&m), 0);
	assert_int_equal(last_message()->value, 0xfedcba9876543210ull);
	assert_int_equal(ask(0x7777, 0, 0, 0), -TUTTI_ENOTSUP);
	assert_int_equal(ask(TUTTI_MSG_NONE, 0, 0, 0), -TUTTI_ENOTSUP);
	assert_int_equal(ask(TUTTI_MSG_REPLY, 0, 0, 0), -TUTTI_ENOTSUP);
}

static void expect_query(unsigned q, uint64_t index, unsigned state, unsigned error)
{
	assert_int_equal(ask(TUTTI_MSG_QUEUE_QUERY, q, 0, 0), 0);
	assert_int_equal(last_message()->value, index);
	assert_int_equal(last_message()->arg[0], index);
	assert_int_equal(last_message()->arg[1], state);
	assert_int_equal(last_message()->arg[2], error);
}

/* The read index has 64 bits, and is that of the packets that were handed back. */
static void queries(void **unused)
{
	static const uint64_t first[] = { 0, 0xfffffffeull, 0x7fffffff00000000ull };
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
					   .queue = { .queue = 2, .asid = ASID, .ring = RIG_RING + 2 * 4096, .size_log2 = 6,
						      .read_index = 0x20000000, .priority = 5, .start = first[i] } };

		start(4, 0);
		assert_int_equal(ask_message(&m), 0);
		expect_query(2, first[i], QUEUE_RUNNING, 0);
		written[2] = first[i];
		for (unsigned k = 0; k < 3; k++)
			submit(2, &p);
		expect_query(2, first[i] + 3, QUEUE_RUNNING, 0);
		p.setup = 7;
		submit(2, &p);
		expect_query(2, first[i] + 3, QUEUE_STOPPED, TUTTI_ERROR_PACKET);
		p.setup = 1;
		assert_int_equal(ask(TUTTI_MSG_QUEUE_RESET, 2, 0, 0), 0);
		expect_query(2, first[i] + 4, QUEUE_RUNNING, 0);
		queue_at(2)->head += 2; /* taken, but not handed back yet */
		expect_query(2, first[i] + 4, QUEUE_RUNNING, 0);
	}
}

static void expect_load(unsigned slots, unsigned ctas, unsigned sms)
{
	assert_int_equal(ask(TUTTI_MSG_LOAD, 0, 0, 0), 0);
	assert_int_equal(last_message()->value, slots);
	assert_int_equal(last_message()->arg[0], ctas);
	assert_int_equal(last_message()->arg[1], sms);
}

static void loads(void **unused)
{
	static const unsigned cards[] = { 1, 31, 32, 33, 144, TUTTI_MAX_SMS };
	struct tutti_dispatch_packet p = kernel_packet(0, 3);

	(void)unused;
	for (unsigned i = 0; i < sizeof(cards) / sizeof(*cards); i++) {
		if (cards[i] > FW_MAX_SMS)
			continue;
		start(cards[i], 9);
		rig_queue(1, ASID, 0);
		expect_load(9, 0, cards[i]);
		submit(1, &p);
		submit(1, &p);
		expect_load(7, 6, cards[i]);
		end_all((unsigned)slot_of(1, 0));
		expect_load(8, 3, cards[i]);
		assert_int_equal(ask(TUTTI_MSG_SM_ENABLE, cards[i] - 1, 1, 0), 0);
		expect_load(8, 3, cards[i] - 1);
		assert_int_equal(ask(TUTTI_MSG_SM_ENABLE, 0, cards[i], 0), 0);
		expect_load(8, 3, 0);
		assert_int_equal(ask(TUTTI_MSG_SM_ENABLE, 0, cards[i], 1), 0);
		expect_load(8, 3, cards[i]);
	}
}

/* ---- the order of SMs ---- */

static bool sm_takes(unsigned position)
{
	return shapes.enabled[position / 32] >> (position % 32) & 1;
}

/* SMs change places in the order, some of them disabled; an SM stays enabled or disabled wherever it is. */
static void order_of_disabled_sms(void **unused)
{
	static const unsigned cards[] = { 1, 2, 3, 33, 64, 100 };
	bool enabled[128];
	unsigned order[128], n, i, k;

	(void)unused;
	seed(77);
	for (unsigned c = 0; c < sizeof(cards) / sizeof(*cards); c++) {
		n = cards[c];
		start(n, 0);
		for (i = 0; i < n; i++) {
			order[i] = i;
			enabled[i] = roll(2);
			assert_int_equal(ask(TUTTI_MSG_SM_ENABLE, i, 1, enabled[i]), 0);
		}
		for (unsigned round = 0; round < 60; round++) {
			unsigned position = roll(n), sm = roll(n);

			assert_int_equal(ask(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, position << 16 | sm, 0), 0);
			for (i = 0; order[i] != sm; i++)
				;
			order[i] = order[position];
			order[position] = sm;
			for (k = 0; k < n; k++) {
				assert_int_equal(sm_order_at(k), order[k]);
				assert_int_equal(sm_takes(k), enabled[order[k]]);
			}
			/* requests name SMs, not positions */
			sm = roll(n);
			enabled[sm] = !enabled[sm];
			assert_int_equal(ask(TUTTI_MSG_SM_ENABLE, sm, 1, enabled[sm]), 0);
		}
	}
}

static void order_at_limits(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	start(5, 0);
	rig_queue(0, ASID, 0);
	assert_int_equal(ask(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, 5 << 16, 0), -TUTTI_EINVAL);
	assert_int_equal(ask(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, 5, 0), -TUTTI_EINVAL);
	assert_int_equal(ask(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, 4 << 16 | 4, 0), 0);
	expect_end(0); /* nothing has changed, so no command says so */
	submit(0, &p);
	assert_int_equal(ask(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, 4 << 16, 0), -TUTTI_EBUSY);
	assert_int_equal(sm_order_at(4), 4);
	end_all(0);
	/* each of the two places, with a neighbour, since SMs come in pairs */
	assert_int_equal(ask(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, 4 << 16, 0), 0);
	expect_command(0, TUTTI_CMD_ORDER, 0, (uint32_t[]){ 0, 4 | 1 << 16 }, 2);
	expect_command(1, TUTTI_CMD_ORDER, 0, (uint32_t[]){ 3, 3 | 0 << 16 }, 2);
	expect_end(2);
}

/* ---- notices ---- */

static unsigned interrupts(unsigned vector)
{
	unsigned n = 0;

	for (unsigned i = 0; i < notes; i++)
		n += noted[i].word[0] == TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, vector);
	return n;
}

static void one_kernel(uint64_t packet)
{
	struct tutti_event event = { { TUTTI_EVENT_CTA | (uint32_t)slot_of(1, packet) << 8 | 1u << 24, 1, 1, 1 } };
	unsigned slot = (unsigned)slot_of(1, packet), sm = 0;

	while (!running[slot].on[sm])
		sm++;
	event.word[3] = 1u << sm;
	running[slot].on[sm] = running[slot].ctas = 0;
	hal_host_event(&event);
	take_noted();
}

/* One interrupt when so many packets have retired; of several requests the smallest number counts. Numbers wrap. */
static void notices(void **unused)
{
	static const uint64_t first[] = { 0, 0xfffffffeull };
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	for (unsigned i = 0; i < 2; i++) {
		struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
					   .queue = { .queue = 1, .asid = ASID, .ring = RIG_RING + 4096, .size_log2 = 6, .vector = 3,
						      .read_index = 0x20000000, .priority = 5, .start = first[i] } };
		uint32_t at = (uint32_t)first[i];

		start(4, 0);
		m.queue.progress = 0x3000;
		assert_int_equal(ask_message(&m), 0);
		written[1] = first[i];
		for (unsigned k = 0; k < 5; k++)
			submit(1, &p);
		assert_int_equal(ask(TUTTI_MSG_QUEUE_NOTIFY, 1, (uint32_t)(at + 4), 0), 0);
		assert_int_equal(ask(TUTTI_MSG_QUEUE_NOTIFY, 1, (uint32_t)(at + 2), 0), 0);
		assert_int_equal(ask(TUTTI_MSG_QUEUE_NOTIFY, 1, (uint32_t)(at + 3), 0), 0);
		assert_int_equal(interrupts(3), 0);
		one_kernel(first[i]);
		assert_int_equal(interrupts(3), 0);
		one_kernel(first[i] + 1);
		assert_int_equal(interrupts(3), 1);
		one_kernel(first[i] + 2);
		one_kernel(first[i] + 3);
		assert_int_equal(interrupts(3), 0);
		/* what has retired already is told at once */
		assert_int_equal(ask(TUTTI_MSG_QUEUE_NOTIFY, 1, (uint32_t)(at + 5), 0), 0);
		assert_int_equal(interrupts(3), 0);
		assert_int_equal(ask(TUTTI_MSG_QUEUE_NOTIFY, 1, (uint32_t)(at + 4), 0), 0);
		assert_int_equal(interrupts(3), 1);
		one_kernel(first[i] + 4);
		assert_int_equal(interrupts(3), 0);
	}
}

/* It is told that so many packets have retired, and then interrupted for a message. */
static void expect_told(uint64_t packets)
{
	unsigned i = 0;

	while (i < notes && ((noted[i].word[0] & 0xff) != TUTTI_CMD_WRITE || noted[i].word[2] != 0x3000))
		i++;
	assert_true(i < notes);
	assert_int_equal(noted[i].word[4] | (uint64_t)noted[i].word[5] << 32, packets);
	while (i < notes && noted[i].word[0] != TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 0))
		i++;
	assert_true(i < notes);
}

/*
 * A queue stops, for a packet that is refused or a kernel that fails, in the moment in which the kernel before has ended, or
 * when it has ended meanwhile: the host is told of that one before it hears of the error.
 */
static void progress_before_errors(void **unused)
{
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
				   .queue = { .queue = 1, .asid = ASID, .ring = RIG_RING + 4096, .size_log2 = 6, .vector = 3,
					      .read_index = 0x20000000, .progress = 0x3000, .priority = 5 } };
	struct tutti_dispatch_packet p = kernel_packet(0, 1), wrong = p;

	(void)unused;
	wrong.header |= TUTTI_HEADER_BARRIER;
	wrong.kernarg = 1ull << 47;
	for (unsigned fails = 0; fails < 2; fails++) {
		int failing;

		start(4, 0);
		slow_kills = true;
		assert_int_equal(ask_message(&m), 0);
		submit(1, &p);
		submit(1, fails ? &p : &wrong);
		failing = slot_of(1, 1);
		if (fails)
			rig_event(TUTTI_EVENT_FAULT | (uint32_t)failing << 8 | TUTTI_CAUSE_BUS << 16, 0, 0);
		one_kernel(0);
		if (fails) {
			killed((unsigned)failing);
			take_noted();
		}
		assert_int_equal(queue_at(1)->error, fails ? TUTTI_ERROR_MEMORY_FAULT : TUTTI_ERROR_PACKET);
		expect_told(1);
	}
}

/* ---- suspending ---- */

/* Four requests may wait until nothing is in flight; all of them are answered then, each once, and a fifth one is refused. */
static void suspends(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);
	uint32_t before;

	(void)unused;
	start(4, 0);
	rig_queue(1, ASID, 0);
	submit(1, &p);
	before = messages();
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(ask(TUTTI_MSG_SUSPEND, 0, 0, 0), 1);
	assert_int_equal(ask(TUTTI_MSG_SUSPEND, 0, 0, 0), -TUTTI_EBUSY);
	assert_int_equal(messages(), before + 1);
	submit(1, &p);
	assert_int_equal(started[1], 1);
	one_kernel(0);
	assert_int_equal(messages(), before + 5);
	assert_int_equal(started[1], 1);
	/* nothing is in flight now, so the next one is answered at once */
	assert_int_equal(ask(TUTTI_MSG_SUSPEND, 0, 0, 0), 0);
	assert_int_equal(ask(TUTTI_MSG_RESUME, 0, 0, 0), 0);
	take();
	assert_int_equal(started[1], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-08", contexts),
		RIG_TEST("SYS-07 SYS-08", kernels_are_looked_up_again),
		RIG_TEST("SYS-08", answered_in_time),
		RIG_TEST("SYS-08", values_of_answers),
		RIG_TEST("SYS-08 PKT-05", queries),
		RIG_TEST("SYS-08 SYS-41", loads),
		RIG_TEST("SYS-08 TSK-06", order_of_disabled_sms),
		RIG_TEST("SYS-08 TSK-06", order_at_limits),
		RIG_TEST("SYS-08", notices),
		RIG_TEST("SYS-26 SYS-28", progress_before_errors),
		RIG_TEST("SYS-08", suspends),
	};

	return cmocka_run_group_tests_name("firmware: what requests lead to", tests, NULL, NULL);
}

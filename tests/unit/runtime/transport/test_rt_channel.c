/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=clock_gettime */
/* The kernel channel: requests, replies, cards that do not answer (SYS-08, SYS-42). */
#include "transport/bare_rig.h"

/* ---- the kernel channel ---- */

static struct tutti_message *slots(const struct tutti_region *r, uint32_t index)
{
	return (struct tutti_message *)(card + r->offset) + index % SLOTS;
}

static void send_reply(uint32_t id, int status_of, uint64_t value)
{
	*slots(&d->card_ring, status->card_ring_tail) = (struct tutti_message){
	    .type = TUTTI_MSG_REPLY, .status = (int16_t)status_of, .id = id, .value = value, .arg = {11, 12}};
	tutti_store_release(&status->card_ring_tail, status->card_ring_tail + 1);
}

static struct tutti_message got[64];
static unsigned taken;

/* The card takes all requests; which replies it sends is the business of the tests. */
static unsigned take_all(void)
{
	unsigned n = 0;

	for (; status->host_ring_head != control->host_ring_tail; n++) {
		got[taken++ % 64] = *slots(&d->host_ring, status->host_ring_head);
		tutti_store_release(&status->host_ring_head, status->host_ring_head + 1);
	}
	return n;
}

static void answers(void)
{
	while (take_all())
		send_reply(got[(taken - 1) % 64].id, 0, 100 + got[(taken - 1) % 64].arg[0]);
}

static void runs(void)
{
	status->state = TUTTI_STATE_RUNNING;
	status->boot_sequence = device->boot_sequence;
	status->asleep = 1;
	taken = 0;
	on_kick = answers;
}

static void requests(void **state)
{
	uint64_t value;

	runs();
	for (unsigned i = 0; i < 3 * SLOTS; i++) {
		assert_int_equal(channel_ask(device, TUTTI_MSG_PING, i, 2 * i, 3 * i, &value), 0);
		assert_int_equal(value, 100 + i);
		assert_int_equal(got[i].type, TUTTI_MSG_PING);
		assert_int_equal(got[i].id, i + 1);
		assert_int_equal(got[i].arg[1], 2 * i);
		assert_int_equal(got[i].arg[2], 3 * i);
	}
	assert_int_equal(rang, 3 * SLOTS);
	bare.channel.next_id = UINT32_MAX; /* the id 0 is for what nobody has asked for */
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 0, 0, 0, NULL), 0);
	assert_int_equal(got[3 * SLOTS].id, 1);
	assert_null(bare.channel.pending);
	assert_false(channel_pending(device));
	assert_false(channel_poll(device));
	/* who is awake sees it by itself */
	status->asleep = 0;
	on_sleep = answers;
	rang = 0;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 0, 0, 0, NULL), 0);
	assert_int_equal(rang, 0);
}

static void refuses(void)
{
	take_all();
	send_reply(got[(taken - 1) % 64].id + 1, 0, 5); /* nobody has asked that */
	send_reply(0, 0, 5);
	send_reply(got[(taken - 1) % 64].id, -EBUSY, 7);
}

static void other_replies(void **state)
{
	struct tutti_message message = {.type = TUTTI_MSG_OCCUPANCY};

	runs();
	on_kick = refuses;
	assert_int_equal(channel_request(device, &message), -EBUSY);
	assert_int_equal(message.value, 7);
	assert_int_equal(message.arg[1], 12);
	assert_int_equal(control->card_ring_head, 3);
}

static void in_silence(void)
{
	status->heartbeat++;
	take_all();
}

static void answers_too_late(void)
{
	in_silence();
	if (now >= ready_at && taken == 1) {
		send_reply(got[0].id, 0, 1);
		taken++;
	}
}

static unsigned heard;

static void hear_no_answer(const char *line)
{
	heard += !strncmp(line, "no answer to ", 13) && strstr(line, " within 10 s ");
}

/* A request is given up after ten seconds, which is said, and its late reply is nobody's. */
static void no_reply(void **state)
{
	uint64_t begun = now;

	runs();
	on_kick = NULL;
	on_sleep = in_silence;
	heard = 0;
	tutti_message_handler(hear_no_answer);
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), -ETIMEDOUT);
	tutti_message_handler(NULL);
	assert_in_range(now - begun, 10 * SECOND, 10 * SECOND + SECOND / 10);
	assert_null(bare.channel.pending);
	assert_int_equal(heard, 1);
	send_reply(got[0].id, 0, 1);
	assert_true(channel_poll(device));
	taken = 0;
	on_sleep = answers_too_late;
	ready_at = now + 9 * SECOND;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), 0);
}

static void makes_room(void)
{
	status->heartbeat++;
	if (now >= ready_at)
		answers();
}

/* Requests wait until the card has taken others, for as long as for a reply. */
static void full_ring(void **state)
{
	uint64_t begun = now;

	runs();
	on_kick = NULL;
	on_sleep = in_silence;
	taken = 0;
	bare.channel.tail = control->host_ring_tail = SLOTS;
	ready_at = UINT64_MAX;
	on_sleep = makes_room;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), -ETIMEDOUT);
	assert_in_range(now - begun, 10 * SECOND, 10 * SECOND + SECOND / 10);
	assert_int_equal(control->host_ring_tail, SLOTS);
	ready_at = now + SECOND;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), 0);
	assert_int_equal(taken, SLOTS + 1);
}

/* A card that is dead is not asked; one that dies meanwhile does not answer. */
static void dies(void)
{
	take_all();
	status->state = TUTTI_STATE_CRASHED;
}

static void dead_card(void **state)
{
	runs();
	on_kick = dies;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), -EIO);
	assert_int_equal(taken, 1);
	assert_null(bare.channel.pending);
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), -EIO);
	assert_int_equal(control->host_ring_tail, 1);
}

/* The firmware is alive as long as its heart beats or it sleeps; after five seconds without it has hung. */
static void stops_beating(void)
{
	status->asleep = 0;
	if (now < ready_at)
		status->heartbeat++;
	take_all();
}

static void sleeps_soundly(void)
{
	take_all();
	status->asleep = now < ready_at;
}

static void heartbeat(void **state)
{
	static void (*const lives[])(void) = {stops_beating, sleeps_soundly};

	for (unsigned i = 0; i < 2; i++) {
		runs();
		device->dead = device->said_dead = false;
		on_kick = NULL;
		on_sleep = lives[i];
		ready_at = now + 3 * SECOND;
		assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), -EIO);
		assert_in_range(now - ready_at, 5 * SECOND, 5 * SECOND + SECOND / 10);
		assert_true(device->dead);
	}
}

/* A process that was stopped for a while has seen no beats, which says nothing about the card. */
static void jumps(void)
{
	status->asleep = 0;
	take_all();
	if (now > ready_at) {
		now += 4 * SECOND;
		ready_at = now + SECOND;
	}
}

static void stopped_process(void **state)
{
	runs();
	on_kick = NULL;
	on_sleep = jumps;
	ready_at = now + SECOND;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), -ETIMEDOUT);
	assert_false(device->dead);
}

static void answers_second_first(void)
{
	if (!take_all())
		return;
	send_reply(got[1].id, 0, 2);
	send_reply(got[0].id, 0, 1);
}

static void answers_both(void)
{
	if (!take_all())
		return;
	send_reply(got[0].id, 0, 1);
	send_reply(got[1].id, 0, 2);
}

/* What is asked meanwhile, by another thread, say, takes no reply away, whichever comes first. */
static bool first_comes_first;

static void asks_more(void)
{
	uint64_t value;

	take_all();
	on_kick = NULL;
	on_sleep = first_comes_first ? answers_both : answers_second_first;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 2, 0, 0, &value), 0);
	assert_int_equal(value, 2);
}

static void two_at_a_time(void **state)
{
	uint64_t value;

	for (unsigned i = 0; i < 2; i++) {
		runs();
		on_kick = asks_more;
		first_comes_first = i;
		assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, &value), 0);
		assert_int_equal(value, 1);
		assert_null(bare.channel.pending);
	}
}

/* A program goes on where the one before it has left the rings. */
static void used_before(void **state)
{
	runs();
	channel_fini(device);
	control->host_ring_tail = status->host_ring_head = 5;
	control->card_ring_head = status->card_ring_tail = 7;
	channel_init(device);
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), 0);
	assert_int_equal(control->host_ring_tail, 6);
	assert_int_equal(control->card_ring_head, 8);
}

/* ---- the requests of bare.h ---- */

static void check_queue_request(uint32_t vectors, unsigned id, unsigned vector)
{
	const struct transport_queue queue = {.id = id,
					      .rsb = 3,
					      .flags = TUTTI_QUEUE_RSB | TUTTI_QUEUE_EXTENDED,
					      .ring = (void *)0x10000,
					      .read_index = (void *)0x20040,
					      .size_log2 = 7,
					      .priority = 9,
					      .timeout_ms = 77};
	const struct tutti_msg_queue *m;

	device->known.msix_vectors = vectors;
	taken = 0;
	assert_int_equal(bare_queue_create(device, &queue), 0);
	assert_int_equal(got[0].type, TUTTI_MSG_QUEUE_CREATE);
	m = &got[0].queue;
	assert_int_equal(m->queue, id);
	assert_int_equal(m->asid, 1);
	assert_int_equal(m->flags, queue.flags);
	assert_int_equal(m->rsb, 3);
	assert_int_equal(m->ring, 0x10000);
	assert_int_equal(m->read_index, 0x20040);
	assert_int_equal(m->progress | m->start, 0);
	assert_int_equal(m->size_log2, 7);
	assert_int_equal(m->priority, 9);
	assert_int_equal(m->vector, vector);
	assert_int_equal(m->timeout_ms, 77);
}

static void bare_requests(void **state)
{
	static const struct {
		uint32_t vectors;
		unsigned queue, vector;
	} rows[] = {{0, 5, 0}, {1, 5, 0}, {2, 0, 1},	{2, 5, 1},  {3, 0, 1},
		    {3, 1, 2}, {3, 2, 1}, {32, 30, 31}, {32, 31, 1}};
	uint32_t value = 9;

	runs();
	bare.context.asid = 1;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check_queue_request(rows[i].vectors, rows[i].queue, rows[i].vector);
	for (unsigned in_memory = 0; in_memory < 2; in_memory++) {
		taken = 0;
		assert_int_equal(bare_rsb_create(device, 4, in_memory), 0);
		assert_int_equal(got[0].type, TUTTI_MSG_RSB_CREATE);
		assert_int_equal(got[0].rsb.rsb, 4);
		assert_int_equal(got[0].rsb.asid, 1);
		assert_int_equal(got[0].rsb.placement, in_memory ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH);
		assert_int_equal(got[0].rsb.offset, in_memory ? 4 * sizeof(struct tutti_rsb) : 0);
	}
	assert_int_equal(bare_policy_get(device, TUTTI_POLICY_CLASS, 3, &value), 0);
	assert_int_equal(value, 100 + TUTTI_POLICY_CLASS);
	on_kick = refuses;
	assert_int_equal(bare_policy_get(device, TUTTI_POLICY_CLASS, 3, &value), -EBUSY);
	assert_int_equal(value, 100 + TUTTI_POLICY_CLASS);
}

/* The request that was sent last, and nothing but this. */
static void assert_sent(unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	assert_int_equal(taken, 1);
	assert_int_equal(got[0].type, type);
	assert_int_equal(got[0].arg[0], arg0);
	assert_int_equal(got[0].arg[1], arg1);
	assert_int_equal(got[0].arg[2], arg2);
	taken = 0;
}

/* Arguments that a request does not have are 0, so that later firmware may give them a meaning. */
static void simple_requests(void **state)
{
	uint32_t value;

	runs();
	bare.context.asid = 1;
	assert_int_equal(bare_queue_destroy(device, 5), 0);
	assert_sent(TUTTI_MSG_QUEUE_DESTROY, 5, 0, 0);
	assert_int_equal(bare_queue_reset(device, 6), 0);
	assert_sent(TUTTI_MSG_QUEUE_RESET, 6, 0, 0);
	assert_int_equal(bare_task_cancel(device, 7, 1ull << 40), 0);
	assert_sent(TUTTI_MSG_TASK_CANCEL, 7, 1ull << 40, 0);
	assert_int_equal(bare_rsb_destroy(device, 4), 0);
	assert_sent(TUTTI_MSG_RSB_DESTROY, 4, 0, 0);
	assert_int_equal(bare_rsb_invalidate(device, 3, 0xf0), 0);
	assert_sent(TUTTI_MSG_RSB_INVALIDATE, 3, 0xf0, 0);
	assert_int_equal(bare_rsb_read(device, 2, (struct tutti_rsb *)(card + WINDOW + 4096)), 0);
	assert_sent(TUTTI_MSG_RSB_READ, 2, 4096, 0);
	assert_int_equal(bare_code_invalidate(device, (void *)0x123000, 0x4000), 0);
	assert_sent(TUTTI_MSG_CODE_INVALIDATE, 1, 0x123000, 0x4000);
	assert_int_equal(bare_counters(device), 0);
	assert_sent(TUTTI_MSG_COUNTERS, 0, 0, 0);
	for (unsigned enable = 0; enable < 2; enable++) {
		assert_int_equal(bare_sm_enable(device, 2, 5, enable), 0);
		assert_sent(TUTTI_MSG_SM_ENABLE, 2, 5, enable);
	}
	assert_int_equal(bare_policy_set(device, TUTTI_POLICY_CLASS, 99), 0);
	assert_sent(TUTTI_MSG_POLICY, TUTTI_POLICY_CLASS, 99, 0);
	assert_int_equal(bare_policy_get(device, TUTTI_POLICY_CLASS, 3, &value), 0);
	assert_sent(TUTTI_MSG_POLICY, TUTTI_POLICY_CLASS, 3, 1);
}

/* How often a launch fits is three numbers, in CGAs, CTAs and SMs; without an answer there are none. */
static void occupancy(void **state)
{
	const struct tutti_msg_occupancy needs = {.waves = 3, .scalar_blocks = 4, .shared_blocks = 5, .mode = 1};
	struct transport_fit fit = {.cgas = 77};

	runs();
	assert_int_equal(bare_occupancy(device, &needs, &fit), 0);
	assert_int_equal(got[0].type, TUTTI_MSG_OCCUPANCY);
	assert_memory_equal(&got[0].occupancy, &needs, sizeof(needs));
	assert_int_equal(fit.cgas, (uint32_t)(100 + got[0].arg[0]));
	assert_int_equal(fit.ctas, 11);
	assert_int_equal(fit.sms, 12);
	on_kick = refuses;
	fit = (struct transport_fit){.cgas = 77, .ctas = 78, .sms = 79};
	assert_int_equal(bare_occupancy(device, &needs, &fit), -EBUSY);
	assert_true(fit.cgas == 77 && fit.ctas == 78 && fit.sms == 79);
}

/* ---- the address space of the program ---- */

#define PAGE 4096ull

/* The card is told of the address space, and of changes as long as it knows it. */
static void address_space(void **state)
{
	struct context *context = &bare.context;
	void *address = (void *)(8 * PAGE);

	runs();
	assert_int_equal(context_init(context, 1), 0);
	assert_int_equal(context_map(context, address, TUTTI_BUS_HOST | 8 * PAGE, PAGE, MAP_READ), 0);
	assert_int_equal(context_unmap(device, context, address, PAGE), 0);
	on_kick = refuses;
	assert_int_equal(context_create(device, context, (void *)0x5000), -EBUSY);
	taken = 0;
	context_destroy(device, context); /* the card has none */
	assert_int_equal(taken, 0);
	on_kick = answers;
	assert_int_equal(context_create(device, context, (void *)0x5000), 0);
	assert_int_equal(got[0].type, TUTTI_MSG_CONTEXT_CREATE);
	assert_int_equal(got[0].context.asid, 1);
	assert_int_equal(got[0].context.root, pagetable_root(&context->pagetable));
	assert_int_equal(got[0].context.print_ring, 0x5000);
	taken = 0;
	assert_int_equal(context_map(context, address, TUTTI_BUS_HOST | 8 * PAGE, PAGE, MAP_READ), 0);
	assert_int_equal(taken, 0);
	assert_int_equal(context_unmap(device, context, address, 0), -EINVAL);
	assert_int_equal(taken, 0);
	assert_int_equal(context_unmap(device, context, address, PAGE), 0);
	assert_sent(TUTTI_MSG_TLB_INVALIDATE, 1, 8 * PAGE, PAGE);
	context_destroy(device, context);
	assert_sent(TUTTI_MSG_CONTEXT_DESTROY, 1, 0, 0);
	context_destroy(device, context);
	assert_int_equal(taken, 0);
	context_fini(context);
}

/* What is mapped may be read, and written or executed only where that is asked for. */
static void access_rights(void **state)
{
	struct context *context = &bare.context;

	assert_int_equal(context_init(context, 1), 0);
	for (unsigned i = 0; i < 4; i++) {
		unsigned access = MAP_READ | (i & 1 ? MAP_WRITE : 0) | (i & 2 ? MAP_EXECUTE : 0);
		uint64_t pte;

		assert_int_equal(context_map(context, (void *)((8 + i) * PAGE), PAGE, PAGE, access), 0);
		pte = pagetable_walk(&context->pagetable, (8 + i) * PAGE, NULL);
		assert_true(pte & TUTTI_PTE_R);
		assert_int_equal(!!(pte & TUTTI_PTE_W), i & 1);
		assert_int_equal(!!(pte & TUTTI_PTE_X), i >> 1);
	}
	context_fini(context);
}

static void *seen(uint64_t address, uint64_t bytes)
{
	return context_host_memory(&bare.context, TUTTI_BUS_HOST | address, bytes);
}

/* Of the program's memory the card reaches what is mapped, and the page tables, and nothing next to them. */
static void reach_of_the_card(void **state)
{
	static uint8_t area[12 * PAGE] __attribute__((aligned(4096)));
	const uint64_t tables = (uintptr_t)area, behind = tables + 8 * PAGE, large = 6ull << 20;
	struct context *context = &bare.context;

	context_init_at(context, 1, area, tables, 8 * PAGE);
	assert_int_equal(context_map(context, area + 8 * PAGE, TUTTI_BUS_HOST | behind, 2 * PAGE, MAP_READ), 0);
	assert_int_equal(context_map(context, area + 10 * PAGE, 0, PAGE, MAP_READ), 0); /* card memory */
	assert_int_equal(context_map(context, (void *)large, TUTTI_BUS_HOST | large, 2ull << 20, MAP_READ), 0);
	assert_ptr_equal(seen(tables, 8 * PAGE), area);
	assert_ptr_equal(seen(tables + 8 * PAGE - 1, 1), area + 8 * PAGE - 1);
	assert_null(seen(tables, 8 * PAGE + 1));
	assert_null(seen(tables - 1, 2));
	assert_ptr_equal(seen(behind, 2 * PAGE), area + 8 * PAGE);
	assert_ptr_equal(seen(behind + 2 * PAGE - 1, 1), area + 10 * PAGE - 1);
	assert_null(seen(behind, 2 * PAGE + 1));
	assert_null(seen(behind + 2 * PAGE, 1));
	assert_null(seen(behind + TUTTI_VA_END, PAGE));
	assert_null(seen(behind, -behind));
	assert_null(seen(behind, -1ull));
	assert_ptr_equal(seen(large, 2ull << 20), (void *)large);
	assert_ptr_equal(seen(large + PAGE, (2ull << 20) - PAGE), (void *)(large + PAGE));
	assert_null(seen(large, (2ull << 20) + 1));
	assert_null(seen(large - 1, 2));
	context_fini(context);
	assert_int_equal(area[0] & TUTTI_PTE_V, TUTTI_PTE_V); /* they are not the library's own */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CARD_TEST("SYS-08: requests and replies", requests),
	    CARD_TEST("SYS-08: replies to others, and errors", other_replies),
	    CARD_TEST("SYS-08: no reply", no_reply),
	    CARD_TEST("SYS-08: a full ring", full_ring),
	    CARD_TEST("SYS-08: two requests at a time", two_at_a_time),
	    CARD_TEST("SYS-08: rings that were used before", used_before),
	    CARD_TEST("SYS-08: a card that dies", dead_card),
	    CARD_TEST("SYS-08: a firmware that hangs", heartbeat),
	    CARD_TEST("SYS-08: a process that was stopped", stopped_process),
	    CARD_TEST("SYS-08: what the requests say", bare_requests),
	    CARD_TEST("SYS-08: what simple requests say", simple_requests),
	    CARD_TEST("SYS-08: how often a launch fits", occupancy),
	    CARD_TEST("SYS-06: what the card is told of an address space", address_space),
	    CARD_TEST("SYS-06: rights to memory that is mapped", access_rights),
	    CARD_TEST("SYS-06: what the card reaches of the program", reach_of_the_card),
	};

	return cmocka_run_group_tests_name("SYS-08 the kernel channel without a driver", tests, NULL, NULL);
}

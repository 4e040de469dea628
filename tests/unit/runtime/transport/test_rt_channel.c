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

/* A request is given up after ten seconds, and its late reply is nobody's. */
static void no_reply(void **state)
{
	uint64_t begun = now;

	runs();
	on_kick = NULL;
	on_sleep = in_silence;
	assert_int_equal(channel_ask(device, TUTTI_MSG_PING, 1, 0, 0, NULL), -ETIMEDOUT);
	assert_in_range(now - begun, 10 * SECOND, 10 * SECOND + SECOND / 10);
	assert_null(bare.channel.pending);
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
		assert_int_equal(got[0].rsb.rsb, 4);
		assert_int_equal(got[0].rsb.placement, in_memory ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH);
		assert_int_equal(got[0].rsb.offset, in_memory ? 4 * sizeof(struct tutti_rsb) : 0);
	}
	taken = 0;
	assert_int_equal(bare_rsb_read(device, 2, (struct tutti_rsb *)(card + WINDOW + 4096)), 0);
	assert_int_equal(got[0].arg[1], 4096);
	assert_int_equal(bare_policy_get(device, TUTTI_POLICY_CLASS, 3, &value), 0);
	assert_int_equal(value, 100 + TUTTI_POLICY_CLASS);
	assert_int_equal(got[1].arg[1], 3);
	assert_int_equal(got[1].arg[2], 1);
	on_kick = refuses;
	assert_int_equal(bare_policy_get(device, TUTTI_POLICY_CLASS, 3, &value), -EBUSY);
	assert_int_equal(value, 100 + TUTTI_POLICY_CLASS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CARD_TEST("SYS-08: requests and replies", requests),
	    CARD_TEST("SYS-08: replies to others, and errors", other_replies),
	    CARD_TEST("SYS-08: no reply", no_reply),
	    CARD_TEST("SYS-08: a full ring", full_ring),
	    CARD_TEST("SYS-08: a card that dies", dead_card),
	    CARD_TEST("SYS-08: a firmware that hangs", heartbeat),
	    CARD_TEST("SYS-08: a process that was stopped", stopped_process),
	    CARD_TEST("SYS-08: what the requests say", bare_requests),
	};

	return cmocka_run_group_tests_name("SYS-08 the kernel channel without a driver", tests, NULL, NULL);
}

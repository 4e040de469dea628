/* SPDX-License-Identifier: MIT */
/* Copies and fills by packet: how many of each client are under way at once (REL-11), and when they end. */
#include "fw_notes.h"

#include "tensor/mover_ring.h"

enum { CLIENTS = 2, PACKETS = 12 };
#define PIECE (1ull << 30) /* what a mover is given at once */

/* What movers have taken of each client and not done yet. */
static uint16_t under_way[CLIENTS][MOVER_SLOTS];
static unsigned moves[CLIENTS];

static void take_moves(void)
{
	while (HAL_ENGINES->mover_head != HAL_ENGINES->mover_tail) {
		const struct tutti_mover *m = &mover_slots[HAL_ENGINES->mover_head++ % MOVER_SLOTS];
		unsigned client = m->asid - ASID;

		under_way[client][moves[client]++] = m->tag;
	}
}

/* The oldest move of a client is done. */
static void end_move(unsigned client)
{
	uint16_t tag = under_way[client][0];

	memmove(under_way[client], under_way[client] + 1, --moves[client] * sizeof(tag));
	rig_event(TUTTI_EVENT_MOVER | (uint32_t)tag << 16, 0, 0);
	take();
	take_moves();
}

static void submit_agent(unsigned q, unsigned type, uint64_t bytes)
{
	union tutti_packet p = { .agent = { .header = TUTTI_PACKET_AGENT_DISPATCH, .type = (uint16_t)type,
					    .arg = { 0x1000, 0x2000, bytes }, .signal = SIGNAL_AT } };

	submit(q, &p);
	take_moves();
}

/* Queues 0 and 1 are of the first client, 2 of the second. */
static void begin(unsigned clients)
{
	start(4, 0);
	memset(moves, 0, sizeof(moves));
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED);
	if (clients > 1)
		rig_queue(2, ASID + 1, TUTTI_QUEUE_EXTENDED);
}

/* A client that is alone may have all of them, and each of its packets ends once. */
static void one_client(void **unused)
{
	(void)unused;
	begin(1);
	for (unsigned i = 0; i < PACKETS; i++)
		submit_agent(i % 2, TUTTI_AGENT_COPY, 2 * PIECE + 1);
	assert_int_equal(moves[0], FW_AGENTS);
	for (unsigned n = 0; n < 3 * PACKETS; n++) {
		assert_in_range(moves[0], 1, FW_AGENTS);
		end_move(0);
	}
	assert_int_equal(moves[0], 0);
	assert_int_equal(signal_count, PACKETS);
}

/* However many copies a client has, one of another client begins at once. */
static void two_clients(void **unused)
{
	(void)unused;
	begin(2);
	for (unsigned i = 0; i < PACKETS; i++)
		submit_agent(i % 2, TUTTI_AGENT_FILL, PIECE);
	assert_int_equal(moves[0], FW_AGENTS / 2);
	submit_agent(2, TUTTI_AGENT_COPY, 4);
	assert_int_equal(moves[1], 1);
	for (unsigned i = 0; i < PACKETS; i++)
		submit_agent(2, TUTTI_AGENT_COPY, 4);
	assert_int_equal(moves[1], FW_AGENTS / 4); /* a third one finds some, too */
	while (moves[0] + moves[1]) {
		unsigned client = moves[0] ? 0 : 1;

		end_move(client);
		assert_in_range(moves[client], 0, FW_AGENTS / 2);
	}
	assert_int_equal(signal_count, 2 * PACKETS + 1);
}

/* A packet that moves nothing does not wait for movers. */
static void without_movers(void **unused)
{
	(void)unused;
	begin(2);
	for (unsigned i = 0; i < PACKETS; i++)
		submit_agent(0, TUTTI_AGENT_COPY, PIECE);
	assert_int_equal(signal_count, 0);
	submit_agent(1, TUTTI_AGENT_NOP, PIECE);
	submit_agent(1, TUTTI_AGENT_COPY, 0);
	submit_agent(1, TUTTI_AGENT_FILL, 0);
	assert_int_equal(signal_count, 3);
	assert_int_equal(moves[0], FW_AGENTS / 2);
}

/* ---- what movers and the host get ---- */

/* The only move that was begun since the last call, which must be this one. Return: its tag */
static uint16_t expect_move(bool copy, uint64_t to, uint64_t from, uint32_t bytes)
{
	const struct tutti_mover *m = &mover_slots[HAL_ENGINES->mover_head % MOVER_SLOTS];
	const struct tutti_mover_shape *shape = hal_pointer(m->shape);

	assert_int_equal(HAL_ENGINES->mover_tail - HAL_ENGINES->mover_head, 1);
	HAL_ENGINES->mover_head++;
	assert_int_equal(m->op, copy ? TUTTI_MOVE_COPY : TUTTI_MOVE_FILL);
	assert_int_equal(m->flags, TUTTI_MOVER_EVENT | TUTTI_MOVER_LINEAR);
	assert_int_equal(m->global, copy ? from : to);
	assert_int_equal(m->other, copy ? to : 0);
	assert_int_equal(m->bytes, bytes);
	assert_int_equal(m->asid, ASID);
	assert_int_equal(shape->type, TUTTI_U32);
	if (!copy)
		assert_int_equal(shape->fill, (uint32_t)from | from << 32);
	return m->tag;
}

static void expect_fence(unsigned *at, unsigned scope, unsigned what)
{
	if (scope)
		expect_command((*at)++, TUTTI_CMD_FENCE, scope | what, NULL, 0);
}

/* Piece after piece, all of them behind the acquire fence; release fence and signal come once, when the last has ended. */
static void whole_copies(void **unused)
{
	static const uint64_t sizes[] = { 4, PIECE - 4, PIECE, PIECE + 4, 2 * PIECE, 3 * PIECE + 8 };
	const uint64_t to = 0x123400001000, from = 0x4321deadbeef;

	(void)unused;
	for (unsigned i = 0; i < 2 * 9 * 6; i++) {
		unsigned acquire = i % 3, release = i / 3 % 3, at = 0;
		bool copy = i / 9 % 2;
		union tutti_packet p = { .agent = { .header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, acquire, release),
						    .type = copy ? TUTTI_AGENT_COPY : TUTTI_AGENT_FILL,
						    .arg = { to, from, sizes[i / 18] }, .signal = SIGNAL_AT + 64 } };
		uint64_t done = 0;

		begin(1);
		queue_at(0)->vector = 7;
		write_packet(0, &p);
		rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
		take_noted();
		at = 1; /* behind the fetch of the packet */
		expect_fence(&at, acquire, TUTTI_FENCE_ACQUIRE);
		assert_int_equal(noted[at].word[0] & 0xff, TUTTI_CMD_SCRUB);
		while (done < sizes[i / 18]) {
			uint64_t left = sizes[i / 18] - done;
			uint32_t piece = (uint32_t)(left < PIECE ? left : PIECE);
			uint16_t tag = expect_move(copy, to + done, copy ? from + done : from, piece);

			assert_int_equal(queue_at(0)->in_flight, 1);
			assert_int_equal(signal_count, 0);
			rig_event(TUTTI_EVENT_MOVER | (uint32_t)tag << 16, 0, 0);
			done += piece;
			take_noted();
		}
		at = 0;
		expect_fence(&at, release, TUTTI_FENCE_RELEASE);
		expect_command(at, TUTTI_CMD_SIGNAL, 7, (uint32_t[]){ ASID, 0x40000040, 0x32 }, 3);
		assert_int_equal(signal_count, 1);
		assert_int_equal(queue_at(0)->in_flight, 0);
		assert_int_equal(HAL_ENGINES->mover_tail, HAL_ENGINES->mover_head);
	}
}

/* The time, between the fences, where the packet says. */
static void the_time(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 9; i++) {
		unsigned acquire = i % 3, release = i / 3, at = 1;
		union tutti_packet p = { .agent = { .header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 0, acquire, release),
						    .type = TUTTI_AGENT_TIME, .return_address = 0x1122334450,
						    .signal = SIGNAL_AT } };

		begin(1);
		hal_host.time = 0x123456789abcull;
		write_packet(0, &p);
		rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
		take_noted();
		expect_fence(&at, acquire, TUTTI_FENCE_ACQUIRE);
		expect_command(at++, TUTTI_CMD_WRITE, 8, (uint32_t[]){ ASID, 0x22334450, 0x11, 0x56789abc, 0x1234 }, 5);
		expect_fence(&at, release, TUTTI_FENCE_RELEASE);
		expect_command(at, TUTTI_CMD_SIGNAL, 0, (uint32_t[]){ ASID, 0x40000000, 0x32 }, 3);
		assert_int_equal(queue_at(0)->in_flight, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-02 REL-11", one_client),
		RIG_TEST("PKT-02 REL-11", two_clients),
		RIG_TEST("PKT-02 REL-11", without_movers),
		RIG_TEST("PKT-02 PKT-04", whole_copies),
		RIG_TEST("PKT-02 PKT-04", the_time),
	};

	return cmocka_run_group_tests_name("firmware: agent dispatch packets", tests, NULL, NULL);
}

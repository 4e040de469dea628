/* SPDX-License-Identifier: MIT */
/* Copies and fills by packet: how many of each client are under way at once (REL-11), and when they end. */
#include "fw_direct.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-02 REL-11", one_client),
		RIG_TEST("PKT-02 REL-11", two_clients),
		RIG_TEST("PKT-02 REL-11", without_movers),
	};

	return cmocka_run_group_tests_name("firmware: agent dispatch packets", tests, NULL, NULL);
}

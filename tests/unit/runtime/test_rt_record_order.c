/* SPDX-License-Identifier: MIT */
/* link: -Wl,--allow-multiple-definition */
/*
 * Replays into a ring that is mapped write-combined: what the card could see at each store fence. The recorder is
 * built into this program in place of the library's, with a fence that looks instead of one that flushes.
 */
#include <stdint.h>

#include "tutti/barrier.h"

static void fence(void);
#define tutti_fence_write_combined() fence()
#include "record/record.c"
#include "rt_rig.h"

#define LAUNCHES 40u

static struct tutti_queue *ring_of_card;
static unsigned fences, whole_bodies, heads;

static bool is_whole(const union tutti_packet *slot)
{
	return slot->dispatch.kernarg >= 0x1000 && slot->dispatch.kernarg < 0x1000 + LAUNCHES;
}

static void fence(void)
{
	if (!ring_of_card)
		return;
	fences++;
	whole_bodies = heads = 0;
	for (unsigned i = 0; i < LAUNCHES; i++) {
		const union tutti_packet *slot = tutti_queue_slot(ring_of_card, i);

		whole_bodies += is_whole(slot);
		heads += (slot->word[0] & 0xff) != TUTTI_PACKET_INVALID;
		/* A head that the card can see has its body behind a fence. */
		assert_true(fences > 1 || (slot->word[0] & 0xff) == TUTTI_PACKET_INVALID);
	}
	if (fences == 1)
		assert_int_equal(whole_bodies, LAUNCHES);
}

static struct tutti_recording *record(struct tutti_queue *queue)
{
	struct tutti_recording *recording;

	assert_int_equal(tutti_record_begin(queue), 0);
	for (unsigned i = 0; i < LAUNCHES; i++) {
		struct tutti_launch launch = a_launch(0, 0x1000 + i, NULL);

		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	}
	assert_int_equal(tutti_record_end(queue, &recording), 0);
	assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_PLAIN), 0);
	return recording;
}

/* All bodies, one fence, all heads, and the fence of the doorbell. */
static void bodies_before_heads(void **state)
{
	struct tutti_queue_options options = {
	    .packets = 128, .flags = TUTTI_QUEUE_EXTENDED, .ring = TUTTI_MEMORY_CARD};
	struct tutti_recording *recording;
	struct tutti_queue *queue;

	device->known.features |= TUTTI_FEATURE_CARD_RINGS;
	transport.write_combined = true;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_true(queue->flags & TUTTI_QUEUE_WRITE_COMBINED);
	recording = record(queue);
	ring_of_card = queue;
	assert_int_equal(tutti_replay(recording), 0);
	ring_of_card = NULL;
	assert_int_equal(fences, 2);
	assert_int_equal(heads, LAUNCHES);
	assert_int_equal(tutti_queue_slot(queue, LAUNCHES)->word[0], TUTTI_PACKET_INVALID);
	assert_int_equal(tutti_queue_drain(queue, 10000000000ull), 0);
	assert_int_equal(fake.n, LAUNCHES);
	for (unsigned i = 0; i < LAUNCHES; i++)
		assert_int_equal(fake.ran[i].kernarg, 0x1000 + i);
	tutti_recording_destroy(recording);
	tutti_queue_destroy(queue);
}

/* PKT-06: which signals are given up when a queue stops; the newest replay has packets 10 to 12. */
static void unfinished_replays(void **state)
{
	static const struct {
		uint64_t taken, failed;
		bool stopped, expected;
	} rows[] = {
		{10, 0, false, true},  {12, 0, false, true}, /* its last packet waits in the ring */
		{13, 0, false, false}, {13, 11, false, false}, /* all are taken, and nothing has failed */
		{13, 10, true, true},  {13, 12, true, true},   {20, 10, true, true}, {20, 12, true, true},
		{13, 9, true, true},   /* the packet that was taken last may still wait for the one that failed */
		{14, 9, true, false},  {20, 9, true, false},   {14, 13, true, false}, {20, 13, true, false},
		{12, 9, true, true},   {12, 11, true, true},
	};
	uint64_t taken;
	struct queue queue = {.public = {.read_index = &taken}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		taken = rows[i].taken;
		queue.error.stopped = rows[i].stopped;
		queue.error.fault.packet = rows[i].failed;
		if (packets_unfinished(&queue, 10, 12) != rows[i].expected)
			fail_msg("row %u", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {T(bodies_before_heads), cmocka_unit_test(unfinished_replays)};

	return cmocka_run_group_tests_name("SYS-41, PKT-01 replays into write-combined rings", tests, NULL, NULL);
}

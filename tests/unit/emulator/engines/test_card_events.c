/* SPDX-License-Identifier: MIT */
/* link: -Wl,-z,muldefs */
/* The event ring: where it may lie, what is in it, when it is full, and what the watchdog learns from it. */
#include "card_mover_rig.h"
#include "emulator/base/counters.h"
#include "emulator/memory/event_ring.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define BYTES	      ((uint32_t)sizeof(struct tutti_event))

static bool put(uint32_t n)
{
	struct tutti_event e;

	for (unsigned i = 0; i < 8; i++)
		e.word[i] = n * 16 + i + 1;
	return engines_event(card, &e);
}

static struct tutti_event *ring(uint32_t base, uint32_t slots)
{
	card->page->event_base = base;
	card->page->event_slots = slots;
	return (void *)(card->local + base);
}

/* A ring has a power of two of slots, all of which lie in local memory, on a multiple of 4. Until then nothing is put.
 */
static void test_places(void **state)
{
	const uint32_t local = card->discovery.local_bytes;
	const struct {
		uint32_t base, slots;
		bool good;
	} rows[] = {
	    {EVENTS, 0, false},
	    {EVENTS, 1, true},
	    {EVENTS, 2, true},
	    {EVENTS, 3, false},
	    {EVENTS, 6, false},
	    {EVENTS, 256, true},
	    {EVENTS + 4, 4, true},
	    {EVENTS + 2, 4, false},
	    {EVENTS + 1, 4, false},
	    {local - 4 * BYTES, 4, true},
	    {local - 4 * BYTES + 4, 4, false},
	    {local - 4 * BYTES, 8, false},
	    {local, 1, false},
	    {~3u, 1, false},
	    {0, 1u << 31, false},
	};

	for (unsigned i = 0; i < LENGTH(rows); i++) {
		memset(card->local, 0, local);
		ring(rows[i].base, rows[i].slots);
		if (engines_room(card) != rows[i].good || put(1) != rows[i].good ||
		    engines_pending(card) != rows[i].good)
			fail_msg("ring %u", i);
		assert_false(engines_freed(card));
	}
}

/* Events fill the slots in turn and keep all their words; a slot is used again when the firmware has cleared word 0. */
static void test_turns(void **state)
{
	for (unsigned slots = 1; slots <= 8; slots *= 2) {
		struct tutti_event *events = ring(EVENTS, slots);
		unsigned head = 0, tail = 0;

		memset(events, 0, slots * BYTES);
		assert_false(engines_pending(card));
		for (unsigned round = 0; round < 20; round++) {
			while (tail < head + slots) {
				assert_true(engines_room(card));
				assert_true(put(tail++));
				assert_true(engines_pending(card));
			}
			assert_false(engines_room(card));
			assert_false(put(99));
			assert_false(engines_freed(card));
			for (unsigned n = round % slots + 1; n; n--, head++) {
				for (unsigned i = 0; i < 8; i++)
					assert_int_equal(events[head % slots].word[i], head * 16 + i + 1);
				events[head % slots].word[0] = 0;
				assert_true(engines_room(card));
				assert_true(engines_freed(card)); /* once for each look */
				assert_false(engines_freed(card));
				assert_int_equal(engines_pending(card), head + 1 < tail);
			}
		}
		ring(EVENTS, 3);
		assert_false(engines_room(card));
	}
}

/* The watchdog also sees slots that were freed and used again between two looks. */
static void test_freed_and_used(void **state)
{
	struct tutti_event *events = ring(EVENTS, 4);

	memset(events, 0, 4 * BYTES);
	for (unsigned i = 0; i < 4; i++)
		assert_true(put(i));
	assert_false(engines_freed(card));
	for (unsigned more = 1; more <= 5; more++) {
		for (unsigned i = 0; i < more; i++) {
			for (unsigned k = 0; k < 4; k++)
				events[k].word[0] = 0;
			for (unsigned k = 0; k < 4; k++)
				assert_true(put(k));
		}
		assert_true(engines_freed(card));
		assert_false(engines_freed(card));
	}
}

/* What workers count, and what the driving thread counts, is shown as a sum; what was counted before the last boot is
 * gone. */
static void test_counters(void **state)
{
	const enum tutti_counter some[] = {TUTTI_COUNTER_WAVES, TUTTI_COUNTERS - 1, TUTTI_COUNTER_DOORBELLS};

	for (unsigned i = 0; i < LENGTH(some); i++) {
		card_count(card, some[i], 1000 + i);
		count(card, some[i], 5);
		card_count(card, some[i], 1ull << 40);
	}
	card_publish(card);
	for (unsigned i = 0; i < LENGTH(some); i++)
		assert_true(card->counters[some[i]] == (1ull << 40) + 1005 + i);
	tutti_card_reset(card);
	card_publish(card);
	for (unsigned i = 0; i < LENGTH(some); i++)
		assert_int_equal(card->counters[some[i]], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST("SYS-10: where the event ring may lie", test_places),
	    TEST("SYS-10: events in turn, and a full ring", test_turns),
	    TEST("SYS-15: what the watchdog sees of the event ring", test_freed_and_used),
	    TEST("SYS-13: counters of all threads", test_counters),
	};

	return cmocka_run_group_tests_name("card: event ring", tests, NULL, NULL);
}

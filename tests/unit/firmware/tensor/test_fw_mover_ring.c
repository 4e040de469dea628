/* SPDX-License-Identifier: MIT */
/* The ring of mover descriptors by itself: what is published, what has been taken, and when an event will come. */
#include "fw_rig.h"

#include "tensor/mover_ring.h"

/* The ring after @tail descriptors since boot, of which movers have taken all but @left. */
static void at(uint32_t tail, uint32_t left)
{
	mover_written = tail;
	mover_publish(0);
	hal_host.engines.mover_head = tail - left;
}

/* After a boot the ring is empty, and movers are told where it is; numbers begin at 0 again. */
static void boot(void **state)
{
	(void)state;
	hal_host_boot(8);
	mover_written = hal_host.engines.mover_tail = 77;
	mover_init();
	assert_int_equal(mover_tail(), 0);
	assert_int_equal(hal_host.engines.mover_tail, 0);
	assert_int_equal(hal_host.engines.mover_slots, MOVER_SLOTS);
	assert_ptr_equal(hal_pointer(hal_host.engines.mover_base), mover_slots);
	assert_int_equal((uintptr_t)mover_slots % sizeof(mover_slots[0]), 0);
}

/* Slots are used in turn, also where numbers wrap around; a descriptor that is held back is not published. */
static void in_turn(void **state)
{
	(void)state;
	hal_host_boot(8);
	for (uint32_t start = -3u * MOVER_SLOTS + 5, n = 0; n < 7 * MOVER_SLOTS; n++) {
		uint32_t number = start + n;

		at(number, 0);
		assert_ptr_equal(mover_begin(), &mover_slots[number % MOVER_SLOTS]);
		mover_end();
		assert_int_equal(mover_tail(), number + 1);
		assert_ptr_equal(mover_newest(), &mover_slots[number % MOVER_SLOTS]);
		mover_publish(1);
		assert_int_equal(hal_host.engines.mover_tail, number);
		mover_publish(0);
		assert_int_equal(hal_host.engines.mover_tail, number + 1);
	}
}

/*
 * Whoever waits until only so many descriptors are left is told whether an event will come: if it is so already, movers have
 * passed the place and put none.
 */
static void notices(void **state)
{
	static const uint32_t tails[] = { 40, 3, 0, -1u, 1u << 31, (1u << 31) + 5 };

	(void)state;
	hal_host_boot(8);
	for (unsigned i = 0; i < sizeof(tails) / sizeof(tails[0]); i++)
		for (uint32_t left = 0; left <= MOVER_SLOTS; left++)
			for (uint32_t few = 0; few <= MOVER_SLOTS; few++) {
				at(tails[i], left);
				assert_int_equal(mover_notice(few), left > few);
				assert_int_equal(hal_host.engines.mover_notice, tails[i] - few);
			}
	/* what is held back does not count */
	at(100, 0);
	mover_end();
	mover_publish(1);
	assert_false(mover_notice(0));
	mover_publish(0);
	assert_true(mover_notice(0));
	assert_false(mover_notice(1));
}

/*
 * What was written when the tail was at some place has been taken once the head is there; also if that was so long ago that
 * numbers have come round, when there is nothing left to take.
 */
static void taken(void **state)
{
	static const uint32_t heads[] = { 40, 3, 0, -1u, 1u << 31 };

	(void)state;
	hal_host_boot(8);
	for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		for (uint32_t left = 0; left <= MOVER_SLOTS; left++) {
			at(heads[i] + left, left);
			for (uint32_t past = 0; past < 100; past++)
				assert_true(mover_taken(heads[i] - past));
			for (uint32_t ahead = 1; ahead <= left; ahead++)
				assert_false(mover_taken(heads[i] + ahead));
			assert_int_equal(mover_taken(heads[i] + 1000), !left);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-21", boot),
		RIG_TEST("TMA-03 TMA-21", in_turn),
		RIG_TEST("TMA-03 REL-11", notices),
		RIG_TEST("TMA-18 TMA-21", taken),
	};

	return cmocka_run_group_tests_name("firmware: mover ring", tests, NULL, NULL);
}

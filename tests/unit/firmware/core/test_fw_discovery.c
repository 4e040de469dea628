// SPDX-License-Identifier: MIT
/* Which cards the firmware runs on, and what it knows about each: one field of the discovery data after the other. */
#include "core/card_memory.h"
#include "fw_rig.h"
#include "tutti/reference.h"

static struct tutti_discovery *card(void)
{
	return (void *)hal_host.window;
}

static struct tutti_control *control(void)
{
	return (void *)(hal_host.window + card()->control.offset);
}

/* Reserved memory in which nothing lies but the firmware's own part and @bytes before it. */
static void reserve(uint64_t bytes)
{
	card()->reserved_bytes = TUTTI_FIRMWARE_BYTES + bytes;
	card()->memory_bytes = 1ull << 40;
	card()->max_rsbs = 0;
}

#define IMAGE(offset, bytes) (reserve(4096), control()->image_offset = (offset), control()->image_bytes = (bytes))
#define WAVES(of_peus, of_waves) (card()->peus = (of_peus), card()->peu_waves = (of_waves))

/* good, change of a card that is good otherwise */
#define CARDS(X)                                                               \
	X(true, (void)0)                                                       \
	X(false, card()->magic++)                                              \
	X(false, card()->sms = 0)                                              \
	X(true, card()->sms = 1)                                               \
	X(true, card()->sms = TUTTI_MAX_SMS)                                   \
	X(false, card()->sms = TUTTI_MAX_SMS + 1)                              \
	X(false, WAVES(0, 8))                                                  \
	X(false, WAVES(4, 0))                                                  \
	X(true, WAVES(1, CARD_WAVES))                                          \
	X(false, WAVES(1, CARD_WAVES + 1))                                     \
	X(true, WAVES(CARD_WAVES, 1))                                          \
	X(false, WAVES(CARD_WAVES + 1, 1))                                     \
	X(true, WAVES(4, CARD_WAVES / 4))                                      \
	X(false, WAVES(3, CARD_WAVES / 2))                                     \
	X(false, WAVES(1u << 31, 2))                                           \
	X(true, reserve(0))                                                    \
	X(false, reserve(0ull - 1))                                            \
	X(true, (reserve(4096), card()->memory_bytes = card()->reserved_bytes)) \
	X(false, (reserve(4096), card()->memory_bytes = card()->reserved_bytes - 1)) \
	X(true, reserve(TUTTI_CORE_CARD_BYTES - TUTTI_FIRMWARE_BYTES))         \
	X(false, reserve(TUTTI_CORE_CARD_BYTES - TUTTI_FIRMWARE_BYTES + 1))    \
	X(true, (reserve(3 * sizeof(struct tutti_rsb)), card()->max_rsbs = 3)) \
	X(false, (reserve(3 * sizeof(struct tutti_rsb) - 1), card()->max_rsbs = 3)) \
	X(true, IMAGE(0, 4096))                                                \
	X(false, IMAGE(0, 4097))                                               \
	X(false, IMAGE(1, 4096))                                               \
	X(true, IMAGE(4096, 0))                                                \
	X(false, IMAGE(4097, 0))                                               \
	X(true, IMAGE(4000, 96))                                               \
	X(false, IMAGE(4001, 96))                                              \
	X(false, IMAGE(4096, 96))                                              \
	X(false, IMAGE(4096 + 95, 96))

static void cards(void **unused)
{
#define TRY(good, change)                              \
	rig_load(4);                                   \
	(void)(change);                                \
	if (fw_limits_init(card()) != (good))          \
		fail_msg("%s", #change);
	CARDS(TRY)
#undef TRY
}

/* Blocks of shared memory have a power of two of bytes, any of 32 bits. */
static void shared_blocks(void **unused)
{
	rig_load(4);
	for (unsigned shift = 0; shift < 32; shift++) {
		card()->shared_block_bytes = 1u << shift;
		assert_true(fw_limits_init(card()));
		assert_int_equal(fw.shared_shift, shift);
		for (unsigned bit = 0; bit < shift; bit++) {
			card()->shared_block_bytes = 1u << shift | 1u << bit;
			assert_false(fw_limits_init(card()));
		}
	}
	card()->shared_block_bytes = 0;
	assert_false(fw_limits_init(card()));
}

/* A mask of SMs has a bit for each, in whole words. */
static void words_of_masks(void **unused)
{
	static const unsigned sizes[][2] = { { 1, 1 }, { 31, 1 }, { 32, 1 }, { 33, 2 }, { 64, 2 }, { 65, 3 }, { 144, 5 },
					     { 256, 8 }, { 993, 32 }, { 1024, 32 } };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		rig_load(sizes[i][0]);
		assert_int_equal(fw.sms, sizes[i][0]);
		assert_int_equal(fw.words, sizes[i][1]);
	}
}

/* Ticks of the timer in a microsecond, whole ones, and at least one. A timer of 2^38 Hz or more is too fast. */
static void ticks(void **unused)
{
	static const uint64_t rates[][2] = { { 1, 1 }, { 999999, 1 }, { 1000000, 1 }, { 1999999, 1 }, { 2000000, 2 },
					     { 66666667, 66 }, { 1000000000, 1000 }, { 4294967295, 4294 },
					     { 4294967296, 4294 }, { 4295000000, 4295 }, { 9999999999, 9999 },
					     { 10000000000, 10000 }, { (1ull << 38) - 1, 274877 } };

	rig_load(4);
	for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		card()->timer_hz = rates[i][0];
		assert_true(fw_limits_init(card()));
		assert_int_equal(fw.ticks_per_us, rates[i][1]);
	}
	for (unsigned bit = 38; bit < 64; bit++) {
		card()->timer_hz = 1ull << bit;
		assert_false(fw_limits_init(card()));
	}
}

/* What a card has more than the firmware's tables is not used. */
static void tables(void **unused)
{
	for (unsigned more = 0; more < 3; more++) {
		rig_load(4);
		card()->memory_bytes = card()->reserved_bytes = TUTTI_CORE_CARD_BYTES;
		card()->task_slots = FW_TASKS - 1 + more;
		card()->max_queues = TUTTI_MAX_QUEUES - 1 + more;
		card()->max_contexts = TUTTI_MAX_CONTEXTS - 1 + more;
		card()->max_rsbs = TUTTI_MAX_RSBS - 1 + more;
		assert_true(fw_limits_init(card()));
		assert_int_equal(fw.tasks, FW_TASKS - !more);
		assert_int_equal(fw.max_queues, TUTTI_MAX_QUEUES - !more);
		assert_int_equal(fw.max_contexts, TUTTI_MAX_CONTEXTS - !more);
		assert_int_equal(fw.max_rsbs, TUTTI_MAX_RSBS - !more);
	}
}

/* A workgroup has no more items than the waves of an SM have, whatever else the card says. */
static void workgroups(void **unused)
{
	rig_load(4);
	WAVES(3, 5);
	for (unsigned more = 0; more < 3; more++) {
		card()->workgroup_items = 15 * TUTTI_WAVE_ITEMS - 1 + more;
		assert_true(fw_limits_init(card()));
		assert_int_equal(fw.workgroup_items, 15 * TUTTI_WAVE_ITEMS - !more);
	}
}

static void other_limits(void **unused)
{
	rig_load(4);
	card()->cta_slots = 21;
	card()->private_bytes = 23 * TUTTI_WAVE_ITEMS;
	card()->shared_blocks = 25;
	card()->scalar_blocks = 27;
	card()->vector_blocks = 29;
	card()->barriers = 31;
	card()->ring_packets_min = 32;
	card()->ring_packets_max = 64;
	card()->msix_vectors = 33;
	WAVES(5, 7);
	assert_true(fw_limits_init(card()));
	assert_int_equal(fw.cta_slots, 21);
	assert_int_equal(fw.item_private, 23);
	assert_int_equal(fw.shared_blocks, 25);
	assert_int_equal(fw.cta_shared, 25);
	assert_int_equal(fw.scalar_blocks, 27);
	assert_int_equal(fw.vector_blocks, 29);
	assert_int_equal(fw.barriers, 31);
	assert_int_equal(fw.ring_min, 32);
	assert_int_equal(fw.ring_max, 64);
	assert_int_equal(fw.vectors, 33);
	assert_int_equal(fw.peus, 5);
	assert_int_equal(fw.peu_waves, 7);
	assert_int_equal(fw.reserved_bytes, card()->reserved_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-04 SYS-09 SYS-14", cards),
		RIG_TEST("SYS-09 SYS-14", shared_blocks),
		RIG_TEST("SYS-14", words_of_masks),
		RIG_TEST("SYS-05", ticks),
		RIG_TEST("SYS-09 TSK-03", tables),
		RIG_TEST("SYS-09 PKT-06", workgroups),
		RIG_TEST("SYS-09 SYS-14", other_limits),
	};

	return cmocka_run_group_tests_name("firmware: cards it runs on", tests, NULL, NULL);
}

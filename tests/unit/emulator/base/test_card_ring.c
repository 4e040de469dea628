// SPDX-License-Identifier: MIT
/*
 * The trace ring is compared with a simple model (SYS-13): which records are written or lost, and when the host gets to read
 * them. Also, which areas of local memory the firmware may name (SYS-10).
 */
#include "card_rig.h"

#include "emulator/base/clock.h"
#include "emulator/base/local.h"
#include "emulator/base/state.h"
#include "emulator/base/trace.h"
#include "roll.h"

/* A card on which no firmware has been booted, so that only the test writes records. */
static int setup_off(void **state)
{
	seed = 88172645463325252ull;
	card_open(TUTTI_CARD_DETERMINISTIC);
	return 0;
}

/* The model of the ring: numbers of the oldest record that is not read yet and of the next one, and how many were lost. */
static struct {
	uint64_t head, tail, lost;
	bool leave; /* the driving thread has to let the host read */
} plain;

static void write_one(uint64_t packet)
{
	struct tutti_trace *ring = card->trace, want = {.kind = TUTTI_TRACE_CTA, .queue = 0xfffe, .sm = 0x8003, .slot = 0xff,
						      .packet = packet, .cta = 0xfedcba98, .value = 0x87654321};
	uint64_t number = plain.tail;

	want.time = card->virtual_time += 1 + roll(9);
	card_trace(card, TUTTI_TRACE_CTA, 0x1fffe, 0x8003, 0xff, packet, 0xfedcba98, 0x87654321);
	if (plain.tail - plain.head == card->trace_records) {
		plain.lost++;
	} else {
		plain.tail++;
		assert_memory_equal(&ring[number % card->trace_records], &want, sizeof(want));
		/* while at least half of the ring is in use, whenever another sixteenth of it has been written */
		if (plain.tail - plain.head >= card->trace_records / 2 && plain.tail % (card->trace_records / 16) == 0)
			plain.leave = true;
	}
	assert_true(status->trace_tail == plain.tail);
	assert_int_equal(status->trace_lost, plain.lost);
}

static void look(void)
{
	assert_int_equal(trace_leave(card), plain.leave);
	assert_false(trace_leave(card)); /* the request is made only once */
	plain.leave = false;
}

static void test_ring(void **state)
{
	control->trace_enable = 1u << TUTTI_TRACE_CTA;
	assert_int_equal(card->trace_records, 8192);
	for (unsigned round = 0; round < 300; round++) {
		for (uint32_t n = roll(roll(4) ? 600 : 5000); n; n--) {
			write_one(plain.tail * 7919);
			if (roll(100) < 2)
				look();
		}
		look();
		/* the host seldom reads, and mostly not all records */
		if (roll(4))
			continue;
		plain.head += roll(8) ? roll((uint32_t)(plain.tail - plain.head) + 1) : plain.tail - plain.head;
		__atomic_store_n(&control->trace_head, plain.head, __ATOMIC_RELEASE);
	}
	assert_in_range(plain.lost, 1000, 400000);
}

/* Records are written if, and only if, the host has enabled their kind. */
static void test_kinds(void **state)
{
	for (unsigned kind = 0; kind < 32; kind++)
		for (unsigned way = 0; way < 3; way++) {
			const struct tutti_trace record = {.kind = (uint16_t)kind};
			uint64_t before = status->trace_tail;

			control->trace_enable = way == 0 ? 1u << kind : way == 1 ? ~(1u << kind) : 0;
			assert_ptr_equal(card_trace_kinds(card), &control->trace_enable);
			card_trace(card, kind, 0, 0, 0, 0, 0, 0);
			assert_true(status->trace_tail == before + (way == 0));
			card_trace_record(card, &record);
			assert_true(status->trace_tail == before + 2 * (way == 0));
		}
}

/* SYS-10: an area that the firmware names must be aligned and lie wholly within local memory. */
static void test_local(void **state)
{
	const uint64_t end = discovery->local_bytes;

	for (unsigned round = 0; round < 100000; round++) {
		uint32_t align = 1u << roll(8);
		uint64_t edges[] = {0, end, ~0u, roll(~0u), end / 2}, address = edges[roll(5)] + roll(200) - 100;
		uint64_t bytes = roll(3) ? roll(300) : edges[roll(5)] + roll(5);
		bool good;

		address = (uint32_t)address / align * align + (roll(4) ? 0 : roll(align));
		address = (uint32_t)address;
		good = address % align == 0 && address + bytes <= end;
		assert_ptr_equal(card_local(card, (uint32_t)address, bytes, align), good ? card->local + address : NULL);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    {"SYS-13: a ring that is written faster than it is read", test_ring, setup_off, teardown, NULL},
	    {"SYS-13: kinds of records", test_kinds, setup_off, teardown, NULL},
	    {"SYS-10: places in local memory", test_local, setup_off, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: rings", tests, NULL, NULL);
}

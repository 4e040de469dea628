// SPDX-License-Identifier: MIT
/* The fetch engine and the post unit in a context's memory, which is scattered over the card and the host. */
#include "card_rig.h"
#include "emulator/base/inject.h"

#define LENGTH(array)	 (sizeof(array) / sizeof(*(array)))
#define FIRST		 0x400000u /* the page of card memory at VA */
#define LAST		 (VA + 3 * 4096)
#define WORDS64(address) (uint32_t)(address), (uint32_t)((address) >> 32)

static uint8_t host[4096] __attribute__((aligned(4096)));

/* At VA: a page of the card, one that lies far behind it, and one of the host. There is nothing behind these. */
static int setup_pages(void **state)
{
	setup(state);
	assert_int_equal(tutti_card_host_add(card, host, sizeof(host)), 0);
	map_page(tutti_pte(FIRST, LEAF));
	table(3)[tutti_va_index(VA, 0) + 1] = tutti_pte(FIRST + 0x5000, LEAF);
	table(3)[tutti_va_index(VA, 0) + 2] = tutti_pte((uint64_t)host | TUTTI_BUS_HOST, LEAF);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, 1), TABLES, 0, 0, 0);
	return 0;
}

static int teardown_pages(void **state)
{
	tutti_card_host_remove(card, host);
	return teardown(state);
}

/* Byte @i of the three pages. */
static uint8_t *at(unsigned i)
{
	return i < 4096 ? memory + FIRST + i : i < 8192 ? memory + FIRST + 0x5000 + i - 4096 : host + i - 8192;
}

static uint64_t word(unsigned i)
{
	return *(uint64_t *)at(i);
}

static void fill(void)
{
	for (unsigned i = 0; i < 3 * 4096; i++)
		*at(i) = (uint8_t)(i * 7 + i / 256);
}

static const uint64_t *counters(void)
{
	return (const uint64_t *)(bar + discovery->counters.offset);
}

/* Since the last call: reads of the host's memory, their bytes, writes, their bytes. */
static void expect_bus(uint64_t reads, uint64_t read_bytes, uint64_t writes, uint64_t write_bytes)
{
	static uint64_t before[4];
	const uint64_t now[4] = {counters()[TUTTI_COUNTER_BUS_READS], counters()[TUTTI_COUNTER_BUS_READ_BYTES],
				 counters()[TUTTI_COUNTER_BUS_WRITES], counters()[TUTTI_COUNTER_BUS_WRITE_BYTES]};
	const uint64_t want[4] = {reads, read_bytes, writes, write_bytes};

	for (unsigned i = 0; i < 4 && reads != ~0ull; i++)
		if (now[i] - before[i] != want[i])
			fail_msg("counter %u: %llu, not %llu", i, (unsigned long long)(now[i] - before[i]),
				 (unsigned long long)want[i]);
	memcpy(before, now, sizeof(before));
}

/* Copies end with their last byte and come from all pages, word by word or packet by packet. */
static void test_fetches(void **state)
{
	static const struct {
		unsigned from, bytes, flags, host; /* bytes of the host's memory */
	} rows[] = {
	    {4, 4, 0, 0},
	    {4092, 8, 0, 0},
	    {8188, 4, 0, 0},
	    {8000, 400, 0, 208},
	    {4096, 4096, 0, 0},
	    {4100, 4096, 0, 4},
	    {3 * 4096 - 4, 4, 0, 4},
	    {4032, 128, TUTTI_FETCH_PACKETS, 0},
	    {8128, 192, TUTTI_FETCH_PACKETS, 128},
	    {8192, 4096, TUTTI_FETCH_PACKETS, 4096},
	};
	uint8_t got[4096 + 4];

	fill();
	for (unsigned i = 0; i < LENGTH(rows); i++) {
		uint64_t va = VA + rows[i].from;

		SCRIPT_WORDS(OP_POKE, LOCAL_BUFFER + rows[i].bytes, 0xeeeeeeee);
		expect_bus(~0ull, 0, 0, 0);
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, i), 1 | rows[i].flags << 16, WORDS64(va), rows[i].bytes,
			LOCAL_BUFFER);
		assert_int_equal(event_of(TUTTI_EVENT_FETCH)[0], TUTTI_EVENT_FETCH | i << 16);
		expect_bus(!!rows[i].host, rows[i].host, 0, 0);
		peek(LOCAL_BUFFER, got, rows[i].bytes / 4 + 1);
		for (unsigned k = 0; k < rows[i].bytes; k++)
			assert_int_equal(got[k], *at(rows[i].from + k));
		assert_int_equal(*(uint32_t *)(got + rows[i].bytes), 0xeeeeeeee);
	}
}

static void expect_fetch_fault(uint64_t va, unsigned flags, uint32_t bytes, unsigned cause, uint64_t address)
{
	const uint32_t *event;

	COMMAND(TUTTI_COMMAND(TUTTI_CMD_FETCH, 6, 0x77), 1 | flags << 16, WORDS64(va), bytes, LOCAL_BUFFER);
	event = event_of(TUTTI_EVENT_FETCH);
	assert_int_equal(event[0], TUTTI_EVENT_FETCH | cause << 8 | 0x77 << 16);
	assert_true((event[1] | (uint64_t)event[2] << 32) == address);
}

/* What cannot be fetched is named by all bits of its address. Packets are whole ones, and each begins at a multiple
 * of 64. */
static void test_fetch_faults(void **state)
{
	expect_fetch_fault(LAST, 0, 4, TUTTI_CAUSE_UNMAPPED, LAST);
	expect_fetch_fault(LAST - 64, 0, 68, TUTTI_CAUSE_UNMAPPED, LAST);
	expect_fetch_fault(LAST - 64, TUTTI_FETCH_PACKETS, 128, TUTTI_CAUSE_UNMAPPED, LAST);
	for (unsigned i = 1; i < 4; i++)
		expect_fetch_fault(VA + i, 0, 4, TUTTI_CAUSE_ALIGNMENT, VA + i);
	for (unsigned i = 4; i < 64; i *= 2) {
		expect_fetch_fault(VA + i, TUTTI_FETCH_PACKETS, 64, TUTTI_CAUSE_ALIGNMENT, VA + i);
		expect_fetch_fault(VA, TUTTI_FETCH_PACKETS, 64 + i, TUTTI_CAUSE_ALIGNMENT, VA);
	}
	tutti_card_inject(card, TUTTI_INJECT_MEMORY_ERROR, 1);
	expect_fetch_fault(VA + 8, 0, 64, TUTTI_CAUSE_ECC, VA + 8);
	expect_fetch_fault(VA + 8, 0, 64, 0, 0);
}

/* Only a fetch of packets is torn: the first packet is invalid, and the second half of its body is missing. */
static void test_torn(void **state)
{
	uint8_t got[256];

	fill();
	tutti_card_inject(card, TUTTI_INJECT_TORN_FETCH, 1);
	for (unsigned round = 0; round < 3; round++) {
		expect_fetch_fault(VA, round ? TUTTI_FETCH_PACKETS : 0, 128, 0, 0);
		peek(LOCAL_BUFFER, got, 32);
		for (unsigned k = 0; k < 128; k++)
			if (round != 1 || (k >= 2 && k < 32) || k >= 64)
				assert_int_equal(got[k], *at(k));
			else
				assert_int_equal(got[k], k ? 0 : TUTTI_PACKET_INVALID);
	}
}

/* The newest event is a fault of the post unit that belongs to @tag, or there is none. */
static void expect_post(unsigned tag, unsigned cause, uint64_t address)
{
	const uint32_t *event = event_of(TUTTI_EVENT_POST_FAULT);

	if (!cause) {
		assert_null(event);
		return;
	}
	assert_non_null(event);
	assert_int_equal(event[0], TUTTI_EVENT_POST_FAULT | cause << 8 | tag << 16);
	assert_true((event[1] | (uint64_t)event[2] << 32) == address);
}

/* Values of 4 or 8 bytes at a multiple of their size, with nothing changed beside them. */
static void test_writes(void **state)
{
	for (unsigned size = 4; size <= 8; size += 4)
		for (unsigned i = 4072; i <= 8216; i += 4) {
			bool good = i % size == 0, far = i >= 8192;
			uint64_t want[3];

			if (i > 4120 && i < 8168)
				continue;
			fill();
			memcpy(want, (uint64_t[]){word(i / 8 * 8 - 8), word(i / 8 * 8), word(i / 8 * 8 + 8)}, 24);
			expect_bus(~0ull, 0, 0, 0);
			COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, size), 1 | 5 << 16, WORDS64(VA + i), 0x89abcdef,
				0x01234567);
			expect_post(5, good ? 0 : TUTTI_CAUSE_ALIGNMENT, VA + i);
			expect_bus(0, 0, good && far, good && far ? size : 0);
			if (good)
				memcpy((uint8_t *)want + 8 + i % 8, (uint32_t[]){0x89abcdef, 0x01234567}, size);
			for (unsigned k = 0; k < 3; k++)
				assert_true(word(i / 8 * 8 + 8 * k - 8) == want[k]);
		}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_WRITE, 6, 8), 1 | 5 << 16, WORDS64(LAST), 1, 2);
	expect_post(5, TUTTI_CAUSE_UNMAPPED, LAST);
}

/* One to eight values that do not leave their 64 bytes, each in its place. */
static void test_blocks(void **state)
{
	for (unsigned page = 0; page < 3; page += 2)
		for (unsigned first = 0; first < 8; first++)
			for (unsigned values = 1; values <= 8; values++) {
				unsigned from = page * 4096 + 128 + 8 * first, n = 4 + 2 * values;
				uint32_t words[20] = {TUTTI_COMMAND(TUTTI_CMD_BLOCK, n, 0), 1 | 6 << 16,
						      WORDS64(VA + from)};
				bool good = first + values <= 8;

				for (unsigned k = 4; k < n; k++)
					words[k] = 0x1000 * k + values;
				memset(at(page * 4096), 0, 4096);
				expect_bus(~0ull, 0, 0, 0);
				script(OP_COMMANDS, words, n);
				expect_post(6, good ? 0 : TUTTI_CAUSE_ALIGNMENT, VA + from);
				expect_bus(0, 0, good && page, good && page ? 8 * values : 0);
				for (unsigned k = 0; k < 24; k++) {
					unsigned v = 8 + first <= k ? k - 8 - first : values;
					const uint32_t *w = words + 4 + 2 * v;

					assert_true(word(page * 4096 + 64 + 8 * k) ==
						    (good && v < values ? w[0] | (uint64_t)w[1] << 32 : 0));
				}
			}
	for (unsigned off = 1; off < 8; off++) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_BLOCK, 6, 0), 1 | 6 << 16, WORDS64(VA + off), 1, 2);
		expect_post(6, TUTTI_CAUSE_ALIGNMENT, VA + off);
	}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_BLOCK, 6, 0), 1 | 6 << 16, WORDS64(LAST + 8), 1, 2);
	expect_post(6, TUTTI_CAUSE_UNMAPPED, LAST + 8);
}

/* Slots of a ring become invalid, with or without their reference count, page by page until one is missing. */
static void test_scrubs(void **state)
{
	for (unsigned reference = 0; reference < 2; reference++)
		for (unsigned n = 0; n <= 129; n += n < 3 || n > 126 ? 1 : 62) {
			unsigned last = n > 128 ? 128 : n;

			fill();
			expect_bus(~0ull, 0, 0, 0);
			COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, reference), 1 | 9 << 16, WORDS64(VA + 4096), n);
			expect_post(9, n > 128 ? TUTTI_CAUSE_UNMAPPED : 0, LAST);
			expect_bus(0, 0, last > 64 ? last - 64 : 0, last > 64 ? (last - 64) * (reference ? 4 : 2) : 0);
			for (unsigned i = 4096; i < 3 * 4096; i++) {
				bool scrubbed = i < 4096 + 64 * last && (i % 64 < 2 || (reference && i % 64 / 2 == 5));
				uint8_t want = i % 64 == 0   ? TUTTI_PACKET_INVALID & 0xff
					       : i % 64 == 1 ? TUTTI_PACKET_INVALID >> 8
							     : 0;

				assert_int_equal(*at(i), scrubbed ? want : (uint8_t)(i * 7 + i / 256));
			}
			assert_int_equal(*at(4032), (uint8_t)(4032 * 7 + 15));
		}
	for (unsigned i = 1; i < 64; i *= 2) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_SCRUB, 5, 0), 1 | 9 << 16, WORDS64(VA + 64 + i), 1);
		expect_post(9, TUTTI_CAUSE_ALIGNMENT, VA + 64 + i);
	}
}

/* A completion writes 8 bytes, and reads 4 if there may be waiters. The command says which vector wakes these. */
static void test_signals(void **state)
{
	for (unsigned page = 0; page < 3; page += 2) {
		struct tutti_signal *signal = (void *)at(page * 4096 + 64);

		for (unsigned waiters = 0; waiters < 2; waiters++) {
			memset(signal, 0, sizeof(*signal));
			signal->value = 5;
			signal->waiters = waiters;
			interrupts = 0;
			expect_bus(~0ull, 0, 0, 0);
			COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 1 | 8 << 16, WORDS64(VA + page * 4096 + 64));
			expect_post(8, 0, 0);
			expect_bus(page && waiters, page && waiters ? 4 : 0, !!page, page ? 8 : 0);
			assert_int_equal(signal->value, 4);
			assert_int_equal(interrupts, waiters);
			if (waiters)
				assert_int_equal(vectors[0], 3);
		}
	}
	for (unsigned i = 1; i < 64; i *= 2) {
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 1 | 8 << 16, WORDS64(VA + 64 + i));
		expect_post(8, TUTTI_CAUSE_ALIGNMENT, VA + 64 + i);
	}
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 3), 1 | 8 << 16, WORDS64(LAST));
	expect_post(8, TUTTI_CAUSE_UNMAPPED, LAST);
}

#define PAGES(name, fn) {name, fn, setup_pages, teardown_pages, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    PAGES("SYS-10, SYS-13: fetches from scattered pages", test_fetches),
	    PAGES("SYS-10: fetches of what is not there, or not in line", test_fetch_faults),
	    PAGES("SYS-15: a fetch of packets that is torn", test_torn),
	    PAGES("SYS-10, SYS-13: writes of 4 and 8 bytes", test_writes),
	    PAGES("SYS-10, SYS-13: blocks of values", test_blocks),
	    PAGES("SYS-10, SYS-13: scrubs over several pages", test_scrubs),
	    PAGES("SYS-12, SYS-13: signals with and without waiters", test_signals),
	};

	return cmocka_run_group_tests_name("card: post unit", tests, make_image, drop_image);
}

// SPDX-License-Identifier: MIT
/*
 * Counts of the soft core by function (SYS-13): which halfword of local memory belongs to which function, for symbols of
 * every kind, and which counts and marks a host reads. The test takes the place of the processor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emulator/cpu/cpu.h"
#include "roll.h"

/* The arguments of the last call of cpu_count(). */
static struct {
	struct cpu *cpu;
	uint64_t first;
	uint32_t halves;
	const uint16_t *owner;
	const uint64_t *start;
	struct cpu_function *count;
} told;

static void play_count(struct cpu *cpu, uint64_t first, uint32_t halves, const uint16_t *owner, const uint64_t *start,
		       struct cpu_function *count)
{
	told.cpu = cpu;
	told.first = first;
	told.halves = halves;
	told.owner = owner;
	told.start = start;
	told.count = count;
}

#define cpu_count play_count
#include "emulator/base/profile.c"

#define MOST	 (UINT16_MAX - 1u) /* functions that can be counted separately */
#define SYMBOLS	 40u
#define PROCESSOR ((struct cpu *)&told) /* any address will do */

static struct tutti_card *card;
static int setup(void **state)
{
	seed = 88172645463325252ull;
	card = aligned_alloc(64, (sizeof(*card) + 63) & ~63ull);
	memset(card, 0, sizeof(*card));
	pthread_mutex_init(&card->lock, NULL);
	return 0;
}

static int teardown(void **state)
{
	profile_destroy(card);
	assert_null(card->profile);
	pthread_mutex_destroy(&card->lock);
	free(card);
	return 0;
}

/* Begin to count with these @n symbols. */
static void begin(const struct tutti_image_symbol *symbols, uint32_t n)
{
	assert_int_equal(profile_create(card, symbols, n), 0);
	profile_count(card, PROCESSOR, true);
	assert_ptr_equal(told.cpu, PROCESSOR);
	assert_true(told.first == TUTTI_CORE_LOCAL);
	assert_int_equal(told.halves, CARD_LOCAL_MAX / 2);
}

/*
 * Return: the address of the function to which @halfword belongs, which is that of the last symbol that covers it. Symbols
 * that reach beyond the end of local memory are ignored. ~0 if it belongs to none.
 */
static uint32_t owner_of(const struct tutti_image_symbol *symbols, uint32_t n, uint32_t halfword)
{
	const uint64_t begin = 2ull * halfword, end = begin + 2;

	while (n--) {
		uint64_t first = symbols[n].address, last = first + symbols[n].bytes;

		if (last <= CARD_LOCAL_MAX && first < end && last > begin)
			return symbols[n].address;
	}
	return ~0u;
}

static void expect_owners(const struct tutti_image_symbol *symbols, uint32_t n, uint32_t first, uint32_t end)
{
	for (uint32_t half = first; half < end; half++) {
		uint16_t owner = told.owner[half];
		uint32_t want = owner_of(symbols, n, half);

		if (owner > n || (owner ? told.start[owner - 1] : ~0u) != want)
			fail_msg("halfword at %#x: function %u, not the one at %#x", 2 * half, owner, want);
	}
}

/* Return: a symbol near the boundaries of local memory or of the 32-bit range, with an even or odd address and size */
static struct tutti_image_symbol random_symbol(void)
{
	static const uint32_t edges[] = {0, 0x100, 0x180, CARD_LOCAL_MAX - 16, CARD_LOCAL_MAX, 0xfffffff0u};
	struct tutti_image_symbol symbol = {.address = edges[roll(6)] + roll(64), .bytes = roll(3) ? roll(24) : roll(2)};

	if (symbol.address >= 8 && !roll(10))
		symbol.bytes = 0 - symbol.address + roll(8); /* its end overflows 32 bits to a small number */
	return symbol;
}

static void owners(void **state)
{
	for (unsigned round = 0; round < 300; round++) {
		uint32_t n = roll(SYMBOLS);
		struct tutti_image_symbol symbols[SYMBOLS];

		for (uint32_t i = 0; i < n; i++)
			symbols[i] = random_symbol();
		begin(symbols, n);
		expect_owners(symbols, n, 0, 0x200);
		expect_owners(symbols, n, CARD_LOCAL_MAX / 2 - 0x40, CARD_LOCAL_MAX / 2);
	}
}

/* Functions are in the order of their addresses. Names that are too long are cut off, so that they end with 0. */
static void order(void **state)
{
	struct tutti_card_function functions[SYMBOLS + 1];
	struct tutti_image_symbol symbols[SYMBOLS];

	for (uint32_t i = 0; i < SYMBOLS; i++) {
		symbols[i] = (struct tutti_image_symbol){.address = 2 * (i * 7 % SYMBOLS), .bytes = 2};
		memset(symbols[i].name, 'a' + (int)i % 26, i + 1);
	}
	begin(symbols, SYMBOLS);
	assert_int_equal(tutti_card_profile(card, functions, SYMBOLS), SYMBOLS);
	for (uint32_t i = 0; i < SYMBOLS; i++) {
		uint32_t number = functions[i].address / 2 * 23 % SYMBOLS; /* 7 * 23 = 1 modulo SYMBOLS */

		assert_int_equal(functions[i].address, 2 * i);
		assert_true(told.start[i] == 2 * i);
		assert_int_equal(told.owner[i], i + 1);
		assert_int_equal(functions[i].name[0], 'a' + number % 26);
		assert_int_equal(strlen(functions[i].name), number + 1 < 40 ? number + 1 : 39);
	}
}

/* Functions have 16-bit numbers. When no number is left, the remaining functions of the table are not counted. */
static void very_many(void **state)
{
	struct tutti_image_symbol *symbols = calloc(MOST + 9, sizeof(*symbols));

	for (uint32_t n = MOST - 1; n < MOST + 9; n += n < MOST + 2 ? 1 : 3) {
		for (uint32_t i = 0; i < n; i++)
			symbols[i] = (struct tutti_image_symbol){.address = 4 * i, .bytes = 4};
		begin(symbols, n);
		assert_int_equal(tutti_card_profile(card, NULL, 0), n < MOST ? n : MOST);
		for (uint32_t i = 0; i < n; i++)
			if (told.owner[2 * i] != (i < MOST ? i + 1 : 0) || told.owner[2 * i + 1] != told.owner[2 * i])
				fail_msg("symbol %u of %u: function %u", i, n, told.owner[2 * i]);
	}
	free(symbols);
}

/* A host gets as many functions as it has room for, each with all of its counts, and learns how many there are. */
static void counts(void **state)
{
	static const struct tutti_image_symbol symbols[3] = {{8, 8, "b"}, {0, 8, "a"}, {16, 8, "c"}};
	struct tutti_card_function functions[4];

	begin(symbols, 3);
	for (uint32_t i = 0; i < 3; i++)
		told.count[i] = (struct cpu_function){.calls = 10 + i, .instructions = 20 + i, .cycles = 30 + i,
						      .multiplications = 40 + i, .divisions = 50 + i};
	for (size_t room = 0; room <= 4; room++) {
		memset(functions, 0x5a, sizeof(functions));
		assert_int_equal(tutti_card_profile(card, functions, room), 3);
		for (uint32_t i = 0; i < 4; i++) {
			const struct tutti_card_function *f = &functions[i];

			if (i >= room || i >= 3) {
				assert_true(f->calls == 0x5a5a5a5a5a5a5a5a);
				continue;
			}
			assert_int_equal(f->name[0], 'a' + (int)i);
			assert_int_equal(f->address, 8 * i);
			assert_int_equal(f->calls, 10 + i);
			assert_int_equal(f->instructions, 20 + i);
			assert_int_equal(f->cycles, 30 + i);
			assert_int_equal(f->multiplications, 40 + i);
			assert_int_equal(f->divisions, 50 + i);
		}
	}
}

/* Counting ends when it is turned off. Without a profile it does not begin, and there are no counts to read. */
static void off(void **state)
{
	static const struct tutti_image_symbol symbol = {0, 8, "a"};
	struct tutti_card_function function;

	profile_count(card, PROCESSOR, true);
	assert_null(told.owner);
	assert_int_equal(tutti_card_profile(card, &function, 1), 0);
	begin(&symbol, 1);
	assert_non_null(told.owner);
	profile_count(card, PROCESSOR, false);
	assert_ptr_equal(told.cpu, PROCESSOR);
	assert_int_equal(told.first | told.halves, 0);
	assert_true(!told.owner && !told.start && !told.count);
}

/* Marks can be read in parts of any size and in their order while others are written. There is room for 65536 of them. */
static void marks(void **state)
{
	static uint64_t got[70000][2];
	uint32_t made = 0, read = 0;

	profile_mark(card, 1, 2); /* has no effect, since there is no profile */
	assert_int_equal(tutti_card_marks(card, got, 9), 0);
	begin(NULL, 0);
	for (unsigned round = 0; round < 400; round++) {
		uint32_t n = roll(20), most = roll(25), want;

		for (; n; n--, made++)
			profile_mark(card, 3 * made, 1000000007ull * made);
		want = made - read < most ? made - read : most;
		memset(got, 0x5a, 26 * sizeof(got[0]));
		assert_int_equal(tutti_card_marks(card, got, most), want);
		for (uint32_t i = 0; i < want; i++, read++) {
			assert_true(got[i][0] == 3 * read);
			assert_true(got[i][1] == 1000000007ull * read);
		}
		assert_true(got[want][0] == 0x5a5a5a5a5a5a5a5a);
	}
	tutti_card_marks(card, got, 70000);
	for (uint32_t i = 0; i < 65536 + 3; i++)
		profile_mark(card, i, i + 5);
	assert_int_equal(tutti_card_marks(card, got, 70000), 65536);
	assert_true(got[65535][0] == 65535 && got[65535][1] == 65540);
	assert_int_equal(tutti_card_marks(card, got, 70000), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    {"SYS-13: for which function an instruction is counted", owners, setup, teardown, NULL},
	    {"SYS-13: functions in the order of their addresses", order, setup, teardown, NULL},
	    {"SYS-13: more functions than there are numbers", very_many, setup, teardown, NULL},
	    {"SYS-13: counts of each function", counts, setup, teardown, NULL},
	    {"SYS-13: counting that ends, or does not begin", off, setup, teardown, NULL},
	    {"SYS-13: marks that are read in parts", marks, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: counts by function", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,-z,muldefs */
/*
 * Movers: the traffic and the time that they count, address spaces and pages, and that no descriptor inherits anything
 * from the one before it.
 */
#include "card_mover_rig.h"
#include "emulator/memory/mmu.h"
#include "tutti/mmu.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define CALLED	      (TUTTI_MOVER_CALL | TUTTI_MOVER_LAST)
#define AT	      0x100000u
#define OTHER	      0x200010u

static struct tutti_event run_call(const struct tutti_mover *d, const struct tutti_mover_shape *s, uint16_t asid)
{
	call((struct engines_call){.asid = asid, .barrier = TUTTI_BARRIER_NONE, .cta_rank = 1});
	return run(d, s);
}

/* ---- lines and sectors ------------------------------------------------------ */

/* How many pieces of @size bytes [@at, @at + @bytes) touches, counted byte by byte. */
static unsigned touched(uint64_t at, unsigned bytes, unsigned size)
{
	unsigned n = 1;

	for (uint64_t i = at + 1; i < at + bytes; i++)
		n += i % size == 0;
	return n;
}

/* Move 3 rows of @width bytes, @stride apart, from @global on, and compare what is counted. */
static void check_rows(unsigned op, uint64_t global, unsigned width, unsigned stride)
{
	struct tutti_mover d = {
	    .op = (uint8_t)op, .flags = CALLED, .global = global, .other = OTHER + width};
	struct tutti_mover_shape s = {.unit = 1, .count = {(uint16_t)width, 3, 1, 1}, .stride = {1, stride}};
	unsigned lines = 0, sectors = 0;

	for (unsigned row = 0; row < 3; row++) {
		lines += touched(global + row * stride, width, 128);
		sectors += touched(global + row * stride, width, 32);
		if (op == TUTTI_MOVE_COPY || op == TUTTI_MOVE_SCATTER) { /* both sides are in global memory */
			lines += touched(d.other + row * width, width, 128);
			sectors += touched(d.other + row * width, width, 32);
		}
	}
	memset(card->counts, 0, sizeof(card->counts));
	assert_int_equal(run_call(&d, &s, 0).word[0], 0);
	if (card->counts[TUTTI_COUNTER_MOVER_LINES] != lines || card->counts[TUTTI_COUNTER_MOVER_SECTORS] != sectors ||
	    card->counts[TUTTI_COUNTER_MOVER_BYTES] != 3 * width)
		fail_msg("move %u of %u bytes at %#llx, stride %u", op, width, (unsigned long long)global, stride);
}

static void test_rows(void **state)
{
	static const unsigned offsets[] = {0, 1, 31, 32, 95, 127}, widths[] = {1, 2, 32, 33, 96, 97, 127, 128, 129},
			      strides[] = {256, 257, 290, 300},
			      ops[] = {TUTTI_MOVE_LOAD, TUTTI_MOVE_STORE, TUTTI_MOVE_PREFETCH, TUTTI_MOVE_COPY,
				       TUTTI_MOVE_SCATTER};

	for (unsigned i = 0; i < LENGTH(offsets); i++)
		for (unsigned k = 0; k < LENGTH(widths); k++)
			for (unsigned n = 0; n < LENGTH(strides); n++)
				for (unsigned op = 0; op < LENGTH(ops); op++)
					check_rows(ops[op], AT + offsets[i], widths[k], strides[n]);
}

/* Rows that touch are one run, also if a dimension of a single element lies between them. */
static void test_one_run(void **state)
{
	const struct tutti_mover d = {.op = TUTTI_MOVE_PREFETCH, .flags = CALLED, .global = AT + 112};
	const struct tutti_mover_shape s = {.unit = 1, .count = {40, 1, 3, 1}, .stride = {1, 999, 40}};

	assert_int_equal(run_call(&d, &s, 0).word[0], 0);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_LINES], 2);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_SECTORS], 5);
}

/* Accesses of the host's memory are counted as transactions of the bus: one for each row that is contiguous. */
static void test_bus(void **state)
{
	static uint8_t host[8192] __attribute__((aligned(4096)));
	struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED, .global = TUTTI_BUS_HOST | (uint64_t)host};
	const struct tutti_mover_shape rows = {.unit = 1, .count = {64, 4, 1, 1}, .stride = {1, 256}},
				       one = {.unit = 1, .count = {100, 1, 1, 1}, .stride = {1}};
	const uint64_t *counts = card->counts;

	assert_int_equal(mmu_host_add(card, host, sizeof(host)), 0);
	assert_int_equal(run_call(&d, &one, 0).word[0], 0);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_READS], 1);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_READ_BYTES], 100);
	assert_int_equal(run_call(&d, &rows, 0).word[0], 0);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_READS], 1 + 4);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_READ_BYTES], 100 + 4 * 64);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_WRITES], 0);
	d.op = TUTTI_MOVE_STORE;
	assert_int_equal(run_call(&d, &one, 0).word[0], 0);
	assert_int_equal(run_call(&d, &rows, 0).word[0], 0);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_WRITES], 1 + 4);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_WRITE_BYTES], 100 + 4 * 64);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_READS], 1 + 4);
	d.global = AT; /* the card's own memory is not behind the bus */
	assert_int_equal(run_call(&d, &rows, 0).word[0], 0);
	assert_int_equal(counts[TUTTI_COUNTER_BUS_WRITES], 1 + 4);
	mmu_host_remove(card, host);
}

/* ---- time ------------------------------------------------------------------- */

/* In virtual time a KiB takes 64 ns, and a descriptor as long as 512 bytes; whoever waits for the mover is told. */
static void test_time(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_FILL, .flags = TUTTI_MOVER_LINEAR, .global = AT, .bytes = 512};
	const struct tutti_mover_shape s = {0};
	uint64_t before = card->virtual_time;

	assert_false(mover_run(card));
	assert_int_equal(sms.progress, 0);
	start(d, &s);
	assert_true(mover_run(card));
	assert_int_equal(card->virtual_time - before, 64);
	assert_int_equal(sms.progress, 1);
	d.bytes = 1 << 20;
	start(d, &s);
	assert_true(mover_run(card));
	assert_int_equal(card->virtual_time - before, 64 + 256 * 64); /* a whole turn */
	assert_int_equal(sms.progress, 2);
}

/* ---- what does not make sense ------------------------------------------------ */

/* A box of more bytes than there are numbers for them is an error of the firmware: nothing is moved. */
static void test_immense(void **state)
{
	const struct tutti_mover d = {.op = TUTTI_MOVE_PREFETCH,
				      .flags = TUTTI_MOVER_EVENT | TUTTI_MOVER_CLIPPED,
				      .global = AT,
				      .count = {0xffff, 0xffff, 0xffff, 0xffff},
				      .after = {2, 2, 2, 2}};
	const struct tutti_mover_shape s = {.unit = 1, .stride = {1, 1, 1, 1}};

	start(d, &s);
	assert_true(mover_run(card));
	assert_int_equal(event().word[0], TUTTI_EVENT_MOVER);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_BYTES], 0);
}

/* A refused access of shared memory names the offset, and that of global memory the whole address; the rest is 0. */
static void test_told(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_LOAD,
				.flags = CALLED | TUTTI_MOVER_LINEAR,
				.global = AT,
				.shared = SHARED_BYTES,
				.bytes = 16};
	const struct tutti_mover_shape s = {0};
	const uint64_t far = 0xa123456780ull;
	struct tutti_event e = run_call(&d, &s, 0);

	assert_int_equal(e.word[0], TUTTI_EVENT_FAULT | TUTTI_CAUSE_SERVICE << 16 | TUTTI_ACCESS_NONE << 24);
	assert_int_equal(e.word[4], SHARED_BYTES);
	assert_int_equal(e.word[5], 0);
	assert_int_equal(e.word[7], 0);
	d.shared = 0;
	d.global = far;
	e = run_call(&d, &s, 0);
	assert_int_equal(e.word[0], TUTTI_EVENT_FAULT | TUTTI_CAUSE_BUS << 16 | TUTTI_ACCESS_READ << 24);
	assert_true((e.word[4] | (uint64_t)e.word[5] << 32) == far);
	d.op = TUTTI_MOVE_FILL;
	d.flags = TUTTI_MOVER_LINEAR;
	e = run(&d, &s);
	assert_int_equal(e.word[0], TUTTI_EVENT_MOVER | TUTTI_CAUSE_BUS << 8);
	assert_true((e.word[1] | (uint64_t)e.word[2] << 32) == far);
}

/* Rows up to the end of shared memory arrive; the one that does not fit is refused and writes nothing. */
static void test_last_shared_row(void **state)
{
	const struct tutti_mover d = {
	    .op = TUTTI_MOVE_LOAD, .flags = CALLED, .global = AT, .shared = SHARED_BYTES - 3 * 64};
	const struct tutti_mover_shape s = {.unit = 1, .count = {64, 4, 1, 1}, .stride = {1, 256}};

	memset(card->memory + AT, 7, 1024);
	assert_int_equal(run_call(&d, &s, 0).word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
	for (unsigned i = 0; i < 3 * 64; i++)
		assert_int_equal(sms.shared[0][d.shared + i], 7);
	assert_int_equal(sms.shared[1][0], 0);
}

/* ---- one descriptor after the other ------------------------------------------- */

/* What a descriptor does not say is not taken from the one before: swizzle, reduction, bytes that nobody waits for. */
static void test_inherits_nothing(void **state)
{
	const struct tutti_mover_shape swizzled = {.swizzle = TUTTI_SWIZZLE_128, .type = TUTTI_U32};
	struct tutti_mover d = {
	    .op = TUTTI_MOVE_STORE, .reduce = TUTTI_REDUCE_ADD, .flags = CALLED | TUTTI_MOVER_LINEAR, .global = AT, .bytes = 256};
	uint8_t *shared = sms.shared[0], *global = card->memory + AT;
	uint64_t *barrier = (uint64_t *)(shared + 8192);

	scramble(shared, 256);
	memset(global, 1, 256);
	assert_int_equal(run_call(&d, &swizzled, 0).word[0], 0);
	d.reduce = 0;
	d.flags |= TUTTI_MOVER_NO_SHAPE;
	assert_int_equal(run_call(&d, &swizzled, 0).word[0], 0);
	assert_memory_equal(global, shared, 256);
	d.op = TUTTI_MOVE_LOAD;
	assert_int_equal(run_call(&d, &swizzled, 0).word[0], 0);
	*barrier = 1ull << TUTTI_MBARRIER_EXPECTED_SHIFT | 512ull << TUTTI_MBARRIER_TX_SHIFT;
	call((struct engines_call){.barrier = 8192});
	assert_int_equal(run(&d, &swizzled).word[0], 0);
	assert_true(*barrier == (1ull << TUTTI_MBARRIER_EXPECTED_SHIFT | 256ull << TUTTI_MBARRIER_TX_SHIFT));
}

/* Loads that begin in one turn and end in the next: each byte counts once on the barrier. */
static void test_across_turns(void **state)
{
	const struct tutti_mover d = {
	    .op = TUTTI_MOVE_LOAD, .flags = TUTTI_MOVER_CALL, .global = AT, .shape = SHAPE, .call = CALL};
	const struct tutti_mover_shape s = {.unit = 1, .count = {1024, 48, 1, 1}, .stride = {1, 2048}};
	struct tutti_mover *slots = (void *)(card->local + RING);
	uint64_t *barrier = (uint64_t *)(sms.shared[0] + SHARED_BYTES - 8);
	unsigned turns = 0;

	*barrier = 1ull << TUTTI_MBARRIER_EXPECTED_SHIFT | (uint64_t)(11 * 48 * 1024 + 7) << TUTTI_MBARRIER_TX_SHIFT;
	call((struct engines_call){.barrier = SHARED_BYTES - 8});
	card->page->mover_slots = 16;
	for (unsigned i = 0; i < 11; i++)
		slots[i] = d;
	memcpy(card->local + SHAPE, &s, sizeof(s));
	card->page->mover_tail = 11;
	while (mover_run(card))
		turns++;
	assert_in_range(turns, 3, 11);
	assert_true(*barrier == (1ull << TUTTI_MBARRIER_EXPECTED_SHIFT | 7ull << TUTTI_MBARRIER_TX_SHIFT));
}

/* Boxes of several rows are rounded and combined like a single row. */
static void test_elements_of_rows(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED, .global = AT};
	struct tutti_mover_shape s = {.unit = 4, .count = {4, 3, 1, 1}, .stride = {4, 256}, .type = TUTTI_TF32};
	uint32_t *shared = (uint32_t *)sms.shared[0], *global = (uint32_t *)(card->memory + AT);

	for (unsigned i = 0; i < 12; i++)
		global[i / 4 * 64 + i % 4] = 0x3f803fff + (i << 16);
	assert_int_equal(run_call(&d, &s, 0).word[0], 0);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(shared[i], 0x3f804000 + (i << 16));
	d.op = TUTTI_MOVE_STORE;
	d.reduce = TUTTI_REDUCE_ADD;
	s.type = TUTTI_U32;
	assert_int_equal(run_call(&d, &s, 0).word[0], 0);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(global[i / 4 * 64 + i % 4], 0x3f803fff + 0x3f804000 + (i << 17));
}

/*
 * Elements are rounded in a buffer that many rows and runs do not fit into; each element must still be rounded exactly once.
 */
static void test_long_rounded(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_COPY, .flags = CALLED | TUTTI_MOVER_LINEAR, .global = AT, .other = OTHER};
	const struct tutti_mover_shape s = {.type = TUTTI_TF32};
	const uint32_t *to = (const uint32_t *)(card->memory + OTHER);
	uint32_t *from = (uint32_t *)(card->memory + AT);

	for (d.bytes = 4096 - 4; d.bytes <= 3 * 4096 + 4; d.bytes += d.bytes % 4096 == 4 ? 4096 - 8 : 4) {
		for (unsigned i = 0; i <= d.bytes / 4; i++)
			from[i] = 0x3f801000 + 0x2000 * i; /* halfway between two TF32 numbers */
		memset(card->memory + OTHER, 0, d.bytes + 4);
		assert_int_equal(run_call(&d, &s, 0).word[0], 0);
		for (unsigned i = 0; i < d.bytes / 4; i++)
			assert_int_equal(to[i], i % 2 ? 0x3f802000 + 0x2000 * i : 0x3f800000 + 0x2000 * i);
		assert_int_equal(to[d.bytes / 4], 0);
	}
}

/* A multicast load whose mask names no CTA writes nothing, and ends. */
static void test_for_nobody(void **state)
{
	const struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED, .global = AT};
	static uint8_t before[CTAS][SHARED_BYTES];

	scramble(card->memory + AT, 4096);
	scramble(sms.shared[0], sizeof(before));
	memcpy(before, sms.shared, sizeof(before));
	for (unsigned rows = 1; rows <= 3; rows++)
		for (unsigned swizzle = 0; swizzle < 4; swizzle++) {
			const struct tutti_mover_shape s = {
			    .unit = 1, .count = {128, (uint16_t)rows, 1, 1}, .stride = {1, 256}, .swizzle = (uint8_t)swizzle};

			call((struct engines_call){.barrier = 8192, .multicast = true});
			assert_int_equal(run(&d, &s).word[0], 0);
			assert_memory_equal(sms.shared, before, sizeof(before));
		}
	assert_int_equal(sms.done, 12);
}

/* ---- pages -------------------------------------------------------------------- */

#define TABLES 0x300000u
#define VA     0x40000000ull
#define PAGES  4u
#define PAGE   4096u

/* Let pages @first, @first + @step, ... of card memory be those at VA of context @asid. */
static void map(uint32_t asid, uint64_t first, int64_t step)
{
	const uint64_t at = TABLES + asid * 4 * PAGE;
	uint64_t *table = (uint64_t *)(card->memory + at);

	memset(table, 0, 4 * PAGE);
	for (unsigned i = 0; i < 3; i++)
		table[512 * i + tutti_va_index(VA, 3 - i)] = tutti_pte(at + PAGE * (i + 1), TUTTI_PTE_V);
	for (unsigned i = 0; i < PAGES; i++)
		table[512 * 3 + tutti_va_index(VA, 0) + i] =
		    tutti_pte(first + (uint64_t)(i * step), TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U |
							       TUTTI_PTE_A | TUTTI_PTE_D);
	mmu_context(card, asid, at);
}

/* Load rows that lie in several pages, some of them across their ends: where page 0 is, and how far apart they are. */
static void check_pages(uint16_t asid, uint64_t first, int64_t step)
{
	const struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED, .global = VA + 100};
	const struct tutti_mover_shape s = {.unit = 1, .count = {200, 60, 1, 1}, .stride = {1, 264}};

	memset(sms.shared[0], 0, SHARED_BYTES);
	assert_int_equal(run_call(&d, &s, asid).word[0], 0);
	for (unsigned i = 0; i < 200 * 60; i++) {
		uint64_t at = 100 + i / 200 * 264 + i % 200;

		if (sms.shared[0][i] != card->memory[first + at / PAGE * (uint64_t)step + at % PAGE])
			fail_msg("context %u: byte %u of row %u", asid, i % 200, i / 200);
	}
}

/* Each context has its own memory, in whatever order its pages are, and a new mapping counts as soon as it is made. */
static void test_pages(void **state)
{
	scramble(card->memory + AT, 64 * PAGE);
	map(5, AT + 20 * PAGE, -2 * (int64_t)PAGE);
	map(6, AT + 30 * PAGE, PAGE);
	for (unsigned round = 0; round < 2; round++) {
		check_pages(5, AT + 20 * PAGE, -2 * (int64_t)PAGE);
		check_pages(6, AT + 30 * PAGE, PAGE);
	}
	map(6, AT + 40 * PAGE, 3 * PAGE);
	check_pages(6, AT + 40 * PAGE, 3 * PAGE);
	check_pages(5, AT + 20 * PAGE, -2 * (int64_t)PAGE);
}

/*
 * Loads from mapped pages and from one that is not mapped, in any order: each must find its own page or be refused, whatever
 * was loaded before.
 */
static void test_refused_between(void **state)
{
	const uint64_t first = AT + 20 * PAGE;
	struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED | TUTTI_MOVER_LINEAR, .bytes = 16};
	const struct tutti_mover_shape s = {0};

	scramble(card->memory + AT, 64 * PAGE);
	map(5, first, -2 * (int64_t)PAGE);
	for (unsigned round = 0; round < 2000; round++) {
		unsigned page = any(PAGES + 1), off = any(3) * 1000;
		struct tutti_event e;

		d.global = VA + page * PAGE + off;
		memset(sms.shared[0], 0, 16);
		e = run_call(&d, &s, 5);
		if (page == PAGES) {
			assert_int_equal(e.word[0] >> 16, TUTTI_CAUSE_UNMAPPED | TUTTI_ACCESS_READ << 8);
			assert_true((e.word[4] | (uint64_t)e.word[5] << 32) == d.global);
		} else {
			assert_int_equal(e.word[0], 0);
			assert_memory_equal(sms.shared[0], card->memory + first - 2 * PAGE * page + off, 16);
		}
	}
}

/* A run that is moved in several pieces, since its pages lie apart, is still one run; shared memory has no lines. */
static void test_pieces(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED | TUTTI_MOVER_LINEAR, .global = VA + 4000, .bytes = 6000};
	const struct tutti_mover_shape s = {0};

	map(5, AT + 20 * PAGE, -2 * (int64_t)PAGE);
	assert_int_equal(run_call(&d, &s, 5).word[0], 0);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_BYTES], 6000);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_LINES], touched(4000, 6000, 128));
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_SECTORS], touched(4000, 6000, 32));
	memset(card->counts, 0, sizeof(card->counts));
	d.op = TUTTI_MOVE_SHARED;
	assert_int_equal(run_call(&d, &s, 5).word[0], 0);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_LINES] + card->counts[TUTTI_COUNTER_MOVER_SECTORS], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST("TMA-27: lines and sectors that rows touch", test_rows),
	    TEST("TMA-27: rows that touch are one run", test_one_run),
	    TEST("TMA-27: transactions of the bus", test_bus),
	    TEST("TMA-21: what moving takes in virtual time", test_time),
	    TEST("TMA-21: a box without limits", test_immense),
	    TEST("TMA-28: what the event of a refused access says", test_told),
	    TEST("TMA-28: rows up to the end of shared memory", test_last_shared_row),
	    TEST("TMA-21: descriptors inherit nothing", test_inherits_nothing),
	    TEST("TMA-22: loads that take more than a turn", test_across_turns),
	    TEST("TMA-10, TMA-25: elements of boxes with several rows", test_elements_of_rows),
	    TEST("TMA-10: rounded copies that are longer than the buffer", test_long_rounded),
	    TEST("TMA-23: loads for nobody", test_for_nobody),
	    TEST("TMA-28, SYS-52: pages and contexts", test_pages),
	    TEST("TMA-28, SYS-52: refused pages between others", test_refused_between),
	    TEST("TMA-27: traffic of runs in pieces, and of shared memory", test_pieces),
	};

	return cmocka_run_group_tests_name("movers: traffic", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,-z,muldefs */
/* Movers: which descriptors make sense, which stop the firmware, and how far shared memory, barriers and rings reach.
 */
#include "card_mover_rig.h"
#include "emulator/memory/mmu.h"
#include "tutti/mmu.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define CALLED	      (TUTTI_MOVER_CALL | TUTTI_MOVER_LAST)
#define PARTED	      (TUTTI_MOVER_CALL | TUTTI_MOVER_CLIPPED | TUTTI_MOVER_PART)

/* ---- sense -------------------------------------------------------------- */

struct row {
	uint8_t op;
	uint16_t flags;
	uint8_t reduce, type, swizzle;
	bool good;
};

/* The cause that the descriptor of @row ends with. */
static unsigned cause_of(const struct row *row)
{
	struct tutti_mover d = {.op = row->op,
				.flags = row->flags,
				.reduce = row->reduce,
				.type = row->type,
				.global = 0x100000,
				.other = 0x200000,
				.bytes = 16,
				.count = {16, 1, 1, 1}};
	struct tutti_mover_shape s = {.unit = 1, .count = {16, 1, 1, 1}, .stride = {1}, .swizzle = row->swizzle};
	struct tutti_event e;

	call((struct engines_call){
	    .slot = 7, .sm = 5, .wave = 9, .barrier = TUTTI_BARRIER_NONE, .pc = 0x123456789abcull});
	sms.failed = sms.done = 0;
	s.type = row->type;
	if (!(row->flags & TUTTI_MOVER_CALL))
		d.flags |= TUTTI_MOVER_EVENT;
	e = run(&d, &s);
	if (!(row->flags & TUTTI_MOVER_CALL))
		return e.word[0] >> 8 & 0xff;
	assert_int_equal(sms.done, !!(row->flags & TUTTI_MOVER_LAST));
	assert_int_equal(card->engines.call[CALL].busy, !(row->flags & TUTTI_MOVER_LAST));
	assert_int_equal(sms.failed, !!e.word[0]);
	if (!e.word[0])
		return 0;
	assert_int_equal(e.word[0] & 0xffff, TUTTI_EVENT_FAULT | 7 << 8);
	assert_int_equal(e.word[1], 5 | 9 << 16);
	assert_true((e.word[2] | (uint64_t)e.word[3] << 32) == 0x123456789abcull);
	assert_int_equal(e.word[6], TUTTI_ENGINE_MOVER);
	return e.word[0] >> 16 & 0xff;
}

static void test_sense(void **state)
{
	static const struct row rows[] = {
	    {0, 0, 0, 0, 0, false},
	    {TUTTI_MOVE_END, 0, 0, 0, 0, true},
	    {TUTTI_MOVE_END, CALLED, 0, 0, 0, true},
	    {TUTTI_MOVE_END, CALLED | TUTTI_MOVER_NO_SHAPE, 0, 0, 0, true},
	    {TUTTI_MOVE_END + 1, 0, 0, 0, 0, false},
	    {255, CALLED, 0, 0, 0, false},
	    {TUTTI_MOVE_COPY, 0, 0, 0, TUTTI_SWIZZLE_128, true},
	    {TUTTI_MOVE_COPY, 0, 0, 0, TUTTI_SWIZZLE_128 + 1, false},
	    {TUTTI_MOVE_COPY, 0, 0, TUTTI_TENSOR_TYPES, 0, false},
	    {TUTTI_MOVE_COPY, TUTTI_MOVER_NO_SHAPE, 0, 0, 0, false},
	    {TUTTI_MOVE_COPY, TUTTI_MOVER_NO_SHAPE | TUTTI_MOVER_LINEAR, 0, 0, 0, true},
	    {TUTTI_MOVE_SCATTER, 0, 0, 0, 0, true},
	    {TUTTI_MOVE_PREFETCH, 0, 0, 0, 0, true},
	    {TUTTI_MOVE_FILL, 0, 0, 0, 0, false},
	    {TUTTI_MOVE_FILL, TUTTI_MOVER_LINEAR, 0, 0, 0, true},
	    {TUTTI_MOVE_SHARED, CALLED, 0, 0, 0, false},
	    {TUTTI_MOVE_SHARED, CALLED | TUTTI_MOVER_LINEAR, 0, 0, 0, true},
	    {TUTTI_MOVE_SHARED, TUTTI_MOVER_LINEAR, 0, 0, 0, false},
	    {TUTTI_MOVE_LOAD, 0, 0, 0, 0, false},
	    {TUTTI_MOVE_LOAD, TUTTI_MOVER_CALL, 0, 0, 0, true},
	    {TUTTI_MOVE_STORE, 0, 0, 0, 0, false},
	    {TUTTI_MOVE_STORE, CALLED, 0, 0, 0, true},
	    /* parts: of a request, clipped, without an event, and not linear */
	    {TUTTI_MOVE_LOAD, PARTED, 0, 0, 0, true},
	    {TUTTI_MOVE_LOAD, PARTED | TUTTI_MOVER_LINEAR, 0, 0, 0, false},
	    {TUTTI_MOVE_LOAD, PARTED | TUTTI_MOVER_EVENT, 0, 0, 0, false},
	    {TUTTI_MOVE_LOAD, PARTED & ~TUTTI_MOVER_CLIPPED, 0, 0, 0, false},
	    {TUTTI_MOVE_COPY, PARTED & ~TUTTI_MOVER_CALL, 0, 0, 0, false},
	    /* what is combined, and what has no such combination; other operations do not look */
	    {TUTTI_MOVE_STORE, CALLED, TUTTI_REDUCE_ADD, TUTTI_U32, 0, true},
	    {TUTTI_MOVE_STORE, CALLED, 200, TUTTI_U32, 0, true},
	    {TUTTI_MOVE_LOAD, CALLED, 200, TUTTI_U32, 0, true},
	    {TUTTI_MOVE_STORE, CALLED | TUTTI_MOVER_LINEAR | TUTTI_MOVER_NO_SHAPE, TUTTI_REDUCE_ADD, TUTTI_U32, 0,
	     true},
	};

	for (unsigned i = 0; i < LENGTH(rows); i++) {
		unsigned cause = cause_of(&rows[i]);

		if (rows[i].reduce == 200 && rows[i].op == TUTTI_MOVE_STORE)
			assert_int_equal(cause, TUTTI_CAUSE_TENSOR + TUTTI_TENSOR_ERROR_REDUCE);
		else if (cause != (rows[i].good ? TUTTI_CAUSE_NONE : TUTTI_CAUSE_SERVICE))
			fail_msg("row %u ends with cause %u", i, cause);
	}
}

/* ---- errors that stop the firmware ---------------------------------------- */

static void stopped(const char *text)
{
	while (mover_run(card))
		;
	assert_false(card->alive);
	assert_int_equal(card->crash->cause, TUTTI_CRASH_TRAP);
	assert_int_equal(card->crash->cause_code, 24);
	assert_string_equal(card->crash->text, text);
	assert_int_equal(card->page->mover_head, 0);
	card->crash->cause = 0;
	card->alive = true;
	card->page->mover_tail = 0;
}

static void put(struct tutti_mover d)
{
	memcpy(card->local + RING, &d, sizeof(d));
	card->page->mover_tail = 1;
}

static void test_stops(void **state)
{
	const uint32_t local = card->discovery.local_bytes, slots[] = {0, 3, 6, 1u << 31};
	const uint32_t shapes_at[] = {SHAPE + 1, SHAPE + 4, local,
				      local - (uint32_t)sizeof(struct tutti_mover_shape) + 8};
	const uint32_t rings_at[] = {RING + 1, RING + 4, local, local - 4 * (uint32_t)sizeof(struct tutti_mover) + 8};
	struct tutti_mover d = {.op = TUTTI_MOVE_COPY, .global = 0x100000, .other = 0x200000, .shape = SHAPE};

	memset(card->local + SHAPE, 0, sizeof(struct tutti_mover_shape));
	for (unsigned i = 0; i < LENGTH(shapes_at); i++) { /* the shape is somewhere else, or crooked */
		d.shape = shapes_at[i];
		put(d);
		stopped("mover descriptor is broken");
	}
	d.shape = SHAPE;
	d.flags = TUTTI_MOVER_CALL; /* of a request that is not under way */
	d.call = CALL + 1;
	put(d);
	stopped("mover descriptor is broken");
	for (unsigned i = 0; i < LENGTH(slots); i++) {
		card->page->mover_slots = slots[i];
		put(d);
		stopped("mover ring is broken");
	}
	card->page->mover_slots = 4;
	for (unsigned i = 0; i < LENGTH(rings_at); i++) {
		card->page->mover_base = rings_at[i];
		put(d);
		stopped("mover ring is broken");
	}
	card->page->mover_base = RING;
	put(d);
	card->page->mover_tail = 5; /* more than there are slots */
	stopped("mover ring is broken");
	/* all of this at its limit */
	d = (struct tutti_mover){.op = TUTTI_MOVE_END};
	card->page->mover_base = local - 4 * (uint32_t)sizeof(d);
	for (unsigned i = 0; i < 4; i++)
		memcpy(card->local + card->page->mover_base + i * sizeof(d), &d, sizeof(d));
	card->page->mover_tail = 4;
	while (mover_run(card))
		;
	assert_int_equal(card->page->mover_head, 4);
	assert_true(card->alive);
	/* Rings and shapes may be at any multiple of 8. */
	d = (struct tutti_mover){.op = TUTTI_MOVE_COPY, .flags = TUTTI_MOVER_LINEAR, .shape = SHAPE + 8};
	card->page->mover_base = RING + 8;
	memcpy(card->local + RING + 8, &d, sizeof(d));
	card->page->mover_tail = 5;
	while (mover_run(card))
		;
	assert_int_equal(card->page->mover_head, 5);
	assert_true(card->alive);
}

/* The address of the shape is ignored in descriptors without a shape: END, and those with the flag NO_SHAPE. */
static void test_no_shape(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_END, .shape = card->discovery.local_bytes + 1};

	put(d);
	while (mover_run(card))
		;
	d.op = TUTTI_MOVE_COPY;
	d.flags = TUTTI_MOVER_LINEAR | TUTTI_MOVER_NO_SHAPE;
	memcpy(card->local + RING + sizeof(d), &d, sizeof(d));
	card->page->mover_tail++;
	while (mover_run(card))
		;
	assert_true(card->alive);
	assert_int_equal(card->page->mover_head, 2);
}

/* ---- reach --------------------------------------------------------------- */

/* Moves of 100 bytes that end @over bytes behind the shared memory of the CTA, or at its end. */
static void test_shared_ends(void **state)
{
	static const uint8_t ops[] = {TUTTI_MOVE_LOAD, TUTTI_MOVE_STORE, TUTTI_MOVE_SHARED, TUTTI_MOVE_SHARED,
				      TUTTI_MOVE_LOAD};

	memset(card->memory + 0x100000, 0x11, 4096);
	for (unsigned i = 0; i < LENGTH(ops); i++)
		for (unsigned swizzle = 0; swizzle < 2; swizzle++)
			for (unsigned over = 0; over < 2; over++) {
				const uint32_t end = SHARED_BYTES - 100 + over;
				struct tutti_mover d = {.op = ops[i],
							.flags = CALLED | TUTTI_MOVER_LINEAR,
							.global = 0x100000,
							.bytes = 100,
							.shared = i == 3 ? 0 : end,
							.source = i == 2 ? 0 : end};
				struct tutti_mover_shape s = {.swizzle =
								  swizzle ? TUTTI_SWIZZLE_64 : TUTTI_SWIZZLE_NONE};
				struct tutti_event e;

				if (i == 4)
					d.flags |= TUTTI_MOVER_OUTSIDE;
				call((struct engines_call){.barrier = 8192, .cta_rank = 1});
				memset(sms.shared[0] + 8192, 0, 8);
				memset(sms.shared[1] + 8192, 0, 8);
				card->counts[TUTTI_COUNTER_MOVER_BYTES] = 0;
				e = run(&d, &s);
				if (!!e.word[0] != over)
					fail_msg("move %u, swizzle %u, %u bytes too far", i, swizzle, over);
				if (!over)
					continue;
				assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_BYTES], 0); /* nothing has been moved */
				assert_int_equal(*(uint64_t *)(sms.shared[0] + 8192), 0);
				assert_int_equal(*(uint64_t *)(sms.shared[1] + 8192), 0);
			}
	/* with a swizzle the whole last row of 128 bytes is needed, also for a few bytes of it */
	for (unsigned rows = 511; rows <= 512; rows++) {
		struct tutti_mover d = {.op = TUTTI_MOVE_LOAD,
					.flags = CALLED | TUTTI_MOVER_LINEAR,
					.global = 0x100000,
					.bytes = 16,
					.shared = rows * 128};
		struct tutti_mover_shape s = {.swizzle = TUTTI_SWIZZLE_128};

		call((struct engines_call){.barrier = TUTTI_BARRIER_NONE});
		assert_int_equal(!!run(&d, &s).word[0], rows == 512);
	}
}

/* So it is where shared memory ends amid such a row, of which only swizzled moves need the rest. */
static void test_shared_ends_amid_row(void **state)
{
	sms.fewer = 64;
	memset(card->memory + 0x100000, 0x11, 4096);
	for (unsigned swizzle = 0; swizzle < 2; swizzle++)
		for (unsigned row = 510; row <= 511; row++) {
			const struct tutti_mover d = {.op = TUTTI_MOVE_LOAD,
						      .flags = CALLED | TUTTI_MOVER_LINEAR,
						      .global = 0x100000,
						      .bytes = 64,
						      .shared = row * 128};
			const struct tutti_mover_shape s = {.swizzle = swizzle ? TUTTI_SWIZZLE_64 : TUTTI_SWIZZLE_NONE};

			call((struct engines_call){.barrier = TUTTI_BARRIER_NONE});
			assert_int_equal(!!run(&d, &s).word[0], swizzle && row == 511);
		}
}

/* Bytes count on a barrier that lies in shared memory, on a multiple of 8; elsewhere nothing is touched. */
static void test_barriers(void **state)
{
	static const struct {
		uint32_t at;
		bool counts;
	} rows[] = {{0, true},
		    {SHARED_BYTES - 8, true},
		    {SHARED_BYTES - 4, false},
		    {SHARED_BYTES, false},
		    {8192 + 1, false},
		    {8192 + 4, false},
		    {8192, true},
		    {~7u, false},
		    {TUTTI_BARRIER_NONE, false}};
	struct tutti_mover d = {
	    .op = TUTTI_MOVE_LOAD, .flags = CALLED | TUTTI_MOVER_LINEAR, .global = 0x100000,
	    .bytes = 16, .shared = 64};
	const struct tutti_mover_shape s = {0};

	memset(card->memory + 0x100000, 0, 16);
	for (unsigned i = 0; i < LENGTH(rows); i++) {
		const uint64_t waits = 16ull << TUTTI_MBARRIER_TX_SHIFT | 1;
		uint64_t *word = (uint64_t *)(sms.shared[0] + rows[i].at);

		memset(sms.shared, 0, sizeof(sms.shared));
		if (rows[i].counts)
			*word = waits;
		call((struct engines_call){.barrier = rows[i].at});
		assert_int_equal(run(&d, &s).word[0], 0);
		if (rows[i].counts)
			assert_true(*word == 1);		/* one more has to arrive */
		for (unsigned k = 0; k < 2 * SHARED_BYTES; k++) /* that of the next CTA, too */
			if (!rows[i].counts && sms.shared[k / SHARED_BYTES][k % SHARED_BYTES])
				fail_msg("byte %u was written", k);
	}
}

/* A load of no bytes does not touch its barrier: even one that waits for no more arrivals or bytes keeps its phase. */
static void test_no_bytes(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED | TUTTI_MOVER_LINEAR, .global = 0x100000};
	const uint64_t idle = 5ull << TUTTI_MBARRIER_EXPECTED_SHIFT;
	const struct tutti_mover_shape s = {0};

	for (unsigned i = 0; i < 2; i++) {
		d.op = i ? TUTTI_MOVE_END : TUTTI_MOVE_LOAD;
		*(uint64_t *)(sms.shared[0] + 8192) = idle;
		call((struct engines_call){.barrier = 8192});
		assert_int_equal(run(&d, &s).word[0], 0);
		assert_true(*(uint64_t *)(sms.shared[0] + 8192) == idle);
	}
}

/* A barrier counts only bytes that are loaded into shared memory, not those that are stored from it or copied elsewhere. */
static void test_counts_nothing(void **state)
{
	static const uint8_t ops[] = {TUTTI_MOVE_STORE, TUTTI_MOVE_COPY, TUTTI_MOVE_SCATTER, TUTTI_MOVE_FILL, TUTTI_MOVE_PREFETCH};
	const uint64_t waits = 16ull << TUTTI_MBARRIER_TX_SHIFT | 1;
	const struct tutti_mover_shape s = {0};

	for (unsigned i = 0; i < LENGTH(ops); i++) {
		struct tutti_mover d = {.op = ops[i], .flags = CALLED | TUTTI_MOVER_LINEAR, .global = 0x100000,
					.other = 0x200000, .bytes = 16};

		for (unsigned c = 0; c < CTAS; c++)
			*(uint64_t *)(sms.shared[c] + 8192) = waits;
		call((struct engines_call){.barrier = 8192, .cta_rank = 1});
		assert_int_equal(run(&d, &s).word[0], 0);
		for (unsigned c = 0; c < CTAS; c++)
			assert_true(*(uint64_t *)(sms.shared[c] + 8192) == waits);
	}
}

/* Accesses of the global side that are refused: the descriptor ends with the first address that was. */
static void test_global_ends(void **state)
{
	const uint64_t end = card->discovery.memory_bytes;
	static const uint8_t ops[] = {TUTTI_MOVE_FILL, TUTTI_MOVE_COPY, TUTTI_MOVE_COPY, TUTTI_MOVE_LOAD,
				      TUTTI_MOVE_STORE};

	for (unsigned i = 0; i < LENGTH(ops); i++)
		for (unsigned over = 0; over < 2; over++) {
			bool called = ops[i] == TUTTI_MOVE_LOAD || ops[i] == TUTTI_MOVE_STORE;
			struct tutti_mover d = {.op = ops[i],
						.flags = TUTTI_MOVER_LINEAR | (called ? CALLED : TUTTI_MOVER_EVENT),
						.global = i == 2 ? 0x100000 : end - 64,
						.other = i == 2 ? end - 64 : 0x200000,
						.bytes = 64 + over,
						.tag = 0x1234};
			const struct tutti_mover_shape s = {.fill = 0x0102030405060708};
			struct tutti_event e;
			uint64_t address;

			call((struct engines_call){.barrier = TUTTI_BARRIER_NONE});
			card->counts[TUTTI_COUNTER_MOVER_BYTES] = 0;
			e = run(&d, &s);
			assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_BYTES], 64); /* refused bytes do not count */
			if (!over) {
				assert_int_equal(e.word[0], called ? 0 : TUTTI_EVENT_MOVER | 0x1234u << 16);
				continue;
			}
			address =
			    called ? e.word[4] | (uint64_t)e.word[5] << 32 : e.word[1] | (uint64_t)e.word[2] << 32;
			assert_int_equal(e.word[0] >> (called ? 16 : 8) & 0xff, TUTTI_CAUSE_BUS);
			assert_true(address == end);
			if (called)
				assert_int_equal(e.word[0] >> 24, i == 3 ? TUTTI_ACCESS_READ : TUTTI_ACCESS_WRITE);
		}
}

#define TABLES 0x300000u
#define VA     0x40000000ull

/* A context whose page at VA may be read, and which has nothing behind it. */
static void map_read_only(void)
{
	uint64_t *table = (uint64_t *)(card->memory + TABLES);

	memset(table, 0, 4 * 4096);
	for (unsigned i = 0; i < 3; i++)
		table[512 * i + tutti_va_index(VA, 3 - i)] = tutti_pte((uint64_t)TABLES + 4096 * (i + 1), TUTTI_PTE_V);
	table[512 * 3 + tutti_va_index(VA, 0)] =
	    tutti_pte(0x100000ull, TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_U | TUTTI_PTE_A);
	mmu_context(card, 5, TABLES);
}

/* Boxes of each kind: one row, many rows, one byte in each, swizzled, and of words, which can be combined. */
static const struct tutti_mover_shape shapes[] = {
    {.unit = 1, .count = {64, 1, 1, 1}, .stride = {1}},
    {.unit = 1, .count = {16, 8, 1, 1}, .stride = {1, 256}},
    {.unit = 4, .count = {1, 16, 4, 1}, .stride = {4, 16, 512}},
    {.unit = 1, .count = {16, 8, 1, 1}, .stride = {1, 256}, .swizzle = TUTTI_SWIZZLE_32},
    {.unit = 4, .count = {4, 8, 1, 1}, .stride = {4, 64}, .type = TUTTI_U32},
};

/* The rights of pages are checked for boxes of every shape. */
static void test_rights(void **state)
{
	map_read_only();
	for (unsigned i = 0; i < LENGTH(shapes); i++)
		for (unsigned store = 0; store < 2; store++) {
			struct tutti_mover d = {.op = store ? TUTTI_MOVE_STORE : TUTTI_MOVE_LOAD,
						.flags = CALLED,
						.global = VA,
						.reduce = store && i == 4 ? TUTTI_REDUCE_ADD : 0};
			struct tutti_event e;

			memset(card->memory + 0x100000, 0x11, 4096);
			memset(sms.shared[0], 0x22, 4096);
			call((struct engines_call){.asid = 5, .barrier = TUTTI_BARRIER_NONE});
			e = run(&d, &shapes[i]);
			assert_int_equal(sms.shared[0][0], store ? 0x22 : 0x11);
			for (unsigned k = 0; k < 4096; k++)
				assert_int_equal(card->memory[0x100000 + k], 0x11);
			assert_int_equal(!!e.word[0], store);
			if (!store)
				continue;
			assert_int_equal(e.word[0] >> 16, TUTTI_CAUSE_PROTECTION |
							      (i == 4 ? TUTTI_ACCESS_ATOMIC : TUTTI_ACCESS_WRITE) << 8);
			assert_true((e.word[4] | (uint64_t)e.word[5] << 32) == VA);
		}
}

/* Each injected page fault makes one load fail, whatever the shape of its box, and later loads succeed. */
static void test_injected(void **state)
{
	map_read_only();
	for (unsigned i = 0; i < LENGTH(shapes); i++) {
		const struct tutti_mover d = {.op = TUTTI_MOVE_LOAD, .flags = CALLED, .global = VA};

		tutti_card_inject(card, TUTTI_INJECT_PAGE_FAULT, 2);
		for (unsigned n = 0; n < 4; n++) {
			struct tutti_event e;

			call((struct engines_call){.asid = 5, .barrier = TUTTI_BARRIER_NONE});
			e = run(&d, &shapes[i]);
			if (!!e.word[0] != (n < 2))
				fail_msg("shape %u, load %u", i, n);
			if (n < 2)
				assert_int_equal(e.word[0] >> 16, TUTTI_CAUSE_UNMAPPED | TUTTI_ACCESS_READ << 8);
		}
	}
}

/* ---- events ---------------------------------------------------------------- */

/* A full event ring stops movers, and the notice of room waits for a slot. */
static void test_no_room(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_END, .flags = TUTTI_MOVER_EVENT};
	struct tutti_event *events = (void *)(card->local + EVENTS);
	const struct tutti_mover_shape s = {0};

	card->page->event_slots = 2;
	card->page->mover_notice = 2;
	for (unsigned i = 0; i < 3; i++) {
		d.tag = (uint16_t)i;
		start(d, &s);
	}
	while (mover_run(card))
		;
	assert_int_equal(card->page->mover_head, 2);
	assert_int_equal(events[1].word[0], TUTTI_EVENT_MOVER | 1 << 16);
	assert_false(mover_run(card));
	events[0].word[0] = 0;
	assert_true(mover_run(card));
	while (mover_run(card))
		;
	assert_int_equal(events[0].word[0], TUTTI_EVENT_MOVER_ROOM);
	assert_int_equal(card->page->mover_head, 2);
	events[1].word[0] = 0;
	while (mover_run(card))
		;
	assert_int_equal(events[1].word[0], TUTTI_EVENT_MOVER | 2 << 16);
	assert_int_equal(card->page->mover_head, 3);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_DESCRIPTORS], 3);
}

/* A turn has 256 KiB: what is moved, and 512 bytes for each descriptor, so that the rest of the card has its turns. */
static void test_turns(void **state)
{
	static const struct {
		uint32_t bytes, descriptors; /* of a turn */
	} rows[] = {{0, 512}, {512, 256}, {1536, 128}, {65024, 4}};
	const uint32_t slots = 1024;

	card->page->mover_base = 0x10000;
	card->page->mover_slots = slots;
	for (unsigned i = 0; i < LENGTH(rows); i++) {
		const struct tutti_mover d = {.op = rows[i].bytes ? TUTTI_MOVE_FILL : TUTTI_MOVE_END,
					      .flags = TUTTI_MOVER_LINEAR,
					      .global = 0x100000,
					      .bytes = rows[i].bytes,
					      .shape = SHAPE};
		uint32_t head = card->page->mover_head;

		for (unsigned k = 0; k < slots; k++)
			memcpy(card->local + 0x10000 + k * sizeof(d), &d, sizeof(d));
		card->page->mover_tail += slots;
		for (unsigned turn = 1; turn <= 2; turn++) {
			assert_true(mover_run(card));
			assert_int_equal(card->page->mover_head - head, turn * rows[i].descriptors);
		}
		while (mover_run(card))
			;
		assert_int_equal(card->page->mover_head, card->page->mover_tail);
	}
}

/* A reset ends the descriptor that is being executed: the rest of it is not moved, and no event is put. */
static void test_reset(void **state)
{
	const struct tutti_mover d = {.op = TUTTI_MOVE_FILL, .flags = TUTTI_MOVER_LINEAR | TUTTI_MOVER_EVENT,
				      .global = 0x100000, .bytes = 1 << 20, .tag = 5};
	const struct tutti_mover_shape s = {.fill = 0x1111111111111111};
	static const struct mover none;

	memset(card->memory + 0x100000, 0, 1 << 20);
	start(d, &s);
	assert_true(mover_run(card)); /* this fills only a part of it */
	assert_int_equal(card->memory[0x100000], 0x11);
	mover_reset(card);
	assert_memory_equal(card->mover, &none, sizeof(none));
	assert_false(mover_run(card));
	assert_int_equal(event().word[0], 0);
	assert_int_equal(card->memory[0x100000 + (1 << 20) - 1], 0);
}

/* What belongs to a request ends with an event if the descriptor wants that, and the request has not failed. */
static void test_events_of_requests(void **state)
{
	struct tutti_mover d = {.op = TUTTI_MOVE_LOAD,
				.global = 0x100000,
				.bytes = 16,
				.tag = 77,
				.flags = CALLED | TUTTI_MOVER_LINEAR | TUTTI_MOVER_EVENT};
	const struct tutti_mover_shape s = {0};
	struct tutti_event e;

	call((struct engines_call){.barrier = TUTTI_BARRIER_NONE});
	e = run(&d, &s);
	assert_int_equal(e.word[0], TUTTI_EVENT_MOVER | 77 << 16);
	for (unsigned i = 1; i < 8; i++) /* there is no address to report */
		assert_int_equal(e.word[i], 0);
	d.flags &= ~TUTTI_MOVER_EVENT;
	call((struct engines_call){.barrier = TUTTI_BARRIER_NONE});
	assert_int_equal(run(&d, &s).word[0], 0);
	d.flags |= TUTTI_MOVER_EVENT;
	d.global = card->discovery.memory_bytes;
	call((struct engines_call){.barrier = TUTTI_BARRIER_NONE});
	assert_int_equal(run(&d, &s).word[0] & 0xff, TUTTI_EVENT_FAULT);
	assert_int_equal(sms.done, 3);
	assert_int_equal(sms.failed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST("TMA-21: descriptors that make sense, and others", test_sense),
	    TEST("TMA-21, SYS-10: descriptors and rings that stop the firmware", test_stops),
	    TEST("TMA-21: descriptors without a shape", test_no_shape),
	    TEST("TMA-25, SYS-52: up to the end of shared memory", test_shared_ends),
	    TEST("TMA-15, SYS-52: shared memory that ends amid a swizzled row", test_shared_ends_amid_row),
	    TEST("TMA-25: where barriers may lie", test_barriers),
	    TEST("TMA-22: loads of no bytes", test_no_bytes),
	    TEST("TMA-22: moves that no barrier counts", test_counts_nothing),
	    TEST("SYS-10: movers are reset", test_reset),
	    TEST("TMA-28, SYS-52: up to the end of global memory", test_global_ends),
	    TEST("TMA-28, SYS-52: rights of pages", test_rights),
	    TEST("SYS-15, TMA-28: translations that are refused on demand", test_injected),
	    TEST("TMA-21: no room for events", test_no_room),
	    TEST("TMA-21, SYS-12: how much is moved in a turn", test_turns),
	    TEST("TMA-21: events of requests", test_events_of_requests),
	};

	return cmocka_run_group_tests_name("movers: limits", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,-z,muldefs */
/*
 * Movers alone: random descriptors, of whole boxes and of parts, against a byte-by-byte reading of mover.h.
 */
#include "card_mover_rig.h"

/* ---- the definition ------------------------------------------------------- */

struct byte_map {
	uint64_t global; /* ~0 = nowhere */
	uint64_t dense;
};

/* Every byte of the box in dense order. Return: their number. */
static size_t box_bytes(const struct tutti_mover *d, const struct tutti_mover_shape *s, struct byte_map *map)
{
	uint32_t full[4], before[4], count[4], x[4];
	size_t n = 0;

	for (unsigned k = 0; k < 4; k++) {
		before[k] = d->flags & TUTTI_MOVER_CLIPPED ? d->before[k] : 0;
		count[k] = d->flags & TUTTI_MOVER_CLIPPED ? d->count[k] : s->count[k];
		full[k] = before[k] + count[k] + (d->flags & TUTTI_MOVER_CLIPPED ? d->after[k] : 0);
	}
	for (x[3] = 0; x[3] < full[3]; x[3]++)
		for (x[2] = 0; x[2] < full[2]; x[2]++)
			for (x[1] = 0; x[1] < full[1]; x[1]++)
				for (x[0] = 0; x[0] < full[0]; x[0]++)
					for (uint32_t b = 0; b < s->unit; b++, n++) {
						map[n].dense = n;
						map[n].global = d->global + b;
						for (unsigned k = 0; k < 4; k++)
							map[n].global += (x[k] - (uint64_t)before[k]) * s->stride[k];
						for (unsigned k = 0; k < 4; k++)
							if (x[k] < before[k] || x[k] >= before[k] + count[k])
								map[n].global = ~0ull;
					}
	return n;
}

/* Every byte that is moved: of the box, or of a part of it, which is counted from its first byte. */
static size_t all_bytes(const struct tutti_mover *d, const struct tutti_mover_shape *s, struct byte_map *map)
{
	size_t n = box_bytes(d, s, map), first = 0;

	if (!(d->flags & TUTTI_MOVER_PART))
		return n;
	for (unsigned k = 4; k--;)
		first = first * (d->before[k] + (size_t)d->count[k] + d->after[k]) + d->start[k];
	first *= s->unit;
	memmove(map, map + first, d->bytes * sizeof(*map));
	for (size_t i = 0; i < d->bytes; i++)
		map[i].dense = i;
	return d->bytes;
}

/* Choose a part of the box @d, which has elements: the element where it begins, and its bytes. */
static void random_part(struct tutti_mover *d, const struct tutti_mover_shape *s)
{
	size_t first = 0, n = 1;

	for (unsigned k = 4; k--;) {
		size_t full = d->before[k] + (size_t)d->count[k] + d->after[k];

		d->start[k] = (uint16_t)(any(3) ? any((uint32_t)full) : 0);
		first = first * full + d->start[k];
		n *= full;
	}
	d->bytes = s->unit * (any(4) ? 1 + any((uint32_t)(n - first)) : (uint32_t)(n - first));
	d->flags |= TUTTI_MOVER_PART;
}

static void random_box(struct tutti_mover *d, struct tutti_mover_shape *s)
{
	static const uint16_t units[] = { 1, 2, 4, 8, 16, 32 };
	bool clipped = any(2);
	uint64_t dense;

	*s = (struct tutti_mover_shape){ .unit = units[any(6)], .type = TUTTI_U8, .swizzle = (uint8_t)any(4) };
	for (unsigned i = 0; i < 8; i++)
		s->fill |= (uint64_t)any(256) << 8 * i;
	for (unsigned k = 0; k < 4; k++) {
		s->count[k] = (uint16_t)(1 + any(k ? 5 : 40));
		d->before[k] = (uint16_t)(clipped ? any(3) : 0);
		d->after[k] = (uint16_t)(clipped ? any(3) : 0);
		d->count[k] = clipped ? (uint16_t)(s->count[k] - any(2)) : 0x5555;
	}
	dense = s->unit;
	for (unsigned k = 0; k < 4; k++) {
		s->stride[k] = any(2) ? dense : any(8) ? dense + any(200) : any(5000);
		dense = s->stride[k] * (clipped ? d->count[k] : s->count[k]);
	}
	d->flags = (uint8_t)((d->flags & ~TUTTI_MOVER_CLIPPED) | (clipped ? TUTTI_MOVER_CLIPPED : 0));
	d->flags &= (uint8_t)~TUTTI_MOVER_PART;
	d->global = 0x10000 + any(10000);
	d->shared = 16 * any(256);
	if (clipped && d->flags & TUTTI_MOVER_CALL && any(2)) {
		for (unsigned k = 0; k < 4; k++)
			if (!(d->before[k] + d->count[k] + d->after[k]))
				return;
		random_part(d, s);
	}
}

static struct byte_map map[1 << 21];
static uint8_t memory_want[GLOBAL_BYTES], shared_want[CTAS][SHARED_BYTES];

static bool beyond(size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (map[i].global != ~0ull && map[i].global >= GLOBAL_BYTES)
			return true;
	return false;
}

static size_t prepare(struct tutti_mover *d, struct tutti_mover_shape *s)
{
	size_t n;

	do {
		random_box(d, s);
		n = all_bytes(d, s, map);
	} while (n > SHARED_BYTES - 8192 || beyond(n));
	memcpy(memory_want, card->memory, GLOBAL_BYTES);
	memcpy(shared_want, sms.shared, sizeof(shared_want));
	return n;
}

static void compare(unsigned round)
{
	if (memcmp(memory_want, card->memory, GLOBAL_BYTES) || memcmp(shared_want, sms.shared, sizeof(shared_want)))
		fail_msg("round %u differs", round);
}

static void test_loads(void **state)
{
	scramble(card->memory, GLOBAL_BYTES);
	for (unsigned round = 0; round < 6000; round++) {
		struct tutti_mover d = { .op = TUTTI_MOVE_LOAD, .flags = TUTTI_MOVER_CALL | TUTTI_MOVER_LAST };
		struct tutti_mover_shape s;
		size_t n = prepare(&d, &s);
		uint16_t mask = any(4) ? 0 : (uint16_t)(1 + any(15));
		uint32_t barrier = SHARED_BYTES - 64;
		uint64_t bytes = card->counts[TUTTI_COUNTER_MOVER_BYTES], real = 0;

		for (unsigned c = 0; c < CTAS; c++) /* everything expected has been told, nobody is to arrive */
			*(uint64_t *)(sms.shared[c] + barrier) = *(uint64_t *)(shared_want[c] + barrier) =
				5ull << TUTTI_MBARRIER_EXPECTED_SHIFT | (uint64_t)n << TUTTI_MBARRIER_TX_SHIFT;
		call((struct engines_call){ .barrier = barrier, .multicast = mask, .mask = mask });
		assert_int_equal(run(&d, &s).word[0], 0);
		for (unsigned c = 0; c < CTAS; c++) {
			if (mask ? !(mask >> c & 1) : c)
				continue;
			for (size_t i = 0; i < n; i++)
				shared_want[c][place(s.swizzle, d.shared + (uint32_t)i)] =
					map[i].global == ~0ull ? (uint8_t)(s.fill >> 8 * (i % 8))
							       : memory_want[map[i].global];
			if (n) /* TMA-22: phase over, arrivals loaded again */
				*(uint64_t *)(shared_want[c] + barrier) =
					1ull << 63 | 5ull << TUTTI_MBARRIER_EXPECTED_SHIFT | 5;
		}
		for (size_t i = 0; i < n; i++)
			real += map[i].global != ~0ull;
		compare(round);
		assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_BYTES] - bytes, real); /* one read serves all */
		assert_int_equal(sms.done, round + 1);
		assert_false(card->engines.call[CALL].busy);
	}
}

static void test_stores(void **state)
{
	scramble(sms.shared[0], SHARED_BYTES);
	for (unsigned round = 0; round < 4000; round++) {
		struct tutti_mover d = { .op = TUTTI_MOVE_STORE, .flags = TUTTI_MOVER_CALL };
		struct tutti_mover_shape s;
		size_t n = prepare(&d, &s);

		call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
		assert_int_equal(run(&d, &s).word[0], 0);
		for (size_t i = 0; i < n; i++)
			if (map[i].global != ~0ull)
				memory_want[map[i].global] = shared_want[0][place(s.swizzle, d.shared + (uint32_t)i)];
		compare(round);
		assert_true(card->engines.call[CALL].busy); /* not the last one of its request */
	}
}

static void test_global(void **state)
{
	scramble(card->memory, GLOBAL_BYTES);
	for (unsigned round = 0; round < 4000; round++) {
		bool scatter = any(2);
		struct tutti_mover d = { .op = scatter ? TUTTI_MOVE_SCATTER : TUTTI_MOVE_COPY,
					 .flags = any(2) ? TUTTI_MOVER_CALL | TUTTI_MOVER_LAST : 0 };
		struct tutti_mover_shape s;
		size_t n = prepare(&d, &s);

		call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
		d.other = 0xe0000 + any(10000);
		assert_int_equal(run(&d, &s).word[0], 0);
		for (size_t i = 0; i < n; i++)
			if (scatter && map[i].global != ~0ull)
				memory_want[map[i].global] = memory_want[d.other + i];
			else if (!scatter)
				memory_want[d.other + i] = map[i].global == ~0ull ? (uint8_t)(s.fill >> 8 * (i % 8))
										  : memory_want[map[i].global];
		compare(round);
	}
}

static void test_shared(void **state)
{
	for (unsigned c = 0; c < CTAS; c++)
		scramble(sms.shared[c], SHARED_BYTES);
	for (unsigned round = 0; round < 3000; round++) {
		struct tutti_mover d = { .op = TUTTI_MOVE_SHARED, .flags = TUTTI_MOVER_CALL | TUTTI_MOVER_LINEAR,
					 .source = 16 * any(1024), .shared = 16 * any(1024), .bytes = 16 * any(600) };
		struct tutti_mover_shape s = { .swizzle = (uint8_t)any(4), .type = TUTTI_U32 };
		uint8_t rank = (uint8_t)(1 + any(3));

		d.reduce = any(2) ? TUTTI_REDUCE_XOR : 0;
		memcpy(memory_want, card->memory, GLOBAL_BYTES);
		memcpy(shared_want, sms.shared, sizeof(shared_want));
		call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE, .cta_rank = rank });
		assert_int_equal(run(&d, &s).word[0], 0);
		for (uint32_t i = 0; i < d.bytes; i++) {
			uint8_t *to = &shared_want[rank][place(s.swizzle, d.shared + i)];

			*to = (uint8_t)(shared_want[0][place(s.swizzle, d.source + i)] ^ (d.reduce ? *to : 0));
		}
		compare(round);
	}
}

/* ---- counters, refusals, order ---------------------------------------------- */

static void test_lines(void **state)
{
	/* 3 rows of 40 bytes, 256 bytes apart, from byte 112 of a line on: two lines and sectors 3, 0, 1 each */
	struct tutti_mover d = { .op = TUTTI_MOVE_PREFETCH, .global = 0x100070, .flags = TUTTI_MOVER_EVENT };
	struct tutti_mover_shape s = { .unit = 1, .count = { 40, 3, 1, 1 }, .stride = { 1, 256 } };
	uint64_t *counts = card->counts;

	assert_int_equal(run(&d, &s).word[0], TUTTI_EVENT_MOVER);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_LINES], 6);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_SECTORS], 6);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_BYTES], 120);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_DESCRIPTORS], 1);
	/* rows that touch are one run: no line is counted twice */
	s.stride[1] = 40;
	assert_int_equal(run(&d, &s).word[0], TUTTI_EVENT_MOVER);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_LINES], 6 + 2);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_SECTORS], 6 + 5);
	/* memory that is not there: a prefetch has no faults */
	d.global = 1ull << 40;
	assert_int_equal(run(&d, &s).word[0], TUTTI_EVENT_MOVER);
	d.global = 0x100070;
	counts[TUTTI_COUNTER_MOVER_LINES] = 6 + 2;
	counts[TUTTI_COUNTER_MOVER_SECTORS] = 6 + 5;
	/* half of it outside of the tensor */
	d.flags |= TUTTI_MOVER_CLIPPED;
	d.count[0] = 16;
	d.count[1] = d.count[2] = d.count[3] = 1;
	d.after[0] = 24;
	d.after[1] = 2;
	assert_int_equal(run(&d, &s).word[0], TUTTI_EVENT_MOVER);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_LINES], 6 + 2 + 1);
	assert_int_equal(counts[TUTTI_COUNTER_MOVER_SECTORS], 6 + 5 + 1);
}

/* The traffic of a part that begins inside a run is that of the bytes that are moved. */
static void test_lines_of_part(void **state)
{
	/* rows of 64 bytes that touch; 100 bytes from the middle of the second on: two lines, sectors 3 to 6 */
	struct tutti_mover d = { .op = TUTTI_MOVE_PREFETCH, .global = 0x100000, .bytes = 100, .count = { 64, 4, 1, 1 },
				 .start = { 36, 1, 0, 0 },
				 .flags = TUTTI_MOVER_CALL | TUTTI_MOVER_LAST | TUTTI_MOVER_CLIPPED | TUTTI_MOVER_PART };
	struct tutti_mover_shape s = { .unit = 1, .count = { 64, 4, 1, 1 }, .stride = { 1, 64 } };

	call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
	assert_int_equal(run(&d, &s).word[0], 0);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_LINES], 2);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_SECTORS], 4);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_BYTES], 100);
}

/* A part that its box does not have, or that the flags do not allow, moves nothing. */
static void test_bad_parts(void **state)
{
	static const struct { uint8_t flags; uint16_t start[4]; uint32_t bytes; bool good; } parts[] = {
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 0, 3, 1, 0 }, 16, true },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 0, 3, 1, 0 }, 17, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 0, 0, 0, 0 }, 129, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 0, 4, 0, 0 }, 16, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 0, 0, 0, 1 }, 0, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 16, 0, 0, 0 }, 0, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 0xffff, 0xffff, 0xffff, 0xffff }, 16, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED, { 0, 0, 0, 0 }, 0xffffffff, false },
		{ TUTTI_MOVER_PART, { 0, 0, 0, 0 }, 16, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_LINEAR, { 0, 0, 0, 0 }, 16, false },
		{ TUTTI_MOVER_PART | TUTTI_MOVER_CLIPPED | TUTTI_MOVER_EVENT, { 0, 0, 0, 0 }, 16, false },
	};
	struct tutti_mover_shape s = { .unit = 1, .count = { 16, 4, 2, 1 }, .stride = { 1, 256, 4096 } };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct tutti_mover d = { .op = TUTTI_MOVE_LOAD, .global = 0x100000, .bytes = parts[i].bytes,
					 .before = { 0, 1, 0, 0 }, .count = { 16, 2, 2, 1 }, .after = { 0, 1, 0, 0 },
					 .flags = (uint8_t)(TUTTI_MOVER_CALL | TUTTI_MOVER_LAST | parts[i].flags) };

		memcpy(d.start, parts[i].start, sizeof(d.start));
		memset(sms.shared[0], 0x5a, 1024);
		call((struct engines_call){ .barrier = 8192 });
		assert_int_equal(run(&d, &s).word[0] >> 16 & 0xff, parts[i].good ? 0 : TUTTI_CAUSE_SERVICE);
		assert_int_equal(sms.done, i + 1);
		if (!parts[i].good)
			assert_int_equal(sms.shared[0][0], 0x5a);
	}
	assert_true(card->alive);
}

static void test_faults(void **state)
{
	struct tutti_mover d = { .op = TUTTI_MOVE_LOAD, .global = 63u << 20, .bytes = 48u << 10,
				 .flags = TUTTI_MOVER_CALL | TUTTI_MOVER_LAST | TUTTI_MOVER_LINEAR };
	struct tutti_mover_shape s = { 0 };
	struct engines_call c = { .barrier = 64, .slot = 9, .sm = 4, .wave = 2, .pc = 0x123456789a };
	struct tutti_event e;

	/* runs out of card memory: told to the wave, the request is over */
	d.global = (64u << 20) - 4096;
	call(c);
	e = run(&d, &s);
	assert_int_equal(e.word[0], TUTTI_EVENT_FAULT | 9 << 8 | TUTTI_CAUSE_BUS << 16 | TUTTI_ACCESS_READ << 24);
	assert_int_equal(e.word[1], 4 | 2 << 16);
	assert_int_equal(e.word[2], 0x3456789a);
	assert_int_equal(e.word[3], 0x12);
	assert_int_equal(e.word[4], 64u << 20);
	assert_int_equal(e.word[6], TUTTI_ENGINE_MOVER);
	assert_int_equal(sms.failed, 1);
	assert_int_equal(sms.done, 1);
	/* outside of shared memory, by a byte and by far */
	d.global = 0x100000;
	d.shared = SHARED_BYTES - d.bytes + 16;
	call(c);
	assert_int_equal(run(&d, &s).word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
	d.shared = ~15u;
	call(c);
	assert_int_equal(run(&d, &s).word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
	/* the receiving CTA is gone */
	d.shared = 0;
	sms.exited = true;
	call(c);
	assert_int_equal(run(&d, &s).word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
	sms.exited = false;
	/* a descriptor that makes no sense */
	d.op = TUTTI_MOVE_SHARED;
	d.flags &= ~TUTTI_MOVER_LINEAR;
	call(c);
	assert_int_equal(run(&d, &s).word[0] >> 16 & 0xff, TUTTI_CAUSE_SERVICE);
	assert_int_equal(sms.failed, sms.done);
	assert_true(card->alive);
}

/* Rows are moved at once as far as memory goes: the one that runs out of it is refused, those before it arrive. */
static void test_last_row(void **state)
{
	struct tutti_mover d = { .op = TUTTI_MOVE_LOAD, .global = (64u << 20) - 3 * 256 - 128,
				 .flags = TUTTI_MOVER_CALL | TUTTI_MOVER_LAST };
	struct tutti_mover_shape s = { .unit = 1, .count = { 240, 4, 1, 1 }, .stride = { 1, 256 }, .swizzle = 3 };
	struct tutti_event e;

	memset(card->memory + d.global, 7, 3 * 256 + 128);
	memset(sms.shared[0], 0, 1024);
	call((struct engines_call){ .barrier = 8192 });
	e = run(&d, &s);
	assert_int_equal(e.word[0] >> 16 & 0xff, TUTTI_CAUSE_BUS);
	assert_int_equal(e.word[4], 64u << 20);
	for (uint32_t i = 0; i < 720; i++)
		assert_int_equal(sms.shared[0][place(3, i)], 7);
	assert_int_equal(sms.shared[0][place(3, 240 * 4 - 1)], 0);
}

static void test_dropped(void **state)
{
	struct tutti_mover d = { .op = TUTTI_MOVE_LOAD, .global = 0x100000, .bytes = 4096,
				 .flags = TUTTI_MOVER_CALL | TUTTI_MOVER_LAST | TUTTI_MOVER_LINEAR };
	struct tutti_mover_shape s = { 0 };

	memset(card->memory + 0x100000, 1, 4096);
	sms.dropped = true;
	call((struct engines_call){ .barrier = 8192 });
	run(&d, &s);
	assert_int_equal(sms.done, 1);
	assert_int_equal(sms.shared[0][0], 0);
	assert_int_equal(*(uint64_t *)(sms.shared[0] + 8192), 0);
	assert_int_equal(card->counts[TUTTI_COUNTER_MOVER_BYTES], 0); /* not even for nobody */
	sms.dropped = false;
	d.op = TUTTI_MOVE_END;
	call((struct engines_call){ .barrier = 8192 });
	run(&d, &s);
	assert_int_equal(sms.done, 2);
	assert_int_equal(*(uint64_t *)(sms.shared[0] + 8192), 0);
}

static void test_ring(void **state)
{
	struct tutti_mover d = { .op = TUTTI_MOVE_COPY, .global = 0x100000, .other = 0x200000, .bytes = 1 << 20,
				 .flags = TUTTI_MOVER_EVENT | TUTTI_MOVER_LINEAR | TUTTI_MOVER_NO_SHAPE };
	struct tutti_mover_shape s = { 0 };
	struct tutti_event *events = (void *)(card->local + EVENTS);
	unsigned turns = 0;

	card->page->mover_notice = 3;
	for (unsigned i = 0; i < 4; i++) {
		d.tag = (uint16_t)i;
		start(d, &s);
	}
	while (mover_run(card))
		turns++;
	assert_true(turns >= 16); /* a turn is a bounded piece: the rest of the card goes on meanwhile */
	assert_int_equal(card->page->mover_head, 4);
	assert_int_equal(events[0].word[0], TUTTI_EVENT_MOVER);
	assert_int_equal(events[1].word[0], TUTTI_EVENT_MOVER | 1 << 16);
	assert_int_equal(events[2].word[0], TUTTI_EVENT_MOVER_ROOM);
	assert_int_equal(events[3].word[0], TUTTI_EVENT_MOVER | 2 << 16);
	assert_int_equal(events[4].word[0], TUTTI_EVENT_MOVER | 3 << 16);
}

#define PERF_BYTES (16u << 20)

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Only reported: the limit stands in a benchmark, where nothing else runs. */
static void test_speed(void **state)
{
	struct tutti_mover d = { .op = TUTTI_MOVE_LOAD, .flags = TUTTI_MOVER_CALL };
	struct tutti_mover_shape s = { .unit = 1, .count = { 256, 128, 1, 1 }, .stride = { 1, 8192 } };
	double best[2] = { 1e9, 1e9 }, t;

	for (unsigned round = 0; round < 5; round++) {
		t = seconds();
		for (uint32_t i = 0; i < PERF_BYTES; i += 32768) {
			d.global = 0x100000 + i % (1 << 20) / 128;
			call((struct engines_call){ .barrier = TUTTI_BARRIER_NONE });
			run(&d, &s);
		}
		t = seconds() - t;
		best[0] = t < best[0] ? t : best[0];
		t = seconds();
		for (uint32_t i = 0; i < PERF_BYTES; i += 256)
			memcpy(sms.shared[0] + i % 32768, card->memory + 0x100000 + i / 256 % 128 * 8192, 256);
		t = seconds() - t;
		best[1] = t < best[1] ? t : best[1];
	}
	print_message("# tile of 256 x 128 bytes: %.1f GB/s, memcpy of its rows %.1f GB/s\n", PERF_BYTES / best[0] / 1e9,
		      PERF_BYTES / best[1] / 1e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("TMA-08 TMA-09 TMA-15 TMA-21 TMA-22 TMA-23: random loads, filled, swizzled, multicast", test_loads),
		TEST("TMA-09 TMA-15 TMA-17: random stores", test_stores),
		TEST("TMA-01 TMA-16: random copies between global memories, both ways", test_global),
		TEST("TMA-25 TMA-26: shared memory to another CTA", test_shared),
		TEST("TMA-24 TMA-27: prefetch touches lines and sectors, counted", test_lines),
		TEST("TMA-20 TMA-27: traffic of a part of a box", test_lines_of_part),
		TEST("TMA-20: parts that a box does not have", test_bad_parts),
		TEST("TMA-04 TMA-28: refused accesses are told and end the request", test_faults),
		TEST("TMA-04: rows up to the end of memory", test_last_row),
		TEST("TMA-28: requests of killed CTAs move nothing", test_dropped),
		TEST("TMA-21: ring order, events, notice of room", test_ring),
		TEST("PERF-09: speed of a tile", test_speed),
	};

	return cmocka_run_group_tests_name("TMAU movers", tests, NULL, NULL);
}

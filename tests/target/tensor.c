// SPDX-License-Identifier: MIT
/*
 * Tiles and columns on the soft core: random requests, whose descriptors must be those that the host writes (there they
 * are compared with the oracle), and marked ones whose instructions are counted (PERF-07).
 */
#include "check.h"
#include "tensor/im2col.h"
#include "tensor/tensor_requests.h"
#include "tensor/tile.h"

static struct tutti_tensor_call call;

/* Callers know nothing of what such functions do. */
#ifdef __clang__
#define OPAQUE __attribute__((noinline, optnone))
#else
#define OPAQUE __attribute__((noipa))
#endif

/* The end of a plain request, and the way from there to the general one, which tests of descriptors do not want. */
void __wrap_plain_written(struct tensor_template *t);
void __wrap_tmau_run(void);

static bool plain;

OPAQUE void __wrap_plain_written(struct tensor_template *t)
{
	(void)t;
	mover_end();
	plain = true;
}

void __wrap_tmau_run(void)
{
}

static void seal(struct tutti_tensor *d)
{
	uint32_t sum = 0;

	d->version = TUTTI_TENSOR_VERSION;
	d->check = 0;
	for (unsigned i = 0; i < sizeof(*d) / 4; i++)
		sum += ((const uint32_t *)d)[i];
	d->check = -sum;
}

static void job(unsigned move)
{
	struct job *j = &tmau.job;

	*j = (struct job){ .call = &call, .t = &tmau.built, .word = move | TUTTI_MOVER_CALL << 8,
			   .shared = call.request.shared, .other = call.request.other,
			   .fills = move == TUTTI_MOVE_LOAD, .linear = move == TUTTI_MOVE_COPY };
}

/* What was written since @from goes into the test's vector. */
static void written(uint32_t first)
{
	for (; first != mover_tail(); first++) {
		const struct tutti_mover *from = &mover_slots[first % MOVER_SLOTS];
		unsigned flags = from->flags;

		check_word(from->op | flags << 8);
		check_word(from->shared);
		if (!(flags & TUTTI_MOVER_OUTSIDE)) {
			check_word((uint32_t)from->global);
			check_word((uint32_t)(from->global >> 32));
		}
		if (flags & TUTTI_MOVER_CLIPPED)
			check_vector(from->before, 6);
		if (flags & (TUTTI_MOVER_LINEAR | TUTTI_MOVER_PART))
			check_word(from->bytes);
		if (flags & TUTTI_MOVER_PART)
			check_vector(from->start, 2);
	}
}

static void tensor(struct tutti_tensor *d, unsigned mode, unsigned rank)
{
	*d = (struct tutti_tensor){ .type = TUTTI_F16, .rank = (uint8_t)rank, .mode = (uint8_t)mode };
	d->base = (uint64_t)target_roll(0x1000) << 32 | target_roll(0x10000000) << 4;
	for (unsigned i = 0; i < rank; i++) {
		d->size_less_1[i] = target_roll(200);
		d->traversal[i] = (uint8_t)(1 + target_roll(3));
		if (i)
			d->stride[i - 1] = (uint64_t)target_roll(target_roll(2) ? 0x1000 : 0x100000) << 8;
		if (mode == TUTTI_TILE)
			d->box[i] = (uint16_t)(i ? 1 + target_roll(9) : 8 + 8 * target_roll(3));
	}
	if (mode == TUTTI_IM2COL) {
		for (unsigned i = 0; i + 2 < rank; i++) {
			d->column.lower[i] = (int16_t)((int)target_roll(5) - 2);
			d->column.upper[i] = (int16_t)((int)target_roll(5) - 2);
		}
		d->column.channels = (uint16_t)(8 + 8 * target_roll(3));
		d->column.pixels = (uint16_t)(1 + target_roll(300));
	}
	seal(d);
}

static struct tutti_mover *next(unsigned move)
{
	struct tutti_mover *m = mover_begin();

	*(uint32_t *)m = move | TUTTI_MOVER_CALL << 8;
	m->shape = hal_local(&tmau.built.shape);
	m->shared = call.request.shared;
	plain = false;
	return m;
}

static bool at_once(void)
{
	struct tutti_mover *m = next(tmau.job.word & 0xff);

	if (tmau.built.plain == tmau.built.match)
		tile_plain(&tmau.built, &call.request, m);
	return plain;
}

static void compile(const struct tutti_tensor *d)
{
	struct tutti_tensor copy;

	descriptor_compile(&tmau.built, &copy, descriptor_copy(&copy, d));
}

static void any(unsigned mode, unsigned first)
{
	for (unsigned i = 0; i < 400; i++) {
		struct tutti_tensor d;
		uint32_t from = mover_tail();
		unsigned rank = first + i % (6 - first), rounds = 0;
		bool done;

		tensor(&d, mode, rank);
		compile(&d);
		check_word(tmau.built.error);
		if (tmau.built.error)
			continue;
		for (unsigned k = 0; k < rank; k++)
			call.request.coordinate[k] = (int32_t)target_roll(d.size_less_1[k] + 8) - 4;
		call.request.coordinate[0] &= ~7;
		for (unsigned k = 0; mode == TUTTI_IM2COL && k + 2 < rank; k++)
			call.request.coordinate[k + 1] = d.column.lower[k] + (int32_t)target_roll(tmau.built.range[k] + 1);
		call.request.offset = (uint16_t)(target_roll(4) << (rank == 5 ? 5 : 8) | target_roll(4));
		call.request.shared = target_roll(1000) * 16;
		job(target_roll(3) ? TUTTI_MOVE_LOAD : TUTTI_MOVE_STORE);
		done = at_once() || (mode == TUTTI_IM2COL ? im2col_start(8) : tile_start(8));
		while (!done && rounds++ < 400) {
			written(from);
			from = mover_tail();
			done = mode == TUTTI_TILE ? tmau.job.kind == JOB_SLICES ? tile_slices(8) : tile_clipped(8) :
						    im2col_run(8);
		}
		CHECK(done);
		written(from);
	}
}

static void tiles(void)
{
	any(TUTTI_TILE, 1);
}

static void columns(void)
{
	any(TUTTI_IM2COL, 3);
}

/* ---- counted: tensor_counted() says between which marks */

static void mark(uint32_t value)
{
#ifdef __riscv
	HAL_REGISTER(TUTTI_REG_MARK) = value;
#endif
}

static void dense(struct tutti_tensor *d, unsigned mode, unsigned rank)
{
	uint64_t bytes = 0;

	*d = (struct tutti_tensor){ .type = TUTTI_F16, .rank = (uint8_t)rank, .mode = (uint8_t)mode, .base = 0x12345600 };
	for (unsigned i = 0; i < rank; i++) {
		d->size_less_1[i] = i ? 31 : 63;
		d->traversal[i] = 1;
		if (i)
			d->stride[i - 1] = bytes;
		bytes = i ? bytes * 32 : 128;
		if (mode == TUTTI_TILE)
			d->box[i] = (uint16_t)(i == 4 ? 8 : i ? 4 : 16);
	}
	if (mode == TUTTI_IM2COL) {
		for (unsigned i = 0; i + 2 < rank; i++)
			d->column.lower[i] = d->column.upper[i] = -1;
		d->column.channels = 16;
		d->column.pixels = 100;
	}
	seal(d);
	compile(d);
}

static void count(uint32_t id, bool (*start)(int room), int32_t coordinate)
{
	for (unsigned i = 0; i < TUTTI_TENSOR_RANK; i++)
		call.request.coordinate[i] = i ? coordinate : 0;
	call.request.offset = 0;
	job(TUTTI_MOVE_LOAD);
	mark(id);
	start(24);
	mark(id | 0x80);
}

static OPAQUE bool nothing(int room)
{
	return true;
}

static OPAQUE void nothing_plain(struct tensor_template *t, const struct tutti_tensor_request *r,
				 struct tutti_mover *m)
{
	(void)r;
	(void)m;
	__wrap_plain_written(t);
}

/* One whose marks stand right around the call. */
#define COUNT_PLAIN(id, function, outer)                                      \
	do {                                                              \
		struct tutti_mover *m = next(TUTTI_MOVE_LOAD);            \
									  \
		for (unsigned i = 0; i < TUTTI_TENSOR_RANK; i++)          \
			call.request.coordinate[i] = i ? (outer) : 0;       \
		mark(id);                                                 \
		function(&tmau.built, &call.request, m);                  \
		mark((id) | 0x80);                                        \
	} while (0)

static void counted(void)
{
	struct tutti_tensor d;

	count(TARGET_MARK_NOTHING, nothing, 0);
	COUNT_PLAIN(TARGET_MARK_NOTHING + 1, nothing_plain, 0);
	for (unsigned rank = 1; rank <= 5; rank++) {
		dense(&d, TUTTI_TILE, rank);
		if (rank < TUTTI_TENSOR_RANK) {
			COUNT_PLAIN(TARGET_MARK_INTERIOR + rank, tile_plain, 1);
			COUNT_PLAIN(TARGET_MARK_EDGE + rank, tile_edge, -1);
		} else {
			count(TARGET_MARK_INTERIOR + rank, tile_start, 1);
			count(TARGET_MARK_EDGE + rank, tile_start, -1);
		}
	}
	for (unsigned rank = 3; rank <= 5; rank++) {
		dense(&d, TUTTI_IM2COL, rank);
		COUNT_PLAIN(TARGET_MARK_COLUMN + rank, im2col_plain, 7);
	}
	mark(TARGET_MARK_SETUP);
	compile(&d);
	mark(TARGET_MARK_SETUP | 0x80);
	CHECK(!tmau.built.error);
}

const struct target_test target_tensor[] = {
	{ "REL-02 TMA-08 TMA-09: tiles", tiles },
	{ "REL-02 TMA-12: columns", columns },
	{ "PERF-07: counted requests", counted },
	{ 0 },
};

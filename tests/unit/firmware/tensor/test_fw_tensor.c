// SPDX-License-Identifier: MIT
/*
 * The engine against the element-by-element oracle: seeded random descriptors and requests over every type, rank,
 * mode, box, stride, traversal, swizzle, interleave, fill, corner, offset and direction.
 */
/* link: runtime/code/tensor.c */
#include "tensor_oracle.h"

#include "tutti/tensor_api.h"

#define BYTES 8192u /* of a request, about */
#define VA_TOP (1ull << 47)

static uint32_t between(uint32_t low, uint32_t high)
{
	return low + roll(high - low + 1);
}

static uint32_t any_size(void)
{
	switch (roll(12)) {
	case 0:
		return 1;
	case 1:
		return between(1, 1000);
	case 2:
		return roll32();
	}
	return between(1, 40);
}

/* Bytes of the tensor, or of one that is too large. */
static __uint128_t extent(const struct tutti_tensor *d)
{
	__uint128_t bytes = d->interleave ? oracle_unit(d) : (d->size_less_1[0] + 1ull) * oracle_unit(d);
	unsigned i;

	for (i = d->interleave ? 0 : 1; i < d->rank; i++)
		bytes += (__uint128_t)(oracle_size(d, i) - 1) *
			 (i ? d->stride[i - 1] : (__uint128_t)d->stride[d->rank - 3] * (d->size_less_1[d->rank - 2] + 1ull));
	return bytes;
}

/* Elements do not overlap: each dimension, in the order of memory, holds all of those inside it. */
static void dense_strides(struct tutti_tensor *d)
{
	unsigned align = d->interleave == TUTTI_INTERLEAVE_32 ? 32 : 16, i;
	uint64_t inner = d->interleave ? oracle_unit(d) : (d->size_less_1[0] + 1ull) * oracle_unit(d);

	for (i = 1; i < d->rank; i++) {
		inner = (inner + roll(3) * align + align - 1) / align * align;
		d->stride[i - 1] = inner;
		inner *= d->size_less_1[i] + 1ull;
		if (d->interleave && i == d->rank - 2u)
			inner *= (uint64_t)oracle_size(d, 0);
	}
}

static void any_strides(struct tutti_tensor *d)
{
	unsigned align = d->interleave == TUTTI_INTERLEAVE_32 ? 32 : 16, i;

	for (i = 0; i + 1 < d->rank; i++)
		d->stride[i] = ((uint64_t)roll32() << 8 >> roll(40)) / align * align;
}

/* Sizes, strides and a base that go together. */
static void any_tensor(struct tutti_tensor *d, bool overlap)
{
	unsigned i;

	do {
		for (i = 0; i < d->rank; i++)
			d->size_less_1[i] = any_size() - 1;
		if (overlap && roll(2))
			any_strides(d);
		else
			dense_strides(d);
		for (i = 0; i + 1 < d->rank && d->stride[i] < 1ull << 40; i++)
			;
	} while (i + 1 < d->rank || extent(d) > VA_TOP);
	d->base = (uint64_t)roll32() << 32 | roll32();
	d->base %= VA_TOP - (uint64_t)extent(d) + 1;
	if (!roll(8)) /* across 4 GiB */
		d->base = (d->base >> 32 << 32) + 0u - (roll(2) ? 32 : (uint32_t)(extent(d) / 2));
	if (d->base > VA_TOP - extent(d))
		d->base = 0;
	d->base &= ~31ull;
}

static void any_form(struct tutti_tensor *d, unsigned mode)
{
	d->type = (uint8_t)roll(TUTTI_TENSOR_TYPES);
	d->mode = (uint8_t)mode;
	d->rank = (uint8_t)between(mode ? 3 : 1, 5);
	d->interleave = (uint8_t)(d->rank >= 3 && !roll(4) ? between(1, 2) : 0);
	d->swizzle = (uint8_t)(d->interleave == TUTTI_INTERLEAVE_32 ? TUTTI_SWIZZLE_32 : roll(4));
	d->fill = (uint8_t)roll(3);
	if (d->fill == TUTTI_FILL_NAN && d->type < TUTTI_F16)
		d->fill = TUTTI_FILL_CONSTANT;
	d->constant = (uint64_t)roll32() << 32 | roll32();
	d->promotion = (uint8_t)roll(4);
	for (unsigned i = 0; i < 5; i++)
		d->traversal[i] = (uint8_t)(roll(2) ? 1 : between(1, 8));
	if (!d->interleave && !roll(4))
		d->traversal[0] = 77; /* ignored */
}

/* Units of dimension 0: their bytes are multiples of 16, and fit the swizzle. */
static unsigned any_row(const struct tutti_tensor *d)
{
	unsigned granule = d->interleave ? 1 : 16 / oracle_unit(d), most = d->interleave ? 12 : 256 / granule;

	if (!d->interleave && d->swizzle)
		most = (16u << d->swizzle) / oracle_unit(d) / granule;
	return granule * (roll(3) ? between(1, most < 4 ? most : 4) : between(1, most < 16 ? most : 16));
}

static void any_tile(struct tutti_tensor *d)
{
	uint32_t left;

	d->box[0] = (uint16_t)any_row(d);
	left = 1 + BYTES / oracle_unit(d) / d->box[0];
	for (unsigned i = 1; i < d->rank; i++) {
		uint32_t step = d->traversal[i], most = left * step > 256 ? 256 : left * step;

		d->box[i] = (uint16_t)between(1, roll(3) && most > 12 ? 12 : most);
		left = 1 + left / ((d->box[i] + step - 1) / step);
	}
}

static void any_column(struct tutti_tensor *d, bool store)
{
	int32_t end = 1 << (16 / (d->rank - 2) - 1);

	do {
		any_tensor(d, !store);
		for (unsigned i = 0; i + 2 < d->rank; i++) {
			int32_t reach = roll(6) ? 5 : end;

			d->column.lower[i] = (int16_t)(store ? (int)roll(3) : (int)roll(2u * (uint32_t)reach) - reach);
			d->column.upper[i] = (int16_t)(store ? -(int)roll(3) : (int)roll(2u * (uint32_t)reach) - reach);
		}
		d->column.channels = (uint16_t)any_row(d);
		d->column.pixels = (uint16_t)between(1, roll(6) ? 100 : 1024);
		if (d->column.channels * oracle_unit(d) * d->column.pixels > 2 * BYTES)
			d->column.pixels = (uint16_t)(1 + 2 * BYTES / (d->column.channels * oracle_unit(d)));
		card_descriptor(0, d);
	} while (tutti_tensor_check(&card.descriptor[0]));
}

static int32_t any_coordinate(int64_t size, uint32_t reach)
{
	int64_t c;

	switch (roll(24)) {
	case 0:
		return (int32_t)roll32();
	case 1:
		return INT32_MIN + (int32_t)roll(8);
	case 2:
		return INT32_MAX - (int32_t)roll(8);
	case 3:
	case 4:
		c = size - 1 - roll(reach + 2);
		break;
	case 5:
	case 6:
	case 7:
		c = -(int64_t)roll(reach + 2);
		break;
	default:
		c = size > reach ? (int64_t)(((uint64_t)roll32() << 32 | roll32()) % (uint64_t)(size - reach + 1)) : 0;
	}
	return c > INT32_MAX ? INT32_MAX : (int32_t)c;
}

static void any_request(const struct tutti_tensor *d, struct tutti_tensor_request *r, unsigned op)
{
	uint32_t granule = d->interleave || op == TUTTI_COPY_PREFETCH ? 1 : 16 / oracle_unit(d);
	uint32_t bytes = d->interleave ? oracle_unit(d) : 1;

	*r = (struct tutti_tensor_request){ .op = (uint8_t)op, .mode = d->mode, .rank = d->rank,
					    .flags = TUTTI_REQUEST_TENSOR, .barrier = TUTTI_BARRIER_NONE };
	for (unsigned i = 0; i < d->rank; i++)
		r->coordinate[i] = any_coordinate(oracle_size(d, i), d->mode == TUTTI_TILE ? d->box[i] : 40);
	r->coordinate[0] -= r->coordinate[0] % (int32_t)granule;
	bytes *= tutti_tensor_box_bytes(d) / bytes;
	assert_in_range(bytes, 16, RIG_SHARED - 256);
	r->shared = roll((RIG_SHARED - bytes - 128) / 16) * 16;
	if (op == TUTTI_COPY_LOAD)
		r->barrier = roll(RIG_SHARED / 8) * 8;
	if (op == TUTTI_COPY_GLOBAL || op == TUTTI_COPY_SCATTER)
		r->other = 0x600000000000 + (roll(3) ? 0u : 0xfffff000u) + roll(4) * 16;
	if (op == TUTTI_COPY_REDUCE) {
		uint32_t allowed = tutti_tensor_reductions(d->type);

		r->reduce = TUTTI_REDUCE_ADD;
		while (allowed && !(allowed >> r->reduce & 1))
			r->reduce = (uint8_t)roll(TUTTI_REDUCE_OPS);
		if (!allowed) {
			r->op = TUTTI_COPY_STORE;
			r->reduce = 0;
		}
	}
}

static bool is_store(unsigned op)
{
	return op == TUTTI_COPY_STORE || op == TUTTI_COPY_REDUCE || op == TUTTI_COPY_SCATTER;
}

static const uint8_t ops[] = { TUTTI_COPY_LOAD, TUTTI_COPY_LOAD, TUTTI_COPY_LOAD, TUTTI_COPY_STORE, TUTTI_COPY_REDUCE,
			       TUTTI_COPY_GLOBAL, TUTTI_COPY_SCATTER, TUTTI_COPY_PREFETCH };

static void scribble(void)
{
	for (unsigned i = 0; i < RIG_SHARED; i += 4)
		*(uint32_t *)(card.shared + i) = roll32();
}

/* Now and then the descriptor comes with the request. */
static void give(const struct tutti_tensor *d, struct tutti_tensor_request *r)
{
	r->descriptor = card_descriptor_new(roll(RIG_SETS), d);
	if (!roll(4))
		r->flags |= TUTTI_REQUEST_INLINE;
	oracle_compare(d, r);
}

static void tiles(void **state)
{
	unsigned round, most = 0;

	card_boot();
	for (round = 0; round < 24000; round++) {
		struct tutti_tensor d = { 0 };
		struct tutti_tensor_request r;
		unsigned op = ops[roll(sizeof(ops))];

		seed(round);
		any_form(&d, TUTTI_TILE);
		any_tensor(&d, !is_store(op));
		do
			any_tile(&d);
		while (tutti_tensor_box_bytes(&d) > 2 * BYTES);
		card_descriptor(0, &d);
		assert_string_equal(tutti_tensor_strerror(tutti_tensor_check(&card.descriptor[0])), "descriptor is good");
		any_request(&d, &r, op);
		card.slow = !roll(4);
		if (!roll(16))
			scribble();
		give(&d, &r);
		assert_true(d.rank == 5 || card.movers + card.ends == 1);
		if (card.movers > most)
			most = card.movers;
	}
	assert_true(most > 24); /* more than the ring holds */
}

static void columns(void **state)
{
	static const unsigned limit[] = { 0, 0, 0, 2, 3 };
	unsigned round, most[6] = { 0 };

	card_boot();
	for (round = 0; round < 12000; round++) {
		struct tutti_tensor d = { 0 };
		struct tutti_tensor_request r;
		unsigned op = ops[roll(sizeof(ops))], i;
		bool store;

		seed(round);
		store = is_store(op);
		any_form(&d, TUTTI_IM2COL);
		any_column(&d, store);
		any_request(&d, &r, op);
		for (i = 0; i + 2 < d.rank; i++) {
			int64_t lower = d.column.lower[i], range = (int64_t)d.size_less_1[i + 1] + d.column.upper[i] - lower;
			int64_t step = roll(2) ? 1 : d.traversal[i + 1];

			range = range > INT32_MAX - 65536 ? INT32_MAX - 65536 : range;
			range = roll((uint32_t)range + 1);
			r.coordinate[i + 1] = (int32_t)(lower + (roll(3) ? range / step * step : roll(2) ? 0 : range));
		}
		for (i = 0; store && i < d.rank; i++)
			if (r.coordinate[i] < 0)
				r.coordinate[i] = i && i + 1 < d.rank ? d.column.lower[i - 1] : 0;
		if (!store)
			r.offset = (uint16_t)(roll(0x10000) & (d.rank == 5 ? 0x7fff : 0xffff) &
					      (roll(2) ? 0xffff : d.rank == 5 ? 0x0c63 : d.rank == 4 ? 0x0303 : 3));
		card.slow = !roll(4);
		give(&d, &r);
		if (d.rank < 5)
			assert_true(card.boxes <= limit[d.rank]);
		if (card.boxes > most[d.rank])
			most[d.rank] = card.boxes;
	}
	assert_int_equal(most[3], 2);
	assert_int_equal(most[4], 3);
	assert_true(most[5] >= 4);
}

/* Every rule, by the encoder's check of the same bytes. */
static void same_rules(void **state)
{
	static struct tensor_template t;
	unsigned round, seen[TUTTI_TENSOR_ERRORS] = { 0 }, i;

	for (round = 0; round < 200000; round++) {
		struct tutti_tensor d __attribute__((aligned(64))) = { 0 }, copy;

		seed(round);
		any_form(&d, roll(2));
		if (d.mode == TUTTI_TILE) {
			any_tensor(&d, true);
			any_tile(&d);
		} else {
			any_column(&d, false);
		}
		card_descriptor(1, &d);
		d = card.descriptor[1];
		for (i = roll(3); i; i--) {
			unsigned at = roll(128), width = roll(8);

			((uint8_t *)&d)[at] ^= (uint8_t)(1u << width);
			if (!roll(4))
				((uint8_t *)&d)[at] = (uint8_t)roll32();
			if (!roll(4))
				*(uint64_t *)((uint8_t *)&d + at / 8 * 8) = (uint64_t)roll32() << 32 >> roll(32);
		}
		if (roll(20))
			tutti_tensor_seal(&d);
		descriptor_compile(&t, &copy, descriptor_copy(&copy, &d));
		assert_int_equal(t.error, tutti_tensor_check(&d));
		assert_true(!t.error == (t.match != TENSOR_NO_MATCH));
		seen[t.error]++;
	}
	for (i = TUTTI_TENSOR_ERROR_VERSION; i <= TUTTI_TENSOR_ERROR_PIXELS; i++)
		if (i != TUTTI_TENSOR_ERROR_SIZE) /* cannot be written into a descriptor */
			assert_true(seen[i]);
}

/*
 * Strides and sizes near powers of two, whose products do not fit 64 bits, too: a tensor that ends inside the address space is
 * good, and one that is longer by a byte, or by any number of them, is refused (TMA-06).
 */
static void far_ends(void **state)
{
	static struct tensor_template t;
	unsigned good = 0, just = 0;

	for (unsigned round = 0; round < 60000; round++) {
		struct tutti_tensor d = { .type = TUTTI_U8, .traversal = { 1, 1, 1, 1, 1 }, .box = { 16, 1, 1, 1, 1 } }, copy;
		__uint128_t room;

		seed(round);
		d.rank = (uint8_t)between(1, 5);
		if (d.rank >= 3 && !roll(4)) {
			d.interleave = (uint8_t)between(1, 2);
			d.swizzle = d.interleave == TUTTI_INTERLEAVE_32 ? TUTTI_SWIZZLE_32 : 0;
		}
		for (unsigned i = 0; i < d.rank; i++) {
			d.size_less_1[i] = (uint32_t)((1ull << roll(roll(2) ? 33 : 9)) - roll(2) - roll(2));
			if (i)
				d.stride[i - 1] = (1ull << between(5, 39)) - (roll(3) ? 0 : 32);
		}
		room = extent(&d) > VA_TOP ? 0 : VA_TOP - extent(&d);
		d.base = ((uint64_t)room & ~31ull) + 32 * roll(3);
		if (!roll(3))
			d.base = 0;
		card_descriptor(0, &d);
		d = card.descriptor[0];
		descriptor_compile(&t, &copy, descriptor_copy(&copy, &d));
		assert_int_equal(t.error, extent(&d) + d.base > VA_TOP ? TUTTI_TENSOR_ERROR_EXTENT : 0);
		good += !t.error;
		just += !t.error && extent(&d) + d.base > VA_TOP - 32;
	}
	assert_true(good > 5000 && just > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TMA-01 TMA-08 TMA-09 TMA-15 TMA-16 TMA-17 TMA-20 TMA-24", tiles),
		RIG_TEST("TMA-11 TMA-12 TMA-16 TMA-17 TMA-20", columns),
		RIG_TEST("TMA-06 TMA-11 TMA-19", same_rules),
		RIG_TEST("TMA-06 TMA-19", far_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

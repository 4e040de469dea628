/* SPDX-License-Identifier: MIT */
/*
 * What tensor requests mean, element by element, written from the definitions (TMA-08 .. TMA-12, TMA-15, TMA-16). It
 * shares no code with the engine: no boxes, no clipping, no templates.
 */
#ifndef TUTTI_TEST_TENSOR_ORACLE_H
#define TUTTI_TEST_TENSOR_ORACLE_H

#include "tensor_rig.h"

static struct oracle {
	uint8_t shared[RIG_SHARED]; /* expected */
	struct byte_set global;
	uint32_t bytes, outside;    /* of the dense side */
} oracle;

static const uint8_t oracle_type_bytes[TUTTI_TENSOR_TYPES] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };

static inline unsigned oracle_unit(const struct tutti_tensor *d)
{
	return d->interleave ? 8u << d->interleave : oracle_type_bytes[d->type];
}

/* Units along dimension 0. */
static inline int64_t oracle_size(const struct tutti_tensor *d, unsigned i)
{
	int64_t size = (int64_t)d->size_less_1[i] + 1;
	unsigned slice = oracle_unit(d);

	return i || !d->interleave ? size : (size * oracle_type_bytes[d->type] + slice - 1) / slice;
}

static inline uint64_t oracle_stride(const struct tutti_tensor *d, unsigned i)
{
	if (i)
		return d->stride[i - 1];
	if (d->interleave)
		return d->stride[d->rank - 3] * ((uint64_t)d->size_less_1[d->rank - 2] + 1);
	return oracle_unit(d);
}

static inline uint8_t oracle_fill(const struct tutti_tensor *d, unsigned byte)
{
	switch (d->fill) {
	case TUTTI_FILL_ZERO:
		return 0;
	case TUTTI_FILL_NAN:
		return byte & 1 ? 0x7f : 0xf7;
	}
	return (uint8_t)(d->constant >> 8 * (byte % oracle_type_bytes[d->type]));
}

static inline uint32_t oracle_place(const struct tutti_tensor *d, uint32_t at)
{
	static const uint32_t rows[] = { 0, 1, 3, 7 };

	/* 16-byte atom k of 128-byte row r goes to atom k ^ (r mod 2, 4, 8) */
	return (at & ~0x70u) | ((at >> 4 & 7) ^ (at >> 7 & rows[d->swizzle])) << 4;
}

/* Unit number @n of the dense side; @at: its coordinates in the tensor. */
static inline void oracle_element(const struct tutti_tensor *d, const struct tutti_tensor_request *r, uint32_t n,
				  const int64_t *at)
{
	uint64_t global = d->base;
	unsigned unit = oracle_unit(d), i;
	bool inside = true;

	for (i = 0; i < d->rank; i++) {
		inside = inside && at[i] >= 0 && at[i] < oracle_size(d, i);
		global += (uint64_t)at[i] * oracle_stride(d, i);
	}
	for (i = 0; i < unit; i++) {
		uint64_t dense = n * unit + i;
		uint8_t *shared = &oracle.shared[oracle_place(d, (uint32_t)(r->shared + dense)) % RIG_SHARED];
		uint8_t value = inside ? card.memory(global + i) : oracle_fill(d, i);

		switch (r->op) {
		case TUTTI_COPY_LOAD:
			*shared = value;
			break;
		case TUTTI_COPY_STORE:
		case TUTTI_COPY_REDUCE:
			if (inside)
				byte_set_put(&oracle.global, global + i, *shared);
			break;
		case TUTTI_COPY_GLOBAL:
			byte_set_put(&oracle.global, r->other + dense, value);
			break;
		case TUTTI_COPY_SCATTER:
			if (inside)
				byte_set_put(&oracle.global, global + i, card.memory(r->other + dense));
			break;
		case TUTTI_COPY_PREFETCH:
			if (inside)
				byte_set_put(&oracle.global, global + i, 0);
			break;
		}
		oracle.bytes++;
		oracle.outside += !inside;
	}
}

/* Figure 7b: a loop a dimension, coordinate and traversal stride. */
static inline void oracle_tile(const struct tutti_tensor *d, const struct tutti_tensor_request *r)
{
	int64_t end[5], step[5], at[5] = { 0 };
	const int32_t *c = r->coordinate;
	uint32_t n = 0;
	unsigned i;

	for (i = 0; i < 5; i++) {
		step[i] = i < d->rank && (i || d->interleave) ? d->traversal[i] : 1;
		end[i] = i < d->rank ? (int64_t)c[i] + d->box[i] : c[i] + 1ll;
	}
#define LOOP(i) for (at[i] = c[i]; at[i] < end[i]; at[i] += step[i])
	LOOP(4) LOOP(3) LOOP(2) LOOP(1) LOOP(0)
		oracle_element(d, r, n++, at);
#undef LOOP
}

/* TMA-12, step by step. */
static inline void oracle_column(const struct tutti_tensor *d, const struct tutti_tensor_request *r)
{
	unsigned wheels = d->rank - 2u, bits = 16 / wheels, k, i;
	int64_t pixel[4], at[5];
	uint32_t n = 0;

	for (i = 0; i <= wheels; i++)
		pixel[i] = r->coordinate[i + 1];
	for (k = 0; k < d->column.pixels; k++) {
		for (i = 0; i <= wheels; i++)
			at[i + 1] = pixel[i] + (i < wheels ? r->offset >> bits * i & ((1 << bits) - 1) : 0);
		for (i = 0; i < d->column.channels; i++) {
			at[0] = (int64_t)r->coordinate[0] + i;
			oracle_element(d, r, n++, at);
		}
		for (i = 0; i < wheels; i++) {
			pixel[i] += d->traversal[i + 1];
			if (pixel[i] <= (int64_t)d->size_less_1[i + 1] + d->column.upper[i])
				break;
			pixel[i] = d->column.lower[i];
		}
		if (i == wheels)
			pixel[i]++;
	}
}

static inline void oracle_do(const struct tutti_tensor *d, const struct tutti_tensor_request *r)
{
	oracle.bytes = oracle.outside = 0;
	byte_set_clear(&oracle.global);
	if (d->mode == TUTTI_TILE)
		oracle_tile(d, r);
	else
		oracle_column(d, r);
}

/* Carry out @r on both sides and compare everything. */
static inline void oracle_compare(const struct tutti_tensor *d, const struct tutti_tensor_request *r)
{
	memcpy(oracle.shared, card.shared, RIG_SHARED);
	oracle_do(d, r);
	card_do(r);
	assert_int_equal(card_fault(), 0);
	assert_int_equal(memcmp(card.shared, oracle.shared, RIG_SHARED), 0);
	assert_true(byte_set_equal(&card.global, &oracle.global));
	if (r->op == TUTTI_COPY_LOAD || r->op == TUTTI_COPY_GLOBAL) {
		assert_int_equal(card.moved, oracle.bytes);
		assert_int_equal(card.filled, oracle.outside);
	}
	if (card.movers && r->op <= TUTTI_COPY_REDUCE)
		assert_int_equal(card.reduce, r->reduce);
}

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Random tensors, descriptors and requests, all of them legal, from a seed */
#ifndef TUTTI_TENSOR_RANDOM_H
#define TUTTI_TENSOR_RANDOM_H

#include <stdlib.h>
#include <string.h>

#include "tensor_oracle.h"

#define RANDOM_REGION (96u << 10) /* bytes of memory that a tensor lies in, with space around it */
#define RANDOM_SHARED (40u << 10) /* bytes for a box and its start */

static uint64_t random_state = 1;

static inline uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dull;
}

/** any() - a number from 0 to n - 1. */
static inline uint32_t any(uint32_t n)
{
	return (uint32_t)((random_bits() >> 32) % n);
}

static inline int32_t between(int32_t low, int32_t high)
{
	return low + (int32_t)any((uint32_t)(high - low + 1));
}

static inline void random_fill(void *to, size_t bytes)
{
	uint64_t *word = to;

	for (size_t i = 0; i < bytes / 8; i++)
		word[i] = random_bits();
}

/** random_view() - sizes, strides, type. Return: false if it became too large. */
static inline bool random_view(struct tutti_tensor_view *v, unsigned least_rank, bool overlap)
{
	uint64_t extent, unit = 16, rows;

	memset(v, 0, sizeof(*v));
	v->type = any(TUTTI_TENSOR_TYPES);
	v->rank = least_rank + any(6 - least_rank);
	v->interleave = v->rank >= 3 && !any(3) ? 1 + any(2) : 0;
	v->swizzle = v->interleave == TUTTI_INTERLEAVE_32 ? TUTTI_SWIZZLE_32 : any(4);
	v->fill = any(3);
	if (v->fill == TUTTI_FILL_NAN && v->type < TUTTI_F16)
		v->fill = TUTTI_FILL_ZERO;
	v->constant = v->fill == TUTTI_FILL_CONSTANT ? random_bits() : 0;
	v->promotion = any(4);
	if (v->interleave == TUTTI_INTERLEAVE_32)
		unit = 32;
	for (unsigned d = 0; d < v->rank; d++) {
		v->size[d] = 1 + any(d ? 9 : v->interleave ? 70 : 40);
		v->traversal[d] = any(3) ? 1 : 1 + any(4);
	}
	extent = v->size[0] * oracle_type_bytes(v->type);
	if (v->interleave)
		extent = unit == 32 ? 32 : 16;
	rows = (extent + unit - 1) / unit * unit;
	for (unsigned d = 0; d + 1 < v->rank; d++) {
		v->stride[d] = rows + (any(2) ? 0 : unit * any(5));
		if (overlap && !any(12))
			v->stride[d] = any(2) ? TUTTI_STRIDE_BROADCAST : unit;
		rows = (v->stride[d] == TUTTI_STRIDE_BROADCAST ? unit : v->stride[d]) * v->size[d + 1];
		if (v->interleave && d + 3 == v->rank) /* all slices of an image */
			rows *= (v->size[0] * oracle_type_bytes(v->type) + unit - 1) / unit;
	}
	return rows < RANDOM_REGION / 2;
}

static inline uint32_t random_row(const struct tutti_tensor_view *v)
{
	uint32_t type = oracle_type_bytes(v->type), most = v->swizzle ? 16u << v->swizzle : 160;

	if (v->interleave)
		return 1 + any(5);
	return 16 * (1 + any((most < 256 * type ? most : 256 * type) / 16)) / type;
}

/** random_tile(), random_column() - a descriptor of a tensor at @base. Return: false: try again. */
static inline bool random_tile(struct tutti_tensor *t, uint8_t *base, bool overlap)
{
	struct tutti_tiled o = { 0 };

	if (!random_view(&o.tensor, 1, overlap))
		return false;
	o.tensor.base = base;
	o.box[0] = random_row(&o.tensor);
	for (unsigned d = 1; d < o.tensor.rank; d++)
		o.box[d] = 1 + any(9);
	return !tutti_tensor_encode_tiled(t, &o);
}

static inline bool random_column(struct tutti_tensor *t, uint8_t *base, bool overlap, bool store)
{
	struct tutti_im2col o = { 0 };

	if (!random_view(&o.tensor, 3, overlap))
		return false;
	o.tensor.base = base;
	o.channels = random_row(&o.tensor);
	o.pixels = 1 + any(any(4) ? 40 : 120);
	for (unsigned d = 0; d + 2 < o.tensor.rank; d++) {
		o.lower[d] = store ? between(0, 2) : between(-4, 2);
		o.upper[d] = store ? between(-2, 0) : between(-4, 4);
	}
	return !tutti_tensor_encode_im2col(t, &o);
}

/** random_place() - coordinates (and offset) of a legal request. */
static inline void random_place(const struct tutti_tensor *t, bool store, int32_t c[5], uint16_t *offset)
{
	uint32_t granule = t->interleave ? 1 : 16 / oracle_type_bytes(t->type);
	int32_t size0 = (int32_t)t->size_less_1[0] + 1;
	unsigned n = t->rank - 2u, bits = t->rank > 2 ? 16 / n : 0;

	*offset = 0;
	c[0] = between(-3, size0 / (int32_t)granule + 2) * (int32_t)granule;
	if (t->interleave)
		c[0] = between(-2, 6);
	if (t->mode == TUTTI_TILE) {
		for (unsigned d = 1; d < t->rank; d++)
			c[d] = any(8) ? between(-5, (int32_t)t->size_less_1[d] + 3) : between(-100, 100);
		return;
	}
	for (unsigned d = 0; d < n; d++) {
		c[d + 1] = between(t->column.lower[d], (int32_t)t->size_less_1[d + 1] + t->column.upper[d]);
		if (!store)
			*offset |= (uint16_t)((any(8) ? any(5) : any(1u << bits)) << bits * d);
	}
	c[n + 1] = between(store ? 0 : -2, (int32_t)t->size_less_1[n + 1] + 2);
	if (store && c[0] < 0)
		c[0] = 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What tensor requests mean, element by element
 *
 * Written from the definitions (spec TMA-08 .. TMA-17; the nested loops of figure 7b, the walk of TMA-12), without any
 * code of library, firmware or card. Slow.
 */
#ifndef TUTTI_TENSOR_ORACLE_H
#define TUTTI_TENSOR_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arithmetic_oracle.h"
#include "tutti/tensor_api.h"

/** struct oracle_element - one element (with interleave: one slice) in the order of shared memory. */
struct oracle_element {
	uint64_t address; /* 0 = outside of the tensor */
	uint32_t at;      /* byte of the dense side */
};

struct oracle_view {
	const struct tutti_tensor *t;
	uint32_t bytes;          /* of an element or slice */
	uint64_t count[5];       /* of the tensor; [0] in elements or slices */
	uint64_t step[5];        /* bytes along each dimension */
	struct oracle_element *to;
	size_t n;
};

static inline uint32_t oracle_type_bytes(unsigned type)
{
	static const uint8_t bytes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };

	return bytes[type];
}

static inline void oracle_view(struct oracle_view *v, const struct tutti_tensor *t, struct oracle_element *to)
{
	uint32_t type = oracle_type_bytes(t->type);

	v->t = t;
	v->to = to;
	v->n = 0;
	v->bytes = t->interleave == TUTTI_INTERLEAVE_16 ? 16 : t->interleave == TUTTI_INTERLEAVE_32 ? 32 : type;
	for (unsigned d = 0; d < 5; d++) {
		v->count[d] = d < t->rank ? t->size_less_1[d] + 1ull : 1;
		v->step[d] = d && d < t->rank ? t->stride[d - 1] : 0;
	}
	v->step[0] = v->bytes;
	if (t->interleave) {
		v->count[0] = (v->count[0] * type + v->bytes - 1) / v->bytes;
		v->step[0] = v->step[t->rank - 2] * v->count[t->rank - 2];
	}
}

static inline void oracle_put(struct oracle_view *v, const int64_t x[5])
{
	uint64_t address = v->t->base;
	bool inside = true;

	for (unsigned d = 0; d < v->t->rank; d++) {
		inside &= x[d] >= 0 && (uint64_t)x[d] < v->count[d];
		address += (uint64_t)x[d] * v->step[d];
	}
	v->to[v->n] = (struct oracle_element){ inside ? address : 0, (uint32_t)v->n * v->bytes };
	v->n++;
}

static inline size_t oracle_tile(struct oracle_view *v, const int32_t c[5])
{
	const struct tutti_tensor *t = v->t;
	uint32_t n[5], stride[5];
	int64_t x[5];

	for (unsigned d = 0; d < 5; d++) {
		stride[d] = d < t->rank && (d || t->interleave) ? t->traversal[d] : 1;
		n[d] = d < t->rank ? (t->box[d] + stride[d] - 1) / stride[d] : 1;
	}
	for (uint32_t i4 = 0; i4 < n[4]; i4++)
		for (uint32_t i3 = 0; i3 < n[3]; i3++)
			for (uint32_t i2 = 0; i2 < n[2]; i2++)
				for (uint32_t i1 = 0; i1 < n[1]; i1++)
					for (uint32_t i0 = 0; i0 < n[0]; i0++) {
						const uint32_t i[5] = { i0, i1, i2, i3, i4 };

						for (unsigned d = 0; d < 5; d++)
							x[d] = (d < t->rank ? c[d] : 0) + (int64_t)i[d] * stride[d];
						oracle_put(v, x);
					}
	return v->n;
}

static inline size_t oracle_im2col(struct oracle_view *v, const int32_t c[5], uint16_t offset)
{
	const struct tutti_tensor *t = v->t;
	unsigned n = t->rank - 2u, bits = 16 / n;
	int64_t pixel[5], x[5];

	for (unsigned d = 0; d < 5; d++)
		pixel[d] = d < t->rank ? c[d] : 0;
	for (uint32_t p = 0; p < t->column.pixels; p++) {
		for (uint32_t k = 0; k < t->column.channels; k++) {
			for (unsigned d = 0; d < 5; d++)
				x[d] = pixel[d];
			x[0] += k;
			for (unsigned d = 0; d < n; d++)
				x[d + 1] += offset >> bits * d & ((1u << bits) - 1);
			oracle_put(v, x);
		}
		for (unsigned d = 0; d < n; d++) {
			pixel[d + 1] += t->traversal[d + 1];
			if (pixel[d + 1] <= (int64_t)v->count[d + 1] - 1 + t->column.upper[d])
				break;
			pixel[d + 1] = t->column.lower[d];
			if (d + 1 == n)
				pixel[n + 1]++;
		}
	}
	return v->n;
}

/** oracle_elements() - all elements of a request on @t. @bytes: size of one. Return: their number. */
static inline size_t oracle_elements(const struct tutti_tensor *t, const int32_t c[5], uint16_t offset,
				     struct oracle_element *to, uint32_t *bytes)
{
	struct oracle_view v;

	oracle_view(&v, t, to);
	*bytes = v.bytes;
	return t->mode == TUTTI_TILE ? oracle_tile(&v, c) : oracle_im2col(&v, c, offset);
}

/**
 * oracle_swizzle() - the place of byte @offset in shared memory: the 8 x 8 table of figure 9a, narrower for 32 and 64.
 */
static inline uint32_t oracle_swizzle(unsigned swizzle, uint32_t offset)
{
	uint32_t row = offset / 128, atom = offset / 16 % 8, width = swizzle == TUTTI_SWIZZLE_NONE ? 1 :
		     swizzle == TUTTI_SWIZZLE_32 ? 2 : swizzle == TUTTI_SWIZZLE_64 ? 4 : 8;

	return row * 128 + (atom ^ (row % width)) * 16 + offset % 16;
}

/** oracle_fill() - byte @i of a filled element. */
static inline uint8_t oracle_fill(const struct tutti_tensor *t, uint32_t i)
{
	if (t->fill == TUTTI_FILL_NAN)
		return i & 1 ? 0x7f : 0xf7;
	if (t->fill == TUTTI_FILL_CONSTANT)
		return (uint8_t)(t->constant >> 8 * (i % oracle_type_bytes(t->type)));
	return 0;
}

#endif

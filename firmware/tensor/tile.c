// SPDX-License-Identifier: MIT
#include "tensor/tile.h"

#include "core/counters.h"
#include "tensor/im2col.h"
#include "tensor/plain_request.h"

#define NEGATIVE 0x80000000u
#define INLINE static inline __attribute__((always_inline))

/* Set @global of a mover descriptor; the compiler would combine the words first. */
INLINE void start(struct tutti_mover *m, uint32_t low, uint32_t high)
{
	uint32_t *to = (uint32_t *)&m->global;

	to[0] = low;
	to[1] = high;
}

/*
 * The low word of a tile's address is a sum of 32-bit products. No carry is lost: the products and the sum cannot
 * overflow while the tile lies inside the tensor, and if the tensor crosses a border of 4 GiB no tile counts as inside.
 */
INLINE bool inside(const struct tensor_template *t, const int32_t *coordinate, unsigned rank, uint32_t *low)
{
	const uint32_t *c = (const uint32_t *)coordinate;
	uint32_t sum = (uint32_t)t->base;

#pragma GCC unroll 5
	for (unsigned i = 0; i < rank; i++) {
		if (unlikely(c[i] >= t->limit[i]))
			return false;
		sum += c[i] * (uint32_t)t->stride[i];
	}
	*low = sum;
	return true;
}

/* A tile that does not lie inside is left to tile_edge(). */
INLINE void one(struct tensor_template *t, const struct tutti_tensor_request *r, struct tutti_mover *m, unsigned rank)
{
	uint32_t low;

	if (unlikely(!inside(t, r->coordinate, rank, &low))) {
		tile_edge(t, r, m);
		return;
	}
	start(m, low, (uint32_t)(t->base >> 32));
	plain_written(t);
}

/* This order of tests and arguments takes the fewest instructions; see PERF-07 before changing it. */
HOT void tile_plain(struct tensor_template *t, const struct tutti_tensor_request *r, struct tutti_mover *m)
{
	int path = t->path;

	if (path == 0)
		one(t, r, m, 2);
	else if (path < 0)
		one(t, r, m, 3);
	else if (path == 1)
		one(t, r, m, 1);
	else if (path == 2)
		one(t, r, m, 4);
	else
		im2col_plain(t, r, m);
}

/* Movers know four dimensions, so each slice of a tile of rank 5 that lies inside its tensor gets a descriptor. */
bool tile_slices(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	uint32_t left = (uint32_t)job->left, n = left < (uint32_t)room ? left : (uint32_t)room;
	uint32_t stride = (uint32_t)t->stride[4] * t->step[4], low = (uint32_t)job->global;

	job->left = left - n;
	while (n--) {
		struct tutti_mover *m = mover_begin();

		*(uint32_t *)m = job->word;
		m->shape = hal_local(&t->shape);
		m->shared = job->shared;
		start(m, low, (uint32_t)(job->global >> 32));
		mover_end();
		low += stride;
		job->shared += (uint32_t)t->slice;
	}
	job->global = low | job->global >> 32 << 32;
	return !job->left;
}

/* The clips are written straight into the descriptor. */
HOT void tile_edge(struct tensor_template *t, const struct tutti_tensor_request *r, struct tutti_mover *m)
{
	struct box *box = box_of(m);
	uint32_t low = (uint32_t)t->base, rank = t->rank;

	((uint32_t *)box->before)[1] = ((uint32_t *)box->after)[1] = 0;
	((uint32_t *)box->count)[1] = 0x10001;
	box_set(box, 1, 0, 1, 0);
#pragma GCC unroll 4
	for (unsigned i = 0; i < TUTTI_MOVE_DIMENSIONS; i++) {
		uint32_t at = (uint32_t)r->coordinate[i], n = t->count[i], step = t->step[i], before, after;

		if (i == rank)
			break;
		n = clip(at, n, t->span[i], step, t->last[i], NEGATIVE, &before, &after);
		if (unlikely(!n)) { /* outside entirely */
			tmau_run();
			return;
		}
		__asm__("" : "+r"(before), "+r"(n), "+r"(after)); /* otherwise gcc narrows them twice */
		low += (at + before * step) * (uint32_t)t->stride[i];
		box_set(box, i, before, n, after);
	}
	start(m, low, (uint32_t)(t->base >> 32));
	m->flags |= TUTTI_MOVER_CLIPPED;
	counters.tmau_edge++;
	plain_written(t);
}

/*
 * Tiles at the edge of a tensor, in a tensor that crosses a border of 4 GiB, or with a dense side in global memory.
 * The clips of a single box are written straight into the descriptor; those of slices are kept for all of them.
 */
static bool start_clipped(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	const uint32_t *c = (const uint32_t *)job->call->request.coordinate;
	bool slices = t->rank == TUTTI_TENSOR_RANK;
	struct box *box = slices ? &job->box : box_of(mover_begin());
	uint64_t global = t->base;
	uint32_t before, count, after;
	unsigned i = 0;

	job->kind = JOB_CLIPPED;
	do { /* a tensor has a dimension */
		uint32_t step = t->step[i], at;

		count = clip(c[i], t->count[i], t->span[i], step, t->last[i], NEGATIVE, &before, &after);
		if (!count) {
			job->left = job->after = 0;
			job_outside(job, t->total);
			return tile_clipped(room);
		}
		at = c[i] + before * step;
		if (likely(t->flat))
			global = ((uint32_t)global + (uint32_t)t->stride[i] * at) | global >> 32 << 32;
		else
			global += t->stride[i] * at;
		if (i < TUTTI_MOVE_DIMENSIONS)
			box_set(box, i, before, count, after);
	} while (++i < t->rank);
	for (; i < TUTTI_MOVE_DIMENSIONS; i++)
		box_set(box, i, 0, 1, 0);
	if (!slices) {
		job_box(job, 0, global, 0);
		return true;
	}
	job->left = count;
	job->after = (uint16_t)after;
	job->global = global;
	job_outside(job, t->slice * before);
	return tile_clipped(room);
}

bool tile_clipped(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;

	room -= job_fill(job, room);
	if (job->outside)
		return false;
	for (; job->left && room > 0; job->left--, room--) {
		words_copy(box_of(mover_begin()), &job->box, sizeof(job->box) / 4);
		job_box(job, 0, job->global, t->slice);
		job->global += t->stride[4] * t->step[4];
	}
	if (job->left)
		return false;
	if (job->after) {
		job_outside(job, t->slice * job->after);
		job->after = 0;
		job_fill(job, room);
	}
	return !job->outside;
}

/* A tile inside its tensor: slices of a tile of rank 5, else one descriptor. */
static bool start_inside(struct job *job, uint32_t low, int room)
{
	const struct tensor_template *t = job->t;

	job->global = low | t->base >> 32 << 32;
	job->left = t->rank == TUTTI_TENSOR_RANK ? t->count[4] : 1;
	job->kind = JOB_SLICES;
	return tile_slices(room);
}

bool tile_start(int room)
{
	struct job *job = &tmau.job;
	uint32_t low;

	if (!job->linear && inside(job->t, job->call->request.coordinate, job->t->rank, &low))
		return start_inside(job, low, room);
	counters.tmau_edge++;
	return start_clipped(room);
}

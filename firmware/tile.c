// SPDX-License-Identifier: MIT
#include "tmau.h"

#include "counter.h"

#define FLAG(flags) ((uint32_t)(flags) << 8) /* in a descriptor's first word */
#define NEGATIVE 0x80000000u
#define INLINE static inline __attribute__((always_inline))

/* The first word at once. */
INLINE void head(struct tutti_mover *m, uint32_t word)
{
	*(uint32_t *)m = word;
}

INLINE void address(struct tutti_mover *m, uint32_t low, uint32_t high)
{
	((uint32_t *)&m->global)[0] = low;
	((uint32_t *)&m->global)[1] = high;
}

/*
 * A tile that lies inside the tensor: its address is a sum of 32-bit products, all else is in the
 * template. Return: false = it does not, nothing is done.
 */
INLINE bool interior(const struct job *job, unsigned rank, uint32_t *low)
{
	const struct tensor_template *t = job->t;
	const uint32_t *c = (const uint32_t *)job->call->request.coordinate;
	uint32_t sum = (uint32_t)t->base;

	for (unsigned i = 0; i < rank; i++) {
		if (unlikely(c[i] >= t->limit[i]))
			return false;
		sum += c[i] * (uint32_t)t->stride[i];
	}
	*low = sum;
	return true;
}

INLINE bool interior_one(const struct job *job, unsigned rank)
{
	struct tutti_mover *m = mover_begin();
	uint32_t low;

	if (!interior(job, rank, &low))
		return false;
	head(m, job->word | FLAG(TUTTI_MOVER_LAST));
	m->shape = hal_local(&job->t->shape);
	address(m, low, (uint32_t)(job->t->base >> 32));
	m->shared = job->shared;
	mover_end(m);
	return true;
}

static bool interior_5(struct job *job)
{
	uint32_t low;

	if (!interior(job, TUTTI_TENSOR_RANK, &low))
		return false;
	job->global = low | job->t->base >> 32 << 32;
	job->left = job->t->count[4];
	job->kind = JOB_SLICES;
	return true;
}

/* Tiles of one descriptor. Return: true = written. */
static HOT bool tile_interior(const struct job *job)
{
	switch (job->t->rank) {
	case 1:
		return interior_one(job, 1);
	case 2:
		return interior_one(job, 2);
	case 3:
		return interior_one(job, 3);
	case 4:
		return interior_one(job, 4);
	}
	return false;
}

/* A slice of a tile of rank 5 lies inside: a descriptor each. */
bool tile_slices(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	uint32_t left = (uint32_t)job->left, n = left < (uint32_t)room ? left : (uint32_t)room;
	uint32_t shared = job->shared, bytes = (uint32_t)t->slice, shape = hal_local(&t->shape);
	uint64_t global = job->global, stride = t->stride[4] * t->step[4];

	job->left = left - n;
	while (n--) {
		struct tutti_mover *m = mover_begin();

		head(m, job->word);
		m->shape = shape;
		address(m, (uint32_t)global, (uint32_t)(global >> 32));
		m->shared = shared;
		mover_end(m);
		global += stride;
		shared += bytes;
	}
	job->global = global;
	job->shared = shared;
	return !job->left;
}

/* The tensor's edge, or a wide tensor, or a dense side in global memory. */
static COLD bool tile_start_clipped(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	const uint32_t *c = (const uint32_t *)job->call->request.coordinate;
	unsigned i;
	struct clip part = { 0, 1, 0 };
	uint64_t global = t->base;

	job->kind = JOB_CLIPPED;
	job->left = 1;
	job->after = 0;
	for (i = 0; i < t->rank; i++) {
		uint32_t at;

		part = clip(c[i], t->count[i], t->step[i], t->last[i], NEGATIVE);
		if (!part.count) {
			job->left = 0;
			job_outside(job, t->total);
			return tile_clipped(room);
		}
		at = c[i] + part.before * (uint32_t)t->step[i];
		global += t->flat ? (uint32_t)t->stride[i] * at : t->stride[i] * at;
		if (i < TUTTI_MOVE_DIMENSIONS)
			box_set(&job->box, i, part);
	}
	if (i > TUTTI_MOVE_DIMENSIONS) {
		job->left = part.count;
		job->after = part.after;
		job_outside(job, t->slice * part.before);
	}
	for (; i < TUTTI_MOVE_DIMENSIONS; i++)
		box_set(&job->box, i, (struct clip){ 0, 1, 0 });
	job->global = global;
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
		job_box(job, job->global, &job->box, t->slice);
		if (job->left > 1)
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

bool tile_start(int room)
{
	struct job *job = &tmau.job;

	if (likely(!job->linear)) {
		if (likely(tile_interior(job))) {
			counters.tmau_interior++;
			return true;
		}
		if (job->t->rank == TUTTI_TENSOR_RANK && interior_5(job)) {
			counters.tmau_interior++;
			return tile_slices(room);
		}
	}
	counters.tmau_edge++;
	return tile_start_clipped(room);
}

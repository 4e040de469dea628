// SPDX-License-Identifier: MIT
/*
 * Im2col: a column is a run of the walk of TMA-12, an interval of an odometer whose wheels are W, H, D and N.
 * It falls into boxes: the rest of a row, rows to the end of a plane, planes, images, and the same down again:
 * at most 2 k - 1 for k wheels. Movers have four dimensions, C and three wheels, so of rank 5 each image is a box.
 */
#include "tmau.h"

#include "counter.h"

#define NEGATIVE 0xf0000000u      /* pixels start at most 2^17 below 0 */
#define FAR_IMAGE ((uint32_t)-8192) /* no column comes up from there */
#define SINGLE ((struct clip){ 0, 1, 0 })

/* All of dimension @d of the bounding box; computed once for a request. */
static struct clip full(struct job *job, unsigned d, uint32_t *first)
{
	const struct tensor_template *t = job->t;

	if (!(job->full_known >> d & 1)) {
		uint32_t step = t->step[d + 1], n = t->range[d] / step + 1;
		struct clip part = clip((uint32_t)job->origin[d], n, step, t->last[d + 1], NEGATIVE);

		job->full_known |= (uint8_t)(1u << d);
		job->full[d] = part;
		job->full_first[d] = (uint32_t)job->origin[d] + part.before * step;
	}
	*first = job->full_first[d];
	return job->full[d];
}

/* Behind @n steps of wheel @level. */
static void advance(struct job *job, unsigned level, uint32_t n)
{
	const struct tensor_template *t = job->t;
	unsigned wheels = t->rank - 2u;

	for (; level < wheels; level++, n = 1) {
		job->at[level] += n * t->step[level + 1];
		if (job->at[level] <= t->range[level])
			return;
		job->at[level] = 0;
	}
	job->image += n;
}

/* The largest wheel that stands at its beginning with enough pixels left for whole turns of those before it. */
static unsigned largest(const struct job *job)
{
	const struct tensor_template *t = job->t;
	unsigned level = 0, wheels = t->rank - 2u;

	while (level < wheels && !job->at[level] && (uint32_t)job->left >= t->per[level + 1])
		level++;
	return level;
}

/* Steps that wheel @level makes now. */
static uint32_t steps(const struct job *job, unsigned level)
{
	const struct tensor_template *t = job->t;
	uint32_t most = level ? (uint32_t)job->left / t->per[level] : (uint32_t)job->left, rest;

	if (level == t->rank - 2u)
		return level == SETUP_SPATIAL ? 1 : most;
	rest = t->range[level] - job->at[level];
	if (t->step[level + 1] != 1)
		rest /= t->step[level + 1];
	return most <= rest ? most : rest + 1;
}

/* One box: @n steps of wheel @level. */
static void box(struct job *job, unsigned level, uint32_t n)
{
	const struct tensor_template *t = job->t;
	unsigned wheels = t->rank - 2u, d;
	uint32_t pixels = n * t->per[level], bytes = pixels * t->pixel_bytes;
	uint64_t global = job->global;
	struct clip part;
	bool inside = job->box.count[0];

	for (d = 0; d <= wheels; d++) {
		uint32_t first, step = d < wheels ? t->step[d + 1] : 1;

		if (d < level) {
			part = full(job, d, &first);
		} else {
			first = d < wheels ? (uint32_t)job->origin[d] + job->at[d] : job->image;
			part = clip(first, d == level ? n : 1, step, t->last[d + 1], NEGATIVE);
			first += part.before * step;
		}
		inside = inside && part.count;
		global += t->flat ? (uint32_t)t->stride[d + 1] * first : t->stride[d + 1] * first;
		if (d + 1 < TUTTI_MOVE_DIMENSIONS)
			box_set(&job->box, d + 1, part);
	}
	if (inside) {
		job_fill(job, 1); /* less than a piece */
		job_box(job, global, &job->box, bytes);
	} else {
		job_outside(job, bytes);
	}
	job->left = (uint32_t)job->left - pixels;
	advance(job, level, n);
}

bool column_start(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	const struct tutti_tensor_request *r = &job->call->request;
	static const uint8_t offset_bits[SETUP_SPATIAL] = { 16, 8, 5 };
	unsigned wheels = t->rank - 2u, bits = offset_bits[wheels - 1], d;
	struct clip part = clip((uint32_t)r->coordinate[0], t->count[0], 1, t->last[0], 0x80000000u);
	uint32_t offset = r->offset;

	job->kind = JOB_COLUMN;
	job->left = t->pixels;
	job->full_known = 0;
	for (d = 0; d < wheels; d++, offset >>= bits) {
		job->origin[d] = t->lower[d] + (int32_t)(offset & ((1u << bits) - 1));
		job->at[d] = (uint32_t)r->coordinate[d + 1] - (uint32_t)t->lower[d];
	}
	job->image = r->coordinate[d + 1] < (int32_t)FAR_IMAGE ? FAR_IMAGE : (uint32_t)r->coordinate[d + 1];
	box_set(&job->box, 0, part);
	for (d = t->rank; d < TUTTI_MOVE_DIMENSIONS; d++)
		box_set(&job->box, d, SINGLE);
	job->global = t->base + t->stride[0] * ((uint32_t)r->coordinate[0] + part.before);
	return column_run(room);
}

bool column_run(int room)
{
	struct job *job = &tmau.job;

	while (job->left) {
		uint32_t tail = mover_tail();
		unsigned level = largest(job);

		if (room < 2)
			return false;
		box(job, level, steps(job, level));
		room -= (int)(mover_tail() - tail);
	}
	job_fill(job, room);
	return !job->outside;
}

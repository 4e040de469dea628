// SPDX-License-Identifier: MIT
/*
 * Im2col: a column is a run of consecutive pixels in the order of TMA-12. This order works like an odometer: its
 * wheels are the dimensions W, H, D and N, and when one has made a whole turn the next one makes a step. Movers count
 * in the same way, and can begin and end anywhere in a box (TUTTI_MOVER_PART), so one descriptor moves a whole column if
 * its wheels turn over the same pixels each time. A wheel does not do so at first if the base pixel is off the lattice
 * of its traversal stride, and not in one descriptor if a turn has more pixels than a column; then a descriptor ends
 * where that wheel does, which is at most once for each wheel. Movers know four dimensions, C and three wheels, so in
 * tensors of rank 5 each image needs a descriptor of its own.
 */
#include "tensor/im2col.h"

#include "tensor/plain_request.h"

#define NEGATIVE 0xf0000000u        /* from here on numbers stand for negative ones: pixels start at -2^17 or above */
#define FAR_IMAGE ((uint32_t)-8192) /* so far below image 0 that no column reaches it */
#define STEPS_MOST 1025u            /* more steps of a wheel than any column makes */

static const uint8_t offset_bits[SETUP_SPATIAL] = { 16, 8, 5 };

/* Clip @n steps of wheel @d, the first at @first, into @m, and move @global there. Return: false if all are outside. */
static bool clip_wheel(const struct tensor_template *t, struct tutti_mover *m, unsigned d, uint32_t first, uint32_t n,
		       uint32_t step, uint64_t *global)
{
	uint32_t before, after, count = clip(first, n, (n - 1) * step, step, t->last[d + 1], NEGATIVE, &before, &after);

	*global += t->stride[d + 1] * (first + before * step);
	if (d + 1 < TUTTI_MOVE_DIMENSIONS)
		box_set(box_of(m), d + 1, before, count, after);
	return count;
}

/* Whether wheel @d makes whole turns from here on, so that a descriptor may go on behind its end. */
static bool turns(const struct job *job, const struct tensor_template *t, unsigned d)
{
	return t->count[d + 1] != SETUP_TURN_LONG && job->at[d] % t->step[d + 1] == 0;
}

/*
 * Describe in @m as many of the next pixels as one descriptor can move; it ends with a turn of wheel @level or with the
 * column. @inside is set to false if all of them lie outside the tensor. Return: their number
 */
static uint32_t describe(struct job *job, struct tutti_mover *m, unsigned wheels, unsigned *level, uint64_t *global,
			 bool *inside)
{
	const struct tensor_template *t = job->t;
	uint32_t inner = 1, skipped = 0, n;
	uint64_t most;
	unsigned d;

	*inside = job->box.count[0];
	*global = job->global;
	box_set(box_of(m), 0, job->box.before[0], job->box.count[0], job->box.after[0]);
	m->start[0] = 0;
	for (d = 0; d < wheels && turns(job, t, d); d++) {
		uint32_t at = job->at[d] / t->step[d + 1];

		m->start[d + 1] = (uint16_t)at;
		skipped += inner * at;
		inner *= t->count[d + 1];
		*inside &= clip_wheel(t, m, d, (uint32_t)job->origin[d], t->count[d + 1], t->step[d + 1], global);
	}
	*level = d;
	n = d < wheels ? min32((t->range[d] - job->at[d]) / t->step[d + 1] + 1, STEPS_MOST) :
	    d < SETUP_SPATIAL ? STEPS_MOST : 1;
	most = (uint64_t)n * inner - skipped;
	for (; d <= wheels; d++, n = 1) {
		if (d + 1 < TUTTI_MOVE_DIMENSIONS)
			m->start[d + 1] = 0;
		if (d < wheels)
			*inside &= clip_wheel(t, m, d, (uint32_t)job->origin[d] + job->at[d], n, t->step[d + 1], global);
		else
			*inside &= clip_wheel(t, m, d, job->image, n, 1, global);
	}
	for (d++; d < TUTTI_MOVE_DIMENSIONS; d++) {
		box_set(box_of(m), d, 0, 1, 0);
		m->start[d] = 0;
	}
	return job->left < most ? (uint32_t)job->left : (uint32_t)most;
}

/* Wheel @level has come to its end, and those before it, too: step the next one. */
static void step_next(struct job *job, unsigned wheels, unsigned level)
{
	const struct tensor_template *t = job->t;
	unsigned d;

	for (d = 0; d <= level && d < wheels; d++)
		job->at[d] = 0;
	for (; d < wheels; d++) {
		job->at[d] += t->step[d + 1];
		if (job->at[d] <= t->range[d])
			return;
		job->at[d] = 0;
	}
	job->image++;
}

bool im2col_run(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	unsigned wheels = t->rank - 2u, level;

	while (job->left && room >= 2) {
		uint32_t pixels, bytes;
		uint64_t global;
		bool inside;

		if (job->outside)
			room -= job_fill(job, 1); /* one descriptor is enough for what a column has outside */
		pixels = describe(job, mover_begin(), wheels, &level, &global, &inside);
		bytes = pixels * (uint32_t)t->slice;
		if (inside) {
			mover_begin()->bytes = bytes;
			job_box(job, TUTTI_MOVER_PART, global, bytes);
			room--;
		} else {
			job_outside(job, bytes);
		}
		job->left -= pixels;
		step_next(job, wheels, level);
	}
	if (job->left)
		return false;
	job_fill(job, room);
	return !job->outside;
}

bool im2col_start(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	const struct tutti_tensor_request *r = &job->call->request;
	unsigned wheels = t->rank - 2u, bits = offset_bits[wheels - 1], d;
	uint32_t offset = r->offset, before, after;

	job->kind = JOB_COLUMN;
	job->left = t->pixels;
	for (d = 0; d < wheels; d++, offset >>= bits) {
		job->origin[d] = t->lower[d] + (int32_t)(offset & ((1u << bits) - 1));
		job->at[d] = (uint32_t)r->coordinate[d + 1] - (uint32_t)t->lower[d];
	}
	job->image = r->coordinate[d + 1] < (int32_t)FAR_IMAGE ? FAR_IMAGE : (uint32_t)r->coordinate[d + 1];
	job->box.count[0] = (uint16_t)clip((uint32_t)r->coordinate[0], t->count[0], t->count[0] - 1u, 1, t->last[0],
					   0x80000000u, &before, &after);
	job->box.before[0] = (uint16_t)before;
	job->box.after[0] = (uint16_t)after;
	job->global = t->base + t->stride[0] * ((uint32_t)r->coordinate[0] + before);
	return im2col_run(room);
}

/* 2^16 / step, rounded up, of traversal strides above 1: exact for quotients of what a turn has at most. */
static const uint16_t reciprocal[] = { 0, 0, 32768, 21846, 16384, 13108, 10923, 9363, 8192 };

/* Whether a column from image @image on fits one descriptor: the images that follow are a dimension of it, up to rank 4. */
static inline bool images(const struct tensor_template *t, struct tutti_mover *m, unsigned rank, uint32_t image,
			  uint32_t rest)
{
	if (unlikely(image > t->last[rank - 1]))
		return false;
	if (rank == TUTTI_TENSOR_RANK)
		return rest >= t->pixels;
	box_set(box_of(m), rank - 1, 0, min32(t->last[rank - 1] - image, STEPS_MOST) + 1, STEPS_MOST);
	return true;
}

HOT void im2col_plain(struct tensor_template *t, const struct tutti_tensor_request *r, struct tutti_mover *m)
{
	uint32_t rank = t->rank, bits = offset_bits[rank - 3], offset = r->offset, c = (uint32_t)r->coordinate[0];
	uint32_t image = (uint32_t)r->coordinate[rank - 1], *words = (uint32_t *)m, inner = 1, skipped = 0;
	uint32_t low = (uint32_t)t->base + c * (uint32_t)t->stride[0] + image * (uint32_t)t->stride[rank - 1];
	struct box *box = box_of(m);

	words[9] = words[13] = words[14] = words[15] = 0; /* before, after, start */
	words[11] = 0x10001; /* count */
	box_set(box, 0, 0, t->count[0], 0);
#pragma GCC unroll 3
	for (unsigned d = 0; d < SETUP_SPATIAL; d++, offset >>= bits) {
		uint32_t at, begin, step, n, before, after, first;

		if (d + 2 == rank)
			break;
		begin = at = (uint32_t)r->coordinate[d + 1] - (uint32_t)t->lower[d];
		step = t->step[d + 1];
		if (unlikely(step != 1))
			begin = at * reciprocal[step] >> 16;
		first = (uint32_t)t->lower[d] + (offset & ((1u << bits) - 1));
		n = clip(first, t->count[d + 1], t->span[d + 1], step, t->last[d + 1], NEGATIVE, &before, &after);
		if (unlikely(at > t->range[d]) || unlikely(begin * step != at) || unlikely(!n))
			goto general;
		__asm__("" : "+r"(before), "+r"(n), "+r"(after)); /* otherwise gcc narrows them twice */
		low += (first + before * step) * (uint32_t)t->stride[d + 1];
		box_set(box, d + 1, before, n, after);
		m->start[d + 1] = (uint16_t)begin;
		skipped += begin * inner;
		inner *= t->count[d + 1];
	}
	if (unlikely(offset) || unlikely(c > t->last[0]) || unlikely(t->last[0] - c < t->count[0] - 1u) ||
	    unlikely(m->op != TUTTI_MOVE_LOAD) || unlikely(!images(t, m, rank, image, inner - skipped)))
		goto general;
	words[2] = low;
	words[3] = (uint32_t)(t->base >> 32);
	m->bytes = t->bytes;
	m->flags |= TUTTI_MOVER_CLIPPED | TUTTI_MOVER_PART;
	counters.tmau_not_tiles++;
	plain_written(t);
	return;
general:
	tmau_run();
}

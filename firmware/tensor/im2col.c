// SPDX-License-Identifier: MIT
/*
 * Im2col: a column is a run of consecutive pixels in the order of TMA-12. This order works like an odometer: its
 * wheels are the dimensions W, H, D and N, and when one has made a whole turn the next one makes a step. A run falls
 * into boxes: the rest of a row, whole rows to the end of a plane, whole planes, whole images, and then the same
 * downwards to a part of a row; at most 2 k - 1 boxes for k wheels. Movers know four dimensions, C and three wheels,
 * so in tensors of rank 5 each image needs a box of its own.
 */
#include "tensor/im2col.h"

#include "tensor/tensor_requests.h"

#define NEGATIVE 0xf0000000u        /* from here on numbers stand for negative ones: pixels start at -2^17 or above */
#define FAR_IMAGE ((uint32_t)-8192) /* so far below image 0 that no column reaches it */
#define INLINE static inline __attribute__((always_inline))

/* Clip a whole turn of wheel @d, that is all pixels of the bounding box along it; this is done once for a request. */
static void full(struct job *job, unsigned d)
{
	const struct tensor_template *t = job->t;
	uint32_t step = t->step[d + 1], n = t->range[d] / step + 1, before, after;
	uint32_t count = clip((uint32_t)job->origin[d], n, (n - 1) * step, step, t->last[d + 1], NEGATIVE, &before, &after);

	job->full_known |= (uint8_t)(1u << d);
	job->full[d].before = (uint16_t)before;
	job->full[d].count = (uint16_t)count;
	job->full[d].after = (uint16_t)after;
	job->full[d].global = t->stride[d + 1] * ((uint32_t)job->origin[d] + before * step);
}

/* Move on by @n steps of wheel @level. */
INLINE void advance(struct job *job, const struct tensor_template *t, unsigned wheels, unsigned level, uint32_t n)
{
	for (; level < wheels; level++, n = 1) {
		uint32_t at = job->at[level] + n * t->step[level + 1];

		if (at <= t->range[level]) {
			job->at[level] = at;
			return;
		}
		job->at[level] = 0;
	}
	job->image += n;
}

/* The largest wheel of which a step can be taken at once: all before it stand at 0, and enough pixels are left. */
INLINE unsigned largest(const struct job *job, const struct tensor_template *t, unsigned wheels, uint32_t left)
{
	unsigned level = 0;

	while (level < wheels && !job->at[level] && left >= t->per[level + 1])
		level++;
	return level;
}

/* The number of steps of wheel @level that fit one box. */
INLINE uint32_t steps(const struct job *job, const struct tensor_template *t, unsigned wheels, unsigned level, uint32_t left)
{
	uint32_t most = level ? left / t->per[level] : left, rest;

	if (level == wheels)
		return level == SETUP_SPATIAL ? 1 : most;
	rest = t->range[level] - job->at[level];
	if (t->step[level + 1] != 1)
		rest /= t->step[level + 1];
	return most <= rest ? most : rest + 1;
}

/*
 * Write the clips of a box of @n steps of wheel @level into the next mover descriptor, and set @address to its start.
 * Return: false if the box lies outside the tensor
 */
INLINE bool build(struct job *job, const struct tensor_template *t, unsigned wheels, unsigned level, uint32_t n,
		  uint64_t *address)
{
	struct box *box = box_of(mover_begin());
	uint64_t global = job->global;
	uint32_t before, count, after;
	unsigned d;

	for (d = 0; d < level; d++) {
		if (unlikely(!(job->full_known >> d & 1)))
			full(job, d);
		if (!job->full[d].count)
			return false;
		global += job->full[d].global;
		box_set(box, d + 1, job->full[d].before, job->full[d].count, job->full[d].after);
	}
	for (; d <= wheels; d++, n = 1) {
		uint32_t step = d < wheels ? t->step[d + 1] : 1;
		uint32_t first = d < wheels ? (uint32_t)job->origin[d] + job->at[d] : job->image;

		if (n == 1) {
			if (first > t->last[d + 1])
				return false;
			before = after = 0;
			count = 1;
		} else {
			count = clip(first, n, (n - 1) * step, step, t->last[d + 1], NEGATIVE, &before, &after);
			if (!count)
				return false;
			first += before * step;
		}
		if (likely(t->flat))
			global = ((uint32_t)global + (uint32_t)t->stride[d + 1] * first) | global >> 32 << 32;
		else
			global += t->stride[d + 1] * first;
		if (d + 1 < TUTTI_MOVE_DIMENSIONS)
			box_set(box, d + 1, before, count, after);
	}
	box_set(box, 0, job->box.before[0], job->box.count[0], job->box.after[0]);
	for (d++; d < TUTTI_MOVE_DIMENSIONS; d++)
		box_set(box, d, 0, 1, 0);
	*address = global;
	return true;
}

INLINE bool run(struct job *job, int room, unsigned wheels)
{
	const struct tensor_template *t = job->t;
	uint32_t left = (uint32_t)job->left;

	while (left && room >= 2) {
		unsigned level = largest(job, t, wheels, left);
		uint32_t n = steps(job, t, wheels, level, left), pixels = n * t->per[level], bytes = pixels * t->pixel_bytes;
		uint64_t global;

		if (job->outside)
			room -= job_fill(job, 1); /* one descriptor is enough for what a column has outside */
		if (job->box.count[0] && build(job, t, wheels, level, n, &global)) {
			job_box(job, global, bytes);
			room--;
		} else {
			job_outside(job, bytes);
		}
		left -= pixels;
		advance(job, t, wheels, level, n);
	}
	job->left = left;
	if (left)
		return false;
	job_fill(job, room);
	return !job->outside;
}

bool im2col_run(int room)
{
	struct job *job = &tmau.job;

	return run(job, room, job->t->rank - 2u);
}

static void begin(struct job *job)
{
	const struct tensor_template *t = job->t;
	const struct tutti_tensor_request *r = &job->call->request;
	static const uint8_t offset_bits[SETUP_SPATIAL] = { 16, 8, 5 };
	unsigned wheels = t->rank - 2u, bits = offset_bits[wheels - 1], d;
	uint32_t offset = r->offset, before, after;

	job->kind = JOB_COLUMN;
	job->left = t->pixels;
	job->full_known = 0;
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
}

/*
 * clip() for @n steps of a wheel, quick when all of them lie inside. @first moves to the first one inside.
 * Return: the number of elements inside
 */
INLINE uint32_t inside(uint32_t *first, uint32_t n, uint32_t step, uint32_t last, uint32_t *before, uint32_t *after)
{
	uint32_t span = (n - 1) * step;

	if (!n)
		__builtin_unreachable();
	*before = *after = 0;
	if (likely(*first <= last) && likely(*first + span <= last)) /* a start below 0 is above @last */
		return n;
	n = clip(*first, n, span, step, last, NEGATIVE, before, after);
	*first += *before * step;
	return n;
}

INLINE uint32_t less(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

INLINE uint32_t quotient(uint32_t a, uint32_t step)
{
	return step == 1 ? a : a / step;
}

/* What the boxes of a column in a tensor of rank 4 have in common. */
struct common {
	const struct tensor_template *t;
	uint32_t word, low, shared, channels;
};

INLINE void put(struct common *c, uint32_t low, uint32_t before_w, uint32_t count_w, uint32_t after_w, uint32_t before_h,
		uint32_t count_h, uint32_t after_h, uint32_t pixels)
{
	uint32_t *m = (uint32_t *)mover_begin();

	m[0] = c->word;
	m[1] = hal_local(&c->t->shape);
	m[2] = low;
	m[3] = (uint32_t)(c->t->base >> 32);
	m[6] = c->shared;
	m[8] = before_w << 16;
	m[9] = before_h;
	m[10] = c->channels | count_w << 16;
	m[11] = count_h | 1u << 16;
	m[12] = after_w << 16;
	m[13] = after_h;
	c->shared += pixels * c->t->pixel_bytes;
	mover_end((struct tutti_mover *)m);
}

/*
 * The common case has code of its own: an NHWC tensor that crosses no border of 4 GiB, all channels inside, and shared
 * memory as the dense side. It goes on until a box lies outside the tensor or is a whole plane, and leaves the rest to
 * run(). Return: true if the whole column is written
 */
#define ROWS_MOST 5 /* most boxes that rows() writes */

static bool rows(struct job *job, const struct tensor_template *t, const struct tutti_tensor_request *r)
{
	const uint32_t step_w = t->step[1], step_h = t->step[2], row = t->per[1];
	const uint32_t origin_w = (uint32_t)t->lower[0] + (r->offset & 0xff);
	const uint32_t origin_h = (uint32_t)t->lower[1] + (r->offset >> 8);
	uint32_t w = (uint32_t)r->coordinate[1] - (uint32_t)t->lower[0], h = (uint32_t)r->coordinate[2] - (uint32_t)t->lower[1];
	uint32_t left = t->pixels, image = (uint32_t)r->coordinate[3], before_w, after_w, before_h, after_h;
	struct common c = { t, job->word | TUTTI_MOVER_CLIPPED << 8,
			    (uint32_t)t->base + (uint32_t)r->coordinate[0] * (uint32_t)t->stride[0] +
				    image * (uint32_t)t->stride[3], r->shared, t->count[0] };

	while (image <= t->last[3]) {
		uint32_t x = origin_w + w, y = origin_h + h, n, count;

		if (w || left < row) { /* a part of a row */
			uint32_t pixels = quotient(t->range[0] - w, step_w) + 1;

			pixels = less(left, pixels);
			n = inside(&x, pixels, step_w, t->last[1], &before_w, &after_w);
			if (unlikely(!n) || unlikely(y > t->last[2]))
				break;
			put(&c, c.low + x * (uint32_t)t->stride[1] + y * (uint32_t)t->stride[2], before_w, n, after_w, 0, 1, 0,
			    pixels);
			left -= pixels;
			h += step_h;
		} else {
			uint32_t lines = less(left / row, quotient(t->range[1] - h, step_h) + 1);

			if (!h && left >= t->per[2])
				break;
			n = inside(&x, row, step_w, t->last[1], &before_w, &after_w);
			count = inside(&y, lines, step_h, t->last[2], &before_h, &after_h);
			if (unlikely(!n) || unlikely(!count))
				break;
			put(&c, c.low + x * (uint32_t)t->stride[1] + y * (uint32_t)t->stride[2], before_w, n, after_w, before_h,
			    count, after_h, lines * row);
			left -= lines * row;
			h += lines * step_h;
		}
		if (!left)
			return true;
		w = 0;
		if (h > t->range[1]) {
			h = 0;
			image++;
			c.low += (uint32_t)t->stride[3];
		}
	}
	begin(job);
	job->at[0] = w;
	job->at[1] = h;
	job->image = image;
	job->left = left;
	job->shared = c.shared;
	return false;
}

bool im2col_start(int room)
{
	struct job *job = &tmau.job;
	const struct tensor_template *t = job->t;
	const struct tutti_tensor_request *r = &job->call->request;
	uint32_t c = (uint32_t)r->coordinate[0];

	if (t->path == SETUP_PATH_ROWS && !job->linear && room >= ROWS_MOST + 1 && c <= t->last[0] && t->last[0] - c >= t->count[0] - 1u) {
		job->kind = JOB_COLUMN;
		return rows(job, t, r) || im2col_run(room - ROWS_MOST + 1);
	}
	begin(job);
	return im2col_run(room);
}

/* SPDX-License-Identifier: MIT */
/** DOC: The tensor request at work: what tiles, columns and bulk copies share */
#ifndef TENSOR_JOB_H
#define TENSOR_JOB_H

#include "tensor/descriptor_compile.h"
#include "tensor/mover_ring.h"

/* What a request at work is; decides which unit goes on with it. */
enum job_kind { JOB_NONE, JOB_SLICES, JOB_CLIPPED, JOB_COLUMN, JOB_BLOCK };

/** struct box - the clips of all dimensions, as in a mover descriptor. */
struct box {
	uint16_t before[TUTTI_MOVE_DIMENSIONS], count[TUTTI_MOVE_DIMENSIONS], after[TUTTI_MOVE_DIMENSIONS];
} __attribute__((aligned(4)));

/**
 * struct job - the request at work.
 * @word: first word of its descriptors, but for LAST and CLIPPED
 * @shared, @other: dense side of what comes next
 * @fills: elements outside are written on the dense side
 * @linear: the dense side is in global memory, at @other
 * @outside: bytes outside that come first
 */
struct job {
	const struct tutti_tensor_call *call;
	struct tensor_template *t;
	uint32_t word;
	uint32_t shared;
	uint64_t other;
	uint64_t global;
	uint64_t outside;
	uint64_t left;      /* slices, pixels, bytes */
	uint8_t kind;       /* enum job_kind */
	bool fills, linear;
	bool held;          /* its newest descriptor is not published */
	uint16_t after;     /* clipped tiles: slices outside behind those inside */
	struct box box;
	/* im2col */
	uint32_t at[SETUP_SPATIAL]; /* pixel less lower corner */
	uint32_t image;
	int32_t origin[SETUP_SPATIAL]; /* lower corner + offset */
	uint8_t full_known; /* bit = dimension of @full */
	struct { uint16_t before, count, after, pad; uint64_t global; } full[SETUP_SPATIAL];
};

/**
 * clip() - of @n elements, @step apart, the first at @start, those in 0 .. @last.
 *
 * @span: from first to last; @negative: starts from here on are negative ones. Return: elements inside; if it is 0,
 * @before and @after are not set.
 */
static inline uint32_t clip(uint32_t start, uint32_t n, uint32_t span, uint32_t step, uint32_t last, uint32_t negative,
			    uint32_t *before, uint32_t *after)
{
	uint32_t end = start + span, left = n;

	*before = *after = 0;
	if (start >= negative) {
		uint32_t gap = 0 - start;

		if (step != 1)
			gap = (gap + step - 1) / step;
		if (gap >= left)
			return 0;
		*before = gap;
		left -= gap;
	}
	if (end > last) {
		uint32_t gap = end - last;

		if (step != 1)
			gap = (gap + step - 1) / step;
		if (gap >= left)
			return 0;
		*after = gap;
		left -= gap;
	}
	return left;
}

/** job_outside() - @bytes of the dense side lie outside: filled before the next box, or passed over. */
static inline void job_outside(struct job *job, uint64_t bytes)
{
	if (job->fills) {
		job->outside += bytes;
		return;
	}
	job->shared += (uint32_t)bytes;
	job->other += bytes;
}

/** job_fill() - write the fill that is pending. Return: descriptors written. */
int job_fill(struct job *job, int room);
/** job_box() - finish the descriptor at mover_begin(), whose box_of() is set: @bytes at @global. */
void job_box(struct job *job, uint64_t global, uint64_t bytes);

static inline void box_set(struct box *box, unsigned dimension, uint32_t before, uint32_t count, uint32_t after)
{
	box->before[dimension] = (uint16_t)before;
	box->count[dimension] = (uint16_t)count;
	box->after[dimension] = (uint16_t)after;
}

/** box_of() - the place of its clips in a descriptor. */
static inline struct box *box_of(struct tutti_mover *m)
{
	return (struct box *)m->before;
}

#endif

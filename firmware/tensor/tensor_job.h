/* SPDX-License-Identifier: MIT */
/** DOC: The tensor request that is being served: what tiles, im2col columns and bulk copies share */
#ifndef TENSOR_JOB_H
#define TENSOR_JOB_H

#include "tensor/descriptor_compile.h"
#include "tensor/mover_ring.h"

/*
 * The kind of the request that is being served; it decides which function goes on with it. JOB_REFUSED: the request before was
 * refused, and its fault has not been taken yet.
 */
enum job_kind { JOB_NONE, JOB_SLICES, JOB_CLIPPED, JOB_COLUMN, JOB_BLOCK, JOB_REFUSED };

/** struct box - what is clipped in each dimension, laid out as in a mover descriptor. */
struct box {
	uint16_t before[TUTTI_MOVE_DIMENSIONS], count[TUTTI_MOVE_DIMENSIONS], after[TUTTI_MOVE_DIMENSIONS];
} __attribute__((aligned(4)));

/**
 * struct job - the request that is being served.
 * @word: first word of its mover descriptors, without the flags LAST and CLIPPED
 * @shared: where the next descriptor's dense side starts in shared memory
 * @other: where it starts in global memory
 * @global: where the walked side (mover.h) starts; columns of pixels: where the channels start
 * @outside: dense bytes that lie outside the tensor and must be filled before the next box
 * @fills: elements outside the tensor are written on the dense side
 * @linear: the dense side is in global memory, at @other
 */
struct job {
	const struct tutti_tensor_call *call;
	struct tensor_template *t;
	uint32_t word;
	uint32_t shared;
	uint64_t other;
	uint64_t global;
	uint64_t outside;
	uint64_t left;      /* slices, pixels or bytes that have yet to be moved */
	uint8_t kind;       /* enum job_kind */
	bool fills, linear;
	bool held;          /* its newest descriptor is not published, so that it can still become the LAST one */
	uint16_t after;     /* clipped tiles: number of slices outside the tensor, behind those inside */
	struct box box;
	/* These are used in im2col mode. */
	uint32_t at[SETUP_SPATIAL]; /* the next pixel, counted from the lower corner */
	uint32_t image;             /* number of the image it lies in */
	int32_t origin[SETUP_SPATIAL]; /* lower corner plus the request's offset */
};

/**
 * clip() - of @n elements that are @step apart, the first at @start, find those whose coordinates are 0 to @last.
 *
 * @span is the distance from the first element to the last. A @start of @negative or more stands for a negative
 * number modulo 2^32. Return: the number of elements inside; if it is 0, @before and @after are not valid.
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

/** job_outside() - @bytes of the dense side lie outside the tensor: fill them before the next box, or skip them. */
static inline void job_outside(struct job *job, uint64_t bytes)
{
	if (job->fills) {
		job->outside += bytes;
		return;
	}
	job->shared += (uint32_t)bytes;
	job->other += bytes;
}

/** job_fill() - fill the bytes in @outside, with at most @room descriptors. Return: number of descriptors written */
int job_fill(struct job *job, int room);
/**
 * job_box() - finish the descriptor at mover_begin(), whose box_of() is set: it moves @bytes and starts at @global.
 * @flags: TUTTI_MOVER_PART if @start and @bytes are set as well, or 0
 */
void job_box(struct job *job, uint32_t flags, uint64_t global, uint64_t bytes);

static inline void box_set(struct box *box, unsigned dimension, uint32_t before, uint32_t count, uint32_t after)
{
	box->before[dimension] = (uint16_t)before;
	box->count[dimension] = (uint16_t)count;
	box->after[dimension] = (uint16_t)after;
}

/** box_of() - the fields of mover descriptor @m that say what is clipped. */
static inline struct box *box_of(struct tutti_mover *m)
{
	return (struct box *)m->before;
}

#endif

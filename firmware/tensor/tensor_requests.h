/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tensor memory access unit: from requests to mover descriptors (spec TMA-01 .. TMA-29)
 *
 * Requests stand in the request area in the order in which they are served; the hardware in front of it has
 * already taken turns between SMs. One is at work, its descriptor that of tmau.job; the descriptors of those
 * behind it are fetched meanwhile. A visit writes at most TMAU_VISIT descriptors and never waits: what is left is
 * continued after the next event, or at once if there is none.
 *
 *   tensor_requests.c           requests, turns, their ends
 *   request_rules.c             rules of TMA-04
 *   tile.c, im2col.c, bulk_copy.c  what a request becomes
 */
#ifndef TENSOR_REQUESTS_H
#define TENSOR_REQUESTS_H

#include "tensor/descriptor_compile.h"
#include "tensor/mover_ring.h"

#define TMAU_SLOTS 8u
#define TMAU_VISIT 12 /* descriptors of one visit */

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

struct tmau {
	uint32_t head;      /* slot of the first request */
	uint32_t queued;    /* requests that are not yet served */
	bool more;          /* the visit ended, nothing is waited for */
	bool missed;        /* the first request's descriptor was not in the cache */
	bool refused;       /* see @fault */
	struct job job;
	struct tutti_event fault;     /* as an SM reports one: why a request was refused */
	struct tensor_template built; /* of a descriptor that came with its request */
};
extern struct tmau tmau;

void tmau_init(void);
void tmau_event_request(const struct tutti_event *event);
void tmau_event_fetch(unsigned number, const struct tutti_event *event);
/** tmau_run() - serve requests: movers have taken some, a descriptor has come, or some are left. */
void tmau_run(void);
/** tmau_take_fault() - has a request been refused? @fault: why, as an event FAULT for its task. */
bool tmau_take_fault(struct tutti_event *fault);
/** tmau_published() - others have published what was held. */
static inline void tmau_published(void)
{
	tmau.job.held = false;
}

/* request_rules.c */
/** request_check_tensor() - @t is that of @call's descriptor, mode and rank fit. */
enum tutti_tensor_error request_check_tensor(const struct tutti_tensor_call *call, const struct tensor_template *t);
enum tutti_tensor_error request_check_block(const struct tutti_tensor_call *call, uint64_t *bytes);

/* tile.c */
/** tile_interior() - a tile of rank 1 to 4 inside its tensor. Return: NULL = not such, nothing is written. */
const void *tile_interior(uint32_t word, const struct tensor_template *t, const struct tutti_tensor_request *r);
/** tile_edge() - a tile of rank 1 to 4 at the edge of a tensor within 4 GiB. Return: NULL = not such, or all outside. */
const void *tile_edge(uint32_t word, const struct tensor_template *t, const struct tutti_tensor_request *r);
/* Each starts or goes on with tmau.job, at most @room descriptors. Return: true = all written. */
bool tile_start(int room);
bool tile_slices(int room);
bool tile_clipped(int room);
/* im2col.c */
bool im2col_start(int room);
bool im2col_run(int room);
/* bulk_copy.c */
bool bulk_start(int room);
bool bulk_run(int room);

/* ---- what they share */

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

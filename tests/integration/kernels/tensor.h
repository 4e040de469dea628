/* SPDX-License-Identifier: MIT */
/* Arguments of the tensor test kernels. */
#ifndef TUTTI_TEST_TENSOR_KERNELS_H
#define TUTTI_TEST_TENSOR_KERNELS_H

#include <stdint.h>

#include "tutti/tensor.h"

/* One request of one workgroup: its shared memory is filled from @in first and copied to @out afterwards. */
struct tensor_job {
	struct tutti_tensor_request request;
	uint64_t *in, *out;
	uint32_t shared_bytes;
	uint32_t expect;    /* bytes the barrier is told, if there is one */
	uint64_t shared;    /* written: where shared memory was */
};

struct args_tensor { struct tensor_job *job; };

/* A box from one tensor to another, through shared memory. */
struct args_move { const struct tutti_tensor *from, *to; int32_t coordinate[5]; uint16_t offset, back; uint32_t bytes; };

/* Boxes 0, 1, ... of a tensor in turns by a ring of stages; each workgroup's waves add up all of its elements. */
struct args_stream {
	const struct tutti_tensor *tensor; /* rank 2, U32, box 32 x 8 */
	uint32_t boxes;
	uint32_t pad;
	uint64_t *sum;                     /* of each workgroup */
};

struct args_normalise { const struct tutti_tensor *x; float *y; float scale, shift; };

/* what the block of one_sync saw: @waves of them, entered by @who */
struct args_one { uint32_t *count, *who, *late; };

struct args_change { struct tutti_tensor *tensor; uint64_t base; uint32_t *out; };

struct args_late { const void *from; uint64_t *out; uint32_t blocks, pad; };

/* CGA: rank 0 sends to all ranks of @mask, and each notes what it received. */
struct args_cast { const struct tutti_tensor *tensor; uint32_t mask, bytes; uint64_t *out; };

struct args_contend { uint32_t *cells; uint32_t *ticks; uint32_t rounds, pad; };

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Arguments of the tool's kernels, for both sides */
#ifndef TUTTI_TOOL_KERNELS_H
#define TUTTI_TOOL_KERNELS_H

#include <stdint.h>

#include "../examples/gemm/gemm.h"
#include "tutti/tensor.h"

/** struct tool_args - every kernel of the tool takes this. */
struct tool_args {
	uint64_t *out;
	uint64_t value;
};

#define TOOL_TENSOR_DATA 1024u       /* where tool_tensor puts its bytes in shared memory, after the barrier */
#define TOOL_TENSOR_SHARED (64u << 10)
#define TOOL_TENSOR_INVALIDATE 1u    /* before each request, remove its descriptor from the cache */
#define TOOL_TENSOR_PREFETCH 2u      /* and fetch it again in advance */

/** struct tool_tensor_args - @times the same load of @bytes, one after the other. */
struct tool_tensor_args {
	const struct tutti_tensor *tensor;
	struct tutti_tensor_request request;
	uint32_t requests, bytes;
	uint32_t before; /* TOOL_TENSOR_* */
	uint32_t stride; /* from the descriptor of each request to that of the next one; 0: all use the same */
};

/** struct tool_stream - @times requests of @bytes, one after the other. */
struct tool_stream {
	const struct tutti_tensor *tensor; /* NULL: a block at @from */
	const void *from;
	uint32_t times, bytes;
};

/** struct tool_gemm - the arguments of the example's kernels come first, so that they can take this structure, too. */
struct tool_gemm {
	struct gemm_args tensors;
	const float *a, *b;
};

#define TOOL_GROUP 128u /* workgroup of tool_barrier, items */

#endif

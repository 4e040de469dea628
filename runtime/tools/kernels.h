/* SPDX-License-Identifier: MIT */
/** DOC: Arguments of the tool's kernels, for both sides */
#ifndef TUTTI_TOOL_KERNELS_H
#define TUTTI_TOOL_KERNELS_H

#include <stdint.h>

#include "../examples/gemm/gemm.h"

/** struct tool_args - every kernel of the tool takes this. */
struct tool_args {
	uint64_t *out;
	uint64_t value;
};

struct tutti_tensor;

/** struct tool_stream - @times requests of @bytes, one behind the other. */
struct tool_stream {
	const struct tutti_tensor *tensor; /* NULL: a block at @from */
	const void *from;
	uint32_t times, bytes;
};

/** struct tool_gemm - arguments of the example's kernels first, so that they take it, too. */
struct tool_gemm {
	struct gemm_args tensors;
	const float *a, *b;
};

#define TOOL_GROUP 128u /* workgroup of tool_barrier, items */

#endif

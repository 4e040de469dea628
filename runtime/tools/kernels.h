/* SPDX-License-Identifier: MIT */
/** DOC: Arguments of the tool's kernels, for both sides */
#ifndef TUTTI_TOOL_KERNELS_H
#define TUTTI_TOOL_KERNELS_H

#include <stdint.h>

/** struct tool_args - every kernel of the tool takes this. */
struct tool_args {
	uint64_t *out;
	uint64_t value;
};

#define TOOL_GROUP 128u /* workgroup of tool_barrier, items */

#endif

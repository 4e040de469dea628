/* SPDX-License-Identifier: MIT */
/* Arguments of the test kernels, for device code and for the tests. */
#ifndef TUTTI_TEST_KERNELS_H
#define TUTTI_TEST_KERNELS_H

#include <stdint.h>

struct args_fill { uint32_t *out; uint32_t value; uint32_t pad; };
struct args_word { uint64_t *word; uint64_t value; };
struct args_step { uint64_t *cell; uint64_t mul, add; };
struct args_gate { uint64_t *started, *go, *ended; };
struct args_add { float *c; const float *a, *b; uint32_t n, pad; };
struct args_text { const char *text; uint64_t value; };

/* what one workgroup notes about itself */
struct seen {
	uint32_t cta[3], groups[3], grid[3];
	uint32_t workgroup[3], current[3];
	uint32_t linear, sm, waves, items, dimensions;
	uint64_t packet, runs;
};
struct args_seen { struct seen *seen; uint32_t *items; uint32_t *sm_now, *sm_most; };

/* @where: SM and first shared byte of the workgroup; @bad: bytes of its @bytes that somebody else has written */
struct args_keep { uint64_t *started, *go; uint64_t *where; uint32_t *bad; uint32_t bytes, tag; };
struct args_park { uint32_t *sm_of, *runs; uint64_t *started, *go; };
struct args_math { double *out; const double *in; uint32_t n, pad; };

#endif

/* SPDX-License-Identifier: MIT */
/* Arguments of the kernels of cga.c, for device code and for the tests. */
#ifndef TUTTI_TEST_CGA_ARGS_H
#define TUTTI_TEST_CGA_ARGS_H

#include <stdint.h>

/* what one CTA saw of its CGA */
struct cga_seen {
	uint32_t runs, sm, gpc, slot, rank, ctas, lmem, linear;
	uint32_t cta[3], cga[3], count[3], cga_linear;
};
struct args_cga_seen { struct cga_seen *seen; uint64_t *running, *most; uint64_t wait; };

struct args_cga_sum { uint64_t *out; uint64_t rounds; };
struct args_cga_bad { uint64_t *flag; uint64_t rank, offset; };

#endif

/* SPDX-License-Identifier: MIT */
#ifndef STENCIL_H
#define STENCIL_H

#include <stdint.h>

#include "tutti/tensor.h"

#define TILE 32 /* inner points of a workgroup, each way */
#define HALO_X 4 /* one would do, but a box begins at a multiple of 16 bytes */
#define HALO_Y 1

/* to = the mean of each point's four neighbours in from, 0 around it. */
struct stencil_args {
	const struct tutti_tensor *from; /* boxes of TILE + 2 HALO_X by TILE + 2 HALO_Y */
	const struct tutti_tensor *to;   /* boxes of TILE by TILE */
};

#endif

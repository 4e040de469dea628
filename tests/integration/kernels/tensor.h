/* SPDX-License-Identifier: MIT */
/* Arguments of the tensor test kernels. */
#ifndef TUTTI_TEST_TENSOR_KERNELS_H
#define TUTTI_TEST_TENSOR_KERNELS_H

#include <stdint.h>

#include "tutti/tensor.h"

/* One request of one workgroup: shared memory is filled from @in before, and copied to @out after it. */
struct tensor_job {
	struct tutti_tensor_request request;
	uint64_t *in, *out;
	uint32_t shared_bytes;
	uint32_t expect;    /* bytes the barrier is told, if there is one */
	uint64_t repeat;    /* how often the request is made; 0 = 1 */
};

struct args_tensor { struct tensor_job *job; };

#endif

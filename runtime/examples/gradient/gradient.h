/* SPDX-License-Identifier: MIT */
#ifndef GRADIENT_H
#define GRADIENT_H

#include <stdint.h>

#include "tutti/tensor.h"

#define SAMPLES 32  /* samples that one workgroup takes */
#define FEATURES 64

/* gradient += sum over samples of error[i] * x[i]: every workgroup adds its part. */
struct gradient_args {
	const struct tutti_tensor *x;        /* samples by features, boxes of SAMPLES rows */
	const struct tutti_tensor *gradient; /* one row of features */
	const float *error;
	uint32_t samples;
};

#endif

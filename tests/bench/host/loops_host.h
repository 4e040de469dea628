/* SPDX-License-Identifier: MIT */
#ifndef BENCH_HOST_LOOPS_HOST_H
#define BENCH_HOST_LOOPS_HOST_H

#include "kernels/loops.h"

void saxpy_on_host(const struct saxpy_args *args, uint32_t n);
void matmul_on_host(const struct matmul_args *args);

#endif

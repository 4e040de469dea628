// SPDX-License-Identifier: MIT
/* PERF-13: kernels whose time is compared with the same C on the host. */
#include "loops.h"
#include "tutti/device.h"

TUTTI_KERNEL(saxpy, struct saxpy_args)
{
	const float *x = args->x, a = args->a;
	float *y = args->y;

	tutti_for_each_item(item) {
		uint32_t i = tutti_global_id(item, 0);

		y[i] = a * x[i] + y[i];
	}
}

TUTTI_KERNEL(matmul, struct matmul_args)
{
	tutti_for_each_item(item) {
		uint32_t column = tutti_global_id(item, 0), row = tutti_global_id(item, 1);

		args->c[row * args->n + column] = matmul_element(args, row, column);
	}
}

/* In assembly, so that the benchmark knows how many instructions it takes: see DOT_INSTRUCTIONS. */
static inline float dot(const float *a, const float *b, float sum)
{
	uint64_t left = DOT_ITEMS;
	float x, y;

	__asm__ volatile("1:	flw	%[x], 0(%[a])\n"
			 "	flw	%[y], 0(%[b])\n"
			 "	fmul.s	%[x], %[x], %[y]\n"
			 "	addi	%[a], %[a], 4\n"
			 "	addi	%[left], %[left], -1\n"
			 "	fadd.s	%[sum], %[sum], %[x]\n"
			 "	addi	%[b], %[b], 4\n"
			 "	bnez	%[left], 1b\n"
			 : [a] "+r"(a), [b] "+r"(b), [left] "+r"(left), [sum] "+f"(sum), [x] "=&f"(x), [y] "=&f"(y)
			 : : "memory");
	return sum;
}

TUTTI_KERNEL(dot_rounds, struct dot_args)
{
	tutti_for_each_item(item) {
		float sum = 0;

		for (uint32_t round = 0; round < args->rounds; round++)
			sum = dot(args->a, args->b, sum);
		*args->sum = sum;
	}
}

// SPDX-License-Identifier: MIT
/* Loops whose speed the bench measures: a0 says which, a1 how often. Also compiled for the host, as the yardstick. */
#include <stdint.h>

#ifdef __riscv
__asm__(".section .text.start,\"ax\",@progbits\n"
	"	call loops\n"
	"	ecall\n"
	"	.text\n");
#endif

#if !defined(__riscv) || __riscv_xlen == 64
#define FLOATS 1
#endif

#ifdef FLOATS
static double matrix[3][64][64];
#endif
static uint32_t table[4096];

static uint64_t loop_integer(uint64_t n)
{
	uint64_t x = 88172645463325252ull, sum = 0;

	for (; n; n--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sum += x & 0xff;
	}
	return sum;
}

static uint64_t loop_memory(uint64_t n)
{
	uint32_t at = 1;

	for (; n; n--) {
		table[at & 4095] += at;
		at = table[(at * 5 + 1) & 4095] + 2 * at + 1;
	}
	return at;
}

static uint64_t loop_branch(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 1; i <= n; i++) {
		uint64_t v = i;

		while (v != 1 && v >= i)
			v = v & 1 ? 3 * v + 1 : v / 2, sum++;
	}
	return sum;
}

static __attribute__((noinline)) uint64_t fibonacci(uint64_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

#ifdef FLOATS
static uint64_t loop_fma(uint64_t n)
{
	double sum = 0;

	for (int i = 0; i < 64; i++)
		for (int j = 0; j < 64; j++)
			matrix[0][i][j] = i + j * 0.1, matrix[1][i][j] = i * 0.3 - j;
	for (; n; n--)
		for (int i = 0; i < 64; i++)
			for (int j = 0; j < 64; j++) {
				double c = 0;

				for (int k = 0; k < 64; k++)
#ifdef __riscv
					__asm__("fmadd.d %0, %1, %2, %0" : "+f"(c) : "f"(matrix[0][i][k]), "f"(matrix[1][k][j]));
#else
					c = __builtin_fma(matrix[0][i][k], matrix[1][k][j], c);
#endif
				sum += c;
			}
	return (uint64_t)(int64_t)sum;
}

static uint64_t loop_saxpy(uint64_t n)
{
	static float x[4096], y[4096];

	for (int i = 0; i < 4096; i++)
		x[i] = (float)i * 0.1f, y[i] = (float)i;
	for (; n; n--)
		for (int i = 0; i < 4096; i++)
			y[i] = 0.5f * x[i] + y[i] * 0.25f;
	return (uint64_t)(y[77] * 1000);
}

#else
#define loop_fma(n)   0
#define loop_saxpy(n) 0
#endif

uint64_t loops(uint64_t which, uint64_t n);
uint64_t loops(uint64_t which, uint64_t n)
{
	switch (which) {
	case 0:
		return loop_integer(n);
	case 1:
		return loop_memory(n);
	case 2:
		return loop_branch(n);
	case 3:
		return fibonacci(n);
	case 4:
		return loop_fma(n);
	}
	return loop_saxpy(n);
}

// SPDX-License-Identifier: MIT
/* C of many kinds, compiled for the guest and for the host: a0 says which, a1 is a seed; the results must be equal. */
#include <stdint.h>

#ifdef __riscv
__asm__(".section .text.start,\"ax\",@progbits\n"
	"	call mixed\n"
	"	ecall\n"
	"	.text\n");
#endif

static uint64_t state;

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t fold(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x100000001b3ull + (hash >> 29);
}

static uint64_t bits_of(double value)
{
	union {
		double d;
		uint64_t u;
	} both = { value };

	return both.u;
}

static uint64_t mixed_divisions(void)
{
	uint64_t hash = 1;

	for (int i = 0; i < 2000; i++) {
		uint64_t a = next(), b = next(), shift = next();

		a >>= shift & 63;
		b = (b >> (shift >> 6 & 63)) | 1;
		hash = fold(hash, a / b + a % b);
		hash = fold(hash, (uint64_t)((int64_t)a / (int64_t)b) ^ (uint64_t)((int32_t)a % ((int32_t)b | 1)));
		hash = fold(hash, (uint64_t)((unsigned __int128)a * b >> 64) + (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64));
		hash = fold(hash, (uint32_t)a / ((uint32_t)b | 1) + (uint16_t)a * (int8_t)b);
	}
	return hash;
}

static void sort(int32_t *a, int n)
{
	int32_t pivot = a[n / 2], t;
	int i = 0, j = n - 1;

	while (i <= j) {
		while (a[i] < pivot)
			i++;
		while (a[j] > pivot)
			j--;
		if (i <= j) {
			t = a[i];
			a[i++] = a[j];
			a[j--] = t;
		}
	}
	if (j > 0)
		sort(a, j + 1);
	if (i < n - 1)
		sort(a + i, n - i);
}

static uint64_t mixed_sort(void)
{
	static int32_t a[3000];
	uint64_t hash = 2;

	for (int i = 0; i < 3000; i++)
		a[i] = (int32_t)next();
	sort(a, 3000);
	for (int i = 0; i < 3000; i++)
		hash = fold(hash, (uint64_t)a[i]);
	return hash;
}

struct misaligned {
	uint32_t word;
} __attribute__((packed, may_alias));

static uint64_t mixed_bytes(void)
{
	static uint8_t text[5000], copy[5000];
	static uint16_t counts[256];
	uint64_t hash = 3;
	int8_t low = 0;

	for (int i = 0; i < 5000; i++) {
		text[i] = (uint8_t)(next() >> 11);
		counts[text[i]]++;
		copy[4999 - i] = text[i] >= 'a' && text[i] <= 'z' ? (uint8_t)(text[i] - 32) : text[i];
		low = (int8_t)text[i] < low ? (int8_t)text[i] : low;
	}
	for (int i = 0; i < 4992; i++)
		hash = fold(hash, ((const struct misaligned *)(copy + i))->word + counts[copy[i]]);
	return hash + (uint64_t)low;
}

static uint64_t mixed_double(void)
{
	static double a[24][25];
	uint64_t hash = 4;

	for (int i = 0; i < 24; i++)
		for (int j = 0; j < 25; j++)
			a[i][j] = (double)(int64_t)next() / 1e15 + (i == j ? 1e5 : 0);
	for (int k = 0; k < 24; k++)
		for (int i = 0; i < 24; i++) {
			double factor = a[i][k] / a[k][k];

			for (int j = k; j < 25 && i != k; j++)
				a[i][j] -= factor * a[k][j];
		}
	for (int i = 0; i < 24; i++)
		hash = fold(hash, bits_of(a[i][24] / a[i][i]));
	return hash;
}

static uint64_t mixed_float(void)
{
	uint64_t hash = 5;
	float x = 0.5f, least = 1e30f, most = -1e30f;

	for (int i = 0; i < 4000; i++) {
		float y = (float)(int32_t)next() * 1e-7f, z = (float)next() * 1e-18f;

		x = 3.7f * x * (1 - x) + (y > z ? y * 1e-5f : 1e-9f);
		x -= (float)(int)x;
		least = y < least ? y : least;
		most = z > most ? z : most;
		hash = fold(hash, bits_of((double)x + (double)(uint32_t)(z * 100) + (double)(int64_t)(y * 1e6f) +
					  (double)__builtin_sqrtf(z) - __builtin_fabs(y) + (double)(uint64_t)(z * 1e17f)));
	}
	return fold(fold(hash, bits_of((double)least)), bits_of((double)most));
}

uint64_t mixed(uint64_t which, uint64_t seed);
uint64_t mixed(uint64_t which, uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15ull + 1;
	switch (which) {
	case 0:
		return mixed_divisions();
	case 1:
		return mixed_sort();
	case 2:
		return mixed_bytes();
	case 3:
		return mixed_double();
	}
	return mixed_float();
}

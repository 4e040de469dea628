// SPDX-License-Identifier: MIT
/* The interpreter of RV64IMAFDC. */
#include <math.h>
#include <string.h>

#include "translation.h"

#define XLEN	 64
#define SET_F(v) (regs->f[op->rd] = (v))
#define BOX	 0xffffffff00000000ull
#define SIGN_S	 0x80000000u
#define SIGN_D	 (1ull << 63)
#define NAN_S	 0x7fc00000u

static uint64_t mulhsu(uint64_t a, uint64_t b)
{
	uint64_t high = (uint64_t)((unsigned __int128)a * b >> 64);

	return (int64_t)a < 0 ? high - b : high;
}

static uint64_t divide(uint64_t a, uint64_t b)
{
	if (!b)
		return ~0ull;
	return b == ~0ull ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t remainder_of(uint64_t a, uint64_t b)
{
	if (!b)
		return a;
	return b == ~0ull ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

/* ---- floating-point registers ---- */

static inline uint32_t bits_s(const struct cpu_regs *regs, unsigned n)
{
	uint64_t f = regs->f[n];

	return cpu_likely(f >= BOX) ? (uint32_t)f : NAN_S;
}

static inline float get_s(const struct cpu_regs *regs, unsigned n)
{
	uint32_t bits = bits_s(regs, n);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline double get_d(const struct cpu_regs *regs, unsigned n)
{
	double value;

	memcpy(&value, &regs->f[n], sizeof(value));
	return value;
}

static inline void set_s(struct cpu_regs *regs, unsigned n, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	regs->f[n] = BOX | bits;
}

static inline void set_d(struct cpu_regs *regs, unsigned n, double value)
{
	memcpy(&regs->f[n], &value, sizeof(value));
}

static inline bool finite_s(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (~bits & 0x7f800000u) != 0;
}

static inline bool finite_d(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (~bits & 0x7ff0000000000000ull) != 0;
}

/* Finite, and at least twice the smallest normal number */
static inline bool normal_s(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (bits >> 23 & 0xff) - 2 < 0xff - 2;
}

static inline bool normal_d(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (bits >> 52 & 0x7ff) - 2 < 0x7ff - 2;
}

#include "interpret.h"

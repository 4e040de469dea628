// SPDX-License-Identifier: MIT
/* The interpreter of RV32IMC. */
#include "translation.h"

#define XLEN	 32
#define SET_F(v) (regs->f[op->rd] = (v)) /* not reached: there is no floating point */

static uint32_t mulhsu(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int64_t)(uint64_t)b) >> 32);
}

static uint32_t divide(uint32_t a, uint32_t b)
{
	if (!b)
		return ~0u;
	return (uint32_t)((int64_t)(int32_t)a / (int32_t)b);
}

static uint32_t remainder_of(uint32_t a, uint32_t b)
{
	return b ? (uint32_t)((int64_t)(int32_t)a % (int32_t)b) : a;
}

#include "interpret.h"

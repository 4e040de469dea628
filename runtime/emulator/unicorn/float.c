// SPDX-License-Identifier: MIT
/*
 * Floating point of kernels on the host's unit. Unicorn does that too, once the
 * flag "inexact" is set, but looks at both operands first. It is enough to look at
 * the result: if it is finite (and, for products and quotients, far from
 * underflow), rounding to nearest was the only thing that happened. Everything else is
 * done again by unicorn's own functions, whose place these take.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define VISIBLE __attribute__((visibility("default")))

/* Bytes of unicorn's float_status */
#define ROUNDING 1
#define FLAGS 2
#define FLAG_INEXACT 0x20u

static inline bool plain(const uint8_t *status)
{
	return __builtin_expect(status[FLAGS] & FLAG_INEXACT && !status[ROUNDING], 1);
}

/* Sums are exact where they are tiny; products are not, unless a factor is zero (@zero). @top: the largest exponent */
#define SUM_OK(exponent, top) ((exponent) != (top))
#define PRODUCT_OK(exponent, top) ((exponent) - 2u < (top) - 2u)

#define OPERATION(name, type, word, shift, top, symbol, ok, zero)                                 \
	word name(word a, word b, uint8_t *status);                                         \
	static word (*next_##name)(word a, word b, uint8_t *status);                        \
	VISIBLE word name(word a, word b, uint8_t *status)                                  \
	{                                                                                   \
		type x, y;                                                                  \
		word r;                                                                     \
											    \
		if (plain(status)) {                                                        \
			memcpy(&x, &a, sizeof(x));                                          \
			memcpy(&y, &b, sizeof(y));                                          \
			x = x symbol y;                                                     \
			memcpy(&r, &x, sizeof(r));                                          \
			if (__builtin_expect(ok((uint32_t)(r >> (shift)) & (top), top), 1)) \
				return r;                                                   \
			if (zero && !(word)(r << 1) && (!(word)(a << 1) || !(word)(b << 1))) \
				return r;                                                   \
		}                                                                           \
		return next_##name(a, b, status);                                           \
	}

#define TYPE(bits, type, shift, top)                                                                   \
	OPERATION(float##bits##_add_riscv64, type, uint##bits##_t, shift, top, +, SUM_OK, false)              \
	OPERATION(float##bits##_sub_riscv64, type, uint##bits##_t, shift, top, -, SUM_OK, false)              \
	OPERATION(float##bits##_mul_riscv64, type, uint##bits##_t, shift, top, *, PRODUCT_OK, true)          \
	OPERATION(float##bits##_div_riscv64, type, uint##bits##_t, shift, top, /, PRODUCT_OK, false)

TYPE(32, float, 23, 0xffu)
TYPE(64, double, 52, 0x7ffu)

#define FIND(name) (*(void **)&next_##name = dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void find_next(void)
{
	FIND(float32_add_riscv64);
	FIND(float32_sub_riscv64);
	FIND(float32_mul_riscv64);
	FIND(float32_div_riscv64);
	FIND(float64_add_riscv64);
	FIND(float64_sub_riscv64);
	FIND(float64_mul_riscv64);
	FIND(float64_div_riscv64);
}

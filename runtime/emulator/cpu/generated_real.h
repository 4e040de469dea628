/* SPDX-License-Identifier: MIT */
/*
 * Floating point in translated code. s0 ... s31 and d0 ... d31 are registers that are known to hold single precision, and all
 * others. A function is entered only while the flag "inexact" is set and rounding is to nearest even, and neither changes
 * in it; so the host computes what float.c says that it may, and helpers the rest.
 */
#ifndef CPU_GENERATED_REAL_H
#define CPU_GENERATED_REAL_H

#define BOX	0xffffffff00000000ull
#define SLOW	!(c->fast[0] & c->fast[7])

static inline uint32_t bits_s(float v)
{
	uint32_t bits;

	__builtin_memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static inline uint64_t bits_d(double v)
{
	uint64_t bits;

	__builtin_memcpy(&bits, &v, sizeof(bits));
	return bits;
}

static inline float from_bits_s(uint32_t bits)
{
	float v;

	__builtin_memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline double from_bits_d(uint64_t bits)
{
	double v;

	__builtin_memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline float unboxed(double v)
{
	uint64_t bits = bits_d(v);

	return from_bits_s(cpu_likely(bits >= BOX) ? (uint32_t)bits : 0x7fc00000u);
}

/* In two halves, so that the number need not be moved to an integer register and be widened there in each round of a loop. */
static inline void put_s(uint64_t *to, float v)
{
	const uint32_t box = ~0u;

	__builtin_memcpy(to, &v, sizeof(v));
	__builtin_memcpy((char *)to + sizeof(v), &box, sizeof(box));
}

#define REAL(i)        float s##i = 0; double d##i = 0; (void)s##i; (void)d##i
#define BOXED(v)       (BOX | bits_s(v))
#define BITS_D(v)      bits_d(v)
#define UNBOXED(v)     unboxed(v)
#define SINGLE_OF(v)   from_bits_s(v)
#define SINGLE_LOW(v)  from_bits_s((uint32_t)(v))
#define DOUBLE_OF(v)   from_bits_d(v)
#define GET_D(i)       d##i = from_bits_d(r->f[i])
#define GET_S(i)       if (cpu_unlikely(r->f[i] < BOX)) return pc; s##i = from_bits_s((uint32_t)r->f[i])
#define PUT_D(i)       r->f[i] = bits_d(d##i)
#define PUT_S(i)       put_s(&r->f[i], s##i)
#define CHANGE(i)      d##i = from_bits_d(BOXED(s##i))

static __attribute__((noinline, cold, unused)) float exact_s(struct cpu *c, unsigned code, float a, float b, float d)
{
	return SINGLE_LOW(c->help->real(c, code, BOXED(a), BOXED(b), BOXED(d)));
}

static __attribute__((noinline, cold, unused)) double exact_d(struct cpu *c, unsigned code, double a, double b, double d)
{
	return DOUBLE_OF(c->help->real(c, code, bits_d(a), bits_d(b), bits_d(d)));
}

static __attribute__((noinline, cold, unused)) uint64_t exact_xs(struct cpu *c, unsigned code, float a, float b)
{
	return c->help->real(c, code, BOXED(a), BOXED(b), 0);
}

static __attribute__((noinline, cold, unused)) uint64_t exact_xd(struct cpu *c, unsigned code, double a, double b)
{
	return c->help->real(c, code, bits_d(a), bits_d(b), 0);
}

/* Finite; and finite and at least twice the smallest normal number */
#define FINITE_S(v) (__builtin_fabsf(v) <= __FLT_MAX__)
#define FINITE_D(v) (__builtin_fabs(v) <= __DBL_MAX__)
#define FAR_S(v)    (2 * bits_s(v) - (2u << 24) < 0xfdu << 24)
#define FAR_D(v)    (2 * (uint32_t)(bits_d(v) >> 32) - (2u << 21) < 0x7fdu << 21)

#define ZERO(v)	    (sizeof(v) == sizeof(float) ? !(bits_s((float)(v)) << 1) : !(bits_d(v) << 1))

/* What the host may not compute, by a helper, or where the loop in which it is meets it is left (@code is a label then) */
#define EXACT_s(to, code, a, b, d)  to = exact_s(c, code, a, b, d)
#define EXACT_d(to, code, a, b, d)  to = exact_d(c, code, a, b, d)
#define EXACT_xs(to, code, a, b, d) to = exact_xs(c, code, a, b)
#define EXACT_xd(to, code, a, b, d) to = exact_xd(c, code, a, b)
#define EXACT_sd(to, code, a, b, d) to = SINGLE_LOW(c->help->real(c, code, bits_d(a), b, d))
#define EXACT_ds(to, code, a, b, d) to = DOUBLE_OF(c->help->real(c, code, BOXED(a), b, d))
#define MISS_s(to, code, a, b, d)   goto code
#define MISS_d(to, code, a, b, d)   goto code
#define MISS_xs(to, code, a, b, d)  goto code
#define MISS_xd(to, code, a, b, d)  goto code
#define MISS_sd(to, code, a, b, d)  goto code
#define MISS_ds(to, code, a, b, d)  goto code

/* For EXACT and MISS each result is checked at once, for LATER all of them together (generated_chunk.h). */
#define EXACT_NOW 1
#define MISS_NOW  1
#define LATER_NOW 0
#define LATER_s(to, code, a, b, d) (void)0
#define LATER_d(to, code, a, b, d) (void)0

#define RESULT(t, to, v, good, how, code, a, b, d)                                                      \
	do {                                                                                            \
		if (!how##_NOW || cpu_likely(good))                                                     \
			to = v;                                                                         \
		else                                                                                    \
			how##_##t(to, code, a, b, d);                                                   \
	} while (0)

#define SUM_S(to, x, y, op, how, code) \
	do { const float a = (x), b = (y), v = a op b; RESULT(s, to, v, FINITE_S(v), how, code, a, b, 0); } while (0)
#define SUM_D(to, x, y, op, how, code) \
	do { const double a = (x), b = (y), v = a op b; RESULT(d, to, v, FINITE_D(v), how, code, a, b, 0); } while (0)
/* @zero: a condition on the operands a and b under which a result of zero is exact */
#define PRODUCT_S(to, x, y, op, zero, how, code)                                                             \
	do {                                                                                            \
		const float a = (x), b = (y), v = a op b;                                               \
		if (!how##_NOW || cpu_likely(FAR_S(v)))                                                              \
			to = v;                                                                         \
		else                                                                                    \
			RESULT(s, to, v, ZERO(v) && (zero), how, code, a, b, 0);                              \
	} while (0)
#define PRODUCT_D(to, x, y, op, zero, how, code)                                                             \
	do {                                                                                            \
		const double a = (x), b = (y), v = a op b;                                              \
		if (!how##_NOW || cpu_likely(FAR_D(v)))                                                              \
			to = v;                                                                         \
		else                                                                                    \
			RESULT(d, to, v, ZERO(v) && (zero), how, code, a, b, 0);                              \
	} while (0)

#if defined(__FMA__) || defined(__aarch64__)
#define FMA_S __builtin_fmaf
#define FMA_D __builtin_fma
#else
#define FMA_S c->help->fused_single
#define FMA_D c->help->fused_double
#endif
#define FUSED_S(to, x, y, z, s1, s3, how, code)                                                              \
	do {                                                                                            \
		const float a = (x), b = (y), d = (z), v = FMA_S(s1 a, b, s3 d);                        \
		if (!how##_NOW || cpu_likely(FAR_S(v)))                                                              \
			to = v;                                                                         \
		else                                                                                    \
			RESULT(s, to, v, ZERO(v) && (ZERO(a) || ZERO(b)), how, code, a, b, d);                  \
	} while (0)
#define FUSED_D(to, x, y, z, s1, s3, how, code)                                                              \
	do {                                                                                            \
		const double a = (x), b = (y), d = (z), v = FMA_D(s1 a, b, s3 d);                       \
		if (!how##_NOW || cpu_likely(FAR_D(v)))                                                              \
			to = v;                                                                         \
		else                                                                                    \
			RESULT(d, to, v, ZERO(v) && (ZERO(a) || ZERO(b)), how, code, a, b, d);                  \
	} while (0)

#define ROOT_S(to, x, how, code)                                                                             \
	do {                                                                                            \
		const float a = (x);                                                                    \
		RESULT(s, to, __builtin_sqrtf(a), a >= 0 && FINITE_S(a), how, code, a, 0, 0); \
	} while (0)
#define ROOT_D(to, x, how, code)                                                                             \
	do {                                                                                            \
		const double a = (x);                                                                   \
		RESULT(d, to, __builtin_sqrt(a), a >= 0 && FINITE_D(a), how, code, a, 0, 0);  \
	} while (0)

/* @how is nothing or ~, applied to the sign */
#define SIGN_S(to, x, y, how)  to = from_bits_s((bits_s(x) & 0x7fffffffu) | (how bits_s(y) & 0x80000000u))
#define SIGN_D(to, x, y, how)  to = from_bits_d((bits_d(x) & ~(1ull << 63)) | (how bits_d(y) & 1ull << 63))
#define SIGN_XOR_S(to, x, y)   to = from_bits_s(bits_s(x) ^ (bits_s(y) & 0x80000000u))
#define SIGN_XOR_D(to, x, y)   to = from_bits_d(bits_d(x) ^ (bits_d(y) & 1ull << 63))
#define ABSOLUTE_S(to, x)      to = __builtin_fabsf(x)
#define ABSOLUTE_D(to, x)      to = __builtin_fabs(x)

/* Equal ones may be zeros of different sign. */
#define SELECT_S(to, x, y, op, how, code)                                                                    \
	do {                                                                                            \
		const float a = (x), b = (y);                                                           \
		RESULT(s, to, (a op b ? a : b), a < b || a > b, how, code, a, b, 0);         \
	} while (0)
#define SELECT_D(to, x, y, op, how, code)                                                                    \
	do {                                                                                            \
		const double a = (x), b = (y);                                                          \
		RESULT(d, to, (a op b ? a : b), a < b || a > b, how, code, a, b, 0);         \
	} while (0)
#define COMPARE_S(to, x, y, op, how, code)                                                                   \
	do {                                                                                            \
		const float a = (x), b = (y);                                                           \
		RESULT(xs, to, a op b, !__builtin_isunordered(a, b), how, code, a, b, 0);       \
	} while (0)
#define COMPARE_D(to, x, y, op, how, code)                                                                   \
	do {                                                                                            \
		const double a = (x), b = (y);                                                          \
		RESULT(xd, to, a op b, !__builtin_isunordered(a, b), how, code, a, b, 0);       \
	} while (0)
#define EXACT_X_S(to, x, how, code) to = exact_xs(c, code, x, 0)
#define EXACT_X_D(to, x, how, code) to = exact_xd(c, code, x, 0)
#define BITS_X_S(to, bits)     to = WORD(bits)
#define BITS_X_D(to, bits)     to = (bits)
/* Hides a value from the compiler: what the compiler computes beforehand does not set the host's flags. */
#if defined(__x86_64__)
#define OPAQUE(v)	       __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define OPAQUE(v)	       __asm__("" : "+w"(v))
#else
#define OPAQUE(v)	       (void)0
#endif
#define FROM_BITS_S(to, x)     do { to = from_bits_s((uint32_t)(x)); OPAQUE(to); } while (0)
#define FROM_BITS_D(to, x)     do { to = from_bits_d(x); OPAQUE(to); } while (0)

/* To integers, towards zero */
#define TO_SIGNED_S(to, x, type, most, how, code)                                                            \
	do {                                                                                            \
		const float a = (x);                                                                    \
		RESULT(xs, to, (ux)(sx)(type)a, a > -most##f && a < most##f, how, code, a, 0, 0); \
	} while (0)
#define TO_SIGNED_D(to, x, type, most, how, code)                                                            \
	do {                                                                                            \
		const double a = (x);                                                                   \
		RESULT(xd, to, (ux)(sx)(type)a, a > -most && a < most, how, code, a, 0, 0);     \
	} while (0)
#define TO_UNSIGNED_S(to, x, type, convert, most, how, code)                                                 \
	do {                                                                                            \
		const float a = (x);                                                                    \
		RESULT(xs, to, convert((type)a), a > -1 && a < most##f, how, code, a, 0, 0);    \
	} while (0)
#define TO_UNSIGNED_D(to, x, type, convert, most, how, code)                                                 \
	do {                                                                                            \
		const double a = (x);                                                                   \
		RESULT(xd, to, convert((type)a), a > -1 && a < most, how, code, a, 0, 0);       \
	} while (0)
#define FROM_INTEGER_S(to, x)  to = (float)(x)
#define FROM_INTEGER_D(to, x)  to = (double)(x)
#define CONVERT_S(to, x, how, code)                                                                          \
	do {                                                                                            \
		const double a = (x);                                                                   \
		const float v = (float)a;                                                               \
		RESULT(sd, to, v, FAR_S(v) || a == 0, how, code, a, 0, 0);                              \
	} while (0)
#define CONVERT_D(to, x, how, code)                                                                          \
	do {                                                                                            \
		const float a = (x);                                                                    \
		RESULT(ds, to, (double)a, FINITE_S(a), how, code, a, 0, 0);                             \
	} while (0)

#endif

// SPDX-License-Identifier: MIT
/*
 * Arithmetic works on numbers with 128 bits of significand, which hold every product exactly; what falls off
 * their end is kept as one bit that says "not zero". soft_round() does all rounding.
 */
#include "cpu.h"
#include "softfloat.h"

typedef unsigned __int128 u128;

struct format {
	unsigned bits; /* of the significand, the first one included */
	int least;     /* exponents of normal numbers */
	int most;
	unsigned sign; /* its bit */
	uint64_t nan;
};

static const struct format formats[] = {
    {24, -126, 127, 31, SOFT_NAN_SINGLE},
    {53, -1022, 1023, 63, SOFT_NAN_DOUBLE},
};

enum kind { ZERO, NUMBER, INFINITE, NOT_A_NUMBER };

/* @significand of a number has its first one in the top bit: significand / 2^127 * 2^exponent */
struct real {
	enum kind kind;
	bool negative;
	bool signaling;
	int exponent;
	u128 significand;
};

static unsigned leading_zeros(u128 value)
{
	uint64_t high = (uint64_t)(value >> 64);

	return (unsigned)(high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)value));
}

static u128 shift_right(u128 value, unsigned n)
{
	if (!n)
		return value;
	if (n > 127)
		return value != 0;
	return value >> n | ((value << (128 - n)) != 0);
}

static void normalize(struct real *real)
{
	unsigned n;

	if (!real->significand) {
		real->kind = ZERO;
		return;
	}
	n = leading_zeros(real->significand);
	real->significand <<= n;
	real->exponent -= (int)n;
}

static struct real unpack(const struct format *format, uint64_t a)
{
	unsigned fraction_bits = format->bits - 1;
	uint64_t fraction = a & ((1ull << fraction_bits) - 1);
	int top = 2 * format->most + 1, exponent = (int)(a >> fraction_bits) & top;
	struct real real = {.kind = NUMBER, .negative = a >> format->sign & 1};

	if (exponent == top) {
		real.kind = fraction ? NOT_A_NUMBER : INFINITE;
		real.signaling = fraction && !(fraction >> (fraction_bits - 1));
		return real;
	}
	if (exponent)
		fraction |= 1ull << fraction_bits;
	real.significand = (u128)fraction << (127 - fraction_bits);
	real.exponent = (exponent ? exponent : 1) - format->most;
	normalize(&real);
	return real;
}

static uint64_t with_sign(const struct format *format, bool negative, uint64_t value)
{
	return value | (uint64_t)negative << format->sign;
}

static uint64_t infinity(const struct format *format, bool negative)
{
	return with_sign(format, negative, (uint64_t)(2 * format->most + 1) << (format->bits - 1));
}

static uint64_t invalid(const struct format *format, uint8_t *flags)
{
	*flags |= CPU_NV;
	return format->nan;
}

/* NaN operands: the canonical NaN, whatever they were. */
static uint64_t any_nan(const struct format *format, bool signaling, uint8_t *flags)
{
	return signaling ? invalid(format, flags) : format->nan;
}

static bool rounds_up(unsigned rm, bool negative, bool odd, u128 rest, u128 half)
{
	switch (rm) {
	case SOFT_RNE:
		return rest > half || (rest == half && odd);
	case SOFT_RMM:
		return rest >= half;
	case SOFT_RDN:
		return negative && rest;
	case SOFT_RUP:
		return !negative && rest;
	}
	return false;
}

/* Round @real to @bits of significand. 0: the first bit is half of the last place; -1: it is less than that.
 */
static u128 round_at(const struct real *real, int bits, unsigned rm, bool *inexact)
{
	unsigned drop = bits > 0 ? 128 - (unsigned)bits : 128;
	/* what is less than half of the last place is moved so that it stays so */
	u128 value = bits < 0 ? shift_right(real->significand, 1) : real->significand;
	u128 kept = drop > 127 ? 0 : value >> drop;
	u128 rest = drop > 127 ? value : value & (((u128)1 << drop) - 1);
	u128 half = (u128)1 << (drop > 127 ? 127 : drop - 1);

	*inexact = rest != 0;
	return kept + rounds_up(rm, real->negative, kept & 1, rest, half);
}

static uint64_t overflow(const struct format *format, bool negative, unsigned rm, uint8_t *flags)
{
	uint64_t top = infinity(format, negative);

	*flags |= CPU_OF | CPU_NX;
	if (rm == SOFT_RTZ || (rm == SOFT_RDN && !negative) || (rm == SOFT_RUP && negative))
		top--;
	return top;
}

/* What rounding would give if exponents had no end is still too small. */
static bool tiny(const struct format *format, const struct real *real, unsigned rm)
{
	bool inexact;

	if (real->exponent >= format->least)
		return false;
	return real->exponent < format->least - 1 ||
	       !(round_at(real, (int)format->bits, rm, &inexact) >> format->bits);
}

static uint64_t soft_round(const struct format *format, const struct real *real, unsigned rm, uint8_t *flags)
{
	int below = format->least - real->exponent, bits = (int)format->bits;
	uint64_t biased = 0, value;
	bool inexact;

	if (real->exponent > format->most)
		return overflow(format, real->negative, rm, flags);
	if (below > 0)
		bits = below > bits ? -1 : bits - below;
	else
		biased = (uint64_t)(real->exponent + format->most - 1);
	/* the first bit of a normal number adds one to the exponent, and so does a carry out of the
	 * significand */
	value = (uint64_t)round_at(real, bits, rm, &inexact) + (biased << (format->bits - 1));
	if (value >> (format->bits - 1) > (uint64_t)(2 * format->most))
		return overflow(format, real->negative, rm, flags);
	if (inexact)
		*flags |= CPU_NX | (tiny(format, real, rm) ? CPU_UF : 0);
	return with_sign(format, real->negative, value);
}

/* ---- sums ---- */

static uint64_t zero_sum(const struct format *format, bool a, bool b, unsigned rm)
{
	return with_sign(format, a == b ? a : rm == SOFT_RDN, 0);
}

/* Numbers that are neither NaN nor infinite */
static uint64_t add_finite(const struct format *format, struct real a, struct real b, unsigned rm,
			   uint8_t *flags)
{
	struct real sum = a, *small = &b;
	u128 x, y;

	if (a.kind == ZERO && b.kind == ZERO)
		return zero_sum(format, a.negative, b.negative, rm);
	if (a.kind == ZERO || (b.kind == NUMBER && b.exponent > a.exponent)) {
		sum = b;
		small = &a;
	}
	/* two bits of room: one for the carry, one so that nothing of a product is lost */
	x = sum.significand >> 1;
	y = small->kind == ZERO
		? 0
		: shift_right(small->significand, (unsigned)(sum.exponent - small->exponent) + 1);
	sum.exponent++;
	if (sum.negative == small->negative) {
		sum.significand = x + y;
	} else {
		sum.negative ^= y > x;
		sum.significand = y > x ? y - x : x - y;
	}
	normalize(&sum);
	return sum.kind == ZERO ? zero_sum(format, false, true, rm) : soft_round(format, &sum, rm, flags);
}

static uint64_t add(const struct format *format, struct real a, struct real b, unsigned rm, uint8_t *flags)
{
	if (a.kind == NOT_A_NUMBER || b.kind == NOT_A_NUMBER)
		return any_nan(format, a.signaling || b.signaling, flags);
	if (a.kind == INFINITE && b.kind == INFINITE && a.negative != b.negative)
		return invalid(format, flags);
	if (a.kind == INFINITE || b.kind == INFINITE)
		return infinity(format, a.kind == INFINITE ? a.negative : b.negative);
	return add_finite(format, a, b, rm, flags);
}

uint64_t soft_add(enum soft_format which, uint64_t a, uint64_t b, unsigned rm, uint8_t *flags)
{
	const struct format *format = &formats[which];

	return add(format, unpack(format, a), unpack(format, b), rm, flags);
}

/* ---- products, quotients, roots ---- */

/* Exact; zero and infinite factors make a zero or infinite product. Not for NaNs and not for zero times
 * infinity. */
static struct real multiply(const struct real *a, const struct real *b)
{
	struct real product = {.kind = NUMBER, .negative = a->negative != b->negative};

	if (a->kind == INFINITE || b->kind == INFINITE)
		product.kind = INFINITE;
	else if (a->kind == ZERO || b->kind == ZERO)
		product.kind = ZERO;
	if (product.kind != NUMBER)
		return product;
	product.significand = (u128)(uint64_t)(a->significand >> 64) * (uint64_t)(b->significand >> 64);
	product.exponent = a->exponent + b->exponent + 1;
	normalize(&product);
	return product;
}

static bool zero_times_infinity(const struct real *a, const struct real *b)
{
	return (a->kind == ZERO && b->kind == INFINITE) || (a->kind == INFINITE && b->kind == ZERO);
}

uint64_t soft_mul(enum soft_format which, uint64_t a, uint64_t b, unsigned rm, uint8_t *flags)
{
	const struct format *format = &formats[which];
	struct real x = unpack(format, a), y = unpack(format, b), product;

	if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER)
		return any_nan(format, x.signaling || y.signaling, flags);
	if (zero_times_infinity(&x, &y))
		return invalid(format, flags);
	product = multiply(&x, &y);
	if (product.kind == INFINITE)
		return infinity(format, product.negative);
	if (product.kind == ZERO)
		return with_sign(format, product.negative, 0);
	return soft_round(format, &product, rm, flags);
}

uint64_t soft_fma(enum soft_format which, uint64_t a, uint64_t b, uint64_t c, unsigned rm, uint8_t *flags)
{
	const struct format *format = &formats[which];
	struct real x = unpack(format, a), y = unpack(format, b), z = unpack(format, c);

	if (zero_times_infinity(&x, &y))
		return invalid(format, flags); /* even if the third is a quiet NaN */
	if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER)
		return any_nan(format, x.signaling || y.signaling || z.signaling, flags);
	return add(format, multiply(&x, &y), z, rm, flags);
}

uint64_t soft_div(enum soft_format which, uint64_t a, uint64_t b, unsigned rm, uint8_t *flags)
{
	const struct format *format = &formats[which];
	struct real x = unpack(format, a), y = unpack(format, b), quotient;
	uint64_t divisor = (uint64_t)(y.significand >> 64);
	u128 dividend = x.significand >> 1;

	if (x.kind == NOT_A_NUMBER || y.kind == NOT_A_NUMBER)
		return any_nan(format, x.signaling || y.signaling, flags);
	if (x.kind == y.kind && (x.kind == ZERO || x.kind == INFINITE))
		return invalid(format, flags);
	quotient = (struct real){.kind = NUMBER, .negative = x.negative != y.negative};
	if (x.kind == INFINITE || y.kind == ZERO) {
		*flags |= x.kind == INFINITE ? 0 : CPU_DZ;
		return infinity(format, quotient.negative);
	}
	if (x.kind == ZERO || y.kind == INFINITE)
		return with_sign(format, quotient.negative, 0);
	quotient.significand = dividend / divisor << 64 | (dividend % divisor != 0);
	quotient.exponent = x.exponent - y.exponent;
	normalize(&quotient);
	return soft_round(format, &quotient, rm, flags);
}

/* The root of @value, rounded down; what is left goes to @rest. */
static uint64_t root(u128 value, bool *rest)
{
	u128 result = 0;

	for (u128 bit = (u128)1 << 126; bit; bit >>= 2) {
		if (value >= result + bit) {
			value -= result + bit;
			result = (result >> 1) + bit;
		} else {
			result >>= 1;
		}
	}
	*rest = value != 0;
	return (uint64_t)result;
}

uint64_t soft_sqrt(enum soft_format which, uint64_t a, unsigned rm, uint8_t *flags)
{
	const struct format *format = &formats[which];
	struct real x = unpack(format, a), result = {.kind = NUMBER};
	bool odd = x.exponent & 1, rest;

	if (x.kind == NOT_A_NUMBER)
		return any_nan(format, x.signaling, flags);
	if (x.kind == ZERO)
		return a;
	if (x.negative)
		return invalid(format, flags);
	if (x.kind == INFINITE)
		return a;
	/* significand / 2^127 * 2^odd is in [1, 4): its root in [1, 2) */
	result.significand = (u128)root(odd ? x.significand : x.significand >> 1, &rest) << 64;
	result.significand |= rest;
	result.exponent = (x.exponent - odd) / 2;
	return soft_round(format, &result, rm, flags);
}

uint64_t soft_negate(enum soft_format which, uint64_t a)
{
	return a ^ 1ull << formats[which].sign;
}

/* ---- conversions ---- */

uint64_t soft_convert(enum soft_format from, enum soft_format to, uint64_t a, unsigned rm, uint8_t *flags)
{
	const struct format *format = &formats[to];
	struct real x = unpack(&formats[from], a);

	switch (x.kind) {
	case NOT_A_NUMBER:
		return any_nan(format, x.signaling, flags);
	case INFINITE:
		return infinity(format, x.negative);
	case ZERO:
		return with_sign(format, x.negative, 0);
	case NUMBER:
		break;
	}
	return soft_round(format, &x, rm, flags);
}

static uint64_t saturate(enum soft_integer type, bool negative, uint8_t *flags)
{
	static const uint64_t least[] = {(uint64_t)INT32_MIN, 0, (uint64_t)INT64_MIN, 0};
	static const uint64_t most[] = {INT32_MAX, ~0ull, INT64_MAX, ~0ull};

	*flags |= CPU_NV;
	return negative ? least[type] : most[type];
}

uint64_t soft_to_integer(enum soft_format format, enum soft_integer type, uint64_t a, unsigned rm,
			 uint8_t *flags)
{
	static const uint64_t most[] = {INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
	struct real x = unpack(&formats[format], a);
	bool wants_sign = type == SOFT_W || type == SOFT_L, inexact;
	u128 value;

	if (x.kind == NOT_A_NUMBER)
		return saturate(type, false, flags);
	if (x.kind == INFINITE || (x.kind == NUMBER && x.exponent > 64))
		return saturate(type, x.negative, flags);
	if (x.kind == ZERO)
		return 0;
	value = round_at(&x, x.exponent < -1 ? -1 : x.exponent + 1, rm, &inexact);
	if (value > (u128)most[type] + (x.negative && wants_sign) || (x.negative && !wants_sign && value))
		return saturate(type, x.negative, flags);
	*flags |= inexact ? CPU_NX : 0;
	if (x.negative)
		value = -value;
	return type == SOFT_W || type == SOFT_WU ? (uint64_t)(int32_t)(uint32_t)value : (uint64_t)value;
}

uint64_t soft_from_integer(enum soft_format format, enum soft_integer type, uint64_t value, unsigned rm,
			   uint8_t *flags)
{
	struct real x = {.kind = NUMBER, .exponent = 63};

	if (type == SOFT_W)
		value = (uint64_t)(int32_t)(uint32_t)value;
	else if (type == SOFT_WU)
		value = (uint32_t)value;
	if (!value)
		return 0;
	x.negative = (type == SOFT_W || type == SOFT_L) && value >> 63;
	x.significand = (u128)(x.negative ? -value : value) << 64;
	normalize(&x);
	return soft_round(&formats[format], &x, rm, flags);
}

/* ---- comparisons ---- */

/* Numbers in order, as integers; both zeros are 0. */
static int64_t order(const struct format *format, uint64_t a)
{
	int64_t size = (int64_t)(a & ((1ull << format->sign) - 1));

	return a >> format->sign & 1 ? -size : size;
}

static bool is_nan(const struct format *format, uint64_t a, bool *signaling)
{
	struct real x = unpack(format, a);

	*signaling |= x.signaling;
	return x.kind == NOT_A_NUMBER;
}

/* Either is a NaN. */
static bool unordered(const struct format *format, uint64_t a, uint64_t b, bool *signaling)
{
	bool nan;

	*signaling = false;
	nan = is_nan(format, a, signaling);
	return is_nan(format, b, signaling) || nan;
}

bool soft_equal(enum soft_format which, uint64_t a, uint64_t b, uint8_t *flags)
{
	const struct format *format = &formats[which];
	bool signaling, nan = unordered(format, a, b, &signaling);

	*flags |= signaling ? CPU_NV : 0;
	return !nan && order(format, a) == order(format, b);
}

bool soft_less(enum soft_format which, uint64_t a, uint64_t b, bool or_equal, uint8_t *flags)
{
	const struct format *format = &formats[which];
	bool signaling, nan = unordered(format, a, b, &signaling);

	*flags |= nan ? CPU_NV : 0;
	return !nan && order(format, a) - or_equal < order(format, b);
}

uint64_t soft_min_max(enum soft_format which, uint64_t a, uint64_t b, bool max, uint8_t *flags)
{
	const struct format *format = &formats[which];
	bool signaling, ignored = false, less;

	if (unordered(format, a, b, &signaling)) {
		*flags |= signaling ? CPU_NV : 0;
		if (!is_nan(format, a, &ignored))
			return a;
		return is_nan(format, b, &ignored) ? format->nan : b;
	}
	/* of two zeros the negative one is the smaller */
	less = order(format, a) - (int64_t)(a >> format->sign & 1) < order(format, b);
	return less != max ? a : b;
}

unsigned soft_class(enum soft_format which, uint64_t a)
{
	const struct format *format = &formats[which];
	struct real x = unpack(format, a);

	switch (x.kind) {
	case NOT_A_NUMBER:
		return x.signaling ? 1u << 8 : 1u << 9;
	case INFINITE:
		return x.negative ? 1u << 0 : 1u << 7;
	case ZERO:
		return x.negative ? 1u << 3 : 1u << 4;
	case NUMBER:
		break;
	}
	if (x.exponent < format->least)
		return x.negative ? 1u << 2 : 1u << 5;
	return x.negative ? 1u << 1 : 1u << 6;
}

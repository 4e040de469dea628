/* SPDX-License-Identifier: MIT */
/**
 * DOC: IEEE 754 arithmetic in integers, as RISC-V wants it
 *
 * Every rounding mode, tininess detected after rounding, one NaN. Values are bit patterns; single precision
 * is in the lower half. Flags (CPU_NX ...) are added to *flags.
 */
#ifndef CPU_SOFTFLOAT_H
#define CPU_SOFTFLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum soft_format { SOFT_SINGLE, SOFT_DOUBLE };
enum soft_rounding { SOFT_RNE, SOFT_RTZ, SOFT_RDN, SOFT_RUP, SOFT_RMM };
enum soft_integer { SOFT_W, SOFT_WU, SOFT_L, SOFT_LU };

#define SOFT_NAN_SINGLE 0x7fc00000u
#define SOFT_NAN_DOUBLE 0x7ff8000000000000ull

uint64_t soft_add(enum soft_format format, uint64_t a, uint64_t b, unsigned rm, uint8_t *flags);
uint64_t soft_mul(enum soft_format format, uint64_t a, uint64_t b, unsigned rm, uint8_t *flags);
uint64_t soft_div(enum soft_format format, uint64_t a, uint64_t b, unsigned rm, uint8_t *flags);
uint64_t soft_sqrt(enum soft_format format, uint64_t a, unsigned rm, uint8_t *flags);
/** soft_fma() - a * b + c, rounded once. */
uint64_t soft_fma(enum soft_format format, uint64_t a, uint64_t b, uint64_t c, unsigned rm, uint8_t *flags);
uint64_t soft_negate(enum soft_format format, uint64_t a);
/** soft_convert() - between the formats. */
uint64_t soft_convert(enum soft_format from, enum soft_format to, uint64_t a, unsigned rm, uint8_t *flags);
/** soft_to_integer() - saturates; the result of 32 bits has its sign extended, also if it is unsigned. */
uint64_t soft_to_integer(enum soft_format format, enum soft_integer type, uint64_t a, unsigned rm,
			 uint8_t *flags);
uint64_t soft_from_integer(enum soft_format format, enum soft_integer type, uint64_t value, unsigned rm,
			   uint8_t *flags);
/** soft_equal() - quiet. soft_less() - signals NaNs; @or_equal: less or equal. */
bool soft_equal(enum soft_format format, uint64_t a, uint64_t b, uint8_t *flags);
bool soft_less(enum soft_format format, uint64_t a, uint64_t b, bool or_equal, uint8_t *flags);
uint64_t soft_min_max(enum soft_format format, uint64_t a, uint64_t b, bool max, uint8_t *flags);
/** soft_class() - the mask of FCLASS. */
unsigned soft_class(enum soft_format format, uint64_t a);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the C text that the translator writes is made of. XLEN is defined before. In each function: c the processor,
 * r its registers, n the instructions executed up to the last branch, out where to go on, x1 ... x31 registers.
 * A label S_<mask> stores the registers of the mask and returns out.
 */
#ifndef CPU_GENERATED_H
#define CPU_GENERATED_H

#include "translation.h"

#if XLEN == 32
typedef uint32_t ux;
typedef int32_t sx;
#else
typedef uint64_t ux;
typedef int64_t sx;
#endif

#define WORD(v)        ((ux)(sx)(int32_t)(uint32_t)(v))
#define LIMIT          __atomic_load_n(&c->limit, __ATOMIC_RELAXED)
#define FULL(margin)   cpu_unlikely(n + (margin) > LIMIT)
#define GET(i)         x##i = (ux)r->x[i]
#define PUT(i)         r->x[i] = x##i
#define GO(to, store)  do { c->instructions = n; out = (to); goto store; } while (0)

/*
 * Addresses of the program as it was translated, and where it is. What is remembered of a base register's memory is in
 * variables of the function, since the compiler knows then that no store changes it. It cannot be out of date: what is
 * invalidated makes the limit zero, and all functions have been left before anything is forgotten.
 */
#if XLEN == 32
#define AT(pc)       (pc)
#define FROM(pc)     (pc)
#define LOCALS       struct cpu_regs *const r = c->regs; uint8_t *const m = c->flat; uint64_t n = c->instructions, out; (void)m
#define KNOWN(va, base, kind) ((va) < c->flat_top)
#define HOST(va, base)        (m + (va))
#define REMEMBER(base)        (void)0
#define HELP(name)            cpu_##name
#else
#define AT(pc)       (bias + (pc))
#define FROM(pc)     ((pc) - bias)
#define LOCALS       struct cpu_regs *const r = c->regs; const uint64_t bias = c->bias; uint64_t n = c->instructions, out
#define NEAR(base)   uint64_t first##base, load##base, store##base; uintptr_t delta##base; REMEMBER(base)
#define REMEMBER(base)                                                                      \
	do {                                                                                \
		first##base = c->near[base].first;                                          \
		load##base = c->near[base].load;                                            \
		store##base = c->near[base].store;                                          \
		delta##base = c->near[base].delta;                                          \
	} while (0)
#define KNOWN(va, base, kind) ((va) - first##base < kind##base)
#define HOST(va, base)        ((uint8_t *)((va) + delta##base))
#define HELP(name)            c->help->name
#endif

/*
 * @i: instructions of the block before this one; @what: CPU_WHAT(); @fault: label that stores what is dirty before it.
 * If the run is to end behind a load, @keep stores its result, and then all is as at @stop, mostly the same label.
 */
#define LOAD(to, type, convert, address, base, at, i, what, fault, keep, stop)              \
	do {                                                                                \
		const ux va = (address);                                                    \
		if (cpu_likely(KNOWN(va, base, load))) {                                    \
			to = convert(*(const volatile cpu_##type *)HOST(va, base));         \
			break;                                                              \
		}                                                                           \
		out = HELP(load_far)(c, va, at, n + (i), what);                             \
		if (cpu_unlikely(out == CPU_OUT_FAULT))                                     \
			goto fault;                                                         \
		to = convert(LOADED_##type);                                                \
		REMEMBER(base);                                                             \
		if (cpu_unlikely(out)) {                                                    \
			keep;                                                               \
			goto stop;                                                          \
		}                                                                           \
	} while (0)

#define LOADED_u8  (uint8_t)c->loaded
#define LOADED_u16 (uint16_t)c->loaded
#define LOADED_u32 (uint32_t)c->loaded
#define LOADED_u64 c->loaded
#define LOADED_f32 SINGLE_LOW(c->loaded)
#define LOADED_f64 DOUBLE_OF(c->loaded)
#define STORED_u8  (uint8_t)
#define STORED_u16 (uint16_t)
#define STORED_u32 (uint32_t)
#define STORED_u64 (uint64_t)
#define STORED_f32 bits_s
#define STORED_f64 bits_d

#define STORE(data, type, address, base, at, i, what, fault)                                \
	do {                                                                                \
		const ux va = (address);                                                    \
		if (cpu_likely(KNOWN(va, base, store))) {                                   \
			*(volatile cpu_##type *)HOST(va, base) = (cpu_##type)(data);        \
			break;                                                              \
		}                                                                           \
		out = HELP(store_far)(c, va, at, n + (i), what, STORED_##type(data));       \
		if (cpu_unlikely(out))                                                      \
			goto fault;                                                         \
		REMEMBER(base);                                                             \
	} while (0)

#define ATOMIC(op, rd, address, what, at, i, fault)                                         \
	do {                                                                                \
		r->pc = (at);                                                               \
		c->instructions = n + (i);                                                  \
		if (!HELP(atomic)(c, op, rd, address, what)) {                              \
			out = CPU_OUT_FAULT;                                                \
			goto fault;                                                         \
		}                                                                           \
	} while (0)

/* ---- arithmetic ---- */

#if XLEN == 32
#define MULH(a, b)   ((ux)((int64_t)(sx)(a) * (sx)(b) >> 32))
#define MULHU(a, b)  ((ux)((uint64_t)(a) * (b) >> 32))
#define MULHSU(a, b) ((ux)((uint64_t)((int64_t)(sx)(a) * (int64_t)(uint64_t)(b)) >> 32))
#define DIV(a, b)    ((b) ? (ux)((int64_t)(sx)(a) / (sx)(b)) : ~(ux)0)
#define REM(a, b)    ((b) ? (ux)((int64_t)(sx)(a) % (sx)(b)) : (a))
#else
#define MULH(a, b)   ((ux)((__int128)(sx)(a) * (sx)(b) >> 64))
#define MULHU(a, b)  ((ux)((unsigned __int128)(a) * (b) >> 64))
#define MULHSU(a, b) (MULHU(a, b) - ((sx)(a) < 0 ? (b) : 0))
#define DIV(a, b)    (!(b) ? ~(ux)0 : (b) == ~(ux)0 ? -(a) : (ux)((sx)(a) / (sx)(b)))
#define REM(a, b)    (!(b) ? (a) : (b) == ~(ux)0 ? 0 : (ux)((sx)(a) % (sx)(b)))
#endif
#define DIVU(a, b)   ((b) ? (a) / (b) : ~(ux)0)
#define REMU(a, b)   ((b) ? (a) % (b) : (a))
#define DIVW(a, b)   WORD((int32_t)(b) ? (int64_t)(int32_t)(a) / (int32_t)(b) : -1)
#define REMW(a, b)   WORD((int32_t)(b) ? (int64_t)(int32_t)(a) % (int32_t)(b) : (int32_t)(a))
#define DIVUW(a, b)  WORD((uint32_t)(b) ? (uint32_t)(a) / (uint32_t)(b) : ~0u)
#define REMUW(a, b)  WORD((uint32_t)(b) ? (uint32_t)(a) % (uint32_t)(b) : (uint32_t)(a))

#if XLEN == 64
#include "generated_real.h"
#include "generated_chunk.h"
#endif

#endif

// SPDX-License-Identifier: MIT
/*
 * RV64A between threads and with the host. Unicorn translates atomics into plain
 * load, operation, store, and 64-bit ones cannot even be made to trap. But the
 * translator knows how to do it right: with a flag of its context set it calls a
 * function for each atomic. We set the flag while an atomic is translated (by
 * taking the place of the code generators) and are the function that is called.
 * Where this is not possible, amo.c does the 32-bit ones at least.
 */
#include <dlfcn.h>
#include <string.h>

#include "emulator/unicorn/atomic.h"
#include "emulator/unicorn/dsmem.h"
#include "emulator/unicorn/precise.h"

#define PARALLEL 0x00080000u /* CF_PARALLEL */
#define VISIBLE __attribute__((visibility("default")))

static __thread struct hart *here;
static size_t flags_at; /* of tb_cflags in the translator's context, 0 = unknown */

void atomic_enter(struct hart *hart)
{
	here = hart;
}

struct hart *hart_here(void)
{
	return here;
}

bool atomic_ready(void)
{
	return flags_at != 0;
}

/* ---- translation ------------------------------------------------------ */

#define WITH_FLAG(context, call)                                                    \
	do {                                                                        \
		uint32_t *flags = (uint32_t *)((uint8_t *)(context) + flags_at);    \
		uint32_t kept = *flags;                                             \
										    \
		if (flags_at)                                                       \
			*flags |= PARALLEL;                                         \
		call;                                                               \
		if (flags_at)                                                       \
			*flags = kept;                                              \
	} while (0)

typedef void (*generator)(void *context, void *to, void *va, void *value, uintptr_t index, int op);

#define GENERATOR(name)                                                                                   \
	void tcg_gen_atomic_##name##_i64_riscv64(void *context, void *to, void *va, void *value,          \
						 uintptr_t index, int op);                                \
	static generator next_##name;                                                                     \
	VISIBLE void tcg_gen_atomic_##name##_i64_riscv64(void *context, void *to, void *va, void *value,  \
							 uintptr_t index, int op)                         \
	{                                                                                                 \
		WITH_FLAG(context, next_##name(context, to, va, value, index, op));                       \
	}

GENERATOR(xchg)
GENERATOR(fetch_add)
GENERATOR(fetch_and)
GENERATOR(fetch_or)
GENERATOR(fetch_xor)
GENERATOR(fetch_smin)
GENERATOR(fetch_smax)
GENERATOR(fetch_umin)
GENERATOR(fetch_umax)

void tcg_gen_atomic_cmpxchg_i64_riscv64(void *context, void *to, void *va, void *expected, void *value,
					uintptr_t index, int op);
static void (*next_cmpxchg)(void *, void *, void *, void *, void *, uintptr_t, int);
VISIBLE void tcg_gen_atomic_cmpxchg_i64_riscv64(void *context, void *to, void *va, void *expected, void *value,
						uintptr_t index, int op)
{
	WITH_FLAG(context, next_cmpxchg(context, to, va, expected, value, index, op));
}

/* ---- execution -------------------------------------------------------- */

/* Host pointer of an atomic's operand; a fault ends the wave's run and does not return. */
static void *operand(uint64_t va, unsigned bytes, uintptr_t ra)
{
	struct hart *hart = here;
	uint8_t cause = TUTTI_CAUSE_ALIGNMENT;
	void *p = va & (bytes - 1) ? NULL : hart_pointer(hart, va, bytes, TUTTI_ACCESS_ATOMIC, &cause);

	if (likely(p != NULL))
		return p;
	hart_fault_at(hart, cause, TUTTI_ACCESS_ATOMIC, va, ra);
	hart_abandon(hart);
	__builtin_unreachable();
}

#define RA ((uintptr_t)__builtin_return_address(0))

#define OPERATION(name, letter, type, expression)                                                              \
	type helper_atomic_##name##letter##_le_riscv64(void *env, uint64_t va, type value, uint32_t oi);       \
	VISIBLE type helper_atomic_##name##letter##_le_riscv64(void *env, uint64_t va, type value, uint32_t oi) \
	{                                                                                                      \
		type *p = operand(va, sizeof(type), RA);                                                       \
													       \
		return expression;                                                                             \
	}

#define COMPARE(letter, type)                                                                                 \
	type helper_atomic_cmpxchg##letter##_le_riscv64(void *env, uint64_t va, type old, type value,         \
							uint32_t oi);                                         \
	VISIBLE type helper_atomic_cmpxchg##letter##_le_riscv64(void *env, uint64_t va, type old, type value, \
								uint32_t oi)                                  \
	{                                                                                                     \
		type *p = operand(va, sizeof(type), RA);                                                      \
													      \
		__atomic_compare_exchange_n(p, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
		return old;                                                                                   \
	}

#define OPERATIONS(letter, type, bits)                                                          \
	OPERATION(xchg, letter, type, __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST))          \
	OPERATION(fetch_add, letter, type, __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST))      \
	OPERATION(fetch_and, letter, type, __atomic_fetch_and(p, value, __ATOMIC_SEQ_CST))      \
	OPERATION(fetch_or, letter, type, __atomic_fetch_or(p, value, __ATOMIC_SEQ_CST))        \
	OPERATION(fetch_xor, letter, type, __atomic_fetch_xor(p, value, __ATOMIC_SEQ_CST))      \
	OPERATION(fetch_smin, letter, type, amo_min_max##bits(p, value, AMO_MIN))               \
	OPERATION(fetch_smax, letter, type, amo_min_max##bits(p, value, AMO_MAX))               \
	OPERATION(fetch_umin, letter, type, amo_min_max##bits(p, value, AMO_MINU))              \
	OPERATION(fetch_umax, letter, type, amo_min_max##bits(p, value, AMO_MAXU))              \
	COMPARE(letter, type)

OPERATIONS(l, uint32_t, 32)
OPERATIONS(q, uint64_t, 64)

/* ---- finding ---------------------------------------------------------- */

/* The generator tests the flag's byte early: testb $8, disp8(%rdi) or testl $0x80000, disp(%rdi). */
static size_t find_flags(const uint8_t *code)
{
	for (unsigned i = 0; code && i < 64; i++)
		if (code[i] == 0xf6 && code[i + 1] == 0x47 && code[i + 3] == 0x08)
			return code[i + 2] - 2u;
	return 0;
}

#define FIND(name) (*(void **)&next_##name = dlsym(RTLD_NEXT, "tcg_gen_atomic_" #name "_i64_riscv64"))

__attribute__((constructor)) static void find_next(void)
{
	FIND(xchg);
	FIND(fetch_add);
	FIND(fetch_and);
	FIND(fetch_or);
	FIND(fetch_xor);
	FIND(fetch_smin);
	FIND(fetch_smax);
	FIND(fetch_umin);
	FIND(fetch_umax);
	FIND(cmpxchg);
	flags_at = find_flags(dlsym(RTLD_NEXT, "tcg_gen_atomic_fetch_add_i64_riscv64"));
	if (!flags_at)
		flags_at = find_flags(dlsym(RTLD_NEXT, "tcg_gen_atomic_cmpxchg_i64_riscv64"));
}

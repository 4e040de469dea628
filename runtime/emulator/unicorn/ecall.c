// SPDX-License-Identifier: MIT
/*
 * See ecall.h. The translator emits for an ecall: pc = its own; a call of
 * helper_raise_exception(); an exit to the main loop, which is dropped because
 * unicorn knows that this helper never returns. We take the place of the functions
 * that emit these (libunicorn finds them through dynamic symbols): another helper is
 * called, one that may return, and the exit becomes a jump to the block at pc. That
 * other helper is uc_riscv_exit, of which unicorn makes use only at the address
 * where a run is to end; our runs have none that can be reached.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/unicorn/ecall.h"

#define ECALL 8u
#define PLACE(pc) (((pc) >> 1 ^ (pc) >> 9) % JUMPS)
#define VISIBLE __attribute__((visibility("default")))

static __thread struct {
	void *env;
	void (*fn)(void *arg);
	void *arg;
	void *untaken;
	struct jump_cache *jumps;
} taker;

void jump_cache_clear(struct jump_cache *jumps)
{
	for (unsigned i = 0; i < JUMPS; i++)
		jumps->to[i].pc = ~0ull; /* odd: no pc */
}

void ecall_take(void *env, void (*fn)(void *arg), void *arg, struct jump_cache *jumps)
{
	taker.jumps = jumps;
	taker.env = env;
	taker.fn = fn;
	taker.arg = arg;
}

void ecall_leave(void)
{
	taker.env = taker.untaken = NULL;
}

void *ecall_env(void)
{
	return taker.untaken;
}

/* @next: unicorn's search, which gives the way out to the main loop when there is no block yet. */
static void *search(void *env, uint64_t pc, void *(*next)(void *env))
{
	uint8_t *code = next(env);

	/* xor eax, eax: the way out; a block starts by testing whether it is to stop */
	if (env == taker.env && !(code[0] == 0x33 && code[1] == 0xc0)) {
		taker.jumps->to[PLACE(pc)].pc = pc;
		taker.jumps->to[PLACE(pc)].code = code;
	}
	return code;
}

#define REPLACE(bits, word)                                                                            \
	void helper_uc_riscv_exit_riscv##bits(void *env, uint32_t exception);                          \
	void tcg_gen_callN_riscv##bits(void *context, void *fn, void *ret, int n, void **args);        \
	void tcg_gen_exit_tb_riscv##bits(void *context, const void *block, unsigned index);            \
	static void (*raise##bits)(void *env, uint32_t exception);                                     \
	static void (*call##bits)(void *context, void *fn, void *ret, int n, void **args);             \
	static void (*exit##bits)(void *context, const void *block, unsigned index);                   \
	void *helper_lookup_tb_ptr_riscv##bits(void *env);                                             \
	void tb_flush_riscv##bits(void *cpu);                                                          \
	void tb_phys_invalidate_riscv##bits(void *context, void *block, uint64_t page);                \
	static void (*jump##bits)(void *context);                                                      \
	static void *(*lookup##bits)(void *env);                                                       \
	static void (*flush##bits)(void *cpu);                                                         \
	static void (*invalidate##bits)(void *context, void *block, uint64_t page);                    \
												       \
	VISIBLE void *helper_lookup_tb_ptr_riscv##bits(void *env)                                      \
	{                                                                                              \
		uint64_t pc = *(word *)((uint8_t *)env + ECALL_PC##bits);                              \
												       \
		if (__builtin_expect(env == taker.env && taker.jumps->to[PLACE(pc)].pc == pc, 1))      \
			return taker.jumps->to[PLACE(pc)].code;                                        \
		return search(env, pc, lookup##bits);                                                  \
	}                                                                                              \
												       \
	VISIBLE void tb_flush_riscv##bits(void *cpu)                                                   \
	{                                                                                              \
		if (taker.env)                                                                         \
			jump_cache_clear(taker.jumps);                                                 \
		flush##bits(cpu);                                                                      \
	}                                                                                              \
												       \
	VISIBLE void tb_phys_invalidate_riscv##bits(void *context, void *block, uint64_t page)         \
	{                                                                                              \
		if (taker.env)                                                                         \
			jump_cache_clear(taker.jumps);                                                 \
		invalidate##bits(context, block, page);                                                \
	}                                                                                              \
												       \
	VISIBLE void helper_uc_riscv_exit_riscv##bits(void *env, uint32_t exception)                   \
	{                                                                                              \
		if (__builtin_expect(exception != ECALL || env != taker.env, 0)) {                     \
			taker.untaken = env;                                                           \
			raise##bits(env, exception);                                                   \
		}                                                                                      \
		*(word *)((uint8_t *)env + ECALL_PC##bits) += 4;                                       \
		taker.fn(taker.arg);                                                                   \
	}                                                                                              \
												       \
	VISIBLE void tcg_gen_callN_riscv##bits(void *context, void *fn, void *ret, int n, void **args) \
	{                                                                                              \
		if (fn == (void *)raise##bits)                                                         \
			fn = (void *)helper_uc_riscv_exit_riscv##bits;                                 \
		call##bits(context, fn, ret, n, args);                                                 \
	}                                                                                              \
												       \
	VISIBLE void tcg_gen_exit_tb_riscv##bits(void *context, const void *block, unsigned index)     \
	{                                                                                              \
		if (!block && !index)                                                                  \
			jump##bits(context);                                                           \
		else                                                                                   \
			exit##bits(context, block, index);                                             \
	}

REPLACE(32, uint32_t)
REPLACE(64, uint64_t)

#define FIND(to, name) (*(void **)&(to) = dlsym(RTLD_NEXT, name))

__attribute__((constructor)) static void find_next(void)
{
	FIND(raise32, "helper_raise_exception_riscv32");
	FIND(raise64, "helper_raise_exception_riscv64");
	FIND(call32, "tcg_gen_callN_riscv32");
	FIND(call64, "tcg_gen_callN_riscv64");
	FIND(exit32, "tcg_gen_exit_tb_riscv32");
	FIND(exit64, "tcg_gen_exit_tb_riscv64");
	FIND(lookup32, "helper_lookup_tb_ptr_riscv32");
	FIND(flush32, "tb_flush_riscv32");
	FIND(invalidate32, "tb_phys_invalidate_riscv32");
	FIND(jump32, "tcg_gen_lookup_and_goto_ptr_riscv32");
	FIND(lookup64, "helper_lookup_tb_ptr_riscv64");
	FIND(flush64, "tb_flush_riscv64");
	FIND(invalidate64, "tb_phys_invalidate_riscv64");
	FIND(jump64, "tcg_gen_lookup_and_goto_ptr_riscv64");
}

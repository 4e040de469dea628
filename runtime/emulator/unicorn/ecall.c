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

void helper_uc_riscv_exit_riscv64(void *env, uint32_t exception);
void *helper_lookup_tb_ptr_riscv64(void *env);
void tb_flush_riscv64(void *cpu);
void tb_phys_invalidate_riscv64(void *context, void *block, uint64_t page);
void tcg_gen_callN_riscv64(void *context, void *fn, void *ret, int n, void **args);
void tcg_gen_exit_tb_riscv64(void *context, const void *block, unsigned index);

/* Unicorn's own, whose place those above take; the last one emits a jump to the block at pc. */
static void (*next_raise)(void *env, uint32_t exception);
static void *(*next_lookup)(void *env);
static void (*next_flush)(void *cpu);
static void (*next_invalidate)(void *context, void *block, uint64_t page);
static void (*next_call)(void *context, void *fn, void *ret, int n, void **args);
static void (*next_exit)(void *context, const void *block, unsigned index);
static void (*next_jump)(void *context);

/* Unicorn's search gives the way out to the main loop when there is no block yet. */
static void *search(void *env, uint64_t pc)
{
	uint8_t *code = next_lookup(env);

	/* xor eax, eax: the way out; a block starts by testing whether it is to stop */
	if (env == taker.env && !(code[0] == 0x33 && code[1] == 0xc0)) {
		taker.jumps->to[PLACE(pc)].pc = pc;
		taker.jumps->to[PLACE(pc)].code = code;
	}
	return code;
}

VISIBLE void *helper_lookup_tb_ptr_riscv64(void *env)
{
	uint64_t pc = *(uint64_t *)((uint8_t *)env + ECALL_PC64);

	if (__builtin_expect(env == taker.env && taker.jumps->to[PLACE(pc)].pc == pc, 1))
		return taker.jumps->to[PLACE(pc)].code;
	return search(env, pc);
}

VISIBLE void tb_flush_riscv64(void *cpu)
{
	if (taker.env)
		jump_cache_clear(taker.jumps);
	next_flush(cpu);
}

VISIBLE void tb_phys_invalidate_riscv64(void *context, void *block, uint64_t page)
{
	if (taker.env)
		jump_cache_clear(taker.jumps);
	next_invalidate(context, block, page);
}

VISIBLE void helper_uc_riscv_exit_riscv64(void *env, uint32_t exception)
{
	if (__builtin_expect(exception != ECALL || env != taker.env, 0)) {
		taker.untaken = env;
		next_raise(env, exception);
	}
	*(uint64_t *)((uint8_t *)env + ECALL_PC64) += 4;
	taker.fn(taker.arg);
}

VISIBLE void tcg_gen_callN_riscv64(void *context, void *fn, void *ret, int n, void **args)
{
	if (fn == (void *)next_raise)
		fn = (void *)helper_uc_riscv_exit_riscv64;
	next_call(context, fn, ret, n, args);
}

VISIBLE void tcg_gen_exit_tb_riscv64(void *context, const void *block, unsigned index)
{
	if (!block && !index)
		next_jump(context);
	else
		next_exit(context, block, index);
}

#define FIND(to, name) (*(void **)&(to) = dlsym(RTLD_NEXT, name "_riscv64"))

__attribute__((constructor)) static void find_next(void)
{
	FIND(next_raise, "helper_raise_exception");
	FIND(next_call, "tcg_gen_callN");
	FIND(next_exit, "tcg_gen_exit_tb");
	FIND(next_lookup, "helper_lookup_tb_ptr");
	FIND(next_flush, "tb_flush");
	FIND(next_invalidate, "tb_phys_invalidate");
	FIND(next_jump, "tcg_gen_lookup_and_goto_ptr");
}

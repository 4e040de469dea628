/* SPDX-License-Identifier: MIT */
/**
 * DOC: ecall as a plain call
 *
 * Unicorn makes an exception of an ecall: a long jump, its main loop, hooks, the
 * search for the next block, several hundred host instructions. Where its functions
 * can be replaced (ecall.c), translated code calls @fn instead and goes on at the pc
 * that is left in the register file.
 */
#ifndef TUTTI_EMULATOR_ECALL_H
#define TUTTI_EMULATOR_ECALL_H

#include <stdint.h>

#define JUMPS 512u

/* Offset of pc in unicorn's register file, from x0: 32 integer and 32 floating point registers before it */
#define ECALL_PC64 0x200u

/** struct jump_cache - where translated code continues at a pc; unicorn's own cache has 64 places for a page. */
struct jump_cache {
	struct {
		uint64_t pc;
		void *code;
	} to[JUMPS];
};

/** jump_cache_clear() - translated code or mappings have changed. Also before first use. */
void jump_cache_clear(struct jump_cache *jumps);

/**
 * ecall_take() - from now on ecalls of the core with registers @env, run by this thread, call @fn.
 * @fn runs with pc behind the ecall and may leave its fiber. Other exceptions are
 * unicorn's. @env NULL: nobody's.
 * @jumps: for the blocks of this core, while its privilege and status do not change
 */
void ecall_take(void *env, void (*fn)(void *arg), void *arg, struct jump_cache *jumps);
/** ecall_leave() - nobody's any more; the core may be destroyed. */
void ecall_leave(void);
/** ecall_env() - register file of the newest ecall of this thread that nobody has taken, or NULL. */
void *ecall_env(void);

#endif

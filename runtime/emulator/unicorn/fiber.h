/* SPDX-License-Identifier: MIT */
/**
 * DOC: Fibers: a second stack that can be left in the middle and entered again
 *
 * The emulated cores run inside uc_emu_start(), which costs far more to leave and
 * enter than a switch of stacks. A fiber may be entered by different threads one
 * after another, never by two at once; a fiber may enter another one.
 */
#ifndef TUTTI_EMULATOR_FIBER_H
#define TUTTI_EMULATOR_FIBER_H

#include <stddef.h>

struct fiber;

/**
 * fiber_create() - make a fiber that will run @fn(@arg) when first entered.
 * @stack: bytes, rounded up to pages; an unmapped page lies below it
 * Return: 0 or -ENOMEM.
 */
int fiber_create(struct fiber **fiber, void (*fn)(void *), void *arg, size_t stack);
/** fiber_enter() - run @fiber until it leaves or its function returns (then entering again does nothing). */
void fiber_enter(struct fiber *fiber);
/** fiber_leave() - from inside a fiber: go back to who entered it. */
void fiber_leave(void);
/** fiber_destroy() - free the stack; the fiber may be in the middle of its function. NULL is fine. */
void fiber_destroy(struct fiber *fiber);

#endif

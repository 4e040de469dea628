/* SPDX-License-Identifier: MIT */
/** DOC: Exact program counters of translated code, and its translation cache */
#ifndef TUTTI_EMULATOR_UNICORN_PRECISE_H
#define TUTTI_EMULATOR_UNICORN_PRECISE_H

#include <stdbool.h>
#include <stdint.h>

/** precise_learn() - call after the core @uc of this thread has loaded from memory. Return: its registers or NULL. */
uint64_t *precise_learn(void **cpu);
/** precise_sync() - in a memory hook: make the pc of the core exact. Return: false = cannot. */
bool precise_sync(void *cpu);
/** precise_fills() - TLB misses of this thread since its last precise_grow(). */
uint32_t precise_fills(void);
/** precise_grow() - double and empty a TLB of @entries. */
void precise_grow(void *cpu, uint32_t entries);
/** precise_leave() - from a function called by translated code: end the block here. Does not return if it can. */
void precise_leave(void *cpu);
/** precise_sync_at() - the same for a function called by translated code that will return to @ra. */
bool precise_sync_at(void *cpu, uintptr_t ra);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Harts: what runs waves
 *
 * A hart is an RV64 core of one context on one engine. Which wave it runs, what an ecall does and what becomes of a
 * fault is asked of the waves above it, through struct hart_host.
 */
#ifndef TUTTI_EMULATOR_UNICORN_HART_H
#define TUTTI_EMULATOR_UNICORN_HART_H

#include <unicorn/unicorn.h>

#include "emulator/sm/array.h"
#include "emulator/unicorn/ecall.h"
#include "emulator/unicorn/fiber.h"

struct class_block;

#define HART_REGIONS 64u
#define STACK_CLASSES 16u
#define STACK_SLOTS 32u

struct region {
	uint64_t va, bytes;
	uint8_t *host;
	uint32_t prot;
};

struct stack_class {
	uint8_t *backing;
	uint32_t bytes;
	uint32_t mapped;               /* slots */
	uint32_t shared_next;
	uint32_t users[STACK_SLOTS];
	struct wave *owner[STACK_SLOTS]; /* whose contents are there */
};

#define HART_SINK_BYTES 4096u

/** struct hart - RV64 core of one context on one engine. */
struct hart {
	struct hart *next;
	struct engine *engine;
	struct sm_array *array;
	uint32_t asid;
	uc_engine *uc;
	struct fiber *fiber;
	uint64_t *env;         /* registers x0.. of the core, NULL = through the API only */
	void *cpu;             /* for precise_pc() */
	struct wave *current;  /* loaded */
	struct wave *entering; /* to be loaded */
	bool ecalls;           /* are taken without an exception, see ecall.h */
	struct jump_cache jumps;
	bool booting, in_hook, refresh;
	bool drop_code, drop_all;
	uint64_t drop_first, drop_end;
	struct {
		uint64_t pc, address;
		uint8_t cause, access;
		bool valid;
	} fault;
	uint32_t tlb_entries; /* what its TLB may have grown to */
	uc_context *start;
	uint64_t *start_x, *start_pc; /* inside @start */
	size_t at_x, at_pc;           /* offsets inside a uc_context */
	struct region region[HART_REGIONS];
	uint32_t regions, region_hit;
	uint8_t *shared;
	struct class_block *blocks; /* energy.c */
	struct tutti_wave_info *infos;
	uint32_t infos_used, infos_max;
	struct wave *free_waves;
	struct wave *all_waves[SM_WAVES * 4]; /* chunks */
	uint32_t chunks;
	uint32_t live;
	uint32_t held;  /* atomic: requests that need its shared memory */
	uint64_t used; /* for replacement */
	struct stack_class stack[STACK_CLASSES];
	/* Where accesses to other CTAs end that their target refuses: the wave goes on until the firmware stops it. */
	uint64_t sink[HART_SINK_BYTES / 8];
};

/**
 * struct hart_host - what harts ask of those who know waves.
 * @next: the wave @engine runs next, NULL = leave now
 * @service: service @number of the running wave. Return: true = go on with the same wave
 * @fault: the running wave has faulted and does not go on
 * @rouse: a wave is about to run, and the timer of time slices is asleep
 */
struct hart_host {
	struct wave *(*next)(struct engine *engine);
	bool (*service)(struct hart *hart, uint64_t number);
	void (*fault)(struct hart *hart, unsigned cause, unsigned access, uint64_t pc, uint64_t address);
	void (*rouse)(struct sm_array *array);
};

struct hart *hart_get(struct engine *engine, uint32_t asid);
void hart_destroy(struct hart *hart);
/** hart_enter() - run @wave and, on the same hart, whatever engine_pick() says after it. */
void hart_enter(struct hart *hart, struct wave *wave);
uint64_t hart_x(struct hart *hart, unsigned n);
void hart_x_set(struct hart *hart, unsigned n, uint64_t value);
uint64_t hart_pc(struct hart *hart);
/** hart_fault_at() - note a fault of translated code that would return to @ra. */
void hart_fault_at(struct hart *hart, unsigned cause, unsigned access, uint64_t va, uintptr_t ra);
/** hart_abandon() - the running wave has faulted: stop translated code at once. Does not return if it can. */
void hart_abandon(struct hart *hart);
/** hart_can_save() - @wave, which is about to start, has a place for its registers. Return: false: there is no memory. */
bool hart_can_save(struct hart *hart, struct wave *wave);
/** hart_save() - keep the registers of the running wave. */
void hart_save(struct hart *hart, struct wave *wave);
uint64_t hart_saved_pc(const struct wave *wave);
/** hart_saved_result() - set a0 of a wave that is not loaded. */
void hart_saved_result(struct wave *wave, uint64_t value);

/* hart_memory.c */
/** cta_shared() - shared memory of a CTA that has been started. */
uint8_t *cta_shared(const struct sm_array *array, const struct cta *cta);
int hart_memory_init(struct hart *hart);
void hart_memory_fini(struct hart *hart);
/** hart_touch() - make @va accessible. Return: false and @cause if it is not. */
bool hart_touch(struct hart *hart, uint64_t va, unsigned access, uint8_t *cause);
/** hart_pointer() - host pointer of [va, va + bytes) for @access, which lies in one region; NULL and @cause if not. */
void *hart_pointer(struct hart *hart, uint64_t va, unsigned bytes, unsigned access, uint8_t *cause);
/** hart_stale() - unmap what hart->drop_* say. Not inside uc_emu_start(). */
void hart_stale(struct hart *hart);
/** hart_forget() - the context is gone: no byte of it may be seen by the next one. */
void hart_forget(struct hart *hart);
void hart_stack_load(struct hart *hart, struct wave *wave);
void hart_stack_release(struct wave *wave);
uint64_t hart_stack_top(struct hart *hart, struct wave *wave);
unsigned stack_class(uint32_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Harts: what runs waves
 *
 * A hart is a processor of one context on one engine, with the memory that its waves see. The registers are the waves'
 * own. Which wave runs next, what an ecall does and what becomes of a fault is asked of the waves above, through struct
 * hart_host.
 */
#ifndef TUTTI_EMULATOR_HART_HART_H
#define TUTTI_EMULATOR_HART_HART_H

#include "emulator/cpu/cpu.h"
#include "emulator/hart/stack.h"
#include "emulator/memory/mmu.h"
#include "emulator/sm/array.h"

#define HART_REGIONS 256u
#define HART_CHUNKS  (SM_WAVES * 4)

struct class_table;

/** struct region - pages of the context that the MMU has found to be alike; @bytes 0: an empty place. */
struct region {
	uint64_t first, bytes;
	uint8_t *host;
	uint8_t rights;
};

/**
 * struct hart - processor of one context on one engine.
 * @current: the wave that runs
 * @lent_stack, @lent_shared: what the processor may remember of memory that belongs to single waves or CTAs
 * @untranslated: some of its code was not translated when it was fetched; @translator_news: when it looked last
 * @held: atomic: tensor requests that need its shared memory
 * @sink: where accesses to other CTAs end that their target refuses: the wave goes on until the firmware stops it
 */
struct hart {
	struct hart *next;
	struct engine *engine;
	struct sm_array *array;
	uint32_t asid;
	struct cpu *cpu;
	struct wave *current;
	struct stack *lent_stack;
	struct { uint64_t first, bytes; } lent_shared;
	struct region region[HART_REGIONS];
	uint8_t *shared;
	struct tutti_wave_info *infos;
	uint32_t infos_used, infos_max;
	struct stack_pool stacks;
	bool untranslated;
	uint32_t translator_news;
	struct class_table *classes; /* energy.c; NULL: nothing is counted */
	struct wave *free_waves;
	struct wave *all_waves[HART_CHUNKS];
	uint32_t chunks;
	uint32_t live;
	uint32_t held;
	uint64_t used; /* for replacement */
	uint64_t sink;
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

/** hart_get() - the hart of context @asid, with a free wave if there is memory for one. Return: NULL: no memory. */
struct hart *hart_get(struct engine *engine, uint32_t asid);
void hart_destroy(struct hart *hart);
/** hart_needed() - false if no wave of it is there, none is to come, and no mover works on its memory. Its engine is paused. */
bool hart_needed(const struct hart *hart);
/** hart_start() - give @wave, which is new, its stack and its first registers. Return: false: there is no memory. */
bool hart_start(struct hart *hart, struct wave *wave);
/** hart_registers() - give @wave, which has a stack, the registers with which waves begin. */
void hart_registers(struct wave *wave);
/** hart_code_fetched() - its processor fetches from @region. hart_code_refresh() - before a run, if @hart->untranslated. */
void hart_code_fetched(struct hart *hart, const struct region *region);
void hart_code_refresh(struct hart *hart);
/** hart_code_ready() - called by the translator's thread, for the struct sm_array @data: harts that run fetch their code again. */
void hart_code_ready(void *data);
/** hart_release() - @wave has ended. */
void hart_release(struct wave *wave);
/**
 * hart_enter() - run @wave and after it what the host says, as long as that is for the same hart.
 * Return: the wave of another hart that is to run next, or NULL
 */
struct wave *hart_enter(struct hart *hart, struct wave *wave);
/** hart_interrupt() - end the running wave's time slice; any thread. */
void hart_interrupt(struct hart *hart);
/**
 * hart_invalidate() - mappings or code in [@va, @va + @bytes) have changed; @bytes 0: the context is gone, and no byte
 * of it may be seen by the next one. The engine is paused. @hart may not be there any more afterwards.
 */
void hart_invalidate(struct hart *hart, uint64_t va, uint64_t bytes);

/** hart_x() - integer register of the running wave. hart_x_set() - set one that is not x0. */
static inline uint64_t hart_x(const struct hart *hart, unsigned n)
{
	return hart->current->regs.x[n];
}

static inline void hart_x_set(struct hart *hart, unsigned n, uint64_t value)
{
	hart->current->regs.x[n] = value;
}

/** hart_ecall_pc() - address of the ecall that the running wave has made. */
static inline uint64_t hart_ecall_pc(const struct hart *hart)
{
	return hart->current->regs.pc - 4;
}

/* memory.c */
/** hart_memory_init() - make the processor and its memory. */
int hart_memory_init(struct hart *hart);
void hart_memory_fini(struct hart *hart);
/** hart_memory_switch() - @wave runs next: the processor forgets what belongs to the one before. */
void hart_memory_switch(struct hart *hart, const struct wave *wave);
/** hart_copy_in() - copy memory of the running wave. Return: false if it may not read all of that; @fault says why. */
bool hart_copy_in(struct hart *hart, void *to, uint64_t va, uint64_t bytes, struct mmu_fault *fault);
/** hart_code() - the code around @va. Return: false if it may not be executed. */
bool hart_code(struct hart *hart, uint64_t va, struct cpu_span *span);
/** cta_shared() - shared memory of a CTA that has been started. */
uint8_t *cta_shared(const struct sm_array *array, const struct cta *cta);
/** cta_shared_bytes() - how much of it the CTA may access. */
uint32_t cta_shared_bytes(const struct cta *cta);

#endif

// SPDX-License-Identifier: MIT
/*
 * Harts: their life, and how waves run on them. A wave's registers are its own, so that nothing has to be saved when it
 * gives way to another one.
 */
#include <stdlib.h>
#include <string.h>

#include "emulator/hart/energy.h"
#include "emulator/hart/hart.h"

#define HARTS 8u   /* kept per engine */
#define CHUNK 128u /* waves allocated at once */

/* ---- running ---------------------------------------------------------- */

void hart_registers(struct wave *wave)
{
	const struct task *task = wave->cta->task;
	struct cpu_regs *regs = &wave->regs;
	size_t bytes = sizeof(*regs);

	/* By the C library: for a size that is known gcc writes `rep stos`, which takes five times as long. */
	__asm__("" : "+r"(bytes));
	memset(regs, 0, bytes);
	regs->pc = task->state.entry;
	regs->x[1] = TUTTI_WAVE_ROM;
	regs->x[2] = wave->stack->va + wave->stack->bytes;
	regs->x[4] = wave->info_va;
	regs->x[10] = task->state.kernarg;
	regs->fflags = CPU_NX; /* with it set the processor computes on the host's floating-point unit */
}

bool hart_start(struct hart *hart, struct wave *wave)
{
	wave->stack = stack_take(&hart->stacks, wave->cta->task->stack_class);
	if (!wave->stack)
		return false;
	hart_registers(wave);
	return true;
}

void hart_release(struct wave *wave)
{
	struct hart *hart = wave->hart;
	struct stack *stack = wave->stack;
	uint64_t va = stack->va, bytes = stack->bytes;
	bool lent = hart->lent_stack == stack;

	wave->stack = NULL;
	if (likely(stack_give(&hart->stacks, stack)) || !lent)
		return;
	cpu_forget_spans(hart->cpu, va, bytes);
	hart->lent_stack = NULL;
}

static void fault(struct hart *hart)
{
	static const uint8_t accesses[] = {
		[CPU_LOAD] = TUTTI_ACCESS_READ, [CPU_STORE] = TUTTI_ACCESS_WRITE, [CPU_FETCH] = TUTTI_ACCESS_EXECUTE,
		[CPU_ATOMIC] = TUTTI_ACCESS_ATOMIC,
	};
	static const uint8_t causes[] = {
		[CPU_FAULT_ILLEGAL] = TUTTI_CAUSE_ILLEGAL, [CPU_FAULT_EBREAK] = TUTTI_CAUSE_BREAK,
		[CPU_FAULT_MISALIGNED] = TUTTI_CAUSE_ALIGNMENT, [CPU_FAULT_RIGHTS] = TUTTI_CAUSE_PROTECTION,
		[CPU_FAULT_MEMORY] = TUTTI_CAUSE_BUS,
	};
	const struct cpu_fault *fault = cpu_fault(hart->cpu);

	hart->array->host->fault(hart, fault->reason ? (unsigned)fault->reason : causes[fault->kind],
				 accesses[fault->access], fault->pc, fault->address);
}

static void give_way(struct hart *hart)
{
	struct engine *engine = hart->engine;
	struct wave *wave = hart->current;

	wave->spun = true;
	wave_list_put(&engine->yielded, wave);
	engine->switches++;
	engine->slice_over = true;
	hart->current = NULL;
}

/* Return: true if the wave goes on. */
static bool stopped(struct hart *hart, enum cpu_stop why)
{
	if (likely(why == CPU_STOP_ECALL))
		return hart->array->host->service(hart, hart_x(hart, 17));
	if (why == CPU_STOP_FAULT)
		fault(hart);
	else
		give_way(hart);
	return false;
}

/* Until @wave ends, waits or gives way. */
static void run(struct hart *hart, struct wave *wave)
{
	struct engine *engine = hart->engine;
	uint64_t before = cpu_instructions(hart->cpu), limit = ~0ull;
	enum cpu_stop why;

	hart->current = wave;
	hart_memory_switch(hart, wave);
	if (unlikely(hart->untranslated))
		hart_code_refresh(hart);
	if (unlikely(hart->classes))
		energy_start(hart);
	do {
		if (engine->array->deterministic)
			limit = engine->slice_end - engine->executed;
		why = cpu_run_entered(hart->cpu, &wave->regs, limit);
		engine->executed -= before;
		before = cpu_instructions(hart->cpu);
		engine->executed += before;
		wave->fresh = false;
		if (unlikely(hart->classes))
			energy_count(hart);
	} while (stopped(hart, why));
}

struct wave *hart_enter(struct hart *hart, struct wave *wave)
{
	struct engine *engine = hart->engine;
	uint32_t kept = cpu_enter(hart->cpu);

	tutti_store_release(&engine->running, hart);
	/* Here, since only what can be seen to run keeps the timer awake: before, any time may have passed. */
	if (unlikely(tutti_load_relaxed(&hart->array->timer_asleep)))
		hart->array->host->rouse(hart->array);
	do {
		run(hart, wave);
		wave = hart->array->host->next(engine);
	} while (wave && wave->hart == hart);
	tutti_store_release(&engine->running, NULL);
	cpu_leave(hart->cpu, kept);
	return wave;
}

void hart_interrupt(struct hart *hart)
{
	cpu_interrupt(hart->cpu);
}

/* ---- life ------------------------------------------------------------- */

static void more_waves(struct hart *hart)
{
	struct wave *waves;

	if (hart->chunks == HART_CHUNKS || hart->infos_used + CHUNK > hart->infos_max)
		return;
	waves = calloc(CHUNK, sizeof(*waves));
	if (!waves)
		return;
	hart->all_waves[hart->chunks++] = waves;
	for (unsigned i = CHUNK; i-- > 0;) {
		uint64_t at = (uint64_t)(hart->infos_used + i) * 256;

		waves[i].hart = hart;
		waves[i].info_va = TUTTI_WAVE_INFO + at;
		waves[i].info = (struct tutti_wave_info *)((uint8_t *)hart->infos + at);
		waves[i].next = hart->free_waves;
		hart->free_waves = &waves[i];
	}
	hart->infos_used += CHUNK;
}

bool hart_needed(const struct hart *hart)
{
	const struct cta *starting = hart->engine->starting;

	/* A CTA may be between two waves, and requests under way still move data of the context's shared memory. */
	return hart->live || tutti_load_relaxed(&hart->held) || (starting && starting->hart == hart);
}

/* Make room: the context that has not run for longest, if none of its waves is there. */
static void evict(struct engine *engine)
{
	struct hart *oldest = NULL;

	for (struct hart *hart = engine->harts; hart; hart = hart->next)
		if (!hart_needed(hart) && hart != engine->running && (!oldest || hart->used < oldest->used))
			oldest = hart;
	if (oldest)
		hart_destroy(oldest);
}

static struct hart *hart_create(struct engine *engine, uint32_t asid)
{
	struct hart *hart = calloc(1, sizeof(*hart));

	if (!hart)
		return NULL;
	hart->engine = engine;
	hart->array = engine->array;
	hart->asid = asid;
	hart->next = engine->harts;
	engine->harts = hart;
	engine->hart[asid] = hart;
	engine->hart_count++;
	if (hart_memory_init(hart) || energy_hart_init(hart)) {
		hart_destroy(hart);
		return NULL;
	}
	return hart;
}

struct hart *hart_get(struct engine *engine, uint32_t asid)
{
	struct hart *hart = engine->hart[asid];

	if (unlikely(!hart)) {
		if (engine->hart_count >= HARTS)
			evict(engine);
		hart = hart_create(engine, asid);
		if (!hart)
			return NULL;
	}
	hart->used = ++engine->uses;
	if (unlikely(!hart->free_waves))
		more_waves(hart);
	return hart;
}

/* The timer, or who pauses the engines, may be about to stop it; both hold a lock while they do. */
static void wait_for_others(struct sm_array *array)
{
	pthread_mutex_lock(&array->timer_lock);
	pthread_mutex_unlock(&array->timer_lock);
	pthread_mutex_lock(&array->lock);
	pthread_mutex_unlock(&array->lock);
}

static void free_waves(struct wave *waves)
{
	for (unsigned w = 0; w < CHUNK; w++) {
		if (waves[w].stack)
			hart_release(&waves[w]);
		free(waves[w].call);
	}
	free(waves);
}

void hart_destroy(struct hart *hart)
{
	struct engine *engine = hart->engine;
	struct hart **link = &engine->harts;

	while (*link != hart)
		link = &(*link)->next;
	*link = hart->next;
	engine->hart[hart->asid] = NULL;
	engine->hart_count--;
	wait_for_others(hart->array);
	for (uint32_t i = 0; i < hart->chunks; i++)
		free_waves(hart->all_waves[i]);
	hart_memory_fini(hart);
	energy_hart_fini(hart);
	free(hart);
}

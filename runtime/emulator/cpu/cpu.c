// SPDX-License-Identifier: MIT
/* Life of a processor, and its runs: what stops them, and what is done between two pieces of one. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "translation.h"

/** struct cpu_pending - what is to be invalidated. */
struct cpu_pending {
	pthread_mutex_t lock;
	uint64_t first, end;
	bool any, all, code;
};

int cpu_create(const struct cpu_config *config, struct cpu **out)
{
	struct cpu *cpu = calloc(1, sizeof(*cpu));
	struct cpu_pending *pending = calloc(1, sizeof(*pending));

	if (!cpu || !pending) {
		free(cpu);
		free(pending);
		return -ENOMEM;
	}
	cpu->xlen = config->xlen;
	cpu->bus = config->bus;
	cpu->user = config->user;
	cpu->flat = config->flat;
	cpu->flat_bytes = config->flat ? config->flat_bytes : 0;
	cpu->flat_top = cpu->flat_bytes > 7 ? cpu->flat_bytes - 7 : 0;
	cpu->help = &cpu_help;
	cpu->stub = ~0ull;
	cpu->host_flags = cpu->xlen == 64 && cpu_float_flags();
	pthread_mutex_init(&pending->lock, NULL);
	cpu->pending = pending;
	*out = cpu;
	return 0;
}

void cpu_destroy(struct cpu *cpu)
{
	if (!cpu)
		return;
	cpu_drop_code(cpu, 0, ~0ull);
	cpu_detach(cpu, 0, ~0ull, true);
	pthread_mutex_destroy(&cpu->pending->lock);
	free(cpu->pending);
	free(cpu->breakpoints);
	free(cpu);
}

const struct cpu_fault *cpu_fault(const struct cpu *cpu)
{
	return &cpu->fault;
}

void cpu_stub(struct cpu *cpu, uint64_t va, uint64_t service)
{
	cpu->stub = va;
	cpu->stub_service = service;
}

uint64_t cpu_instructions(const struct cpu *cpu)
{
	return cpu->instructions;
}

struct cpu_machine *cpu_machine(struct cpu *cpu)
{
	return &cpu->machine;
}

/* ---- attention: what other threads and the bus ask for ---- */

/*
 * The runner stores @limit and then loads @attention; here it is the other way round. So either it sees what
 * is asked for, or the zero stays.
 */
void cpu_attend(struct cpu *cpu, uint32_t what)
{
	__atomic_fetch_or(&cpu->attention, what, __ATOMIC_SEQ_CST);
	__atomic_store_n(&cpu->limit, 0, __ATOMIC_SEQ_CST);
}

void cpu_interrupt(struct cpu *cpu)
{
	cpu_attend(cpu, CPU_ATTEND_STOP);
}

void cpu_invalidate(struct cpu *cpu, uint64_t first, uint64_t bytes, bool code)
{
	struct cpu_pending *pending = cpu->pending;
	uint64_t end = first + bytes;

	pthread_mutex_lock(&cpu->pending->lock);
	if (!bytes || end < first)
		pending->all = true;
	if (!pending->any || first < pending->first)
		pending->first = first;
	if (!pending->any || end > pending->end)
		pending->end = end;
	pending->any = true;
	pending->code |= code;
	pthread_mutex_unlock(&cpu->pending->lock);
	cpu_attend(cpu, CPU_ATTEND_INVALIDATE);
}

bool cpu_invalidate_pending(struct cpu *cpu)
{
	bool pending;

	pthread_mutex_lock(&cpu->pending->lock);
	pending = cpu->pending->any && __atomic_load_n(&cpu->running, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&cpu->pending->lock);
	return pending;
}

static void invalidate(struct cpu *cpu)
{
	struct cpu_pending *pending = cpu->pending;

	pthread_mutex_lock(&cpu->pending->lock);
	if (pending->any && pending->all)
		cpu_forget_spans(cpu, 0, 0);
	else if (pending->any)
		cpu_drop_spans(cpu, pending->first, pending->end);
	if (pending->any && pending->code)
		cpu_drop_code(cpu, pending->all ? 0 : pending->first, pending->all ? ~0ull : pending->end);
	if (pending->any && pending->code)
		cpu_detach(cpu, pending->all ? 0 : pending->first, pending->all ? ~0ull : pending->end, false);
	pending->any = pending->all = pending->code = false;
	pending->first = pending->end = 0;
	pthread_mutex_unlock(&cpu->pending->lock);
}

/* Return: true if the run is to end. */
static bool attended(struct cpu *cpu)
{
	uint32_t what = __atomic_exchange_n(&cpu->attention, 0, __ATOMIC_SEQ_CST);

	if (what & CPU_ATTEND_INVALIDATE)
		invalidate(cpu);
	return what & CPU_ATTEND_STOP;
}

/* ---- runs ---- */

static enum cpu_stop interpret(struct cpu *cpu, struct cpu_regs *regs)
{
	/* Who counts by function or looks for breakpoints wants to see each instruction. */
	if (cpu->present && !cpu->count_owner && !cpu->breakpoint_count)
		return cpu_translated(cpu, regs);
	return cpu->xlen == 32 ? cpu_interpret32(cpu, regs) : cpu_interpret64(cpu, regs);
}

/* The first instruction of a run is executed even if there is a breakpoint. */
static enum cpu_stop step_over(struct cpu *cpu, struct cpu_regs *regs)
{
	uint64_t pc = regs->pc, end = cpu->end;
	enum cpu_stop stop;

	cpu_breakpoint(cpu, pc, false);
	cpu->end = cpu->instructions + 1;
	__atomic_store_n(&cpu->limit, 0, __ATOMIC_SEQ_CST);
	stop = interpret(cpu, regs);
	cpu->end = end;
	cpu_breakpoint(cpu, pc, true); /* there is room: it was there before */
	return stop == CPU_STOP_SLICE ? CPU_STOP_INTERRUPT : stop;
}

/*
 * Nobody may store what is to be attended to without either being seen here, or seeing that this processor runs and leaving
 * the limit at zero. A run that goes on to the same end does not store the limit, cannot hide such a zero, and so needs
 * no barrier, which would take a tenth of the time of a short wave.
 */
static void begin_piece(struct cpu *cpu)
{
	if (cpu_likely(__atomic_load_n(&cpu->limit, __ATOMIC_RELAXED) == cpu->end))
		return;
	__atomic_store_n(&cpu->limit, cpu->end, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Until there is a reason other than something to attend to. */
static enum cpu_stop pieces(struct cpu *cpu, struct cpu_regs *regs)
{
	enum cpu_stop stop = CPU_STOP_INTERRUPT;
	uint64_t start = cpu->instructions;

	while (stop == CPU_STOP_INTERRUPT) {
		begin_piece(cpu);
		if (__atomic_load_n(&cpu->attention, __ATOMIC_SEQ_CST) && attended(cpu))
			return CPU_STOP_INTERRUPT;
		if (cpu->instructions >= cpu->end)
			return CPU_STOP_SLICE;
		if (cpu_unlikely(cpu->breakpoint_count) && cpu->instructions == start &&
		    cpu_breakpoint_at(cpu, regs->pc))
			stop = step_over(cpu, regs);
		else
			stop = interpret(cpu, regs);
	}
	return stop;
}

uint32_t cpu_enter(struct cpu *cpu)
{
	__atomic_store_n(&cpu->running, true, __ATOMIC_RELAXED);
	__atomic_store_n(&cpu->limit, 0, __ATOMIC_RELAXED); /* so that the fence of begin_piece() follows */
	return cpu->xlen == 64 ? cpu_float_enter() : 0;
}

void cpu_leave(struct cpu *cpu, uint32_t kept)
{
	__atomic_store_n(&cpu->running, false, __ATOMIC_RELEASE);
	if (cpu->xlen == 64)
		cpu_float_leave(kept);
}

enum cpu_stop cpu_run_entered(struct cpu *cpu, struct cpu_regs *regs, uint64_t instructions)
{
	uint64_t end = cpu->instructions + instructions;

	cpu->regs = regs;
	cpu->end = end < cpu->instructions ? ~0ull : end;
	if (cpu->xlen == 64)
		cpu_float_renew(cpu);
	return pieces(cpu, regs);
}

enum cpu_stop cpu_run(struct cpu *cpu, struct cpu_regs *regs, uint64_t instructions)
{
	uint32_t kept = cpu_enter(cpu);
	enum cpu_stop stop = cpu_run_entered(cpu, regs, instructions);

	cpu_leave(cpu, kept);
	return stop;
}

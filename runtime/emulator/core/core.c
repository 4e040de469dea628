// SPDX-License-Identifier: MIT
/* The soft core: the operations of struct core_ops on a processor of cpu/. */
#include <errno.h>
#include <stdlib.h>

#include "emulator/base/garbage.h"
#include "emulator/base/profile.h"
#include "emulator/core/core.h"
#include "emulator/core/translation.h"

#define SLICE_INSTRUCTIONS (1u << 20)

#define MCAUSE_FETCH   1u
#define MCAUSE_ILLEGAL 2u
#define MCAUSE_BREAK   3u
#define MCAUSE_LOAD    5u
#define MCAUSE_STORE   7u
#define MCAUSE_ECALL   11u
#define ECALL_BYTES    4u
#define MIE_MEIE       0x800u

/* ---- running ---- */

/*
 * Enter the firmware's trap handler for a trap that it does not return from. If it traps again without another handler
 * in its place it would do so for ever, which the emulator ends at once. Return: false then.
 */
static bool vector(struct core *core, struct core_trap *trap, uint32_t cause, uint32_t value)
{
	uint32_t handler = cpu_machine(core->cpu)->mtvec;

	*trap = (struct core_trap){ cause, (uint32_t)core->regs.pc, value };
	if (handler == core->trapped) /* at the start that is 0, which is no handler */
		return false;
	core->trapped = handler;
	cpu_trap(core->cpu, &core->regs, cause, value);
	return true;
}

static bool take_fault(struct core *core, struct core_trap *trap)
{
	static const uint32_t causes[] = {
		[CPU_LOAD] = MCAUSE_LOAD, [CPU_STORE] = MCAUSE_STORE, [CPU_FETCH] = MCAUSE_FETCH, [CPU_ATOMIC] = MCAUSE_STORE
	};
	const struct cpu_fault *fault = cpu_fault(core->cpu);

	if (fault->kind == CPU_FAULT_ILLEGAL)
		return vector(core, trap, MCAUSE_ILLEGAL, fault->value);
	if (fault->kind == CPU_FAULT_EBREAK)
		return vector(core, trap, MCAUSE_BREAK, (uint32_t)fault->pc);
	return vector(core, trap, causes[fault->access], (uint32_t)fault->address);
}

/* How many instructions to execute before other parts of the card get a turn. */
static uint64_t slice(struct core *core)
{
	uint32_t most = core->card->deterministic ? core->card->config.slice : 0;

	return most ? 1 + card_random(core->card, most) : SLICE_INSTRUCTIONS;
}

/* Act on the reason why cpu_run() has stopped. Return: true if the run continues, otherwise @stop says why not. */
static bool stopped(struct core *core, enum cpu_stop why, struct core_trap *trap, enum core_stop *stop)
{
	*stop = core->halted ? CORE_HALTED : CORE_PREEMPTED;
	switch (why) {
	case CPU_STOP_FAULT:
		*stop = CORE_DEAD;
		return take_fault(core, trap);
	case CPU_STOP_ECALL:
		*stop = CORE_IDLE;
		if (!core->card->config.idle_traps)
			return false;
		core->regs.pc -= ECALL_BYTES;
		cpu_trap(core->cpu, &core->regs, MCAUSE_ECALL, 0);
		return true;
	case CPU_STOP_WFI:
		*stop = CORE_IDLE;
		core->waits = true;
		return false;
	default:
		return false;
	}
}

static enum core_stop execute(struct core *core, struct core_trap *trap)
{
	uint64_t end = cpu_instructions(core->cpu) + slice(core);
	enum core_stop stop;

	while (stopped(core, cpu_run(core->cpu, &core->regs, end - cpu_instructions(core->cpu)), trap, &stop))
		;
	return stop;
}

static enum core_stop core_run(struct core *core, struct core_trap *trap)
{
	uint32_t injected = core->injected;
	enum core_stop stop = CORE_DEAD;

	/* run() is called because the event ring is not empty, so that mip.MEIP is set */
	if (core->waits && !(cpu_machine(core->cpu)->mie & MIE_MEIE))
		return CORE_WAITS;
	core->waits = false;
	core->injected = 0;
	if (!injected || vector(core, trap, injected - 1, 0))
		stop = execute(core, trap);
	return stop;
}

static void core_trap(struct core *core, uint32_t cause)
{
	core->injected = cause + 1;
}

static uint32_t core_reg(struct core *core, unsigned n)
{
	return (uint32_t)(n == 32 ? core->regs.pc : core->regs.x[n]);
}

static uint64_t core_instructions(struct core *core)
{
	return core->cpu ? cpu_instructions(core->cpu) : 0;
}

/* ---- life ---- */

static int core_create(struct tutti_card *card, struct core **out)
{
	struct core *core = calloc(1, sizeof(*core));

	if (!core)
		return -ENOMEM;
	core->card = card;
	*out = core;
	return 0;
}

static void core_destroy(struct core *core)
{
	cpu_destroy(core->cpu);
	free(core);
}

static void core_count(struct core *core, bool on)
{
	if (core->cpu)
		profile_count(core->card, core->cpu, on);
}

static int core_reset(struct core *core, uint32_t entry)
{
	const struct cpu_config config = {
		.xlen = 32, .bus = &core_bus, .user = core, .flat = core->card->local,
		.flat_bytes = core->card->discovery.local_bytes
	};
	int error;

	cpu_destroy(core->cpu);
	*core = (struct core){ .card = core->card };
	error = cpu_create(&config, &core->cpu);
	if (error)
		return error;
	cpu_cost(core->cpu, &core_cost);
	core->regs.pc = entry;
	core_translate(core);
	core_count(core, core->card->counting);
	return 0;
}

static const char *core_kind(const struct core *core)
{
	if (!core->cpu)
		return "none";
	return core->card->counting ? "interpreted, counted by function" : core->kind;
}

const struct core_ops core_cpu = {
	.create = core_create,
	.destroy = core_destroy,
	.reset = core_reset,
	.run = core_run,
	.trap = core_trap,
	.reg = core_reg,
	.instructions = core_instructions,
	.count = core_count,
	.kind = core_kind,
};

// SPDX-License-Identifier: MIT
/*
 * The soft core on our own processor. It has the name of the one on libunicorn, so that a program that links this file
 * before the emulator's library runs the firmware on it; nothing else changes.
 */
#include <errno.h>
#include <stdlib.h>

#include "cpu.h"
#include "emulator/base/clock.h"
#include "emulator/base/local.h"
#include "emulator/base/profile.h"
#include "emulator/base/state.h"

#define REGISTERS_BYTES 0x1000u
#define SLICE_INSTRUCTIONS (1u << 20)

#ifndef CPU_LOCKSTEP
#define core_execute(core) cpu_run((core)->cpu, &(core)->regs, SLICE_INSTRUCTIONS)
#endif

#define MCAUSE_FETCH 1u
#define MCAUSE_ILLEGAL 2u
#define MCAUSE_BREAK 3u
#define MCAUSE_LOAD 5u
#define MCAUSE_STORE 7u

struct core {
	struct tutti_card *card;
	struct cpu *cpu;
	struct cpu_regs regs;
	bool trapped; /* a second trap kills */
	bool dead;
	bool halted;
	uint32_t injected; /* mcause + 1 of a trap to take at the next run */
	uint64_t latched;
	struct shadow *shadow;
};

/* ---- memory ---- */

struct area {
	uint64_t first, bytes;
	void *host;
	uint8_t rights;
};

static int core_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	const struct tutti_card *card = ((struct core *)user)->card;
	const struct area areas[] = {
		{ TUTTI_CORE_ENGINES, TUTTI_PAGE_SIZE, card->page, CPU_MAY_LOAD | CPU_MAY_STORE },
		{ TUTTI_CORE_REGISTERS, REGISTERS_BYTES, NULL, CPU_MAY_LOAD | CPU_MAY_STORE },
		{ TUTTI_CORE_SMS, card_sm_bytes(card), card->sm_states, CPU_MAY_LOAD },
		{ TUTTI_CORE_CONTROL, card->discovery.doorbells.offset, card->bar, CPU_MAY_LOAD | CPU_MAY_STORE },
		{ TUTTI_CORE_CARD, card->discovery.memory_bytes, card->memory, CPU_MAY_LOAD | CPU_MAY_STORE },
	};

	for (unsigned i = 0; i < sizeof(areas) / sizeof(*areas); i++) {
		if (va - areas[i].first >= areas[i].bytes)
			continue;
		span->first = areas[i].first;
		span->bytes = areas[i].bytes;
		span->host = areas[i].host;
		span->rights = areas[i].rights;
		return 0;
	}
	return 1;
}

static int register_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct core *core = user;

	switch (va - TUTTI_CORE_REGISTERS) {
	case TUTTI_REG_TIME_LO:
		core->latched = card_time(core->card);
		*value = (uint32_t)core->latched;
		break;
	case TUTTI_REG_TIME_HI:
		*value = core->latched >> 32;
		break;
	}
	return 0;
}

static int register_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct core *core = user;

	if (va - TUTTI_CORE_REGISTERS == TUTTI_REG_HALT) {
		core->halted = true;
		cpu_interrupt(core->cpu);
	} else if (va - TUTTI_CORE_REGISTERS == TUTTI_REG_MARK) {
		profile_mark(core->card, (uint32_t)value, cpu_instructions(core->cpu) + 1);
	}
	return 0;
}

#ifdef CPU_LOCKSTEP
#include "core_lockstep.h"
#else
static const struct cpu_bus core_bus = { core_span, register_load, register_store };
#endif

/* ---- running ---- */

/* Enter the firmware's trap handler; false if that has trapped itself, or there is none. */
static bool vector(struct core *core, struct core_trap *trap, uint32_t cause, uint32_t value)
{
	*trap = (struct core_trap){ cause, (uint32_t)core->regs.pc, value };
	if (core->trapped || !cpu_machine(core->cpu)->mtvec)
		return false;
	core->trapped = true;
	cpu_trap(core->cpu, &core->regs, cause, value);
	return true;
}

static bool take_fault(struct core *core, struct core_trap *trap)
{
	static const uint32_t causes[] = { MCAUSE_LOAD, MCAUSE_STORE, MCAUSE_FETCH, MCAUSE_STORE };
	const struct cpu_fault *fault = cpu_fault(core->cpu);

	if (fault->kind == CPU_FAULT_ILLEGAL)
		return vector(core, trap, MCAUSE_ILLEGAL, fault->value);
	if (fault->kind == CPU_FAULT_EBREAK)
		return vector(core, trap, MCAUSE_BREAK, (uint32_t)fault->pc);
	return vector(core, trap, causes[fault->access], (uint32_t)fault->address);
}

static enum core_stop core_run(struct core *core, struct core_trap *trap)
{
	uint32_t injected = core->injected;
	enum cpu_stop stop;

	if (core->dead)
		return CORE_HALTED;
	core->injected = 0;
	stop = CPU_STOP_FAULT;
	if (injected && !vector(core, trap, injected - 1, 0))
		goto dead;
	for (;;) {
		stop = core_execute(core);
		if (stop != CPU_STOP_FAULT)
			break;
		if (!take_fault(core, trap))
			goto dead;
	}
	core->dead = core->halted;
	if (core->halted)
		return CORE_HALTED;
	return stop == CPU_STOP_ECALL || stop == CPU_STOP_WFI ? CORE_IDLE : CORE_PREEMPTED;
dead:
	core->dead = true;
	return CORE_DEAD;
}

static void core_interrupt(struct core *core)
{
	pthread_mutex_lock(&core->card->core_lock);
	if (core->cpu)
		cpu_interrupt(core->cpu);
	pthread_mutex_unlock(&core->card->core_lock);
}

static void core_trap(struct core *core, uint32_t cause)
{
	core->injected = cause + 1;
}

static uint32_t core_reg(struct core *core, unsigned n)
{
	return n == 32 ? (uint32_t)core->regs.pc : (uint32_t)core->regs.x[n];
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
	core->dead = true;
	*out = core;
	return 0;
}

static void core_destroy(struct core *core)
{
	cpu_destroy(core->cpu);
	free(core);
}

static int core_reset(struct core *core, uint32_t entry)
{
	const struct cpu_config config = { .xlen = 32, .bus = &core_bus, .user = core, .flat = core->card->local,
					   .flat_bytes = core->card->discovery.local_bytes };
	int error;

	pthread_mutex_lock(&core->card->core_lock);
	cpu_destroy(core->cpu);
	*core = (struct core){ .card = core->card, .shadow = core->shadow };
	error = cpu_create(&config, &core->cpu);
	pthread_mutex_unlock(&core->card->core_lock);
	core->dead = error;
	core->regs.pc = entry;
#ifdef CPU_TRANSLATION
	extern const struct cpu_translation CPU_TRANSLATION;

	if (!error && !getenv("TUTTI_INTERPRET"))
		error = cpu_translate(core->cpu, &CPU_TRANSLATION);
#endif
	return error;
}

/* Instructions are always counted. */
static void core_count(struct core *core, bool on)
{
}

const struct core_ops core_unicorn = {
	.create = core_create,
	.destroy = core_destroy,
	.reset = core_reset,
	.run = core_run,
	.interrupt = core_interrupt,
	.trap = core_trap,
	.reg = core_reg,
	.instructions = core_instructions,
	.count = core_count,
};

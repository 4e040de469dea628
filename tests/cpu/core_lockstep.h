/* SPDX-License-Identifier: MIT */
/*
 * Each run of the core is done twice: translated on the card's memory, and interpreted on a copy of it that gets what
 * the first one has read from outside of local memory. Both must end alike in every register and byte. Included by
 * core_cpu.c.
 */
#include <stdio.h>
#include <string.h>

#define LOG_MOST (1u << 20)

struct shadow {
	struct cpu *cpu;
	struct cpu_regs regs;
	uint8_t *memory;
	uint64_t *log; /* address and value of each access */
	size_t logged, replayed;
	uint64_t seed, runs, instructions;
};

static void differ(const struct core *core, const char *what)
{
	const struct shadow *shadow = core->shadow;

	printf("not ok - SYS-51: interpreted and translated firmware differ in %s: counts %llu %llu, pc %llx %llx\n", what,
	       (unsigned long long)cpu_instructions(shadow->cpu), (unsigned long long)cpu_instructions(core->cpu),
	       (unsigned long long)shadow->regs.pc, (unsigned long long)core->regs.pc);
	for (unsigned i = 0; i < 32; i++)
		if (core->regs.x[i] != shadow->regs.x[i])
			printf("# x%u %llx %llx\n", i, (unsigned long long)shadow->regs.x[i], (unsigned long long)core->regs.x[i]);
	fflush(stdout);
	abort();
}

/* No memory is reached without a call, so that all of it can be written down. */
static int lockstep_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	int reason = core_span(user, va, access, span);

	span->host = NULL;
	return reason;
}

static void *area_of(struct core *core, uint64_t va)
{
	struct cpu_span span = { 0 };

	return core_span(core, va, CPU_LOAD, &span) || !span.host ? NULL : span.host + (va - span.first);
}

static void note(struct core *core, uint64_t va, uint64_t value)
{
	struct shadow *shadow = core->shadow;

	if (shadow->logged + 2 > LOG_MOST)
		abort();
	shadow->log[shadow->logged++] = va;
	shadow->log[shadow->logged++] = value;
}

static int lockstep_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct core *core = user;
	const void *host = area_of(core, va);

	*value = 0;
	if (host)
		memcpy(value, host, bytes);
	else
		register_load(core, va, bytes, value);
	note(core, va, *value);
	return 0;
}

static int lockstep_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct core *core = user;
	void *host = area_of(core, va);

	note(core, va, value);
	if (host)
		memcpy(host, &value, bytes);
	else
		register_store(core, va, bytes, value);
	return 0;
}

static const struct cpu_bus core_bus = { lockstep_span, lockstep_load, lockstep_store };

static int replay_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct core *core = user;
	struct shadow *shadow = core->shadow;

	if (shadow->replayed == shadow->logged || shadow->log[shadow->replayed] != va)
		differ(core, "a load from outside");
	*value = shadow->log[shadow->replayed + 1];
	shadow->replayed += 2;
	return 0;
}

static int replay_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct core *core = user;
	struct shadow *shadow = core->shadow;

	if (shadow->replayed == shadow->logged || shadow->log[shadow->replayed] != va ||
	    shadow->log[shadow->replayed + 1] != value)
		differ(core, "a store to outside");
	shadow->replayed += 2;
	if (va - TUTTI_CORE_REGISTERS == TUTTI_REG_HALT)
		cpu_interrupt(shadow->cpu);
	return 0;
}

static const struct cpu_bus replay_bus = { lockstep_span, replay_load, replay_store };

static void said(void)
{
	printf("# interpreted and translated in lock step\n");
}

/* A fresh interpreter each run: its count starts where the other's does. */
static void shadow_begin(struct core *core)
{
	struct cpu_config config = { .xlen = 32, .bus = &replay_bus, .user = core,
				     .flat_bytes = core->card->discovery.local_bytes };
	struct shadow *shadow = core->shadow;

	if (!shadow) {
		shadow = core->shadow = calloc(1, sizeof(*shadow));
		shadow->log = malloc(LOG_MOST * sizeof(*shadow->log));
		shadow->memory = malloc(config.flat_bytes);
		atexit(said);
	}
	if (!cpu_instructions(core->cpu))
		shadow->seed = 88172645463325252ull; /* each boot is the same */
	config.flat = shadow->memory;
	memcpy(shadow->memory, core->card->local, config.flat_bytes);
	cpu_destroy(shadow->cpu);
	if (cpu_create(&config, &shadow->cpu))
		abort();
	*cpu_machine(shadow->cpu) = *cpu_machine(core->cpu);
	shadow->regs = core->regs;
	shadow->logged = shadow->replayed = 0;
}

static enum cpu_stop core_execute(struct core *core)
{
	uint64_t before = cpu_instructions(core->cpu), slice, mask = SLICE_INSTRUCTIONS / 4 - 1;
	enum cpu_stop stop, second;
	struct shadow *shadow;

	shadow_begin(core);
	shadow = core->shadow;
	shadow->seed ^= shadow->seed << 13;
	shadow->seed ^= shadow->seed >> 7;
	shadow->seed ^= shadow->seed << 17;
	slice = SLICE_INSTRUCTIONS / 2 + (shadow->seed >> 20 & mask);
	stop = cpu_run(core->cpu, &core->regs, slice);
	if (stop == CPU_STOP_INTERRUPT && !core->halted)
		slice = cpu_instructions(core->cpu) - before; /* by another thread */
	second = cpu_run(shadow->cpu, &shadow->regs, slice);
	if (second != stop && !(stop == CPU_STOP_INTERRUPT && second == CPU_STOP_SLICE))
		differ(core, "why they stopped");
	if (cpu_instructions(core->cpu) - before != cpu_instructions(shadow->cpu))
		differ(core, "counts");
	if (core->regs.pc != shadow->regs.pc || memcmp(core->regs.x, shadow->regs.x, 32 * 8))
		differ(core, "registers");
	if (memcmp(core->card->local, shadow->memory, core->card->discovery.local_bytes))
		differ(core, "local memory");
	if (memcmp(cpu_machine(core->cpu), cpu_machine(shadow->cpu), sizeof(struct cpu_machine)))
		differ(core, "CSRs");
	if (stop == CPU_STOP_FAULT && memcmp(&cpu_fault(core->cpu)->kind, &cpu_fault(shadow->cpu)->kind, sizeof(struct cpu_fault)))
		differ(core, "the fault");
	return stop;
}

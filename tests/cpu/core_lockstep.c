// SPDX-License-Identifier: MIT
/*
 * Lock step of a whole card: linked with --wrap=cpu_create, =cpu_destroy and =cpu_run, this file runs each run of the
 * soft core twice, translated on the card's memory, and interpreted on a copy of local memory that gets what the first
 * one has read from outside of it. Both must end alike in every register, CSR and byte, after as many instructions, for
 * the same reason. The translated one is stopped and goes on at random places meanwhile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/cpu/translation.h"
#include "tutti/softcore.h"

#define LOG_MOST (1u << 20)
#define SHADOWS 64u

int __real_cpu_create(const struct cpu_config *config, struct cpu **cpu);
void __real_cpu_destroy(struct cpu *cpu);
enum cpu_stop __real_cpu_run(struct cpu *cpu, struct cpu_regs *regs, uint64_t instructions);

/**
 * struct shadow - the second processor of a soft core.
 * @first: the soft core's own; @bus, @user: how that reaches memory
 * @log: address and value of each access of @first outside of local memory
 */
struct shadow {
	struct cpu *first, *cpu;
	const struct cpu_bus *bus;
	void *user;
	struct cpu_regs regs;
	uint8_t *memory, *local;
	uint64_t local_bytes;
	uint64_t *log;
	size_t logged, replayed;
	uint64_t seed;
};

static struct shadow *shadows[SHADOWS];
static uint64_t compared, executed, translated;

static void differ(const struct shadow *shadow, const struct cpu_regs *regs, const char *what)
{
	printf("not ok - SYS-51: interpreted and translated firmware differ in %s: counts %llu %llu, pc %llx %llx\n", what,
	       (unsigned long long)cpu_instructions(shadow->cpu), (unsigned long long)cpu_instructions(shadow->first),
	       (unsigned long long)shadow->regs.pc, (unsigned long long)regs->pc);
	for (unsigned i = 0; i < 32; i++)
		if (regs->x[i] != shadow->regs.x[i])
			printf("# x%u %llx %llx\n", i, (unsigned long long)shadow->regs.x[i], (unsigned long long)regs->x[i]);
	fflush(stdout);
	abort();
}

/* ---- memory: no other than local memory is reached without a call, so that all of it can be written down ---- */

static int lockstep_span(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span)
{
	struct shadow *shadow = user;
	int reason = shadow->bus->span(shadow->user, va, access, span);

	span->host = NULL;
	return reason;
}

static void *host_of(const struct shadow *shadow, uint64_t va)
{
	struct cpu_span span = { 0 };

	return shadow->bus->span(shadow->user, va, CPU_LOAD, &span) || !span.host ? NULL : span.host + (va - span.first);
}

static void note(struct shadow *shadow, uint64_t va, uint64_t value)
{
	if (shadow->logged + 2 > LOG_MOST)
		abort();
	shadow->log[shadow->logged++] = va;
	shadow->log[shadow->logged++] = value;
}

static int lockstep_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct shadow *shadow = user;
	const void *host = host_of(shadow, va);

	*value = 0;
	if (host)
		memcpy(value, host, bytes);
	else
		shadow->bus->load(shadow->user, va, bytes, value);
	note(shadow, va, *value);
	return 0;
}

static int lockstep_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct shadow *shadow = user;
	void *host = host_of(shadow, va);

	note(shadow, va, value);
	if (host)
		memcpy(host, &value, bytes);
	else
		shadow->bus->store(shadow->user, va, bytes, value);
	return 0;
}

static const struct cpu_bus lockstep_bus = { lockstep_span, lockstep_load, lockstep_store };

static int replay_load(void *user, uint64_t va, unsigned bytes, uint64_t *value)
{
	struct shadow *shadow = user;

	if (shadow->replayed == shadow->logged || shadow->log[shadow->replayed] != va)
		differ(shadow, &shadow->regs, "a load from outside");
	*value = shadow->log[shadow->replayed + 1];
	shadow->replayed += 2;
	return 0;
}

static int replay_store(void *user, uint64_t va, unsigned bytes, uint64_t value)
{
	struct shadow *shadow = user;

	if (shadow->replayed == shadow->logged || shadow->log[shadow->replayed] != va ||
	    shadow->log[shadow->replayed + 1] != value)
		differ(shadow, &shadow->regs, "a store to outside");
	shadow->replayed += 2;
	if (va == TUTTI_CORE_REGISTERS + TUTTI_REG_HALT)
		cpu_interrupt(shadow->cpu);
	return 0;
}

static const struct cpu_bus replay_bus = { lockstep_span, replay_load, replay_store };

/* ---- life ---- */

static void said(void)
{
	printf("# SYS-51: %llu runs of the soft core, %llu instructions, interpreted and translated alike; %llu cores of which "
	       "had a translation\n",
	       (unsigned long long)compared, (unsigned long long)executed, (unsigned long long)translated);
	if (!translated)
		printf("not ok - SYS-51: nothing was translated\n"), fflush(stdout), _Exit(1);
}

static unsigned place(const struct cpu *cpu)
{
	unsigned i = 0;

	while (i < SHADOWS && (shadows[i] ? shadows[i]->first : NULL) != cpu)
		i++;
	return i;
}

int __wrap_cpu_create(const struct cpu_config *config, struct cpu **cpu)
{
	struct shadow *shadow = calloc(1, sizeof(*shadow));
	struct cpu_config own = *config;
	unsigned free_place = place(NULL);

	if (config->xlen == 64) { /* a hart: not looked at */
		free(shadow);
		return __real_cpu_create(config, cpu);
	}
	if (!shadow || free_place == SHADOWS)
		abort();
	shadow->bus = config->bus;
	shadow->user = config->user;
	shadow->local = config->flat;
	shadow->local_bytes = config->flat_bytes;
	shadow->log = malloc(LOG_MOST * sizeof(*shadow->log));
	shadow->memory = malloc(config->flat_bytes);
	shadow->seed = 88172645463325252ull; /* each boot is the same */
	own.user = shadow;
	own.bus = &lockstep_bus;
	if (!shadow->log || !shadow->memory || __real_cpu_create(&own, &shadow->first))
		abort();
	own.bus = &replay_bus;
	own.flat = shadow->memory;
	if (__real_cpu_create(&own, &shadow->cpu))
		abort();
	if (!compared)
		atexit(said);
	shadows[free_place] = shadow;
	*cpu = shadow->first;
	return 0;
}

void __wrap_cpu_destroy(struct cpu *cpu)
{
	unsigned i = place(cpu);

	if (!cpu)
		return;
	if (cpu->xlen == 64) {
		__real_cpu_destroy(cpu);
		return;
	}
	translated += cpu->present != NULL;
	__real_cpu_destroy(cpu);
	__real_cpu_destroy(shadows[i]->cpu);
	free(shadows[i]->log);
	free(shadows[i]->memory);
	free(shadows[i]);
	shadows[i] = NULL;
}

/* ---- runs ---- */

static uint64_t draw(struct shadow *shadow)
{
	shadow->seed ^= shadow->seed << 13;
	shadow->seed ^= shadow->seed >> 7;
	shadow->seed ^= shadow->seed << 17;
	return shadow->seed >> 20;
}

/* One run of the soft core, every other one in pieces. */
static enum cpu_stop run_first(struct shadow *shadow, struct cpu_regs *regs, uint64_t instructions)
{
	uint64_t end = cpu_instructions(shadow->first) + instructions, left = instructions, piece;
	bool pieces = draw(shadow) & 1;
	enum cpu_stop stop;

	do {
		piece = pieces ? draw(shadow) % 4096 + 1 : instructions;
		stop = __real_cpu_run(shadow->first, regs, piece < left ? piece : left);
		left = end - cpu_instructions(shadow->first);
	} while (stop == CPU_STOP_SLICE && left);
	return stop;
}

static void compare(const struct shadow *shadow, const struct cpu_regs *regs, enum cpu_stop stop, enum cpu_stop second)
{
	const struct cpu_fault *fa = cpu_fault(shadow->first), *fb = cpu_fault(shadow->cpu);

	/* An interrupt by another thread comes when it comes; the second run has been cut off there. */
	if (second != stop && !(stop == CPU_STOP_INTERRUPT && second == CPU_STOP_SLICE))
		differ(shadow, regs, "why they stopped");
	if (cpu_instructions(shadow->first) != cpu_instructions(shadow->cpu))
		differ(shadow, regs, "counts");
	if (regs->pc != shadow->regs.pc || memcmp(regs->x, shadow->regs.x, 32 * 8))
		differ(shadow, regs, "registers");
	if (shadow->replayed != shadow->logged)
		differ(shadow, regs, "the number of accesses to outside");
	if (memcmp(shadow->local, shadow->memory, shadow->local_bytes))
		differ(shadow, regs, "local memory");
	if (memcmp(cpu_machine(shadow->first), cpu_machine(shadow->cpu), sizeof(struct cpu_machine)))
		differ(shadow, regs, "CSRs");
	if (stop == CPU_STOP_FAULT &&
	    (fa->kind != fb->kind || fa->access != fb->access || fa->reason != fb->reason || fa->value != fb->value ||
	     fa->pc != fb->pc || fa->address != fb->address))
		differ(shadow, regs, "the fault");
}

enum cpu_stop __wrap_cpu_run(struct cpu *cpu, struct cpu_regs *regs, uint64_t instructions)
{
	uint64_t before = cpu_instructions(cpu), slice = instructions;
	enum cpu_stop stop, second;
	struct shadow *shadow;

	if (cpu->xlen == 64)
		return __real_cpu_run(cpu, regs, instructions);
	shadow = shadows[place(cpu)];
	memcpy(shadow->memory, shadow->local, shadow->local_bytes);
	*cpu_machine(shadow->cpu) = *cpu_machine(cpu);
	shadow->regs = *regs;
	shadow->logged = shadow->replayed = 0;
	stop = run_first(shadow, regs, instructions);
	if (stop == CPU_STOP_INTERRUPT)
		slice = cpu_instructions(cpu) - before;
	second = slice ? __real_cpu_run(shadow->cpu, &shadow->regs, slice) : CPU_STOP_SLICE;
	compare(shadow, regs, stop, second);
	compared++;
	executed += cpu_instructions(cpu) - before;
	return stop;
}

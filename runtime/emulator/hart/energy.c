// SPDX-License-Identifier: MIT
/*
 * Instruction classes and energy of SMs (spec RES-13, RES-14; TUTTI_FEATURE_ENERGY). The processor counts
 * instructions by function, and classes are given to it as functions, over the code around the running kernel's
 * entry; instructions elsewhere count as OTHER, except for the two by which a wave ends that returns from its kernel.
 * An SM's energy is what its counts and the resources its CTAs took cost, times a factor of its own, as parts vary.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/clock.h"
#include "emulator/base/config.h"
#include "emulator/hart/energy.h"
#include "emulator/hart/hart.h"

#define ROM_INSTRUCTIONS 2u /* how a wave ends that returns from its kernel */
#define ROM_BYTES 12u
#define ONE 65536u /* an SM's factor is a fraction of it */

/**
 * struct class_table - what the processor counts with.
 * @owner: per halfword of [@first, ...): class + 1 of an instruction that begins there
 * @executed: the processor's count when @function was 0
 */
struct class_table {
	uint64_t first;
	uint32_t halves, room;
	uint16_t *owner;
	struct cpu_function function[TUTTI_CLASSES];
	uint64_t executed;
};

static const uint16_t nothing;
static const uint64_t no_starts[TUTTI_CLASSES] = { ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull };

/* Picojoules; what a topology file does not say. */
static const uint32_t class_default[TUTTI_CLASSES] = { 4, 25, 30, 20, 45, 3, 6, 5 };
static const uint32_t resource_default[TUTTI_RESOURCES] = { 160, 12, 24, 40, 10, 300 };

/* ---- instructions to classes ---- */

static enum tutti_class class_of_16(uint16_t c)
{
	unsigned rs2 = c >> 2 & 31, rd = c >> 7 & 31;

	switch ((c & 3) << 3 | c >> 13) {
	case 1: case 2: case 3:
	case 17: case 18: case 19:
		return TUTTI_CLASS_LOAD;
	case 5: case 6: case 7:
	case 21: case 22: case 23:
		return TUTTI_CLASS_STORE;
	case 10:
		return TUTTI_CLASS_MOVE;
	case 11:
		return rd == 2 ? TUTTI_CLASS_OTHER : TUTTI_CLASS_MOVE;
	case 13: case 14: case 15:
		return TUTTI_CLASS_JUMP;
	case 20:
		if (!rs2)
			return rd ? TUTTI_CLASS_JUMP : TUTTI_CLASS_OTHER;
		return c & 0x1000 ? TUTTI_CLASS_OTHER : TUTTI_CLASS_MOVE;
	}
	return TUTTI_CLASS_OTHER;
}

static enum tutti_class class_of_float(uint32_t insn)
{
	unsigned wide = insn >> 25 & 1;

	switch (insn >> 27) {
	case 0x02: /* mul */
		return wide ? TUTTI_CLASS_MATRIX64 : TUTTI_CLASS_MATRIX32;
	case 0x04: /* sgnj */
	case 0x1c: /* to x */
	case 0x1e: /* from x */
		return TUTTI_CLASS_MOVE;
	case 0x05: /* min, max */
	case 0x14: /* eq, lt, le */
		return TUTTI_CLASS_COMPARE;
	}
	return TUTTI_CLASS_OTHER;
}

static enum tutti_class class_of_32(uint32_t insn)
{
	unsigned f3 = insn >> 12 & 7, f7 = insn >> 25;
	bool compare = f3 == 2 || f3 == 3;

	switch (insn & 0x7f) {
	case 0x03: case 0x07:
		return TUTTI_CLASS_LOAD;
	case 0x23: case 0x27: case 0x2f:
		return TUTTI_CLASS_STORE;
	case 0x63: case 0x67: case 0x6f:
		return TUTTI_CLASS_JUMP;
	case 0x17: case 0x37:
		return TUTTI_CLASS_MOVE;
	case 0x13: /* addi with x0 or 0 is li or mv */
		if (!f3 && (!(insn >> 15 & 31) || !(insn >> 20)))
			return TUTTI_CLASS_MOVE;
		return compare ? TUTTI_CLASS_COMPARE : TUTTI_CLASS_OTHER;
	case 0x33:
		if (f7 == 1)
			return f3 < 4 ? TUTTI_CLASS_MATRIX64 : TUTTI_CLASS_OTHER;
		return compare ? TUTTI_CLASS_COMPARE : TUTTI_CLASS_OTHER;
	case 0x3b:
		return f7 == 1 && !f3 ? TUTTI_CLASS_MATRIX32 : TUTTI_CLASS_OTHER;
	case 0x43: case 0x47: case 0x4b: case 0x4f:
		return insn >> 25 & 1 ? TUTTI_CLASS_MATRIX64 : TUTTI_CLASS_MATRIX32;
	case 0x53:
		return class_of_float(insn);
	}
	return TUTTI_CLASS_OTHER;
}

/* What an instruction that began at each halfword of @code would be. */
static void classify(struct class_table *table, const uint8_t *code, uint32_t halves)
{
	uint16_t low, high;

	for (uint32_t i = 0; i < halves; i++) {
		memcpy(&low, code + 2 * i, 2);
		high = 0;
		if (i + 1 < halves)
			memcpy(&high, code + 2 * i + 2, 2);
		table->owner[i] = 1u + ((low & 3) != 3 ? class_of_16(low) : class_of_32(low | (uint32_t)high << 16));
	}
}

/* The code around the entry of a kernel. */
static bool table_fill(struct hart *hart, struct class_table *table, uint64_t entry)
{
	struct cpu_span span;
	uint32_t halves;

	if (!hart_code(hart, entry, &span))
		return false;
	halves = (uint32_t)(span.bytes / 2);
	if (halves > table->room) {
		uint16_t *owner = realloc(table->owner, halves * sizeof(*owner));

		if (!owner)
			return false;
		table->owner = owner;
		table->room = halves;
	}
	table->first = span.first;
	table->halves = halves;
	classify(table, span.host, halves);
	return true;
}

/* ---- counting ---- */

int energy_hart_init(struct hart *hart)
{
	if (!hart->array->energy)
		return 0;
	hart->classes = calloc(1, sizeof(*hart->classes));
	return hart->classes ? 0 : -ENOMEM;
}

void energy_hart_fini(struct hart *hart)
{
	if (hart->classes)
		free(hart->classes->owner);
	free(hart->classes);
}

void energy_hart_forget(struct hart *hart)
{
	if (hart->classes)
		hart->classes->halves = 0;
}

static uint64_t piece_now(struct sm_array *array)
{
	return card_time(array->card) >> (array->window - 3);
}

/* A window of eight pieces that slides by one of them. */
static void remember(struct sm_array *array, struct sm *sm, const uint64_t *counted)
{
	uint64_t now = piece_now(array);
	unsigned at = now % SM_HISTORY;

	pthread_mutex_lock(&array->energy_lock);
	if (sm->history[at].piece != now) {
		memset(&sm->history[at], 0, sizeof(sm->history[at]));
		sm->history[at].piece = now;
	}
	for (unsigned c = 0; c < TUTTI_CLASSES; c++)
		sm->history[at].count[c] += (uint32_t)counted[c];
	pthread_mutex_unlock(&array->energy_lock);
}

bool energy_recent(struct sm_array *array, const struct sm *sm, uint32_t *recent)
{
	uint64_t now = piece_now(array);
	bool any = false;

	memset(recent, 0, TUTTI_CLASSES * sizeof(*recent));
	pthread_mutex_lock(&array->energy_lock);
	for (unsigned i = 0; i < SM_HISTORY; i++)
		for (unsigned c = 0; now - sm->history[i].piece < SM_HISTORY && c < TUTTI_CLASSES; c++) {
			recent[c] += sm->history[i].count[c];
			any |= sm->history[i].count[c];
		}
	pthread_mutex_unlock(&array->energy_lock);
	return any;
}

void energy_flush(struct engine *engine)
{
	struct sm *sm = &engine->array->sm[engine->counted_sm];

	if (!engine->counted_any)
		return;
	engine->counted_any = false;
	remember(engine->array, sm, engine->counted);
	for (unsigned c = 0; c < TUTTI_CLASSES; c++) {
		if (engine->counted[c])
			__atomic_fetch_add(&sm->instructions[c], engine->counted[c], __ATOMIC_RELAXED);
		engine->counted[c] = 0;
	}
	tutti_store_relaxed(&sm->touched, 1);
}

void energy_start(struct hart *hart)
{
	struct class_table *table = hart->classes;
	const struct cta *cta = hart->current->cta;
	struct engine *engine = hart->engine;

	if (engine->counted_sm != cta->sm) {
		energy_flush(engine);
		engine->counted_sm = cta->sm;
	}
	if ((cta->task->state.entry - table->first) / 2 >= table->halves && !table_fill(hart, table, cta->task->state.entry))
		table->halves = 0;
	table->executed = cpu_instructions(hart->cpu);
	memset(table->function, 0, sizeof(table->function));
	cpu_count(hart->cpu, table->first, table->halves, table->owner ? table->owner : &nothing, no_starts, table->function);
}

void energy_count(struct hart *hart)
{
	struct class_table *table = hart->classes;
	struct engine *engine = hart->engine;
	uint64_t executed = cpu_instructions(hart->cpu), elsewhere = executed - table->executed;

	for (unsigned c = 0; c < TUTTI_CLASSES; c++) {
		engine->counted[c] += table->function[c].instructions;
		elsewhere -= table->function[c].instructions;
	}
	table->executed = executed;
	memset(table->function, 0, sizeof(table->function));
	if (elsewhere >= ROM_INSTRUCTIONS && hart->current->regs.pc - TUTTI_WAVE_ROM < ROM_BYTES) { /* li a7, 0; ecall */
		engine->counted[TUTTI_CLASS_MOVE]++;
		elsewhere--;
	}
	engine->counted[TUTTI_CLASS_OTHER] += elsewhere;
	engine->counted_any = true;
}

/* ---- energy ---- */

static uint32_t pick(uint32_t value, uint32_t fallback)
{
	return value ? value : fallback;
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

void energy_init(struct sm_array *array)
{
	const struct tutti_card_config *config = card_config(array->card);
	uint64_t range = (uint64_t)config->energy_variation * ONE / 1000;

	array->energy = config->energy != 0;
	array->window = 10;
	pthread_mutex_init(&array->energy_lock, NULL);
	for (unsigned c = 0; c < TUTTI_CLASSES; c++)
		array->class_energy[c] = pick(config->energy_class[c], class_default[c]);
	for (unsigned r = 0; r < TUTTI_RESOURCES; r++)
		array->resource_energy[r] = pick(config->energy_resource[r], resource_default[r]);
	if (range >= ONE)
		range = ONE - 1;
	for (uint32_t i = 0; i < array->sms; i++)
		array->sm[i].factor = (uint32_t)(ONE - range + mix(config->seed + i) % (2 * range + 1));
}

uint64_t energy_of_resources(const struct sm_array *array, const struct tutti_task_state *state)
{
	const uint32_t *e = array->resource_energy;

	return state->waves * ((uint64_t)e[TUTTI_RESOURCE_WAVES] +
			       (uint64_t)e[TUTTI_RESOURCE_SCALAR] * state->scalar_blocks +
			       (uint64_t)e[TUTTI_RESOURCE_VECTOR] * state->vector_blocks) +
	       (uint64_t)e[TUTTI_RESOURCE_SHARED] * state->shared_blocks +
	       (uint64_t)e[TUTTI_RESOURCE_BARRIERS] * state->barriers + e[TUTTI_RESOURCE_CTAS];
}

uint64_t energy_of_sm(const struct sm_array *array, const struct sm *sm)
{
	uint64_t sum = sm->resource_energy;

	for (unsigned c = 0; c < TUTTI_CLASSES; c++)
		sum += tutti_load_relaxed(&sm->instructions[c]) * array->class_energy[c];
	return (uint64_t)((unsigned __int128)sum * sm->factor / ONE);
}

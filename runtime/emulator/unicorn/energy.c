// SPDX-License-Identifier: MIT
/*
 * Instruction classes and energy of SMs (spec RES-13, RES-14; TUTTI_FEATURE_ENERGY).
 * Classes are counted a basic block at a time: a block that faults half-way counts as a
 * whole. An SM's energy is what its counts and the resources its CTAs took cost, times
 * a factor of its own, as parts vary.
 */
#include <stdlib.h>
#include <string.h>

#include "emulator/base/clock.h"
#include "emulator/base/config.h"
#include "emulator/unicorn/energy.h"
#include "emulator/unicorn/hart.h"

#define BLOCKS 1024u
#define ONE 65536u /* an SM's factor is a fraction of it */

struct class_block {
	uint64_t va;
	uint32_t bytes; /* 0 = empty */
	uint16_t count[TUTTI_CLASSES];
};

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

static bool fetch16(struct hart *hart, uint64_t va, uint32_t *half)
{
	uint8_t cause;
	const uint16_t *p = hart_pointer(hart, va, 2, TUTTI_ACCESS_EXECUTE, &cause);

	if (p)
		*half = *p;
	return p != NULL;
}

static void decode(struct hart *hart, struct class_block *block)
{
	uint64_t at = block->va, end = at + block->bytes;
	uint32_t low, high;

	memset(block->count, 0, sizeof(block->count));
	while (at < end && fetch16(hart, at, &low)) {
		if ((low & 3) != 3) {
			block->count[class_of_16((uint16_t)low)]++;
			at += 2;
		} else if (fetch16(hart, at + 2, &high)) {
			block->count[class_of_32(low | high << 16)]++;
			at += 4;
		} else {
			return;
		}
	}
}

/* ---- counting ---- */

int energy_hart_init(struct hart *hart)
{
	if (!hart->array->energy)
		return 0;
	hart->blocks = calloc(BLOCKS, sizeof(*hart->blocks));
	return hart->blocks ? 0 : -1;
}

void energy_hart_fini(struct hart *hart)
{
	free(hart->blocks);
}

void energy_hart_forget(struct hart *hart)
{
	if (hart->blocks)
		memset(hart->blocks, 0, BLOCKS * sizeof(*hart->blocks));
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

void energy_block(struct hart *hart, uint64_t va, uint32_t bytes)
{
	struct engine *engine = hart->engine;
	struct class_block *block = &hart->blocks[(va >> 1 ^ va >> 11) % BLOCKS];

	if (unlikely(!hart->current))
		return;
	if (unlikely(block->va != va || block->bytes != bytes)) {
		block->va = va;
		block->bytes = bytes;
		decode(hart, block);
	}
	if (unlikely(engine->counted_sm != hart->current->cta->sm)) {
		energy_flush(engine);
		engine->counted_sm = hart->current->cta->sm;
	}
	engine->counted_any = true;
	for (unsigned c = 0; c < TUTTI_CLASSES; c++)
		engine->counted[c] += block->count[c];
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

// SPDX-License-Identifier: MIT
/*
 * A hart: unicorn RV64 in user mode on a fiber of its own, for the waves of one
 * context on one engine. It stays inside uc_emu_start() as long as possible: a
 * wave's end, barriers and yields are ecalls, whose hook puts the next wave's
 * registers in place. Only a wave of another context, or none, makes it leave its fiber.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/unicorn/atomic.h"
#include "emulator/unicorn/dsmem.h"
#include "emulator/unicorn/energy.h"
#include "emulator/unicorn/precise.h"

#define STACK_BYTES (256u << 10)
#define HARTS 8u     /* kept per engine */
#define TLB_MOST 65536u
#define CHUNK 128u   /* waves allocated at once */
#define BOOT (TUTTI_WAVE_ROM + 0x100)
#define BOOT_END (TUTTI_WAVE_ROM + 0x124)
#define USER_BYTES (ECALL_PC64 + 4 * 8) /* what user mode can change: x, f, pc, reservation (2 words), rounding mode */

/* ---- registers -------------------------------------------------------- */

uint64_t hart_x(struct hart *hart, unsigned n)
{
	uint64_t value = 0;

	if (likely(hart->env != NULL))
		return hart->env[n];
	uc_reg_read(hart->uc, UC_RISCV_REG_X0 + (int)n, &value);
	return value;
}

void hart_x_set(struct hart *hart, unsigned n, uint64_t value)
{
	if (likely(hart->env != NULL))
		hart->env[n] = value;
	else
		uc_reg_write(hart->uc, UC_RISCV_REG_X0 + (int)n, &value);
}

uint64_t hart_pc(struct hart *hart)
{
	uint64_t pc = 0;

	uc_reg_read(hart->uc, UC_RISCV_REG_PC, &pc);
	return pc;
}

bool hart_can_save(struct hart *hart, struct wave *wave)
{
	return likely(wave->context != NULL) || !uc_context_alloc(hart->uc, &wave->context);
}

void hart_save(struct hart *hart, struct wave *wave)
{
	uc_context_save(hart->uc, wave->context);
	wave->has_context = true;
	wave->fresh = false;
}

uint64_t hart_saved_pc(const struct wave *wave)
{
	uint64_t pc;

	memcpy(&pc, (const uint8_t *)wave->context + wave->hart->at_pc, sizeof(pc));
	return pc;
}

void hart_saved_result(struct wave *wave, uint64_t value)
{
	memcpy((uint8_t *)wave->context + wave->hart->at_x + 80, &value, sizeof(value));
}

/* Put the registers of @wave into the core. Return: its pc. */
static uint64_t load(struct hart *hart, struct wave *wave)
{
	hart->current = wave;
	hart->entering = NULL;
	hart_stack_load(hart, wave);
	if (wave->has_context) {
		uc_context_restore(hart->uc, wave->context);
		return hart_saved_pc(wave);
	}
	hart->start_x[2] = hart_stack_top(hart, wave);
	hart->start_x[4] = wave->info_va;
	hart->start_x[10] = wave->info->kernarg;
	*hart->start_pc = wave->cta->task->state.entry;
	if (likely(hart->ecalls))
		memcpy(hart->env, hart->start_x, USER_BYTES);
	else
		uc_context_restore(hart->uc, hart->start);
	return *hart->start_pc;
}

/* ---- hooks ------------------------------------------------------------ */

/*
 * Unicorn's TLB starts with 256 entries and grows only when it is flushed while
 * nearly full; a kernel that walks through much memory would miss at every access.
 */
static bool tlb_small(const struct hart *hart)
{
	return precise_fills() > 4 * hart->tlb_entries && hart->tlb_entries < TLB_MOST;
}

static void tlb_grow(struct hart *hart)
{
	precise_grow(hart->cpu, hart->tlb_entries);
	hart->tlb_entries *= 2;
}

/* In a hook, with no wave loaded: go on with the next wave of this hart, now or when entered again. */
static void next_in_hook(struct hart *hart)
{
	struct engine *engine = hart->engine;
	struct wave *wave = engine->array->host->next(engine);

	if (likely(wave && wave->hart == hart)) {
		hart->entering = wave;
	} else {
		engine->handoff = wave;
		do
			fiber_leave();
		while (!hart->entering);
	}
	if (unlikely(hart->refresh || tlb_small(hart)))
		uc_emu_stop(hart->uc); /* mappings change outside of uc_emu_start() only */
	else
		load(hart, hart->entering);
}

static void on_illegal(struct hart *hart)
{
	uint64_t pc = hart_pc(hart) - 4;
	uint32_t insn = 0;
	uint8_t cause;
	uint16_t *p = hart_pointer(hart, pc, 2, TUTTI_ACCESS_EXECUTE, &cause);

	if (p && (p[0] & 3) == 3) {
		insn = p[0];
		p = hart_pointer(hart, pc + 2, 2, TUTTI_ACCESS_EXECUTE, &cause);
		insn |= p ? (uint32_t)p[0] << 16 : 0;
		if (p && amo_emulate(hart, insn, pc)) {
			if (likely(!hart->fault.valid))
				return;
			hart->fault.valid = false;
			hart->array->host->fault(hart, hart->fault.cause, hart->fault.access, pc, hart->fault.address);
			next_in_hook(hart);
			return;
		}
	}
	hart->array->host->fault(hart, TUTTI_CAUSE_ILLEGAL, TUTTI_ACCESS_EXECUTE, pc, pc);
	next_in_hook(hart);
}

static void on_misaligned(struct hart *hart)
{
	uint64_t pc = hart_pc(hart) - 4;
	uint8_t cause;
	uint32_t *insn = hart_pointer(hart, pc, 4, TUTTI_ACCESS_EXECUTE, &cause);

	hart->array->host->fault(hart, TUTTI_CAUSE_ALIGNMENT, TUTTI_ACCESS_ATOMIC, pc,
				 insn ? hart_x(hart, *insn >> 15 & 31) : 0);
	next_in_hook(hart);
}

static void on_ecall(void *data)
{
	struct hart *hart = data;

	if (!hart->array->host->service(hart, hart_x(hart, 17)))
		next_in_hook(hart);
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *data)
{
	struct hart *hart = data;

	if (unlikely(hart->booting)) {
		uc_emu_stop(uc);
		return;
	}
	if (number == 8) {
		on_ecall(hart);
	} else if (number == 2) {
		on_illegal(hart);
	} else if (number == 4 || number == 6) {
		/* only LR and SC insist on alignment */
		on_misaligned(hart);
	} else {
		hart->array->host->fault(hart, TUTTI_CAUSE_ILLEGAL, TUTTI_ACCESS_EXECUTE, hart_pc(hart) - 4, 0);
		next_in_hook(hart);
	}
}

static bool on_break(uc_engine *uc, void *data)
{
	struct hart *hart = data;

	hart->fault.valid = true;
	hart->fault.cause = TUTTI_CAUSE_BREAK;
	hart->fault.access = TUTTI_ACCESS_EXECUTE;
	hart->fault.pc = hart->fault.address = hart_pc(hart);
	return false;
}

void hart_abandon(struct hart *hart)
{
	uc_emu_stop(hart->uc);
	precise_leave(hart->cpu);
}

static void memory_fault(struct hart *hart, unsigned cause, unsigned access, uint64_t va)
{
	hart->fault.valid = true;
	hart->fault.cause = (uint8_t)cause;
	hart->fault.access = (uint8_t)access;
	hart->fault.address = va;
	if (access != TUTTI_ACCESS_EXECUTE)
		precise_sync(hart->cpu);
	hart->fault.pc = access == TUTTI_ACCESS_EXECUTE ? va : hart_pc(hart);
	hart_abandon(hart); /* or the block would go on behind a refused store */
}

void hart_fault_at(struct hart *hart, unsigned cause, unsigned access, uint64_t va, uintptr_t ra)
{
	precise_sync_at(hart->cpu, ra);
	hart->fault.valid = true;
	hart->fault.cause = (uint8_t)cause;
	hart->fault.access = (uint8_t)access;
	hart->fault.address = va;
	hart->fault.pc = hart_pc(hart);
}

static bool on_memory(uc_engine *uc, uc_mem_type type, uint64_t va, int size, int64_t value, void *data)
{
	struct hart *hart = data;
	unsigned access = TUTTI_ACCESS_READ;
	uint8_t cause;

	if (type == UC_MEM_WRITE_UNMAPPED || type == UC_MEM_WRITE_PROT)
		access = TUTTI_ACCESS_WRITE;
	else if (type == UC_MEM_FETCH_UNMAPPED || type == UC_MEM_FETCH_PROT)
		access = TUTTI_ACCESS_EXECUTE;
	if (type == UC_MEM_READ_PROT || type == UC_MEM_WRITE_PROT || type == UC_MEM_FETCH_PROT) {
		memory_fault(hart, TUTTI_CAUSE_PROTECTION, access, va);
		return false;
	}
	if (hart_touch(hart, va, access, &cause))
		return true;
	memory_fault(hart, cause, access, va);
	return false;
}

/* Deterministic mode: the clock of waves is the number of basic blocks. Energy is counted by them, too. */
static void on_block(uc_engine *uc, uint64_t va, uint32_t size, void *data)
{
	struct hart *hart = data;
	struct engine *engine = hart->engine;

	if (hart->blocks)
		energy_block(hart, va, size);
	if (engine->array->deterministic && unlikely(++engine->blocks >= engine->slice_end))
		uc_emu_stop(uc);
}

/* ---- the fiber -------------------------------------------------------- */

/* uc_emu_start() has returned: time slice over, or a fault that hooks cannot leave behind them. */
static void after_run(struct hart *hart, uc_err error)
{
	struct wave *wave = hart->current;

	if (!wave)
		return;
	if (hart->fault.valid) {
		hart->fault.valid = false;
		hart->array->host->fault(hart, hart->fault.cause, hart->fault.access, hart->fault.pc, hart->fault.address);
	} else if (error) {
		hart->array->host->fault(hart, TUTTI_CAUSE_ILLEGAL, TUTTI_ACCESS_EXECUTE, hart_pc(hart), 0);
	} else {
		hart_save(hart, wave);
		wave->spun = true;
		wave_list_put(&hart->engine->yielded, wave);
		hart->engine->switches++;
		hart->engine->slice_over = true;
		hart->current = NULL;
	}
}

static void hart_main(void *data)
{
	struct hart *hart = data;
	struct engine *engine = hart->engine;
	struct wave *wave;
	uint64_t pc;

	for (;;) {
		while (!hart->entering)
			fiber_leave();
		if (hart->refresh)
			hart_stale(hart);
		if (tlb_small(hart))
			tlb_grow(hart);
		pc = load(hart, hart->entering);
		after_run(hart, uc_emu_start(hart->uc, pc, ~0ull, 0, 0));
		if (hart->entering)
			continue;
		wave = engine->array->host->next(engine);
		if (wave && wave->hart == hart)
			hart->entering = wave;
		else
			engine->handoff = wave;
	}
}

void hart_enter(struct hart *hart, struct wave *wave)
{
	hart->entering = wave;
	atomic_enter(hart);
	ecall_take(hart->ecalls ? hart->env : NULL, on_ecall, hart, &hart->jumps);
	tutti_store_release(&hart->engine->running, hart);
	/* Here, since only what can be seen to run keeps the timer awake: before, any time may have passed. */
	if (unlikely(tutti_load_relaxed(&hart->array->timer_asleep)))
		hart->array->host->rouse(hart->array);
	fiber_enter(hart->fiber);
	ecall_leave();
	tutti_store_release(&hart->engine->running, NULL);
}

/* ---- life ------------------------------------------------------------- */

/*
 * Make atomics trap (amo.c): clear A in misa, which only a saved context lets us
 * change; it is there twice (misa and its mask).
 */
static bool no_atomics(uc_engine *uc)
{
	uc_context *context;
	uint64_t misa = 0, word;
	unsigned found = 0;
	uint8_t *bytes;

	if (uc_context_alloc(uc, &context))
		return false;
	uc_context_save(uc, context);
	uc_reg_read(uc, UC_RISCV_REG_MISA, &misa);
	bytes = (uint8_t *)context;
	for (size_t i = 16; i + 8 <= uc_context_size(uc); i += 4) {
		memcpy(&word, bytes + i, 8);
		if (word != misa)
			continue;
		word &= ~1ull;
		memcpy(bytes + i, &word, 8);
		found++;
	}
	uc_context_restore(uc, context);
	uc_context_free(context);
	return found == 2;
}

static size_t find_word(const uint8_t *bytes, size_t n, uint64_t value)
{
	uint64_t word;

	for (size_t i = 16; i + 8 <= n; i += 8) {
		memcpy(&word, bytes + i, 8);
		if (word == value)
			return i;
	}
	return 0;
}

/* Make the registers every wave starts with, and learn where x0.. and pc are in a saved context. */
static bool make_start(struct hart *hart)
{
	const uint64_t mark = 0x5afe0123456789abull;
	size_t n = uc_context_size(hart->uc);
	uint8_t *bytes;

	if (uc_context_alloc(hart->uc, &hart->start))
		return false;
	bytes = (uint8_t *)hart->start;
	for (unsigned i = 1; i < 32; i++) {
		uint64_t value = mark + i;

		uc_reg_write(hart->uc, UC_RISCV_REG_X0 + (int)i, &value);
	}
	uc_context_save(hart->uc, hart->start);
	hart->at_x = find_word(bytes, n, mark + 1) - 8;
	hart->at_pc = find_word(bytes, n, BOOT_END);
	if (hart->at_x < 16 || !hart->at_pc || find_word(bytes, n, mark + 31) != hart->at_x + 31 * 8)
		return false;
	if (hart->env && hart->env[31] != mark + 31)
		hart->env = NULL;
	/* The ecall at the end of boot() has shown itself if unicorn's functions are replaced. */
	hart->ecalls = hart->env && ecall_env() == hart->env && hart->at_pc == hart->at_x + ECALL_PC64;
	hart->start_x = (uint64_t *)(bytes + hart->at_x);
	hart->start_pc = (uint64_t *)(bytes + hart->at_pc);
	memset(hart->start_x, 0, 32 * 8);
	hart->start_x[1] = TUTTI_WAVE_ROM;
	return true;
}

/*
 * Into user mode with floating point on and its flag "inexact" set: with it unicorn
 * computes on the host's floating point unit, without it in software, because it
 * would have to find out whether to set it. (A saved context does not hold the
 * flags, so that it stays until a kernel clears it.) The ecall at the end stops it. On the
 * way it loads from a page not touched before, for precise_learn().
 */
static bool boot(struct hart *hart)
{
	uint64_t a0 = TUTTI_WAVE_INFO;
	uc_err error;

	uc_reg_write(hart->uc, UC_RISCV_REG_A0, &a0);
	precise_learn(&hart->cpu);
	hart->booting = true;
	error = uc_emu_start(hart->uc, BOOT, ~0ull, 0, 0);
	hart->booting = false;
	hart->env = precise_learn(&hart->cpu);
	return !error && hart_pc(hart) == BOOT_END && make_start(hart);
}

/* Some ways to link a program leave libunicorn with its own functions: all is done, but slowly. */
static void warn_slow(const struct hart *hart)
{
	static uint32_t said;

	if (!hart->ecalls && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		fputs("tutti: the emulated card is slow in this program, and faults name the start of a block: "
		      "libunicorn does not see the emulator's functions, because something else had loaded it before "
		      "the card\n", stderr);
}

static bool add_hooks(struct hart *hart)
{
	int memory = UC_HOOK_MEM_UNMAPPED | UC_HOOK_MEM_PROT;
	uc_engine *uc = hart->uc;
	uc_hook hook;

	return !uc_hook_add(uc, &hook, UC_HOOK_INTR, (void *)on_interrupt, hart, 1, 0) &&
	       !uc_hook_add(uc, &hook, UC_HOOK_INSN_INVALID, (void *)on_break, hart, 1, 0) &&
	       !uc_hook_add(uc, &hook, memory, (void *)on_memory, hart, 1, 0) &&
	       ((!hart->array->deterministic && !hart->array->energy) ||
		!uc_hook_add(uc, &hook, UC_HOOK_BLOCK, (void *)on_block, hart, 1, 0));
}

static bool hart_init(struct hart *hart)
{
	return !uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, &hart->uc) && !uc_ctl_exits_enable(hart->uc) &&
	       !hart_memory_init(hart) && !energy_hart_init(hart) && add_hooks(hart) &&
	       (atomic_ready() || no_atomics(hart->uc)) && boot(hart) &&
	       (hart->env || !dsmem_map(hart)) && !fiber_create(&hart->fiber, hart_main, hart, STACK_BYTES);
}

static bool more_waves(struct hart *hart)
{
	struct wave *waves;

	if (hart->chunks == sizeof(hart->all_waves) / sizeof(*hart->all_waves) ||
	    hart->infos_used + CHUNK > hart->infos_max)
		return false;
	waves = calloc(CHUNK, sizeof(*waves));
	if (!waves)
		return false;
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
	return true;
}

/* Make room: the context that has not run for longest, if none of its waves is there. */
static void evict(struct engine *engine)
{
	struct hart *oldest = NULL;

	for (struct hart *hart = engine->harts; hart; hart = hart->next)
		if (!hart->live && !tutti_load_relaxed(&hart->held) && hart != engine->running && (!oldest || hart->used < oldest->used))
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
	hart->tlb_entries = 256;
	jump_cache_clear(&hart->jumps);
	hart->next = engine->harts;
	engine->harts = hart;
	engine->hart[asid] = hart;
	engine->hart_count++;
	if (!hart_init(hart)) {
		hart_destroy(hart);
		return NULL;
	}
	warn_slow(hart);
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

void hart_destroy(struct hart *hart)
{
	struct engine *engine = hart->engine;
	struct hart **link = &engine->harts;

	while (*link != hart)
		link = &(*link)->next;
	*link = hart->next;
	engine->hart[hart->asid] = NULL;
	engine->hart_count--;
	/* The timer may be about to stop it. */
	pthread_mutex_lock(&hart->array->timer_lock);
	pthread_mutex_unlock(&hart->array->timer_lock);
	fiber_destroy(hart->fiber);
	for (uint32_t i = 0; i < hart->chunks; i++) {
		for (unsigned w = 0; w < CHUNK; w++) {
			if (hart->all_waves[i][w].context)
				uc_context_free(hart->all_waves[i][w].context);
			free(hart->all_waves[i][w].stack_saved);
			free(hart->all_waves[i][w].call);
		}
		free(hart->all_waves[i]);
	}
	if (hart->start)
		uc_context_free(hart->start);
	if (hart->uc)
		uc_close(hart->uc);
	hart_memory_fini(hart);
	energy_hart_fini(hart);
	free(hart);
}

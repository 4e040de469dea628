// SPDX-License-Identifier: MIT
/*
 * Soft core: unicorn's RV32 behind struct core_ops. It runs on a fiber of its own,
 * so that idling is a switch of stacks out of the ecall hook. Traps that unicorn
 * reports without taking them are vectored to mtvec here.
 */
#include <errno.h>
#include <stdlib.h>
#include <unicorn/unicorn.h>

#include "emulator/base/clock.h"
#include "emulator/base/garbage.h"
#include "emulator/base/local.h"
#include "emulator/base/profile.h"
#include "emulator/base/state.h"
#include "emulator/unicorn/ecall.h"
#include "emulator/unicorn/fiber.h"

#define CORE_STACK (256u << 10)
#define REGISTERS_BYTES 0x1000u
#define SLICE_INSTRUCTIONS (1u << 20)
#define NOWHERE 0xfffffffeull /* an end address that is never reached */

#define MCAUSE_FETCH 1u
#define MCAUSE_ILLEGAL 2u
#define MCAUSE_BREAK 3u
#define MCAUSE_LOAD 5u
#define MCAUSE_STORE 7u
#define MCAUSE_ECALL 11u
#define INTR_ECALL 8u
#define INSN_WFI 0x10500073u

#define MSTATUS_MIE 8u
#define MSTATUS_MPIE 0x80u
#define MSTATUS_MPP 0x1800u
#define MIE_MEIE 0x800u

struct core {
	struct tutti_card *card;
	uc_engine *uc;
	struct fiber *fiber;
	uint8_t *env;         /* unicorn's register file, once known */
	struct jump_cache jumps;
	enum core_stop stop;
	struct core_trap trap;
	uint32_t trapped;     /* the trap handler that the last trap went to */
	bool waits;           /* the core has executed wfi */
	bool dead;
	bool started;
	uint32_t injected;    /* mcause + 1 of a trap to take at the next instruction */
	uint32_t interrupted; /* run() is to come back; set by any thread */
	uint64_t fault_address;
	uint32_t fault_cause;
	uint64_t instructions;
	uint64_t slice_end;
	uint64_t latched; /* timer at the last read of TIME_LO */
	uint64_t marked;  /* instructions at the last mark's block, and the mark's pc */
	uint32_t mark_pc;
	uc_hook count_hook;
	bool counted;     /* count_hook is set */
	uint32_t block; /* start and size of the block being run, if counted */
	uint32_t block_bytes;
};

static uint32_t get(struct core *core, int reg)
{
	uint32_t value = 0;

	uc_reg_read(core->uc, reg, &value);
	return value;
}

static void set(struct core *core, int reg, uint32_t value)
{
	uc_reg_write(core->uc, reg, &value);
}

/* ---- traps ---- */

static void leave_for_good(struct core *core, enum core_stop stop)
{
	core->stop = stop;
	core->dead = true;
	for (;;)
		fiber_leave();
}

/* What the hardware does when it takes a trap: unicorn reports traps instead of taking them. */
static void take_trap(struct core *core, uint32_t cause, uint32_t epc, uint32_t tval)
{
	uint32_t status = get(core, UC_RISCV_REG_MSTATUS);

	set(core, UC_RISCV_REG_MCAUSE, cause);
	set(core, UC_RISCV_REG_MEPC, epc);
	set(core, UC_RISCV_REG_MTVAL, tval);
	set(core, UC_RISCV_REG_MSTATUS, (status & ~(MSTATUS_MIE | MSTATUS_MPIE)) | MSTATUS_MPP |
						(status & MSTATUS_MIE ? MSTATUS_MPIE : 0));
	set(core, UC_RISCV_REG_PC, get(core, UC_RISCV_REG_MTVEC) & ~3u);
}

/*
 * Enter the firmware's trap handler for a trap that it does not return from. If it traps again without another handler
 * in its place it would do so for ever, which the emulator ends at once.
 */
static void vector(struct core *core, uint32_t cause, uint32_t epc, uint32_t tval)
{
	uint32_t handler = get(core, UC_RISCV_REG_MTVEC) & ~3u;

	core->trap = (struct core_trap){ cause, epc, tval };
	if (handler == core->trapped) /* at the start that is 0, which is no handler */
		leave_for_good(core, CORE_DEAD);
	core->trapped = handler;
	take_trap(core, cause, epc, tval);
}

/* Instruction at @pc in local memory; 0 (illegal) elsewhere. */
static uint32_t fetch(struct core *core, uint32_t pc)
{
	const uint16_t *p = card_local(core->card, pc, 2, 2);

	if (!p)
		return 0;
	if ((p[0] & 3) != 3)
		return p[0];
	return card_local(core->card, pc, 4, 2) ? p[0] | (uint32_t)p[1] << 16 : 0;
}

static uint32_t length(struct core *core, uint32_t pc)
{
	return (fetch(core, pc) & 3) == 3 ? 4 : 2;
}

/* Immediate of a load or store, or -1 in @rs1 if @insn is none. */
static int32_t access_offset(uint32_t insn, int *rs1)
{
	uint32_t c = insn & 0xe003;

	*rs1 = -1;
	if ((insn & 3) == 3) {
		*rs1 = insn >> 15 & 31;
		if ((insn & 0x7f) == 0x03)
			return (int32_t)insn >> 20;
		if ((insn & 0x7f) == 0x23)
			return ((int32_t)insn >> 25) * 32 | (int32_t)(insn >> 7 & 31);
		*rs1 = -1;
	} else if (c == 0x4000 || c == 0xc000) { /* c.lw, c.sw */
		*rs1 = 8 + (insn >> 7 & 7);
		return (int32_t)((insn >> 10 & 7) << 3 | (insn >> 6 & 1) << 2 | (insn >> 5 & 1) << 6);
	} else if (c == 0x4002) { /* c.lwsp */
		*rs1 = 2;
		return (int32_t)((insn >> 12 & 1) << 5 | (insn >> 4 & 7) << 2 | (insn >> 2 & 3) << 6);
	} else if (c == 0xc002) { /* c.swsp */
		*rs1 = 2;
		return (int32_t)((insn >> 9 & 15) << 2 | (insn >> 7 & 3) << 6);
	}
	return 0;
}

/*
 * unicorn knows only where the block of a faulting access starts: the
 * instruction is the first from there whose address is the one refused.
 */
static uint32_t find_access(struct core *core, uint32_t pc, uint32_t address)
{
	uint32_t at, insn;
	unsigned i;
	int32_t offset;
	int rs1;

	for (at = pc, i = 0; i < 512; i++) {
		insn = fetch(core, at);
		if (!insn)
			break;
		offset = access_offset(insn, &rs1);
		if (rs1 >= 0 && (rs1 ? get(core, UC_RISCV_REG_X0 + rs1) : 0) + (uint32_t)offset == address)
			return at;
		at += (insn & 3) == 3 ? 4 : 2;
	}
	return pc;
}

/* Instructions of [from, to) */
static uint32_t distance(struct core *core, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (; from < to; n++)
		from += length(core, from);
	return n;
}

/* The block has been counted as a whole when it began; take back what comes behind @pc (executed or not: @done). */
static void uncount(struct core *core, uint32_t pc, bool done)
{
	uint32_t end = core->block + core->block_bytes, n;

	if (!core->counted || pc < core->block || pc >= end)
		return;
	n = distance(core, pc, end) - done;
	core->instructions -= n;
	profile_undo(core->card, core->block, n);
}

/* ---- hooks ---- */

static void take_injected(struct core *core)
{
	uint32_t cause = core->injected - 1;

	core->injected = 0;
	vector(core, cause, get(core, UC_RISCV_REG_PC), 0);
}

static void idle(void *data)
{
	struct core *core = data;

	core->stop = CORE_IDLE;
	fiber_leave();
	if (unlikely(core->injected))
		take_injected(core);
}

/* An ecall at @pc on a core without an idle unit. */
static void idle_trap(struct core *core, uint32_t pc)
{
	if (unlikely(core->injected))
		take_injected(core);
	else
		take_trap(core, MCAUSE_ECALL, pc, 0);
}

/* ecall_take() has moved the pc behind the ecall. */
static void idle_trap_taken(void *data)
{
	struct core *core = data;

	idle_trap(core, get(core, UC_RISCV_REG_PC) - 4);
}

/* The first ecall shows where the registers are; those after it need no exception (ecall.h). */
static void learn_env(struct core *core)
{
	uint8_t *env = ecall_env();

	if (env && !core->env && *(uint32_t *)(env + ECALL_PC32) == get(core, UC_RISCV_REG_PC))
		core->env = env;
}

static void on_interrupt(uc_engine *uc, uint32_t number, void *data)
{
	struct core *core = data;
	uint32_t pc;

	if (likely(number == INTR_ECALL)) {
		learn_env(core);
		if (core->card->config.idle_traps)
			idle_trap(core, get(core, UC_RISCV_REG_PC) - 4);
		else
			idle(core);
		return;
	}
	pc = get(core, UC_RISCV_REG_PC);
	if (number == MCAUSE_ILLEGAL)
		pc -= 4;
	uncount(core, pc, false);
	vector(core, number, pc, number == MCAUSE_ILLEGAL ? fetch(core, pc) : 0);
}

static bool on_unmapped(uc_engine *uc, uc_mem_type type, uint64_t address, int bytes, int64_t value, void *data)
{
	struct core *core = data;

	core->fault_address = address;
	if (type == UC_MEM_FETCH_UNMAPPED || type == UC_MEM_FETCH_PROT)
		core->fault_cause = MCAUSE_FETCH;
	else if (type == UC_MEM_WRITE_UNMAPPED || type == UC_MEM_WRITE_PROT)
		core->fault_cause = MCAUSE_STORE;
	else
		core->fault_cause = MCAUSE_LOAD;
	return false;
}

static bool on_invalid(uc_engine *uc, void *data)
{
	struct core *core = data;

	core->fault_cause = MCAUSE_BREAK;
	core->fault_address = 0;
	return false;
}

static void on_block(uc_engine *uc, uint64_t address, uint32_t bytes, void *data)
{
	struct core *core = data;

	core->block = (uint32_t)address;
	core->block_bytes = bytes;
	core->instructions += profile_block(core->card, (uint32_t)address, bytes);
	if (unlikely(core->instructions >= core->slice_end)) {
		core->stop = CORE_PREEMPTED;
		fiber_leave();
	}
}

static uint64_t on_register_read(uc_engine *uc, uint64_t offset, unsigned bytes, void *data)
{
	struct core *core = data;

	switch (offset) {
	case TUTTI_REG_TIME_LO:
		core->latched = card_time(core->card);
		return (uint32_t)core->latched;
	case TUTTI_REG_TIME_HI:
		return core->latched >> 32;
	default:
		return 0;
	}
}

static void on_register_write(uc_engine *uc, uint64_t offset, unsigned bytes, uint64_t value, void *data)
{
	struct core *core = data;
	uint64_t n;
	uint32_t pc;

	if (offset == TUTTI_REG_HALT)
		leave_for_good(core, CORE_HALTED);
	if (offset != TUTTI_REG_MARK)
		return;
	/* The count at the mark itself, not at the end of its block, which may hold several. */
	n = core->instructions;
	pc = core->marked == n && core->mark_pc ? core->mark_pc + length(core, core->mark_pc) : core->block;
	pc = find_access(core, pc, TUTTI_CORE_REGISTERS + TUTTI_REG_MARK);
	core->marked = n;
	core->mark_pc = pc;
	if (core->counted && pc >= core->block && pc < core->block + core->block_bytes)
		n -= distance(core, pc, core->block + core->block_bytes) - 1;
	profile_mark(core->card, (uint32_t)value, n);
}

/* ---- running ---- */

static void on_error(struct core *core, uc_err error)
{
	uint32_t pc = get(core, UC_RISCV_REG_PC);
	uint32_t cause = core->fault_cause, tval = (uint32_t)core->fault_address;

	core->fault_cause = 0;
	if (!cause)
		cause = error == UC_ERR_INSN_INVALID ? MCAUSE_ILLEGAL : MCAUSE_LOAD;
	if (cause == MCAUSE_LOAD || cause == MCAUSE_STORE)
		pc = find_access(core, pc, tval);
	uncount(core, pc, false);
	vector(core, cause, pc, cause == MCAUSE_BREAK ? pc : tval);
}

/* The fiber: never returns, the core is left and entered in the middle of it. */
static void core_main(void *data)
{
	struct core *core = data;
	bool preempted;
	uc_err error;

	for (;;) {
		if (core->injected)
			take_injected(core);
		error = uc_emu_start(core->uc, get(core, UC_RISCV_REG_PC), NOWHERE, 0, 0);
		if (error != UC_ERR_OK) {
			on_error(core, error);
			continue;
		}
		preempted = __atomic_exchange_n(&core->interrupted, 0, __ATOMIC_ACQ_REL);
		core->waits = !preempted && fetch(core, get(core, UC_RISCV_REG_PC) - 4) == INSN_WFI;
		if (!preempted && !core->waits)
			continue; /* a hook has set the pc */
		core->stop = core->waits ? CORE_IDLE : CORE_PREEMPTED;
		fiber_leave();
	}
}

/* How many instructions to execute before other parts of the card get a turn. */
static uint64_t slice(struct core *core)
{
	uint32_t most = core->card->deterministic ? core->card->config.slice : 0;

	return most ? 1 + card_random(core->card, most) : SLICE_INSTRUCTIONS;
}

static enum core_stop core_run(struct core *core, struct core_trap *trap)
{
	if (core->dead)
		return CORE_HALTED;
	/* run() is called because the event ring is not empty, so that mip.MEIP is set */
	if (core->waits && !(get(core, UC_RISCV_REG_MIE) & MIE_MEIE))
		return CORE_WAITS;
	core->waits = false;
	core->slice_end = core->instructions + slice(core);
	core->started = true;
	ecall_take(core->env, core->card->config.idle_traps ? idle_trap_taken : idle, core, &core->jumps);
	fiber_enter(core->fiber);
	ecall_leave();
	if (core->stop == CORE_DEAD)
		*trap = core->trap;
	return core->stop;
}

static void core_interrupt(struct core *core)
{
	pthread_mutex_lock(&core->card->core_lock);
	if (core->uc) {
		tutti_store_release(&core->interrupted, 1);
		uc_emu_stop(core->uc);
	}
	pthread_mutex_unlock(&core->card->core_lock);
}

static void core_trap(struct core *core, uint32_t cause)
{
	core->injected = cause + 1;
}

static uint32_t core_reg(struct core *core, unsigned n)
{
	if (!core->uc || !n)
		return 0;
	return get(core, n == 32 ? UC_RISCV_REG_PC : UC_RISCV_REG_X0 + (int)n);
}

static uint64_t core_instructions(struct core *core)
{
	return core->instructions;
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

static void core_off(struct core *core)
{
	/* The fiber is left somewhere inside uc_emu_start(); its stack and the engine go together. */
	if (core->uc)
		uc_close(core->uc);
	fiber_destroy(core->fiber);
	core->uc = NULL;
	core->fiber = NULL;
}

static void core_destroy(struct core *core)
{
	core_off(core);
	free(core);
}

static uc_err map_memory(struct core *core)
{
	const struct tutti_card *card = core->card;
	uint64_t card_bytes = card->discovery.memory_bytes;
	uc_err error;

	if (card_bytes > TUTTI_CORE_CARD_BYTES)
		card_bytes = TUTTI_CORE_CARD_BYTES;
	error = uc_mem_map_ptr(core->uc, TUTTI_CORE_LOCAL, core->card->discovery.local_bytes, UC_PROT_ALL, card->local);
	if (!error)
		error = uc_mem_map_ptr(core->uc, TUTTI_CORE_ENGINES, TUTTI_PAGE_SIZE, UC_PROT_READ | UC_PROT_WRITE,
				       card->page);
	if (!error)
		error = uc_mmio_map(core->uc, TUTTI_CORE_REGISTERS, REGISTERS_BYTES, on_register_read, core,
				    on_register_write, core);
	if (!error)
		error = uc_mem_map_ptr(core->uc, TUTTI_CORE_SMS, card_sm_bytes(card), UC_PROT_READ, card->sm_states);
	if (!error)
		error = uc_mem_map_ptr(core->uc, TUTTI_CORE_CONTROL, card->discovery.doorbells.offset,
				       UC_PROT_READ | UC_PROT_WRITE, card->bar);
	if (!error)
		error = uc_mem_map_ptr(core->uc, TUTTI_CORE_CARD, card_bytes, UC_PROT_READ | UC_PROT_WRITE,
				       card->memory);
	return error;
}

/* unicorn's hook functions have different types behind one void pointer. */
static uc_err hook(struct core *core, int kind, void *fn)
{
	uc_hook handle;

	return uc_hook_add(core->uc, &handle, kind, fn, core, (uint64_t)1, (uint64_t)0);
}

static uc_err add_hooks(struct core *core)
{
	uc_err error = hook(core, UC_HOOK_INTR, (void *)on_interrupt);

	if (!error)
		error = hook(core, UC_HOOK_MEM_UNMAPPED | UC_HOOK_MEM_PROT, (void *)on_unmapped);
	if (!error)
		error = hook(core, UC_HOOK_INSN_INVALID, (void *)on_invalid);
	return error;
}

static void core_count(struct core *core, bool on)
{
	if (!core->uc || on == core->counted)
		return;
	if (!on)
		uc_hook_del(core->uc, core->count_hook);
	else if (uc_hook_add(core->uc, &core->count_hook, UC_HOOK_BLOCK, (void *)on_block, core, (uint64_t)1, (uint64_t)0))
		return;
	core->counted = on;
	/*
	 * Blocks call the hook only if it was there when they were translated. Left in
	 * an idle ecall the core is in none of them, so they can be thrown away.
	 */
	jump_cache_clear(&core->jumps);
	if (core->started && core->stop == CORE_IDLE)
		uc_ctl_remove_cache(core->uc, TUTTI_CORE_LOCAL, TUTTI_CORE_LOCAL + core->card->discovery.local_bytes);
}

static int core_reset(struct core *core, uint32_t entry)
{
	uc_err error;

	/* core_interrupt() must not meet an engine that is just being closed. */
	pthread_mutex_lock(&core->card->core_lock);
	core_off(core);
	*core = (struct core){ .card = core->card, .dead = true };
	error = uc_open(UC_ARCH_RISCV, UC_MODE_RISCV32, &core->uc);
	pthread_mutex_unlock(&core->card->core_lock);
	if (error)
		return -ENOMEM;
	jump_cache_clear(&core->jumps);
	if (map_memory(core) || add_hooks(core) || fiber_create(&core->fiber, core_main, core, CORE_STACK)) {
		return -ENOMEM;
	}
	core->dead = false;
	core_count(core, core->card->counting);
	set(core, UC_RISCV_REG_PC, entry);
	return 0;
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

/* SPDX-License-Identifier: MIT */
/**
 * DOC: A RISC-V processor in portable C
 *
 * struct cpu is one processor: RV32IMC with the machine's CSRs (the card's soft core) or RV64IMAFDC in user
 * mode (a hart that runs waves). It executes on behalf of a struct cpu_regs, so that an embedder with many
 * waves changes between them by passing another one. All memory is reached through struct cpu_bus.
 *
 * One thread at a time runs a processor. cpu_interrupt(), cpu_invalidate() and cpu_invalidate_pending() may
 * be called by any thread, also from the functions of the bus; everything else by the thread that runs it,
 * between runs.
 *
 * Loads and stores may be misaligned; atomics must be aligned. An aligned access is one access of the host,
 * an atomic is one of C11's, so that processors and host threads that share memory see each other as harts
 * do.
 */
#ifndef CPU_CPU_H
#define CPU_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_SINK 32 /* writes to x0 go to this register number, which nothing reads */

/**
 * struct cpu_regs - what belongs to a wave.
 * @x: integer registers; x[0] stays 0; of an RV32 processor the lower halves, the upper ones 0
 * @f: floating-point registers, single precision NaN-boxed
 * @pc: next instruction
 * @fflags, @frm: as in fcsr
 * @reserved_bytes: size of the reservation of the newest LR, 0 = none
 */
struct cpu_regs {
	uint64_t x[33];
	uint64_t f[32];
	uint64_t pc;
	uint8_t fflags;
	uint8_t frm;
	uint8_t reserved_bytes;
	uint64_t reserved_va;
	uint64_t reserved_value;
};

#define CPU_NX 1u /* bits of fflags: inexact, underflow, overflow, division by zero, invalid */
#define CPU_UF 2u
#define CPU_OF 4u
#define CPU_DZ 8u
#define CPU_NV 16u

enum cpu_access {
	CPU_LOAD,
	CPU_STORE,
	CPU_FETCH,
	CPU_ATOMIC, /* load and store in one; also LR and SC */
};

#define CPU_MAY_LOAD  1u /* rights of a span; atomics need the first two */
#define CPU_MAY_STORE 2u
#define CPU_MAY_FETCH 4u

/**
 * struct cpu_span - a piece of memory that is alike.
 * @first, @bytes: its addresses; only what may be executed has to begin and end with a page of 4 KiB
 * @host: where it is, NULL = each access is a call of the bus's load or store
 * @rights: CPU_MAY_*
 * @once: good for this access only, must not be remembered
 */
struct cpu_span {
	uint64_t first;
	uint64_t bytes;
	uint8_t *host;
	uint8_t rights;
	bool once;
};

/**
 * struct cpu_bus - how a processor reaches memory. Called by the thread that runs it; regs->pc and
 * cpu->instructions are those of the instruction that makes the access, which does not count itself.
 * @span: find the span that holds @va. It is filled with zeroes before. The rights it gives are checked by
 *the processor. Return: 0, or the embedder's reason why there is none, which becomes the fault's @reason.
 * @load, @store: access spans without @host. Return: 0 or a reason.
 */
struct cpu_bus {
	int (*span)(void *user, uint64_t va, enum cpu_access access, struct cpu_span *span);
	int (*load)(void *user, uint64_t va, unsigned bytes, uint64_t *value);
	int (*store)(void *user, uint64_t va, unsigned bytes, uint64_t value);
};

enum cpu_stop {
	CPU_STOP_SLICE,	    /* the instructions asked for have been executed */
	CPU_STOP_INTERRUPT, /* cpu_interrupt() */
	CPU_STOP_ECALL,	    /* an ecall: it counts, pc is behind it */
	CPU_STOP_WFI,	    /* a wfi: likewise */
	CPU_STOP_FAULT, /* see cpu->fault; pc is the instruction, which does not count and has changed nothing
			 */
	CPU_STOP_BREAKPOINT, /* pc is the breakpoint, its instruction not executed */
};

enum cpu_fault_kind {
	CPU_FAULT_ILLEGAL = 1, /* instruction in @value */
	CPU_FAULT_EBREAK,
	CPU_FAULT_MISALIGNED, /* an atomic */
	CPU_FAULT_RIGHTS,     /* the span forbids it */
	CPU_FAULT_MEMORY,     /* refused by the bus with @reason, or an atomic on a span without memory */
};

/**
 * struct cpu_fault - why a processor stopped with CPU_STOP_FAULT.
 * @address: the first byte that could not be accessed; of kinds other than memory's the pc
 */
struct cpu_fault {
	enum cpu_fault_kind kind;
	enum cpu_access access;
	int reason;
	uint32_t value;
	uint64_t pc;
	uint64_t address;
};

/** struct cpu_machine - the CSRs of machine mode (RV32 only). */
struct cpu_machine {
	uint32_t mstatus, mie, mip, mtvec, mscratch, mepc, mcause, mtval, mhartid;
};

struct cpu;

/**
 * struct cpu_function - counts of one function of the program: how often its first instruction was executed, and all.
 * @cycles, @multiplications, @divisions: only with cpu_cost()
 */
struct cpu_function {
	uint64_t calls;
	uint64_t instructions;
	uint64_t cycles;
	uint64_t multiplications, divisions;
};

#define CPU_COST_REGIONS 4

/**
 * struct cpu_cost - cycles of instructions on a pipelined core that executes one after the other.
 * @load: a load from memory that is in no region; the store to it takes one cycle, as does everything not named here
 * @taken: a taken branch, or a jump
 * @multiplication, @division: these
 * @region: memory behind a bus: loads from it and stores to it
 */
struct cpu_cost {
	uint32_t load, taken, multiplication, division;
	struct {
		uint64_t first, bytes;
		uint32_t cycles;
	} region[CPU_COST_REGIONS];
};

/**
 * struct cpu_config - what a processor is made of.
 * @xlen: 32 or 64
 * @flat, @flat_bytes: memory from address 0 on, all rights, reached without asking the bus (NULL = none)
 */
struct cpu_config {
	unsigned xlen;
	const struct cpu_bus *bus;
	void *user;
	uint8_t *flat;
	uint64_t flat_bytes;
};

/** cpu_create() - make a processor. Return: 0 or -ENOMEM. */
int cpu_create(const struct cpu_config *config, struct cpu **cpu);
void cpu_destroy(struct cpu *cpu);

/**
 * cpu_run() - execute for @regs until something stops it.
 * @instructions: most to execute, exact; ~0 = no limit
 */
enum cpu_stop cpu_run(struct cpu *cpu, struct cpu_regs *regs, uint64_t instructions);

/**
 * cpu_enter() - the calling thread will run @cpu by cpu_run_entered(), which is cpu_run() without setting how the host
 * rounds and without a barrier; that spares a fifth of a short run. Until cpu_leave() @cpu counts as running, and the
 * thread's floating-point mode is that in which C programs start.
 * Return: for cpu_leave(), by the same thread.
 */
uint32_t cpu_enter(struct cpu *cpu);
void cpu_leave(struct cpu *cpu, uint32_t kept);
enum cpu_stop cpu_run_entered(struct cpu *cpu, struct cpu_regs *regs, uint64_t instructions);

/** cpu_fault() - why the newest run ended with CPU_STOP_FAULT. */
const struct cpu_fault *cpu_fault(const struct cpu *cpu);
/** cpu_instructions() - executed since the processor was made. */
uint64_t cpu_instructions(const struct cpu *cpu);
/** cpu_machine() - the machine's CSRs. cpu_trap() - enter the handler at mtvec as hardware does. @regs->pc
 * becomes mepc. */
struct cpu_machine *cpu_machine(struct cpu *cpu);
void cpu_trap(struct cpu *cpu, struct cpu_regs *regs, uint32_t cause, uint32_t value);

/**
 * cpu_interrupt() - end the present run, or the next one if there is none, as soon as the instruction that is
 * being executed is done (called by the bus) or the straight run of code is (called by another thread).
 */
void cpu_interrupt(struct cpu *cpu);

/**
 * cpu_invalidate() - what is remembered of [@first, @first + @bytes) is not true any more; @bytes 0 = of all
 * memory.
 * @code: decoded instructions too
 * Without @code spans are forgotten (and code of pages whose right to be executed may have changed is kept).
 * A run of another thread goes on using what it remembers until cpu_invalidate_pending() is false.
 */
void cpu_invalidate(struct cpu *cpu, uint64_t first, uint64_t bytes, bool code);
bool cpu_invalidate_pending(struct cpu *cpu);
/**
 * cpu_forget_spans() - forget at once the spans that lie in the window [@first, @first + @bytes), all if @bytes is 0.
 * For an embedder with a window that looks different to the next wave; no span may reach out of such a window.
 * Takes about a nanosecond for each page of it.
 */
void cpu_forget_spans(struct cpu *cpu, uint64_t first, uint64_t bytes);

/** cpu_breakpoint() - set or clear a breakpoint at @pc. A run that starts there does not stop at it. Return: 0 or
 * -ENOMEM. */
int cpu_breakpoint(struct cpu *cpu, uint64_t pc, bool set);

/**
 * cpu_count() - count instructions by function from now on.
 * @owner: per halfword from @first on: index in @functions + 1, 0 = no function; NULL = stop counting
 * @starts: per function: address of its first instruction
 * Both stay the embedder's and must outlive the counting.
 */
void cpu_count(struct cpu *cpu, uint64_t first, uint32_t halves, const uint16_t *owner,
	       const uint64_t *starts, struct cpu_function *functions);
/** cpu_cost() - while instructions are counted by function, count their cycles, too. @cost: kept; NULL = no more */
void cpu_cost(struct cpu *cpu, const struct cpu_cost *cost);

/**
 * cpu_stub() - at @va lies `li a7, @service; ecall`, by which programs of an RV64 processor mostly end. Translated code that
 * goes there has them executed at once, without their being fetched; interpreted code fetches and executes them as usual.
 */
void cpu_stub(struct cpu *cpu, uint64_t va, uint64_t service);

struct cpu_translation;
/**
 * cpu_translate() - execute code translated ahead of time where there is some (NULL = interpret all).
 * Return: 0, or -EINVAL if the translation is not for such a processor. The embedder vouches that
 * it was made from the code that is in memory.
 */
int cpu_translate(struct cpu *cpu, const struct cpu_translation *translation);
/**
 * cpu_attach() - the code at @at is what @translation was made from, until it is invalidated. May be called by the functions
 * of the bus, too. @translation must outlive the processor. Return: 0, -EINVAL or -ENOMEM.
 */
int cpu_attach(struct cpu *cpu, uint64_t at, const struct cpu_translation *translation);
/** cpu_is_attached() - translated code stands for address @va. */
bool cpu_is_attached(const struct cpu *cpu, uint64_t va);

#endif

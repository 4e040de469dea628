/* SPDX-License-Identifier: MIT */
/**
 * DOC: Inside of a processor
 *
 *   decode.c, decode_short.c   instructions to struct cpu_insn
 *   code.c                     pages of decoded instructions
 *   interpret.h                the interpreter, compiled for each width by interpret32.c and interpret64.c
 *   memory.c                   spans, accesses that leave the fast path, atomics
 *   csr.c                      control and status registers, traps
 *   float.c                    floating-point instructions off the fast path
 *   softfloat.c                IEEE 754 arithmetic in integers: exact in every rounding mode
 *   cpu.c                      life, runs, interrupts, breakpoints
 *   translation.c              running code that was translated ahead of time (by translate/)
 */
#ifndef CPU_MACHINE_H
#define CPU_MACHINE_H

#include "cpu.h"
#include "insn.h"

#define cpu_likely(x)   __builtin_expect(!!(x), 1)
#define cpu_unlikely(x) __builtin_expect(!!(x), 0)

#define CPU_PAGE       4096u
#define CPU_PAGE_SLOTS (CPU_PAGE / 2)
#define CPU_PAGES      256u  /* of the table of decoded pages */
#define CPU_TLB        1024u /* remembered spans, by page */

/*
 * One decoded instruction in the slot of its first halfword. @left counts the instructions from here to the end of the
 * page if none jumps; the difference of two of them is the number executed between them, so that only
 * taken branches count anything. @code is 2 * op + (two bytes long ? 0 : 1), or one of CPU_CODE_*.
 */
struct cpu_op {
	uint16_t code;
	uint16_t left;
	uint8_t rd, rs1, rs2, rs3;
	int32_t imm;   /* of branches inside of the page: distance in slots */
	int16_t count; /* of those: what their being taken adds to the count */
	uint8_t rm;
	uint8_t pad;
};
_Static_assert(sizeof(struct cpu_op) == 16, "four of them fill a cache line");

enum {
	CPU_CODE_UNDECODED = 2 * CPU_OPS,
	CPU_CODE_END,         /* behind the last slot */
	CPU_CODE_JAL_FAR,     /* to another page */
	CPU_CODE_BRANCH_FAR,  /* @rs3 is the index of the condition: see code.c */
	CPU_CODE_BREAKPOINT,
	CPU_CODE_FETCH_FAULT, /* an instruction on two pages, the second of which must not be executed */
	CPU_CODES,
};

struct cpu_page {
	uint64_t va;
	struct cpu_page *next; /* of the same place in the table */
	uint16_t half[CPU_PAGE_SLOTS];
	struct cpu_op op[CPU_PAGE_SLOTS + 2];
};

/* A remembered span. @load, @store: how many addresses from @first on may be accessed with up to eight bytes. */
struct cpu_near {
	uint64_t first;
	uint64_t load;
	uint64_t store;
	uintptr_t delta; /* host address less the guest's */
};

struct cpu_tlb {
	uint64_t page; /* number + 1, 0 = empty */
	struct cpu_near near;
};

struct cpu_pending;

/**
 * struct cpu_attached - translated code at its place.
 * @at, @bytes: addresses that it stands for
 * @bias: what to add to the translation's addresses
 * @vouched: by the embedder, so that it stays whatever is invalidated
 * @entry_at: per halfword: number of the function that can be entered there, plus 1
 */
struct cpu_attached {
	uint64_t at, bytes;
	uint64_t bias;
	const struct cpu_translation *translation;
	const uint32_t *margin;
	uint32_t *entry_at;
	bool vouched;
};

/* Bytes of an access, its base register, and bytes of the instruction */
#define CPU_WHAT(bytes, base, insn) ((bytes) | (base) << 8 | (insn) << 16)

/**
 * struct cpu_help - what translated code calls. It finds these functions here, since code that has been loaded at run time
 * sees no others.
 * @load_far, @store_far: an access that is not to remembered memory, by the instruction at @pc, which is number @count;
 * @what is CPU_WHAT(). Return: 0, or where to go on now: the run is to end, or CPU_OUT_FAULT. cpu->loaded is what was loaded.
 * @real: the result of floating-point instruction @code % 65536 with rounding mode @code / 65536 and operands @a, @b, @d,
 * which are the contents of registers
 * @forget_flags: clear the host's floating-point flags; cpu_leave() sets those that the thread had
 * @remembered: the memory around @va, if it is remembered for any register. Return: false if it is not
 */
struct cpu_help {
	uint64_t (*load_far)(struct cpu *cpu, uint64_t va, uint64_t pc, uint64_t count, unsigned what);
	uint64_t (*store_far)(struct cpu *cpu, uint64_t va, uint64_t pc, uint64_t count, unsigned what, uint64_t value);
	bool (*atomic)(struct cpu *cpu, unsigned op, unsigned rd, uint64_t va, uint64_t value);
	uint64_t (*real)(struct cpu *cpu, unsigned code, uint64_t a, uint64_t b, uint64_t d);
	float (*fused_single)(float a, float b, float d);
	double (*fused_double)(double a, double b, double d);
	bool (*remembered)(const struct cpu *cpu, uint64_t va, struct cpu_near *near);
	void (*forget_flags)(void);
};

/* Flags of the host's floating-point unit: invalid, division by zero, overflow, underflow */
#if defined(__x86_64__)
#define CPU_HOST_FLAGS 0x1du
#elif defined(__aarch64__)
#define CPU_HOST_FLAGS 0x0fu
#endif

#define CPU_STUB_BYTES 8u

#define CPU_ATTEND_STOP       1u
#define CPU_ATTEND_INVALIDATE 2u
#define CPU_ATTEND_ATTACH     4u

/**
 * struct cpu - a processor.
 * @limit: count at which taken branches stop to be free: that of the run's end, or 0 to make it look at @attention
 * @end: count at which the run ends
 * @near: span remembered for each base register; @near_used: which of them
 * @fast: per rounding mode field: the host's arithmetic gives the result (see float.c); @mode: from what that follows
 * @host_flags: the host's floating-point flags can be relied on (cpu_float_flags())
 * @bias: of the translated code that runs; @loaded: what its access outside of remembered memory has loaded
 * @stub, @stub_service: see cpu_stub(); an odd address if there is none
 * @attached: translated code; @present: the last one used; NULL if there is none
 */
struct cpu {
	uint64_t instructions;
	uint64_t limit;
	uint64_t end;
	uint32_t attention;
	uint8_t fast[8];
	bool host_flags;
	uint16_t mode;
	uint8_t *flat;
	uint64_t flat_top; /* addresses below it are good for eight bytes */
	struct cpu_regs *regs;
	const struct cpu_help *help;
	uint64_t bias;
	uint64_t loaded;
	struct cpu_near near[32];
	uint32_t near_used;
	bool running;
	unsigned xlen;
	const struct cpu_bus *bus;
	void *user;
	uint64_t flat_bytes;
	uint64_t stub, stub_service;
	struct cpu_attached *present;
	struct cpu_attached *attached;
	unsigned attachments;
	struct cpu_fault fault;
	struct cpu_machine machine;
	struct cpu_page *pages[CPU_PAGES];
	struct cpu_tlb tlb[CPU_TLB];
	bool tlb_used;
	uint64_t *breakpoints; /* sorted */
	size_t breakpoint_count;
	/* counts by function */
	uint64_t count_first;
	uint32_t count_halves;
	const uint16_t *count_owner;
	const uint64_t *count_starts;
	struct cpu_function *functions;
	const struct cpu_cost *cost;
	struct cpu_function *branched; /* the instruction before was a branch of this function */
	uint64_t branch_next;          /* and this is where the code goes on if it was not taken */
	struct cpu_pending *pending;
};

/* ---- cpu.c ---- */

/** cpu_attend() - make the run look at @what (CPU_ATTEND_*) soon. */
void cpu_attend(struct cpu *cpu, uint32_t what);

/* ---- code.c ---- */

/** cpu_page() - decoded page of @pc, NULL and cpu->fault if it cannot be executed. */
struct cpu_page *cpu_page(struct cpu *cpu, uint64_t pc);
/** cpu_page_decode() - fill an undecoded slot. */
void cpu_page_decode(struct cpu *cpu, struct cpu_page *page, struct cpu_op *op);
/** cpu_fetch() - the instruction at @pc. Return: false and cpu->fault if it cannot be executed. */
bool cpu_fetch(struct cpu *cpu, uint64_t pc, uint32_t *raw);
/** cpu_drop_code() - forget the instructions decoded from [first, end). */
void cpu_drop_code(struct cpu *cpu, uint64_t first, uint64_t end);
/** cpu_breakpoint_at() - one is set at @pc. */
bool cpu_breakpoint_at(const struct cpu *cpu, uint64_t pc);

static inline struct cpu_page *cpu_page_known(struct cpu *cpu, uint64_t pc)
{
	struct cpu_page *page = cpu->pages[pc / CPU_PAGE % CPU_PAGES];

	return cpu_likely(page && page->va == (pc & ~(uint64_t)(CPU_PAGE - 1))) ? page : cpu_page(cpu, pc);
}

/* ---- memory.c ---- */

/** cpu_load(), cpu_store() - any access, remembering its span for base register @base. Return: false and cpu->fault. */
bool cpu_load(struct cpu *cpu, uint64_t va, unsigned bytes, unsigned base, uint64_t *value);
bool cpu_store(struct cpu *cpu, uint64_t va, unsigned bytes, unsigned base, uint64_t value);
/** cpu_atomic() - execute atomic instruction @op. */
bool cpu_atomic(struct cpu *cpu, unsigned op, unsigned rd, uint64_t va, uint64_t value);
/** cpu_remembered() - see struct cpu_help. */
bool cpu_remembered(const struct cpu *cpu, uint64_t va, struct cpu_near *near);
void cpu_drop_spans(struct cpu *cpu, uint64_t first, uint64_t end);
bool cpu_refuse(struct cpu *cpu, enum cpu_fault_kind kind, enum cpu_access access, uint64_t address, int reason);
/** cpu_fence() - @sets: predecessors and successors as in the instruction. */
static inline void cpu_fence(unsigned sets)
{
	/* Only a store before a load costs a barrier on hosts that keep the order of stores. */
	if ((sets & 0x50) && (sets & 0x0a))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_thread_fence(__ATOMIC_ACQ_REL);
}

/* Accesses of the host that are one instruction whether aligned or not. */
typedef uint16_t __attribute__((aligned(1), may_alias)) cpu_u16;
typedef uint32_t __attribute__((aligned(1), may_alias)) cpu_u32;
typedef uint64_t __attribute__((aligned(1), may_alias)) cpu_u64;
typedef uint8_t cpu_u8;
typedef float __attribute__((aligned(1), may_alias)) cpu_f32;
typedef double __attribute__((aligned(1), may_alias)) cpu_f64;

/* ---- csr.c ---- */

/** cpu_csr() - execute a CSR instruction. @operand: x[rs1] or the immediate. Return: false if it is illegal. */
bool cpu_csr(struct cpu *cpu, const struct cpu_op *op, unsigned name, uint64_t operand);
void cpu_mret(struct cpu *cpu);

/* ---- float.c ---- */

/** cpu_float_mode() - what follows from fcsr; after each change of it. cpu_float_renew() - the same if it has changed. */
void cpu_float_mode(struct cpu *cpu);
static inline uint16_t cpu_mode_of(const struct cpu_regs *regs)
{
	return (uint16_t)((regs->fflags & CPU_NX) | regs->frm << 8);
}
static inline void cpu_float_renew(struct cpu *cpu)
{
	if (cpu_unlikely(cpu->mode != cpu_mode_of(cpu->regs)))
		cpu_float_mode(cpu);
}
/** cpu_float() - execute a floating-point instruction exactly. Return: false if it is illegal. */
bool cpu_float(struct cpu *cpu, const struct cpu_op *op, unsigned name);
/** cpu_float_value() - see struct cpu_help. */
uint64_t cpu_float_value(struct cpu *cpu, unsigned code, uint64_t a, uint64_t b, uint64_t d);
/** cpu_float_enter() - make the host round to nearest and keep subnormals, and clear its flags. Return: for cpu_float_leave(). */
uint32_t cpu_float_enter(void);
void cpu_float_leave(uint32_t kept);
/** cpu_float_flags() - whether the host sets its floating-point flags. An emulated processor may not. */
bool cpu_float_flags(void);
/** cpu_float_forget() - forget_flags() of struct cpu_help. */
void cpu_float_forget(void);
extern const struct cpu_help cpu_help;

/* ---- interpret.h ---- */

enum cpu_stop cpu_interpret32(struct cpu *cpu, struct cpu_regs *regs);
enum cpu_stop cpu_interpret64(struct cpu *cpu, struct cpu_regs *regs);
/** cpu_count_one() - the instruction @op at @pc is about to be executed. */
void cpu_count_one(struct cpu *cpu, const struct cpu_op *op, uint64_t pc);

#endif

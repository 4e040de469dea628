/* SPDX-License-Identifier: MIT */
/*
 * The interpreter. XLEN is 32 or 64. Each instruction's code ends by jumping to that of the next one, through a
 * table: the usual one, or one that leads to "careful" whatever the instruction is. Careful looks before each
 * instruction whether to stop, and counts by function; it is entered where a taken branch finds that the
 * limit could be reached before the next one.
 *
 * "base" is the count that the end of the page would have if all instructions up to there were executed.
 */
#if XLEN == 32
typedef uint32_t ux;
typedef int32_t sx;
typedef uint64_t ux2;
typedef int64_t sx2;
#define INTERPRET cpu_interpret32
#define SHIFT 31
#else
typedef uint64_t ux;
typedef int64_t sx;
typedef unsigned __int128 ux2;
typedef __int128 sx2;
#define INTERPRET cpu_interpret64
#define SHIFT 63
#endif

#define X(n)     ((ux)x[n])
#define IMM      ((ux)(sx)op->imm)
#define SET(v)   (x[op->rd] = (ux)(v))
#define WORD(v)  ((ux)(sx)(int32_t)(uint32_t)(v))
#define COUNT    (base - op->left)
#define PC       ((ux)(page->va + (uint64_t)(op - page->op) * 2))
#define DISPATCH goto *table[op->code]
#define NEXT                    \
	do {                    \
		op += LENGTH;   \
		DISPATCH;       \
	} while (0)
#define SYNC                                     \
	do {                                     \
		regs->pc = PC;                   \
		cpu->instructions = COUNT;       \
	} while (0)
/* The bus may have asked to stop. */
#define SETTLE                                                                          \
	do {                                                                            \
		if (cpu_unlikely(!__atomic_load_n(&cpu->limit, __ATOMIC_RELAXED)))      \
			table = careful_table;                                          \
	} while (0)
#define CHECK                                                                                 \
	do {                                                                                  \
		if (cpu_unlikely(base > __atomic_load_n(&cpu->limit, __ATOMIC_RELAXED)))      \
			table = careful_table;                                                \
	} while (0)
#define TAKE_IF(condition)                 \
	do {                               \
		if (condition) {           \
			base += (int64_t)op->count; \
			op += op->imm;     \
			CHECK;             \
			DISPATCH;          \
		}                          \
		NEXT;                      \
	} while (0)
/* Leave with pc behind the instruction, which counts. */
#define LEAVE(stop)                               \
	do {                                      \
		regs->pc = (ux)(PC + 2 * LENGTH); \
		cpu->instructions = COUNT + 1;    \
		return stop;                      \
	} while (0)

#if XLEN == 32
#define REACH(limit) (cpu_likely(va < cpu->flat_top) ? cpu->flat + va : NULL)
#else
#define REACH(limit) \
	(cpu_likely(va - cpu->near[op->rs1].first < cpu->near[op->rs1].limit) ? (uint8_t *)(va + cpu->near[op->rs1].delta) : NULL)
#endif

#define LOAD(type, convert, set)                                                          \
	do {                                                                              \
		ux va = X(op->rs1) + IMM;                                                 \
		const uint8_t *host = REACH(load);                                        \
		if (cpu_likely(host)) {                                                   \
			set(convert(*(const volatile cpu_##type *)host));                 \
			NEXT;                                                             \
		}                                                                         \
		SYNC;                                                                     \
		if (!cpu_load(cpu, va, sizeof(cpu_##type), op->rs1, &value))              \
			return CPU_STOP_FAULT;                                            \
		set(convert((cpu_##type)value));                                          \
		SETTLE;                                                                   \
		NEXT;                                                                     \
	} while (0)
#define STORE(type, what)                                                                 \
	do {                                                                              \
		ux va = X(op->rs1) + IMM;                                                 \
		uint8_t *host = REACH(store);                                             \
		if (cpu_likely(host)) {                                                   \
			*(volatile cpu_##type *)host = (cpu_##type)(what);                \
			NEXT;                                                             \
		}                                                                         \
		SYNC;                                                                     \
		if (!cpu_store(cpu, va, sizeof(cpu_##type), op->rs1, (cpu_##type)(what))) \
			return CPU_STOP_FAULT;                                            \
		SETTLE;                                                                   \
		NEXT;                                                                     \
	} while (0)

#define CASE(name)              CASE_(name, LENGTH)
#define CASE_(name, length)     CASE__(name, length)
#define CASE__(name, length)    name##_##length:

enum cpu_stop INTERPRET(struct cpu *cpu, struct cpu_regs *regs)
{
#define ENTRY_SHORT(name, operands) [2 * CPU_##name] = &&name##_1, [2 * CPU_##name + 1] = &&name##_2,
#define ENTRY(name, operands) [2 * CPU_##name + 1] = &&name##_2,
	static const void *const usual_table[CPU_CODES] = {
		CPU_INSNS_SHORT(ENTRY_SHORT)
		CPU_INSNS_INTEGER(ENTRY)
#if XLEN == 64
		CPU_INSNS_ATOMIC(ENTRY)
		CPU_INSNS_FLOAT(ENTRY)
#endif
		[CPU_CODE_UNDECODED] = &&undecoded,
		[CPU_CODE_END] = &&end,
		[CPU_CODE_JAL_FAR] = &&jal_far,
		[CPU_CODE_BRANCH_FAR] = &&branch_far,
		[CPU_CODE_BREAKPOINT] = &&breakpoint,
		[CPU_CODE_FETCH_FAULT] = &&fetch_fault,
	};
	static const void *const careful_table[CPU_CODES] = { [0 ... CPU_CODES - 1] = &&careful };
	/* Where there is translated code, it is looked for after each instruction that is not. */
	const bool seeks = XLEN == 64 && cpu_is_attached(cpu, regs->pc) && !cpu->count_owner && !cpu->breakpoint_count;
	const void *const *table = cpu->count_owner || seeks ? careful_table : usual_table;
	uint64_t *const x = regs->x;
	struct cpu_page *page = NULL;
	struct cpu_op *op;
	uint64_t base, n = cpu->instructions, started = n, value;
	uint32_t raw, number;
	ux pc = (ux)regs->pc;

	/* On to @pc with count @n, or back to translated code. */
jump:
	if (cpu->present && page && cpu_translated_room(cpu, pc, n, &number) && !cpu->count_owner && !cpu->breakpoint_count) {
		regs->pc = pc;
		cpu->instructions = n;
		return CPU_STOP_INTERRUPT;
	}
	if (cpu_unlikely(!page || (pc ^ page->va) >= CPU_PAGE)) {
		regs->pc = pc;
		cpu->instructions = n;
		page = cpu_page_known(cpu, pc);
		if (cpu_unlikely(!page))
			return CPU_STOP_FAULT;
	}
	op = &page->op[(pc & (CPU_PAGE - 1)) / 2];
	base = n + op->left;
	CHECK;
	DISPATCH;

careful:
	if (__atomic_load_n(&cpu->attention, __ATOMIC_RELAXED) || COUNT >= cpu->end) {
		SYNC;
		return COUNT >= cpu->end && !cpu->attention ? CPU_STOP_SLICE : CPU_STOP_INTERRUPT;
	}
	if (seeks && COUNT != started && cpu_translated_room(cpu, PC, COUNT, &number)) {
		SYNC;
		return CPU_STOP_INTERRUPT;
	}
	if (cpu->count_owner && (op->code < CPU_CODE_UNDECODED || op->code == CPU_CODE_JAL_FAR ||
				 op->code == CPU_CODE_BRANCH_FAR))
		cpu_count_one(cpu, op, PC);
	goto *usual_table[op->code];

undecoded:
	SYNC;
	cpu_page_decode(cpu, page, op);
	if (cpu_unlikely(op->code == CPU_CODE_UNDECODED))
		return CPU_STOP_FAULT;
	DISPATCH;

end:
	pc = PC;
	n = base;
	goto jump;

breakpoint:
	SYNC;
	return CPU_STOP_BREAKPOINT;

fetch_fault:
	SYNC;
	if (cpu_fetch(cpu, PC, &raw))
		cpu_refuse(cpu, CPU_FAULT_MEMORY, CPU_FETCH, PC, 0);
	return CPU_STOP_FAULT;

illegal:
	SYNC;
	cpu_refuse(cpu, CPU_FAULT_ILLEGAL, CPU_FETCH, PC, 0);
	if (cpu_fetch(cpu, PC, &raw))
		cpu->fault.value = raw;
	return CPU_STOP_FAULT;

jal_far:
	SET(PC + op->rm);
	pc = PC + IMM;
	n = COUNT + 1;
	goto jump;

branch_far:
	{
		const bool taken[] = { X(op->rs1) == X(op->rs2),	 X(op->rs1) != X(op->rs2),
				       (sx)X(op->rs1) < (sx)X(op->rs2),	 (sx)X(op->rs1) >= (sx)X(op->rs2),
				       X(op->rs1) < X(op->rs2),		 X(op->rs1) >= X(op->rs2) };

		if (!taken[op->rs3]) {
			op += op->rm / 2;
			DISPATCH;
		}
		pc = PC + IMM;
		n = COUNT + 1;
		goto jump;
	}

#define LENGTH 1
#include "interpret_short.h"
#undef LENGTH
#define LENGTH 2
#include "interpret_short.h"
#include "interpret_integer.h"
#if XLEN == 64
#include "interpret_float.h"
#endif
#undef LENGTH
}

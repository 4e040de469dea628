/* SPDX-License-Identifier: MIT */
/**
 * DOC: The translator's view of a program
 *
 *   elf.c       code and functions of an ELF file
 *   bare.c      functions of code that comes without symbols
 *   program.c   functions and their instructions
 *   flow.c      where control goes; which registers are in local variables, and which of them have to be
 *   single.c    which floating-point registers hold single-precision numbers
 *   chunk.c     loops whose rounds can be done many at a time after one look
 *   emit.c      C text of one function
 *   emit_chunk.c  C text of such a loop
 *   real.c      C text of floating-point instructions
 *   output.c    prototypes, tables, files
 *   rv2c.c      the tool
 */
#ifndef TRANSLATE_PROGRAM_H
#define TRANSLATE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../insn.h"

#define NOWHERE (-1)

/* What an instruction does to the flow of control, as far as its function can follow it. */
enum flow {
	FLOW_ON,     /* nothing */
	FLOW_MEMORY, /* nothing, unless it faults */
	FLOW_BRANCH, /* on, or to @target */
	FLOW_GOTO,   /* to @target */
	FLOW_CALL,   /* through function @callee and on */
	FLOW_TAIL,   /* into function @callee, for good */
	FLOW_SWITCH, /* to a register's value: one of the function's labels that data points to, or anywhere
		      */
	FLOW_RETURN, /* to a register's value, anywhere; perhaps as a call */
	FLOW_ECALL,
	FLOW_LEAVE, /* the interpreter executes it */
};

/**
 * struct step - one instruction of a function.
 * @target: index of the step it may go to, NOWHERE = another function
 * @callee: number of the function it goes to, NOWHERE = unknown; @far: not by a call in C, since that would
 * recurse
 * @leader: something goes to it by a jump; @entry: the function can be entered here
 * @dirty: registers whose value is only in local variables before it (bit 0 to 31: x; bit 32 on: f)
 * @live: those whose local variables matter before it
 * @single: of the floating-point ones (bit 0 on: f), those that certainly hold a single-precision number before it, which is
 * in a variable of type float then; all others are in variables of type double, whatever they mean
 * @chunk: of the branch that closes a loop: how many rounds are done at a time; @landing: the ways out of such a loop come here
 * @ahead: most instructions from it to the next look at the limit
 */
struct step {
	struct cpu_insn insn;
	uint64_t pc;
	enum flow flow;
	int target;
	int callee;
	uint64_t to; /* address of a direct jump */
	bool far, leader, entry, reached;
	uint64_t uses, sets;
	uint64_t dirty, live;
	uint32_t single;
	struct chunk *chunk;
	bool landing;
	int ahead;
};

/**
 * struct function - one function of the guest, from its symbol to the next one.
 * @sets: registers that a call of it may change, its callees included
 * @pointed: it has labels that words of data point to
 * @margin: most instructions from one look at the limit to the next
 * @height: of the tree of calls below it
 */
struct function {
	char name[64];
	uint64_t start, end;
	struct step *step;
	int steps;
	uint64_t sets;
	bool pointed;
	int margin;
	int height;
	int mark; /* of the search for recursion */
};

/**
 * struct program - what is translated.
 * @bare: it is code alone, without symbols and data, that may be anywhere in memory
 * @lacking: there was no memory for a part of it, so that it cannot be used
 */
struct program {
	unsigned xlen;
	bool bare, lacking;
	uint64_t first; /* addresses of its code */
	uint64_t bytes;
	uint8_t *code;
	struct function *function; /* by address */
	int functions;
	uint64_t *pointer; /* words of data that are addresses of code */
	size_t pointers;
	uint8_t *hit; /* bit for each halfword: the target of a jump or of a pointer */
	uint64_t loaded; /* the segment that holds the code, as it is loaded; hash of its bytes */
	uint64_t loaded_bytes;
	uint64_t hash;
};

/** program_load() - read an ELF file. Return: false after a message. */
bool program_load(struct program *program, const char *path);
/**
 * program_bare() - take @bytes of RV64 code that may be anywhere in memory. Return: false if there is too much of it, or too
 * little memory.
 */
bool program_bare(struct program *program, const uint8_t *code, uint64_t bytes);
/** program_order() - functions have been added: put them in order and decode them. Return: false if memory was @lacking. */
bool program_order(struct program *program);
/** program_add() - a function starts at @start. */
void program_add(struct program *program, uint64_t start, const char *name);
void program_fini(struct program *program);
/** program_find() - number of the function that holds @pc, or NOWHERE. */
int program_find(const struct program *program, uint64_t pc);
/** function_step() - index of the step at @pc, or NOWHERE. */
int function_step(const struct function *function, uint64_t pc);

/** flow_analyse() - all of what struct step and struct function say beyond the instructions. Return: false: no memory. */
bool flow_analyse(struct program *program);
/** flow_reload() - registers to load again after the call that @step is. */
uint64_t flow_reload(const struct program *program, const struct function *function, int step);

/** flow_operands() - what @step reads and writes. */
void flow_operands(struct step *step);
/** single_analyse() - fill in @single of the steps. single_behind() - what it is behind @step. */
void single_analyse(const struct program *program, struct function *function);
uint32_t single_behind(const struct program *program, const struct function *function, int step);

/** single_after() - @single behind @step, which is no call. */
uint32_t single_after(const struct step *step);

/**
 * chunk_analyse() - find the loops of @function that can be done in chunks: struct step's @chunk and @landing. Return: false: no
 * memory.
 */
bool chunk_analyse(const struct program *program, struct function *function);

/**
 * emit_real() - the text of floating-point instruction @step. Return: false if it is none.
 * @miss: what to do if the host may not compute it: MISS and a label, or LATER; NULL: a helper computes it
 */
bool emit_real(FILE *out, const struct step *step, const char *miss);
/** emit_real_operand() - the contents of f[n] as C text of type uint64_t. */
void emit_real_bits(FILE *out, const struct step *step, unsigned n);
/** emit_real_data() - f[n] as what a store of a double, or else of a float stores. */
void emit_real_data(FILE *out, const struct step *step, unsigned n, bool wide);
/**
 * real_computes() - whether an instruction needs the host's arithmetic. real_always_helped() - whether the host never
 * computes it. real_may_miss() - whether the host may not compute it for some operands. real_propagates() - whether it
 * makes a NaN of a NaN. real_is_fused() - whether it is a fused multiply-add.
 */
bool real_computes(const struct cpu_insn *insn);
bool real_always_helped(const struct cpu_insn *insn);
bool real_may_miss(const struct cpu_insn *insn);
bool real_propagates(const struct cpu_insn *insn);
bool real_is_fused(const struct cpu_insn *insn);

/** emit_function() - write the C text of function @number. Return: false: there was no memory for all of it. */
bool emit_function(FILE *out, const struct program *program, int number);

/** output_head(), output_tables() - write what stands before the functions, and behind them. */
void output_head(FILE *out, const struct program *program, const char *symbol);
void output_tables(FILE *out, const struct program *program, const char *symbol);
/** output_write() - @files C files "<prefix>_<i>.c"; the translation is called @symbol. Return: false after a
 * message. */
bool output_write(const struct program *program, const char *prefix, const char *symbol, int files);

#endif

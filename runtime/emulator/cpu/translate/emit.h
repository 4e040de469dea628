/* SPDX-License-Identifier: MIT */
/** DOC: What the parts of the emitter share: emit.c writes a function, emit_chunk.c its loops that are done in chunks. */
#ifndef TRANSLATE_EMIT_H
#define TRANSLATE_EMIT_H

#include "program.h"

/* Registers that a way out stores; @single: which of the floating-point ones are in variables of type float. */
struct store {
	uint64_t mask;
	uint32_t single;
};

/**
 * struct emit - what is known while a function is written.
 * @block: instructions since n was brought up to date; @block_at: the same before each step
 * @store: of all ways out; @lacking: there was no memory for one of them
 */
struct emit {
	FILE *out;
	const struct program *program;
	const struct function *function;
	int number;
	int block;
	int *block_at;
	struct store *store;
	size_t stores;
	bool lacking;
};

/** emit_value_of() - the text of what @op makes of operands, NULL: none. $a, $b: operands; $i: immediate; $p: the pc. */
const char *emit_value_of(unsigned op);
/** emit_field - write what the letter @field stands for behind a "$" of a template. @of: passed on by emit_template() */
typedef void emit_field(FILE *out, const struct step *step, char field, const void *of);
/** emit_template() - write the text @template for @step. @put: writes the fields other than $i and $p */
void emit_template(FILE *out, const struct step *step, const char *template, emit_field *put, const void *of);
/** emit_value() - write @template for @step, with the registers' variables as operands. */
void emit_value(FILE *out, const struct step *step, const char *template);
/** emit_access_of() - C type of what load or store @op accesses. @convert: how it becomes a register, NULL for stores */
const char *emit_access_of(unsigned op, const char **convert);
/** emit_target() - write the variable that load @step sets. @single: kinds behind it */
void emit_target(FILE *out, const struct step *step, uint32_t single);
/** emit_data() - write what store @step stores. */
void emit_data(FILE *out, const struct step *step);
/** emit_change() - those of @single that the code at @to does not know to be single become double. */
void emit_change(FILE *out, const struct step *to, uint32_t single);

/** emit_chunk_locals() - variables of @function's chunks. emit_chunks() - their text, after all that of the function. */
void emit_chunk_locals(FILE *out, const struct function *function);
void emit_chunks(const struct emit *emit);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Code: readers and code objects hold the bytes, executables what has become of them on the card
 */
#ifndef TUTTI_HSA_CODE_H
#define TUTTI_HSA_CODE_H

#include <hsa/hsa.h>
#include <stdbool.h>

#include "hsa/base/object.h"
#include "tutti.h"

/**
 * struct code - a code object reader, or a code object of HSA 1.0: a file in memory.
 * @bytes: its content
 * @owned: what of it has to be freed, NULL if it is the application's memory
 * @view: code objects: a loaded copy that tells about its symbols; 0 = not yet. The handle of an executable
 */
struct code {
	struct object object;
	const void *bytes;
	size_t size;
	void *owned;
	uint64_t view;
};

/** code_add() - enter a code object or reader in the table. Takes @owned in any case. Return: its handle, 0: no memory */
uint64_t code_add(enum object_kind kind, const void *bytes, size_t size, void *owned);
/** code_read_file() - read a file from its start, wherever its position is. @bytes gets memory, NULL if there is none */
bool code_read_file(int file, void **bytes, size_t *size);
/** code_remove() - forget it; false if there is no such handle. */
bool code_remove(enum object_kind kind, uint64_t handle);

/**
 * struct symbol - something in an executable that has a name.
 * @name: as it stands in the source
 * @defined: the application has defined it
 * @program: it is the same for all agents
 * @segment: variables: HSA_VARIABLE_SEGMENT_*
 * @kernel: kernels: what a launch needs to know
 */
struct symbol {
	struct object object;
	struct symbol *next;
	char *name;
	enum tutti_symbol_kind kind;
	bool defined, program, global, writable;
	hsa_variable_segment_t segment;
	uint64_t address, bytes;
	struct tutti_kernel kernel;
};

/** symbol_info() - an attribute, by the numbers that symbols of executables and of code objects share. */
hsa_status_t symbol_info(const struct symbol *symbol, uint32_t attribute, void *value);

/** executable_new() - an empty executable; its handle, 0 if there is no memory. */
uint64_t executable_new(hsa_profile_t profile, hsa_default_float_rounding_mode_t rounding, hsa_executable_state_t state);
/** executable_load() - put code into an executable that is not frozen. */
hsa_status_t executable_load(uint64_t handle, const void *bytes, size_t size);
/** executable_symbol() - the symbol of that name, which may stand in one of HSA's forms; NULL if there is none. */
struct symbol *executable_symbol(uint64_t handle, const char *name, bool program);
/** executable_symbols() - the first symbol; the others follow by @next. */
struct symbol *executable_symbols(uint64_t handle);

#endif

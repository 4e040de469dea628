/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the debug information of a code object says (SYS-58)
 *
 * It is read by elfutils' libdw, which is opened when it is needed first: programs that see no fault do without it, and
 * where it is not installed faults have no lines. Nothing is kept between calls.
 */
#ifndef TUTTI_RUNTIME_CODE_DEBUG_H
#define TUTTI_RUNTIME_CODE_DEBUG_H

#include "tutti.h"

/** struct debug_file - a code object in memory. */
struct debug_file {
	void *data;
	size_t bytes;
};

/** debug_line() - "file:line" of the code at @address, an offset in the image; false if it is not known. */
bool debug_line(const struct debug_file *file, uint64_t address, char *text, size_t bytes);
/**
 * debug_arguments() - call @visit for each member of a kernel's arguments until it returns something other than 0.
 *
 * Return: 0, or what @visit has returned; -ENODATA: the code object does not tell; -ENOTSUP: there is no libdw.
 */
int debug_arguments(const struct debug_file *file, const char *kernel,
		    int (*visit)(const struct tutti_argument *argument, void *context), void *context);

#endif

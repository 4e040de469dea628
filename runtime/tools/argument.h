/* SPDX-License-Identifier: MIT */
/** DOC: Kernel arguments from the command line: numbers and buffers */
#ifndef TUTTI_TOOL_ARGUMENT_H
#define TUTTI_TOOL_ARGUMENT_H

#include "tutti.h"

#define ARGUMENTS_MAX 32

/** enum argument_kind - how a value is stored. */
enum argument_kind { KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT };

struct argument_type {
	char name[4];
	enum argument_kind kind;
	unsigned bytes;
};

/** struct argument - one --arg. */
struct argument {
	const struct argument_type *type;
	uint64_t count;   /* values of a buffer, 0 = plain number */
	const char *how;  /* what it holds, NULL = zeroes */
	void *buffer;     /* on the card */
};

/** struct arguments - all of them. */
struct arguments {
	struct argument item[ARGUMENTS_MAX];
	unsigned count;
	unsigned bytes;   /* they take together */
	void *kernarg;
};

/** arguments_add() - parse "TYPE=VALUE", "TYPE[COUNT]" or "TYPE[COUNT]=HOW". 0 or -EINVAL. */
int arguments_add(struct arguments *arguments, const char *text);
/** arguments_place() - allocate and fill buffers and a kernarg segment of at least @bytes. 0 or -errno. */
int arguments_place(struct arguments *arguments, struct tutti_device *device, uint32_t bytes);
void arguments_fini(struct arguments *arguments, struct tutti_device *device);
/** argument_print() - first @count values of buffer number @index. */
void argument_print(const struct argument *argument, unsigned index, unsigned count);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Private memory of waves */
#ifndef TUTTI_EMULATOR_HART_STACK_H
#define TUTTI_EMULATOR_HART_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_CLASSES 15u

/** struct stack - private memory of one wave. @next: in the list of free ones. */
struct stack {
	struct stack *next;
	uint64_t va;
	uint64_t bytes;
	unsigned class;
	uint8_t *host;
};

/** struct stack_pool - stacks of a hart that no wave uses, by class. */
struct stack_pool {
	struct stack *free[STACK_CLASSES];
	uint32_t kept[STACK_CLASSES];
};

/** stack_class() - the class of stacks that hold @bytes: each class has twice the size of the one before. */
unsigned stack_class(uint32_t bytes);
/** stack_take() - a stack of @class, with contents of this hart's waves or zeroes. Return: NULL: there is no memory. */
struct stack *stack_take(struct stack_pool *pool, unsigned class);
/** stack_give() - @stack is free. Return: false if it has been given back to the host. */
bool stack_give(struct stack_pool *pool, struct stack *stack);
void stack_pool_empty(struct stack_pool *pool);

#endif

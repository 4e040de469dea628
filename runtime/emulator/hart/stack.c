// SPDX-License-Identifier: MIT
/*
 * All stacks of a class lie at the same address, where a wave finds its own. Nothing else is mapped in the window, so
 * that a wave that uses more than it asked for meets the guard below.
 */
#include <stdlib.h>

#include "emulator/hart/stack.h"
#include "tutti/wave.h"

#define STACK_LEAST 4096u
#define KEPT	    64u /* of each class: memory that many waves needed at once goes back to the host */

unsigned stack_class(uint32_t bytes)
{
	unsigned class = 0;

	while (class < STACK_CLASSES - 1 && ((uint64_t)STACK_LEAST << class) < bytes)
		class++;
	return class;
}

static struct stack *stack_new(unsigned class)
{
	struct stack *stack = malloc(sizeof(*stack));

	if (!stack)
		return NULL;
	stack->class = class;
	stack->bytes = (uint64_t)STACK_LEAST << class;
	stack->va = TUTTI_WAVE_PRIVATE + ((uint64_t)class << 32) + stack->bytes;
	stack->host = calloc(1, stack->bytes);
	if (stack->host)
		return stack;
	free(stack);
	return NULL;
}

static void stack_free(struct stack *stack)
{
	free(stack->host);
	free(stack);
}

struct stack *stack_take(struct stack_pool *pool, unsigned class)
{
	struct stack *stack = pool->free[class];

	if (!stack)
		return stack_new(class);
	pool->free[class] = stack->next;
	pool->kept[class]--;
	return stack;
}

bool stack_give(struct stack_pool *pool, struct stack *stack)
{
	if (pool->kept[stack->class] >= KEPT) {
		stack_free(stack);
		return false;
	}
	stack->next = pool->free[stack->class];
	pool->free[stack->class] = stack;
	pool->kept[stack->class]++;
	return true;
}

void stack_pool_empty(struct stack_pool *pool)
{
	for (unsigned c = 0; c < STACK_CLASSES; c++) {
		struct stack *stack;

		while ((stack = pool->free[c])) {
			pool->free[c] = stack->next;
			stack_free(stack);
		}
		pool->kept[c] = 0;
	}
}

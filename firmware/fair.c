// SPDX-License-Identifier: MIT
#include "fair.h"

#include "queue.h"
#include "wdu.h"

#define FIRST_SEED 1u

static struct {
	uint32_t random; /* 0 = off */
	uint32_t seed;
	struct queue_set marked[WDU_LEVELS];
} fair;

void fair_init(void)
{
	unsigned i;

	fair.random = fair.seed = FIRST_SEED;
	for (i = 0; i < WDU_LEVELS; i++)
		fair.marked[i] = (struct queue_set){ 0 };
}

void fair_seed(uint32_t seed)
{
	fair_init();
	fair.random = fair.seed = seed;
}

uint32_t fair_seed_now(void)
{
	return fair.seed;
}

bool fair_seeded(void)
{
	return fair.random;
}

/* xorshift32: never 0. The upper bits of a product take the place of a division. */
static unsigned draw(unsigned n)
{
	fair.random ^= fair.random << 13;
	fair.random ^= fair.random >> 17;
	fair.random ^= fair.random << 5;
	return (unsigned)((uint64_t)fair.random * n >> 32);
}

static bool is_marked(unsigned level, const struct task *task)
{
	return queue_set_has(&fair.marked[level], queue_id(task->queue));
}

struct task *fair_choose(unsigned level, struct task **tie, unsigned n)
{
	unsigned i, free = 0;

	for (i = 0; i < n; i++)
		free += !is_marked(level, tie[i]);
	if (!free)
		return tie[draw(n)];
	free = draw(free);
	for (i = 0; is_marked(level, tie[i]) || free--; i++)
		;
	return tie[i];
}

void fair_went(unsigned level, struct task **tie, unsigned n, const struct task *task)
{
	unsigned i;

	if (n == 1 || !fair.random)
		return;
	if (is_marked(level, task))
		for (i = 0; i < n; i++)
			queue_set_remove(&fair.marked[level], queue_id(tie[i]->queue));
	queue_set_add(&fair.marked[level], queue_id(task->queue));
}

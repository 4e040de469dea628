// SPDX-License-Identifier: MIT
#include "tasks/tie_lots.h"

#include "core/queue_record.h"
#include "tasks/issue_rounds.h"

#define FIRST_SEED 1u

static struct {
	uint32_t random; /* state of the generator; 0: no draw */
	uint32_t seed;
	struct queue_set marked[ROUNDS_LEVELS];
} lots;

void lots_init(void)
{
	unsigned i;

	lots.random = lots.seed = FIRST_SEED;
	for (i = 0; i < ROUNDS_LEVELS; i++)
		lots.marked[i] = (struct queue_set){ 0 };
}

void lots_seed(uint32_t seed)
{
	lots_init();
	lots.random = lots.seed = seed;
}

uint32_t lots_seed_now(void)
{
	return lots.seed;
}

bool lots_seeded(void)
{
	return lots.random;
}

/* The generator is xorshift32, whose state never becomes 0. The upper half of a product saves a division. */
static unsigned draw(unsigned n)
{
	lots.random ^= lots.random << 13;
	lots.random ^= lots.random >> 17;
	lots.random ^= lots.random << 5;
	return (unsigned)((uint64_t)lots.random * n >> 32);
}

static bool is_marked(unsigned level, const struct task *task)
{
	return queue_set_has(&lots.marked[level], queue_id(task->queue));
}

struct task *lots_choose(unsigned level, struct task **tie, unsigned n)
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

void lots_went(unsigned level, struct task **tie, unsigned n, const struct task *task)
{
	unsigned i;

	if (n == 1 || !lots.random)
		return;
	if (is_marked(level, task))
		for (i = 0; i < n; i++)
			queue_set_remove(&lots.marked[level], queue_id(tie[i]->queue));
	queue_set_add(&lots.marked[level], queue_id(task->queue));
}

// SPDX-License-Identifier: MIT
#include "split.h"

#include "command.h"
#include "kernel.h"
#include "place.h"
#include "queue.h"
#include "tmd.h"
#include "tmu.h"
#include "wdu.h"

#define LIMIT 256u

static struct {
	uint32_t limit;
	uint32_t rounds;              /* without a match */
	struct task *whole[FW_TASKS]; /* by slot of the waves */
} split;

void split_init(void)
{
	unsigned i;

	split.limit = LIMIT;
	split.rounds = 0;
	for (i = 0; i < FW_TASKS; i++)
		split.whole[i] = NULL;
}

void split_limit(uint32_t rounds)
{
	split.limit = rounds ? rounds : LIMIT;
	split.rounds = 0;
}

/* What its descriptor says; one that is not in the cache any more says nothing. */
static bool kernel_independent(const struct pending *p)
{
	const struct kernel *k;

	for (k = kernels; k < kernels + FW_KERNELS; k++)
		if (k->high != ~0u && k->high >> 16 == queue_asid(p->queue) && k->entry[0] == p->state[STATE_AT(entry)] &&
		    k->entry[1] == p->state[STATE_AT(entry) + 1])
			return k->fetched.flags & TUTTI_KERNEL_INDEPENDENT;
	return false;
}

static bool may_split(const struct task *task)
{
	const struct tmd *tmd = task_tmd(task);
	const uint32_t *s = task->kept->state;

	if (!(task->rare & TASK_KEPT) || task->rare & (TASK_WORK | TASK_SPLIT | TASK_SPLITTING) || task->state != TASK_RUNNING)
		return false;
	if (s[STATE_AT(shared_blocks)] || s[STATE_AT(workgroup_z)] >> 16 < 2 || (uint16_t)s[STATE_AT(cga_x)] || task->rare & TASK_CGA)
		return false;
	if (tmd && (tmd_static(tmd)->cga[0].kind || tmd_flag(tmd, TUTTI_TMD_DEPENDENT | TUTTI_TMD_THROTTLE)))
		return false;
	return (tmd && tmd_flag(tmd, TUTTI_TMD_INDEPENDENT)) || kernel_independent(task->kept);
}

/* The next CTA of @task by waves; the task goes on behind it. */
static bool split_one(struct task *task)
{
	struct pending *from = task->kept, *p;
	uint32_t waves = from->state[STATE_AT(workgroup_z)] >> 16, number = task_issued(task);
	struct task *sub;

	if ((uint64_t)(number + 1) * waves >> 32 || !task_table.free)
		return false;
	p = tmu_get(1);
	if (!p)
		return false;
	p->queue = from->queue;
	p->tmd = NULL;
	p->groups = waves;
	p->issued = 0;
	p->signal = 0;
	p->packet = from->packet;
	p->priority = TMU_LEVELS;
	p->acquire = p->release = 0;
	p->kernel = from->kernel;
	p->rare = TASK_SPLIT;
	words_copy(p->state, from->state, STATE_WORDS);
	p->state[STATE_AT(first)] = number * waves;
	sub = tmu_admit(p);
	if (!sub) {
		tmu_put(p);
		return false;
	}
	queue_adopt(task->queue, (uint32_t)task->packet);
	split.whole[sub->slot] = task;
	task->rare |= TASK_SPLITTING;
	task->resident++;
	if (!--task->unissued)
		wdu_remove(task);
	else
		tmu_send_state(from, task->slot, task_issued(task));
	return true;
}

COLD void split_round(bool any, uint32_t failed)
{
	if (any || !failed) {
		if (any)
			split.rounds = 0;
		return;
	}
	if (++split.rounds <= split.limit)
		return;
	for (; failed; failed &= failed - 1) {
		struct task *task = &tasks[lowest_bit(failed)];

		if (may_split(task) && split_one(task)) {
			split.rounds = 0;
			return;
		}
	}
}

COLD struct task *split_ended(struct task *waves)
{
	struct task *whole = split.whole[waves->slot];

	split.whole[waves->slot] = NULL;
	if (!whole)
		return NULL;
	whole->rare &= (uint16_t)~TASK_SPLITTING;
	if (--whole->resident)
		return NULL;
	return whole;
}

COLD struct task *split_partner(const struct task *task)
{
	unsigned i;

	if (task->rare & TASK_SPLIT)
		return split.whole[task->slot];
	for (i = 0; i < FW_TASKS && task->rare & TASK_SPLITTING; i++)
		if (split.whole[i] == task)
			return &tasks[i];
	return NULL;
}

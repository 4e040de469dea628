// SPDX-License-Identifier: MIT
#include "tasks/wave_split.h"

#include "core/clock.h"
#include "core/command_ring.h"
#include "core/counters.h"
#include "core/queue_record.h"
#include "core/state.h"
#include "place/plain_grid.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"

#define LIMIT 256u

#define NEVER (~0ull)

static struct {
	uint32_t limit;
	uint32_t rounds;              /* successive rounds in which nothing was placed */
	uint32_t issued;              /* counters.ctas_issued at the last round: if it has changed, a CTA was placed */
	uint64_t failed;              /* when the last round failed; NEVER: it did not, or no task had CTAs to issue */
	uint64_t deadline;            /* when there will have been enough rounds; NEVER: that is not waited for */
	struct task *whole[FW_TASKS]; /* the task that was split, by the slot of its waves */
} split;

void split_init(void)
{
	unsigned i;

	split.limit = LIMIT;
	split.rounds = 0;
	split.issued = 0;
	split.failed = split.deadline = NEVER;
	for (i = 0; i < FW_TASKS; i++)
		split.whole[i] = NULL;
}

void split_limit(uint32_t rounds)
{
	split.limit = rounds ? rounds : LIMIT;
	split.rounds = 0;
	split.failed = split.deadline = NEVER;
}

uint32_t split_limit_now(void)
{
	return split.limit;
}

static bool may_split(const struct task *task)
{
	const struct tmd *tmd = task_tmd(task);
	const uint32_t *s;

	if (!(task->rare & TASK_KEPT) || task->rare & (TASK_WORK | TASK_SPLIT | TASK_SPLITTING) || task->state != TASK_RUNNING)
		return false;
	s = task->kept->state;
	if (s[STATE_AT(shared_blocks)] || s[STATE_AT(workgroup_z)] >> 16 < 2 || (uint16_t)s[STATE_AT(cga_x)] || task->rare & TASK_CGA)
		return false;
	if (tmd && (tmd_static(tmd)->cga[0].kind || tmd_flag(tmd, TUTTI_TMD_DEPENDENT | TUTTI_TMD_THROTTLE)))
		return false;
	return (tmd && tmd_flag(tmd, TUTTI_TMD_INDEPENDENT)) || task->kept->kernel_flags & TUTTI_KERNEL_INDEPENDENT;
}

/* Issue the next CTA of @task wave by wave; the task goes on with the CTA after it. */
static bool split_one(struct task *task)
{
	struct pending *from = task->kept, *p;
	uint32_t waves = from->state[STATE_AT(workgroup_z)] >> 16, number = task_issued(task);
	struct task *sub;

	if ((uint64_t)(number + 1) * waves >> 32 || !task_table.free)
		return false;
	p = pending_get(1);
	if (!p)
		return false;
	p->queue = from->queue;
	p->tmd = NULL;
	p->groups = waves;
	p->issued = 0;
	p->signal = 0;
	p->packet = from->packet;
	p->priority = PENDING_LEVELS;
	p->acquire = p->release = 0;
	p->kernel = from->kernel;
	p->rare = TASK_SPLIT | (task->rare & TASK_CHILD); /* a parent that waits for it waits for its waves, too */
	words_copy(p->state, from->state, STATE_WORDS);
	p->state[STATE_AT(first)] = number * waves;
	sub = pending_admit(p);
	if (!sub) {
		pending_put(p);
		return false;
	}
	queue_adopt(task->queue, (uint32_t)task->packet);
	split.whole[sub->slot] = task;
	task->rare |= TASK_SPLITTING;
	task->resident++;
	if (!--task->unissued)
		rounds_remove(task);
	else
		pending_send_state(from, task, task_issued(task));
	return true;
}

/*
 * Is @task the oldest of its queue? The others must not be placed before it (RES-02), unless it may not issue now: what
 * waits for its own CTAs keeps no others from being placed, and so none from being split.
 */
static bool is_head(const struct task *task)
{
	const struct task *other;

	for (other = tasks; other < tasks + fw.tasks; other++)
		if (other->state != TASK_FREE && other->queue == task->queue && other->rare & TASK_ISSUES &&
		    !(other->rare & TASK_SPLIT) && rounds_limit(other) &&
		    (other->packet < task->packet || (other->packet == task->packet && other->kernel < task->kernel)))
			return false;
	return true;
}

/*
 * RES-07 counts rounds as if they followed one another without a pause. A round that could only find what the last one
 * has found is not computed, but it counts all the same: one for each microsecond.
 */
static uint32_t rounds_until(uint64_t now)
{
	uint64_t ticks = split.failed == NEVER ? 0 : now - split.failed;

	/* longer times are cut off at 32 bits: the heartbeat runs rounds more often than that */
	return 1 + (ticks >> 32 ? ~0u : (uint32_t)ticks) / fw.ticks_per_us;
}

static void wait_for(uint64_t now)
{
	uint32_t left = split.limit - split.rounds;

	split.deadline = now + (uint64_t)(left + 1) * fw.ticks_per_us;
	clock_at(split.deadline);
}

static bool split_any(uint32_t failed, uint64_t now)
{
	for (; failed; failed &= failed - 1) {
		struct task *task = &tasks[lowest_bit(failed)];

		if (!may_split(task) || !is_head(task))
			continue;
		if (split_one(task)) {
			split.rounds = 0;
			wait_for(now);
			return true;
		}
	}
	split.deadline = NEVER;
	return false;
}

COLD bool split_round(uint32_t failed)
{
	uint64_t now;
	uint32_t more;

	if (split.issued != counters.ctas_issued) {
		split.issued = counters.ctas_issued;
		split.rounds = 0;
		split.failed = split.deadline = NEVER;
	}
	if (!failed) {
		split.failed = split.deadline = NEVER;
		return false;
	}
	now = clock_now();
	more = rounds_until(now);
	split.rounds = split.rounds + more < more ? ~0u : split.rounds + more;
	split.failed = now;
	if (split.rounds > split.limit)
		return split_any(failed, now);
	if (split.deadline == NEVER)
		wait_for(now);
	return false;
}

uint64_t split_earliest(uint64_t at)
{
	return split.deadline < at ? split.deadline : at;
}

COLD bool split_due(uint64_t time)
{
	if (split.deadline > time)
		return false;
	split.deadline = NEVER;
	return true;
}

COLD struct task *split_ended(struct task *waves)
{
	struct task *whole = split.whole[waves->slot];

	split.whole[waves->slot] = NULL;
	if (!whole)
		return NULL;
	whole->rare &= (uint16_t)~TASK_SPLITTING;
	whole->progress = 0;
	if (--whole->resident)
		return NULL;
	return whole;
}

const uint32_t *split_affinity(const struct task *task)
{
	const struct tmd *tmd;

	if (task->rare & TASK_SPLIT)
		task = split.whole[task->slot];
	tmd = task ? task_tmd(task) : NULL;
	return tmd ? tmd_affinity(tmd) : NULL;
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

COLD void split_forget(const struct task *whole)
{
	const struct task *waves = split_partner(whole);

	if (waves)
		split.whole[waves->slot] = NULL;
}

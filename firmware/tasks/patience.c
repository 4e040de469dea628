// SPDX-License-Identifier: MIT
#include "tasks/patience.h"

#include "core/clock.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/visit.h"
#include "groups/cga.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/wave_split.h"

struct task *patience_holder, *patience_waiting;

static struct {
	uint64_t until;    /* when the hold ends, if there is one */
	uint8_t vain[FW_TASKS]; /* by slot: how many holds in a row ended before the task found room */
	uint32_t next;     /* position of the first SM it takes */
	uint32_t issued;   /* counters.ctas_issued at the end of the last rounds */
} hold;

void patience_init(void)
{
	patience_holder = NULL;
	patience_waiting = NULL;
	hold.next = hold.issued = 0;
}

COLD void patience_joined(struct task *task)
{
	task->passed = 0;
	hold.vain[task->slot] = 0;
}

/* ---- holding SMs ---- */

COLD void patience_let_go(void)
{
	if (!patience_holder)
		return;
	patience_holder = NULL;
	shape_hold(NULL);
	cga_freed();
	state_retry(); /* there may be room for others */
}

/* SMs that get CTAs and that @task may use. Return: their number */
static uint32_t usable(const struct task *task, uint32_t *mask)
{
	const uint32_t *affinity = split_affinity(task);
	uint32_t w, n = 0;

	for (w = 0; w < fw.words; w++) {
		mask[w] = shapes.enabled[w] & shapes.included[w] & (affinity ? affinity[w] : ~0u);
		n += popcount32(mask[w]);
	}
	return task->shape->capacity ? n : 0;
}

/*
 * Take a share of the SMs the task may use, in turn, so that it need not wait for SMs that stay occupied. Return: there
 * are any
 */
static bool share(const struct task *task, uint32_t *held)
{
	uint32_t mask[LAKE_WORDS], n = usable(task, mask), at = hold.next;

	if (!n)
		return false;
	for (n = (n + PATIENCE_SHARE - 1) / PATIENCE_SHARE; n; at++) {
		if (at >= fw.sms)
			at = 0;
		if (mask[at / 32] >> (at % 32) & 1) {
			held[at / 32] |= 1u << (at % 32);
			n--;
		}
	}
	hold.next = at;
	return true;
}

/*
 * Holds in vain become longer, so that a task whose CTAs need SMs of long kernels gets them at last. It is counted for
 * each task, since others for which a short hold is enough may come between.
 */
static uint32_t duration_us(const struct task *task)
{
	return min32((uint32_t)PATIENCE_FIRST_US << hold.vain[task->slot], PATIENCE_LAST_US);
}

static COLD void hold_for(struct task *task)
{
	uint32_t held[LAKE_WORDS] = { 0 };

	if (task->rare & TASK_CGA) {
		cga_domains(task, held);
	} else if (!share(task, held)) {
		task->passed = 0; /* its SMs are off, so others that have lost patience come first */
		return;
	}
	patience_let_go();
	patience_holder = task;
	shape_hold(held);
	hold.until = clock_now() + (uint64_t)duration_us(task) * fw.ticks_per_us;
}

/* Hold SMs for @task, unless they are held for one that comes before it. If this visit is over, the next one does so. */
static COLD void hold_or_wait(struct task *task)
{
	if (patience_holder && rounds_level(task) >= rounds_level(patience_holder))
		return;
	if (visit_late()) {
		patience_waiting = task;
		visit_cut();
		return;
	}
	hold_for(task);
}

/* ---- who is passed over ---- */

/*
 * Kernels that fit on their arrival do not take part in rounds. Return: the resident one of the lowest priority, or NULL
 * if none has come since the last rounds
 */
static const struct task *arrived(void)
{
	const struct task *task, *lowest = NULL;

	if (hold.issued == counters.ctas_issued)
		return NULL;
	for (task = tasks; task < tasks + fw.tasks; task++)
		if (task_runs(task) && task->resident && !(task->rare & TASK_ISSUES) &&
		    (!lowest || rounds_level(task) > rounds_level(lowest)))
			lowest = task;
	return lowest;
}

/* Of two tasks, one of which may be NULL, the one for which SMs are to be held first. */
static struct task *first_of(struct task *a, struct task *b)
{
	if (!a || rounds_level(a) != rounds_level(b))
		return a && rounds_level(a) < rounds_level(b) ? a : b;
	return a->passed >= b->passed ? a : b;
}

/* @task was passed over once more. Return: whether that is enough to hold SMs for it */
static bool lost_patience(struct task *task)
{
	if (task->rare & TASK_CGA) {
		if (!cga_passed(task))
			return false;
		if (task->passed < PATIENCE)
			task->passed = PATIENCE;
	}
	task->passed += task->passed < UINT8_MAX;
	return task->passed > PATIENCE;
}

COLD void patience_lost(uint32_t failed, const struct task *went)
{
	const struct shape *same = went ? went->shape : NULL;
	struct task *next = NULL;

	if (!went)
		went = arrived();
	hold.issued = counters.ctas_issued;
	for (; went && failed; failed &= failed - 1) {
		struct task *task = &tasks[lowest_bit(failed)];

		if (!(task->rare & TASK_CGA) && (rounds_level(task) > rounds_level(went) || task->shape == same))
			continue;
		if (lost_patience(task))
			next = first_of(next, task);
	}
	if (next)
		hold_or_wait(next);
}

COLD void patience_go_on(void)
{
	struct task *task = patience_waiting;

	patience_waiting = NULL;
	if (task->rare & TASK_ISSUES && task->passed > PATIENCE)
		hold_or_wait(task);
}

COLD void patience_end(bool placed)
{
	if (placed)
		hold.vain[patience_holder->slot] = 0;
	patience_let_go();
}

static COLD void in_vain(void)
{
	patience_holder->passed = 0;
	if (patience_holder->rare & TASK_CGA)
		cga_calm(patience_holder);
	hold.vain[patience_holder->slot] += duration_us(patience_holder) < PATIENCE_LAST_US;
	patience_let_go();
}

COLD void patience_check(void)
{
	if (!patience_holder)
		return;
	if (!rounds_limit(patience_holder))
		patience_let_go();
	else if (clock_now() >= hold.until)
		in_vain();
}

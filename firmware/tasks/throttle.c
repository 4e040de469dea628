// SPDX-License-Identifier: MIT
#include "tasks/throttle.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "place/plain_grid.h"
#include "place/sm_score.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/patience.h"

/* An SM cannot address more than this (see the shared window in wave.h). */
#define BLOCKS_MAX 256u

enum throttle_mode {
	THROTTLE_OFF,
	THROTTLE_DRAIN,  /* the card is being emptied, to switch the mode on or off or to another size */
	THROTTLE_SWITCH, /* the command THROTTLE was sent, and its event has not come yet */
	THROTTLE_ON,
};

static struct {
	uint8_t mode;     /* enum throttle_mode */
	uint16_t sms;     /* how many SMs share all shared memory; 0: the mode is off */
	uint16_t tasks;   /* number of throttle tasks in the table */
} throttle;

void throttle_init(void)
{
	throttle.mode = THROTTLE_OFF;
	throttle.sms = throttle.tasks = 0;
}

static uint32_t wants(const struct task *task)
{
	return tmd_static(task->tmd)->throttle_sms;
}

static bool is_throttle(const struct task *task)
{
	return task->rare & TASK_TMD && tmd_flag(task->tmd, TUTTI_TMD_THROTTLE);
}

bool throttle_on(void)
{
	return throttle.mode == THROTTLE_ON;
}

bool throttle_allows(const struct task *task)
{
	switch (throttle.mode) {
	case THROTTLE_OFF:
		return true;
	case THROTTLE_DRAIN:
		return task->rare & TASK_CHILD;
	case THROTTLE_ON:
		return is_throttle(task) && wants(task) == throttle.sms;
	}
	return false;
}

/* Shared blocks of an SM when @sms SMs share those of all. */
static uint32_t blocks_of(uint32_t sms)
{
	uint32_t blocks = fw.sms * fw.shared_blocks / sms;

	return blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
}

uint32_t throttle_limit(const struct tmd *tmd)
{
	return tmd_flag(tmd, TUTTI_TMD_THROTTLE) ? blocks_of(tmd_static(tmd)->throttle_sms) : 0;
}

/* Word @w of the mask of SMs that are enabled and that a task with metadata @tmd may use. */
static uint32_t usable(const struct tmd *tmd, unsigned w)
{
	const uint32_t *affinity = tmd_affinity(tmd);

	return shapes.enabled[w] & (affinity ? affinity[w] : ~0u);
}

/* May @task use any of the SMs in @mask? */
static bool can_use(const struct task *task, const uint32_t *mask)
{
	uint32_t w, any = 0;

	for (w = 0; w < fw.words; w++)
		any |= usable(task->tmd, w) & mask[w];
	return any;
}

COLD uint32_t throttle_sms(const struct tmd *tmd, uint32_t *mask)
{
	uint32_t w, bits, got = 0, n = tmd_static(tmd)->throttle_sms;

	for (w = 0; w < fw.words; w++) {
		mask[w] = 0;
		for (bits = usable(tmd, w); bits && got < n; bits &= bits - 1, got++)
			mask[w] |= bits & -bits;
	}
	return got;
}

/* May @task issue as soon as the mode is its own? While the card is suspended no items start CTAs. */
static bool could_issue(const struct task *task)
{
	return is_throttle(task) && task->unissued && !(queue_table.suspended && task->rare & TASK_WORK) &&
	       can_use(task, shapes.enabled);
}

/*
 * The oldest throttle task of the highest level that has something to issue and an SM to issue it to; NULL if there is
 * none. Others do not keep the card: a mask of SMs that are off, or a work queue without items, is no reason for
 * everybody to wait (REL-11).
 */
static const struct task *next_task(void)
{
	const struct task *task;
	unsigned level;

	for (level = 1; throttle.tasks && level < ROUNDS_LEVELS; level++)
		for (task = rounds_oldest(level); task; task = task->next)
			if (could_issue(task))
				return task;
	return NULL;
}

/* COMMAND_OWED_THROTTLE keeps room for one such command; no second one is sent before the event of the first. */
static void send(const struct task *task)
{
	uint32_t mask[FW_MAX_SMS / 32], blocks = fw.shared_blocks, *p = command_begin(2 + fw.words), w;

	patience_let_go(); /* of a child task that could issue while the card was being emptied */
	for (w = 0; w < fw.words; w++)
		mask[w] = w + 1 < fw.words || !(fw.sms % 32) ? ~0u : (1u << fw.sms % 32) - 1;
	if (task)
		blocks = blocks_of(throttle_sms(task->tmd, mask));
	p[0] = TUTTI_COMMAND(TUTTI_CMD_THROTTLE, 2 + fw.words, !!task);
	p[1] = blocks;
	words_copy(p + 2, mask, fw.words);
	command_end(p + 2 + fw.words);
	shape_limit(mask, blocks);
	score_limit();
	throttle.sms = task ? (uint16_t)wants(task) : 0;
	throttle.mode = THROTTLE_SWITCH;
	counters.throttles++;
}

/* Can @task issue on the SMs that the mode has now? That a CGA fits is certain only on those that would be chosen for it. */
static bool has_room(const struct task *task)
{
	uint32_t mask[FW_MAX_SMS / 32], w, missing = 0;

	if (!(task->rare & TASK_CGA))
		return can_use(task, shapes.limit);
	throttle_sms(task->tmd, mask);
	for (w = 0; w < fw.words; w++)
		missing |= mask[w] & ~shapes.limit[w];
	return !missing;
}

/* Is the mode what @task needs, or off if there is none? */
static bool is_for(const struct task *task)
{
	return task ? throttle.sms == wants(task) && has_room(task) : !throttle.sms;
}

COLD bool throttle_suits(const struct task *task)
{
	return is_for(is_throttle(task) ? task : NULL);
}

COLD void throttle_update(void)
{
	const struct task *task;

	if (throttle.mode == THROTTLE_SWITCH)
		return;
	task = next_task();
	/* All throttle tasks have issued their CTAs: the mode is theirs until these have ended. */
	if (!task && throttle.mode == THROTTLE_ON && place_state.residents)
		return;
	if (is_for(task)) {
		if (throttle.mode == THROTTLE_DRAIN)
			throttle.mode = throttle.sms ? THROTTLE_ON : THROTTLE_OFF;
	} else {
		throttle.mode = THROTTLE_DRAIN;
		/* The task for which they are held may not issue now, and those that may would be kept off them. */
		patience_let_go();
	}
	state_detour(DETOUR_THROTTLE, throttle.mode != THROTTLE_OFF);
	if (throttle.mode == THROTTLE_DRAIN && !place_state.residents)
		send(task);
}

COLD void throttle_admit(const struct task *task)
{
	if (!is_throttle(task))
		return;
	throttle.tasks++;
	throttle_update();
}

COLD void throttle_leave(const struct task *task)
{
	if (!is_throttle(task))
		return;
	throttle.tasks--;
	throttle_update();
}

COLD void throttle_event(const struct tutti_event *event)
{
	if (throttle.mode != THROTTLE_SWITCH)
		return;
	(void)event;
	throttle.mode = throttle.sms ? THROTTLE_ON : THROTTLE_OFF;
	throttle_update();
	rounds_run();
}

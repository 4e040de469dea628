// SPDX-License-Identifier: MIT
#include "tasks/throttle.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "place/plain_grid.h"
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

/* Collect the first @n enabled SMs in @mask. Return: how many there are, at most @n */
static uint32_t first_enabled(uint32_t n, uint32_t *mask)
{
	uint32_t w, bits, got = 0;

	for (w = 0; w < fw.words; w++) {
		mask[w] = 0;
		for (bits = shapes.enabled[w]; bits && got < n; bits &= bits - 1, got++)
			mask[w] |= bits & -bits;
	}
	return got;
}

/* How many SMs are to share, as the oldest throttle task of the highest level wants it; 0 if none is left. */
static uint32_t next_size(void)
{
	const struct task *task;
	unsigned level;

	if (!throttle.tasks)
		return 0;
	for (level = 1; level < ROUNDS_LEVELS; level++)
		for (task = rounds_oldest(level); task; task = task->next)
			if (is_throttle(task))
				return wants(task);
	/* the throttle tasks that are left have issued all of their CTAs */
	return throttle.sms;
}

/* COMMAND_OWED_THROTTLE keeps room for one such command; no second one is sent before the event of the first. */
static void send(uint32_t sms)
{
	uint32_t mask[FW_MAX_SMS / 32], blocks = fw.shared_blocks, *p = command_begin(2 + fw.words), w, got;

	patience_let_go(); /* of a child task that could issue while the card was being emptied */
	for (w = 0; w < fw.words; w++)
		mask[w] = w + 1 < fw.words || !(fw.sms % 32) ? ~0u : (1u << fw.sms % 32) - 1;
	if (sms) {
		got = first_enabled(sms, mask);
		blocks = blocks_of(got ? got : 1);
	}
	p[0] = TUTTI_COMMAND(TUTTI_CMD_THROTTLE, 2 + fw.words, !!sms);
	p[1] = blocks;
	words_copy(p + 2, mask, fw.words);
	command_end(p + 2 + fw.words);
	shape_limit(mask, blocks);
	throttle.sms = (uint16_t)sms;
	throttle.mode = THROTTLE_SWITCH;
	counters.throttles++;
}

static void update(void)
{
	if (throttle.mode == THROTTLE_SWITCH)
		return;
	if (next_size() == throttle.sms) {
		if (throttle.mode == THROTTLE_DRAIN)
			throttle.mode = throttle.sms ? THROTTLE_ON : THROTTLE_OFF;
	} else {
		throttle.mode = THROTTLE_DRAIN;
		/* The task for which they are held may not issue now, and those that may would be kept off them. */
		patience_let_go();
	}
	if (throttle.mode == THROTTLE_OFF) {
		place_state.detours &= ~DETOUR_THROTTLE;
		return;
	}
	place_state.detours |= DETOUR_THROTTLE;
	throttle_empty();
}

COLD void throttle_empty(void)
{
	if (throttle.mode == THROTTLE_DRAIN && !place_state.residents)
		send(next_size());
}

COLD void throttle_admit(const struct task *task)
{
	if (!is_throttle(task))
		return;
	throttle.tasks++;
	update();
}

COLD void throttle_leave(const struct task *task)
{
	if (!is_throttle(task))
		return;
	throttle.tasks--;
	update();
}

/* If all SMs that share were disabled, the tasks wait for others to be enabled, and then these share. */
COLD void throttle_sms(void)
{
	uint32_t mask[FW_MAX_SMS / 32], w, usable = 0;

	if (throttle.mode != THROTTLE_ON || !first_enabled(throttle.sms, mask))
		return;
	for (w = 0; w < fw.words; w++)
		usable |= shapes.enabled[w] & shapes.limit[w];
	if (usable)
		return;
	throttle.mode = THROTTLE_DRAIN;
	throttle_empty();
}

COLD void throttle_event(const struct tutti_event *event)
{
	if (throttle.mode != THROTTLE_SWITCH)
		return;
	(void)event;
	throttle.mode = throttle.sms ? THROTTLE_ON : THROTTLE_OFF;
	update();
	rounds_run();
}

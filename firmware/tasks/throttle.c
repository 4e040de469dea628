// SPDX-License-Identifier: MIT
#include "tasks/throttle.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "place/plain_grid.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"

/* More than this no SM can address (wave.h, shared window). */
#define BLOCKS_MAX 256u

enum throttle_mode {
	THROTTLE_OFF,
	THROTTLE_DRAIN,  /* the card is being emptied, to switch on or to another size */
	THROTTLE_SWITCH, /* THROTTLE was sent */
	THROTTLE_ON,
};

static struct {
	uint8_t mode;     /* enum throttle_mode */
	uint16_t sms;     /* that share, while on */
	uint16_t tasks;   /* throttle tasks in the table */
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

/* Shared blocks of an SM when @sms share. */
static uint32_t blocks_of(uint32_t sms)
{
	uint32_t blocks = fw.sms * fw.shared_blocks / sms;

	return blocks < BLOCKS_MAX ? blocks : BLOCKS_MAX;
}

uint32_t throttle_limit(const struct tmd *tmd)
{
	return tmd_flag(tmd, TUTTI_TMD_THROTTLE) ? blocks_of(tmd_static(tmd)->throttle_sms) : 0;
}

/* The first @n enabled SMs. Return: how many there are. */
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

/* The oldest throttle task of the highest level says how many SMs share; 0 = none is left. */
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
	/* what is left has issued everything */
	return throttle.sms;
}

/* COMMAND_OWED_THROTTLE: one is under way at most, and its event comes after it was taken. */
static void send(uint32_t sms)
{
	uint32_t mask[FW_MAX_SMS / 32], blocks = fw.shared_blocks, *p = command_begin(2 + fw.words), w, got;

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
	if (throttle.mode == THROTTLE_DRAIN && !shapes.residents)
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

COLD void throttle_event(const struct tutti_event *event)
{
	if (throttle.mode != THROTTLE_SWITCH)
		return;
	(void)event;
	throttle.mode = throttle.sms ? THROTTLE_ON : THROTTLE_OFF;
	update();
	rounds_run();
}

// SPDX-License-Identifier: MIT
#include "place/plain_grid.h"

#include "core/state.h"
#include "groups/cga.h"
#include "place/affinity.h"
#include "place/sm_score.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/state_sync.h"
#include "tasks/work_queue.h"

/* A record is full when the next segment does not fit: two are more than one record has. */
#define SPLIT_RECORDS (2 * LAKE_MESSAGE(LAKE_WORDS) / COMMAND_RECORD + 2)

void place_init(void)
{
	place_state = (struct place_state){ .message_words = 1 + LAKE_MESSAGE(fw.words) };
	place_state.free_words = 2 * PLACE_ROOM;
}

/* Segments that do not fit one record: cut them into several, each with its own first word. */
static COLD uint32_t *split(uint32_t *p, uint32_t *end, unsigned slot)
{
	uint32_t *first[SPLIT_RECORDS], *at, *to, records = 0, words = 0, used = COMMAND_RECORD, i;

	for (at = p + 1; at < end; at += words) {
		words = 1 + (*at >> 24);
		if (used + words > COMMAND_RECORD) {
			first[records++] = at;
			used = 1;
		}
		used += words;
	}
	/* each record moves up by the first words of those before it, the last one first */
	to = end + records - 1;
	for (at = end; records--;) {
		words = (uint32_t)(at - first[records]);
		at = first[records];
		for (i = words; i--;)
			at[records + i] = at[i];
		at[(int)records - 1] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 1 + words, slot);
	}
	return to;
}

static inline uint32_t *finish(uint32_t *p, uint32_t *end, unsigned slot)
{
	uint32_t words = (uint32_t)(end - p);

	if (unlikely(words > COMMAND_RECORD))
		return split(p, end, slot);
	*p = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, words, slot);
	return end;
}

static inline void account(struct task *task, uint32_t placed)
{
	task->unissued -= placed;
	task->resident += placed;
	task->shape->residents += placed;
	shapes.residents += placed;
	counters.ctas_issued += placed;
	counters.placements++;
}

/* The lake @task may use now; *@own: it is the shape's own one. */
static struct lake *lake_for(const struct task *task, bool *own)
{
	struct shape *shape = task->shape;
	const struct tmd *tmd = task_tmd(task);
	struct lake *lake;

	domain_settle();
	*own = shape_alone(shape);
	lake = *own ? &shape->lake : shape_mixed(shape);
	if (!tmd || !tmd->affinity)
		return lake;
	*own = false;
	return shape_masked(lake, affinity_mask(tmd->affinity));
}

uint32_t place_some(struct task *task, uint32_t n)
{
	uint32_t lead = task->rare & TASK_WORK ? WORK_WORDS : 0;
	uint32_t *p, *out, *end, left;
	struct lake *lake;
	bool own;

	if (task->rare & TASK_CGA)
		return cga_place(task, n);
	/* dry even for CTAs that have the card to themselves */
	if (task->shape->lake.top == task->shape->lake.row)
		return 0;
	if (lead && n > work_most())
		n = work_most();
	lake = lake_for(task, &own);
	p = command_begin(place_state.message_words + lead);
	out = p + 1 + lead;
	if (place_state.round_robin)
		left = lake_pour_round(lake, n, &place_state.round_next, out, &end);
	else if (scoring.policy)
		left = score_pour(task->shape, lake, n, out, &end);
	else
		left = lake_pour(lake, n, out, &end);
	if (left == n)
		return 0;
	if (!own)
		shape_poured(task->shape, scoring.policy && !place_state.round_robin ? NULL : lake, out, end);
	n -= left;
	if (lead)
		command_end(work_launch(task, p, end, n));
	else
		command_end(finish(p, end, task->slot));
	account(task, n);
	return n;
}

/* Place what fits of a new task. Return: CTAs left. */
static HOT uint32_t place(struct task *task)
{
	struct shape *shape = task->shape;
	uint32_t *p, *end, left, n = task->unissued;

	if (unlikely(!shape_alone(shape) || place_state.round_robin)) {
		place_some(task, n);
		return task->unissued;
	}
	p = command_begin(place_state.message_words);
	left = lake_pour(&shape->lake, n, p + 1, &end);
	if (left == n)
		return left;
	command_end(finish(p, end, task->slot));
	account(task, n - left);
	return left;
}

static COLD void place_later(struct task *task, const uint32_t *command)
{
	pending_keep(task, command);
	rounds_add(task);
}

static COLD void place_held(struct task *task, const uint32_t *command)
{
	sync_sent(task);
	place_later(task, command);
}

HOT void place_task(struct task *task, const uint32_t *command)
{
	counters.placements--;
	if (unlikely(place_state.hold))
		place_held(task, command);
	else if (unlikely(place(task)))
		place_later(task, command);
}

static __attribute__((noinline)) void place_slow(struct task *task, const uint32_t *command, uint32_t n)
{
	task->unissued = n;
	place_task(task, command);
}

HOT void place_new(struct task *task, const uint32_t *command, uint32_t *end, struct shape *shape, uint32_t n)
{
	uint32_t words = 3;

	/* the lake of the shape is the truth, and CTAs go where it says */
	if (unlikely((shapes.residents ^ shape->residents) | shapes.special | place_state.odd))
		return place_slow(task, command, n);
	if (n <= PLACE_FEW) {
		if (unlikely(!lake_pour_few(&shape->lake, n, end + 1)))
			return place_slow(task, command, n);
	} else {
		words = lake_pour_flat(&shape->lake, n, end + 1) + 1;
		if (words == 1)
			return place_slow(task, command, n);
	}
	/* account(), for a task that has none yet; the placement is counted with the kernel */
	end[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, words, task->slot);
	command_end(end + words);
	task->resident = n;
	shape->residents += n;
	shapes.residents += n;
	counters.ctas_issued += n;
}

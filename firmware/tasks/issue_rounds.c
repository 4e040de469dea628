// SPDX-License-Identifier: MIT
#include "tasks/issue_rounds.h"

#include "core/queue_record.h"
#include "core/state.h"
#include "core/visit.h"
#include "core/wait.h"
#include "groups/cga.h"
#include "place/plain_grid.h"
#include "tasks/metadata.h"
#include "tasks/patience.h"
#include "tasks/pending_tasks.h"
#include "tasks/priority_windows.h"
#include "tasks/throttle.h"
#include "tasks/tie_lots.h"
#include "tasks/wave_split.h"
#include "tasks/work_queue.h"

/* The steps (visit.h) of a round: for itself, for each candidate, and for each word of its commands. */
#define ROUND_STEPS 180u
#define CANDIDATE_STEPS 25u
#define WORD_STEPS 8u
#define CUTS_MOST 64u /* visits in a row that were cut and placed nothing, before rounds begin no more anew */
#define CTAS_LATE 32u /* most CTAs that a task issues after so many: there may be room again for tasks that failed before it */

static struct {
	struct task *first[ROUNDS_LEVELS], *last[ROUNDS_LEVELS];
	uint32_t map;                  /* mask of the levels that are not empty */
	struct task *turn[ROUNDS_LEVELS]; /* the task whose turn it is, where quotas decide */
	uint32_t failed;               /* mask of the slots of tasks that did not fit; valid while the rounds are cut short */
	uint32_t tried;                /* mask of the slots of tasks that have had their chance in this visit */
	uint32_t due;                  /* mask of the slots of tasks that come first, since visits were over before */
	uint32_t cuts;                 /* how often the rounds were cut since a CTA was placed */
	const struct task *on_held;    /* the task whose search on SMs that are held goes on in another visit, or NULL */
} rounds;

void rounds_init(void)
{
	unsigned i;

	rounds.map = rounds.failed = rounds.due = rounds.cuts = 0;
	rounds.on_held = NULL;
	for (i = 0; i < ROUNDS_LEVELS; i++)
		rounds.first[i] = rounds.last[i] = rounds.turn[i] = NULL;
	patience_init();
	visit_init();
}

/* ---- lists ---- */

unsigned rounds_level(const struct task *task)
{
	return task->rare & TASK_SPLIT ? ROUNDS_SPLIT_LEVEL : task_priority(task);
}

void rounds_add(struct task *task)
{
	unsigned level = rounds_level(task);

	task->next = NULL;
	task->prev = rounds.last[level];
	if (task->prev)
		task->prev->next = task;
	else
		rounds.first[level] = task;
	rounds.last[level] = task;
	rounds.map |= 1u << level;
	patience_joined(task);
	rounds.failed &= ~(1u << task->slot);
	rounds.due &= ~(1u << task->slot);
	task->rare |= TASK_ISSUES;
	place_state.detours |= DETOUR_ISSUE;
}

void rounds_remove(struct task *task)
{
	unsigned level = rounds_level(task);

	if (!(task->rare & TASK_ISSUES))
		return;
	task->rare &= (uint16_t)~TASK_ISSUES;
	rounds.failed &= ~(1u << task->slot);
	rounds.due &= ~(1u << task->slot);
	if (rounds.turn[level] == task)
		rounds.turn[level] = task->next ? task->next : rounds.first[level];
	if (rounds.turn[level] == task)
		rounds.turn[level] = NULL;
	if (task->prev)
		task->prev->next = task->next;
	else
		rounds.first[level] = task->next;
	if (task->next)
		task->next->prev = task->prev;
	else
		rounds.last[level] = task->prev;
	if (!rounds.first[level])
		rounds.map &= ~(1u << level);
	if (!rounds.map)
		place_state.detours &= ~DETOUR_ISSUE;
	patience_left(task);
}

bool rounds_idle(void)
{
	const struct task *task;
	uint32_t levels;

	for (levels = rounds.map; levels; levels &= levels - 1)
		for (task = rounds.first[lowest_bit(levels)]; task; task = task->next)
			if (task->unissued)
				return false;
	return true;
}

const struct task *rounds_oldest(unsigned level)
{
	return rounds.first[level];
}

struct task *rounds_victim(unsigned level)
{
	struct task *task;
	unsigned p;

	for (p = PENDING_LEVELS; p > level; p--)
		for (task = rounds.last[p]; task; task = task->prev)
			if (task->rare & TASK_KEPT && (task->unissued || task->rare & TASK_WORK) &&
			    !(task->rare & TASK_SPLITTING))
				return task;
	return NULL;
}

/* ---- eligible tasks ---- */

/* The rules of TSK-04 in their order. Deallocation and eviction take a task out of its list; the others are here. */
uint32_t rounds_limit(const struct task *task)
{
	const struct tmd *tmd = task_tmd(task);

	if (!task->unissued || task->state != TASK_RUNNING)
		return 0;
	if (unlikely(place_state.detours & DETOUR_THROTTLE) && !throttle_allows(task))
		return 0;
	if (queue_table.suspended && task->rare & TASK_WORK)
		return 0;
	if (tmd && tmd_flag(tmd, TUTTI_TMD_SEQUENCE))
		return !task->resident;
	return task->unissued;
}

/* Collect the tasks of one level that may issue and have not yet failed to fit. */
static unsigned candidates(unsigned level, uint32_t failed, struct task **tie)
{
	struct task *task;
	unsigned n = 0;

	for (task = rounds.first[level]; task; task = task->next)
		if (!(failed >> task->slot & 1) && rounds_limit(task))
			tie[n++] = task;
	return n;
}

/* Take @task out of @list, which has @n tasks. Return: how many are left */
static unsigned without(struct task **list, unsigned n, const struct task *task)
{
	unsigned i, left = 0;

	for (i = 0; i < n; i++)
		if (list[i] != task)
			list[left++] = list[i];
	return left;
}

/* Keep only the oldest candidate of each queue (RES-01, RES-02). */
static unsigned heads(struct task **tie, unsigned n)
{
	struct queue_set seen = { 0 };
	unsigned i, left = 0;

	for (i = 0; i < n; i++) {
		if (queue_set_has(&seen, queue_id(tie[i]->queue)))
			continue;
		queue_set_add(&seen, queue_id(tie[i]->queue));
		tie[left++] = tie[i];
	}
	return left;
}

static uint32_t quota_of(const struct task *task)
{
	const struct tmd *tmd = task_tmd(task);

	return tmd && !tmd_flag(tmd, TUTTI_TMD_SEQUENCE) ? tmd_static(tmd)->quota : 0;
}

static uint32_t slots_of(struct task **tie, unsigned n)
{
	uint32_t slots = 0;

	while (n--)
		slots |= 1u << tie[n]->slot;
	return slots;
}

/*
 * Quotas (TSK-09). Among tasks of one level the turn goes round in the order of their age in the table. A task that has
 * issued its quota is passed over while another one of them has CTAs to issue, and so is one that may not issue or does
 * not fit when it is its turn: the one behind it goes.
 */
static struct task *turn_of(unsigned level, struct task **tie, unsigned n)
{
	uint32_t able = slots_of(tie, n);
	struct task *task;

	for (task = rounds.turn[level]; task; task = task->next)
		if (able >> task->slot & 1)
			return task;
	return tie[0];
}

static bool any_quota(struct task **tie, unsigned n)
{
	while (n--)
		if (quota_of(tie[n]))
			return true;
	return false;
}

/*
 * Choose a task, and how many CTAs it may issue at most before the next choice.
 * @n: number of candidates; of each queue only one is left if lots are drawn
 * @turn: set if quotas decide
 */
static struct task *choose(unsigned level, struct task **tie, unsigned *n, uint32_t *most, bool *turn)
{
	struct task *task = tie[0];

	*most = rounds_limit(task);
	*turn = *n > 1 && any_quota(tie, *n);
	if (*n == 1)
		return task;
	if (*turn) {
		task = turn_of(level, tie, *n);
		*most = rounds_limit(task);
		if (!quota_of(task))
			*most = 1;
		else if (*most > task->tmd->quota_left)
			*most = task->tmd->quota_left;
		return task;
	}
	*n = heads(tie, *n);
	if (*n == 1 || !lots_seeded())
		return task;
	*most = 1;
	return lots_choose(level, tie, *n);
}

/*
 * Choose a task that is due. Only the oldest of its queue may be (RES-02), and where quotas decide the turn goes round
 * anyway.
 */
static COLD struct task *choose_due(struct task **tie, unsigned *n)
{
	uint32_t all = slots_of(tie, *n);
	unsigned i;

	if (*n == 1 || !(rounds.due & all) || any_quota(tie, *n))
		return NULL;
	*n = heads(tie, *n);
	for (i = 0; i < *n; i++)
		if (rounds.due >> tie[i]->slot & 1)
			return tie[i];
	rounds.due &= ~all;
	return NULL;
}

static inline struct task *next_of(unsigned level, struct task **tie, unsigned *n, uint32_t *most, bool *turn)
{
	struct task *task = unlikely(rounds.due) ? choose_due(tie, n) : NULL;

	if (likely(!task))
		return choose(level, tie, n, most, turn);
	*most = lots_seeded() ? 1 : rounds_limit(task);
	*turn = false;
	return task;
}

/*
 * When the quota is used up the turn passes to the next task of the level. While a task is alone there is no other to
 * pass it to; its quota is full again when another one comes.
 */
static void account(struct task *task, unsigned level, uint32_t placed, bool turn)
{
	uint32_t quota = quota_of(task);

	if (!turn) {
		if (quota)
			task->tmd->quota_left = quota;
		return;
	}
	rounds.turn[level] = task;
	if (quota) {
		/* whole CGAs are placed, so it may be more than was left */
		if (placed < task->tmd->quota_left) {
			task->tmd->quota_left -= placed;
			return;
		}
		task->tmd->quota_left = quota;
		task->tmd->turns++;
		counters.turns++;
	}
	rounds.turn[level] = task->next ? task->next : rounds.first[level];
}

/* ---- rounds ---- */

static void placed_some(struct task *task)
{
	if (unlikely(rounds.cuts >= CUTS_MOST))
		rounds.failed = 0; /* they may fit by now, and come before others that are still to have their chance */
	rounds.cuts = 0;
	patience_placed(task);
	if (task->rare & TASK_WORK) {
		work_taken(task);
	} else if (!task->unissued) {
		rounds_remove(task);
		task_unkeep(task);
	}
}

/* CTAs in CGAs, of queue tasks and of plain grids are placed in different ways. Return: CTAs placed */
static uint32_t place(struct task *task, uint32_t n)
{
	if (task->rare & TASK_CGA) {
		if (likely(visit_has(VISIT_STEPS / 2)))
			return cga_place(task, n);
		visit_cut(); /* a search is long and cannot be interrupted */
		return 0;
	}
	if (task->rare & TASK_WORK)
		return work_place(task, n);
	return place_some(task, n, task->rare & (TASK_TMD | TASK_SPLIT) ? split_affinity(task) : NULL, NULL);
}

/*
 * SMs are held for a task that was passed over: it may use them, and so may tasks of higher priority, and equals that have
 * been passed over more often. They do only when there is no room elsewhere, because SMs that are held have more free
 * slots than others. Anyone else that has lost its patience waits for a hold of its own: small CTAs that are passed over
 * again and again would otherwise keep the SMs from ever becoming empty.
 */
static bool may_use_held(const struct task *task)
{
	const struct task *holder = patience_holder;

	if (!holder || task == holder || rounds_level(task) != rounds_level(holder))
		return holder && rounds_level(task) <= rounds_level(holder);
	return task->passed > holder->passed;
}

static COLD uint32_t place_on_held(struct task *task, uint32_t n)
{
	shape_hold_lift(true);
	n = place(task, n);
	shape_hold_lift(false);
	rounds.on_held = place_state.detours & DETOUR_CUT ? task : NULL;
	return n;
}

/*
 * The visit is over before all tasks had their chance. Those that had none are the first of their level in the next
 * visits; otherwise older ones that find a little room in each visit might use up all of them. New ones become due when
 * all that were due have had their chance.
 */
static COLD void postpone(void)
{
	struct task *tie[FW_TASKS];
	uint32_t levels, able, due = 0;

	for (levels = rounds.map; levels; levels &= levels - 1) {
		able = slots_of(tie, candidates(lowest_bit(levels), rounds.failed, tie));
		due |= rounds.due & able ? rounds.due & able : able & ~rounds.tried;
	}
	rounds.due = due;
	visit_cut();
}

/* @task has had its chance. */
static inline void had_chance(const struct task *task)
{
	rounds.tried |= 1u << task->slot;
	rounds.due &= ~(1u << task->slot);
}

/*
 * One round on one level. Return: false if no task of it may issue and fits, or if that is not known yet because the
 * rounds were cut short
 */
static bool round_level(unsigned level, const struct task **went)
{
	struct task *able[FW_TASKS], *tie[FW_TASKS], *task;
	unsigned left = candidates(level, rounds.failed, able), n;
	uint32_t most, placed, tail = command_tail();
	bool turn;

	for (; left; left = without(able, left, task)) {
		if (unlikely(!visit_goes_on(0))) {
			postpone();
			break;
		}
		for (n = 0; n < left; n++)
			tie[n] = able[n];
		task = next_of(level, tie, &n, &most, &turn);
		if (unlikely(rounds.cuts >= CUTS_MOST))
			most = min32(most, CTAS_LATE);
		placed = unlikely(rounds.on_held == task) && may_use_held(task) ? 0 : place(task, most);
		if (unlikely(!placed) && !(place_state.detours & DETOUR_CUT) && may_use_held(task))
			placed = place_on_held(task, most);
		/* Counted after the search, so that many candidates leave no fewer steps for it. */
		visit_goes_on(ROUND_STEPS + left * CANDIDATE_STEPS);
		if (likely(!(place_state.detours & DETOUR_CUT)))
			had_chance(task);
		if (placed) {
			lots_went(level, tie, n, task);
			account(task, level, placed, turn);
			placed_some(task);
			visit_goes_on((command_tail() - tail) * WORD_STEPS);
			if (!*went || level >= rounds_level(*went))
				*went = task;
			return true;
		}
		if (unlikely(place_state.detours & DETOUR_CUT)) {
			rounds.due |= 1u << task->slot; /* its search goes on first */
			break;
		}
		rounds.failed |= 1u << task->slot;
	}
	return false;
}

/*
 * Run rounds until no task fits any more. Return: false if that was not possible yet, because there was no room for
 * commands or the visit was over
 */
static bool run_rounds(void)
{
	const uint8_t *level;
	const struct task *lowest = NULL;
	uint32_t held;
	bool went;

	if (unlikely(place_state.detours & DETOUR_HOLDING))
		patience_check();
	while (!rounds_idle()) {
		if (unlikely(!place_room())) {
			state_retry();
			return false;
		}
		went = false;
		held = place_state.detours & DETOUR_HOLDING;
		for (level = window_order(); *level && !went && !(place_state.detours & DETOUR_CUT); level++)
			if (rounds.map >> *level & 1)
				went = round_level(*level, &lowest);
		if (unlikely(place_state.detours & DETOUR_CUT)) {
			rounds.cuts++;
			if (rounds.failed && lowest)
				patience_lost(rounds.failed, lowest);
			return false;
		}
		if (unlikely(held & ~place_state.detours))
			rounds.failed = 0; /* the hold has ended, so there may be room for those that failed */
		if (!went)
			break;
	}
	if (rounds.failed)
		patience_lost(rounds.failed, lowest);
	return true;
}

/*
 * There may be room again for tasks that have failed. But where the visits are over before the last task has had its
 * chance, and none places anything, the rounds come to an end first.
 */
void rounds_run(void)
{
	if (likely(!(place_state.detours & DETOUR_CUT)) || rounds.cuts < CUTS_MOST)
		rounds.failed = 0;
	if (rounds.map)
		rounds_go_on();
}

void rounds_go_on(void)
{
	rounds.tried = 0;
	state_detour(DETOUR_CUT, false);
	if (unlikely(patience_waiting))
		patience_go_on();
	while (rounds.map && run_rounds() && split_round(rounds.failed))
		rounds.failed = 0;
	if (!(place_state.detours & DETOUR_CUT))
		rounds.failed = rounds.cuts = 0;
	state_detour(DETOUR_ISSUE, !rounds_idle());
}

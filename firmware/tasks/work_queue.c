// SPDX-License-Identifier: MIT
#include "tasks/work_queue.h"

#include "core/clock.h"
#include "core/command_ring.h"
#include "core/counters.h"
#include "core/hal.h"
#include "core/state.h"
#include "core/wait.h"
#include "place/plain_grid.h"
#include "tasks/issue_rounds.h"
#include "tasks/pending_tasks.h"
#include "tasks/throttle.h"

#define WORK_CLOSED offsetof(struct tutti_work_queue, closed)
#define WORK_READ offsetof(struct tutti_work_queue, read_index)
#define NO_TIME (~0ull)

/* "closed" is fetched before the write index: whoever closes the queue has written all items before. */
#define NUMBER_CLOSED 0x100u

static const struct tutti_tmd *at(const struct tmd *tmd)
{
	return tmd_static(tmd);
}

/* The task with this metadata, or NULL if it has no slot. */
static struct task *task_with(const struct tmd *tmd)
{
	struct task *task;

	for (task = tasks; task < tasks + fw.tasks; task++)
		if (task->state != TASK_FREE && task->rare & TASK_WORK && task->tmd == tmd)
			return task;
	return NULL;
}

/* ---- polling ---- */

COLD void work_poll(struct tmd *tmd)
{
	struct work *work = &tmd->work;
	unsigned number = tmd_number(tmd), asid = queue_asid(tmd->queue);

	if (queue_table.suspended)
		return;
	if (work->fetching || !command_ask(2 * COMMAND_FETCH_WORDS)) {
		work->again = 1;
		return;
	}
	work->fetching = 1;
	work->again = 0;
	counters.fetches += 2;
	command_fetch(asid, 0, at(tmd)->queue + WORK_CLOSED, 4, &work->fetched[3], TAG_WORK | NUMBER_CLOSED | number);
	command_fetch(asid, 0, at(tmd)->queue, 8, &work->fetched[0], TAG_WORK | number);
}

COLD void work_poll_all(const struct queue *queue)
{
	struct tmd *tmd;

	for (tmd = tmd_next_work(NULL); tmd; tmd = tmd_next_work(tmd))
		if (!queue || tmd->queue == queue)
			work_poll(tmd);
}

COLD void work_resume(void)
{
	struct tmd *tmd;

	for (tmd = tmd_next_work(NULL); tmd; tmd = tmd_next_work(tmd))
		if (tmd->work.again && !tmd->work.fetching)
			work_poll(tmd);
}

COLD int work_notify(unsigned asid, uint64_t address)
{
	struct tmd *tmd;

	for (tmd = tmd_next_work(NULL); tmd; tmd = tmd_next_work(tmd))
		if (tmd->address == address && queue_asid(tmd->queue) == asid) {
			work_poll(tmd);
			return 0;
		}
	return -TUTTI_ENOENT;
}

/* ---- what can be issued ---- */

/* Return: how many CTAs can be issued now; work->each: of how many items each */
static uint32_t ready(struct tmd *tmd)
{
	struct work *work = &tmd->work;
	uint32_t items = (uint32_t)(work->written - work->read);
	uint32_t least = at(tmd)->coalesce_min, most = at(tmd)->coalesce_max;

	work->each = items < most ? items : most;
	if (items >= most) {
		work->expired = 0;
		work->deadline = NO_TIME;
		return most & (most - 1) ? items / most : items >> lowest_bit(most);
	}
	if (work->closed)
		least = 1;
	if (items && (items >= least || work->expired))
		return 1;
	if (!items) {
		work->deadline = NO_TIME;
	} else if (work->deadline == NO_TIME) {
		work->deadline = clock_now() + (uint64_t)at(tmd)->coalesce_us * fw.ticks_per_us;
		clock_at(work->deadline);
	}
	return 0;
}

static bool is_over(const struct work *work)
{
	return work->closed && work->read == work->written;
}

/*
 * Place CTAs of a task that has just got items. If nothing else waits for anything and no attribute of the task needs a
 * round, a round would do the same.
 */
static void start(struct task *task)
{
	if (!place_state.detours && !queue_table.suspended && !tmd_flag(task->tmd, TMD_ROUNDS) && place_room() &&
	    work_place(task, task->unissued)) {
		task->passed = 0;
		work_taken(task);
	}
	if (!task->unissued)
		return;
	if (tmd_flag(task->tmd, TUTTI_TMD_THROTTLE))
		throttle_update();
	rounds_run();
}

/* The work queue may have changed: see whether its task can issue CTAs, must wake up, or ends. */
static void look(struct tmd *tmd)
{
	struct task *task = task_with(tmd);
	struct pending *p;
	uint32_t n = ready(tmd);

	if (!task) {
		p = pending_with(tmd);
		if (p && (n || is_over(&tmd->work)))
			pending_wake(p);
		return;
	}
	if (!task_runs(task)) {
		if (task->state == TASK_LEAVING)
			task->unissued = n; /* it is not asleep when it has left */
		return;
	}
	task->unissued = n;
	if (n)
		start(task);
	else if (!task->resident && is_over(&tmd->work))
		task_complete(task);
	else if (place_state.detours & DETOUR_PENDING)
		pending_evict(PENDING_LEVELS);
}

/* Return: the queue that stops because of it, or NULL if it stops only when its task has been killed */
static COLD struct queue *fetch_failed(struct tmd *tmd, unsigned cause, uint64_t address, struct tutti_fault *fault)
{
	struct task_error error = { .code = TUTTI_ERROR_TMD, .engine = TUTTI_ENGINE_FETCH, .access = TUTTI_ACCESS_READ,
				    .cause = (uint8_t)cause, .sm_wave = ~0u, .address = address };
	struct task *task = task_with(tmd);
	struct pending *p = pending_with(tmd);
	struct queue *queue;

	if (task) {
		task_fail(task, &error);
		return NULL;
	}
	if (!p)
		return NULL;
	queue = p->queue;
	*fault = (struct tutti_fault){ .code = error.code, .engine = error.engine, .access = error.access,
				       .cause = error.cause, .sm = 0xffff, .address = address, .packet = p->packet };
	pending_drop(p, false);
	return queue;
}

COLD struct queue *work_event_fetch(unsigned number, const struct tutti_event *event, struct tutti_fault *fault)
{
	struct tmd *tmd = tmd_at(number & 0xff);
	struct work *work = &tmd->work;
	unsigned cause = event->word[0] >> 8 & 0xff;
	uint64_t there;

	if (!work->fetching)
		return NULL;
	if (cause) {
		work->fetching = 2;
		tmd->cause = (uint8_t)cause;
	}
	if (number & NUMBER_CLOSED)
		return NULL;
	cause = work->fetching == 2 ? tmd->cause : 0;
	work->fetching = 0;
	if (tmd->stage == TMD_ENDED) {
		tmd_put(tmd);
		return NULL;
	}
	if (cause)
		return fetch_failed(tmd, cause, event->word[1] | (uint64_t)event->word[2] << 32, fault);
	/* there cannot be more items than the queue holds, whatever the index says */
	there = work->fetched[0] - work->read;
	if (!(there >> 63))
		work->written = work->read + (there < work->items ? there : work->items);
	work->closed |= !!(uint32_t)work->fetched[3];
	if (work->again)
		work_poll(tmd);
	look(tmd);
	return NULL;
}

/* ---- issuing ---- */

static uint32_t most(void)
{
	/* the segments of so many CTAs fit one LAUNCH, however many levels of free slots they are spread over */
	return fw.words > 8 ? 16 : 64;
}

uint32_t work_place(struct task *task, uint32_t n)
{
	struct work *work = &task->tmd->work;
	const uint32_t items[PLACE_ITEM_WORDS] = { (uint32_t)work->read, (uint32_t)(work->read >> 32), work->each };

	n = place_some(task, min32(n, most()), tmd_affinity(task->tmd), items);
	work->read += (uint64_t)n * work->each;
	work->issued += n;
	return n;
}

/* The room for the command is part of PLACE_OTHERS, which was asked for with the placement. */
COLD void work_taken(struct task *task)
{
	struct tmd *tmd = task->tmd;
	struct work *work = &tmd->work;

	if (work->each < at(tmd)->coalesce_max) {
		work->expired = 0;
		work->deadline = NO_TIME;
	}
	command_write(tmd->queue->asid_queue, at(tmd)->queue + WORK_READ, work->read, 8);
	task->unissued = ready(tmd);
}

COLD bool work_over(const struct task *task)
{
	return is_over(&task->tmd->work);
}

COLD uint32_t work_quiet(const struct queue *queue)
{
	struct tmd *tmd;
	const struct task *task;
	uint32_t n = 0;

	if (!queue->works)
		return 0;
	for (tmd = tmd_next_work(NULL); tmd; tmd = tmd_next_work(tmd)) {
		if (tmd->queue != queue || tmd->work.fetching)
			continue;
		task = task_with(tmd);
		n += !task || !task->resident;
	}
	return n;
}

/* ---- time ---- */

COLD uint64_t work_earliest(uint64_t none)
{
	struct tmd *tmd;

	for (tmd = tmd_next_work(NULL); tmd; tmd = tmd_next_work(tmd))
		if (tmd->work.deadline < none)
			none = tmd->work.deadline;
	return none;
}

COLD void work_timeout(uint64_t time)
{
	struct tmd *tmd;

	for (tmd = tmd_next_work(NULL); tmd; tmd = tmd_next_work(tmd))
		if (tmd->work.deadline <= time) {
			tmd->work.deadline = NO_TIME;
			tmd->work.expired = 1;
			tmd->timeouts++;
			counters.timeouts++;
			look(tmd);
		}
}

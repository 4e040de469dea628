// SPDX-License-Identifier: MIT
#include "tasks/task_table.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/visit.h"
#include "core/wait.h"
#include "place/gpc_slots.h"
#include "place/mixed_shapes.h"
#include "place/plain_grid.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/throttle.h"
#include "tasks/wave_split.h"
#include "tasks/work_queue.h"

struct task_error task_errors[FW_TASKS];

static struct task_group groups[FW_TASKS];

COLD void task_init(void)
{
	unsigned i;

	task_table = (struct task_table){ 0 };
	for (i = FW_TASKS; i--;) {
		tasks[i] = (struct task){ .slot = (uint8_t)i };
		groups[i].open = 0;
		groups[i].next = task_table.groups;
		task_table.groups = &groups[i];
		if (i < fw.tasks) {
			tasks[i].next = task_table.free;
			task_table.free = &tasks[i];
		}
	}
}

/*
 * While several clients have queues, none of them has more groups than it leaves free: so packets of another one find some,
 * however long its kernels run (REL-11).
 */
static COLD bool few_groups(unsigned asid)
{
	const struct task_group *group;
	unsigned own = 0, free = 0;

	for (group = groups; group < groups + FW_TASKS; group++) {
		free += !group->open;
		own += group->open && group->asid == asid;
	}
	return own < free;
}

struct task_group *task_group_create(unsigned asid)
{
	struct task_group *group = task_table.groups;

	if (!group || (queue_table.shared && !few_groups(asid)))
		return NULL;
	task_table.groups = group->next;
	*group = (struct task_group){ .open = 1, .asid = (uint16_t)asid };
	return group;
}

/* Where a wrap is needed; apart, so that the usual way needs no stack. */
static COLD __attribute__((noinline)) void clean_up_wrapped(struct queue *queue, unsigned release, uint64_t signal)
{
	command_end(task_put_ends(command_wrap(), queue, release, signal, true));
}

static inline __attribute__((always_inline)) void clean_up_here(struct queue *queue, unsigned release, uint64_t signal)
{
	uint32_t *p = command_ring.next;

	if (unlikely((size_t)((char *)command_ring.end - (char *)p) <= 4 * COMMAND_CLEAN_UP_WORDS))
		clean_up_wrapped(queue, release, signal);
	else
		command_end(task_put_ends(p, queue, release, signal, true));
}

static void clean_up(struct queue *queue, unsigned release, uint64_t signal)
{
	clean_up_here(queue, release, signal);
}

/* The room is that of the signal of clean_up(), which is not sent then, or pending_drop() has asked for it. */
static COLD void cancel_signal(struct queue *queue, uint64_t signal)
{
	if (!signal)
		return;
	command_signal(queue->asid_queue, signal, queue->vector | TUTTI_SIGNAL_CANCEL);
	counters.signals++;
}

void task_group_spoil(struct task_group *group, bool cancel)
{
	if (cancel)
		group->cancelled = 1;
	else
		group->signal = 0;
}

void task_group_put(struct queue *queue, struct task_group *group)
{
	if (--group->open)
		return;
	clean_up(queue, group->release, group->cancelled ? 0 : group->signal);
	if (group->cancelled)
		cancel_signal(queue, group->signal);
	group->next = task_table.groups;
	task_table.groups = group;
	wait_wake(WAIT_SLOT); /* a packet may wait for the group, while no task slot becomes free */
}

unsigned task_priority(const struct task *task)
{
	unsigned own = task->rare & TASK_TMD ? tmd_static(task->tmd)->priority : 0;

	return own ? own : task->queue->priority;
}

uint32_t task_issued(const struct task *task)
{
	if (task->rare & TASK_WORK)
		return task->tmd->work.issued;
	return (task->rare & TASK_TMD ? task->tmd->groups : task->kept->groups) - task->unissued;
}

COLD void task_unkeep(struct task *task)
{
	if ((task->rare & (TASK_KEPT | TASK_WORK | TASK_SPLITTING)) != TASK_KEPT)
		return;
	pending_put(task->kept);
	task->rare &= (uint16_t)~TASK_KEPT;
	wait_wake(WAIT_SLOT);
}

COLD void task_leave(struct task *task)
{
	rounds_remove(task);
	if (task->rare & TASK_TMD)
		throttle_leave(task);
	if (task->rare & TASK_PARENT)
		tmd_orphan(task);
	task->rare = 0;
	task->unissued = task->resident = 0;
	task_slot_free(task);
	wait_wake(WAIT_SHAPE);
}

static COLD void release_rare(struct task *task)
{
	uint32_t rare = task->rare;

	task_leave(task);
	if (rare & TASK_KEPT)
		pending_put(task->kept);
	if (rare & TASK_TMD)
		tmd_end(task->tmd);
	if (place_state.detours & (DETOUR_ISSUE | DETOUR_PENDING | DETOUR_WAITERS | DETOUR_BESIDE | DETOUR_THROTTLE)) {
		pending_run();
		rounds_run();
	}
}

static COLD void task_release(struct task *task)
{
	struct queue *queue = task->queue;
	uint32_t packet = (uint32_t)task->packet;

	/* from here on the slot may belong to another task */
	if (task->rare)
		release_rare(task);
	else
		task_slot_free(task);
	if (place_state.detours & DETOUR_PENDING)
		pending_run();
	wait_wake(WAIT_SLOT);
	wait_wake(WAIT_SHAPE);
	wait_ended(queue, packet);
}

HOT void task_clean_up(struct task *task)
{
	struct queue *queue = task->queue;

	queue->signalled = (uint32_t)task->packet;
	clean_up_here(queue, task->release, task->signal);
}

/* Write the end of @task to its metadata. @state: TUTTI_TMD_* flags */
static COLD void report(struct task *task, uint32_t state, uint32_t error)
{
	uint32_t issued;

	if (!(task->rare & TASK_TMD))
		return;
	issued = task_issued(task);
	tmd_write(task->tmd, state, error, issued, issued - task->resident);
}

/* COMMAND_OWED_TASKS keeps room for the end of every task, but not for writing its metadata. */
COLD bool task_may_end(const struct task *task)
{
	if (!(task->rare & TASK_TMD) || command_ask(TMD_WRITE_WORDS))
		return true;
	task_table.ending |= 1u << task->slot;
	return false;
}

COLD void task_complete(struct task *task)
{
	if (!task_may_end(task)) {
		task->state = TASK_ENDING;
		return;
	}
	report(task, TUTTI_TMD_FINISHED, 0);
	if (task->release)
		task_clean_up(task);
	if (task->rare & TASK_GROUP)
		task_group_put(task->queue, task->group);
	task_release(task);
}

/* ---- cancelling (TSK-12) ---- */

static COLD void cancelled(struct task *task)
{
	if (!task_may_end(task))
		return;
	report(task, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED, TUTTI_ERROR_CANCELLED);
	clean_up(task->queue, task->release, 0);
	cancel_signal(task->queue, task->signal);
	if (task->rare & TASK_GROUP) {
		task_group_spoil(task->group, true);
		task_group_put(task->queue, task->group);
	}
	task_release(task);
}

/* What @task has not issued it never will. */
static void stop_issuing(struct task *task)
{
	rounds_remove(task);
	if (task->rare & TASK_TMD)
		task->tmd->groups -= task->unissued;
	else if (task->rare & TASK_KEPT)
		task->kept->groups -= task->unissued;
	task->unissued = 0;
}

static void cancel(struct task *task)
{
	stop_issuing(task);
	task->state = TASK_CANCELLED;
	if (!task->resident)
		cancelled(task);
}

COLD int task_cancel(struct queue *queue, uint64_t packet)
{
	bool any;
	unsigned i;

	/* those without a slot come first, since the end of another one would give them its slot */
	any = pending_drop_all(queue, &packet, true);
	for (i = 0; i < fw.tasks; i++)
		if (tasks[i].queue == queue && tasks[i].packet == packet && !(tasks[i].rare & TASK_SPLIT) &&
		    (task_runs(&tasks[i]) || tasks[i].state == TASK_LEAVING)) {
			cancel(&tasks[i]);
			any = true;
		}
	return any ? 0 : -TUTTI_ENOENT;
}

COLD void task_drop(struct queue *queue, struct pending *p)
{
	cancel_signal(queue, p->signal);
	if (p->rare & TASK_GROUP)
		task_group_put(queue, p->group);
	if (p->rare & TASK_TMD) {
		tmd_write(p->tmd, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED, TUTTI_ERROR_CANCELLED, p->issued, p->issued);
		tmd_end(p->tmd);
	}
}

/* ---- completions ---- */

/* Account for @n CTAs of @task that have ended. */
static inline void ended(struct task *task, uint32_t n)
{
	struct shape *shape = task->shape;

	task->resident -= n;
	task->progress = 0;
	shape->residents -= n;
	place_state.residents -= n;
	if (unlikely(place_state.detours & (DETOUR_LAKES & ~DETOUR_ROWS_LEAD)) && !place_state.residents)
		shape_empty();
	if (unlikely(place_state.detours & DETOUR_THROTTLE) && !place_state.residents)
		throttle_update();
}

/* An evicted queue task whose last items have been worked off ends here; any other task comes back later. */
static void left(struct task *task)
{
	if (!(task->rare & TASK_WORK) || !work_over(task)) {
		pending_left(task);
		return;
	}
	task->state = TASK_RUNNING;
	task_complete(task);
}

COLD void task_drained(struct task *task)
{
	task->progress = 0;
	if (task->rare & TASK_SPLIT) {
		struct task *whole;

		/* other waves of the CTA are to come, or EVENT_KILLED will end this task */
		if (task->unissued || task->state == TASK_KILLED)
			return;
		whole = split_ended(task);
		task_release(task);
		if (!whole || whole->resident) /* the room may have been enough for its next CTA */
			return;
		task = whole;
	}
	switch (task->state) {
	case TASK_LEAVING:
		left(task);
		break;
	case TASK_CANCELLED:
		cancelled(task);
		break;
	case TASK_RUNNING:
		if (task->rare & TASK_WORK ? work_over(task) : !task->unissued && !(task->rare & TASK_SPLITTING))
			task_complete(task);
		else if (place_state.detours & DETOUR_PENDING)
			pending_evict(PENDING_LEVELS);
		break;
	}
}

void task_ended(struct task *task, uint32_t n)
{
	ended(task, n);
	if (unlikely(place_state.detours & DETOUR_ISSUE))
		rounds_run();
	if (!task->resident)
		task_drained(task);
}

static void fail(struct task *task, const struct task_error *error)
{
	struct queue *queue = task->queue;

	if (!task_runs(task) && task->state != TASK_LEAVING && task->state != TASK_CANCELLED)
		return;
	stop_issuing(task);
	task->state = TASK_KILLED;
	task->progress = 0;
	task_errors[task->slot] = *error;
	task_table.ending &= ~(1u << task->slot); /* from here on EVENT_KILLED ends it */
	/* its room is part of COMMAND_OWED_TASKS */
	*command_begin(1) = TUTTI_COMMAND(TUTTI_CMD_KILL, 1, task->slot);
	command_end(command_ring.next + 1);
	if (queue->state == QUEUE_RUNNING)
		queue->state = QUEUE_STOPPED;
}

void task_fail(struct task *task, const struct task_error *error)
{
	struct task *partner = split_partner(task);

	fail(task, error);
	if (partner)
		fail(partner, error);
	/* the other tasks of its packet that have no slot end too, child tasks included */
	pending_drop_all(task->queue, &task->packet, false);
}

void task_kill_queue(struct queue *queue)
{
	static const struct task_error destroyed = { .code = TUTTI_ERROR_CANCELLED, .sm_wave = ~0u };
	unsigned i;

	for (i = 0; i < fw.tasks; i++)
		if (tasks[i].queue == queue)
			task_fail(&tasks[i], &destroyed);
	tmd_drop_children(queue);
	pending_drop_all(queue, NULL, false);
}

/* The error code that the queue reports for the cause of a wave's fault. */
static uint8_t fault_code(unsigned cause)
{
	if (cause >= TUTTI_CAUSE_TENSOR)
		return TUTTI_ERROR_TENSOR;
	switch (cause) {
	case TUTTI_CAUSE_UNMAPPED:
	case TUTTI_CAUSE_PROTECTION:
	case TUTTI_CAUSE_ALIGNMENT:
	case TUTTI_CAUSE_BUS:
	case TUTTI_CAUSE_STACK:
		return TUTTI_ERROR_MEMORY_FAULT;
	case TUTTI_CAUSE_ECC:
		return TUTTI_ERROR_MEMORY;
	case TUTTI_CAUSE_WATCHDOG:
		return TUTTI_ERROR_TIMEOUT;
	case TUTTI_CAUSE_CGA_RANK:
	case TUTTI_CAUSE_CGA_OFFSET:
		return TUTTI_ERROR_CGA;
	default:
		return TUTTI_ERROR_KERNEL_TRAP;
	}
}

static uint64_t pair(const uint32_t *words)
{
	return words[0] | (uint64_t)words[1] << 32;
}

COLD void task_event_fault(const struct tutti_event *event)
{
	const uint32_t *w = event->word;
	struct task_error error = {
		.code = fault_code(w[0] >> 16 & 0xff),
		.engine = w[6] ? (uint8_t)w[6] : TUTTI_ENGINE_WAVE,
		.access = (uint8_t)(w[0] >> 24),
		.cause = w[0] >> 16 & 0xff,
		.sm_wave = w[1],
		.pc = pair(w + 2),
		.address = pair(w + 4),
	};

	task_fail(&tasks[w[0] >> 8 & (FW_TASKS - 1)], &error);
}

/* No CTA of a killed task is left: end it. Return: its queue, or NULL if there is no room for the commands now */
static COLD struct queue *killed(struct task *task, struct tutti_fault *fault)
{
	const struct task_error *error = &task_errors[task->slot];
	struct queue *queue = task->queue;

	if (!task_may_end(task))
		return NULL;
	*fault = (struct tutti_fault){
		.code = error->code,
		.engine = error->engine,
		.access = error->access,
		.cause = error->cause,
		.packet = task->packet,
		.kernel = task->kernel,
		.sm = (uint16_t)error->sm_wave,
		.wave = (uint16_t)(error->sm_wave >> 16),
		.pc = error->pc,
		.address = error->address,
	};
	report(task, TUTTI_TMD_FINISHED, error->code);
	/* what a failed kernel has written is released as well, but its signal stays as it is */
	clean_up(queue, TUTTI_SCOPE_SYSTEM, 0);
	if (task->rare & TASK_GROUP) {
		task_group_spoil(task->group, false);
		task_group_put(queue, task->group);
	}
	tmd_orphan(task);
	if (task->rare & TASK_SPLIT)
		split_ended(task);
	else
		split_forget(task);
	task_release(task);
	return queue;
}

COLD struct queue *task_event_killed(const struct tutti_event *event, struct tutti_fault *fault)
{
	struct task *task = &tasks[event->word[0] >> 8 & (FW_TASKS - 1)];
	struct task_error *error = &task_errors[task->slot];

	if (task->state != TASK_KILLED)
		return NULL;
	if (error->code == TUTTI_ERROR_TIMEOUT && event->word[1] != ~0u) {
		error->sm_wave = event->word[1];
		error->pc = pair(event->word + 2);
	}
	return killed(task, fault);
}

static struct queue *end_now(struct task *task, struct tutti_fault *fault)
{
	switch (task->state) {
	case TASK_ENDING:
		task->state = TASK_RUNNING;
		task_complete(task);
		break;
	case TASK_LEAVING:
		pending_left(task);
		break;
	case TASK_CANCELLED:
		cancelled(task);
		break;
	case TASK_KILLED:
		return killed(task, fault);
	}
	return NULL;
}

COLD struct queue *task_resume(struct tutti_fault *fault)
{
	struct queue *queue;
	struct task *task;

	while (task_table.ending && command_ask(TMD_WRITE_WORDS)) {
		task = &tasks[lowest_bit(task_table.ending)];
		task_table.ending &= task_table.ending - 1;
		queue = end_now(task, fault);
		if (queue)
			return queue;
	}
	return NULL;
}

bool task_any(void)
{
	unsigned i;

	for (i = 0; i < fw.tasks; i++)
		if (tasks[i].state != TASK_FREE)
			return true;
	return pending_any();
}

/* Two tasks with waves that waited for each other's answers would do so for ever. */
COLD uint32_t task_waiting(void)
{
	const struct task *task;
	const struct tmd *tmd;
	uint32_t slots = 0;

	for (tmd = tmds; tmd < tmds + FW_TMDS; tmd++)
		if (tmd_asks(tmd) && tmd->parent)
			slots |= 1u << tmd->parent->slot;
	for (task = tasks; task < tasks + fw.tasks; task++)
		if (task->children)
			slots |= 1u << task->slot;
	return slots;
}

#define CLEAR_STEPS 6u /* visit.h: for a task and a word of the mask */

COLD bool task_clear_sms(uint32_t slots, const struct tmd *tmd, uint32_t *mask)
{
	const uint32_t *affinity = tmd_affinity(tmd);
	const struct shape *shape;
	uint32_t w, any = 0, rest;

	domain_settle();
	visit_goes_on(CLEAR_STEPS * fw.words * popcount32(slots));
	for (w = 0; w < fw.words; w++) {
		mask[w] = shapes.included[w] & (affinity ? affinity[w] : ~0u);
		for (rest = slots; rest; rest &= rest - 1) {
			shape = tasks[lowest_bit(rest)].shape;
			mask[w] &= lake_exact(&shape->lake, shape->capacity, w);
		}
		any |= mask[w];
	}
	return any;
}

COLD bool task_one_ends(void)
{
	uint32_t waiting = task_waiting();
	const struct task *task;

	for (task = tasks; task < tasks + fw.tasks; task++)
		if (task->state != TASK_FREE && task->resident && !(waiting >> task->slot & 1) && !task->unissued &&
		    !(task->rare & (TASK_SPLITTING | TASK_WORK)))
			return true;
	return false;
}

COLD bool task_failed(const struct queue *queue, uint64_t packet)
{
	unsigned i;

	for (i = 0; i < fw.tasks; i++)
		if (tasks[i].state == TASK_KILLED && tasks[i].queue == queue && tasks[i].packet == packet)
			return true;
	return false;
}

uint64_t task_oldest(const struct queue *queue, uint64_t none)
{
	unsigned i;

	for (i = 0; i < fw.tasks; i++)
		if (tasks[i].state != TASK_FREE && tasks[i].queue == queue && tasks[i].packet < none)
			none = tasks[i].packet;
	return pending_oldest(queue, none);
}

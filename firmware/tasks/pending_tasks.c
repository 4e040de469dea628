// SPDX-License-Identifier: MIT
#include "tasks/pending_tasks.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/visit.h"
#include "core/wait.h"
#include "groups/cga.h"
#include "place/kernel_cache.h"
#include "place/plain_grid.h"
#include "place/shape_line.h"
#include "tasks/grouped_tasks.h"
#include "tasks/issue_rounds.h"
#include "tasks/task_start.h"
#include "tasks/throttle.h"
#include "tasks/work_queue.h"

static struct pending pendings[FW_PENDING];
uint32_t pending_free HOT_DATA;

static struct {
	struct pending_link ring[PENDING_LEVELS + 1]; /* by priority, 1 .. 10; an empty list points to itself */
	struct pending *free;
	uint32_t listed;
	uint32_t children; /* how many of these are child tasks */
	uint32_t dropped; /* number of records that are PENDING_DROPPED */
} pending;

void pending_init(void)
{
	unsigned i;

	pending.free = NULL;
	pending_free = pending.listed = pending.children = pending.dropped = 0;
	for (i = 0; i <= PENDING_LEVELS; i++)
		pending.ring[i].next = pending.ring[i].prev = &pending.ring[i];
	for (i = FW_PENDING; i--;)
		pending_put(&pendings[i]);
}

/* ---- records and lists ---- */

struct pending *pending_get(unsigned priority)
{
	struct pending *p = pending.free;

	if (pending_free < priority)
		return NULL;
	pending.free = (struct pending *)p->link.next;
	pending_free--;
	p->place = PENDING_KEPT;
	p->cga.kind = TUTTI_CGA_NONE;
	return p;
}

void pending_put(struct pending *p)
{
	p->place = PENDING_FREE;
	p->link.next = (struct pending_link *)pending.free; /* the link is the first member of a record */
	pending.free = p;
	pending_free++;
}

static void link_before(struct pending *p, struct pending_link *at)
{
	p->link.next = at;
	p->link.prev = at->prev;
	at->prev->next = &p->link;
	at->prev = &p->link;
	p->place = PENDING_LISTED;
	pending.listed++;
	pending.children += !!(p->rare & TASK_CHILD);
	place_state.detours |= DETOUR_PENDING;
}

static void put_tail(struct pending *p)
{
	link_before(p, &pending.ring[p->priority]);
}

static void put_head(struct pending *p)
{
	link_before(p, pending.ring[p->priority].next);
}

static void unlink(struct pending *p)
{
	p->link.prev->next = p->link.next;
	p->link.next->prev = p->link.prev;
	p->place = PENDING_KEPT;
	pending.children -= !!(p->rare & TASK_CHILD);
	if (!--pending.listed)
		place_state.detours &= ~DETOUR_PENDING;
}

/* ---- into a slot ---- */

/* The room is part of PLACE_OTHERS, which pending_run() or the round that splits a CTA has asked for. */
void pending_send_state(struct pending *p, struct task *task, uint32_t issued)
{
	bool cga = task->rare & TASK_CGA;
	unsigned words = cga ? STATE_WORDS + 2 * TUTTI_CGA_LEVELS : STATE_WORDS, flags = cga ? TUTTI_STATE_CGA : 0;
	uint32_t *c = command_begin(2 + words);

	if (p->acquire) {
		c = command_put_fence(c, p->acquire | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
		p->acquire = 0;
	}
	if (p->rare & TASK_SPLIT)
		flags |= TUTTI_STATE_SPLIT;
	*c++ = TUTTI_COMMAND(TUTTI_CMD_STATE, words + 1, (uint32_t)task->slot << 8 | flags);
	words_copy(c, p->state, STATE_WORDS);
	c[STATE_AT(first)] += issued;
	if (cga)
		grouped_levels(p, (struct tutti_cga_shape *)(c + STATE_WORDS));
	command_end(c + words);
	counters.state_syncs++;
	sync_sent(task);
}

static struct shape *find_shape(const struct pending *p)
{
	const uint32_t *s = p->state;

	if (p->rare & TASK_SPLIT)
		return shape_find(s[STATE_AT(scalar_blocks)], 0, 1);
	return shape_find(s[STATE_AT(scalar_blocks)], s[STATE_AT(shared_blocks)], s[STATE_AT(workgroup_z)] >> 16);
}

/* If it is not found at once, it is looked up again without the line of queues, which may have to wait for @p. */
static struct shape *shape_of(const struct pending *p)
{
	struct shape *shape = find_shape(p);

	if (!shape) {
		shape_line_lifted = true;
		shape = find_shape(p);
		shape_line_lifted = false;
	}
	return shape;
}

/* Turn @p into a task in the first free slot, and send its state to the SMs. The caller has made sure of a slot. */
static struct task *fill_slot(struct pending *p, struct shape *shape)
{
	struct task *task = task_table.free;

	task_table.free = task->next;
	task->queue = p->queue;
	task->shape = shape;
	task->group = p->group;
	task->tmd = p->tmd;
	task->kept = p;
	task->unissued = p->rare & TASK_WORK ? 0 : p->groups - p->issued;
	task->resident = 0;
	task->progress = 0;
	task->signal = p->signal;
	task->release = task_ends(p->release & TUTTI_HEADER_SCOPE, p->signal);
	task->state = TASK_RUNNING;
	task->rare = p->rare | TASK_KEPT;
	task->kernel = p->kernel;
	task->packet = p->packet;
	task->children = 0;
	shape->tasks++;
	if (grouped_pending(p))
		grouped_begin(task, p);
	pending_send_state(p, task, p->issued);
	return task;
}

COLD struct task *pending_admit(struct pending *p)
{
	struct shape *shape = shape_of(p);
	struct task *task;

	if (!shape)
		return NULL;
	if (p->place == PENDING_LISTED)
		unlink(p);
	task = fill_slot(p, shape);
	rounds_add(task);
	if (p->tmd)
		throttle_admit(task);
	if (p->rare & TASK_WORK)
		work_poll(p->tmd);
	return task;
}

COLD bool pending_start(struct pending *p)
{
	struct shape *shape;
	struct task *task;

	if (place_state.detours & ~DETOUR_ROWS_LEAD || !task_table.free || p->rare & TASK_WORK || !place_room() || visit_late() ||
	    (p->tmd && tmd_flag(p->tmd, TMD_ROUNDS)))
		return false;
	shape = shape_of(p);
	if (!shape)
		return false;
	task = fill_slot(p, shape);
	if (task->rare & TASK_CGA ? cga_place(task, task->unissued) < p->groups : place_now(task)) {
		rounds_add(task);
		rounds_run();
	} else {
		task_unkeep(task);
	}
	return true;
}

/* There is no room for commands: look again after the next event. */
static void pending_later(void)
{
	attention.settle |= ATTEND_ROOM;
	place_state.blocked = true;
}

/* Slots that were kept back for the listed tasks are free for all again. */
static void free_join(void)
{
	struct task **at = &task_table.held;

	while (*at)
		at = &(*at)->next;
	*at = task_table.free;
	task_table.free = task_table.held;
	task_table.held = NULL;
}

/*
 * A child is accepted while some task is sure to end, whose slot it may get. When there is no such task left, one that is
 * no child might wait in the last slot for the parent, and the parent for its child: so the first child goes (TSK-11).
 * Return: it has a slot
 */
static COLD bool admit_child(void)
{
	struct pending_link *end, *at;
	struct pending *p;

	if (!task_table.free || !place_room() || task_one_ends())
		return false;
	for (end = &pending.ring[1]; end <= &pending.ring[PENDING_LEVELS]; end++)
		for (at = end->next; at != end; at = at->next) {
			p = (struct pending *)at;
			if (p->rare & TASK_CHILD && p->tmd->parent && pending_admit(p))
				return true;
		}
	return false;
}

COLD void pending_run(void)
{
	unsigned level;
	bool any;

	free_join();
	any = pending.children && admit_child();
	for (level = 1; level <= PENDING_LEVELS && task_table.free && pending.listed; level++) {
		struct pending_link *end = &pending.ring[level];

		while (task_table.free && end->next != end && place_room()) {
			if (!pending_admit((struct pending *)end->next))
				break;
			any = true;
		}
	}
	if (pending.listed && task_table.free) {
		/* Keep free slots back: new kernels queue behind the listed tasks. */
		task_table.held = task_table.free;
		task_table.free = NULL;
		/* What waits for a shape is looked at when a task ends. */
		if (!place_room())
			pending_later();
	}
	if (any)
		rounds_run();
}

/*
 * A reference keeps its kernel's flags. Any other task whose state was sent by STATE has just been decoded from a packet,
 * so that its kernel is in the cache, or from a patched reference to a kernel without such flags (RECORD_CGA).
 */
static inline uint8_t kernel_flags_of(const struct task *task, const uint32_t *command, const uint32_t *state)
{
	const struct tutti_reference *reference;

	if (likely(!place_state.any_independent))
		return 0;
	if ((command[0] & 0xff) == TUTTI_CMD_STATE)
		return (uint8_t)kernel_flags_at(queue_asid(task->queue), state[STATE_AT(entry)], state[STATE_AT(entry) + 1]);
	reference = hal_pointer(command[1]);
	return (uint8_t)(reference->flags >> TUTTI_REFERENCE_KERNEL_SHIFT);
}

COLD void pending_keep(struct task *task, const uint32_t *command)
{
	unsigned priority = task_priority(task);
	struct pending *p = pending_get(priority);

	task->kept = p;
	if (!p)
		return;
	p->queue = task->queue;
	p->tmd = task_tmd(task);
	p->group = task->rare & TASK_GROUP ? task->group : NULL;
	p->groups = task->unissued + task->resident;
	p->issued = 0;
	p->signal = task->signal;
	p->packet = task->packet;
	p->priority = (uint8_t)priority;
	p->acquire = 0;
	p->release = task->release;
	p->kernel = task->kernel;
	p->rare = (uint8_t)task->rare;
	command_task_state(command, p->state);
	p->kernel_flags = kernel_flags_of(task, command, p->state);
	if (task->rare & TASK_CGA)
		grouped_keep(task, p, command);
	task->rare |= TASK_KEPT;
}

/* ---- eviction ---- */

/* A queue task that has nothing to do gives its slot to any task, whatever their priorities. */
static struct task *idle_victim(void)
{
	struct task *task;

	for (task = tasks; task < tasks + fw.tasks; task++)
		if (task_runs(task) && task->rare & TASK_WORK && !task->unissued && !task->resident)
			return task;
	return NULL;
}

COLD void pending_evict(unsigned priority)
{
	struct task *task;

	if (task_table.free || task_table.held)
		return;
	task = tmd_next_work(NULL) ? idle_victim() : NULL;
	if (!task)
		task = rounds_victim(priority);
	if (!task)
		return;
	rounds_remove(task);
	task->state = TASK_LEAVING;
	counters.evictions++;
	if (task->rare & TASK_TMD)
		task->tmd->evictions++;
	if (!task->resident)
		pending_left(task);
}

COLD void pending_left(struct task *task)
{
	struct pending *p = task->kept;
	bool asleep = task->rare & TASK_WORK && !task->unissued;

	if (!task_may_end(task))
		return;
	p->issued = task_issued(task);
	if (p->tmd)
		tmd_write(p->tmd, 0, 0, p->issued, p->issued);
	task_leave(task);
	if (asleep)
		p->place = PENDING_ASLEEP;
	else
		put_head(p);
	pending_run();
}

COLD void pending_wake(struct pending *p)
{
	if (p->place != PENDING_ASLEEP)
		return;
	put_tail(p);
	pending_run();
}

COLD void pending_push(struct pending *p)
{
	if (p->tmd && tmd_flag(p->tmd, TUTTI_TMD_HEAD))
		put_head(p);
	else
		put_tail(p);
	pending_evict(p->priority);
	pending_run();
}

/* ---- ends ---- */

/* Words of the command ring that task_drop() may need. */
#define DROP_WORDS (TMD_WRITE_WORDS + COMMAND_SIGNAL_WORDS + COMMAND_CLEAN_UP_WORDS)

static void drop_now(struct pending *p)
{
	struct queue *queue = p->queue;
	uint32_t packet = (uint32_t)p->packet;

	pending.dropped--;
	task_drop(queue, p);
	pending_put(p);
	wait_wake(WAIT_SLOT);
	wait_ended(queue, packet);
}

COLD void pending_drop(struct pending *p, bool signal)
{
	if (p->place == PENDING_LISTED)
		unlink(p);
	if (p->place == PENDING_DROPPED)
		return;
	p->place = PENDING_DROPPED;
	pending.dropped++;
	if (!signal)
		p->signal = 0;
	if (p->rare & TASK_GROUP)
		task_group_spoil(p->group, signal);
	if (command_ask(DROP_WORDS))
		drop_now(p);
}

COLD void pending_resume(void)
{
	struct pending *p;

	for (p = pendings; p < pendings + FW_PENDING && pending.dropped && command_ask(DROP_WORDS); p++)
		if (p->place == PENDING_DROPPED)
			drop_now(p);
}

static bool waits(const struct pending *p, const struct queue *queue)
{
	return (p->place == PENDING_LISTED || p->place == PENDING_ASLEEP) && p->queue == queue;
}

COLD bool pending_drop_all(struct queue *queue, const uint64_t *packet, bool signal)
{
	struct pending *p;
	bool any = false;

	for (p = pendings; p < pendings + FW_PENDING; p++)
		if (waits(p, queue) && (!packet || p->packet == *packet)) {
			pending_drop(p, signal);
			any = true;
		}
	return any;
}

struct pending *pending_with(const struct tmd *tmd)
{
	struct pending *p;

	for (p = pendings; p < pendings + FW_PENDING; p++)
		if (p->place != PENDING_FREE && p->tmd == tmd)
			return p;
	return NULL;
}

uint64_t pending_oldest(const struct queue *queue, uint64_t none)
{
	const struct pending *p;

	for (p = pendings; p < pendings + FW_PENDING; p++)
		if ((waits(p, queue) || (p->place == PENDING_DROPPED && p->queue == queue)) && p->packet < none)
			none = p->packet;
	return none;
}

bool pending_any(void)
{
	return pending.listed;
}

const struct pending *pending_at(unsigned number)
{
	return &pendings[number];
}

bool pending_idle(void)
{
	return pending_free == FW_PENDING;
}

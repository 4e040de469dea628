// SPDX-License-Identifier: MIT
#include "queues/launch_plain.h"

#include "core/clock.h"
#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "place/plain_grid.h"
#include "tasks/grouped_tasks.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/task_start.h"
#include "tasks/throttle.h"

/* queue_run() has asked for room for this and for the commands of launches, as part of PLACE_OTHERS. */
COLD void launch_time(struct queue *queue, uint64_t signal)
{
	command_write(queue->asid_queue, signal + offsetof(struct tutti_signal, start_time), clock_now(), 8);
}

static COLD int start_profiled(struct queue *queue, struct task *task, const uint32_t *command, uint32_t n)
{
	launch_time(queue, task->signal);
	task->unissued = n;
	start_task(task, command);
	return 0;
}

HOT int launch_start(struct queue *queue, struct task *task, uint32_t *command, uint32_t *end, const struct launch *launch,
		     unsigned release)
{
	uint64_t signal = launch->signal[0] | (uint64_t)launch->signal[1] << 32;

	task_table.free = task->next;
	task->queue = queue;
	task->shape = launch->shape;
	task->progress = 0;
	task->signal = signal;
	task->release = task_ends(release, signal);
	task->state = TASK_RUNNING;
	task->shape->tasks++;
	queue->flight += QUEUE_ONE;
	command_end(end);
	if (unlikely(queue->flags & TUTTI_QUEUE_PROFILE) && signal)
		return start_profiled(queue, task, command, launch->groups);
	start_new(task, command, end, launch->shape, launch->groups);
	return 0;
}

/* Write the acquire fence if the packet asks for one. Return: where the payload of STATE goes */
static inline uint32_t *begin(uint32_t head)
{
	uint32_t scope = head >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	uint32_t *p = command_begin(2 + STATE_WORDS + START_WORDS);

	if (scope) {
		p = command_put_fence(p, scope | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	}
	return p + 1;
}

static inline int reference_check(struct queue *queue, uint32_t number)
{
	if (!queue->rsb || number & ~(TUTTI_REF_STORE | TUTTI_REF_INDEX) || !(number & TUTTI_REF_STORE))
		return packet_refuse(TUTTI_ERROR_PACKET, offsetof(struct tutti_dispatch_packet, ref_num));
	return queue->rsb->readers ? wait_park(queue, WAIT_RSB) : 0;
}

/* ---- through the lists of pending_tasks.h: kernels with metadata or CGAs, or when no task slot is free ---- */

static unsigned priority_of(const struct queue *queue, const struct tmd *tmd)
{
	return tmd && tmd_static(tmd)->priority ? tmd_static(tmd)->priority : queue->priority;
}

/* A queue task has no grid. Its CTAs are numbered for as long as it runs, so it gets the largest grid there can be. */
static void endless(uint32_t *state)
{
	uint32_t x = state[STATE_AT(workgroup_x)] & 0xffff, y = state[STATE_AT(workgroup_x)] >> 16;

	state[STATE_AT(groups_x)] = 0xffffffffu / x;
	state[STATE_AT(grid_x)] = 0xffffffffu / x * x;
	state[STATE_AT(groups_y)] = state[STATE_AT(groups_z)] = 1;
	state[STATE_AT(grid_y)] = y;
	state[STATE_AT(grid_z)] = state[STATE_AT(workgroup_z)] & 0xffff;
}

COLD void launch_pending(struct pending *p, struct queue *queue, struct tmd *tmd, const struct launch *launch)
{
	p->queue = queue;
	p->tmd = tmd;
	p->groups = launch->groups;
	p->issued = 0;
	p->signal = launch->signal[0] | (uint64_t)launch->signal[1] << 32;
	p->priority = (uint8_t)priority_of(queue, tmd);
	p->acquire = launch->header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	p->release = (uint8_t)launch_release(launch->header);
	queue_adopt(queue, (uint32_t)p->packet);
	counters.kernels++;
	counters.state_syncs--; /* it is counted when it is sent */
	counters.placements--;
	if (tmd) {
		p->rare |= TASK_TMD;
		p->state[STATE_AT(tmd)] = (uint32_t)tmd->address;
		p->state[STATE_AT(tmd) + 1] = (uint32_t)(tmd->address >> 32);
		if (tmd_is_queue(tmd)) {
			p->rare |= TASK_WORK;
			p->groups = 0;
			endless(p->state);
			queue->works++;
		}
		tmd_take(queue, tmd);
	}
	if (!pending_start(p))
		pending_push(p);
}

static COLD int launch_special(struct queue *queue, const union tutti_packet *packet)
{
	struct tutti_dispatch_packet copy = packet->dispatch;
	uint32_t number = queue->flags & TUTTI_QUEUE_EXTENDED ? copy.ref_num : 0;
	struct tmd *tmd = NULL;
	struct launch launch;
	struct pending *p;
	int code = 0;

	if (number)
		code = reference_check(queue, number);
	if (!code && number && !reference_taken(queue->rsb, number & TUTTI_REF_INDEX))
		code = wait_park(queue, WAIT_ROOM);
	if (!code && queue->flags & TUTTI_QUEUE_EXTENDED && copy.tmd)
		code = tmd_get(queue, copy.tmd, &tmd);
	if (code)
		return code;
	p = pending_get(priority_of(queue, tmd));
	if (!p)
		return wait_park(queue, WAIT_SLOT);
	copy.tmd = 0;
	code = packet_special(queue, &copy, tmd ? throttle_limit(tmd) : 0, p->state, &launch);
	if (!code)
		code = grouped_pend(p, tmd, kernel_cga(launch.kernel), launch.kernel->fetched.flags,
				launch.shape->capacity);
	if (code) {
		pending_put(p);
		if (code > 0)
			tmd_drop(queue);
		return code;
	}
	if (number) {
		copy.tmd = packet->dispatch.tmd;
		reference_store(queue->rsb, number & TUTTI_REF_INDEX, &copy, p->state, &launch);
		if (tmd || p->cga.kind)
			reference_special(queue->rsb, number & TUTTI_REF_INDEX, copy.tmd, &p->cga, p->kernel_flags);
		else if (p->kernel_flags & TUTTI_KERNEL_INDEPENDENT)
			reference_flags(queue->rsb, number & TUTTI_REF_INDEX, p->kernel_flags);
		queue->scrub = 1;
		counters.references++;
	}
	counters.dispatches++;
	counters.kernels--; /* launch_pending() adds it */
	p->packet = queue->head;
	p->kernel = 0;
	p->rare = 0;
	launch_pending(p, queue, tmd, &launch);
	return 0;
}

/*
 * A reference packet is decoded straight into its entry of the table and launched from there. If it replaces
 * another reference it is decoded into unused room of the command ring first, so that a packet that is refused leaves
 * the old reference unchanged.
 */
static __attribute__((noinline)) int launch_reference(struct queue *queue, const union tutti_packet *packet)
{
	uint32_t number = packet->dispatch.ref_num, index = number & TUTTI_REF_INDEX, scope, *e, *p, *state;
	struct rsb *rsb = queue->rsb;
	struct task *task = task_table.free;
	struct launch launch;
	int code = reference_check(queue, number);

	if (unlikely(code))
		return code;
	if (unlikely(packet->dispatch.tmd))
		return launch_special(queue, packet);
	if (unlikely(!reference_taken(rsb, index)))
		return wait_park(queue, WAIT_ROOM);
	p = command_begin(5 + START_WORDS + STATE_WORDS);
	state = e = (uint32_t *)&rsb->table[index];
	if ((rsb->valid | rsb->special) >> index & 1)
		state = p + 5 + START_WORDS;
	code = packet_dispatch(queue, &packet->dispatch, state, &launch);
	if (code == PACKET_SPECIAL)
		return launch_special(queue, packet);
	if (unlikely(code))
		return code;
	if (state != e)
		reference_replace(rsb, index, state);
	reference_keep(rsb, e, index, packet->word, &launch);
	queue->scrub = 1;
	counters.references++;
	counters.dispatches++;
	scope = launch.header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	counters.acquires += !!scope;
	p[0] = TUTTI_COMMAND(TUTTI_CMD_TASK, 5, (uint32_t)task->slot << 8 | scope);
	p[1] = hal_local(e);
	p[2] = queue->asid_queue;
	p[3] = (uint32_t)queue->head;
	p[4] = (uint32_t)(queue->head >> 32);
	task->packet = queue->head;
	task->kernel = 0;
	launch_start(queue, task, p, p + 5, &launch, launch_release(launch.header));
	rsb->table[index].used = command_tail();
	return 0;
}

/*
 * No task slot is free. If all of them hold kernels of this queue, a plain kernel need not go through the lists of
 * pending_tasks.h: it could evict none of them, and the tasks in those lists get the next slot before it anyway.
 */
static COLD int launch_crowded(struct queue *queue, const union tutti_packet *packet)
{
	if (queue->in_flight - queue->works < (int)fw.tasks || (queue->flags & TUTTI_QUEUE_EXTENDED && packet->dispatch.tmd))
		return launch_special(queue, packet);
	return wait_park(queue, WAIT_TASKS);
}

HOT int launch_packet(struct queue *queue, const union tutti_packet *packet)
{
	struct task *task = task_table.free;
	struct launch launch;
	uint32_t *state;
	int code;

	if (unlikely(!task))
		return launch_crowded(queue, packet);
	if (queue->flags & TUTTI_QUEUE_EXTENDED && packet->dispatch.ref_num)
		return launch_reference(queue, packet);
	state = begin(packet->word[0]);
	code = packet_dispatch(queue, &packet->dispatch, state, &launch);
	if (unlikely(code)) {
		if (packet->word[0] >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE)
			counters.acquires--;
		/* what is wrong without its metadata may be right with them */
		return code == PACKET_SPECIAL ||
			       (code != PACKET_PARKED && queue->flags & TUTTI_QUEUE_EXTENDED && packet->dispatch.tmd) ?
			       launch_special(queue, packet) : code;
	}
	counters.dispatches++;
	task->packet = queue->head;
	task->kernel = 0;
	state[-1] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);
	return launch_start(queue, task, state - 1, state + STATE_WORDS, &launch, launch_release(launch.header));
}

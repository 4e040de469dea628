// SPDX-License-Identifier: MIT
#include "queues/launch_plain.h"

#include "core/clock.h"
#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "queues/launch_special.h"
#include "tasks/task_start.h"
#include "tasks/task_table.h"

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

int launch_check_reference(struct queue *queue, uint32_t number)
{
	if (!queue->rsb || number & ~(TUTTI_REF_STORE | TUTTI_REF_INDEX) || !(number & TUTTI_REF_STORE))
		return packet_refuse(TUTTI_ERROR_PACKET, offsetof(struct tutti_dispatch_packet, ref_num));
	return queue->rsb->readers ? wait_park(queue, WAIT_RSB) : 0;
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
	int code = launch_check_reference(queue, number);

	if (unlikely(code))
		return code;
	if (unlikely(!reference_taken(rsb, index)))
		return wait_park(queue, WAIT_ROOM);
	p = command_begin(5 + START_WORDS + STATE_WORDS);
	state = e = (uint32_t *)&rsb->table[index];
	if ((rsb->valid | rsb->special) >> index & 1)
		state = p + 5 + START_WORDS;
	code = packet_dispatch(queue, &packet->dispatch, state, &launch);
	if (unlikely(code))
		return code <= PACKET_SPECIAL ? launch_special(queue, packet) : code;
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

/* The packet at hand is no plain one after all, or something is wrong with it. @code: from packet_dispatch() */
static COLD int launch_unusual(struct queue *queue, const union tutti_packet *packet, uint32_t *command,
			       const struct launch *launch, int code)
{
	if (likely(code == PACKET_GROUPED))
		return launch_grouped(queue, packet, command + 1, launch);
	launch_begin_undo(packet->word[0]);
	return code == PACKET_SPECIAL ? launch_metadata(queue, packet) : code;
}

HOT int launch_packet(struct queue *queue, const union tutti_packet *packet)
{
	struct task *task = task_table.free;
	struct launch launch;
	uint32_t *command;
	int code;

	if (unlikely(!task))
		return launch_crowded(queue, packet);
	if (queue->flags & TUTTI_QUEUE_EXTENDED && packet->dispatch.ref_num)
		return launch_reference(queue, packet);
	command = launch_begin(packet->word[0]) - 1;
	code = packet_dispatch(queue, &packet->dispatch, command + 1, &launch);
	if (unlikely(code))
		return launch_unusual(queue, packet, command, &launch, code);
	counters.dispatches++;
	task->packet = queue->head;
	task->kernel = 0;
	command[0] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);
	return launch_start(queue, task, command, command + 1 + STATE_WORDS, &launch, launch_release(launch.header));
}

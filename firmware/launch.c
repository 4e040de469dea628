// SPDX-License-Identifier: MIT
#include "launch.h"

#include "cga.h"
#include "command.h"
#include "counter.h"
#include "place.h"

/* Profiling: the signal learns when its kernel was launched. */
static COLD void start_time(struct queue *queue, uint64_t signal)
{
	uint64_t now = HAL_ENGINES->time_lo | (uint64_t)HAL_ENGINES->time_hi << 32;

	command_write(queue->asid_queue, signal + offsetof(struct tutti_signal, start_time), now, 8);
}

static COLD void start_rare(struct queue *queue, struct task *task, uint64_t signal)
{
	if (queue->flags & QUEUE_GROUPED)
		cga_begin(queue, task);
	if (queue->flags & TUTTI_QUEUE_PROFILE && signal)
		start_time(queue, signal);
}

/* The STATE record is written at @state: take the slot and place the CTAs. */
static inline void start(struct queue *queue, struct task *task, uint32_t *state, const struct launch *launch,
			 uint64_t signal, unsigned release)
{
	task_table.free = task->next;
	task->queue = queue;
	task->shape = launch->shape;
	task->unissued = launch->groups;
	task->resident = 0;
	task->progress = 0;
	task->signal = signal;
	task->release = (uint8_t)release;
	task->state = TASK_RUNNING;
	task->shape->tasks++;
	queue->inflight++;
	counters.kernels++;
	state[-1] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);
	command_end(state + STATE_WORDS);
	if (unlikely(queue->flags & (TUTTI_QUEUE_PROFILE | QUEUE_GROUPED)))
		start_rare(queue, task, signal);
	else if (likely(place_few(task, state + STATE_WORDS)))
		return;
	place_task(task);
}

/* Where the STATE payload goes, behind the acquire fence if there is one. */
static inline uint32_t *begin(uint32_t head)
{
	uint32_t *p = command_begin(2 + STATE_WORDS + 3), scope = head >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;

	if (scope) {
		*p++ = TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, scope | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	}
	return p + 1;
}

static inline unsigned release_scope(uint32_t head)
{
	return head >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE;
}

static COLD int reference_check(struct queue *queue, uint32_t number)
{
	if (!queue->rsb || number & ~(TUTTI_REF_STORE | TUTTI_REF_INDEX) || !(number & TUTTI_REF_STORE))
		return packet_refuse(TUTTI_ERROR_PACKET, offsetof(struct tutti_dispatch_packet, ref_num));
	return queue->rsb->readers ? queue_park(queue, WAIT_RSB) : 0;
}

HOT int launch_packet(struct queue *queue, const union tutti_packet *packet)
{
	struct task *task = task_table.free;
	struct launch launch;
	uint32_t *state, number = 0;
	int code;

	if (unlikely(!task))
		return queue_park(queue, WAIT_SLOT);
	if (queue->flags & TUTTI_QUEUE_EXTENDED && packet->dispatch.ref_num) {
		number = packet->dispatch.ref_num;
		if (unlikely(number & ~(TUTTI_REF_STORE | TUTTI_REF_INDEX) || !(number & TUTTI_REF_STORE) ||
			     !queue->rsb || queue->rsb->readers)) {
			code = reference_check(queue, number);
			if (code)
				return code;
		}
	}
	state = begin(packet->word[0]);
	code = packet_dispatch(queue, &packet->dispatch, state, &launch);
	if (unlikely(code) && (code != PACKET_GROUPED ||
			       (code = packet_grouped(queue, &packet->dispatch, state, &launch)))) {
		if (packet->word[0] >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE)
			counters.acquires--;
		return code;
	}
	if (number) {
		reference_store(queue->rsb, number & TUTTI_REF_INDEX, &packet->dispatch, state, &launch);
		queue->scrub = 1;
		counters.references++;
	}
	counters.dispatches++;
	task->packet = queue->head;
	task->kernel = 0;
	task->group = NULL;
	start(queue, task, state, &launch, launch.signal[0] | (uint64_t)launch.signal[1] << 32,
	      release_scope(launch.header));
	return 0;
}

/* ---- condensed packets ---- */

void launch_block_free(struct queue *queue)
{
	queue->block->busy = 0;
	queue->block = NULL;
	if (!--queue->rsb->readers)
		queue_wake_waiters(WAIT_RSB);
	queue_wake_waiters(WAIT_BLOCK);
}

int launch_condensed(struct queue *queue, const union tutti_packet *packet)
{
	struct block *block;
	int code;

	if (unlikely(!queue->rsb))
		return packet_refuse(TUTTI_ERROR_PACKET, 0);
	block = condensed_block(queue);
	if (unlikely(!block))
		return queue_park(queue, WAIT_BLOCK);
	if (condensed_same(queue, packet, block)) {
		counters.repeated++;
	} else {
		if (unlikely(block->at_unit))
			condensed_resume(block, packet);
		code = condensed_expand(queue, packet, block);
		if (unlikely(code)) {
			if (code < 0)
				return code;
			/* whatever is wrong with a kernel of it, the packet is what is invalid (PKT-18) */
			block->at_unit = 0;
			return TUTTI_ERROR_PACKET;
		}
	}
	if (unlikely(queue->flags & TUTTI_QUEUE_OVERLAP)) {
		queue->group = task_group_create();
		if (!queue->group)
			return queue_park(queue, WAIT_SLOT);
		queue->group->release = block->release;
	}
	block->busy = 1;
	queue->rsb->readers++;
	queue->block = block;
	queue->record = block->record;
	queue->run_packet = queue->head;
	queue->run_kernel = 0;
	queue->run_active = 0;
	queue->run_kernels = block->kernels;
	queue->scrub = 1;
	counters.condensed++;
	return 0;
}

/* What is not so for every kernel: the last one, overlap, profiling. */
static COLD int launch_end(struct queue *queue, struct task *task, bool last)
{
	struct task_group *group = queue->group;

	if (queue->flags & QUEUE_GROUPED)
		cga_begin_reference(task, condensed_entry(queue, task->kernel));
	if (queue->flags & TUTTI_QUEUE_PROFILE && task->signal)
		start_time(queue, task->signal);
	if (group) {
		task->group = group;
		group->open++;
		if (last) {
			group->signal = task->signal;
			task->signal = 0;
			task->release = 0;
			/* its last reference goes with the last kernel in flight */
			group->open--;
			queue->group = NULL;
		}
	}
	if (last) {
		queue->run_kernels = 0;
		launch_block_free(queue);
	}
	place_task(task);
	if (last || queue->flags & TUTTI_QUEUE_OVERLAP)
		return 0;
	return queue_park(queue, WAIT_TASKS);
}

/* A kernel of another shape than the one before. */
static COLD int launch_shape(struct queue *queue, const uint32_t *state)
{
	if (!shape_find(state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)],
			state[STATE_AT(workgroup_z)] >> 16))
		return queue_park(queue, WAIT_SHAPE);
	return launch_next(queue);
}

static HOT int launch_many(struct task *task)
{
	place_task(task);
	return PACKET_PARKED;
}

/* The record would not lie in one piece: at the start of the ring it will. */
static COLD int launch_wrapped(struct queue *queue)
{
	command_wrap();
	return launch_next(queue);
}

/*
 * One straight line without calls until its end: what is rare is called in tail
 * position, so that nothing is saved for it.
 */
HOT int launch_next(struct queue *queue)
{
	const uint32_t *record = queue->record;
	uint32_t *state, *p = command_ring.next, number, flags;
	struct launch launch;
	struct shape *shape;
	struct task *task;
	bool last;

	if (unlikely((size_t)((char *)command_ring.end - (char *)p) < (2 + STATE_WORDS + 3) * 4)) {
		return launch_wrapped(queue);
	}
	/* the first word may be the acquire fence; it is skipped if there is none */
	state = p + 2;
	record = condensed_read(queue, record, state, &launch);
	flags = queue->flags;
	if (unlikely(launch.header & TUTTI_HEADER_BARRIER ? queue->inflight
							  : queue->run_active && !(flags & TUTTI_QUEUE_OVERLAP)))
		return queue_park(queue, WAIT_TASKS);
	task = task_table.free;
	if (unlikely(!task))
		return queue_park(queue, WAIT_SLOT);
	shape = shapes.last;
	if (unlikely(shape->registers != state[STATE_AT(scalar_blocks)] ||
		     shape->shared != state[STATE_AT(shared_blocks)] ||
		     shape->waves != state[STATE_AT(workgroup_z)] >> 16))
		return launch_shape(queue, state);
	if (launch.header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE) {
		p[0] = TUTTI_COMMAND(TUTTI_CMD_FENCE, 1,
				     (launch.header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE) |
					     TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	} else {
		p[0] = TUTTI_CMD_NOP | 1u << 8;
	}
	p[1] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);

	number = queue->run_kernel;
	last = number + 1 == queue->run_kernels;
	queue->run_kernel = (uint8_t)(number + 1);
	queue->run_active++;
	queue->record = record;
	queue->inflight++;
	task_table.free = task->next;
	task->queue = queue;
	task->shape = shape;
	task->group = NULL;
	task->unissued = launch.groups;
	task->resident = 0;
	task->progress = 0;
	task->signal = launch.signal[0] | (uint64_t)launch.signal[1] << 32;
	task->release = (uint8_t)(launch.signal[0] | launch.signal[1] ? release_scope(launch.header) : 0);
	task->state = TASK_RUNNING;
	task->kernel = (uint8_t)number;
	task->packet = queue->run_packet;
	shape->tasks++;
	counters.kernels++;
	command_end(state + STATE_WORDS);
	if (last)
		task->release = queue->block->release;
	if (unlikely(last || flags & (TUTTI_QUEUE_OVERLAP | TUTTI_QUEUE_PROFILE | QUEUE_GROUPED)))
		return launch_end(queue, task, last);
	queue->wait = WAIT_TASKS;
	return place_few(task, state + STATE_WORDS) ? PACKET_PARKED : launch_many(task);
}

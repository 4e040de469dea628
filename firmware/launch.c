// SPDX-License-Identifier: MIT
#include "launch.h"

#include "command.h"
#include "counter.h"
#include "place.h"

/* Profiling: the signal learns when its kernel was launched. */
static COLD void start_time(struct queue *queue, uint64_t signal)
{
	uint64_t now = HAL_ENGINES->time_lo | (uint64_t)HAL_ENGINES->time_hi << 32;

	command_write(queue->asid_queue, signal + offsetof(struct tutti_signal, start_time), now, 8);
}

/* The STATE record is written at @state: take the slot and place the CTAs. */
static inline void start(struct queue *queue, struct task *task, uint32_t *state, const struct launch *launch,
			 uint64_t signal, unsigned release)
{
	task_table.free = task->next;
	task_table.running++;
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
	if (unlikely(queue->flags & TUTTI_QUEUE_PROFILE) && signal)
		start_time(queue, signal);
	place_task(task);
}

/* Where the STATE payload goes, behind the acquire fence if there is one. */
static inline uint32_t *begin(uint32_t head)
{
	uint32_t *p = command_begin(2 + STATE_WORDS), scope = head >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;

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
	if (unlikely(code)) {
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

HOT int launch_condensed(struct queue *queue, const union tutti_packet *packet)
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

/* May kernel i start? One after the other, unless the queue lets them overlap (PKT-16). */
static inline bool may_start(const struct queue *queue, uint32_t head)
{
	if (head & TUTTI_HEADER_BARRIER)
		return !queue->inflight;
	return !queue->run_active || queue->flags & TUTTI_QUEUE_OVERLAP;
}

static COLD void end_overlap(struct queue *queue, struct task *task, uint64_t *signal, unsigned *release, bool last)
{
	struct task_group *group = queue->group;

	task->group = group;
	group->open++;
	if (last) {
		group->signal = *signal;
		*signal = 0;
		*release = 0;
	}
}

HOT int launch_next(struct queue *queue)
{
	struct task *task = task_table.free;
	const uint32_t *record = queue->record;
	struct launch launch;
	struct block *block = queue->block;
	uint32_t *state, head;
	uint64_t signal;
	unsigned release;
	bool last = queue->run_kernel + 1 == queue->run_kernels;

	head = ((const uint32_t *)(*record & RECORD_GENERAL
					   ? (const void *)(record + 1)
					   : (const char *)queue->rsb->table + (*record & ~127u)))[REFERENCE_AT(header)];
	if (!may_start(queue, head))
		return queue_park(queue, WAIT_TASKS);
	if (unlikely(!task))
		return queue_park(queue, WAIT_SLOT);
	state = begin(head);
	record = condensed_kernel(queue, record, state, &launch);
	launch.shape = shape_find(state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)],
				  state[STATE_AT(workgroup_z)] >> 16);
	if (unlikely(!launch.shape)) {
		if (head >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE)
			counters.acquires--;
		return queue_park(queue, WAIT_SHAPE);
	}
	signal = launch.signal[0] | (uint64_t)launch.signal[1] << 32;
	release = last ? block->release : signal ? release_scope(launch.header) : 0;
	task->packet = queue->run_packet;
	task->kernel = queue->run_kernel;
	task->group = NULL;
	if (unlikely(queue->group))
		end_overlap(queue, task, &signal, &release, last);
	queue->run_active++;
	queue->run_kernel++;
	queue->record = record;
	if (last) {
		queue->run_kernels = 0;
		launch_block_free(queue);
		if (unlikely(queue->group)) {
			/* its last reference goes with the last kernel in flight */
			queue->group->open--;
			queue->group = NULL;
		}
	}
	start(queue, task, state, &launch, signal, release);
	return 0;
}

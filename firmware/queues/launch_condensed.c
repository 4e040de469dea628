// SPDX-License-Identifier: MIT
#include "queues/launch_condensed.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "packets/condensed_metadata.h"
#include "place/plain_grid.h"
#include "place/shape_line.h"
#include "queues/launch_plain.h"
#include "queues/launch_special.h"
#include "queues/queue_life.h"
#include "queues/turns.h"
#include "tasks/grouped_tasks.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/task_start.h"
#include "tasks/task_table.h"

void launch_block_free(struct queue *queue)
{
	queue->run_kernels = queue->run_stop = 0;
	queue->run_in_flight = 0;
	queue->block->busy = 0;
	queue->rsb->used = command_tail(); /* commands before that may name its references */
	if (!--queue->rsb->readers)
		wait_wake(WAIT_RSB);
}

/*
 * The metadata of the packet have been checked, for which its queue needed no task slot. Its first kernel does need one: while
 * the free slots are reserved for other clients, the queue waits, and it does not check the metadata again afterwards.
 */
static COLD int checked(struct queue *queue)
{
	if (!queue_table.shared || !turns_reserved(queue))
		return 0;
	queue->seen = queue->block->kernels;
	queue->block->complete = 0; /* so that the packet is not taken for one that was checked, and the number is reset */
	return wait_park(queue, WAIT_SLOT);
}

/* The packet was not simply expanded; if its block was too small there is another one. Return: as launch_condensed() */
static COLD int expand_else(struct queue *queue, int code)
{
	if (code == BLOCK_FULL)
		code = condensed_expand(queue, queue->packet, condensed_block_far(queue));
	if (code == BLOCK_CHECKED)
		code = checked(queue);
	/* an error in one of its kernels makes the whole packet invalid (PKT-18) */
	return code > 0 ? (int)TUTTI_ERROR_PACKET : code;
}

int launch_condensed(struct queue *queue, const union tutti_packet *packet)
{
	struct block *block;
	unsigned stop;
	int code;

	if (unlikely(!queue->rsb))
		return packet_refuse(TUTTI_ERROR_PACKET, 0);
	block = condensed_block(queue);
	if (packet->word[0] == block->packet[0] && condensed_same(queue, packet, block)) {
		counters.repeated++;
	} else {
		if (unlikely(block->at_unit))
			condensed_resume(block, packet, queue->rsb);
		code = condensed_expand(queue, packet, block);
		if (unlikely(code)) {
			code = expand_else(queue, code);
			if (code)
				return code;
			block = queue->block;
		}
	}
	block->group = NULL;
	stop = block->kernels;
	if (unlikely(queue->flags & (TUTTI_QUEUE_OVERLAP | TUTTI_QUEUE_PROFILE))) {
		stop = 0;
		if (queue->flags & TUTTI_QUEUE_OVERLAP) {
			block->group = task_group_create(queue_asid(queue));
			if (!block->group)
				return wait_park(queue, WAIT_SLOT);
			block->group->release = block->release;
		}
	}
	block->busy = 1;
	queue->rsb->readers++;
	queue->record = block->record;
	queue->run_packet = queue->head;
	queue->run_kernel = queue->seen = 0;
	queue->run_kernels = block->kernels;
	queue->run_stop = (uint8_t)stop;
	queue->scrub = 1;
	counters.condensed++;
	return 0;
}

/* The last kernel of the packet is launched, so its records and its reference to the task group are not needed now. */
static void run_end(struct queue *queue)
{
	launch_block_free(queue);
	if (queue->block->group)
		queue->block->group->open--;
}

static bool must_wait(const struct queue *queue, const struct launch *launch)
{
	return launch->header & TUTTI_HEADER_BARRIER ? queue->flight
						     : queue->run_in_flight && !(queue->flags & TUTTI_QUEUE_OVERLAP);
}

static int wait_for_shape(struct queue *queue, const uint32_t *state)
{
	return shape_line_wait(queue, state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)],
			       state[STATE_AT(workgroup_z)] >> 16);
}

/*
 * A task slot is free: launch a kernel, usually one with a patched entry of its own, but not the last of its packet. This is
 * launch_general() without the lists of pending_tasks.h, which would make it a third longer (six new grids in the table
 * form: 23 786 instructions instead of 17 487).
 */
static COLD int launch_patched(struct queue *queue)
{
	uint32_t *p, *state, scope;
	struct task *task = task_table.free;
	struct launch launch = { .header = condensed_entry(queue)[REFERENCE_AT(header)] };
	const uint32_t *record;

	if (must_wait(queue, &launch))
		return wait_park(queue, WAIT_TASKS);
	p = command_begin(2 + STATE_WORDS + START_WORDS);
	state = p + 2;
	record = condensed_kernel(queue, queue->record, state, &launch);
	launch.shape = shape_get(state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)],
				 state[STATE_AT(workgroup_z)] >> 16);
	if (!launch.shape)
		return wait_for_shape(queue, state);
	scope = launch.header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	counters.acquires += !!scope;
	p[0] = scope ? TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, scope | TUTTI_FENCE_ACQUIRE) : TUTTI_CMD_NOP | 1u << 8;
	task->packet = queue->run_packet;
	task->kernel = queue->run_kernel++;
	queue->flight++;
	counters.kernels++;
	queue->record = record;
	p[1] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);
	launch_start(queue, task, p + 1, state + STATE_WORDS, &launch,
	      launch.signal[0] | launch.signal[1] ? launch_release(launch.header) : 0);
	return wait_park(queue, WAIT_TASKS);
}

/* Launch a kernel whose record does not hold all that differs from its reference, or for which no task slot is free. */
static COLD int launch_general(struct queue *queue)
{
	struct task_group *group = queue->block->group;
	struct tmd *tmd = NULL;
	struct launch launch;
	struct pending *p;
	const uint32_t *record;
	bool last = queue->run_kernel + 1u == queue->run_kernels;
	struct tutti_cga_shape cga;
	uint32_t kernel_flags;
	int code = 0;

	if (task_table.free && !(*queue->record & (RECORD_TMD | RECORD_CGA)) && !last && !(queue->flags & TUTTI_QUEUE_OVERLAP))
		return launch_patched(queue);
	p = pending_get(queue->priority);
	if (!p)
		return wait_park(queue, WAIT_SLOT);
	record = condensed_kernel(queue, queue->record, p->state, &launch);
	if (must_wait(queue, &launch))
		code = wait_park(queue, WAIT_TASKS);
	else if (*queue->record & RECORD_TMD)
		code = tmd_get(queue, condensed_tmd(queue), &tmd);
	if (!code && !shape_find(p->state[STATE_AT(scalar_blocks)], p->state[STATE_AT(shared_blocks)],
				 p->state[STATE_AT(workgroup_z)] >> 16))
		code = wait_for_shape(queue, p->state);
	if (!code) {
		cga = condensed_cga(queue, &kernel_flags);
		code = grouped_pend(p, tmd, cga, kernel_flags, shape_last->capacity);
	}
	if (code) {
		pending_put(p);
		return code > 0 ? queue_refuse_run(queue, code) : code;
	}
	p->packet = queue->run_packet;
	p->kernel = queue->run_kernel++;
	p->rare = 0;
	queue->record = record;
	if (last)
		launch.header = (launch.header & ~((uint32_t)TUTTI_HEADER_SCOPE << TUTTI_HEADER_RELEASE_SHIFT)) |
				(uint32_t)queue->block->release << TUTTI_HEADER_RELEASE_SHIFT;
	if (group) {
		p->rare = TASK_GROUP;
		p->group = group;
		group->open++;
		if (last) {
			group->signal = launch.signal[0] | (uint64_t)launch.signal[1] << 32;
			if (queue->flags & TUTTI_QUEUE_PROFILE && group->signal)
				launch_time(queue, group->signal);
			launch.signal[0] = launch.signal[1] = 0;
			launch.header &= ~((uint32_t)TUTTI_HEADER_SCOPE << TUTTI_HEADER_RELEASE_SHIFT);
		}
	} else if (!last && !(launch.signal[0] | launch.signal[1])) {
		launch.header &= ~((uint32_t)TUTTI_HEADER_SCOPE << TUTTI_HEADER_RELEASE_SHIFT);
	}
	if (last)
		run_end(queue);
	launch_pending(p, queue, tmd, &launch);
	if (last || queue->flags & TUTTI_QUEUE_OVERLAP)
		return 0;
	return wait_park(queue, WAIT_TASKS);
}

/* The steps that few launches need: for overlap, for profiling, and for queues that wait for the buffer. */
static COLD void launch_end(struct queue *queue, struct task *task, bool last, const uint32_t *command)
{
	struct task_group *group = queue->block->group;

	if (queue->flags & TUTTI_QUEUE_PROFILE && task->signal)
		launch_time(queue, task->signal);
	if (group) {
		task->rare = TASK_GROUP;
		task->group = group;
		group->open++;
		if (last) {
			group->signal = task->signal;
			task->signal = 0;
			task->release = 0;
		}
	}
	if (last)
		run_end(queue);
	if (last || queue->flags & TUTTI_QUEUE_OVERLAP)
		queue->wait = WAIT_NONE;
	start_task(task, command);
}

/* Launch a kernel that launch_one() cannot launch. */
static COLD void launch_else(struct queue *queue)
{
	queue->wait = WAIT_NONE;
	launch_general(queue);
}

/* The kernel's CTAs have another shape than those before, or its entry does not name a shape yet. */
static COLD void launch_shape(struct queue *queue, struct tutti_reference *e)
{
	const uint32_t *w = (const uint32_t *)e;
	const struct shape *shape = shape_find(w[REFERENCE_AT(scalar_blocks)], w[REFERENCE_AT(shared_blocks)], e->waves);

	if (!shape) {
		shape_line_wait(queue, w[REFERENCE_AT(scalar_blocks)], w[REFERENCE_AT(shared_blocks)], e->waves);
	} else if (unlikely(shape->id == SHAPE_NO_ID)) { /* ids have run out, so the entry cannot name it */
		launch_else(queue);
	} else {
		e->shape = shape->id;
		launch_next(queue);
	}
}

/*
 * The last kernel of a packet ends with the release fence of the packet, and the block becomes free. With overlap or
 * profiling run_stop is 0, so that all kernels come here.
 */
static HOT void launch_last(struct queue *queue, struct task *task, const uint32_t *command, uint32_t *end, uint32_t n)
{
	struct block *block = queue->block;
	struct rsb *rsb = queue->rsb;
	bool last = queue->run_kernel == queue->run_kernels;

	if (last)
		task->release = (uint8_t)(block->release | (task->release & TASK_SIGNALS));
	if (unlikely((queue->flags & (TUTTI_QUEUE_OVERLAP | TUTTI_QUEUE_PROFILE)) | queue_table.waiters[WAIT_RSB])) {
		task->unissued = n;
		return launch_end(queue, task, last, command);
	}
	block->busy = 0;
	rsb->readers--;
	rsb->used = command_tail();
	queue->run_kernels = 0;
	queue->run_in_flight = 0;
	queue->wait = WAIT_NONE;
	start_new(task, command, end, task->shape, n);
}

/* The command does not fit in one piece before the end of the ring, but does at its start. */
static COLD void launch_wrapped(struct queue *queue)
{
	command_wrap();
	launch_next(queue);
}

_Static_assert(9 + START_WORDS < COMMAND_SHORT, "TASK and a short LAUNCH");

/*
 * Launch a kernel by a short TASK command. All functions for rare cases are called in tail position, so that no
 * register has to be saved for them. @changed: the record goes on with values that replace those of its reference.
 */
static inline __attribute__((always_inline)) void launch_one(struct queue *queue, uint32_t *p, const uint32_t *record,
							      bool changed)
{
	uint32_t what = *record++, *end, header, number, command, low, high, groups;
	struct tutti_reference *entry = (void *)((char *)queue->table + (what & ~127u));
	const uint32_t *e = (const uint32_t *)entry;
	struct shape *shape;
	struct task *task;

	header = e[REFERENCE_AT(header)];
	if (unlikely(header & TUTTI_HEADER_BARRIER) && queue->flight)
		return;
	if (unlikely(queue->flight % QUEUE_ONE) && !(queue->flags & TUTTI_QUEUE_OVERLAP)) /* this is run_in_flight */
		return;
	task = task_table.free;
	if (unlikely(!task))
		return launch_else(queue);
	shape = shape_last;
	if (unlikely(shape->id != entry->shape))
		return launch_shape(queue, entry);
	task_table.free = task->next;
	shape->tasks++;
	task->queue = queue;
	task->shape = shape;
	task->progress = 0;

	command = TUTTI_COMMAND(TUTTI_CMD_TASK, 5, (uint32_t)task->slot << 8);
	if (header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE) {
		command |= (header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE) << 16;
		counters.acquires++;
	}
	p[1] = hal_local(e);
	p[2] = queue->asid_queue;
	low = (uint32_t)queue->run_packet;
	high = (uint32_t)(queue->run_packet >> 32);
	p[3] = low;
	p[4] = high;
	task->packet = low | (uint64_t)high << 32;
	end = p + 5;
	low = e[REFERENCE_AT(signal)];
	high = e[REFERENCE_AT(signal) + 1];
	groups = e[REFERENCE_AT(groups)];
	if (changed && what & RECORD_GRID) {
		end[0] = record[0];
		end[1] = record[1];
		groups = record[2];
		record += 3;
		end += 2;
		command += TUTTI_COMMAND(0, 2, TUTTI_TASK_NEW_GRID);
	}
	if (changed && what & RECORD_KERNARG) {
		end[0] = record[0];
		end[1] = record[1];
		record += 2;
		end += 2;
		command += TUTTI_COMMAND(0, 2, TUTTI_TASK_NEW_KERNARG);
	}
	if (changed && what & RECORD_SIGNAL) {
		low = record[0];
		high = record[1];
		record += 2;
	}
	p[0] = command;
	command_end(end);
	task->signal = low | (uint64_t)high << 32;
	task->release = (uint8_t)(low | high ? launch_release(header) | TASK_SIGNALS : 0);
	task->state = TASK_RUNNING;
	counters.kernels++;

	queue->record = record;
	queue->flight += QUEUE_ONE + 1;
	number = queue->run_kernel;
	task->kernel = (uint8_t)number++;
	queue->run_kernel = (uint8_t)number;
	if (unlikely(number >= queue->run_stop))
		return launch_last(queue, task, p, end, groups);
	start_new(task, p, end, shape, groups);
}

static HOT void launch_changed(struct queue *queue, uint32_t *p, const uint32_t *record)
{
	launch_one(queue, p, record, true);
}

HOT void launch_next(struct queue *queue)
{
	const uint32_t *record = queue->record;
	uint32_t *p = command_ring.next, rest;

	if (unlikely(p > command_ring.near_end))
		return launch_wrapped(queue);
	rest = *record & 127;
	if (likely(!rest))
		return launch_one(queue, p, record, false);
	if (unlikely(rest & (RECORD_GENERAL | RECORD_TMD | RECORD_CGA)))
		return launch_else(queue);
	launch_changed(queue, p, record);
}

/* ---- a kernel in place of the one before ---- */

/* Queues wait for what the end of a packet frees. */
static COLD void last_awaited(struct queue *queue)
{
	run_end(queue);
	queue_ahead(queue);
}

/* The kernel that launch_again() has launched was the last of its packet: what launch_last() does but for placing it. */
static HOT void last_again(struct queue *queue, struct task *task)
{
	struct block *block = queue->block;
	struct rsb *rsb = queue->rsb;

	task->release = (uint8_t)(block->release | (task->release & TASK_SIGNALS));
	if (unlikely(queue_table.waiters[WAIT_RSB]))
		return last_awaited(queue);
	block->busy = 0;
	rsb->readers--;
	rsb->used = command_tail();
	queue->run_kernels = 0;
	queue->run_in_flight = 0;
	queue_ahead(queue);
}

/* The kernel's CTAs have to be placed: those in @event give their slots back first. @p, @end: its command */
static __attribute__((noinline)) void again_placed(struct queue *queue, struct task *task, const struct tutti_event *event,
						    const uint32_t *p, uint32_t *end, uint32_t n)
{
	struct shape *shape = task->shape;

	shape_ended(shape, event);
	task->resident = 0;
	if (queue->run_kernel >= queue->run_stop)
		launch_last(queue, task, p, end, n);
	else
		start_new(task, p, end, shape, n);
	if (queue->wait != WAIT_TASKS)
		queue_run(queue);
}

_Static_assert(COMMAND_CLEAN_UP_WORDS + 9 + START_WORDS < COMMAND_SHORT, "a clean-up, a TASK and a short LAUNCH");

/*
 * Nothing but what differs is written: queue and shape stay as they are in @task. What also stays the same if the kernel
 * gets the same SMs is the numbers of CTAs, in @task and in the counts of residents, and the lake, out of which these SMs
 * would be taken again. @usual, @clean: the
 * record has no diff and there are as many CTAs as before; @task has no clean-up
 */
static inline __attribute__((always_inline)) void again(struct queue *queue, struct task *task,
							 const struct tutti_reference *entry, const struct tutti_event *event,
							 uint32_t head, uint32_t mask, uint32_t n, uint32_t *p, bool usual,
							 bool clean)
{
	const uint32_t *record = queue->record, *e = (const uint32_t *)entry;
	uint32_t *end = p + 5, what = usual ? 0 : *record, header, slot, low, high, scope, command, groups;

	p[1] = hal_local(e);
	p[2] = queue->asid_queue;
	low = (uint32_t)queue->run_packet;
	high = (uint32_t)(queue->run_packet >> 32);
	p[3] = low;
	p[4] = high;
	task->packet = low | (uint64_t)high << 32;
	task->progress = 0;
	record++;
	command = 0;
	groups = usual ? n : e[REFERENCE_AT(groups)];
	if (what & RECORD_GRID) {
		end[0] = record[0];
		end[1] = record[1];
		groups = record[2];
		record += 3;
		end += 2;
		command += TUTTI_COMMAND(0, 2, TUTTI_TASK_NEW_GRID);
	}
	if (what & RECORD_KERNARG) {
		end[0] = record[0];
		end[1] = record[1];
		record += 2;
		end += 2;
		command += TUTTI_COMMAND(0, 2, TUTTI_TASK_NEW_KERNARG);
	}
	low = e[REFERENCE_AT(signal)];
	high = e[REFERENCE_AT(signal) + 1];
	if (what & RECORD_SIGNAL) {
		low = record[0];
		high = record[1];
		record += 2;
	}
	queue->record = record;
	queue->flight = QUEUE_ONE + 1;
	counters.kernels++;
	slot = task->slot;
	header = e[REFERENCE_AT(header)];
	if (!clean || unlikely(low | high)) {
		task->signal = low | (uint64_t)high << 32;
		task->release = (uint8_t)(low | high ? launch_release(header) | TASK_SIGNALS : 0);
	}
	command += TUTTI_COMMAND(TUTTI_CMD_TASK, 5, slot << 8);
	scope = header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	if (scope) {
		command |= scope << 16;
		counters.acquires++;
	}
	p[0] = command;
	low = queue->run_kernel;
	task->kernel = (uint8_t)low++;
	queue->run_kernel = (uint8_t)low;
	if (!usual && unlikely(groups != n)) {
		command_end(end);
		return again_placed(queue, task, event, p, end, groups);
	}
	counters.ctas_issued += n;
	end[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, slot);
	/* the event's words of the mask are those of the segment */
	end[1] = (usual ? head : event->word[0]) >> 16 << 16 | 1;
	end[2] = usual ? mask : event->word[3];
	command_end(end + 3);
	if (unlikely(low >= queue->run_stop))
		last_again(queue, task);
}

HOT void launch_again(struct queue *queue, struct task *task, const struct tutti_reference *entry, uint32_t head, uint32_t mask,
		      uint32_t n)
{
	again(queue, task, entry, NULL, head, mask, n, command_ring.next, true, true);
}

HOT void launch_again_signal(struct queue *queue, struct task *task, const struct tutti_reference *entry, uint32_t head,
			     uint32_t mask, uint32_t n)
{
	again(queue, task, entry, NULL, head, mask, n, task_put_clean_up(command_ring.next, task, queue), true, false);
}

HOT void launch_again_general(struct queue *queue, struct task *task, const struct tutti_reference *entry,
			      const struct tutti_event *event, uint32_t n)
{
	again(queue, task, entry, event, 0, 0, n, task_put_clean_up(command_ring.next, task, queue), false, false);
}

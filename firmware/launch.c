// SPDX-License-Identifier: MIT
#include "launch.h"

#include "cga.h"
#include "command.h"
#include "counter.h"
#include "place.h"
#include "tmd.h"
#include "tmu.h"

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
	task->queue = queue;
	task->shape = launch->shape;
	task->unissued = launch->groups;
	task->resident = 0;
	task->progress = 0;
	task->signal = signal;
	task->release = (uint8_t)release;
	task->state = TASK_RUNNING;
	task->rare = 0;
	task->shape->tasks++;
	queue->inflight++;
	counters.kernels++;
	state[-1] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);
	command_end(state + STATE_WORDS);
	if (unlikely(queue->flags & TUTTI_QUEUE_PROFILE) && signal)
		start_time(queue, signal);
	else if (likely(place_few(task, state + STATE_WORDS)))
		return;
	place_task(task, state);
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

/* ---- by way of the lists of tmu.h: tasks of metadata, and when no slot is free ---- */

static unsigned priority_of(const struct queue *queue, const struct tmd *tmd)
{
	return tmd && tmd_static(tmd)->priority ? tmd_static(tmd)->priority : queue->priority;
}

/* A queue task has no grid: CTAs are numbered without end, as far as a grid goes. */
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
	p->release = (uint8_t)release_scope(launch->header);
	queue->inflight++;
	counters.kernels++;
	counters.state_syncs--; /* counted when it is sent */
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
	tmu_push(p);
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
	if (!code && queue->flags & TUTTI_QUEUE_EXTENDED && copy.tmd)
		code = tmd_get(queue, copy.tmd, &tmd);
	if (code)
		return code;
	p = tmu_get(priority_of(queue, tmd));
	if (!p)
		return queue_park(queue, WAIT_SLOT);
	copy.tmd = 0;
	packet_throttle(tmd);
	code = packet_special(queue, &copy, p->state, &launch);
	packet_throttle(NULL);
	if (!code)
		code = cga_pend(p, tmd, kernel_cga(launch.kernel), launch.kernel->fetched.flags & TUTTI_KERNEL_LMEM,
				launch.shape->capacity);
	if (code) {
		tmu_put(p);
		if (code > 0)
			tmd_drop(queue);
		return code;
	}
	if (number) {
		copy.tmd = packet->dispatch.tmd;
		reference_store(queue->rsb, number & TUTTI_REF_INDEX, &copy, p->state, &launch);
		if (tmd || p->cga.kind)
			reference_special(queue->rsb, number & TUTTI_REF_INDEX, copy.tmd, &p->cga, p->lmem);
		queue->scrub = 1;
		counters.references++;
	}
	counters.dispatches++;
	p->packet = queue->head;
	p->kernel = 0;
	p->rare = 0;
	launch_pending(p, queue, tmd, &launch);
	return 0;
}

HOT int launch_packet(struct queue *queue, const union tutti_packet *packet)
{
	struct task *task = task_table.free;
	struct launch launch;
	uint32_t *state, number = 0;
	int code;

	if (unlikely(!task))
		return launch_special(queue, packet);
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
		/* what is wrong with it as a plain one may be right with its metadata */
		return code == PACKET_SPECIAL ||
			       (code != PACKET_PARKED && queue->flags & TUTTI_QUEUE_EXTENDED && packet->dispatch.tmd) ?
			       launch_special(queue, packet) : code;
	}
	if (number) {
		reference_store(queue->rsb, number & TUTTI_REF_INDEX, &packet->dispatch, state, &launch);
		queue->scrub = 1;
		counters.references++;
	}
	counters.dispatches++;
	task->packet = queue->head;
	task->kernel = 0;
	start(queue, task, state, &launch, launch.signal[0] | (uint64_t)launch.signal[1] << 32,
	      release_scope(launch.header));
	return 0;
}

/* ---- condensed packets ---- */

void launch_block_free(struct queue *queue)
{
	queue->block->busy = 0;
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
	block->group = NULL;
	if (unlikely(queue->flags & TUTTI_QUEUE_OVERLAP)) {
		block->group = task_group_create();
		if (!block->group)
			return queue_park(queue, WAIT_SLOT);
		block->group->release = block->release;
	}
	block->busy = 1;
	queue->rsb->readers++;
	queue->record = block->record;
	queue->run_packet = queue->head;
	queue->run_kernel = 0;
	queue->run_active = 0;
	queue->run_kernels = block->kernels;
	queue->scrub = 1;
	counters.condensed++;
	return 0;
}

/* The last kernel of a packet is launched; with it goes the last reference to the group. */
static void run_end(struct queue *queue)
{
	queue->run_kernels = 0;
	launch_block_free(queue);
	if (queue->block->group)
		queue->block->group->open--;
}

static bool must_wait(const struct queue *queue, const struct launch *launch)
{
	return launch->header & TUTTI_HEADER_BARRIER ? queue->inflight
						     : queue->run_active && !(queue->flags & TUTTI_QUEUE_OVERLAP);
}

/* A kernel of its own patched entry that finds a slot, and is not the last. */
static COLD int launch_patched(struct queue *queue)
{
	uint32_t *p = command_begin(2 + STATE_WORDS + 3), *state = p + 2, scope;
	struct task *task = task_table.free;
	struct launch launch;
	const uint32_t *record = condensed_kernel(queue, queue->record, state, &launch);

	if (must_wait(queue, &launch))
		return queue_park(queue, WAIT_TASKS);
	launch.shape = shape_get(state[STATE_AT(scalar_blocks)], state[STATE_AT(shared_blocks)],
				 state[STATE_AT(workgroup_z)] >> 16);
	if (!launch.shape)
		return queue_park(queue, WAIT_SHAPE);
	scope = launch.header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	counters.acquires += !!scope;
	p[0] = scope ? TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, scope | TUTTI_FENCE_ACQUIRE) : TUTTI_CMD_NOP | 1u << 8;
	task->packet = queue->run_packet;
	task->kernel = queue->run_kernel++;
	queue->run_active++;
	queue->record = record;
	start(queue, task, state, &launch, launch.signal[0] | (uint64_t)launch.signal[1] << 32,
	      launch.signal[0] | launch.signal[1] ? release_scope(launch.header) : 0);
	return queue_park(queue, WAIT_TASKS);
}

/* A kernel of which not all is in the record of a reference, or for which there is no slot. */
static COLD int launch_general(struct queue *queue)
{
	struct task_group *group = queue->block->group;
	struct tmd *tmd = NULL;
	struct launch launch;
	struct pending *p;
	const uint32_t *record;
	bool last = queue->run_kernel + 1u == queue->run_kernels, lmem = false;
	struct tutti_cga_shape cga = { 0 };
	int code = 0;

	if (task_table.free && !(*queue->record & (RECORD_TMD | RECORD_CGA)) && !last && !(queue->flags & TUTTI_QUEUE_OVERLAP))
		return launch_patched(queue);
	p = tmu_get(queue->priority);
	if (!p)
		return queue_park(queue, WAIT_SLOT);
	record = condensed_kernel(queue, queue->record, p->state, &launch);
	if (must_wait(queue, &launch))
		code = queue_park(queue, WAIT_TASKS);
	else if (*queue->record & RECORD_TMD)
		code = tmd_get(queue, condensed_tmd(queue), &tmd);
	if (!code && !shape_find(p->state[STATE_AT(scalar_blocks)], p->state[STATE_AT(shared_blocks)],
				 p->state[STATE_AT(workgroup_z)] >> 16))
		code = queue_park(queue, WAIT_SHAPE);
	if (*queue->record & RECORD_CGA)
		cga = condensed_cga(queue, &lmem);
	if (!code)
		code = cga_pend(p, tmd, cga, lmem, shapes.last->capacity);
	if (code) {
		tmu_put(p);
		return code > 0 ? queue_refuse_run(queue, code) : code;
	}
	p->packet = queue->run_packet;
	p->kernel = queue->run_kernel++;
	p->rare = 0;
	queue->run_active++;
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
	return queue_park(queue, WAIT_TASKS);
}

/* What is not so for every kernel: the last one, overlap, profiling. */
static COLD int launch_end(struct queue *queue, struct task *task, bool last, const uint32_t *state)
{
	struct task_group *group = queue->block->group;

	if (queue->flags & TUTTI_QUEUE_PROFILE && task->signal)
		start_time(queue, task->signal);
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
	place_task(task, state);
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

static HOT int launch_many(struct task *task, const uint32_t *state)
{
	place_task(task, state);
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
	if (unlikely(*record & (RECORD_GENERAL | RECORD_TMD | RECORD_CGA)))
		return launch_general(queue);
	/* the first word may be the acquire fence; it is skipped if there is none */
	state = p + 2;
	record = condensed_read(queue, record, state, &launch, false);
	flags = queue->flags;
	if (unlikely(launch.header & TUTTI_HEADER_BARRIER ? queue->inflight
							  : queue->run_active && !(flags & TUTTI_QUEUE_OVERLAP)))
		return queue_park(queue, WAIT_TASKS);
	task = task_table.free;
	if (unlikely(!task))
		return launch_general(queue);
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
	task->rare = 0;
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
	if (unlikely(last || flags & (TUTTI_QUEUE_OVERLAP | TUTTI_QUEUE_PROFILE)))
		return launch_end(queue, task, last, state);
	queue->wait = WAIT_TASKS;
	return place_few(task, state + STATE_WORDS) ? PACKET_PARKED : launch_many(task, state);
}

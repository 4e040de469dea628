// SPDX-License-Identifier: MIT
#include "queues/launch_special.h"

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "groups/cga_ids.h"
#include "place/kernel_cache.h"
#include "queues/launch_plain.h"
#include "tasks/grouped_tasks.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/throttle.h"

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
	p->priority = (uint8_t)tmd_priority(tmd, queue);
	p->acquire = launch->header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	p->release = (uint8_t)launch_release(launch->header);
	if (unlikely(queue->flags & TUTTI_QUEUE_PROFILE) && p->signal)
		launch_time(queue, p->signal);
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
		tmd_take_any(queue, tmd, launch->groups);
	}
	if (!pending_start(p))
		pending_push(p);
}

COLD int launch_special(struct queue *queue, const union tutti_packet *packet)
{
	const struct tutti_dispatch_packet *dispatch = &packet->dispatch;
	uint32_t number = queue->flags & TUTTI_QUEUE_EXTENDED ? dispatch->ref_num : 0;
	struct tmd *tmd = NULL;
	struct launch launch;
	struct pending *p;
	int code = 0;

	if (number)
		code = launch_check_reference(queue, number);
	if (!code && queue->flags & TUTTI_QUEUE_EXTENDED && dispatch->tmd)
		code = tmd_get(queue, dispatch->tmd, &tmd);
	if (code)
		return code;
	p = pending_get(tmd_priority(tmd, queue));
	if (!p)
		return wait_park(queue, WAIT_SLOT);
	code = packet_special(queue, dispatch, tmd ? throttle_limit(tmd) : 0, p->state, &launch);
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
		reference_store(queue->rsb, number & TUTTI_REF_INDEX, dispatch, p->state, &launch);
		if (tmd || p->cga.kind)
			reference_special(queue->rsb, number & TUTTI_REF_INDEX, dispatch->tmd, &p->cga, p->kernel_flags);
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

/* ---- straight from the packet ---- */

/* Take the free slot @task for the packet at the head. */
static inline __attribute__((always_inline)) void take_slot(struct queue *queue, struct task *task, const struct launch *launch,
							     unsigned rare)
{
	launch_take(queue, task, launch, launch_release(launch->header));
	task->rare = (uint16_t)rare;
	task->packet = queue->head;
	task->kernel = 0;
	counters.dispatches++;
}

/*
 * Decode the packet for launch_metadata(). What is kept does not say whether the waves of its kernel are independent, and by
 * the time of the packets behind it the cache may not know the kernel any more. Return: 0, if that can go on
 */
static int metadata_decoded(struct queue *queue, const union tutti_packet *packet)
{
	struct kept *kept = &launch_kept[queue->buffer - 1];
	struct launch launch;
	int code;

	kept->next = 0;
	packet_any = true;
	code = packet_dispatch(queue, &packet->dispatch, kept->state, &launch);
	packet_any = false;
	if (!code && launch.kernel->demands & KERNEL_WAVES)
		code = PACKET_SPECIAL;
	if (code)
		return code;
	kept->state[REFERENCE_AT(groups)] = launch.groups;
	kept->next = (uintptr_t)packet | KEPT_METADATA | KEPT_OWN;
	return 0;
}

/*
 * May a TASK command name the kept state that has not been taken yet? It may while a kernel without metadata is in flight:
 * metadata that were fetched for an earlier packet in the same slot of the ring are there without a wait.
 */
static bool kept_in_use(const struct queue *queue)
{
	uintptr_t next = launch_kept[queue->buffer - 1].next;

	return queue->flight && next && !(next & KEPT_METADATA);
}

/*
 * Has the command ring room for launch_metadata_now(), which expects that no wrap is near? On a crowded card (queues/turns.h)
 * there is no limit up to which it may write without being asked. Return: as metadata_prepared()
 */
static int room_ahead(struct queue *queue)
{
	if (command_ring.next > command_ring.near_end)
		command_wrap();
	if (!place_room())
		return wait_park(queue, WAIT_ROOM);
	return command_ring.next <= command_ring.limit ? 0 : PACKET_SPECIAL;
}

/* Return: 0 if launch_metadata_now() can launch @packet, PACKET_SPECIAL if launch_special() has to, or why neither can */
static __attribute__((noinline)) int metadata_prepared(struct queue *queue, const union tutti_packet *packet, struct tmd *tmd)
{
	int code;

	if (!tmd) {
		code = tmd_get(queue, packet->dispatch.tmd, &tmd);
		if (queue->wait == WAIT_METADATA && queue_follower_ready(queue))
			queue->wait = WAIT_FOLLOW;
		return code;
	}
	if (packet->dispatch.ref_num || !task_table.free || queue->flags & TUTTI_QUEUE_PROFILE ||
	    !pending_direct(tmd_priority(tmd, queue)) || !tmd_plain(tmd) || kept_in_use(queue))
		return PACKET_SPECIAL;
	code = room_ahead(queue);
	if (code)
		return code;
	code = metadata_decoded(queue, packet);
	return !code || code == PACKET_PARKED ? code : PACKET_SPECIAL;
}

COLD int launch_metadata(struct queue *queue, const union tutti_packet *packet)
{
	struct tmd *tmd = tmd_ready(queue, packet->word[12], packet->word[13]);
	bool follows = queue->wait == WAIT_FOLLOW;
	int code;

	if (follows && (queue_table.suspended || !place_room())) {
		wait_ready(queue);
		return PACKET_PARKED;
	}
	queue->wait = WAIT_TASKS;
	code = metadata_prepared(queue, packet, tmd);
	if (!code)
		return launch_metadata_now(queue, packet, tmd);
	if (code == PACKET_SPECIAL)
		code = launch_special(queue, packet);
	if (!code) {
		queue->packet++;
		queue->head++;
	} else if (follows) {
		launch_failed(queue, code);
	}
	return code;
}

_Static_assert(COMMAND_FENCE_WORDS + 1 + STATE_WORDS + START_WORDS < COMMAND_SHORT, "an acquire fence, STATE and a short LAUNCH");

/* A packet that is not like the one before, or whose state is not good for it any more, is decoded and comes here again. */
HOT int launch_metadata_now(struct queue *queue, const union tutti_packet *packet, struct tmd *tmd)
{
	const uint32_t *w = packet->word;
	struct task *task = task_table.free;
	struct kept *kept = &launch_kept[queue->buffer - 1];
	uint32_t how = (uint32_t)(kept->next ^ (uintptr_t)packet) ^ KEPT_METADATA, *p = command_ring.next, scope, n;
	unsigned i;

	__asm__("" : "+r"(kept)); /* it is not worked out again, since that takes a multiplication */
	if (unlikely(how & ~KEPT_OWN) || unlikely(!task) || unlikely(p > command_ring.limit) ||
	    unlikely(!pending_direct(tmd_priority(tmd, queue))) ||
	    unlikely(!how && !launch_alike(w, packet[-1].word)) || unlikely(!shape_last->capacity) ||
	    unlikely(!shape_is_last(kept->state[STATE_AT(scalar_blocks)], kept->state[STATE_AT(shared_blocks)],
				    kept->state[STATE_AT(workgroup_z)] >> 16)))
		return launch_metadata(queue, packet);
	kept->next = (uintptr_t)(packet + 1) | KEPT_METADATA;
	scope = w[0] >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	if (scope) {
		p = command_put_fence(p, scope | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	}
	p[0] = TUTTI_COMMAND(TUTTI_CMD_STATE, STATE_WORDS + 1, (uint32_t)task->slot << 8);
	p++;
#pragma GCC unroll 18
	for (i = 0; i < TUTTI_TASK_WORDS; i++)
		p[i] = i / 2 == STATE_AT(kernarg) / 2 ? w[i - STATE_AT(kernarg) + 10] : kept->state[i];
	p[STATE_AT(asid)] = queue->asid_queue;
	p[STATE_AT(first)] = 0;
	p[STATE_AT(tmd)] = w[12];
	p[STATE_AT(tmd) + 1] = w[13];
	p[STATE_AT(packet)] = (uint32_t)queue->head;
	p[STATE_AT(packet) + 1] = (uint32_t)(queue->head >> 32);
	command_end(p + STATE_WORDS);
	n = kept->state[REFERENCE_AT(groups)];
	take_slot(queue, task, &(struct launch){ .header = w[0], .signal = { w[14], w[15] }, .shape = shape_last }, TASK_TMD);
	task->tmd = tmd;
	tmd_take(queue, tmd, n);
	queue->wait = WAIT_TASKS;
	queue->packet = packet + 1;
	queue->head++;
	return start_new(task, p - 1, p + STATE_WORDS, shape_last, n);
}

#define LEVEL_WORDS (2 * TUTTI_CGA_LEVELS)
_Static_assert(sizeof(struct tutti_cga_shape) == 8 && LEVEL_WORDS <= START_WORDS, "there is room for the levels behind the state");

/*
 * Complete the STATE whose payload @state is by what SMs are told of @cga, CGAs of one level that have identities.
 * Return: its end
 */
static __attribute__((noinline)) uint32_t *put_grouped(uint32_t *state, uint32_t slot, const struct cga *cga)
{
	uint32_t *level = state + STATE_WORDS;
	unsigned i;

	state[-1] = TUTTI_COMMAND(TUTTI_CMD_STATE, 1 + STATE_WORDS + LEVEL_WORDS, slot << 8 | TUTTI_STATE_CGA);
	state[STATE_AT(cga_x)] = level[0] = cga->one[0];
	level[1] = cga->one[1];
	state[STATE_AT(cga_z)] |= (uint16_t)level[1];
#pragma GCC unroll 8
	for (i = 2; i < LEVEL_WORDS; i++)
		level[i] = 0;
	return level + LEVEL_WORDS;
}

/* Not all CGAs have found room. */
static COLD void grouped_rest(struct task *task, const uint32_t *command)
{
	pending_keep(task, command);
	rounds_add(task);
	rounds_run();
}

/* Do CGAs like @one, which @cga describes, divide a grid? If the number of CTAs is a power of two, so are the sizes. */
static inline bool divides(const struct cga *cga, struct cga_one one, const uint32_t *groups)
{
	if (unlikely(cga->log == CGA_UNEVEN))
		return !(groups[0] % (uint16_t)one.x_y | groups[1] % (one.x_y >> 16) | groups[2] % (uint16_t)one.z_kind);
	one.x_y -= 0x10001;
	return !((groups[0] & (uint16_t)one.x_y) | (groups[1] & one.x_y >> 16) | (groups[2] & ((uint16_t)one.z_kind - 1u)));
}

/* The slot has no description of such CGAs yet, or something is wrong with them. */
static COLD int grouped_first(struct queue *queue, const union tutti_packet *packet, uint32_t *state,
			      const struct launch *launch)
{
	if (pending_direct(queue->priority) && !(queue->flags & TUTTI_QUEUE_PROFILE) &&
	    cga_describe(task_table.free, kernel_cga(launch->kernel), launch->kernel->fetched.flags & TUTTI_KERNEL_LMEM,
			 state + STATE_AT(groups_x), launch->shape->capacity))
		return launch_grouped(queue, packet, state, launch);
	launch_begin_undo(packet->word[0]);
	return launch_special(queue, packet);
}

/* Is @cga, the description that the last grid has left in the slot, good for the decoded kernel, too? */
static __attribute__((noinline)) bool described(const struct cga *cga, const struct launch *launch, const uint32_t *state)
{
	const struct tutti_kernel_descriptor *d = &launch->kernel->fetched;
	const struct cga_one one = { d->cga[0] | (uint32_t)d->cga[1] << 16, d->cga[2] | (uint32_t)d->cga_kind << 16 };
	uint32_t limits = cga_limits(launch->shape->capacity, d->flags & TUTTI_KERNEL_LMEM);

	return likely(cga_again(cga, one, limits)) && likely(divides(cga, one, state + STATE_AT(groups_x)));
}

HOT int launch_grouped(struct queue *queue, const union tutti_packet *packet, uint32_t *state, const struct launch *launch)
{
	struct task *task = task_table.free;
	struct cga *cga = &cga_grids[task->slot];

	if (unlikely(!pending_direct(queue->priority)) || unlikely(queue->flags & TUTTI_QUEUE_PROFILE) ||
	    unlikely(!described(cga, launch, state)))
		return grouped_first(queue, packet, state, launch);
	take_slot(queue, task, launch, TASK_CGA);
	counters.placements--; /* cga_place() counts it */
	command_end(put_grouped(state, task->slot, cga));
	task->unissued = launch->groups;
	cga_place_now(task, cga, launch->groups);
	if (unlikely(task->unissued))
		grouped_rest(task, state - 1);
	return 0;
}

/* Words of the commands that end a task with one CGA: the flush of the CGA, and the clean-up. */
static inline uint32_t end_words(const struct task *task)
{
	return COMMAND_FLUSH_WORDS + (task->release & TUTTI_HEADER_SCOPE ? COMMAND_FENCE_WORDS : 0) +
	       (task->release & TASK_SIGNALS ? COMMAND_SIGNAL_WORDS : 0);
}

_Static_assert(COMMAND_FLUSH_WORDS + COMMAND_CLEAN_UP_WORDS + COMMAND_FENCE_WORDS + 1 + STATE_WORDS + LEVEL_WORDS + 5 < COMMAND_SHORT,
	       "the end of a task, an acquire fence, STATE and LAUNCH");

/* The packet is decoded behind the room for the commands that end @task. These are written if the CGA can take over. */
HOT bool launch_grouped_again(const struct tutti_event *event, struct task *task, struct gpc *gpc)
{
	struct queue *queue = task->queue;
	const union tutti_packet *packet = queue->packet;
	uint32_t scope = packet->word[0] >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE, *p, *state;
	struct cga *cga = &cga_grids[task->slot];
	struct launch launch;

	if (unlikely(queue->flags & TUTTI_QUEUE_EXTENDED && packet->dispatch.ref_num))
		return false;
	state = command_ring.next + end_words(task) + (scope ? COMMAND_FENCE_WORDS : 0) + 1;
	if (unlikely(packet_dispatch(queue, &packet->dispatch, state, &launch) != PACKET_GROUPED) ||
	    unlikely(launch.groups != event->word[2]) || unlikely(launch.shape != task->shape) ||
	    unlikely(!described(cga, &launch, state)))
		return false;
	cga_ids_ended(gpc, event->word[0] >> 24, event->word[2]);
	p = task_put_clean_up(command_ring.next, task, queue);
	if (scope) {
		command_put_fence(p, scope | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	}
	counters.dispatches++;
	counters.ctas_issued += launch.groups;
	cga->passed = 0;
	task->packet = queue->head;
	task->signal = launch.signal[0] | (uint64_t)launch.signal[1] << 32;
	task->release = task_ends(launch_release(launch.header), task->signal);
	task->progress = 0;
	command_end(cga_take_over(put_grouped(state, task->slot, cga), gpc, cga, event->word[3]));
	launch_followed(queue);
	return true;
}

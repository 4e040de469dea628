// SPDX-License-Identifier: MIT
#include "queues/launch_plain.h"

#include "core/clock.h"
#include "core/command_ring.h"
#include "core/counters.h"
#include "core/state.h"
#include "core/wait.h"
#include "place/kernel_cache.h"
#include "place/shape_line.h"
#include "queues/launch_special.h"
#include "tasks/metadata.h"

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
	launch_take(queue, task, launch, release);
	command_end(end);
	if (unlikely(queue->flags & TUTTI_QUEUE_PROFILE) && task->signal)
		return start_profiled(queue, task, command, launch->groups);
	return start_new(task, command, end, launch->shape, launch->groups);
}

/* launch_check_reference() would return 0. */
static inline __attribute__((always_inline)) bool may_store(const struct queue *queue, uint32_t number)
{
	const struct rsb *rsb = queue->rsb;

	return likely(rsb) && likely((number & ~TUTTI_REF_INDEX) == TUTTI_REF_STORE) && likely(!rsb->readers) &&
	       likely(reference_taken(rsb, number & TUTTI_REF_INDEX));
}

COLD int launch_check_reference(struct queue *queue, uint32_t number)
{
	if (!queue->rsb || number & ~(TUTTI_REF_STORE | TUTTI_REF_INDEX) || !(number & TUTTI_REF_STORE))
		return packet_refuse(TUTTI_ERROR_PACKET, offsetof(struct tutti_dispatch_packet, ref_num));
	if (queue->rsb->readers) {
		shape_line_leave(queue); /* the readers may be behind it in line */
		return wait_park(queue, WAIT_RSB);
	}
	return reference_taken(queue->rsb, number & TUTTI_REF_INDEX) ? 0 : wait_park(queue, WAIT_ROOM);
}

/*
 * Write at @p the first five words of a TASK command, by which @task becomes that of the packet at the head. @more: is
 * added to the first word
 */
static inline __attribute__((always_inline))
void put_task(uint32_t *p, const struct queue *queue, struct task *task, const uint32_t *state, uint32_t more)
{
	uint32_t scope = queue->packet->word[0] >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;

	if (scope) {
		more |= scope << 16;
		counters.acquires++;
	}
	p[0] = TUTTI_COMMAND(TUTTI_CMD_TASK, 5, (uint32_t)task->slot << 8) + more;
	p[1] = hal_local(state);
	p[2] = queue->asid_queue;
	p[3] = (uint32_t)queue->head;
	p[4] = (uint32_t)(queue->head >> 32);
	task->packet = queue->head;
	task->kernel = 0;
	counters.dispatches++;
}

/*
 * Where to decode a packet that stores reference @index: in the entry or, if that holds another reference still, in
 * @state.
 */
static inline uint32_t *reference_state(const struct queue *queue, unsigned index, uint32_t *state)
{
	return (queue->rsb->valid | queue->rsb->special) >> index & 1 ? state : (uint32_t *)&queue->table[index];
}

/* @state is that of no reference. A decoded state has its packet's number where a reference has its flags. */
static inline void not_kept(uint32_t *state)
{
	state[REFERENCE_AT(header)] = 0;
}

/* The packet at the head, which was decoded into @state, becomes reference @index. */
static inline __attribute__((always_inline))
void keep(struct queue *queue, unsigned index, const uint32_t *state, const struct launch *launch)
{
	uint32_t *entry = (uint32_t *)&queue->table[index];

	if (state != entry)
		reference_replace(queue->rsb, index, state);
	reference_keep(queue->rsb, entry, index, queue->packet->word, launch);
	queue->scrub = 1;
	counters.references++;
}

/* If the packet is refused, the reference that it was to replace stays as it was. */
static __attribute__((noinline)) int launch_reference(struct queue *queue, const union tutti_packet *packet)
{
	uint32_t number = packet->dispatch.ref_num, index = number & TUTTI_REF_INDEX, *p, *state;
	struct task *task = task_table.free;
	struct launch launch;
	int code;

	if (unlikely(!may_store(queue, number)))
		return launch_check_reference(queue, number);
	p = command_begin(5 + START_WORDS + STATE_WORDS);
	state = reference_state(queue, index, p + 5 + START_WORDS);
	code = packet_dispatch(queue, &packet->dispatch, state, &launch);
	if (unlikely(code)) {
		not_kept(state);
		return code <= PACKET_SPECIAL ? launch_special(queue, packet) : code;
	}
	keep(queue, index, state, &launch);
	put_task(p, queue, task, (uint32_t *)&queue->table[index], 0);
	launch_start(queue, task, p, p + 5, &launch, launch_release(launch.header));
	queue->table[index].used = command_tail();
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
	return code;
}

/* Metadata that have arrived without having been expected by queue_metadata(), or that have yet to be asked for. */
static COLD int launch_with_metadata(struct queue *queue, const union tutti_packet *packet)
{
	struct tmd *tmd = tmd_ready(queue, packet->word[12], packet->word[13]);
	int code = tmd && tmd_plain(tmd) ? launch_metadata_now(queue, packet, tmd) : launch_metadata(queue, packet);

	if (!code) { /* the caller will move on behind the packet, too */
		queue->packet--;
		queue->head--;
	}
	return code;
}

HOT int launch_packet(struct queue *queue, const union tutti_packet *packet)
{
	struct task *task = task_table.free;
	struct launch launch;
	uint32_t *command;
	int code;

	if (unlikely(!task))
		return launch_crowded(queue, packet);
	if (queue->flags & TUTTI_QUEUE_EXTENDED) {
		if (packet->dispatch.ref_num)
			return launch_reference(queue, packet);
		if (packet->dispatch.tmd)
			return launch_with_metadata(queue, packet);
	}
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

/* ---- a kernel in place of the one before ---- */

struct kept launch_kept[FW_BUFFERS];

COLD void launch_forget(void)
{
	unsigned i;

	for (i = 0; i < FW_BUFFERS; i++)
		launch_kept[i].next = (launch_kept[i].next & KEPT_METADATA) | KEPT_OWN;
}

/* End @task, whose last CTAs @event tells of; its clean-up has been written or will be. */
static __attribute__((noinline)) void give_back(const struct tutti_event *event, struct task *task)
{
	shape_ended(task->shape, event);
	task->resident = 0;
	task_slot_free(task);
	task->queue->flight -= QUEUE_ONE;
}

/* The packet is not as simple as launch_follow() expects. */
static __attribute__((noinline)) void follow_afresh(const struct tutti_event *event, struct task *task)
{
	task_clean_up(task);
	give_back(event, task);
	queue_next(task->queue);
}

_Static_assert(COMMAND_CLEAN_UP_WORDS + 7 + START_WORDS < COMMAND_SHORT, "a clean-up, a TASK and a short LAUNCH");

/*
 * A TASK command that names @state has been written. If @state is that of a reference, it is in use from here on:
 * launch_followed() may launch a packet that stores the same reference.
 */
static inline __attribute__((always_inline)) void in_use(const struct queue *queue, const uint32_t *state)
{
	if (unlikely((uintptr_t)state - (uintptr_t)queue->table < TUTTI_REFERENCES * sizeof(queue->table[0])))
		((struct tutti_reference *)(uintptr_t)state)->used = command_tail();
}

/*
 * @task becomes that of the packet at the head, whose decoded state is @state. Its CTAs take the places of the @n that
 * have ended. @more: bits for the TASK command, which say that kernarg follows; or 0
 */
static HOT void replace(const struct tutti_event *event, struct task *task, uint32_t n, const uint32_t *state, uint32_t more)
{
	struct queue *queue = task->queue;
	const uint32_t *w = queue->packet->word;
	uint32_t *p = task_put_clean_up(command_ring.next, task, queue);

	put_task(p, queue, task, state, more);
	p += 5;
	if (more) {
		p[0] = w[10];
		p[1] = w[11];
		p += 2;
	}
	task->signal = w[14] | (uint64_t)w[15] << 32;
	task->release = task_ends(launch_release(w[0]), task->signal);
	task->progress = 0;
	counters.ctas_issued += n;
	p[0] = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, task->slot);
	p[1] = event->word[0] >> 16 << 16 | 1; /* the event's words of the mask are those of the segment */
	p[2] = event->word[3];
	command_end(p + 3);
	in_use(queue, state);
	launch_followed(queue);
}

/*
 * The same for a kernel that needs other CTAs than the one before: it takes over the slot, but its CTAs have to be
 * placed.
 */
static COLD void follow_placed(const struct tutti_event *event, struct task *task, const uint32_t *state,
			       const struct launch *launch)
{
	struct queue *queue = task->queue;
	uint32_t *p = task_put_clean_up(command_ring.next, task, queue);

	put_task(p, queue, task, state, 0);
	give_back(event, task);
	launch_start(queue, task, p, p + 5, launch, launch_release(launch->header));
	in_use(queue, state);
	launch_followed(queue);
}

/*
 * The packet differs from the one before, or may differ. It is decoded into the kept state of this buffer or, if it
 * stores a new reference, into that. The kept state may be overwritten: all kernels that were launched from it have
 * ended, so the engines have taken all commands that name it.
 */
static HOT void follow_decoded(const struct tutti_event *event, struct task *task, uint32_t n)
{
	struct queue *queue = task->queue;
	const union tutti_packet *packet = queue->packet;
	struct kept *kept = &launch_kept[queue->buffer - 1];
	uint32_t number = queue->flags & TUTTI_QUEUE_EXTENDED ? packet->dispatch.ref_num : 0, index = number & TUTTI_REF_INDEX;
	uint32_t *state = kept->state;
	struct launch launch;

	kept->next = 0;
	if (unlikely(number)) {
		if (unlikely(!may_store(queue, number)))
			return follow_afresh(event, task);
		state = reference_state(queue, index, state);
	}
	if (unlikely(packet_dispatch(queue, &packet->dispatch, state, &launch)) || unlikely(launch.kernel->demands & KERNEL_WAVES)) {
		not_kept(state);
		return follow_afresh(event, task);
	}
	if (unlikely(number)) {
		keep(queue, index, state, &launch);
	} else {
		kept->next = (uintptr_t)(packet + 1);
		state[REFERENCE_AT(groups)] = launch.groups;
		not_kept(state);
	}
	if (unlikely(launch.groups != n) || unlikely(launch.shape != task->shape))
		follow_placed(event, task, state, &launch);
	else
		replace(event, task, n, state, 0);
}

/*
 * The decoded state of the packet before was kept. It is good for the packet at the head, too, if the two are alike.
 */
static HOT void follow_alike(const struct tutti_event *event, struct task *task, uint32_t n)
{
	struct queue *queue = task->queue;
	const uint32_t *a = queue->packet->word, *b = queue->packet[-1].word;
	struct kept *kept = &launch_kept[queue->buffer - 1];

	if (!launch_alike(a, b) || a[12] != b[12] || a[13] != b[13] || unlikely(kept->state[REFERENCE_AT(groups)] != n))
		return follow_decoded(event, task, n);
	kept->next += sizeof(*queue->packet);
	replace(event, task, n, kept->state, TUTTI_COMMAND(0, 2, TUTTI_TASK_NEW_KERNARG));
}

HOT void launch_follow(const struct tutti_event *event, struct task *task, uint32_t n)
{
	const struct queue *queue = task->queue;

	if (launch_kept[queue->buffer - 1].next == (uintptr_t)queue->packet)
		follow_alike(event, task, n);
	else
		follow_decoded(event, task, n);
}

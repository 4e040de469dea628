/* SPDX-License-Identifier: MIT */
/** DOC: Starting the kernel of a dispatch packet: the commands for its acquire fence, its state and its first CTAs */
#ifndef LAUNCH_PLAIN_H
#define LAUNCH_PLAIN_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/task_state.h"
#include "packets/reference.h"
#include "queues/queue.h"
#include "tasks/task_start.h"
#include "tasks/task_table.h"

struct task;

/** launch_packet() - start the kernel of a dispatch packet. Return: 0, TUTTI_ERROR_* or PACKET_PARKED */
int launch_packet(struct queue *queue, const union tutti_packet *packet);
/**
 * launch_start() - take the free slot @task for a kernel and place its CTAs.
 * @command: its STATE or TASK command, which ends at @end; START_WORDS words behind that are contiguous
 * Return: 0
 */
int launch_start(struct queue *queue, struct task *task, uint32_t *command, uint32_t *end, const struct launch *launch,
		 unsigned release);
/** launch_take() - take the free slot @task for a kernel of @queue. @release: scope of its release fence */
static inline __attribute__((always_inline))
void launch_take(struct queue *queue, struct task *task, const struct launch *launch, unsigned release)
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
}
/** launch_time() - for profiling, write the start time of a kernel into its @signal. */
void launch_time(struct queue *queue, uint64_t signal);
/** launch_release() - scope of the release fence that a packet's first word asks for. */
static inline unsigned launch_release(uint32_t head)
{
	return head >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE;
}
/** launch_check_reference() - whether a packet may store reference @number now. Return: 0, TUTTI_ERROR_* or PACKET_PARKED */
int launch_check_reference(struct queue *queue, uint32_t number);

/**
 * struct kept - the decoded state of a packet, kept for those behind it in the same fetch buffer that differ from it only in
 * kernarg and signal. TASK commands of plain packets name it. For packets with metadata it is copied to STATE commands.
 */
struct kept {
	uint32_t state[STATE_WORDS]; /* has the number of CTAs and the flags where references have them */
	uintptr_t next;              /* the packet to compare next, if any, and KEPT_*; 0: the state was made for none */
};
extern struct kept launch_kept[FW_BUFFERS];

#define KEPT_METADATA 1u /* the state is that of packets with metadata, which are compared in all else */
#define KEPT_OWN 2u      /* it is that of the packet itself, so there is nothing to compare */

/**
 * launch_alike() - do the packets @a and @b, of which @b was decoded, differ only in what needs no decoding? Kernarg and
 * signal of @a are valid then. Metadata are not looked at. The words that differ most often are compared first.
 */
static inline __attribute__((always_inline)) bool launch_alike(const uint32_t *a, const uint32_t *b)
{
	return a[8] == b[8] && a[3] == b[3] && a[7] == b[7] && a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[4] == b[4] &&
	       a[5] == b[5] && a[6] == b[6] && a[9] == b[9] && likely(!((a[14] & 63) | (a[11] | a[15]) >> 15));
}

/** launch_forget() - forget all kept states, because code may have changed. */
void launch_forget(void);
/**
 * launch_follows() - if launch_waits() does not hold: is there a plain packet at the head of @queue for
 * launch_follow()?
 */
static inline __attribute__((always_inline)) bool launch_follows(const struct queue *queue)
{
	return queue->packet != queue->end &&
	       (queue->packet->word[0] & TUTTI_HEADER_TYPE) == TUTTI_PACKET_KERNEL_DISPATCH &&
	       !(queue->flags & (TUTTI_QUEUE_PROFILE | TUTTI_QUEUE_OVERLAP | QUEUE_REPORTS));
}
/**
 * launch_follow() - launch the kernel of the packet at the head in place of the one before. launch_follows() holds.
 * @event: says that the last @n CTAs have ended
 * @task: their task, the only one of the queue in flight; its clean-up is still to be done
 *
 * The kernel takes over the task slot and, if it needs @n CTAs of the same shape, the SMs of the event.
 */
void launch_follow(const struct tutti_event *event, struct task *task, uint32_t n);
/** launch_followed() - the packet at the head of @queue was launched in place of the kernel before: go on behind it. */
static inline __attribute__((always_inline)) void launch_followed(struct queue *queue)
{
	const union tutti_packet *packet = queue->packet;

	queue->head++;
	queue->packet = packet + 1;
	if (unlikely(!queue_next_waits(queue, packet)))
		queue_run(queue);
}

/**
 * launch_begin() - write the acquire fence if the packet's first word @head asks for one. Return: where the payload of STATE
 * goes; START_WORDS words behind it are contiguous
 */
static inline uint32_t *launch_begin(uint32_t head)
{
	uint32_t scope = head >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	uint32_t *p = command_begin(2 + STATE_WORDS + START_WORDS);

	if (scope) {
		p = command_put_fence(p, scope | TUTTI_FENCE_ACQUIRE);
		counters.acquires++;
	}
	return p + 1;
}

/** launch_begin_undo() - nothing is launched after all. */
static inline void launch_begin_undo(uint32_t head)
{
	counters.acquires -= !!(head >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE);
}

#endif

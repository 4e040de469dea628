/* SPDX-License-Identifier: MIT */
/** DOC: Starting the kernel of a dispatch packet: the commands for its acquire fence, its state and its first CTAs */
#ifndef LAUNCH_PLAIN_H
#define LAUNCH_PLAIN_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/task_state.h"
#include "queues/queue.h"
#include "tasks/task_start.h"

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

/* SPDX-License-Identifier: MIT */
/** DOC: Starting the kernel of a dispatch packet: the commands for its acquire fence, its state and its first CTAs */
#ifndef LAUNCH_PLAIN_H
#define LAUNCH_PLAIN_H

#include "queues/queue.h"

struct pending;
struct task;
struct tmd;

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

/** launch_pending() - put decoded task @p into the lists of pending_tasks.h. Its state, packet and kernel are set. */
void launch_pending(struct pending *p, struct queue *queue, struct tmd *tmd, const struct launch *launch);

#endif

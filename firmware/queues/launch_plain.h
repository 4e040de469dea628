/* SPDX-License-Identifier: MIT */
/** DOC: From a decoded packet to a running task: acquire fence, STATE, LAUNCH */
#ifndef LAUNCH_PLAIN_H
#define LAUNCH_PLAIN_H

#include "queues/queue.h"

struct pending;
struct task;
struct tmd;

/** launch_packet() - start a kernel dispatch packet. 0, TUTTI_ERROR_* or PACKET_PARKED. */
int launch_packet(struct queue *queue, const union tutti_packet *packet);
/**
 * launch_start() - take the free slot @task for a kernel and place its CTAs.
 * @command: its STATE or TASK, that ends at @end; START_WORDS behind it are contiguous
 * Return: 0
 */
int launch_start(struct queue *queue, struct task *task, uint32_t *command, uint32_t *end, const struct launch *launch,
		 unsigned release);
/** launch_time() - profiling: the signal learns when its kernel was launched. */
void launch_time(struct queue *queue, uint64_t signal);
/** launch_release() - scope of the release fence in a packet's first word. */
static inline unsigned launch_release(uint32_t head)
{
	return head >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE;
}

/** launch_pending() - accept a decoded task: to the lists of pending_tasks.h. @p: its state, packet and kernel are set */
void launch_pending(struct pending *p, struct queue *queue, struct tmd *tmd, const struct launch *launch);

#endif

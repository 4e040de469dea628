/* SPDX-License-Identifier: MIT */
/**
 * DOC: Starting kernels that a plain packet alone does not describe: with metadata or CGAs, or when no slot is free
 *
 * A kernel with CGAs that can start at once is decoded into a STATE command like a plain one. One with metadata is decoded
 * into the kept state of its fetch buffer (launch_kept), which is copied to its STATE command and to those of the packets
 * behind it that are alike. The state of a task is kept for itself only if some of its CTAs found no room. Every other
 * kernel goes through the lists of pending_tasks.h.
 */
#ifndef LAUNCH_SPECIAL_H
#define LAUNCH_SPECIAL_H

#include "queues/queue.h"

struct gpc;
struct pending;
struct task;
struct tmd;

/**
 * launch_metadata() - start the kernel of @packet at the head, which has metadata.
 * Return: see launch_packet(). If it is 0, the queue is past the packet. In WAIT_FOLLOW the queue is seen to in any case
 */
int launch_metadata(struct queue *queue, const union tutti_packet *packet);
/** launch_metadata_now() - the same if @tmd, which are tmd_plain(), have been fetched for this very packet. */
int launch_metadata_now(struct queue *queue, const union tutti_packet *packet, struct tmd *tmd);
/**
 * launch_grouped() - start the kernel of a dispatch packet that was decoded with PACKET_GROUPED and stores no reference. A
 * task slot is free.
 * @state: from launch_begin()
 * Return: see launch_packet()
 */
int launch_grouped(struct queue *queue, const union tutti_packet *packet, uint32_t *state, const struct launch *launch);
/**
 * launch_grouped_again() - if the next kernel is a grid of one CGA like that of @task, which has ended, and stores no
 * reference, let it take over the task slot and the SMs. launch_follows() holds, and the command ring has room.
 * @gpc: from cga_stays()
 * Return: whether it did; if not, nothing has been done
 */
bool launch_grouped_again(const struct tutti_event *event, struct task *task, struct gpc *gpc);
/** launch_special() - start the kernel of any dispatch packet. Return: see launch_packet() */
int launch_special(struct queue *queue, const union tutti_packet *packet);
/** launch_pending() - put decoded task @p into the lists of pending_tasks.h. Its state, packet and kernel are set. */
void launch_pending(struct pending *p, struct queue *queue, struct tmd *tmd, const struct launch *launch);

#endif

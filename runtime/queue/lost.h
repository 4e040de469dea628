/* SPDX-License-Identifier: MIT */
/**
 * DOC: Signals that nothing will change any more, because the queue of their packets has stopped or gone (SYS-56)
 *
 * A queue that stops leaves unfinished the packet that failed and those that the card has not taken; kernels of earlier
 * packets go on. A destroyed queue finishes nothing. Which signals those packets name is looked up when that happens,
 * so that launches have nothing to note down.
 */
#ifndef TUTTI_QUEUE_LOST_H
#define TUTTI_QUEUE_LOST_H

#include "device/wait.h"
#include "queue/queue.h"

#define SIGNAL_ABANDONED 1u /* tutti_signal.event: packets that named it went with their queue; a store clears it */

/** struct signal_wait - a wait for a signal; those in progress are listed in the device. */
struct signal_wait {
	struct wait wait;
	struct signal_wait *next;
	struct tutti_signal *signal;
	int64_t value;
	int64_t seen;
	uint8_t condition;
};

/** lost_wait_begin() - list a wait, which is lost from the start if a queue that has stopped owes the signal. */
void lost_wait_begin(struct signal_wait *wait);
void lost_wait_end(struct signal_wait *wait);
/** lost_by_stop() - the queue has stopped. The caller holds device->lock. */
void lost_by_stop(struct queue *queue);
/** lost_by_destroy() - nothing of the queue is in flight any more. The caller holds device->lock. */
void lost_by_destroy(struct queue *queue);

#endif

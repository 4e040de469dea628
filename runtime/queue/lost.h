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

#include "queue/queue.h"

#define SIGNAL_ABANDONED 1u /* tutti_signal.event: packets that named it went with their queue; a store clears it */

/**
 * struct signal_watch - a condition of a signal that somebody waits for; all of them are listed in the device.
 * @seen: the value that was read last
 * @lost: nothing will change the signal any more; any thread may set it
 */
struct signal_watch {
	struct signal_watch *next;
	struct tutti_signal *signal;
	int64_t value;
	int64_t seen;
	uint8_t condition;
	bool lost;
};

/** struct owed - a signal that packets @first to @last were sent with, and that their recording no longer knows. */
struct owed {
	struct owed *next;
	uint64_t signal, first, last;
};

/** watch_holds() - does the condition hold now? */
static inline bool watch_holds(struct signal_watch *watch)
{
	int64_t value = tutti_signal_load(watch->signal);

	watch->seen = value;
	switch (watch->condition) {
	case TUTTI_EQ:
		return value == watch->value;
	case TUTTI_NE:
		return value != watch->value;
	case TUTTI_LT:
		return value < watch->value;
	default:
		return value >= watch->value;
	}
}

/** watch_begin() - list a condition, which is lost from the start if a queue that has stopped owes the signal. */
void watch_begin(struct tutti_device *device, struct signal_watch *watch);
void watch_end(struct tutti_device *device, struct signal_watch *watch);
/** watch_lost() - can nothing change the signal any more? */
static inline bool watch_lost(const struct signal_watch *watch)
{
	return tutti_load_acquire(&watch->lost); /* so that its last value is seen, too */
}
/** watch_lost_now() - the same, also because a packet has been written into a queue that had stopped before. */
bool watch_lost_now(struct tutti_device *device, struct signal_watch *watch);

/**
 * lost_by_failure() - what should have changed the signal has failed: it gets @value, and waits for it are in vain until
 * another one is stored. It may be gone afterwards.
 */
void lost_by_failure(struct tutti_device *device, struct tutti_signal *signal, int64_t value);
/** owed_add() - a recording is about to forget a signal that its packets were sent with. 0 or -ENOMEM. */
int owed_add(struct queue *queue, uint64_t signal, uint64_t first, uint64_t last);
/** owed_forget() - the queue goes. */
void owed_forget(struct queue *queue);
/** packets_unfinished() - are packets of a replay among those that failed or were not taken? Under device->lock. */
bool packets_unfinished(const struct queue *queue, uint64_t first, uint64_t last);
/** failed_slot() - the slot of the packet that has failed, which keeps all but the first word; NULL once it is used again. */
const union tutti_packet *failed_slot(struct queue *queue);
/** lost_by_stop() - the queue has stopped. The caller holds device->lock. */
void lost_by_stop(struct queue *queue);
/** lost_by_destroy() - nothing of the queue is in flight any more. The caller holds device->lock. */
void lost_by_destroy(struct queue *queue);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_WORK_H
#define TUTTI_RUNTIME_WORK_H

#include "queue/queue.h"
#include "tutti/task.h"

/**
 * struct tutti_work - the host's view of a work queue.
 * @shared: the queue itself, in memory that the card and the host share
 * @user: the AQL queue of the task that consumes the items; its doorbell tells the card of new ones
 */
struct tutti_work {
	struct handle handle;
	struct tutti_device *device;
	struct tutti_work_queue *shared;
	struct queue_user user;
	uint32_t bytes; /* size of an item as the application sees it */
};

static inline bool work_live(const struct tutti_work *work)
{
	return work && handle_live(&work->handle);
}

#endif

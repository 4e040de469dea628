/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_WORK_H
#define TUTTI_RUNTIME_WORK_H

#include "queue/queue.h"
#include "tutti/task.h"

/**
 * struct tutti_work - a work queue.
 * @user: the queue of the task that consumes it, whose doorbell tells the card
 */
struct tutti_work {
	struct tutti_device *device;
	struct tutti_work_queue *shared;
	struct queue_user user;
	uint32_t bytes; /* of an item as the host sees it */
};

#endif

/* SPDX-License-Identifier: MIT */
#include "pipeline.h"
#include "tutti/device.h"
#include "tutti/work.h"

static inline const struct tutti_work_queue *queue_of(const struct stage *stage)
{
	return (const struct tutti_work_queue *)(uintptr_t)stage->self->queue;
}

/* Squares each number and hands it on. While the next stage's queue is full, other waves run. */
TUTTI_KERNEL(square, struct stage)
{
	uint32_t i;

	for (i = tutti_wave()->wave; i < tutti_work_items(); i += tutti_wave()->waves) {
		uint64_t *number = tutti_work_item(queue_of(args), i), square = *number * *number;

		tutti_work_done(queue_of(args), i);
		while (tutti_work_put(args->next, &square) == -TUTTI_ENOSPC)
			tutti_yield();
	}
}

TUTTI_KERNEL(sum, struct stage)
{
	uint32_t i;

	for (i = tutti_wave()->wave; i < tutti_work_items(); i += tutti_wave()->waves) {
		uint64_t *number = tutti_work_item(queue_of(args), i);

		__atomic_fetch_add(args->sum, *number, __ATOMIC_RELAXED);
		tutti_work_done(queue_of(args), i);
		__atomic_fetch_add(args->count, 1, __ATOMIC_RELEASE);
	}
}

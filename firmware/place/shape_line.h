/* SPDX-License-Identifier: MIT */
/**
 * DOC: Who gets the next entry of the table of CTA shapes (spec REL-11)
 *
 * The table has few entries, and an entry is in use as long as there are tasks of its shape. A queue whose kernels follow
 * each other without a pause could keep its entry for ever. Another queue, which has to fetch its kernel descriptor again
 * before it can use a free entry, could be too late each time. So queues stand in line:
 *
 * - A queue that finds no entry joins the line, and stays there until it has launched its kernel or has stopped. Queues of
 *   higher priority overtake it as long as it is patient. Only the first in line gets an entry for a new shape.
 * - When the first in line has lost its patience, a shape is closed: no other kernel gets it, so its entry becomes free when
 *   its tasks have ended. If that takes too long, another shape is closed instead, for twice as long.
 *
 * For tasks that wait for a task slot and for child tasks there is no line, since queues in line may have to wait for them.
 */
#ifndef SHAPE_LINE_H
#define SHAPE_LINE_H

#include "core/queue_record.h"
#include "core/wait.h"
#include "place/cta_shape.h"

/* A queue in line loses its patience when this many kernels have started since it joined. */
#define SHAPE_PATIENCE 16u

void shape_line_init(void);
/** shape_line_wait() - @queue has found no entry for a shape with this key: let it wait in line. Return: PACKET_PARKED */
int shape_line_wait(struct queue *queue, uint32_t registers, uint32_t shared, uint32_t waves);
/**
 * shape_line_leave() - @queue has stopped, is destroyed, or its packet was cancelled. It gives up its place in line, so that
 * others may go on.
 */
void shape_line_leave(const struct queue *queue);
/** shape_line_parts() - let @queue, which finds no kernel in its ring, leave the line if it stands there and others wait. */
static inline void shape_line_parts(const struct queue *queue)
{
	if (unlikely(queue_table.waiters[WAIT_SHAPE]))
		shape_line_leave(queue);
}
/** shape_line_lifted - while it is set, shapes are looked up as if there were no line. */
extern bool shape_line_lifted;
/**
 * shape_line_decides() - no shape with this key was found among those that are not closed: does the line decide what the
 * caller gets?
 * @shape: if so, it is set to the closed shape, or to NULL if the caller has to wait
 * Return: false if the caller may make a new shape with this key
 */
bool shape_line_decides(uint32_t registers, uint32_t shared, uint32_t waves, struct shape **shape);
/** shape_line_replaced() - note that @shape was made, in an entry that was free. */
void shape_line_replaced(const struct shape *shape);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Who gets the next entry of the table of CTA shapes (spec REL-11)
 *
 * The table has few entries, and an entry is in use as long as there are tasks of its shape. A queue whose kernels follow
 * each other without a pause could keep its entry for ever, and a queue that has to fetch its kernel descriptor once more
 * before it can use an entry could always come too late. So there is a line:
 *
 * - Queues that find no entry stand in line until they have launched their kernel or no longer want to. Those of higher
 *   priority come first, but nobody is overtaken when enough kernels have started while it waited. Only the first one in
 *   line gets an entry for a new shape.
 * - When enough kernels have started while the first one waited, a shape is closed: no kernel gets it any more, so its
 *   entry is free when its tasks have ended. If that takes too long, the next shape is closed instead, for twice as long.
 *
 * Tasks that wait for a slot, and child tasks, find shapes as if there were no line, since those in line may have to wait
 * for them.
 */
#ifndef SHAPE_LINE_H
#define SHAPE_LINE_H

#include "core/queue_record.h"
#include "place/cta_shape.h"

/* The number of kernels after which those in line have lost their patience. */
#define SHAPE_PATIENCE 16u

void shape_line_init(void);
/** shape_line_wait() - let @queue wait for an entry, in line. Return: PACKET_PARKED */
int shape_line_wait(struct queue *queue, uint32_t registers, uint32_t shared, uint32_t waves);
/** shape_line_lifted - shapes are found as if there were no line. */
extern bool shape_line_lifted;
/**
 * shape_line_decides() - no open shape has this key: does the line decide about it?
 * @shape: then it is set to a shape that is closed for others, or to NULL if the caller has to wait
 * Return: false if the caller may look for an entry for a new shape
 */
bool shape_line_decides(uint32_t registers, uint32_t shared, uint32_t waves, struct shape **shape);
/** shape_line_replaced() - @shape is a new one; its entry was free. */
void shape_line_replaced(const struct shape *shape);

#endif

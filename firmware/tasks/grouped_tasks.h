/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tasks whose CTAs come in CGAs (spec CGA-01 .. CGA-05)
 *
 * Between a task and groups/cga.h: which levels it has, from its kernel or its metadata; which SMs it may use;
 * what becomes of it when its CGAs fail or can never fit.
 */
#ifndef GROUPED_TASKS_H
#define GROUPED_TASKS_H

#include "groups/cga.h"
#include "tasks/pending_tasks.h"

/**
 * grouped_pend() - CGAs of a task that is about to be accepted: checks them, notes them in @p.
 * @one, @lmem: what its kernel says; @tmd may say otherwise
 * Return: 0 or TUTTI_ERROR_GRID
 */
int grouped_pend(struct pending *p, const struct tmd *tmd, struct tutti_cga_shape one, bool lmem, uint32_t capacity);
/** grouped_pending() - it has CGAs. grouped_levels() - TUTTI_CGA_LEVELS of them. */
bool grouped_pending(const struct pending *p);
void grouped_levels(const struct pending *p, struct tutti_cga_shape *level);
/** grouped_begin() - @task, made of @p, has a slot now. */
void grouped_begin(struct task *task, const struct pending *p);
/** grouped_settle() - end tasks whose CGAs can never fit; not in the middle of a round. */
void grouped_settle(void);
/** grouped_event_fault() - an access between SMs of a CGA was refused. */
void grouped_event_fault(const struct tutti_event *event);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tasks whose CTAs come in CGAs (spec CGA-01 .. CGA-05)
 *
 * This unit stands between a task and groups/cga.h. It knows which levels of CGAs a task has (from its kernel or from
 * its metadata), which SMs it may use, and what becomes of the task when its CGAs fail or can never fit.
 */
#ifndef GROUPED_TASKS_H
#define GROUPED_TASKS_H

#include "groups/cga.h"
#include "tasks/pending_tasks.h"

/**
 * grouped_pend() - check the CGAs of a task that is about to be accepted, and note them in @p.
 * @one, @kernel_flags: what its kernel declares (TUTTI_KERNEL_*); the levels in @tmd, if it has any, come before @one
 * Return: 0 or TUTTI_ERROR_GRID
 */
int grouped_pend(struct pending *p, const struct tmd *tmd, struct tutti_cga_shape one, uint32_t kernel_flags,
		 uint32_t capacity);
/**
 * grouped_room() - whether there is room for a CGA of @p, a child, or will be when those CTAs have ended that do not wait for
 * a child. @shape: that of its CTAs. Return: as cga_room()
 */
int grouped_room(const struct pending *p, struct shape *shape);
/**
 * grouped_pending() - the CTAs of @p come in CGAs.
 * grouped_levels() - its TUTTI_CGA_LEVELS levels, unused ones zero.
 */
bool grouped_pending(const struct pending *p);
void grouped_levels(const struct pending *p, struct tutti_cga_shape *level);
/** grouped_begin() - @task, which was made from @p, has a slot now. */
void grouped_begin(struct task *task, const struct pending *p);
/** grouped_keep() - note in @p the CGAs of @task, which its kernel declares. @command: its STATE command */
void grouped_keep(const struct task *task, struct pending *p, const uint32_t *command);
/** grouped_settle() - end the tasks whose CGAs can never fit. Must not be called in the middle of a round. */
void grouped_settle(void);
/** grouped_event_fault() - an SM refused an access that came from another SM of the CGA. */
void grouped_event_fault(const struct tutti_event *event);

#endif

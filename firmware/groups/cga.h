/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernels with cooperative group arrays (spec CGA-01 .. CGA-05)
 *
 * From the levels in a kernel descriptor or TMD to a checked struct cga, to placement and
 * completion. Such kernels are not found at first sight in the cache of descriptors, and
 * take the way of tasks with metadata (pending.h, rounds.h).
 */
#ifndef CGA_H
#define CGA_H

#include "groups/cga_search.h"

struct pending;
struct task;
struct tmd;

#define CGA_PATIENCE 256u /* sessions, unless the host says otherwise */

/** struct cga_state - policies, and what the packet being launched asks for. */
struct cga_state {
	uint32_t mode;       /* TUTTI_POLICY_CGA_MODE */
	uint32_t patience;   /* TUTTI_POLICY_CGA_PATIENCE */
	uint32_t hopeless;   /* slots of tasks that nothing can help any more: cga_settle() */
	struct task *holder; /* its domains take no new work but its own */
};
extern struct cga_state cga_state;

void cga_init(void);
/**
 * cga_check() - check the levels of a grid.
 * @level: TUTTI_CGA_LEVELS of them, innermost first, kinds growing
 * @groups: CTAs of the grid along x, y, z
 * @capacity: CTAs an idle SM takes
 * Return: 0 or TUTTI_ERROR_GRID
 */
int cga_check(const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *groups,
	      uint32_t capacity, struct cga *cga);
/** cga_levels() - levels of a kernel that has one, as cga_check() wants them. */
void cga_levels(const struct tutti_cga_shape *one, struct tutti_cga_shape *level);
/** cga_divides() - the grid consists of whole CGAs. */
bool cga_divides(const struct tutti_cga_shape *level, const uint32_t *groups);
/**
 * cga_pend() - CGAs of a task that is about to be accepted: checks them, notes them in @p.
 * @one, @lmem: what its kernel says; @tmd may say otherwise
 * Return: 0 or TUTTI_ERROR_GRID
 */
int cga_pend(struct pending *p, const struct tmd *tmd, struct tutti_cga_shape one, bool lmem, uint32_t capacity);
/** cga_pending() - it has CGAs. cga_pending_levels() - TUTTI_CGA_LEVELS of them. */
bool cga_pending(const struct pending *p);
void cga_pending_levels(const struct pending *p, struct tutti_cga_shape *level);
/** cga_begin() - @task, made of @p, has a slot now. */
void cga_begin(struct task *task, const struct pending *p);
/** cga_place() - as place_some(): about @n CTAs, at least one CGA if it fits. Return: CTAs placed. */
uint32_t cga_place(struct task *task, uint32_t n);
/** cga_passed() - @task found no room once more. */
void cga_passed(struct task *task);
/** cga_settle() - end what is hopeless; not in the middle of a round. */
void cga_settle(void);
/** cga_end() - the task is gone. */
void cga_end(struct task *task);
void cga_event(const struct tutti_event *event);
void cga_event_flushed(const struct tutti_event *event);
void cga_event_fault(const struct tutti_event *event);

#endif

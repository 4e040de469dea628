/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernels with cooperative group arrays (spec CGA-01 .. CGA-05)
 *
 * From the levels in a kernel descriptor or TMD to a checked struct cga, to the task's
 * STATE, to placement and completion. Such kernels leave the quick paths where
 * others with rare attributes do: their descriptors are not found at first sight, and
 * queues that have seen one have QUEUE_GROUPED set.
 */
#ifndef CGA_H
#define CGA_H

#include "session.h"

struct queue;
struct task;
struct kernel;

#define CGA_PATIENCE 256u /* sessions, unless the host says otherwise */

/** struct cga_state - policies, and what the packet being launched asks for. */
struct cga_state {
	uint32_t mode;       /* TUTTI_POLICY_CGA_MODE */
	uint32_t patience;   /* TUTTI_POLICY_CGA_PATIENCE */
	struct task *holder; /* its domains take no new work but its own */
	/* checked and not launched yet */
	const struct queue *queue;
	uint64_t packet;
	struct tutti_reference *reference; /* entry to be completed, or NULL */
	struct cga next;
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS]; /* of @next, as given */
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
/** cga_expect() - the packet of @queue being decoded has @cga_state.next. */
void cga_expect(struct queue *queue, struct tutti_reference *reference);
/** cga_begin() - @task, whose STATE was written last, gets its CGAs if it is to have some. */
void cga_begin(struct queue *queue, struct task *task);
/** cga_begin_reference() - the same for a kernel of a condensed packet. */
void cga_begin_reference(struct task *task, const struct tutti_reference *entry);
/** cga_place() - as place(): place what fits. Return: CTAs left. */
uint32_t cga_place(struct task *task);
/** cga_passed() - @task found no room once more. */
void cga_passed(struct task *task);
/** cga_end() - the task is gone. */
void cga_end(struct task *task);
/** cga_mark_queue() - kernels of this queue may have CGAs from now on. */
void cga_mark_queue(struct queue *queue);
void cga_event(const struct tutti_event *event);
void cga_event_flushed(const struct tutti_event *event);
void cga_event_fault(const struct tutti_event *event);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernels with cooperative group arrays (spec CGA-01 .. CGA-05)
 *
 * From the levels of a grid to a checked struct cga, to placement and completion. Which tasks have CGAs, and what
 * their metadata say about them, is known to tasks/grouped_tasks.h.
 */
#ifndef CGA_H
#define CGA_H

#include "groups/cga_search.h"

struct task;

#define CGA_PATIENCE 256u /* sessions, unless the host says otherwise */

void cga_init(void);
/** cga_mode() / cga_set_mode() - TUTTI_CGA_*, for grids whose metadata do not say. */
uint32_t cga_mode(void);
void cga_set_mode(uint32_t mode);
/** cga_patience() / cga_set_patience() - sessions a CGA is passed over before domains are held for it; 0: CGA_PATIENCE */
uint32_t cga_patience(void);
void cga_set_patience(uint32_t sessions);
/** cga_holds() - domains are held for a CGA. */
bool cga_holds(void);
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
/** cga_fits() - it has room on an idle card, on SMs of @mask (NULL: all) that are enabled. */
bool cga_fits(const struct cga *cga, uint32_t capacity, const uint32_t *mask);
/** cga_tell() - write into the words of a task state what every SM is told: the size of the identity CGA. */
void cga_tell(const struct cga *cga, const struct tutti_cga_shape *level, uint32_t *state);
/** cga_begin() - @task, with levels that cga_check() has passed, has a slot now. @mask: SMs it may use, NULL: all */
void cga_begin(struct task *task, const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *mask);
/** cga_place() - about @n CTAs of @task, at least one CGA if it fits. Return: CTAs placed. */
uint32_t cga_place(struct task *task, uint32_t n);
/** cga_passed() - @task found no room once more. */
void cga_passed(struct task *task);
/** cga_hopeless() - slots of tasks that were found to be so; they are to be ended, not in the middle of a round. */
uint32_t cga_hopeless(void);
/** cga_end() - the task is gone. */
void cga_end(struct task *task);
/** cga_event() - CTAs of a CGA have ended. Return: their task, which does not know it yet */
struct task *cga_event(const struct tutti_event *event);
/** cga_event_flushed() - SMs have flushed. Return: an identity or memory slot came back */
bool cga_event_flushed(const struct tutti_event *event);

#endif

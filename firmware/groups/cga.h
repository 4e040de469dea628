/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernels with cooperative group arrays (spec CGA-01 .. CGA-05)
 *
 * This unit turns the CGA levels of a grid into a checked struct cga, has the CGAs placed and handles their completion.
 * Which tasks have CGAs, and what their metadata say about them, is the business of tasks/grouped_tasks.h.
 */
#ifndef CGA_H
#define CGA_H

#include "groups/cga_search.h"

struct task;

#define CGA_PATIENCE 256u /* sessions (searches for room), unless the host sets another number */

/** cga_init() - set the defaults, and initialize the whole folder. */
void cga_init(void);
/** cga_mode() / cga_set_mode() - TUTTI_CGA_*, for grids whose metadata do not set a mode. */
uint32_t cga_mode(void);
void cga_set_mode(uint32_t mode);
/**
 * cga_patience() / cga_set_patience() - how many sessions a CGA is passed over before domains are held for it.
 * 0 sets CGA_PATIENCE.
 */
uint32_t cga_patience(void);
void cga_set_patience(uint32_t sessions);
/**
 * cga_check() - check the CGA levels of a grid, and describe its CGAs in @cga.
 * @level: TUTTI_CGA_LEVELS levels, innermost first, each of a larger kind than the one before
 * @groups: CTAs of the grid along x, y, z
 * @capacity: CTAs that fit an idle SM
 * Return: 0 or TUTTI_ERROR_GRID
 */
int cga_check(const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *groups,
	      uint32_t capacity, struct cga *cga);
/** cga_levels() - make of the one level of a kernel the array that cga_check() takes. */
void cga_levels(const struct tutti_cga_shape *one, struct tutti_cga_shape *level);
/** cga_divides() - whether the grid consists of whole CGAs. */
bool cga_divides(const struct tutti_cga_shape *level, const uint32_t *groups);
/** cga_fits() - whether an idle card has room for one CGA, on the enabled SMs of @mask (NULL: of all). */
bool cga_fits(const struct cga *cga, uint32_t capacity, const uint32_t *mask);
/** cga_tell() - write what every SM is told into the words of a task state: the size of the identity CGA. */
void cga_tell(const struct cga *cga, const struct tutti_cga_shape *level, uint32_t *state);
/**
 * cga_begin() - @task, whose levels have passed cga_check(), has got a task slot.
 * @mask: SMs it may use; NULL: all
 */
void cga_begin(struct task *task, const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *mask);
/** cga_place() - place about @n CTAs of @task, at least one CGA if it fits. Return: CTAs placed */
uint32_t cga_place(struct task *task, uint32_t n);
/**
 * cga_passed() - @task found no room once more, while others were placed. Return: as often as its patience allows
 * cga_calm() - count anew.
 */
bool cga_passed(struct task *task);
void cga_calm(struct task *task);
/** cga_domains() - add to @mask the SMs of all domains that would have room for a CGA of @task if they were empty. */
void cga_domains(const struct task *task, uint32_t *mask);
/**
 * cga_hopeless() - slots of tasks that can never be placed any more, since SMs were disabled; forgets them.
 * The caller has to end these tasks, but not in the middle of a round of placements.
 */
uint32_t cga_hopeless(void);
/** cga_end() - @task has ended. */
void cga_end(struct task *task);
/** cga_event() - CTAs of a CGA have ended. Return: their task, in which they are not accounted for yet */
struct task *cga_event(const struct tutti_event *event);
/** cga_event_flushed() - SMs have flushed. Return: whether an identity or a memory slot became free */
bool cga_event_flushed(const struct tutti_event *event);

#endif

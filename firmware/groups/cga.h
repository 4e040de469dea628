/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernels with cooperative group arrays (spec CGA-01 .. CGA-05)
 *
 * This unit turns the CGA levels of a grid into a checked struct cga, has the CGAs placed and handles their completion.
 * Which tasks have CGAs, and what their metadata say about them, is the business of tasks/grouped_tasks.h.
 */
#ifndef CGA_H
#define CGA_H

#include "core/task_record.h"
#include "groups/cga_search.h"


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
 * @groups: CTAs of the grid along x, y, z; NULL: there is no grid
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
/**
 * cga_room() - whether there is room for one CGA of CTAs of @shape now, on the SMs of @mask (NULL: on all).
 * Return: 0 if there is, PACKET_GROUPED if not, PACKET_PARKED if it takes another visit to know
 */
int cga_room(const struct cga *cga, struct shape *shape, const uint32_t *mask);
/** cga_tell() - write what every SM is told into the words of a task state: the size of the identity CGA. */
void cga_tell(const struct cga *cga, const struct tutti_cga_shape *level, uint32_t *state);
extern struct cga cga_grids[FW_TASKS]; /* by task slot; of a free slot, what its last task with CGAs had */
extern uint32_t cga_default_mode;

/** struct cga_one - the CGAs of a kernel that has one level of them, as words of a struct tutti_cga_shape. */
struct cga_one {
	uint32_t x_y, z_kind;
};

/** cga_limits() - what a description depends on besides its level: @capacity CTAs fit an idle SM; memory slots; the mode. */
static inline uint32_t cga_limits(uint32_t capacity, bool lmem)
{
	return capacity | (uint32_t)lmem << 16 | cga_default_mode << 17;
}

/**
 * cga_again() - whether @cga, the description of the last grid in a free slot, holds for another grid that is divided by
 * CGAs like @one, and these fit the card as it is now.
 */
static inline bool cga_again(const struct cga *cga, struct cga_one one, uint32_t limits)
{
	return likely(!((cga->one[0] ^ one.x_y) | (cga->one[1] ^ one.z_kind) | (cga->limits ^ limits) |
			(cga->changes ^ shapes.changes)));
}
/**
 * cga_describe() - check the one level @one of a grid, and describe it for the free slot @task. Return: cga_again() holds
 * from now on
 */
bool cga_describe(const struct task *task, struct tutti_cga_shape one, bool lmem, const uint32_t *groups, uint32_t capacity);
/**
 * cga_begin() - @task, whose levels have passed cga_check(), has got a task slot.
 * @mask: SMs it may use; NULL: all
 */
void cga_begin(struct task *task, const struct tutti_cga_shape *level, unsigned mode, bool lmem, const uint32_t *mask);
/** cga_place() - place about @n CTAs of @task, at least one CGA if it fits. Return: CTAs placed */
uint32_t cga_place(struct task *task, uint32_t n);
/** cga_place_now() - cga_place() for a task that starts, quicker in the usual case; tells nobody if there is no room. */
static inline void cga_place_now(struct task *task, struct cga *cga, uint32_t n)
{
	/* While the rows lead they are exact, and no SMs are held for another task. */
	if (likely(gpc_rows_lead()) && likely(domains.shape == task->shape) && likely(cga->quick))
		search_quick(task, cga, n);
	else
		cga_place(task, n);
}
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
/** cga_event() - CTAs of a CGA of @task have ended. They are not accounted for in @task and its shape yet. */
void cga_event(const struct tutti_event *event, const struct task *task);
/**
 * cga_stays() - would a search place another CGA on the SMs of the one that has just ended? All CTAs of the latter have
 * ended, it was the only one of @task on the card, gpc_rows_lead() holds, and no task waits.
 * Return: the GPC of the CGA if it would; NULL if it would not, or if that takes too long to find out
 */
struct gpc *cga_stays(const struct tutti_event *event, const struct task *task);
/**
 * cga_take_over() - if cga_stays() has returned @gpc: write at @p the LAUNCH of a CGA on the same SMs. Return: its end
 */
uint32_t *cga_take_over(uint32_t *p, struct gpc *gpc, const struct cga *cga, uint32_t sms);
/** cga_freed() - there may be more room for CGAs, although none of their CTAs has ended. */
static inline void cga_freed(void)
{
	trial.freed++;
}
/** cga_event_flushed() - SMs have flushed. Return: whether an identity or a memory slot became free */
bool cga_event_flushed(const struct tutti_event *event);

#endif

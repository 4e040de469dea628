/* SPDX-License-Identifier: MIT */
/** DOC: Commands STATE and TASK: what SMs are told of tasks */
#ifndef TUTTI_EMULATOR_LAUNCH_TASK_STATE_H
#define TUTTI_EMULATOR_LAUNCH_TASK_STATE_H

#include "emulator/sm/array.h"

/**
 * sm_array_state() - command STATE.
 * @flags: TUTTI_STATE_*
 * @level: TUTTI_CGA_LEVELS CGA shapes or NULL
 * @mask: 32-bit words, or NULL for all SMs
 */
void sm_array_state(struct sm_array *array, unsigned slot, unsigned flags, const struct tutti_task_state *state,
		    const struct tutti_cga_shape *level, const uint32_t *mask, unsigned words);
/** task_put() - one reference less. */
void task_put(struct sm_array *array, struct task *task);
/** task_place() - @cta is launch number @count of its slot: which CTA of the grid is that? @view: its SM's */
void task_place(struct view *view, const struct task *task, uint64_t count, struct cta *cta);
/** task_view() - the SM takes over the newest state that was sent to all. */
void task_view(struct view *view, const struct slot *slot);

#endif

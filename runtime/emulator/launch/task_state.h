/* SPDX-License-Identifier: MIT */
/** DOC: The commands STATE and TASK, which tell SMs about tasks */
#ifndef TUTTI_EMULATOR_LAUNCH_TASK_STATE_H
#define TUTTI_EMULATOR_LAUNCH_TASK_STATE_H

#include "emulator/sm/array.h"

/**
 * sm_array_state() - execute the command STATE.
 * @flags: TUTTI_STATE_*
 * @level: TUTTI_CGA_LEVELS CGA shapes or NULL
 * @mask: SMs by position, @words 32-bit words; NULL for all SMs
 */
void sm_array_state(struct sm_array *array, unsigned slot, unsigned flags, const struct tutti_task_state *state,
		    const struct tutti_cga_shape *level, const uint32_t *mask, unsigned words);
/** task_put() - drop a reference to @task, which is free for use again after the last one. */
void task_put(struct sm_array *array, struct task *task);
/** task_place() - find which CTA of the grid @cta is, launch number @count of its slot. @view is its SM's. */
void task_place(struct view *view, const struct task *task, uint64_t count, struct cta *cta);
/** task_view() - let an SM take over the newest state that was sent to all SMs. */
void task_view(struct view *view, const struct slot *slot);

#endif

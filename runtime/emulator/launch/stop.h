/* SPDX-License-Identifier: MIT */
/** DOC: What needs the engines to pause: the command KILL, and invalidation of translations */
#ifndef TUTTI_EMULATOR_LAUNCH_STOP_H
#define TUTTI_EMULATOR_LAUNCH_STOP_H

#include "emulator/sm/array.h"

/** engines_pause() - stop all engines; the driving thread may use their lists and harts until engines_resume(). */
void engines_pause(struct sm_array *array);
void engines_resume(struct sm_array *array);
/** sm_array_kill() - execute the command KILL. The event KILLED follows when nothing of the slot is left. */
void sm_array_kill(struct sm_array *array, unsigned slot);
/** sm_array_invalidate() - forget mappings and code of @asid in [@va, @va + @bytes), or all of them if @bytes is 0. */
void sm_array_invalidate(struct sm_array *array, uint32_t asid, uint64_t va, uint64_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Command KILL and invalidations: what stops the engines */
#ifndef TUTTI_EMULATOR_LAUNCH_STOP_H
#define TUTTI_EMULATOR_LAUNCH_STOP_H

#include "emulator/sm/array.h"

/** engines_pause() - until engines_resume() the driving thread may touch their lists and harts. */
void engines_pause(struct sm_array *array);
void engines_resume(struct sm_array *array);
/** sm_array_kill() - command KILL: event KILLED follows when nothing of the slot is left. */
void sm_array_kill(struct sm_array *array, unsigned slot);
/** sm_array_invalidate() - translations of @asid in [va, va + bytes) are stale (bytes 0 = all). @code: instructions too */
void sm_array_invalidate(struct sm_array *array, uint32_t asid, uint64_t va, uint64_t bytes, bool code);

#endif

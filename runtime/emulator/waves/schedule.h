/* SPDX-License-Identifier: MIT */
/** DOC: Which wave runs next, worker threads, time slices */
#ifndef TUTTI_EMULATOR_WAVES_SCHEDULE_H
#define TUTTI_EMULATOR_WAVES_SCHEDULE_H

#include "emulator/unicorn/hart.h"

int schedule_init(struct sm_array *array);
void schedule_fini(struct sm_array *array);
/** engine_ended() - @cta has no wave left. engine_faulted() - it is frozen. */
void engine_ended(struct engine *engine, struct cta *cta);
void engine_faulted(struct engine *engine, struct cta *cta);
/** sm_array_collect() - driving thread: take what workers have handed over. */
void sm_array_collect(struct sm_array *array);
/**
 * sm_array_run() - run waves in the calling (driving) thread.
 * @instant: return at the first moment nothing can run, or when the time slice is over
 * Return: true if some wave ran.
 */
bool sm_array_run(struct sm_array *array);

/** engine_can_run() - waves of @cta may run on @engine: no fault, no stuck SM. */
static inline bool engine_can_run(const struct engine *engine, const struct cta *cta)
{
	return likely(!cta->frozen && !tutti_load_relaxed(&cta->failed) && cta->sm != engine->stuck_sm);
}

#endif

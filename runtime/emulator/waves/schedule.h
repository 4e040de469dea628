/* SPDX-License-Identifier: MIT */
/** DOC: Which wave runs next, worker threads, time slices */
#ifndef TUTTI_EMULATOR_WAVES_SCHEDULE_H
#define TUTTI_EMULATOR_WAVES_SCHEDULE_H

#include "emulator/hart/hart.h"

int schedule_init(struct sm_array *array);
void schedule_fini(struct sm_array *array);
/** engine_ended() - pass on @cta, which has no wave left. engine_faulted() - the same if a fault has frozen it. */
void engine_ended(struct engine *engine, struct cta *cta);
void engine_faulted(struct engine *engine, struct cta *cta);
/**
 * engine_goes_on() - a wave of the CTA that @engine starts has ended, and the CTA's next one is what the engine runs next.
 * Return: false: the engine has to choose, or to leave
 */
bool engine_goes_on(struct engine *engine);
/** sm_array_collect() - take the CTAs that workers have handed over. Only the driving thread calls it. */
void sm_array_collect(struct sm_array *array);
/**
 * sm_array_run() - run waves in the driving thread, until none can run or the time slice is over.
 * Return: true if some wave ran.
 */
bool sm_array_run(struct sm_array *array);

/** engine_can_run() - true if waves of @cta may run on @engine, that is, without a fault and on an SM not stuck. */
static inline bool engine_can_run(const struct engine *engine, const struct cta *cta)
{
	return likely(!cta->frozen && !tutti_load_relaxed(&cta->failed) && cta->sm != engine->stuck_sm);
}

#endif

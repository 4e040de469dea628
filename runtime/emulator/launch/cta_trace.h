/* SPDX-License-Identifier: MIT */
/** DOC: Trace records of task states, launches and CTAs */
#ifndef TUTTI_EMULATOR_LAUNCH_CTA_TRACE_H
#define TUTTI_EMULATOR_LAUNCH_CTA_TRACE_H

#include "emulator/base/trace.h"
#include "emulator/sm/array.h"
#include "tutti/barrier.h"

/** cta_tracing() - true if some kind of trace record is enabled. */
static inline bool cta_tracing(const struct sm_array *array)
{
	return unlikely(tutti_load_relaxed(array->trace));
}

void cta_trace_state(struct sm_array *array, unsigned slot);
/** cta_trace_launch() - to call before a LAUNCH is executed. cta_trace_cta() - to call when @cta has its resources. */
void cta_trace_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n);
void cta_trace_cta(struct sm_array *array, const struct cta *cta);

#endif

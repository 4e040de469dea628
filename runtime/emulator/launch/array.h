/* SPDX-License-Identifier: MIT */
/** DOC: Life of the SM array, CTAs from launch to completion */
#ifndef TUTTI_EMULATOR_LAUNCH_ARRAY_H
#define TUTTI_EMULATOR_LAUNCH_ARRAY_H

#include "emulator/sm/array.h"

/** sm_array_create() - waves of @card; starts the workers in fast mode. 0 or -errno. */
int sm_array_create(struct tutti_card *card, struct sm_array **array);
void sm_array_destroy(struct sm_array *array);
/** sm_array_reset() - drop every CTA, forget every task state and context mapping. */
void sm_array_reset(struct sm_array *array);
/** sm_array_busy() - CTAs are resident (running, waiting or stuck). Any thread. */
bool sm_array_busy(struct sm_array *array);
/** cta_launch() - a CTA of @slot, which is number @number, on @sm; in no list yet. NULL if that cannot be. */
struct cta *cta_launch(struct sm_array *array, struct slot *slot, unsigned number, unsigned sm);
/** cta_release() - driving thread: @cta has ended, its resources are free, its completion is to be reported. */
void cta_release(struct sm_array *array, struct cta *cta);

#endif

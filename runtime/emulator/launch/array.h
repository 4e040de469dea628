/* SPDX-License-Identifier: MIT */
/** DOC: Creation and end of the SM array, and CTAs from launch to completion */
#ifndef TUTTI_EMULATOR_LAUNCH_ARRAY_H
#define TUTTI_EMULATOR_LAUNCH_ARRAY_H

#include "emulator/sm/array.h"

/** sm_array_create() - build the SMs of @card; in fast mode, start the worker threads. Return: 0 or -errno. */
int sm_array_create(struct tutti_card *card, struct sm_array **array);
void sm_array_destroy(struct sm_array *array);
/** sm_array_reset() - drop every CTA, forget every task state and context mapping. */
void sm_array_reset(struct sm_array *array);
/** sm_array_busy() - true if CTAs are resident, be they running, waiting or stuck. Any thread may call. */
bool sm_array_busy(struct sm_array *array);
/** cta_launch() - create a CTA of task slot @number on @sm, in no list yet. Return: NULL if that is impossible. */
struct cta *cta_launch(struct sm_array *array, struct slot *slot, unsigned number, unsigned sm);
/** cta_release() - free the resources of @cta, which has ended, and note its completion. Driving thread only. */
void cta_release(struct sm_array *array, struct cta *cta);

#endif

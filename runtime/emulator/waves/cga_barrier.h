/* SPDX-License-Identifier: MIT */
/** DOC: A CGA on its engine: start, barrier, end (spec CGA-25, CGA-26) */
#ifndef TUTTI_EMULATOR_WAVES_CGA_BARRIER_H
#define TUTTI_EMULATOR_WAVES_CGA_BARRIER_H

#include "emulator/unicorn/hart.h"

/** cga_enter() - the first CTA of a CGA starts on @engine: the others come with it. */
void cga_enter(struct engine *engine, struct cta *cta);
/** cga_leave() - @cta has ended: nobody reaches its shared memory any more. */
void cga_leave(struct sm_array *array, struct cta *cta);
/** cga_wave_end() - @wave of a CGA has ended. */
void cga_wave_end(struct wave *wave);
/** cga_arrive(), cga_wait() - services. Return: true = go on with the same wave. */
bool cga_arrive(struct hart *hart);
bool cga_wait(struct hart *hart);

#endif

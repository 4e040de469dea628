/* SPDX-License-Identifier: MIT */
/** DOC: How a CGA starts on its engine, meets at its barrier and ends (spec CGA-25, CGA-26) */
#ifndef TUTTI_EMULATOR_WAVES_CGA_BARRIER_H
#define TUTTI_EMULATOR_WAVES_CGA_BARRIER_H

#include "emulator/hart/hart.h"

/** cga_enter() - bring all other CTAs of a CGA to @engine, because its first one starts there. */
void cga_enter(struct engine *engine, struct cta *cta);
/** cga_leave() - make the shared memory of @cta, which has ended, unreachable for the rest of its CGA. */
void cga_leave(struct sm_array *array, struct cta *cta);
/** cga_wave_end() - take @wave, which ends but still counts as a wave of its CTA, out of the CGA's barrier. */
void cga_wave_end(struct wave *wave);
/** cga_arrive(), cga_wait() - the services of the barrier. Return: true if the same wave goes on. */
bool cga_arrive(struct hart *hart);
bool cga_wait(struct hart *hart);

#endif

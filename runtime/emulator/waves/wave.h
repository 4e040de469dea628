/* SPDX-License-Identifier: MIT */
/** DOC: CTAs and waves from start to end */
#ifndef TUTTI_EMULATOR_WAVES_WAVE_H
#define TUTTI_EMULATOR_WAVES_WAVE_H

#include "emulator/unicorn/hart.h"

struct wave *wave_start(struct engine *engine, struct cta *cta);
void wave_end(struct wave *wave);
/** wave_drop() - take @wave out of its CTA and give its parts back, without more ado. */
void wave_drop(struct wave *wave);
/** wave_service() - service @number. Return: true = go on with the same wave. */
bool wave_service(struct hart *hart, uint64_t number);
/** wave_fault() - freeze the CTA of the running wave. */
void wave_fault(struct hart *hart, unsigned cause, unsigned access, uint64_t pc, uint64_t address);

#endif

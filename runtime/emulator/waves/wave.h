/* SPDX-License-Identifier: MIT */
/** DOC: Waves from their start to their end, and their services */
#ifndef TUTTI_EMULATOR_WAVES_WAVE_H
#define TUTTI_EMULATOR_WAVES_WAVE_H

#include "emulator/hart/hart.h"

struct wave *wave_start(struct engine *engine, struct cta *cta);
void wave_end(struct wave *wave);
/** wave_drop() - take @wave out of its CTA and free what it holds, without counting it as ended. */
void wave_drop(struct wave *wave);
/** wave_service() - carry out service @number for the running wave. Return: true if the same wave goes on. */
bool wave_service(struct hart *hart, uint64_t number);
/** wave_fault() - freeze the CTA of the running wave and record the fault, unless it is frozen already. */
void wave_fault(struct hart *hart, unsigned cause, unsigned access, uint64_t pc, uint64_t address);

#endif

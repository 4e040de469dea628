/* SPDX-License-Identifier: MIT */
/** DOC: Waves that wait until something in memory changes */
#ifndef TUTTI_EMULATOR_WAVES_BLOCKED_H
#define TUTTI_EMULATOR_WAVES_BLOCKED_H

#include "emulator/hart/hart.h"

/** wave_block() - make the running wave wait. Return: false, as a service whose wave does not go on. */
bool wave_block(struct hart *hart, enum wave_wait kind, const uint64_t *word, uint32_t value);
/** engine_unblock() - make blocked waves ready whose wait is over. Return: true if a wave is ready. */
bool engine_unblock(struct engine *engine);
void engine_strip_blocked(struct engine *engine, unsigned slot);
/** sm_array_progress() - wake the workers, because memory that their waves may wait for has changed. */
void sm_array_progress(struct sm_array *array);

#endif

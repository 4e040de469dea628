/* SPDX-License-Identifier: MIT */
/** DOC: Waves that wait for something in memory */
#ifndef TUTTI_EMULATOR_WAVES_BLOCKED_H
#define TUTTI_EMULATOR_WAVES_BLOCKED_H

#include "emulator/unicorn/hart.h"

/** wave_block() - the running wave waits. Return: false. */
bool wave_block(struct hart *hart, enum wave_wait kind, const uint64_t *word, uint32_t value);
/** engine_unblock() - blocked waves that may go on become ready. Return: true if a wave is ready. */
bool engine_unblock(struct engine *engine);
void engine_strip_blocked(struct engine *engine, unsigned slot);
/** sm_array_progress() - memory that waves may wait for has changed. */
void sm_array_progress(struct sm_array *array);

#endif

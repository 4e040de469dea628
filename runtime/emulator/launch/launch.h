/* SPDX-License-Identifier: MIT */
/** DOC: Command LAUNCH, and the SM priority order */
#ifndef TUTTI_EMULATOR_LAUNCH_LAUNCH_H
#define TUTTI_EMULATOR_LAUNCH_LAUNCH_H

#include "emulator/sm/array.h"

/**
 * sm_array_launch() - command LAUNCH: words after word 0.
 * Return: 0, or an error of the firmware, which the card reports as a crash: -EINVAL when the message is malformed
 * or an SM has no room, -EAGAIN when the task's state is not acknowledged yet.
 */
int sm_array_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n);
/** sm_array_order() - command ORDER: SM priority order. */
void sm_array_order(struct sm_array *array, unsigned first, const uint32_t *words, unsigned n);

#endif

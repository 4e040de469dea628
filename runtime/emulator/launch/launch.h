/* SPDX-License-Identifier: MIT */
/** DOC: The commands LAUNCH and ORDER */
#ifndef TUTTI_EMULATOR_LAUNCH_LAUNCH_H
#define TUTTI_EMULATOR_LAUNCH_LAUNCH_H

#include "emulator/sm/array.h"

/**
 * sm_array_launch() - execute the command LAUNCH, whose words after word 0 are @words.
 * Return: 0, or an error of the firmware, which the card reports as a crash: -EINVAL if the message is malformed
 * or an SM has no room, -EAGAIN if the task's state is not acknowledged yet.
 */
int sm_array_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n);
/** sm_array_order() - execute the command ORDER, which sets the SM priority order from position @first on. */
void sm_array_order(struct sm_array *array, unsigned first, const uint32_t *words, unsigned n);

#endif

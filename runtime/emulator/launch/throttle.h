/* SPDX-License-Identifier: MIT */
/** DOC: The throttle state of SMs (spec TSK-07) */
#ifndef TUTTI_EMULATOR_LAUNCH_THROTTLE_H
#define TUTTI_EMULATOR_LAUNCH_THROTTLE_H

#include "emulator/sm/array.h"

/**
 * sm_array_throttle() - execute the command THROTTLE for the SMs of @mask.
 * @blocks: blocks of shared memory that each of them gets; 0 for the usual number
 * Return: 0, or -EINVAL if one of them runs a CTA or does not exist, or if there are not so many blocks.
 */
int sm_array_throttle(struct sm_array *array, uint32_t blocks, const uint32_t *mask, unsigned words);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Throttle state of SMs (spec TSK-07) */
#ifndef TUTTI_EMULATOR_LAUNCH_THROTTLE_H
#define TUTTI_EMULATOR_LAUNCH_THROTTLE_H

#include "emulator/sm/array.h"

/** throttle_most() - shared blocks one SM can be given. */
uint32_t throttle_most(const struct tutti_discovery *limits);
/** sm_array_throttle() - command THROTTLE: @blocks of shared memory for each SM, 0 = as usual. -EINVAL: one is in use. */
int sm_array_throttle(struct sm_array *array, uint32_t blocks, const uint32_t *mask, unsigned words);

#endif

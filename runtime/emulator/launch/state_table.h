/* SPDX-License-Identifier: MIT */
/** DOC: The table of SM states */
#ifndef TUTTI_EMULATOR_LAUNCH_STATE_TABLE_H
#define TUTTI_EMULATOR_LAUNCH_STATE_TABLE_H

#include "emulator/sm/array.h"

/** sm_array_table() - bring the table of SM states up to date. */
void sm_array_table(struct sm_array *array, struct tutti_sm_state *table);
/** sm_array_mode() - execute the command SM_MODE, which says how SMs spread waves over their PEUs. */
void sm_array_mode(struct sm_array *array, unsigned mode);

#endif

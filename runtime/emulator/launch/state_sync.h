/* SPDX-License-Identifier: MIT */
/** DOC: Acknowledgement of task states (spec TSK-05) */
#ifndef TUTTI_EMULATOR_LAUNCH_STATE_SYNC_H
#define TUTTI_EMULATOR_LAUNCH_STATE_SYNC_H

#include "emulator/sm/array.h"

/** sync_send() - note that a state of @slot was sent to the SMs at positions @mask, or to all if it is NULL. */
void sync_send(struct sm_array *array, unsigned slot, const uint32_t *mask, unsigned words);
/** sync_report() - report acknowledgements by events STATE. Return: false if the event ring is full. */
bool sync_report(struct sm_array *array, bool *any);
void sync_empty(struct sm_array *array);
/** sm_array_acknowledge() - let SMs acknowledge task states whose turn it is. Return: true if more are to come. */
bool sm_array_acknowledge(struct sm_array *array);
/** sm_array_sync() - fill those members of the table of SM states that only the host reads. */
void sm_array_sync(struct sm_array *array, struct tutti_sm_state *table);

#endif

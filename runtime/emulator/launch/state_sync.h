/* SPDX-License-Identifier: MIT */
/** DOC: Acknowledgement of task states (spec TSK-05) */
#ifndef TUTTI_EMULATOR_LAUNCH_STATE_SYNC_H
#define TUTTI_EMULATOR_LAUNCH_STATE_SYNC_H

#include "emulator/sm/array.h"

/** sync_send() - a state of @slot goes to the SMs of @mask (by position), NULL = all. */
void sync_send(struct sm_array *array, unsigned slot, const uint32_t *mask, unsigned words);
/** sync_report() - events STATE. Return: false: the ring is full. */
bool sync_report(struct sm_array *array, bool *any);
void sync_empty(struct sm_array *array);
/** sm_array_acknowledge() - SMs acknowledge task states, if they do. Return: true if an acknowledgement is on its way. */
bool sm_array_acknowledge(struct sm_array *array);
/** sm_array_sync() - those of its fields that only the host reads. */
void sm_array_sync(struct sm_array *array, struct tutti_sm_state *table);

#endif

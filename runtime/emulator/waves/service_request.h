/* SPDX-License-Identifier: MIT */
/** DOC: Services that the firmware does */
#ifndef TUTTI_EMULATOR_WAVES_SERVICE_REQUEST_H
#define TUTTI_EMULATOR_WAVES_SERVICE_REQUEST_H

#include "emulator/unicorn/hart.h"

/** request_post() - the running wave asks the firmware for @service. Return: false. */
bool request_post(struct hart *hart, uint64_t service);
/** request_report() - requests to events. Return: false if the event ring is full. */
bool request_report(struct sm_array *array, bool *any);
/** request_take() - waves of @engine that have got their replies are ready. */
void request_take(struct engine *engine);
/** sm_array_reply() - command REPLY. @wave: wave slot of the SM */
void sm_array_reply(struct sm_array *array, unsigned sm, unsigned wave, uint64_t value);

#endif

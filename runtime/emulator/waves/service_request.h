/* SPDX-License-Identifier: MIT */
/** DOC: Services for waves that the firmware carries out */
#ifndef TUTTI_EMULATOR_WAVES_SERVICE_REQUEST_H
#define TUTTI_EMULATOR_WAVES_SERVICE_REQUEST_H

#include "emulator/hart/hart.h"

/** request_post() - ask the firmware for @service for the running wave. Return: false, since the wave must wait. */
bool request_post(struct hart *hart, uint64_t service);
/** request_report() - report requests to the firmware by events. Return: false if the event ring is full. */
bool request_report(struct sm_array *array, bool *any);
/** request_take() - make the waves of @engine ready that have got their replies. */
void request_take(struct engine *engine);
/** sm_array_reply() - execute the command REPLY. @wave is a wave slot of @sm. */
void sm_array_reply(struct sm_array *array, unsigned sm, unsigned wave, uint64_t value);

#endif

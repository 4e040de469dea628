/* SPDX-License-Identifier: MIT */
/** DOC: The timer's event: whoever is due, the heartbeat in the status region, kernels that hang */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

#include "core/base.h"

void heartbeat_init(void);
/** heartbeat_event() - the timer has fired. */
void heartbeat_event(void);

#endif

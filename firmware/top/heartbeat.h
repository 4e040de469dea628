/* SPDX-License-Identifier: MIT */
/** DOC: The timer's event: deadlines of queues and tasks, the heartbeat in the status region, kernels that hang */
#ifndef HEARTBEAT_H
#define HEARTBEAT_H

#include "core/base.h"

void heartbeat_init(void);
/** heartbeat_event() - the timer has fired: do all that is due, and set it again. */
void heartbeat_event(void);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Boot and event loop, in steps so that the host can drive them as well */
#ifndef MAIN_H
#define MAIN_H

#include "core/base.h"

/** main_init() - all units, rings, status RUNNING. */
void main_init(void);
/** main_event() - handle one event. */
void main_event(const struct tutti_event *event);
/** main_settle() - run ready queues, look at barriers and waiting work, publish commands. */
void main_settle(void);

#endif

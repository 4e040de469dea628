/* SPDX-License-Identifier: MIT */
/** DOC: Boot and event loop, as separate steps so that tests on the host can drive them as well */
#ifndef MAIN_H
#define MAIN_H

#include "core/base.h"

/** main_init() - initialise all units and rings, then set the card's status to RUNNING. */
void main_init(void);
/** main_event() - handle one event. */
void main_event(const struct tutti_event *event);
/** main_settle() - do what @attention asks for, such as running ready queues, and publish commands to the engines. */
void main_settle(void);
/** main_goes_on() - are there ready queues that need not wait for an event? If so, main_settle() runs some of them. */
bool main_goes_on(void);
/** main_before_idle() - main_settle(), and if something waits for room in the command ring, ask for the event of it. */
void main_before_idle(void);

#endif

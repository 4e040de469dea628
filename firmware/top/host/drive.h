/* SPDX-License-Identifier: MIT */
/** DOC: Driving the firmware in tests on the host: boot and events, as main() does it on the card */
#ifndef DRIVE_H
#define DRIVE_H

#include "core/hal.h"

/** hal_host_boot() - set up the control window of a card with @sms SMs and initialise all units as main() does. */
void hal_host_boot(unsigned sms);
/** hal_host_visit_over - if not NULL, called when a visit ends and another one follows it without an event. */
extern void (*hal_host_visit_over)(void);
/** hal_host_event() - handle one event as the main loop does, and run the queues that it made ready. */
void hal_host_event(const struct tutti_event *event);

#endif

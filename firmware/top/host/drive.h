/* SPDX-License-Identifier: MIT */
/** DOC: Driving the firmware on the host: boot and events, as main() does on the card */
#ifndef DRIVE_H
#define DRIVE_H

#include "core/hal.h"

/** hal_host_boot() - fill the window, initialise all units as main() does. */
void hal_host_boot(unsigned sms);
/** hal_host_event() - handle one event as the main loop does, ready queues included. */
void hal_host_event(const struct tutti_event *event);

#endif

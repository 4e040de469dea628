/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef TUTTI_KERNEL_RESET_H
#define TUTTI_KERNEL_RESET_H

#include "base/device.h"

/*
 * The PCI core reports errors of the bus, and their end, with the lock of all buses and that of the device held. Resets,
 * ours or those of others, take that lock of the buses within reset_sem, but have that of the device then, for which a
 * reset of ours does not wait. So neither waits for the other, which lockdep cannot know, since it does not follow locks
 * of devices.
 */
#define TUTTI_RESET_OF_BUS SINGLE_DEPTH_NESTING

void tutti_reset_begin(struct tutti_device *tdev, unsigned int subclass);
void tutti_reset_lose_memory(struct tutti_device *tdev);
int tutti_reset_restart(struct tutti_device *tdev);
void tutti_reset_forget(struct tutti_device *tdev);
bool tutti_reset_stop(struct tutti_device *tdev);

#endif

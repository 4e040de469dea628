/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_WAIT_H
#define TUTTI_WAIT_H

#include "device/device.h"

/**
 * struct wait - something to wait for; the first member of what a unit waits with.
 * @satisfied: looks, without side effects; called from inside the driven card
 * @waiters: word that asks the card for an interrupt, or NULL
 * @deliver: call error callbacks on the way (no lock may be held then)
 */
struct wait {
	struct tutti_device *device;
	bool (*satisfied)(const struct wait *wait);
	uint32_t *waiters;
	bool deliver;
};

/**
 * wait_for() - drive the card until satisfied, then sleep between interrupts.
 * @timeout_ns: relative, TUTTI_WAIT_FOREVER
 * Return: 0, -ETIMEDOUT, -EIO when the card has died.
 */
int wait_for(const struct wait *wait, uint64_t timeout_ns);

#endif

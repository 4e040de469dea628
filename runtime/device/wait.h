/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_WAIT_H
#define TUTTI_WAIT_H

#include "device/device.h"

/**
 * struct wait - something to wait for; units embed it as the first member of their own structures.
 * @satisfied: the condition; must have no side effects, as the emulated card calls it while a thread drives it
 * @waiters: word by which the card is asked for an interrupt, or NULL
 * @handle: what the application waits with; its end ends the wait with -EIO. NULL for waits of the library itself
 * @lost: the condition cannot come true any more; any thread may set it
 * @deliver: call error callbacks while waiting; the caller must hold no lock then
 */
struct wait {
	struct tutti_device *device;
	bool (*satisfied)(const struct wait *wait);
	uint32_t *waiters;
	const struct handle *handle;
	bool lost;
	bool deliver;
};

/**
 * wait_for() - wait until the condition holds; the thread drives the card if it can, else sleeps between interrupts.
 * @timeout_ns: relative to now, or TUTTI_WAIT_FOREVER
 * Return: 0, -ETIMEDOUT, -EIO when the card has died, or when @handle or @lost say that waiting is of no use.
 */
int wait_for(const struct wait *wait, uint64_t timeout_ns);

#endif

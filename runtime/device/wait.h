/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_WAIT_H
#define TUTTI_WAIT_H

#include "device/device.h"

/**
 * struct wait - something to wait for; units embed it as the first member of their own structures.
 * @satisfied: the condition; must have no side effects, as the emulated card calls it while a thread drives it
 * @sleeps: told with 1 that the thread is about to sleep, so that the card shall interrupt, and with -1 that it has slept;
 *	may be NULL
 * @in_vain: the condition cannot come true any more; may be NULL
 * @handle: what the application waits with; its end ends the wait with -EIO. NULL for waits of the library itself
 * @deliver: print what kernels print meanwhile and, in deterministic mode, call handlers; the caller must hold no lock
 * @passive: leave it to others to drive the card
 * @nap_ns: longest sleep between two looks; 0 = a millisecond
 */
struct wait {
	struct tutti_device *device;
	bool (*satisfied)(const struct wait *wait);
	void (*sleeps)(const struct wait *wait, int change);
	bool (*in_vain)(const struct wait *wait);
	const struct handle *handle;
	bool deliver, passive;
	uint64_t nap_ns;
};

/**
 * wait_for() - wait until the condition holds; the thread drives the card if it can, else sleeps between interrupts.
 * @timeout_ns: relative to now, or TUTTI_WAIT_FOREVER
 * Return: 0, -ETIMEDOUT, -EIO when the card has died, or when @handle or @in_vain say that waiting is of no use.
 */
int wait_for(const struct wait *wait, uint64_t timeout_ns);

#endif

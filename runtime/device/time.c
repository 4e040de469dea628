// SPDX-License-Identifier: MIT
#include "base/clock.h"
#include "device/device.h"

/*
 * The firmware publishes the card's timer with each heartbeat; in between, time is extrapolated
 * by the host's clock (except in deterministic mode, in which time does not depend on the host). The beat may be old
 * when it is seen, so the estimate is behind the card's time, never ahead of it.
 */
uint64_t tutti_device_time(struct tutti_device *device)
{
	CALL_SCOPE(call);
	const struct tutti_status *status;
	struct device_time *last;
	uint64_t time, now;

	if (!device_call(&call, device))
		return 0;
	status = device->status;
	last = &device->time;
	pthread_mutex_lock(&device->lock); /* before the clock is read: other threads know no later time than this one */
	do
		time = tutti_load_acquire(&status->heartbeat_time);
	while (time != tutti_load_acquire(&status->heartbeat_time)); /* the firmware writes it in two halves */
	now = time_ns();
	if (time != last->beat_time || !last->host_ns) { /* the first call may come before the first heartbeat, when both are 0 */
		last->beat_time = time;
		last->host_ns = now;
	}
	if (!device->deterministic)
		time += (uint64_t)((double)(now - last->host_ns) * (double)device->known.timer_hz / 1e9);
	if (time < last->given)
		time = last->given; /* time never goes backwards */
	last->given = time;
	pthread_mutex_unlock(&device->lock);
	return time;
}

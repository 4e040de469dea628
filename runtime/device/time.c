// SPDX-License-Identifier: MIT
#include "base/clock.h"
#include "device/device.h"

/*
 * The firmware writes its timer with each heartbeat; between two of them the host's
 * clock goes on from the last one seen (not in deterministic mode, whose time is its own).
 */
uint64_t tutti_device_time(struct tutti_device *device)
{
	const struct tutti_status *status = device->status;
	struct device_time *last = &device->time;
	uint64_t beat, time, now = time_ns();

	do {
		beat = tutti_load_acquire(&status->heartbeat);
		time = tutti_load_acquire(&status->heartbeat_time);
	} while (beat != tutti_load_acquire(&status->heartbeat));
	pthread_mutex_lock(&device->lock);
	if (time != last->beat_time) {
		last->beat_time = time;
		last->host_ns = now;
	}
	if (!device->deterministic)
		time += (uint64_t)((double)(now - last->host_ns) * (double)device->known.timer_hz / 1e9);
	if (time < last->given)
		time = last->given; /* never backwards */
	last->given = time;
	pthread_mutex_unlock(&device->lock);
	return time;
}

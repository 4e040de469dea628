// SPDX-License-Identifier: MIT
/*
 * The only waiting loop of the library. With an emulated card in the process, the thread
 * drives the card itself as long as there is work; then it sleeps.
 *
 * An interrupt ends the sleep, and so does another host thread that changes a signal. Sleeps are short
 * nevertheless, because kernels change signals, too, and because an interrupt may get lost.
 */
#include "device/wait.h"

#include "base/clock.h"
#include "device/print.h"
#include "device/trace.h"

#define SLEEP_MAX_NS 1000000ull
#define HUNG_NS	     5000000000ull /* a firmware that is awake without a heartbeat for so long has hung */
#define STALL_NS     500000000ull /* a thread that has not looked for so long was stopped, and perhaps the card, too */

/* The card calls this while the waiting thread drives it. Events end the drive, too, since they must be handled. */
static bool wait_done(void *context)
{
	const struct wait *wait = context;

	return wait->satisfied(wait) || device_pending(wait->device);
}

/** struct watch - since when the firmware has shown the same heartbeat, as seen at @last; by the clock of watch_now(). */
struct watch {
	uint64_t beat;
	uint64_t since, last;
};

/*
 * The time by which a heartbeat is late, where it is @now. A card that this thread drives runs only while the thread runs:
 * not while other processes have the processors, and not while another thread keeps the card to itself, as it does until
 * a kernel has been translated. Other cards run all the time.
 */
static uint64_t watch_now(const struct tutti_device *device, uint64_t now)
{
	return device->run ? time_of_thread_ns() : now;
}

static void watch_heartbeat(struct tutti_device *device, struct watch *watch, uint64_t now)
{
	uint64_t beat = tutti_load_relaxed(&device->status->heartbeat);

	if (now - watch->last > STALL_NS || beat != watch->beat || tutti_load_relaxed(&device->status->asleep)) {
		watch->beat = beat;
		watch->since = now;
	} else if (now - watch->since > HUNG_NS) {
		device_fail(device, "firmware hangs: no heartbeat");
	}
	watch->last = now;
}

static bool hopeless(const struct wait *wait)
{
	return (wait->handle && !handle_live(wait->handle)) || (wait->in_vain && wait->in_vain(wait)) ||
	       device_dead(wait->device);
}

static void wait_sleep(const struct wait *wait, uint64_t seen, uint64_t deadline)
{
	struct tutti_device *device = wait->device;

	if (wait->sleeps) {
		wait->sleeps(wait, 1);
		tutti_fence();
	}
	if (!wait_done((void *)wait))
		device->transport->sleep(device, seen, deadline);
	if (wait->sleeps)
		wait->sleeps(wait, -1);
}

int wait_for(const struct wait *wait, uint64_t timeout_ns)
{
	struct tutti_device *device = wait->device;
	uint64_t start = 0, now, deadline = UINT64_MAX, nap = wait->nap_ns ? wait->nap_ns : SLEEP_MAX_NS;
	struct watch watch = {0};

	for (;;) {
		uint64_t seen = device->transport->interrupts(device);
		bool idle;

		trace_poll(device);
		idle = wait->passive || !device->run || device->run(device, wait_done, (void *)wait);
		device->transport->poll(device);
		if (wait->deliver && device->serve)
			device->serve(device);
		if (wait->satisfied(wait))
			return 0;
		if (hopeless(wait))
			return -EIO;
		now = time_ns();
		if (!start) {
			start = now;
			if (timeout_ns < UINT64_MAX - now)
				deadline = now + timeout_ns;
		}
		if (now >= deadline)
			return -ETIMEDOUT;
		/* An emulated card that nobody drives may rest between two heartbeats for longer than is allowed. */
		if (!wait->passive || !device->run)
			watch_heartbeat(device, &watch, watch_now(device, now));
		if (wait->deliver)
			print_poll(device); /* so that the print ring does not fill up during a long wait */
		if (idle)
			wait_sleep(wait, seen, deadline - now < nap ? deadline : now + nap);
	}
}

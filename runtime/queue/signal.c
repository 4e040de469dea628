// SPDX-License-Identifier: MIT
#include "device/print.h"
#include "device/trace.h"
#include "memory/memory.h"
#include "queue/lost.h"

int tutti_signal_create(struct tutti_device *device, int64_t value, tutti_signal_t *out)
{
	CALL_SCOPE struct call call = {0};
	tutti_signal_t signal;
	int error;

	if (!device_call(&call, device) || !out)
		return -EINVAL;
	error = memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*signal), (void **)&signal);
	if (error)
		return error;
	if (!(device->known.features & TUTTI_FEATURE_PCIE_ATOMICS))
		signal->flags = TUTTI_SIGNAL_SPLIT;
	tutti_store_release(&signal->value, value);
	memory_object_add(device, signal);
	*out = signal;
	return 0;
}

bool signal_free(struct tutti_device *device, tutti_signal_t signal)
{
	return memory_object_remove(device, signal) && !memory_free(device, signal);
}

int tutti_signal_destroy(struct tutti_device *device, tutti_signal_t signal)
{
	CALL_SCOPE struct call call = {0};

	if (!device_call(&call, device))
		return -EINVAL;
	return !signal || signal_free(device, signal) ? 0 : -EINVAL;
}

static inline bool holds(struct signal_wait *wait)
{
	int64_t value = tutti_signal_load(wait->signal);

	wait->seen = value;
	switch (wait->condition) {
	case TUTTI_EQ:
		return value == wait->value;
	case TUTTI_NE:
		return value != wait->value;
	case TUTTI_LT:
		return value < wait->value;
	default:
		return value >= wait->value;
	}
}

static bool signal_satisfied(const struct wait *wait)
{
	return holds((struct signal_wait *)wait);
}

/* The card calls this after each step while this thread drives it. */
static bool signal_done(void *context)
{
	struct signal_wait *wait = context;

	return holds(wait) || device_pending(wait->wait.device);
}

static bool look_once(void *context)
{
	(void)context;
	return true;
}

static bool is_lost(struct signal_wait *wait)
{
	lost_wait_begin(wait);
	lost_wait_end(wait);
	return wait->wait.lost;
}

/* The first drive has no clock, watchdog or event handling, because a launch that is waited for at once comes here. */
static int drive_and_wait(struct signal_wait *wait, uint64_t timeout_ns)
{
	struct tutti_device *device = wait->wait.device;

	if (device->run) {
		device->run(device, signal_done, wait);
		if (__builtin_expect(holds(wait), 1))
			return 0;
	}
	return wait_for(&wait->wait, timeout_ns);
}

static int wait_slowly(struct signal_wait *wait, uint64_t timeout_ns)
{
	struct tutti_device *device = wait->wait.device;
	int error;

	if (!timeout_ns) {
		/* In deterministic mode time passes only while the card is driven. */
		if (device->deterministic && device->run)
			device->run(device, look_once, NULL);
		if (holds(wait))
			return 0;
		return device_poll(device) || is_lost(wait) ? -EIO : -ETIMEDOUT;
	}
	lost_wait_begin(wait);
	error = drive_and_wait(wait, timeout_ns);
	lost_wait_end(wait);
	return error;
}

int tutti_signal_wait(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
		      int64_t value, uint64_t timeout_ns, int64_t *seen)
{
	CALL_SCOPE struct call call = {0};
	struct signal_wait wait = {
	    .wait = {.device = device, .satisfied = signal_satisfied, .handle = device_handle(device), .deliver = true},
	    .signal = signal,
	    .value = value,
	    .condition = (uint8_t)condition,
	};
	int error;

	if (!device_call(&call, device) || !signal_ok(device, signal) || (unsigned)condition > TUTTI_GTE)
		return -EINVAL;
	wait.wait.waiters = &signal->waiters;
	error = holds(&wait) ? 0 : wait_slowly(&wait, timeout_ns);
	if (__builtin_expect(device_pending(device) || tutti_load_relaxed(&device->errors), 0))
		device_poll(device);
	print_poll(device);
	trace_poll(device);
	if (seen)
		*seen = wait.seen;
	return error;
}

// SPDX-License-Identifier: MIT
#include "device/print.h"
#include "device/trace.h"
#include "device/wait.h"

struct signal_wait {
	struct wait wait;
	const struct tutti_signal *signal;
	int64_t value;
	int64_t seen;
	uint8_t condition;
};

int tutti_signal_create(struct tutti_device *device, int64_t value, tutti_signal_t *out)
{
	tutti_signal_t signal;
	int error;

	if (!out)
		return -EINVAL;
	error = tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*signal), (void **)&signal);
	if (error)
		return error;
	if (!(device->known.features & TUTTI_FEATURE_PCIE_ATOMICS))
		signal->flags = TUTTI_SIGNAL_SPLIT;
	tutti_store_release(&signal->value, value);
	*out = signal;
	return 0;
}

void tutti_signal_destroy(struct tutti_device *device, tutti_signal_t signal)
{
	tutti_memory_free(device, signal);
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

/* The first drive has no clock, watchdog or event handling, because a launch that is waited for at once comes here. */
static int wait_slowly(struct signal_wait *wait, uint64_t timeout_ns)
{
	struct tutti_device *device = wait->wait.device;

	if (!timeout_ns) {
		/* In deterministic mode time passes only while the card is driven. */
		if (device->deterministic && device->run)
			device->run(device, look_once, NULL);
		if (holds(wait))
			return 0;
		return device_poll(device) ? -EIO : -ETIMEDOUT;
	}
	if (device->run) {
		device->run(device, signal_done, wait);
		if (__builtin_expect(holds(wait), 1))
			return 0;
	}
	return wait_for(&wait->wait, timeout_ns);
}

int tutti_signal_wait(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
		      int64_t value, uint64_t timeout_ns, int64_t *seen)
{
	struct signal_wait wait = {
	    .wait = {.device = device,
		     .satisfied = signal_satisfied,
		     .waiters = &signal->waiters,
		     .deliver = true},
	    .signal = signal,
	    .value = value,
	    .condition = (uint8_t)condition,
	};
	int error = holds(&wait) ? 0 : wait_slowly(&wait, timeout_ns);

	if (__builtin_expect(device_pending(device) || tutti_load_relaxed(&device->errors), 0))
		device_poll(device);
	print_poll(device);
	trace_poll(device);
	if (seen)
		*seen = wait.seen;
	return error;
}

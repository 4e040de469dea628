// SPDX-License-Identifier: MIT
/* Making and destroying signals; their operations are inline, in include/tutti/signal_api.h. */
#include "memory/memory.h"
#include "queue/handler.h"
#include "queue/queue.h"

int tutti_signal_create(struct tutti_device *device, int64_t value, tutti_signal_t *out)
{
	CALL_SCOPE(call);
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
	if (memory_object(device, signal))
		handlers_forget(device, signal);
	return memory_object_remove(device, signal) && !memory_free(device, signal);
}

int tutti_signal_destroy(struct tutti_device *device, tutti_signal_t signal)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	return !signal || signal_free(device, signal) ? 0 : -EINVAL;
}

void tutti_signal_wake(tutti_signal_t signal)
{
	(void)signal; /* which device it is of is not known, and it may be gone by now */
	device_wake_all();
}

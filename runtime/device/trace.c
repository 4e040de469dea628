// SPDX-License-Identifier: MIT
/* The card's trace ring, as a program reads it. */
#include "device/trace.h"

bool trace_readable(const struct tutti_device *device)
{
	return device->known.features & TUTTI_FEATURE_TRACE && device->transport->traces &&
	       device->known.trace.bytes >= sizeof(struct tutti_trace);
}

int trace_begin(struct tutti_device *device, uint32_t kinds)
{
	if (device->transport->trace_start)
		return device->transport->trace_start(device, kinds);
	if (!kinds) {
		tutti_store_release(&device->control->trace_enable, 0);
		return 0;
	}
	tutti_store_relaxed(&device->trace_lost, tutti_load_relaxed(&device->status->trace_lost));
	tutti_store_release(&device->control->trace_head, tutti_load_acquire(&device->status->trace_tail));
	tutti_store_release(&device->control->trace_enable, kinds);
	return 0;
}

int tutti_trace_start(struct tutti_device *device, uint32_t kinds)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	if (!trace_readable(device))
		return -ENOTSUP;
	if (!kinds || kinds & ~TUTTI_TRACE_ALL)
		return -EINVAL;
	if (device->trace)
		return -EBUSY;
	return trace_begin(device, kinds);
}

int tutti_trace_stop(struct tutti_device *device)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	if (!trace_readable(device))
		return -ENOTSUP;
	if (device->trace)
		return -EBUSY;
	return trace_begin(device, 0);
}

static unsigned take_from_ring(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost)
{
	const struct tutti_trace *ring = (const void *)(device->bar + device->known.trace.offset);
	uint64_t size = device->known.trace.bytes / sizeof(*ring), head = device->control->trace_head;
	uint64_t ready = tutti_load_acquire(&device->status->trace_tail) - head;
	uint32_t dropped = tutti_load_relaxed(&device->status->trace_lost);
	unsigned n = 0;

	for (; n < count && n < ready && n < size; n++, head++)
		records[n] = ring[head & (size - 1)];
	tutti_store_release(&device->control->trace_head, head);
	*lost = dropped - device->trace_lost;
	device->trace_lost = dropped;
	return n;
}

int trace_take(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost)
{
	uint64_t nobody_asks;

	lost = lost ? lost : &nobody_asks;
	*lost = 0;
	return device->transport->trace_read ? device->transport->trace_read(device, records, count, lost)
					     : (int)take_from_ring(device, records, count, lost);
}

int tutti_trace_read(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	if (!records && count)
		return -EINVAL;
	if (!trace_readable(device))
		return -ENOTSUP;
	if (device->trace)
		return -EBUSY;
	return trace_take(device, records, count < INT32_MAX ? count : INT32_MAX, lost);
}

static const char *const names[TUTTI_TRACE_KINDS] = {
    "doorbell", "fetch", "expand", "place", "run", "cta_done", "complete", "fault", "state", "cta", "free", "entry",
};

const char *tutti_trace_name(unsigned kind)
{
	return kind < TUTTI_TRACE_KINDS ? names[kind] : NULL;
}

/* SPDX-License-Identifier: MIT */
/** DOC: The file that a device's trace is written to (trace.c) */
#ifndef TUTTI_DEVICE_TRACE_H
#define TUTTI_DEVICE_TRACE_H

#include "device/device.h"

/** trace_open() - begin to write a trace if the environment variable TUTTI_TRACE asks for one. 0 or -errno. */
int trace_open(struct tutti_device *device);
void trace_close(struct tutti_device *device);
/** trace_drain() - write the records in the ring to the file. Any thread; @device->trace must not be NULL. */
void trace_drain(struct tutti_device *device);

static inline void trace_poll(struct tutti_device *device)
{
	if (__builtin_expect(device->trace != NULL, 0))
		trace_drain(device);
}

#endif

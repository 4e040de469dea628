/* SPDX-License-Identifier: MIT */
/** DOC: The trace ring of a card (trace.c), and the file that it is written to if TUTTI_TRACE names one (trace_file.c) */
#ifndef TUTTI_DEVICE_TRACE_H
#define TUTTI_DEVICE_TRACE_H

#include "device/device.h"
#include "tutti/trace_api.h"

/** trace_readable() - can the host read this card's ring? */
bool trace_readable(const struct tutti_device *device);
/** trace_begin() - record @kinds from now on, nothing if 0; older records are dropped. Return: 0 or -errno. */
int trace_begin(struct tutti_device *device, uint32_t kinds);
/**
 * trace_take() - take up to @count of the oldest records; @lost gets how many were dropped since the last call, or is NULL.
 *
 * One thread at a time. It may be called by a signal's handler. Return: the number of records, or -errno with *@lost = 0.
 */
int trace_take(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost);

/** trace_open() - begin to write a trace if the environment variable TUTTI_TRACE asks for one. 0 or -errno. */
int trace_open(struct tutti_device *device);
void trace_close(struct tutti_device *device);
/** trace_drain() - write the records in the ring to the file. Any thread; @device->trace must not be NULL. */
void trace_drain(struct tutti_device *device);
/** trace_kernel() - note in the file, if there is one, the name of the kernel whose code begins at @entry. */
void trace_kernel(struct tutti_device *device, uint64_t entry, const char *name);

static inline void trace_poll(struct tutti_device *device)
{
	if (__builtin_expect(device->trace != NULL, 0))
		trace_drain(device);
}

#endif

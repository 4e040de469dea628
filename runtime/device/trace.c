// SPDX-License-Identifier: MIT
/* The card's trace ring: the program reads it, or it is written to the file that TUTTI_TRACE names. */
#include "tutti/trace_api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "device/trace.h"

#define CHUNK 256u

/** struct trace - the file that the trace records of a device are written to. */
struct trace {
	pthread_mutex_t lock;
	FILE *file;
	struct tutti_trace_file head;
};

static bool readable(const struct tutti_device *device)
{
	return device->known.features & TUTTI_FEATURE_TRACE && device->transport->traces &&
	       device->known.trace.bytes >= sizeof(struct tutti_trace);
}

static void begin(struct tutti_device *device, uint32_t kinds)
{
	tutti_store_relaxed(&device->trace_lost, tutti_load_relaxed(&device->status->trace_lost));
	tutti_store_release(&device->control->trace_head, tutti_load_acquire(&device->status->trace_tail));
	tutti_store_release(&device->control->trace_enable, kinds);
}

int tutti_trace_start(struct tutti_device *device, uint32_t kinds)
{
	CALL_SCOPE struct call call = {0};

	if (!device_call(&call, device))
		return -EINVAL;
	if (!readable(device))
		return -ENOTSUP;
	if (!kinds || kinds & ~TUTTI_TRACE_ALL)
		return -EINVAL;
	if (device->trace)
		return -EBUSY;
	begin(device, kinds);
	return 0;
}

int tutti_trace_stop(struct tutti_device *device)
{
	CALL_SCOPE struct call call = {0};

	if (!device_call(&call, device))
		return -EINVAL;
	if (!readable(device))
		return -ENOTSUP;
	if (device->trace)
		return -EBUSY;
	tutti_store_release(&device->control->trace_enable, 0);
	return 0;
}

static unsigned take(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost)
{
	const struct tutti_trace *ring = (const void *)(device->bar + device->known.trace.offset);
	uint64_t size = device->known.trace.bytes / sizeof(*ring), head = device->control->trace_head;
	uint64_t ready = tutti_load_acquire(&device->status->trace_tail) - head;
	uint32_t dropped = tutti_load_relaxed(&device->status->trace_lost);
	unsigned n = 0;

	for (; n < count && n < ready && n < size; n++, head++)
		records[n] = ring[head & (size - 1)];
	tutti_store_release(&device->control->trace_head, head);
	if (lost)
		*lost = dropped - device->trace_lost;
	device->trace_lost = dropped;
	return n;
}

int tutti_trace_read(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost)
{
	CALL_SCOPE struct call call = {0};

	if (!device_call(&call, device))
		return -EINVAL;
	if (!records && count)
		return -EINVAL;
	if (!readable(device))
		return -ENOTSUP;
	if (device->trace)
		return -EBUSY;
	return (int)take(device, records, count < INT32_MAX ? count : INT32_MAX, lost);
}

static const char *const names[TUTTI_TRACE_KINDS] = {
    "doorbell", "fetch", "expand", "place", "run", "cta_done", "complete", "fault", "state", "cta", "free",
};

const char *tutti_trace_name(unsigned kind)
{
	return kind < TUTTI_TRACE_KINDS ? names[kind] : NULL;
}

/* ---- the file ---- */

static FILE *create(const char *path)
{
	static unsigned devices;
	unsigned number = __atomic_fetch_add(&devices, 1, __ATOMIC_RELAXED);
	char text[4096];

	if (number)
		snprintf(text, sizeof(text), "%s.%u", path, number);
	else
		snprintf(text, sizeof(text), "%s", path);
	return fopen(text, "we");
}

static void write_head(const struct tutti_device *device, struct trace *trace)
{
	const struct tutti_discovery *known = &device->known;

	trace->head = (struct tutti_trace_file){
	    .magic = TUTTI_TRACE_MAGIC,
	    .version = TUTTI_TRACE_VERSION,
	    .kinds = TUTTI_TRACE_ALL,
	    .discovery_bytes = sizeof(*known),
	    .places = known->sm_table.bytes / sizeof(struct tutti_sm_place) >= known->sms ? known->sms : 0,
	};
	fwrite(&trace->head, sizeof(trace->head), 1, trace->file);
	fwrite(known, sizeof(*known), 1, trace->file);
	fwrite(device->bar + known->sm_table.offset, sizeof(struct tutti_sm_place), trace->head.places,
	       trace->file);
}

int trace_open(struct tutti_device *device)
{
	const char *path = getenv("TUTTI_TRACE");
	struct trace *trace;

	if (!path || !*path)
		return 0;
	if (!readable(device)) {
		say("TUTTI_TRACE: this card's trace cannot be read");
		return 0;
	}
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return -ENOMEM;
	trace->file = create(path);
	if (!trace->file) {
		int error = -errno;

		say("TUTTI_TRACE: %s: %s", path, tutti_strerror(error));
		free(trace);
		return error;
	}
	pthread_mutex_init(&trace->lock, NULL);
	write_head(device, trace);
	device->trace = trace;
	begin(device, trace->head.kinds);
	return 0;
}

static void drain(struct tutti_device *device, struct trace *trace)
{
	struct tutti_trace records[CHUNK];
	uint64_t lost;
	unsigned n;

	do {
		n = take(device, records, CHUNK, &lost);
		trace->head.lost += lost;
		fwrite(records, sizeof(*records), n, trace->file);
	} while (n == CHUNK);
}

void trace_drain(struct tutti_device *device)
{
	struct trace *trace = device->trace;

	/* Another thread is writing the records already. */
	if (pthread_mutex_trylock(&trace->lock))
		return;
	drain(device, trace);
	pthread_mutex_unlock(&trace->lock);
}

void trace_close(struct tutti_device *device)
{
	struct trace *trace = device->trace;

	if (!trace)
		return;
	tutti_store_release(&device->control->trace_enable, 0);
	drain(device, trace);
	if (trace->head.lost)
		say("TUTTI_TRACE: %llu records were dropped", (unsigned long long)trace->head.lost);
	rewind(trace->file);
	fwrite(&trace->head, sizeof(trace->head), 1, trace->file);
	if (fclose(trace->file))
		say("TUTTI_TRACE: not written: %s", tutti_strerror(-errno));
	pthread_mutex_destroy(&trace->lock);
	free(trace);
	device->trace = NULL;
}

// SPDX-License-Identifier: MIT
/* Opening and closing a card. Only this file knows all units and the order they have to be set up in. */
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/sized.h"
#include "device/print.h"
#include "device/queue_error.h"
#include "device/trace.h"
#include "memory/memory.h"
#include "queue/copier.h"
#include "queue/event.h"
#include "queue/queue.h"

static struct handle_pool pool = HANDLE_POOL(struct tutti_device);

static const struct transport *const transports[] = {&transport_drm, &transport_xrt, &transport_emulator};
#define TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

/* The first kind of card that is present. The emulator always is; choosing it is reported, but only once. */
static const struct transport *default_transport(void)
{
	static bool said;
	const struct transport *found = &transport_emulator;

	for (unsigned i = 0; i < TRANSPORTS; i++) {
		if (transports[i]->present()) {
			found = transports[i];
			break;
		}
	}
	if (found == &transport_emulator && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		say("no card found, using the emulated one (TUTTI_DEVICE=emulator says so beforehand)");
	return found;
}

static const struct transport *find_transport(const char *name)
{
	if (!name || !*name)
		name = getenv("TUTTI_DEVICE");
	if (!name || !*name)
		return default_transport();
	for (unsigned i = 0; i < TRANSPORTS; i++) {
		size_t n = strlen(transports[i]->name);

		if (!strncmp(name, transports[i]->name, n) && (!name[n] || name[n] == ':'))
			return transports[i];
	}
	say("unknown device '%s' (emulator, drm, xrt)", name);
	return NULL;
}

/* Creates the print ring, and the address space of the kernels that print to it. */
static int start_context(struct tutti_device *device)
{
	struct tutti_print_ring *ring;
	int error =
	    tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*ring) + PRINT_BYTES, (void **)&ring);

	if (!error)
		error = print_init(device, ring);
	if (error)
		return error;
	error = device->transport->start(device, ring);
	if (error)
		print_fini(device);
	return error;
}

static void stop_context(struct tutti_device *device)
{
	if (device->transport->stop)
		device->transport->stop(device);
	print_fini(device);
}

static int start(struct tutti_device *device, const struct tutti_device_options *options)
{
	int error = device->transport->open(device, options);

	if (error)
		return error;
	error = memory_init(device);
	if (error)
		goto close;
	error = start_context(device);
	if (error)
		goto fini_memory;
	error = trace_open(device);
	if (!error)
		return 0;
	stop_context(device);
fini_memory:
	memory_fini(device);
close:
	device->transport->close(device);
	return error;
}

int tutti_device_open(const struct tutti_device_options *given, struct tutti_device **out)
{
	struct tutti_device_options own = {0}, *options = &own;
	struct tutti_device *device;
	int error;

	if (!out)
		return -EINVAL;
	*out = NULL;
	error = given ? SIZED_COPY(options, given, bytes) : 0;
	if (error)
		return error;
	error = -ENODEV;
	device = handle_new(&pool, NULL);
	if (!device)
		return -ENOMEM;
	pthread_mutex_init(&device->lock, NULL);
	pthread_mutex_init(&device->start_lock, NULL);
	device->transport = find_transport(options->name);
	if (device->transport) {
		device->run = device->transport->run;
		error = start(device, options);
	}
	if (error) {
		pthread_mutex_destroy(&device->start_lock);
		pthread_mutex_destroy(&device->lock);
		handle_free(&pool, &device->handle);
		return error;
	}
	device_list_add(device);
	*out = device;
	return 0;
}

static void destroy_queues(struct tutti_device *device)
{
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++) {
		struct queue *queue = device->queue_error[i] ? queue_of(device->queue_error[i]->queue) : NULL;

		if (queue && handle_end(&queue->handle))
			queue_destroy(queue);
	}
}

int tutti_device_close(struct tutti_device *device)
{
	if (!device)
		return 0;
	if (call_nested(&device->handle) || (handle_live(&device->handle) && !events_may_close(device)))
		return -EBUSY;
	if (!handle_close(&device->handle))
		return -EINVAL;
	if (events_here(device))
		tutti_store_release(&device->callback_closes, true); /* before the calls that wait for the callback */
	handle_drain(&device->handle);
	device_list_remove(device);
	events_stop(device);
	destroy_queues(device);
	copier_fini(device);
	print_flush(device);
	trace_close(device);
	stop_context(device);
	memory_fini(device);
	device->transport->close(device);
	pthread_mutex_destroy(&device->start_lock);
	pthread_mutex_destroy(&device->lock);
	handle_free(&pool, &device->handle);
	return 0;
}

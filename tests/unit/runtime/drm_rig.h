/* SPDX-License-Identifier: MIT */
/** DOC: A stand-in for the driver: a memfd is the device file, and the test replaces ioctl() */
#ifndef DRM_RIG_H
#define DRM_RIG_H

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include <drm.h>

#include "queue/queue.h"
#include "transport/drm/drm.h"
#include "tutti/tutti_drm.h"

#define MEMORY	     (64u << 20)
#define STATUS	     0x2000u
#define COUNTERS     0x3000u
#define CRASH	     0x4000u
#define DOORBELLS    0x10000u
#define WINDOW	     0x40000u
#define CONTEXT	     7u
#define BUFFER_FIRST 100u
#define QUEUE_FIRST  500u
#define RSB_FIRST    900u
#define MAPS	     64u

/* What the driver has been told. */
static struct driver {
	int fd;
	struct tutti_status *status;
	unsigned buffers, queues, queues_gone, rsbs;
	uint64_t end; /* of the offsets given to buffers */
	uint64_t offset[MAPS]; /* of each buffer */
	bool has_context;
	struct drm_tutti_map map[MAPS];
	unsigned maps, maps_max; /* if not 0, as many are allowed */
	bool map_fails; /* the next one */
	struct drm_tutti_range unmapped; /* the newest */
	struct drm_tutti_queue_create queue;
	uint64_t events, errors;
	int query_fails;
	uint32_t *query_forgets; /* the library's handle of a queue, which another thread clears meanwhile */
	struct tutti_fault fault;
	struct drm_tutti_event event; /* the newest */
	unsigned events_asked;
	unsigned syncobjs, syncobjs_gone; /* numbers from 1 on */
	struct drm_tutti_fence fence;
	struct drm_syncobj_transfer transfer;
	struct drm_syncobj_handle file;
	unsigned long refuses; /* a request */
	uint64_t card_bytes, card_bytes_max; /* of buffers in card memory; if not 0, as many are allowed */
} driver;

static int take_query(struct drm_tutti_query *query)
{
	struct tutti_discovery discovery = {
		.magic = TUTTI_DISCOVERY_MAGIC, .contract_max = ~0u, .bytes = sizeof(discovery), .window_bytes = WINDOW,
		.memory_bytes = MEMORY, .aperture_bytes = MEMORY, .max_queues = 8, .max_rsbs = 8, .sms = 4,
		.ring_packets_min = 64, .ring_packets_max = 4096, .shared_block_bytes = 2048, .msix_vectors = 4,
		.features = TUTTI_FEATURE_PCIE_ATOMICS | TUTTI_FEATURE_CARD_RINGS | TUTTI_FEATURE_DOORBELL_WAKES,
	};
	struct drm_tutti_state state = {.boot_sequence = 1};

	discovery.status.offset = STATUS;
	discovery.counters.offset = COUNTERS;
	discovery.crash.offset = CRASH;
	discovery.doorbells.offset = DOORBELLS;
	if (query->what == DRM_TUTTI_QUERY_DISCOVERY)
		memcpy((void *)(uintptr_t)query->pointer, &discovery, sizeof(discovery));
	else if (query->what == DRM_TUTTI_QUERY_STATE)
		memcpy((void *)(uintptr_t)query->pointer, &state, sizeof(state));
	else
		return -EINVAL;
	return 0;
}

static int take_map(const struct drm_tutti_map *map)
{
	if (!driver.has_context || map->context != CONTEXT)
		return -ENOENT;
	if (driver.map_fails || (driver.maps_max && driver.maps == driver.maps_max)) {
		driver.map_fails = false;
		return -ENOSPC;
	}
	assert_true(driver.maps < MAPS);
	driver.map[driver.maps++] = *map;
	return 0;
}

static int take_buffer(struct drm_tutti_bo_create *bo)
{
	if (bo->placement == DRM_TUTTI_PLACE_CARD) {
		if (driver.card_bytes_max && driver.card_bytes + bo->size > driver.card_bytes_max)
			return -EDQUOT;
		driver.card_bytes += bo->size;
	}
	assert_true(driver.buffers < MAPS);
	driver.offset[driver.buffers] = driver.end;
	bo->handle = BUFFER_FIRST + driver.buffers++;
	bo->mmap_offset = driver.end;
	driver.end += bo->size;
	return 0;
}

/* Does one mapping hold the whole range? The newest that has a part of it decides, as no two may overlap. */
static bool is_mapped_at_once(uint64_t address, uint64_t bytes)
{
	for (unsigned i = driver.maps; i--;) {
		const struct drm_tutti_map *map = &driver.map[i];

		if (map->address < address + bytes && address < map->address + map->bytes)
			return map->address <= address && address + bytes <= map->address + map->bytes;
	}
	return false;
}

static int take_queue(struct drm_tutti_queue_create *queue)
{
	if (!is_mapped_at_once(queue->ring, (uint64_t)TUTTI_PACKET_BYTES << queue->size_log2))
		return -EFAULT;
	driver.queue = *queue;
	queue->handle = QUEUE_FIRST + driver.queues++;
	queue->doorbell_offset = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, queue->handle);
	return 0;
}

static int take_queue_query(struct drm_tutti_queue_query *query)
{
	if (driver.query_forgets)
		*driver.query_forgets = 0;
	if (driver.query_fails && driver.query_fails != -EIO)
		return driver.query_fails;
	query->errors = driver.errors; /* of a queue that was lost with its context, too */
	memcpy(query->fault, &driver.fault, sizeof(driver.fault));
	return driver.query_fails;
}

static int take(unsigned long request, void *args)
{
	struct drm_tutti_context_create *context = args;
	struct drm_tutti_rsb_create *rsb = args;
	struct drm_tutti_rsb_read *read = args;
	struct drm_tutti_wait *wait = args;
	struct drm_version *version = args;

	if (request == driver.refuses)
		return -EDQUOT;
	switch (request) {
	case DRM_IOCTL_SYNCOBJ_CREATE:
		((struct drm_syncobj_create *)args)->handle = ++driver.syncobjs;
		return 0;
	case DRM_IOCTL_SYNCOBJ_DESTROY:
		driver.syncobjs_gone |= 1u << ((struct drm_syncobj_destroy *)args)->handle;
		return 0;
	case DRM_IOCTL_TUTTI_FENCE:
		driver.fence = *(struct drm_tutti_fence *)args;
		return 0;
	case DRM_IOCTL_SYNCOBJ_TRANSFER:
		driver.transfer = *(struct drm_syncobj_transfer *)args;
		return 0;
	case DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD:
		driver.file = *(struct drm_syncobj_handle *)args;
		((struct drm_syncobj_handle *)args)->fd = 12345;
		return 0;
	case DRM_IOCTL_VERSION:
		snprintf(version->name, version->name_len, "tutti");
		version->version_major = 1;
		return 0;
	case DRM_IOCTL_TUTTI_QUERY:
		return take_query(args);
	case DRM_IOCTL_TUTTI_BO_CREATE:
		return take_buffer(args);
	case DRM_IOCTL_TUTTI_CONTEXT_CREATE:
		driver.has_context = true;
		context->handle = CONTEXT;
		return context->print_ring ? 0 : -EINVAL;
	case DRM_IOCTL_TUTTI_MAP:
		return take_map(args);
	case DRM_IOCTL_TUTTI_UNMAP:
		driver.unmapped = *(struct drm_tutti_range *)args;
		return 0;
	case DRM_IOCTL_TUTTI_QUEUE_CREATE:
		return take_queue(args);
	case DRM_IOCTL_TUTTI_QUEUE_DESTROY:
		assert_int_equal(((struct drm_tutti_handle *)args)->handle, QUEUE_FIRST + driver.queues_gone++);
		return 0;
	case DRM_IOCTL_TUTTI_QUEUE_QUERY:
		return take_queue_query(args);
	case DRM_IOCTL_TUTTI_RSB_CREATE:
		rsb->handle = RSB_FIRST + driver.rsbs++;
		return 0;
	case DRM_IOCTL_TUTTI_RSB_READ:
		assert_int_equal(read->handle, RSB_FIRST);
		memset((void *)(uintptr_t)read->pointer, 0x5a, sizeof(struct tutti_rsb));
		return 0;
	case DRM_IOCTL_TUTTI_EVENT:
		driver.event = *(struct drm_tutti_event *)args;
		driver.events_asked++;
		return 0;
	case DRM_IOCTL_TUTTI_WAIT:
		wait->events = driver.events;
		return -ETIME;
	}
	return 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	int error;

	va_start(list, request);
	error = take(request, va_arg(list, void *));
	va_end(list);
	if (error)
		errno = -error;
	return error ? -1 : 0;
}

static int open_driver(void **state)
{
	driver = (struct driver){.fd = memfd_create("driver", 0)};
	assert_true(driver.fd >= 0);
	assert_int_equal(ftruncate(driver.fd, 1ll << 44), 0);
	driver.status = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, driver.fd,
			     (off_t)DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_WINDOW, STATUS / 4096));
	assert_true(driver.status != MAP_FAILED);
	driver.status->state = TUTTI_STATE_RUNNING;
	driver.status->contract_max = ~0u;
	driver.status->boot_sequence = 1;
	return 0;
}

static int close_driver(void **state)
{
	munmap(driver.status, 4096);
	return close(driver.fd);
}

static struct tutti_device *open_device(void)
{
	char name[64];
	struct tutti_device_options options = {.name = name};
	struct tutti_device *device;

	snprintf(name, sizeof(name), "drm:/proc/self/fd/%d", driver.fd);
	assert_int_equal(tutti_device_open(&options, &device), 0);
	return device;
}

#define T(name, function) {name, function, open_driver, close_driver, NULL}

#endif

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=ioctl */
/*
 * The drm transport without a driver: a memfd is the device file, and the test replaces ioctl(). What the library asks
 * of the driver, and what it does when the driver refuses (SYS-40, SYS-42, PKT-07, PKT-10).
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <drm.h>

#include "queue/queue.h"
#include "transport/drm/drm.h"
#include "tutti/tutti_drm.h"

#define MEMORY	     (64u << 20)
#define STATUS	     0x2000u
#define COUNTERS     0x3000u
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
} driver;

static int take_query(struct drm_tutti_query *query)
{
	struct tutti_discovery discovery = {
		.magic = TUTTI_DISCOVERY_MAGIC, .bytes = sizeof(discovery), .window_bytes = WINDOW,
		.memory_bytes = MEMORY, .aperture_bytes = MEMORY, .max_queues = 8, .max_rsbs = 8, .sms = 4,
		.ring_packets_min = 64, .ring_packets_max = 4096, .shared_block_bytes = 2048, .msix_vectors = 4,
		.features = TUTTI_FEATURE_PCIE_ATOMICS | TUTTI_FEATURE_CARD_RINGS | TUTTI_FEATURE_DOORBELL_WAKES,
	};
	struct drm_tutti_state state = {.boot_sequence = 1};

	discovery.status.offset = STATUS;
	discovery.counters.offset = COUNTERS;
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
	if (driver.maps_max && driver.maps == driver.maps_max)
		return -ENOSPC;
	assert_true(driver.maps < MAPS);
	driver.map[driver.maps++] = *map;
	return 0;
}

static int take_queue_query(struct drm_tutti_queue_query *query)
{
	if (driver.query_forgets)
		*driver.query_forgets = 0;
	if (driver.query_fails)
		return driver.query_fails;
	query->errors = driver.errors;
	memcpy(query->fault, &driver.fault, sizeof(driver.fault));
	return 0;
}

static int take(unsigned long request, void *args)
{
	struct drm_tutti_bo_create *bo = args;
	struct drm_tutti_context_create *context = args;
	struct drm_tutti_queue_create *queue = args;
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
		return 0;
	case DRM_IOCTL_TUTTI_QUERY:
		return take_query(args);
	case DRM_IOCTL_TUTTI_BO_CREATE:
		assert_true(driver.buffers < MAPS);
		driver.offset[driver.buffers] = driver.end;
		bo->handle = BUFFER_FIRST + driver.buffers++;
		bo->mmap_offset = driver.end;
		driver.end += bo->size;
		return 0;
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
		driver.queue = *queue;
		queue->handle = QUEUE_FIRST + driver.queues++;
		queue->doorbell_offset = DRM_TUTTI_MMAP_OFFSET(DRM_TUTTI_MMAP_DOORBELL, queue->handle);
		return 0;
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

/* Bytes of address space: those of this program, which under user emulation is not all that the process has. */
static uint64_t address_space(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	uint64_t bytes = 0;

	assert_non_null(file);
	while (fscanf(file, "%lx-%lx %*[^\n]", &from, &to) == 2)
		bytes += to - from;
	fclose(file);
	assert_true(bytes > 0);
	return bytes;
}

static void opens_again_and_again(void **state)
{
	uint64_t before = 0;

	mallopt(M_ARENA_MAX, 1); /* or threads that happen to meet in malloc() get 64 MiB of address space */
	for (unsigned i = 0; i < 50; i++) {
		if (i == 2)
			before = address_space();
		driver.has_context = false;
		driver.maps = driver.buffers = 0;
		tutti_device_close(open_device());
	}
	assert_in_range(address_space(), 0, before + (1u << 20));
}

static void early_maps_wait_for_the_context(void **state)
{
	struct tutti_device *device = open_device();
	unsigned before = driver.maps;
	void *big;

	/* the print ring's pool; the part of card memory for code has a buffer, but is not visible to the card */
	assert_true(before > 0);
	assert_true(driver.buffers > before);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 16 << 20, &big), 0);
	assert_true(driver.maps > before);
	assert_in_range((uintptr_t)big, driver.map[before].address,
			driver.map[before].address + driver.map[before].bytes - 1);
	tutti_device_close(device);
}

static void *card_alloc(struct tutti_device *device, size_t bytes)
{
	void *address;

	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, bytes, &address), 0);
	return address;
}

/* What the process writes into each page of a mapping is in the buffer that the card was given for it. */
static void check_map(const struct drm_tutti_map *map)
{
	for (uint64_t at = 0; at < map->bytes; at += TUTTI_PAGE_SIZE) {
		uint64_t value = 0x5eed0000 + at / TUTTI_PAGE_SIZE, got = 0;
		off_t offset = (off_t)(driver.offset[map->bo - BUFFER_FIRST] + map->offset + at);

		*(volatile uint64_t *)(uintptr_t)(map->address + at) = value;
		assert_int_equal(pread(driver.fd, &got, sizeof(got), offset), sizeof(got));
		assert_int_equal(got, value);
	}
}

/* The maps from @first on are those of the range, one behind another. */
static void check_range(unsigned first, const void *address, size_t bytes)
{
	uint64_t at = (uintptr_t)address;

	for (unsigned i = first; i < driver.maps; i++) {
		assert_int_equal(driver.map[i].address, at);
		check_map(&driver.map[i]);
		at += driver.map[i].bytes;
	}
	assert_int_equal(at - (uintptr_t)address, bytes);
}

/* Memory is committed in chunks of 4 MiB, each a buffer. What is freed and used again may lie across two of them. */
static void card_and_process_see_the_same_memory(void **state)
{
	const size_t mib = 1u << 20;
	struct tutti_device *device = open_device();
	uint8_t *a = card_alloc(device, 3 * mib), *b = card_alloc(device, 3 * mib), *c;
	unsigned buffers = driver.buffers, maps;

	assert_ptr_equal(b, a + 3 * mib);
	assert_int_equal(tutti_memory_free(device, b), 0);
	maps = driver.maps;
	assert_ptr_equal(card_alloc(device, 3 * mib), b);
	assert_int_equal(driver.buffers, buffers);
	check_range(maps, b, 3 * mib);
	assert_int_equal(tutti_memory_free(device, b), 0);
	assert_int_equal(driver.unmapped.address, (uintptr_t)b);
	assert_int_equal(driver.unmapped.bytes, 3 * mib);
	assert_int_equal(tutti_memory_free(device, a), 0);
	maps = driver.maps;
	c = card_alloc(device, 7 * mib / 2);
	assert_ptr_equal(c, a);
	check_range(maps, c, 7 * mib / 2);
	assert_int_equal(tutti_memory_free(device, c), 0);
	/* If the second part cannot be mapped, the first one is unmapped again. */
	driver.maps_max = driver.maps + 1;
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 5 * mib, (void **)&c), -ENOSPC);
	assert_int_equal(driver.unmapped.address, (uintptr_t)a);
	assert_int_equal(driver.unmapped.bytes, 4 * mib);
	driver.maps_max = 0;
	maps = driver.maps;
	c = card_alloc(device, 5 * mib);
	check_range(maps, c, 5 * mib);
	assert_int_equal(driver.buffers, buffers);
	tutti_device_close(device);
}

static void queues_by_their_handles(void **state)
{
	struct tutti_device *device = open_device();
	struct tutti_queue_options options = {.flags = TUTTI_QUEUE_EXTENDED, .timeout_ms = UINT32_MAX};
	struct tutti_queue *queue, *other;

	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	assert_int_equal(driver.queue.context, CONTEXT);
	assert_int_equal(driver.queue.flags, TUTTI_QUEUE_EXTENDED);
	assert_int_equal(driver.queue.rsb, RSB_FIRST);
	assert_int_equal(driver.queue.ring, (uintptr_t)queue->ring);
	assert_int_equal(driver.queue.size_log2, 8);
	assert_int_equal(driver.queue.priority, 5);
	assert_int_equal(driver.queue.timeout_ms, 0);
	options = (struct tutti_queue_options){.ring = TUTTI_MEMORY_CARD};
	assert_int_equal(tutti_queue_create(device, &options, &other), 0);
	assert_true(other->flags & TUTTI_QUEUE_WRITE_COMBINED);
	assert_int_equal(driver.queue.flags, 0);
	assert_int_equal(driver.queue.rsb, 0);
	assert_int_equal(driver.queue.timeout_ms, 10000);
	tutti_queue_destroy(queue);
	tutti_queue_destroy(other);
	assert_int_equal(driver.queues_gone, 2);
	tutti_device_close(device);
}

#define SLEEPERS 3u
#define LONG_NS	 20000000000ull /* nobody sleeps for so long */

struct sleeper {
	pthread_t thread;
	struct tutti_device *device;
	uint64_t seen, ns;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *sleep_once(void *context)
{
	struct sleeper *me = context;

	me->device->transport->sleep(me->device, me->seen, now() + me->ns);
	return NULL;
}

static void sleepers_start(struct sleeper *sleeper, struct tutti_device *device, bool first_is_short)
{
	uint64_t seen = device->transport->interrupts(device);

	for (unsigned i = 0; i < SLEEPERS; i++) {
		sleeper[i] = (struct sleeper){
		    .device = device, .seen = seen, .ns = first_is_short && !i ? 2000000 : LONG_NS};
		assert_int_equal(pthread_create(&sleeper[i].thread, NULL, sleep_once, &sleeper[i]), 0);
		if (first_is_short && !i)
			usleep(500); /* so that it is most likely the one that looks for all */
	}
}

/* Interrupts and host threads wake all threads that sleep, also when the one that looks for all has left before. */
static void all_sleepers_are_woken(void **state)
{
	struct tutti_device *device = open_device();
	struct sleeper sleeper[SLEEPERS];
	struct tutti_queue *queue;
	const uint64_t one = 1;
	uint64_t start = now();

	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(driver.events_asked, 1);
	assert_int_equal(driver.event.handle, QUEUE_FIRST);
	assert_int_equal(driver.event.flags, DRM_TUTTI_EVENT_ERROR | DRM_TUTTI_EVENT_COMPLETION);
	for (unsigned round = 0; round < 300; round++) {
		sleepers_start(sleeper, device, round % 3 == 2);
		if (round % 2)
			usleep(round % 3 == 2 ? 4000 : 200);
		if (round % 5)
			assert_int_equal(write(driver.event.fd, &one, sizeof(one)), sizeof(one));
		else
			device_wake_all();
		for (unsigned i = 0; i < SLEEPERS; i++)
			pthread_join(sleeper[i].thread, NULL);
		assert_in_range(now() - start, 0, LONG_NS - 1);
	}
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

/* A barrier packet waits for the signal; the file is that of a fence behind it. Nothing is left when the driver refuses. */
static void sync_files(void **state)
{
	static const unsigned long refused[] = {DRM_IOCTL_SYNCOBJ_CREATE, DRM_IOCTL_TUTTI_FENCE,
						DRM_IOCTL_SYNCOBJ_TRANSFER, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD};
	struct tutti_device *device = open_device();
	union tutti_packet nothing = {.barrier = {.header = tutti_header(TUTTI_PACKET_BARRIER_AND, 0, 0, 0)}};
	struct tutti_queue *queue;
	tutti_signal_t signal;
	int fd = -1;

	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	assert_int_equal(tutti_signal_create(device, 1, &signal), 0);
	assert_int_equal(tutti_queue_submit(queue, &nothing), 0);
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, &fd), 0);
	assert_int_equal(fd, 12345);
	assert_int_equal(queue->ring[1].barrier.header & TUTTI_HEADER_TYPE, TUTTI_PACKET_BARRIER_AND);
	assert_int_equal(queue->ring[1].barrier.dependency[0], (uintptr_t)signal);
	assert_int_equal(driver.fence.handle, QUEUE_FIRST);
	assert_int_equal(driver.fence.packet, 2);
	assert_int_equal(driver.fence.point, 1);
	assert_int_equal(driver.transfer.src_handle, driver.fence.syncobj);
	assert_int_equal(driver.transfer.src_point, 1);
	assert_int_equal(driver.file.handle, driver.transfer.dst_handle);
	assert_int_equal(driver.file.flags, DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE);
	assert_int_equal(driver.syncobjs, 2);
	assert_int_equal(driver.syncobjs_gone, 6);
	for (unsigned i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		driver.refuses = refused[i];
		driver.syncobjs = driver.syncobjs_gone = 0;
		assert_int_equal(tutti_signal_to_sync_file(queue, signal, &fd), -EDQUOT);
		assert_int_equal(driver.syncobjs_gone, (2u << driver.syncobjs) - 2);
	}
	driver.refuses = 0;
	assert_int_equal(tutti_signal_to_sync_file(queue, NULL, &fd), -EINVAL);
	assert_int_equal(tutti_signal_to_sync_file(queue, signal, NULL), -EINVAL);
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

static unsigned reported;

static void on_error(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	reported++;
}

/* An error is reported once; neither a driver that cannot be asked nor a reset is taken for another one. */
static void errors_are_told_once(void **state)
{
	struct tutti_device *device = open_device();
	struct tutti_queue_options options = {.error = on_error};
	struct tutti_queue *queue;

	reported = 0;
	assert_int_equal(tutti_queue_create(device, &options, &queue), 0);
	driver.fault = (struct tutti_fault){.code = TUTTI_ERROR_MEMORY_FAULT};
	driver.errors = 1;
	driver.events = 1;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(tutti_queue_error(queue, NULL), TUTTI_ERROR_MEMORY_FAULT);
	assert_int_equal(reported, 1);
	assert_int_equal(tutti_queue_reset(queue), 0);
	driver.query_fails = -ENOENT;
	driver.events = 2; /* another queue's */
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(tutti_queue_error(queue, NULL), 0);
	driver.query_fails = 0;
	driver.events = 3;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 1);
	driver.errors = 2;
	driver.events = 4;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 2);
	assert_int_equal(tutti_queue_reset(queue), 0);
	driver.errors = 1; /* the answer that another thread got before the second error, and comes with only now */
	driver.events = 5;
	assert_int_equal(tutti_queue_poll(queue), 0);
	driver.errors = 2;
	driver.events = 6;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_int_equal(reported, 2);
	assert_int_equal(tutti_queue_error(queue, NULL), 0);
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

struct waiter {
	struct tutti_device *device;
	tutti_signal_t signal;
	int result;
};

static void *wait_forever(void *context)
{
	struct waiter *me = context;

	me->result = tutti_signal_wait(me->device, me->signal, TUTTI_EQ, 0, TUTTI_WAIT_FOREVER, NULL);
	return NULL;
}

/* Nothing in the window shows that the driver has ended a context: it says so when it is asked about a queue. */
static void waits_end_with_the_context(void **state)
{
	struct waiter waiter = {.device = open_device()};
	struct timespec until;
	struct tutti_queue *queue;
	const uint64_t one = 1;
	pthread_t thread;

	assert_int_equal(tutti_queue_create(waiter.device, NULL, &queue), 0);
	driver.status->asleep = 1; /* or the missing heartbeat would end the wait */
	assert_int_equal(tutti_signal_create(waiter.device, 1, &waiter.signal), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_forever, &waiter), 0);
	usleep(2000);
	driver.query_fails = -EIO;
	__atomic_fetch_add(&driver.events, 1, __ATOMIC_RELEASE);
	assert_int_equal(write(driver.event.fd, &one, sizeof(one)), sizeof(one));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	assert_int_equal(pthread_timedjoin_np(thread, NULL, &until), 0);
	assert_int_equal(waiter.result, -EIO);
	tutti_queue_destroy(queue);
	tutti_device_close(waiter.device);
}

/* The driver gives the same answer about a queue that another thread is destroying. */
static void a_queue_that_goes_is_no_lost_context(void **state)
{
	struct tutti_device *device = open_device();
	struct drm_card *card = drm_card_of(device);
	struct tutti_queue *queue;

	assert_int_equal(tutti_queue_create(device, NULL, &queue), 0);
	driver.query_forgets = &card->queue[queue->id];
	driver.query_fails = -EIO;
	driver.events = 1;
	assert_int_equal(tutti_queue_poll(queue), 0);
	assert_false(device_dead(device));
	card->queue[queue->id] = QUEUE_FIRST;
	driver.query_forgets = NULL;
	driver.query_fails = 0;
	tutti_queue_destroy(queue);
	tutti_device_close(device);
}

static void rsb_is_read_to_an_address(void **state)
{
	struct tutti_device *device = open_device();
	struct tutti_rsb_object *rsb;
	struct tutti_rsb table;
	uint8_t want[sizeof(table)];

	assert_int_equal(tutti_rsb_create(device, false, &rsb), 0);
	assert_int_equal(tutti_rsb_read(rsb, &table), 0);
	memset(want, 0x5a, sizeof(want));
	assert_memory_equal(&table, want, sizeof(want));
	assert_int_equal(tutti_rsb_destroy(rsb), 0);
	tutti_device_close(device);
}

#define T(name, function) {name, function, open_driver, close_driver, NULL}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T("SYS-42: opening and closing leaves no address space taken", opens_again_and_again),
		T("SYS-42: what is mapped before the context exists is mapped with it", early_maps_wait_for_the_context),
		T("SYS-42: card and process see the same memory where freed memory is used again",
		  card_and_process_see_the_same_memory),
		T("SYS-42, PKT-07: queues by their handles; rings in write-combined memory", queues_by_their_handles),
		T("SYS-56: interrupts and host threads wake all threads that sleep", all_sleepers_are_woken),
		T("SYS-56: a sync_file follows a signal", sync_files),
		T("SYS-42: an error of a queue is told once", errors_are_told_once),
		T("SYS-42: who waits learns that the driver has ended the context", waits_end_with_the_context),
		T("SYS-42: a queue that is being destroyed is no lost context", a_queue_that_goes_is_no_lost_context),
		T("PKT-10: an RSB is read to an address", rsb_is_read_to_an_address),
	};

	return cmocka_run_group_tests_name("drm transport", tests, NULL, NULL);
}

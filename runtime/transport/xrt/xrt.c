// SPDX-License-Identifier: MIT
/*
 * A card behind Xilinx XRT: a kernel with the registers of tutti/xrt_card.h. Control window and card memory are one
 * buffer object that the host maps, host memory is another; the rest is as on a card without a kernel driver. XRT's C
 * interface has no interrupts, so waiting threads look again after pauses that grow.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/say.h"
#include "transport/bare/bare.h"
#include "transport/bare/boot.h"
#include "transport/xrt/library.h"
#include "tutti/xrt_card.h"

#define HOST_MIB_DEFAULT 256u
#define HOST_MIB_LEAST	 16u
#define HOST_MIB_MAX	 65536u
#define TABLE_SHARE	 32u /* one part in so many of host memory holds page tables */
#define ENABLE_NS	 5000000000ull
#define PAUSE_FIRST_NS	 10000ull
#define PAUSE_LAST_NS	 1000000ull

/** struct buffer - a buffer object of XRT, mapped. */
struct buffer {
	void *object;
	uint8_t *map;
	uint64_t address; /* of the device */
	size_t bytes;
};

/**
 * struct xrt - the transport's own state.
 * @lock: XRT's calls for one kernel are not made by two threads at once
 * @polls: what counts as interrupts: each pause of a waiting thread is one; changed with @sleep_lock held
 * @woken: for threads in a pause
 */
struct xrt {
	struct bare bare;
	const struct xrt_library *library;
	void *device, *kernel;
	struct buffer bar, host;
	pthread_mutex_t lock, sleep_lock;
	pthread_cond_t woken;
	uint64_t polls;
};

static struct xrt *xrt_of(const struct tutti_device *device)
{
	return device->private;
}

/* XRT has printed its own text; errno may be left at 0. */
static int failed(const char *what)
{
	int error = errno ? -errno : -EIO;

	say("device xrt: %s failed: %s (XRT's own message is above)", what, tutti_strerror(error));
	return error;
}

static int register_read(struct xrt *xrt, uint32_t offset, uint32_t *value)
{
	int error;

	pthread_mutex_lock(&xrt->lock);
	errno = 0;
	error = xrt->library->xrtKernelReadRegister(xrt->kernel, offset, value);
	pthread_mutex_unlock(&xrt->lock);
	return error ? failed("xrtKernelReadRegister") : 0;
}

static int register_write(struct xrt *xrt, uint32_t offset, uint32_t value)
{
	int error;

	pthread_mutex_lock(&xrt->lock);
	errno = 0;
	error = xrt->library->xrtKernelWriteRegister(xrt->kernel, offset, value);
	pthread_mutex_unlock(&xrt->lock);
	return error ? failed("xrtKernelWriteRegister") : 0;
}

static int pair_read(struct xrt *xrt, uint32_t offset, uint64_t *value)
{
	uint32_t low, high;
	int error = register_read(xrt, offset, &low);

	if (!error)
		error = register_read(xrt, offset + 4, &high);
	if (!error)
		*value = (uint64_t)high << 32 | low;
	return error;
}

static int pair_write(struct xrt *xrt, uint32_t offset, uint64_t value)
{
	int error = register_write(xrt, offset, (uint32_t)value);

	return error ? error : register_write(xrt, offset + 4, (uint32_t)(value >> 32));
}

/* A decimal number of at most @most; false for anything else. */
/* "xrt", "xrt:2" or "xrt:0000:65:00.1" */
static int open_device(struct xrt *xrt, const char *name)
{
	const char *which = name ? strchr(name, ':') : NULL;
	uint64_t index = 0;

	which = which && which[1] ? which + 1 : "0";
	errno = 0;
	if (strpbrk(which, ":."))
		xrt->device = xrt->library->xrtDeviceOpenByBDF(which);
	else if (number_read(which, UINT32_MAX, &index))
		xrt->device = xrt->library->xrtDeviceOpen((unsigned)index);
	else {
		say("device xrt: '%s' is neither the number of a card nor a PCI address", which);
		return -EINVAL;
	}
	if (xrt->device)
		return 0;
	if (!errno || errno == ENOENT)
		errno = ENODEV;
	return failed("opening the card");
}

static int open_kernel(struct xrt *xrt)
{
	const char *path = getenv("TUTTI_XCLBIN");
	xrt_uuid uuid;

	errno = 0;
	if (path && *path && xrt->library->xrtDeviceLoadXclbinFile(xrt->device, path))
		return failed("loading TUTTI_XCLBIN");
	if (xrt->library->xrtDeviceGetXclbinUUID(xrt->device, uuid)) {
		say("device xrt: no xclbin is loaded; TUTTI_XCLBIN names one that holds the kernel '%s'",
		    TUTTI_XRT_KERNEL);
		return errno > 0 ? -errno : -ENODEV;
	}
	xrt->kernel = xrt->library->xrtPLKernelOpenExclusive(xrt->device, uuid, TUTTI_XRT_KERNEL);
	return xrt->kernel ? 0 : failed("opening the kernel '" TUTTI_XRT_KERNEL "'");
}

static int check_kernel(struct xrt *xrt, uint64_t *bar_bytes)
{
	uint32_t magic = 0, version = 0;
	int error = register_read(xrt, TUTTI_XRT_MAGIC, &magic);

	if (!error)
		error = register_read(xrt, TUTTI_XRT_VERSION, &version);
	if (error)
		return error;
	if (magic != TUTTI_XRT_MAGIC_VALUE || version != TUTTI_XRT_VERSION_VALUE) {
		say("device xrt: the kernel is not a Tutti card of this version (magic 0x%x, version %u)", magic,
		    version);
		return -EPROTO;
	}
	error = pair_read(xrt, TUTTI_XRT_BAR_BYTES, bar_bytes);
	if (!error && (!*bar_bytes || *bar_bytes % TUTTI_PAGE_SIZE || *bar_bytes > SIZE_MAX / 2)) {
		say("device xrt: the kernel wants %llu bytes for its window and memory, which cannot be",
		    (unsigned long long)*bar_bytes);
		return -EPROTO;
	}
	return error;
}

static int buffer_open(struct xrt *xrt, struct buffer *buffer, size_t bytes, uint64_t flags, int argument)
{
	const char *what = argument == TUTTI_XRT_ARG_BAR ? "card memory" : "host memory";
	int group;

	errno = 0;
	group = xrt->library->xrtKernelArgGroupId(xrt->kernel, argument);
	if (group < 0)
		return failed("xrtKernelArgGroupId");
	buffer->bytes = bytes;
	buffer->object = xrt->library->xrtBOAlloc(xrt->device, bytes, flags, (uint32_t)group);
	if (!buffer->object) {
		say("device xrt: no %zu MiB of %s that the %s reaches directly; has the shell P2P and host memory enabled?",
		    bytes >> 20, what, argument == TUTTI_XRT_ARG_BAR ? "host" : "card");
		return failed("xrtBOAlloc");
	}
	buffer->map = xrt->library->xrtBOMap(buffer->object);
	if (!buffer->map)
		return failed("xrtBOMap");
	buffer->address = xrt->library->xrtBOAddress(buffer->object);
	if ((buffer->address | (uintptr_t)buffer->map) % TUTTI_PAGE_SIZE || (uintptr_t)buffer->map + bytes > TUTTI_VA_END) {
		say("device xrt: %s is at device address 0x%llx and pointer %p, which the card cannot map", what,
		    (unsigned long long)buffer->address, (void *)buffer->map);
		return -EPROTO;
	}
	return 0;
}

static void buffer_close(struct xrt *xrt, struct buffer *buffer)
{
	if (buffer->object)
		xrt->library->xrtBOFree(buffer->object);
	*buffer = (struct buffer){0};
}

static int enable(struct xrt *xrt)
{
	uint64_t deadline = time_ns() + ENABLE_NS;
	uint32_t state = TUTTI_XRT_OFF;
	int error = pair_write(xrt, TUTTI_XRT_BAR, xrt->bar.address);

	if (!error)
		error = pair_write(xrt, TUTTI_XRT_HOST, xrt->host.address);
	if (!error)
		error = pair_write(xrt, TUTTI_XRT_HOST_BYTES, xrt->host.bytes);
	if (!error)
		error = register_write(xrt, TUTTI_XRT_ENABLE, 1);
	while (!error && state == TUTTI_XRT_OFF) {
		error = register_read(xrt, TUTTI_XRT_STATE, &state);
		if (!error && state == TUTTI_XRT_OFF && time_ns() > deadline)
			error = -ETIMEDOUT;
	}
	if (!error && state != TUTTI_XRT_READY)
		error = -EIO;
	if (error)
		say("device xrt: the card does not take its buffers (state %u): %s", state, tutti_strerror(error));
	return error;
}

static int host_bytes(size_t *bytes)
{
	uint64_t mib = HOST_MIB_DEFAULT;
	int error = number_from_environment("TUTTI_XRT_HOST_MIB", HOST_MIB_LEAST, HOST_MIB_MAX, &mib);

	*bytes = (size_t)mib << 20;
	return error;
}

static size_t table_bytes(const struct xrt *xrt)
{
	return xrt->host.bytes / TABLE_SHARE & ~(size_t)(TUTTI_PAGE_SIZE - 1);
}

/* What a bank held before is of no use to anybody, and page tables have to begin empty. */
static int open_buffers(struct xrt *xrt)
{
	uint64_t bar_bytes;
	size_t bytes;
	int error = check_kernel(xrt, &bar_bytes);

	if (!error)
		error = host_bytes(&bytes);
	if (!error)
		error = buffer_open(xrt, &xrt->bar, bar_bytes, XRT_P2P, TUTTI_XRT_ARG_BAR);
	if (!error)
		error = buffer_open(xrt, &xrt->host, bytes, XRT_HOST_ONLY, TUTTI_XRT_ARG_HOST);
	if (error)
		return error;
	memset(xrt->host.map, 0, xrt->host.bytes);
	context_init_at(&xrt->bare.context, 1, xrt->host.map, xrt->host.address, table_bytes(xrt));
	return enable(xrt);
}

/* The card is off before its memory goes: what was in flight must not write to what the next program gets. */
static void xrt_free(struct tutti_device *device)
{
	struct xrt *xrt = xrt_of(device);

	if (xrt->kernel) {
		if (xrt->bar.object)
			register_write(xrt, TUTTI_XRT_ENABLE, 0);
		buffer_close(xrt, &xrt->bar);
		if (xrt->host.object)
			context_fini(&xrt->bare.context);
		buffer_close(xrt, &xrt->host);
		xrt->library->xrtKernelClose(xrt->kernel);
	}
	if (xrt->device)
		xrt->library->xrtDeviceClose(xrt->device);
	pthread_cond_destroy(&xrt->woken);
	pthread_mutex_destroy(&xrt->sleep_lock);
	pthread_mutex_destroy(&xrt->lock);
	free(xrt);
	device->private = NULL;
}

static int open_card(struct tutti_device *device, const struct tutti_device_options *options)
{
	struct xrt *xrt = xrt_of(device);
	const char *name = options->name && *options->name ? options->name : getenv("TUTTI_DEVICE");
	int error = open_device(xrt, name);

	if (!error)
		error = open_kernel(xrt);
	if (!error)
		error = open_buffers(xrt);
	if (error)
		return error;
	device->bar = xrt->bar.map;
	error = boot_check_card(device, xrt->bar.bytes);
	if (error)
		return error;
	channel_init(device);
	error = boot_card(device, options);
	if (error)
		channel_fini(device);
	return error;
}

static void init_locks(struct xrt *xrt)
{
	pthread_condattr_t attribute;

	pthread_mutex_init(&xrt->lock, NULL);
	pthread_mutex_init(&xrt->sleep_lock, NULL);
	pthread_condattr_init(&attribute);
	pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
	pthread_cond_init(&xrt->woken, &attribute);
	pthread_condattr_destroy(&attribute);
}

static int xrt_open(struct tutti_device *device, const struct tutti_device_options *options)
{
	const struct xrt_library *library;
	struct xrt *xrt;
	int error = xrt_library_open(&library);

	if (error)
		return error;
	xrt = calloc(1, sizeof(*xrt));
	if (!xrt)
		return -ENOMEM;
	xrt->library = library;
	init_locks(xrt);
	device->private = xrt;
	error = open_card(device, options);
	if (error)
		xrt_free(device);
	return error;
}

static int xrt_start(struct tutti_device *device, const struct tutti_print_ring *print_ring)
{
	return context_create(device, &xrt_of(device)->bare.context, print_ring);
}

static void xrt_stop(struct tutti_device *device)
{
	context_destroy(device, &xrt_of(device)->bare.context);
}

static void xrt_close(struct tutti_device *device)
{
	channel_fini(device);
	xrt_free(device);
}

static void xrt_kick(struct tutti_device *device)
{
	if (register_write(xrt_of(device), TUTTI_XRT_KICK, 1))
		device_fail(device, "XRT does not reach the card any more");
}

static uint64_t xrt_interrupts(struct tutti_device *device)
{
	return __atomic_load_n(&xrt_of(device)->polls, __ATOMIC_RELAXED);
}

/* Pauses grow while one thread goes on waiting, so that short kernels end soon and long ones cost little. */
static uint64_t next_pause(uint64_t now)
{
	static __thread uint64_t last, pause;

	pause = now - last < 4 * PAUSE_LAST_NS ? 2 * pause : PAUSE_FIRST_NS;
	if (pause > PAUSE_LAST_NS)
		pause = PAUSE_LAST_NS;
	last = now;
	return pause;
}

static void xrt_wake(struct tutti_device *device)
{
	struct xrt *xrt = xrt_of(device);

	pthread_mutex_lock(&xrt->sleep_lock);
	__atomic_fetch_add(&xrt->polls, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&xrt->woken);
	pthread_mutex_unlock(&xrt->sleep_lock);
}

static void xrt_sleep(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	struct xrt *xrt = xrt_of(device);
	uint64_t now = time_ns(), end = now + next_pause(now);
	struct timespec until;

	if (end > deadline)
		end = deadline;
	until = (struct timespec){.tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u)};
	pthread_mutex_lock(&xrt->sleep_lock);
	while (xrt_interrupts(device) == seen)
		if (pthread_cond_timedwait(&xrt->woken, &xrt->sleep_lock, &until))
			__atomic_fetch_add(&xrt->polls, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&xrt->sleep_lock);
}

static int xrt_reserve(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	const struct tutti_discovery *known = &device->known;
	struct xrt *xrt = xrt_of(device);
	size_t tables = table_bytes(xrt);

	if (pool == TUTTI_MEMORY_CARD) {
		uint64_t reached =
		    known->aperture_bytes < known->memory_bytes ? known->aperture_bytes : known->memory_bytes;

		*base = device->bar + known->aperture + known->reserved_bytes;
		*bytes = reached - known->reserved_bytes;
		return 0;
	}
	*base = xrt->host.map + tables;
	*bytes = xrt->host.bytes - tables;
	return 0;
}

static int xrt_map(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool, unsigned access)
{
	struct xrt *xrt = xrt_of(device);
	uint64_t offset = (uint64_t)((uintptr_t)address - (uintptr_t)xrt->host.map), bus;

	if (pool == TUTTI_MEMORY_CARD)
		bus = (uint64_t)((uint8_t *)address - (device->bar + device->known.aperture));
	else if (offset < xrt->host.bytes && bytes <= xrt->host.bytes - offset)
		bus = TUTTI_BUS_HOST | (xrt->host.address + offset);
	else {
		say("device xrt: XRT lets a card reach only memory that it has allocated itself; use tutti_memory_alloc()");
		return -EOPNOTSUPP;
	}
	return context_map(&xrt->bare.context, address, bus, bytes, access);
}

static int xrt_unmap(struct tutti_device *device, void *address, size_t bytes)
{
	return context_unmap(device, &xrt_of(device)->bare.context, address, bytes);
}

/* Loading XRT is not harmless, so a card is only looked for on request. */
static bool xrt_present(void)
{
	const char *path = getenv("TUTTI_XCLBIN");

	return path && *path;
}

const struct transport transport_xrt = {
    .name = "xrt",
    .write_combined = true,
    .present = xrt_present,
    .open = xrt_open,
    .start = xrt_start,
    .stop = xrt_stop,
    .close = xrt_close,
    .kick = xrt_kick,
    .interrupts = xrt_interrupts,
    .sleep = xrt_sleep,
    .wake = xrt_wake,
    .reserve = xrt_reserve,
    .map = xrt_map,
    .unmap = xrt_unmap,
    BARE_REQUESTS,
};

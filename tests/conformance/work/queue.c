// SPDX-License-Identifier: MIT
/* Queues, waits, errors, events, fences, RSBs. */
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rig.h"

static int create(struct rig *rig, struct drm_tutti_queue_create args)
{
	return call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args);
}

static bool works(struct rig *rig)
{
	CHECK(rig_queue(rig));
	for (unsigned i = 0; i < 40; i++) /* more than the ring has */
		CHECK(rig_works(rig));
	return true;
}

static bool progress(struct rig *rig)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_PROGRESS, .value = 3};

	CHECK(rig_queue(rig));
	wait.handle = rig->queue;
	wait.deadline = now_ns() + SECOND / 20;
	EXPECT(ETIME, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	for (unsigned i = 0; i < 3; i++)
		CHECK(rig_works(rig));
	wait.value = 3;
	wait.events = 0;
	wait.deadline = now_ns() + PATIENCE;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(3, wait.value);
	return true;
}

static bool wait_time(struct rig *rig)
{
	uint64_t start, took = UINT64_MAX;

	CHECK(rig_memory(rig));
	rig_signal(rig, 0, 1);
	for (unsigned i = 0; i < 5 && took >= 3 * SECOND; i++) { /* a busy machine may be late */
		start = now_ns();
		EXPECT(ETIME, rig_wait(rig, 0, 0, SECOND / 5));
		took = now_ns() - start;
		CHECK(took >= SECOND / 5);
	}
	CHECK(took < 3 * SECOND);
	return true;
}

static void bad_packet(struct rig *rig)
{
	union tutti_packet *slot = (union tutti_packet *)(void *)(rig->memory + RING_AT) +
				   (rig->write_index++ & ((1u << RING_LOG2) - 1));

	memset(slot, 0, sizeof(*slot));
	__atomic_store_n(&slot->word[0], 0x0077u, __ATOMIC_RELEASE);
	rig_ring(rig);
}

/* A bad packet stops its queue only, the fault says which one, and after a reset the queue goes on behind it. */
static bool error_and_reset(struct rig *rig)
{
	struct rig other = {.fd = -1};
	struct drm_tutti_queue_query query = {0};
	struct drm_tutti_handle handle;
	struct tutti_fault fault;
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_PROGRESS, .value = 100};

	CHECK(rig_queue(rig) && rig_queue(&other));
	CHECK(rig_works(rig));
	bad_packet(rig);
	wait.handle = rig->queue;
	wait.deadline = now_ns() + PATIENCE;
	EXPECT(ECANCELED, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(1, wait.events);
	query.handle = rig->queue;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	memcpy(&fault, query.fault, sizeof(fault));
	EXPECT(TUTTI_ERROR_PACKET, query.stopped);
	EXPECT(TUTTI_ERROR_PACKET, fault.code);
	EXPECT(1, fault.packet);
	CHECK(rig_works(&other));
	rig_close(&other);
	handle = (struct drm_tutti_handle){.handle = rig->queue};
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_RESET, &handle));
	CHECK(rig_works(rig));
	return true;
}

/* The card touches nothing that is not mapped for the context. */
static bool unmapped_address(struct rig *rig)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_PROGRESS, .value = 100};
	struct drm_tutti_queue_query query = {0};
	struct tutti_fault fault;

	CHECK(rig_queue(rig));
	rig_signal(rig, 0, 1);
	rig_fill(rig, 5 * BASE, 1, PAGE, 0);
	rig_ring(rig);
	wait.handle = query.handle = rig->queue;
	wait.deadline = now_ns() + PATIENCE;
	EXPECT(ECANCELED, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	memcpy(&fault, query.fault, sizeof(fault));
	EXPECT(TUTTI_ERROR_MEMORY_FAULT, fault.code);
	EXPECT(5 * BASE, fault.address);
	return true;
}

/* Two processes, the same address, different memory. */
static bool isolation(struct rig *rig)
{
	struct rig other = {.fd = -1};

	CHECK(rig_queue(rig) && rig_queue(&other));
	for (unsigned i = 0; i < 8; i++) {
		memset(other.memory + DATA_AT, 0x11, PAGE);
		CHECK(rig_works(rig));
		for (unsigned j = 0; j < PAGE; j++)
			CHECK(other.memory[DATA_AT + j] == 0x11);
		CHECK(rig_works(&other));
	}
	rig_close(&other);
	return true;
}

static bool rsbs(struct rig *rig)
{
	struct drm_tutti_rsb_create create_args = {0};
	struct drm_tutti_rsb_invalidate invalidate = {.mask = 0x100};
	struct drm_tutti_queue_create queue;
	struct drm_tutti_rsb_read read = {0};
	struct drm_tutti_handle handle;
	uint8_t table[sizeof(struct tutti_rsb)];

	CHECK(rig_queue(rig));
	create_args.context = rig->context;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &create_args));
	invalidate.handle = read.handle = handle.handle = create_args.handle;
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_RSB_INVALIDATE, &invalidate));
	invalidate.mask = 0xff;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_INVALIDATE, &invalidate));
	read.pointer = (uintptr_t)table;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_READ, &read));
	read.pointer = 8;
	EXPECT(EFAULT, call(rig->fd, DRM_IOCTL_TUTTI_RSB_READ, &read));
	queue = queue_args(rig);
	queue.ring = BASE + 8 * PAGE;
	queue.flags = TUTTI_QUEUE_EXTENDED;
	queue.rsb = create_args.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &queue));
	handle.pad = 0;
	EXPECT(EBUSY, call(rig->fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &handle));
	handle.handle = queue.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	handle.handle = create_args.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &handle));
	return true;
}

static bool exhaustion(struct rig *rig)
{
	unsigned counts[2] = {0};

	for (unsigned again = 0; again < 2; again++) {
		int error = 0;

		CHECK(rig_queue(rig));
		for (; !error && counts[again] < 1000; counts[again]++)
			error = create(rig, queue_args(rig));
		EXPECT(ENOSPC, error);
		CHECK(rig_works(rig));
		rig_close(rig);
	}
	EXPECT(counts[0], counts[1]);
	return true;
}

static bool busy_context(struct rig *rig)
{
	struct drm_tutti_handle handle = {0};

	CHECK(rig_queue(rig));
	handle.handle = rig->context;
	EXPECT(EBUSY, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &handle));
	handle.handle = rig->queue;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	handle.handle = rig->context;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &handle));
	return true;
}

static bool reset_running(struct rig *rig)
{
	CHECK(rig_queue(rig) && rig_works(rig));
	EXPECT(EINVAL, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
	CHECK(rig_works(rig));
	return true;
}

static const struct subtest queue_tests[] = {
	{"SYS-24: packets run, the ring wraps", works},
	{"SYS-26: progress", progress},
	{"SYS-26: a wait ends in time", wait_time},
	{"SYS-24 SYS-28: an error stops one queue, a reset goes on", error_and_reset},
	{"SYS-24: reset of a queue that runs", reset_running},
	{"SYS-23 SYS-27: unmapped address", unmapped_address},
	{"SYS-27: two contexts, the same address", isolation},
	{"SYS-25 PKT-10: reference state buffers", rsbs},
	{"SYS-24: queues run out and come back", exhaustion},
	{"SYS-23: context in use", busy_context},
	{0},
};

void queue_group(void)
{
	subtests(queue_tests);
}

// SPDX-License-Identifier: MIT
/* Close, destroy, kill and reset at bad moments. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static bool close_with_work(struct rig *rig)
{
	for (unsigned i = 0; i < 20; i++) {
		CHECK(rig_queue(rig));
		for (unsigned j = 0; j < 8; j++)
			rig_fill(rig, BASE + DATA_AT, j, 8 * PAGE, j);
		rig_ring(rig);
		rig_close(rig);
	}
	CHECK(rig_queue(rig) && rig_works(rig));
	return true;
}

/*
 * The old mapping is plain memory after the queue has been destroyed, and does not reach the next queue of that number.
 */
static bool stale_doorbell(struct rig *rig)
{
	struct drm_tutti_handle handle = {0};
	struct drm_tutti_queue_create args;
	volatile uint64_t *old;

	CHECK(rig_queue(rig));
	CHECK(rig_works(rig));
	handle.handle = rig->queue;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	old = rig->doorbell;
	*old = 0x5555;
	args = queue_args(rig);
	memset(rig->memory, 0, PAGE);
	for (unsigned i = 0; i < 1u << RING_LOG2; i++)
		rig->memory[RING_AT + 64 * i] = TUTTI_PACKET_INVALID;
	rig->write_index = 0;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	rig->doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)args.doorbell_offset);
	CHECK(rig->doorbell != MAP_FAILED);
	CHECK(*old == 0x5555);
	CHECK(rig_works(rig));
	CHECK(*old == 0x5555);
	munmap((void *)old, PAGE);
	return true;
}

static bool killed_clients(struct rig *rig)
{
	for (unsigned i = 0; i < 20; i++) {
		pid_t child = fork();

		CHECK(child >= 0);
		if (!child) {
			struct rig mine = {.fd = -1};

			if (rig_queue(&mine))
				for (;;)
					rig_works(&mine);
			_exit(1);
		}
		usleep(5000 + 3000 * i);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	CHECK(rig_queue(rig) && rig_works(rig));
	return true;
}

static bool open_close(struct rig *rig)
{
	for (unsigned i = 0; i < 500; i++) {
		CHECK(rig_open(rig));
		rig_close(rig);
	}
	for (unsigned i = 0; i < 50; i++) {
		CHECK(rig_queue(rig));
		rig_close(rig);
	}
	return true;
}

/* The slot of a destroyed queue is used again: the new queue's first packet has the same doorbell value as the old's. */
static bool reused_slot(struct rig *rig)
{
	for (unsigned i = 0; i < 100; i++) {
		struct drm_tutti_queue_create args = queue_args(rig);

		if (rig->fd < 0)
			CHECK(rig_queue(rig));
		EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
		munmap((void *)rig->doorbell, PAGE);
		for (unsigned j = 0; j < 1u << RING_LOG2; j++)
			rig->memory[RING_AT + 64 * j] = TUTTI_PACKET_INVALID;
		args = queue_args(rig);
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
		rig->queue = args.handle;
		rig->write_index = 0;
		rig->doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd,
				     (off_t)args.doorbell_offset);
		CHECK(rig->doorbell != MAP_FAILED && rig_works(rig));
	}
	return true;
}

static const uint32_t endless[] = {0x0000006f}; /* 1: j 1b */

/* Runs until it is stopped. */
static bool start_endless(struct rig *rig)
{
	CHECK(rig_queue(rig));
	rig_code(rig, endless, sizeof(endless));
	rig_signal(rig, 0, 1);
	rig_dispatch(rig, 8, 0, 0);
	rig_ring(rig);
	usleep(20000);
	return true;
}

/* Nobody waits for work that never ends, not even the close. */
static bool close_endless(struct rig *rig)
{
	struct rig other = {.fd = -1};
	bool quick = false; /* Did at least one close take little time? A busy machine may delay the others. */
	uint64_t start;

	for (unsigned i = 0; i < 5; i++) {
		CHECK(start_endless(rig) && rig_queue(&other) && rig_works(&other));
		start = now_ns();
		rig_close(rig);
		quick |= now_ns() - start < 5 * SECOND;
		CHECK(rig_works(&other));
		rig_close(&other);
	}
	CHECK(quick);
	return true;
}

static bool destroy_endless(struct rig *rig)
{
	CHECK(start_endless(rig));
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	EXPECT(1, *(int64_t *)(void *)(rig->memory + SIGNAL_AT));
	return true;
}

/** struct sleeper - a thread in a call that does not return by itself. */
struct sleeper {
	pthread_t thread;
	struct rig *rig;
	uint32_t kind;
	int error;
};

static void *sleep_in_call(void *data)
{
	struct sleeper *sleeper = data;
	struct drm_tutti_wait wait = {.kind = sleeper->kind, .deadline = now_ns() + PATIENCE, .value = 1 << 20};

	wait.handle = sleeper->kind == DRM_TUTTI_WAIT_SIGNAL ? sleeper->rig->bo : sleeper->rig->queue;
	if (sleeper->kind == DRM_TUTTI_WAIT_SIGNAL)
		wait.offset = SIGNAL_AT + 5 * sizeof(struct tutti_signal);
	sleeper->error = call(sleeper->rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait);
	return NULL;
}

static bool start_sleeper(struct sleeper *sleeper)
{
	rig_signal(sleeper->rig, 5, 1);
	CHECK(!pthread_create(&sleeper->thread, NULL, sleep_in_call, sleeper));
	CHECK(soon_in_call(getpid()));
	return true;
}

/* While one thread sleeps in a call, opens, closes, other calls and other waits do not have to wait for it. */
static bool stuck_call(struct rig *rig)
{
	struct sleeper sleeper = {.rig = rig, .kind = DRM_TUTTI_WAIT_SIGNAL};
	uint64_t start;

	CHECK(rig_queue(rig) && start_sleeper(&sleeper));
	start = now_ns();
	for (unsigned i = 0; i < 20; i++) {
		struct rig other = {.fd = -1};

		CHECK(rig_queue(&other) && rig_works(&other) && rig_works(rig));
		rig_close(&other);
	}
	CHECK(now_ns() - start < PATIENCE);
	rig_signal(rig, 5, 1 << 20);
	CHECK(!pthread_join(sleeper.thread, NULL));
	EXPECT(0, sleeper.error);
	return true;
}

/* Destroying a queue ends a wait for it. */
static bool destroyed_under_wait(struct rig *rig)
{
	struct sleeper sleeper = {.rig = rig, .kind = DRM_TUTTI_WAIT_PROGRESS};

	CHECK(rig_queue(rig) && start_sleeper(&sleeper));
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	CHECK(!pthread_join(sleeper.thread, NULL));
	EXPECT(ECANCELED, sleeper.error);
	return true;
}

/* The pages that a wait reads stay, whatever happens to the handle. */
static bool closed_under_wait(struct rig *rig)
{
	struct sleeper sleeper = {.rig = rig, .kind = DRM_TUTTI_WAIT_SIGNAL};
	struct drm_gem_close gone = {0};

	CHECK(rig_queue(rig) && start_sleeper(&sleeper));
	gone.handle = rig->bo;
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone));
	usleep(20000);
	rig_signal(rig, 5, 1 << 20);
	CHECK(!pthread_join(sleeper.thread, NULL));
	EXPECT(0, sleeper.error);
	return true;
}

/* The last descriptor of the file is closed during a wait: the wait goes on, and everything is released at its end. */
static bool file_closed_under_wait(struct rig *rig)
{
	struct sleeper sleeper = {.rig = rig, .kind = DRM_TUTTI_WAIT_SIGNAL};

	CHECK(rig_queue(rig) && start_sleeper(&sleeper));
	close(rig->fd);
	usleep(20000);
	rig_signal(rig, 5, 1 << 20);
	CHECK(!pthread_join(sleeper.thread, NULL));
	EXPECT(0, sleeper.error);
	rig->fd = -1;
	return true;
}

/* Objects are released in all orders. */
static bool destroy_orders(struct rig *rig)
{
	for (unsigned order = 0; order < 6; order++) {
		struct drm_gem_close gone = {0};

		CHECK(rig_queue(rig) && rig_works(rig));
		gone.handle = rig->bo;
		if (order & 1)
			EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone));
		if (order & 2)
			munmap((void *)rig->doorbell, PAGE), rig->doorbell = NULL;
		if (order & 4)
			munmap(rig->memory, RIG_BYTES), rig->memory = NULL;
		EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
		rig_close(rig);
	}
	return true;
}

static const struct subtest life_tests[] = {
	{"SYS-24: open and close", open_close},
	{"REL-06 SYS-24: close with work in flight", close_with_work},
	{"REL-06 SYS-28: close with work that never ends", close_endless},
	{"SYS-24: destroy with work that never ends", destroy_endless},
	{"SYS-24 SYS-27: stale doorbell", stale_doorbell},
	{"REL-07 SYS-24: a reused doorbell's first packet", reused_slot},
	{"REL-05: killed clients", killed_clients},
	{"SYS-28: one stuck call blocks nobody", stuck_call},
	{"SYS-26: queue destroyed under a wait", destroyed_under_wait},
	{"SYS-26: buffer closed under a wait", closed_under_wait},
	{"SYS-26: file closed under a wait", file_closed_under_wait},
	{"REL-06: orders of giving things back", destroy_orders},
	{0},
};

void life_group(void)
{
	subtests(life_tests);
}

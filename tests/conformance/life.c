// SPDX-License-Identifier: MIT
/* Close, destroy, kill and reset at bad moments. */
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

/* The old mapping is plain memory after the queue is gone: a later owner of the slot hears nothing. */
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

static bool after_fork(struct rig *rig)
{
	int status;
	pid_t child;

	CHECK(rig_queue(rig));
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		*rig->doorbell = 1; /* not mapped here */
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	CHECK(rig_works(rig));
	return true;
}

/* A reset revokes everything of old files; new ones work at once. */
static bool reset(struct rig *rig)
{
	struct drm_tutti_control control = {.op = DRM_TUTTI_CONTROL_RESET};
	struct drm_tutti_handle handle = {0};
	struct rig fresh = {.fd = -1};
	uint64_t end = now_ns() + 20 * SECOND;
	uint32_t bo;

	CHECK(rig_queue(rig));
	CHECK(rig_works(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTROL, &control));
	rig_signal(rig, 0, 1);
	EXPECT(EIO, rig_wait(rig, 0, 0, 10 * SECOND));
	handle.handle = rig->queue;
	EXPECT(EIO, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	EXPECT(EIO, bo_create(rig->fd, PAGE, 0, &bo, NULL));
	*rig->doorbell = 0x77; /* neither a signal nor the card */
	CHECK(*rig->doorbell == 0x77);
	while (!rig_queue(&fresh) && now_ns() < end) {
		rig_close(&fresh);
		usleep(20000);
	}
	CHECK(rig_works(&fresh));
	CHECK(*rig->doorbell == 0x77);
	rig_close(rig);
	CHECK(rig_works(&fresh));
	rig_close(&fresh);
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

const struct subtest life_tests[] = {
	{"open and close", open_close},
	{"close with work in flight", close_with_work},
	{"stale doorbell", stale_doorbell},
	{"killed clients", killed_clients},
	{"doorbell after fork", after_fork},
	{"device reset", reset},
	{0},
};

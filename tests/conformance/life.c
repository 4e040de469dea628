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
	*rig->doorbell = 1; /* no SIGBUS, at no moment of the reset */
	while (!rig_queue(&fresh) && now_ns() < end) {
		rig_close(&fresh);
		usleep(20000);
	}
	/* The new queue has the old one's page: what is stored through the old mapping stays in a dummy page. */
	*rig->doorbell = 0x77;
	CHECK(rig_works(&fresh));
	CHECK(*rig->doorbell == 0x77);
	rig_close(rig);
	CHECK(rig_works(&fresh));
	rig_close(&fresh);
	return true;
}

static bool tell_driver(const char *what)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/tutti/%s", what);
	file = fopen(path, "w");
	if (!file)
		return false;
	fputs(pci_address, file);
	return !fclose(file);
}

/* With open file, mappings of all kinds and work in flight; then the card comes back. */
static bool unplug_round(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	volatile uint32_t *card;
	uint64_t offset;
	uint32_t bo;

	CHECK(rig_queue(rig) && rig_works(rig));
	EXPECT(0, bo_create(rig->fd, 16 * PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset));
	card = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(card != MAP_FAILED);
	card[0] = 7;
	for (unsigned i = 0; i < 8; i++)
		rig_fill(rig, BASE + DATA_AT, i, 8 * PAGE, i);
	rig_ring(rig);
	CHECK(tell_driver("unbind"));
	*rig->doorbell = 5;
	CHECK(*rig->doorbell == 5 && !*rig->asleep && !card[0]);
	card[0] = 9;
	rig->memory[0] = 1;
	CHECK(card[0] == 9);
	rig_signal(rig, 0, 1);
	EXPECT(ENODEV, rig_wait(rig, 0, 0, SECOND));
	EXPECT(ENODEV, bo_create(rig->fd, PAGE, 0, &bo, NULL));
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, rig->fd, (off_t)rig->doorbell_offset) == MAP_FAILED);
	CHECK(tell_driver("bind"));
	CHECK(rig_queue(&fresh) && rig_works(&fresh));
	munmap((void *)card, 16 * PAGE);
	rig_close(rig);
	CHECK(rig_works(&fresh));
	rig_close(&fresh);
	return true;
}

static bool unplug(struct rig *rig)
{
	for (unsigned i = 0; pci_address && i < 10; i++)
		CHECK(unplug_round(rig));
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
	{"hot-unplug (with --pci only)", unplug},
	{0},
};

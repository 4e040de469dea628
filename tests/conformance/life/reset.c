// SPDX-License-Identifier: MIT
/* A device reset revokes everything, waits for nobody, and leaks nothing. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rig.h"

static bool happen(void)
{
	EXPECT(0, device_reset());
	return true;
}

static void *wait_long(void *data)
{
	struct rig *rig = data;
	static int errors[2];

	errors[0] = rig_wait(rig, 5, 0, PATIENCE);
	return &errors[0];
}

static bool waiter(struct rig *rig)
{
	pthread_t thread;
	uint64_t start;
	void *error;

	SKIP_UNLESS(!getuid(), "only root resets the card");
	CHECK(rig_queue(rig));
	rig_signal(rig, 5, 1);
	CHECK(!pthread_create(&thread, NULL, wait_long, rig));
	usleep(50000);
	start = now_ns();
	CHECK(happen() && !pthread_join(thread, &error));
	EXPECT(EIO, *(int *)error);
	CHECK(now_ns() - start < PATIENCE);
	return true;
}

/* Card memory survives any number of reloads of the firmware, in the old mapping; nobody else sees it. */
static bool card_buffer(struct rig *rig)
{
	struct rig fresh = {.fd = -1};
	volatile uint32_t *words, *theirs;
	uint64_t offset;
	uint32_t bo;

	SKIP_UNLESS(!getuid(), "only root resets the card");
	CHECK(rig_queue(rig));
	EXPECT(0, bo_create(rig->fd, 16 * PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset));
	words = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(words != MAP_FAILED);
	words[0] = 7;
	for (unsigned i = 0; i < 5; i++) /* one more than the limit for failures in ten seconds each */
		CHECK(happen());
	CHECK(rig_queue(&fresh));
	EXPECT(7, words[0]);
	words[0] = 9;
	for (unsigned i = 0; i < 8; i++) {
		EXPECT(0, bo_create(fresh.fd, 16 * PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset));
		theirs = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fresh.fd, (off_t)offset);
		CHECK(theirs != MAP_FAILED && !theirs[0]);
		words[0] = 9;
		EXPECT(0, theirs[0]);
		munmap((void *)theirs, 16 * PAGE);
	}
	EXPECT(9, words[0]);
	munmap((void *)words, 16 * PAGE);
	rig_close(&fresh);
	return true;
}

/* Work that never ends does not delay a reset. */
static bool endless(struct rig *rig)
{
	static const uint32_t loop[] = {0x0000006f};
	uint64_t start;

	SKIP_UNLESS(!getuid(), "only root resets the card");
	CHECK(rig_queue(rig));
	rig_code(rig, loop, sizeof(loop));
	rig_dispatch(rig, 8, 0, 0);
	rig_ring(rig);
	start = now_ns();
	CHECK(happen());
	CHECK(now_ns() - start < PATIENCE);
	return true;
}

static bool busy_client(void)
{
	for (;;) {
		struct rig rig = {.fd = -1};

		for (unsigned i = 0; i < 10 && rig_fresh(&rig); i++)
			if (!rig_works(&rig))
				break;
		rig_close(&rig);
	}
	return true;
}

/* One reset after the other while clients work; afterwards nothing has been lost. */
static bool many(struct rig *rig)
{
	struct rig old[8];
	pid_t children[2];

	SKIP_UNLESS(!getuid(), "only root resets the card");
	for (unsigned i = 0; i < 2; i++) {
		children[i] = fork();
		if (!children[i])
			_exit(busy_client());
	}
	for (unsigned i = 0; i < 8; i++) {
		old[i] = (struct rig){.fd = -1};
		rig_fresh(&old[i]);
		if (device_reset()) {
			rig_close(rig);
			return fail(__FILE__, __LINE__, "device_reset()", i, 8);
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	CHECK(rig_fresh(rig));
	for (unsigned i = 0; i < 8; i++)
		rig_close(&old[i]);
	CHECK(rig_works(rig));
	return true;
}

static const struct subtest reset_tests[] = {
	{"SYS-26 SYS-28: a reset ends waits", waiter},
	{"SYS-22 SYS-28: card memory of before a reset", card_buffer},
	{"SYS-28: a reset under work that never ends", endless},
	{"SYS-28: many resets under load", many},
	{0},
};

void reset_group(void)
{
	stale_calls("from before a reset", happen, EIO);
	subtests(reset_tests);
}

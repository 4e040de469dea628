// SPDX-License-Identifier: MIT
/* Clients are killed at random moments, again and again; afterwards nothing may be missing. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

#define CLIENTS 4u /* so many at once that some are always inside the driver when one is killed */

/** struct census - how many objects of each kind can still be created. */
struct census {
	unsigned contexts, queues, rsbs, megabytes;
};

static unsigned count(int fd, unsigned long request, void *args, size_t bytes)
{
	uint8_t copy[ARGS_MAX];
	unsigned number = 0;

	do {
		memcpy(copy, args, bytes);
	} while (++number < 4096 && !call(fd, request, copy));
	return number;
}

/* Creates as many as possible, and destroys them. */
static bool take_census(struct census *census)
{
	struct drm_tutti_context_create context = {0};
	struct drm_tutti_bo_create bo = {.size = 1 << 20, .placement = DRM_TUTTI_PLACE_CARD};
	struct drm_tutti_rsb_create rsb = {.placement = TUTTI_RSB_MEMORY};
	struct rig rig = {.fd = -1};
	struct drm_tutti_queue_create queue;

	CHECK(rig_queue(&rig));
	rsb.context = rig.context;
	call_find(DRM_IOCTL_TUTTI_QUEUE_CREATE)->fill(&rig, &queue);
	census->queues = count(rig.fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &queue, sizeof(queue));
	census->contexts = count(rig.fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &context, sizeof(context));
	census->rsbs = count(rig.fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb, sizeof(rsb));
	census->megabytes = count(rig.fd, DRM_IOCTL_TUTTI_BO_CREATE, &bo, sizeof(bo));
	rig_close(&rig);
	return true;
}

static bool same_census(const struct census *before)
{
	struct census after;

	CHECK(take_census(&after));
	EXPECT(before->queues, after.queues);
	EXPECT(before->contexts, after.contexts);
	EXPECT(before->rsbs, after.rsbs);
	EXPECT(before->megabytes, after.megabytes);
	return true;
}

static long available_kib(void)
{
	FILE *file = fopen("/proc/meminfo", "r");
	char line[80];
	long kib = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib;
}

/* Everything that a client can do and own, until it is killed. */
static void client(void)
{
	for (;;) {
		struct rig rig = {.fd = -1};
		uint8_t args[ARGS_MAX];
		uint64_t offset;
		uint32_t bo;

		if (!rig_queue(&rig))
			_exit(1);
		bo_create(rig.fd, 64 * PAGE, DRM_TUTTI_PLACE_CARD, &bo, &offset);
		bo_map(rig.fd, rig.context, bo, 3 * BASE, 64 * PAGE);
		for (const struct call *it = calls; it->name; it++)
			if (it->fill(&rig, args))
				call(rig.fd, it->request, args);
		for (unsigned i = 0; i < 4; i++)
			rig_works(&rig);
		for (unsigned i = 0; i < 8; i++)
			rig_fill(&rig, 3 * BASE, i, 64 * PAGE, i);
		rig_ring(&rig);
		rig_close(&rig);
	}
}

/* One of CLIENTS that work at once is killed, and another one starts. */
static bool kill_in_turn(pid_t *child, unsigned kills)
{
	for (unsigned i = 0; i < kills + CLIENTS; i++) {
		pid_t *victim = &child[i < CLIENTS ? i : random32() % CLIENTS];
		int status;

		if (*victim) {
			usleep(random32() % 8000);
			kill(*victim, SIGKILL);
			CHECK(waitpid(*victim, &status, 0) == *victim);
			CHECK(WIFSIGNALED(status)); /* and the card has not refused it */
		}
		*victim = fork();
		CHECK(*victim >= 0);
		if (!*victim)
			client();
	}
	return true;
}

static bool kill_some(unsigned kills)
{
	pid_t child[CLIENTS] = {0};
	bool good = kill_in_turn(child, kills);

	for (unsigned i = 0; i < CLIENTS; i++) {
		if (child[i] > 0 && !kill(child[i], SIGKILL))
			waitpid(child[i], NULL, 0);
	}
	return good;
}

static bool kill_storm(struct rig *rig)
{
	struct census before;
	long kib;

	CHECK(take_census(&before) && rig_queue(rig));
	CHECK(kill_some(2 * CLIENTS)); /* warm: caches and slabs are filled */
	kib = available_kib();
	CHECK(kill_some(rounds));
	CHECK(rig_works(rig));
	rig_close(rig);
	CHECK(same_census(&before));
	CHECK(kib - available_kib() < 24 * 1024);
	return true;
}

static bool open_close(struct rig *rig)
{
	struct census before;
	long kib;

	CHECK(take_census(&before));
	kib = available_kib();
	for (unsigned i = 0; i < 100 * rounds; i++) {
		CHECK(rig_open(rig));
		rig_close(rig);
	}
	CHECK(same_census(&before));
	CHECK(kib - available_kib() < 24 * 1024);
	return true;
}

/* In both kinds of memory by turns; some are touched, so that there is something to lose. */
static bool create_free(struct rig *rig)
{
	struct census before;
	long kib;

	CHECK(take_census(&before) && rig_open(rig));
	kib = available_kib();
	for (unsigned i = 0; i < 1000 * rounds; i++) {
		uint64_t bytes = (1 + i % 16) * PAGE, offset;
		struct drm_gem_close close = {0};
		uint8_t *memory;

		EXPECT(0, bo_create(rig->fd, bytes, i & 1, &close.handle, &offset));
		if (i % 64 < 2) {
			memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
			CHECK(memory != MAP_FAILED);
			CHECK(!memory[0] && !memory[bytes - 1]);
			memory[0] = memory[bytes - 1] = 1;
			munmap(memory, bytes);
		}
		EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &close));
	}
	rig_close(rig);
	CHECK(same_census(&before));
	CHECK(kib - available_kib() < 24 * 1024);
	return true;
}

/*
 * Creates until nothing is left: the last call returns the right errno, nothing else changes, and everything can be
 * released.
 */
static bool exhaustion(struct rig *rig)
{
	struct census first;

	CHECK(rig_queue(rig) && take_census(&first));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(same_census(&first));
		CHECK(rig_works(rig));
	}
	CHECK(first.contexts > 4 && first.queues > 4 && first.rsbs > 4 && first.megabytes > 4);
	return true;
}

static bool out_of(struct rig *rig, unsigned long request)
{
	const struct call *it = call_find(request);
	uint8_t args[ARGS_MAX], before[ARGS_MAX];
	int error = 0;

	CHECK(rig_queue(rig));
	for (unsigned i = 0; !error && i < 4096; i++) {
		CHECK(it->fill(rig, args));
		memcpy(before, args, sizeof(before));
		error = call(rig->fd, request, args);
	}
	EXPECT(ENOSPC, error);
	CHECK(!memcmp(before, args, call_bytes(it)));
	CHECK(rig_works(rig));
	return true;
}

static bool out_of_contexts(struct rig *rig)
{
	return out_of(rig, DRM_IOCTL_TUTTI_CONTEXT_CREATE);
}

static bool out_of_queues(struct rig *rig)
{
	return out_of(rig, DRM_IOCTL_TUTTI_QUEUE_CREATE);
}

static bool out_of_rsbs(struct rig *rig)
{
	return out_of(rig, DRM_IOCTL_TUTTI_RSB_CREATE);
}

/* Every queue a card offers is served, all at once. */
static bool all_queues(struct rig *rig)
{
	struct rig many[64];
	unsigned n = 0;
	bool good = true;

	for (; n < 64; n++) {
		many[n] = (struct rig){.fd = -1};
		if (!rig_queue(&many[n])) {
			rig_close(&many[n]);
			break;
		}
	}
	for (unsigned i = 0; i < n; i++) {
		rig_signal(&many[i], 0, 1);
		rig_fill(&many[i], BASE + DATA_AT, i, PAGE, 0);
		rig_ring(&many[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		good &= !rig_wait(&many[i], 0, 0, PATIENCE) && many[i].memory[DATA_AT] == i;
		rig_close(&many[i]);
	}
	CHECK(n > 2 && good);
	return true;
}

static const struct subtest storm_tests[] = {
	{"SYS-24: all queues are served", all_queues},
	{"SYS-23: contexts run out", out_of_contexts},
	{"SYS-24: queues run out", out_of_queues},
	{"SYS-25: RSBs run out", out_of_rsbs},
	{"SYS-22 SYS-24: all of everything, again and again", exhaustion},
	{"REL-05: open and close, again and again", open_close},
	{"REL-05 SYS-22: buffers made and freed, again and again", create_free},
	{"REL-05: kill -9 at random moments, of several clients at work, again and again", kill_storm},
	{0},
};

void storm_group(void)
{
	subtests(storm_tests);
}

// SPDX-License-Identifier: MIT
/*
 * Behind each kick and each interrupt there is somebody who looks by himself now and then, so that a lost one does no harm.
 * Here it is shown that they are not always lost: a number of things happen in less time than it would take if each of them
 * had to wait for the next look. However slow the machine is, that has to succeed once in two minutes; without kicks or
 * interrupts it never does.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

#define MS 1000000ull
#define ROUNDS 20u

/* ROUNDS rounds in a row take less than @ns each, on the average. */
static bool quick(struct rig *rig, bool (*round)(struct rig *rig), uint64_t ns)
{
	uint64_t end = now_ns() + PATIENCE, start;

	do {
		start = now_ns();
		for (unsigned i = 0; i < ROUNDS; i++)
			if (!round(rig))
				return false;
		if (now_ns() - start < ROUNDS * ns)
			return true;
	} while (now_ns() < end);
	return fail(__FILE__, __LINE__, "milliseconds for each round", (long)((now_ns() - start) / ROUNDS / MS), (long)(ns / MS));
}

/* The card sleeps, and its doorbell alone does not wake it. The driver looks for doorbells twice a second. */
static bool wake_card(struct rig *rig)
{
	struct drm_tutti_kick kick = {0};
	uint64_t end = now_ns() + PATIENCE;

	while (!*rig->asleep && now_ns() < end)
		usleep(100);
	CHECK(*rig->asleep);
	rig_signal(rig, 1, 1);
	rig_fill(rig, BASE + DATA_AT, 1, 64, 1);
	*rig->doorbell = rig->write_index - 1;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_KICK, &kick));
	while (((volatile struct tutti_signal *)(void *)(rig->memory + SIGNAL_AT))[1].value > 0 && now_ns() < end)
		usleep(100);
	EXPECT(0, (long)((volatile struct tutti_signal *)(void *)(rig->memory + SIGNAL_AT))[1].value);
	return true;
}

static bool kick(struct rig *rig)
{
	CHECK(rig_queue(rig));
	return quick(rig, wake_card, 200 * MS);
}

/* The card sleeps and nobody kicks it: the driver finds that a doorbell was rung, and kicks the card. */
static bool found(struct rig *rig)
{
	uint64_t end = now_ns() + PATIENCE;

	CHECK(rig_queue(rig) && rig_works(rig));
	while (!*rig->asleep && now_ns() < end)
		usleep(100);
	CHECK(*rig->asleep);
	rig_signal(rig, 1, 1);
	rig_fill(rig, BASE + DATA_AT, 1, 64, 1);
	*rig->doorbell = rig->write_index - 1;
	EXPECT(0, rig_wait(rig, 1, 0, PATIENCE));
	return true;
}

/* A packet, when somebody has had the time to fall asleep. */
static void *later(void *data)
{
	struct rig *rig = data;

	usleep(20000);
	rig_fill(rig, BASE + DATA_AT, 1, 64, 1);
	rig_ring(rig);
	return NULL;
}

static bool with_packet(struct rig *rig, int (*wait)(struct rig *rig))
{
	pthread_t thread;
	int error;

	rig_signal(rig, 1, 1);
	CHECK(!pthread_create(&thread, NULL, later, rig));
	error = wait(rig);
	pthread_join(thread, NULL);
	EXPECT(0, error);
	return true;
}

static int for_signal(struct rig *rig)
{
	return rig_wait(rig, 1, 0, PATIENCE);
}

static uint64_t packets;

static int for_progress(struct rig *rig)
{
	return rig_progress(rig, ++packets, PATIENCE);
}

static int for_fence(struct rig *rig)
{
	struct drm_tutti_fence fence = {.handle = rig->queue, .point = 1, .packet = ++packets};
	struct drm_syncobj_timeline_wait wait = {
		.points = (uintptr_t)&fence.point, .handles = (uintptr_t)&fence.syncobj, .count_handles = 1,
		.timeout_nsec = (int64_t)(now_ns() + PATIENCE),
	};
	struct drm_syncobj_destroy gone = {0};
	int error;

	fence.syncobj = gone.handle = (uint32_t)syncobj_create(rig->fd);
	error = call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &fence);
	if (!error)
		error = call(rig->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
	call(rig->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone);
	return error;
}

static bool signal_round(struct rig *rig)
{
	return with_packet(rig, for_signal);
}

static bool progress_round(struct rig *rig)
{
	return with_packet(rig, for_progress);
}

static bool fence_round(struct rig *rig)
{
	return with_packet(rig, for_fence);
}

/* A call that needs an answer of the firmware. The driver looks for answers twenty times a second. */
static bool answer_round(struct rig *rig)
{
	struct drm_tutti_counters args = {0};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_COUNTERS, &args));
	return true;
}

static bool answer(struct rig *rig)
{
	CHECK(rig_queue(rig));
	return quick(rig, answer_round, 35 * MS);
}

/* What the firmware says unasked is looked for twice a second. */
static bool error_round(struct rig *rig)
{
	rig_publish(rig_slot(rig), 0x77);
	rig_ring(rig);
	EXPECT(ECANCELED, rig_progress(rig, 1ull << 62, PATIENCE));
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
	return true;
}

static bool error(struct rig *rig)
{
	CHECK(rig_queue(rig));
	return quick(rig, error_round, 200 * MS);
}

/* Who waits, or has a fence, is looked after ten times a second. */
static bool signal(struct rig *rig)
{
	CHECK(rig_queue(rig));
	return quick(rig, signal_round, 80 * MS);
}

static bool progress(struct rig *rig)
{
	packets = 0;
	CHECK(rig_queue(rig));
	return quick(rig, progress_round, 80 * MS);
}

static bool fence(struct rig *rig)
{
	packets = 0;
	CHECK(rig_queue(rig));
	return quick(rig, fence_round, 80 * MS);
}

void prompt_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-24 SYS-30: a kick wakes the card", kick},
		{"SYS-24 SYS-28: the driver finds a doorbell for which nobody kicks", found},
		{"SYS-26: an interrupt ends a wait for a signal", signal},
		{"SYS-26: an interrupt ends a wait for progress", progress},
		{"SYS-26: an interrupt signals a fence", fence},
		{"SYS-08: an interrupt brings the firmware's answer", answer},
		{"SYS-08 SYS-26: an interrupt tells of an error", error},
		{0},
	};

	subtests(tests);
}

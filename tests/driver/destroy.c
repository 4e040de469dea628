// SPDX-License-Identifier: MIT
/* Somebody destroys a queue, which may take long; others wait for it, or kill what it belongs to. */
#include <linux/sync_file.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "driver.h"

/* ---- fences ---- */

static int status(int file)
{
	struct sync_fence_info fence = {0};
	struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&fence};

	return ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : fence.status;
}

/* The signal in memory says that the packet is done; the queue is destroyed before anybody has looked at its fences. */
static bool done_before(struct rig *rig)
{
	struct pollfd ready = {.events = POLLIN};
	bool done, destroyed;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	ready.fd = sync_file_of(rig, 1);
	CHECK(ready.fd >= 0);
	delay("fences", 5000);
	done = rig_works(rig);
	destroyed = !queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY);
	delay("fences", 0);
	CHECK(done && destroyed);
	EXPECT(1, poll(&ready, 1, PATIENCE_MS));
	EXPECT(1, status(ready.fd));
	close(ready.fd);
	return true;
}

static void *destroy_queue(void *data)
{
	queue_call(data, DRM_IOCTL_TUTTI_QUEUE_DESTROY);
	return NULL;
}

/* ---- waiting ---- */

static void on_alarm(int number)
{
	(void)number;
}

/* Of one wait for the first packet, which call() would begin again after a signal; 0 or errno. */
static int wait_once(struct rig *rig, uint64_t ns)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_PROGRESS, .handle = rig->queue, .value = 1,
				      .deadline = now_ns() + ns};

	return ioctl(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait) ? errno : 0;
}

static int wait_until_alarm(struct rig *rig)
{
	struct sigaction action = {.sa_handler = on_alarm}, old;
	struct itimerval soon = {.it_value = {.tv_usec = 200000}, .it_interval = {.tv_usec = 200000}}, never = {0};
	int error;

	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &soon, NULL);
	error = wait_once(rig, PATIENCE);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	return error;
}

/* The thread that destroys the queue gets no signals: it is the waiting one that they are for. */
static bool destroyed_in_thread(pthread_t *thread, const char *point, unsigned ms, struct rig *rig)
{
	sigset_t signals, old;
	bool there;

	sigemptyset(&signals);
	sigaddset(&signals, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &signals, &old);
	there = delayed_thread(thread, point, ms, destroy_queue, rig);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return there;
}

/* For the first half of eight seconds a wait with a deadline has time, then one that a signal ends. */
static bool waits_end(struct rig *rig)
{
	pthread_t thread;
	uint64_t start, deadline_took, signal_took;
	int deadline_error, signal_error;
	bool there;

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig));
	there = destroyed_in_thread(&thread, "queue_destroy", 8000, rig);
	start = now_ns();
	deadline_error = wait_once(rig, SECOND / 5);
	deadline_took = now_ns() - start;
	signal_error = wait_until_alarm(rig);
	signal_took = now_ns() - start;
	pthread_join(thread, NULL);
	CHECK(there);
	EXPECT(ETIME, deadline_error);
	EXPECT(EINTR, signal_error);
	CHECK(deadline_took < 3 * SECOND && signal_took < 6 * SECOND);
	return true;
}

/* ---- the context is killed ---- */

static bool queue_with_rsb(struct rig *rig, struct rig *second)
{
	struct drm_tutti_rsb_create rsb = {.context = rig->context};
	struct drm_tutti_queue_create args = queue_args(rig);

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	args.flags = TUTTI_QUEUE_EXTENDED;
	args.rsb = rsb.handle;
	args.ring = BASE + SPARE_RING_AT;
	args.read_index = BASE + SPARE_INDEX_AT;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	*second = (struct rig){.fd = rig->fd, .queue = args.handle};
	return true;
}

/* The RSB has no queue any more, although the call that has destroyed its queue has not returned. */
static bool killed_in_destroy(struct rig *rig)
{
	struct rig other = {.fd = -1}, second;
	pthread_t thread;
	bool there, killed;
	long resets;
	char text[32];

	SKIP_UNLESS(have_delays(), NEED_DELAYS);
	CHECK(rig_queue(rig) && queue_with_rsb(rig, &second) && rig_queue(&other) && rig_works(&other));
	snprintf(text, sizeof(text), "context %u", queue_asid(rig->queue_number));
	resets = card_number("resets");
	there = delayed_thread(&thread, "off_card", 4000, destroy_queue, &second);
	killed = card_write("card_reset", text);
	pthread_join(thread, NULL);
	CHECK(there && killed && rig_works(&other));
	EXPECT(EIO, bo_map(rig->fd, rig->context, rig->bo, 2 * BASE, PAGE));
	EXPECT(resets, card_number("resets"));
	rig_close(&other);
	return fresh_works();
}

const struct driver_test destroy_tests[] = {
	{"SYS-26: the fence of a packet that is done succeeds although its queue is destroyed", done_before},
	{"SYS-26: a wait for a queue that is being destroyed ends by its deadline, or a signal", waits_end},
	{"SYS-28: a context is killed while a queue with an RSB is destroyed", killed_in_destroy},
	{0},
};

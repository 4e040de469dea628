// SPDX-License-Identifier: MIT
/* What a wait compares, what it answers, and that it is an interrupt that ends it. */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

/* ---- what is compared ---- */

static bool holds(uint32_t condition, int64_t seen, int64_t wanted)
{
	switch (condition) {
	case DRM_TUTTI_EQ: return seen == wanted;
	case DRM_TUTTI_NE: return seen != wanted;
	case DRM_TUTTI_LT: return seen < wanted;
	default: return seen >= wanted;
	}
}

/* Each condition with each pair of values around zero and at both ends. */
static bool compares(int fd, uint32_t bo, volatile struct tutti_signal *signal)
{
	static const int64_t values[] = {INT64_MIN, -2, -1, 0, 1, 2, INT64_MAX};

	for (unsigned i = 0; i < 7 * 7 * 4; i++) {
		int64_t seen = values[i % 7], wanted = values[i / 7 % 7];
		struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = bo, .offset = PAGE, .value = wanted,
					      .condition = i / 49, .deadline = 1};

		signal->value = seen;
		EXPECT(holds(wait.condition, seen, wanted) ? 0 : ETIME, call(fd, DRM_IOCTL_TUTTI_WAIT, &wait));
		CHECK(wait.value == seen && !wait.events);
	}
	return true;
}

/* In memory that the card has mapped, that it has not, and in card memory. Signed, and as the whole word. */
static bool conditions(struct rig *rig)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		uint32_t placement = kind == 2 ? DRM_TUTTI_PLACE_CARD : DRM_TUTTI_PLACE_SYSTEM, bo;
		uint64_t offset;
		uint8_t *page;

		CHECK(rig->fd >= 0 || rig_queue(rig));
		EXPECT(0, bo_create(rig->fd, 2 * PAGE, placement, &bo, &offset));
		if (kind)
			EXPECT(0, bo_map(rig->fd, rig->context, bo, (2 + kind) * BASE, 2 * PAGE));
		page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
		CHECK(page != MAP_FAILED && compares(rig->fd, bo, (void *)(page + PAGE)));
		munmap(page, 2 * PAGE);
	}
	return true;
}

/* A split signal is what the host has put in less what the card has taken out. */
static bool split(struct rig *rig)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_SIGNAL, .offset = SIGNAL_AT, .value = 7, .deadline = 1};
	struct tutti_signal *signal;

	CHECK(rig_queue(rig));
	signal = rig_signal(rig, 0, 10);
	signal->card_done = 3;
	wait.handle = rig->bo;
	EXPECT(ETIME, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(10, (long)wait.value);
	signal->flags = TUTTI_SIGNAL_SPLIT;
	wait.value = 7;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(7, (long)wait.value);
	return true;
}

/* Progress is what was asked for, or more; of a stopped queue as well, as far as it has come. */
static bool progress(struct rig *rig)
{
	struct drm_tutti_queue_query query = {0};
	struct tutti_fault fault;
	union tutti_packet *slot;

	CHECK(rig_queue(rig) && rig_works(rig) && rig_works(rig));
	EXPECT(0, rig_progress(rig, 2, PATIENCE));
	EXPECT(0, rig_progress(rig, 0, 0));
	EXPECT(0, rig_progress(rig, 1, 0));
	EXPECT(ETIME, rig_progress(rig, 3, 0));
	slot = rig_slot(rig);
	rig_publish(slot, 0x77);
	rig_ring(rig);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(0, rig_progress(rig, 2, 0));
	EXPECT(ECANCELED, rig_progress(rig, 3, 0));
	query.handle = rig->queue;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	EXPECT(2, (long)query.progress);
	EXPECT(1, (long)query.errors);
	return true;
}

/* Whatever a wait is for, and whether or not it is so, it says how many errors the file has been told of. */
static bool tells_events(struct rig *rig)
{
	struct drm_tutti_wait wait;
	struct tutti_fault fault;

	CHECK(rig_queue(rig));
	for (unsigned errors = 1; errors <= 2; errors++) {
		rig_publish(rig_slot(rig), 0x77);
		rig_ring(rig);
		EXPECT(0, queue_error(rig, &fault));
		for (unsigned i = 0; i < 6; i++) {
			wait = (struct drm_tutti_wait){.kind = i / 2, .deadline = 1, .value = i % 2 ? -5 : 0};
			wait.handle = wait.kind == DRM_TUTTI_WAIT_SIGNAL ? rig->bo : rig->queue;
			if (wait.kind == DRM_TUTTI_WAIT_SIGNAL)
				wait.offset = SIGNAL_AT;
			if (wait.kind == DRM_TUTTI_WAIT_INTERRUPT)
				wait.handle = 0;
			rig_signal(rig, 0, 0);
			call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait);
			EXPECT(errors, (long)wait.events);
		}
		EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
	}
	return true;
}

/* ---- interrupts ---- */

#define TRIES 40u /* somebody waits by then, or will never */

/* Interrupts and errors of the file so far. */
static int64_t interrupts(int fd)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_INTERRUPT, .value = -1, .deadline = 1};

	return call(fd, DRM_IOCTL_TUTTI_WAIT, &wait) ? -1 : wait.value;
}

/* Of one vector alone there is nothing to be told apart: it is the channel's, too. */
static bool has_vectors(int fd)
{
	struct drm_tutti_state state = {0};
	struct drm_tutti_query query = {DRM_TUTTI_QUERY_STATE, sizeof(state), (uintptr_t)&state};

	return !call(fd, DRM_IOCTL_TUTTI_QUERY, &query) && state.vectors > 2;
}

/* A packet whose end nobody waits for: its signal is only looked at. */
static bool quietly(struct rig *rig, unsigned signal)
{
	volatile struct tutti_signal *value = (void *)(rig->memory + SIGNAL_AT + signal * sizeof(struct tutti_signal));
	uint64_t end = now_ns() + PATIENCE;

	rig_fill(rig, BASE + DATA_AT, 1, 64, signal);
	rig_ring(rig);
	while (value->value > 0 && now_ns() < end)
		usleep(100);
	CHECK(value->value <= 0);
	return true;
}

/* An interrupt may come a moment later than what it is for. */
static bool soon_more(int fd, int64_t before)
{
	for (unsigned i = 0; i < 100 && interrupts(fd) == before; i++)
		usleep(1000);
	return interrupts(fd) > before;
}

static bool silent_while_nobody_waits(struct rig *rig)
{
	int64_t before;

	CHECK(rig_queue(rig));
	before = interrupts(rig->fd);
	for (unsigned i = 0; i < 20; i++) {
		rig_signal(rig, 1, 1);
		CHECK(quietly(rig, 1));
	}
	EXPECT((long)before, (long)interrupts(rig->fd));
	return true;
}

/** struct waiter - a thread that waits for the next packet. */
struct waiter {
	struct rig *rig;
	uint32_t kind;
	uint64_t packets;
	int error;
};

static void *wait_for_packet(void *data)
{
	struct waiter *waiter = data;

	if (waiter->kind == DRM_TUTTI_WAIT_SIGNAL)
		waiter->error = rig_wait(waiter->rig, 1, 0, PATIENCE);
	else
		waiter->error = rig_progress(waiter->rig, waiter->packets, PATIENCE);
	return NULL;
}

/* The thread is asleep before the packet comes, but wakes up now and then to look, perhaps at that very moment. */
static bool wakes(struct rig *rig, uint32_t kind)
{
	struct waiter waiter = {.rig = rig, .kind = kind};
	bool more = false;

	for (unsigned i = 1; !more && i <= TRIES; i++) {
		int64_t before = interrupts(rig->fd);
		pthread_t thread;

		rig_signal(rig, 1, 1);
		waiter.packets = rig->write_index + 1;
		CHECK(!pthread_create(&thread, NULL, wait_for_packet, &waiter));
		CHECK(soon_in_call(getpid()) && quietly(rig, 1));
		pthread_join(thread, NULL);
		EXPECT(0, waiter.error);
		more = soon_more(rig->fd, before);
	}
	CHECK(more);
	return true;
}

static bool woken(struct rig *rig)
{
	CHECK(rig_queue(rig));
	SKIP_UNLESS(has_vectors(rig->fd), "the card has too few vectors");
	CHECK(wakes(rig, DRM_TUTTI_WAIT_SIGNAL) && wakes(rig, DRM_TUTTI_WAIT_PROGRESS));
	CHECK(!((struct tutti_signal *)(void *)(rig->memory + SIGNAL_AT))[1].waiters);
	return true;
}

/* The next packet has a fence. */
static bool fence_next(struct rig *rig)
{
	struct drm_tutti_fence args = {.handle = rig->queue, .point = rig->write_index + 1, .packet = rig->write_index + 1};

	args.syncobj = (uint32_t)syncobj_create(rig->fd);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &args));
	return true;
}

static bool set_event(struct rig *rig, int fd, uint32_t flags)
{
	struct drm_tutti_event event = {.handle = rig->queue, .fd = fd, .flags = flags};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_EVENT, &event));
	return true;
}

static bool is_told(int fd, int ms)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	return poll(&poll_fd, 1, ms) == 1;
}

/*
 * A fence asks for an interrupt, of which the queue's eventfd is told if it shall hear of completions; not one that shall
 * hear of errors only, and not another file's.
 */
static bool fence_interrupts(struct rig *rig)
{
	int fds[3] = {eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK), eventfd(0, EFD_NONBLOCK)};
	struct drm_tutti_queue_create args;
	struct rig other = {.fd = -1};
	bool told = false;

	CHECK(rig_queue(rig) && rig_queue(&other));
	SKIP_UNLESS(has_vectors(rig->fd), "the card has too few vectors");
	CHECK(set_event(rig, fds[0], DRM_TUTTI_EVENT_COMPLETION) && set_event(&other, fds[2], DRM_TUTTI_EVENT_COMPLETION));
	args = queue_args(rig);
	args.ring = BASE + SPARE_RING_AT;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	CHECK(set_event(&(struct rig){.fd = rig->fd, .queue = args.handle}, fds[1], DRM_TUTTI_EVENT_ERROR));
	for (unsigned i = 1; !told && i <= TRIES; i++) {
		CHECK(fence_next(rig));
		usleep(5000 * i);
		rig_signal(rig, 1, 1);
		CHECK(quietly(rig, 1));
		told = is_told(fds[0], 1000);
	}
	CHECK(told);
	CHECK(!is_told(fds[1], 0) && !is_told(fds[2], 0));
	rig_close(&other);
	for (unsigned i = 0; i < 3; i++)
		close(fds[i]);
	return true;
}

/* One that is there already is enough; the same count is waited for until it changes. */
static bool interrupt_wait(struct rig *rig)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_INTERRUPT, .deadline = 1};
	int64_t now;

	CHECK(rig_queue(rig));
	now = interrupts(rig->fd);
	wait.value = now;
	EXPECT(ETIME, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT((long)now, (long)wait.value);
	wait = (struct drm_tutti_wait){.kind = DRM_TUTTI_WAIT_INTERRUPT, .value = now, .deadline = now_ns() + PATIENCE};
	rig_publish(rig_slot(rig), 0x77); /* an error counts as well */
	rig_ring(rig);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	CHECK(wait.value > now);
	return true;
}

/* Each fence is signalled when its own packet has retired, in whatever order they were asked for. */
static bool one_by_one(struct rig *rig)
{
	static const unsigned order[] = {3, 1, 4, 2};
	uint64_t point = 1;
	uint32_t objects[5];

	CHECK(rig_queue(rig));
	for (unsigned i = 0; i < 4; i++) {
		struct drm_tutti_fence args = {.handle = rig->queue, .point = 1, .packet = order[i]};

		args.syncobj = objects[order[i]] = (uint32_t)syncobj_create(rig->fd);
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &args));
	}
	for (unsigned packet = 1; packet <= 4; packet++) {
		CHECK(rig_works(rig));
		for (unsigned i = 1; i <= 4; i++) {
			struct drm_syncobj_timeline_wait wait = {
				.handles = (uintptr_t)&objects[i], .points = (uintptr_t)&point, .count_handles = 1,
				.timeout_nsec = i <= packet ? (int64_t)(now_ns() + PATIENCE) : 0,
			};

			EXPECT(i <= packet ? 0 : ETIME, call(rig->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait));
		}
	}
	return true;
}

void waits_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-26: all conditions, at both ends, in all kinds of memory", conditions},
		{"SYS-26: the value of a split signal", split},
		{"SYS-26: progress, to the packet", progress},
		{"SYS-26: every wait tells how many errors there were", tells_events},
		{"SYS-26: no interrupt when nobody waits", silent_while_nobody_waits},
		{"SYS-26: whoever waits is woken by an interrupt", woken},
		{"SYS-26 SYS-27: a fence has an interrupt, of which its queue's eventfd is told", fence_interrupts},
		{"SYS-26: a wait for the next interrupt", interrupt_wait},
		{"SYS-26: fences one by one", one_by_one},
		{0},
	};

	subtests(tests);
}

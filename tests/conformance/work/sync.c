// SPDX-License-Identifier: MIT
/*
 * Fences and eventfds are signalled when the work is done, end with an error when it never will be, and cannot be
 * forged.
 */
#include <linux/sync_file.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rig.h"

/** struct fenced - a queue and a timeline whose point 1 follows its packet. */
struct fenced {
	uint32_t syncobj;
	int file; /* sync file of the point: poll, and its status */
};

static int fence_call(struct rig *rig, uint32_t syncobj, uint64_t point, uint64_t packet)
{
	struct drm_tutti_fence args = {.handle = rig->queue, .syncobj = syncobj, .point = point, .packet = packet};

	return call(rig->fd, DRM_IOCTL_TUTTI_FENCE, &args);
}

static int point_wait(struct rig *rig, uint32_t syncobj, uint64_t point, uint64_t timeout_ns, uint32_t flags)
{
	struct drm_syncobj_timeline_wait wait = {
		.points = (uintptr_t)&point, .handles = (uintptr_t)&syncobj, .count_handles = 1,
		.timeout_nsec = (int64_t)(now_ns() + timeout_ns), .flags = flags,
	};

	return call(rig->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait);
}

/* The error of a fence is seen through a sync file that was made while the fence was pending. */
static bool fenced(struct rig *rig, uint64_t packet, struct fenced *fenced)
{
	struct drm_syncobj_transfer transfer = {.src_point = 1};
	struct drm_syncobj_handle handle = {.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, .fd = -1};

	fenced->syncobj = (uint32_t)syncobj_create(rig->fd);
	EXPECT(0, fence_call(rig, fenced->syncobj, 1, packet));
	transfer.src_handle = fenced->syncobj;
	handle.handle = transfer.dst_handle = (uint32_t)syncobj_create(rig->fd);
	EXPECT(0, call(rig->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer));
	EXPECT(0, call(rig->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &handle));
	fenced->file = handle.fd;
	return true;
}

static int status(int file)
{
	struct sync_fence_info fence = {0};
	struct sync_file_info info = {.num_fences = 1, .sync_fence_info = (uintptr_t)&fence};

	return ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : fence.status;
}

static bool ends(int file, int wanted)
{
	struct pollfd poll_fd = {.fd = file, .events = POLLIN};

	EXPECT(1, poll(&poll_fd, 1, PATIENCE_MS));
	EXPECT(wanted, status(file));
	close(file);
	return true;
}

static bool follows(struct rig *rig)
{
	uint32_t syncobj;

	CHECK(rig_queue(rig));
	syncobj = (uint32_t)syncobj_create(rig->fd);
	EXPECT(0, fence_call(rig, syncobj, 1, 2));
	CHECK(rig_works(rig));
	EXPECT(ETIME, point_wait(rig, syncobj, 1, SECOND / 20, 0));
	CHECK(rig_works(rig));
	EXPECT(0, point_wait(rig, syncobj, 1, PATIENCE, 0));
	return true;
}

static bool already(struct rig *rig)
{
	uint32_t syncobj;

	CHECK(rig_queue(rig) && rig_works(rig));
	EXPECT(0, rig_progress(rig, 1, PATIENCE));
	syncobj = (uint32_t)syncobj_create(rig->fd);
	EXPECT(0, fence_call(rig, syncobj, 7, 1));
	EXPECT(0, point_wait(rig, syncobj, 7, PATIENCE, 0));
	EXPECT(0, point_wait(rig, syncobj, 3, PATIENCE, 0));
	return true;
}

static bool unsubmitted(struct rig *rig)
{
	uint32_t syncobj;

	CHECK(rig_queue(rig));
	syncobj = (uint32_t)syncobj_create(rig->fd);
	EXPECT(EINVAL, point_wait(rig, syncobj, 1, SECOND / 50, 0));
	EXPECT(ETIME, point_wait(rig, syncobj, 1, SECOND / 50, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT));
	return true;
}

/* Everything that a user can write: signals, ring, read index, doorbell, other points of its own syncobj. */
static bool forged(struct rig *rig)
{
	struct fenced mine;
	volatile uint64_t *index;

	CHECK(rig_queue(rig) && fenced(rig, 1, &mine));
	index = (void *)(rig->memory + INDEX_AT);
	*index = 1000;
	rig_signal(rig, 0, 0);
	*rig->doorbell = 1000;
	EXPECT(ETIME, point_wait(rig, mine.syncobj, 1, SECOND / 5, 0));
	EXPECT(0, status(mine.file));
	*rig->doorbell = 0;
	rig->write_index = 0;
	CHECK(rig_works(rig));
	CHECK(ends(mine.file, 1));
	return true;
}

static void bad_packet(struct rig *rig)
{
	union tutti_packet *slot = rig_slot(rig);

	memset((uint8_t *)slot + 4, 0, sizeof(*slot) - 4);
	rig_publish(slot, 0x0077);
	rig_ring(rig);
}

static bool stopped_queue(struct rig *rig)
{
	struct fenced mine;

	CHECK(rig_queue(rig) && fenced(rig, 5, &mine));
	bad_packet(rig);
	CHECK(ends(mine.file, -ECANCELED));
	return true;
}

/* A packet is done, as its signal in memory says, but the thread of its interrupt may not have run yet. */
static bool done_at_once(struct rig *rig)
{
	const volatile struct tutti_signal *signal = rig_signal(rig, 0, 1);
	uint64_t end = now_ns() + PATIENCE;

	rig_fill(rig, BASE + DATA_AT, 1, 64, 0);
	rig_ring(rig);
	while (signal->value && now_ns() < end)
		;
	EXPECT(0, (long)signal->value);
	return true;
}

/* By then the error has been told, and has ended what fences there were: a query polls for it. */
static bool stops_at_once(struct rig *rig)
{
	struct drm_tutti_queue_query query = {.handle = rig->queue};
	uint64_t end = now_ns() + PATIENCE;

	bad_packet(rig);
	while (!query.stopped && now_ns() < end) {
		query = (struct drm_tutti_queue_query){.handle = rig->queue};
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	}
	CHECK(query.stopped);
	return true;
}

static bool done_and_stopped(struct rig *rig)
{
	struct fenced mine;

	for (unsigned i = 0; i < 20; i++) {
		CHECK(rig_queue(rig) && fenced(rig, 1, &mine));
		CHECK(done_at_once(rig) && stops_at_once(rig) && ends(mine.file, 1));
		rig_close(rig);
	}
	return true;
}

static bool destroyed_queue(struct rig *rig)
{
	struct fenced mine;

	CHECK(rig_queue(rig) && fenced(rig, 5, &mine));
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	CHECK(ends(mine.file, -ECANCELED));
	return true;
}

static bool closed_file(struct rig *rig)
{
	struct fenced mine;

	CHECK(rig_queue(rig) && fenced(rig, 5, &mine));
	rig_close(rig);
	CHECK(ends(mine.file, -ECANCELED));
	return true;
}

static bool reset_device(struct rig *rig)
{
	struct fenced mine;

	SKIP_UNLESS(!getuid(), "only root resets the card");
	CHECK(rig_queue(rig) && fenced(rig, 5, &mine));
	EXPECT(0, device_reset());
	CHECK(ends(mine.file, -EIO));
	return true;
}

/* A fence for work that is never submitted: nobody in the system waits for ever. */
static bool timeout(struct rig *rig)
{
	FILE *file = fopen("/sys/module/tutti/parameters/fence_timeout_ms", "r+");
	struct fenced mine;
	char old[32] = "";

	SKIP_UNLESS(file && fgets(old, sizeof(old), file), "fence_timeout_ms cannot be set");
	rewind(file);
	fputs("300", file);
	fflush(file);
	CHECK(rig_queue(rig) && fenced(rig, 5, &mine));
	rewind(file);
	fputs(old, file);
	fclose(file);
	CHECK(ends(mine.file, -ETIMEDOUT));
	CHECK(rig_works(rig));
	return true;
}

static bool any_order(struct rig *rig)
{
	uint32_t objects[4];

	CHECK(rig_queue(rig));
	for (unsigned i = 0; i < 4; i++) {
		objects[i] = (uint32_t)syncobj_create(rig->fd);
		EXPECT(0, fence_call(rig, objects[i], 4 - i, 4 - i));
	}
	for (unsigned i = 0; i < 4; i++)
		CHECK(rig_works(rig));
	for (unsigned i = 0; i < 4; i++)
		EXPECT(0, point_wait(rig, objects[i], 4 - i, PATIENCE, 0));
	return true;
}

static bool many(struct rig *rig)
{
	uint32_t syncobj;

	CHECK(rig_queue(rig));
	syncobj = (uint32_t)syncobj_create(rig->fd);
	for (unsigned i = 1; i <= 500; i++)
		EXPECT(0, fence_call(rig, syncobj, i, i / 100));
	for (unsigned i = 0; i < 5; i++)
		CHECK(rig_works(rig));
	EXPECT(0, point_wait(rig, syncobj, 500, PATIENCE, 0));
	for (unsigned i = 501; i <= 600; i++)
		EXPECT(0, fence_call(rig, syncobj, i, 1000));
	return true; /* and closed with a hundred pending ones */
}

#ifdef DRM_IOCTL_SYNCOBJ_EVENTFD
static bool point_eventfd(struct rig *rig)
{
	struct drm_syncobj_eventfd args = {.point = 1};
	struct pollfd poll_fd = {.events = POLLIN};
	int error;

	CHECK(rig_queue(rig));
	args.handle = (uint32_t)syncobj_create(rig->fd);
	args.fd = poll_fd.fd = eventfd(0, EFD_CLOEXEC);
	EXPECT(0, fence_call(rig, args.handle, 1, 1));
	error = call(rig->fd, DRM_IOCTL_SYNCOBJ_EVENTFD, &args);
	SKIP_UNLESS(error != EINVAL && error != ENOTTY, "this kernel has no SYNCOBJ_EVENTFD");
	EXPECT(0, error);
	EXPECT(0, poll(&poll_fd, 1, 20));
	CHECK(rig_works(rig));
	EXPECT(1, poll(&poll_fd, 1, PATIENCE_MS));
	close(args.fd);
	return true;
}
#endif

/* The status of all fences of a sync file together: 1 if all are signalled, 0 if not, negative for an error. */
static int whole_status(int file)
{
	struct sync_file_info info = {0};

	return ioctl(file, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

/* A fence that is merged from two fences of one queue, in either order, is signalled only when both are. */
static bool merged(struct rig *rig)
{
	struct sync_merge_data both[2] = {{.name = "both"}, {.name = "both"}};
	struct fenced one, two;

	CHECK(rig_queue(rig) && fenced(rig, 1, &one) && fenced(rig, 2, &two));
	both[0].fd2 = two.file;
	both[1].fd2 = one.file;
	CHECK(!ioctl(one.file, SYNC_IOC_MERGE, &both[0]) && !ioctl(two.file, SYNC_IOC_MERGE, &both[1]));
	CHECK(rig_works(rig) && ends(one.file, 1));
	EXPECT(0, whole_status(both[0].fence));
	EXPECT(0, whole_status(both[1].fence));
	CHECK(rig_works(rig) && ends(two.file, 1));
	for (unsigned i = 0; i < 2; i++) {
		EXPECT(1, poll(&(struct pollfd){.fd = both[i].fence, .events = POLLIN}, 1, 10000));
		EXPECT(1, whole_status(both[i].fence));
		close(both[i].fence);
	}
	return true;
}

static bool set_event(struct rig *rig, int fd, uint32_t flags)
{
	struct drm_tutti_event event = {.handle = rig->queue, .fd = fd, .flags = flags};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_EVENT, &event));
	return true;
}

static bool error_event(struct rig *rig)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	CHECK(fd >= 0 && rig_queue(rig) && set_event(rig, fd, DRM_TUTTI_EVENT_ERROR));
	CHECK(rig_works(rig));
	EXPECT(0, poll(&poll_fd, 1, 0));
	bad_packet(rig);
	EXPECT(1, poll(&poll_fd, 1, PATIENCE_MS));
	close(fd);
	return true;
}

/* An event that is asked for too late must not be missed; one that is cancelled does not come. */
static bool late_event(struct rig *rig)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	struct tutti_fault fault;

	CHECK(fd >= 0 && rig_queue(rig) && set_event(rig, fd, DRM_TUTTI_EVENT_ERROR) && set_event(rig, -1, 0));
	bad_packet(rig);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(0, poll(&poll_fd, 1, 50));
	CHECK(set_event(rig, fd, DRM_TUTTI_EVENT_ERROR));
	EXPECT(1, poll(&poll_fd, 1, PATIENCE_MS));
	close(fd);
	return true;
}

/* Poll the queue until it has stopped. A wait for its progress would make the card interrupt, so none is used. */
static bool soon_stopped(struct rig *rig)
{
	struct drm_tutti_queue_query query = {.handle = rig->queue};

	for (unsigned i = 0; i < 2000 && !query.stopped; i++) {
		usleep(10000);
		EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
		query.progress = query.errors = 0;
	}
	CHECK(query.stopped);
	return true;
}

/* What had been done before is done; the rest never will be, and its fence says so at once. After a reset it may be. */
static bool stopped_before(struct rig *rig)
{
	struct fenced done, never, later;

	CHECK(rig_queue(rig) && rig_works(rig));
	EXPECT(0, rig_progress(rig, 1, PATIENCE));
	bad_packet(rig);
	CHECK(soon_stopped(rig) && fenced(rig, 1, &done) && fenced(rig, 5, &never));
	CHECK(ends(done.file, 1) && ends(never.file, -ECANCELED));
	EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_RESET));
	CHECK(fenced(rig, 3, &later) && rig_works(rig) && ends(later.file, 1));
	return true;
}

/* An eventfd for completions is not signalled by an error, whether it is set before or after the error. */
static bool other_event(struct rig *rig)
{
	int fds[2] = {eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

	CHECK(fds[0] >= 0 && fds[1] >= 0 && rig_queue(rig) && set_event(rig, fds[0], DRM_TUTTI_EVENT_COMPLETION));
	bad_packet(rig);
	CHECK(soon_stopped(rig) && set_event(rig, fds[1], DRM_TUTTI_EVENT_COMPLETION));
	for (unsigned i = 0; i < 2; i++) {
		EXPECT(0, poll(&(struct pollfd){.fd = fds[i], .events = POLLIN}, 1, 0));
		close(fds[i]);
	}
	return true;
}

/* Errors of one file are told to that file only. */
static bool event_of_others(struct rig *rig)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_INTERRUPT};
	struct rig other = {.fd = -1};
	struct tutti_fault fault;
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};

	CHECK(rig_queue(rig) && rig_queue(&other) && set_event(&other, fd, DRM_TUTTI_EVENT_ERROR));
	bad_packet(rig);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(0, poll(&poll_fd, 1, 50));
	wait.deadline = 1;
	wait.value = -1;
	EXPECT(0, call(other.fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(0, wait.events);
	CHECK(rig_works(&other));
	rig_close(&other);
	close(fd);
	return true;
}

static const struct subtest sync_tests[] = {
	{"SYS-26: a fence follows the queue", follows},
	{"SYS-26: a fence of what is done already", already},
	{"SYS-26: waiting for what nobody has asked for", unsubmitted},
	{"SYS-26 SYS-27: a fence cannot be forged", forged},
	{"SYS-26 SYS-28: a stopped queue ends its fences", stopped_queue},
	{"SYS-26 SYS-28: fences of what is done succeed although the queue stops at once", done_and_stopped},
	{"SYS-26 SYS-28: a fence of a queue that has stopped", stopped_before},
	{"SYS-26: a destroyed queue ends its fences", destroyed_queue},
	{"SYS-26: a closed file ends its fences", closed_file},
	{"SYS-26 SYS-28: a reset ends fences", reset_device},
	{"SYS-26: no fence waits for ever", timeout},
	{"SYS-26: fences in any order", any_order},
	{"SYS-26: a fence merged from two is signalled when both are", merged},
	{"SYS-26: many fences, some to come at close", many},
#ifdef DRM_IOCTL_SYNCOBJ_EVENTFD
	{"SYS-26: eventfd of a timeline point", point_eventfd},
#endif
	{"SYS-26: eventfd of an error", error_event},
	{"SYS-26: an eventfd for completions is not signalled by an error", other_event},
	{"SYS-26: eventfd asked for late, and taken back", late_event},
	{"SYS-26 SYS-27: errors are told to their owner only", event_of_others},
	{0},
};

void sync_group(void)
{
	subtests(sync_tests);
}

// SPDX-License-Identifier: MIT
/*
 * What DRM's core does for every driver, on the card's node: syncobjs, events, clients. The subtests are those of
 * igt-gpu-tools' syncobj_basic, syncobj_wait, syncobj_timeline, drm_read and core_*, with the same names, as far as
 * they apply to an accelerator.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"

static uint32_t made(struct rig *rig, uint32_t flags)
{
	struct drm_syncobj_create create = {.flags = flags};

	return call(rig->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create) ? 0 : create.handle;
}

static int destroy(struct rig *rig, uint32_t handle, uint32_t pad)
{
	struct drm_syncobj_destroy args = {.handle = handle, .pad = pad};

	return call(rig->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

static int to_fd(struct rig *rig, uint32_t handle, uint32_t flags, uint32_t pad, int *fd)
{
	struct drm_syncobj_handle args = {.handle = handle, .flags = flags, .pad = pad, .fd = -1};
	int error = call(rig->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &args);

	*fd = args.fd;
	return error;
}

static int from_fd(struct rig *rig, int fd, uint32_t flags, uint32_t pad, uint32_t *handle)
{
	struct drm_syncobj_handle args = {.flags = flags, .pad = pad, .fd = fd};
	int error = call(rig->fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &args);

	*handle = args.handle;
	return error;
}

static int wait_all(struct rig *rig, const uint32_t *handles, uint32_t n, uint64_t ns, uint32_t flags)
{
	struct drm_syncobj_wait args = {
		.handles = (uintptr_t)handles, .count_handles = n, .flags = flags, .timeout_nsec = (int64_t)(now_ns() + ns)};

	return call(rig->fd, DRM_IOCTL_SYNCOBJ_WAIT, &args);
}

static int array(struct rig *rig, unsigned long request, const uint32_t *handles, uint32_t n, uint32_t pad)
{
	struct drm_syncobj_array args = {.handles = (uintptr_t)handles, .count_handles = n, .pad = pad};

	return call(rig->fd, request, &args);
}

static int points(struct rig *rig, unsigned long request, uint32_t handle, uint64_t *point, uint32_t flags)
{
	struct drm_syncobj_timeline_array args = {
		.handles = (uintptr_t)&handle, .points = (uintptr_t)point, .count_handles = 1, .flags = flags};

	return call(rig->fd, request, &args);
}

static int wait_point(struct rig *rig, uint32_t handle, uint64_t point, uint64_t ns, uint32_t flags)
{
	struct drm_syncobj_timeline_wait args = {.handles = (uintptr_t)&handle, .points = (uintptr_t)&point, .count_handles = 1,
						 .flags = flags, .timeout_nsec = (int64_t)(now_ns() + ns)};

	return call(rig->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &args);
}

/* ---- syncobj_basic ---- */

static bool basic(struct rig *rig)
{
	uint32_t handle, again;
	int fd;

	CHECK(rig_open(rig));
	EXPECT(EINVAL, destroy(rig, 0x1234, 0)); /* bad-destroy */
	EXPECT(0, made(rig, 0xdead << 8)); /* bad-create-flags */
	handle = made(rig, 0);
	CHECK(handle);
	EXPECT(EINVAL, destroy(rig, handle, 0xdeadbeef)); /* bad-destroy-pad */
	EXPECT(EINVAL, to_fd(rig, handle, 0, 0xdeadbeef, &fd)); /* bad-pad-handle-to-fd */
	EXPECT(EINVAL, to_fd(rig, handle, 0xdeadbeef, 0, &fd)); /* bad-flags-handle-to-fd */
	EXPECT(EINVAL, to_fd(rig, 0xdeadbeef, 0, 0, &fd)); /* bad-handle-to-fd */
	EXPECT(0, to_fd(rig, handle, 0, 0, &fd));
	EXPECT(EINVAL, from_fd(rig, fd, 0, 0xdeadbeef, &again)); /* bad-pad-fd-to-handle */
	EXPECT(EINVAL, from_fd(rig, fd, 0xdeadbeef, 0, &again)); /* bad-flags-fd-to-handle */
	EXPECT(EINVAL, from_fd(rig, rig->fd, 0, 0, &again)); /* illegal-fd-to-handle */
	EXPECT(EINVAL, from_fd(rig, -1, 0, 0, &again)); /* bad-fd-to-handle */
	EXPECT(0, from_fd(rig, fd, 0, 0, &again)); /* test-valid-cycle */
	close(fd);
	EXPECT(0, destroy(rig, handle, 0));
	EXPECT(EINVAL, destroy(rig, handle, 0));
	EXPECT(0, array(rig, DRM_IOCTL_SYNCOBJ_SIGNAL, &again, 1, 0)); /* the other name lives */
	EXPECT(0, destroy(rig, again, 0));
	return true;
}

/* ---- syncobj_wait ---- */

static bool bad_waits(struct rig *rig)
{
	uint32_t handle, none = 0xdeadbeef;

	CHECK(rig_open(rig));
	handle = made(rig, 0);
	EXPECT(EINVAL, wait_all(rig, &handle, 1, 0, 0xdeadbeef)); /* invalid-wait-bad-flags */
	EXPECT(ENOENT, wait_all(rig, &none, 1, 0, 0)); /* invalid-wait-illegal-handle */
	EXPECT(EINVAL, wait_all(rig, &handle, 1, SECOND, 0)); /* invalid-single-wait-unsubmitted */
	EXPECT(ETIME, wait_all(rig, &handle, 1, SECOND / 100, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT));
	EXPECT(EINVAL, array(rig, DRM_IOCTL_SYNCOBJ_RESET, &handle, 0, 0)); /* invalid-reset-zero-handles */
	EXPECT(ENOENT, array(rig, DRM_IOCTL_SYNCOBJ_RESET, &none, 1, 0)); /* invalid-reset-illegal-handle */
	EXPECT(EINVAL, array(rig, DRM_IOCTL_SYNCOBJ_RESET, &handle, 1, 1)); /* invalid-reset-bad-pad */
	EXPECT(EINVAL, array(rig, DRM_IOCTL_SYNCOBJ_SIGNAL, &handle, 0, 0)); /* invalid-signal-zero-handles */
	EXPECT(ENOENT, array(rig, DRM_IOCTL_SYNCOBJ_SIGNAL, &none, 1, 0)); /* invalid-signal-illegal-handle */
	EXPECT(EINVAL, array(rig, DRM_IOCTL_SYNCOBJ_SIGNAL, &handle, 1, 1)); /* invalid-signal-bad-pad */
	return true;
}

static bool all_or_any(struct rig *rig)
{
	const uint32_t all = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_ALL, submit = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT;
	uint32_t handles[4];

	CHECK(rig_open(rig));
	for (unsigned i = 0; i < 4; i++)
		CHECK(handles[i] = made(rig, 0));
	EXPECT(0, array(rig, DRM_IOCTL_SYNCOBJ_SIGNAL, &handles[2], 1, 0));
	EXPECT(0, wait_all(rig, handles, 4, PATIENCE, submit)); /* wait-any-for-submit-snapshot */
	EXPECT(ETIME, wait_all(rig, handles, 4, SECOND / 100, submit | all)); /* wait-all-for-submit-snapshot */
	EXPECT(EINVAL, wait_all(rig, handles, 4, SECOND, all)); /* invalid-multi-wait-all-unsubmitted-signaled */
	EXPECT(0, array(rig, DRM_IOCTL_SYNCOBJ_SIGNAL, handles, 4, 0));
	EXPECT(0, wait_all(rig, handles, 4, 0, all)); /* multi-wait-all-signaled */
	EXPECT(0, array(rig, DRM_IOCTL_SYNCOBJ_RESET, handles, 4, 0)); /* reset-multiple-signaled */
	EXPECT(ETIME, wait_all(rig, handles, 4, 0, submit));
	return true;
}

/** struct waker - signals a syncobj after a while. */
struct waker {
	struct rig *rig;
	uint32_t handle;
	uint64_t point;
};

static void *wake(void *data)
{
	struct waker *waker = data;

	usleep(50000);
	if (waker->point)
		points(waker->rig, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, waker->handle, &waker->point, 0);
	else
		array(waker->rig, DRM_IOCTL_SYNCOBJ_SIGNAL, &waker->handle, 1, 0);
	return NULL;
}

static bool delayed(struct rig *rig)
{
	struct waker waker = {.rig = rig};
	pthread_t thread;

	CHECK(rig_open(rig));
	waker.handle = made(rig, 0);
	CHECK(!pthread_create(&thread, NULL, wake, &waker));
	/* wait-for-submit-delayed-submit */
	EXPECT(0, wait_all(rig, &waker.handle, 1, PATIENCE, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT));
	pthread_join(thread, NULL);
	waker.handle = made(rig, 0);
	waker.point = 7;
	CHECK(!pthread_create(&thread, NULL, wake, &waker));
	EXPECT(0, wait_point(rig, waker.handle, 5, PATIENCE, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT));
	pthread_join(thread, NULL);
	return true;
}

/* ---- syncobj_timeline ---- */

static bool timeline(struct rig *rig)
{
	uint64_t point = 3, seen = 99;
	uint32_t handle, none = 0xdeadbeef;

	CHECK(rig_open(rig));
	handle = made(rig, 0);
	EXPECT(ENOENT, points(rig, DRM_IOCTL_SYNCOBJ_QUERY, none, &seen, 0)); /* invalid-query-illegal-handle */
	EXPECT(EINVAL, points(rig, DRM_IOCTL_SYNCOBJ_QUERY, handle, &seen, 0xdeadbeef)); /* invalid-query-bad-pad */
	EXPECT(EINVAL, points(rig, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, handle, &point, 0xdeadbeef)); /* invalid-signal-bad-pad */
	EXPECT(ENOENT, points(rig, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, none, &point, 0)); /* invalid-signal-illegal-handle */
	EXPECT(EINVAL, wait_point(rig, handle, 3, SECOND, 0)); /* invalid-single-wait-unsubmitted */
	for (; point <= 9; point += 3) { /* signal-point-…, query */
		EXPECT(0, points(rig, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, handle, &point, 0));
		EXPECT(0, points(rig, DRM_IOCTL_SYNCOBJ_QUERY, handle, &seen, 0));
		EXPECT((long)point, (long)seen);
	}
	EXPECT(0, wait_point(rig, handle, 8, 0, 0)); /* a point in between counts as the next one */
	EXPECT(ETIME, wait_point(rig, handle, 10, SECOND / 100, DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT));
	return true;
}

static bool transfers(struct rig *rig)
{
	struct drm_syncobj_transfer move = {.src_point = 5, .dst_point = 2};
	uint64_t point = 5, seen = 0;

	CHECK(rig_open(rig));
	move.src_handle = made(rig, 0);
	move.dst_handle = made(rig, 0);
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &move)); /* nothing is there yet */
	EXPECT(0, points(rig, DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, move.src_handle, &point, 0));
	move.pad = 1;
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &move)); /* invalid-transfer-bad-pad */
	move.pad = 0;
	EXPECT(0, call(rig->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &move)); /* transfer-timeline-point */
	EXPECT(0, points(rig, DRM_IOCTL_SYNCOBJ_QUERY, move.dst_handle, &seen, 0));
	EXPECT(2, (long)seen);
	move.dst_handle = 0xdeadbeef;
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_SYNCOBJ_TRANSFER, &move)); /* invalid-transfer-illegal-handle */
	return true;
}

/* Syncobjs are shared between files by descriptors only. */
static bool of_others(struct rig *rig)
{
	struct rig other = {.fd = -1};
	uint32_t handle, theirs;
	int fd;

	CHECK(rig_open(rig) && rig_open(&other));
	handle = made(rig, 0);
	EXPECT(EINVAL, destroy(&other, handle, 0));
	EXPECT(0, to_fd(rig, handle, 0, 0, &fd));
	EXPECT(0, from_fd(&other, fd, 0, 0, &theirs));
	close(fd);
	EXPECT(0, array(&other, DRM_IOCTL_SYNCOBJ_SIGNAL, &theirs, 1, 0));
	EXPECT(0, wait_all(rig, &handle, 1, 0, 0));
	rig_close(&other);
	return true;
}

/* ---- drm_read ---- */

static bool reading(struct rig *rig)
{
	struct pollfd wait = {.events = POLLIN};
	uint8_t bytes[256];

	CHECK(rig_open(rig));
	CHECK(!fcntl(rig->fd, F_SETFL, O_NONBLOCK));
	CHECK(read(rig->fd, bytes, sizeof(bytes)) < 0 && errno == EAGAIN); /* empty-nonblock */

	wait.fd = rig->fd;
	EXPECT(0, poll(&wait, 1, 20)); /* no event comes */
	CHECK(write(rig->fd, bytes, sizeof(bytes)) < 0 && errno == EINVAL);
	return true;
}

void core_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-26: igt syncobj_basic", basic},
		{"SYS-26: igt syncobj_wait: invalid", bad_waits},
		{"SYS-26: igt syncobj_wait: all or any, reset", all_or_any},
		{"SYS-26: igt syncobj_wait, syncobj_timeline: signalled later", delayed},
		{"SYS-26: igt syncobj_timeline", timeline},
		{"SYS-26: igt syncobj_timeline: transfer", transfers},
		{"SYS-26 SYS-27: syncobjs of others", of_others},
		{"SYS-30: igt drm_read", reading},
		{0},
	};

	subtests(tests);
}

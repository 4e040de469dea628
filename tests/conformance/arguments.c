// SPDX-License-Identifier: MIT
/* Flags, pads, handles, pointers, call numbers: everything valid but one. */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rig.h"

static bool unknown_call(struct rig *rig)
{
	struct drm_tutti_kick kick = {0};

	CHECK(rig_open(rig));
	EXPECT(EINVAL, call(rig->fd, DRM_TUTTI_IOWR(0x50, drm_tutti_kick), &kick));
	return true;
}

static bool bad_pointer(struct rig *rig)
{
	CHECK(rig_open(rig));
	EXPECT(EFAULT, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, NULL));
	return true;
}

/* The structure ends with the page: nothing behind it may be read. */
static bool page_end(struct rig *rig)
{
	struct drm_tutti_query *query;
	struct drm_tutti_state state;
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(rig_open(rig) && pages != MAP_FAILED && !mprotect(pages + PAGE, PAGE, PROT_NONE));
	query = (void *)(pages + PAGE - sizeof(*query));
	*query = (struct drm_tutti_query){
		.what = DRM_TUTTI_QUERY_STATE, .size = sizeof(state), .pointer = (uintptr_t)&state};
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, query));
	EXPECT(sizeof(state), query->size);
	query->pointer = (uintptr_t)pages + PAGE;
	EXPECT(EFAULT, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, query));
	munmap(pages, 2 * PAGE);
	return true;
}

static bool query_unknown(struct rig *rig)
{
	struct drm_tutti_query query = {.what = 99};

	CHECK(rig_open(rig));
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query));
	return true;
}

/* Each word of a valid call's pads and flags set alone: -EINVAL. */
#define PAD(request, type, setup, field) \
	do { \
		struct type args = setup; \
		args.field = 0x40000000; \
		EXPECT(EINVAL, call(rig->fd, request, &args)); \
	} while (0)
#define ARGS(...) {__VA_ARGS__}

static bool bo_pads(struct rig *rig)
{
	CHECK(rig_memory(rig));
	PAD(DRM_IOCTL_TUTTI_BO_CREATE, drm_tutti_bo_create, ARGS(.size = PAGE), flags);
	PAD(DRM_IOCTL_TUTTI_BO_CREATE, drm_tutti_bo_create, ARGS(.size = PAGE), pad);
	PAD(DRM_IOCTL_TUTTI_BO_CREATE, drm_tutti_bo_create, ARGS(.size = PAGE), handle);
	PAD(DRM_IOCTL_TUTTI_BO_CREATE, drm_tutti_bo_create, ARGS(.size = PAGE), mmap_offset);
	PAD(DRM_IOCTL_TUTTI_BO_CREATE, drm_tutti_bo_create, ARGS(.size = PAGE), placement);
	PAD(DRM_IOCTL_TUTTI_BO_INFO, drm_tutti_bo_info, ARGS(.handle = rig->bo), pad);
	PAD(DRM_IOCTL_TUTTI_BO_INFO, drm_tutti_bo_info, ARGS(.handle = rig->bo), pad1);
	return true;
}

static bool context_pads(struct rig *rig)
{
	CHECK(rig_memory(rig));
	PAD(DRM_IOCTL_TUTTI_CONTEXT_CREATE, drm_tutti_context_create, ARGS(.flags = 0), flags);
	PAD(DRM_IOCTL_TUTTI_CONTEXT_CREATE, drm_tutti_context_create, ARGS(.flags = 0), handle);
	PAD(DRM_IOCTL_TUTTI_CONTEXT_DESTROY, drm_tutti_handle, ARGS(.handle = rig->context), pad);
	PAD(DRM_IOCTL_TUTTI_UNMAP, drm_tutti_range,
	    ARGS(.context = rig->context, .address = BASE, .bytes = RIG_BYTES), pad);
	PAD(DRM_IOCTL_TUTTI_CODE_INVALIDATE, drm_tutti_range,
	    ARGS(.context = rig->context, .address = BASE, .bytes = RIG_BYTES), pad);
	return true;
}

static bool queue_pads(struct rig *rig)
{
	CHECK(rig_queue(rig));
	PAD(DRM_IOCTL_TUTTI_QUEUE_CREATE, drm_tutti_queue_create, queue_args(rig), flags);
	PAD(DRM_IOCTL_TUTTI_QUEUE_CREATE, drm_tutti_queue_create, queue_args(rig), handle);
	PAD(DRM_IOCTL_TUTTI_QUEUE_CREATE, drm_tutti_queue_create, queue_args(rig), id);
	PAD(DRM_IOCTL_TUTTI_QUEUE_CREATE, drm_tutti_queue_create, queue_args(rig), doorbell_offset);
	PAD(DRM_IOCTL_TUTTI_QUEUE_DESTROY, drm_tutti_handle, ARGS(.handle = rig->queue), pad);
	PAD(DRM_IOCTL_TUTTI_QUEUE_RESET, drm_tutti_handle, ARGS(.handle = rig->queue), pad);
	PAD(DRM_IOCTL_TUTTI_QUEUE_QUERY, drm_tutti_queue_query, ARGS(.handle = rig->queue), pad);
	PAD(DRM_IOCTL_TUTTI_QUEUE_QUERY, drm_tutti_queue_query, ARGS(.handle = rig->queue), pad1);
	PAD(DRM_IOCTL_TUTTI_EVENT, drm_tutti_event, ARGS(.handle = rig->queue, .fd = -1), pad);
	PAD(DRM_IOCTL_TUTTI_EVENT, drm_tutti_event, ARGS(.handle = rig->queue, .fd = -1), flags);
	CHECK(rig_works(rig));
	return true;
}

static bool other_pads(struct rig *rig)
{
	CHECK(rig_context(rig));
	PAD(DRM_IOCTL_TUTTI_RSB_CREATE, drm_tutti_rsb_create, ARGS(.context = rig->context), pad);
	PAD(DRM_IOCTL_TUTTI_RSB_CREATE, drm_tutti_rsb_create, ARGS(.context = rig->context), handle);
	PAD(DRM_IOCTL_TUTTI_RSB_CREATE, drm_tutti_rsb_create, ARGS(.context = rig->context), placement);
	PAD(DRM_IOCTL_TUTTI_WAIT, drm_tutti_wait, ARGS(.kind = DRM_TUTTI_WAIT_INTERRUPT), pad);
	PAD(DRM_IOCTL_TUTTI_WAIT, drm_tutti_wait, ARGS(.kind = DRM_TUTTI_WAIT_INTERRUPT), events);
	PAD(DRM_IOCTL_TUTTI_WAIT, drm_tutti_wait, ARGS(.kind = DRM_TUTTI_WAIT_INTERRUPT), kind);
	PAD(DRM_IOCTL_TUTTI_KICK, drm_tutti_kick, ARGS(0), pad);
	PAD(DRM_IOCTL_TUTTI_CONTROL, drm_tutti_control, ARGS(0), pad);
	PAD(DRM_IOCTL_TUTTI_CONTROL, drm_tutti_control, ARGS(0), op);
	PAD(DRM_IOCTL_TUTTI_CONTROL, drm_tutti_control, ARGS(0), arg[2]);
	return true;
}

static bool no_such_handle(struct rig *rig)
{
	struct drm_tutti_handle handle = {.handle = 77};
	struct drm_tutti_bo_info info = {.handle = 77};
	struct drm_tutti_queue_query query = {.handle = 77};
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = 77};

	CHECK(rig_memory(rig));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &handle));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_RESET, &handle));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &handle));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	EXPECT(ENOENT, bo_map(rig->fd, 77, rig->bo, BASE + RIG_BYTES, PAGE));
	EXPECT(ENOENT, bo_map(rig->fd, rig->context, 77, BASE + RIG_BYTES, PAGE));
	return true;
}

static bool foreign_handles(struct rig *rig)
{
	struct drm_tutti_handle handle = {.handle = 0};
	int other = device_open();
	void *page;

	CHECK(other >= 0 && rig_queue(rig));
	handle.handle = rig->queue;
	EXPECT(ENOENT, call(other, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	handle.handle = rig->context;
	EXPECT(ENOENT, call(other, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &handle));
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, other, (off_t)rig->doorbell_offset);
	CHECK(page == MAP_FAILED && errno == EINVAL);
	close(other);
	CHECK(rig_works(rig));
	return true;
}

static bool destroyed_handle(struct rig *rig)
{
	struct drm_tutti_handle handle = {0};

	CHECK(rig_queue(rig));
	handle.handle = rig->queue;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	EXPECT(ENOENT, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle));
	return true;
}

const struct subtest arguments_tests[] = {
	{"unknown call", unknown_call},
	{"null structure", bad_pointer},
	{"structure and buffer at a page's end", page_end},
	{"unknown query", query_unknown},
	{"buffer pads", bo_pads},
	{"context pads", context_pads},
	{"queue pads", queue_pads},
	{"other pads", other_pads},
	{"no such handle", no_such_handle},
	{"foreign handles", foreign_handles},
	{"destroyed handle", destroyed_handle},
	{0},
};

// SPDX-License-Identifier: MIT
/* A sync_file that follows a queue: a point of a timeline does, and only binary syncobjs can be exported. */
#include <drm.h>

#include "transport/drm/drm.h"

static int create(struct drm_card *card, uint32_t *handle)
{
	struct drm_syncobj_create args = {0};
	int error = drm_call(card, DRM_IOCTL_SYNCOBJ_CREATE, &args);

	*handle = args.handle;
	return error;
}

static void destroy(struct drm_card *card, uint32_t handle)
{
	struct drm_syncobj_destroy args = {.handle = handle};

	if (handle)
		drm_call(card, DRM_IOCTL_SYNCOBJ_DESTROY, &args);
}

static int export(struct drm_card *card, uint32_t timeline, uint32_t binary, int *fd)
{
	struct drm_syncobj_transfer transfer = {.src_handle = timeline, .dst_handle = binary, .src_point = 1};
	struct drm_syncobj_handle file = {
	    .handle = binary, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE, .fd = -1};
	int error = drm_call(card, DRM_IOCTL_SYNCOBJ_TRANSFER, &transfer);

	if (!error)
		error = drm_call(card, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &file);
	if (!error)
		*fd = file.fd;
	return error;
}

int drm_sync_file(struct tutti_device *device, unsigned queue, uint64_t packets, int *fd)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_fence fence = {.handle = card->queue[queue], .point = 1, .packet = packets};
	uint32_t timeline = 0, binary = 0;
	int error = create(card, &timeline);

	if (!error)
		error = create(card, &binary);
	fence.syncobj = timeline;
	if (!error)
		error = drm_call(card, DRM_IOCTL_TUTTI_FENCE, &fence);
	if (!error)
		error = export(card, timeline, binary, fd);
	destroy(card, binary);
	destroy(card, timeline);
	return error;
}

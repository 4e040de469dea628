// SPDX-License-Identifier: MIT
/* Queues and reference state buffers; translates the library's numbers to the driver's handles. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "transport/drm/drm.h"

static uint8_t *doorbell_page(struct tutti_device *device, unsigned id)
{
	return device->bar + device->known.doorbells.offset + (size_t)id * TUTTI_PAGE_SIZE;
}

static void hide_doorbell(struct tutti_device *device, unsigned id)
{
	mmap(doorbell_page(device, id), TUTTI_PAGE_SIZE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* The driver wants a ring in one mapping. One that is moved to a buffer of its own holds zeros, which are no packets. */
static int create_queue(struct drm_card *card, const struct transport_queue *queue,
			struct drm_tutti_queue_create *args)
{
	int error = drm_call(card, DRM_IOCTL_TUTTI_QUEUE_CREATE, args);

	if (error != -EFAULT)
		return error;
	error = drm_one_mapping(card, (void *)(uintptr_t)queue->ring, sizeof(*queue->ring) << queue->size_log2);
	return error ? error : drm_call(card, DRM_IOCTL_TUTTI_QUEUE_CREATE, args);
}

int drm_queue_create(struct tutti_device *device, const struct transport_queue *queue)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_queue_create create = {
	    .context = card->context,
	    .flags = queue->flags & ~TUTTI_QUEUE_RSB,
	    .ring = (uintptr_t)queue->ring,
	    .read_index = (uintptr_t)queue->read_index,
	    .size_log2 = queue->size_log2,
	    .priority = queue->priority,
	    .timeout_ms = queue->timeout_ms,
	    .rsb = queue->flags & TUTTI_QUEUE_RSB ? card->rsb[queue->rsb] : 0,
	};
	struct drm_tutti_handle gone = {0};
	int error = create_queue(card, queue, &create);

	if (error)
		return error;
	error = drm_sleep_queue(card, create.handle);
	if (!error && mmap(doorbell_page(device, queue->id), TUTTI_PAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, card->fd, (off_t)create.doorbell_offset) == MAP_FAILED)
		error = -errno;
	if (error) {
		gone.handle = create.handle;
		drm_call(card, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &gone);
		return error;
	}
	pthread_mutex_lock(&card->lock);
	card->queue_errors[queue->id] = 0;
	card->queue[queue->id] = create.handle;
	pthread_mutex_unlock(&card->lock);
	return 0;
}

int drm_queue_destroy(struct tutti_device *device, unsigned id)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_handle handle = {.handle = card->queue[id]};

	pthread_mutex_lock(&card->lock);
	card->queue[id] = 0;
	pthread_mutex_unlock(&card->lock);
	hide_doorbell(device, id);
	return drm_call(card, DRM_IOCTL_TUTTI_QUEUE_DESTROY, &handle);
}

int drm_queue_reset(struct tutti_device *device, unsigned queue)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_handle handle = {.handle = card->queue[queue]};

	return drm_call(card, DRM_IOCTL_TUTTI_QUEUE_RESET, &handle);
}

int drm_task_cancel(struct tutti_device *device, unsigned queue, uint64_t packet)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_task_cancel args = {.handle = card->queue[queue], .packet = packet};

	return drm_call(card, DRM_IOCTL_TUTTI_TASK_CANCEL, &args);
}

int drm_rsb_create(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_rsb_create create = {.context = card->context,
					      .placement = in_memory ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH};
	int error = drm_call(card, DRM_IOCTL_TUTTI_RSB_CREATE, &create);

	if (!error)
		card->rsb[rsb] = create.handle;
	return error;
}

int drm_rsb_destroy(struct tutti_device *device, unsigned rsb)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_handle handle = {.handle = card->rsb[rsb]};

	return drm_call(card, DRM_IOCTL_TUTTI_RSB_DESTROY, &handle);
}

int drm_rsb_invalidate(struct tutti_device *device, unsigned rsb, uint32_t entries)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_rsb_invalidate invalidate = {.handle = card->rsb[rsb], .mask = entries};

	return drm_call(card, DRM_IOCTL_TUTTI_RSB_INVALIDATE, &invalidate);
}

int drm_rsb_read(struct tutti_device *device, unsigned rsb, struct tutti_rsb *copy)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_rsb_read read = {.handle = card->rsb[rsb], .pointer = (uintptr_t)copy};

	return drm_call(card, DRM_IOCTL_TUTTI_RSB_READ, &read);
}

// SPDX-License-Identifier: MIT
/* Sleeping until an interrupt, and noticing errors of queues. The driver counts both. */
#include <string.h>
#include <sys/ioctl.h>

#include "device/queue_error.h"
#include "transport/drm/drm.h"

void drm_kick(struct tutti_device *device)
{
	struct drm_tutti_kick kick = {0};

	drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_KICK, &kick);
}

/* The newest count that the driver has reported. If there was an interrupt since, the next sleep ends at once. */
uint64_t drm_interrupts(struct tutti_device *device)
{
	return tutti_load_relaxed(&drm_card_of(device)->seen);
}

void drm_sleep(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_wait wait = {
	    .kind = DRM_TUTTI_WAIT_INTERRUPT, .value = (int64_t)seen, .deadline = deadline};
	int error = ioctl(card->fd, DRM_IOCTL_TUTTI_WAIT, &wait);

	/* The driver fills in its reply even if the ioctl returns an error. */
	if (!error || errno == ETIME) {
		tutti_store_relaxed(&card->seen, (uint64_t)wait.value);
		tutti_store_relaxed(&card->events, wait.events);
	}
}

static void ask_queue(struct tutti_device *device, unsigned id)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_queue_query query = {.handle = card->queue[id]};
	struct tutti_fault fault;
	bool news;

	if (!query.handle || drm_call(card, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query))
		return;
	pthread_mutex_lock(&card->lock);
	news = query.errors != card->queue_errors[id];
	card->queue_errors[id] = query.errors;
	pthread_mutex_unlock(&card->lock);
	if (!news)
		return;
	memcpy(&fault, query.fault, sizeof(fault));
	fault.queue = (uint16_t)id;
	queue_error_take(device, &fault);
}

/* Without asking the driver, which drm_poll() does, there is no way to know. */
bool drm_pending(const struct tutti_device *device)
{
	(void)device;
	return false;
}

bool drm_poll(struct tutti_device *device)
{
	struct drm_card *card = drm_card_of(device);
	uint64_t events;

	drm_sleep(device, drm_interrupts(device), 0);
	events = tutti_load_relaxed(&card->events);
	if (events == tutti_load_relaxed(&card->handled))
		return false;
	tutti_store_relaxed(&card->handled, events);
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++)
		ask_queue(device, i);
	return true;
}

// SPDX-License-Identifier: MIT
/*
 * Sleeping until an interrupt or until another thread changes a signal, and noticing errors of queues. The driver adds
 * to an eventfd at interrupts of each queue. A thread that reads it takes the news away from others, so one of those
 * that sleep reads it for all.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/queue_error.h"
#include "transport/drm/drm.h"

void drm_kick(struct tutti_device *device)
{
	struct drm_tutti_kick kick = {0};

	drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_KICK, &kick);
}

int drm_sleep_init(struct drm_card *card)
{
	pthread_condattr_t attribute;

	pthread_mutex_init(&card->sleep_lock, NULL);
	pthread_condattr_init(&attribute);
	pthread_condattr_setclock(&attribute, CLOCK_MONOTONIC);
	pthread_cond_init(&card->sleep_changed, &attribute);
	pthread_condattr_destroy(&attribute);
	card->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return card->wake_fd < 0 ? -errno : 0;
}

void drm_sleep_fini(struct drm_card *card)
{
	if (card->wake_fd >= 0)
		close(card->wake_fd);
	pthread_cond_destroy(&card->sleep_changed);
	pthread_mutex_destroy(&card->sleep_lock);
}

int drm_sleep_queue(struct drm_card *card, uint32_t queue)
{
	struct drm_tutti_event event = {
	    .handle = queue, .flags = DRM_TUTTI_EVENT_ERROR | DRM_TUTTI_EVENT_COMPLETION, .fd = card->wake_fd};

	return drm_call(card, DRM_IOCTL_TUTTI_EVENT, &event);
}

uint64_t drm_interrupts(struct tutti_device *device)
{
	return tutti_load_relaxed(&drm_card_of(device)->wakes);
}

void drm_wake(struct tutti_device *device)
{
	const uint64_t one = 1;

	if (write(drm_card_of(device)->wake_fd, &one, sizeof(one)) < 0)
		return; /* its count is at its end, so that it is readable anyway */
}

/* The caller holds sleep_lock, which is released meanwhile. */
static void watch(struct drm_card *card, uint64_t deadline)
{
	uint64_t now = time_ns(), left = deadline > now ? deadline - now : 0, count;
	struct timespec time = {.tv_sec = (time_t)(left / 1000000000u), .tv_nsec = (long)(left % 1000000000u)};
	struct pollfd ask = {.fd = card->wake_fd, .events = POLLIN};

	card->watched = true;
	pthread_mutex_unlock(&card->sleep_lock);
	ppoll(&ask, 1, &time, NULL);
	pthread_mutex_lock(&card->sleep_lock);
	card->watched = false;
	if (read(card->wake_fd, &count, sizeof(count)) > 0)
		tutti_store_relaxed(&card->wakes, card->wakes + 1);
	pthread_cond_broadcast(&card->sleep_changed); /* there is news, or another thread has to watch */
}

void drm_sleep(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	struct drm_card *card = drm_card_of(device);
	struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u), .tv_nsec = (long)(deadline % 1000000000u)};

	pthread_mutex_lock(&card->sleep_lock);
	while (card->wakes == seen && time_ns() < deadline) {
		if (card->watched)
			pthread_cond_timedwait(&card->sleep_changed, &card->sleep_lock, &until);
		else
			watch(card, deadline);
	}
	pthread_mutex_unlock(&card->sleep_lock);
}

/* The driver fills in its reply even if the ioctl returns an error. */
static void ask_events(struct drm_card *card)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_INTERRUPT,
				      .value = (int64_t)tutti_load_relaxed(&card->seen)};
	int error = ioctl(card->fd, DRM_IOCTL_TUTTI_WAIT, &wait);

	if (!error || errno == ETIME) {
		tutti_store_relaxed(&card->seen, (uint64_t)wait.value);
		tutti_store_relaxed(&card->events, wait.events);
	}
}

/*
 * The driver has ended the context, and the queue with it, which the status page does not show. The driver gives the same
 * answer about a queue that another thread is destroying.
 */
static void queue_lost(struct tutti_device *device, unsigned id, uint32_t handle)
{
	struct drm_card *card = drm_card_of(device);
	bool lost;

	pthread_mutex_lock(&card->lock);
	lost = card->queue[id] == handle;
	pthread_mutex_unlock(&card->lock);
	if (lost)
		device_fail(device, "the driver has ended this program's context");
}

/*
 * Several threads may ask at the same time. A late answer is no news: meanwhile the queue may have been reset, or its
 * number may have been given to another queue.
 */
static void take_fault(struct tutti_device *device, unsigned id, const struct drm_tutti_queue_query *query)
{
	struct drm_card *card = drm_card_of(device);
	struct tutti_fault fault;

	memcpy(&fault, query->fault, sizeof(fault));
	fault.queue = (uint16_t)id;
	pthread_mutex_lock(&card->lock);
	if (query->handle == card->queue[id] && query->errors > card->queue_errors[id]) {
		card->queue_errors[id] = query->errors;
		queue_error_take(device, &fault);
	}
	pthread_mutex_unlock(&card->lock);
}

/* The answer about a queue that was lost with its context says what happened to it last. */
static void ask_queue(struct tutti_device *device, unsigned id)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_queue_query query = {.handle = card->queue[id]};
	int error;

	if (!query.handle)
		return;
	error = drm_call(card, DRM_IOCTL_TUTTI_QUEUE_QUERY, &query);
	if (!error || error == -EIO)
		take_fault(device, id, &query);
	if (error == -EIO)
		queue_lost(device, id, query.handle);
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

	ask_events(card);
	events = tutti_load_relaxed(&card->events);
	if (events == tutti_load_relaxed(&card->handled))
		return false;
	tutti_store_relaxed(&card->handled, events);
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++)
		ask_queue(device, i);
	return true;
}

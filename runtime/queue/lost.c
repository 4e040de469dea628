// SPDX-License-Identifier: MIT
#include "queue/lost.h"

#include <stdlib.h>

#include "memory/memory.h"

static void forget_first(struct queue *queue)
{
	struct owed *owed = queue->owed;

	queue->owed = owed->next;
	free(owed);
}

void owed_forget(struct queue *queue)
{
	while (queue->owed)
		forget_first(queue);
}

/* The caller holds device->lock. What stood in the ring a round ago is not known of other packets either. */
static void forget_old(struct queue *queue)
{
	uint64_t written = tutti_load_relaxed(queue->public.write_index);

	while (queue->owed && written - queue->owed->last > queue->public.mask + 1)
		forget_first(queue);
}

int owed_add(struct queue *queue, uint64_t signal, uint64_t first, uint64_t last)
{
	struct owed *owed = malloc(sizeof(*owed));

	if (!owed)
		return -ENOMEM;
	*owed = (struct owed){.signal = signal, .first = first, .last = last};
	pthread_mutex_lock(&queue->device->lock);
	forget_old(queue);
	if (queue->owed)
		queue->owed_last->next = owed;
	else
		queue->owed = owed;
	queue->owed_last = owed;
	pthread_mutex_unlock(&queue->device->lock);
	return 0;
}

bool packets_unfinished(const struct queue *queue, uint64_t first, uint64_t last)
{
	uint64_t failed = queue->error.fault.packet, taken = tutti_load_relaxed(queue->public.read_index);

	if (taken <= last)
		return true;
	/* The kernels of a condensed packet that was taken last may still wait for what has failed. */
	return queue->error.stopped && failed <= last && (failed >= first || taken == last + 1);
}

/* Is @signal among those visited? */
struct search {
	uint64_t signal;
	bool found;
};

static void compare(void *context, uint64_t signal)
{
	struct search *search = context;

	search->found |= signal == search->signal;
}

/* A condensed packet has other bits in the place of a signal; its signals are known to the recording it is from. */
static uint64_t slot_signal(const union tutti_packet *slot, bool ready)
{
	uint32_t type = tutti_load_acquire(&slot->word[0]) & 0xff;

	if (type == TUTTI_PACKET_CONDENSED || (ready && type <= TUTTI_PACKET_INVALID))
		return 0;
	return tutti_load_relaxed(&slot->dispatch.signal);
}

const union tutti_packet *failed_slot(struct queue *queue)
{
	uint64_t index = queue->error.fault.packet;

	if (!queue->error.stopped || tutti_load_relaxed(queue->public.write_index) - index > queue->public.mask + 1)
		return NULL;
	return tutti_queue_slot(&queue->public, index);
}

/* Visits the signals of the packet that has failed and of those that the card has not taken. */
static void each_unfinished(struct queue *queue, void (*visit)(void *context, uint64_t signal), void *context)
{
	uint64_t index, end = tutti_load_acquire(queue->public.write_index);
	const union tutti_packet *failed = failed_slot(queue);

	if (failed)
		visit(context, slot_signal(failed, false));
	index = tutti_load_acquire(queue->public.read_index);
	for (unsigned n = 0; (int64_t)(end - index) > 0 && n <= queue->public.mask; n++, index++)
		visit(context, slot_signal(tutti_queue_slot(&queue->public, index), true));
	if (queue->each_recorded)
		queue->each_recorded(queue, visit, context);
	for (const struct owed *owed = queue->owed; owed; owed = owed->next)
		if (packets_unfinished(queue, owed->first, owed->last))
			visit(context, owed->signal);
}

static bool owes(struct queue *queue, const struct tutti_signal *signal)
{
	struct search search = {.signal = (uintptr_t)signal};

	each_unfinished(queue, compare, &search);
	return search.found;
}

/* Does any packet in the ring name it, be it done or not? */
static bool has_named(struct queue *queue, const struct tutti_signal *signal)
{
	for (uint64_t i = 0; i <= queue->public.mask; i++)
		if (slot_signal(tutti_queue_slot(&queue->public, i), false) == (uintptr_t)signal)
			return true;
	return false;
}

typedef bool judge(struct queue *queue, const struct tutti_signal *signal);

/* Does @judge say yes to any queue but @other? One that goes on by itself after an error does not count as stopped. */
static bool any_queue(struct tutti_device *device, const struct queue *other, bool stopped, judge *judge,
		      const struct tutti_signal *signal)
{
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++) {
		struct queue *queue = device->queue_error[i] ? queue_of(device->queue_error[i]->queue) : NULL;

		if (queue && queue != other && (queue_stopped(queue) && !queue->recovers) == stopped &&
		    judge(queue, signal))
			return true;
	}
	return false;
}

static bool lost_already(struct tutti_device *device, const struct tutti_signal *signal)
{
	if (tutti_load_relaxed(&signal->event) == SIGNAL_ABANDONED && !any_queue(device, NULL, false, owes, signal))
		return true;
	return device->stopped && any_queue(device, NULL, true, owes, signal);
}

/* The caller holds device->lock. */
static void look(struct tutti_device *device, struct signal_watch *watch)
{
	if (lost_already(device, watch->signal))
		tutti_store_relaxed(&watch->lost, true);
}

void watch_begin(struct tutti_device *device, struct signal_watch *watch)
{
	pthread_mutex_lock(&device->lock);
	watch->next = device->watches;
	device->watches = watch;
	look(device, watch);
	pthread_mutex_unlock(&device->lock);
}

bool watch_lost_now(struct tutti_device *device, struct signal_watch *watch)
{
	if (tutti_load_relaxed(&device->stopped) && !watch_lost(watch)) {
		pthread_mutex_lock(&device->lock);
		look(device, watch);
		pthread_mutex_unlock(&device->lock);
	}
	return watch_lost(watch);
}

void watch_end(struct tutti_device *device, struct signal_watch *watch)
{
	struct signal_watch **at;

	pthread_mutex_lock(&device->lock);
	for (at = &device->watches; *at != watch;)
		at = &(*at)->next;
	*at = watch->next;
	pthread_mutex_unlock(&device->lock);
}

/*
 * The value is written last, because whoever sees it may destroy the signal. Waits that watch the signal cannot end before
 * the lock is released.
 */
void lost_by_failure(struct tutti_device *device, struct tutti_signal *signal, int64_t value)
{
	pthread_mutex_lock(&device->lock);
	tutti_store_relaxed(&device->abandons, true);
	tutti_store_relaxed(&signal->event, SIGNAL_ABANDONED);
	tutti_signal_put(signal, value);
	for (struct signal_watch *watch = device->watches; watch; watch = watch->next)
		if (watch->signal == signal)
			tutti_store_release(&watch->lost, true);
	pthread_mutex_unlock(&device->lock);
}

void lost_by_stop(struct queue *queue)
{
	for (struct signal_watch *watch = queue->device->watches; watch; watch = watch->next)
		if (owes(queue, watch->signal))
			tutti_store_relaxed(&watch->lost, true);
}

static void abandon(void *context, uint64_t address)
{
	struct tutti_device *device = context;
	struct tutti_signal *signal = (struct tutti_signal *)(uintptr_t)address;

	if (address && memory_object(device, signal)) {
		tutti_store_relaxed(&signal->event, SIGNAL_ABANDONED);
		tutti_store_relaxed(&device->abandons, true);
	}
}

/*
 * A packet whose slot is free may still have been running. Whether it was cannot be seen, so this is assumed of signals
 * that somebody waits for now and that packets of no other queue have named lately.
 */
void lost_by_destroy(struct queue *queue)
{
	struct tutti_device *device = queue->device;

	for (struct signal_watch *watch = device->watches; watch; watch = watch->next)
		if (owes(queue, watch->signal) ||
		    (has_named(queue, watch->signal) && !any_queue(device, queue, false, has_named, watch->signal)))
			tutti_store_relaxed(&watch->lost, true);
	each_unfinished(queue, abandon, device);
}

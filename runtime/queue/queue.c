// SPDX-License-Identifier: MIT
#include "queue/lost.h"

#include <sched.h>
#include <stdlib.h>

#include "base/sized.h"
#include "device/wait.h"
#include "memory/memory.h"
#include "queue/event.h"

#define PACKETS_DEFAULT	   256u
#define PRIORITY_DEFAULT   5u
#define PRIORITY_LOWEST	   10u
#define TIMEOUT_DEFAULT_MS 10000u

static struct handle_pool pool = HANDLE_POOL(struct queue);

/* A wait until the card has retired packets; the condition in @wait decides what @last means. */
struct progress_wait {
	struct wait wait;
	struct queue *queue;
	uint64_t first, last;
	const struct progress_wait *outer;
};

/* The waits for room of this thread, the innermost first: each may call a handler that waits for room again. */
static _Thread_local const struct progress_wait *rooms;

static int ring_packets(const struct tutti_device *device, uint32_t packets, uint8_t *log2)
{
	const struct tutti_discovery *known = &device->known;

	if (!packets)
		packets = PACKETS_DEFAULT;
	if (packets & (packets - 1))
		return -EINVAL;
	if (packets < known->ring_packets_min)
		packets = known->ring_packets_min;
	if (packets > known->ring_packets_max)
		return -EINVAL;
	*log2 = (uint8_t)__builtin_ctz(packets);
	return 0;
}

static int check_options(struct tutti_device *device, const struct tutti_queue_options *options,
			 uint8_t *log2)
{
	if ((options->flags & ~TUTTI_QUEUE_FLAGS) || options->priority > PRIORITY_LOWEST)
		return -EINVAL;
	if (!(options->flags & TUTTI_QUEUE_EXTENDED) &&
	    (options->rsb ||
	     (options->flags & (TUTTI_QUEUE_OVERLAP | TUTTI_QUEUE_TABLE_DIFFS | TUTTI_QUEUE_RSB))))
		return -EINVAL;
	if (options->rsb && (!handle_live(&options->rsb->handle) || options->rsb->device != device))
		return -EINVAL;
	if (options->ring == TUTTI_MEMORY_CARD && !(device->known.features & TUTTI_FEATURE_CARD_RINGS))
		return -ENOTSUP;
	return ring_packets(device, options->packets, log2);
}

static int queue_attach_rsb(struct queue *queue, const struct tutti_queue_options *options)
{
	int error;

	if (!(options->flags & TUTTI_QUEUE_EXTENDED))
		return 0;
	if (options->rsb) {
		if (!rsb_attach(options->rsb))
			return -EINVAL;
		queue->rsb = options->rsb;
		return 0;
	}
	error = rsb_create(queue->device, options->rsb_in_memory, &queue->rsb);
	if (error)
		return error;
	queue->rsb->of_queues = true;
	queue->rsb->users = 1; /* nobody else knows it yet */
	return 0;
}

static void queue_detach_rsb(struct queue *queue)
{
	if (queue->rsb)
		rsb_detach(queue->rsb, queue);
	queue->rsb = NULL;
}

static int queue_memory(struct queue *queue, const struct tutti_queue_options *options, uint8_t log2)
{
	struct tutti_queue *public = &queue->public;
	size_t packets = (size_t)1 << log2;
	int error;

	error = memory_alloc(queue->device, TUTTI_MEMORY_SYSTEM, TUTTI_PAGE_SIZE, (void **)&queue->words);
	if (error)
		return error;
	error = memory_alloc(queue->device, options->ring, packets * sizeof(*public->ring), (void **)&public->ring);
	if (error)
		return error;
	for (size_t i = 0; i < packets; i++)
	public->ring[i].word[0] = TUTTI_PACKET_INVALID;
	if (options->ring == TUTTI_MEMORY_CARD && queue->device->transport->write_combined)
	public->flags |= TUTTI_QUEUE_WRITE_COMBINED;
	public->mask = packets - 1;
	public->room = packets;
	public->write_index = &queue->words->write_index;
	public->read_index = &queue->words->read_index;
	return tutti_signal_create(queue->device, 0, &queue->copy_signal);
}

/*
 * What the inline functions find in a queue that has gone: no room, so that tutti_queue_reserve() comes to
 * tutti_queue_wait_room(), and words that harm nobody.
 */
static void bury(struct tutti_queue *public)
{
	static union tutti_packet slot;
	static uint64_t write_index, read_index, doorbell;

	*public = (struct tutti_queue){
	    .ring = &slot, .write_index = &write_index, .read_index = &read_index, .doorbell = &doorbell};
}

/* Frees what the card has no access to. */
static void queue_abandon(struct queue *queue)
{
	while (queue->lost_signals) {
		struct lost_signal *lost = queue->lost_signals;

		queue->lost_signals = lost->next;
		free(lost);
	}
	pthread_mutex_destroy(&queue->copy_lock);
	bury(&queue->public);
	handle_free(&pool, &queue->handle);
}

static void queue_free(struct queue *queue)
{
	struct tutti_device *device = queue->device;

	for (struct lost_signal *lost = queue->lost_signals; lost; lost = lost->next)
		signal_free(device, lost->signal);
	queue_detach_rsb(queue);
	signal_free(device, queue->copy_signal);
	memory_free(device, queue->public.ring);
	memory_free(device, queue->words);
	queue_abandon(queue);
}

static void queue_doorbell(struct queue *queue, unsigned id)
{
	struct tutti_device *device = queue->device;
	struct tutti_doorbell_page *page =
	    (void *)(device->bar + device->known.doorbells.offset + (size_t)id * TUTTI_PAGE_SIZE);

	queue->public.id = id;
	queue->public.doorbell = &page->doorbell;
	tutti_store_release(&page->doorbell, TUTTI_DOORBELL_EMPTY);
	if (!(device->known.features & TUTTI_FEATURE_DOORBELL_WAKES))
		queue->public.asleep = &device->status->asleep;
}

static int queue_tell(struct queue *queue, const struct tutti_queue_options *options, uint8_t log2)
{
	uint32_t timeout = options->timeout_ms ? options->timeout_ms : TIMEOUT_DEFAULT_MS;
	const struct transport_queue told = {
	    .id = queue->public.id,
	    .rsb = queue->rsb ? queue->rsb->id : 0,
	    .flags = queue->public.flags & TUTTI_QUEUE_FLAGS,
	    .ring = queue->public.ring,
	    .read_index = queue->public.read_index,
	    .size_log2 = log2,
	    .priority = options->priority ? options->priority : PRIORITY_DEFAULT,
	    .timeout_ms = timeout == UINT32_MAX ? 0 : timeout,
	};

	return queue->device->transport->queue_create(queue->device, &told);
}

/* The caller holds device->lock. The card drops the references of a queue that stops. */
static void queue_halts(struct tutti_queue *public)
{
	struct queue *queue = queue_of(public);

	if (!queue->recovers)
		lost_by_stop(queue);
	if (queue->rsb)
		rsb_forget(queue->rsb, 0, (1u << TUTTI_REFERENCES) - 1);
}

static struct queue *queue_new(struct tutti_device *device, const struct tutti_queue_options *options)
{
	struct queue *queue = handle_new(&pool, &device->handle);

	if (!queue)
		return NULL;
	pthread_mutex_init(&queue->copy_lock, NULL);
	queue->device = device;
	queue->error = (struct queue_error){
	    .queue = &queue->public,
	    .callback = options->error,
	    .context = options->context,
	    .halt = queue_halts,
	};
	queue->public.multi = options->multi;
	queue->public.flags = options->flags & ~TUTTI_QUEUE_RSB;
	return queue;
}

/* Allocates the queue's memory and what the queue needs on the card, but does not create the queue there. */
static int queue_prepare(struct queue *queue, const struct tutti_queue_options *options, uint8_t log2)
{
	int error = queue_attach_rsb(queue, options);

	if (queue->rsb)
		queue->public.flags |= TUTTI_QUEUE_RSB;
	return error ? error : queue_memory(queue, options, log2);
}

/* After -ETIMEDOUT the card may still create the queue, so its number and its memory are not reused. */
static int queue_start(struct queue *queue, const struct tutti_queue_options *options, uint8_t log2)
{
	struct tutti_device *device = queue->device;
	int error, id = id_take(device, device->queue_ids, device->known.max_queues);

	if (id < 0)
		return id;
	queue_doorbell(queue, (unsigned)id);
	queue_error_add(device, (unsigned)id, &queue->error);
	error = queue_tell(queue, options, log2);
	if (!error)
		return 0;
	queue_error_remove(device, (unsigned)id, &queue->error);
	if (error != -ETIMEDOUT)
		id_give(device, device->queue_ids, (unsigned)id);
	return error;
}

int tutti_queue_create(struct tutti_device *device, const struct tutti_queue_options *given,
		       struct tutti_queue **out)
{
	struct tutti_queue_options own = {0}, *options = &own;
	CALL_SCOPE(call);
	CALL_SCOPE(rsb);
	struct queue *queue;
	uint8_t log2;
	int error;

	if (!device_call(&call, device) || !out)
		return -EINVAL;
	error = given ? SIZED_COPY(options, given, bytes) : 0;
	if (!error)
		error = check_options(device, options, &log2);
	if (!error && options->rsb && !rsb_call(&rsb, options->rsb))
		error = -EINVAL;
	if (!error && options->error)
		error = events_start(device);
	if (error)
		return error;
	queue = queue_new(device, options);
	if (!queue)
		return -ENOMEM;
	error = queue_prepare(queue, options, log2);
	if (error) {
		queue_free(queue);
		return error;
	}
	error = queue_start(queue, options, log2);
	if (error == -ETIMEDOUT)
		queue_abandon(queue);
	else if (error)
		queue_free(queue);
	else
		*out = &queue->public;
	return error;
}

void queue_use(struct tutti_device *device, struct queue_user *user, struct queue *queue)
{
	struct queue_user **at;

	pthread_mutex_lock(&device->lock);
	if (user->queue) {
		for (at = &user->queue->users; *at != user;)
			at = &(*at)->next;
		*at = user->next;
	}
	user->gone = false;
	tutti_store_relaxed(&user->queue, queue);
	if (queue) {
		user->next = queue->users;
		queue->users = user;
	}
	pthread_mutex_unlock(&device->lock);
}

/* Clears all references that other objects still have to the queue. */
static void lose_users(struct queue *queue)
{
	pthread_mutex_lock(&queue->device->lock);
	for (; queue->users; queue->users = queue->users->next) {
		tutti_store_relaxed(&queue->users->gone, true);
		tutti_store_release(&queue->users->queue, NULL);
	}
	pthread_mutex_unlock(&queue->device->lock);
}

/* The card forgets the queue, and replies when nothing of it is in flight. */
static int leave_card(struct queue *queue)
{
	struct tutti_device *device = queue->device;
	int error = device->transport->queue_destroy(device, queue->public.id);

	device->transport->poll(device);
	pthread_mutex_lock(&device->lock);
	lost_by_destroy(queue);
	pthread_mutex_unlock(&device->lock);
	return error;
}

int tutti_queue_inactivate(struct tutti_queue *public)
{
	static uint64_t deaf;
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);

	if (!queue_call(&call, public))
		return -EINVAL;
	if (__atomic_exchange_n(&queue->inactive, true, __ATOMIC_ACQ_REL))
		return 0;
	queue->left = leave_card(queue);
	public->doorbell = &deaf;
	public->asleep = NULL;
	queue_error_end(queue->device, &queue->error);
	return queue->left;
}

void queue_destroy(struct queue *queue)
{
	struct tutti_queue *public = &queue->public;
	struct tutti_device *device = queue->device;
	int error = queue->inactive ? queue->left : leave_card(queue);

	queue_error_remove(device, public->id, &queue->error);
	lose_users(queue);
	if (queue->forget_recordings)
		queue->forget_recordings(queue);
	owed_forget(queue);
	if (error &&
	    !device_dead(device)) { /* the card may still use the ring, the words and the doorbell: leak them */
		queue_abandon(queue);
		return;
	}
	id_give(device, device->queue_ids, public->id);
	queue_free(queue);
}

int tutti_queue_destroy(struct tutti_queue *public)
{
	CALL_SCOPE(call);

	if (!public)
		return 0;
	if (!call_begin_owner(&call, &queue_of(public)->handle) || !handle_end(&queue_of(public)->handle))
		return -EINVAL;
	queue_destroy(queue_of(public));
	return 0;
}

int tutti_queue_error(struct tutti_queue *public, struct tutti_fault *fault)
{
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);

	if (!queue_call(&call, public))
		return -EINVAL;
	queue->device->transport->poll(queue->device);
	return (int)queue_error_get(queue->device, &queue->error, fault);
}

int queue_restart(struct queue *queue)
{
	struct tutti_queue *public = &queue->public;
	int error;

	queue_error_clear(queue->device, &queue->error);
	error = queue->device->transport->queue_reset(queue->device, public->id);
	if (!error)
		tutti_queue_ring(public, tutti_load_relaxed(public->write_index) - 1);
	return error;
}

int tutti_queue_reset(struct tutti_queue *public)
{
	CALL_SCOPE(call);

	if (!queue_call(&call, public) || queue_of(public)->inactive)
		return -EINVAL;
	tutti_queue_poll(public); /* deliver an error that has arrived before it is cleared */
	return queue_restart(queue_of(public));
}

static bool no_more(void *context)
{
	return device_pending(context);
}

int tutti_queue_poll(struct tutti_queue *public)
{
	CALL_SCOPE(call);
	struct tutti_device *device;
	int error, gone;

	if (!queue_call(&call, public))
		return -EINVAL;
	device = queue_of(public)->device;
	if (device->run)
		device->run(device, no_more, device);
	error = device_poll(device);
	gone = events_flush(device, &queue_of(public)->handle);
	return error ? error : gone;
}

bool queue_waits_here(const struct queue *queue)
{
	const struct progress_wait *room = rooms;

	while (room && room->queue != queue)
		room = room->outer;
	return room;
}

static bool has_room(const struct progress_wait *room)
{
	const struct tutti_queue *public = &room->queue->public;

	return (int64_t)(room->last - tutti_load_acquire(public->read_index)) <= (int64_t) public->mask;
}

static bool room_satisfied(const struct wait *wait)
{
	const struct progress_wait *room = (const struct progress_wait *)wait;

	return has_room(room) || queue_stopped(room->queue);
}

/* Takes a reservation back, unless there is one of another producer behind it. */
static bool take_back(struct queue *queue, uint64_t first, uint32_t count)
{
	struct tutti_queue *public = &queue->public;
	uint64_t expected = first + count;

	if (public->multi)
		return __atomic_compare_exchange_n(public->write_index, &expected, first, false, __ATOMIC_RELAXED,
						   __ATOMIC_RELAXED);
	tutti_store_relaxed(public->write_index, first);
	return true;
}

/* Takes a reservation back because the queue has stopped, newest slots first. False if the queue runs again. */
static bool give_back(struct queue *queue, uint64_t first, uint32_t count)
{
	while (!take_back(queue, first, count)) {
		if (!queue_stopped(queue) && !device_dead(queue->device))
			return false;
		sched_yield();
	}
	return true;
}

/* Is this called by a handler, before whose return there will be no room, because its thread has to fill earlier slots? */
static bool in_vain(const struct progress_wait *room)
{
	const struct progress_wait *outer = rooms;

	while (outer && (outer->queue != room->queue || room->last - outer->first <= room->queue->public.mask))
		outer = outer->outer;
	return outer;
}

static int refuse(struct queue *queue, uint64_t first, uint32_t count)
{
	while (handle_live(&queue->handle) && !take_back(queue, first, count))
		sched_yield();
	return queue_stopped(queue) ? -EIO : -EBUSY;
}

/* Handlers that are called meanwhile find the wait among those of the thread. */
static int wait_for_room(struct progress_wait *room)
{
	int error;

	room->outer = rooms;
	rooms = room;
	error = wait_for(&room->wait, TUTTI_WAIT_FOREVER);
	rooms = room->outer;
	return error || has_room(room) ? error : -EIO;
}

int tutti_queue_wait_room(struct tutti_queue *public, uint64_t first, uint32_t count)
{
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);
	struct progress_wait room = {
	    .wait = {.satisfied = room_satisfied, .deliver = true},
	    .queue = queue,
	    .first = first,
	    .last = first + count - 1,
	};

	if (!queue_call(&call, public))
		return -EINVAL;
	room.wait.device = queue->device;
	room.wait.handle = &queue->handle;
	if (count > public->mask + 1)
		return -EINVAL; /* nothing was reserved by tutti_queue_reserve() */
	if (in_vain(&room))
		return refuse(queue, first, count);
	for (;;) {
		/* The card must see the packets published without a doorbell so far, or the ring never empties. */
		if (first)
			tutti_queue_ring(public, first - 1);
		if (!wait_for_room(&room))
			break;
		if (!handle_live(&queue->handle) || give_back(queue, first, count))
			return -EIO;
	}
	if (!public->multi)
	public->room = tutti_load_relaxed(public->read_index) + public->mask + 1;
	return 0;
}

void tutti_queue_kick(struct tutti_queue *public)
{
	CALL_SCOPE(call);

	if (queue_call(&call, public))
		queue_of(public)->device->transport->kick(queue_of(public)->device);
}

static bool drained(const struct wait *wait)
{
	const struct progress_wait *drain = (const struct progress_wait *)wait;

	return tutti_load_acquire(drain->queue->public.read_index) >= drain->last ||
	       queue_stopped(drain->queue);
}

int tutti_queue_drain(struct tutti_queue *public, uint64_t timeout_ns)
{
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);
	struct progress_wait drain = {
	    .wait = {.satisfied = drained, .deliver = true},
	    .queue = queue,
	};
	int error = 0;

	if (!queue_call(&call, public))
		return -EINVAL;
	if (queue_waits_here(queue))
		return -EBUSY;
	drain.wait.device = queue->device;
	drain.wait.handle = &queue->handle;
	drain.last = tutti_load_relaxed(public->write_index);
	if (!drained(&drain.wait))
		error = wait_for(&drain.wait, timeout_ns);
	if (!error && tutti_load_acquire(public->read_index) < drain.last)
		error = -EIO;
	return error;
}

struct tutti_device *tutti_queue_device(struct tutti_queue *public)
{
	return queue_live(public) ? queue_of(public)->device : NULL;
}

struct tutti_rsb_object *tutti_queue_rsb(struct tutti_queue *public)
{
	return queue_live(public) ? queue_of(public)->rsb : NULL;
}

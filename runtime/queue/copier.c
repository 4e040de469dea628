// SPDX-License-Identifier: MIT
/*
 * Copies and fills that belong to no queue of the application. They are packets of a queue of the library's own. One
 * that depends on signals becomes a packet when they have been 0, so that it holds nothing up meanwhile; handlers of
 * the signals see to that. One that fails stops the queue, which then goes on with the others.
 */
#include "queue/copier.h"

#include <stdlib.h>

#include "device/wait.h"
#include "queue/handler.h"
#include "queue/queue.h"

#define PACKETS 256u
#define KEPT	(2 * PACKETS) /* a packet may still fail when its slot in the ring has been used again */

/**
 * struct copier - the queue of a device's copies.
 * @done: the signals of the newest copies, by index of the packet
 * @lock: protects @done and the tail of the queue
 */
struct copier {
	struct tutti_device *device;
	struct queue *queue;
	pthread_mutex_t lock;
	tutti_signal_t done[KEPT];
};

/**
 * struct job - a copy that waits for signals.
 * @next: the first of the @count signals that has not been 0 yet
 */
struct job {
	struct copier *copier;
	union tutti_packet packet;
	size_t next, count;
	tutti_signal_t after[];
};

struct room_wait {
	struct wait wait;
	struct queue *queue;
	uint64_t packets;
};

union tutti_packet copier_packet(unsigned type, void *to, uint64_t what, size_t bytes, tutti_signal_t done)
{
	return (union tutti_packet){
	    .agent = {.header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, true, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM),
		      .type = (uint16_t)type,
		      .arg = {(uintptr_t)to, what, bytes},
		      .signal = (uintptr_t)done}};
}

void copier_withdraw(struct queue *queue, uint64_t index)
{
	union tutti_packet *slot = tutti_queue_slot(&queue->public, index);

	memset(&slot->word[1], 0, sizeof(*slot) - sizeof(slot->word[0]));
	tutti_queue_publish(&queue->public, index,
			    tutti_header(TUTTI_PACKET_BARRIER_AND, true, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE));
}

bool copier_signals_ok(struct tutti_device *device, const tutti_signal_t *after, size_t count, tutti_signal_t done)
{
	if (count && !after)
		return false;
	for (size_t i = 0; i < count; i++)
		if (after[i] && !signal_ok(device, after[i]))
			return false;
	return signal_take(device, done);
}

static void fail(struct tutti_device *device, tutti_signal_t done)
{
	if (!done)
		return;
	lost_by_failure(device, done, TUTTI_SIGNAL_CANCELLED);
	tutti_signal_wake(done);
}

/* The packet behind a copy that has failed, if that takes the time of the copy (put_timed()), is to do nothing instead. */
static void withdraw_time(struct queue *queue, uint64_t index, tutti_signal_t done)
{
	const struct tutti_agent_packet *slot = &tutti_queue_slot(&queue->public, index)->agent;

	if (index != tutti_load_relaxed(queue->public.write_index) && slot->type == TUTTI_AGENT_TIME &&
	    slot->signal == (uintptr_t)done)
		copier_withdraw(queue, index);
}

/*
 * The caller holds copier->lock. If the queue has stopped, the copy that did it fails and the others go on. Whoever sees
 * that it has failed may destroy its signal, so no packet must name that any more.
 */
static void recover(struct copier *copier)
{
	struct tutti_fault fault;
	tutti_signal_t done;

	if (!queue_error_get(copier->device, &copier->queue->error, &fault))
		return;
	done = copier->done[fault.packet % KEPT];
	copier->done[fault.packet % KEPT] = NULL;
	if (done)
		withdraw_time(copier->queue, fault.packet + 1, done);
	fail(copier->device, done);
	queue_restart(copier->queue);
}

static void on_error(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	struct copier *copier = context;

	(void)queue, (void)fault;
	pthread_mutex_lock(&copier->lock);
	recover(copier);
	pthread_mutex_unlock(&copier->lock);
}

static bool has_room(const struct queue *queue, uint64_t packets)
{
	return tutti_load_relaxed(queue->public.write_index) - tutti_load_acquire(queue->public.read_index) + packets <=
	       queue->public.mask + 1;
}

static bool room_or_stopped(const struct wait *wait)
{
	const struct room_wait *room = (const struct room_wait *)wait;

	return has_room(room->queue, room->packets) || queue_stopped(room->queue);
}

/* The caller holds copier->lock, so nothing is delivered meanwhile. */
static int make_room(struct copier *copier, uint64_t packets)
{
	struct room_wait room = {
	    .wait = {.device = copier->device, .satisfied = room_or_stopped, .handle = &copier->queue->handle},
	    .queue = copier->queue,
	    .packets = packets};
	int error = 0;

	while (!error && (queue_stopped(copier->queue) || !has_room(copier->queue, packets))) {
		recover(copier);
		error = wait_for(&room.wait, TUTTI_WAIT_FOREVER);
	}
	return error;
}

/* The caller holds copier->lock, and has made room. @done fails if the packet does. */
static int put(struct copier *copier, const union tutti_packet *packet, tutti_signal_t done)
{
	uint64_t index = tutti_load_relaxed(copier->queue->public.write_index);

	copier->done[index % KEPT] = done;
	return tutti_queue_put(&copier->queue->public, packet, &index);
}

/* Stores the card's time behind all earlier packets, and completes @done, if there is one. */
static int put_time(struct copier *copier, uint64_t *time, tutti_signal_t done)
{
	union tutti_packet packet = copier_packet(TUTTI_AGENT_TIME, NULL, 0, 0, done);

	packet.agent.return_address = (uintptr_t)time;
	return put(copier, &packet, done);
}

/* Between two packets that store the time. Nothing is waited for meanwhile, so recover() finds all three or none. */
static int put_timed(struct copier *copier, const union tutti_packet *packet, tutti_signal_t done)
{
	union tutti_packet copy = *packet;
	int error = put_time(copier, &done->start_time, NULL);

	copy.agent.signal = 0;
	if (!error)
		error = put(copier, &copy, done);
	return error ? error : put_time(copier, &done->end_time, done);
}

static int submit(struct copier *copier, const union tutti_packet *packet)
{
	tutti_signal_t done = (tutti_signal_t)(uintptr_t)packet->agent.signal;
	bool timed = done && tutti_load_relaxed(&copier->device->copy_times);
	int error;

	pthread_mutex_lock(&copier->lock);
	error = make_room(copier, timed ? 3 : 1);
	if (!error)
		error = timed ? put_timed(copier, packet, done) : put(copier, packet, done);
	pthread_mutex_unlock(&copier->lock);
	return error;
}

static void fail_job(void *context)
{
	struct job *job = context;

	fail(job->copier->device, (tutti_signal_t)(uintptr_t)job->packet.agent.signal);
	free(job);
}

static bool on_dependency(tutti_signal_t signal, int64_t value, int error, void *context);

/* Negative values are not 0 yet, but the first look at one tells whether it means that work has failed. */
static int wait_for_dependency(struct job *job, enum tutti_condition condition)
{
	const struct handler wanted = {
	    .watch = {.signal = job->after[job->next], .value = condition == TUTTI_LT, .condition = (uint8_t)condition},
	    .fd = NO_FILE,
	    .call = on_dependency,
	    .context = job,
	    .drop = fail_job,
	};

	return handler_add(job->copier->device, &wanted);
}

static void skip_satisfied(struct job *job)
{
	while (job->next < job->count && (!job->after[job->next] || !tutti_signal_load(job->after[job->next])))
		job->next++;
}

static int advance(struct job *job)
{
	int error;

	skip_satisfied(job);
	if (job->next < job->count)
		return wait_for_dependency(job, TUTTI_LT);
	error = submit(job->copier, &job->packet);
	if (!error)
		free(job);
	return error;
}

static bool on_dependency(tutti_signal_t signal, int64_t value, int error, void *context)
{
	struct job *job = context;

	(void)signal;
	if (!error && value < TUTTI_SIGNAL_FAILED)
		error = -EIO;
	else if (!error && value) {
		error = wait_for_dependency(job, TUTTI_EQ);
	} else if (!error) {
		job->next++;
		error = advance(job);
	}
	if (error)
		fail_job(job);
	return false;
}

static int create(struct tutti_device *device)
{
	struct copier *copier = calloc(1, sizeof(*copier));
	struct tutti_queue_options options = {.packets = PACKETS, .multi = true, .error = on_error, .context = copier};
	struct tutti_queue *queue;
	int error;

	if (!copier)
		return -ENOMEM;
	pthread_mutex_init(&copier->lock, NULL);
	copier->device = device;
	error = tutti_queue_create(device, &options, &queue);
	if (error) {
		free(copier);
		return error;
	}
	copier->queue = queue_of(queue);
	copier->queue->recovers = true;
	tutti_store_release(&device->copier, copier);
	return 0;
}

static int find(struct tutti_device *device, struct copier **copier)
{
	int error = 0;

	if (!tutti_load_acquire(&device->copier)) {
		error = events_start(device); /* which takes the lock, too, if there is no event thread yet */
		pthread_mutex_lock(&device->start_lock);
		if (!error && !device->copier)
			error = create(device);
		pthread_mutex_unlock(&device->start_lock);
	}
	*copier = device->copier;
	return error;
}

void copier_fini(struct tutti_device *device)
{
	if (!device->copier)
		return;
	pthread_mutex_destroy(&device->copier->lock);
	free(device->copier);
	device->copier = NULL;
}

static int start(struct tutti_device *device, const union tutti_packet *packet, const tutti_signal_t *after,
		 size_t count)
{
	struct copier *copier;
	struct job *job;
	int error = device_dead(device) ? -EIO : find(device, &copier);

	if (error)
		return error;
	if (count > SIZE_MAX / 2 / sizeof(*after))
		return -ENOMEM;
	job = malloc(sizeof(*job) + count * sizeof(*after));
	if (!job)
		return -ENOMEM;
	*job = (struct job){.copier = copier, .packet = *packet, .count = count};
	if (count)
		memcpy(job->after, after, count * sizeof(*after));
	error = advance(job);
	if (error)
		free(job);
	return error;
}

int tutti_device_copy(struct tutti_device *device, void *to, const void *from, size_t bytes,
		      const tutti_signal_t *after, size_t count, tutti_signal_t done)
{
	CALL_SCOPE(call);
	union tutti_packet packet = copier_packet(TUTTI_AGENT_COPY, to, (uintptr_t)from, bytes, done);

	if (!device_call(&call, device) || !copier_signals_ok(device, after, count, done))
		return -EINVAL;
	return start(device, &packet, after, count);
}

int tutti_device_copy_times(struct tutti_device *device, bool take)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	tutti_store_relaxed(&device->copy_times, take);
	return 0;
}

int tutti_device_fill(struct tutti_device *device, void *to, uint32_t pattern, size_t bytes,
		      const tutti_signal_t *after, size_t count, tutti_signal_t done)
{
	CALL_SCOPE(call);
	union tutti_packet packet = copier_packet(TUTTI_AGENT_FILL, to, pattern, bytes, done);

	if (!device_call(&call, device) || ((uintptr_t)to | bytes) & 3 ||
	    !copier_signals_ok(device, after, count, done))
		return -EINVAL;
	return start(device, &packet, after, count);
}

// SPDX-License-Identifier: MIT
#include "transport/bare/channel.h"

#include "base/say.h"
#include "device/queue_error.h"
#include "device/wait.h"
#include "packet/packet.h"
#include "transport/bare/bare.h"

#define REQUEST_TIMEOUT_NS 10000000000ull

/* A request, on its caller's stack, that waits for its reply until the caller gives up. */
struct pending {
	struct wait wait;
	struct tutti_message *message;
	struct pending *next;
	uint32_t id;
	uint32_t done;
};

struct slot_wait {
	struct wait wait;
	uint32_t tail;
};

void channel_init(struct tutti_device *device)
{
	struct channel *channel = &bare_of(device)->channel;
	const struct tutti_discovery *known = &device->known;

	pthread_mutex_init(&channel->lock, NULL);
	channel->host_ring = (void *)(device->bar + known->host_ring.offset);
	channel->card_ring = (void *)(device->bar + known->card_ring.offset);
	channel->host_slots = known->host_ring.bytes / sizeof(struct tutti_message);
	channel->card_slots = known->card_ring.bytes / sizeof(struct tutti_message);
	channel->tail = tutti_load_relaxed(&device->control->host_ring_tail);
	channel->head = tutti_load_relaxed(&device->control->card_ring_head);
}

void channel_fini(struct tutti_device *device)
{
	pthread_mutex_destroy(&bare_of(device)->channel.lock);
}

bool channel_pending(const struct tutti_device *device)
{
	return tutti_load_relaxed(&device->status->card_ring_tail) !=
	       tutti_load_relaxed(&device->control->card_ring_head);
}

static void take_reply(struct channel *channel, const struct tutti_message *reply)
{
	for (struct pending **p = &channel->pending; *p; p = &(*p)->next) {
		struct pending *pending = *p;

		if (pending->id != reply->id)
			continue;
		*p = pending->next;
		*pending->message = *reply;
		tutti_store_release(&pending->done, 1);
		return;
	}
}

bool channel_poll(struct tutti_device *device)
{
	struct channel *channel = &bare_of(device)->channel;
	struct tutti_message message;
	bool any = false;

	if (!channel_pending(device))
		return false;
	pthread_mutex_lock(&channel->lock);
	while (channel->head != tutti_load_acquire(&device->status->card_ring_tail)) {
		message = channel->card_ring[channel->head % channel->card_slots];
		tutti_store_release(&device->control->card_ring_head, ++channel->head);
		any = true;
		if (message.type == TUTTI_MSG_REPLY)
			take_reply(channel, &message);
		else if (message.type == TUTTI_MSG_QUEUE_ERROR)
			queue_error_take(device, &message.fault);
	}
	pthread_mutex_unlock(&channel->lock);
	return any;
}

static bool slot_free(const struct wait *wait)
{
	const struct slot_wait *room = (const struct slot_wait *)wait;

	return room->tail - tutti_load_acquire(&wait->device->status->host_ring_head) <
	       bare_of(wait->device)->channel.host_slots;
}

/* Waits for room in the host ring. On success it returns with the lock held. */
static int lock_with_room(struct tutti_device *device)
{
	struct channel *channel = &bare_of(device)->channel;
	struct slot_wait room = {.wait = {.device = device, .satisfied = slot_free}};
	int error;

	for (;;) {
		pthread_mutex_lock(&channel->lock);
		room.tail = channel->tail;
		if (slot_free(&room.wait))
			return 0;
		pthread_mutex_unlock(&channel->lock);
		error = wait_for(&room.wait, REQUEST_TIMEOUT_NS);
		if (error)
			return error;
	}
}

static bool pending_satisfied(const struct wait *wait)
{
	return tutti_load_acquire(&((const struct pending *)wait)->done);
}

static void forget(struct channel *channel, struct pending *pending)
{
	pthread_mutex_lock(&channel->lock);
	for (struct pending **p = &channel->pending; *p; p = &(*p)->next) {
		if (*p == pending) {
			*p = pending->next;
			break;
		}
	}
	pthread_mutex_unlock(&channel->lock);
}

static void say_no_answer(struct tutti_device *device, const struct tutti_message *sent)
{
	const struct tutti_status *status = device->status;
	char text[160];

	tutti_message_print(text, sizeof(text), sent);
	say("no answer to %s within %u s (firmware %s, heartbeat %llu, asleep %u)", text,
	    (unsigned)(REQUEST_TIMEOUT_NS / 1000000000u),
	    device_state_name(tutti_load_relaxed(&status->state)),
	    (unsigned long long)tutti_load_relaxed(&status->heartbeat), tutti_load_relaxed(&status->asleep));
}

int channel_request(struct tutti_device *device, struct tutti_message *message)
{
	struct channel *channel = &bare_of(device)->channel;
	struct pending pending = {
	    .wait = {.device = device, .satisfied = pending_satisfied},
	    .message = message,
	};
	struct tutti_message sent = *message;
	int error;

	if (device_dead(device))
		return -EIO;
	error = lock_with_room(device);
	if (error)
		return error;
	do {
		pending.id = ++channel->next_id;
	} while (!pending.id); /* the id 0 is reserved for events */
	sent.id = pending.id;
	pending.next = channel->pending;
	channel->pending = &pending;
	channel->host_ring[channel->tail % channel->host_slots] = sent;
	tutti_store_release(&device->control->host_ring_tail, ++channel->tail);
	pthread_mutex_unlock(&channel->lock);
	tutti_fence();
	if (tutti_load_relaxed(&device->status->asleep))
		device->transport->kick(device);

	error = wait_for(&pending.wait, REQUEST_TIMEOUT_NS);
	if (!error)
		return message->status;
	forget(channel, &pending);
	if (pending_satisfied(&pending.wait))
		return message->status;
	if (error == -ETIMEDOUT)
		say_no_answer(device, &sent);
	return error;
}

int channel_ask(struct tutti_device *device, unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2,
		uint64_t *value)
{
	struct tutti_message message = {.type = (uint16_t)type, .arg = {arg0, arg1, arg2}};
	int error = channel_request(device, &message);

	if (value)
		*value = message.value;
	return error;
}

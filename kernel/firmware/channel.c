// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Requests to the firmware, several in flight, replies by interrupt; and its events (spec SYS-08). */
#include "base/delay.h"
#include "base/trace.h"
#include "card/card.h"
#include "card/gate.h"
#include "firmware/channel.h"

/* An interrupt may be lost: a waiter looks by itself now and then. */
#define POLL_JIFFIES max(1, HZ / 20)

/** struct tutti_request - a request that waits for its reply. */
struct tutti_request {
	struct list_head link;
	struct completion done;
	/** @message: the request, then the reply */
	struct tutti_message *message;
	u32 id;
	/** @epoch: of the channel when the firmware learned what the request names; 0: it names nothing */
	u32 epoch;
	int error;
};

/** tutti_channel_init() - @event is told what the firmware says unasked. */
void tutti_channel_init(struct tutti_device *tdev, tutti_channel_event event)
{
	struct tutti_channel *channel = &tdev->channel;

	spin_lock_init(&channel->lock);
	INIT_LIST_HEAD(&channel->pending);
	init_waitqueue_head(&channel->room);
	channel->event = event;
	channel->host_slots = tdev->known.host_ring.bytes / sizeof(struct tutti_message);
	channel->card_slots = tdev->known.card_ring.bytes / sizeof(struct tutti_message);
}

/** tutti_channel_open() - the firmware has booted: messages may flow. */
void tutti_channel_open(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;

	spin_lock(&channel->lock);
	WRITE_ONCE(channel->tail, readl(tutti_control_at(tdev, host_ring_tail)));
	channel->head = readl(tutti_control_at(tdev, card_ring_head));
	WRITE_ONCE(channel->epoch, channel->epoch + 1);
	WRITE_ONCE(channel->open, true);
	spin_unlock(&channel->lock);
}

/** tutti_channel_close() - no message passes: who waits for an answer gets -EIO now, and so do later ones. */
void tutti_channel_close(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;
	struct tutti_request *request, *next;

	spin_lock(&channel->lock);
	WRITE_ONCE(channel->open, false);
	list_for_each_entry_safe(request, next, &channel->pending, link) {
		list_del_init(&request->link);
		request->error = -EIO;
		complete(&request->done);
	}
	spin_unlock(&channel->lock);
	wake_up_all(&channel->room);
}

static void tutti_channel_take_reply(struct tutti_channel *channel, const struct tutti_message *reply)
{
	struct tutti_request *request;

	lockdep_assert_held(&channel->lock);
	list_for_each_entry(request, &channel->pending, link) {
		if (request->id != reply->id)
			continue;
		list_del_init(&request->link);
		*request->message = *reply;
		request->error = reply->status;
		complete(&request->done);
		return;
	}
}

/* Takes one message off the card ring; false: there is none. */
static bool tutti_channel_take_message(struct tutti_device *tdev, struct tutti_message *message)
{
	struct tutti_channel *channel = &tdev->channel;
	u32 tail;

	lockdep_assert_held(&channel->lock);
	if (!channel->open) /* the card may be off */
		return false;
	tail = tutti_status(tdev, card_ring_tail);
	if (tail == channel->head)
		return false;
	if (tail - channel->head > channel->card_slots) { /* all ones, or nonsense */
		WRITE_ONCE(channel->open, false);
		tutti_gate_trigger(tdev, TUTTI_RUNG_FIRMWARE, "the firmware's messages make no sense");
		return false;
	}
	memcpy_fromio(message, tdev->window + tdev->known.card_ring.offset +
		      (channel->head % channel->card_slots) * sizeof(*message), sizeof(*message));
	writel(++channel->head, tutti_control_at(tdev, card_ring_head));
	return true;
}

/*
 * In the order of the ring, which several threads may read: when the destruction of a queue is answered, all events of
 * the queue have been looked at, and so none meets a later queue of the same number.
 */
static void tutti_channel_deliver(struct tutti_device *tdev, const struct tutti_message *message)
{
	if (message->type == TUTTI_MSG_REPLY) {
		trace_tutti_message_reply(message);
		tutti_channel_take_reply(&tdev->channel, message);
	} else {
		tutti_delay_busy(TUTTI_DELAY_event);
		tdev->channel.event(tdev, message);
	}
}

/* A hint, without the lock: who is woken tries with it. */
static bool tutti_channel_may_send(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;

	return !READ_ONCE(channel->open) ||
	       READ_ONCE(channel->tail) - tutti_status(tdev, host_ring_head) < channel->host_slots;
}

/** tutti_channel_poll() - take what the firmware has said. From threads only. */
void tutti_channel_poll(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;
	struct tutti_message message;
	bool more;

	do {
		spin_lock(&channel->lock);
		more = tutti_channel_take_message(tdev, &message);
		if (more)
			tutti_channel_deliver(tdev, &message);
		spin_unlock(&channel->lock);
	} while (more);
	if (tutti_channel_may_send(tdev)) /* hundreds may wait and poll, and shall not wake each other for nothing */
		wake_up_all(&channel->room);
}

/* 0: sent; -EAGAIN: the ring is full; -EIO: no firmware, or not the one that was meant. */
static int tutti_channel_try_send(struct tutti_device *tdev, struct tutti_request *request)
{
	struct tutti_channel *channel = &tdev->channel;
	int error = -EIO;

	spin_lock(&channel->lock);
	if (!channel->open || (request->epoch && request->epoch != channel->epoch))
		goto unlock;
	error = -EAGAIN;
	if (channel->tail - tutti_status(tdev, host_ring_head) >= channel->host_slots)
		goto unlock;
	do {
		request->id = ++channel->next_id;
	} while (!request->id);
	request->message->id = request->id;
	list_add_tail(&request->link, &channel->pending);
	memcpy_toio(tdev->window + tdev->known.host_ring.offset +
		    (channel->tail % channel->host_slots) * sizeof(*request->message),
		    request->message, sizeof(*request->message));
	trace_tutti_message_send(request->message);
	wmb(); /* the message before the index that publishes it */
	WRITE_ONCE(channel->tail, channel->tail + 1);
	writel(channel->tail, tutti_control_at(tdev, host_ring_tail));
	error = 0;
unlock:
	spin_unlock(&channel->lock);
	if (!error)
		tutti_card_kick_if_asleep(tdev);
	return error;
}

/* While the firmware takes messages off a full ring it is busy, and not dead: the time begins anew. */
static int tutti_channel_send(struct tutti_device *tdev, struct tutti_request *request, unsigned long patience)
{
	unsigned long end = jiffies + patience;
	u32 head = tutti_status(tdev, host_ring_head);
	int error;

	while ((error = tutti_channel_try_send(tdev, request)) == -EAGAIN) {
		if (!tutti_card_is_there(tdev))
			return -EIO;
		if (head != tutti_status(tdev, host_ring_head))
			end = jiffies + patience;
		else if (time_after(jiffies, end))
			return -ETIMEDOUT;
		head = tutti_status(tdev, host_ring_head);
		wait_event_timeout(tdev->channel.room, tutti_channel_may_send(tdev), POLL_JIFFIES);
		tutti_channel_poll(tdev);
	}
	return error;
}

static int tutti_channel_wait_reply(struct tutti_device *tdev, struct tutti_request *request, unsigned long end)
{
	while (!wait_for_completion_timeout(&request->done, POLL_JIFFIES)) {
		tutti_channel_poll(tdev);
		if (completion_done(&request->done))
			continue;
		if (!tutti_card_is_there(tdev))
			return -EIO;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
	}
	return request->error;
}

static void tutti_channel_forget(struct tutti_channel *channel, struct tutti_request *request)
{
	spin_lock(&channel->lock);
	list_del_init(&request->link);
	spin_unlock(&channel->lock);
}

/**
 * tutti_channel_request() - send a request and wait for its reply.
 * @tdev: device, between drm_dev_enter() and drm_dev_exit()
 * @message: the request; becomes the reply
 * @epoch: of the channel when the firmware learned what the request names; 0: it names nothing that a reset takes away
 * @timeout_ms: the longest wait
 *
 * The wait cannot be interrupted, since the firmware acts on the request anyway and the caller must know the outcome.
 * It ends by its timeout, or at once when the channel is closed, or soon when the card has gone.
 *
 * Return: 0, the status of the reply, -ETIMEDOUT, or -EIO when the channel is closed, the epoch is over, or there is no
 * card.
 */
int tutti_channel_request(struct tutti_device *tdev, struct tutti_message *message, u32 epoch, u32 timeout_ms)
{
	struct tutti_request request = { .message = message, .epoch = epoch };
	int error;

	init_completion(&request.done);
	INIT_LIST_HEAD(&request.link);
	error = tutti_channel_send(tdev, &request, msecs_to_jiffies(timeout_ms));
	if (!error)
		error = tutti_channel_wait_reply(tdev, &request, jiffies + msecs_to_jiffies(timeout_ms));
	tutti_channel_forget(&tdev->channel, &request);
	return error;
}

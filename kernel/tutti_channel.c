// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Typed messages to the firmware; several in flight, replies by interrupt (spec SYS-08). */
#include <linux/delay.h>
#include <linux/moduleparam.h>

#include "tutti_device.h"
#include "tutti_trace.h"

static uint request_timeout_ms = 5000;
module_param(request_timeout_ms, uint, 0644);
MODULE_PARM_DESC(request_timeout_ms, "longest wait for an answer of the firmware (5000)");

/* An interrupt may be lost: a waiter looks by itself now and then. */
#define POLL_JIFFIES max(1, HZ / 20)

struct pending {
	struct list_head link;
	struct completion done;
	struct tutti_message *message;
	u32 id;
	int error;
};

static const char *message_name(u32 type)
{
	static const char *const names[] = {
		[TUTTI_MSG_PING] = "PING",
		[TUTTI_MSG_CONTEXT_CREATE] = "CONTEXT_CREATE",
		[TUTTI_MSG_CONTEXT_DESTROY] = "CONTEXT_DESTROY",
		[TUTTI_MSG_TLB_INVALIDATE] = "TLB_INVALIDATE",
		[TUTTI_MSG_CODE_INVALIDATE] = "CODE_INVALIDATE",
		[TUTTI_MSG_QUEUE_CREATE] = "QUEUE_CREATE",
		[TUTTI_MSG_QUEUE_DESTROY] = "QUEUE_DESTROY",
		[TUTTI_MSG_QUEUE_RESET] = "QUEUE_RESET",
		[TUTTI_MSG_QUEUE_QUERY] = "QUEUE_QUERY",
		[TUTTI_MSG_RSB_CREATE] = "RSB_CREATE",
		[TUTTI_MSG_RSB_DESTROY] = "RSB_DESTROY",
		[TUTTI_MSG_RSB_INVALIDATE] = "RSB_INVALIDATE",
		[TUTTI_MSG_RSB_READ] = "RSB_READ",
		[TUTTI_MSG_SM_ENABLE] = "SM_ENABLE",
		[TUTTI_MSG_POLICY] = "POLICY",
		[TUTTI_MSG_SUSPEND] = "SUSPEND",
		[TUTTI_MSG_RESUME] = "RESUME",
		[TUTTI_MSG_TASK_CANCEL] = "TASK_CANCEL",
		[TUTTI_MSG_COUNTERS] = "COUNTERS",
		[TUTTI_MSG_QUEUE_NOTIFY] = "QUEUE_NOTIFY",
		[TUTTI_MSG_LOAD] = "LOAD",
		[TUTTI_MSG_OCCUPANCY] = "OCCUPANCY",
	};

	return type < ARRAY_SIZE(names) && names[type] ? names[type] : "?";
}

void tutti_channel_init(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;

	spin_lock_init(&channel->lock);
	INIT_LIST_HEAD(&channel->pending);
	init_waitqueue_head(&channel->room);
}

/** tutti_channel_post_reset() - the firmware has booted: messages may flow. */
void tutti_channel_post_reset(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;

	spin_lock(&channel->lock);
	channel->host_slots = tdev->known.host_ring.bytes / sizeof(struct tutti_message);
	channel->card_slots = tdev->known.card_ring.bytes / sizeof(struct tutti_message);
	channel->tail = readl(tutti_control_at(tdev, host_ring_tail));
	channel->head = readl(tutti_control_at(tdev, card_ring_head));
	channel->open = true;
	spin_unlock(&channel->lock);
}

/** tutti_channel_pre_reset() - whoever waits for an answer gets -EIO now, and so do later ones. */
void tutti_channel_pre_reset(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;
	struct pending *pending, *next;

	spin_lock(&channel->lock);
	channel->open = false;
	list_for_each_entry_safe(pending, next, &channel->pending, link) {
		list_del_init(&pending->link);
		pending->error = -EIO;
		complete(&pending->done);
	}
	spin_unlock(&channel->lock);
	wake_up_all(&channel->room);
}

static void take_reply(struct tutti_channel *channel, const struct tutti_message *reply)
{
	struct pending *pending;

	list_for_each_entry(pending, &channel->pending, link) {
		if (pending->id != reply->id)
			continue;
		list_del_init(&pending->link);
		*pending->message = *reply;
		pending->error = reply->status;
		complete(&pending->done);
		return;
	}
}

/* Takes one message off the card ring; false: there is none. */
static bool take_message(struct tutti_device *tdev, struct tutti_message *message)
{
	struct tutti_channel *channel = &tdev->channel;
	u32 tail = tutti_status(tdev, card_ring_tail);

	if (!channel->open || tail == channel->head)
		return false;
	if (tail - channel->head > channel->card_slots) { /* all ones, or nonsense */
		channel->open = false;
		return false;
	}
	memcpy_fromio(message, tdev->window + tdev->known.card_ring.offset +
		      (channel->head % channel->card_slots) * sizeof(*message), sizeof(*message));
	writel(++channel->head, tutti_control_at(tdev, card_ring_head));
	return true;
}

/** tutti_channel_poll() - take what the firmware has said. From threads only. */
void tutti_channel_poll(struct tutti_device *tdev)
{
	struct tutti_channel *channel = &tdev->channel;
	struct tutti_message message;
	bool more;

	do {
		spin_lock(&channel->lock);
		more = take_message(tdev, &message);
		if (more && message.type == TUTTI_MSG_REPLY) {
			trace_tutti_message_reply(&message);
			take_reply(channel, &message);
		}
		spin_unlock(&channel->lock);
		if (more && message.type == TUTTI_MSG_QUEUE_ERROR)
			tutti_event_error(tdev, &message.fault);
	} while (more);
	wake_up_all(&channel->room);
}

/* 0: sent; -EAGAIN: the ring is full; -EIO: no firmware. */
static int try_send(struct tutti_device *tdev, struct pending *pending)
{
	struct tutti_channel *channel = &tdev->channel;
	int error = -EIO;

	spin_lock(&channel->lock);
	if (!channel->open)
		goto unlock;
	error = -EAGAIN;
	if (channel->tail - tutti_status(tdev, host_ring_head) >= channel->host_slots)
		goto unlock;
	do {
		pending->id = ++channel->next_id;
	} while (!pending->id);
	pending->message->id = pending->id;
	list_add_tail(&pending->link, &channel->pending);
	memcpy_toio(tdev->window + tdev->known.host_ring.offset +
		    (channel->tail % channel->host_slots) * sizeof(*pending->message),
		    pending->message, sizeof(*pending->message));
	trace_tutti_message_send(pending->message);
	wmb(); /* the message before the index that publishes it */
	writel(++channel->tail, tutti_control_at(tdev, host_ring_tail));
	error = 0;
unlock:
	spin_unlock(&channel->lock);
	if (!error)
		tutti_kick_if_asleep(tdev);
	return error;
}

static int wait_reply(struct tutti_device *tdev, struct pending *pending, unsigned long end)
{
	while (!wait_for_completion_timeout(&pending->done, POLL_JIFFIES)) {
		tutti_channel_poll(tdev);
		if (time_after(jiffies, end) && !completion_done(&pending->done))
			return -ETIMEDOUT;
	}
	return pending->error;
}

static void forget(struct tutti_channel *channel, struct pending *pending)
{
	spin_lock(&channel->lock);
	list_del_init(&pending->link);
	spin_unlock(&channel->lock);
}

/*
 * Not interruptible: the firmware does it anyway, and the caller must know. Bounded by
 * request_timeout_ms, and cut short by a reset.
 */
static int request(struct tutti_device *tdev, struct tutti_message *message)
{
	unsigned long end = jiffies + msecs_to_jiffies(request_timeout_ms);
	struct pending pending = { .message = message };
	u16 type = message->type;
	u64 arg = message->arg[0];
	int error, index;

	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	init_completion(&pending.done);
	INIT_LIST_HEAD(&pending.link);
	while ((error = try_send(tdev, &pending)) == -EAGAIN && time_before(jiffies, end)) {
		wait_event_timeout(tdev->channel.room, !READ_ONCE(tdev->channel.open), POLL_JIFFIES);
		tutti_channel_poll(tdev);
	}
	if (!error)
		error = wait_reply(tdev, &pending, end);
	else if (error == -EAGAIN)
		error = -ETIMEDOUT;
	forget(&tdev->channel, &pending);
	if (error == -ETIMEDOUT) {
		drm_err(&tdev->drm, "no answer to %s within %u ms (firmware state %u, asleep %u, heartbeat %u)\n",
			message_name(type), request_timeout_ms, tutti_status(tdev, state),
			tutti_status(tdev, asleep), tutti_status(tdev, heartbeat));
		tutti_recovery_unanswered(tdev, type, arg);
	}
	drm_dev_exit(index);
	return error == -TUTTI_ENOTSUP ? -EOPNOTSUPP : error;
}

static int request_args(struct tutti_device *tdev, u16 type, u64 arg0, u64 arg1, u64 arg2)
{
	struct tutti_message message = { .type = type, .arg = { arg0, arg1, arg2 } };

	return request(tdev, &message);
}

int tutti_msg_ping(struct tutti_device *tdev, u64 value)
{
	struct tutti_message message = { .type = TUTTI_MSG_PING, .arg = { value } };
	int error = request(tdev, &message);

	return error ? error : message.value == value ? 0 : -EPROTO;
}

int tutti_msg_context_create(struct tutti_device *tdev, u32 asid, u64 root, u64 print_ring)
{
	struct tutti_message message = {
		.type = TUTTI_MSG_CONTEXT_CREATE,
		.context = { .asid = asid, .root = root, .print_ring = print_ring },
	};

	return request(tdev, &message);
}

int tutti_msg_context_destroy(struct tutti_device *tdev, u32 asid)
{
	return request_args(tdev, TUTTI_MSG_CONTEXT_DESTROY, asid, 0, 0);
}

int tutti_msg_tlb_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes)
{
	return request_args(tdev, TUTTI_MSG_TLB_INVALIDATE, asid, address, bytes);
}

int tutti_msg_code_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes)
{
	return request_args(tdev, TUTTI_MSG_CODE_INVALIDATE, asid, address, bytes);
}

int tutti_msg_queue_create(struct tutti_device *tdev, const struct tutti_msg_queue *queue)
{
	struct tutti_message message = { .type = TUTTI_MSG_QUEUE_CREATE, .queue = *queue };

	return request(tdev, &message);
}

int tutti_msg_queue_destroy(struct tutti_device *tdev, u32 queue)
{
	return request_args(tdev, TUTTI_MSG_QUEUE_DESTROY, queue, 0, 0);
}

int tutti_msg_queue_reset(struct tutti_device *tdev, u32 queue)
{
	return request_args(tdev, TUTTI_MSG_QUEUE_RESET, queue, 0, 0);
}

/** tutti_msg_queue_gone() - wait until the firmware does not know the queue any more. */
int tutti_msg_queue_gone(struct tutti_device *tdev, u32 queue)
{
	unsigned long end = jiffies + msecs_to_jiffies(request_timeout_ms);
	int error;

	do {
		error = request_args(tdev, TUTTI_MSG_QUEUE_QUERY, queue, 0, 0);
		if (error)
			return error == -ENOENT ? 0 : error;
		msleep(20);
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

/** tutti_msg_queue_notify() - one interrupt, when so many packets have retired. */
int tutti_msg_queue_notify(struct tutti_device *tdev, u32 queue, u64 packet)
{
	return request_args(tdev, TUTTI_MSG_QUEUE_NOTIFY, queue, packet, 0);
}

int tutti_msg_rsb_create(struct tutti_device *tdev, const struct tutti_msg_rsb *rsb)
{
	struct tutti_message message = { .type = TUTTI_MSG_RSB_CREATE, .rsb = *rsb };

	return request(tdev, &message);
}

int tutti_msg_rsb_destroy(struct tutti_device *tdev, u32 rsb)
{
	return request_args(tdev, TUTTI_MSG_RSB_DESTROY, rsb, 0, 0);
}

int tutti_msg_rsb_invalidate(struct tutti_device *tdev, u32 rsb, u32 mask)
{
	return request_args(tdev, TUTTI_MSG_RSB_INVALIDATE, rsb, mask, 0);
}

int tutti_msg_rsb_read(struct tutti_device *tdev, u32 rsb, u64 offset)
{
	return request_args(tdev, TUTTI_MSG_RSB_READ, rsb, offset, 0);
}

int tutti_msg_sm_enable(struct tutti_device *tdev, u64 first, u64 sms, u64 enable)
{
	return request_args(tdev, TUTTI_MSG_SM_ENABLE, first, sms, enable);
}

int tutti_msg_policy(struct tutti_device *tdev, u64 policy, u64 value)
{
	return request_args(tdev, TUTTI_MSG_POLICY, policy, value, 0);
}

int tutti_msg_policy_ask(struct tutti_device *tdev, u64 policy, u64 which, u64 *value)
{
	struct tutti_message message = { .type = TUTTI_MSG_POLICY, .arg = { policy, which, 1 } };
	int error = request(tdev, &message);

	if (!error)
		*value = message.value;
	return error;
}

int tutti_msg_task_cancel(struct tutti_device *tdev, u32 queue, u64 packet)
{
	return request_args(tdev, TUTTI_MSG_TASK_CANCEL, queue, packet, 0);
}

int tutti_msg_counters(struct tutti_device *tdev)
{
	return request_args(tdev, TUTTI_MSG_COUNTERS, 0, 0, 0);
}

/** tutti_msg_load() - how full the card is; @reply as in message.h. */
int tutti_msg_load(struct tutti_device *tdev, struct tutti_message *reply)
{
	*reply = (struct tutti_message){ .type = TUTTI_MSG_LOAD };
	return request(tdev, reply);
}

/** tutti_msg_occupancy() - @message->occupancy is the question; becomes the reply. */
int tutti_msg_occupancy(struct tutti_device *tdev, struct tutti_message *message)
{
	message->type = TUTTI_MSG_OCCUPANCY;
	return request(tdev, message);
}

int tutti_msg_suspend(struct tutti_device *tdev)
{
	return request_args(tdev, TUTTI_MSG_SUSPEND, 0, 0, 0);
}

int tutti_msg_resume(struct tutti_device *tdev)
{
	return request_args(tdev, TUTTI_MSG_RESUME, 0, 0, 0);
}

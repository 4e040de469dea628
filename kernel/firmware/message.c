// SPDX-License-Identifier: GPL-2.0 OR MIT
/* One sender for each message to the firmware (spec SYS-08; include/tutti/message.h). */
#include <linux/delay.h>
#include <linux/moduleparam.h>

#include "card/card.h"
#include "card/gate.h"
#include "firmware/channel.h"
#include "firmware/message.h"

static uint request_timeout_ms = 5000;
module_param(request_timeout_ms, uint, 0644);
MODULE_PARM_DESC(request_timeout_ms, "longest wait for an answer of the firmware (5000)");

static const char *tutti_message_name(u32 type)
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

/* Who asks for these knows better what a firmware that does not answer means. */
static bool tutti_message_is_callers(u32 type)
{
	return type == TUTTI_MSG_SUSPEND || type == TUTTI_MSG_QUEUE_DESTROY || type == TUTTI_MSG_QUEUE_RESET ||
	       type == TUTTI_MSG_TASK_CANCEL;
}

static void tutti_message_unanswered(struct tutti_device *tdev, u32 type)
{
	drm_err(&tdev->drm, "no answer to %s within %u ms (firmware state %u, asleep %u, heartbeat %u)\n",
		tutti_message_name(type), READ_ONCE(request_timeout_ms), tutti_status(tdev, state),
		tutti_status(tdev, asleep), tutti_status(tdev, heartbeat));
	if (!tutti_message_is_callers(type))
		tutti_gate_trigger(tdev, TUTTI_RUNG_FIRMWARE, "the firmware does not answer");
}

static int tutti_message_send_in(struct tutti_device *tdev, u32 epoch, struct tutti_message *message)
{
	u16 type = message->type;
	int error, index;

	lockdep_assert_not_held(&tdev->memory_lock);
	lockdep_assert_not_held(&tdev->view_sem);
	if (!drm_dev_enter(&tdev->drm, &index))
		return -ENODEV;
	error = tutti_channel_request(tdev, message, epoch, READ_ONCE(request_timeout_ms));
	if (error == -ETIMEDOUT)
		tutti_message_unanswered(tdev, type);
	drm_dev_exit(index);
	return error == -TUTTI_ENOTSUP ? -EOPNOTSUPP : error;
}

static int tutti_message_send(struct tutti_device *tdev, struct tutti_message *message)
{
	return tutti_message_send_in(tdev, 0, message);
}

/* About an object of that epoch. */
static int tutti_message_send_about(struct tutti_device *tdev, u32 epoch, u16 type, u32 id, u64 arg)
{
	struct tutti_message message = { .type = type, .arg = { id, arg } };

	return tutti_message_send_in(tdev, epoch, &message);
}

static int tutti_message_send_args(struct tutti_device *tdev, u16 type, u64 arg0, u64 arg1, u64 arg2)
{
	struct tutti_message message = { .type = type, .arg = { arg0, arg1, arg2 } };

	return tutti_message_send(tdev, &message);
}

int tutti_message_ping(struct tutti_device *tdev, u64 value)
{
	struct tutti_message message = { .type = TUTTI_MSG_PING, .arg = { value } };
	int error = tutti_message_send(tdev, &message);

	return error ? error : message.value == value ? 0 : -EPROTO;
}

int tutti_message_context_create(struct tutti_device *tdev, u32 asid, u64 root, u64 print_ring)
{
	struct tutti_message message = {
		.type = TUTTI_MSG_CONTEXT_CREATE,
		.context = { .asid = asid, .root = root, .print_ring = print_ring },
	};

	return tutti_message_send(tdev, &message);
}

int tutti_message_context_destroy(struct tutti_device *tdev, u32 epoch, u32 asid)
{
	return tutti_message_send_about(tdev, epoch, TUTTI_MSG_CONTEXT_DESTROY, asid, 0);
}

int tutti_message_tlb_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_TLB_INVALIDATE, asid, address, bytes);
}

int tutti_message_code_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_CODE_INVALIDATE, asid, address, bytes);
}

int tutti_message_queue_create(struct tutti_device *tdev, const struct tutti_msg_queue *queue)
{
	struct tutti_message message = { .type = TUTTI_MSG_QUEUE_CREATE, .queue = *queue };

	return tutti_message_send(tdev, &message);
}

int tutti_message_queue_destroy(struct tutti_device *tdev, u32 epoch, u32 queue)
{
	return tutti_message_send_about(tdev, epoch, TUTTI_MSG_QUEUE_DESTROY, queue, 0);
}

int tutti_message_queue_reset(struct tutti_device *tdev, u32 queue)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_QUEUE_RESET, queue, 0, 0);
}

/** tutti_message_queue_gone() - wait until the firmware does not know the queue any more. */
int tutti_message_queue_gone(struct tutti_device *tdev, u32 queue)
{
	unsigned long end = jiffies + msecs_to_jiffies(READ_ONCE(request_timeout_ms));
	int error;

	do {
		error = tutti_message_send_args(tdev, TUTTI_MSG_QUEUE_QUERY, queue, 0, 0);
		if (error)
			return error == -ENOENT ? 0 : error;
		msleep(20);
	} while (time_before(jiffies, end));
	return -ETIMEDOUT;
}

/** tutti_message_queue_notify() - one interrupt, when so many packets have retired. */
int tutti_message_queue_notify(struct tutti_device *tdev, u32 epoch, u32 queue, u64 packet)
{
	return tutti_message_send_about(tdev, epoch, TUTTI_MSG_QUEUE_NOTIFY, queue, packet);
}

int tutti_message_rsb_create(struct tutti_device *tdev, const struct tutti_msg_rsb *rsb)
{
	struct tutti_message message = { .type = TUTTI_MSG_RSB_CREATE, .rsb = *rsb };

	return tutti_message_send(tdev, &message);
}

int tutti_message_rsb_destroy(struct tutti_device *tdev, u32 epoch, u32 rsb)
{
	return tutti_message_send_about(tdev, epoch, TUTTI_MSG_RSB_DESTROY, rsb, 0);
}

int tutti_message_rsb_invalidate(struct tutti_device *tdev, u32 rsb, u32 mask)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_RSB_INVALIDATE, rsb, mask, 0);
}

int tutti_message_rsb_read(struct tutti_device *tdev, u32 rsb, u64 offset)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_RSB_READ, rsb, offset, 0);
}

int tutti_message_sm_enable(struct tutti_device *tdev, u64 first, u64 sms, u64 enable)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_SM_ENABLE, first, sms, enable);
}

int tutti_message_policy(struct tutti_device *tdev, u64 policy, u64 value)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_POLICY, policy, value, 0);
}

int tutti_message_policy_ask(struct tutti_device *tdev, u64 policy, u64 which, u64 *value)
{
	struct tutti_message message = { .type = TUTTI_MSG_POLICY, .arg = { policy, which, 1 } };
	int error = tutti_message_send(tdev, &message);

	if (!error)
		*value = message.value;
	return error;
}

int tutti_message_task_cancel(struct tutti_device *tdev, u32 queue, u64 packet)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_TASK_CANCEL, queue, packet, 0);
}

int tutti_message_counters(struct tutti_device *tdev)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_COUNTERS, 0, 0, 0);
}

/** tutti_message_load() - how full the card is; @reply as in message.h. */
int tutti_message_load(struct tutti_device *tdev, struct tutti_message *reply)
{
	*reply = (struct tutti_message){ .type = TUTTI_MSG_LOAD };
	return tutti_message_send(tdev, reply);
}

/** tutti_message_occupancy() - @message->occupancy is the question; becomes the reply. */
int tutti_message_occupancy(struct tutti_device *tdev, struct tutti_message *message)
{
	message->type = TUTTI_MSG_OCCUPANCY;
	return tutti_message_send(tdev, message);
}

int tutti_message_suspend(struct tutti_device *tdev)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_SUSPEND, 0, 0, 0);
}

int tutti_message_resume(struct tutti_device *tdev)
{
	return tutti_message_send_args(tdev, TUTTI_MSG_RESUME, 0, 0, 0);
}

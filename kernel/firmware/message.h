/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * One sender for each message to the firmware. Each waits for the answer and returns 0, -errno as the firmware said,
 * -EOPNOTSUPP for a message that it does not know, -ENODEV, -EIO when a reset begins, or -ETIMEDOUT. The last has
 * triggered a reset of the card; only after SUSPEND, QUEUE_DESTROY, QUEUE_RESET and TASK_CANCEL the caller decides.
 *
 * Those that are sent without reset_sem, when a file is closed or an interrupt is asked for, name the epoch of their
 * object (tutti_object.epoch): after a reset they are -EIO, and do not meet the next object of the same number.
 */
#ifndef TUTTI_KERNEL_MESSAGE_H
#define TUTTI_KERNEL_MESSAGE_H

#include "base/device.h"

int tutti_message_ping(struct tutti_device *tdev, u64 value);
int tutti_message_context_create(struct tutti_device *tdev, u32 asid, u64 root, u64 print_ring);
int tutti_message_context_destroy(struct tutti_device *tdev, u32 epoch, u32 asid);
int tutti_message_tlb_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes);
int tutti_message_code_invalidate(struct tutti_device *tdev, u32 asid, u64 address, u64 bytes);
int tutti_message_queue_create(struct tutti_device *tdev, const struct tutti_msg_queue *queue);
int tutti_message_queue_destroy(struct tutti_device *tdev, u32 epoch, u32 queue);
int tutti_message_queue_reset(struct tutti_device *tdev, u32 queue);
int tutti_message_queue_gone(struct tutti_device *tdev, u32 queue);
int tutti_message_queue_notify(struct tutti_device *tdev, u32 epoch, u32 queue, u64 packet);
int tutti_message_rsb_create(struct tutti_device *tdev, const struct tutti_msg_rsb *rsb);
int tutti_message_rsb_destroy(struct tutti_device *tdev, u32 epoch, u32 rsb);
int tutti_message_rsb_invalidate(struct tutti_device *tdev, u32 rsb, u32 mask);
int tutti_message_rsb_read(struct tutti_device *tdev, u32 rsb, u64 offset);
int tutti_message_sm_enable(struct tutti_device *tdev, u64 first, u64 sms, u64 enable);
int tutti_message_policy(struct tutti_device *tdev, u64 policy, u64 value);
int tutti_message_policy_ask(struct tutti_device *tdev, u64 policy, u64 which, u64 *value);
int tutti_message_task_cancel(struct tutti_device *tdev, u32 queue, u64 packet);
int tutti_message_counters(struct tutti_device *tdev);
int tutti_message_load(struct tutti_device *tdev, struct tutti_message *reply);
int tutti_message_occupancy(struct tutti_device *tdev, struct tutti_message *message);
int tutti_message_suspend(struct tutti_device *tdev);
int tutti_message_resume(struct tutti_device *tdev);

#endif

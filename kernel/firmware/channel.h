/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Transport of messages (firmware/message.h): two rings in the control window, and replies matched to requests. */
#ifndef TUTTI_KERNEL_CHANNEL_H
#define TUTTI_KERNEL_CHANNEL_H

#include "base/device.h"

void tutti_channel_init(struct tutti_device *tdev, tutti_channel_event event);
void tutti_channel_open(struct tutti_device *tdev);
void tutti_channel_close(struct tutti_device *tdev);
void tutti_channel_poll(struct tutti_device *tdev);
int tutti_channel_request(struct tutti_device *tdev, struct tutti_message *message, u32 epoch,
			  u32 timeout_ms);

#endif

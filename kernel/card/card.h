/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The words of the control window, and the interrupt to the card. Between drm_dev_enter() and drm_dev_exit(). */
#ifndef TUTTI_KERNEL_CARD_H
#define TUTTI_KERNEL_CARD_H

#include "base/device.h"

static inline u32 tutti_card_status(struct tutti_device *tdev, size_t field)
{
	return readl(tdev->window + tdev->known.status.offset + field);
}

/** tutti_status() - a word of struct tutti_status, which the card writes. */
#define tutti_status(tdev, field) tutti_card_status(tdev, offsetof(struct tutti_status, field))

/** tutti_control_at() - where a word of struct tutti_control is, which the host writes. */
#define tutti_control_at(tdev, field) \
	((tdev)->window + (tdev)->known.control.offset + offsetof(struct tutti_control, field))

/** tutti_card_is_there() - on the bus, with a link that works; reads of nothing give ones, or zeroes in QEMU. */
static inline bool tutti_card_is_there(struct tutti_device *tdev)
{
	return readq(tdev->window) == TUTTI_DISCOVERY_MAGIC;
}

/** tutti_card_progress() - packets of the queue that have retired: a word of the kernel's that the card writes. */
static inline u64 tutti_card_progress(const struct tutti_device *tdev, u32 queue)
{
	return READ_ONCE(tdev->progress[queue]);
}

void tutti_card_save(struct tutti_device *tdev);
void tutti_card_kick(struct tutti_device *tdev);
void tutti_card_kick_if_asleep(struct tutti_device *tdev);

#endif

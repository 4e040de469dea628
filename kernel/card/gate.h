/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Who may touch the card now. Calls pass through the gate with tutti_gate_enter(); a reset closes it. The words for
 * what is over are explained in base/device.h.
 */
#ifndef TUTTI_KERNEL_GATE_H
#define TUTTI_KERNEL_GATE_H

#include "base/device.h"

/**
 * tutti_gate_is_unplugged() - drm_dev_is_unplugged() without its barriers: either way, the answer is true for a moment
 * only.
 */
static inline bool tutti_gate_is_unplugged(const struct drm_device *drm)
{
	/* DRM sets it by a plain store of a byte, which cannot tear */
	return data_race(READ_ONCE(drm->unplugged));
}

/** tutti_gate_check() - does the file belong to the card as it is now? 0, -EIO or -ENODEV. */
static inline int tutti_gate_check(struct tutti_file *file)
{
	struct tutti_device *tdev = file->tdev;

	if (tutti_gate_is_unplugged(&tdev->drm))
		return -ENODEV;
	if (file->generation != (u64)atomic64_read(&tdev->generation) ||
	    atomic_read(&tdev->state) == TUTTI_DEVICE_WEDGED)
		return -EIO;
	return 0;
}

int tutti_gate_enter(struct tutti_file *file, int *index);
void tutti_gate_exit(struct tutti_file *file, int index);
bool tutti_gate_claim(struct tutti_device *tdev, enum tutti_state from);
void tutti_gate_release(struct tutti_device *tdev);
void tutti_gate_request(struct tutti_device *tdev, enum tutti_rung rung);
void tutti_gate_trigger(struct tutti_device *tdev, enum tutti_rung rung, const char *why);

#endif

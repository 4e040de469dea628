// SPDX-License-Identifier: MIT
#include "device.h"

/*
 * A card behind the kernel driver. The name is known, so that scripts can ask for
 * it; this build has no driver interface, and says so.
 */
static bool drm_present(void)
{
	return false;
}

static int drm_open(struct tutti_device *device, const struct tutti_device_options *options)
{
	(void)device;
	(void)options;
	say("device drm: this library is built without the kernel driver's interface; "
	    "TUTTI_DEVICE=emulator runs on the emulated card");
	return -ENODEV;
}

const struct transport transport_drm = {.name = "drm", .present = drm_present, .open = drm_open};

// SPDX-License-Identifier: MIT
#include "base/say.h"
#include "device/device.h"

/* A card behind Xilinx XRT: the name is reserved, but this build cannot open such cards. */
static bool xrt_present(void)
{
	return false;
}

static int xrt_open(struct tutti_device *device, const struct tutti_device_options *options)
{
	(void)device;
	(void)options;
	say("device xrt: this library is built without XRT; TUTTI_DEVICE=emulator runs on the emulated card");
	return -ENODEV;
}

const struct transport transport_xrt = {.name = "xrt", .present = xrt_present, .open = xrt_open};

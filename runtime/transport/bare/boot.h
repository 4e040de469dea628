/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BARE_BOOT_H
#define TUTTI_BARE_BOOT_H

#include "device/device.h"

/**
 * boot_check_card() - read and check the discovery data at device->bar, in a BAR of @bar_bytes.
 * Return: 0, or -ENODEV or -EPROTO after a message.
 */
int boot_check_card(struct tutti_device *device, size_t bar_bytes);
/** boot_card() - load the firmware image and wait until it runs. 0, or -errno after a message. */
int boot_card(struct tutti_device *device, const struct tutti_device_options *options);

#endif

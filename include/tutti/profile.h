/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the firmware costs: soft-core instructions by firmware function (spec SYS-13)
 *
 * The emulated card counts every instruction of its soft core, exactly, with @count of struct tutti_device_options, which
 * makes the firmware slow. A real card does not count.
 */
#ifndef TUTTI_PROFILE_H
#define TUTTI_PROFILE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_device;

/**
 * typedef tutti_profile_fn - told about one firmware function.
 * @context: as given to tutti_profile_each()
 * @name: of the function, from the firmware image's symbols; valid until the device is closed
 * @calls: how often it was entered since the firmware booted
 * @instructions: executed in it since then, without those of the functions it called
 */
typedef void (*tutti_profile_fn)(void *context, const char *name, uint64_t calls, uint64_t instructions);

/**
 * tutti_profile_each() - call @each for every firmware function, in the order of their addresses.
 * Return: 0, -ENOTSUP if the card does not count, -ENOMEM.
 */
int tutti_profile_each(struct tutti_device *device, tutti_profile_fn each, void *context);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_MEMORY_H
#define TUTTI_MEMORY_H

#include "device/device.h"

/** memory_init() - reserve the pools of an open transport. 0 or -errno. */
int memory_init(struct tutti_device *device);
void memory_fini(struct tutti_device *device);
/** memory_code_alloc() - allocate pages for code: the host can write them, the card cannot see them. NULL if full. */
void *memory_code_alloc(struct tutti_device *device, size_t bytes);
void memory_code_free(struct tutti_device *device, void *address);

#endif

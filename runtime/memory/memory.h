/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_MEMORY_H
#define TUTTI_MEMORY_H

#include "device/device.h"

/** memory_init() - reserve the pools of an open transport. 0 or -errno. */
int memory_init(struct tutti_device *device);
void memory_fini(struct tutti_device *device);
/** memory_alloc(), memory_free() - tutti_memory_alloc() and tutti_memory_free() for the library itself. */
int memory_alloc(struct tutti_device *device, enum tutti_memory pool, size_t bytes, void **address);
int memory_free(struct tutti_device *device, void *address);
/**
 * memory_object_add() - note that 64 bytes of the system pool, which memory_alloc() has given, are a signal. No lock.
 * memory_object_remove() undoes it; false if it is none. memory_object() tells whether it is one, whatever @address is.
 */
void memory_object_add(struct tutti_device *device, const void *address);
bool memory_object_remove(struct tutti_device *device, const void *address);
bool memory_object(const struct tutti_device *device, const void *address);
/** memory_find() - the allocation or locked range that holds an address. */
bool memory_find(struct tutti_device *device, const void *address, void **start, size_t *bytes);
/** memory_holds() - are these bytes part of one allocation or locked range? */
bool memory_holds(struct tutti_device *device, const void *address, size_t bytes);
/** memory_code_alloc() - allocate pages for code: the host can write them, the card cannot see them. NULL if full. */
void *memory_code_alloc(struct tutti_device *device, size_t bytes);
void memory_code_free(struct tutti_device *device, void *address);

#endif

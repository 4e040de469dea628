/* SPDX-License-Identifier: MIT */
/** DOC: Address spaces (contexts): which exist, and how many queues each has */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "core/base.h"

void context_init(void);
/** context_exists() - the address space exists. */
bool context_exists(uint32_t asid);
/** context_create() - it exists from now on. Return: 0, -TUTTI_EINVAL, -TUTTI_EEXIST */
int context_create(uint32_t asid);
/** context_destroy() - it exists no longer. Return: 0, -TUTTI_ENOENT, or -TUTTI_EBUSY while it has queues */
int context_destroy(uint32_t asid);
/** context_queue_created() / context_queue_destroyed() - a queue of an address space that exists. */
void context_queue_created(uint32_t asid);
void context_queue_destroyed(uint32_t asid);

#endif

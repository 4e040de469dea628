/* SPDX-License-Identifier: MIT */
/** DOC: Address spaces (contexts): which of them exist, and how many queues each has */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "core/base.h"

void context_init(void);
/** context_exists() - whether address space @asid exists. */
bool context_exists(uint32_t asid);
/** context_create() - let @asid exist from now on. Return: 0, -TUTTI_EINVAL, -TUTTI_EEXIST */
int context_create(uint32_t asid);
/** context_destroy() - let @asid exist no longer. Return: 0, -TUTTI_ENOENT, or -TUTTI_EBUSY while it has queues */
int context_destroy(uint32_t asid);
/** context_queue_created() / context_queue_destroyed() - count the queues of @asid, which exists. */
void context_queue_created(uint32_t asid);
void context_queue_destroyed(uint32_t asid);
/** context_clients() - how many contexts have queues. */
unsigned context_clients(void);

#endif

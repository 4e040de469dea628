// SPDX-License-Identifier: MIT
#include "core/context.h"

#include "core/state.h"

static uint16_t queues_plus_1[TUTTI_MAX_CONTEXTS]; /* 0 if the context does not exist */
static unsigned with_queues; /* how many contexts have queues */

void context_init(void)
{
	unsigned i;

	for (i = 0; i < TUTTI_MAX_CONTEXTS; i++)
		queues_plus_1[i] = 0;
	with_queues = 0;
}

bool context_exists(uint32_t asid)
{
	return asid && asid < fw.max_contexts && queues_plus_1[asid];
}

int context_create(uint32_t asid)
{
	if (!asid || asid >= fw.max_contexts)
		return -TUTTI_EINVAL;
	if (queues_plus_1[asid])
		return -TUTTI_EEXIST;
	queues_plus_1[asid] = 1;
	return 0;
}

int context_destroy(uint32_t asid)
{
	if (!context_exists(asid))
		return -TUTTI_ENOENT;
	if (queues_plus_1[asid] > 1)
		return -TUTTI_EBUSY;
	queues_plus_1[asid] = 0;
	return 0;
}

void context_queue_created(uint32_t asid)
{
	with_queues += queues_plus_1[asid]++ == 1;
}

void context_queue_destroyed(uint32_t asid)
{
	with_queues -= --queues_plus_1[asid] == 1;
}

unsigned context_clients(void)
{
	return with_queues;
}

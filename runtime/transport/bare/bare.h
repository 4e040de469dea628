/* SPDX-License-Identifier: MIT */
/**
 * DOC: A card without a kernel driver
 *
 * The process itself boots the card, maintains the page tables and uses the kernel channel. A transport of this
 * kind begins its private state with struct bare and puts the functions below into its table.
 */
#ifndef TUTTI_BARE_H
#define TUTTI_BARE_H

#include "transport/bare/channel.h"
#include "transport/bare/context.h"

/** struct bare - the first member of the private state of such a transport. */
struct bare {
	struct channel channel;
	struct context context;
};

static inline struct bare *bare_of(const struct tutti_device *device)
{
	return device->private;
}

/* request.c: operations of struct transport, carried out by messages of the kernel channel. */
int bare_queue_create(struct tutti_device *device, const struct transport_queue *queue);
int bare_queue_destroy(struct tutti_device *device, unsigned queue);
int bare_queue_reset(struct tutti_device *device, unsigned queue);
int bare_task_cancel(struct tutti_device *device, unsigned queue, uint64_t packet);
int bare_rsb_create(struct tutti_device *device, unsigned rsb, bool in_memory);
int bare_rsb_destroy(struct tutti_device *device, unsigned rsb);
int bare_rsb_invalidate(struct tutti_device *device, unsigned rsb, uint32_t entries);
int bare_rsb_read(struct tutti_device *device, unsigned rsb, struct tutti_rsb *copy);
int bare_code_invalidate(struct tutti_device *device, const void *address, size_t bytes);
int bare_counters(struct tutti_device *device);
int bare_sm_enable(struct tutti_device *device, unsigned first, unsigned count, bool enable);
int bare_policy_set(struct tutti_device *device, unsigned policy, uint32_t value);
int bare_policy_get(struct tutti_device *device, unsigned policy, uint32_t which, uint32_t *value);
int bare_occupancy(struct tutti_device *device, const struct tutti_msg_occupancy *ask,
		   struct transport_fit *fit);

/** BARE_REQUESTS - initializers of a struct transport for the functions above. */
#define BARE_REQUESTS                                                                                        \
	.pending = channel_pending, .poll = channel_poll, .queue_create = bare_queue_create,                 \
	.queue_destroy = bare_queue_destroy, .queue_reset = bare_queue_reset,                                \
	.task_cancel = bare_task_cancel, .rsb_create = bare_rsb_create, .rsb_destroy = bare_rsb_destroy,     \
	.rsb_invalidate = bare_rsb_invalidate, .rsb_read = bare_rsb_read,                                    \
	.code_invalidate = bare_code_invalidate, .counters = bare_counters, .sm_states = bare_counters,      \
	.sm_enable = bare_sm_enable, .policy_set = bare_policy_set, .policy_get = bare_policy_get,           \
	.occupancy = bare_occupancy, .traces = true

#endif

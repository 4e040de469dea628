// SPDX-License-Identifier: MIT
/* Implements operations of the transport by messages of the kernel channel (include/tutti/message.h). */
#include "transport/bare/bare.h"
#include "tutti/reference.h"

static uint32_t asid(const struct tutti_device *device)
{
	return bare_of(device)->context.asid;
}

static int ask(struct tutti_device *device, unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	return channel_ask(device, type, arg0, arg1, arg2, NULL);
}

/* Interrupt vector 0 belongs to the kernel channel; the queues share the others. */
static uint16_t vector(const struct tutti_device *device, unsigned queue)
{
	uint32_t vectors = device->known.msix_vectors;

	return vectors > 1 ? (uint16_t)(1 + queue % (vectors - 1)) : 0;
}

int bare_queue_create(struct tutti_device *device, const struct transport_queue *queue)
{
	struct tutti_message message = {
	    .type = TUTTI_MSG_QUEUE_CREATE,
	    .queue =
		{
		    .queue = (uint16_t)queue->id,
		    .asid = (uint16_t)asid(device),
		    .flags = (uint16_t)queue->flags,
		    .rsb = (uint16_t)queue->rsb,
		    .ring = (uintptr_t)queue->ring,
		    .read_index = (uintptr_t)queue->read_index,
		    .size_log2 = queue->size_log2,
		    .priority = queue->priority,
		    .vector = vector(device, queue->id),
		    .timeout_ms = queue->timeout_ms,
		},
	};

	return channel_request(device, &message);
}

int bare_queue_destroy(struct tutti_device *device, unsigned queue)
{
	return ask(device, TUTTI_MSG_QUEUE_DESTROY, queue, 0, 0);
}

int bare_queue_reset(struct tutti_device *device, unsigned queue)
{
	return ask(device, TUTTI_MSG_QUEUE_RESET, queue, 0, 0);
}

int bare_task_cancel(struct tutti_device *device, unsigned queue, uint64_t packet)
{
	return ask(device, TUTTI_MSG_TASK_CANCEL, queue, packet, 0);
}

/* RSBs that are kept in memory lie, in the order of their numbers, at the start of the card's reserved memory. */
int bare_rsb_create(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	struct tutti_message message = {
	    .type = TUTTI_MSG_RSB_CREATE,
	    .rsb =
		{
		    .rsb = (uint16_t)rsb,
		    .asid = (uint16_t)asid(device),
		    .placement = in_memory ? TUTTI_RSB_MEMORY : TUTTI_RSB_SCRATCH,
		    .offset = in_memory ? (uint64_t)rsb * sizeof(struct tutti_rsb) : 0,
		},
	};

	return channel_request(device, &message);
}

int bare_rsb_destroy(struct tutti_device *device, unsigned rsb)
{
	return ask(device, TUTTI_MSG_RSB_DESTROY, rsb, 0, 0);
}

int bare_rsb_invalidate(struct tutti_device *device, unsigned rsb, uint32_t entries)
{
	return ask(device, TUTTI_MSG_RSB_INVALIDATE, rsb, entries, 0);
}

int bare_rsb_read(struct tutti_device *device, unsigned rsb, struct tutti_rsb *copy)
{
	return ask(device, TUTTI_MSG_RSB_READ, rsb,
		   (uint64_t)((uint8_t *)copy - device->bar) - device->known.aperture, 0);
}

int bare_code_invalidate(struct tutti_device *device, const void *address, size_t bytes)
{
	return ask(device, TUTTI_MSG_CODE_INVALIDATE, asid(device), (uintptr_t)address, bytes);
}

/* The same message updates the table of SM states, too. */
int bare_counters(struct tutti_device *device)
{
	return ask(device, TUTTI_MSG_COUNTERS, 0, 0, 0);
}

int bare_sm_enable(struct tutti_device *device, unsigned first, unsigned count, bool enable)
{
	return ask(device, TUTTI_MSG_SM_ENABLE, first, count, enable);
}

int bare_policy_set(struct tutti_device *device, unsigned policy, uint32_t value)
{
	return ask(device, TUTTI_MSG_POLICY, policy, value, 0);
}

int bare_policy_get(struct tutti_device *device, unsigned policy, uint32_t which, uint32_t *value)
{
	uint64_t answer;
	int error = channel_ask(device, TUTTI_MSG_POLICY, policy, which, 1, &answer);

	if (!error)
		*value = (uint32_t)answer;
	return error;
}

int bare_occupancy(struct tutti_device *device, const struct tutti_msg_occupancy *needs,
		   struct transport_fit *fit)
{
	struct tutti_message message = {.type = TUTTI_MSG_OCCUPANCY, .occupancy = *needs};
	int error = channel_request(device, &message);

	if (!error)
		*fit = (struct transport_fit){.cgas = (uint32_t)message.value,
					      .ctas = (uint32_t)message.arg[0],
					      .sms = (uint32_t)message.arg[1]};
	return error;
}

// SPDX-License-Identifier: MIT
#include "base/sized.h"
#include "memory/memory.h"
#include "queue/queue.h"
#include "record/grid.h"
#include "record/record.h"
#include "tutti/wave.h"

static inline bool workgroup_ok(const struct tutti_kernel_descriptor *descriptor, uint32_t x, uint32_t y,
				uint32_t z)
{
	uint64_t items = (uint64_t)x * y * z;

	if ((descriptor->workgroup[0] && descriptor->workgroup[0] != x) ||
	    (descriptor->workgroup[1] && descriptor->workgroup[1] != y) ||
	    (descriptor->workgroup[2] && descriptor->workgroup[2] != z))
		return false;
	return items <= (descriptor->workgroup_max ? descriptor->workgroup_max : UINT16_MAX);
}

/* Fills a ring slot or a private copy, except for its first word: the caller stores that last, to publish it. */
static inline int encode(const struct tutti_launch *launch, struct tutti_dispatch_packet *packet,
			 uint32_t *word)
{
	const struct tutti_kernel *kernel = launch->kernel;
	uint32_t grid_y = launch->grid[1] ? launch->grid[1] : 1,
		 grid_z = launch->grid[2] ? launch->grid[2] : 1;
	uint16_t y = launch->workgroup[1] ? launch->workgroup[1] : 1,
		 z = launch->workgroup[2] ? launch->workgroup[2] : 1;
	uint32_t group_bytes, dimensions;
	int error = __builtin_expect(launch->bytes, 0) ? SIZED_CHECK(launch, tmd) : 0;

	if (error)
		return error;
	if (!kernel || !launch->grid[0] || !launch->workgroup[0] || launch->acquire > TUTTI_SCOPE_SYSTEM ||
	    launch->release > TUTTI_SCOPE_SYSTEM || ((uintptr_t)launch->tmd & 63) ||
	    ((uintptr_t)launch->signal & 63) ||
	    __builtin_add_overflow(kernel->group_bytes, launch->dynamic_group_bytes, &group_bytes))
		return -EINVAL;
	if (kernel->descriptor && (kernel->descriptor->magic != TUTTI_KERNEL_MAGIC ||
				   !workgroup_ok(kernel->descriptor, launch->workgroup[0], y, z)))
		return -EINVAL;
	dimensions = grid_z > 1 || z > 1 ? 3 : grid_y > 1 || y > 1 ? 2 : 1;
	*word =
	    tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, launch->barrier, launch->acquire, launch->release) |
	    dimensions << 16;
	packet->workgroup_x = launch->workgroup[0];
	packet->workgroup_y = y;
	packet->workgroup_z = z;
	packet->ref_num = 0;
	packet->grid_x = launch->grid[0];
	packet->grid_y = grid_y;
	packet->grid_z = grid_z;
	packet->private_bytes = kernel->private_bytes;
	packet->group_bytes = group_bytes;
	packet->kernel_object = kernel->object;
	packet->kernarg = (uintptr_t)launch->kernarg;
	packet->tmd = (uintptr_t)launch->tmd;
	packet->signal = (uintptr_t)launch->signal;
	return 0;
}

int tutti_launch_packet(const struct tutti_launch *launch, struct tutti_dispatch_packet *packet)
{
	uint32_t word;
	int error = launch && packet ? encode(launch, packet, &word) : -EINVAL;

	if (!error) {
		packet->header = (uint16_t)word;
		packet->setup = (uint16_t)(word >> 16);
	}
	return error;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Most workgroups that one SM can hold at once, by the registers of their waves; the card may do with fewer. */
static uint32_t held_by_sm(const struct tutti_discovery *known, const struct tutti_kernel_descriptor *descriptor,
			   const struct tutti_dispatch_packet *packet)
{
	uint32_t items = (uint32_t)packet->workgroup_x * packet->workgroup_y * packet->workgroup_z;
	uint32_t waves = known->peu_waves;

	if (descriptor->flags & TUTTI_KERNEL_INDEPENDENT) /* their waves need not run at the same time */
		return known->cta_slots;
	if (descriptor->scalar_blocks)
		waves = smaller(waves, known->scalar_blocks / descriptor->scalar_blocks);
	if (descriptor->vector_blocks)
		waves = smaller(waves, known->vector_blocks / descriptor->vector_blocks);
	return smaller(known->cta_slots, waves * known->peus / ((items + TUTTI_WAVE_ITEMS - 1) / TUTTI_WAVE_ITEMS));
}

/* SMs of the largest part of the card that a CGA of this kind may lie in. Of CPCs it is not known here. */
static uint32_t domain_sms(const struct tutti_discovery *known, unsigned kind)
{
	uint32_t most = 0;

	if (kind > TUTTI_CGA_GPC)
		return known->sms;
	for (unsigned i = 0; i < known->gpcs && i < TUTTI_MAX_GPCS; i++)
		if (known->gpc[i].sms > most)
			most = known->gpc[i].sms;
	return most;
}

/* Task metadata may replace the shape of CGAs, and make SMs share their memory; the card checks what it says. */
static inline uint32_t cga_refusal(const struct tutti_discovery *known,
				   const struct tutti_kernel_descriptor *descriptor,
				   const struct tutti_dispatch_packet *packet)
{
	uint64_t ctas = (uint64_t)descriptor->cga[0] * descriptor->cga[1] * descriptor->cga[2];
	uint32_t held = held_by_sm(known, descriptor, packet);

	if (!ctas || !grid_is_whole(packet, descriptor->cga))
		return TUTTI_ERROR_GRID;
	if (ctas > (uint64_t)known->sms * known->cta_slots ||
	    (descriptor->cga_kind <= TUTTI_CGA_GPC && ctas > known->cga_ctas))
		return TUTTI_ERROR_GRID;
	if (!held)
		return TUTTI_ERROR_WORKGROUP;
	return ctas > (uint64_t)domain_sms(known, descriptor->cga_kind) * held ? TUTTI_ERROR_GRID : 0;
}

/* Why the card would refuse an encoded launch, as far as that can be said without asking it. */
static inline uint32_t refusal(const struct tutti_discovery *known, const struct tutti_launch *launch,
			       const struct tutti_dispatch_packet *packet)
{
	const struct tutti_kernel_descriptor *descriptor = launch->kernel->descriptor;
	uint32_t items = (uint32_t)packet->workgroup_x * packet->workgroup_y;

	if (items > known->workgroup_items || (uint64_t)items * packet->workgroup_z > known->workgroup_items)
		return TUTTI_ERROR_WORKGROUP;
	if ((uint64_t)packet->private_bytes * TUTTI_WAVE_ITEMS > known->private_bytes)
		return TUTTI_ERROR_PRIVATE_MEMORY;
	if (launch->tmd)
		return 0;
	if (packet->group_bytes > (uint64_t)known->shared_blocks * known->shared_block_bytes)
		return TUTTI_ERROR_GROUP_MEMORY;
	if (descriptor && __builtin_expect(descriptor->cga_kind != TUTTI_CGA_NONE, 0))
		return cga_refusal(known, descriptor, packet);
	return 0;
}

int tutti_launch_check(struct tutti_device *device, const struct tutti_launch *launch)
{
	struct tutti_dispatch_packet packet;
	uint32_t word;
	int error = device_live(device) && launch ? encode(launch, &packet, &word) : -EINVAL;

	return error ? error : (int)refusal(&device->known, launch, &packet);
}

/* A program that only launches would not notice that its queue has stopped. */
static inline bool has_stopped(struct queue *queue)
{
	if (__builtin_expect(device_pending(queue->device), 0))
		queue->device->transport->poll(queue->device);
	return queue_stopped(queue);
}

int tutti_dispatch(struct tutti_queue *public, const struct tutti_launch *launch)
{
	struct queue *queue = queue_of(public);
	union tutti_packet packet;
	uint32_t word;
	int error;

	if (__builtin_expect(!queue_live(public) || !launch, 0))
		return -EINVAL;
	error = encode(launch, &packet.dispatch, &word);
	if (__builtin_expect(error, 0))
		return error;
	if (__builtin_expect(refusal(&queue->device->known, launch, &packet.dispatch) ||
				 !signal_take(queue->device, launch->signal),
			     0))
		return -EINVAL;
	packet.word[0] = word;
	if (__builtin_expect(queue->recording != NULL, 0))
		return record_launch(queue->recording, &packet.dispatch, launch->tmd ? NULL : launch->kernel->descriptor);
	if (__builtin_expect(has_stopped(queue), 0))
		return -EIO;
	return tutti_queue_submit(public, &packet);
}

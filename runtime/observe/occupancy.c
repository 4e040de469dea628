// SPDX-License-Identifier: MIT
/* Works out what a launch needs of an SM, and asks the firmware how many times that fits. */
#include "tutti/occupancy.h"

#include <string.h>

#include "device/device.h"
#include "tutti/wave.h"

/* Derives the resources of the launch just as the firmware does from its packet and its kernel's descriptor. */
static int fill(const struct tutti_device *device, const struct tutti_launch *launch, struct tutti_msg_occupancy *ask)
{
	const struct tutti_discovery *known = &device->known;
	const struct tutti_kernel_descriptor *d;
	uint64_t items = 1, shared;

	if (!launch || !launch->kernel || !launch->kernel->descriptor ||
	    launch->kernel->descriptor->magic != TUTTI_KERNEL_MAGIC)
		return -EINVAL;
	d = launch->kernel->descriptor;
	for (unsigned i = 0; i < 3; i++) {
		uint32_t size = launch->workgroup[i] ? launch->workgroup[i] : d->workgroup[i] ? d->workgroup[i] : 1;

		if (d->workgroup[i] && size != d->workgroup[i])
			return -EINVAL;
		items *= size;
	}
	shared = (uint64_t)launch->kernel->group_bytes + launch->dynamic_group_bytes;
	if (items > known->workgroup_items || (d->workgroup_max && items > d->workgroup_max) ||
	    shared > (uint64_t)known->shared_blocks * known->shared_block_bytes)
		return -EINVAL;
	*ask = (struct tutti_msg_occupancy){
		.waves = (uint16_t)((items + TUTTI_WAVE_ITEMS - 1) / TUTTI_WAVE_ITEMS),
		.scalar_blocks = d->scalar_blocks,
		.vector_blocks = d->vector_blocks,
		.shared_blocks = (uint16_t)((shared + known->shared_block_bytes - 1) / known->shared_block_bytes),
		.barriers = d->barriers,
		.lmem = !!(d->flags & TUTTI_KERNEL_LMEM),
		.cga = { { d->cga[0], d->cga[1], d->cga[2], d->cga_kind } },
	};
	return 0;
}

int tutti_occupancy_max_active_ctas(struct tutti_device *device, const struct tutti_launch *launch, uint32_t *ctas)
{
	CALL_SCOPE(call);
	struct tutti_msg_occupancy ask;
	struct transport_fit fit;
	int error = device_call(&call, device) && ctas ? fill(device, launch, &ask) : -EINVAL;

	if (error)
		return error;
	memset(ask.cga, 0, sizeof(ask.cga));
	if (!error)
		error = device->transport->occupancy(device, &ask, &fit);
	if (!error)
		*ctas = fit.ctas;
	return error;
}

int tutti_occupancy_max_active_cgas(struct tutti_device *device, const struct tutti_launch *launch,
				    const struct tutti_task_attributes *attributes, uint32_t *cgas)
{
	CALL_SCOPE(call);
	struct tutti_msg_occupancy ask;
	struct transport_fit fit;
	int error = device_call(&call, device) && cgas ? fill(device, launch, &ask) : -EINVAL;

	if (error)
		return error;
	if (attributes) {
		ask.mode = attributes->multicast;
		if (attributes->cga[0].kind)
			memcpy(ask.cga, attributes->cga, sizeof(ask.cga));
	} else {
		ask.mode = TUTTI_OCCUPANCY_MODE_CARD;
	}
	error = device->transport->occupancy(device, &ask, &fit);
	if (!error)
		*cgas = fit.cgas;
	return error;
}

/* If a size does not fit, no larger one does, so a binary search finds the maximum. */
int tutti_occupancy_max_cga_size(struct tutti_device *device, const struct tutti_launch *launch, unsigned kind,
				 bool multicast, uint32_t *ctas)
{
	CALL_SCOPE(call);
	struct tutti_msg_occupancy ask;
	struct transport_fit fit;
	uint32_t low = 0, high, middle;
	int error = device_call(&call, device) && ctas ? fill(device, launch, &ask) : -EINVAL;

	if (!error && (kind < TUTTI_CGA_CPC || kind > TUTTI_CGA_GPU))
		error = -EINVAL;
	ask.mode = multicast;
	memset(ask.cga, 0, sizeof(ask.cga));
	if (!error)
		error = device->transport->occupancy(device, &ask, &fit);
	if (error)
		return error;
	/* One more than all SMs can take does certainly not fit, nor can more than the largest shape be asked for. */
	high = fit.cgas < UINT16_MAX ? fit.cgas + 1 : UINT16_MAX + 1u;
	while (high - low > 1) {
		middle = (low + high) / 2;
		ask.cga[0] = (struct tutti_cga_shape){ (uint16_t)middle, 1, 1, (uint16_t)kind };
		error = device->transport->occupancy(device, &ask, &fit);
		if (error)
			return error;
		if (fit.cgas)
			low = middle;
		else
			high = middle;
	}
	*ctas = low;
	return 0;
}

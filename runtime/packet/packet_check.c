// SPDX-License-Identifier: MIT
#include "packet/packet.h"

#define AT(member) offsetof(struct tutti_dispatch_packet, member)

static unsigned refuse(uint32_t *field, uint32_t at, unsigned error)
{
	if (field)
		*field = at;
	return error;
}

static unsigned check_header(uint16_t header, uint32_t *field)
{
	unsigned acquire = header >> TUTTI_HEADER_ACQUIRE_SHIFT & TUTTI_HEADER_SCOPE;
	unsigned release = header >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE;

	if ((header & TUTTI_HEADER_RESERVED) || acquire > TUTTI_SCOPE_SYSTEM || release > TUTTI_SCOPE_SYSTEM)
		return refuse(field, 1, TUTTI_ERROR_PACKET);
	return TUTTI_ERROR_NONE;
}

static unsigned check_sizes(const struct tutti_dispatch_packet *p, uint32_t *field)
{
	unsigned dimensions = p->setup & TUTTI_SETUP_DIMENSIONS;

	if (!dimensions || (p->setup & ~TUTTI_SETUP_DIMENSIONS))
		return refuse(field, AT(setup), TUTTI_ERROR_DIMENSIONS);
	if (!p->workgroup_x || !p->workgroup_y || !p->workgroup_z)
		return refuse(field, AT(workgroup_x), TUTTI_ERROR_DIMENSIONS);
	if (!p->grid_x || !p->grid_y || !p->grid_z)
		return refuse(field, AT(grid_x), TUTTI_ERROR_DIMENSIONS);
	if (dimensions < 3 && (p->workgroup_z != 1 || p->grid_z != 1))
		return refuse(field, AT(workgroup_z), TUTTI_ERROR_DIMENSIONS);
	if (dimensions < 2 && (p->workgroup_y != 1 || p->grid_y != 1))
		return refuse(field, AT(workgroup_y), TUTTI_ERROR_DIMENSIONS);
	return TUTTI_ERROR_NONE;
}

static unsigned check_dispatch(const struct tutti_dispatch_packet *p, unsigned queue_flags, uint32_t *field)
{
	unsigned error = check_sizes(p, field);

	if (error)
		return error;
	if (!p->kernel_object || (p->kernel_object & 63))
		return refuse(field, AT(kernel_object), TUTTI_ERROR_CODE_OBJECT);
	if (p->signal & 63)
		return refuse(field, AT(signal), TUTTI_ERROR_PACKET);
	if (!(queue_flags & TUTTI_QUEUE_EXTENDED))
		return TUTTI_ERROR_NONE;
	if (p->ref_num & ~(TUTTI_REF_STORE | TUTTI_REF_INDEX))
		return refuse(field, AT(ref_num), TUTTI_ERROR_PACKET);
	if (p->tmd & 63)
		return refuse(field, AT(tmd), TUTTI_ERROR_TMD);
	return TUTTI_ERROR_NONE;
}

unsigned packet_check(const union tutti_packet *packet, unsigned queue_flags, uint32_t *field)
{
	const struct packet_type *type = packet_type(packet);
	struct diff diffs[TUTTI_CONDENSED_KERNELS];
	uint32_t unit = 0;
	unsigned error;

	if (!type) {
		if ((packet->word[0] & 0xff) != TUTTI_PACKET_CONDENSED ||
		    !(queue_flags & TUTTI_QUEUE_EXTENDED))
			return refuse(field, 0, TUTTI_ERROR_PACKET);
		if (diff_decode(&packet->condensed, queue_flags & TUTTI_QUEUE_TABLE_DIFFS, diffs, &unit) < 0)
			return refuse(field, unit, TUTTI_ERROR_PACKET);
		return TUTTI_ERROR_NONE;
	}
	error = check_header((uint16_t)packet->word[0], field);
	if (error)
		return error;
	if (type->type == TUTTI_PACKET_KERNEL_DISPATCH)
		return check_dispatch(&packet->dispatch, queue_flags, field);
	for (unsigned i = 0; i < type->fields; i++)
		if (type->field[i].zero && packet_get(packet, &type->field[i]))
			return refuse(field, type->field[i].offset, TUTTI_ERROR_PACKET);
	return TUTTI_ERROR_NONE;
}

// SPDX-License-Identifier: MIT
#include "packet/packet.h"

#include <string.h>

#define FIELD(type, member, ...)                                                                             \
	{                                                                                                    \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member), __VA_ARGS__      \
	}
#define DISPATCH(member, ...) FIELD(tutti_dispatch_packet, member, __VA_ARGS__)
#define BARRIER(member, ...)  FIELD(tutti_barrier_packet, member, __VA_ARGS__)
#define AGENT(member, ...)    FIELD(tutti_agent_packet, member, __VA_ARGS__)
#define ELEMENT(struct_type, member, i)                                                                      \
	{                                                                                                    \
#member #i, offsetof(struct struct_type, member) + 8 * (i), 8, false, false                  \
	}

#define BARRIER_FIELDS                                                                                       \
	{                                                                                                    \
		BARRIER(header, false, false), BARRIER(reserved0, false, true),                              \
		    BARRIER(reserved1, false, true), ELEMENT(tutti_barrier_packet, dependency, 0),           \
		    ELEMENT(tutti_barrier_packet, dependency, 1),                                            \
		    ELEMENT(tutti_barrier_packet, dependency, 2),                                            \
		    ELEMENT(tutti_barrier_packet, dependency, 3),                                            \
		    ELEMENT(tutti_barrier_packet, dependency, 4), BARRIER(reserved2, false, true),           \
		    BARRIER(signal, false, false)                                                            \
	}

static const struct packet_type types[] = {
    {TUTTI_PACKET_KERNEL_DISPATCH,
     "kernel_dispatch",
     15,
     {DISPATCH(header, false, false), DISPATCH(setup, true, false), DISPATCH(workgroup_x, true, false),
      DISPATCH(workgroup_y, true, false), DISPATCH(workgroup_z, true, false), DISPATCH(ref_num, false, false),
      DISPATCH(grid_x, true, false), DISPATCH(grid_y, true, false), DISPATCH(grid_z, true, false),
      DISPATCH(private_bytes, true, false), DISPATCH(group_bytes, true, false),
      DISPATCH(kernel_object, false, false), DISPATCH(kernarg, false, false), DISPATCH(tmd, false, false),
      DISPATCH(signal, false, false)}},
    {TUTTI_PACKET_BARRIER_AND, "barrier_and", 10, BARRIER_FIELDS},
    {TUTTI_PACKET_BARRIER_OR, "barrier_or", 10, BARRIER_FIELDS},
    {TUTTI_PACKET_AGENT_DISPATCH,
     "agent_dispatch",
     10,
     {AGENT(header, false, false), AGENT(type, true, false), AGENT(reserved0, false, true),
      AGENT(return_address, false, false), ELEMENT(tutti_agent_packet, arg, 0),
      ELEMENT(tutti_agent_packet, arg, 1), ELEMENT(tutti_agent_packet, arg, 2),
      ELEMENT(tutti_agent_packet, arg, 3), AGENT(reserved2, false, true), AGENT(signal, false, false)}},
};

const struct packet_type *packet_type(const union tutti_packet *packet)
{
	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].type == (packet->word[0] & TUTTI_HEADER_TYPE))
			return &types[i];
	return NULL;
}

const char *packet_type_name(const union tutti_packet *packet)
{
	const struct packet_type *type = packet_type(packet);
	unsigned number = packet->word[0] & TUTTI_HEADER_TYPE;

	if (type)
		return type->name;
	if (number == TUTTI_PACKET_CONDENSED)
		return "condensed";
	return number == TUTTI_PACKET_INVALID || number == TUTTI_PACKET_VENDOR ? "not ready" : "unknown";
}

uint64_t packet_get(const void *packet, const struct packet_field *field)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)packet + field->offset, field->bytes);
	return value;
}

void packet_set(void *packet, const struct packet_field *field, uint64_t value)
{
	memcpy((uint8_t *)packet + field->offset, &value, field->bytes);
}

void packet_decode(const union tutti_packet *packet, const struct packet_type *type, uint64_t *values)
{
	for (unsigned i = 0; i < type->fields; i++)
		values[i] = packet_get(packet, &type->field[i]);
}

void packet_encode(union tutti_packet *packet, const struct packet_type *type, const uint64_t *values)
{
	memset(packet, 0, sizeof(*packet));
	for (unsigned i = 0; i < type->fields; i++)
		packet_set(packet, &type->field[i], values[i]);
}

struct diff_field {
	const char *name;
	uint8_t units;
};

#define DIFF_ROW(bit, name, units) [bit] = {#name, units},
static const struct diff_field diff_fields[2][DIFF_FIELDS_MAX] = {
    {TUTTI_DIFF_FIELDS(DIFF_ROW)},
    {TUTTI_TABLE_FIELDS(DIFF_ROW)},
};

unsigned diff_field_units(bool table, unsigned bit)
{
	return bit < DIFF_FIELDS_MAX ? diff_fields[table][bit].units : 0;
}

const char *diff_field_name(bool table, unsigned bit)
{
	return diff_field_units(table, bit) ? diff_fields[table][bit].name : NULL;
}

unsigned diff_units(bool table, uint16_t vector)
{
	unsigned units = 1;

	for (; vector; vector &= vector - 1)
		units += diff_field_units(table, (unsigned)__builtin_ctz(vector));
	return units;
}

static bool vector_ok(bool table, uint16_t vector)
{
	for (; vector; vector &= vector - 1)
		if (!diff_field_units(table, (unsigned)__builtin_ctz(vector)))
			return false;
	return true;
}

int diff_decode(const struct tutti_condensed_packet *packet, bool table, struct diff *diffs, uint32_t *field)
{
	unsigned unit = 0, kernels = packet->num_kernels;
	uint32_t ignored;

	field = field ? field : &ignored;
	*field = 0;
	if (!kernels || kernels > TUTTI_CONDENSED_KERNELS)
		return -1;
	for (unsigned k = 0; k < kernels; k++) {
		struct diff *diff = &diffs[k];
		uint16_t header;

		*field = unit;
		if (unit >= TUTTI_CONDENSED_UNITS)
			return -1;
		header = packet->unit[unit];
		*diff = (struct diff){.reference = header & TUTTI_DIFF_REF,
				      .vector = header >> TUTTI_DIFF_VECTOR_SHIFT};
		if (!vector_ok(table, diff->vector) ||
		    unit + diff_units(table, diff->vector) > TUTTI_CONDENSED_UNITS)
			return -1;
		unit++;
		for (unsigned bit = 0; bit < DIFF_FIELDS_MAX; bit++) {
			unsigned n = diff->vector >> bit & 1 ? diff_field_units(table, bit) : 0;

			memcpy(&diff->value[bit], &packet->unit[unit], n * sizeof(uint16_t));
			unit += n;
		}
	}
	return (int)kernels;
}

int diff_encode(struct tutti_condensed_packet *packet, bool table, const struct diff *diffs, unsigned kernels)
{
	unsigned unit = 0;

	memset(packet, 0, sizeof(*packet));
	if (!kernels || kernels > TUTTI_CONDENSED_KERNELS)
		return -1;
	packet->type = TUTTI_PACKET_CONDENSED;
	packet->num_kernels = (uint8_t)kernels;
	for (unsigned k = 0; k < kernels; k++) {
		const struct diff *diff = &diffs[k];

		if (unit + diff_units(table, diff->vector) > TUTTI_CONDENSED_UNITS ||
		    !vector_ok(table, diff->vector))
			return -1;
		packet->unit[unit++] = (uint16_t)(diff->reference | diff->vector << TUTTI_DIFF_VECTOR_SHIFT);
		for (unsigned bit = 0; bit < DIFF_FIELDS_MAX; bit++) {
			unsigned n = diff->vector >> bit & 1 ? diff_field_units(table, bit) : 0;

			memcpy(&packet->unit[unit], &diff->value[bit], n * sizeof(uint16_t));
			unit += n;
		}
	}
	return (int)unit;
}

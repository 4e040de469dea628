// SPDX-License-Identifier: MIT
#include "packets/condensed_fields.h"

#include "core/queue_record.h"
#include "core/state.h"
#include "packets/condensed_block.h"
#include "packets/kernel_rules.h"
#include "place/cta_shape.h"

bool condensed_scopes(struct tutti_reference *entry, uint32_t unit)
{
	uint32_t header = unit << 8;

	if (unit >> 8 || header & TUTTI_HEADER_RESERVED || header & header >> 1 & 0x0a00)
		return false;
	entry->header = (uint16_t)((entry->header & TUTTI_HEADER_TYPE) | header);
	return true;
}

/* Work out the numbers of workgroups. @size: of a workgroup along x, y and z. Return: 0 or TUTTI_ERROR_* */
static int derive_groups(struct tutti_reference *e, const struct divisor *size)
{
	uint64_t all;

	e->groups_x = packet_groups(&size[0], e->grid_x);
	e->groups_y = packet_groups(&size[1], e->grid_y);
	e->groups_z = packet_groups(&size[2], e->grid_z);
	all = packet_product(e->groups_x, e->groups_y, e->groups_z);
	e->groups = (uint32_t)all;
	return all >> 32 ? TUTTI_ERROR_GRID : 0;
}

/* The same for a reference whose kernel, which has the sizes as divisors, was not looked up. */
static int derive_groups_afresh(struct tutti_reference *e)
{
	struct divisor size[3];

	divisor_set(&size[0], e->workgroup_x);
	divisor_set(&size[1], e->workgroup_y);
	divisor_set(&size[2], e->workgroup_z);
	return derive_groups(e, size);
}

static int derive_workgroup(struct tutti_reference *e, const struct kernel *kernel)
{
	uint32_t dimensions = e->setup, flat, items;

	if (dimensions & ~TUTTI_SETUP_DIMENSIONS)
		return TUTTI_ERROR_PACKET;
	if (!dimensions || !e->workgroup_x || !e->workgroup_y || !e->workgroup_z ||
	    !e->grid_x || !e->grid_y || !e->grid_z)
		return TUTTI_ERROR_DIMENSIONS;
	flat = dimensions < 2 ? (e->workgroup_y ^ 1u) | (e->grid_y ^ 1u) : 0;
	if (dimensions < 3)
		flat |= (e->workgroup_z ^ 1u) | (e->grid_z ^ 1u);
	if (flat)
		return TUTTI_ERROR_DIMENSIONS;
	items = (uint32_t)e->workgroup_x * e->workgroup_y;
	if (items > kernel->items_max || items * e->workgroup_z > kernel->items_max)
		return TUTTI_ERROR_WORKGROUP;
	items *= e->workgroup_z;
	if (!kernel_takes(kernel, e->workgroup_x, e->workgroup_y, e->workgroup_z))
		return TUTTI_ERROR_WORKGROUP;
	e->waves = (uint16_t)kernel_waves(items);
	return 0;
}

static int derive_memory(struct tutti_reference *e, const struct kernel *kernel)
{
	uint32_t private_bytes, blocks;

	if (!kernel_private(kernel, e->item_private, &private_bytes))
		return TUTTI_ERROR_PRIVATE_MEMORY;
	e->private_bytes = private_bytes;
	if (!kernel_shared(kernel, e->group_bytes, &fw.shared_blocks, &blocks))
		return TUTTI_ERROR_GROUP_MEMORY;
	e->shared_bytes = blocks << fw.shared_shift;
	e->shared_blocks = (uint16_t)blocks;
	return 0;
}

/* Whether the grid can be divided into them is checked by condensed_check_special(): metadata may name others. */
static void derive_cga(struct tutti_reference *e, const struct kernel *kernel)
{
	e->cga = (struct tutti_cga_shape){ 0 };
	e->flags &= (uint16_t)~(TUTTI_REFERENCE_LMEM | TUTTI_REFERENCE_INDEPENDENT);
	if (!kernel->unusual)
		return;
	if (kernel->grouped)
		e->cga = kernel_cga(kernel);
	e->flags |= (uint16_t)((kernel->fetched.flags & (TUTTI_KERNEL_LMEM | TUTTI_KERNEL_INDEPENDENT))
			       << TUTTI_REFERENCE_KERNEL_SHIFT);
}

int condensed_derive(struct tutti_reference *e, const struct kernel *kernel)
{
	int code;

	e->entry = kernel->entry[0] | (uint64_t)kernel->entry[1] << 32;
	e->scalar_blocks = (uint16_t)kernel->registers;
	e->vector_blocks = (uint16_t)(kernel->registers >> 16);
	e->barriers = (uint16_t)((kernel->barriers & ~KERNEL_GROUPED) >> 16);
	code = derive_workgroup(e, kernel);
	if (!code)
		code = derive_groups(e, kernel_sizes(kernel, e->workgroup_x, e->workgroup_y, e->workgroup_z));
	if (!code)
		code = derive_memory(e, kernel);
	derive_cga(e, kernel);
	if (!code && !shape_capacity_known(kernel->registers, e->shared_blocks | (uint32_t)e->barriers << 16, e->waves))
		code = TUTTI_ERROR_WORKGROUP;
	return code;
}

/*
 * Patch the last three fields, which both forms share, and check that the addresses are possible ones.
 * @fields: bit 0 kernel object, bit 1 kernarg, bit 2 signal; @v: their values
 */
static inline int patch_addresses(struct tutti_reference *e, const uint16_t *v, uint32_t fields)
{
	_Static_assert(TUTTI_DIFF_KERNARG == 2 * TUTTI_DIFF_KERNEL_OBJECT &&
		       TUTTI_DIFF_SIGNAL == 4 * TUTTI_DIFF_KERNEL_OBJECT &&
		       TUTTI_TABLE_KERNARG == 2 * TUTTI_TABLE_KERNEL_OBJECT &&
		       TUTTI_TABLE_SIGNAL == 4 * TUTTI_TABLE_KERNEL_OBJECT, "neighbours in both forms");

	if (fields & 1)
		e->kernel_object = unit_quad(v), v += 4;
	if (fields & 2)
		e->kernarg = unit_quad(v), v += 4;
	if (fields & 4)
		e->signal = unit_quad(v);
	if (!fw_address_ok(e->kernarg) || !packet_signal_ok((uint32_t)e->signal, (uint32_t)(e->signal >> 32)))
		return TUTTI_ERROR_PACKET;
	return 0;
}

/* Patch the fields of the packet. Return: 0, or an error for a value that no packet may have */
static int patch(struct tutti_reference *e, const uint16_t *v, uint32_t vector)
{
	if (vector & TUTTI_DIFF_SCOPES && !condensed_scopes(e, *v++))
		return TUTTI_ERROR_PACKET;
	if (vector & TUTTI_DIFF_SETUP)
		e->setup = *v++;
	if (vector & TUTTI_DIFF_WORKGROUP_X)
		e->workgroup_x = *v++;
	if (vector & TUTTI_DIFF_WORKGROUP_Y)
		e->workgroup_y = *v++;
	if (vector & TUTTI_DIFF_WORKGROUP_Z)
		e->workgroup_z = *v++;
	if (vector & TUTTI_DIFF_GRID_X)
		e->grid_x = unit_pair(v), v += 2;
	if (vector & TUTTI_DIFF_GRID_Y)
		e->grid_y = unit_pair(v), v += 2;
	if (vector & TUTTI_DIFF_GRID_Z)
		e->grid_z = unit_pair(v), v += 2;
	if (vector & TUTTI_DIFF_PRIVATE_BYTES)
		e->item_private = unit_pair(v), v += 2;
	if (vector & TUTTI_DIFF_GROUP_BYTES)
		e->group_bytes = unit_pair(v), v += 2;
	return patch_addresses(e, v, vector / TUTTI_DIFF_KERNEL_OBJECT);
}

/* Inlined, since otherwise gcc no longer expands words_copy() in place. */
static inline __attribute__((always_inline)) int make_record(struct block *block, const struct tutti_reference *e, uint32_t ref, uint32_t *record)
{
	uint32_t release = e->header >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE, special = condensed_special(e);

	if (release > block->release)
		block->release = (uint8_t)release;
	block->special |= (uint8_t)special;
	record[0] = RECORD_GENERAL | special | ref << RECORD_ENTRY_SHIFT;
	words_copy(record + 1, e, RECORD_WORDS);
	return 0;
}

COLD int condensed_general(struct queue *queue, struct block *block, const uint16_t *values, uint32_t head,
			   uint32_t *record)
{
	uint32_t vector = head >> TUTTI_DIFF_VECTOR_SHIFT, ref = head & TUTTI_DIFF_REF;
	const struct kernel *kernel;
	struct tutti_reference e;
	int code;

	words_copy(&e, &queue->rsb->table[ref], REFERENCE_WORDS);
	code = patch(&e, values, vector);
	if (code)
		return code;
	if (vector & ~(uint32_t)(SIMPLE_FIELDS | TUTTI_DIFF_SCOPES)) {
		code = kernel_get(queue, e.kernel_object, &kernel);
		if (!code)
			code = condensed_derive(&e, kernel);
		if (code)
			return code;
	} else if (vector & TUTTI_DIFF_GRID_X) {
		if (!e.grid_x)
			return TUTTI_ERROR_DIMENSIONS;
		code = derive_groups_afresh(&e);
		if (code)
			return code;
	}
	return make_record(block, &e, ref, record);
}

/* ---- the table form (PKT-20): its values are those of the decoded state ---- */

/* Do @groups workgroups of @size items hold @grid items, while one workgroup less would not? */
static bool groups_ok(uint32_t grid, uint32_t size, uint32_t groups)
{
	uint64_t all = (uint64_t)groups * size;

	return grid && size && groups && all >= grid && all - grid < size;
}

static int table_patch(struct tutti_reference *e, const uint16_t *v, uint32_t vector)
{
	if (vector & TUTTI_TABLE_SCOPES && !condensed_scopes(e, *v++))
		return TUTTI_ERROR_PACKET;
	if (vector & TUTTI_TABLE_SETUP)
		e->setup = *v++;
	if (vector & TUTTI_TABLE_WORKGROUP) {
		e->workgroup_x = v[0];
		e->workgroup_y = v[1];
		e->workgroup_z = v[2];
		e->waves = v[3];
		v += 4;
	}
	if (vector & TUTTI_TABLE_GRID_X) {
		e->grid_x = unit_pair(v);
		e->groups_x = unit_pair(v + 2);
		v += 4;
	}
	if (vector & TUTTI_TABLE_GRID_Y) {
		e->grid_y = unit_pair(v);
		e->groups_y = unit_pair(v + 2);
		v += 4;
	}
	if (vector & TUTTI_TABLE_GRID_Z) {
		e->grid_z = unit_pair(v);
		e->groups_z = unit_pair(v + 2);
		v += 4;
	}
	if (vector & TUTTI_TABLE_PRIVATE) {
		e->private_bytes = unit_pair(v);
		if (e->private_bytes % TUTTI_WAVE_ITEMS)
			return TUTTI_ERROR_PACKET;
		e->item_private = e->private_bytes / TUTTI_WAVE_ITEMS;
		v += 2;
	}
	if (vector & TUTTI_TABLE_SHARED) {
		e->shared_bytes = unit_pair(v);
		if (e->shared_bytes & ((1u << fw.shared_shift) - 1))
			return TUTTI_ERROR_PACKET;
		e->group_bytes = e->shared_bytes;
		v += 2;
	}
	return patch_addresses(e, v, vector / TUTTI_TABLE_KERNEL_OBJECT);
}

/*
 * Fields on which nothing depends but the number of workgroups. What a workgroup needs is not derived again then: that of a
 * throttle task may be more than an SM has outside of throttle mode (TSK-07).
 */
#define TABLE_LIGHT (TUTTI_TABLE_SCOPES | TUTTI_TABLE_GRID_X | TUTTI_TABLE_KERNARG | TUTTI_TABLE_SIGNAL)

COLD int table_diff(struct queue *queue, struct block *block, const uint16_t *values, uint32_t head,
		    uint32_t *record)
{
	uint32_t vector = head >> TUTTI_DIFF_VECTOR_SHIFT, ref = head & TUTTI_DIFF_REF;
	const struct kernel *kernel;
	struct tutti_reference e, claimed;
	int code;

	if (vector & ~(uint32_t)TUTTI_TABLE_ALL)
		return TUTTI_ERROR_PACKET;
	words_copy(&e, &queue->rsb->table[ref], REFERENCE_WORDS);
	code = table_patch(&e, values, vector);
	if (code)
		return code;
	/* The packet claims numbers of workgroups; they are checked by multiplication before they are used. */
	if (!groups_ok(e.grid_x, e.workgroup_x, e.groups_x) || !groups_ok(e.grid_y, e.workgroup_y, e.groups_y) ||
	    !groups_ok(e.grid_z, e.workgroup_z, e.groups_z))
		return TUTTI_ERROR_PACKET;
	if (!(vector & ~(uint32_t)TABLE_LIGHT)) {
		code = derive_groups_afresh(&e);
		return code ? code : make_record(block, &e, ref, record);
	}
	claimed = e;
	code = kernel_get(queue, e.kernel_object, &kernel);
	if (!code)
		code = condensed_derive(&e, kernel);
	if (code)
		return code;
	if (claimed.waves != e.waves || claimed.private_bytes != e.private_bytes ||
	    claimed.shared_bytes != e.shared_bytes)
		return TUTTI_ERROR_PACKET;
	return make_record(block, &e, ref, record);
}

// SPDX-License-Identifier: MIT
#include "packets/condensed.h"

#include "core/queue_record.h"
#include "core/state.h"
#include "core/wait.h"
#include "packets/condensed_fields.h"
#include "packets/condensed_metadata.h"

#define DIFF_UNITS(bit, name, units) if (vector >> (bit) & 1) n += (units);

/* Fields of one size are neighbours: five of one unit, five of two and three of four. */
unsigned diff_units(uint32_t vector)
{
	static const uint8_t ones[32] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
					  1, 2, 2, 3, 2, 3, 3, 4, 2, 3, 3, 4, 3, 4, 4, 5 };

	_Static_assert(TUTTI_DIFF_GRID_X == 1u << 5 && TUTTI_DIFF_KERNEL_OBJECT == 1u << 10 && TUTTI_DIFF_SIGNAL == 1u << 12,
		       "three groups");
	return ones[vector & 31] + 2 * ones[vector >> 5 & 31] + 4 * ones[vector >> 10 & 7];
}

unsigned table_units(uint32_t vector)
{
	unsigned n = 0;

	TUTTI_TABLE_FIELDS(DIFF_UNITS)
	return n;
}

/* ---- expansion ---- */

static inline unsigned widest(const struct rsb *rsb, unsigned seen, unsigned release)
{
	if (seen & rsb->release_system || release == TUTTI_SCOPE_SYSTEM)
		return TUTTI_SCOPE_SYSTEM;
	return seen & rsb->release_agent || release ? TUTTI_SCOPE_AGENT : TUTTI_SCOPE_NONE;
}

/* In the table form (PKT-20) kernarg and signal have other bits, but their values are the same. */
static inline uint32_t simple_vector(const struct queue *queue, uint32_t vector)
{
	if (likely(!(queue->flags & TUTTI_QUEUE_TABLE_DIFFS)))
		return vector;
	if (vector & ~(uint32_t)(TUTTI_TABLE_KERNARG | TUTTI_TABLE_SIGNAL))
		return ~0u;
	return (vector & TUTTI_TABLE_KERNARG ? TUTTI_DIFF_KERNARG : 0u) |
	       (vector & TUTTI_TABLE_SIGNAL ? TUTTI_DIFF_SIGNAL : 0u);
}

/* @entry need not be valid: that is checked at the end, for all entries that were seen. */
static uint32_t record_special(const struct rsb *rsb, unsigned entry)
{
	return rsb->special >> entry & 1 ? condensed_special(&rsb->table[entry]) : 0;
}

/* For each entry of a reference buffer: the workgroup size along x of the reference there whose grid was changed last. */
static struct divisor sizes[TUTTI_REFERENCES] HOT_DATA_LONG;

/* The values of a new grid x, for a record. Return: 0 or TUTTI_ERROR_* */
static int expand_grid(const struct tutti_reference *entry, struct divisor *size, uint32_t grid, uint32_t *out)
{
	uint64_t all;

	if (!grid)
		return TUTTI_ERROR_DIMENSIONS;
	out[0] = grid;
	if (size->by != entry->workgroup_x)
		divisor_set(size, entry->workgroup_x);
	out[1] = packet_groups(size, grid);
	all = packet_product(out[1], entry->groups_y, entry->groups_z);
	out[2] = (uint32_t)all;
	return all >> 32 ? TUTTI_ERROR_GRID : 0;
}

/* Make a record of fields in SIMPLE_FIELDS. @at: their values. Return: 0 or TUTTI_ERROR_* */
static int expand_simple(struct block *block, const struct rsb *rsb, uint32_t ref, uint32_t vector, const uint16_t *at)
{
	uint32_t *record = block->record + block->at_record, *out = record + 1;
	uint32_t what = ref << RECORD_ENTRY_SHIFT | record_special(rsb, ref);
	int code;

	if (vector & TUTTI_DIFF_GRID_X) {
		code = expand_grid(&rsb->table[ref], &sizes[ref], unit_pair(at), out);
		if (code)
			return code;
		at += 2;
		out += 3;
		what |= RECORD_GRID;
	}
	if (vector & TUTTI_DIFF_KERNARG) {
		out[0] = unit_pair(at);
		out[1] = unit_pair(at + 2);
		if (out[1] >> 15)
			return TUTTI_ERROR_PACKET;
		at += 4;
		out += 2;
		what |= RECORD_KERNARG;
	}
	if (vector & TUTTI_DIFF_SIGNAL) {
		out[0] = unit_pair(at);
		out[1] = unit_pair(at + 2);
		if (!packet_signal_ok(out[0], out[1]))
			return TUTTI_ERROR_PACKET;
		out += 2;
		what |= RECORD_SIGNAL;
	}
	*record = what;
	block->at_record = (uint16_t)(out - block->record);
	block->seen |= (uint8_t)(1u << ref);
	return 0;
}

/* For rare diffs a patched copy of the entry becomes the record. Return: 0, TUTTI_ERROR_* or PACKET_PARKED */
static int expand_rare(struct queue *queue, struct block *block, uint32_t head, const uint16_t *at)
{
	uint32_t *out = block->record + block->at_record;
	int code;

	if (block->record == block->simple) {
		out = block_general(block, out);
		if (!out)
			return BLOCK_FULL;
	}
	if (queue->flags & TUTTI_QUEUE_TABLE_DIFFS)
		code = table_diff(queue, block, at, head, out);
	else
		code = condensed_general(queue, block, at, head, out);
	if (!code)
		block->at_record = (uint16_t)(block->at_record + 1 + RECORD_WORDS);
	return code;
}

/* @unit of the packet is wrong, in the kernel that @block is at. What kernel_get() has noted is kept. Return: @code */
static __attribute__((noinline)) int refuse_unit(const struct block *block, int code, uint32_t unit)
{
	if (!packet_error.field)
		packet_refuse(code, unit);
	packet_error.field = unit;
	packet_error.kernel = block->at_kernel;
	return code;
}

/* Expand the kernel that @block is at. Return: 0, TUTTI_ERROR_* or PACKET_PARKED */
static int expand_kernel(struct queue *queue, const union tutti_packet *packet, struct block *block)
{
	const uint16_t *at = packet->condensed.unit + block->at_unit;
	uint32_t head, ref, vector, units;
	int code;

	if (block->at_unit >= TUTTI_CONDENSED_UNITS)
		return refuse_unit(block, TUTTI_ERROR_PACKET, TUTTI_CONDENSED_UNITS);
	head = *at++;
	ref = head & TUTTI_DIFF_REF;
	vector = head >> TUTTI_DIFF_VECTOR_SHIFT;
	if (vector && !reference_valid(queue->rsb, ref))
		return refuse_unit(block, TUTTI_ERROR_PACKET, block->at_unit);
	units = queue->flags & TUTTI_QUEUE_TABLE_DIFFS ? table_units(vector) : diff_units(vector);
	if (block->at_unit + 1 + units > TUTTI_CONDENSED_UNITS)
		return refuse_unit(block, TUTTI_ERROR_PACKET, block->at_unit + 1u);
	vector = simple_vector(queue, vector);
	if (vector & ~(uint32_t)SIMPLE_FIELDS)
		code = expand_rare(queue, block, head, at);
	else
		code = expand_simple(block, queue->rsb, ref, vector, at);
	if (code > 0)
		return refuse_unit(block, code, block->at_unit + 1u);
	if (!code)
		block->at_unit = (uint8_t)(block->at_unit + 1 + units);
	return code;
}

/* The whole packet has passed, except for what its metadata say. */
static int expand_end(struct queue *queue, const union tutti_packet *packet, struct block *block)
{
	const uint16_t *end = packet->condensed.unit + block->at_unit;
	const struct rsb *rsb = queue->rsb;
	uint32_t left;

	block->at_unit = 0;
	for (left = block->seen & ~(uint32_t)rsb->valid; left; left &= left - 1)
		if (!reference_valid(rsb, lowest_bit(left)))
			return packet_refuse(TUTTI_ERROR_PACKET, 0);
	block->release = (uint8_t)widest(rsb, block->seen, block->release);
	block->kernels = packet->condensed.num_kernels;
	if ((block->seen & rsb->special) | block->special) {
		block_keep(block, packet, rsb, end);
		block->complete = 0;
		return condensed_check_special(queue, block);
	}
	if (packet->word[0] == block->packet[0])
		return block_keep(block, packet, rsb, end);
	block->packet[0] = packet->word[0];
	return 0;
}

/* The block says how far the expansion is, so one that has parked goes on where it was. */
static COLD int expand_general(struct queue *queue, const union tutti_packet *packet, struct block *block)
{
	uint32_t kernels = packet->condensed.num_kernels;
	int code;

	block->complete = 0;
	packet_error.field = 0; /* nothing has been noted yet */
	if (kernels - 1 >= TUTTI_CONDENSED_KERNELS)
		return packet_refuse(TUTTI_ERROR_PACKET, 1);
	if (!block->at_unit) {
		block->at_kernel = block->seen = block->release = block->special = 0;
		block->at_record = 0;
	}
	for (; block->at_kernel < kernels; block->at_kernel++) {
		code = expand_kernel(queue, packet, block);
		if (code < 0)
			condensed_park(block, packet, queue->rsb);
		else if (code)
			block->at_unit = 0; /* the packet is refused, so the next one begins at its own start */
		if (code)
			return code;
	}
	return expand_end(queue, packet, block);
}

/*
 * This expands packets of which every diff is empty or changes just a kernarg, a grid x, a signal, or kernarg and
 * signal, in one pass without calls. Anything else, and every error, is left to expand_general(), which starts again
 * from the beginning and finds out what it is.
 */
HOT int condensed_expand(struct queue *queue, const union tutti_packet *packet, struct block *block)
{
	const uint16_t *at = packet->condensed.unit, *last;
	uint32_t *out = block->record, kernels = packet->condensed.num_kernels;
	uint32_t seen = 0, head, next, ref, a, b, masks;
	const struct rsb *rsb;

	if (unlikely(kernels - 1 >= TUTTI_CONDENSED_KERNELS) || unlikely(block->at_unit) ||
	    unlikely(queue->flags & TUTTI_QUEUE_TABLE_DIFFS))
		return expand_general(queue, packet, block);
	/* @last: where the units end if all that is left are empty diffs; it never lies behind the end of the packet */
	last = at + kernels;
	do {
		head = *at;
		if (likely(head < 8)) {
			/* runs of empty diffs are handled in pairs */
			while (at + 1 < last && likely((next = at[1]) < 8)) {
				out[0] = head << RECORD_ENTRY_SHIFT;
				out[1] = next << RECORD_ENTRY_SHIFT;
				seen |= 1u << head;
				seen |= 1u << next;
				at += 2;
				out += 2;
				if (at == last)
					goto expanded;
				head = *at;
				if (unlikely(head >= 8))
					goto changed;
			}
			seen |= 1u << head;
			*out++ = head << RECORD_ENTRY_SHIFT;
			at++;
			continue;
		}
changed:
		ref = head & TUTTI_DIFF_REF;
		head &= ~TUTTI_DIFF_REF;
		seen |= 1u << ref;
		ref <<= RECORD_ENTRY_SHIFT;
		if (head == TUTTI_DIFF_KERNARG << TUTTI_DIFF_VECTOR_SHIFT) {
			last += 4;
			if (unlikely(last > packet->condensed.unit + TUTTI_CONDENSED_UNITS))
				return expand_general(queue, packet, block);
			out[0] = ref | RECORD_KERNARG;
			a = unit_pair(at + 1);
			b = unit_pair(at + 3);
			out[1] = a;
			out[2] = b;
			if (unlikely(b >> 15))
				return expand_general(queue, packet, block);
			at += 5;
			out += 3;
		} else if (head == TUTTI_DIFF_GRID_X << TUTTI_DIFF_VECTOR_SHIFT) {
			const struct tutti_reference *entry =
				(const struct tutti_reference *)((const char *)queue->rsb->table + ref);
			const struct divisor *size;

			last += 2;
			if (unlikely(last > packet->condensed.unit + TUTTI_CONDENSED_UNITS))
				return expand_general(queue, packet, block);
			out[0] = ref | RECORD_GRID;
			a = unit_pair(at + 1);
			b = entry->workgroup_x;
			if (unlikely((int32_t)a <= 0) || unlikely(!b) || unlikely((entry->groups_y | entry->groups_z) != 1))
				return expand_general(queue, packet, block);
			out[1] = a;
			size = (const struct divisor *)((const char *)sizes + ref * sizeof(*size) / sizeof(*entry));
			if (unlikely(size->by != b))
				return expand_general(queue, packet, block);
			a = divisor_parts(size, a);
			out[2] = a;
			out[3] = a;
			at += 3;
			out += 4;
		} else if (head == (TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL) << TUTTI_DIFF_VECTOR_SHIFT) {
			last += 8;
			if (unlikely(last > packet->condensed.unit + TUTTI_CONDENSED_UNITS))
				return expand_general(queue, packet, block);
			out[0] = ref | RECORD_KERNARG | RECORD_SIGNAL;
			a = unit_pair(at + 1);
			b = unit_pair(at + 3);
			out[1] = a;
			out[2] = b;
			a = unit_pair(at + 5);
			next = unit_pair(at + 7);
			out[3] = a;
			out[4] = next;
			if (unlikely((a & 63) | (b | next) >> 15))
				return expand_general(queue, packet, block);
			at += 9;
			out += 5;
		} else if (head == TUTTI_DIFF_SIGNAL << TUTTI_DIFF_VECTOR_SHIFT) {
			last += 4;
			if (unlikely(last > packet->condensed.unit + TUTTI_CONDENSED_UNITS))
				return expand_general(queue, packet, block);
			out[0] = ref | RECORD_SIGNAL;
			a = unit_pair(at + 1);
			b = unit_pair(at + 3);
			out[1] = a;
			out[2] = b;
			if (unlikely((a & 63) | b >> 15))
				return expand_general(queue, packet, block);
			at += 5;
			out += 3;
		} else {
			return expand_general(queue, packet, block);
		}
	} while (at != last);
expanded:
	/* read again only here, so that the loop needs fewer registers that must be saved */
	rsb = queue->rsb;
	masks = rsb->masks;
	kernels = packet->condensed.num_kernels;
	/* seen has 8 bits, like each of the masks, so this tests @valid */
	if (unlikely(seen & ~masks))
		return expand_general(queue, packet, block);
	block->release = seen & masks >> 16 ? TUTTI_SCOPE_SYSTEM : seen & masks >> 8 ? TUTTI_SCOPE_AGENT : TUTTI_SCOPE_NONE;
	block->kernels = (uint8_t)kernels;
	a = packet->word[0];
	if (likely(a != block->packet[0])) {
		/* it differs from the one before, and so may the next one: it is kept only if it comes again */
		block->packet[0] = a;
		block->complete = 0;
		return 0;
	}
	return block_keep(block, packet, rsb, at);
}

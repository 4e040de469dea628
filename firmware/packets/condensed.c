// SPDX-License-Identifier: MIT
#include "packets/condensed.h"

#include "core/queue_record.h"
#include "core/state.h"
#include "core/wait.h"
#include "packets/condensed_fields.h"
#include "packets/condensed_metadata.h"

struct block blocks[FW_BLOCKS];

/* Room for general records is scarce; each piece notes which block has it. */
static struct {
	struct block *block;
	uint32_t record[BLOCK_GENERAL_WORDS];
} general[FW_GENERAL_BLOCKS];

static uint32_t block_clock;

void condensed_init(void)
{
	unsigned i;

	for (i = 0; i < FW_BLOCKS; i++) {
		blocks[i].owner = 0xffff;
		blocks[i].busy = blocks[i].complete = blocks[i].at_unit = 0;
		blocks[i].used = 0;
		blocks[i].record = blocks[i].simple;
	}
	for (i = 0; i < FW_GENERAL_BLOCKS; i++)
		general[i].block = NULL;
	block_clock = 0;
}

COLD struct block *condensed_block_find(struct queue *queue)
{
	struct block *b, *oldest = NULL;
	unsigned id = queue_id(queue);

	for (b = blocks; b < blocks + FW_BLOCKS; b++) {
		if (b->owner == id)
			goto found;
		if (!b->busy && (!oldest || (int32_t)(b->used - oldest->used) < 0))
			oldest = b;
	}
	b = oldest;
	if (!b)
		return NULL;
	b->owner = (uint16_t)id;
	b->complete = b->at_unit = 0;
found:
	queue->block = b;
	b->used = ++block_clock;
	return b;
}

/*
 * A block whose packet is being launched keeps its room. One that is parked in the middle of an expansion can start
 * again, so its room may be taken, but only as a last resort.
 */
static unsigned general_find(void)
{
	unsigned i, parked = FW_GENERAL_BLOCKS;

	for (i = 0; i < FW_GENERAL_BLOCKS; i++) {
		if (!general[i].block || !(general[i].block->busy | general[i].block->at_unit))
			return i;
		if (!general[i].block->busy)
			parked = i;
	}
	return parked;
}

/*
 * Move @block to room for general records, with the records it has so far, which end at @out.
 * Return: where they end now, or NULL if there is no room
 */
static COLD uint32_t *general_take(struct block *block, uint32_t *out)
{
	unsigned i = general_find();
	struct block *other;

	if (i == FW_GENERAL_BLOCKS)
		return NULL;
	other = general[i].block;
	if (other) {
		other->record = other->simple;
		other->complete = other->at_unit = 0;
	}
	words_copy(general[i].record, block->record, BLOCK_WORDS);
	general[i].block = block;
	block->record = general[i].record;
	return block->record + (out - block->simple);
}

void condensed_forget(unsigned queue)
{
	struct block *b;

	for (b = blocks; b < blocks + FW_BLOCKS; b++)
		if (b->owner == queue)
			b->complete = b->at_unit = 0;
}

COLD void condensed_resume(struct block *block, const union tutti_packet *packet)
{
	unsigned i;

	for (i = 0; i < 16; i++)
		if (block->packet[i] != packet->word[i])
			block->at_unit = 0;
}

uint64_t condensed_value(const uint16_t *at, unsigned units)
{
	uint64_t value = 0;

	while (units--)
		value = value << 16 | at[units];
	return value;
}

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

static COLD int refuse(const struct block *block, unsigned unit, unsigned kernel)
{
	(void)block;
	packet_error.kernel = kernel;
	return packet_refuse(TUTTI_ERROR_PACKET, unit);
}

static inline unsigned widest(const struct rsb *rsb, unsigned seen, unsigned release)
{
	if (seen & rsb->release_system || release == TUTTI_SCOPE_SYSTEM)
		return TUTTI_SCOPE_SYSTEM;
	return seen & rsb->release_agent || release ? TUTTI_SCOPE_AGENT : TUTTI_SCOPE_NONE;
}

/* For rare diffs the units are counted first; then a patched copy of the entry becomes the record. */
static inline int rare(struct queue *queue, struct block *block, const uint16_t *at, const uint16_t *end,
		     uint32_t head, uint32_t *out, unsigned *units)
{
	uint32_t vector = head >> TUTTI_DIFF_VECTOR_SHIFT;

	if (queue->flags & TUTTI_QUEUE_TABLE_DIFFS) {
		*units = table_units(vector);
		if (vector & ~(uint32_t)TUTTI_TABLE_ALL || *units > (unsigned)(end - at))
			return TUTTI_ERROR_PACKET;
		return table_diff(queue, block, at, head, out);
	}
	*units = diff_units(vector);
	if (*units > (unsigned)(end - at))
		return TUTTI_ERROR_PACKET;
	return condensed_general(queue, block, at, head, out);
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

/* Keep what condensed_same() compares: the first word and the units used, up to @at, in pairs of words. */
static HOT int expand_keep(const union tutti_packet *packet, struct block *block, const struct rsb *rsb, const uint16_t *at)
{
	const uint32_t *from = packet->word;
	uint32_t *out = block->packet, a, b;

	block->rsb = rsb;
	block->generation = rsb->generation;
	do {
		a = from[0];
		b = from[1];
		from += 2;
		out[0] = a;
		out[1] = b;
		out += 2;
	} while ((const void *)from < (const void *)at);
	block->compare = (uint8_t)(out - block->packet);
	block->complete = 1;
	return 0;
}

static COLD int expand_general(struct queue *queue, const union tutti_packet *packet, struct block *block)
{
	const struct rsb *rsb = queue->rsb;
	const uint16_t *at = packet->condensed.unit, *end = at + TUTTI_CONDENSED_UNITS;
	uint32_t *out = block->record, kernels = packet->condensed.num_kernels, left = kernels;
	uint32_t seen = 0, valid = rsb->valid | rsb->special, head, vector;

	block->complete = 0;
	if (unlikely(kernels - 1 >= TUTTI_CONDENSED_KERNELS))
		return refuse(block, 1, 0);
	if (unlikely(block->at_unit)) {
		at += block->at_unit;
		left -= block->at_kernel;
		out += block->at_record;
		seen = block->seen;
	} else {
		block->release = block->special = 0;
	}
	for (; left; left--) {
		if (unlikely(at >= end))
			return refuse(block, TUTTI_CONDENSED_UNITS, kernels - left);
		head = *at++;
		vector = head >> TUTTI_DIFF_VECTOR_SHIFT;
		if (likely(!vector)) {
			seen |= 1u << head;
			*out++ = head << RECORD_ENTRY_SHIFT | record_special(rsb, head);
			continue;
		}
		if (unlikely(!(valid >> (head & TUTTI_DIFF_REF) & 1)))
			return refuse(block, (unsigned)(at - 1 - packet->condensed.unit), kernels - left);
		vector = simple_vector(queue, vector);
		if (likely(!(vector & ~(uint32_t)SIMPLE_FIELDS))) {
			const struct tutti_reference *entry = &rsb->table[head & TUTTI_DIFF_REF];
			uint32_t *record = out++, bit = 1u << (head & TUTTI_DIFF_REF), what = (head & TUTTI_DIFF_REF) << RECORD_ENTRY_SHIFT;

			what |= record_special(rsb, head & TUTTI_DIFF_REF);
			seen |= bit;
			if (vector & TUTTI_DIFF_GRID_X) {
				uint32_t grid, groups;
				uint64_t all;

				if (unlikely(at + 2 > end))
					return refuse(block, TUTTI_CONDENSED_UNITS, kernels - left);
				grid = at[0] | (uint32_t)at[1] << 16;
				if (unlikely(!grid)) {
					packet_error.kernel = kernels - left;
					return packet_refuse(TUTTI_ERROR_DIMENSIONS,
							     (unsigned)(at - packet->condensed.unit));
				}
				groups = packet_groups(grid, entry->workgroup_x);
				out[0] = grid;
				out[1] = groups;
				if (unlikely((entry->groups_y | entry->groups_z) != 1)) {
					all = (uint64_t)groups * entry->groups_y;
					if (!(all >> 32))
						all *= entry->groups_z;
					if (all >> 32) {
						packet_error.kernel = kernels - left;
						return packet_refuse(TUTTI_ERROR_GRID,
								     (unsigned)(at - packet->condensed.unit));
					}
					groups = (uint32_t)all;
				}
				out[2] = groups;
				out += 3;
				at += 2;
				what |= RECORD_GRID;
			}
			if (vector & TUTTI_DIFF_KERNARG) {
				if (unlikely(at + 4 > end || at[3] >> 15 ))
					return refuse(block, (unsigned)(at - packet->condensed.unit), kernels - left);
				out[0] = at[0] | (uint32_t)at[1] << 16;
				out[1] = at[2] | (uint32_t)at[3] << 16;
				if (unlikely(out[1] >> 15))
					return refuse(block, (unsigned)(at - packet->condensed.unit), kernels - left);
				out += 2;
				at += 4;
				what |= RECORD_KERNARG;
			}
			if (vector & TUTTI_DIFF_SIGNAL) {
				if (unlikely(at + 4 > end))
					return refuse(block, (unsigned)(at - packet->condensed.unit), kernels - left);
				out[0] = at[0] | (uint32_t)at[1] << 16;
				out[1] = at[2] | (uint32_t)at[3] << 16;
				if (unlikely(!packet_signal_ok(out[0], out[1])))
					return refuse(block, (unsigned)(at - packet->condensed.unit), kernels - left);
				out += 2;
				at += 4;
				what |= RECORD_SIGNAL;
			}
			*record = what;
		} else {
			unsigned units;
			int code;

			if (unlikely(block->record == block->simple)) {
				out = general_take(block, out);
				if (!out)
					return wait_park(queue, WAIT_BLOCK);
			}
			code = rare(queue, block, at, end, head, out, &units);
			if (unlikely(code < 0)) {
				/* Parked: keep the whole packet and how far its expansion is. */
				words_copy(block->packet, packet, 16);
				block->at_unit = (uint8_t)(at - packet->condensed.unit - 1);
				block->at_kernel = (uint8_t)(kernels - left);
				block->at_record = (uint16_t)(out - block->record);
				block->seen = (uint8_t)seen;
				return code;
			}
			if (unlikely(code)) {
				packet_error.kernel = kernels - left;
				return packet_refuse(code, (unsigned)(at - packet->condensed.unit));
			}
			at += units;
			out += 1 + RECORD_WORDS;
		}
	}
	block->at_unit = 0;
	if (unlikely(seen & ~valid))
		return refuse(block, 0, 0);
	block->release = (uint8_t)widest(rsb, seen, block->release);
	block->kernels = (uint8_t)kernels;
	if (unlikely((seen & rsb->special) | block->special)) {
		expand_keep(packet, block, rsb, at);
		block->complete = 0;
		return condensed_check_special(queue, block);
	}
	if (unlikely(packet->word[0] == block->packet[0]))
		return expand_keep(packet, block, rsb, at);
	block->packet[0] = packet->word[0];
	return 0;
}

/* Two units as one word; they need not be aligned. */
static inline uint32_t pair(const uint16_t *at)
{
	return at[0] | (uint32_t)at[1] << 16;
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
			a = pair(at + 1);
			b = pair(at + 3);
			out[1] = a;
			out[2] = b;
			if (unlikely(b >> 15))
				return expand_general(queue, packet, block);
			at += 5;
			out += 3;
		} else if (head == TUTTI_DIFF_GRID_X << TUTTI_DIFF_VECTOR_SHIFT) {
			const struct tutti_reference *entry =
				(const struct tutti_reference *)((const char *)queue->rsb->table + ref);

			last += 2;
			if (unlikely(last > packet->condensed.unit + TUTTI_CONDENSED_UNITS))
				return expand_general(queue, packet, block);
			out[0] = ref | RECORD_GRID;
			a = pair(at + 1);
			b = entry->workgroup_x;
			if (unlikely(!a) || unlikely(!b) || unlikely((entry->groups_y | entry->groups_z) != 1))
				return expand_general(queue, packet, block);
			out[1] = a;
			a = packet_groups(a, b);
			out[2] = a;
			out[3] = a;
			at += 3;
			out += 4;
		} else if (head == (TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL) << TUTTI_DIFF_VECTOR_SHIFT) {
			last += 8;
			if (unlikely(last > packet->condensed.unit + TUTTI_CONDENSED_UNITS))
				return expand_general(queue, packet, block);
			out[0] = ref | RECORD_KERNARG | RECORD_SIGNAL;
			a = pair(at + 1);
			b = pair(at + 3);
			out[1] = a;
			out[2] = b;
			a = pair(at + 5);
			next = pair(at + 7);
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
			a = pair(at + 1);
			b = pair(at + 3);
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
	return expand_keep(packet, block, rsb, at);
}

/* Words are compared in pairs; the last word of the last pair may lie behind the units that are used. */
HOT bool condensed_same(const struct queue *queue, const union tutti_packet *packet, const struct block *block)
{
	const uint32_t *a, *b, *first = block->packet;
	const struct rsb *rsb = queue->rsb;

	if (packet->word[0] != *first || !block->complete || block->rsb != rsb || block->generation != rsb->generation)
		return false;
	/* start from the end, where arguments and signals stand: they are most likely to differ */
	b = first + block->compare;
	a = packet->word + block->compare;
	do {
		a -= 2;
		b -= 2;
		if (a[0] != b[0] || a[1] != b[1])
			return false;
	} while (b != first);
	return true;
}

/* ---- reading a record ---- */

COLD const uint32_t *condensed_entry(const struct queue *queue)
{
	const uint32_t *record = queue->record;

	if (*record & RECORD_GENERAL)
		return record + 1;
	return (const uint32_t *)&queue->rsb->table[*record >> RECORD_ENTRY_SHIFT & TUTTI_DIFF_REF];
}

COLD struct tutti_cga_shape condensed_cga(const struct queue *queue, bool *lmem)
{
	const struct tutti_reference *e = (const struct tutti_reference *)condensed_entry(queue);

	*lmem = e->flags & TUTTI_REFERENCE_LMEM;
	return e->cga;
}

COLD const uint32_t *condensed_kernel(const struct queue *queue, const uint32_t *record, uint32_t *state,
				 struct launch *launch)
{
	uint32_t what = *record++;
	const uint32_t *e = (const uint32_t *)&queue->rsb->table[what >> RECORD_ENTRY_SHIFT & TUTTI_DIFF_REF];

	if (what & RECORD_GENERAL) {
		e = record;
		record += RECORD_WORDS;
	}
	words_copy(state, e, TUTTI_TASK_WORDS);
	state[STATE_AT(asid)] = queue->asid_queue;
	state[STATE_AT(first)] = 0;
	state[STATE_AT(tmd)] = state[STATE_AT(tmd) + 1] = 0;
	state[STATE_AT(packet)] = (uint32_t)queue->run_packet;
	state[STATE_AT(packet) + 1] = (uint32_t)(queue->run_packet >> 32);
	launch->header = e[REFERENCE_AT(header)];
	launch->groups = e[REFERENCE_AT(groups)];
	if (what & RECORD_GRID) {
		state[STATE_AT(grid_x)] = *record++;
		state[STATE_AT(groups_x)] = *record++;
		launch->groups = *record++;
	}
	if (what & RECORD_KERNARG) {
		state[STATE_AT(kernarg)] = *record++;
		state[STATE_AT(kernarg) + 1] = *record++;
	}
	words_copy(launch->signal, e + REFERENCE_AT(signal), 2);
	if (what & RECORD_SIGNAL) {
		launch->signal[0] = *record++;
		launch->signal[1] = *record++;
	}
	return record;
}

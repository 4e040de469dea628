// SPDX-License-Identifier: MIT
#include "packets/condensed_block.h"

#include "core/card_memory.h"
#include "core/queue_record.h"

struct block blocks[FW_BLOCKS];

/* Room for general records is scarce; each piece notes which block has it. */
static struct {
	struct block *block;
	uint32_t record[BLOCK_GENERAL_WORDS];
} general[FW_GENERAL_BLOCKS];

/* The block of a queue in card memory. */
struct far_block {
	struct block block;
	uint32_t record[BLOCK_GENERAL_WORDS];
};
_Static_assert(TUTTI_MAX_QUEUES * sizeof(struct far_block) <= CARD_BLOCKS_BYTES, "each queue has one");

static uint32_t block_clock;

static struct far_block *far_block(unsigned queue)
{
	return (struct far_block *)card_memory(CARD_BLOCKS) + queue;
}

static bool is_far(const struct block *block)
{
	return block && (block < blocks || block >= blocks + FW_BLOCKS);
}

void condensed_init(void)
{
	unsigned i;

	for (i = 0; i < FW_BLOCKS; i++) {
		blocks[i].owner = BLOCK_OF_NOBODY;
		blocks[i].busy = blocks[i].complete = blocks[i].at_unit = 0;
		blocks[i].used = 0;
		blocks[i].record = blocks[i].simple;
	}
	for (i = 0; i < FW_GENERAL_BLOCKS; i++)
		general[i].block = NULL;
	block_clock = 0;
}

/*
 * Blocks whose packets are being launched or expanded are left to their queues. A packet that is parked in the middle of its
 * expansion in card memory goes on there.
 */
COLD struct block *condensed_block_find(struct queue *queue)
{
	struct block *b, *oldest = NULL;
	unsigned id = queue_id(queue);

	if (is_far(queue->block) && queue->block->at_unit)
		return queue->block;
	for (b = blocks; b < blocks + FW_BLOCKS; b++) {
		if (b->owner == id)
			goto found;
		if (!(b->busy | b->at_unit) && (!oldest || (int32_t)(b->used - oldest->used) < 0))
			oldest = b;
	}
	b = oldest;
	if (!b) {
		queue->block = &far_block(id)->block;
		return queue->block;
	}
	b->owner = (uint16_t)id;
	b->complete = 0;
found:
	queue->block = b;
	b->used = ++block_clock;
	return b;
}

COLD struct block *condensed_block_far(struct queue *queue)
{
	queue->block->at_unit = 0;
	queue->block = &far_block(queue_id(queue))->block;
	return queue->block;
}

static unsigned general_find(void)
{
	unsigned i;

	for (i = 0; i < FW_GENERAL_BLOCKS; i++)
		if (!general[i].block || !(general[i].block->busy | general[i].block->at_unit))
			break;
	return i;
}

COLD uint32_t *block_general(struct block *block, uint32_t *out)
{
	unsigned i = general_find();
	struct block *other;

	if (i == FW_GENERAL_BLOCKS)
		return NULL;
	other = general[i].block;
	if (other) {
		other->record = other->simple;
		other->complete = 0;
	}
	words_copy(general[i].record, block->record, BLOCK_WORDS);
	general[i].block = block;
	block->record = general[i].record;
	return block->record + (out - block->simple);
}

COLD void condensed_forget(unsigned queue)
{
	struct far_block *far = far_block(queue);
	struct block *b;

	far->block.owner = BLOCK_OF_NOBODY;
	far->block.busy = far->block.complete = far->block.at_unit = 0;
	far->block.record = far->record;
	for (b = blocks; b < blocks + FW_BLOCKS; b++)
		if (b->owner == queue)
			b->complete = b->at_unit = 0;
}

COLD void condensed_park(struct block *block, const union tutti_packet *packet, const struct rsb *rsb)
{
	words_copy(block->packet, packet, 16);
	block->generation = rsb->generation;
}

COLD void condensed_resume(struct block *block, const union tutti_packet *packet, const struct rsb *rsb)
{
	unsigned i;

	if (block->generation != rsb->generation)
		block->at_unit = 0;
	for (i = 0; i < 16; i++)
		if (block->packet[i] != packet->word[i])
			block->at_unit = 0;
}

HOT int block_keep(struct block *block, const union tutti_packet *packet, const struct rsb *rsb, const uint16_t *at)
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

/* Words are compared in pairs; the last word of the last pair may lie behind the units that are used. */
HOT bool condensed_same(const struct queue *queue, const union tutti_packet *packet, const struct block *block)
{
	const uint32_t *a, *b, *first = block->packet;
	const struct rsb *rsb = queue->rsb;

	if (!block->complete || block->rsb != rsb || block->generation != rsb->generation)
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

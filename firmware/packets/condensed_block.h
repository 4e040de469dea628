/* SPDX-License-Identifier: MIT */
/**
 * DOC: Blocks: condensed packets and their expansions
 *
 * A block holds the records of one packet while its kernels are launched, and afterwards, in case the same packet comes
 * again. A queue keeps its block until another one needs it. Room for general records is scarce and lent to blocks.
 *
 * Each queue has a block in card memory, too, with room for general records, where everything takes longer. It is used while
 * others hold all blocks, or all room, in local memory. So no queue waits for what the kernels of another one keep (REL-11).
 */
#ifndef CONDENSED_BLOCK_H
#define CONDENSED_BLOCK_H

#include "packets/condensed_record.h"
#include "packets/reference.h"

struct queue;
struct task_group;

/* Simple records take one word for each kernel; two units of values make at most three words more (grid x). */
#define BLOCK_WORDS (TUTTI_CONDENSED_UNITS * 3 / 2 + 2)
/* The worst case: 15 general records (of 2 units each) and an empty one. */
#define BLOCK_GENERAL_WORDS (15 * (1 + RECORD_WORDS) + 1)

/** struct block - a packet and its expansion; kept after the launch, in case the same packet comes again. */
struct block {
	uint32_t packet[16];
	const struct rsb *rsb;
	uint32_t generation;
	uint16_t owner;        /* number of the queue, BLOCK_OF_NOBODY: none, or the block is in card memory */
	uint8_t compare;       /* how many words of the packet condensed_same() compares */
	uint8_t kernels;
	uint8_t release;       /* widest release scope of its kernels */
	uint8_t special;       /* RECORD_TMD and RECORD_CGA of its kernels */
	uint8_t busy;          /* some of its records are not launched yet */
	uint8_t complete;      /* the expansion is whole and may be used again */
	/* where the expansion goes on after a kernel descriptor was fetched */
	uint8_t at_kernel;
	uint8_t at_unit;       /* 0: at the start */
	uint8_t seen;          /* mask of the entries referred to so far */
	uint16_t at_record;
	uint32_t used;         /* value of a counter at its last use: the oldest block is taken first */
	struct task_group *group; /* group of its kernels, if they may overlap; otherwise NULL */
	uint32_t *record;      /* @simple, or room for general records, of which there is little */
	uint32_t simple[BLOCK_WORDS];
};
#define BLOCK_OF_NOBODY 0xffffu
extern struct block blocks[FW_BLOCKS];

/** unit_pair() - two units of a packet as one word; they need not be aligned. unit_quad() - four units. */
static inline uint32_t unit_pair(const uint16_t *at)
{
	return at[0] | (uint32_t)at[1] << 16;
}

static inline uint64_t unit_quad(const uint16_t *at)
{
	return unit_pair(at) | (uint64_t)unit_pair(at + 2) << 32;
}

void condensed_init(void);
/** condensed_block_find() - a block for @queue: its last one, one that nobody needs, or the one in card memory. */
struct block *condensed_block_find(struct queue *queue);
/** condensed_block_far() - leave the block that @queue has, which is too small, for the one in card memory. */
struct block *condensed_block_far(struct queue *queue);
/** condensed_forget() - queue number @queue is a new one, or has stopped: forget what was expanded for it. */
void condensed_forget(unsigned queue);
/** condensed_park() - note what the expansion of @packet, which cannot go on now, has read. */
void condensed_park(struct block *block, const union tutti_packet *packet, const struct rsb *rsb);
/** condensed_resume() - let the expansion go on where it parked if none of that has changed since, else start again. */
void condensed_resume(struct block *block, const union tutti_packet *packet, const struct rsb *rsb);
/**
 * block_general() - move @block to room for general records, with the records it has so far, which end at @out.
 * Return: where they end now, or NULL if there is no room
 */
uint32_t *block_general(struct block *block, uint32_t *out);
/**
 * block_keep() - keep what condensed_same() compares: the first word and the units used, up to @at, in pairs of words.
 * Return: 0
 */
int block_keep(struct block *block, const union tutti_packet *packet, const struct rsb *rsb, const uint16_t *at);
/**
 * condensed_same() - does @packet, whose first word equals that of the last one, equal the one @block was made from, with no entry changed since?
 *
 * A simple packet is kept for this only when it comes for the second time.
 */
bool condensed_same(const struct queue *queue, const union tutti_packet *packet, const struct block *block);

#endif

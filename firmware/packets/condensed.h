/* SPDX-License-Identifier: MIT */
/**
 * DOC: Condensed packets (spec PKT-12 .. PKT-19)
 *
 * One pass validates and expands a packet into a block of records; nothing is
 * launched before the whole packet has passed. A record is one word (entry << 7 |
 * what follows) and the values that differ. Rare diffs carry a whole patched entry.
 */
#ifndef CONDENSED_H
#define CONDENSED_H

#include "packets/reference.h"
#include "place/kernel_cache.h"

struct queue;
struct task_group;

/* Diffs that have records of their own. */
#define SIMPLE_FIELDS (TUTTI_DIFF_GRID_X | TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL)

/* Record word: bits 9..7 entry, below: values that follow, in this order */
#define RECORD_GENERAL 1u  /* a struct tutti_reference, as far as a launch needs it (RECORD_WORDS) */
#define RECORD_GRID TUTTI_TASK_NEW_GRID       /* grid x, groups x, groups */
#define RECORD_KERNARG TUTTI_TASK_NEW_KERNARG /* two words */
#define RECORD_SIGNAL 4u   /* two words */
#define RECORD_TMD 2u      /* the entry has metadata; launched by way of launch_general() */
#define RECORD_CGA 32u     /* its kernel has CGAs; the same */
#define RECORD_ENTRY_SHIFT 7

/* Simple records: a word for each kernel, and two units of values make at most three words (grid x). */
#define BLOCK_WORDS (TUTTI_CONDENSED_UNITS * 3 / 2 + 2)
/* Worst: 15 general records (2 units each) and one empty. */
#define BLOCK_GENERAL_WORDS (15 * (1 + RECORD_WORDS) + 1)

/** struct block - a packet and its expansion; kept after its launch for "same packet again". */
struct block {
	uint32_t packet[16];
	const struct rsb *rsb;
	uint32_t generation;
	uint16_t owner;        /* queue, 0xffff = nobody */
	uint8_t compare;       /* words of the packet that matter */
	uint8_t kernels;
	uint8_t release;       /* widest scope */
	uint8_t busy;          /* records not launched yet */
	uint8_t complete;      /* the expansion is whole: may be reused */
	/* where to go on after a kernel descriptor was fetched */
	uint8_t at_kernel;
	uint8_t at_unit;       /* 0 = at the start */
	uint8_t seen;          /* entries referred to so far */
	uint16_t at_record;
	uint32_t used;         /* clock of its last use */
	struct task_group *group; /* its kernels may overlap; NULL: they do not */
	uint32_t *record;      /* @simple, or room for general records, of which there is little */
	uint32_t simple[BLOCK_WORDS];
};
extern struct block blocks[FW_BLOCKS];

void condensed_init(void);
/** condensed_block_find() - a block for @queue: its last one, a free one, or NULL. */
struct block *condensed_block_find(struct queue *queue);
/** condensed_forget() - the queue is new: nothing is the same as before. */
void condensed_forget(unsigned queue);
/** condensed_resume() - go on where @block parked, if @packet still is what it was then. */
void condensed_resume(struct block *block, const union tutti_packet *packet);
/**
 * condensed_expand() - validate and expand @packet.
 * Return: 0, TUTTI_ERROR_PACKET or another error, or PACKET_PARKED
 */
int condensed_expand(struct queue *queue, const union tutti_packet *packet, struct block *block);
/**
 * condensed_same() - @packet equals the one @block was made from and no entry has changed.
 *
 * A simple packet is kept for this when it comes the second time.
 */
bool condensed_same(const struct queue *queue, const union tutti_packet *packet, const struct block *block);
/**
 * condensed_kernel() - read one record into a task state.
 * Return: the next record; *@launch without its shape
 */
const uint32_t *condensed_kernel(const struct queue *queue, const uint32_t *record, uint32_t *state,
				 struct launch *launch);
/** condensed_cga() - CGAs of the record @queue is at, and whether they own linear memory slots. */
struct tutti_cga_shape condensed_cga(const struct queue *queue, bool *lmem);
/** condensed_special() - RECORD_TMD and RECORD_CGA of a kernel of @entry. */
static inline uint32_t condensed_special(const struct tutti_reference *entry)
{
	uint32_t what = entry->flags / TUTTI_REFERENCE_TMD * RECORD_TMD & RECORD_TMD;

	return unlikely(entry->cga.kind) ? what | RECORD_CGA : what;
}
/** condensed_entry() - words of what the record @queue is at launches: its reference, or a copy of RECORD_WORDS. */
const uint32_t *condensed_entry(const struct queue *queue);
/** condensed_value() - @units units at @at, least significant first. */
uint64_t condensed_value(const uint16_t *at, unsigned units);
/** diff_units() / table_units() - units of the values that follow a diff header, from its 13-bit vector. */
unsigned diff_units(uint32_t vector);
unsigned table_units(uint32_t vector);

#endif

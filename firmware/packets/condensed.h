/* SPDX-License-Identifier: MIT */
/**
 * DOC: Condensed packets (spec PKT-12 .. PKT-19)
 *
 * One pass validates a packet and expands it into a block of records; no kernel is launched before the whole packet
 * has passed. A record is one word (entry << 7 | what follows) and the values that differ from the entry. For rare
 * diffs the record carries a whole patched entry.
 */
#ifndef CONDENSED_H
#define CONDENSED_H

#include "packets/reference.h"
#include "place/kernel_cache.h"

struct queue;
struct task_group;

/* Diffs that have records of their own. */
#define SIMPLE_FIELDS (TUTTI_DIFF_GRID_X | TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL)

/* Bits of a record word: 9..7 are the entry; those below say which values follow, in this order. */
#define RECORD_GENERAL 1u  /* a struct tutti_reference, as far as a launch needs it (RECORD_WORDS) */
#define RECORD_GRID TUTTI_TASK_NEW_GRID       /* grid x, groups x, groups */
#define RECORD_KERNARG TUTTI_TASK_NEW_KERNARG /* two words */
#define RECORD_SIGNAL 4u   /* two words */
#define RECORD_TMD 2u      /* the entry has metadata; its kernel is launched by launch_general() */
#define RECORD_CGA 32u     /* its kernel has CGAs; it is launched by launch_general() too */
#define RECORD_ENTRY_SHIFT 7

/* Simple records take one word for each kernel; two units of values make at most three words more (grid x). */
#define BLOCK_WORDS (TUTTI_CONDENSED_UNITS * 3 / 2 + 2)
/* The worst case: 15 general records (of 2 units each) and an empty one. */
#define BLOCK_GENERAL_WORDS (15 * (1 + RECORD_WORDS) + 1)

/** struct block - a packet and its expansion; kept after the launch, in case the same packet comes again. */
struct block {
	uint32_t packet[16];
	const struct rsb *rsb;
	uint32_t generation;
	uint16_t owner;        /* number of the queue, 0xffff: none */
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
extern struct block blocks[FW_BLOCKS];

void condensed_init(void);
/** condensed_block_find() - a block for @queue: its last one, one that is not busy, or NULL. */
struct block *condensed_block_find(struct queue *queue);
/** condensed_forget() - queue number @queue is a new one: forget what was expanded for its predecessor. */
void condensed_forget(unsigned queue);
/** condensed_resume() - let the expansion go on where it parked if @packet has not changed since, else start again. */
void condensed_resume(struct block *block, const union tutti_packet *packet);
/**
 * condensed_expand() - validate and expand @packet.
 * Return: 0, TUTTI_ERROR_PACKET or another error, or PACKET_PARKED
 */
int condensed_expand(struct queue *queue, const union tutti_packet *packet, struct block *block);
/**
 * condensed_same() - does @packet equal the one @block was made from, with no entry changed since?
 *
 * A simple packet is kept for this only when it comes for the second time.
 */
bool condensed_same(const struct queue *queue, const union tutti_packet *packet, const struct block *block);
/**
 * condensed_kernel() - read one record into a task state.
 * Return: the next record. All of *@launch but its shape and kernel is set.
 */
const uint32_t *condensed_kernel(const struct queue *queue, const uint32_t *record, uint32_t *state,
				 struct launch *launch);
/** condensed_cga() - CGAs of the record that @queue is at. @lmem: whether they own linear memory slots */
struct tutti_cga_shape condensed_cga(const struct queue *queue, bool *lmem);
/** condensed_special() - the bits RECORD_TMD and RECORD_CGA for a kernel of @entry. */
static inline uint32_t condensed_special(const struct tutti_reference *entry)
{
	uint32_t what = entry->flags / TUTTI_REFERENCE_TMD * RECORD_TMD & RECORD_TMD;

	return unlikely(entry->cga.kind) ? what | RECORD_CGA : what;
}
/** condensed_entry() - what the record @queue is at launches: a reference, or a patched copy of RECORD_WORDS words. */
const uint32_t *condensed_entry(const struct queue *queue);
/** condensed_value() - the value of @units units at @at, the least significant first. */
uint64_t condensed_value(const uint16_t *at, unsigned units);
/** diff_units() - how many units of values follow a diff header with this 13-bit vector. table_units() - for PKT-20. */
unsigned diff_units(uint32_t vector);
unsigned table_units(uint32_t vector);

#endif

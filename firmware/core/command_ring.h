/* SPDX-License-Identifier: MIT */
/**
 * DOC: Command ring: records written in place, published at the end of a visit
 *
 * command_begin() gives contiguous room, the caller writes the record there and
 * command_end() moves on. Whoever starts a piece of work asks command_room()
 * first; a handler never waits for room.
 */
#ifndef COMMAND_RING_H
#define COMMAND_RING_H

#include "core/hal.h"

/*
 * Completions ask for no room: what they write while the engines stand still - as many events as the ring
 * of events holds - must fit behind what placements leave (PLACE_ROOM, SEARCH_MARGIN).
 */
#define COMMAND_WORDS 4096u
#define COMMAND_RECORD 255u /* longest record, words */
#define COMMAND_SHORT 48u   /* words that can be written without a look at the end before @near_end */

struct command_ring {
	uint32_t word[COMMAND_WORDS]; /* before what is hot: that is near gp */
	uint32_t *next;     /* where the next record goes */
	uint32_t *end;
	uint32_t *near_end; /* from here on COMMAND_SHORT words do not fit */
	uint32_t bias;      /* words written in earlier laps, less the address of @word in words */
	uint32_t published;
};
extern struct command_ring command_ring;

void command_init(void);
/** command_wrap() - fill the rest of the ring with a NOP, go on at its start. */
uint32_t *command_wrap(void);

/** command_tail() - words written, free running. */
static inline uint32_t command_tail(void)
{
	return command_ring.bias + (uint32_t)((uintptr_t)command_ring.next >> 2);
}

/** command_publish() - let the engines see what was written. */
static inline void command_publish(void)
{
	uint32_t now = command_tail();

	if (now == command_ring.published)
		return;
	command_ring.published = now;
	hal_release();
	HAL_ENGINES->command_tail = now;
}

/** command_free() - words that are free, wrap-around or not. */
static inline uint32_t command_free(void)
{
	return COMMAND_WORDS - (command_tail() - HAL_ENGINES->command_head);
}

/**
 * command_room() - there is room for @words more words, wrap-around included.
 *
 * A wrap may throw away as many words as the largest request; so twice that must be free.
 */
static inline bool command_room(unsigned words)
{
	return command_free() >= 2 * words;
}

static inline uint32_t *command_begin(unsigned words)
{
	uint32_t *p = command_ring.next;

	if (unlikely((size_t)((char *)command_ring.end - (char *)p) < words * 4))
		p = command_wrap();
	return p;
}

static inline void command_end(uint32_t *end)
{
	command_ring.next = end;
}

static inline void command_fence(unsigned sub)
{
	uint32_t *p = command_begin(1);

	p[0] = TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, sub);
	command_end(p + 1);
}

static inline void command_signal(uint32_t asid_queue, uint64_t address, unsigned sub)
{
	uint32_t *p = command_begin(4);

	p[0] = TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, sub);
	p[1] = asid_queue;
	p[2] = (uint32_t)address;
	p[3] = (uint32_t)(address >> 32);
	command_end(p + 4);
}

void command_write(uint32_t asid_queue, uint64_t address, uint64_t value, unsigned bytes);
void command_scrub(uint32_t asid_queue, uint64_t address, unsigned slots, unsigned sub);
void command_fetch(unsigned asid, unsigned flags, uint64_t address, unsigned bytes, void *local, unsigned tag);
/** command_task_state() - the whole task state that the STATE or TASK command @command stands for. */
void command_task_state(const uint32_t *command, uint32_t *state);
void command_words(unsigned op, unsigned sub, const uint32_t *words, unsigned n);

/* Tags of FETCH and mover commands: what the answer belongs to, in bits 15..12, and its number. */
#define TAG_PACKETS 0x0000u /* queue */
#define TAG_KERNEL 0x1000u  /* entry of the kernel cache */
#define TAG_PROBE 0x2000u   /* probe */
#define TAG_REPLY 0x3000u   /* deferred reply */
#define TAG_AGENT 0x4000u
#define TAG_TABLE 0x8000u /* commands have been taken: the table of SM states is true */
#define TAG_TENSOR 0x5000u /* entry of the cache of tensor descriptors */
#define TAG_TMD 0x6000u     /* metadata record */
#define TAG_WORK 0x7000u    /* metadata record of a queue task, and which of its words */
#define TAG_KIND 0xf000u
#define TAG_NUMBER 0x0fffu

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Command ring: records are written in place and published after each event
 *
 * command_begin() returns contiguous space for a record, the caller writes the record there, and
 * command_end() moves the write position behind it. A handler never waits for room.
 *
 * Why the ring cannot overrun: code that starts something - a kernel, a fetch, a reply - asks
 * command_room() first, which agrees only if COMMAND_OWED words would still be free
 * afterwards. Code that ends something does not ask: the terms of COMMAND_OWED cover every such
 * ending, as often as it can be outstanding at once. So the free words never fall below what
 * is still owed, however long the engines stand still. Code that finds no room keeps its work and
 * calls command_ask(), or parks its queue (WAIT_ROOM), and is called again when there is
 * room. That commands have been taken is not an event, so before the firmware idles while something waits for room,
 * it writes a mark (command_mark()), whose event wakes it. The host build checks every command_end().
 */
#ifndef COMMAND_RING_H
#define COMMAND_RING_H

#include "core/hal.h"
#include "core/state.h"

#define COMMAND_WORDS 4096u
#define COMMAND_RECORD 255u /* longest record, words */
#define COMMAND_SHORT 80u   /* words that fit without a wrap while the write position is not behind @near_end */

/* Lengths of command records in words (softcore.h). */
#define COMMAND_FENCE_WORDS 1u
#define COMMAND_FETCH_WORDS 6u
#define COMMAND_WRITE_WORDS 6u
#define COMMAND_BLOCK_WORDS(values) (4u + 2 * (values))
#define COMMAND_SCRUB_WORDS 5u
#define COMMAND_SIGNAL_WORDS 4u
#define COMMAND_INTERRUPT_WORDS 1u
#define COMMAND_KILL_WORDS 1u
#define COMMAND_CONTEXT_WORDS 5u
#define COMMAND_FLUSH_WORDS 3u
#define COMMAND_THROTTLE_WORDS (2u + FW_MAX_SMS / 32)
#define COMMAND_REPLY_WORDS 4u
#define COMMAND_SM_MODE_WORDS 1u
#define COMMAND_CLEAN_UP_WORDS (COMMAND_FENCE_WORDS + COMMAND_SIGNAL_WORDS)

/* The words that units write without asking for room. */
/* task_table.c: the end of every task that has a slot: a KILL, then fence and signal, or the signal as cancelled */
#define COMMAND_OWED_TASKS (FW_TASKS * (COMMAND_CLEAN_UP_WORDS + COMMAND_KILL_WORDS))
/* task_table.c: the end of every condensed packet whose kernels may overlap, task_group_put() */
#define COMMAND_OWED_GROUPS (FW_TASKS * COMMAND_CLEAN_UP_WORDS)
/* agent_packet.c: the end of every copy or fill in flight */
#define COMMAND_OWED_AGENTS (FW_AGENTS * COMMAND_CLEAN_UP_WORDS)
/* throttle.c: the switch to or from throttle mode, which happens as soon as the card is empty */
#define COMMAND_OWED_THROTTLE COMMAND_THROTTLE_WORDS
/* sm_match.c: the command by which the heartbeat tells SMs to stop writing the table of SM states */
#define COMMAND_OWED_MODE COMMAND_SM_MODE_WORDS
/* queue.c: a visit to a queue ends by retiring the packets it took, in two pieces where the user's ring wraps */
#define COMMAND_OWED_RETIRE (2 * COMMAND_SCRUB_WORDS + COMMAND_WRITE_WORDS)
/* host_channel.c: the reply to the one request being served, behind all commands of that request */
#define COMMAND_OWED_ANSWER (COMMAND_FENCE_WORDS + COMMAND_FETCH_WORDS)
/* command_mark(): the one mark */
#define COMMAND_OWED_MARK COMMAND_FETCH_WORDS
/* command_wrap(): the words lost at the end of the ring when one of the records above does not fit there, or a SCRUB
   and a WRITE that queue.c writes together */
#define COMMAND_OWED_WRAP (COMMAND_THROTTLE_WORDS + COMMAND_SCRUB_WORDS + COMMAND_WRITE_WORDS)

#define COMMAND_OWED                                                                                          \
	(COMMAND_OWED_TASKS + COMMAND_OWED_GROUPS + COMMAND_OWED_AGENTS + COMMAND_OWED_THROTTLE + COMMAND_OWED_MODE + \
	 COMMAND_OWED_RETIRE + COMMAND_OWED_ANSWER + COMMAND_OWED_MARK + COMMAND_OWED_WRAP)

struct command_ring {
	uint32_t word[COMMAND_WORDS]; /* first, so that the fields behind it are within reach of gp */
	uint32_t *next;     /* where the next record goes */
	uint32_t *end;
	uint32_t *near_end; /* behind this, COMMAND_SHORT words do not fit before the end */
	uint32_t *limit;    /* up to here no wrap is near and place_room() holds, by command_renew(); NULL while suspended */
	uint32_t bias;      /* words written in earlier laps, minus the address of @word divided by 4 */
	uint32_t published; /* the tail that the engines have been told */
	bool asked;         /* a unit has found no room and must be called again when there is some */
	bool marked;        /* the event of a mark has yet to come */
	uint32_t sink;      /* where the fetch of a mark goes */
};
extern struct command_ring command_ring;

void command_init(void);
/** command_wrap() - fill the rest of the ring with NOPs. Return: its start, where the next record goes */
uint32_t *command_wrap(void);

/** command_tail() - number of words written since boot, modulo 2^32. */
static inline __attribute__((always_inline)) uint32_t command_tail(void)
{
	return command_ring.bias + (uint32_t)((uintptr_t)command_ring.next >> 2);
}

/** command_publish() - let the engines see all records written so far. */
static inline void command_publish(void)
{
	uint32_t now = command_tail();

	command_ring.published = now;
	hal_release();
	HAL_ENGINES->command_tail = now;
}

/** command_free() - number of free words, wherever in the ring they lie. */
static inline __attribute__((always_inline)) uint32_t command_free(void)
{
	return COMMAND_WORDS - (command_tail() - HAL_ENGINES->command_head);
}

/**
 * COMMAND_ASK() - number of words that must be free before @words more may be written.
 *
 * A wrap may waste as many words as are asked for, so twice as many must be free, besides
 * those that are owed.
 */
#define COMMAND_ASK(words) (2 * (words) + COMMAND_OWED)

/** command_renew() - find out anew how far the next launches may write: @limit. Return: whether place_room() holds */
bool command_renew(void);

/** command_room() - whether @words more may be written, even with a wrap and all that is owed. */
static inline bool command_room(unsigned words)
{
	return command_free() >= COMMAND_ASK(words);
}

/** command_later() - have main_settle() call every unit that found no room again, once there is some. */
static inline void command_later(void)
{
	command_ring.asked = true;
	attention.settle |= ATTEND_ROOM;
}

/** command_ask() - whether command_room() holds; if it does not, command_later() is arranged. */
static inline bool command_ask(unsigned words)
{
	if (command_room(words))
		return true;
	command_later();
	return false;
}

/**
 * command_mark() - have an event put when all commands written so far have been taken, unless a mark is under way.
 *
 * It is published at once.
 */
void command_mark(void);
/** command_marked() - the event of the mark has come. */
static inline void command_marked(void)
{
	command_ring.marked = false;
}

/**
 * command_begin() - contiguous space for a record of @words words, after a wrap if one is needed.
 *
 * No record ends exactly at the end of the ring, so @next always lies inside it; trial_launch.c relies on that.
 */
static inline uint32_t *command_begin(unsigned words)
{
	uint32_t *p = command_ring.next;

	if (unlikely((size_t)((char *)command_ring.end - (char *)p) <= words * 4))
		p = command_wrap();
	return p;
}

#ifdef __riscv
/** command_end() - the record that was begun is complete and ends before @end. */
static inline void command_end(uint32_t *end)
{
	command_ring.next = end;
}
#else
/* The host build aborts a test in which the ring overruns, and names the function that wrote last. */
#define command_end(end) hal_host_written(end, __func__)
#endif

/*
 * Each of these functions writes one record at @p, for those who write several without asking for each whether it fits;
 * softcore.h describes the commands and their fields. Return: where the next record goes
 */
static inline __attribute__((always_inline))
uint32_t *command_put_fence(uint32_t *p, unsigned sub)
{
	p[0] = TUTTI_COMMAND(TUTTI_CMD_FENCE, COMMAND_FENCE_WORDS, sub);
	return p + COMMAND_FENCE_WORDS;
}

static inline __attribute__((always_inline))
uint32_t *command_put_signal(uint32_t *p, uint32_t asid_queue, uint64_t address, unsigned sub)
{
	p[0] = TUTTI_COMMAND(TUTTI_CMD_SIGNAL, COMMAND_SIGNAL_WORDS, sub);
	p[1] = asid_queue;
	p[2] = (uint32_t)address;
	p[3] = (uint32_t)(address >> 32);
	return p + COMMAND_SIGNAL_WORDS;
}

static inline __attribute__((always_inline))
uint32_t *command_put_write(uint32_t *p, uint32_t asid_queue, uint64_t address, uint64_t value, unsigned bytes)
{
	p[0] = TUTTI_COMMAND(TUTTI_CMD_WRITE, COMMAND_WRITE_WORDS, bytes);
	p[1] = asid_queue;
	p[2] = (uint32_t)address;
	p[3] = (uint32_t)(address >> 32);
	p[4] = (uint32_t)value;
	p[5] = (uint32_t)(value >> 32);
	return p + COMMAND_WRITE_WORDS;
}

static inline __attribute__((always_inline))
uint32_t *command_put_fetch(uint32_t *p, unsigned asid_flags, uint64_t address, unsigned bytes, void *local, unsigned tag)
{
	p[0] = TUTTI_COMMAND(TUTTI_CMD_FETCH, COMMAND_FETCH_WORDS, tag);
	p[1] = asid_flags;
	p[2] = (uint32_t)address;
	p[3] = (uint32_t)(address >> 32);
	p[4] = bytes;
	p[5] = hal_local(local);
	return p + COMMAND_FETCH_WORDS;
}

static inline __attribute__((always_inline))
uint32_t *command_put_scrub(uint32_t *p, uint32_t asid_queue, uint64_t address, unsigned slots, unsigned sub)
{
	p[0] = TUTTI_COMMAND(TUTTI_CMD_SCRUB, COMMAND_SCRUB_WORDS, sub);
	p[1] = asid_queue;
	p[2] = (uint32_t)address;
	p[3] = (uint32_t)(address >> 32);
	p[4] = slots;
	return p + COMMAND_SCRUB_WORDS;
}

/*
 * Each of these functions makes space for one record and writes it. The caller has asked for room, unless COMMAND_OWED
 * includes the record.
 */
static inline void command_fence(unsigned sub)
{
	command_end(command_put_fence(command_begin(COMMAND_FENCE_WORDS), sub));
}

static inline void command_signal(uint32_t asid_queue, uint64_t address, unsigned sub)
{
	command_end(command_put_signal(command_begin(COMMAND_SIGNAL_WORDS), asid_queue, address, sub));
}

void command_write(uint32_t asid_queue, uint64_t address, uint64_t value, unsigned bytes);
void command_scrub(uint32_t asid_queue, uint64_t address, unsigned slots, unsigned sub);
void command_fetch(unsigned asid, unsigned flags, uint64_t address, unsigned bytes, void *local, unsigned tag);
/** command_task_state() - write to @state the whole task state that the STATE or TASK command @command stands for. */
void command_task_state(const uint32_t *command, uint32_t *state);
/** command_words() - write a record of @n words behind its head. */
void command_words(unsigned op, unsigned sub, const uint32_t *words, unsigned n);

#if !defined(__riscv) && !defined(COMMAND_RING_ITSELF)
/* These let hal_host_written() name the caller. */
#define command_fence(...) (hal_host_writer = __func__, command_fence(__VA_ARGS__))
#define command_signal(...) (hal_host_writer = __func__, command_signal(__VA_ARGS__))
#define command_write(...) (hal_host_writer = __func__, command_write(__VA_ARGS__))
#define command_scrub(...) (hal_host_writer = __func__, command_scrub(__VA_ARGS__))
#define command_fetch(...) (hal_host_writer = __func__, command_fetch(__VA_ARGS__))
#define command_words(...) (hal_host_writer = __func__, command_words(__VA_ARGS__))
#endif

/*
 * Tags of FETCH and mover commands, which come back in the event: bits 15..12 say what the data are for, the others
 * give the number of what each comment below names.
 */
#define TAG_PACKETS 0x0000u /* queue */
#define TAG_KERNEL 0x1000u  /* entry of the kernel cache */
#define TAG_PROBE 0x2000u   /* probe of a barrier packet's signals */
#define TAG_REPLY 0x3000u   /* deferred reply to the host */
#define TAG_AGENT 0x4000u   /* agent dispatch */
#define TAG_TABLE 0x8000u /* no number: earlier commands have been taken, so the table of SM states is up to date */
#define TAG_ROOM 0x9000u  /* no number: a mark, see command_mark() */
#define TAG_TENSOR 0x5000u /* entry of the cache of tensor descriptors */
#define TAG_TMD 0x6000u     /* metadata record */
#define TAG_WORK 0x7000u    /* metadata record of a queue task, and which of its words was read */
#define TAG_KIND 0xf000u
#define TAG_NUMBER 0x0fffu

#endif

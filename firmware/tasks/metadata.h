/* SPDX-License-Identifier: MIT */
/**
 * DOC: Task metadata, as the firmware keeps it (spec TSK-01)
 *
 * A TMD lies in user memory: its static part is fetched once, checked, and this copy is
 * used until the task ends; an affinity mask and the geometry of a work queue likewise. A
 * packet parks meanwhile and is decoded again when all is here. The dynamic part is
 * written back when the task leaves the task table or ends.
 */
#ifndef METADATA_H
#define METADATA_H

#include "place/affinity.h"

struct queue;
struct task;

#define TMD_WORDS (offsetof(struct tutti_tmd, state) / 4)

enum tmd_stage {
	TMD_FREE,
	TMD_FETCHING, /* answers are on their way */
	TMD_FETCHED,  /* checked: the packet or request it belongs to goes on */
	TMD_BAD,
	TMD_BUSY,     /* of a child task: there is no room for its affinity mask */
	TMD_TASK,     /* belongs to a task */
	TMD_ENDED,    /* the task has ended, an answer is still on its way */
};

/** struct work - where a queue task stands in its work queue (work_queue.c). */
struct work {
	uint64_t read;        /* next item to give */
	uint64_t written;     /* items there, as seen last */
	uint64_t deadline;    /* coalescing timeout, ~0 = none */
	uint64_t fetched[4];  /* where fetches go: an index, then base, sizes, closed */
	uint32_t items;       /* capacity */
	uint32_t each;        /* items of each CTA that can be issued now */
	uint32_t issued;      /* CTAs */
	uint8_t fetching;
	uint8_t again;        /* notified while fetching, or while the command ring had no room */
	uint8_t closed;
	uint8_t expired;      /* the timeout has passed: fewer than the minimum will do */
};

struct tmd {
	uint32_t word[TMD_WORDS] __attribute__((aligned(8))); /* tmd_static() */
	uint64_t address;
	struct queue *queue;
	uint8_t stage;        /* enum tmd_stage */
	uint8_t step;         /* fetching: 0 the record itself, 1 what it names, 2 the same, when there is room */
	uint8_t answers;      /* fetches in flight */
	uint8_t orphan;       /* nobody waits for them any more */
	uint8_t cause;        /* of a failed fetch */
	uint8_t field;        /* byte of the first bad field */
	uint8_t affinity;     /* number + 1 of the mask, 0 = any SM */
	uint8_t child;        /* made by a kernel */
	uint32_t quota_left;  /* CTAs of this turn */
	uint32_t evictions, turns, timeouts;
	struct task *parent;  /* NULL: gone, or made by a packet */
	uint32_t sm_wave;     /* of the creator that waits for an answer */
	struct work work;
};
static inline const struct tutti_tmd *tmd_static(const struct tmd *tmd)
{
	return (const struct tutti_tmd *)tmd->word;
}

static inline bool tmd_flag(const struct tmd *tmd, uint32_t flag)
{
	return tmd_static(tmd)->flags & flag;
}

static inline bool tmd_is_queue(const struct tmd *tmd)
{
	return tmd_static(tmd)->type == TUTTI_TASK_QUEUE;
}

/** tmd_affinity() - the SMs its task may run on, NULL: all. */
static inline const uint32_t *tmd_affinity(const struct tmd *tmd)
{
	return tmd->affinity ? affinity_mask(tmd->affinity) : NULL;
}

void tmd_init(void);
/**
 * tmd_get() - the checked metadata at @address for what @queue works on.
 * Return: 0, TUTTI_ERROR_TMD, or PACKET_PARKED
 */
int tmd_get(struct queue *queue, uint64_t address, struct tmd **tmd);
/** tmd_at() - record @number of FW_TMDS. tmd_number() - the other way round. */
struct tmd *tmd_at(unsigned number);
unsigned tmd_number(const struct tmd *tmd);
/** tmd_next_work() - the next record of a queue task that lives, NULL: there is none. @tmd: the last one, NULL at first */
struct tmd *tmd_next_work(struct tmd *tmd);
/** tmd_fetch() - a record for the metadata at @address, being fetched. NULL: none free for a queue of this priority. */
struct tmd *tmd_fetch(struct queue *queue, uint64_t address);
/** tmd_refuse() - note why @tmd is bad for the report. Return: TUTTI_ERROR_TMD */
int tmd_refuse(struct queue *queue, const struct tmd *tmd);
/** tmd_take() - it belongs to a task from now on. */
void tmd_take(struct queue *queue, struct tmd *tmd);
/** tmd_end() - its task has ended. */
void tmd_end(struct tmd *tmd);
/** tmd_put() - nobody needs it, nothing is on its way. */
void tmd_put(struct tmd *tmd);
/** tmd_drop() - the queue does not go on with its packet. */
void tmd_drop(struct queue *queue);
/** tmd_orphan() - @parent is gone. tmd_drop_children() - forget children of @queue that are not accepted yet. */
void tmd_orphan(struct task *parent);
void tmd_drop_children(struct queue *queue);
/** tmd_write() - the dynamic part goes back to memory. */
void tmd_write(const struct tmd *tmd, uint32_t state, uint32_t error, uint32_t issued, uint32_t completed);
/** TMD_WRITE_WORDS - commands tmd_write() may need; who calls it has asked for them. */
#define TMD_WRITE_WORDS (7 * 6)
/** tmd_resume() - a mask has become free, or there is room in the command ring again: who waits for it goes on. */
void tmd_resume(void);
void tmd_event_fetch(unsigned number, const struct tutti_event *event);

#endif

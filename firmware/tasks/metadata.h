/* SPDX-License-Identifier: MIT */
/**
 * DOC: Task metadata, as the firmware keeps it (spec TSK-01)
 *
 * A TMD (task metadata) lies in user memory. Its static part is fetched once and checked, and this copy is used until
 * the task ends; the same holds for an affinity mask and the geometry of a work queue. The packet parks meanwhile and
 * is decoded again when everything has arrived. The dynamic part is written back when the task leaves the task table
 * or ends.
 */
#ifndef METADATA_H
#define METADATA_H

#include "core/command_ring.h"
#include "core/queue_record.h"
#include "place/affinity.h"

struct task;

#define TMD_WORDS (offsetof(struct tutti_tmd, state) / 4)

enum tmd_stage {
	TMD_FREE,
	TMD_FETCHING, /* data are on their way, or have to wait for room */
	TMD_FETCHED,  /* complete and checked: the packet or request it belongs to can go on */
	TMD_BAD,      /* could not be read, or a field is wrong */
	TMD_BUSY,     /* only for child tasks: there is no room for its affinity mask */
	TMD_TASK,     /* belongs to a task */
	TMD_ENDED,    /* the task has ended, but a fetch is still on its way */
};

/** struct work - how far a queue task is in its work queue (work_queue.c). */
struct work {
	uint64_t read;        /* index of the next item to give to a CTA */
	uint64_t written;     /* write index, as fetched last */
	uint64_t deadline;    /* when the coalescing timeout passes; ~0: none is running */
	uint64_t fetched[4];  /* destination of fetches: an index, then base, sizes and the flag "closed" */
	uint32_t items;       /* capacity of the ring */
	uint32_t each;        /* how many items each CTA gets that can be issued now */
	uint32_t issued;      /* CTAs issued so far */
	union {
		struct {
			uint8_t fetching; /* 1: fetches are under way; 2: and one of them has failed */
			uint8_t again;    /* notified while fetching, or while the command ring had no room */
			uint8_t closed;
			uint8_t expired;  /* the timeout has passed: a CTA may start with fewer items than the minimum */
		};
		uint32_t none;        /* the four of them */
	};
};

struct tmd {
	uint32_t word[TMD_WORDS] __attribute__((aligned(8))); /* tmd_static() */
	uint64_t address;
	union {
		struct queue *queue;
		struct tmd *next_free; /* TMD_FREE */
	};
	union {
		struct {
			uint8_t stage;   /* enum tmd_stage */
			uint8_t step;    /* 0: the record itself is fetched, 1: what it names, 2: that has to wait */
			uint8_t answers; /* number of fetches in flight */
			uint8_t orphan;  /* nothing waits for these fetches any more */
		};
		uint32_t progress; /* the four of them */
	};
	union {
		struct {
			uint8_t cause;    /* why a fetch has failed, or 0 */
			uint8_t field;    /* byte offset of the first bad field */
			uint8_t affinity; /* number of its affinity mask + 1; 0: it may run on any SM */
			uint8_t child;    /* its task was created by a kernel, not by a packet */
		};
		uint32_t unusual; /* the four of them; all 0: nothing */
	};
	uint32_t quota_left;  /* CTAs it may still issue in this turn */
	uint32_t evictions, turns, timeouts;
	/* of a child */
	struct task *parent;  /* task that created it; NULL: it is gone */
	uint32_t sm_wave;     /* SM and wave of the creator, which waits for an answer */
	union {
		uint32_t shapes_seen; /* child that found no free shape: shapes.ids then, plus 1; otherwise 0 */
		uint32_t groups;      /* TMD_TASK, not a queue task: CTAs that it has issued or may issue */
	};
	struct work work;
};
static inline const struct tutti_tmd *tmd_static(const struct tmd *tmd)
{
	return (const struct tutti_tmd *)tmd->word;
}

/** tmd_priority() - priority of a task of @queue with metadata @tmd, or without any. */
static inline unsigned tmd_priority(const struct tmd *tmd, const struct queue *queue)
{
	return tmd && tmd_static(tmd)->priority ? tmd_static(tmd)->priority : queue->priority;
}

static inline bool tmd_flag(const struct tmd *tmd, uint32_t flag)
{
	return tmd_static(tmd)->flags & flag;
}

static inline bool tmd_is_queue(const struct tmd *tmd)
{
	return tmd_static(tmd)->type == TUTTI_TASK_QUEUE;
}

/** tmd_asks() - a wave waits for the answer about its child, whose metadata have arrived or are known to be unusable. */
static inline bool tmd_asks(const struct tmd *tmd)
{
	return tmd->child && (tmd->stage == TMD_FETCHED || tmd->stage == TMD_BAD || tmd->stage == TMD_BUSY);
}

/* Attributes that only issue rounds can respect. */
#define TMD_ROUNDS (TUTTI_TMD_AFFINITY | TUTTI_TMD_SEQUENCE | TUTTI_TMD_QUOTA | TUTTI_TMD_THROTTLE)

/** tmd_plain() - if its task finds room at once it can be launched like one without metadata. */
static inline bool tmd_plain(const struct tmd *tmd)
{
	return !(tmd_static(tmd)->flags & TMD_ROUNDS) && !tmd_is_queue(tmd) && !tmd_static(tmd)->cga[0].kind;
}

/** tmd_affinity() - mask of the SMs its task may run on, or NULL if these are all. */
static inline const uint32_t *tmd_affinity(const struct tmd *tmd)
{
	return tmd->affinity ? affinity_mask(tmd->affinity) : NULL;
}

extern struct tmd tmds[FW_TMDS];
extern struct tmd *tmd_free;    /* a list by struct tmd.next_free */
extern uint32_t tmd_free_count;

void tmd_init(void);
/**
 * tmd_get() - the checked metadata at @address, for the packet that @queue works on.
 * Return: 0, TUTTI_ERROR_TMD, or PACKET_PARKED
 */
int tmd_get(struct queue *queue, uint64_t address, struct tmd **tmd);
/** tmd_ready() - what tmd_get() has found if it would return 0 again, otherwise NULL. @low, @high: the address */
static inline struct tmd *tmd_ready(const struct queue *queue, uint32_t low, uint32_t high)
{
	struct tmd *tmd;

	if (unlikely(!queue->tmd))
		return NULL;
	tmd = &tmds[queue->tmd - 1];
	return tmd->stage == TMD_FETCHED && (uint32_t)tmd->address == low && (uint32_t)(tmd->address >> 32) == high ? tmd : NULL;
}
/**
 * tmd_at() - record @number, from a tag or an event; the first one if there is no such record. tmd_number() - its
 * number.
 */
static inline struct tmd *tmd_at(unsigned number)
{
	return &tmds[number < FW_TMDS ? number : 0];
}
unsigned tmd_number(const struct tmd *tmd);
/**
 * tmd_next_work() - the record of the next live queue task after @tmd (NULL: the first one), or NULL after the last.
 */
struct tmd *tmd_next_work(struct tmd *tmd);
/** tmd_fetch() - start fetching metadata at @address. Return: the record, NULL if none is free for @queue's priority */
struct tmd *tmd_fetch(struct queue *queue, uint64_t address);
/** tmd_many_free() - even if all records in use belong to the context of @queue, it leaves enough, so nobody has to count. */
static inline bool tmd_many_free(const struct queue *queue)
{
	return FW_TMDS - tmd_free_count + queue->priority / 2 < tmd_free_count;
}
/** tmd_quick() - may @queue, which holds no metadata, fetch those at @address by tmd_begin()? False if it is 0. */
static inline bool tmd_quick(const struct queue *queue, uint64_t address)
{
	return likely(address) && likely(!(address & 63)) && likely(fw_address_ok(address)) && likely(tmd_many_free(queue));
}
/** tmd_begin() - start fetching them. No end of the command ring is near. */
void tmd_begin(struct queue *queue, uint64_t address);
/** tmd_bad() - note for the error report what is wrong with @tmd. Return: TUTTI_ERROR_TMD */
int tmd_bad(const struct tmd *tmd);
/** tmd_refuse() - do the same, and let @queue go of @tmd, which it fetched for its packet. Return: TUTTI_ERROR_TMD */
int tmd_refuse(struct queue *queue, const struct tmd *tmd);
/** tmd_take() - @tmd, which is not that of a queue task, belongs to a task of @groups CTAs from now on. */
static inline void tmd_take(struct queue *queue, struct tmd *tmd, uint32_t groups)
{
	tmd->stage = TMD_TASK;
	tmd->groups = groups;
	queue->tmd = 0;
}
/** tmd_take_any() - the same for any metadata, also those that no queue waits for. */
void tmd_take_any(struct queue *queue, struct tmd *tmd, uint32_t groups);
/** tmd_give_back() - free a record that holds nothing else. No queue waits for one. */
static inline void tmd_give_back(struct tmd *tmd)
{
	tmd->stage = TMD_FREE;
	tmd->next_free = tmd_free;
	tmd_free = tmd;
	tmd_free_count++;
}
/** tmd_end() - the task of @tmd has ended. */
void tmd_end(struct tmd *tmd);
/** tmd_put() - free a record. No fetch into it may be under way. */
void tmd_put(struct tmd *tmd);
/** tmd_drop() - @queue gives up the packet it fetched metadata for. */
void tmd_drop(struct queue *queue);
/** tmd_child_ended() - the parent of @tmd, if it is there still, has one child less: it counts those that were accepted. */
void tmd_child_ended(struct tmd *tmd);
/** tmd_orphan() - @parent is gone. tmd_drop_children() - forget child tasks of @queue that are not accepted yet. */
void tmd_orphan(struct task *parent);
void tmd_drop_children(struct queue *queue);
/** tmd_write() - write the dynamic part back to user memory. */
void tmd_write(const struct tmd *tmd, uint32_t state, uint32_t error, uint32_t issued, uint32_t completed);
/** TMD_WRITE_WORDS - words of the command ring tmd_write() may need; its caller must have asked for them. */
#define TMD_VALUES 7u /* the dynamic part has so many values of 8 bytes */
#define TMD_WRITE_WORDS COMMAND_BLOCK_WORDS(TMD_VALUES)

/* All that is written lies in one aligned block of 64 bytes. The state is stored last. */
#define TMD_DYNAMIC offsetof(struct tutti_tmd, state)
_Static_assert(TMD_DYNAMIC / 64 == (TMD_DYNAMIC + 8 * TMD_VALUES - 1) / 64 &&
	       offsetof(struct tutti_tmd, timeouts) == TMD_DYNAMIC + 8 * (TMD_VALUES - 1), "one block");

/**
 * tmd_write_at() - write at @p, where TMD_WRITE_WORDS fit, the command of tmd_write(). Return: its end
 * @state: the error in its upper half
 * @left: items of a work queue that were given to no CTA
 */
static inline __attribute__((always_inline))
uint32_t *tmd_write_at(uint32_t *p, const struct tmd *tmd, uint32_t asid_queue, uint64_t state, uint32_t issued,
		       uint32_t completed, uint64_t left)
{
	uint64_t address = tmd->address + TMD_DYNAMIC;

	p[0] = TUTTI_COMMAND(TUTTI_CMD_BLOCK, TMD_WRITE_WORDS, 0);
	p[1] = asid_queue;
	p[2] = (uint32_t)address;
	p[3] = (uint32_t)(address >> 32);
	p[4] = (uint32_t)state;
	p[5] = (uint32_t)(state >> 32);
	p[6] = issued;
	p[8] = completed;
	p[10] = issued; /* resume */
	p[12] = (uint32_t)left;
	p[13] = (uint32_t)(left >> 32);
	p[14] = tmd->evictions;
	p[15] = tmd->turns;
	p[16] = tmd->timeouts;
	p[7] = p[9] = p[11] = p[17] = 0;
	return p + TMD_WRITE_WORDS;
}

/** tmd_resume() - go on with records that waited for a free affinity mask or for room in the command ring. */
void tmd_resume(void);

/* struct tmd.progress of a record for which only the first fetch is under way */
#define TMD_FIRST_FETCH (TMD_FETCHING | 1u << 16)
_Static_assert(offsetof(struct tmd, answers) == offsetof(struct tmd, progress) + 2, "TMD_FIRST_FETCH");

/**
 * tmd_event_usual() - a fetch for @tmd has ended. Has a queue asked for it, and is that all it has waited for, since it is a
 * grid without attributes but its priority? Fields that such a record leaves 0 are many, so they are tested together.
 */
static inline __attribute__((always_inline)) bool tmd_event_usual(struct tmd *tmd, const struct tutti_event *event)
{
	const struct tutti_tmd *t = tmd_static(tmd);
	const uint32_t *w = tmd->word;
	uint32_t any = w[offsetof(struct tutti_tmd, flags) / 4] & ~(TUTTI_TMD_HEAD | TUTTI_TMD_INDEPENDENT), priority = t->priority;
	unsigned i;

	if (unlikely((event->word[0] & 0xff00) | tmd->unusual | (tmd->progress ^ TMD_FIRST_FETCH)))
		return false;
#pragma GCC unroll 20
	for (i = offsetof(struct tutti_tmd, quota) / 4; i < offsetof(struct tutti_tmd, kernel_object) / 4; i++)
		any |= w[i];
	any |= w[offsetof(struct tutti_tmd, pad0) / 4];
	any |= t->magic ^ TUTTI_TMD_MAGIC;
	any |= w[offsetof(struct tutti_tmd, version) / 4] << 16 ^ (TUTTI_TMD_VERSION | TUTTI_TASK_GRID << 8) << 16;
	if (unlikely(any) || priority > 10 || (priority && priority < tmd->queue->highest) || t->cga_mode > TUTTI_CGA_MULTICAST)
		return false;
	tmd->progress = TMD_FETCHED;
	return true;
}
/**
 * tmd_event_fetch() - a fetch for @tmd has ended and tmd_event_usual() does not hold.
 * Return: the queue that has waited for the record (WAIT_METADATA), or NULL if more is to come or it is a child task's
 */
struct queue *tmd_event_fetch(struct tmd *tmd, const struct tutti_event *event);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: The record of a queue
 *
 * It holds what the firmware itself knows about a user's ring, out of the host's reach. queues/ works on it. Tasks and
 * decoders read the address space, priority and interrupt vector of their queue from it, and count in it the kernels
 * that are in flight.
 */
#ifndef QUEUE_RECORD_H
#define QUEUE_RECORD_H

#include "core/base.h"

struct block;
struct rsb;

/** struct queue_set - a bit for each queue. */
struct queue_set {
	uint32_t word[FW_QUEUE_WORDS];
};

static inline void queue_set_add(struct queue_set *set, unsigned id)
{
	set->word[id / 32] |= 1u << (id % 32);
}

static inline void queue_set_remove(struct queue_set *set, unsigned id)
{
	set->word[id / 32] &= ~(1u << (id % 32));
}

static inline bool queue_set_has(const struct queue_set *set, unsigned id)
{
	return set->word[id / 32] >> (id % 32) & 1;
}

enum queue_state { QUEUE_NONE, QUEUE_RUNNING, QUEUE_STOPPED, QUEUE_DYING };

#define QUEUE_REPORTS 0x8000u /* struct queue.flags: it has a progress word */
#define QUEUE_ONE 256u /* what one kernel or agent dispatch in flight adds to struct queue.flight */

/* A record has 128 bytes. The first FW_QUEUES lie in local memory, the others in card memory. */
struct queue {
	/* These are used for every packet. */
	const union tutti_packet *packet; /* private copy of the next packet */
	const union tutti_packet *end;    /* end of the private copies that have been fetched */
	uint32_t asid_queue;   /* asid | queue << 16, as commands carry it */
	/* The numbers of kernels and agent dispatches in flight: those of @run_packet, and all. */
	union {
		struct {
			uint32_t run_in_flight : 8, in_flight : 24;
		};
		uint32_t flight;       /* both numbers in one word: each counts QUEUE_ONE, one of @run_packet 1 more */
	};
	uint64_t head;         /* index of the next packet to work on */
	union {
		struct {
			uint8_t state;    /* enum queue_state */
			uint8_t wait;     /* enum queue_wait, wait.h */
			uint8_t fetching; /* slots that are being fetched */
			uint8_t stale;    /* the fetch in flight was sent before a reset, so its packets are not used */
		};
		uint32_t situation;       /* all four at once */
	};
	struct rsb *rsb;
	/* These describe the condensed packet that is being launched. */
	struct block *block;   /* the expansion it used last; while @run_kernels is 0 it may belong to another queue */
	const uint32_t *record;
	union {
		uint64_t run_packet;       /* index of the condensed packet */
		uint32_t seen_generation;  /* while @run_kernels is 0: of the references for which @seen holds */
	};
	uint8_t run_kernel;    /* number of the kernel to launch next */
	uint8_t seen;          /* barrier: mask of satisfied dependencies; condensed: how many kernels have valid metadata */
	uint8_t run_kernels;   /* number of its kernels; 0 if no condensed packet is being launched */
	uint8_t scrub;         /* a reference or condensed packet is among those to retire */
	/* These describe the ring in user memory. */
	uint32_t retired;      /* read index as the host sees it (low half) */
	uint32_t mask;
	uint8_t buffer;        /* number of the fetch buffer + 1; 0 if it has none */
	uint8_t batch;         /* slots to fetch next time */
	uint8_t rung;          /* the doorbell was rung after the last fetch was sent */
	uint8_t polls;         /* back-off step of polling */
	uint8_t run_stop;      /* condensed: the kernels from this one on cannot take the fast path */
	uint8_t probing;       /* number + 1 of the probe in flight */
	uint8_t priority;
	uint8_t works;         /* number of live queue tasks */
	uint8_t tmd;           /* metadata record + 1 of the packet or kernel at work, until a task takes it over */
	uint8_t notifying;     /* the host sleeps until @progressed reaches @notify */
	uint8_t error;         /* TUTTI_ERROR_* with which it stopped */
	uint8_t skip : 4;      /* packets at the head that a reset passes over: 1 if the head was refused */
	uint8_t highest : 4;   /* highest priority that metadata may ask for; 0: any */
	uint16_t flags;        /* TUTTI_QUEUE_*, QUEUE_REPORTS */
	uint16_t vector;
	struct tutti_reference *table; /* the references in @rsb */
	uint64_t ring;         /* address of the ring */
	uint64_t read_index;   /* address of the read index */
	uint64_t progress;     /* address of the progress word, or 0 */
	uint32_t promise;      /* highest index rung (low half): packets up to it are written or will be soon */
	uint32_t timeout;      /* of the watchdog, in ticks; 0 if it is off */
	uint32_t progressed;   /* what was last written to @progress (low half) */
	uint32_t signalled;    /* packet (low half) whose signal was sent last, for reports */
	uint32_t notify;       /* the value of @progressed at which to interrupt the host once */
	union {
		uint32_t deadline;   /* when to poll next, in steps of queue_timer.c */
		uint32_t destroy_id; /* QUEUE_DYING: the host's request to answer when the queue is gone */
	};
};
#ifdef __riscv
_Static_assert(sizeof(struct queue) == 128, "queues are found by a shift");
#endif

extern struct queue queues[FW_QUEUES];

/** queue_far() - the record of a queue that lies in card memory. */
struct queue *queue_far(unsigned id);

static inline struct queue *queue_at(unsigned id)
{
	return likely(id < FW_QUEUES) ? &queues[id] : queue_far(id);
}

static inline unsigned queue_id(const struct queue *queue)
{
	return queue->asid_queue >> 16;
}

static inline unsigned queue_asid(const struct queue *queue)
{
	return queue->asid_queue & 0xffff;
}

/** queue_set_next() - the number of the queue that queue_set_take() would take. */
unsigned queue_set_next(const struct queue_set *set, uint32_t words, unsigned from);
/**
 * queue_set_take() - take a queue out of @set: the first one whose number is @from or more or, if there is none, the
 * first of all.
 * @words: has a bit for each word of @set that is not 0
 */
struct queue *queue_set_take(struct queue_set *set, uint32_t *words, unsigned from);

/** queue_of_run() - 1 if @packet is the condensed packet that is being launched, otherwise 0. */
static inline uint32_t queue_of_run(const struct queue *queue, uint32_t packet)
{
	return queue->run_kernels && packet == (uint32_t)queue->run_packet;
}

/** queue_adopt() - count one more kernel or agent dispatch in flight, which belongs to @packet. */
static inline void queue_adopt(struct queue *queue, uint32_t packet)
{
	queue->flight += QUEUE_ONE + queue_of_run(queue, packet);
}

#endif

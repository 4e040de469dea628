/* SPDX-License-Identifier: MIT */
/**
 * DOC: The record of a queue
 *
 * The private truth about a user ring. queues/ works on it; tasks and decoders read from it whose address space,
 * priority and interrupt vector they work for, and count in it what is in flight.
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

#define QUEUE_ONE 256u /* one in flight, in struct queue.flight */

/* 128 bytes each: the first FW_QUEUES lie in local memory, the others in card memory. */
struct queue {
	/* hot */
	const union tutti_packet *packet; /* next private copy */
	const union tutti_packet *end;
	uint32_t asid_queue;   /* asid | queue << 16, as commands want it */
	/* kernels and agent dispatches in flight: all, and those of @run_packet */
	union {
		struct {
			uint32_t run_in_flight : 8, in_flight : 24;
		};
		uint32_t flight;       /* both: QUEUE_ONE for each, 1 more for those of @run_packet */
	};
	uint64_t head;         /* next packet to work on */
	union {
		struct {
			uint8_t state; /* enum queue_state */
			uint8_t wait;  /* enum queue_wait, wait.h */
		};
		uint16_t state_and_wait;
	};
	uint16_t flags;        /* TUTTI_QUEUE_* */
	struct rsb *rsb;
	/* condensed packet being launched */
	struct block *block;   /* the one it used last: unless @run_kernels perhaps another's by now */
	const uint32_t *record;
	uint64_t run_packet;
	uint8_t run_kernel;
	uint8_t run_kernels;   /* 0 = none */
	uint8_t run_stop;      /* from this kernel on launches are not quite as usual */
	uint8_t scrub;         /* a reference or condensed packet is among those to retire */
	/* ring */
	uint32_t retired;      /* read index as the host sees it (low half) */
	uint32_t mask;
	uint8_t buffer;        /* number + 1, 0 = none */
	uint8_t batch;         /* slots to fetch next time */
	uint8_t rung;          /* doorbell since the last fetch was sent */
	uint8_t fetching;
	uint8_t polls;         /* back-off step */
	uint8_t seen;          /* barrier: dependencies seen satisfied; condensed: kernels whose metadata are sound */
	uint8_t probing;       /* number + 1 of the probe in flight */
	uint8_t priority;
	uint8_t stale;         /* the fetch in flight is from before a reset */
	uint8_t works;         /* queue tasks that live */
	uint8_t tmd;           /* number + 1 of the metadata of the packet or kernel at work, until it is a task */
	uint8_t notifying;     /* somebody sleeps until @notify */
	uint8_t error;         /* TUTTI_ERROR_* it stopped with */
	uint8_t skip;          /* on reset: go on behind the packet at head */
	uint16_t vector;
	struct tutti_reference *table; /* of @rsb */
	uint64_t ring;
	uint64_t read_index;
	uint64_t progress;
	uint32_t promise;      /* highest index rung (low half): packets up to it will come */
	uint32_t timeout;      /* ticks, 0 = none */
	uint32_t progressed;   /* what was written there (low half) */
	uint32_t signalled;    /* packet (low half) whose signal was sent last: for reports */
	uint32_t notify;       /* one interrupt when so many (low half) have retired */
	union {
		uint32_t deadline;   /* poll then: steps of queue_timer.c */
		uint32_t destroy_id; /* QUEUE_DYING: request to answer when it is gone */
	};
};
#ifdef __riscv
_Static_assert(sizeof(struct queue) == 128, "queues are found by a shift");
#endif

extern struct queue queues[FW_QUEUES];

/** queue_far() - a queue beyond those in local memory. */
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

/** queue_of_run() - 1 if @packet is the condensed one at work. */
static inline uint32_t queue_of_run(const struct queue *queue, uint32_t packet)
{
	return queue->run_kernels && packet == (uint32_t)queue->run_packet;
}

/** queue_adopt() - one more in flight that belongs to @packet. */
static inline void queue_adopt(struct queue *queue, uint32_t packet)
{
	queue->flight += QUEUE_ONE + queue_of_run(queue, packet);
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Queues: private truth about a user ring
 *
 * A queue fetches a batch of slots into a private buffer, works through it until
 * something stops it (not ready, barrier, no slot ...) and retires what it took.
 * It never waits: it notes what it waits for and is run again when that comes.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include "packets/condensed.h"
#include "tasks/task_table.h"

enum queue_state { QUEUE_NONE, QUEUE_RUNNING, QUEUE_STOPPED, QUEUE_DYING };

/* What a parked queue waits for. TASKS: its own kernels in flight. */
enum queue_wait {
	WAIT_NONE,
	WAIT_RING,    /* doorbell or poll */
	WAIT_FETCH,   /* packets on their way */
	WAIT_TASKS,
	WAIT_SIGNAL,  /* barrier packet: probe or poll */
	/* resources: woken through queue_wake_waiters() */
	WAIT_SLOT,
	WAIT_BUFFER,
	WAIT_KERNEL,
	WAIT_BLOCK,
	WAIT_RSB,
	WAIT_SHAPE,
	WAIT_AGENT,
	WAIT_PROBE,
	WAIT_ROOM,
	WAIT_TMD,     /* metadata, or a record for them */
	QUEUE_WAITS
};

#define QUEUE_FIRST_BATCH 4u /* slots fetched when a queue wakes */
#define QUEUE_POLL_STEPS 5u

#define QUEUE_ONE 256u
#define QUEUE_RUN (QUEUE_ONE - 1) /* the part of @flight that counts kernels of the condensed packet at work */

/* 256 of them are most of the local memory: 128 bytes each. */
struct queue {
	/* hot */
	const union tutti_packet *packet; /* next private copy */
	const union tutti_packet *end;
	uint32_t asid_queue;   /* asid | queue << 16, as commands want it */
	uint32_t flight;       /* in flight: QUEUE_ONE for each kernel and agent dispatch, 1 for those of @run_packet */
	uint64_t head;         /* next packet to work on */
	union {
		struct {
			uint8_t state; /* enum queue_state */
			uint8_t wait;  /* enum queue_wait */
		};
		uint16_t stands;       /* both */
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
		uint32_t deadline;   /* poll then: steps of timer.c */
		uint32_t destroy_id; /* QUEUE_DYING: request to answer when it is gone */
	};
};
#ifdef __riscv
_Static_assert(sizeof(struct queue) == 128, "queues are found by a shift");
#endif

extern struct queue queues[TUTTI_MAX_QUEUES];

/** struct queue_table - sets of queues. */
struct queue_table {
	struct queue_set ready;            /* to be run */
	struct queue_set waiting[QUEUE_WAITS]; /* resource waits only */
	uint32_t any_ready;                /* words of @ready that are not 0 */
	uint32_t waiters[QUEUE_WAITS];     /* queues in each set, may be too high */
	struct queue_set probes;           /* parked at a barrier packet */
	uint32_t probe_queues;
	bool suspended;
};
extern struct queue_table queue_table;

static inline unsigned queue_id(const struct queue *queue)
{
	return queue->asid_queue >> 16;
}

/** queue_inflight() - kernels and agent dispatches in flight. */
static inline uint32_t queue_inflight(const struct queue *queue)
{
	return queue->flight / QUEUE_ONE;
}

static inline unsigned queue_asid(const struct queue *queue)
{
	return queue->asid_queue & 0xffff;
}

/** condensed_block() - condensed_block_find(), quick when the queue still has its last one. */
static inline struct block *condensed_block(struct queue *queue)
{
	struct block *block = queue->block;

	return likely(block && block->owner == queue_id(queue)) ? block : condensed_block_find(queue);
}
void queue_init(void);
int queue_create(const struct tutti_msg_queue *message);
/** queue_destroy() - start; the reply to @id follows when it is quiet. 0 or -TUTTI_E*. */
int queue_destroy(uint32_t id_queue, uint32_t id);
int queue_reset(uint32_t id_queue);
int queue_notify(uint32_t id_queue, uint32_t packets);
/** queue_run() - work on packets until something stops it. */
void queue_run(struct queue *queue);
/** queue_ready() - run it soon. */
void queue_ready(struct queue *queue);
/** queue_run_ready() - run all queues that became ready. */
void queue_run_ready(void);
/** queue_wake_waiters() - something queues wait for has become free. */
void queue_wake_waiters(enum queue_wait wait);
/** queue_park() - note what is missing; returns PACKET_PARKED. */
int queue_park(struct queue *queue, enum queue_wait wait);
/** queue_stop() - stop because of an error; @fault is sent to the host. Once. */
void queue_stop(struct queue *queue, struct tutti_fault *fault);
/** queue_finished() - one of its kernels or agent dispatches has ended; the queue may go on. */
void queue_finished(struct queue *queue, uint32_t packet);
/** queue_adopt() - one more in flight that belongs to @packet. */
void queue_adopt(struct queue *queue, uint32_t packet);
/** queue_refuse_run() - a kernel of the condensed packet at work cannot be launched. Return: PACKET_PARKED */
int queue_refuse_run(struct queue *queue, int code);
/** queue_cancel_run() - kernels of condensed packet @packet that are not launched will not be. True: there were some. */
bool queue_cancel_run(struct queue *queue, uint64_t packet);
/** queue_answered() - a fetch or probe came back while it does not run. */
void queue_answered(struct queue *queue);
/** queue_settle() - a queue that is being destroyed is gone when it is quiet. */
void queue_settle(struct queue *queue);
void queue_event_doorbell(const struct tutti_event *event);
void queue_event_fetch(unsigned number, const struct tutti_event *event);
void queue_event_post_fault(const struct tutti_event *event);
/** queue_poll() - its deadline has come. */
void queue_poll(struct queue *queue);
/** queue_suspend() / queue_resume() */
void queue_suspend(void);
void queue_resume(void);
/** queue_buffer_drop() - give its fetch buffer back. */
void queue_buffer_drop(struct queue *queue);

#endif

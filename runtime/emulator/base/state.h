/* SPDX-License-Identifier: MIT */
/**
 * DOC: State of the card
 *
 * Words the host or the firmware can write are never relied upon: what the hardware needs to stay safe (its discovery
 * data, ring positions, roots of page tables) is kept here, and every address is checked where it is used.
 *
 * One lock (card->lock) makes its holder "the driving thread": it runs the soft core, the engines and waves. Worker
 * threads run waves only; what they share with the driving thread is behind the SM array's own lock.
 */
#ifndef TUTTI_EMULATOR_BASE_STATE_H
#define TUTTI_EMULATOR_BASE_STATE_H

#include <pthread.h>

#include "emulator/base/config.h"
#include "emulator/base/core.h"
#include "emulator/base/hints.h"
#include "tutti/barrier.h"
#include "tutti/code_object.h"
#include "tutti/trace.h"

struct inject;
struct mmu;
struct mover;
struct profile;
struct sm_array;

#define CARD_LOCAL_BYTES 0x40000u /* unless the configuration says otherwise */
#define CARD_LOCAL_MAX 0x80000u
#define CARD_MSIX_VECTORS 32u
#define CARD_CORE_HZ 250000000u
#define CARD_TIMER_HZ 1000000000ull
#define CARD_REQUEST_SLOTS 256u

/* Custom mcause values of a crash the hardware reports about a broken command */
#define CARD_CAUSE_COMMAND 24u
#define CARD_CAUSE_LAUNCH 25u

/* Virtual time of deterministic mode, ns */
#define CARD_NS_PER_INSTRUCTION (CARD_TIMER_HZ / CARD_CORE_HZ)
#define CARD_NS_PER_COMMAND 20u
#define CARD_NS_PER_FETCH 500u
#define CARD_NS_PER_WAVE 1000u
#define CARD_NS_PER_WAVE_SLICE 100000u

/** struct engines_call - what movers need to know of a request; the slot's words are the firmware's to read only. */
struct engines_call {
	bool busy;
	uint8_t slot;      /* task slot */
	uint8_t cta_rank;  /* SHARED: destination */
	bool multicast;
	uint16_t mask;
	uint16_t sm, wave;
	uint32_t asid, cta;
	uint32_t barrier;
	uint64_t pc;
};

/** struct engines - hidden state of the engines. */
struct engines {
	/* rings as last validated; NULL while the firmware's words make no sense */
	uint32_t command_base, command_words;
	const uint32_t *commands;
	uint32_t command_head;
	uint32_t event_base, event_slots;
	struct tutti_event *events;
	uint32_t event_tail;
	uint32_t mover_base, mover_slots;
	const struct tutti_mover *movers;
	uint32_t mover_head;
	bool mover_notify; /* event MOVER_ROOM is due */
	uint32_t request_base, request_slots;
	struct tutti_tensor_call *requests;
	uint32_t request_next; /* slot that is filled next */
	struct engines_call call[CARD_REQUEST_SLOTS];
	uint32_t doorbell_pending[TUTTI_MAX_QUEUES / 32];
	uint32_t doorbell_any; /* bit w: doorbell_pending[w] != 0 */
	uint32_t message_seen; /* host_ring_tail of the last MESSAGE event */
	bool taken;            /* commands taken since the core was last run */
};

/** struct tutti_card - all there is of a card. Only the floors below sm/ and those above launch/ look into it. */
struct tutti_card {
	/* constant after creation */
	struct tutti_card_config config;
	struct tutti_discovery discovery;
	uint8_t *bar;
	size_t bar_bytes;
	bool bar_own;
	bool deterministic;
	struct tutti_control *control;
	struct tutti_status *status;
	struct tutti_crash *crash;
	uint64_t *counters;
	struct tutti_sm_state *sm_states; /* the firmware's; the host has a copy in the window */
	struct tutti_trace *trace;
	uint64_t trace_records;
	struct tutti_doorbell_page *doorbells;
	uint8_t *memory;
	uint8_t *local;
	struct tutti_engines *page; /* the engine page */
	const struct core_ops *ops;

	/* the driving thread's, under lock */
	pthread_mutex_t lock;
	struct core *core;
	struct engines engines;
	struct sm_array *sms;
	bool sm_table; /* @sm_states are kept current for the firmware */
	struct mmu *mmu;
	struct mover *mover;
	struct profile *profile;
	uint32_t boot_seen;
	bool alive;   /* a firmware is running */
	bool died;    /* it has just been stopped: SMs are to be emptied, the host is to be told */
	bool counting;
	uint32_t round;
	uint64_t stuck_ns;    /* watchdog: what the core has had since it last idled or took events, 0 = it has just now */
	uint64_t hung_at;     /* newest turn of an injected hang */
	uint64_t virtual_time;
	uint64_t virtual_instructions; /* already part of virtual_time */
	uint64_t start_ns;
	uint64_t counts[TUTTI_COUNTERS]; /* the driving thread's own */
	uint64_t print[TUTTI_MAX_CONTEXTS];

	/* any thread */
	uint64_t shared_counts[TUTTI_COUNTERS] __attribute__((aligned(64)));
	pthread_mutex_t trace_lock;
	pthread_mutex_t core_lock; /* between core_ops.interrupt and a reset of the core */
	uint64_t trace_tail; /* under trace_lock */
	uint32_t trace_lost;
	bool trace_half;     /* atomic: records have come to a ring half full since trace_leave() last said so */
	uint32_t armed; /* bit per enum tutti_card_fault, see inject.c */
	struct inject *inject;

	/* threads, see thread.c */
	pthread_t thread;
	bool thread_runs;
	uint32_t stop;
	uint32_t wanted;     /* threads that would like to drive */
	uint32_t wake_seq;   /* futex word */
	uint32_t sleepers;
	uint32_t deep;       /* the background thread sleeps with asleep set */
	uint64_t driven;     /* time of the last inline drive's end */
	uint32_t core_turns; /* odd while the core runs; the watcher looks at it */
	uint32_t watch_turns;
	uint64_t watch_since;
};

/** card_sm_bytes() - the table of SM states, whole pages. */
static inline size_t card_sm_bytes(const struct tutti_card *card)
{
	return (card->discovery.sms * sizeof(struct tutti_sm_state) + TUTTI_PAGE_SIZE - 1) & ~(TUTTI_PAGE_SIZE - 1ul);
}

/** count() - the driving thread adds to a counter. */
static inline void count(struct tutti_card *card, enum tutti_counter counter, uint64_t n)
{
	card->counts[counter] += n;
}

/** inject_is() - fault @fault is on (not used up by asking). */
static inline bool inject_is(const struct tutti_card *card, enum tutti_card_fault fault)
{
	return unlikely(__atomic_load_n(&card->armed, __ATOMIC_RELAXED) & (1u << fault));
}

#endif

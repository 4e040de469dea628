/* SPDX-License-Identifier: MIT */
/**
 * DOC: The state of an emulated card
 *
 * The emulator never relies on words that the host or the firmware can write. What the hardware needs to stay safe
 * (discovery data, ring positions, roots of page tables) is kept here, and every address is checked where it is used.
 *
 * The thread that holds card->lock is called the driving thread: it runs the soft core, the engines and waves. Worker
 * threads run nothing but waves; what they share with the driving thread is protected by the lock of the SM array.
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

/* Values of mcause in a crash record that the hardware writes because a command of the firmware was broken. */
#define CARD_CAUSE_COMMAND 24u
#define CARD_CAUSE_LAUNCH 25u

/* What each step costs in the virtual time of deterministic mode, in ns. */
#define CARD_NS_PER_INSTRUCTION (CARD_TIMER_HZ / CARD_CORE_HZ)
#define CARD_NS_PER_COMMAND 20u
#define CARD_NS_PER_FETCH 500u
#define CARD_NS_PER_WAVE 1000u
#define CARD_NS_PER_WAVE_SLICE 100000u

/** struct engines_call - what movers rely on of a tensor request; they never use the copy that the firmware reads. */
struct engines_call {
	bool busy;
	uint8_t slot;      /* task slot */
	uint8_t cta_rank;  /* rank of the CTA in whose shared memory the data go */
	bool multicast;
	uint16_t mask;
	uint16_t sm, wave;
	uint32_t asid, cta;
	uint32_t barrier;
	uint64_t pc;
};

/** struct engines - state of the engines that the firmware cannot reach. */
struct engines {
	/* The rings as they were checked last; pointers are NULL while the firmware's settings make no sense. */
	uint32_t command_base, command_words;
	const uint32_t *commands;
	uint32_t command_head;
	uint32_t event_base, event_slots;
	struct tutti_event *events;
	uint32_t event_tail;
	uint32_t event_head; /* the first event that was not freed when engines_freed() last looked */
	uint32_t mover_base, mover_slots;
	const struct tutti_mover *movers;
	uint32_t mover_head;
	bool mover_notify; /* an event MOVER_ROOM must be put */
	uint32_t request_base, request_slots;
	struct tutti_tensor_call *requests;
	uint32_t request_next; /* the slot that is filled next */
	struct engines_call call[CARD_REQUEST_SLOTS];
	uint32_t doorbell_pending[TUTTI_MAX_QUEUES / 32];
	uint32_t doorbell_any; /* bit w is set if doorbell_pending[w] is not 0 */
	uint32_t message_seen; /* host_ring_tail when the last MESSAGE event was put */
};

/** struct late_interrupt - an interrupt under way to the host, in deterministic mode. */
struct late_interrupt {
	uint32_t round; /* of the card, in which it arrives */
	uint32_t vector;
};
#define LATE_INTERRUPTS 64u

/** struct tutti_card - the whole card. Only the folders below sm/ and those above launch/ use its members. */
struct tutti_card {
	/* These do not change after creation. */
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
	struct tutti_sm_state *sm_states; /* in the firmware's memory; the control window holds a copy for the host */
	struct tutti_trace *trace;
	uint64_t trace_records;
	struct tutti_doorbell_page *doorbells;
	uint8_t *memory;
	uint8_t *local;
	struct tutti_engines *page; /* the engine page */
	const struct core_ops *ops;

	/* These belong to the driving thread, which holds @lock. */
	pthread_mutex_t lock;
	struct core *core;
	struct engines engines;
	struct sm_array *sms;
	bool sm_table; /* the firmware wants @sm_states to be kept up to date */
	struct mmu *mmu;
	struct mover *mover;
	struct profile *profile;
	uint32_t boot_seen;
	bool alive;   /* a firmware is running */
	bool died;    /* the firmware has just been stopped; SMs must be emptied and the host told */
	bool counting;
	uint32_t round;
	uint64_t stuck_ns;    /* for the watchdog: time the core has had since it last freed an event slot; 0 if it idles */
	uint64_t hung_at;     /* time of the newest turn of an injected hang, 0 before the first */
	uint64_t virtual_time;
	uint64_t virtual_instructions; /* instructions that virtual_time already includes */
	uint64_t start_ns;
	uint64_t random;      /* state of the generator in garbage.c */
	uint64_t counts[TUTTI_COUNTERS]; /* counted by the driving thread */
	uint64_t print[TUTTI_MAX_CONTEXTS];
	struct late_interrupt late[LATE_INTERRUPTS]; /* in their order, from late_head to late_tail modulo the size */
	uint32_t late_head, late_tail;

	/* These may be used by any thread. */
	uint64_t shared_counts[TUTTI_COUNTERS] __attribute__((aligned(64)));
	pthread_mutex_t trace_lock;
	uint64_t trace_tail; /* under trace_lock */
	uint32_t trace_lost;
	bool trace_half;     /* atomic: a record came to a ring at least half full since trace_leave() last said so */
	uint32_t armed; /* one bit for each enum tutti_card_fault, see inject.c */
	struct inject *inject;

	/* The threads of the card, see card/thread.c. */
	pthread_t thread;
	bool thread_runs;
	uint32_t stop;
	uint32_t wanted;     /* number of threads that want to become the driving thread */
	uint32_t wake_seq;   /* the futex that sleepers wait on */
	uint32_t sleepers;
	uint32_t deep;       /* the background thread sleeps, and the status word asleep is set */
	uint64_t driven;     /* when a host thread last stopped driving the card */
};

/** card_sm_bytes() - size of the table of SM states, in bytes, rounded up to whole pages. */
static inline size_t card_sm_bytes(const struct tutti_card *card)
{
	return (card->discovery.sms * sizeof(struct tutti_sm_state) + TUTTI_PAGE_SIZE - 1) & ~(TUTTI_PAGE_SIZE - 1ul);
}

/** count() - add @n to a counter. Only the driving thread may call it. */
static inline void count(struct tutti_card *card, enum tutti_counter counter, uint64_t n)
{
	card->counts[counter] += n;
}

/** inject_is() - true if @fault is armed; asking does not use it up. */
static inline bool inject_is(const struct tutti_card *card, enum tutti_card_fault fault)
{
	return unlikely(__atomic_load_n(&card->armed, __ATOMIC_RELAXED) & (1u << fault));
}

#endif

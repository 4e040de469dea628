/* SPDX-License-Identifier: MIT */
/**
 * DOC: The card's own insides, shared by its units but not by the SM array
 *
 * Words the host or the firmware can write are never relied upon: what the
 * hardware needs to stay safe (its discovery data, ring positions, roots of page
 * tables) is kept here, and every address is checked where it is used.
 */
#ifndef TUTTI_EMULATOR_HARDWARE_H
#define TUTTI_EMULATOR_HARDWARE_H

#include <pthread.h>

#include "emulator/card/card_internal.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

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

/** enum core_stop - why a core came back from run(). */
enum core_stop {
	CORE_IDLE,      /* it waits for an event */
	CORE_PREEMPTED, /* it was interrupted or its slice is over; run() goes on */
	CORE_HALTED,    /* firmware gave up, its crash record is complete */
	CORE_DEAD,      /* it trapped inside its trap handler, or has none */
};

/** struct core_trap - the trap that killed a core, for the crash record. */
struct core_trap {
	uint32_t cause;
	uint32_t epc;
	uint32_t tval;
};

struct core;

/**
 * struct core_ops - a soft core. The engines know nothing else of it, so that an
 * RTL model can stand in for the emulator.
 * @reset: registers 0, pc = entry; memory is the card's (card->local, ...)
 * @run: until one of enum core_stop; on CORE_DEAD @trap says why
 * @interrupt: make run() return CORE_PREEMPTED soon; any thread
 * @trap: the next instruction traps with this cause
 * @reg: integer register 0..31, or 32 = pc
 * @instructions: executed since reset, exact if counted
 * @count: switch counting on or off
 */
struct core_ops {
	int (*create)(struct tutti_card *card, struct core **core);
	void (*destroy)(struct core *core);
	int (*reset)(struct core *core, uint32_t entry);
	enum core_stop (*run)(struct core *core, struct core_trap *trap);
	void (*interrupt)(struct core *core);
	void (*trap)(struct core *core, uint32_t cause);
	uint32_t (*reg)(struct core *core, unsigned n);
	uint64_t (*instructions)(struct core *core);
	void (*count)(struct core *core, bool on);
};
extern const struct core_ops core_unicorn;

struct mover;

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

struct profile;
struct mmu;
struct inject;

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

/* clock.c */
uint64_t card_clock(void); /* host's monotonic clock, ns */

/* card.c */
/** card_round() - one turn of everything. Return: true if anything was done. Caller holds the lock. */
bool card_round(struct tutti_card *card);
/** card_die() - stop the soft core; @cause 0: firmware has written the crash record itself. */
void card_die(struct tutti_card *card, uint32_t cause, uint32_t code, uint32_t pc, uint32_t tval, const char *text);
/** card_publish() - copy the hardware's counters into the window. */
void card_publish(struct tutti_card *card);
void card_interrupt(struct tutti_card *card, unsigned vector);
/** card_power_on() - window, local memory and engines as after power-on. */
void card_power_on(struct tutti_card *card);
/** card_local() - @bytes of local memory at @address, aligned to @align; NULL if not inside. */
void *card_local(struct tutti_card *card, uint32_t address, uint64_t bytes, uint32_t align);

/** card_sm_bytes() - the table of SM states, whole pages. */
static inline size_t card_sm_bytes(const struct tutti_card *card)
{
	return (card->discovery.sms * sizeof(struct tutti_sm_state) + TUTTI_PAGE_SIZE - 1) & ~(TUTTI_PAGE_SIZE - 1ul);
}

static inline void count(struct tutti_card *card, enum tutti_counter counter, uint64_t n)
{
	card->counts[counter] += n;
}

/* trace.c */
/** trace_leave() - who drives the card had better let the host read the trace ring. */
static inline bool trace_leave(struct tutti_card *card)
{
	return unlikely(__atomic_load_n(&card->trace_half, __ATOMIC_RELAXED)) &&
	       __atomic_exchange_n(&card->trace_half, false, __ATOMIC_RELAXED);
}

/* window.c */
int window_layout(const struct tutti_card_config *config, struct tutti_discovery *discovery);
void window_fill(struct tutti_card *card);

/* engines.c */
void engines_reset(struct tutti_card *card);
bool engines_pending(struct tutti_card *card);
/** engines_poll() - doorbells, messages and (if @timer) the timer. Return: true if an event was put. */
bool engines_poll(struct tutti_card *card, bool timer);
/** engines_commands() - take what is in the command ring. Return: true if something was. */
bool engines_commands(struct tutti_card *card);
/** engines_visible() - the host has rung, written a message or asks for a boot. Any thread may ask. */
bool engines_visible(struct tutti_card *card);
/** engines_room() - the event ring has a free slot. */
bool engines_room(struct tutti_card *card);
/** engines_timer() - time at which the timer fires, ~0 = off. */
uint64_t engines_timer(struct tutti_card *card);

/* fetch.c: the commands that touch memory; @w = the record's words */
void fetch_fetch(struct tutti_card *card, const uint32_t *w);
void fetch_write(struct tutti_card *card, const uint32_t *w);
void fetch_scrub(struct tutti_card *card, const uint32_t *w);
void fetch_signal(struct tutti_card *card, const uint32_t *w);

/* mover.c */
int mover_create(struct tutti_card *card);
void mover_destroy(struct tutti_card *card);
void mover_reset(struct tutti_card *card);
/** mover_run() - execute a piece of the mover ring's work. Return: true if something was done. */
bool mover_run(struct tutti_card *card);

/* front.c */
/** front_run() - tensor requests of waves into free slots of the request area. Return: true if an event was put. */
bool front_run(struct tutti_card *card);

/* mmu.c */
int mmu_create(struct tutti_card *card);
void mmu_destroy(struct tutti_card *card);
void mmu_reset(struct tutti_card *card);
void mmu_context(struct tutti_card *card, uint32_t asid, uint64_t root);
/** mmu_invalidate() - forget all cached translations. Any thread. */
void mmu_invalidate(struct tutti_card *card);
/** mmu_page() - like mmu_translate, for accesses inside one page; @host: it lies in host memory. */
void *mmu_page(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, bool *host,
	       struct mmu_fault *fault);
/** mmu_generation() - changes with every mmu_invalidate(): what was translated before must be translated again. */
uint32_t mmu_generation(const struct tutti_card *card);
int mmu_host_add(struct tutti_card *card, void *start, size_t bytes);
void mmu_host_remove(struct tutti_card *card, void *start);

/* loader.c */
void loader_boot(struct tutti_card *card);

/* profile.c */
int profile_create(struct tutti_card *card, const struct tutti_image_symbol *symbols, uint32_t n);
void profile_destroy(struct tutti_card *card);
/** profile_block() - instructions of the block, accounted to its function. */
uint32_t profile_block(struct tutti_card *card, uint32_t address, uint32_t bytes);
/** profile_undo() - @n instructions of the block that holds @address were not executed after all. */
void profile_undo(struct tutti_card *card, uint32_t address, uint32_t n);
void profile_mark(struct tutti_card *card, uint32_t value, uint64_t instructions);

/* inject.c */
int inject_create(struct tutti_card *card);
void inject_destroy(struct tutti_card *card);
/** inject_is() - fault @fault is on (not used up by asking). */
static inline bool inject_is(const struct tutti_card *card, enum tutti_card_fault fault)
{
	return unlikely(__atomic_load_n(&card->armed, __ATOMIC_RELAXED) & (1u << fault));
}

/* store_speed.c: to be called before the first engine runs; also keeps the wrappers in the program */
void store_speed_init(void);

/* thread.c */
int thread_create(struct tutti_card *card);
void thread_destroy(struct tutti_card *card);
/** thread_wait() - until woken or @ns have passed; @seq: wake_seq seen before the caller looked for work. */
void thread_wait(struct tutti_card *card, uint32_t seq, uint64_t ns);
void thread_wake(struct tutti_card *card);
/** thread_watch() - break a core that runs for too long out of its loop. Any thread. */
void thread_watch(struct tutti_card *card);

#endif

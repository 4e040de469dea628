/* SPDX-License-Identifier: MIT */
/**
 * DOC: The SM array
 *
 * Who owns what. The driving thread alone touches SMs, task slots, @pending and reports. An engine's lists and harts
 * belong to the thread that runs the engine; others touch them only while the engine is parked (engines_pause()). What
 * goes between threads (shared CTAs, ended and faulted CTAs) is under array->lock.
 */
#ifndef TUTTI_EMULATOR_SM_ARRAY_H
#define TUTTI_EMULATOR_SM_ARRAY_H

#include <pthread.h>

#include "emulator/base/config.h"
#include "emulator/base/hints.h"
#include "emulator/sm/cga.h"
#include "emulator/sm/cta.h"
#include "emulator/sm/resource.h"
#include "emulator/sm/task.h"
#include "emulator/sm/wave.h"
#include "tutti/barrier.h"

struct hart;
struct hart_host;
struct sm_array;
struct tensor_port;
struct tutti_card;

/** struct engine - a host thread that runs waves; the first one is whoever drives the card. */
struct engine {
	struct sm_array *array;
	unsigned number;
	pthread_t thread;
	struct hart *running; /* atomic: for who wants to stop it */
	uint32_t runs;        /* atomic: bumped whenever a wave is loaded */
	uint32_t seen_runs;   /* timer's */
	struct wave *handoff; /* wave of another hart, to be entered next */
	struct wave_list ready, yielded, blocked;
	struct cta *starting; /* CTA with waves not yet started */
	struct cta_list batch;
	uint32_t streak, spins;
	uint32_t stop_tick;
	uint64_t blocks, slice_end, run_end;
	uint32_t taken, flush_tick;
	uint64_t began;       /* ns */
	uint64_t time;        /* card timer at the newest CTA's start */
	bool parked, slice_over;
	uint32_t replies;     /* atomic: @replied, under array->lock, is not empty */
	struct wave_list replied;
	uint64_t stuck_sm;
	/* worker to driver, under array->lock */
	struct cta_list ended;  /* thread's own until handed over */
	struct cta_list handed, faulted;
	uint64_t waves, switches, barriers, faults;
	/* energy.c: instructions not yet given to their SM */
	uint32_t counted_sm;
	bool counted_any;
	uint64_t counted[TUTTI_CLASSES];
	struct hart *hart[TUTTI_MAX_CONTEXTS];
	struct hart *harts;
	uint32_t hart_count;
	uint64_t uses;
};

/** struct sm_array - all SMs of a card. */
struct sm_array {
	struct tutti_card *card;
	const struct tutti_discovery *limits;
	bool deterministic;
	bool energy; /* instruction classes are counted */
	const uint32_t *trace; /* kinds of trace records wanted */
	uint32_t window; /* log2 of the window of recent instructions, timer ticks */
	pthread_mutex_t energy_lock;
	uint32_t class_energy[TUTTI_CLASSES], resource_energy[TUTTI_RESOURCES];
	uint32_t sms, slots, sm_waves;
	struct sm *sm;
	struct view *view;   /* [sm][slot] */
	struct slot *slot;
	uint16_t order[TUTTI_MAX_SMS], position[TUTTI_MAX_SMS];
	uint32_t dirty[SM_SLOTS / 32]; /* slots with completions to report */
	uint32_t dirty_any;            /* bit w: dirty[w] != 0 */
	struct cta *cta;
	struct cta *free_ctas;
	struct task *free_tasks;
	uint64_t serials;
	uint32_t resident; /* atomic: read by any thread */
	struct cta_list pending, faults;
	/* state_sync.c */
	uint64_t states;               /* sent to all SMs, ever */
	uint32_t acknowledge;          /* turns until SMs acknowledge a state; 0: they take everything in order */
	uint32_t turn;
	uint32_t syncing[SM_SLOTS / 32];      /* slots with a state that is not acknowledged */
	uint32_t acknowledged[SM_SLOTS / 32]; /* slots of which the firmware is to be told */
	bool acknowledged_any;
	struct wave_list asked;        /* requests told to the firmware */
	struct wave_list requests;     /* not yet; under array->lock */
	uint32_t requested;            /* atomic: there are some */
	/* CGAs */
	struct gpc gpc[TUTTI_MAX_GPCS];
	uint8_t gpc_of[TUTTI_MAX_SMS];
	struct cga *cga;               /* [gpc][id] */
	struct cga *dirty_cgas;        /* with completions to report */
	struct cga *faulted_cgas;      /* under array->lock */
	struct { struct cta_list ctas; bool open; unsigned slot; uint32_t sequence; } stage;
	struct sm_cga *sm_cga;
	uint32_t route_bytes;
	uint8_t *lmem, *lmem_used;
	struct { uint32_t slot, sm_wave; uint64_t pc; bool valid; } *killed;
	uint32_t killed_count;
	/* engines */
	struct engine *engine;
	unsigned engines;
	pthread_mutex_t lock;
	pthread_cond_t work, parked;
	struct cta_list shared;
	uint32_t shared_count; /* atomic mirror */
	uint32_t pausing;      /* atomic */
	uint32_t handed_count; /* atomic: CTAs handed over, not yet taken */
	uint32_t blocked;      /* atomic: blocked waves of engines other than 0 */
	struct tensor_port *tensor;
	bool quit;
	/* what the floors above do for those below */
	const struct hart_host *host;                              /* the waves' part, for harts */
	void (*release)(struct sm_array *array, struct cta *cta); /* @cta has ended; the driving thread calls */
	/* timer */
	pthread_t timer;
	pthread_mutex_t timer_lock;
	pthread_cond_t timer_wake;
	uint32_t tick;         /* atomic */
	uint32_t timer_asleep; /* atomic */
	uint64_t shared_stride;
};

#endif

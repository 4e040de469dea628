/* SPDX-License-Identifier: MIT */
/**
 * DOC: The SM array
 *
 * Only the driving thread uses SMs, task slots, @pending and the lists of completions. The lists and harts of an engine
 * belong to the thread that runs it; other threads use them only while the engine is parked (engines_pause()). What
 * threads pass to each other (shared CTAs, ended and faulted CTAs) is protected by array->lock.
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
struct translator;
struct tutti_card;

/** struct engine - a host thread that runs waves. Engine 0 belongs to the driving thread. */
struct engine {
	struct sm_array *array;
	unsigned number;
	pthread_t thread;
	struct hart *running; /* atomic: the hart that runs now, for threads that want to stop it */
	uint32_t runs;        /* atomic: bumped whenever a wave is loaded */
	uint32_t seen_runs;   /* @runs as the timer thread saw it last */
	struct wave_list ready, yielded, blocked;
	struct cta *starting; /* a CTA some of whose waves have not started yet */
	struct cta_list batch;
	uint32_t streak, spins;
	uint32_t stop_tick;
	uint64_t executed, slice_end, run_end; /* instructions of waves */
	uint32_t taken, flush_tick;
	uint32_t turn_tick;   /* of the newest engine_turn() */
	uint64_t began;       /* in ns */
	uint64_t time;        /* the card's timer when the newest CTA started */
	bool parked, slice_over;
	uint32_t replies;     /* atomic: set while @replied, which array->lock protects, is not empty */
	struct wave_list replied;
	uint64_t stuck_sm;
	/* What a worker passes to the driving thread, protected by array->lock. */
	struct cta_list ended;  /* belongs to the engine's thread until it is handed over */
	struct cta_list handed, faulted;
	uint64_t waves, switches, barriers, faults;
	/* For the energy model: instructions that have not been added to their SM's counts yet. */
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
	const uint32_t *trace; /* the kinds of trace records that are enabled */
	uint32_t window; /* length of the window of recent instructions, as log2 of timer ticks */
	pthread_mutex_t energy_lock;
	uint32_t class_energy[TUTTI_CLASSES], resource_energy[TUTTI_RESOURCES];
	uint32_t sms, slots, sm_waves;
	struct sm *sm;
	struct view *view;   /* [sm][slot] */
	struct slot *slot;
	uint16_t order[TUTTI_MAX_SMS], position[TUTTI_MAX_SMS];
	uint32_t dirty[SM_SLOTS / 32]; /* task slots with completions to report */
	uint32_t dirty_any;            /* bit w is set if dirty[w] is not 0 */
	struct cta *cta;
	/* A barrier for each of @cta; not part of it, because few CTAs need one, and @cta should fit into caches. */
	struct cga_barrier *alone;
	struct cta *free_ctas;
	struct task *free_tasks;
	uint64_t serials;
	uint32_t resident; /* atomic: read by any thread */
	struct cta_list pending, faults;
	/* Acknowledgement of task states, see launch/state_sync.c. */
	uint64_t states;               /* number of states sent to all SMs so far */
	uint32_t acknowledge;          /* turns until SMs acknowledge a state; 0 if they take all in order */
	uint32_t turn;
	uint32_t syncing[SM_SLOTS / 32];      /* task slots with a state that is not acknowledged */
	uint32_t acknowledged[SM_SLOTS / 32]; /* task slots whose acknowledgement must be reported */
	bool acknowledged_any;
	struct wave_list asked;        /* waves whose requests the firmware has been told of */
	struct wave_list requests;     /* waves whose requests it has not; under array->lock */
	uint32_t requested;            /* atomic: @requests is not empty */
	/* The CGAs and their tables. */
	struct gpc gpc[TUTTI_MAX_GPCS];
	uint8_t gpc_of[TUTTI_MAX_SMS];
	struct cga *cga;               /* [gpc][id] */
	struct cga *dirty_cgas;        /* those with completions to report */
	struct cga *faulted_cgas;      /* under array->lock */
	struct { struct cta_list ctas; bool open; unsigned slot; uint32_t sequence; } stage;
	struct sm_cga *sm_cga;
	uint32_t route_bytes;
	uint8_t *lmem, *lmem_used;
	struct { uint32_t slot, sm_wave; uint64_t pc; bool valid; } *killed;
	uint32_t killed_count;
	/* The engines, and what they share. */
	struct engine *engine;
	unsigned engines;
	pthread_mutex_t lock;
	pthread_cond_t work, parked;
	struct cta_list shared;
	uint32_t shared_count; /* atomic: length of @shared, readable without the lock */
	uint32_t pausing;      /* atomic */
	uint32_t handed_count; /* atomic: CTAs handed over that the driving thread has not taken */
	uint32_t blocked;      /* atomic: blocked waves of engines other than 0 */
	struct tensor_port *tensor;
	struct translator *translator; /* of kernels */
	bool quit;
	/* Functions of higher folders that lower ones call. */
	const struct hart_host *host;                              /* what waves/ does for harts */
	void (*release)(struct sm_array *array, struct cta *cta); /* called by the driving thread when @cta has ended */
	/* The timer thread, which stops waves that run too long. */
	pthread_t timer;
	pthread_mutex_t timer_lock;
	pthread_cond_t timer_wake;
	uint32_t tick;         /* atomic; in deterministic mode the runs of the engine */
	uint32_t timer_asleep; /* atomic */
	uint64_t shared_stride;
};

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Inside of the emulated card: units and who may call whom
 *
 * One lock (card->lock) makes the holder "the driving thread": it runs the soft
 * core, the engines and waves. Worker threads run waves only; what they share
 * with the driving thread is behind the SM array's own lock.
 *
 *   card.c     life, BAR layout, threads, tutti_card_run()
 *   core.c     soft core: unicorn RV32 behind struct core_ops
 *   engines.c  command ring, events, timer, doorbells, messages
 *   fetch.c    FETCH, WRITE, SCRUB, SIGNAL
 *   mmu.c      Sv48 walk, translation cache
 *   loader.c   firmware image check and load
 *   inject.c   fault injection
 *   mover.c    movers
 *   trace.c    trace ring
 *   sm.c       SM array: resources, rasteriser, CTA and wave states
 *   wave.c     running waves: unicorn RV64
 */
#ifndef TUTTI_EMULATOR_INTERNAL_H
#define TUTTI_EMULATOR_INTERNAL_H

#include <pthread.h>

#include "emulator/card/card.h"
#include "tutti/barrier.h"
#include "tutti/code_object.h"
#include "tutti/trace.h"

struct sm_array;
struct core;

/** struct mmu_fault - why a translation was refused. */
struct mmu_fault {
	uint8_t cause; /* TUTTI_CAUSE_* */
	uint64_t address;
};

/**
 * mmu_translate() - pointer to @va of address space @asid.
 * @access: TUTTI_ACCESS_*
 * @extent: if not NULL, gets how many bytes from @va on are contiguous in emulator memory
 *	with the same permissions (whole pages merged, up to a cap of 1 GiB)
 * Return: NULL and @fault filled if refused. Thread-safe.
 */
void *mmu_translate(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, uint64_t *extent,
		    struct mmu_fault *fault);
/** mmu_leaf() - permissions (TUTTI_PTE_*) of the page that holds @va, 0 if none. */
uint64_t mmu_leaf(struct tutti_card *card, uint32_t asid, uint64_t va);
/** mmu_copy_in() / mmu_copy_out() - whole copy or fault; crosses pages. Return: 0 or -EFAULT. */
int mmu_copy_in(struct tutti_card *card, uint32_t asid, void *to, uint64_t va, size_t bytes,
		struct mmu_fault *fault);
int mmu_copy_out(struct tutti_card *card, uint32_t asid, uint64_t va, const void *from, size_t bytes,
		 struct mmu_fault *fault);

/** engines_event() - put an event into the ring. Return: false if the ring is full (try again later). */
bool engines_event(struct tutti_card *card, const struct tutti_event *event);
/** card_count() - add to a hardware counter. Thread-safe. */
void card_count(struct tutti_card *card, enum tutti_counter counter, uint64_t n);
/** card_trace_record() - append a record of 32 bytes, whose time is filled in, if its kind is enabled. Thread-safe. */
void card_trace_record(struct tutti_card *card, const struct tutti_trace *record);
/** card_trace_kinds() - the word that says which kinds are enabled. */
const uint32_t *card_trace_kinds(const struct tutti_card *card);
/** card_trace() - the same from its fields. */
void card_trace(struct tutti_card *card, unsigned kind, unsigned queue, unsigned sm, unsigned slot,
		uint64_t packet, uint32_t cta, uint32_t value);
/** card_time() - the card's timer now. */
uint64_t card_time(struct tutti_card *card);
/** card_context_print() - print ring address of @asid, 0 = none. */
uint64_t card_context_print(struct tutti_card *card, uint32_t asid);
/** card_wake() - a worker has something for the driving thread (completions, faults). */
void card_wake(struct tutti_card *card);
const struct tutti_card_config *card_config(const struct tutti_card *card);
const struct tutti_discovery *card_discovery(const struct tutti_card *card);
/** card_sm_places() - where each SM sits; @table of one entry per SM. */
void card_sm_places(const struct tutti_card *card, struct tutti_sm_place *table);
struct sm_array *card_sms(struct tutti_card *card);
/** inject_take() - true if fault @fault is armed (uses one up). inject_arg() - its argument. Thread-safe, fast when nothing is armed. */
bool inject_take(struct tutti_card *card, enum tutti_card_fault fault);
bool inject_armed(struct tutti_card *card, enum tutti_card_fault fault, uint64_t *arg);

/* ---- SM array (sm.c, wave.c): called by the driving thread unless said otherwise ---- */

/** sm_array_create() - waves of @card; starts the workers in fast mode. 0 or -errno. */
int sm_array_create(struct tutti_card *card, struct sm_array **array);
void sm_array_destroy(struct sm_array *array);
/** sm_array_reset() - drop every CTA, forget every task state and context mapping. */
void sm_array_reset(struct sm_array *array);
/**
 * sm_array_state() - command STATE.
 * @flags: TUTTI_STATE_*
 * @level: TUTTI_CGA_LEVELS CGA shapes or NULL
 * @mask: 32-bit words, or NULL for all SMs
 */
void sm_array_state(struct sm_array *array, unsigned slot, unsigned flags, const struct tutti_task_state *state,
		    const struct tutti_cga_shape *level, const uint32_t *mask, unsigned words);
/**
 * sm_array_launch() - command LAUNCH: words after word 0.
 * Return: 0, or an error of the firmware, which the card reports as a crash: -EINVAL when the message is malformed
 * or an SM has no room, -EAGAIN when the task's state is not acknowledged yet.
 */
int sm_array_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n);
/** sm_array_kill() - command KILL: event KILLED follows when nothing of the slot is left. */
void sm_array_kill(struct sm_array *array, unsigned slot);
/** sm_array_order() - command ORDER: SM priority order. */
void sm_array_order(struct sm_array *array, unsigned first, const uint32_t *words, unsigned n);
/** sm_array_flush() - command FLUSH: SMs at positions @mask of @gpc forget CGA @id. -EINVAL: it still runs. */
int sm_array_flush(struct sm_array *array, unsigned gpc, unsigned id, uint32_t mask);
int sm_array_flush_lmem(struct sm_array *array, unsigned slot);
/** sm_array_throttle() - command THROTTLE: @blocks of shared memory for each SM, 0 = as usual. -EINVAL: an SM is in use. */
int sm_array_throttle(struct sm_array *array, uint32_t blocks, const uint32_t *mask, unsigned words);
/** sm_array_mode() - command SM_MODE: how SMs split waves. */
void sm_array_mode(struct sm_array *array, unsigned mode);
/** sm_array_table() - bring the table of SM states up to date. */
void sm_array_table(struct sm_array *array, struct tutti_sm_state *table);
/** sm_array_sync() - those of its fields that only the host reads. */
void sm_array_sync(struct sm_array *array, struct tutti_sm_state *table);
/** sm_array_reply() - command REPLY. @wave: wave slot of the SM */
void sm_array_reply(struct sm_array *array, unsigned sm, unsigned wave, uint64_t value);
/** sm_array_invalidate() - translations of @asid in [va, va + bytes) are stale (bytes 0 = all); @code: instructions too. */
void sm_array_invalidate(struct sm_array *array, uint32_t asid, uint64_t va, uint64_t bytes, bool code);
/**
 * sm_array_run() - run waves in the calling (driving) thread.
 * @instant: return at the first moment nothing can run, or when the time slice is over
 * Return: true if some wave ran.
 */
bool sm_array_run(struct sm_array *array);
/** sm_array_report() - turn what has completed or faulted into events. Return: true if an event was put. */
bool sm_array_report(struct sm_array *array);
/**
 * sm_array_request() - the next tensor request: SMs in turns, those of one SM in order.
 * @call: all fields are filled; @call->cta names the CTA in what follows
 * Return: false if no wave has asked.
 */
bool sm_array_request(struct sm_array *array, struct tutti_tensor_call *call);
/** struct sm_shared - shared memory of a CTA. */
struct sm_shared {
	uint8_t *base;
	uint64_t bytes;
};
#define SM_SELF (~0u)
#define SM_CGA_CTAS 16u
/**
 * sm_array_shared() - shared memory of the CTA @cta, or of another of its CGA.
 * @rank: rank in the CGA, or SM_SELF
 * Return: 0, or TUTTI_CAUSE_* when there is no such CTA any more.
 */
uint8_t sm_array_shared(struct sm_array *array, uint32_t cta, uint32_t rank, struct sm_shared *shared);
/** sm_array_call_dropped() - @cta is being killed: what it asked for is not done. */
bool sm_array_call_dropped(struct sm_array *array, uint32_t cta);
/** sm_array_call_failed() - a mover was refused an access for @cta: none of its waves goes on. */
void sm_array_call_failed(struct sm_array *array, uint32_t cta);
/** sm_array_call_done() - the oldest request of @cta is done. */
void sm_array_call_done(struct sm_array *array, uint32_t cta);
/** sm_array_progress() - memory that waves may wait for has changed. */
void sm_array_progress(struct sm_array *array);
/** sm_array_acknowledge() - SMs answer the task states they were sent, if they do so. Return: true if one is on its way. */
bool sm_array_acknowledge(struct sm_array *array);
/** sm_array_busy() - CTAs are resident (running, waiting or stuck). Any thread. */
bool sm_array_busy(struct sm_array *array);

#endif

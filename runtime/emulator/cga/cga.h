/* SPDX-License-Identifier: MIT */
/**
 * DOC: CGAs in the SM array: what the controllers of the SMs (MPC) do (spec CGA-31)
 *
 * A launch of a CGA only stages its CTAs; with END_OF_CGA the tables for SM-to-SM
 * access are written and its CTAs go to the engines. All CTAs of one CGA are run
 * by one engine and one hart, in whose memory their shared memory lies, so that barriers
 * and accesses need no lock. Its id is free again when every SM that ran one of its CTAs has
 * been flushed.
 *
 * Who owns what. The driving thread writes tables at launch and flush and counts
 * completions; the engine has the barrier and takes the entries of ended CTAs out.
 */
#ifndef TUTTI_EMULATOR_CGA_H
#define TUTTI_EMULATOR_CGA_H

#include "emulator/card/card_internal.h"

#define CGA_RANKS 256u
#define CGA_NO_SLOT 0xffffu
#define CGA_NO_SM 0xffu
#define GPC_SMS 32u /* SMs a GPC may have: masks of CGAs are one word */

struct task;
struct cta;
struct wave;
struct hart;
struct engine;
struct sm_array;

/** struct cga_route - one line of a sender's cga_cta2sm_dir: which SM has which rank, as TPC << 1 | SM in the TPC. */
struct cga_route {
	uint8_t id;
	uint16_t ranks;
	uint8_t sm[]; /* limits->cga_ctas */
};

/** struct cga_entry - line of a receiver's table. @key: 0 = free, see dsmem.c; written last. */
struct cga_entry {
	uint32_t key;
	uint32_t base, bytes; /* in the SM's shared memory */
};

/** struct sm_cga - the tables of one SM (spec CGA-24). */
struct sm_cga {
	uint16_t bl_table[128];  /* by wave slot: sm_cga_slot */
	uint64_t busy[4];        /* sm_cga_slots in use */
	uint8_t *cga_cta2sm_dir; /* by sm_cga_slot: struct cga_route */
	struct cga_entry *entry; /* limits->cta_slots */
};

/** struct cga_fault - a bad access found by its target. */
struct cga_fault {
	uint32_t sm, rank, offset;
	uint8_t cause;
};

/** struct cga - one gpc_local_cga_id of one GPC. */
struct cga {
	bool used, staged, dirty;
	uint8_t gpc, id, slot;
	struct cga *dirty_next;
	uint32_t size, ctas, running; /* CTAs of a whole one, launched, not completed */
	uint32_t ran;      /* SMs of the GPC that have to be flushed, by number in the GPC */
	uint16_t sm_slot[GPC_SMS];
	uint8_t rank_sm[CGA_RANKS];
	struct cta *first, *last; /* until they go to an engine */
	/* completions not yet reported, by position in the GPC */
	uint32_t done_mask, done[GPC_SMS];
	/* the engine's */
	struct hart *hart;
	uint32_t left, waves, arrived, phase; /* CTAs, waves not ended; at the barrier */
	struct wave *waiting, **waiting_end;
	bool faulted;      /* one bad access is told, no more */
	struct cga_fault fault;
	struct cga *fault_next; /* under array->lock */
};

/**
 * struct gpc - SMs of a GPC.
 * @order: by position in the priority order: number in the GPC; @position: the reverse
 * @place: by number: TPC << 1 | SM in the TPC; @number: the reverse
 */
struct gpc {
	uint32_t sms;
	uint8_t order[GPC_SMS], position[GPC_SMS];
	uint8_t place[GPC_SMS], number[2 * GPC_SMS];
};

/* launch.c */
/** launch_special() - a LAUNCH with flags. */
int launch_special(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n);

/* cga.c: driving thread */
int cga_create(struct sm_array *array);
void cga_destroy(struct sm_array *array);
/** cga_empty() - as after power-on. */
void cga_empty(struct sm_array *array);
/** cga_order() - the SM priority order has changed. */
void cga_order(struct sm_array *array);
/** cga_open() - the CGA with @id of @gpc, new or being launched by @slot; NULL if that cannot be. */
struct cga *cga_open(struct sm_array *array, unsigned gpc, unsigned id, unsigned slot);
/** cga_add() - @cta is launched as part of @cga. Return: false if it cannot be part of it. */
bool cga_add(struct sm_array *array, struct cga *cga, struct cta *cta);
/** cga_close() - END_OF_CGA: tables are written. Return: false if CTAs are missing. */
bool cga_close(struct sm_array *array, struct cga *cga);
/** cga_complete() - @cta has ended. */
void cga_complete(struct sm_array *array, struct cta *cta);
/** cga_report_faults(), cga_report_done() - to events. Return: false if the event ring is full. */
bool cga_report_faults(struct sm_array *array, bool *any);
bool cga_report_done(struct sm_array *array, bool *any);
/** cga_kill() - engines are paused: CGAs of @slot lose what they have staged and waiting. */
void cga_kill(struct sm_array *array, unsigned slot);
/** cga_fault() - any thread: a bad access to a CTA of @cga. */
void cga_fault(struct sm_array *array, struct cga *cga, const struct cga_fault *fault);

/* cga_barrier.c: the engine's thread */
/** cga_enter() - the first CTA of a CGA starts on @engine: the others come with it. */
void cga_enter(struct engine *engine, struct cta *cta);
/** cga_leave() - @cta has ended: nobody reaches its shared memory any more. */
void cga_leave(struct sm_array *array, struct cta *cta);
/** cga_wave_end() - @wave of a CGA has ended. */
void cga_wave_end(struct wave *wave);
/** cga_arrive(), cga_wait() - services. Return: true = go on with the same wave. */
bool cga_arrive(struct hart *hart);
bool cga_wait(struct hart *hart);

/* dsmem.c */
int dsmem_create(struct sm_array *array);
void dsmem_destroy(struct sm_array *array);
void dsmem_empty(struct sm_array *array);
/** dsmem_announce() - the senders learn which SM has which rank, the receivers their segments. */
void dsmem_announce(struct sm_array *array, struct cga *cga);
/** dsmem_invalidate() - the receiver's entry of @cta goes. dsmem_release() - its waves send no more. */
void dsmem_invalidate(struct sm_array *array, const struct cta *cta);
void dsmem_release(struct sm_array *array, const struct cta *cta);
/** dsmem_forget() - flush: @sms of the GPC give their sm_cga_slot back. */
void dsmem_forget(struct sm_array *array, struct cga *cga, uint32_t sms);
/** dsmem_segment() - the receiver's table: where in all shared memory @rank's begins. Return: false if it is not there. */
bool dsmem_segment(struct sm_array *array, const struct cga *cga, unsigned rank, uint64_t *at);
/**
 * dsmem_pointer() - where the running wave of @hart reaches @va of the DSMEM or LMEM window.
 * Return: NULL and @cause for what the source can detect; what the target detects is
 * reported and goes to a sink.
 */
void *dsmem_pointer(struct hart *hart, uint64_t va, unsigned bytes, uint8_t *cause);
/** dsmem_load(), dsmem_store() - the same for an access of translated code that returns to @ra. */
uint64_t dsmem_load(uint64_t va, unsigned bytes, uintptr_t ra);
void dsmem_store(uint64_t va, uint64_t value, unsigned bytes, uintptr_t ra);
/** dsmem_map() - for harts whose accesses do not come by the two above. */
int dsmem_map(struct hart *hart);

/* request.c */
/** request_post() - the running wave asks the firmware for @service. Return: false. */
bool request_post(struct hart *hart, uint64_t service);
/** request_report() - requests to events. Return: false if the event ring is full. */
bool request_report(struct sm_array *array, bool *any);
/** request_take() - waves of @engine that have got their replies are ready. */
void request_take(struct engine *engine);

#endif

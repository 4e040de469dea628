/* SPDX-License-Identifier: MIT */
/**
 * DOC: Inside of the SM array
 *
 *   sm.c         life, commands STATE, LAUNCH, ORDER, reports
 *   sm_stop.c    KILL, reset, invalidation: whatever stops the engines
 *   resource.c   what a CTA takes of an SM
 *   sm_table.c   the table of SM states
 *   sync.c       task states on their way to SMs
 *   energy.c     instruction classes, energy
 *   rasteriser.c CTA coordinates
 *   sm_tensor.c, wait.c  tensor requests; waves that wait for memory
 *   sm_trace.c   what the trace unit hears of launches
 *   launch.c, cga.c, cga_barrier.c, dsmem.c  CGAs, see cga.h; LAUNCH with work items
 *   request.c    services that the firmware does
 *   schedule.c   engines: which wave runs next, workers, time slices
 *   wave.c       CTAs and waves from start to end, services
 *   hart.c       unicorn RV64: fiber, hooks
 *   hart_memory.c  what a wave sees of memory, faults
 *   atomic.c, amo.c, precise.c, print.c
 *
 * Who owns what. The driving thread alone touches SMs, task slots, @pending and
 * reports. An engine's lists and harts belong to the thread that runs the engine;
 * others touch them only while the engine is parked (engines_pause()). What goes
 * between threads (shared CTAs, ended and faulted CTAs) is under array->lock.
 */
#ifndef TUTTI_EMULATOR_SM_H
#define TUTTI_EMULATOR_SM_H

#include <unicorn/unicorn.h>

#include "emulator/card/card_internal.h"
#include "emulator/cga/cga.h"
#include "emulator/launch/rasteriser.h"
#include "emulator/sm/energy.h"
#include "emulator/unicorn/ecall.h"
#include "emulator/unicorn/fiber.h"
#include "tutti/wave.h"

#define SM_PEUS 8u
#define SM_WAVES 128u /* wave slots of an SM */
#define SM_BLOCK_WORDS 4u
#define SM_SLOTS 256u
#define SM_HISTORY 8u /* pieces of the window of recent instructions */
#define MASK_WORDS (TUTTI_MAX_SMS / 32)
#define WAVE_NO_SLOT 0xffffu

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/** struct blocks - class-1 resource: bit set = block free. */
struct blocks {
	uint64_t free[SM_BLOCK_WORDS];
};

struct wave_slot {
	uint32_t cta; /* number in the pool, ~0 = free */
	uint16_t number;
	uint16_t scalar, vector; /* first blocks */
};

struct peu {
	uint32_t free_waves;
	struct blocks scalar, vector;
};

struct sm {
	uint32_t cta_slots, barriers; /* free */
	uint32_t shared_blocks; /* free or not, see throttle.c */
	struct blocks shared;
	uint64_t busy[SM_WAVES / 64];
	struct peu peu[SM_PEUS];
	struct wave_slot *wave;
	uint32_t split;   /* PEU of the last wave of the rotated split */
	bool rotate;      /* waves are split by rotation */
	uint32_t touched; /* atomic: the table of SM states may be stale */
	uint32_t factor;  /* of its energy */
	uint64_t ctas, waves; /* ever started */
	uint64_t completed, states, throttles; /* states: without those sent to all */
	uint64_t resource_energy;
	uint64_t instructions[TUTTI_CLASSES]; /* atomic */
	struct { uint64_t piece; uint32_t count[TUTTI_CLASSES]; } history[SM_HISTORY]; /* under energy_lock */
};

/** struct task - a task state and what is derived from it; lives while a slot or a CTA needs it. */
struct task {
	struct tutti_task_state state;
	struct tutti_wave_info info; /* what is the same for all waves */
	struct raster_shape shape;
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	uint32_t cga_ctas;           /* of the CGA that has ranks, 0 = none */
	uint64_t serial;             /* of this filling, never used twice */
	uint32_t references;
	uint32_t items;              /* of a full workgroup */
	uint32_t stack_class;
	bool edge;                   /* some workgroup is smaller */
	bool split;                  /* launched wave by wave */
	struct task *next;
};

/** struct slot - a task slot. @version: of the task; @all: version of the newest STATE to all SMs. */
struct slot {
	struct task *task;
	uint64_t launches; /* ever */
	uint32_t version;
	uint32_t epoch;    /* STATEs to all SMs */
	uint32_t all_version;
	uint64_t base;     /* launches at the newest one */
	uint32_t first;
	uint32_t resident;
	uint32_t dying; /* CTAs killed that still have requests */
	/* state_sync.c, on a card whose SMs acknowledge states */
	uint32_t unacknowledged;   /* states sent that the firmware has not been told of */
	uint32_t acknowledge_turn; /* when the SMs answer the newest one */
	uint32_t silent;           /* SM that does not, ~0 = none */
	/* completions not yet reported, by position in the priority order */
	uint32_t dirty_lo, dirty_hi; /* words of @done_mask */
	uint32_t done_mask[MASK_WORDS];
	uint32_t *done;
};

/** struct view - what one SM knows of one slot: one cache line. */
struct view {
	uint32_t epoch;
	uint32_t version;
	uint64_t split_base; /* split tasks: launch count at which wave 0 of some CTA was */
	struct rasteriser raster;
};
_Static_assert(sizeof(struct view) == 64, "a launch touches one line of each SM");

struct hart;
struct engine;
struct wave;

struct cta {
	struct cta *next;
	struct task *task;
	struct cga *cga;       /* NULL = alone */
	struct engine *engine; /* NULL = not started */
	struct hart *hart;
	struct wave *live;     /* started and not ended */
	struct wave *waiting, **waiting_end; /* at the barrier */
	uint64_t wave_slots[SM_WAVES / 64];
	uint32_t number;       /* in the pool */
	struct raster_place at;
	uint16_t sm, shared_first;
	uint16_t waves, started, left, arrived;
	uint16_t first_wave; /* not 0 in split tasks only */
	uint8_t slot;
	bool used, frozen;
	bool special;          /* has the three below, is of a CGA or both */
	uint32_t lmem, work_items;
	uint64_t work_first;
	struct cta *group;     /* next CTA of the CGA */
	/* tensor requests: asked by its waves, served by movers (atomic) */
	uint32_t asked, served;
	bool failed;   /* atomic: a mover was refused an access */
	bool draining; /* ended or killed, but for its requests */
	bool killed;
	struct {
		uint64_t pc, address;
		uint16_t wave;
		uint8_t cause, access;
	} fault;
};

/** enum wave_wait - what a blocked wave waits for: room for its request, requests served, the end of a phase. */
enum wave_wait { WAIT_ROOM, WAIT_SERVED, WAIT_MBARRIER };

struct wave {
	struct wave *next;
	struct wave *live_next, **live_link;
	struct cta *cta;
	struct hart *hart;
	uint16_t number;
	uint16_t slot; /* in the SM, WAVE_NO_SLOT = not asked for yet */
	bool fresh, has_context, spun;
	bool info_special;
	bool cga_arrived;
	enum wave_wait wait;
	uint32_t wait_value;
	const uint64_t *wait_word;
	struct tutti_tensor_call *call; /* its newest request; NULL = never made one */
	int stack; /* slot of the class, -1 = none yet */
	uint32_t stack_class;
	void *stack_saved;
	uint64_t info_va;
	struct tutti_wave_info *info;
	uint64_t info_serial; /* task->serial @info was filled from */
	uc_context *context;
	uint64_t reserved_va, reserved_value;
	uint8_t reserved_bytes;
	uint32_t cga_phase; /* in which it arrived */
	uint16_t service;   /* asked of the firmware */
	uint64_t argument[3];
};

struct wave_list {
	struct wave *head, **tail;
};

struct cta_list {
	struct cta *head, **tail;
	uint32_t count;
};

#define HART_REGIONS 64u
#define STACK_CLASSES 16u
#define STACK_SLOTS 32u

struct region {
	uint64_t va, bytes;
	uint8_t *host;
	uint32_t prot;
};

struct stack_class {
	uint8_t *backing;
	uint32_t bytes;
	uint32_t mapped;               /* slots */
	uint32_t shared_next;
	uint32_t users[STACK_SLOTS];
	struct wave *owner[STACK_SLOTS]; /* whose contents are there */
};

#define HART_SINK_BYTES 4096u

/** struct hart - RV64 core of one context on one engine. */
struct hart {
	struct hart *next;
	struct engine *engine;
	struct sm_array *array;
	uint32_t asid;
	uc_engine *uc;
	struct fiber *fiber;
	uint64_t *env;         /* registers x0.. of the core, NULL = through the API only */
	void *cpu;             /* for precise_pc() */
	struct wave *current;  /* loaded */
	struct wave *entering; /* to be loaded */
	bool ecalls;           /* are taken without an exception, see ecall.h */
	struct jump_cache jumps;
	bool booting, in_hook, refresh;
	bool drop_code, drop_all;
	uint64_t drop_first, drop_end;
	struct {
		uint64_t pc, address;
		uint8_t cause, access;
		bool valid;
	} fault;
	uint32_t tlb_entries; /* what its TLB may have grown to */
	uc_context *start;
	uint64_t *start_x, *start_pc; /* inside @start */
	size_t at_x, at_pc;           /* offsets inside a uc_context */
	struct region region[HART_REGIONS];
	uint32_t regions, region_hit;
	uint8_t *shared;
	struct class_block *blocks; /* energy.c */
	struct tutti_wave_info *infos;
	uint32_t infos_used, infos_max;
	struct wave *free_waves;
	struct wave *all_waves[SM_WAVES * 4]; /* chunks */
	uint32_t chunks;
	uint32_t live;
	uint32_t held;  /* atomic: requests that need its shared memory */
	uint64_t used; /* for replacement */
	struct stack_class stack[STACK_CLASSES];
	/* Where accesses to other CTAs end that their target refuses: the wave goes on until the firmware stops it. */
	uint64_t sink[HART_SINK_BYTES / 8];
};

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
	struct sm_tensor *tensor;
	bool quit;
	/* timer */
	pthread_t timer;
	pthread_mutex_t timer_lock;
	pthread_cond_t timer_wake;
	uint32_t tick;         /* atomic */
	uint32_t timer_asleep; /* atomic */
	uint64_t shared_stride;
};

#include "emulator/sm/sm_lists.h"

/* resource.c */
void sm_init(struct sm *sm, const struct tutti_discovery *limits);
/** sm_take() - reserve everything @cta needs. Return: false (and nothing taken) if it does not fit. */
bool sm_take(struct sm *sm, const struct tutti_discovery *limits, struct cta *cta);
void sm_give(struct sm *sm, const struct tutti_discovery *limits, const struct cta *cta);
/** sm_wave_slot() - wave slot of wave @number of @cta. */
unsigned sm_wave_slot(const struct sm *sm, const struct cta *cta, unsigned number);
/** blocks_take() - first-fit: lowest start of @need free blocks, or -1. blocks_give() - the reverse. */
int blocks_take(struct blocks *blocks, unsigned need);
void blocks_give(struct blocks *blocks, unsigned first, unsigned need);
void blocks_init(struct blocks *blocks, unsigned n);

/* sm.c */
/** cta_launch() - a CTA of @slot, which is number @number, on @sm; in no list yet. NULL if that cannot be. */
struct cta *cta_launch(struct sm_array *array, struct slot *slot, unsigned number, unsigned sm);
/** cta_release() - driving thread: @cta has ended, its resources are free, its completion is to be reported. */
void cta_release(struct sm_array *array, struct cta *cta);
void task_put(struct sm_array *array, struct task *task);

/* state_sync.c */
/** sync_send() - a state of @slot goes to the SMs of @mask (by position), NULL = all. */
void sync_send(struct sm_array *array, unsigned slot, const uint32_t *mask, unsigned words);
/** sync_report() - events STATE. Return: false: the ring is full. */
bool sync_report(struct sm_array *array, bool *any);
void sync_empty(struct sm_array *array);

/* throttle.c */
/** throttle_most() - shared blocks one SM can be given. */
uint32_t throttle_most(const struct tutti_discovery *limits);

/* sm_stop.c */
void engines_pause(struct sm_array *array);
void engines_resume(struct sm_array *array);

/* schedule.c */
int schedule_init(struct sm_array *array);
void schedule_fini(struct sm_array *array);
/** timer_rouse() - the timer of time slices is asleep and a wave is about to run. */
void timer_rouse(struct sm_array *array);
/** engine_pick() - next wave for @engine, NULL = leave now. */
struct wave *engine_pick(struct engine *engine);
/** engine_ended() - @cta has no wave left. engine_faulted() - it is frozen. */
void engine_ended(struct engine *engine, struct cta *cta);
void engine_faulted(struct engine *engine, struct cta *cta);
/** sm_array_collect() - driving thread: take what workers have handed over. */
void sm_array_collect(struct sm_array *array);

/** engine_can_run() - waves of @cta may run on @engine: no fault, no stuck SM. */
static inline bool engine_can_run(const struct engine *engine, const struct cta *cta)
{
	return likely(!cta->frozen && !tutti_load_relaxed(&cta->failed) && cta->sm != engine->stuck_sm);
}

/* sm_trace.c */
/** sm_tracing() - some kind is. */
static inline bool sm_tracing(const struct sm_array *array)
{
	return unlikely(tutti_load_relaxed(array->trace));
}

void sm_trace_state(struct sm_array *array, unsigned slot);
/** sm_trace_launch() - before a LAUNCH is done. sm_trace_cta() - @cta has its resources. */
void sm_trace_launch(struct sm_array *array, unsigned slot, unsigned flags, const uint32_t *words, unsigned n);
void sm_trace_cta(struct sm_array *array, const struct cta *cta);

/* sm_tensor.c */
int sm_tensor_create(struct sm_array *array);
void sm_tensor_destroy(struct sm_array *array);
void sm_tensor_empty(struct sm_array *array);
/** service_tensor() and so on - services of waves. Return: true = go on with the same wave. */
bool service_tensor(struct hart *hart);
bool service_wait_all(struct hart *hart);
bool service_mbarrier(struct hart *hart);
/** tensor_issue() - put @wave->call into its SM's queue. Return: false if that is full. */
bool tensor_issue(struct sm_array *array, struct wave *wave);
void tensor_kill(struct sm_array *array, unsigned slot);
/** tensor_open() - requests of @cta that are not served yet. */
static inline uint32_t tensor_open(const struct cta *cta)
{
	return tutti_load_relaxed(&cta->asked) - tutti_load_acquire(&cta->served);
}

/* wait.c */
/** wave_block() - the running wave waits. Return: false. */
bool wave_block(struct hart *hart, enum wave_wait kind, const uint64_t *word, uint32_t value);
/** engine_unblock() - blocked waves that may go on become ready. Return: true if a wave is ready. */
bool engine_unblock(struct engine *engine);
void engine_strip_blocked(struct engine *engine, unsigned slot);

/* wave.c */
struct wave *wave_start(struct engine *engine, struct cta *cta);
void wave_end(struct wave *wave);
/** wave_drop() - take @wave out of its CTA and give its parts back, without more ado. */
void wave_drop(struct wave *wave);
/** wave_service() - service @number. Return: true = go on with the same wave. */
bool wave_service(struct hart *hart, uint64_t number);
/** wave_fault() - freeze the CTA of the running wave. */
void wave_fault(struct hart *hart, unsigned cause, unsigned access, uint64_t pc, uint64_t address);

/* hart.c */
struct hart *hart_get(struct engine *engine, uint32_t asid);
void hart_destroy(struct hart *hart);
/** hart_enter() - run @wave and, on the same hart, whatever engine_pick() says after it. */
void hart_enter(struct hart *hart, struct wave *wave);
uint64_t hart_x(struct hart *hart, unsigned n);
void hart_x_set(struct hart *hart, unsigned n, uint64_t value);
uint64_t hart_pc(struct hart *hart);
/** hart_fault_at() - note a fault of translated code that would return to @ra. */
void hart_fault_at(struct hart *hart, unsigned cause, unsigned access, uint64_t va, uintptr_t ra);
/** hart_abandon() - the running wave has faulted: stop translated code at once. Does not return if it can. */
void hart_abandon(struct hart *hart);
/** hart_save() - keep the registers of the running wave. */
void hart_save(struct hart *hart, struct wave *wave);
uint64_t hart_saved_pc(const struct wave *wave);
/** hart_saved_result() - set a0 of a wave that is not loaded. */
void hart_saved_result(struct wave *wave, uint64_t value);

/* hart_memory.c */
/** cta_shared() - shared memory of a CTA that has been started. */
uint8_t *cta_shared(const struct sm_array *array, const struct cta *cta);
int hart_memory_init(struct hart *hart);
void hart_memory_fini(struct hart *hart);
/** hart_touch() - make @va accessible. Return: false and @cause if it is not. */
bool hart_touch(struct hart *hart, uint64_t va, unsigned access, uint8_t *cause);
/** hart_pointer() - host pointer of [va, va + bytes) for @access, which lies in one region; NULL and @cause if not. */
void *hart_pointer(struct hart *hart, uint64_t va, unsigned bytes, unsigned access, uint8_t *cause);
/** hart_stale() - unmap what hart->drop_* say. Not inside uc_emu_start(). */
void hart_stale(struct hart *hart);
/** hart_forget() - the context is gone: no byte of it may be seen by the next one. */
void hart_forget(struct hart *hart);
void hart_stack_load(struct hart *hart, struct wave *wave);
void hart_stack_release(struct wave *wave);
uint64_t hart_stack_top(struct hart *hart, struct wave *wave);
unsigned stack_class(uint32_t bytes);

/* atomic.c */
/** atomic_enter() - this thread is about to run @hart. atomic_ready() - unicorn's atomics are real ones. */
void atomic_enter(struct hart *hart);
/** hart_here() - the hart this thread runs. */
struct hart *hart_here(void);
bool atomic_ready(void);

/* amo.c */
enum {
	AMO_ADD = 0, AMO_SWAP = 1, AMO_LR = 2, AMO_SC = 3, AMO_XOR = 4, AMO_OR = 8, AMO_AND = 12,
	AMO_MIN = 16, AMO_MAX = 20, AMO_MINU = 24, AMO_MAXU = 28
};
uint32_t amo_min_max32(uint32_t *p, uint32_t operand, unsigned op);
uint64_t amo_min_max64(uint64_t *p, uint64_t operand, unsigned op);
/** amo_emulate() - do the atomic instruction @insn at @pc. Return: false = it is no atomic. A fault is in hart->fault. */
bool amo_emulate(struct hart *hart, uint32_t insn, uint64_t pc);

/* print.c */
int64_t print_text(struct hart *hart, uint64_t text, uint64_t bytes);

/* precise.c */
/** precise_learn() - call after the core @uc of this thread has loaded from memory. Return: its registers or NULL. */
uint64_t *precise_learn(void **cpu);
/** precise_sync() - in a memory hook: make the pc of the core exact. Return: false = cannot. */
bool precise_sync(void *cpu);
/** precise_fills() - TLB misses of this thread since its last precise_grow(), which doubles and empties a TLB of @entries. */
uint32_t precise_fills(void);
void precise_grow(void *cpu, uint32_t entries);
/** precise_leave() - from a function called by translated code: end the block here. Does not return if it can. */
void precise_leave(void *cpu);
/** precise_sync_at() - the same for a function called by translated code that will return to @ra. */
bool precise_sync_at(void *cpu, uintptr_t ra);

#endif

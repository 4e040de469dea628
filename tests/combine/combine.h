/* SPDX-License-Identifier: MIT */
/**
 * DOC: A scenario, what its packets mean, and the card that runs them
 *
 * The firmware built for the host stands between two models. On one side are programs and the driver: rings,
 * packets, metadata, messages (programs/). On the other is the card, which takes the commands the
 * firmware writes (card/). Both know of every kernel what it may do and has done (struct job); each command
 * is held against that (rules/, fair.c). Whatever is wrong ends in rule().
 */
#ifndef COMBINE_H
#define COMBINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/hal.h"
#include "features.h"

/* ---- scenario ---- */

#define OPS 64u

enum op_kind {
	OP_PACKET,
	OP_BURST,
	OP_STEP,
	OP_TIME,
	OP_WORK,
	OP_CANCEL,
	OP_BAD,
	OP_FAULT,
	OP_RESET,
	OP_CREATE,
	OP_DESTROY,
	OP_SUSPEND,
	OP_SM_OFF,
	OP_SM_ON,
	OP_POLICY,
	OP_STALL,
	OP_FLOOD,
	OP_RING,
	OP_CROWD,
	OP_KINDS
};

/** struct op - an operation. Its details are drawn from its own seed, so that others can be left out. */
struct op {
	uint8_t kind, queue;
	uint16_t steps; /* steps of the card after it */
	uint32_t seed;
};

struct scenario {
	uint64_t seed;
	struct features allowed; /* what its operations may draw from */
	uint32_t config;	 /* seed of the card's size and the policies */
	unsigned ops;
	struct op op[OPS];
};

/** scenario_make() - from a seed; features outside of @only are not used (all if it is empty). */
void scenario_make(struct scenario *s, uint64_t seed, const struct features *only);
void scenario_print(FILE *file, const struct scenario *s);
/** scenario_run() - Return: true: no rule was broken. Else the rule and what happened are in failure. */
bool scenario_run(const struct scenario *s);
/** scenario_shrink() - leave out operations that the failure does not need. @budget: runs. */
void scenario_shrink(struct scenario *s, const char *rule, unsigned budget);

/* ---- failures ---- */

extern struct failure {
	char rule[32];
	char text[400];
} failure;

/** rule() - a rule is broken, and the scenario ends here. @name: as in the README, with the ids it proves. */
void rule(const char *name, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
#define RULE(good, name, ...)                                                                                \
	do {                                                                                                 \
		if (!(good))                                                                                 \
			rule(name, __VA_ARGS__);                                                             \
	} while (0)

extern FILE *trace; /* NULL: none */
#define TRACE(...)                                                                                           \
	do {                                                                                                 \
		if (trace)                                                                                   \
			fprintf(trace, __VA_ARGS__);                                                         \
	} while (0)

/* ---- random numbers: the same sequence everywhere ---- */

extern uint64_t random_state;

static inline uint32_t roll(uint32_t n)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1dull >> 32) * n >> 32);
}

static inline void seed_random(uint64_t number)
{
	random_state = (number + 1) * 0x9e3779b97f4a7c15ull ^ 0x5851f42d4c957f2dull;
	if (!random_state)
		random_state = 1;
	roll(2);
}

/* ---- the world ---- */

#define QUEUES	   6u
#define RING	   64u /* most slots of a ring */
#define ENTRIES	   1024u /* packets of a queue in one life */
#define JOBS	   4096u
#define SIGNALS	   4096u
#define TMDS	   512u
#define KERNELS	   32u
#define WORKS	   16u
#define SLOTS	   32u
#define ASID	   4u /* of the first queue; each queue may have another one */
#define MASK_WORDS (TUTTI_MAX_SMS / 32)
#define CROWD_SMS  16u /* a crowd (scenario/crowd.c) keeps cards of up to so many SMs full; larger ones would take too long */

#define RING_AT	  0x10000000ull
#define INDEX_AT  0x20000000ull
#define KERNEL_AT 0x30000000ull
#define SIGNAL_AT 0x40000000ull
#define TMD_AT	  0x50000000ull
#define MASK_AT	  0x60000000ull
#define WORK_AT	  0x70000000ull
#define FILL_AT	  0x100000000000ull

enum life { WAITING, RUNNING, DONE, FAILED, LOST, CANCELLED };

/** struct job - one kernel: of a packet, or a child. */
struct job {
	uint32_t number, entry; /* entry: of its queue, ENTRIES: a child */
	uint8_t queue, life_of_queue, kernel, kernels, shape;
	uint8_t life, level, acquire, release, waves, scalar, vector, barriers;
	bool barrier, head, plain_way, multicast, sequence, throttle, work, independent, hold,
	    cancelled, faulted, signalled, split, evicted, child, accepted, ready, killed, cancel_sure, reported;
	uint16_t shared, tmd, throttle_sms; /* tmd: 0 = none, else number + 1 */
	uint16_t work_queue;
	uint32_t groups, whole, grid_x, quota, signal;
	uint64_t kernarg, since, finished;
	struct tutti_cga_shape cga[TUTTI_CGA_LEVELS];
	const uint32_t *mask; /* by SM number, NULL = all */
	uint32_t issued, running,
	    told;	     /* CTAs started; running; and running or ended without the firmware's knowing */
	uint32_t waves_left; /* of CTAs that are launched wave by wave */
	int slot;	     /* task slot, -1 = none */
	struct features features;
	/* for fairness: counted since its last CTA started */
	uint32_t order; /* of its first STATE */
	bool recorded; /* its state is kept: it can be split */
	bool leaving; /* it may have been evicted */
	uint32_t lower, equal, visits, turn;
	struct job *parent;
	uint32_t children;
};

enum entry_kind { DISPATCH, CONDENSED, BARRIER_AND, BARRIER_OR, AGENT_NOP, AGENT_FILL };

/** struct entry - one packet. */
struct entry {
	uint8_t kind;
	bool bad, unskipped, published, reference, barrier, moved, done, skipped, live, begun;
	bool unsure; /* its references may be gone when it is looked at */
	uint8_t acquire, release, widest, n, references;
	uint32_t errors; /* error codes that it may be refused with */
	uint32_t first_word, job, signal, dependency[5];
	uint64_t since, last; /* published; its last kernel has ended */
	uint32_t waited;      /* packets of others begun while it was the queue's oldest */
};

/**
 * struct reference - a reference, as far as programs can know.
 * @job: the kernel of the packet that stores it
 * @used, @life: packets of the buffer's other queue before this one use it, and the life of that queue
 */
struct reference {
	bool valid;
	uint8_t life;
	uint64_t used;
	struct job job;
};

/** struct buffer - a reference buffer. @forgetting: references that requests under way invalidate */
struct buffer {
	struct reference reference[TUTTI_REFERENCES];
	uint8_t forgetting;
};

#define NOTICES 32u

/**
 * struct notices - interrupts that the driver has asked for.
 * @at: packets that must have retired, of each request
 * @since: requests before this one have been followed by an interrupt
 * @live: the feature is
 */
struct notices {
	uint64_t at[NOTICES];
	unsigned n, interrupts, since;
	bool live;
};

/** struct program - a queue and the program that writes to it. */
struct program {
	unsigned id, flags, priority, asid, life, slots, buffer, highest;
	uint64_t first; /* number of its first packet; all others here count from it */
	bool alive, dying, stopped, busy_reset, late_create;
	bool progress_word, bad_packet;
	uint64_t write, read; /* packets */
	uint64_t scrubbed;    /* up to here slots are INVALID again */
	uint64_t oldest;      /* first packet that is not over */
	uint64_t progress;    /* its progress word */
	struct notices notices;
	union tutti_packet ring[RING];
	struct entry entry[ENTRIES];
	unsigned flood; /* packets it still writes whenever there is room */
};

struct signal_owner {
	uint32_t jobs;	/* jobs whose completion signal it is */
	uint32_t given; /* decrements so far */
	bool zero;	/* has been 0 */
	bool timed;	/* it says when its kernel started */
};

extern struct world {
	struct scenario scenario;
	unsigned sms, gpcs, slots, cap, shapes;
	unsigned gpc_first[TUTTI_MAX_GPCS], gpc_sms[TUTTI_MAX_GPCS];
	uint64_t now, fence[2][3]; /* when the last acquire, release of each scope was taken */
	struct program program[QUEUES];
	struct job job[JOBS];
	unsigned jobs, started, active;
	struct buffer buffer[QUEUES];
	uint64_t ctas;		 /* started so far */
	struct job *act[SLOTS]; /* those that have a slot, by slot */
	unsigned signals, tmds, works;
	uint32_t off[MASK_WORDS];	   /* disabled SMs */
	uint32_t off_since[TUTTI_MAX_SMS]; /* command tail when it was disabled */
	uint32_t off_id[TUTTI_MAX_SMS];	   /* of the last request to disable it */
	bool in_order;			   /* the card answers in the order it was asked */
	bool suspended, suspending, windows, lots, draining;
	bool one_by_one; /* CTAs end one at a time, so that no SM becomes empty by chance */
	uint32_t suspend_id; /* of the last request to suspend */
	unsigned stall;	    /* visits during which no command is taken */
	bool unread;	    /* the driver has left messages for later */
	unsigned throttles; /* throttle tasks there are or may be */
	uint64_t stalled_until;
	uint32_t cgas_live;
} w;

/* user memory */
extern struct tutti_kernel_descriptor kernels[KERNELS];
extern struct tutti_signal signals[SIGNALS];
extern struct signal_owner owners[SIGNALS];
extern struct tutti_tmd tmds[TMDS];
extern uint32_t masks[TMDS][MASK_WORDS];
extern struct tutti_work_queue works[WORKS];
/** struct work_model - what is known of a work queue: items given to CTAs; when the oldest of the others
 * came. */
extern struct work_model {
	uint64_t given, since;
} work_models[WORKS];

/** discovery() - what the firmware has been told of the card. */
static inline const struct tutti_discovery *discovery(void)
{
	return (const void *)hal_host.window;
}

static inline unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/** memory_at() - user memory at @address, NULL: unmapped. */
void *memory_at(uint64_t address, uint32_t bytes);
void memory_reset(void);

/** op_enabled_sms() - SMs that are on, if all requests so far are served. */
unsigned op_enabled_sms(void);

/* ---- programs/: packets ---- */

void produce_reset(void);
/** produce_kernels() - the kernels of this scenario. */
void produce_kernels(void);
/** produce() - one packet on @program; false: there is no room. */
bool produce(struct program *program);
void produce_bad(struct program *program);
/**
 * produce_whole() - a packet with a CTA that needs a whole SM or, if @kind is not 0, with a CGA that needs all SMs of a
 * domain of that kind. Return: its kernel, NULL: there is no room
 */
struct job *produce_whole(struct program *program, unsigned level, unsigned kind);
/** produce_small() - a packet of the crowd that keeps SMs occupied. */
bool produce_small(struct program *program);
/** publish() - make packets visible, in any order; @all: every one of them. */
void publish(struct program *program, bool all);
uint32_t new_signal(void);
uint64_t signal_address(uint32_t signal);
/** child_make() - metadata of a child of @parent. Return: its address, 0: there is no room. */
uint64_t child_make(struct job *parent);
static inline uint32_t job_left(const struct job *job)
{
	return job->groups - job->issued;
}

/* ---- programs/driver.c: messages ---- */

void driver_reset(void);
/** driver_send() - a request, whose reply comes later. Return: its number, 0: the ring is full. */
uint32_t driver_send(struct tutti_message *message);
uint32_t driver_request(unsigned type, uint64_t a, uint64_t b, uint64_t c);
/** driver_call() - the same, with the answers to commands at once. Return: status. */
int driver_call(struct tutti_message *message);
int driver_ask(unsigned type, uint64_t a, uint64_t b, uint64_t c);
/** driver_read() - take the card's messages. */
void driver_read(void);
/** driver_behind() - there are messages of the card that the driver has not taken. */
bool driver_behind(void);
bool driver_idle(void);
void driver_create(struct program *program, bool wait);
void driver_destroy(struct program *program);

/* ---- programs/questions.c: what the driver asks while kernels run ---- */

void questions_ask(void);
void questions_answered(const struct tutti_message *m, const struct tutti_message *request);
/** questions_interrupt() - command INTERRUPT. */
void questions_interrupt(unsigned vector);
/** questions_end() - all is over, so nothing that was asked for may be missing. */
void questions_end(const struct program *program);

/* ---- card/: commands and events ---- */

void card_begin(unsigned sms);
/** card_take_commands() - take the commands written so far. */
void card_take_commands(void);
/** card_step() - something happens: an event is delivered, or CTAs end. False: there is nothing. */
bool card_step(void);
void card_event(const struct tutti_event *event);
/** card_later() - an event that will be delivered at some time. */
void card_later(const struct tutti_event *event);
bool card_quiet(void);

/**
 * struct post - something that the firmware has the post unit write.
 * @address: in user memory; for a signal, its number
 * @value: what is written; for slots that are retired, how many
 */
struct post {
	uint32_t at; /* index of its command */
	enum { POST_WRITE, POST_SCRUB, POST_SIGNAL, POST_READ_INDEX } kind;
	bool cancel, references;
	uint8_t queue, life;
	uint64_t address, value;
};

/** card_post() - it becomes visible at some time, after what was posted before. */
void card_post(unsigned queue, struct post post);
/** card_fetching() - FETCH commands that have not been answered. */
unsigned card_fetching(void);
void card_timer(void);
void card_fault(void);
/** card_fault_again() - the same with a kernel of a queue that has stopped. */
void card_fault_again(void);
/** card_fits() - CTAs of @job, at most @enough, that fit the SMs it may use, as far as the firmware can know. */
unsigned card_fits(const struct job *job, unsigned enough);
unsigned card_room(const struct job *job, unsigned sm);
unsigned card_resident(void);
/** card_parents_wait() - the remaining CTAs of some kernel cannot end before their children. */
bool card_parents_wait(void);
/** card_slots_taken() - task slots in use, those for the waves of a split CTA included. */
unsigned card_slots_taken(void);
/** card_acknowledged() - the firmware may launch CTAs of a slot's task (TSK-05). */
bool card_acknowledged(unsigned slot);
bool card_ids_left(void);
bool card_sm_open(const struct job *job, unsigned position);
unsigned card_sm_number(unsigned position);

/* ---- rules/: what a command may do ---- */

struct job *rules_state(unsigned slot, const struct tutti_task_state *state,
			const struct tutti_cga_shape *level, bool split);
void rules_launch(struct job *job, bool split, unsigned position);
void rules_ended(struct job *job);
void rules_killed(struct job *job);
void rules_cancelled(struct program *program, uint64_t packet);
/** rules_reset() - the queue goes on behind the packet that was refused. */
void rules_reset(struct program *program);
void rules_signal(uint64_t address, unsigned asid_queue, bool cancel);
void rules_fence(unsigned sub);
/** rules_signal_is() - a signal has got another value, which can be seen from now on. */
void rules_signal_is(uint64_t number, int64_t value);
/** rules_read_index() - the program can see that slots before @value are free. */
void rules_read_index(struct program *program, uint64_t value);
void rules_scrub(unsigned queue, uint64_t address, unsigned slots, bool references);
bool rules_write(unsigned asid, unsigned queue, uint64_t address, uint64_t value);
void rules_mover(const struct tutti_mover *mover);
void rules_moved(uint64_t address);
void rules_error(const struct tutti_fault *fault);
void rules_lost(struct program *program);
void rules_end(void);
bool rules_all_over(void);
void job_over(struct job *job, enum life life);
struct entry *entry_of(const struct job *job);
/** root_of() - the kernel of a packet that a child comes from. */
struct job *root_of(struct job *job);
bool entry_over(const struct program *program, const struct entry *entry);
const char *job_name(const struct job *job);

/* ---- fair.c: who waits, and for how many CTAs of others ---- */

void fair_begin(void);
/** fair_launched() - @ctas CTAs of @job were launched, or as many waves of one that is split. */
void fair_launched(struct job *job, unsigned ctas, bool split);
void fair_state(struct job *job);
/** fair_asked() - a request was sent, so the firmware does not know which SMs are on before it has answered. */
void fair_asked(void);
/** fair_visit() - at the end of each visit of the firmware. */
void fair_visit(void);
/** fair_counts_visits() - a task must get CTAs in the end, since those of others end in time. */
bool fair_counts_visits(void);
/** fair_waits_long() - a task has been passed over so often that whatever is on the card must be about to end. */
bool fair_waits_long(void);
/** fair_idle() - a task that fits and has not been launched, NULL: there is none. */
const struct job *fair_idle(void);
/** fair_shapes_left() - whether the firmware has a free entry for one more shape when that of @but (or NULL) is free. */
bool fair_shapes_left(const struct job *but);
/** fair_unsplit() - a task whose CTAs fit nowhere while one of their waves does (RES-07), NULL: there is none. */
const struct job *fair_unsplit(void);
/** fair_quiet() - nothing is in progress, and time has passed: every task that fits must have been launched. */
void fair_quiet(void);

/* ---- visit.c ---- */

/** firmware_boot() - load the firmware and boot it on a card of @sms SMs. */
void firmware_boot(unsigned sms);
/** firmware_visit() - hand it an event. */
void firmware_visit(const struct tutti_event *event);

#define VISITS_WORST 6u

/** struct visit - a visit of the firmware. @number: in its scenario; @type: of its event */
struct visit {
	uint64_t cost, seed;
	unsigned number, type;
};

/**
 * struct visits - what all of them cost, see struct backend.
 * @over, @worst: on cards of up to 144 SMs in 36 GPCs: how many cost more than they should, and the most expensive ones
 * @ring: most words there were in the command ring
 * @waited: most packets of others that began while a queue's oldest packet waited
 * @passed: most visits in which a task got nothing and others of its priority or lower got CTAs, see VISITS_MOST
 */
extern struct visits {
	uint64_t n, over;
	struct visit worst[VISITS_WORST];
	uint32_t ring, waited, passed;
} visits;

/** visits_report() - print the most expensive ones. @only: what the scenarios were made of */
void visits_report(const struct features *only);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Random work of all kinds on one card, and what must come of it (REL-10)
 *
 * A scenario puts jobs into several queues: kernels with and without attributes, recordings, CGAs, queue tasks, children,
 * fills. Beside them tasks are cancelled, queues stop, are reset and destroyed, SMs are switched off and policies
 * changed. Each job knows what it must have done, or may have done if it was stopped.
 */
#ifndef TUTTI_TEST_MIXTURE_H
#define TUTTI_TEST_MIXTURE_H

#include "kernels/cga_args.h"
#include "kernels/task.h"
#include "rig.h"
#include "tutti/policy.h"
#include "tutti/task.h"

#define QUEUES	  4u /* the first is no extended one */
#define JOBS_MOST 64u

/* What can be in a scenario. Each pair has to meet in one of them. */
#define FEATURES(X)                                                                                                    \
	X(PLAIN_QUEUE) X(OVERLAP_QUEUE) X(GRID) X(SHARED_MEMORY) X(WAVES) X(CGA) X(CGA_TMD) X(MULTICAST) X(WORK_QUEUE) \
	X(CHILDREN) X(FILL) X(CONDENSED) X(REFERENCE) X(REPLAY_PLAIN) X(BARRIER) X(PRIORITY) X(HEAD) X(SEQUENCE)       \
	X(QUOTA) X(AFFINITY) X(THROTTLE) X(INDEPENDENT) X(CANCEL) X(FAULT) X(RESET) X(DESTROY) X(SMS_OFF) X(POLICY)
enum feature {
#define X(name) F_##name,
	FEATURES(X)
#undef X
		F_COUNT
};

/* JOB_MAY: it was stopped or cancelled, so that no part of it need have run, but none may have run twice. */
enum job_state { JOB_NONE, JOB_MUST, JOB_MAY, JOB_DONE };

/**
 * struct job - a launch, or a recording that is replayed.
 * @check: what it must have done, @times over; with JOB_MAY at most that
 * @log: kernels that note when their CTAs started; NULL for others
 * @name: of its kernel; NULL if it has none
 */
struct job {
	enum job_state state;
	unsigned queue;
	const char *name;
	uint32_t ctas, items, times;
	bool barrier, cancelled;
	tutti_signal_t signal;
	struct tutti_task *task;
	struct tutti_work *work;
	void *args;
	const struct args_log *log;
	void (*check)(const struct job *job);
};

/** struct mixture - the scenario that runs. */
struct mixture {
	uint64_t seed, random;
	struct tutti_queue *queue[QUEUES];
	struct job job[JOBS_MOST];
	unsigned jobs;
	uint64_t *clock;
	uint32_t features;
	unsigned sms;
};
extern struct mixture mixture;

/** mixture_open() - the card (@topology: NULL = any) with all kernels; mixture_close(). */
void mixture_open(const char *topology);
void mixture_close(void);

/** draw() - a random number below @n; chance(): true once in @n. */
static inline uint32_t draw(uint32_t n)
{
	mixture.random ^= mixture.random << 13;
	mixture.random ^= mixture.random >> 7;
	mixture.random ^= mixture.random << 17;
	return (uint32_t)((mixture.random >> 20) % n);
}

static inline bool chance(uint32_t n)
{
	return !draw(n);
}

static inline void met(enum feature feature)
{
	mixture.features |= 1u << feature;
}

/** mixture_kernel() - a kernel of any of the test's code objects. */
struct tutti_kernel mixture_kernel(const char *name);
/** memory_begin() - all memory of the last scenario can be used again, and is zero. */
void memory_begin(void);
/** memory_take() - memory for the scenario. */
void *memory_take(size_t bytes);

/** job_start() - put a random job into queue @queue. */
void job_start(unsigned queue);
/** job_trap() - put a kernel that fails into queue @queue. */
void job_trap(unsigned queue);
/** job_feed() - queue tasks get the rest of their items, and end. */
void job_feed(struct job *job);
/** job_wait() - wait for its end. */
void job_wait(struct job *job);
/** job_check() - was everything done once, and in order? It has ended. */
void job_check(struct job *job);
/** job_end() - give back what it has. Its queue may not use it any more. */
void job_end(struct job *job);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: The features whose pairs must meet, and the table of the pairs that did (spec REL-10) */
#ifndef COMBINE_FEATURES_H
#define COMBINE_FEATURES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * X(name, group, what): features of one group exclude each other; group 0 excludes nothing. A feature is live
 * while the thing is there: a task from its first STATE command to its last CTA, a policy while it is set, an
 * event of a queue from the request to the reply.
 */
/* clang-format off */
#define FEATURES(X)                                                             \
	X(PLAIN_1D, 0, "kernel dispatch packet, one dimension")                 \
	X(PLAIN_2D, 0, "kernel dispatch packet, two dimensions")                \
	X(PLAIN_3D, 0, "kernel dispatch packet, three dimensions")              \
	X(REF_STORE, 0, "packet that stores a reference")                       \
	X(COND_1, 0, "condensed packet of one kernel")                          \
	X(COND_6, 0, "condensed packet of two to six kernels")                  \
	X(COND_31, 0, "condensed packet of more kernels")                       \
	X(DIFF_EMPTY, 0, "kernel of a condensed packet, nothing changed")       \
	X(DIFF_SEVERAL, 0, "kernel of a condensed packet, two or more fields changed") \
	X(OVERLAP, 0, "kernels of a condensed packet may overlap")              \
	X(BARRIER_AND, 0, "barrier-AND packet that waits")                      \
	X(BARRIER_OR, 0, "barrier-OR packet that waits")                        \
	X(AGENT, 0, "agent dispatch")                                           \
	X(BARRIER_BIT, 0, "barrier bit of a kernel")                            \
	X(FENCES, 0, "acquire and release fences of a kernel")                  \
	X(PRIORITY, 0, "priority of the metadata, not the queue's")             \
	X(HEAD, 0, "insertion at the head")                                     \
	X(AFFINITY, 0, "mask of SMs")                                           \
	X(QUOTA, 0, "launch quota")                                             \
	X(SEQUENCE, 0, "one CTA at a time")                                     \
	X(THROTTLE, 0, "throttle task")                                         \
	X(WORK, 0, "queue task with coalescing")                                \
	X(INDEPENDENT, 0, "waves need not run together")                        \
	X(CHILD, 0, "child task")                                               \
	X(CANCEL, 0, "cancelled task")                                          \
	X(CGA_CPC, 0, "CGAs inside a CPC")                                      \
	X(CGA_GPC, 0, "CGAs inside a GPC")                                      \
	X(CGA_UGPU, 0, "CGAs inside a uGPU")                                    \
	X(CGA_GPU, 0, "CGAs over the card")                                     \
	X(CGA_NESTED, 0, "CGAs of CGAs")                                        \
	X(MULTICAST, 0, "one CTA of a CGA on an SM")                            \
	X(LMEM, 0, "CGAs with a slot of linear memory")                         \
	X(SHAPES_ONE, 1, "CTAs of one shape")                                   \
	X(SHAPES_TWO, 1, "CTAs of two shapes")                                  \
	X(SHAPES_MANY, 1, "CTAs of more shapes than the firmware keeps")        \
	X(BALANCE, 2, "policy: load balance")                                   \
	X(ROUND_ROBIN, 2, "policy: round robin")                                \
	X(CHOICE, 0, "policy: SMs chosen by score")                             \
	X(SEARCH, 0, "policy: other searches for free runs")                    \
	X(ROTATE, 0, "policy: rotated split of waves")                          \
	X(WINDOWS, 0, "policy: priority windows")                               \
	X(LOTS, 3, "policy: lots among equals")                                 \
	X(OLDEST, 3, "policy: the oldest among equals")                         \
	X(CAP, 0, "policy: cap of CTAs on an SM")                               \
	X(ORDER, 5, "policy: another order of SMs, all of it")                  \
	X(ORDER_ONE, 5, "policy: single places in the order of SMs")            \
	X(SPLIT, 0, "a CTA launched wave by wave")                              \
	X(EVICTED, 0, "task that was evicted")                                  \
	X(CREATE, 0, "queue created while others run")                          \
	X(DESTROY, 0, "queue destroyed with work in flight")                    \
	X(BAD_PACKET, 0, "packet that is refused")                              \
	X(FAULT, 0, "kernel that faults")                                       \
	X(RESET, 0, "queue reset after an error")                               \
	X(SUSPEND, 0, "card suspended and resumed")                             \
	X(SM_OFF, 0, "SMs disabled")                                            \
	X(SM_ON, 0, "SMs enabled again")                                        \
	X(LONG, 0, "kernel that holds its SMs for long")                        \
	X(FLOOD, 0, "queue that is never empty")                                \
	X(STALL, 0, "engines that take commands late")                          \
	X(FEW_SLOTS, 0, "few task slots")                                       \
	X(CARD_TINY, 4, "card of 1 to 8 SMs")                                   \
	X(CARD_RAGGED, 4, "card of unequal GPCs")                               \
	X(CARD_144, 4, "card of 144 SMs")                                       \
	X(CARD_LARGE, 4, "card of more than 256 SMs")                           \
	X(POSTS_LATE, 0, "a fetch overtakes what was to be written before it")  \
	X(FAULT_AGAIN, 0, "kernel that faults when its queue has stopped")      \
	X(THROTTLE_DIFF, 0, "throttle task in a condensed packet")              \
	X(THROTTLE_MASK, 0, "throttle task with a mask of SMs")                 \
	X(THROTTLE_CGA, 0, "throttle task with CGAs")                           \
	X(CGA_MASK, 0, "CGAs with a mask of SMs")                               \
	X(FETCH_LATE, 0, "memory that is fetched arrives with the event only")  \
	X(MESSAGES_LATE, 0, "the driver reads the card's messages later")       \
	X(ACKNOWLEDGE, 0, "SMs acknowledge the states of tasks")                \
	X(WHOLE_SM, 0, "CTA that needs a whole SM, while smaller ones keep coming") \
	X(WHOLE_DOMAIN, 0, "CGA that needs all SMs of a domain, while smaller CTAs keep coming") \
	X(NOTIFY, 0, "interrupt that the driver has asked for")                 \
	X(ASK, 0, "question about a queue, a reference buffer or occupancy")    \
	X(INVALIDATE, 0, "code or mappings change")                             \
	X(SHARED_REFS, 0, "reference buffers that two queues share")            \
	X(FORGET, 0, "references invalidated while packets use them")           \
	X(CARD_GPCS, 4, "card of many GPCs of 1 to 4 SMs")                      \
	X(CAPACITY, 0, "SMs of another capacity")                               \
	X(CGA_YZ, 0, "CGAs of two or three dimensions")                         \
	X(WEIGHTS, 0, "policy: the least and the greatest weights")             \
	X(START, 0, "numbers of packets that pass 2^32 or 2^64")                \
	X(HIGHEST, 0, "queue that limits the priority of its tasks")            \
	X(PROFILE, 0, "times of kernels in their signals")                      \
	X(OWN_CGA, 0, "kernel with CGAs launched as a sequence or queue task")  \
	X(PARENT_WAITS, 0, "kernel that waits for the end of its children")
/* clang-format on */

enum feature {
#define FEATURE_ENUM(name, group, what) F_##name,
	FEATURES(FEATURE_ENUM)
#undef FEATURE_ENUM
	    F_COUNT
};

/* Features from here on are drawn when all else of a scenario is known, so that older seeds stay what they are. */
#define F_DRAWN_LAST F_POSTS_LATE

/* Seeds below SEEDS_OF_ALL have none of the features from here on, because these change tasks that they already had. */
#define F_SEEDS_OF_ALL F_THROTTLE_MASK
#define SEEDS_OF_ALL   7000000u

/* The same for seeds below SEEDS_OF_MORE: these features change what scenarios with the others do. */
#define F_SEEDS_OF_MORE F_FETCH_LATE
#define SEEDS_OF_MORE	22000000u

/* The same for seeds below SEEDS_OF_DRIVER: a driver that asks something does so between steps of the card. */
#define F_SEEDS_OF_DRIVER F_NOTIFY
#define SEEDS_OF_DRIVER	  1100000000u

/* The table has the features before this one: the seeds of check.sh do not meet all pairs with the others. */
#define F_TABLE_END F_NOTIFY

#define FEATURE_WORDS 2u

/** struct features - a set of them. */
struct features {
	uint64_t word[FEATURE_WORDS];
};

static inline bool features_has(const struct features *set, unsigned f)
{
	return set->word[f / 64] >> (f % 64) & 1;
}

static inline void features_add(struct features *set, unsigned f)
{
	set->word[f / 64] |= 1ull << (f % 64);
}

static inline void features_remove(struct features *set, unsigned f)
{
	set->word[f / 64] &= ~(1ull << (f % 64));
}

const char *feature_name(unsigned f);
/** feature_find() - by name, upper or lower case. Return: F_COUNT: there is none. */
unsigned feature_find(const char *name);
/** feature_pair_possible() - the two do not exclude each other. */
bool feature_pair_possible(unsigned a, unsigned b);

/** features_begin() - nothing is live: a new scenario. */
void features_begin(void);
/** feature_on() - it is in effect, and meets all others that are; counted, since several tasks may have it. */
void feature_on(unsigned f);
void feature_off(unsigned f);
/** feature_moment() - it happens now, and meets all that are live. */
void feature_moment(unsigned f);
void features_on(const struct features *set);
void features_off(const struct features *set);
/** features_end() - the pairs of this scenario count. */
void features_end(void);

/** features_table() - print how often each pair was met. */
void features_table(FILE *file);
/** features_holes() - pairs that can meet and did not; printed if @file. */
unsigned features_holes(FILE *file);
unsigned features_pairs(void);
/** features_pair() - the @n-th pair that can meet, among the features that are not drawn last. */
void features_pair(unsigned n, unsigned *a, unsigned *b);

#endif

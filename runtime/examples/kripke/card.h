/* SPDX-License-Identifier: MIT */
/** DOC: The iteration on the card, launched in three ways */
#ifndef KRIPKE_CARD_H
#define KRIPKE_CARD_H

#include "problem.h"
#include "tutti.h"

/** enum kripke_launch - how the six kernels of an iteration reach the card. */
enum kripke_launch {
	KRIPKE_PLAIN,     /* six AQL packets, each with fence and signal */
	KRIPKE_REFERENCE, /* six packets that also store references; one signal */
	KRIPKE_CONDENSED, /* one condensed packet that names six references; one signal */
	KRIPKE_LAUNCHES
};
extern const char *const kripke_launch_name[KRIPKE_LAUNCHES];

/** struct kripke_cost - what a run cost, without its preparation. */
struct kripke_cost {
	unsigned iterations;
	unsigned kernels;      /* per iteration */
	uint64_t packets;      /* written to the ring by the host */
	uint64_t bytes;        /* of them */
	double wall_seconds;
	/* of all iterations but the first one, which stores the references */
	unsigned steady;
	uint64_t processed;    /* packets, as counted by the firmware */
	uint64_t fences;       /* release fences */
	uint64_t signals;
	uint64_t instructions; /* instructions of the soft core; 0: the card does not count them */
	uint64_t packet_instructions; /* those that turn packets into launches */
	double enqueue_ns;     /* host time of an iteration's dispatch or replay calls, median */
};

struct kripke_card;

/** kripke_card_create() - problem and kernels on @device. NULL after a message on stderr. */
struct kripke_card *kripke_card_create(struct tutti_device *device, const struct kripke_options *options);
void kripke_card_destroy(struct kripke_card *card);
/** kripke_card_start() - zero flux, queue and recording for @launch. 0 or -errno. */
int kripke_card_start(struct kripke_card *card, enum kripke_launch launch);
/** kripke_card_iterate() - one iteration; 0 or -errno. */
int kripke_card_iterate(struct kripke_card *card, double *count);
/** kripke_card_stop() - release queue and recording; return the costs. */
void kripke_card_stop(struct kripke_card *card, struct kripke_cost *cost);
/** kripke_card_problem() - its arguments; fields lie in memory the host can read. */
const struct kripke_problem *kripke_card_problem(const struct kripke_card *card);

/** kripke_seconds() - monotonic clock. */
double kripke_seconds(void);

#endif

/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "card.h"
#include "example.h"
#include "packet_cost.h"

#define KERNELS 6
#define WORKGROUP 256 /* workgroup size of the kernels with one work-item per (group, zone) */
#define SAMPLES 256
#define SWEEPERS 32   /* workgroup size of Sweep: one wave, so that the work spreads over all SMs */

const char *const kripke_launch_name[KRIPKE_LAUNCHES] = { "plain", "reference", "condensed" };

static const char *const kernel_name[KERNELS] = { "ltimes", "scattering", "source",
						  "lplustimes", "sweep", "population" };

struct kripke_card {
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct kripke_problem problem;
	struct tutti_kernel kernel[KERNELS];
	struct kripke_args *args; /* the kernarg segment */
	double *count;            /* in host memory */
	enum kripke_launch launch;
	struct tutti_queue *queue;
	struct tutti_recording *recording;
	tutti_signal_t done;
	struct kripke_cost cost;
	double enqueue_ns[SAMPLES]; /* times of the last steady iterations */
	uint64_t first_packet;
	uint64_t before[TUTTI_COUNTERS];
	uint64_t packet_before;
};

double kripke_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *card_alloc(void *device, size_t bytes)
{
	void *memory;

	return tutti_memory_alloc(device, TUTTI_MEMORY_CARD, bytes, &memory) ? NULL : memory;
}

static void card_free(void *device, void *memory)
{
	tutti_memory_free(device, memory);
}

static int kernels_find(struct kripke_card *card)
{
	for (unsigned k = 0; k < KERNELS; k++) {
		int error = tutti_executable_kernel(card->executable, kernel_name[k], &card->kernel[k]);

		if (error) {
			fprintf(stderr, "kripke: kernel %s: %s\n", kernel_name[k], tutti_strerror(error));
			return error;
		}
	}
	return 0;
}

struct kripke_card *kripke_card_create(struct tutti_device *device, const struct kripke_options *options)
{
	struct kripke_card *card = calloc(1, sizeof(*card));

	if (!card)
		return NULL;
	card->device = device;
	card->problem.alloc = card_alloc;
	card->problem.free = card_free;
	card->problem.context = device;
	card->executable = example_load(device, "kripke.tco");
	if (kernels_find(card) ||
	    tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*card->args), (void **)&card->args) ||
	    tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*card->count), (void **)&card->count))
		goto fail;
	if (!kripke_problem_init(&card->problem, options)) {
		fprintf(stderr, "kripke: the problem needs %.0f MB, the card has %.0f MB\n",
			kripke_problem_bytes(options) / 1e6,
			(double)tutti_device_discovery(device)->memory_bytes / 1e6);
		goto fail;
	}
	*card->args = card->problem.args;
	card->args->count = card->count;
	return card;
fail:
	kripke_card_destroy(card);
	return NULL;
}

void kripke_card_destroy(struct kripke_card *card)
{
	kripke_problem_fini(&card->problem);
	tutti_memory_free(card->device, card->count);
	tutti_memory_free(card->device, card->args);
	tutti_executable_destroy(card->executable);
	free(card);
}

/* Launch @k of an iteration. Only the last one has a completion signal. */
static void launch_init(const struct kripke_card *card, unsigned k, struct tutti_launch *launch)
{
	const struct kripke_args *args = &card->problem.args;
	const uint32_t flat = args->groups * args->zone_count;
	const uint32_t grid[KERNELS] = { flat, flat, flat, flat, args->directions * args->groups,
					 args->directions * KRIPKE_SUMMERS };
	const uint16_t workgroup[KERNELS] = { WORKGROUP, WORKGROUP, WORKGROUP, WORKGROUP, SWEEPERS, KRIPKE_SUMMERS };
	const bool last = k == KERNELS - 1;

	*launch = (struct tutti_launch){
		.kernel = &card->kernel[k],
		.grid = { grid[k] },
		.workgroup = { workgroup[k] },
		.kernarg = card->args,
		.signal = last || card->launch == KRIPKE_PLAIN ? card->done : NULL,
		.barrier = true,
		.acquire = k ? TUTTI_SCOPE_AGENT : TUTTI_SCOPE_SYSTEM,
		.release = last ? TUTTI_SCOPE_SYSTEM : TUTTI_SCOPE_AGENT,
	};
}

static int dispatch_all(struct kripke_card *card)
{
	int error = 0;

	for (unsigned k = 0; k < KERNELS && !error; k++) {
		struct tutti_launch launch;

		launch_init(card, k, &launch);
		error = tutti_dispatch(card->queue, &launch);
	}
	return error;
}

static int record(struct kripke_card *card)
{
	int error = tutti_record_begin(card->queue);

	if (!error)
		error = dispatch_all(card);
	if (!error)
		error = tutti_record_end(card->queue, &card->recording);
	if (!error)
		error = tutti_recording_form(card->recording, card->launch == KRIPKE_REFERENCE ?
					     TUTTI_REPLAY_REFERENCE : TUTTI_REPLAY_CONDENSED);
	return error;
}

/* Reset the fields to their initial values. */
static void fields_clear(struct kripke_card *card)
{
	const struct kripke_args *args = &card->problem.args;
	const uint64_t share = (uint64_t)args->groups * args->zone_count;

	memset(args->psi, 0, args->directions * share * sizeof(double));
	memset(args->rhs, 0, args->directions * share * sizeof(double));
	memset(args->phi, 0, args->moments * share * sizeof(double));
	memset(args->phi_out, 0, args->moments * share * sizeof(double));
	*args->ticket = 0;
}

/* The first iteration also stores the references, so costs are counted from its end on. */
static int steady_begin(struct kripke_card *card)
{
	card->cost.steady = 0;
	card->packet_before = packet_cost(card->device);
	return tutti_device_counters(card->device, card->before);
}

int kripke_card_start(struct kripke_card *card, enum kripke_launch launch)
{
	struct tutti_queue_options options = {
		.flags = launch == KRIPKE_PLAIN ? 0 : TUTTI_QUEUE_EXTENDED,
		.timeout_ms = 600000, /* on the emulated card a kernel of a large problem may take minutes */
	};
	int error;

	memset(&card->cost, 0, sizeof(card->cost));
	card->launch = launch;
	card->recording = NULL;
	card->queue = NULL;
	fields_clear(card);
	error = tutti_signal_create(card->device, 0, &card->done);
	if (!error)
		error = tutti_queue_create(card->device, &options, &card->queue);
	if (!error && launch != KRIPKE_PLAIN)
		error = record(card);
	if (error)
		return error;
	card->cost.kernels = KERNELS;
	card->first_packet = *card->queue->write_index;
	return steady_begin(card);
}

int kripke_card_iterate(struct kripke_card *card, double *count)
{
	double start, sent;
	int error = card->cost.iterations == 1 ? steady_begin(card) : 0;

	if (error)
		return error;
	start = kripke_seconds();
	tutti_signal_store(card->done, card->launch == KRIPKE_PLAIN ? KERNELS : 1);
	sent = kripke_seconds();
	error = card->launch == KRIPKE_PLAIN ? dispatch_all(card) : tutti_replay(card->recording);
	card->enqueue_ns[card->cost.steady % SAMPLES] = 1e9 * (kripke_seconds() - sent);
	if (!error)
		error = example_wait(card->queue, card->done);
	*count = *card->count;
	card->cost.iterations++;
	card->cost.steady++;
	card->cost.wall_seconds += kripke_seconds() - start;
	return error;
}

static int by_size(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The median, so that an iteration during which the machine was busy with something else does not count. */
static double enqueue_median(struct kripke_card *card)
{
	unsigned count = card->cost.steady < SAMPLES ? card->cost.steady : SAMPLES;

	qsort(card->enqueue_ns, count, sizeof(double), by_size);
	return count ? card->enqueue_ns[count / 2] : 0.0;
}

void kripke_card_stop(struct kripke_card *card, struct kripke_cost *cost)
{
	uint64_t now[TUTTI_COUNTERS];

	if (card->queue && !tutti_device_counters(card->device, now)) {
		card->cost.packets = *card->queue->write_index - card->first_packet;
		card->cost.bytes = card->cost.packets * TUTTI_PACKET_BYTES;
		card->cost.processed = now[TUTTI_COUNTER_PACKETS] - card->before[TUTTI_COUNTER_PACKETS];
		card->cost.fences = now[TUTTI_COUNTER_RELEASES] - card->before[TUTTI_COUNTER_RELEASES];
		card->cost.signals = now[TUTTI_COUNTER_SIGNALS] - card->before[TUTTI_COUNTER_SIGNALS];
		card->cost.instructions = now[TUTTI_COUNTER_CORE_INSTRUCTIONS] -
					  card->before[TUTTI_COUNTER_CORE_INSTRUCTIONS];
		card->cost.packet_instructions = packet_cost(card->device) - card->packet_before;
	}
	card->cost.enqueue_ns = enqueue_median(card);
	*cost = card->cost;
	if (card->recording)
		tutti_recording_destroy(card->recording);
	if (card->queue)
		tutti_queue_destroy(card->queue);
	if (card->done)
		tutti_signal_destroy(card->device, card->done);
	card->recording = NULL;
	card->queue = NULL;
	card->done = NULL;
}

const struct kripke_problem *kripke_card_problem(const struct kripke_card *card)
{
	return &card->problem;
}

/* SPDX-License-Identifier: MIT */
/*
 * PERF-06: how the whole way of a plain kernel of one CTA (PERF-12) grows with the number of CTA shapes whose kernels
 * alternate, and with the number of queues that send kernels in turn. Exact, in deterministic mode.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "counts.h"
#include "emulator/card/card.h"
#include "transport/emulator.h"

#define SHAPES 6u
#define QUEUES 256u
#define KERNELS 256u /* of one measurement; all queues get as many */

struct growth {
	struct bench *bench;
	struct bench_rig rig;
	struct tutti_queue *queue[QUEUES];
	unsigned queues;
};

/* Send the kernels, alternating between @shapes amounts of shared memory, to @queues queues in turn, and wait. */
static int send(struct growth *growth, unsigned shapes, unsigned queues)
{
	int error = 0;

	tutti_signal_store(growth->rig.done, KERNELS);
	for (unsigned k = 0; k < KERNELS && !error; k++) {
		struct tutti_launch launch = bench_rig_launch(&growth->rig, true);

		launch.dynamic_group_bytes = k % shapes * 4096;
		error = tutti_dispatch(growth->queue[k % queues], &launch);
	}
	return error ? error : bench_rig_wait(&growth->rig);
}

static int measure(struct growth *growth, const char *what, unsigned n, unsigned shapes, unsigned queues)
{
	struct tutti_card *card = emulator_card(growth->rig.device);
	static struct counts before, after;
	char name[32];
	int error = send(growth, shapes, queues);

	snprintf(name, sizeof(name), "%s_%u", what, n);
	counts_take(card, &before);
	if (!error)
		error = send(growth, shapes, queues);
	counts_take(card, &after);
	if (error)
		return bench_failed(growth->bench, "PERF-06", name, tutti_strerror(error));
	bench_report(growth->bench, "PERF-06", name, (double)(after.all - before.all) / KERNELS,
		     "instructions/kernel", BENCH_NO_TARGET, BENCH_LOWER);
	if (growth->bench->profile)
		counts_print_functions(&before, &after, KERNELS);
	return 0;
}

static int growth_init(struct growth *growth)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true };
	const struct tutti_queue_options queue = { .flags = TUTTI_QUEUE_EXTENDED, .packets = KERNELS };
	int error = bench_rig_init(&growth->rig, &options, TUTTI_QUEUE_EXTENDED, 64);

	while (!error && growth->queues < QUEUES) {
		error = tutti_queue_create(growth->rig.device, &queue, &growth->queue[growth->queues]);
		growth->queues += !error;
	}
	/* The card has no more of them: the last figure is that of all it has. */
	return growth->queues ? 0 : error;
}

static void growth_fini(struct growth *growth)
{
	while (growth->queues)
		tutti_queue_destroy(growth->queue[--growth->queues]);
	bench_rig_fini(&growth->rig);
}

int bench_growth(struct bench *bench)
{
	static struct growth growth;
	int failed = 0;

	growth = (struct growth){ .bench = bench };
	if (growth_init(&growth))
		failed = bench_failed(bench, "PERF-06", "growth", "no card");
	else if (!emulator_card(growth.rig.device))
		printf("%-8s needs the emulated card: not measured on this one\n", "PERF-06");
	else {
		for (unsigned shapes = 1; shapes <= SHAPES && !failed; shapes++)
			failed = measure(&growth, "shapes", shapes, shapes, 1);
		for (unsigned queues = 1; queues <= QUEUES && !failed; queues *= 4)
			failed = measure(&growth, "queues", queues < growth.queues ? queues : growth.queues, 1,
					 queues < growth.queues ? queues : growth.queues);
	}
	growth_fini(&growth);
	return failed;
}

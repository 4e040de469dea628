// SPDX-License-Identifier: MIT
/*
 * PERF-07, PERF-14: soft-core instructions of tensor requests that a kernel makes one after the other: those of the functions
 * that write mover descriptors, and those of a whole request. Each figure is the difference of two runs with different
 * numbers of requests, so that the launch does not count. Exact, in deterministic mode.
 *
 * PERF-14 counts what lies between the event of a request and its last mover descriptor: all functions of the tensor
 * units, commands, and the event loop with all of its ways to sleep. The rows "_request" of PERF-07 count everything. Since the
 * wave waits for each request, which takes a tenth of a millisecond of virtual time, a quarter of that are
 * counters and timers which the firmware looks at before it sleeps.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "units.h"
#include "emulator/card/card.h"
#include "tools/kernels.h"
#include "transport/emulator.h"
#include "tutti/counter.h"
#include "tutti/tensor_api.h"

#define FEW 16u
#define MANY 80u
#define FUNCTIONS 1024
#define CPI 1.5          /* clock of a small core, for the break-even size */
#define BUS_BYTES 16.0   /* bytes that a mover copies in a clock */
#define LINE 128.0

struct rig {
	struct bench *bench;
	struct bench_rig base;
	struct tutti_kernel kernel;
	struct tool_tensor_args *args;
	struct tutti_tensor *tensor;
	uint8_t *data;
	double divisions; /* of all forms of PERF-14 */
};

struct sample {
	double generator, path, all, movers, divisions;
};

/* Functions that turn a request into descriptors; the rest takes, checks and ends it. */
static bool generates(const char *name)
{
	static const char *const names[] = { "tile_", "start_clipped", "start_inside", "im2col_", "describe", "clip_wheel",
					     "step_next", "job_", "bulk_" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Functions between the event of a request and its last descriptor. */
static bool serves(const struct tutti_card_function *function)
{
	int unit = unit_of(function->name, function->address);

	return unit == UNIT_TENSOR || unit == UNIT_MESSAGE || !strcmp(function->name, "loop") ||
	       !strcmp(function->name, "main_event");
}

/* Every function that ran, per request. */
static void print(struct tutti_card *card, const struct tutti_card_function *before)
{
	static struct tutti_card_function after[FUNCTIONS];
	size_t n = tutti_card_profile(card, after, FUNCTIONS);

	for (size_t f = 0; f < n && f < FUNCTIONS; f++)
		if (after[f].instructions != before[f].instructions)
			printf("           %c %-30s %10.2f in %8.3f calls\n", generates(after[f].name) ? '*' : ' ', after[f].name,
			       (double)(after[f].instructions - before[f].instructions) / MANY,
			       (double)(after[f].calls - before[f].calls) / MANY);
}

static void sample_add(const struct rig *rig, struct sample *sample, int sign)
{
	static struct tutti_card_function functions[FUNCTIONS];
	struct tutti_card *card = emulator_card(rig->base.device);
	size_t n = tutti_card_profile(card, functions, FUNCTIONS);

	for (size_t f = 0; f < n && f < FUNCTIONS; f++) {
		if (generates(functions[f].name))
			sample->generator += sign * (double)functions[f].instructions;
		if (serves(&functions[f])) {
			sample->path += sign * (double)functions[f].instructions;
			sample->divisions += sign * (double)functions[f].divisions;
		}
	}
	sample->all += sign * (double)tutti_card_instructions(card);
}

/* Not counted, because it is a message to the firmware. */
static double movers(const struct rig *rig)
{
	uint64_t counters[TUTTI_COUNTERS] = { 0 };

	tutti_device_counters(rig->base.device, counters);
	return (double)counters[TUTTI_COUNTER_MOVER_DESCRIPTORS];
}

/* The difference that @requests requests make to a run. */
static int run(struct rig *rig, unsigned requests, struct sample *sample, int sign)
{
	struct tutti_launch launch = bench_rig_launch(&rig->base, true);
	int error;

	launch.kernel = &rig->kernel;
	launch.kernarg = rig->args;
	rig->args->requests = requests;
	tutti_signal_store(rig->base.done, 1);
	sample->movers -= sign * movers(rig);
	sample_add(rig, sample, -sign);
	error = tutti_dispatch(rig->base.queue, &launch);
	if (!error)
		error = bench_rig_wait(&rig->base);
	sample_add(rig, sample, sign);
	sample->movers += sign * movers(rig);
	return error;
}

static int measure(struct rig *rig, struct sample *sample)
{
	static struct tutti_card_function before[FUNCTIONS];
	struct sample sum = { 0 };
	int error = run(rig, FEW, &sum, 1); /* from here on the descriptor is cached */

	sum = (struct sample){ 0 };
	tutti_card_profile(emulator_card(rig->base.device), before, FUNCTIONS);
	if (!error)
		error = run(rig, MANY, &sum, 1);
	if (rig->bench->profile)
		print(emulator_card(rig->base.device), before);
	if (!error)
		error = run(rig, FEW, &sum, -1);
	*sample = (struct sample){ sum.generator / (MANY - FEW), sum.path / (MANY - FEW), sum.all / (MANY - FEW),
				   sum.movers / (MANY - FEW), sum.divisions / (MANY - FEW) };
	return error;
}

static void report(struct rig *rig, const char *name, const char *suffix, double value, const char *unit, double target)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", name, suffix);
	bench_report(rig->bench, "PERF-07", full, value, unit, target, BENCH_LOWER);
}

/* PERF-14: from the event of a request to its last descriptor. */
static void report_whole(struct rig *rig, const char *name, const struct sample *sample, double target)
{
	bench_report(rig->bench, "PERF-14", name, sample->path, "instructions/request", target, BENCH_LOWER);
	if (sample->divisions)
		printf("           %s divides %g times\n", name, sample->divisions);
	rig->divisions += sample->divisions;
}

static void tile(struct rig *rig, unsigned rank, bool edge)
{
	struct tutti_tiled tiled = { .tensor = { .base = rig->data, .type = TUTTI_F16, .rank = rank }, .box = { 64, 8, 2, 2, 4 } };

	memset(rig->args, 0, sizeof(*rig->args));
	for (unsigned d = 0; d < rank; d++) {
		tiled.tensor.size[d] = d ? 8 : 128;
		rig->args->request.coordinate[d] = edge ? d ? -1 : -8 : 0;
	}
	tutti_tensor_encode_tiled(rig->tensor, &tiled);
}

static void column(struct rig *rig, unsigned rank)
{
	struct tutti_im2col im2col = { .tensor = { .base = rig->data, .type = TUTTI_F16, .rank = rank }, .channels = 32,
				       .pixels = 64 };

	memset(rig->args, 0, sizeof(*rig->args));
	for (unsigned d = 0; d < rank; d++)
		im2col.tensor.size[d] = d ? rank == 5 ? 8 : 20 : 32;
	for (unsigned d = 0; d + 2 < rank; d++) {
		im2col.lower[d] = im2col.upper[d] = -1;
		rig->args->request.coordinate[d + 1] = 4;
	}
	tutti_tensor_encode_im2col(rig->tensor, &im2col);
}

/* Run the launches that have been prepared. */
static int one(struct rig *rig, const char *name, struct sample *sample)
{
	struct tool_tensor_args *args = rig->args;
	int error;

	args->tensor = rig->tensor;
	args->bytes = tutti_tensor_box_bytes(rig->tensor);
	args->request.descriptor = (uintptr_t)rig->tensor;
	args->request.flags = TUTTI_REQUEST_TENSOR;
	args->request.mode = rig->tensor->mode;
	args->request.rank = rig->tensor->rank;
	args->request.shared = TOOL_TENSOR_DATA;
	error = measure(rig, sample);
	return error ? bench_failed(rig->bench, "PERF-07", name, tutti_strerror(error)) : 0;
}

static int tiles(struct rig *rig)
{
	static const double target[] = { 0, 25, 30, 35, 58, 66 };
	struct sample sample;
	char name[32];
	int failed = 0;

	for (unsigned rank = 1; rank <= 5 && !failed; rank++)
		for (unsigned edge = 0; edge < 2 && !failed; edge++) {
			snprintf(name, sizeof(name), "%s_%u", edge ? "edge" : "interior", rank);
			tile(rig, rank, edge);
			failed = one(rig, name, &sample);
			if (failed)
				break;
			report(rig, name, "", sample.generator / sample.movers, "instructions/descriptor",
			       edge ? 180 : target[rank]);
			report(rig, name, "_request", sample.all, "instructions/request", BENCH_NO_TARGET);
			if (edge)
				continue;
			report(rig, name, "_line", sample.all / (rig->args->bytes / LINE), "instructions/128 B", BENCH_NO_TARGET);
		}
	return failed;
}

static int columns(struct rig *rig)
{
	struct sample sample;
	char name[32];
	int failed = 0;

	for (unsigned rank = 3; rank <= 5 && !failed; rank++) {
		snprintf(name, sizeof(name), "im2col_%u", rank);
		column(rig, rank);
		failed = one(rig, name, &sample);
		if (failed)
			break;
		report(rig, name, "", sample.generator, "instructions/column", rank == 4 ? 300 : BENCH_NO_TARGET);
		if (rank != 4)
			report_whole(rig, name, &sample, rank == 3 ? 350 : 600);
		report(rig, name, "_descriptors", sample.movers, "descriptors", BENCH_NO_TARGET);
		report(rig, name, "_request", sample.all, "instructions/request", BENCH_NO_TARGET);
	}
	return failed;
}

/* The cost of a descriptor that is not cached, or was prefetched; and the size from which a request pays off. */
static int descriptors(struct rig *rig)
{
	struct sample hot, cold, told, first;
	int failed;

	tile(rig, 2, false);
	failed = one(rig, "descriptor", &hot);
	rig->args->before = TOOL_TENSOR_INVALIDATE;
	if (!failed)
		failed = one(rig, "descriptor", &cold);
	rig->args->before = TOOL_TENSOR_PREFETCH;
	if (!failed)
		failed = one(rig, "descriptor", &told);
	/* more descriptors than the cache holds, so that each has been thrown out when its turn comes again */
	rig->args->before = 0;
	rig->args->stride = sizeof(*rig->tensor);
	for (unsigned t = 1; t < MANY; t++)
		rig->tensor[t] = rig->tensor[0];
	if (!failed)
		failed = one(rig, "first_use", &first);
	if (failed)
		return failed;
	report(rig, "descriptor_hot", "", hot.all, "instructions/request", BENCH_NO_TARGET);
	report(rig, "descriptor_cold", "", cold.all, "with invalidate", BENCH_NO_TARGET);
	report(rig, "descriptor_prefetched", "", told.all, "with both requests", BENCH_NO_TARGET);
	report_whole(rig, "hot_tile_rank_2", &hot, 200);
	report_whole(rig, "first_use_of_descriptor", &first, 1200);
	bench_report(rig->bench, "PERF-14", "divisions_of_all_forms", rig->divisions, "divisions", 0, BENCH_LOWER);
	report(rig, "break_even_box", "", hot.all * CPI * BUS_BYTES, "bytes", BENCH_NO_TARGET);
	return 0;
}

static int rig_init(struct rig *rig)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true };
	int error = bench_rig_init(&rig->base, &options, TUTTI_QUEUE_EXTENDED, 64);

	if (error)
		return error;
	unit_image(tutti_device_discovery(rig->base.device)->sms);
	error = tutti_executable_kernel(rig->base.executable, "tool_tensor", &rig->kernel);
	if (!error)
		error = tutti_memory_alloc(rig->base.device, TUTTI_MEMORY_SYSTEM, sizeof(*rig->args), (void **)&rig->args);
	if (!error)
		error = tutti_memory_alloc(rig->base.device, TUTTI_MEMORY_CARD, MANY * sizeof(*rig->tensor), (void **)&rig->tensor);
	if (!error)
		error = tutti_memory_alloc(rig->base.device, TUTTI_MEMORY_CARD, 4 << 20, (void **)&rig->data);
	return error;
}

int bench_tmau(struct bench *bench)
{
	struct rig rig = { .bench = bench };
	int failed = rig_init(&rig);

	if (failed)
		failed = bench_failed(bench, "PERF-07", "all", tutti_strerror(failed));
	else if (!emulator_card(rig.base.device))
		printf("%-8s needs the emulated card: not measured on this one\n", "PERF-07");
	else
		failed = tiles(&rig) | columns(&rig) | descriptors(&rig);
	if (!rig.base.device)
		return failed;
	tutti_memory_free(rig.base.device, rig.data);
	tutti_memory_free(rig.base.device, rig.tensor);
	tutti_memory_free(rig.base.device, rig.args);
	bench_rig_fini(&rig.base);
	return failed;
}

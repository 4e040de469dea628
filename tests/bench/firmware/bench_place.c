/* SPDX-License-Identifier: MIT */
/*
 * PERF-04, PERF-06, PERF-08: soft-core instructions of water filling, of completions, of a new shape
 * and of the search for free runs: the shipped firmware's functions, called alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_core.h"
#include "emulator/card/card.h"
#include "tools/kernels.h"
#include "transport/emulator.h"

#define MAX_WORDS (TUTTI_MAX_SMS / 32)
#define LEVELS 32u
#define ROUNDS 200u

/* struct lake of the firmware, as its core lays it out. */
struct rv32_lake {
	uint32_t top, words, sms[2];
	struct { uint32_t count, mask[MAX_WORDS]; } row[LEVELS + 2];
};

/** struct area - the scratch area: arguments of the functions that are called. */
struct area {
	struct rv32_lake lake;
	uint32_t mask[MAX_WORDS];
	uint32_t out[(LEVELS + 2) * (MAX_WORDS + 1)];
	uint32_t end;
	uint32_t map[4];
};

#define AT(field) (BENCH_SCRATCH + (uint32_t)offsetof(struct area, field))

struct rig {
	struct bench *bench;
	struct bench_core *core;
	struct area *area;
	uint32_t random;
	int failed;
};

static uint32_t roll(struct rig *rig, uint32_t n)
{
	rig->random = rig->random * 1664525u + 1013904223u;
	return (uint32_t)(((uint64_t)rig->random * n) >> 32);
}

static uint64_t call(struct rig *rig, const char *function, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e)
{
	int64_t n = rig->failed ? 0 : bench_core_call(rig->core, function, (const uint32_t[5]){ a, b, c, d, e }, NULL);

	if (n >= 0)
		return (uint64_t)n;
	rig->failed = bench_failed(rig->bench, "PERF-04", function, n == -ENOENT ? "not in this firmware" : "does not return");
	return 0;
}

static void even(struct rig *rig, uint32_t sms, uint32_t levels)
{
	for (uint32_t w = 0; w < MAX_WORDS; w++)
		rig->area->mask[w] = 32 * w >= sms ? 0 : sms - 32 * w >= 32 ? ~0u : (1u << (sms - 32 * w)) - 1;
	call(rig, "lake_init", AT(lake), (sms + 31) / 32, AT(mask), levels, 0);
}

/* Sets the free slots of each SM to values as they are after any history. Return: their sum. */
static uint32_t uneven(struct rig *rig, uint32_t sms, const uint8_t *level)
{
	uint32_t slots = 0;

	memset(rig->area->mask, 0, sizeof(rig->area->mask));
	call(rig, "lake_init", AT(lake), (sms + 31) / 32, AT(mask), 0, 0);
	rig->area->lake.top = AT(lake.row[0]);
	for (uint32_t i = 0; i < sms; i++) {
		slots += level[i];
		if (level[i])
			call(rig, "lake_add", AT(lake), i / 32, 1u << (i % 32), level[i], 0);
	}
	return slots;
}

static uint64_t pour(struct rig *rig, uint32_t n)
{
	return call(rig, "lake_pour", AT(lake), n, AT(out), AT(end), 0);
}

static void report(struct rig *rig, const char *id, const char *name, double value, double target)
{
	bench_report(rig->bench, id, name, value, "instructions", target, BENCH_LOWER);
}

/*
 * The part that copies rows into the message: put_rows() of lake.c, by constants counted in the listing. The rest is
 * decision and update.
 */
static uint64_t message(const struct rig *rig)
{
	const struct area *area = rig->area;
	uint32_t at = 0, end = (area->end - AT(out)) / 4, words;
	uint64_t sum = 0;

	for (; at < end; at += 1 + words) {
		words = area->out[at] >> 24;
		if (words == area->lake.words)
			sum += words == 1 || words == 5 ? 2 + 2 * words : 3 + 12 * ((words + 3) / 4);
	}
	return sum;
}

static void figure(struct rig *rig)
{
	/*
	 * 137 CTAs over 32 SMs, of which 3, 4, 6, 8 and 31 are full and others partly, as in figures 21 to 23 of the
	 * source and in the unit tests.
	 */
	static const uint8_t level[32] = { 6, 5, 8, 0, 0, 8, 0, 8, 0, 6, 3, 4, 2, 6, 5, 7,
					   5, 3, 4, 6, 5, 7, 6, 6, 5, 7, 6, 5, 6, 7, 5, 0 };
	uint64_t n;

	uneven(rig, 32, level);
	n = pour(rig, 137);
	report(rig, "PERF-04", "137_on_32_partly_loaded_decision", (double)(n - message(rig)), 120);
	report(rig, "PERF-04", "137_on_32_partly_loaded", (double)n, 165);
}

static double scattered(struct rig *rig, uint32_t sms, uint32_t n, double *decision)
{
	uint8_t level[TUTTI_MAX_SMS];
	uint64_t sum = 0, decided = 0, all;
	unsigned rounds = 0;

	while (rounds < 20) {
		for (uint32_t i = 0; i < sms; i++)
			level[i] = (uint8_t)roll(rig, 33);
		if (uneven(rig, sms, level) < n && !rig->failed)
			continue;
		sum += all = pour(rig, n);
		decided += all - message(rig);
		rounds++;
	}
	*decision = (double)decided / rounds;
	return (double)sum / rounds;
}

static void completions(struct rig *rig)
{
	uint64_t single = 0, worst = 0;
	uint8_t level[128];

	for (unsigned round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < 128; i++)
			level[i] = (uint8_t)roll(rig, 8);
		uneven(rig, 128, level);
		uint32_t sm = roll(rig, 128);
		uint64_t n = call(rig, "lake_raise", AT(lake), sm / 32, 1u << (sm % 32), 0, 0);

		single += n;
		worst = n > worst ? n : worst;
	}
	report(rig, "PERF-04", "completion_single_random_levels", (double)single / ROUNDS, BENCH_NO_TARGET);
	report(rig, "PERF-04", "completion_single_worst", (double)worst, BENCH_NO_TARGET);
	/* the state that water filling leaves: levels that differ by one, and CTAs that end */
	even(rig, 128, 8);
	pour(rig, 500);
	for (single = 0, worst = 0; worst < ROUNDS; worst++) {
		uint32_t sm = roll(rig, 128);

		single += call(rig, "lake_raise", AT(lake), sm / 32, 1u << (sm % 32), 0, 0);
		pour(rig, 1);
	}
	report(rig, "PERF-04", "completion_single", (double)single / ROUNDS, 30);
	even(rig, 128, 8);
	pour(rig, 1024);
	report(rig, "PERF-04", "completion_word_dry", (double)call(rig, "lake_raise", AT(lake), 1, ~0u, 0, 0), BENCH_NO_TARGET);
	even(rig, 128, 8);
	pour(rig, 128 + 64);
	report(rig, "PERF-04", "completion_word_one_level", (double)call(rig, "lake_raise", AT(lake), 1, ~0u, 0, 0), 50);
}

/* A shape that is new to the firmware: its capacity, and its table for an idle card, per SM. */
static void shapes(struct rig *rig)
{
	even(rig, 128, 0);
	report(rig, "PERF-04", "new_shape_128_sms_8_levels_per_sm",
	       (double)call(rig, "lake_init", AT(lake), 4, AT(mask), 8, 0) / 128, 22);
}

/* The worst case among runs of every length at many places, two runs that compete, and random maps. */
static void free_runs(struct rig *rig)
{
	uint64_t worst = 0, sum = 0;

	for (unsigned round = 0; round < 6000; round++) {
		uint8_t block[128] = { 0 };
		uint32_t length = round % 129, first = roll(rig, 129 - length);
		uint64_t n;

		memset(block + first, 1, length);
		for (unsigned b = 0; round % 3 && b < 128; b++)
			block[b] |= round % 3 == 1 ? !roll(rig, 2) : (b < first || b > first + length) && roll(rig, 12);
		memset(rig->area->map, 0, sizeof(rig->area->map));
		for (unsigned b = 0; b < 128; b++)
			rig->area->map[b % 4] |= (uint32_t)block[b] << (b / 4);
		n = call(rig, "free_run_full", AT(map), 4, 0, 0, 0);
		sum += n;
		worst = n > worst ? n : worst;
	}
	report(rig, "PERF-08", "largest_free_run_128_worst", (double)worst, 150);
	report(rig, "PERF-08", "largest_free_run_128_mean", (double)sum / 6000, BENCH_NO_TARGET);
}

/* The image for the largest cards has longer rows; small and large are measured on it. */
static void growth(struct rig *rig)
{
	double small, large;

	report(rig, "PERF-06", "7_an_sm_on_32", scattered(rig, 32, 7 * 32, &small), BENCH_NO_TARGET);
	report(rig, "PERF-06", "7_an_sm_on_1024", scattered(rig, 1024, 7 * 1024, &large), BENCH_NO_TARGET);
	report(rig, "PERF-06", "7_an_sm_on_1024_decision", large, BENCH_NO_TARGET);
	bench_report(rig->bench, "PERF-06", "decision_growth_32_to_1024", small > 0 ? large / small : 0, "times", 4,
		     BENCH_LOWER);
}

static void measure(struct rig *rig)
{
	double all, decision;
	uint64_t n;

	even(rig, 128, 8);
	n = pour(rig, 1024);
	report(rig, "PERF-04", "1024_on_128_x_8_decision", (double)(n - message(rig)), 55);
	report(rig, "PERF-04", "1024_on_128_x_8", (double)n, 90);
	figure(rig);
	all = scattered(rig, 144, 1000, &decision);
	report(rig, "PERF-04", "1000_on_144_random_decision", decision, 250);
	report(rig, "PERF-04", "1000_on_144_random", all, 565);
	completions(rig);
	shapes(rig);
	free_runs(rig);
}

/* ---- beside CTAs of another shape, through the whole card ---- */

/* What a placement costs beyond that of a plain grid. */
static uint64_t mixing(struct tutti_card *card)
{
	static const char *const part[] = { "shape_mixed", "room_at", "room", "alike", "hold", "match_", "free_run_", "runs",
					    "lake_level", "lake_exact", "lake_add", "lake_init", "waves_room", "peu_room",
					    "starts", "lowest", "clear_below", "load", "erode_any", "mixed", "survey", "lake_set",
					    "shape_p" };
	static struct tutti_card_function function[2048];
	size_t n = tutti_card_profile(card, function, 2048);
	uint64_t sum = 0;

	for (size_t i = 0; i < n && i < 2048; i++)
		for (size_t p = 0; p < sizeof(part) / sizeof(*part); p++)
			if (!strncmp(function[i].name, part[p], strlen(part[p]))) {
				sum += function[i].instructions;
				break;
			}
	return sum;
}

/* One-CTA kernels of @kernel while every SM holds a CTA of another shape. */
static int beside(struct bench *bench, struct bench_rig *rig, struct tutti_queue *other, const char *kernel, const char *name)
{
	struct tutti_card *card = emulator_card(rig->device);
	uint32_t sms = tutti_device_discovery(rig->device)->sms;
	struct tutti_launch launch = bench_rig_launch(rig, true), forever = launch;
	struct tutti_kernel spin, one;
	tutti_signal_t gone;
	uint64_t before = 0;
	int error = tutti_executable_kernel(rig->executable, "tool_forever", &spin);

	if (!error)
		error = tutti_executable_kernel(rig->executable, kernel, &one);
	if (!error)
		error = tutti_signal_create(rig->device, 1, &gone);
	if (error)
		return error;
	rig->out[0] = 0;
	forever.kernel = &spin;
	forever.grid[0] = 64 * sms;
	forever.workgroup[0] = 64;
	forever.signal = gone;
	launch.kernel = &one;
	error = tutti_dispatch(other, &forever);
	for (unsigned r = 0; r < 32 && !error; r++) {
		if (r == 16)
			before = mixing(card);
		*(struct tool_args *)rig->args = (struct tool_args){ rig->out, 0 };
		tutti_signal_store(rig->done, 1);
		error = tutti_dispatch(rig->queue, &launch);
		if (!error)
			error = bench_rig_wait(rig);
	}
	if (!error)
		bench_report(bench, "PERF-04", name, (double)(mixing(card) - before) / 16 / sms, "instructions/SM",
			     22, BENCH_LOWER);
	__atomic_store_n(rig->out, 1, __ATOMIC_RELEASE);
	tutti_signal_wait(rig->device, gone, TUTTI_EQ, 0, 10000000000ull, NULL);
	tutti_signal_destroy(rig->device, gone);
	return error;
}

static int mixed_shapes(struct bench *bench)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true };
	struct tutti_queue *other = NULL;
	struct bench_rig rig;
	int error = bench_rig_init(&rig, &options, 0, 64);

	if (error)
		return bench_failed(bench, "PERF-04", "shapes", "no card");
	error = tutti_queue_create(rig.device, NULL, &other);
	if (!error)
		error = beside(bench, &rig, other, "tool_empty", "beside_another_shape_counted");
	if (!error)
		error = beside(bench, &rig, other, "calibrate_vector", "beside_another_shape_asked");
	if (other)
		tutti_queue_destroy(other);
	bench_rig_fini(&rig);
	return error ? bench_failed(bench, "PERF-04", "shapes", tutti_strerror(error)) : 0;
}

/* @measure on the firmware that a card of this topology boots (NULL: the default one). */
static int on_card(struct bench *bench, const char *topology, void (*measure)(struct rig *rig))
{
	const struct tutti_device_options options = { .deterministic = true, .topology = topology };
	struct rig rig = { .bench = bench, .random = 1 };
	struct bench_rig device;

	if (bench_rig_init(&device, &options, 0, 64))
		return bench_failed(bench, "PERF-04", "all", "no card");
	rig.core = emulator_card(device.device) ? bench_core_create(emulator_card(device.device)) : NULL;
	if (rig.core) {
		rig.area = bench_core_scratch(rig.core);
		measure(&rig);
	} else {
		printf("%-8s needs the emulated card: not measured on this one\n", "PERF-04");
	}
	bench_core_destroy(rig.core);
	bench_rig_fini(&device);
	return rig.failed;
}

static int on_largest_card(struct bench *bench)
{
	char name[] = P_tmpdir "/tutti-bench-XXXXXX";
	int fd = mkstemp(name), error;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		return bench_failed(bench, "PERF-06", "all", "no temporary file");
	fputs("gpc 32*32\nmemory 64M\n", file);
	fclose(file);
	error = on_card(bench, name, growth);
	remove(name);
	return error;
}

int bench_place(struct bench *bench)
{
	int error = on_card(bench, NULL, measure);

	if (!error)
		error = on_largest_card(bench);
	return error ? error : mixed_shapes(bench);
}

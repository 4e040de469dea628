/* SPDX-License-Identifier: MIT */
/*
 * PERF-05, PERF-06: soft-core instructions of placing CGAs: query, choice, ids, masks,
 * update of the query model and of the card-wide lake. Exact, by firmware function.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../emulator/card.h"
#include "bench.h"

#define ROUNDS 32
#define WARM_UP 4
#define FUNCTIONS 1024

/* What belongs to the placement of CGAs; the rest of a kernel's way is PERF-01's. */
static const char *const counted[] = { "cga_place", "session_", "mimic_", "choose", "gpm_take", "gpm_started", "domain_scatter",
				       "domain_sync", "domain_pairs", "lake_lower", "place_positions", "commit", "answer",
				       "query", "take_", "enter", "step_", "undo", "reset", "run_", "refresh", "session.constprop" };

static uint64_t spent(struct tutti_card *card)
{
	static struct tutti_card_function function[FUNCTIONS];
	size_t n = tutti_card_profile(card, function, FUNCTIONS), f, c;
	uint64_t sum = 0;

	for (f = 0; f < n && f < FUNCTIONS; f++)
		for (c = 0; c < sizeof(counted) / sizeof(*counted); c++)
			if (!strncmp(function[f].name, counted[c], strlen(counted[c]))) {
				sum += function[f].instructions;
				break;
			}
	return sum;
}

/* @kernel and @other by turns, each a grid of @cgas CGAs. */
static int run(struct bench_rig *rig, const struct tutti_kernel *kernel, const struct tutti_kernel *other, unsigned ctas,
	       unsigned other_ctas, unsigned cgas, unsigned rounds)
{
	int error = 0;

	tutti_signal_store(rig->done, rounds);
	for (unsigned r = 0; r < rounds && !error; r++) {
		struct tutti_launch launch = bench_rig_launch(rig, true);

		launch.kernel = r % 2 ? other : kernel;
		launch.workgroup[0] = 32;
		launch.grid[0] = 32 * cgas * (r % 2 ? other_ctas : ctas);
		error = tutti_dispatch(rig->queue, &launch);
	}
	return error ? error : bench_rig_wait(rig);
}

struct cga_bench {
	struct bench *bench;
	struct bench_rig rig;
	struct tutti_kernel k16, k8;
};

/* Instructions for one kernel. */
static double cost(struct cga_bench *b, const struct tutti_kernel *other, unsigned other_ctas, unsigned cgas)
{
	struct tutti_card *card = tutti_device_card(b->rig.device);
	uint64_t before;

	if (run(&b->rig, &b->k16, other, 16, other_ctas, cgas, WARM_UP))
		return -1;
	before = spent(card);
	if (run(&b->rig, &b->k16, other, 16, other_ctas, cgas, ROUNDS))
		return -1;
	return (double)(spent(card) - before) / ROUNDS;
}

static void report(struct cga_bench *b, const char *id, const char *mode, const char *what, double value, double target)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_%s", mode, what);
	if (value >= 0)
		bench_report(b->bench, id, name, value, "instructions", target, BENCH_LOWER);
	else
		bench_failed(b->bench, id, name, "did not run");
}

static void measure(struct cga_bench *b, const char *mode, double scratch, double cached)
{
	double one = cost(b, &b->k16, 16, 1), eight = cost(b, &b->k16, 16, 8);

	report(b, "PERF-05", mode, "cga16_cached", one, cached);
	report(b, "PERF-05", mode, "cga16_from_scratch", cost(b, &b->k8, 8, 1), scratch);
	report(b, "PERF-05", mode, "further_cga_of_round", (eight - one) / 7, 100);
}

static int open_rig(struct cga_bench *b, const char *topology)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true, .topology = topology };

	if (bench_rig_init(&b->rig, &options, TUTTI_QUEUE_EXTENDED, 256))
		return bench_failed(b->bench, "PERF-05", "all", "no card");
	if (!tutti_device_card(b->rig.device)) {
		printf("%-8s needs the emulated card: not measured on this one\n", "PERF-05");
		bench_rig_fini(&b->rig);
		return 1;
	}
	if (tutti_executable_kernel(b->rig.executable, "tool_cga_16", &b->k16) ||
	    tutti_executable_kernel(b->rig.executable, "tool_cga_8", &b->k8))
		return bench_failed(b->bench, "PERF-05", "all", "no kernels");
	return 0;
}

/* A topology file of one line. */
static int topology(char *path, const char *line)
{
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		return -1;
	fprintf(file, "%s\n", line);
	return fclose(file);
}

static int session(struct bench *bench, const char *gpcs, bool many)
{
	char path[] = "/tmp/tutti-bench-XXXXXX";
	struct cga_bench b = { .bench = bench };
	int failed = topology(path, gpcs);

	if (failed)
		return bench_failed(bench, "PERF-05", "all", strerror(errno));
	failed = open_rig(&b, path);
	unlink(path);
	if (failed)
		return failed < 0 ? failed : 0;
	if (many) {
		report(&b, "PERF-06", "load_balance", "cga16_cached_64_gpcs", cost(&b, &b.k16, 16, 1), 260);
	} else {
		measure(&b, "load_balance", 370, 215);
		tutti_device_policy(b.rig.device, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST);
		measure(&b, "multicast", 770, 355);
	}
	bench_rig_fini(&b.rig);
	return 0;
}

int bench_cga(struct bench *bench)
{
	int failed = session(bench, "gpc 18 16 16 18 16 16 16 16", false);

	return failed | session(bench, "gpc 16*64", true);
}

/* SPDX-License-Identifier: MIT */
/*
 * PERF-05, PERF-06: soft-core instructions of placing CGAs of 16 CTAs, counted exactly, by function of the firmware.
 * The whole card runs. Counted is the decision with its update of the tables, as lake_pour() is for a plain grid:
 * query, choice, ids, masks, the model of the query, from tables that are up to date. Cases that end in "_whole" count
 * everything from the task's turn to the written launch: space in the command ring, bookkeeping, updates of the tables.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "emulator/card/card.h"
#include "tools/kernels.h"
#include "transport/emulator.h"
#include "tutti/task.h"

#define ROUNDS 32
#define WARM_UP 4
#define FUNCTIONS 2048

static const char *const decision[] = {
	"place_balanced", "place_gpcs", "place_multicast", "trial_parts", "part", "search_parts", "cached_ask", "cached_refresh", "ask_others", "ask_multicast", "ask_slowly", "speed_of",
	"query_", "take_within", "cut_multicast", "classes", "lower", "row_with", "domain_pairs",
	"domain_inside", "trial_", "launch_shared", "part", "cga_ids_take", "cga_ids_undo",
	"begin", "enter", "place_innermost", "take_back", "tried", "fail", "complete", "choose", "pauses", "step_down", "run_levels", "speeds_of", "freed", "nested_run", "nested_end", NULL
};
static const char *const whole[] = {
	"cga_place", "search_any", "search_limited", "search_held", "search_quick", "search_run", "run_grid",
	"domain_sync_slow", "domain_sync_masked", "domain_settle", "settle_row", "sync", "gather", "lake_init", "domain_scatter", "placed_", "taint", "note", "lake_lower",
	NULL
};

/*
 * The name must be equal but for a suffix of the compiler's; an entry of the list that ends in "_" matches every longer
 * name.
 */
static bool named(const char *name, const char *const *list)
{
	for (; *list; list++) {
		size_t n = strlen(*list);

		if (!strncmp(name, *list, n) && (!name[n] || name[n] == '.' || (*list)[n - 1] == '_'))
			return true;
	}
	return false;
}

struct cost {
	double decision, whole;
};

struct cga_bench {
	struct bench *bench;
	struct bench_rig rig;
	struct tutti_kernel k16, k8, other_shape, hold;
	struct tutti_queue *other;
	tutti_signal_t gone;      /* of the CTAs that occupy slots meanwhile */
};

/* Instructions since @before, printed if that is wanted; NULL: since the beginning. */
static struct cost spent(struct cga_bench *b, const struct tutti_card_function *before, struct tutti_card_function *now)
{
	size_t n = tutti_card_profile(emulator_card(b->rig.device), now, FUNCTIONS), f;
	struct cost cost = { 0 };

	for (f = 0; f < n && f < FUNCTIONS; f++) {
		bool decides = named(now[f].name, decision), counts = decides || named(now[f].name, whole);
		double spent = (double)(now[f].instructions - (before ? before[f].instructions : 0)) / ROUNDS;

		if (decides)
			cost.decision += spent;
		if (counts)
			cost.whole += spent;
		if (before && b->bench->profile && spent > 0)
			printf("           %c %-30s %10.2f\n", decides ? '*' : counts ? '+' : ' ', now[f].name, spent);
	}
	return cost;
}

/* Launches @kernel and @other in turns, each as a grid of @cgas CGAs. */
static int run(struct bench_rig *rig, const struct tutti_kernel *kernel, const struct tutti_kernel *other, unsigned cgas,
	       struct tutti_task *task, unsigned rounds)
{
	struct tutti_launch launch = bench_rig_launch(rig, true);
	int error = 0;

	launch.workgroup[0] = 32;
	for (unsigned r = 0; r < rounds && !error; r++) {
		tutti_signal_store(rig->done, 1);
		launch.kernel = r % 2 ? other : kernel;
		launch.grid[0] = 32 * cgas * launch.kernel->descriptor->cga[0];
		error = task ? tutti_task_dispatch(rig->queue, &launch, task) : tutti_dispatch(rig->queue, &launch);
		if (!error)
			error = bench_rig_wait(rig);
	}
	return error;
}

/* Instructions for one kernel. */
static struct cost cost(struct cga_bench *b, const struct tutti_kernel *other, unsigned cgas, struct tutti_task *task)
{
	static struct tutti_card_function before[FUNCTIONS], after[FUNCTIONS];

	if (run(&b->rig, &b->k16, other, cgas, task, WARM_UP))
		return (struct cost){ -1, -1 };
	spent(b, NULL, before);
	if (run(&b->rig, &b->k16, other, cgas, task, ROUNDS))
		return (struct cost){ -1, -1 };
	return spent(b, before, after);
}

static void report(struct cga_bench *b, const char *id, const char *state, const char *what, struct cost cost, double target)
{
	char name[80];

	snprintf(name, sizeof(name), "%s_%s", state, what);
	if (cost.decision < 0) {
		bench_failed(b->bench, id, name, "did not run");
		return;
	}
	bench_report(b->bench, id, name, cost.decision, "instructions", target, BENCH_LOWER);
	snprintf(name, sizeof(name), "%s_%s_whole", state, what);
	bench_report(b->bench, id, name, cost.whole, "instructions", BENCH_NO_TARGET, BENCH_LOWER);
}

static struct cost each(struct cost all, struct cost one, unsigned n)
{
	return (struct cost){ (all.decision - one.decision) / n, (all.whole - one.whole) / n };
}

static void measure(struct cga_bench *b, const char *state, double scratch, double cached)
{
	struct cost one = cost(b, &b->k16, 1, NULL), eight = cost(b, &b->k16, 8, NULL);

	report(b, "PERF-05", state, "cga16_cached", one, cached);
	report(b, "PERF-05", state, "cga16_from_scratch", cost(b, &b->k8, 1, NULL), scratch);
	report(b, "PERF-05", state, "further_cga_of_round", each(eight, one, 7), 100);
}

/* GPU_CGAs of four GPC_CGAs of 16. */
static void nested(struct cga_bench *b, const char *state)
{
	const struct tutti_task_attributes attributes = {
		.cga = { { 16, 1, 1, TUTTI_CGA_GPC }, { 4, 1, 1, TUTTI_CGA_GPU } },
	};
	struct tutti_task *task;

	if (tutti_task_create(b->rig.device, &attributes, &task)) {
		bench_failed(b->bench, "PERF-05", "nested_4_x_16", "no task");
		return;
	}
	report(b, "PERF-05", state, "nested_4_x_16", cost(b, &b->k16, 4, task), 950);
	tutti_task_destroy(task);
}

/** struct hold - CTAs that stay. @there: how many have said so; @ctas: how many there will be */
struct hold {
	const uint64_t *there;
	uint64_t ctas;
};

static bool held(void *context)
{
	const struct hold *hold = context;

	return __atomic_load_n(hold->there, __ATOMIC_ACQUIRE) >= hold->ctas;
}

/*
 * CGAs of eleven CTAs that keep running. They leave what load balancing leaves behind: levels that differ by one, and
 * rows of free slots that are cut in the middle. Returns when all of them run; they were placed on an idle card.
 * The card is driven until then and no further: if it ran for some time of the host, its own time afterwards would be
 * another one in each run.
 */
static int hold(struct cga_bench *b, unsigned cgas)
{
	struct tutti_launch launch = bench_rig_launch(&b->rig, true);
	struct hold hold = { b->rig.out + 1, cgas * b->hold.descriptor->cga[0] };
	unsigned tries = 1000;
	int error;

	b->rig.out[0] = b->rig.out[1] = 0;
	tutti_signal_store(b->gone, 1);
	launch.kernel = &b->hold;
	launch.workgroup[0] = 32;
	launch.grid[0] = 32 * hold.ctas;
	launch.signal = b->gone;
	error = tutti_dispatch(b->other, &launch);
	while (!error && !held(&hold) && tries--)
		tutti_card_run(emulator_card(b->rig.device), held, &hold);
	return error || held(&hold) ? error : -EIO;
}

static int release(struct cga_bench *b)
{
	__atomic_store_n(b->rig.out, 1, __ATOMIC_RELEASE);
	return tutti_signal_wait(b->rig.device, b->gone, TUTTI_EQ, 0, 10000000000ull, NULL);
}

static int open_rig(struct cga_bench *b, const char *topology)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true, .topology = topology };

	if (bench_rig_init(&b->rig, &options, TUTTI_QUEUE_EXTENDED, 256))
		return bench_failed(b->bench, "PERF-05", "all", "no card");
	if (!emulator_card(b->rig.device)) {
		printf("%-8s needs the emulated card: not measured on this one\n", "PERF-05");
		bench_rig_fini(&b->rig);
		return 1;
	}
	if (tutti_executable_kernel(b->rig.executable, "tool_cga_16", &b->k16) ||
	    tutti_executable_kernel(b->rig.executable, "tool_cga_8", &b->k8) ||
	    tutti_executable_kernel(b->rig.executable, "tool_cga_other", &b->other_shape) ||
	    tutti_executable_kernel(b->rig.executable, "tool_cga_hold", &b->hold) ||
	    tutti_queue_create(b->rig.device, NULL, &b->other) || tutti_signal_create(b->rig.device, 0, &b->gone))
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

/* Eight GPCs of 16 to 18 SMs. */
static int eight_gpcs(struct cga_bench *b)
{
	int failed;

	tutti_device_policy(b->rig.device, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_LOAD_BALANCE);
	measure(b, "load_balance", 370, 215);
	/*
	 * the card becomes empty between them, so each time the tables are derived from the card-wide table of the
	 * other shape
	 */
	report(b, "PERF-05", "load_balance", "cga16_new_shape", cost(b, &b->other_shape, 1, NULL), BENCH_NO_TARGET);
	nested(b, "load_balance");
	tutti_device_policy(b->rig.device, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST);
	measure(b, "multicast", 770, 355);
	tutti_device_policy(b->rig.device, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_LOAD_BALANCE);
	failed = hold(b, 16);
	measure(b, "load_balance_flat", 370, 215);
	nested(b, "load_balance_flat");
	tutti_device_policy(b->rig.device, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST);
	measure(b, "multicast_flat", 770, 355);
	return release(b) | failed;
}

/* SMs of four slots, since the firmware looks at no more than that on so many GPCs (domain.h) */
static int many_gpcs(struct cga_bench *b)
{
	int failed = tutti_device_policy(b->rig.device, TUTTI_POLICY_CTA_CAP, 4);

	report(b, "PERF-06", "load_balance", "cga16_cached_64_gpcs", cost(b, &b->k16, 1, NULL), 260);
	tutti_device_policy(b->rig.device, TUTTI_POLICY_CTA_CAP, 0);
	report(b, "PERF-06", "load_balance", "cga16_cached_64_gpcs_32_slots", cost(b, &b->k16, 1, NULL), BENCH_NO_TARGET);
	return failed;
}

static int session(struct bench *bench, const char *gpcs, int (*measure_all)(struct cga_bench *b))
{
	char path[] = P_tmpdir "/tutti-bench-XXXXXX";
	struct cga_bench b = { .bench = bench };
	int failed = topology(path, gpcs);

	if (failed)
		return bench_failed(bench, "PERF-05", "all", strerror(errno));
	failed = open_rig(&b, path);
	unlink(path);
	if (failed)
		return failed < 0 ? failed : 0;
	failed = measure_all(&b);
	tutti_signal_destroy(b.rig.device, b.gone);
	tutti_queue_destroy(b.other);
	bench_rig_fini(&b.rig);
	return failed ? bench_failed(bench, "PERF-05", "all", "CTAs that hold slots did not run") : 0;
}

int bench_cga(struct bench *bench)
{
	int failed = session(bench, "gpc 18 16 16 18 16 16 16 16", eight_gpcs);

	return failed | session(bench, "gpc 16*64", many_gpcs);
}

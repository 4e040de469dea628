/* SPDX-License-Identifier: MIT */
/*
 * PERF-12: the whole way of a kernel in soft-core instructions, from the event of the doorbell to the last word of its
 * completion, with everything that the firmware does meanwhile, and the cycles that they would take on a standard core
 * (emulator/core/cost.c). Exact, in deterministic mode. `--where` shows by unit (units.h) where they went, and who divides;
 * `--profile` shows functions.
 */
#include <string.h>

#include "bench.h"
#include "counts.h"
#include "packet_forms.h"
#include "tools/kernels.h"
#include "transport/emulator.h"
#include "tutti/task.h"

/** struct way - what the forms below need beside a rig. @divisions: of all forms together */
struct way {
	struct bench *bench;
	struct bench_rig rig;
	struct tutti_kernel cga;
	struct tutti_task *task[PACKET_ROUNDS];
	double divisions;
};

/* A report for @count kernels between two moments. */
static int report(struct way *way, const char *name, const struct counts *before, const struct counts *after,
		  double count, double target)
{
	struct spent spent = { 0 };
	char cycles[64];
	double sum = 0;

	snprintf(cycles, sizeof(cycles), "%s_cycles", name);
	counts_spent(before, after, 1 / count, &spent);
	bench_report(way->bench, "PERF-12", name, spent.all, "instructions/kernel", target, BENCH_LOWER);
	bench_report(way->bench, "PERF-12", cycles, spent.all_cycles, "cycles/kernel", BENCH_NO_TARGET, BENCH_LOWER);
	if (way->bench->where) {
		counts_print(&spent);
		counts_print_divisions(before, after, count);
	}
	if (way->bench->profile)
		counts_print_functions(before, after, count);
	for (unsigned u = 0; u < UNITS; u++)
		sum += spent.unit[u];
	if (spent.divisions) {
		printf("           %s divides:\n", name);
		counts_print_divisions(before, after, count);
		way->divisions += spent.divisions;
	}
	if (sum < spent.all - 0.01 || sum > spent.all + 0.01)
		return bench_failed(way->bench, "PERF-12", name, "the units do not add up to the whole");
	return 0;
}

/* What the host does between batches is left out. */
static int packets(struct way *way, const struct packet_form *form)
{
	static struct counts before, start, after;
	struct tutti_card *card = emulator_card(way->rig.device);
	unsigned kernels, all = 0, batch = packet_form_batch(form);
	int error = packet_form_references(&way->rig);

	if (!error)
		error = packet_form_send(&way->rig, form, PACKET_WARM_UP, &kernels);
	counts_take(card, &before);
	after = before;
	for (unsigned sent = 0; sent < PACKET_ROUNDS && !error; sent += batch, all += kernels) {
		start = after;
		error = packet_form_prepare(&way->rig, form);
		counts_take(card, &after);
		counts_leave_out(&before, &start, &after);
		if (!error)
			error = packet_form_send(&way->rig, form, batch, &kernels);
		counts_take(card, &after);
	}
	if (error)
		return bench_failed(way->bench, "PERF-12", form->name, tutti_strerror(error));
	return report(way, form->name, &before, &after, all, form->whole);
}

/* ---- forms that libtutti writes ---- */

/* A kernel with metadata of its own. */
static int own_metadata(struct way *way, unsigned round)
{
	struct tutti_launch launch = bench_rig_launch(&way->rig, true);

	return tutti_task_dispatch(way->rig.queue, &launch, way->task[round]);
}

/* A grid that is one CGA of 16. */
static int cga_16(struct way *way, unsigned round)
{
	struct tutti_launch launch = bench_rig_launch(&way->rig, true);

	(void)round;
	launch.kernel = &way->cga;
	launch.grid[0] = 16;
	return tutti_dispatch(way->rig.queue, &launch);
}

static int send(struct way *way, int (*launch)(struct way *way, unsigned round), unsigned rounds)
{
	int error = 0;

	tutti_signal_store(way->rig.done, rounds);
	for (unsigned r = 0; r < rounds && !error; r++)
		error = launch(way, r);
	return error ? error : bench_rig_wait(&way->rig);
}

static int launches(struct way *way, const char *name, int (*launch)(struct way *way, unsigned round), double target)
{
	static struct counts before, after;
	struct tutti_card *card = emulator_card(way->rig.device);
	int error = send(way, launch, PACKET_WARM_UP);

	counts_take(card, &before);
	if (!error)
		error = send(way, launch, PACKET_ROUNDS);
	counts_take(card, &after);
	if (error)
		return bench_failed(way->bench, "PERF-12", name, tutti_strerror(error));
	return report(way, name, &before, &after, PACKET_ROUNDS, target);
}

/* ---- what kernels start. The cost of the kernels themselves is left out: they run few rounds and many ---- */

#define FEW 8u

/* Run kernel @name, which is given @rounds. */
static int rounds(struct way *way, const char *name, void *out, unsigned rounds)
{
	struct tutti_launch launch = bench_rig_launch(&way->rig, true);
	struct tool_args *args = way->rig.args;
	struct tutti_kernel kernel;
	int error = tutti_executable_kernel(way->rig.executable, name, &kernel);

	*args = (struct tool_args){ out, rounds };
	launch.kernel = &kernel;
	launch.barrier = false;
	tutti_signal_store(way->rig.done, 1);
	if (!error)
		error = tutti_dispatch(way->rig.queue, &launch);
	return error ? error : bench_rig_wait(&way->rig);
}

static int started(struct way *way, const char *name, const char *kernel, void *out)
{
	static struct counts before, few, many;
	struct tutti_card *card = emulator_card(way->rig.device);
	int error = rounds(way, kernel, out, FEW);

	counts_take(card, &before);
	if (!error)
		error = rounds(way, kernel, out, FEW);
	counts_take(card, &few);
	if (!error)
		error = rounds(way, kernel, out, PACKET_ROUNDS + FEW);
	counts_take(card, &many);
	if (error)
		return bench_failed(way->bench, "PERF-12", name, tutti_strerror(error));
	counts_leave_out(&few, &before, &few);
	return report(way, name, &few, &many, PACKET_ROUNDS, BENCH_NO_TARGET);
}

/* Workgroups of a queue task, each for an item that a kernel has put into its work queue. */
static int work_items(struct way *way)
{
	struct tutti_task_attributes attributes = { 0 };
	struct tutti_launch launch = bench_rig_launch(&way->rig, false);
	struct tool_args *args = NULL;
	struct tutti_kernel consume;
	struct tutti_task *task = NULL;
	int error = tutti_work_create(way->rig.device, 16, 8, &attributes.work);

	if (!error)
		error = tutti_task_create(way->rig.device, &attributes, &task);
	if (!error)
		error = tutti_memory_alloc(way->rig.device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args);
	if (!error)
		error = tutti_executable_kernel(way->rig.executable, "tool_consume", &consume);
	if (!error) {
		*args = (struct tool_args){ (uint64_t *)tutti_work_queue(attributes.work), 0 };
		launch.kernel = &consume;
		launch.kernarg = args;
		launch.barrier = false;
		error = tutti_task_dispatch(way->rig.queue, &launch, task);
	}
	error = error ? bench_failed(way->bench, "PERF-12", "work_item", tutti_strerror(error)) :
			started(way, "work_item", "tool_produce", tutti_task_tmd(task));
	tutti_work_close(attributes.work);
	tutti_queue_drain(way->rig.queue, 1000000000);
	tutti_task_destroy(task);
	tutti_work_destroy(attributes.work);
	tutti_memory_free(way->rig.device, args);
	return error;
}

static int way_init(struct way *way)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true };
	const struct tutti_task_attributes attributes = { .priority = 6 };
	int error = bench_rig_init(&way->rig, &options, TUTTI_QUEUE_EXTENDED, 256);

	if (!error)
		error = tutti_executable_kernel(way->rig.executable, "tool_cga_16", &way->cga);
	for (unsigned t = 0; t < PACKET_ROUNDS && !error; t++)
		error = tutti_task_create(way->rig.device, &attributes, &way->task[t]);
	return error;
}

static void way_fini(struct way *way)
{
	for (unsigned t = 0; t < PACKET_ROUNDS; t++)
		tutti_task_destroy(way->task[t]);
	bench_rig_fini(&way->rig);
}

/* Every function has a unit, so that --where leaves nothing out. */
static int units_known(struct way *way)
{
	static struct counts counts;

	unit_image(tutti_device_discovery(way->rig.device)->sms);
	counts_take(emulator_card(way->rig.device), &counts);
	return counts_units_known(&counts) ? 0 : bench_failed(way->bench, "PERF-12", "units", "the table is not complete");
}

int bench_way(struct bench *bench)
{
	struct way way = { .bench = bench };
	int failed = way_init(&way);

	if (failed)
		return bench_failed(bench, "PERF-12", "all", tutti_strerror(failed));
	if (!emulator_card(way.rig.device)) {
		printf("%-8s needs the emulated card: not measured on this one\n", "PERF-12");
	} else {
		failed = units_known(&way);
		for (const struct packet_form *form = packet_forms; form->name; form++)
			failed |= packets(&way, form);
		failed |= launches(&way, "own_metadata", own_metadata, 800);
		failed |= launches(&way, "cga_16", cga_16, 900);
		failed |= started(&way, "child_task", "tool_parent", way.rig.out);
		failed |= work_items(&way);
		bench_report(bench, "PERF-12", "divisions_of_all_forms", way.divisions, "divisions", 0, BENCH_LOWER);
	}
	way_fini(&way);
	return failed;
}

/* SPDX-License-Identifier: MIT */
/* PERF-09: boot, empty workgroups, copies. */
#include <string.h>

#include "bench.h"

#define COPY_BYTES (64u << 20)

static int boot(struct bench *bench)
{
	double sample[5];

	for (unsigned s = 0; s < 5; s++) {
		double start = tool_seconds();
		struct tutti_device *device = tool_open(NULL);

		if (!device)
			return bench_failed(bench, "PERF-09", "boot", "no card");
		sample[s] = 1e3 * (tool_seconds() - start);
		tutti_device_close(device);
	}
	bench_report(bench, "PERF-09", "boot", bench_median(sample, 5), "ms", 100, BENCH_LOWER);
	return 0;
}

static int workgroups(struct bench *bench, struct bench_rig *rig)
{
	const uint32_t count = bench->quick ? 200000 : 2000000;
	struct tutti_launch launch = bench_rig_launch(rig, true);
	double sample[5];
	int error = 0;

	launch.grid[0] = count;
	for (unsigned s = 0; s < 5 && !error; s++) {
		double start = tool_seconds();

		tutti_signal_store(rig->done, 1);
		error = tutti_dispatch(rig->queue, &launch);
		if (!error)
			error = bench_rig_wait(rig);
		sample[s] = count / (tool_seconds() - start);
	}
	if (error)
		return bench_failed(bench, "PERF-09", "empty_workgroups", tutti_strerror(error));
	bench_report(bench, "PERF-09", "empty_workgroups", bench_median(sample, 5), "CTAs/s", 1e6, BENCH_HIGHER);
	return 0;
}

/* The card's copy engine and memcpy() on the same buffers, in turns. */
static int copies(struct bench *bench, struct bench_rig *rig)
{
	double mover[5], host[5], plain, moved;
	char *from = NULL, *to = NULL;
	int error = tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, COPY_BYTES, (void **)&from);

	if (!error)
		error = tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, COPY_BYTES, (void **)&to);
	if (!error) {
		memset(from, 1, COPY_BYTES);
		memset(to, 2, COPY_BYTES);
	}
	for (unsigned s = 0; s < 5 && !error; s++) {
		double start = tool_seconds();

		memcpy(to, from, COPY_BYTES);
		host[s] = COPY_BYTES / (tool_seconds() - start) / 1e9;
		start = tool_seconds();
		error = tutti_copy(rig->queue, from, to, COPY_BYTES);
		mover[s] = COPY_BYTES / (tool_seconds() - start) / 1e9;
	}
	tutti_memory_free(rig->device, from);
	tutti_memory_free(rig->device, to);
	if (error)
		return bench_failed(bench, "PERF-09", "copy", tutti_strerror(error));
	plain = bench_median(host, 5);
	moved = bench_median(mover, 5);
	bench_report(bench, "PERF-09", "memcpy", plain, "GB/s", BENCH_NO_TARGET, BENCH_HIGHER);
	bench_report(bench, "PERF-09", "mover_bulk", moved, "GB/s", BENCH_NO_TARGET, BENCH_HIGHER);
	bench_report(bench, "PERF-09", "mover_bulk_of_memcpy", moved / plain, "ratio", 0.7, BENCH_HIGHER);
	return 0;
}

int bench_card(struct bench *bench)
{
	struct bench_rig rig;
	int failed = boot(bench);

	if (bench_rig_init(&rig, NULL, 0, 256))
		return bench_failed(bench, "PERF-09", "all", "no card");
	failed |= workgroups(bench, &rig);
	failed |= copies(bench, &rig);
	bench_rig_fini(&rig);
	return failed;
}

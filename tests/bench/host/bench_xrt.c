/* SPDX-License-Identifier: MIT */
/*
 * What a start of a kernel costs in Xilinx XRT itself: xrtRunStart() and xrtRunWait() of a kernel that is over at once,
 * in XRT's no-op mode, where nothing but the library is measured. PERF-03 has the same for Tutti, whose figures include
 * the emulated card. It runs in a process of its own, since XRT does not always end well.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "tools/xclbin/xclbin.h"
#include "transport/xrt/library.h"
#include "tutti/xrt_card.h"

#define LIBRARY "libxrt_coreutil.so.2"
#define BATCH	64u

/** struct runs - XRT's functions for running kernels, which the transport has no use for. */
struct runs {
	void *(*kernel_open)(void *device, const xrt_uuid uuid, const char *name);
	void *(*open)(void *kernel);
	int (*start)(void *run);
	int (*wait)(void *run);
	int (*close)(void *run);
};

/** struct figures - what the child sends to the benchmark. */
struct figures {
	double latency_us, per_second;
};

static bool find_runs(struct runs *runs)
{
	void *file = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!file)
		return false;
	*(void **)&runs->kernel_open = dlsym(file, "xrtPLKernelOpen");
	*(void **)&runs->open = dlsym(file, "xrtRunOpen");
	*(void **)&runs->start = dlsym(file, "xrtRunStart");
	*(void **)&runs->wait = dlsym(file, "xrtRunWait");
	*(void **)&runs->close = dlsym(file, "xrtRunClose");
	return runs->kernel_open && runs->open && runs->start && runs->wait && runs->close;
}

static void *open_kernel(const struct runs *runs)
{
	char path[] = "/tmp/tutti-xclbin-XXXXXX";
	const struct xrt_library *library;
	void *device, *kernel = NULL;
	xrt_uuid uuid;
	int file;

	setenv("XCL_EMULATION_MODE", "noop", 1);
	file = mkstemp(path);
	if (file < 0 || xrt_library_open(&library))
		return NULL;
	close(file);
	device = xclbin_write(path, 1ull << 30) ? NULL : library->xrtDeviceOpen(0);
	if (device && !library->xrtDeviceLoadXclbinFile(device, path) && !library->xrtDeviceGetXclbinUUID(device, uuid))
		kernel = runs->kernel_open(device, uuid, TUTTI_XRT_KERNEL);
	unlink(path);
	return kernel;
}

static bool measure(const struct runs *runs, void *kernel, bool quick, struct figures *figures)
{
	enum { ROUNDS = 20000 };
	static double sample[ROUNDS];
	const unsigned rounds = quick ? 2000 : ROUNDS;
	void *run[BATCH];
	double start;

	for (unsigned i = 0; i < BATCH; i++)
		if (!(run[i] = runs->open(kernel)))
			return false;
	for (unsigned i = 0; i < rounds; i++) {
		start = tool_seconds();
		if (runs->start(run[0]))
			return false;
		runs->wait(run[0]);
		sample[i] = 1e6 * (tool_seconds() - start);
	}
	figures->latency_us = bench_median(sample, rounds);
	start = tool_seconds();
	for (unsigned i = 0; i < rounds / BATCH; i++) {
		for (unsigned j = 0; j < BATCH; j++)
			if (runs->start(run[j]))
				return false;
		for (unsigned j = 0; j < BATCH; j++)
			runs->wait(run[j]);
	}
	figures->per_second = rounds / BATCH * BATCH / (tool_seconds() - start);
	return true;
}

static void child(const struct runs *runs, bool quick, int to)
{
	struct figures figures;
	void *kernel = open_kernel(runs);

	if (kernel && measure(runs, kernel, quick, &figures) && write(to, &figures, sizeof(figures)) == sizeof(figures))
		_exit(0);
	_exit(1);
}

int bench_xrt(struct bench *bench)
{
	struct figures figures;
	struct runs runs;
	ssize_t got;
	int ends[2];
	pid_t pid;

	if (!find_runs(&runs)) {
		printf("%-8s %-34s %14s %s\n", "XRT", "all", "-", "XRT is not installed");
		return 0;
	}
	if (pipe(ends))
		return bench_failed(bench, "XRT", "all", "no pipe");
	pid = fork();
	if (!pid)
		child(&runs, bench->quick, ends[1]);
	close(ends[1]);
	got = read(ends[0], &figures, sizeof(figures));
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (got != sizeof(figures))
		return bench_failed(bench, "XRT", "all", "XRT's no-op mode does not run a kernel");
	bench_report(bench, "XRT", "run_start_wait_latency", figures.latency_us, "us", BENCH_NO_TARGET, BENCH_LOWER);
	bench_report(bench, "XRT", "batch_runs", figures.per_second, "kernels/s", BENCH_NO_TARGET, BENCH_HIGHER);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * PERF-13: kernels on the emulated card against the same C, gcc -O2 without vectors, in the same run. The first figures are
 * those of a machine that has never seen the kernels: they are interpreted until they have been translated.
 */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "loops_host.h"

__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"bench_loops:\n"
	".incbin \"" BENCH_LOOPS "\"\n"
	"bench_loops_end:\n"
	".popsection\n");
extern const unsigned char bench_loops[] __attribute__((visibility("hidden")));
extern const unsigned char bench_loops_end[] __attribute__((visibility("hidden")));

#define SAXPY	  (1u << 20)
#define MATMUL	  512u
#define SAMPLES	  5
#define ROUNDS	  2000u

/**
 * struct loops - the kernels on a card, and their data.
 * @x, @y: vectors, and matrices of MATMUL rows
 * @error: of a launch that has failed
 */
struct loops {
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_queue *queue;
	struct tutti_kernel saxpy, matmul, dot;
	tutti_signal_t done;
	float *x, *y, *z;
	void *args;
	int error;
};

static int loops_init(struct loops *loops)
{
	const struct tutti_device_options options = { .workers = 1 };
	int error;

	memset(loops, 0, sizeof(*loops));
	loops->device = tool_open(&options);
	if (!loops->device)
		return -1;
	error = tutti_executable_load(loops->device, bench_loops, (size_t)(bench_loops_end - bench_loops),
				      &loops->executable, NULL);
	error = error ? error : tutti_executable_kernel(loops->executable, "saxpy", &loops->saxpy);
	error = error ? error : tutti_executable_kernel(loops->executable, "matmul", &loops->matmul);
	error = error ? error : tutti_executable_kernel(loops->executable, "dot_rounds", &loops->dot);
	error = error ? error : tutti_queue_create(loops->device, NULL, &loops->queue);
	error = error ? error : tutti_signal_create(loops->device, 0, &loops->done);
	error = error ? error : tutti_memory_alloc(loops->device, TUTTI_MEMORY_CARD, SAXPY * 4, (void **)&loops->x);
	error = error ? error : tutti_memory_alloc(loops->device, TUTTI_MEMORY_CARD, SAXPY * 4, (void **)&loops->y);
	error = error ? error : tutti_memory_alloc(loops->device, TUTTI_MEMORY_CARD, SAXPY * 4, (void **)&loops->z);
	error = error ? error : tutti_memory_alloc(loops->device, TUTTI_MEMORY_SYSTEM, 256, &loops->args);
	for (uint32_t i = 0; i < SAXPY && !error; i++) {
		loops->x[i] = (float)(i % 1000) * 0.25f;
		loops->y[i] = (float)(i % 77) - 3;
		loops->z[i] = 0;
	}
	return error;
}

/* Return: @error or, if that is 0, the error of a launch. */
static int loops_fini(struct loops *loops, int error)
{
	if (loops->done)
		tutti_signal_destroy(loops->device, loops->done);
	if (loops->queue)
		tutti_queue_destroy(loops->queue);
	if (loops->executable)
		tutti_executable_destroy(loops->executable);
	tutti_device_close(loops->device);
	return error ? error : loops->error;
}

/* Seconds of one launch. One that fails leaves its error in @loops. */
static double launch(struct loops *loops, const struct tutti_kernel *kernel, uint32_t x, uint32_t y)
{
	const struct tutti_launch launch = {
		.kernel = kernel,
		.grid = { x, y },
		.workgroup = { x < 1024 ? x : 1024, 1 },
		.kernarg = loops->args,
		.signal = loops->done,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};
	double start = tool_seconds();
	int error;

	tutti_signal_store(loops->done, 1);
	error = tutti_dispatch(loops->queue, &launch);
	if (!error)
		error = tutti_signal_wait(loops->device, loops->done, TUTTI_EQ, 0, 120000000000ll, NULL);
	if (error)
		loops->error = error;
	return tool_seconds() - start;
}

static double saxpy(struct loops *loops)
{
	*(struct saxpy_args *)loops->args = (struct saxpy_args){ loops->x, loops->y, 0.5f };
	return launch(loops, &loops->saxpy, SAXPY, 1);
}

static double matmul(struct loops *loops)
{
	*(struct matmul_args *)loops->args = (struct matmul_args){ loops->x, loops->y, loops->z, MATMUL };
	return launch(loops, &loops->matmul, MATMUL, MATMUL);
}

static double dot(struct loops *loops)
{
	*(struct dot_args *)loops->args = (struct dot_args){ loops->x, loops->y, loops->z, ROUNDS };
	return launch(loops, &loops->dot, 1, 1);
}

static double saxpy_host(struct loops *loops)
{
	const struct saxpy_args args = { loops->x, loops->y, 0.5f };
	double start = tool_seconds();

	saxpy_on_host(&args, SAXPY);
	return tool_seconds() - start;
}

static double matmul_host(struct loops *loops)
{
	const struct matmul_args args = { loops->x, loops->y, loops->z, MATMUL };
	double start = tool_seconds();

	matmul_on_host(&args);
	return tool_seconds() - start;
}

static double median(struct loops *loops, double (*run)(struct loops *))
{
	double sample[SAMPLES];

	for (unsigned s = 0; s < SAMPLES; s++)
		sample[s] = run(loops);
	return bench_median(sample, SAMPLES);
}

static void report(struct bench *bench, const char *name, double seconds, double host, double target)
{
	char text[64];

	snprintf(text, sizeof(text), "%s_ms", name);
	bench_report(bench, "PERF-13", text, seconds * 1e3, "ms", BENCH_NO_TARGET, BENCH_LOWER);
	bench_report(bench, "PERF-13", name, seconds / host, "times gcc -O2", target, BENCH_LOWER);
}

/* The thread that drives the card and its one worker, against PoCL's threads, of which there is one for each core. */
static void against_threads(struct bench *bench, const char *name, double seconds, double peer)
{
	if (peer > 0)
		bench_report(bench, "PERF-13", name, seconds / peer, "times PoCL pthread", 4, BENCH_LOWER);
}

static int cold(struct bench *bench)
{
	struct loops loops;
	double first, host;
	int error = loops_init(&loops);

	if (!error) {
		host = median(&loops, saxpy_host);
		first = saxpy(&loops);
		report(bench, "saxpy_never_seen", first, host, BENCH_NO_TARGET);
	}
	error = loops_fini(&loops, error);
	return error ? bench_failed(bench, "PERF-13", "saxpy_never_seen", tutti_strerror(error)) : 0;
}

/* Set an environment variable. Return: what it was before, for environment_restore() */
static char *environment_set(const char *name, const char *value)
{
	const char *before = getenv(name);
	char *copy = before ? strdup(before) : NULL;

	setenv(name, value, 1);
	return copy;
}

static void environment_restore(const char *name, char *before)
{
	if (before)
		setenv(name, before, 1);
	else
		unsetenv(name);
	free(before);
}

/* Fill the cache. */
static int translate(struct bench *bench)
{
	char *before = environment_set("TUTTI_TRANSLATE", "wait");
	struct loops loops;
	int error = loops_init(&loops);

	if (!error)
		saxpy(&loops);
	error = loops_fini(&loops, error);
	environment_restore("TUTTI_TRANSLATE", before);
	return error ? bench_failed(bench, "PERF-13", "saxpy_first", tutti_strerror(error)) : 0;
}

static int interpreted(struct bench *bench)
{
	const double instructions = (double)ROUNDS * DOT_ITEMS * DOT_INSTRUCTIONS;
	char *before = environment_set("TUTTI_TRANSLATE", "off");
	struct loops loops;
	int error = loops_init(&loops);

	if (!error)
		bench_report(bench, "PERF-13", "interpreter", median(&loops, dot) * 1e9 / instructions, "ns/instruction", 4,
			     BENCH_LOWER);
	error = loops_fini(&loops, error);
	environment_restore("TUTTI_TRANSLATE", before);
	return error ? bench_failed(bench, "PERF-13", "interpreter", tutti_strerror(error)) : 0;
}

static int warm(struct bench *bench)
{
	double first, seconds, saxpy_host_s, matmul_host_s;
	struct loops loops;
	int error = loops_init(&loops);

	if (!error) {
		saxpy_host_s = median(&loops, saxpy_host);
		first = saxpy(&loops);
		report(bench, "saxpy_first", first, saxpy_host_s, 10);
		seconds = median(&loops, saxpy);
		report(bench, "saxpy", seconds, saxpy_host_s, 4);
		against_threads(bench, "saxpy_against_threads", seconds, bench->pthread.saxpy_seconds);
		matmul_host_s = matmul_host(&loops);
		seconds = matmul(&loops);
		report(bench, "matmul", seconds, matmul_host_s, 3);
		against_threads(bench, "matmul_against_threads", seconds, bench->pthread.matmul_seconds);
	}
	error = loops_fini(&loops, error);
	return error ? bench_failed(bench, "PERF-13", "saxpy", tutti_strerror(error)) : 0;
}

/* Kripke's iterations, one mode, on a problem that takes a second, against its own plain C in the same run. */
static int kripke(struct bench *bench)
{
	const char *key[] = { "\"wall_seconds\":", "\"cpu_seconds\":" };
	double seconds[2] = { 0, 0 };
	char command[4200], line[4096] = "";
	FILE *program;

	/* twice, since the first run translates the kernels */
	snprintf(command, sizeof(command), "k='%s'; o='--small --no-count --launch condensed --json'; "
		"TUTTI_TRANSLATE=wait $k $o --niter 1 >/dev/null 2>&1; $k $o --check 2>/dev/null", tool_sibling("examples/kripke"));
	program = popen(command, "r");
	if (program && !fgets(line, sizeof(line), program))
		line[0] = 0;
	if (program)
		pclose(program);
	for (unsigned i = 0; i < 2; i++)
		if (strstr(line, key[i]))
			seconds[i] = atof(strstr(line, key[i]) + strlen(key[i]));
	if (!strstr(line, "\"results\":\"equal\"") || seconds[1] <= 0)
		return bench_failed(bench, "PERF-13", "kripke", "the example does not run, or its results are wrong");
	report(bench, "kripke", seconds[0], seconds[1], 2);
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	return remove(path);
}

int bench_kernels(struct bench *bench)
{
	char folder[] = "/tmp/tutti-bench-XXXXXX", *before;
	int error;

	if (!mkdtemp(folder))
		return bench_failed(bench, "PERF-13", "saxpy", "no folder for the cache");
	before = environment_set("XDG_CACHE_HOME", folder);
	error = cold(bench);
	if (!error)
		error = translate(bench);
	if (!error)
		error = warm(bench);
	if (!error)
		error = interpreted(bench);
	if (!error)
		error = kripke(bench);
	environment_restore("XDG_CACHE_HOME", before);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return error;
}

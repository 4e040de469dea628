/* SPDX-License-Identifier: MIT */
/*
 * Tensor requests: bytes per second of tiles and blocks against memcpy() of the same rows (PERF-09, PERF-14), and a matrix
 * product in three ways: tiles fetched by waves, by tensor requests, and by tensor requests with multicast.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "emulator/card/card.h"
#include "examples/gemm/gemm.h"
#include "tools/kernels.h"
#include "transport/emulator.h"
#include "tutti/sm_state.h"

/* ---- bandwidth ------------------------------------------------------------- */

#define ROWS 96u
#define ROW_BYTES 1024u      /* of a tile */
#define PITCH 4096u          /* from row to row */
#define TILE_BYTES (ROWS * ROW_BYTES)
#define SWIZZLED_ROWS 256u   /* of 128 bytes */

static const struct { const char *name; uint32_t row, rows; enum tutti_swizzle swizzle; double target; const char *id; } tiles[] = {
	{ "tile_96K", ROW_BYTES, ROWS, TUTTI_SWIZZLE_NONE, 0.7, "TMAU" },
	{ "tile_32K_swizzled", 128, SWIZZLED_ROWS, TUTTI_SWIZZLE_128, 0.6, "PERF-14" },
	{ "block_96K", TILE_BYTES, 1, TUTTI_SWIZZLE_NONE, 0.7, "TMAU" },
};

static double memcpy_rate(const char *from, char *to, uint32_t row, uint32_t rows, unsigned times)
{
	double start = tool_seconds();

	for (unsigned i = 0; i < times; i++) {
		for (uint32_t r = 0; r < rows; r++)
			memcpy(to + r * row, from + r * PITCH, row);
		__asm__ volatile("" ::: "memory");
	}
	return (double)times * rows * row / (tool_seconds() - start) / 1e9;
}

static int tile_rate(struct bench_rig *rig, unsigned t, const char *from, unsigned times, double *rate)
{
	struct tool_stream *args = NULL;
	struct tutti_tensor *tensor = NULL;
	struct tutti_kernel kernel;
	struct tutti_tiled tiled = {
		.tensor = { .base = from, .type = TUTTI_U32, .rank = 2, .size = { PITCH / 4, ROWS + SWIZZLED_ROWS },
			    .stride = { PITCH }, .swizzle = tiles[t].swizzle },
		.box = { tiles[t].row / 4, tiles[t].rows },
	};
	int error = tutti_memory_alloc(rig->device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args);
	double start;

	if (!error)
		error = tutti_memory_alloc(rig->device, TUTTI_MEMORY_SYSTEM, sizeof(*tensor), (void **)&tensor);
	if (!error)
		error = tutti_executable_kernel(rig->executable, "tool_stream", &kernel);
	if (error)
		return error;
	if (tiles[t].rows > 1 && tutti_tensor_encode_tiled(tensor, &tiled))
		return -EINVAL;
	*args = (struct tool_stream){ tiles[t].rows > 1 ? tensor : NULL, from, times, tiles[t].row * tiles[t].rows };
	tutti_signal_store(rig->done, 1);
	start = tool_seconds();
	error = tutti_dispatch(rig->queue, &(struct tutti_launch){
		.kernel = &kernel, .grid = { 32 }, .workgroup = { 32 }, .kernarg = args, .signal = rig->done,
		.dynamic_group_bytes = TILE_BYTES + 1024, .acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM });
	if (!error)
		error = bench_rig_wait(rig);
	*rate = (double)times * args->bytes / (tool_seconds() - start) / 1e9;
	tutti_memory_free(rig->device, tensor);
	tutti_memory_free(rig->device, args);
	return error;
}

static int bandwidth(struct bench *bench, struct bench_rig *rig, unsigned t, const char *from, char *to)
{
	const unsigned times = bench->quick ? 300 : 2000;
	double host[5], card[5];
	char name[64];
	int error = 0;

	for (unsigned s = 0; s < 5 && !error; s++) {
		host[s] = memcpy_rate(from, to, tiles[t].row, tiles[t].rows, times);
		error = tile_rate(rig, t, from, times, &card[s]);
	}
	if (error)
		return bench_failed(bench, "TMAU", tiles[t].name, tutti_strerror(error));
	bench_report(bench, "TMAU", tiles[t].name, bench_median(card, 5), "GB/s", BENCH_NO_TARGET, BENCH_HIGHER);
	snprintf(name, sizeof(name), "%s_of_memcpy", tiles[t].name);
	bench_report(bench, tiles[t].id, name, bench_median(card, 5) / bench_median(host, 5), "ratio", tiles[t].target,
		     BENCH_HIGHER);
	return 0;
}

static int bandwidths(struct bench *bench)
{
	struct bench_rig rig;
	char *from = NULL, *to = malloc(TILE_BYTES);
	int failed = 0;

	if (!to || bench_rig_init(&rig, NULL, 0, 256)) {
		free(to);
		return bench_failed(bench, "TMAU", "bandwidth", "no card");
	}
	if (tutti_memory_alloc(rig.device, TUTTI_MEMORY_CARD, PITCH * (ROWS + SWIZZLED_ROWS), (void **)&from))
		failed = bench_failed(bench, "TMAU", "bandwidth", "no memory");
	for (unsigned t = 0; from && t < sizeof(tiles) / sizeof(tiles[0]); t++)
		failed |= bandwidth(bench, &rig, t, from, to);
	tutti_memory_free(rig.device, from);
	bench_rig_fini(&rig);
	free(to);
	return failed;
}

/* ---- matrix product --------------------------------------------------------- */

#define N 256u /* all sizes */

static const char *const products[] = { "tool_gemm_plain", "gemm", "gemm_cga" };
static const char *const product_names[] = { "gemm_by_waves", "gemm_by_tmau", "gemm_by_tmau_multicast" };

/* Instructions of all waves so far, as a card with TUTTI_FEATURE_ENERGY counts them. */
static uint64_t instructions(struct tutti_device *device)
{
	const struct tutti_discovery *d = tutti_device_discovery(device);
	const uint8_t *bar = tutti_card_bar(emulator_card(device));
	const struct tutti_sm_state *sm = (const void *)(bar + d->sm_states.offset);
	uint64_t counters[TUTTI_COUNTERS], sum = 0;

	tutti_device_counters(device, counters); /* updates the control window */
	for (uint32_t i = 0; i < d->sms; i++)
		for (unsigned c = 0; c < TUTTI_CLASSES; c++)
			sum += sm[i].instructions[c];
	return sum;
}

static struct tutti_tensor *view(struct tutti_device *device, const float *x)
{
	struct tutti_tensor *tensor = NULL;
	struct tutti_tiled tiled = { .tensor = { .base = x, .type = TUTTI_F32, .rank = 2, .size = { N, N },
						 .swizzle = TUTTI_SWIZZLE_128 }, .box = { TILE, TILE } };

	if (!tutti_memory_alloc(device, TUTTI_MEMORY_CARD, sizeof(*tensor), (void **)&tensor))
		(void)tutti_tensor_encode_tiled(tensor, &tiled);
	return tensor;
}

static int product(struct bench *bench, struct bench_rig *rig, unsigned p, struct tool_gemm *args)
{
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS], n = instructions(rig->device), read;
	struct tutti_kernel kernel;
	char name[64];
	int error = tutti_executable_kernel(rig->executable, products[p], &kernel);

	tutti_device_counters(rig->device, before);
	tutti_signal_store(rig->done, 1);
	if (!error)
		error = tutti_dispatch(rig->queue, &(struct tutti_launch){
			.kernel = &kernel, .grid = { N / TILE * WAVES * 32, N / TILE }, .workgroup = { WAVES * 32, 1 },
			.kernarg = args, .signal = rig->done, .acquire = TUTTI_SCOPE_SYSTEM,
			.release = TUTTI_SCOPE_SYSTEM });
	if (!error)
		error = bench_rig_wait(rig);
	if (error)
		return bench_failed(bench, "TMAU", product_names[p], tutti_strerror(error));
	n = instructions(rig->device) - n;
	tutti_device_counters(rig->device, after);
	/* The bytes that waves read are known; those that the copy engines move are counted, the result among them. */
	read = p ? after[TUTTI_COUNTER_MOVER_BYTES] - before[TUTTI_COUNTER_MOVER_BYTES] - N * N * sizeof(float) :
		   2ull * (N / TILE) * N * N * sizeof(float);
	snprintf(name, sizeof(name), "%s_instructions", product_names[p]);
	bench_report(bench, "TMAU", name, (double)n / ((double)N * N * N), "per multiply-add", BENCH_NO_TARGET,
		     BENCH_LOWER);
	snprintf(name, sizeof(name), "%s_bytes_read", product_names[p]);
	bench_report(bench, "TMAU", name, (double)read / (N * N * sizeof(float)), "times a matrix", BENCH_NO_TARGET,
		     BENCH_LOWER);
	return 0;
}

/* A card that counts instructions of waves. */
static int counting_rig(struct bench_rig *rig)
{
	char path[] = "/tmp/tutti-bench-XXXXXX";
	int fd = mkstemp(path), error = fd < 0 ? -errno : 0;
	const struct tutti_device_options options = { .name = "emulator", .topology = path };

	if (!error && dprintf(fd, "gpc 18*8\nenergy 1\n") < 0)
		error = -EIO;
	if (!error)
		error = bench_rig_init(rig, &options, 0, 256);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return error;
}

static int products_all(struct bench *bench)
{
	struct bench_rig rig;
	struct tool_gemm *args = NULL;
	float *x = NULL;
	int failed = 0;

	if (counting_rig(&rig))
		return bench_failed(bench, "TMAU", "gemm", "no card");
	if (tutti_memory_alloc(rig.device, TUTTI_MEMORY_CARD, 3 * N * N * sizeof(*x), (void **)&x) ||
	    tutti_memory_alloc(rig.device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args)) {
		failed = bench_failed(bench, "TMAU", "gemm", "no memory");
	} else {
		*args = (struct tool_gemm){ { view(rig.device, x), view(rig.device, x + N * N),
					      view(rig.device, x + 2 * N * N), N }, x, x + N * N };
		for (unsigned p = 0; p < sizeof(products) / sizeof(products[0]); p++)
			failed |= product(bench, &rig, p, args);
		tutti_memory_free(rig.device, (void *)(uintptr_t)args->tensors.a);
		tutti_memory_free(rig.device, (void *)(uintptr_t)args->tensors.b);
		tutti_memory_free(rig.device, (void *)(uintptr_t)args->tensors.c);
	}
	tutti_memory_free(rig.device, args);
	tutti_memory_free(rig.device, x);
	bench_rig_fini(&rig);
	return failed;
}

int bench_tensor(struct bench *bench)
{
	return bandwidths(bench) | products_all(bench);
}

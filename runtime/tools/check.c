/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kernels.h"
#include "tool.h"

#define PATIENCE 20.0 /* seconds until a launch counts as lost */

/** struct bench - a queue, a buffer, arguments and a signal for one check. */
struct bench {
	struct tutti_queue *queue;
	struct tool_args *args;
	uint64_t *out;
	tutti_signal_t done;
};

__attribute__((format(printf, 2, 3))) static int says(struct checker *checker, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(checker->text, sizeof(checker->text), format, arguments);
	va_end(arguments);
	return -EIO;
}

static void bench_fini(struct checker *checker, struct bench *bench)
{
	if (bench->queue)
		tutti_queue_destroy(bench->queue);
	if (bench->done)
		tutti_signal_destroy(checker->device, bench->done);
	tutti_memory_free(checker->device, bench->args);
	tutti_memory_free(checker->device, bench->out);
}

static int bench_init(struct checker *checker, struct bench *bench, uint32_t flags, uint32_t timeout_ms, size_t words)
{
	struct tutti_queue_options options = { .flags = flags, .timeout_ms = timeout_ms };
	int error;

	memset(bench, 0, sizeof(*bench));
	error = tutti_memory_alloc(checker->device, TUTTI_MEMORY_CARD, words * 8, (void **)&bench->out);
	if (!error)
		error = tutti_memory_alloc(checker->device, TUTTI_MEMORY_SYSTEM, sizeof(*bench->args),
					   (void **)&bench->args);
	if (!error)
		error = tutti_signal_create(checker->device, 0, &bench->done);
	if (!error)
		error = tutti_queue_create(checker->device, &options, &bench->queue);
	if (error)
		bench_fini(checker, bench);
	else
		*bench->args = (struct tool_args){ bench->out, 1 };
	return error;
}

/* Dispatch with a signal of 1; no waiting. */
static int start(struct checker *checker, struct bench *bench, const char *name, const uint32_t grid[3],
		 const uint16_t workgroup[3], bool signal)
{
	struct tutti_kernel kernel;
	struct tutti_launch launch = {
		.kernel = &kernel,
		.grid = { grid[0], grid[1], grid[2] },
		.workgroup = { workgroup[0], workgroup[1], workgroup[2] },
		.kernarg = bench->args,
		.signal = signal ? bench->done : NULL,
		.barrier = true,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};
	int error = tutti_executable_kernel(checker->executable, name, &kernel);

	if (signal)
		tutti_signal_store(bench->done, 1);
	return error ? error : tutti_dispatch(bench->queue, &launch);
}

/* Wait for the signal; when the queue has stopped instead, say why. */
static int finish(struct checker *checker, struct bench *bench)
{
	struct tutti_fault fault = { 0 };
	int error = tool_wait(bench->queue, bench->done, PATIENCE, &fault);

	if (fault.code)
		return says(checker, "queue stopped: %s (SM %d, pc %#llx, address %#llx)", tutti_strerror(fault.code),
			    (int16_t)fault.sm, (unsigned long long)fault.pc, (unsigned long long)fault.address);
	return error;
}

static int launch(struct checker *checker, struct bench *bench, const char *name, const uint32_t grid[3],
		  const uint16_t workgroup[3])
{
	int error = start(checker, bench, name, grid, workgroup, true);

	return error ? error : finish(checker, bench);
}

static int launch_1d(struct checker *checker, struct bench *bench, const char *name, uint32_t items,
		     uint16_t workgroup)
{
	return launch(checker, bench, name, (uint32_t[]){ items, 1, 1 }, (uint16_t[]){ workgroup, 1, 1 });
}

/* ---- the checks --------------------------------------------------------- */

static int check_boot(struct checker *checker)
{
	uint32_t version = tutti_device_firmware_version(checker->device);

	says(checker, "%s, firmware %u.%u, %.1f ms", tutti_device_transport(checker->device),
	     TUTTI_VERSION_MAJOR(version), TUTTI_VERSION_MINOR(version), 1e3 * checker->boot_seconds);
	return 0;
}

static int check_memory(struct checker *checker)
{
	static const enum tutti_memory pools[] = { TUTTI_MEMORY_SYSTEM, TUTTI_MEMORY_CARD };

	for (unsigned p = 0; p < 2; p++) {
		uint64_t *memory;
		int error = tutti_memory_alloc(checker->device, pools[p], 1 << 20, (void **)&memory);

		if (error)
			return error;
		for (unsigned i = 0; i < (1 << 20) / 8; i++) {
			if (memory[i])
				return says(checker, "new memory is not zero");
			memory[i] = i * 0x9e3779b97f4a7c15ull;
		}
		for (unsigned i = 0; i < (1 << 20) / 8; i++)
			if (memory[i] != i * 0x9e3779b97f4a7c15ull)
				return says(checker, "word %u reads back wrong", i);
		error = tutti_memory_free(checker->device, memory);
		if (error)
			return error;
	}
	return 0;
}

static int check_copy(struct checker *checker)
{
	const size_t bytes = 100000;
	struct bench bench;
	uint64_t *from = NULL;
	int error = bench_init(checker, &bench, 0, 0, bytes / 8);

	if (error)
		return error;
	error = tutti_memory_alloc(checker->device, TUTTI_MEMORY_SYSTEM, bytes, (void **)&from);
	for (size_t i = 0; !error && i < bytes / 8; i++)
		from[i] = i * 3 + 1;
	if (!error)
		error = tutti_copy(bench.queue, bench.out, from, bytes);
	if (!error && memcmp(bench.out, from, bytes))
		error = says(checker, "the copy differs");
	tutti_memory_free(checker->device, from);
	bench_fini(checker, &bench);
	return error;
}

static int check_signal(struct checker *checker)
{
	tutti_signal_t signal;
	int64_t seen = 0;
	int error = tutti_signal_create(checker->device, 3, &signal);

	if (error)
		return error;
	error = tutti_signal_wait(checker->device, signal, TUTTI_GTE, 3, 0, &seen);
	if (!error && seen != 3)
		error = says(checker, "value is %lld, not 3", (long long)seen);
	if (!error && tutti_signal_wait(checker->device, signal, TUTTI_EQ, 0, 2000000, NULL) != -ETIMEDOUT)
		error = says(checker, "a wait for a signal that nobody sets did not time out");
	tutti_signal_destroy(checker->device, signal);
	return error;
}

static int ids_wrong(struct checker *checker, const uint64_t *out, const uint32_t grid[3])
{
	for (uint64_t z = 0; z < grid[2]; z++)
		for (uint64_t y = 0; y < grid[1]; y++)
			for (uint64_t x = 0; x < grid[0]; x++)
				if (*out++ != 1 + (x | y << 16 | z << 32))
					return says(checker, "work-item (%llu, %llu, %llu) did not run",
						    (unsigned long long)x, (unsigned long long)y,
						    (unsigned long long)z);
	return 0;
}

/* Grids that workgroups divide and that they do not. */
static int check_plain(struct checker *checker)
{
	static const struct {
		uint32_t grid[3];
		uint16_t workgroup[3];
	} shapes[] = {
		{ { 1, 1, 1 }, { 1, 1, 1 } },	 { { 4096, 1, 1 }, { 256, 1, 1 } }, { { 1000, 1, 1 }, { 96, 1, 1 } },
		{ { 64, 64, 1 }, { 16, 16, 1 } }, { { 37, 21, 1 }, { 8, 5, 1 } },    { { 16, 16, 16 }, { 4, 4, 4 } },
		{ { 7, 11, 5 }, { 3, 4, 2 } },
	};
	struct bench bench;
	int error = bench_init(checker, &bench, 0, 0, 4096);

	if (error)
		return error;
	for (unsigned s = 0; s < sizeof(shapes) / sizeof(*shapes) && !error; s++) {
		memset(bench.out, 0, 4096 * 8);
		error = launch(checker, &bench, "tool_ids", shapes[s].grid, shapes[s].workgroup);
		if (!error)
			error = ids_wrong(checker, bench.out, shapes[s].grid);
	}
	bench_fini(checker, &bench);
	return error;
}

/* Two launches of tool_step, recorded, then replayed @rounds times in @form. */
static int replay(struct checker *checker, enum tutti_replay_form form, unsigned packets, bool change)
{
	const uint32_t grid[3] = { 64, 1, 1 };
	const uint16_t workgroup[3] = { 64, 1, 1 };
	const unsigned rounds = 5;
	struct tutti_recording *recording = NULL;
	struct tool_args *other = NULL;
	uint64_t expected = 0;
	struct bench bench;
	int error = bench_init(checker, &bench, TUTTI_QUEUE_EXTENDED, 0, 64);

	if (error)
		return error;
	error = tutti_memory_alloc(checker->device, TUTTI_MEMORY_SYSTEM, sizeof(*other), (void **)&other);
	if (!error)
		*other = (struct tool_args){ bench.out, 5 };
	if (!error)
		error = tutti_record_begin(bench.queue);
	if (!error)
		error = start(checker, &bench, "tool_step", grid, workgroup, false);
	if (!error)
		error = start(checker, &bench, "tool_step", grid, workgroup, true);
	if (!error)
		error = tutti_record_end(bench.queue, &recording);
	if (!error)
		error = tutti_recording_form(recording, form);
	for (unsigned r = 0; r < rounds && !error; r++) {
		uint64_t before = *bench.queue->write_index;

		if (change && r == 2)
			error = tutti_recording_set_kernarg(recording, 0, other);
		tutti_signal_store(bench.done, 1);
		if (!error)
			error = tutti_replay(recording);
		if (!error)
			error = finish(checker, &bench);
		expected = (expected * 3 + (change && r >= 2 ? 5 : 1)) * 3 + 1;
		if (!error && bench.out[63] != expected)
			error = says(checker, "wrong result in round %u", r);
		if (!error && r == rounds - 1 && *bench.queue->write_index - before != packets)
			error = says(checker, "a replay took %llu packets, not %u",
				     (unsigned long long)(*bench.queue->write_index - before), packets);
	}
	if (recording)
		tutti_recording_destroy(recording);
	tutti_memory_free(checker->device, other);
	bench_fini(checker, &bench);
	return error;
}

static int check_reference(struct checker *checker)
{
	return replay(checker, TUTTI_REPLAY_REFERENCE, 2, false);
}

static int check_condensed(struct checker *checker)
{
	return replay(checker, TUTTI_REPLAY_CONDENSED, 1, false);
}

static int check_changed(struct checker *checker)
{
	return replay(checker, TUTTI_REPLAY_CONDENSED, 1, true);
}

static int check_barrier(struct checker *checker)
{
	const unsigned words = 8 * TOOL_GROUP;
	struct bench bench;
	int error = bench_init(checker, &bench, 0, 0, words);

	if (error)
		return error;
	for (unsigned i = 0; i < words; i++)
		bench.out[i] = i;
	error = launch_1d(checker, &bench, "tool_barrier", words, TOOL_GROUP);
	for (unsigned i = 0; i < words && !error; i++)
		if (bench.out[i] != i / TOOL_GROUP * TOOL_GROUP + TOOL_GROUP - 1 - i % TOOL_GROUP)
			error = says(checker, "word %u is wrong", i);
	bench_fini(checker, &bench);
	return error;
}

static int check_atomic(struct checker *checker)
{
	const uint32_t items = 10000;
	struct bench bench;
	int error = bench_init(checker, &bench, 0, 0, 1);

	if (error)
		return error;
	bench.args->value = 3;
	error = launch_1d(checker, &bench, "tool_atomic", items, 64);
	if (!error && bench.out[0] != 3 * items)
		error = says(checker, "sum is %llu, not %u", (unsigned long long)bench.out[0], 3 * items);
	bench_fini(checker, &bench);
	return error;
}

struct caught {
	char text[256];
	size_t bytes;
};

static void catch_text(void *context, const char *text, size_t bytes)
{
	struct caught *caught = context;

	if (bytes > sizeof(caught->text) - 1 - caught->bytes)
		bytes = sizeof(caught->text) - 1 - caught->bytes;
	memcpy(caught->text + caught->bytes, text, bytes);
	caught->bytes += bytes;
}

static int check_print(struct checker *checker)
{
	struct caught caught = { 0 };
	struct bench bench;
	int error = bench_init(checker, &bench, 0, 0, 1);

	if (error)
		return error;
	tutti_device_flush_print(checker->device);
	tutti_device_print_handler(checker->device, catch_text, &caught);
	bench.args->value = 12345678901ull;
	error = launch_1d(checker, &bench, "tool_print", 64, 64);
	tutti_device_flush_print(checker->device);
	tutti_device_print_handler(checker->device, NULL, NULL);
	if (!error && strcmp(caught.text, "validate 12345678901 text 2.500\n"))
		error = says(checker, "got \"%.*s\"", (int)strcspn(caught.text, "\n"), caught.text);
	bench_fini(checker, &bench);
	return error;
}

/* The queue must stop with @code, another must not notice, and a reset must bring it back. */
static int stops(struct checker *checker, const char *kernel, void *address, uint32_t timeout_ms, uint16_t code,
		 struct tutti_fault *fault)
{
	struct bench bad, good;
	int error = bench_init(checker, &bad, 0, timeout_ms, 64);

	if (error)
		return error;
	error = bench_init(checker, &good, 0, 0, 1);
	if (error) {
		bench_fini(checker, &bad);
		return error;
	}
	if (address)
		bad.args->out = address;
	error = start(checker, &bad, kernel, (uint32_t[]){ 1, 1, 1 }, (uint16_t[]){ 1, 1, 1 }, true);
	if (!error)
		error = launch_1d(checker, &good, "tool_atomic", 100, 10);
	if (!error && good.out[0] != 100)
		error = says(checker, "another queue was disturbed");
	if (!error && tool_wait(bad.queue, bad.done, PATIENCE, fault) != -EIO)
		error = says(checker, "the queue did not stop");
	if (!error && fault->code != code)
		error = says(checker, "reported \"%s\" instead of \"%s\"", tutti_strerror(fault->code),
			     tutti_strerror(code));
	if (!error)
		error = tutti_queue_reset(bad.queue);
	bad.args->out = bad.out;
	if (!error)
		error = launch_1d(checker, &bad, "tool_atomic", 64, 64);
	if (!error && bad.out[0] != 64 * bad.args->value)
		error = says(checker, "the queue does not work after its reset");
	bench_fini(checker, &good);
	bench_fini(checker, &bad);
	return error;
}

static int check_trap(struct checker *checker)
{
	struct tutti_fault fault = { 0 };
	int error = stops(checker, "tool_abort", NULL, 0, TUTTI_ERROR_KERNEL_TRAP, &fault);

	if (!error && (fault.cause != TUTTI_CAUSE_ABORT || fault.address != 1))
		return says(checker, "cause %u, code %llu", fault.cause, (unsigned long long)fault.address);
	return error;
}

static int check_fault(struct checker *checker)
{
	uint64_t address = 0x123456789008;
	struct tutti_fault fault = { 0 };
	int error = stops(checker, "tool_write", (void *)(uintptr_t)address, 0, TUTTI_ERROR_MEMORY_FAULT, &fault);

	if (!error && (fault.address != address || fault.access != TUTTI_ACCESS_WRITE || !fault.pc))
		return says(checker, "address %#llx, access %u, pc %#llx", (unsigned long long)fault.address,
			    fault.access, (unsigned long long)fault.pc);
	return error;
}

static int check_runaway(struct checker *checker)
{
	struct tutti_fault fault = { 0 };

	return stops(checker, "tool_forever", NULL, 200, TUTTI_ERROR_TIMEOUT, &fault);
}

static int check_counters(struct checker *checker)
{
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];
	struct bench bench;
	int error = bench_init(checker, &bench, 0, 0, 1);

	if (error)
		return error;
	error = tutti_device_counters(checker->device, before);
	if (!error)
		error = launch_1d(checker, &bench, "tool_empty", 640, 64);
	if (!error)
		error = tutti_device_counters(checker->device, after);
	if (!error && (after[TUTTI_COUNTER_KERNELS] - before[TUTTI_COUNTER_KERNELS] != 1 ||
		       after[TUTTI_COUNTER_CTAS_COMPLETED] - before[TUTTI_COUNTER_CTAS_COMPLETED] != 10))
		error = says(checker, "one launch of 10 workgroups counted as %llu and %llu",
			     (unsigned long long)(after[TUTTI_COUNTER_KERNELS] - before[TUTTI_COUNTER_KERNELS]),
			     (unsigned long long)(after[TUTTI_COUNTER_CTAS_COMPLETED] -
						  before[TUTTI_COUNTER_CTAS_COMPLETED]));
	bench_fini(checker, &bench);
	return error;
}

const struct check checks[] = {
	{ "boot", "firmware boots and speaks this library's contract", check_boot },
	{ "memory", "system and card memory", check_memory },
	{ "copy", "copy by the card", check_copy },
	{ "signal", "signals and waiting", check_signal },
	{ "plain", "plain dispatch in one to three dimensions", check_plain },
	{ "barrier", "workgroup barrier and shared memory", check_barrier },
	{ "atomic", "atomics of many work-items on one word", check_atomic },
	{ "print", "printf of kernels", check_print },
	{ "reference", "reference packets", check_reference },
	{ "condensed", "condensed packets", check_condensed },
	{ "changed", "replay with a changed argument", check_changed },
	{ "trap", "a kernel that aborts stops its queue only", check_trap },
	{ "fault", "a bad address is reported, the queue recovers", check_fault },
	{ "runaway", "a kernel that never ends is stopped", check_runaway },
	{ "counters", "counters", check_counters },
	{ NULL, NULL, NULL },
};

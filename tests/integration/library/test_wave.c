/* SPDX-License-Identifier: MIT */
/* Kernels on the card through libtutti: SYS-07, SYS-48, TSK-14, TSK-15, CGA-19, CGA-20 and wave faults (PKT-06). */
#include <glob.h>
#include <inttypes.h>
#include <math.h>

#include "rig.h"

#define T(name, function) { name, function, NULL, NULL, NULL }

static void vector_add(void **state)
{
	enum { N = 100003 };
	struct args_add *args = rig_alloc(rig, sizeof(*args));
	float *a = rig_alloc(rig, N * 4), *b, *c;
	unsigned i;

	assert_int_equal(tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, N * 4, (void **)&b), 0);
	c = rig_alloc(rig, N * 4 + 64);
	for (i = 0; i < N; i++) {
		a[i] = (float)i;
		b[i] = (float)(2 * i + 1);
	}
	*args = (struct args_add){ c, a, b, N, 0 };
	rig_run(rig, "vadd", N, 256, args);
	for (i = 0; i < N; i++)
		assert_true(c[i] == a[i] + b[i]);
	assert_true(c[N] == 0);
}

/* every work-item runs exactly once, and every workgroup sees its right position */
static void shape(uint32_t gx, uint32_t gy, uint32_t gz, uint16_t wx, uint16_t wy, uint16_t wz)
{
	struct tutti_kernel kernel = rig_kernel(rig, "look");
	tutti_signal_t signal = rig_signal(rig, 1);
	struct tutti_launch launch = { .kernel = &kernel, .grid = { gx, gy, gz }, .workgroup = { wx, wy, wz },
				       .signal = signal, .acquire = 2, .release = 2 };
	uint32_t groups[3] = { (gx + wx - 1) / wx, (gy + wy - 1) / wy, (gz + wz - 1) / wz };
	size_t n = (size_t)groups[0] * groups[1] * groups[2], items = (size_t)gx * gy * gz, i, total = 0;
	struct args_seen *args = rig_alloc(rig, sizeof(*args));

	args->seen = rig_alloc(rig, n * sizeof(struct seen));
	args->items = rig_alloc(rig, items * 4);
	launch.kernarg = args;
	assert_int_equal(tutti_dispatch(rig->queue, &launch), 0);
	rig_wait(rig, signal);
	for (i = 0; i < items; i++)
		if (args->items[i] != 1)
			fail_msg("item %zu ran %u times", i, args->items[i]);
	for (i = 0; i < n; i++) {
		const struct seen *s = &args->seen[i];
		uint32_t x = (uint32_t)(i % groups[0]), y = (uint32_t)(i / groups[0] % groups[1]);
		uint32_t z = (uint32_t)(i / groups[0] / groups[1]);

		assert_int_equal(s->runs, 1);
		assert_int_equal(s->linear, i);
		assert_int_equal(s->cta[0], x);
		assert_int_equal(s->cta[1], y);
		assert_int_equal(s->cta[2], z);
		assert_int_equal(s->groups[0], groups[0]);
		assert_int_equal(s->grid[1], gy);
		assert_int_equal(s->workgroup[2], wz);
		assert_int_equal(s->current[0], x == groups[0] - 1 ? gx - x * wx : wx);
		assert_int_equal(s->current[1], y == groups[1] - 1 ? gy - y * wy : wy);
		assert_int_equal(s->current[2], z == groups[2] - 1 ? gz - z * wz : wz);
		assert_int_equal(s->items, s->current[0] * s->current[1] * s->current[2]);
		total += s->items;
	}
	assert_int_equal(total, items);
	tutti_memory_free(rig->device, args->seen);
	tutti_memory_free(rig->device, args->items);
	tutti_memory_free(rig->device, args);
	tutti_signal_destroy(rig->device, signal);
}

static void ids_1d(void **state)
{
	shape(1, 1, 1, 1, 1, 1);
	shape(1000, 1, 1, 64, 1, 1);
	shape(33, 1, 1, 32, 1, 1);
	shape(20000, 1, 1, 3, 1, 1);
}

static void ids_2d(void **state)
{
	shape(100, 70, 1, 16, 16, 1);
	shape(7, 300, 1, 1, 5, 1);
	shape(300, 7, 1, 300, 2, 1);
}

static void ids_3d(void **state)
{
	shape(17, 13, 11, 4, 4, 4);
	shape(2, 3, 500, 2, 1, 8);
	shape(64, 64, 8, 8, 8, 8);
}

static void many_ctas(void **state)
{
	shape(300000, 1, 1, 1, 1, 1);
}

static void shared_memory_and_barriers(void **state)
{
	enum { GROUPS = 300 };
	uint64_t *out = rig_alloc(rig, GROUPS * 8);
	uint16_t size;
	unsigned i;

	for (size = 32; size <= 1024; size *= 2) {
		rig_run(rig, "tree", GROUPS * size, size, rig_args(rig, out, 0, 0));
		for (i = 0; i < GROUPS; i++)
			assert_int_equal(out[i], (uint32_t)((uint64_t)i * size * size + (uint64_t)size * (size - 1) / 2));
	}
}

static void shared_memory_is_private_to_the_cta(void **state)
{
	static const uint32_t bytes[] = { 16, 2048, 2049, 10000, 65536, 131072 };
	uint64_t *word = rig_alloc(rig, 64);
	struct tutti_kernel kernel = rig_kernel(rig, "own_shared");
	unsigned i;

	for (i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		tutti_signal_t signal = rig_signal(rig, 1);
		struct tutti_launch launch = { .kernel = &kernel, .grid = { 500 * 64 }, .workgroup = { 64 },
					       .dynamic_group_bytes = bytes[i], .signal = signal,
					       .kernarg = rig_args(rig, word, 0, 0), .release = 2 };

		word[0] = word[1] = 0;
		assert_int_equal(tutti_dispatch(rig->queue, &launch), 0);
		rig_wait(rig, signal);
		assert_int_equal(word[0], 0);
		assert_int_equal(word[1], 1000); /* both waves of each */
	}
}

static void barrier_without_the_leavers(void **state)
{
	uint64_t *word = rig_alloc(rig, 50 * 8);
	unsigned round;

	rig_run(rig, "leavers", 10 * 256, 256, rig_args(rig, word, 0, 0));
	for (round = 0; round < 50; round++) {
		unsigned gone = 0, w;

		for (w = 1; w < 8; w += 2)
			gone += round >= 10 + w;
		assert_int_equal(word[round], 10 * (8 - gone));
	}
}

static void atomics_are_exact(void **state)
{
	uint64_t *host = rig_alloc(rig, 64), *card;

	assert_int_equal(tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, 64, (void **)&card), 0);
	rig_run(rig, "count", 200000, 128, rig_args(rig, host, 3, 0));
	rig_run(rig, "count", 200000, 128, rig_args(rig, card, 5, 0));
	assert_int_equal(*host, 600000);
	assert_int_equal(*card, 1000000);
}

static char printed[1 << 20];
static size_t printed_bytes;

static void collect(void *context, const char *text, size_t bytes)
{
	assert_true(printed_bytes + bytes < sizeof(printed));
	memcpy(printed + printed_bytes, text, bytes);
	printed_bytes += bytes;
	printed[printed_bytes] = 0;
}

static void printing(void **state)
{
	char *text = rig_alloc(rig, 64), line[64];
	unsigned i, lines = 0;
	char *at;

	strcpy(text, "hello card");
	printed_bytes = 0;
	tutti_device_print_handler(rig->device, collect, NULL);
	rig_run(rig, "say", 200 * 64, 64, rig_args(rig, text, 123456789012345, 0));
	tutti_device_flush_print(rig->device);
	for (i = 0; i < 200; i++) {
		snprintf(line, sizeof(line), "hello card 123456789012345 cta %u\n", i);
		if (!strstr(printed, line))
			fail_msg("missing: %s", line);
	}
	for (at = printed; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 200);
	tutti_device_print_handler(rig->device, NULL, NULL);
}

static void globals(void **state)
{
	uint64_t *word = rig_alloc(rig, 64);
	uint32_t *zeroed;
	void *address;
	size_t bytes;

	rig_run(rig, "globals", 1, 1, rig_args(rig, word, 99, 0));
	assert_int_equal(word[0], 55);
	assert_int_equal(word[1], 33);
	assert_int_equal(word[2], 0);
	assert_int_equal(tutti_executable_variable(rig->code, "zeroed", &address, &bytes), 0);
	assert_int_equal(bytes, 400);
	zeroed = address;
	assert_int_equal(zeroed[7], 99);
	assert_int_equal(tutti_executable_variable(rig->code, "table", &address, &bytes), 0);
	((uint32_t *)address)[0] = 1000;
	rig_run(rig, "globals", 1, 1, rig_args(rig, word, 0, 0));
	assert_int_equal(word[0], 1044);
	((uint32_t *)address)[0] = 11;
	zeroed[7] = 0;
	assert_int_equal(tutti_executable_variable(rig->code, "nothing", &address, &bytes), -ENOENT);
}

static void mathematics(void **state)
{
	enum { N = 1000 };
	struct args_math *args = rig_alloc(rig, sizeof(*args));
	unsigned i;

	args->in = rig_alloc(rig, N * 8);
	args->out = rig_alloc(rig, N * 8);
	args->n = N;
	for (i = 0; i < N; i++)
		((double *)args->in)[i] = i * 0.01;
	rig_run(rig, "mathematics", N, 100, args);
	for (i = 0; i < N; i++) {
		double x = args->in[i], want = sin(x) * exp(-x) + sqrt(x + 1.0);

		assert_true(fabs(args->out[i] - want) <= 4e-16 * (1 + fabs(want)));
	}
}

static void required_workgroup(void **state)
{
	uint64_t *word = rig_alloc(rig, 64);
	struct tutti_kernel kernel = rig_kernel(rig, "three_by_two");
	struct tutti_launch launch = { .kernel = &kernel, .grid = { 7, 4 }, .workgroup = { 3, 2 },
				       .kernarg = rig_args(rig, word, 0, 0), .signal = rig_signal(rig, 1) };

	assert_int_equal(tutti_dispatch(rig->queue, &launch), 0);
	rig_wait(rig, launch.signal);
	assert_int_equal(*word, 28);
}

/* libtutti may refuse it, or the card */
static void wrong_workgroup(const char *name, uint16_t size)
{
	struct tutti_kernel kernel = rig_kernel(rig, name);
	struct tutti_launch launch = { .kernel = &kernel, .grid = { 256 }, .workgroup = { size },
				       .kernarg = rig_args(rig, rig_alloc(rig, 64), 0, 0), .signal = rig_signal(rig, 1) };
	int error = tutti_dispatch(rig->queue, &launch);

	if (error) {
		assert_int_equal(error, -EINVAL);
		return;
	}
	assert_int_equal(rig_fault(rig, rig->queue).code, TUTTI_ERROR_WORKGROUP);
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
}

static void workgroup_not_as_required(void **state)
{
	wrong_workgroup("three_by_two", 6);
	wrong_workgroup("at_most_64", 65);
}

/* ---- faults ---- */

static void at_entry_of(const struct tutti_fault *fault, const char *name, uint64_t within)
{
	struct tutti_kernel kernel = rig_kernel(rig, name);
	uint64_t entry = kernel.object + (uint64_t)kernel.descriptor->entry_offset;

	assert_int_equal(fault->engine, fault->code == TUTTI_ERROR_TIMEOUT ? TUTTI_ENGINE_FIRMWARE : TUTTI_ENGINE_WAVE);
	assert_true(fault->sm < tutti_device_discovery(rig->device)->sms);
	assert_in_range(fault->pc, entry, entry + within);
}

static void fault_trap(void **state)
{
	struct tutti_fault fault = rig_fails(rig, "trap", 64, 64, rig_args(rig, NULL, 0, 0), TUTTI_ERROR_KERNEL_TRAP);

	assert_int_equal(fault.cause, TUTTI_CAUSE_ILLEGAL);
	at_entry_of(&fault, "trap", 16);
}

static void fault_break(void **state)
{
	struct tutti_fault fault =
		rig_fails(rig, "breakpoint", 1, 1, rig_args(rig, NULL, 0, 0), TUTTI_ERROR_KERNEL_TRAP);

	assert_int_equal(fault.cause, TUTTI_CAUSE_BREAK);
	at_entry_of(&fault, "breakpoint", 16);
}

static void fault_abort(void **state)
{
	struct tutti_fault fault = rig_fails(rig, "give_up", 1, 1, rig_args(rig, NULL, 0x1234567890, 0),
					     TUTTI_ERROR_KERNEL_TRAP);

	assert_int_equal(fault.cause, TUTTI_CAUSE_ABORT);
	assert_int_equal(fault.address, 0x1234567890);
}

static void fault_assert(void **state)
{
	uint64_t *word = rig_alloc(rig, 64);

	printed_bytes = 0;
	tutti_device_print_handler(rig->device, collect, NULL);
	rig_run(rig, "check", 1, 1, rig_args(rig, word, 1, 0));
	assert_int_equal(*word, 1);
	rig_fails(rig, "check", 1, 1, rig_args(rig, word, 2, 0), TUTTI_ERROR_KERNEL_TRAP);
	tutti_device_flush_print(rig->device);
	assert_non_null(strstr(printed, "args->value == 1"));
	tutti_device_print_handler(rig->device, NULL, NULL);
}

static void fault_addresses(void **state)
{
	static const uint64_t bad[] = { 0, 8, 0x1000, 0x7f0012345678, 0x0000a00000000000, 0x0000900000000000, 1ull << 63,
					~0ull - 7 };
	uint64_t *word = rig_alloc(rig, 64);
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tutti_fault fault;

		print_message("# %llx\n", (unsigned long long)bad[i]);
		fault = rig_fails(rig, "peek", 1, 1, rig_args(rig, word, bad[i], 0), TUTTI_ERROR_MEMORY_FAULT);
		assert_int_equal(fault.address, bad[i]);
		assert_int_equal(fault.access, TUTTI_ACCESS_READ);
		at_entry_of(&fault, "peek", 64);
		fault = rig_fails(rig, "poke", 1, 1, rig_args(rig, (void *)bad[i], 1, 0), TUTTI_ERROR_MEMORY_FAULT);
		assert_int_equal(fault.address, bad[i]);
		assert_int_equal(fault.access, TUTTI_ACCESS_WRITE);
		at_entry_of(&fault, "poke", 64);
	}
}

static void fault_code_is_read_only(void **state)
{
	struct tutti_kernel kernel = rig_kernel(rig, "empty");
	struct tutti_fault fault = rig_fails(rig, "poke", 1, 1,
					     rig_args(rig, (void *)(uintptr_t)kernel.object, 1, 0), TUTTI_ERROR_MEMORY_FAULT);

	assert_int_equal(fault.cause, TUTTI_CAUSE_PROTECTION);
}

/* Instructions, and not only the descriptor before them: "empty" still ends after a kernel tried to change it. */
static void fault_store_into_code(void **state)
{
	struct tutti_kernel kernel = rig_kernel(rig, "empty");
	uint64_t entry = kernel.object + (uint64_t)kernel.descriptor->entry_offset;
	struct tutti_fault fault = rig_fails(rig, "poke", 1, 1, rig_args(rig, (void *)entry, 0, 0), TUTTI_ERROR_MEMORY_FAULT);

	assert_int_equal(fault.cause, TUTTI_CAUSE_PROTECTION);
	assert_int_equal(fault.access, TUTTI_ACCESS_WRITE);
	assert_int_equal(fault.address, entry);
	rig_run(rig, "empty", 1, 1, rig_args(rig, NULL, 0, 0));
}

/* A kernel without shared memory reaches none, neither its own nor that of another SM. */
static void fault_shared_of_others(void **state)
{
	static const uint64_t offset[] = { 0, 65536, 524288, 10000000 };
	uint64_t *word = rig_alloc(rig, 64);

	for (unsigned i = 0; i < sizeof(offset) / sizeof(*offset); i++) {
		struct tutti_fault fault = rig_fails(rig, "peek_shared", 1, 1, rig_args(rig, word, offset[i], 0),
						     TUTTI_ERROR_MEMORY_FAULT);

		assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
		assert_int_equal(fault.access, TUTTI_ACCESS_READ);
	}
	assert_int_equal(*word, 0);
}

/* Far behind its buffer a kernel meets memory that the program has not allocated. */
static void fault_overrun_of_a_buffer(void **state)
{
	static const uint64_t beyond[] = { 80 << 20, 800 << 20 };
	char *small = rig_alloc(rig, 4096);

	for (unsigned i = 0; i < sizeof(beyond) / sizeof(*beyond); i++) {
		struct tutti_fault fault = rig_fails(rig, "poke", 1, 1, rig_args(rig, small + beyond[i], 1, 0),
						     TUTTI_ERROR_MEMORY_FAULT);

		assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
		assert_int_equal(fault.address, (uintptr_t)small + beyond[i]);
	}
}

static void fault_data_is_not_code(void **state)
{
	uint64_t *word = rig_alloc(rig, 4096);
	struct tutti_fault fault = rig_fails(rig, "jump", 1, 1, rig_args(rig, NULL, (uintptr_t)word, 0),
					     TUTTI_ERROR_MEMORY_FAULT);

	assert_int_equal(fault.access, TUTTI_ACCESS_EXECUTE);
	assert_int_equal(fault.address, (uintptr_t)word);
}

static void fault_unaligned_atomic_or_odd_jump(void **state)
{
	uint64_t *word = rig_alloc(rig, 64);
	struct tutti_fault fault = rig_fails(rig, "count", 1, 1, rig_args(rig, (char *)word + 1, 1, 0),
					     TUTTI_ERROR_MEMORY_FAULT);

	assert_int_equal(fault.cause, TUTTI_CAUSE_ALIGNMENT);
	assert_int_equal(fault.address, (uintptr_t)word + 1);
}

static void fault_stack(void **state)
{
	uint64_t *word = rig_alloc(rig, 64);
	struct tutti_fault fault = rig_fails(rig, "overrun", 1, 1, rig_args(rig, word, 0, 0),
					     TUTTI_ERROR_MEMORY_FAULT);

	assert_int_equal(fault.cause, TUTTI_CAUSE_STACK);
}

static void fault_service(void **state)
{
	uint64_t *word = rig_alloc(rig, 64);
	struct tutti_fault fault = rig_fails(rig, "bad_service", 1, 1, rig_args(rig, word, 9999, 0),
					     TUTTI_ERROR_KERNEL_TRAP);

	assert_int_equal(fault.cause, TUTTI_CAUSE_SERVICE);
}

/* Return: ns from the launch until the queue's error is known. */
static uint64_t watchdog(const char *name, unsigned queue_ms)
{
	struct tutti_queue_options o = { .timeout_ms = queue_ms };
	tutti_signal_t signal = rig_signal(rig, 1);
	uint64_t *word = rig_alloc(rig, 64);
	struct tutti_queue *queue;
	struct tutti_fault fault;
	uint64_t start, took;

	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
	start = rig_ns(); /* before the launch, because this thread may lose its processor right after it */
	rig_launch(rig, queue, name, 64 * 1000, 64, rig_args(rig, word, 0, 0), signal);
	fault = rig_fault(rig, queue);
	took = rig_ns() - start;
	assert_int_equal(fault.code, TUTTI_ERROR_TIMEOUT);
	assert_int_equal(fault.cause, TUTTI_CAUSE_WATCHDOG);
	assert_true(took >= queue_ms * 900000ull);
	at_entry_of(&fault, name, 256);
	rig_run(rig, "poke", 1, 1, rig_args(rig, word, 5, 0)); /* other queues are not affected */
	assert_int_equal(tutti_queue_reset(queue), 0);
	rig_launch(rig, queue, "poke", 1, 1, rig_args(rig, word, 6, 0), signal);
	rig_wait(rig, signal);
	assert_int_equal(*word, 6);
	tutti_queue_destroy(queue);
	return took;
}

static void fault_runaway(void **state)
{
	watchdog("spin", 100);
}

/* How long all threads of this process together have waited for a processor although they were ready to run. */
static uint64_t waited_ns(void)
{
	uint64_t sum = 0;
	glob_t paths;

	if (glob("/proc/self/task/*/schedstat", 0, NULL, &paths))
		return 0;
	for (size_t i = 0; i < paths.gl_pathc; i++) {
		FILE *file = fopen(paths.gl_pathv[i], "r");
		uint64_t ran, waited;

		if (file && fscanf(file, "%" SCNu64 " %" SCNu64, &ran, &waited) == 2)
			sum += waited;
		if (file)
			fclose(file);
	}
	globfree(&paths);
	return sum;
}

/*
 * Loops without calls do not delay the limit: it is kept within 1.2 times, not counting how long threads wait for a
 * processor on a busy machine. If the card is another process, as it is for a guest, that time is not known. Nor is the
 * time that a hypervisor takes from this machine's processors, so there are several tries.
 */
static void runaway_is_stopped_in_time(void **state)
{
	enum { LIMIT_MS = 500 };
	unsigned tries = 10;
	uint64_t took, waited;

	rig_needs_emulator();
	do {
		waited = waited_ns();
		took = watchdog("spin", LIMIT_MS);
		waited = waited_ns() - waited;
	} while (took > LIMIT_MS * 1200000ull + waited && --tries);
	assert_in_range(took, LIMIT_MS * 900000ull, LIMIT_MS * 1200000ull + waited);
}

static void fault_hang_at_barrier(void **state)
{
	watchdog("hang", 100);
}

static void destroy_kills_what_runs(void **state)
{
	struct tutti_queue *queue = rig_queue(rig, 0);
	uint64_t *words = rig_alloc(rig, 64), *word = rig_alloc(rig, 64);

	rig_launch(rig, queue, "gate", 64 * 100, 64, rig_args(rig, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]),
		   NULL);
	rig_launch(rig, queue, "spin", 64, 64, rig_args(rig, NULL, 0, 0), NULL);
	rig_poll_until(queue, &words[0], 100, 2000);
	tutti_queue_destroy(queue);
	words[1] = 1;
	rig_run(rig, "poke", 1, 1, rig_args(rig, word, 6, 0));
	assert_int_equal(words[2], 0);
	shape(1000, 1, 1, 64, 1, 1); /* all resources are back */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-48, SYS-07: vector add, host and card memory", vector_add),
		T("CGA-19, CGA-20, TSK-15: ids of 1-D grids", ids_1d),
		T("CGA-19, CGA-20, TSK-15: ids of 2-D grids", ids_2d),
		T("CGA-19, CGA-20, TSK-15: ids of 3-D grids", ids_3d),
		T("CGA-13, CGA-20: 300000 workgroups, each once", many_ctas),
		T("SYS-07: shared memory and barriers, workgroups of 32 to 1024", shared_memory_and_barriers),
		T("SYS-07: shared memory belongs to its workgroup", shared_memory_is_private_to_the_cta),
		T("SYS-07: a barrier waits for the waves still running", barrier_without_the_leavers),
		T("SYS-07: atomics of all waves are exact", atomics_are_exact),
		T("SYS-07: printf of kernels, line by line", printing),
		T("SYS-07: global variables and relocations", globals),
		T("SYS-07: mathematics as on the host", mathematics),
		T("SYS-07: required workgroup size", required_workgroup),
		T("SYS-07, PKT-06: workgroup other than required", workgroup_not_as_required),
		T("SYS-07, PKT-06: illegal instruction: wave and pc", fault_trap),
		T("SYS-07, PKT-06: ebreak", fault_break),
		T("SYS-07, PKT-06: abort with a code", fault_abort),
		T("SYS-07: a failed assertion prints and stops", fault_assert),
		T("SYS-06, SYS-07: bad addresses, read and write", fault_addresses),
		T("SYS-06: code is read-only", fault_code_is_read_only),
		T("SYS-52: a store into code faults", fault_store_into_code),
		T("SYS-52: shared memory of others", fault_shared_of_others),
		T("SYS-52: overrun of a buffer", fault_overrun_of_a_buffer),
		T("SYS-06: data is not code", fault_data_is_not_code),
		T("SYS-06: misaligned atomic", fault_unaligned_atomic_or_odd_jump),
		T("SYS-07: private memory overrun", fault_stack),
		T("SYS-07: unknown service", fault_service),
		T("SYS-07, PKT-06: a runaway kernel is stopped", fault_runaway),
		T("SYS-52: the hang limit of loops without calls", runaway_is_stopped_in_time),
		T("SYS-07, PKT-06: a hang at a barrier is stopped", fault_hang_at_barrier),
		T("SYS-08: destroying a queue kills what it runs", destroy_kills_what_runs),
	};

	return cmocka_run_group_tests_name("wave", tests, rig_group_open, rig_group_close);
}

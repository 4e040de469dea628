/* SPDX-License-Identifier: MIT */
/* A card through libtutti, for tests: see rig.h. */
#include <errno.h>
#include <time.h>

#include "rig.h"

struct rig *rig;

uint64_t rig_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const char *rig_out(const char *path)
{
	static char text[4][256];
	static unsigned next;
	const char *out = getenv("TUTTI_OUT");
	char *to = text[next++ % 4];

	snprintf(to, sizeof(text[0]), "%s/%s", out ? out : "build", path);
	return to;
}

const char *rig_transport(void)
{
	const char *name = getenv("TUTTI_DEVICE");

	return name ? name : "emulator";
}

uint32_t rig_acknowledge(void)
{
	const char *turns = getenv("TUTTI_TEST_ACKNOWLEDGE");

	return turns ? (uint32_t)atoi(turns) : 0;
}

uint32_t rig_idle_traps(void)
{
	return getenv("TUTTI_TEST_IDLE_TRAPS") != NULL;
}

uint32_t rig_split_signals(void)
{
	return getenv("TUTTI_TEST_SPLIT_SIGNALS") != NULL;
}

void rig_needs_emulator(void)
{
	if (strcmp(rig_transport(), "emulator"))
		skip();
}

static void note_error(struct tutti_queue *queue, const struct tutti_fault *fault, void *context)
{
	struct rig *rig = context;

	rig->fault = *fault;
	rig->faults++;
}

static struct tutti_executable *load(struct rig *rig, const char *path)
{
	struct tutti_executable *code;
	const char *message = "";
	int error = tutti_executable_load_file(rig->device, rig_out(path), &code, &message);

	if (error)
		fail_msg("load: %s: %s", tutti_strerror(error), message);
	return code;
}

void rig_load(struct rig *rig, const char *path)
{
	rig->more = load(rig, path);
}

static const char *write_topology(const char *text)
{
	static char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/tutti-topology-%d", (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	if (rig_acknowledge())
		fprintf(file, "\nacknowledge %u\n", rig_acknowledge());
	if (rig_idle_traps())
		fprintf(file, "\nidle_traps 1\n");
	if (rig_split_signals())
		fprintf(file, "\nsplit_signals 1\n");
	fclose(file);
	return path;
}

struct rig *rig_open(const struct tutti_device_options *options)
{
	struct tutti_device_options o = { 0 };
	struct rig *rig = calloc(1, sizeof(*rig));
	int error;

	if (options)
		o = *options;
	if (o.topology || o.deterministic)
		rig_needs_emulator();
	if (!o.name)
		o.name = rig_transport();
	if (!o.topology && (rig_acknowledge() || rig_idle_traps() || rig_split_signals()))
		o.topology = write_topology("gpc 18*8\n");
	error = tutti_device_open(&o, &rig->device);
	if (error)
		fail_msg("open: %s", tutti_strerror(error));
	rig->code = load(rig, "tests/integration/kernels/test.tco");
	rig->queue = rig_queue(rig, TUTTI_QUEUE_EXTENDED);
	return rig;
}

struct rig *rig_topology(const char *text)
{
	struct tutti_device_options o = { .topology = write_topology(text) };
	struct rig *rig = rig_open(&o);

	unlink(o.topology);
	return rig;
}

struct rig *rig_deterministic(const char *topology_text)
{
	struct tutti_device_options o = { .deterministic = true, .seed = 1 };
	struct rig *rig;

	if (topology_text)
		o.topology = write_topology(topology_text);
	rig = rig_open(&o);
	if (topology_text)
		unlink(o.topology);
	return rig;
}

void rig_close(struct rig *rig)
{
	if (rig->queue)
		tutti_queue_destroy(rig->queue);
	tutti_executable_destroy(rig->code);
	if (rig->more)
		tutti_executable_destroy(rig->more);
	tutti_device_close(rig->device);
	free(rig);
}

struct tutti_queue *rig_queue(struct rig *rig, uint32_t flags)
{
	struct tutti_queue_options o = { .flags = flags, .error = note_error, .context = rig,
					 .timeout_ms = UINT32_MAX }; /* a busy host may be slow to let a kernel end */
	struct tutti_queue *queue;
	int error = tutti_queue_create(rig->device, &o, &queue);

	if (error)
		fail_msg("queue: %s", tutti_strerror(error));
	return queue;
}

struct tutti_kernel rig_kernel(struct rig *rig, const char *name)
{
	struct tutti_kernel kernel;
	int error = tutti_executable_kernel(rig->code, name, &kernel);

	if (error && rig->more)
		error = tutti_executable_kernel(rig->more, name, &kernel);

	if (error)
		fail_msg("kernel %s: %s", name, tutti_strerror(error));
	return kernel;
}

void *rig_alloc(struct rig *rig, size_t bytes)
{
	void *memory;

	assert_int_equal(tutti_memory_alloc(rig->device, TUTTI_MEMORY_SYSTEM, bytes, &memory), 0);
	return memory;
}

uint64_t *rig_args(struct rig *rig, const void *arg0, uint64_t arg1, uint64_t arg2)
{
	uint64_t *args = rig_alloc(rig, 64);

	args[0] = (uintptr_t)arg0;
	args[1] = arg1;
	args[2] = arg2;
	return args;
}

tutti_signal_t rig_signal(struct rig *rig, int64_t value)
{
	tutti_signal_t signal;

	assert_int_equal(tutti_signal_create(rig->device, value, &signal), 0);
	return signal;
}

void rig_launch(struct rig *rig, struct tutti_queue *queue, const char *kernel, uint32_t items, uint16_t workgroup,
		void *args, tutti_signal_t signal)
{
	struct tutti_kernel k = rig_kernel(rig, kernel);
	struct tutti_launch launch = {
		.kernel = &k,
		.grid = { items, 1, 1 },
		.workgroup = { workgroup, 1, 1 },
		.kernarg = args,
		.signal = signal,
		.barrier = true,
		.acquire = TUTTI_SCOPE_SYSTEM,
		.release = TUTTI_SCOPE_SYSTEM,
	};
	int error = tutti_dispatch(queue, &launch);

	if (error)
		fail_msg("dispatch %s: %s", kernel, tutti_strerror(error));
}

static uint64_t workgroups_completed(struct rig *rig)
{
	uint64_t counters[TUTTI_COUNTERS];

	return tutti_device_counters(rig->device, counters) ? 0 : counters[TUTTI_COUNTER_CTAS_COMPLETED];
}

/* A wait ends when there is no progress, not after a time: a slow machine may take as long as it needs (REL-09). */
void rig_wait(struct rig *rig, tutti_signal_t signal)
{
	uint64_t before, now = ~0ull;
	int64_t seen = 0;
	int error;

	do {
		error = tutti_signal_wait(rig->device, signal, TUTTI_EQ, 0, RIG_WAIT, &seen);
		before = now;
		now = error ? workgroups_completed(rig) : 0;
	} while (error == -ETIMEDOUT && now != before);
	if (error)
		fail_msg("wait: %s, signal at %lld", tutti_strerror(error), (long long)seen);
}

void rig_run(struct rig *rig, const char *kernel, uint32_t items, uint16_t workgroup, void *args)
{
	tutti_signal_t signal = rig_signal(rig, 1);

	rig_launch(rig, rig->queue, kernel, items, workgroup, args, signal);
	rig_wait(rig, signal);
	tutti_signal_destroy(rig->device, signal);
}

struct tutti_fault rig_fault(struct rig *rig, struct tutti_queue *queue)
{
	uint64_t end = rig_ns() + RIG_WAIT;
	struct tutti_fault fault = { 0 };

	while (!tutti_queue_error(queue, &fault)) {
		tutti_queue_poll(queue);
		if (rig_ns() > end)
			fail_msg("no error reported");
	}
	return fault;
}

bool rig_poll_until(struct tutti_queue *queue, const void *word, int64_t value, unsigned ms)
{
	uint64_t end = rig_ns() + ms * 1000000ull;

	while (tutti_load_acquire((const int64_t *)word) != value) {
		tutti_queue_poll(queue);
		if (rig_ns() > end)
			return false;
	}
	return true;
}

struct tutti_fault rig_fails(struct rig *rig, const char *kernel, uint32_t items, uint16_t workgroup, void *args,
			     unsigned code)
{
	tutti_signal_t signal = rig_signal(rig, 1);
	uint64_t *word = rig_alloc(rig, 64), index = *rig->queue->write_index;
	unsigned faults = rig->faults;
	struct tutti_fault fault;

	rig_launch(rig, rig->queue, kernel, items, workgroup, args, signal);
	fault = rig_fault(rig, rig->queue);
	assert_int_equal(fault.code, code);
	assert_int_equal(fault.packet, index);
	assert_int_equal(tutti_queue_error(rig->queue, NULL), code);
	tutti_queue_poll(rig->queue);
	assert_int_equal(rig->faults, faults + 1); /* the callback, once */
	assert_int_equal(tutti_signal_load(signal), 1);
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
	assert_int_equal(tutti_queue_error(rig->queue, NULL), 0);
	rig_run(rig, "poke", 1, 1, rig_args(rig, word, 42, 0));
	assert_int_equal(*word, 42);
	tutti_signal_destroy(rig->device, signal);
	return fault;
}

void rig_refused(struct rig *rig, const char *kernel, uint32_t items, uint16_t workgroup, uint32_t shared,
		 unsigned code)
{
	struct tutti_kernel k = rig_kernel(rig, kernel);
	struct tutti_launch launch = { .kernel = &k, .grid = { items }, .workgroup = { workgroup },
				       .dynamic_group_bytes = shared, .barrier = true };
	union tutti_packet packet;

	assert_int_equal(tutti_launch_check(rig->device, &launch), code);
	assert_int_equal(tutti_dispatch(rig->queue, &launch), -EINVAL);
	assert_int_equal(tutti_queue_error(rig->queue, NULL), 0);
	assert_int_equal(tutti_launch_packet(&launch, &packet.dispatch), 0);
	assert_int_equal(tutti_queue_submit(rig->queue, &packet), 0);
	assert_int_equal(rig_fault(rig, rig->queue).code, code);
	assert_int_equal(tutti_queue_reset(rig->queue), 0);
}

void rig_sem_wait(sem_t *sem)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += RIG_SECONDS;
	assert_int_equal(sem_timedwait(sem, &until), 0);
}

void rig_counters(struct rig *rig, uint64_t counters[TUTTI_COUNTERS])
{
	assert_int_equal(tutti_device_counters(rig->device, counters), 0);
}

int rig_group_open(void **state)
{
	rig = rig_open(NULL);
	return 0;
}

int rig_group_close(void **state)
{
	rig_close(rig);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Every exported function that takes a handle is given NULL, an object that has been destroyed, and an object whose
 * device has been closed; functions that destroy are called twice. The table is compared with the list of exports, so
 * that a new function cannot be forgotten.
 */
#include <sys/mman.h>

#include "rig.h"

#include "tutti/occupancy.h"
#include "tutti/policy.h"
#include "tutti/profile.h"
#include "tutti/reference.h"
#include "tutti/task.h"
#include "tutti/trace_api.h"

/* One of each kind; all of them live, all NULL, or all stale. */
static struct objects {
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel *kernel;
	struct tutti_queue *queue;
	struct tutti_rsb_object *rsb;
	struct tutti_recording *recording;
	struct tutti_task *task;
	struct tutti_work *work;
	tutti_signal_t signal;
	void *memory;
} live, stale;

/* Whatever else the functions ask for. */
static struct {
	char text[256];
	uint64_t counters[TUTTI_COUNTERS], words[8];
	struct tutti_trace traces[4];
	struct tutti_sm_state states[4];
	struct tutti_weights weights;
	struct tutti_rsb table;
	struct tutti_fault fault;
	struct tutti_pool pool;
	struct tutti_task_counters progress;
	struct tutti_task_attributes attributes;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct tutti_rsb_object *rsb;
	struct tutti_recording *recording;
	struct tutti_executable *executable;
	struct tutti_task *task;
	struct tutti_work *work;
	tutti_signal_t signal;
	void *address;
	size_t bytes;
	uint32_t number;
	int fd;
} any;

static void on_text(void *context, const char *text, size_t bytes)
{
}

static void on_death(struct tutti_device *device, int error, void *context)
{
}

static bool on_signal(tutti_signal_t signal, int64_t value, int error, void *context)
{
	return true;
}

static void on_function(void *context, const char *name, uint64_t calls, uint64_t instructions)
{
}

static int on_kernel(const char *name, const struct tutti_kernel *kernel, void *context)
{
	return 0;
}

static int on_symbol(const struct tutti_symbol *symbol, void *context)
{
	return 0;
}

static int on_argument(const struct tutti_argument *argument, void *context)
{
	return 0;
}

static struct tutti_launch launch_of(const struct objects *o)
{
	return (struct tutti_launch){ .kernel = o->kernel, .grid = { 1 }, .workgroup = { 1 } };
}

/* Result of a call as a number: an error, or 0 for a pointer that is NULL and for a count. */
#define POINTER(call) ((call) ? 1 : -EINVAL)
#define COUNT(call) ((call) ? 1 : -EINVAL)
#define NAMED(function, ...) \
	static long call_##function(const struct objects *o) { (void)o; return __VA_ARGS__; }

NAMED(tutti_calibrate, tutti_calibrate(o->device, o->executable, 1, &any.weights))
NAMED(tutti_copy, tutti_copy(o->queue, any.words, any.words + 4, 8))
NAMED(tutti_copy_async, tutti_copy_async(o->queue, any.words, any.words + 4, 8, &o->signal, 1, NULL))
NAMED(tutti_device_close, tutti_device_close(o->device))
NAMED(tutti_device_copy, tutti_device_copy(o->device, any.words, any.words + 4, 8, &o->signal, 1, NULL))
NAMED(tutti_device_copy_times, tutti_device_copy_times(o->device, false))
NAMED(tutti_device_counters, tutti_device_counters(o->device, any.counters))
NAMED(tutti_device_discovery, POINTER(tutti_device_discovery(o->device)))
NAMED(tutti_device_enable_sms, tutti_device_enable_sms(o->device, 0, 1, true))
NAMED(tutti_device_error_handler, tutti_device_error_handler(o->device, on_death, NULL))
NAMED(tutti_device_fill, tutti_device_fill(o->device, any.words, 0, 8, &o->signal, 1, NULL))
NAMED(tutti_device_firmware_version, COUNT(tutti_device_firmware_version(o->device)))
NAMED(tutti_device_flush_print, tutti_device_flush_print(o->device))
NAMED(tutti_device_log, COUNT(tutti_device_log(o->device, any.text, sizeof(any.text))))
NAMED(tutti_device_pci_address, tutti_device_pci_address(o->device, any.text, sizeof(any.text)))
NAMED(tutti_device_policy, tutti_device_policy(o->device, 0, 0))
NAMED(tutti_device_print_handler, tutti_device_print_handler(o->device, on_text, NULL))
NAMED(tutti_device_sm_states, tutti_device_sm_states(o->device, 0, 1, any.states))
NAMED(tutti_device_time, COUNT(tutti_device_time(o->device)))
NAMED(tutti_device_transport, POINTER(tutti_device_transport(o->device)))
static long call_tutti_dispatch(const struct objects *o)
{
	struct tutti_launch launch = launch_of(o);

	return tutti_dispatch(o->queue, &launch);
}
NAMED(tutti_executable_arguments, tutti_executable_arguments(o->executable, "empty", on_argument, NULL))
NAMED(tutti_executable_destroy, tutti_executable_destroy(o->executable))
NAMED(tutti_executable_iterate, tutti_executable_iterate(o->executable, on_kernel, NULL))
NAMED(tutti_executable_kernel, tutti_executable_kernel(o->executable, "empty", &any.kernel))
NAMED(tutti_executable_load, tutti_executable_load(o->device, any.text, sizeof(any.text), &any.executable, NULL))
NAMED(tutti_executable_load_with,
      tutti_executable_load_with(o->device, any.text, sizeof(any.text), NULL, 0, &any.executable, NULL))
NAMED(tutti_executable_symbols, tutti_executable_symbols(o->executable, on_symbol, NULL))
NAMED(tutti_executable_load_file, tutti_executable_load_file(o->device, rig_out("tests/integration/kernels/test.tco"),
							      &any.executable, NULL))
NAMED(tutti_executable_variable, tutti_executable_variable(o->executable, "counter", &any.address, &any.bytes))
NAMED(tutti_fault_text, tutti_fault_text(o->queue, &any.fault, any.text, sizeof(any.text)))
NAMED(tutti_fill_async, tutti_fill_async(o->queue, any.words, 0, 8, &o->signal, 1, NULL))
static long call_tutti_launch_check(const struct objects *o)
{
	struct tutti_launch launch = launch_of(o);

	return tutti_launch_check(o->device, &launch);
}
static long call_tutti_launch_packet(const struct objects *o)
{
	struct tutti_launch launch = launch_of(o);
	struct tutti_dispatch_packet packet;

	return tutti_launch_packet(&launch, &packet);
}
NAMED(tutti_memory_alloc, tutti_memory_alloc(o->device, TUTTI_MEMORY_SYSTEM, 64, &any.address))
NAMED(tutti_memory_free, tutti_memory_free(o->device, o->memory))
NAMED(tutti_memory_info, tutti_memory_info(o->device, o->memory, NULL, NULL, NULL))
NAMED(tutti_memory_lock, tutti_memory_lock(o->device, any.text, sizeof(any.text)))
NAMED(tutti_memory_pool, tutti_memory_pool(o->device, TUTTI_MEMORY_CARD, &any.pool))
NAMED(tutti_memory_unlock, tutti_memory_unlock(o->device, any.text))
static long call_tutti_occupancy_max_active_cgas(const struct objects *o)
{
	struct tutti_launch launch = launch_of(o);

	return tutti_occupancy_max_active_cgas(o->device, &launch, NULL, &any.number);
}
static long call_tutti_occupancy_max_active_ctas(const struct objects *o)
{
	struct tutti_launch launch = launch_of(o);

	return tutti_occupancy_max_active_ctas(o->device, &launch, &any.number);
}
static long call_tutti_occupancy_max_cga_size(const struct objects *o)
{
	struct tutti_launch launch = launch_of(o);

	return tutti_occupancy_max_cga_size(o->device, &launch, TUTTI_CGA_GPC, false, &any.number);
}
NAMED(tutti_policy_get, tutti_policy_get(o->device, 0, 0, &any.number))
NAMED(tutti_profile_each, tutti_profile_each(o->device, on_function, NULL))
NAMED(tutti_queue_create, tutti_queue_create(o->device, NULL, &any.queue))
NAMED(tutti_queue_destroy, tutti_queue_destroy(o->queue))
NAMED(tutti_queue_device, POINTER(tutti_queue_device(o->queue)))
NAMED(tutti_queue_drain, tutti_queue_drain(o->queue, 0))
NAMED(tutti_queue_error, tutti_queue_error(o->queue, &any.fault))
NAMED(tutti_queue_inactivate, tutti_queue_inactivate(o->queue))
NAMED(tutti_queue_kick, (tutti_queue_kick(o->queue), -EINVAL))
NAMED(tutti_queue_poll, tutti_queue_poll(o->queue))
NAMED(tutti_queue_reset, tutti_queue_reset(o->queue))
NAMED(tutti_queue_rsb, POINTER(tutti_queue_rsb(o->queue)))
NAMED(tutti_queue_wait_room, tutti_queue_wait_room(o->queue, 0, 1))
NAMED(tutti_record_begin, tutti_record_begin(o->queue))
NAMED(tutti_record_end, tutti_record_end(o->queue, &any.recording))
NAMED(tutti_recording_destroy, tutti_recording_destroy(o->recording))
NAMED(tutti_recording_form, tutti_recording_form(o->recording, TUTTI_REPLAY_PLAIN))
NAMED(tutti_recording_kernels, COUNT(tutti_recording_kernels(o->recording)))
NAMED(tutti_recording_packets, COUNT(tutti_recording_packets(o->recording)))
NAMED(tutti_recording_set_grid, tutti_recording_set_grid(o->recording, 0, (uint32_t[3]){ 1, 1, 1 }))
NAMED(tutti_recording_set_kernarg, tutti_recording_set_kernarg(o->recording, 0, NULL))
NAMED(tutti_recording_set_signal, tutti_recording_set_signal(o->recording, 0, NULL))
NAMED(tutti_replay, tutti_replay(o->recording))
NAMED(tutti_rsb_create, tutti_rsb_create(o->device, true, &any.rsb))
NAMED(tutti_rsb_destroy, tutti_rsb_destroy(o->rsb))
NAMED(tutti_rsb_invalidate, tutti_rsb_invalidate(o->rsb, 1))
NAMED(tutti_rsb_read, tutti_rsb_read(o->rsb, &any.table))
NAMED(tutti_signal_create, tutti_signal_create(o->device, 1, &any.signal))
NAMED(tutti_signal_destroy, tutti_signal_destroy(o->device, o->signal))
NAMED(tutti_signal_from_fd, tutti_signal_from_fd(o->device, o->signal, 0))
NAMED(tutti_signal_handler, tutti_signal_handler(o->device, o->signal, TUTTI_EQ, 12345, on_signal, NULL))
NAMED(tutti_signal_handler_remove, tutti_signal_handler_remove(o->device, o->signal, on_signal, NULL))
NAMED(tutti_signal_to_eventfd, tutti_signal_to_eventfd(o->device, o->signal, TUTTI_EQ, 12345, 0))
NAMED(tutti_signal_to_sync_file, tutti_signal_to_sync_file(o->queue, o->signal, &any.fd))
NAMED(tutti_signal_wait, tutti_signal_wait(o->device, o->signal, TUTTI_EQ, 12345, 0, NULL))
static long call_tutti_signal_wait_all(const struct objects *o)
{
	struct tutti_wait wait = { .signal = o->signal, .condition = TUTTI_EQ, .value = 12345 };

	return tutti_signal_wait_all(o->device, &wait, 1, 0);
}
static long call_tutti_signal_wait_any(const struct objects *o)
{
	struct tutti_wait wait = { .signal = o->signal, .condition = TUTTI_EQ, .value = 12345 };

	return tutti_signal_wait_any(o->device, &wait, 1, 0, NULL);
}
NAMED(tutti_task_cancel, tutti_task_cancel(o->task))
NAMED(tutti_task_counters, tutti_task_counters(o->task, &any.progress))
NAMED(tutti_task_create, tutti_task_create(o->device, &any.attributes, &any.task))
NAMED(tutti_task_destroy, tutti_task_destroy(o->task))
static long call_tutti_task_dispatch(const struct objects *o)
{
	struct tutti_launch launch = launch_of(o);

	return tutti_task_dispatch(o->queue, &launch, o->task);
}
NAMED(tutti_task_tmd, POINTER(tutti_task_tmd(o->task)))
NAMED(tutti_trace_read, tutti_trace_read(o->device, any.traces, 4, NULL))
NAMED(tutti_trace_start, tutti_trace_start(o->device, 1))
NAMED(tutti_trace_stop, tutti_trace_stop(o->device))
NAMED(tutti_weights_apply, tutti_weights_apply(o->device, &any.weights))
NAMED(tutti_weights_read, tutti_weights_read(&any.weights, NULL))
NAMED(tutti_weights_write, tutti_weights_write(&any.weights, NULL))
NAMED(tutti_work_close, tutti_work_close(o->work))
NAMED(tutti_work_create, tutti_work_create(o->device, 4, 8, &any.work))
NAMED(tutti_work_destroy, tutti_work_destroy(o->work))
NAMED(tutti_work_push, tutti_work_push(o->work, any.words, 0))
NAMED(tutti_work_queue, POINTER(tutti_work_queue(o->work)))
NAMED(tutti_work_try_push, tutti_work_try_push(o->work, any.words))

enum takes {
	NO_HANDLE, /* nothing to be wrong about */
	HANDLE,	   /* -EINVAL for NULL and for stale handles */
	DESTROYS,  /* NULL is fine; the second time is an error */
};

/* In the order of libtutti.map. */
static const struct entry {
	const char *name;
	enum takes takes;
	long (*call)(const struct objects *o);
} entries[] = {
#define H(function) { #function, HANDLE, call_##function },
#define D(function) { #function, DESTROYS, call_##function },
#define N(function) { #function, NO_HANDLE, NULL },
	H(tutti_calibrate)
	N(tutti_class_name)
	H(tutti_copy)
	H(tutti_copy_async)
	N(tutti_counter_name)
	D(tutti_device_close)
	H(tutti_device_copy)
	H(tutti_device_copy_times)
	H(tutti_device_counters)
	H(tutti_device_discovery)
	H(tutti_device_enable_sms)
	H(tutti_device_error_handler)
	H(tutti_device_fill)
	H(tutti_device_firmware_version)
	H(tutti_device_flush_print)
	H(tutti_device_log)
	N(tutti_device_open)
	H(tutti_device_pci_address)
	H(tutti_device_policy)
	H(tutti_device_print_handler)
	H(tutti_device_sm_states)
	H(tutti_device_time)
	H(tutti_device_transport)
	H(tutti_dispatch)
	H(tutti_executable_arguments)
	D(tutti_executable_destroy)
	H(tutti_executable_iterate)
	H(tutti_executable_kernel)
	H(tutti_executable_load)
	H(tutti_executable_load_file)
	H(tutti_executable_load_with)
	H(tutti_executable_symbols)
	H(tutti_executable_variable)
	H(tutti_fault_text)
	H(tutti_fill_async)
	H(tutti_launch_check)
	H(tutti_launch_packet)
	H(tutti_memory_alloc)
	D(tutti_memory_free)
	H(tutti_memory_info)
	H(tutti_memory_lock)
	H(tutti_memory_pool)
	H(tutti_memory_unlock)
	N(tutti_message_handler)
	H(tutti_occupancy_max_active_cgas)
	H(tutti_occupancy_max_active_ctas)
	H(tutti_occupancy_max_cga_size)
	H(tutti_policy_get)
	H(tutti_profile_each)
	H(tutti_queue_create)
	D(tutti_queue_destroy)
	H(tutti_queue_device)
	H(tutti_queue_drain)
	H(tutti_queue_error)
	H(tutti_queue_inactivate)
	H(tutti_queue_kick)
	H(tutti_queue_poll)
	H(tutti_queue_reset)
	H(tutti_queue_rsb)
	H(tutti_queue_wait_room)
	H(tutti_record_begin)
	H(tutti_record_end)
	D(tutti_recording_destroy)
	H(tutti_recording_form)
	H(tutti_recording_kernels)
	H(tutti_recording_packets)
	H(tutti_recording_set_grid)
	H(tutti_recording_set_kernarg)
	H(tutti_recording_set_signal)
	H(tutti_replay)
	N(tutti_resource_name)
	H(tutti_rsb_create)
	D(tutti_rsb_destroy)
	H(tutti_rsb_invalidate)
	H(tutti_rsb_read)
	H(tutti_signal_create)
	D(tutti_signal_destroy)
	H(tutti_signal_from_fd)
	H(tutti_signal_handler)
	H(tutti_signal_handler_remove)
	H(tutti_signal_to_eventfd)
	H(tutti_signal_to_sync_file)
	H(tutti_signal_wait)
	H(tutti_signal_wait_all)
	H(tutti_signal_wait_any)
	N(tutti_signal_wake)
	N(tutti_strerror)
	H(tutti_task_cancel)
	H(tutti_task_counters)
	H(tutti_task_create)
	D(tutti_task_destroy)
	H(tutti_task_dispatch)
	H(tutti_task_tmd)
	N(tutti_tensor_box_bytes)
	N(tutti_tensor_check)
	N(tutti_tensor_encode_im2col)
	N(tutti_tensor_encode_tiled)
	N(tutti_tensor_seal)
	N(tutti_tensor_strerror)
	N(tutti_tensor_type_bytes)
	N(tutti_trace_name)
	H(tutti_trace_read)
	H(tutti_trace_start)
	H(tutti_trace_stop)
	N(tutti_version)
	H(tutti_weights_apply)
	H(tutti_weights_read)
	H(tutti_weights_write)
	H(tutti_work_close)
	H(tutti_work_create)
	D(tutti_work_destroy)
	H(tutti_work_push)
	H(tutti_work_queue)
	H(tutti_work_try_push)
};
#define ENTRIES (sizeof(entries) / sizeof(*entries))

static void table_has_all_exports(void **state)
{
	FILE *map = fopen("runtime/libtutti.map", "r");
	char line[128], name[128];
	size_t n = 0;

	assert_non_null(map);
	while (fgets(line, sizeof(line), map)) {
		if (sscanf(line, " tutti_%100[a-z0-9_];", name) != 1)
			continue;
		assert_true(n < ENTRIES);
		assert_string_equal(name, entries[n].name + strlen("tutti_"));
		n++;
	}
	fclose(map);
	assert_int_equal(n, ENTRIES);
}

static void make_all(void)
{
	struct tutti_queue_options extended = { .flags = TUTTI_QUEUE_EXTENDED };
	struct tutti_task_attributes attributes = { 0 };
	struct tutti_launch launch;

	memset(&live, 0, sizeof(live));
	assert_int_equal(tutti_device_open(&(struct tutti_device_options){ .name = rig_transport() }, &live.device), 0);
	assert_int_equal(tutti_executable_load_file(live.device, rig_out("tests/integration/kernels/test.tco"),
						    &live.executable, NULL), 0);
	assert_int_equal(tutti_executable_kernel(live.executable, "empty", &any.kernel), 0);
	live.kernel = &any.kernel;
	assert_int_equal(tutti_queue_create(live.device, &extended, &live.queue), 0);
	assert_int_equal(tutti_rsb_create(live.device, true, &live.rsb), 0);
	launch = launch_of(&live);
	assert_int_equal(tutti_record_begin(live.queue), 0);
	assert_int_equal(tutti_dispatch(live.queue, &launch), 0);
	assert_int_equal(tutti_record_end(live.queue, &live.recording), 0);
	assert_int_equal(tutti_task_create(live.device, &attributes, &live.task), 0);
	assert_int_equal(tutti_work_create(live.device, 4, 8, &live.work), 0);
	assert_int_equal(tutti_signal_create(live.device, 1, &live.signal), 0);
	assert_int_equal(tutti_memory_alloc(live.device, TUTTI_MEMORY_SYSTEM, 4096, &live.memory), 0);
}

static void destroy_all(const struct objects *o)
{
	assert_int_equal(tutti_recording_destroy(o->recording), 0);
	assert_int_equal(tutti_task_destroy(o->task), 0);
	assert_int_equal(tutti_work_destroy(o->work), 0);
	assert_int_equal(tutti_queue_destroy(o->queue), 0);
	assert_int_equal(tutti_rsb_destroy(o->rsb), 0);
	assert_int_equal(tutti_executable_destroy(o->executable), 0);
	assert_int_equal(tutti_signal_destroy(o->device, o->signal), 0);
	assert_int_equal(tutti_memory_free(o->device, o->memory), 0);
}

static bool about_device(const struct entry *entry)
{
	static const char *const others[] = { "tutti_dispatch", "tutti_executable_", "tutti_recording_", "tutti_replay",
		"tutti_queue_", "tutti_rsb_", "tutti_task_", "tutti_work_", "tutti_copy", "tutti_record_",
		"tutti_signal_destroy", "tutti_signal_wait", "tutti_signal_handler", "tutti_signal_from", "tutti_signal_to",
		"tutti_fill_async", "tutti_device_copy", "tutti_device_fill", "tutti_memory_free", "tutti_memory_info", "tutti_launch_",
		"tutti_fault_",
		"tutti_occupancy_", "tutti_calibrate", "tutti_weights_read", "tutti_weights_write" };
	static const char *const creates[] = { "tutti_executable_load", "tutti_executable_load_file",
		"tutti_executable_load_with", "tutti_queue_create", "tutti_device_copy_times",
		"tutti_rsb_create", "tutti_task_create", "tutti_work_create" };

	for (size_t i = 0; i < sizeof(creates) / sizeof(*creates); i++)
		if (!strcmp(entry->name, creates[i]))
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strncmp(entry->name, others[i], strlen(others[i])))
			return false;
	return true;
}

/* The call returns @expected; a crash is reported with the function's name. */
static void expect(const struct entry *entry, const struct objects *o, long expected)
{
	long got;

	fprintf(stderr, "# %s\n", entry->name);
	got = entry->call(o);
	if (got != expected)
		fail_msg("%s: %ld instead of %ld", entry->name, got, expected);
}

static void null_handles(void **state)
{
	static const struct objects none;

	make_all();
	for (size_t i = 0; i < ENTRIES; i++) {
		struct objects mixed = live;

		if (entries[i].takes == NO_HANDLE)
			continue;
		/* of those that free a thing of a device, the thing is NULL */
		mixed.signal = NULL;
		mixed.memory = NULL;
		if (entries[i].takes == DESTROYS && (strstr(entries[i].name, "signal") || strstr(entries[i].name, "memory")))
			expect(&entries[i], &mixed, 0);
		else
			expect(&entries[i], &none, entries[i].takes == DESTROYS ? 0 : -EINVAL);
	}
	destroy_all(&live);
	assert_int_equal(tutti_device_close(live.device), 0);
}

/* Objects that have been destroyed, of a device that is open. */
static void destroyed_handles(void **state)
{
	make_all();
	stale = live;
	destroy_all(&live);
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].takes != NO_HANDLE && !about_device(&entries[i]))
			expect(&entries[i], &stale, strcmp(entries[i].name, "tutti_memory_info") ? -EINVAL : -ENOENT);
	assert_int_equal(tutti_device_close(live.device), 0);
}

/* Everything is left when the device is closed. */
static void handles_of_a_closed_device(void **state)
{
	make_all();
	assert_int_equal(tutti_device_close(live.device), 0);
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].takes == HANDLE && strcmp(entries[i].name, "tutti_launch_packet"))
			expect(&entries[i], &live, -EINVAL);
	/* what the process has of them can still be given back, once */
	assert_int_equal(tutti_recording_destroy(live.recording), 0);
	assert_int_equal(tutti_task_destroy(live.task), 0);
	assert_int_equal(tutti_work_destroy(live.work), 0);
	assert_int_equal(tutti_rsb_destroy(live.rsb), 0);
	assert_int_equal(tutti_executable_destroy(live.executable), 0);
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].takes != NO_HANDLE)
			expect(&entries[i], &live, -EINVAL);
}

/* The same memory for a new device does not make old objects live. */
static void devices_come_and_go(void **state)
{
	struct tutti_task *task, *newer;
	struct tutti_task_attributes attributes = { 0 };
	struct tutti_device *device;

	assert_int_equal(tutti_device_open(&(struct tutti_device_options){ .name = rig_transport() }, &device), 0);
	assert_int_equal(tutti_task_create(device, &attributes, &task), 0);
	for (unsigned i = 0; i < 200; i++) {
		assert_int_equal(tutti_task_create(device, &attributes, &newer), 0);
		assert_int_equal(tutti_task_destroy(newer), 0);
		assert_int_equal(tutti_task_destroy(newer), -EINVAL);
		assert_non_null(tutti_task_tmd(task));
	}
	assert_int_equal(tutti_device_close(device), 0);
	assert_int_equal(tutti_device_close(device), -EINVAL);
	assert_null(tutti_task_tmd(task));
	assert_int_equal(tutti_task_destroy(task), 0);
}

/* The inline functions find room nowhere in a queue that has gone. */
static void submit_to_nowhere(void **state)
{
	struct tutti_queue_options options = { 0 };
	union tutti_packet packet = { 0 };
	struct tutti_queue *queue;
	uint64_t index;

	make_all();
	for (unsigned multi = 0; multi < 2; multi++) {
		options.multi = multi;
		assert_int_equal(tutti_queue_create(live.device, &options, &queue), 0);
		assert_int_equal(tutti_queue_destroy(queue), 0);
		for (unsigned i = 0; i < 300; i++)
			assert_int_equal(tutti_queue_submit(queue, &packet), -EINVAL);
		assert_int_equal(tutti_queue_reserve(queue, 3, &index), -EINVAL);
		tutti_queue_ring(queue, 0);
	}
	assert_int_equal(tutti_queue_submit(NULL, &packet), -EINVAL);
	tutti_queue_ring(NULL, 0);
	assert_int_equal(tutti_signal_load(NULL), 0);
	tutti_signal_store(NULL, 1);
	tutti_signal_add(NULL, 1);
	destroy_all(&live);
	assert_int_equal(tutti_device_close(live.device), 0);
}

/* What the program itself may not write, or what is not there, is not for the card either. */
static void lock_needs_rights(void **state)
{
	struct rig *rig = rig_open(NULL);
	uint8_t *pages = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	rig_needs_emulator();
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 2 * 4096, 4096, PROT_READ), 0);
	assert_int_equal(munmap(pages + 3 * 4096, 4096), 0);
	assert_int_equal(tutti_memory_lock(rig->device, pages, 2 * 4096), 0);
	assert_int_equal(tutti_memory_unlock(rig->device, pages), 0);
	assert_int_equal(tutti_memory_lock(rig->device, pages, 3 * 4096), -EFAULT);
	assert_int_equal(tutti_memory_lock(rig->device, pages + 2 * 4096, 100), -EFAULT);
	assert_int_equal(tutti_memory_lock(rig->device, pages + 3 * 4096, 4096), -EFAULT);
	assert_int_equal(tutti_memory_unlock(rig->device, pages), -EINVAL);
	munmap(pages, 3 * 4096);
	rig_close(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_has_all_exports),   cmocka_unit_test(null_handles),
		cmocka_unit_test(destroyed_handles),	   cmocka_unit_test(handles_of_a_closed_device),
		cmocka_unit_test(devices_come_and_go),	   cmocka_unit_test(submit_to_nowhere),
		cmocka_unit_test(lock_needs_rights),
	};

	return cmocka_run_group_tests_name("SYS-41, REL-07 handles are checked", tests, NULL, NULL);
}

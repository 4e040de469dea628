/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=mmap,--wrap=munmap,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/*
 * Each call of the library with each allocation and each request to the card failing in turn: the call says which error
 * it was, keeps nothing (AddressSanitizer looks for leaks), and succeeds when it is made again (SYS-40, REL-02).
 */
#include <sys/eventfd.h>

#include "code/elf_object.h"
#include "lock_check.h"
#include "open_files.h"
#include "rt_rig.h"
#include "tutti/record_api.h"

static _Thread_local unsigned left; /* the allocation or request that fails; 0: none */
static _Thread_local int failed;    /* with what it did */

static bool fails(int error)
{
	if (!left || --left)
		return false;
	failed = error;
	return true;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
	return fails(-ENOMEM) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails(-ENOMEM) ? NULL : __real_calloc(n, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails(-ENOMEM) ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
	return fails(-ENOMEM) ? NULL : __real_aligned_alloc(alignment, bytes);
}

void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);

int __real_munmap(void *at, size_t bytes);

static size_t mapped; /* bytes in all */

void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset)
{
	if (fails(-ENOMEM))
		return MAP_FAILED;
	mapped += bytes;
	return __real_mmap(at, bytes, access, flags, file, offset);
}

int __wrap_munmap(void *at, size_t bytes)
{
	mapped -= bytes;
	return __real_munmap(at, bytes);
}

static int map_some(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool, unsigned access)
{
	return fails(-ENOMEM) ? -ENOMEM : map(device, address, bytes, pool, access);
}

static int create_some_queues(struct tutti_device *device, const struct transport_queue *queue)
{
	return fails(-EEXIST) ? -EEXIST : card_queue_create(device, queue);
}

static int create_some_rsbs(struct tutti_device *device, unsigned rsb, bool in_memory)
{
	return fails(-EPERM) ? -EPERM : card_rsb_create(device, rsb, in_memory);
}

static int reserve_some(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	return fails(-EFBIG) ? -EFBIG : reserve(device, pool, base, bytes);
}

static int invalidate_some(struct tutti_device *device, const void *address, size_t bytes)
{
	return fails(-EBUSY) ? -EBUSY : 0;
}

static int open_failing(void **state)
{
	int error = open_fake(state);

	transport.code_invalidate = invalidate_some;

	transport.map = map_some;
	transport.reserve = reserve_some;
	transport.queue_create = create_some_queues;
	transport.rsb_create = create_some_rsbs;
	return error;
}

/* Makes the call with the first allocation or request failing, the second, and so on, until none is left that could. */
static void in_turn(int (*make)(void), unsigned least)
{
	unsigned n = 0;
	int result;

	do {
		failed = 0;
		left = ++n;
		result = make();
		left = 0;
		if (result != failed)
			fail_msg("failure %u: %d instead of %d", n, result, failed);
	} while (failed);
	assert_true(n > least);
	assert_int_equal(make(), 0);
}

static int memory_again(void)
{
	memory_fini(device);
	return memory_init(device);
}

/* A device whose memory cannot be set up is not used, and keeps nothing of it. */
static void memory_is_set_up(void **state)
{
	unsigned n = 0;
	size_t before;
	int error;

	memory_fini(device);
	before = mapped;
	assert_int_equal(memory_init(device), 0);
	do {
		memory_fini(device);
		assert_null(device->memory);
		assert_int_equal(mapped, before);
		failed = 0;
		left = ++n;
		error = memory_init(device);
		left = 0;
		assert_int_equal(error, failed);
		assert_true(!error || mapped == before);
		if (error)
			assert_int_equal(memory_init(device), 0);
	} while (error);
	assert_true(n > 3);
	assert_int_equal(memory_again(), 0);
}

/* The error says which pool it was. */
static int allocate(void)
{
	void *block[6];
	int error = 0;
	unsigned n;

	for (n = 0; n < 6; n++) {
		error = tutti_memory_alloc(device, n & 1, 64ull << (3 * n), &block[n]);
		if (error)
			break;
	}
	assert_int_equal(error, !failed ? 0 : (n & 1) == TUTTI_MEMORY_CARD ? -ENOSPC : -ENOMEM);
	while (n--)
		assert_int_equal(tutti_memory_free(device, block[n]), 0);
	return failed;
}

static void memory_is_allocated(void **state)
{
	in_turn(allocate, 2);
}

static int queue(void)
{
	struct tutti_queue_options options = {.packets = 64, .flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB};
	struct tutti_queue *queue;
	int error = tutti_queue_create(device, &options, &queue);

	return error ? error : tutti_queue_destroy(queue);
}

/* The card has eight queues: what fails uses up none. */
static void queues_are_made(void **state)
{
	struct tutti_queue *all[8];

	for (unsigned round = 0; round < 10; round++)
		in_turn(queue, round ? 0 : 2);
	for (unsigned i = 0; i < 8; i++)
		all[i] = a_queue(TUTTI_QUEUE_EXTENDED, false);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(tutti_queue_destroy(all[i]), 0);
}

static int buffer(void)
{
	struct tutti_rsb_object *rsb;
	int error = tutti_rsb_create(device, false, &rsb);

	return error ? error : tutti_rsb_destroy(rsb);
}

static void buffers_are_made(void **state)
{
	for (unsigned round = 0; round < 10; round++)
		in_turn(buffer, round ? 0 : 1);
}

#define MANY 100

static tutti_signal_t signals[MANY];

static int make_signals(void)
{
	unsigned n, i;
	int error = 0;

	for (n = 0; n < MANY && !error; n++)
		error = tutti_signal_create(device, 1, &signals[n]);
	for (i = 0; i < n - !!error; i++)
		assert_int_equal(tutti_signal_destroy(device, signals[i]), 0);
	return error;
}

static void signals_are_made(void **state)
{
	in_turn(make_signals, 1);
}

static int wait_for_many(void)
{
	struct tutti_wait waits[MANY];

	for (unsigned i = 0; i < MANY; i++)
		waits[i] = (struct tutti_wait){.signal = signals[0], .condition = TUTTI_EQ, .value = 1};
	return tutti_signal_wait_all(device, waits, MANY, 0);
}

static void waits(void **state)
{
	assert_int_equal(tutti_signal_create(device, 1, &signals[0]), 0);
	in_turn(wait_for_many, 2);
	assert_int_equal(tutti_signal_destroy(device, signals[0]), 0);
}

static bool never(tutti_signal_t signal, int64_t value, int error, void *context)
{
	fail();
	return false;
}

static int handle_signal(void)
{
	int error = tutti_signal_handler(device, signals[0], TUTTI_EQ, 2, never, NULL);

	/* while it waits, and only then, the card tells of changes */
	assert_int_equal(tutti_load_relaxed(&signals[0]->waiters), !error);
	return error ? error : tutti_signal_handler_remove(device, signals[0], never, NULL);
}

static int handle_death(void)
{
	events_stop(device); /* so that what calls handlers is made anew */
	return tutti_device_error_handler(device, NULL, NULL);
}

static void handlers(void **state)
{
	in_turn(handle_death, 1);
	events_stop(device);
	assert_int_equal(tutti_signal_create(device, 1, &signals[0]), 0);
	in_turn(handle_signal, 1);
	assert_int_equal(tutti_signal_destroy(device, signals[0]), 0);
}

static int event_file;

static int follow_file(void)
{
	unsigned files = open_files();
	int error = tutti_signal_to_eventfd(device, signals[0], TUTTI_EQ, 2, event_file);

	if (!error)
		error = tutti_signal_from_fd(device, signals[0], event_file);
	tutti_signal_handler_remove(device, signals[0], NULL, NULL);
	assert_int_equal(open_files(), files);
	return error;
}

/* The library's own copies of files are closed again. */
static void files(void **state)
{
	event_file = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(tutti_signal_create(device, 1, &signals[0]), 0);
	in_turn(follow_file, 2);
	assert_int_equal(tutti_signal_destroy(device, signals[0]), 0);
	close(event_file);
}

static int task_and_work(void)
{
	struct tutti_task_attributes attributes = {.affinity = (const uint32_t[]){1}, .affinity_words = 1};
	struct tutti_work *work;
	struct tutti_task *task;
	int error = tutti_work_create(device, 4, 8, &work);

	if (error)
		return error;
	attributes.work = work;
	error = tutti_task_create(device, &attributes, &task);
	if (!error)
		assert_int_equal(tutti_task_destroy(task), 0);
	assert_int_equal(tutti_work_destroy(work), 0);
	return error;
}

static void tasks(void **state)
{
	device->known.sms = 4;
	in_turn(task_and_work, 1);
}

static struct tutti_queue *recorded;

/* A recording that could not be made is lost, and another one can be made at once (PKT-22). */
static int record(void)
{
	struct tutti_recording *recording = NULL;
	int error = tutti_record_begin(recorded), lost;
	unsigned n = 0;

	if (error)
		return error;
	while (n < MANY && !error) {
		struct tutti_launch launch = a_launch(n % 20, n, NULL);

		error = tutti_dispatch(recorded, &launch);
		n += !error;
	}
	lost = tutti_record_end(recorded, &recording);
	if (lost)
		return lost;
	assert_int_equal(tutti_recording_kernels(recording), n);
	tutti_recording_destroy(recording);
	return error;
}

static void recordings(void **state)
{
	recorded = a_queue(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, false);
	in_turn(record, 5);
	assert_int_equal(tutti_queue_destroy(recorded), 0);
}

static int lock_pages_here(void)
{
	static uint8_t pages[3 * 4096] __attribute__((aligned(4096)));
	unsigned maps = fake.maps;
	int error = tutti_memory_lock(device, pages + 100, 4096);

	if (!error)
		error = tutti_memory_unlock(device, pages + 100);
	assert_int_equal(fake.maps, maps);
	return error;
}

static void memory_is_locked(void **state)
{
	in_turn(lock_pages_here, 1);
}

/* Nothing of a code object stays on the card, whose code pool has room for some thirty of them. */
static int load(void)
{
	struct tutti_executable *executable = NULL;
	const char *message = NULL;
	unsigned maps = fake.maps;
	int error = tutti_executable_load(device, &o, bytes, &executable, &message);

	left = 0; /* unloading does not fail */
	if (error) {
		assert_non_null(message);
		assert_null(executable);
	} else {
		assert_null(message);
		assert_int_equal(tutti_executable_destroy(executable), 0);
	}
	assert_int_equal(fake.maps, maps);
	return error;
}

static void code_is_loaded(void **state)
{
	device->known.contract_max = TUTTI_CONTRACT_VERSION;
	good();
	assert_int_equal(load(), 0);
	for (unsigned round = 0; round < 6; round++)
		in_turn(load, 9);
}

static void no_room_for_code(void **state)
{
	struct tutti_executable *loaded[64];
	const char *message;
	unsigned n = 0, round = 0;
	int error;

	device->known.contract_max = TUTTI_CONTRACT_VERSION;
	good();
	for (; round < 3; round++) {
		while (!(error = tutti_executable_load(device, &o, bytes, &loaded[n], &message)))
			assert_true(++n < 64);
		assert_int_equal(error, -ENOSPC);
		assert_string_equal(message, "no card memory left for code");
		assert_in_range(n, 25, 35);
		while (n)
			assert_int_equal(tutti_executable_destroy(loaded[--n]), 0);
	}
}

static int copy_once(void)
{
	uint32_t from = 5, to = 0;
	tutti_signal_t done = signals[0], after = signals[1];
	int error;

	tutti_signal_store(done, 1);
	error = tutti_device_copy(device, &to, &from, sizeof(to), &after, 1, done);
	if (error)
		return error;
	assert_int_equal(tutti_signal_wait(device, done, TUTTI_LT, 1, TUTTI_WAIT_FOREVER, NULL), 0);
	assert_int_equal(to, 5);
	return 0;
}

/* The queue of copies is made with the first one; it is tried again with the next. */
static void copies_are_made(void **state)
{
	assert_int_equal(tutti_signal_create(device, 1, &signals[0]), 0);
	assert_int_equal(tutti_signal_create(device, 0, &signals[1]), 0);
	in_turn(copy_once, 4);
	assert_int_equal(tutti_signal_destroy(device, signals[0]), 0);
	assert_int_equal(tutti_signal_destroy(device, signals[1]), 0);
}

#define IN_TURN(f) cmocka_unit_test_setup_teardown(f, open_failing, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    IN_TURN(memory_is_set_up), IN_TURN(memory_is_allocated), IN_TURN(queues_are_made), IN_TURN(buffers_are_made),
	    IN_TURN(signals_are_made), IN_TURN(waits), IN_TURN(handlers), IN_TURN(files), IN_TURN(tasks),
	    IN_TURN(recordings), IN_TURN(memory_is_locked), IN_TURN(code_is_loaded), IN_TURN(no_room_for_code), IN_TURN(copies_are_made),
	};

	return cmocka_run_group_tests_name("SYS-40, REL-02 allocations and requests that fail", tests, NULL, NULL);
}

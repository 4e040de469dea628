// SPDX-License-Identifier: MIT
/* SYS-43, SYS-56: what hsa_ext_amd.h adds: pools, copies with signals, locked memory, times. */
#include <pthread.h>
#include <unistd.h>

#include "hsa_test.h"

#define BYTES 300000u

static hsa_status_t take_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment = -1;
	hsa_status_t status = hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);

	if (segment == HSA_AMD_SEGMENT_GROUP)
		found.group_pool = pool;
	else if (!((hsa_amd_memory_pool_t *)data)->handle)
		*(hsa_amd_memory_pool_t *)data = pool;
	return status;
}

static int begin(void **state)
{
	int error = found_all(state);

	if (error)
		return error;
	hsa_amd_agent_iterate_memory_pools(found.host, take_pool, &found.host_pool);
	hsa_amd_agent_iterate_memory_pools(found.card, take_pool, &found.card_pool);
	return 0;
}

static void *pool_memory(hsa_amd_memory_pool_t pool, size_t bytes)
{
	void *memory = NULL;

	OK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
	assert_non_null(memory);
	return memory;
}

static void pools_and_their_limits(void **state)
{
	hsa_amd_memory_pool_access_t access = -1;
	size_t bytes = 0, granule = 0;
	void *memory;

	(void)state;
	assert_true(found.host_pool.handle && found.card_pool.handle && found.group_pool.handle);
	OK(hsa_amd_memory_pool_get_info(found.card_pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &bytes));
	OK(hsa_amd_memory_pool_get_info(found.card_pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule));
	assert_true(granule && bytes > granule && !(bytes % granule));
	assert_int_equal(hsa_amd_memory_pool_allocate(found.group_pool, 64, 0, &memory), HSA_STATUS_ERROR_INVALID_ALLOCATION);
	assert_int_equal(hsa_amd_memory_pool_allocate(found.card_pool, bytes + 1, 0, &memory),
			 HSA_STATUS_ERROR_INVALID_ALLOCATION);
	OK(hsa_amd_agent_memory_pool_get_info(found.host, found.card_pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
	assert_int_equal(access, HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT);
	OK(hsa_amd_agent_memory_pool_get_info(found.host, found.group_pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access));
	assert_int_equal(access, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
	memory = pool_memory(found.card_pool, 100);
	OK(hsa_amd_agents_allow_access(1, &found.host, NULL, memory));
	OK(hsa_amd_memory_pool_free(memory));
}

static bool next_step(hsa_signal_value_t value, void *context)
{
	(void)value;
	hsa_signal_subtract_screlease(*(hsa_signal_t *)context, 1);
	return false;
}

/* Host to card, card to card when that is done and a handler has said so, card to host; six at once. */
static void copies_that_wait_for_each_other(void **state)
{
	enum { CHAINS = 6 };
	uint8_t *from[CHAINS], *to[CHAINS], *a[CHAINS], *b[CHAINS];
	hsa_signal_t first[CHAINS], gate[CHAINS], second[CHAINS], last[CHAINS];

	(void)state;
	for (int i = 0; i < CHAINS; i++) {
		from[i] = pool_memory(found.host_pool, BYTES);
		to[i] = pool_memory(found.host_pool, BYTES);
		a[i] = pool_memory(found.card_pool, BYTES);
		b[i] = pool_memory(found.card_pool, BYTES);
		for (unsigned k = 0; k < BYTES; k++)
			from[i][k] = (uint8_t)(k * 7 + k / 256 + i);
		first[i] = new_signal(1);
		gate[i] = new_signal(1);
		second[i] = new_signal(1);
		last[i] = new_signal(1);
		OK(hsa_amd_signal_async_handler(first[i], HSA_SIGNAL_CONDITION_LT, 1, next_step, &gate[i]));
		/* the later ones first, so that only their signals keep them back */
		OK(hsa_amd_memory_async_copy(to[i], found.host, b[i], found.card, BYTES, 1, &second[i], last[i]));
		OK(hsa_amd_memory_async_copy(b[i], found.card, a[i], found.card, BYTES, 2,
					     (hsa_signal_t[]){first[i], gate[i]}, second[i]));
	}
	for (int i = CHAINS - 1; i >= 0; i--)
		OK(hsa_amd_memory_async_copy(a[i], found.card, from[i], found.host, BYTES, 0, NULL, first[i]));
	for (int i = 0; i < CHAINS; i++) {
		wait_zero(last[i]);
		assert_memory_equal(from[i], to[i], BYTES);
	}
}

/* Times are those of the card, one copy after another, and only when they are wanted. */
static void times_of_copies(void **state)
{
	char *from = pool_memory(found.host_pool, BYTES), *to = pool_memory(found.card_pool, BYTES);
	hsa_amd_profiling_async_copy_time_t time[3] = {0};
	hsa_signal_t done[4];

	(void)state;
	OK(hsa_amd_profiling_async_copy_enable(true));
	for (int i = 0; i < 4; i++)
		done[i] = new_signal(1);
	for (int i = 0; i < 3; i++) {
		FAILS(INVALID_SIGNAL, hsa_amd_profiling_get_async_copy_time(done[i], &time[i]));
		OK(hsa_amd_memory_async_copy(to, found.card, from, found.host, BYTES, i ? 1 : 0, i ? &done[i - 1] : NULL,
					     done[i]));
	}
	for (int i = 0; i < 3; i++) {
		wait_zero(done[i]);
		OK(hsa_amd_profiling_get_async_copy_time(done[i], &time[i]));
		assert_true(time[i].start && time[i].start < time[i].end);
		assert_true(!i || time[i - 1].end <= time[i].start);
	}
	assert_memory_equal(from, to, BYTES);
	/* One that fails is told as ever, and is never taken for done by who looks in between. */
	for (int i = 0; i < 50; i++) {
		hsa_signal_t failed = new_signal(1);
		hsa_signal_value_t value;

		OK(hsa_amd_memory_async_copy((void *)0x1000, found.card, from, found.host, 64, 0, NULL, failed));
		value = hsa_signal_wait_scacquire(failed, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
		if (value >= 0)
			fail_msg("copy %d has failed, and its signal is %ld, then %ld", i, (long)value,
				 (long)hsa_signal_load_scacquire(failed));
	}
	OK(hsa_amd_profiling_async_copy_enable(false));
	OK(hsa_amd_memory_async_copy(to, found.card, from, found.host, BYTES, 0, NULL, done[3]));
	wait_zero(done[3]);
	FAILS(INVALID_SIGNAL, hsa_amd_profiling_get_async_copy_time(done[3], &time[0]));
}

static void fills(void **state)
{
	uint32_t *memory = pool_memory(found.card_pool, 4096);

	(void)state;
	OK(hsa_amd_memory_fill(memory, 0x01020304, 1000));
	for (int i = 0; i < 1024; i++)
		assert_int_equal(memory[i], i < 1000 ? 0x01020304 : 0);
	FAILS(INVALID_ALLOCATION, hsa_amd_memory_fill(memory, 1, 1025));
	FAILS(INVALID_ARGUMENT, hsa_amd_memory_fill((char *)memory + 1, 1, 1));
}

static void the_programs_own_memory(void **state)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	hsa_signal_t done = new_signal(1);
	uint32_t *own = malloc(100000), *copy = pool_memory(found.host_pool, 100000);
	hsa_agent_t *accessible = NULL;
	uint32_t count = 0;
	void *address = NULL;

	(void)state;
	OK(hsa_amd_pointer_info(own, &info, NULL, NULL, NULL));
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
	OK(hsa_amd_memory_lock(own, 100000, &found.card, 1, &address));
	assert_ptr_equal(address, own);
	OK(hsa_amd_pointer_info(own, &info, NULL, NULL, NULL));
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_LOCKED);
	for (int i = 0; i < 25000; i++)
		own[i] = i;
	OK(hsa_amd_memory_async_copy(copy, found.card, address, found.host, 100000, 0, NULL, done));
	wait_zero(done);
	assert_memory_equal(own, copy, 100000);
	OK(hsa_amd_memory_unlock(own));
	OK(hsa_amd_pointer_info(copy + 5, &info, malloc, &count, &accessible));
	assert_int_equal(info.type, HSA_EXT_POINTER_TYPE_HSA);
	assert_ptr_equal(info.hostBaseAddress, copy);
	assert_true(info.sizeInBytes >= 100000 && info.agentOwner.handle == found.host.handle && count == 2);
	free(accessible);
	free(own);
}

static hsa_amd_pointer_type_t type_of(const void *address)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	OK(hsa_amd_pointer_info(address, &info, NULL, NULL, NULL));
	return info.type;
}

/* What has been registered already stays registered as it is, so that one call undoes it. Locks are counted beside it. */
static void memory_is_registered_once(void **state)
{
	char *own = malloc(100000), *memory = fine_memory(64);
	void *address = NULL;

	(void)state;
	OK(hsa_memory_register(own, 100000));
	OK(hsa_memory_register(own, 100000));
	assert_int_equal(type_of(own + 99999), HSA_EXT_POINTER_TYPE_LOCKED);
	OK(hsa_memory_deregister(own, 100000));
	assert_int_equal(type_of(own), HSA_EXT_POINTER_TYPE_UNKNOWN);
	OK(hsa_memory_register(own, 100000));
	OK(hsa_amd_memory_lock(own, 100000, &found.card, 1, &address));
	OK(hsa_memory_deregister(own, 100000));
	assert_int_equal(type_of(own), HSA_EXT_POINTER_TYPE_LOCKED);
	OK(hsa_memory_register(own, 100000));
	OK(hsa_amd_memory_unlock(own));
	assert_int_equal(type_of(own), HSA_EXT_POINTER_TYPE_LOCKED);
	OK(hsa_memory_deregister(own, 100000));
	assert_int_equal(type_of(own), HSA_EXT_POINTER_TYPE_UNKNOWN);
	for (int i = 0; i < 2; i++) {
		OK(hsa_memory_register(memory, 64));
		assert_int_equal(type_of(memory), HSA_EXT_POINTER_TYPE_HSA);
		OK(hsa_memory_deregister(memory, 64));
	}
	OK(hsa_memory_free(memory));
	free(own);
}

/* A larger range than the one that is registered is none that has been registered already. */
static void registered_memory_grows(void **state)
{
	char *own = malloc(100000);

	(void)state;
	OK(hsa_memory_register(own, 1000));
	OK(hsa_memory_register(own, 100000));
	assert_int_equal(type_of(own + 99999), HSA_EXT_POINTER_TYPE_LOCKED);
	OK(hsa_memory_deregister(own, 100000));
	OK(hsa_memory_deregister(own, 1000));
	assert_int_equal(type_of(own), HSA_EXT_POINTER_TYPE_UNKNOWN);
	free(own);
}

#define LOCKED 100000u

/* Return: how often something else than a range of LOCKED bytes was found at its middle. */
static void *asks(void *own)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	uintptr_t wrong = 0;

	for (int i = 0; i < 200000; i++) {
		hsa_status_t status = hsa_amd_pointer_info((char *)own + LOCKED / 2, &info, NULL, NULL, NULL);

		wrong += status || info.type != HSA_EXT_POINTER_TYPE_LOCKED || info.hostBaseAddress != own ||
			 info.sizeInBytes != LOCKED;
	}
	return (void *)wrong;
}

/* Whoever asks changes nothing that another thread could see. */
static void threads_ask_about_the_same_memory(void **state)
{
	char *own = malloc(LOCKED);
	void *address = NULL, *wrong = NULL;
	pthread_t thread;

	(void)state;
	OK(hsa_amd_memory_lock(own, LOCKED, &found.card, 1, &address));
	pthread_create(&thread, NULL, asks, own);
	assert_null(asks(own));
	pthread_join(thread, &wrong);
	assert_null(wrong);
	OK(hsa_amd_memory_unlock(own));
	free(own);
}

static void on_free(void *address, void *data)
{
	*(void **)data = address;
}

static void what_programs_note_of_memory(void **state)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	char *memory = pool_memory(found.card_pool, 10000);
	void *told = NULL, *not_told = NULL;

	(void)state;
	OK(hsa_amd_pointer_info_set_userdata(memory + 777, state));
	OK(hsa_amd_pointer_info(memory + 9999, &info, NULL, NULL, NULL));
	assert_ptr_equal(info.userData, state);
	FAILS(INVALID_ALLOCATION, hsa_amd_register_deallocation_callback(memory + 64, on_free, &told));
	OK(hsa_amd_register_deallocation_callback(memory, on_free, &told));
	OK(hsa_amd_register_deallocation_callback(memory, on_free, &not_told));
	OK(hsa_amd_deregister_deallocation_callback(memory, on_free)); /* the newest */
	FAILS(INVALID_ALLOCATION, hsa_memory_free(memory + 64));
	assert_null(told);
	OK(hsa_amd_memory_pool_free(memory));
	assert_ptr_equal(told, memory);
	assert_null(not_told);
	FAILS(INVALID_ARGUMENT, hsa_amd_deregister_deallocation_callback(memory, on_free));
	FAILS(INVALID_ARGUMENT, hsa_amd_pointer_info_set_userdata(memory, state));
	memory = pool_memory(found.card_pool, 10000);
	OK(hsa_amd_pointer_info(memory, &info, NULL, NULL, NULL));
	assert_null(info.userData);
}

/* A box of 8 words, 3 rows and 2 layers, from one layout to another; the rest stays as it is. */
static void boxes(void **state)
{
	enum { WIDTH = 64, ROWS = 8, LAYERS = 4 };
	const hsa_dim3_t range = {32, 3, 2}, from_offset = {16, 4, 1}, to_offset = {8, 0, 2};
	uint32_t *from = pool_memory(found.host_pool, 4 * WIDTH * ROWS * LAYERS), wrong = 0;
	uint32_t *to = pool_memory(found.card_pool, 4 * WIDTH * ROWS * LAYERS);
	const hsa_pitched_ptr_t from_memory = {from, 4 * WIDTH, 4 * WIDTH * ROWS};
	const hsa_pitched_ptr_t to_memory = {to, 4 * WIDTH, 4 * WIDTH * ROWS};
	hsa_signal_t gate = new_signal(1), done = new_signal(1);

	(void)state;
	for (uint32_t i = 0; i < WIDTH * ROWS * LAYERS; i++)
		from[i] = i + 1;
	OK(hsa_amd_memory_async_copy_rect(&to_memory, &to_offset, &from_memory, &from_offset, &range, found.card,
					  hsaHostToDevice, 1, &gate, done));
	usleep(2000);
	assert_int_equal(hsa_signal_load_relaxed(done), 1);
	hsa_signal_store_screlease(gate, 0);
	wait_zero(done);
	for (uint32_t z = 0; z < LAYERS; z++)
		for (uint32_t y = 0; y < ROWS; y++)
			for (uint32_t x = 0; x < WIDTH; x++) {
				bool inside = x >= 2 && x < 10 && y < 3 && z >= 2;
				uint32_t expected = inside ? from[((z - 1) * ROWS + y + 4) * WIDTH + x + 2] : 0;

				wrong += to[(z * ROWS + y) * WIDTH + x] != expected;
			}
	assert_int_equal(wrong, 0);
	FAILS(INVALID_SIGNAL, hsa_amd_memory_async_copy_rect(&to_memory, &to_offset, &from_memory, &from_offset, &range,
							     found.card, hsaHostToDevice, 0, NULL, (hsa_signal_t){0}));
}

/* What cannot be had says so. */
static void what_stays_as_it_is(void **state)
{
	hsa_amd_coherency_type_t type = -1;
	uint32_t units = 0, all[32] = {0};
	char *memory = pool_memory(found.host_pool, 4096);
	hsa_amd_ipc_memory_t handle;
	hsa_queue_t *queue = NULL;
	bool can = true;

	(void)state;
	OK(hsa_amd_coherency_get_type(found.card, &type));
	assert_int_equal(type, HSA_AMD_COHERENCY_TYPE_COHERENT);
	OK(hsa_amd_coherency_set_type(found.card, type));
	OK(hsa_amd_memory_pool_can_migrate(found.host_pool, found.card_pool, &can));
	assert_false(can);
	OK(hsa_amd_memory_migrate(memory, found.host_pool, 0));
	FAILS(OUT_OF_RESOURCES, hsa_amd_memory_migrate(memory, found.card_pool, 0));
	FAILS(OUT_OF_RESOURCES, hsa_amd_ipc_memory_create(memory, 4096, &handle));
	assert_int_equal(hsa_amd_svm_attributes_set(memory, 4096, NULL, 0), HSA_STATUS_ERROR);
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	OK(hsa_agent_get_info(found.card, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, &units));
	OK(hsa_amd_queue_cu_get_mask(queue, 1024, all));
	for (uint32_t i = 0; i < 1024; i++)
		assert_int_equal(all[i / 32] >> i % 32 & 1, i < units);
	OK(hsa_amd_queue_cu_set_mask(queue, 1024, all));
	OK(hsa_amd_queue_cu_set_mask(queue, 0, NULL));
	all[units / 32 / 2] &= ~2u;
	assert_int_equal(hsa_amd_queue_cu_set_mask(queue, 1024, all), HSA_STATUS_ERROR);
	OK(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_NORMAL));
	assert_int_equal(hsa_amd_queue_set_priority(queue, HSA_AMD_QUEUE_PRIORITY_HIGH), HSA_STATUS_ERROR);
	OK(hsa_queue_destroy(queue));
}

static uint64_t time_now(void)
{
	uint64_t time = 0;

	OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &time));
	return time;
}

/*
 * The system's time is an estimate of the card's, from the newest heartbeat that the host has seen: it may be behind,
 * by as much as heartbeats are late, but is never ahead. A card that has just booted is not much older than that.
 */
static void times_lie_where_they_happened(void **state)
{
	hsa_executable_t executable = load_code("test");
	struct kernel empty = kernel_of(executable, "empty");
	hsa_amd_profiling_dispatch_time_t first = {0}, second = {0};
	hsa_signal_t one = new_signal(1), two = new_signal(1);
	char *memory = pool_memory(found.card_pool, 8192);
	hsa_queue_t *queue;
	uint64_t before;

	(void)state;
	OK(hsa_queue_create(found.card, 16, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	OK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
	FAILS(INVALID_SIGNAL, hsa_amd_profiling_get_dispatch_time(found.card, one, &first));
	before = time_now();
	launch(queue, &empty, 1, 1, memory, one);
	wait_zero(one);
	launch(queue, &empty, 1, 1, memory, two);
	wait_zero(two);
	OK(hsa_amd_profiling_get_dispatch_time(found.card, one, &first));
	OK(hsa_amd_profiling_get_dispatch_time(found.card, two, &second));
	assert_true(before && before <= first.end && first.start <= first.end);
	assert_true(first.end <= second.start && second.start <= second.end);
	for (int i = 0; time_now() < second.end; i++) {
		assert_true(i < 20000);
		usleep(1000);
	}
	OK(hsa_queue_destroy(queue));
	OK(hsa_executable_destroy(executable));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_and_their_limits),
		cmocka_unit_test(copies_that_wait_for_each_other),
		cmocka_unit_test(times_of_copies),
		cmocka_unit_test(fills),
		cmocka_unit_test(the_programs_own_memory),
		cmocka_unit_test(memory_is_registered_once),
		cmocka_unit_test(registered_memory_grows),
		cmocka_unit_test(threads_ask_about_the_same_memory),
		cmocka_unit_test(what_programs_note_of_memory),
		cmocka_unit_test(boxes),
		cmocka_unit_test(what_stays_as_it_is),
		cmocka_unit_test(times_lie_where_they_happened),
	};

	return cmocka_run_group_tests(tests, begin, found_done);
}

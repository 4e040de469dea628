// SPDX-License-Identifier: MIT
/* SYS-43, SYS-56: what hsa_ext_amd.h adds: pools, copies with signals, locked memory, times. */
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

static uint64_t time_now(void)
{
	uint64_t time = 0;

	OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &time));
	return time;
}

/*
 * The system's time is an estimate of the card's, from the newest heartbeat that the host has seen: it may be behind, by
 * as much as heartbeats are late, but is never ahead. A card that has just booted is not much older than that.
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
		cmocka_unit_test(fills),
		cmocka_unit_test(the_programs_own_memory),
		cmocka_unit_test(times_lie_where_they_happened),
	};

	return cmocka_run_group_tests(tests, begin, found_done);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* While the card is asked to let go of memory, which may take it long, other threads go on (SYS-40, SYS-41). */
#include <time.h>

#include "lock_check.h"
#include "rt_rig.h"

#define BLOCK (2u << 20)

static unsigned asked, helped;
static int failed;
static uint8_t mine[3 * 4096] __attribute__((aligned(4096)));

/* What other threads do meanwhile; none of it needs an answer of the card. */
static void *goes_on(void *context)
{
	static void *blocks[4];
	tutti_signal_t signal;
	void *start;
	size_t bytes;

	failed |= tutti_signal_create(device, 1, &signal);
	failed |= tutti_signal_destroy(device, signal);
	for (unsigned pool = TUTTI_MEMORY_SYSTEM; pool <= TUTTI_MEMORY_CARD; pool++) {
		failed |= tutti_memory_alloc(device, pool, 4096, &blocks[pool]);
		failed |= tutti_memory_info(device, blocks[pool], &start, &bytes, NULL);
		failed |= start != blocks[pool] || bytes != 4096;
		failed |= tutti_memory_free(device, blocks[pool]);
	}
	/* the block that is being freed is nobody's already */
	failed |= context && tutti_memory_info(device, context, NULL, NULL, NULL) != -ENOENT;
	failed |= context && tutti_memory_free(device, context) != -EINVAL;
	tutti_store_release(&helped, helped + 1);
	return NULL;
}

/* A card that does not answer before another thread has done its work; it is not waited for without end. */
static void others_go_on(void *freed)
{
	unsigned before = helped, naps = 0;
	pthread_t thread;

	asked++;
	pthread_create(&thread, NULL, goes_on, freed);
	while (tutti_load_acquire(&helped) == before && naps++ < 10000)
		usleep(1000);
	assert_int_not_equal(helped, before);
	pthread_join(thread, NULL);
}

static int slow_unmap(struct tutti_device *of, void *address, size_t bytes)
{
	transport.unmap = unmap; /* for the other thread */
	others_go_on(address);
	transport.unmap = slow_unmap;
	return unmap(of, address, bytes);
}

static int slow_map(struct tutti_device *of, void *address, size_t bytes, enum tutti_memory pool, unsigned access)
{
	others_go_on(NULL);
	return map(of, address, bytes, pool, access);
}

static void blocks_that_are_freed(void **state)
{
	void *block[2], *again, *small;

	for (unsigned pool = TUTTI_MEMORY_SYSTEM; pool <= TUTTI_MEMORY_CARD; pool++) {
		asked = failed = 0;
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(tutti_memory_alloc(device, pool, BLOCK, &block[i]), 0);
		memset(block[0], 0x5a, BLOCK);
		transport.unmap = slow_unmap;
		assert_int_equal(tutti_memory_free(device, block[0]), 0);
		assert_int_equal(asked, 1);
		/* and when they are given out again */
		assert_int_equal(tutti_memory_alloc(device, pool, BLOCK, &again), 0);
		transport.unmap = unmap;
		assert_int_equal(asked, 2);
		assert_int_equal(failed, 0);
		for (unsigned i = 0; i < BLOCK; i += 4096)
			assert_int_equal(((uint8_t *)again)[i], 0);
		/* nothing has been given out twice or lost */
		assert_true(again != block[1]);
		assert_int_equal(tutti_memory_alloc(device, pool, 4096, &small), 0);
		assert_false((uint8_t *)small >= (uint8_t *)again && (uint8_t *)small < (uint8_t *)again + BLOCK);
		assert_int_equal(tutti_memory_free(device, small), 0);
		assert_int_equal(tutti_memory_free(device, again), 0);
		assert_int_equal(tutti_memory_free(device, block[1]), 0);
		assert_int_equal(tutti_memory_free(device, again), -EINVAL);
	}
}

static void memory_of_the_program(void **state)
{
	unsigned before = fake.maps;

	asked = failed = 0;
	transport.map = slow_map;
	assert_int_equal(tutti_memory_lock(device, mine, sizeof(mine)), 0);
	transport.map = map;
	transport.unmap = slow_unmap;
	assert_int_equal(tutti_memory_unlock(device, mine), 0);
	transport.unmap = unmap;
	assert_int_equal(asked, 2);
	assert_int_equal(failed, 0);
	assert_int_equal(fake.maps, before);
	assert_int_equal(tutti_memory_info(device, mine, NULL, NULL, NULL), -ENOENT);
}

static int warm(void **state)
{
	void *first[2];
	int error = open_fake(state);

	for (unsigned pool = TUTTI_MEMORY_SYSTEM; pool <= TUTTI_MEMORY_CARD; pool++) { /* both pools are there */
		error |= tutti_memory_alloc(device, pool, 64, &first[pool]);
		error |= tutti_memory_alloc(device, pool, 4096, &first[pool]);
	}
	return error;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(blocks_that_are_freed, warm, close_fake),
	    cmocka_unit_test_setup_teardown(memory_of_the_program, warm, close_fake),
	};

	return cmocka_run_group_tests_name("SYS-40, SYS-41 unmapping takes nobody's time", tests, NULL, NULL);
}

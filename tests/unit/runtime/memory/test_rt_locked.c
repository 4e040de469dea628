/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock */
/* Memory of the application that the card may use: which pages are mapped, and what is known about addresses (SYS-41). */
#include "lock_check.h"
#include "rt_rig.h"

#define PAGES  24u
#define RANGES 12u
#define PAGE   4096u

static uint8_t area[PAGES * PAGE] __attribute__((aligned(PAGE)));
static bool page_mapped[PAGES];
static unsigned calls, fails_at; /* calls of map(), and which of them fails; 0: none */
static int unmap_error;

static unsigned page_of(const void *address, size_t size)
{
	const uint8_t *at = address;

	assert_true(at >= area && size && size % PAGE == 0 && at + size <= area + sizeof(area));
	return (unsigned)((size_t)(at - area) / PAGE);
}

static int map_pages(struct tutti_device *d, void *address, size_t size, enum tutti_memory pool, unsigned access)
{
	assert_int_equal(pool, TUTTI_MEMORY_SYSTEM);
	assert_int_equal(access, MAP_READ | MAP_WRITE);
	if (++calls == fails_at)
		return -EFAULT;
	for (unsigned p = page_of(address, size); size; p++, size -= PAGE) {
		assert_false(page_mapped[p]);
		page_mapped[p] = true;
	}
	return 0;
}

static int unmap_pages(struct tutti_device *d, void *address, size_t size)
{
	for (unsigned p = page_of(address, size); size; p++, size -= PAGE) {
		assert_true(page_mapped[p]);
		page_mapped[p] = false;
	}
	return unmap_error;
}

static int open_card(void **state)
{
	int error = open_fake(state);

	transport.map = map_pages;
	transport.unmap = unmap_pages;
	memset(page_mapped, 0, sizeof(page_mapped));
	calls = fails_at = 0;
	unmap_error = 0;
	return error;
}

static int close_locked(void **state)
{
	transport.map = map;
	transport.unmap = unmap;
	return close_fake(state);
}

static struct range {
	size_t start, bytes; /* no bytes: none */
} ranges[RANGES];

static void assert_pages(void)
{
	for (unsigned p = 0; p < PAGES; p++) {
		bool covered = false;

		for (const struct range *r = ranges; r < ranges + RANGES; r++)
			covered |= r->bytes && r->start < (p + 1) * PAGE && r->start + r->bytes > p * PAGE;
		assert_int_equal(page_mapped[p], covered);
	}
}

static bool starts_somewhere(size_t start)
{
	for (const struct range *r = ranges; r < ranges + RANGES; r++)
		if (r->bytes && r->start == start)
			return true;
	return false;
}

/* A range at the edges of pages, or anywhere. */
static struct range draw(void)
{
	size_t start = (size_t)(rand() % (int)PAGES) * PAGE, bytes = (size_t)(1 + rand() % 5) * PAGE;

	if (rand() % 2)
		start += (size_t)(rand() % 3) * (PAGE / 2 - 1);
	if (rand() % 2)
		bytes -= (size_t)rand() % PAGE;
	if (start + bytes > sizeof(area))
		bytes = sizeof(area) - start;
	return (struct range){start, bytes};
}

/* A page is mapped while a range needs it, once however many do, whatever fails in between. */
static void pages(void **state)
{
	srand(3);
	memset(ranges, 0, sizeof(ranges));
	for (unsigned round = 0; round < 20000; round++) {
		struct range *r = &ranges[rand() % (int)RANGES], want = draw();
		int error;

		calls = fails_at = 0;
		if (r->bytes) {
			unmap_error = rand() % 8 ? 0 : -EIO;
			error = tutti_memory_unlock(device, area + r->start);
			r->bytes = 0;
			if (!unmap_error)
				assert_int_equal(error, 0);
			unmap_error = 0;
		} else if (!starts_somewhere(want.start)) {
			fails_at = (unsigned)rand() % 6;
			error = tutti_memory_lock(device, area + want.start, want.bytes);
			assert_int_equal(error, fails_at && calls == fails_at ? -EFAULT : 0);
			if (!error)
				*r = want;
		}
		assert_pages();
	}
	for (struct range *r = ranges; r < ranges + RANGES; r++)
		if (r->bytes)
			assert_int_equal(tutti_memory_unlock(device, area + r->start), 0);
	for (unsigned p = 0; p < PAGES; p++)
		assert_false(page_mapped[p]);
}

/* An error of the card is told, and the range is gone all the same. */
static void unmap_fails(void **state)
{
	assert_int_equal(tutti_memory_lock(device, area, 10), 0);
	unmap_error = -EIO;
	assert_int_equal(tutti_memory_unlock(device, area), -EIO);
	unmap_error = 0;
	assert_int_equal(tutti_memory_unlock(device, area), -EINVAL);
	assert_false(page_mapped[0]);
}

static void refused(void **state)
{
	const uintptr_t end = TUTTI_VA_END;
	void *data;

	assert_int_equal(tutti_memory_lock(NULL, area, 1), -EINVAL);
	assert_int_equal(tutti_memory_lock(device, NULL, 1), -EINVAL);
	assert_int_equal(tutti_memory_lock(device, area, 0), -EINVAL);
	assert_int_equal(tutti_memory_lock(device, (void *)end, 1), -EINVAL);
	assert_int_equal(tutti_memory_lock(device, (void *)(end - 16), 17), -EINVAL);
	assert_int_equal(tutti_memory_lock(device, area, SIZE_MAX), -EINVAL);
	assert_int_equal(calls, 0);
	fails_at = 1;
	assert_int_equal(tutti_memory_lock(device, (void *)(end - 16), 16), -EFAULT); /* it may be asked for */
	assert_int_equal(calls, 1);
	assert_int_equal(tutti_memory_unlock(NULL, area), -EINVAL);
	assert_int_equal(tutti_memory_unlock(device, area), -EINVAL);
	transport.map = map;
	transport.unmap = unmap;
	for (unsigned pool = 0; pool < 2; pool++) { /* that the card can reach already */
		assert_int_equal(tutti_memory_alloc(device, pool, 64, &data), 0);
		assert_int_equal(tutti_memory_lock(device, data, 64), -EEXIST);
		assert_int_equal(tutti_memory_lock(device, data, 0), -EEXIST);
		assert_int_equal(tutti_memory_free(device, data), 0);
	}
	data = memory_code_alloc(device, 64);
	assert_int_equal(tutti_memory_lock(device, data, 64), -EEXIST);
	memory_code_free(device, data);
}

static void assert_known(const uint8_t *first, size_t size, enum tutti_memory pool)
{
	for (unsigned i = 0; i < 3; i++) {
		const uint8_t *at = first + (i == 0 ? 0 : i == 1 ? size / 2 : size - 1);
		enum tutti_memory which = 77;
		void *start = NULL;
		size_t found = 0;

		assert_int_equal(tutti_memory_info(device, at, &start, &found, &which), 0);
		assert_ptr_equal(start, first);
		assert_int_equal(found, size);
		assert_int_equal(which, pool);
		assert_int_equal(tutti_memory_info(device, at, NULL, NULL, NULL), 0);
		/* what begins there and ends with it is held by it, and nothing longer */
		assert_true(memory_holds(device, at, (size_t)(first + size - at)));
		assert_false(memory_holds(device, at, (size_t)(first + size - at) + 1));
	}
	assert_int_equal(tutti_memory_info(device, first - 1, NULL, NULL, NULL), -ENOENT);
	assert_int_equal(tutti_memory_info(device, first + size, NULL, NULL, NULL), -ENOENT);
	assert_false(memory_holds(device, first + size, 1));
	assert_false(memory_holds(device, first - 1, 1));
}

/* What is told of an address: the range that it is in, from its first byte to its last. */
static void info(void **state)
{
	void *data;

	assert_int_equal(tutti_memory_lock(device, area + 100, 5000), 0);
	assert_int_equal(tutti_memory_lock(device, area + 9000, 1), 0);
	assert_known(area + 100, 5000, TUTTI_MEMORY_SYSTEM);
	assert_known(area + 9000, 1, TUTTI_MEMORY_SYSTEM);
	assert_int_equal(tutti_memory_unlock(device, area + 100), 0);
	assert_int_equal(tutti_memory_info(device, area + 100, NULL, NULL, NULL), -ENOENT);
	assert_known(area + 9000, 1, TUTTI_MEMORY_SYSTEM);
	transport.map = map;
	for (unsigned pool = 0; pool < 2; pool++) {
		size_t found;

		assert_int_equal(tutti_memory_alloc(device, pool, 3 * PAGE, &data), 0);
		assert_int_equal(tutti_memory_info(device, data, NULL, &found, NULL), 0);
		assert_known(data, found, pool);
	}
	assert_int_equal(tutti_memory_info(NULL, data, NULL, NULL, NULL), -EINVAL);
}

#define L(f) cmocka_unit_test_setup_teardown(f, open_card, close_locked)

int main(void)
{
	static const struct CMUnitTest tests[] = {L(pages), L(unmap_fails), L(refused), L(info)};

	return cmocka_run_group_tests_name("SYS-41 locked memory", tests, NULL, NULL);
}

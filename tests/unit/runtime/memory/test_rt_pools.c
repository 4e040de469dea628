/* SPDX-License-Identifier: MIT */
/* How card memory is divided between data and code, and in what pieces it is mapped (SYS-41, SYS-06). */
#include "rt_rig.h"

static size_t pool_bytes, mapped;
static void *card_pool;

static int reserve_much(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	if (pool == TUTTI_MEMORY_SYSTEM)
		return reserve(device, pool, base, bytes);
	*base = card_pool;
	*bytes = pool_bytes;
	return 0;
}

static int map_pieces(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool, unsigned access)
{
	if (pool == TUTTI_MEMORY_CARD)
		mapped += bytes;
	return map(device, address, bytes, pool, access);
}

/* A sixteenth is for code, in whole pages, up to 64 MiB; it is the end of the pool, which nothing else reaches into. */
static void divided(void **state)
{
	static const struct {
		size_t bytes, code, piece;
	} rows[] = {
	    {64u << 20, 4u << 20, 4u << 20},
	    {(64u << 20) + 31 * 4096, (4u << 20) + 4096, 4u << 20},
	    {(512u << 20) - 4096, (32u << 20) - 4096, 4u << 20},
	    {512u << 20, 32u << 20, 64u << 20},
	    {(1024u << 20) - 4096, (64u << 20) - 4096, 64u << 20},
	    {1024u << 20, 64u << 20, 64u << 20},
	    {1040u << 20, 64u << 20, 64u << 20},
	    {2048u << 20, 64u << 20, 64u << 20},
	};

	transport.reserve = reserve_much;
	transport.map = map_pieces;
	transport.discards = transport.zeroed = true;
	card_pool = mmap(NULL, 2048u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(card_pool, MAP_FAILED);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint8_t *code;
		void *data, *first;

		pool_bytes = rows[i].bytes;
		memory_fini(device);
		assert_int_equal(memory_init(device), 0);
		assert_null(memory_code_alloc(device, rows[i].code + 1));
		code = memory_code_alloc(device, rows[i].code);
		assert_ptr_equal(code, (uint8_t *)card_pool + rows[i].bytes - rows[i].code);
		memory_code_free(device, code);
		assert_ptr_equal(memory_code_alloc(device, 1), code); /* a page, whatever its size */
		assert_ptr_equal(memory_code_alloc(device, 1), code + 4096);
		mapped = 0;
		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, 1, &data), 0);
		assert_int_equal(mapped, rows[i].piece);
		first = data;
		assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, rows[i].bytes - rows[i].code, &data),
				 -ENOSPC);
		assert_ptr_equal(data, first);
	}
	memory_fini(device);
	munmap(card_pool, 2048u << 20);
	transport.reserve = reserve;
	transport.map = map;
	transport.discards = transport.zeroed = false;
	assert_int_equal(memory_init(device), 0);
}

static uint64_t used(enum tutti_memory pool)
{
	struct tutti_pool info;

	assert_int_equal(tutti_memory_pool(device, pool, &info), 0);
	return info.used;
}

/* As long as nothing has been allocated of card memory, all of it can be, at once. */
static void whole(void **state)
{
	struct tutti_pool info;
	void *all;

	assert_int_equal(tutti_memory_pool(device, TUTTI_MEMORY_CARD, &info), 0);
	assert_int_equal(info.used, 0);
	assert_int_equal(info.bytes, POOL / 16 * 15);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD, info.bytes, &all), 0);
	assert_int_equal(used(TUTTI_MEMORY_CARD), info.bytes);
}

/* What the library says of its pools is what an application meets. */
static void told(void **state)
{
	static const size_t sizes[] = {1, 64, 65, 2048, 2049, 4096, 4097, 3 << 20};
	static const size_t taken[] = {64, 64, 128, 2048, 4096, 4096, 8192, 3 << 20};

	for (enum tutti_memory pool = TUTTI_MEMORY_SYSTEM; pool <= TUTTI_MEMORY_CARD; pool++) {
		struct tutti_pool info;
		uint64_t before = used(pool);
		void *block;

		assert_int_equal(tutti_memory_pool(device, pool, &info), 0);
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			assert_int_equal(tutti_memory_alloc(device, pool, sizes[i], &block), 0);
			assert_int_equal(used(pool) - before, taken[i]);
			assert_int_equal((uintptr_t)block % info.granule, 0);
			assert_true(sizes[i] <= info.alignment / 2 || !((uintptr_t)block % info.alignment));
			assert_int_equal(tutti_memory_free(device, block), 0);
			assert_int_equal(used(pool), before);
		}
		assert_true(info.bytes <= POOL);
		assert_true(tutti_memory_alloc(device, pool, info.bytes + 1, &block) < 0);
		for (unsigned i = 0; i < sizeof(info.reserved) / sizeof(*info.reserved); i++)
			assert_int_equal(info.reserved[i], 0);
	}
	assert_int_equal(tutti_memory_pool(device, TUTTI_MEMORY_CARD, NULL), -EINVAL);
	assert_int_equal(tutti_memory_pool(device, TUTTI_MEMORY_CARD + 1, &(struct tutti_pool){0}), -EINVAL);
}

static void refused(void **state)
{
	void *block = &block;

	for (enum tutti_memory pool = TUTTI_MEMORY_SYSTEM; pool <= TUTTI_MEMORY_CARD; pool++) {
		assert_int_equal(tutti_memory_alloc(device, pool, 0, &block), -EINVAL);
		assert_int_equal(tutti_memory_alloc(device, pool, 64, NULL), -EINVAL);
	}
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_CARD + 1, 64, &block), -EINVAL);
	assert_int_equal(tutti_memory_alloc(NULL, TUTTI_MEMORY_CARD, 64, &block), -EINVAL);
	assert_ptr_equal(block, &block);
	assert_int_equal(tutti_memory_free(device, NULL), 0);
	assert_int_equal(tutti_memory_free(NULL, NULL), -EINVAL);
	assert_int_equal(tutti_memory_free(device, &block), -EINVAL);
}

/* A signal lies in system memory, but it is no block of the application's, which frees it as a signal only. */
static void signals_are_no_blocks(void **state)
{
	tutti_signal_t signal;
	void *block;

	assert_int_equal(tutti_signal_create(device, 7, &signal), 0);
	assert_int_equal(tutti_memory_free(device, (void *)(uintptr_t)signal), -EINVAL);
	assert_int_equal(tutti_signal_load(signal), 7);
	assert_int_equal(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, 64, &block), 0);
	assert_ptr_not_equal(block, signal);
	assert_int_equal(tutti_signal_destroy(device, block), -EINVAL);
	assert_int_equal(tutti_memory_free(device, block), 0);
	assert_int_equal(tutti_signal_destroy(device, signal), 0);
	assert_int_equal(tutti_signal_destroy(device, signal), -EINVAL);
}

#define LARGE (4u << 20)

static bool page_mapped[2 * POOL / 4096];
static bool refuses; /* to map anything */

static bool *page_of(const void *address)
{
	return &page_mapped[((uintptr_t)address - (uintptr_t)fake.pool) / 4096];
}

static int map_page_by_page(struct tutti_device *of, void *address, size_t bytes, enum tutti_memory pool,
			    unsigned access)
{
	if (refuses)
		return -ENOMEM;
	memset(page_of(address), true, bytes / 4096);
	return map(of, address, bytes, pool, access);
}

static int unmap_page_by_page(struct tutti_device *of, void *address, size_t bytes)
{
	memset(page_of(address), false, bytes / 4096);
	return unmap(of, address, bytes);
}

static void assert_mapped(const void *block, bool mapped)
{
	for (unsigned i = 0; i < LARGE / 4096; i++)
		assert_int_equal(page_of(block)[i], mapped);
}

/* The card reaches a large block as long as somebody has it, whoever had it before, and only if it could be mapped. */
static void mapped_while_allocated(void **state)
{
	void *keep, *block, *again;

	transport.map = map_page_by_page;
	transport.unmap = unmap_page_by_page;
	for (enum tutti_memory pool = TUTTI_MEMORY_SYSTEM; pool <= TUTTI_MEMORY_CARD; pool++) {
		assert_int_equal(tutti_memory_alloc(device, pool, LARGE, &keep), 0);
		assert_int_equal(tutti_memory_alloc(device, pool, LARGE, &block), 0);
		for (unsigned i = 0; i < 3; i++) {
			assert_mapped(block, true);
			assert_int_equal(tutti_memory_free(device, block), 0);
			assert_mapped(block, false);
			assert_int_equal(tutti_memory_alloc(device, pool, LARGE, &again), 0);
			assert_ptr_equal(again, block);
		}
		assert_int_equal(tutti_memory_free(device, block), 0);
		refuses = true;
		assert_true(tutti_memory_alloc(device, pool, LARGE, &again) < 0);
		refuses = false;
		assert_mapped(block, false);
		assert_int_equal(tutti_memory_alloc(device, pool, LARGE, &again), 0);
		assert_mapped(again, true);
		assert_mapped(keep, true);
	}
	transport.map = map;
	transport.unmap = unmap;
}

static int back_error;
static void *backed;
static size_t backed_bytes;

static int back(struct tutti_device *of, void *address, size_t bytes, enum tutti_memory pool)
{
	assert_int_equal(pool, TUTTI_MEMORY_CARD);
	backed = address;
	backed_bytes = bytes;
	return back_error;
}

/* Code is written before it is mapped, so the whole pool of code is there from the beginning, or there is no device. */
static void code_can_be_written(void **state)
{
	void *code;

	transport.back = back;
	memory_fini(device);
	back_error = -EPROTO;
	assert_int_equal(memory_init(device), -EPROTO);
	assert_null(device->memory);
	back_error = 0;
	assert_int_equal(memory_init(device), 0);
	assert_int_equal(backed_bytes, POOL / 16);
	code = memory_code_alloc(device, backed_bytes);
	assert_ptr_equal(code, backed);
	memory_code_free(device, code);
	transport.back = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {T(divided),
					   T(whole),
					   T(told),
					   T(refused),
					   T(signals_are_no_blocks),
					   T(mapped_while_allocated),
					   T(code_can_be_written)};

	return cmocka_run_group_tests_name("SYS-41 pools of card memory", tests, NULL, NULL);
}

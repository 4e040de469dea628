/* SPDX-License-Identifier: MIT */
/* Sv48 tables of the runtime, walked back independently (SYS-06). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "transport/bare/pagetable.h"

#define PAGE 4096ull
#define M2   (2ull << 20)
#define G1   (1ull << 30)

/* The walk of the privileged specification, written from it. */
static uint64_t translate(const struct pagetable *pt, uint64_t va, uint64_t *flags)
{
	uint64_t table = pagetable_root(pt);

	for (int level = 3; level >= 0; level--) {
		uint64_t pte =
		    ((uint64_t *)(uintptr_t)(table & ~TUTTI_BUS_HOST))[va >> (12 + 9 * level) & 511];
		uint64_t bus = (pte >> 10 & ((1ull << 44) - 1)) << 12;

		if (!(pte & 1))
			return ~0ull;
		if (pte & 0xe) {
			uint64_t size = 1ull << (12 + 9 * level);

			assert_int_equal(bus & (size - 1), 0); /* no misaligned superpage */
			assert_true(pte & TUTTI_PTE_U && pte & TUTTI_PTE_A);
			assert_int_equal(!!(pte & TUTTI_PTE_W), !!(pte & TUTTI_PTE_D));
			*flags = pte & 0xe;
			return bus + (va & (size - 1));
		}
		assert_true(bus & TUTTI_BUS_HOST);
		table = bus;
	}
	fail();
	return 0;
}

static void maps_with_large_leaves(void **state)
{
	struct pagetable pt;
	uint64_t flags;
	unsigned level;

	assert_int_equal(pagetable_init(&pt, 64), 0);
	assert_int_equal(pagetable_map(&pt, G1 - M2 - PAGE, 3 * G1 - M2 - PAGE, PAGE + M2 + G1 + PAGE,
				       TUTTI_PTE_R | TUTTI_PTE_W),
			 0);
	assert_true(pagetable_walk(&pt, G1, &level));
	assert_int_equal(level, 2);
	assert_true(pagetable_walk(&pt, G1 - M2, &level));
	assert_int_equal(level, 1);
	assert_true(pagetable_walk(&pt, G1 - M2 - PAGE, &level));
	assert_int_equal(level, 0);
	for (uint64_t va = G1 - M2 - PAGE; va < 2 * G1 + PAGE; va += 123 * 64)
		assert_int_equal(translate(&pt, va, &flags), va + 2 * G1);
	assert_int_equal(translate(&pt, 2 * G1 + PAGE, &flags), ~0ull);
	assert_int_equal(translate(&pt, G1 - M2 - PAGE - 1, &flags), ~0ull);
	pagetable_fini(&pt);
}

static void unmap_splits(void **state)
{
	struct pagetable pt;
	uint64_t flags;

	pagetable_init(&pt, 64);
	assert_int_equal(pagetable_map(&pt, G1, 0, G1, TUTTI_PTE_R | TUTTI_PTE_X), 0);
	assert_int_equal(pagetable_unmap(&pt, G1 + 5 * M2 + 7 * PAGE, PAGE), 0);
	assert_int_equal(translate(&pt, G1 + 5 * M2 + 7 * PAGE, &flags), ~0ull);
	assert_int_equal(translate(&pt, G1 + 5 * M2 + 8 * PAGE, &flags), 5 * M2 + 8 * PAGE);
	assert_int_equal(flags, TUTTI_PTE_R | TUTTI_PTE_X);
	assert_int_equal(translate(&pt, G1 + 5 * M2 + 7 * PAGE - 1, &flags), 5 * M2 + 7 * PAGE - 1);
	assert_int_equal(translate(&pt, G1 + 6 * M2, &flags), 6 * M2);
	/* the hole can be filled, and only the hole */
	assert_int_equal(pagetable_map(&pt, G1 + 5 * M2 + 6 * PAGE, 0, 2 * PAGE, TUTTI_PTE_R), -EEXIST);
	assert_int_equal(pagetable_map(&pt, G1 + 5 * M2 + 7 * PAGE, 0x1000, PAGE, TUTTI_PTE_R), 0);
	assert_int_equal(translate(&pt, G1 + 5 * M2 + 7 * PAGE + 8, &flags), 0x1008);
	pagetable_fini(&pt);
}

static void refuses(void **state)
{
	struct pagetable pt;

	pagetable_init(&pt, 3);
	assert_int_equal(pagetable_map(&pt, 1, 0, PAGE, TUTTI_PTE_R), -EINVAL);
	assert_int_equal(pagetable_map(&pt, 0, 1, PAGE, TUTTI_PTE_R), -EINVAL);
	assert_int_equal(pagetable_map(&pt, 0, 0, 0, TUTTI_PTE_R), -EINVAL);
	assert_int_equal(pagetable_map(&pt, 0, 0, PAGE, TUTTI_PTE_W), -EINVAL);
	assert_int_equal(pagetable_map(&pt, TUTTI_VA_END - PAGE, 0, 2 * PAGE, TUTTI_PTE_R), -EINVAL);
	assert_int_equal(pagetable_map(&pt, 0, 0, PAGE, TUTTI_PTE_R), -ENOMEM);
	assert_int_equal(pagetable_walk(&pt, 0, NULL), 0);
	pagetable_fini(&pt);
}

/* The last page of the address space is like any other, and the first one behind it is none. */
static void last_page(void **state)
{
	const uint64_t last = TUTTI_VA_END - PAGE;
	struct pagetable pt;
	uint64_t flags;

	pagetable_init(&pt, 8);
	assert_int_equal(pagetable_map(&pt, last, 0x5000, PAGE, TUTTI_PTE_R), 0);
	assert_int_equal(translate(&pt, last, &flags), 0x5000);
	assert_int_equal(pagetable_unmap(&pt, last, 2 * PAGE), -EINVAL);
	assert_int_equal(pagetable_unmap(&pt, TUTTI_VA_END, PAGE), -EINVAL);
	assert_int_equal(pagetable_unmap(&pt, last, 0), -EINVAL);
	assert_int_equal(pagetable_unmap(&pt, last, 1), -EINVAL);
	assert_int_equal(pagetable_unmap(&pt, last - 1, PAGE), -EINVAL);
	assert_int_equal(translate(&pt, last, &flags), 0x5000);
	assert_int_equal(pagetable_map(&pt, TUTTI_VA_END, 0, PAGE, TUTTI_PTE_R), -EINVAL);
	assert_int_equal(pagetable_unmap(&pt, last, PAGE), 0);
	assert_int_equal(translate(&pt, last, &flags), ~0ull);
	pagetable_fini(&pt);
}

/* Something that is mapped is found behind a hole of any size, at its first page as at its last. */
static void found_behind_holes(void **state)
{
	static const uint64_t at[] = {M2, G1, 512 * G1, 3 * M2 + PAGE, 5 * G1 + M2};
	struct pagetable pt;

	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		pagetable_init(&pt, 16);
		assert_int_equal(pagetable_map(&pt, at[i], 0, 2 * PAGE, TUTTI_PTE_R), 0);
		assert_int_equal(pagetable_map(&pt, at[i] - PAGE, 0, 2 * PAGE, TUTTI_PTE_R), -EEXIST);
		assert_int_equal(pagetable_map(&pt, at[i] + PAGE, 0, 2 * PAGE, TUTTI_PTE_R), -EEXIST);
		assert_int_equal(pagetable_map(&pt, 0, 0, at[i] + PAGE, TUTTI_PTE_R), -EEXIST);
		assert_int_equal(pagetable_unmap(&pt, at[i] - PAGE, 2 * PAGE), 0); /* of which one was mapped */
		assert_int_equal(pagetable_map(&pt, at[i] - PAGE, 0, 2 * PAGE, TUTTI_PTE_R), 0);
		assert_int_equal(pagetable_map(&pt, at[i] + PAGE, 0, PAGE, TUTTI_PTE_R), -EEXIST);
		pagetable_fini(&pt);
	}
}

static void random_pages(void **state)
{
	enum { PAGES = 2048 };
	static uint64_t model[PAGES];
	struct pagetable pt;
	unsigned seed = 1;
	uint64_t base = 511 * G1 - 1024 * PAGE, flags;

	pagetable_init(&pt, 256);
	memset(model, 0xff, sizeof(model));
	for (int round = 0; round < 3000; round++) {
		unsigned first = (unsigned)rand_r(&seed) % PAGES, n = 1 + (unsigned)rand_r(&seed) % 700,
			 free = 1;

		if (n > PAGES - first)
			n = PAGES - first;
		if (rand_r(&seed) % 3) {
			uint64_t bus = (base + first * PAGE) % G1 + (rand_r(&seed) % 2 ? G1 : 17 * PAGE);

			for (unsigned i = first; i < first + n; i++)
				free &= model[i] == ~0ull;
			assert_int_equal(pagetable_map(&pt, base + first * PAGE, bus, n * PAGE, TUTTI_PTE_R),
					 free ? 0 : -EEXIST);
			for (unsigned i = 0; free && i < n; i++)
				model[first + i] = bus + i * PAGE;
		} else {
			assert_int_equal(pagetable_unmap(&pt, base + first * PAGE, n * PAGE), 0);
			memset(&model[first], 0xff, n * sizeof(*model));
		}
		for (unsigned i = 0; i < PAGES; i += 1 + (unsigned)rand_r(&seed) % 40)
			assert_int_equal(translate(&pt, base + i * PAGE, &flags), model[i]);
	}
	pagetable_fini(&pt);
}

/* A leaf that is split fills its table, and nothing of the table that is taken next. */
static void splits_into_one_table(void **state)
{
	struct pagetable pt;
	uint64_t flags;

	assert_int_equal(pagetable_init(&pt, 16), 0);
	assert_int_equal(pagetable_map(&pt, 4 * M2, 6 * M2, M2, TUTTI_PTE_R | TUTTI_PTE_X), 0);
	assert_int_equal(pagetable_unmap(&pt, 4 * M2 + 7 * PAGE, PAGE), 0);
	for (unsigned i = 0; i < 512; i++)
		assert_int_equal(translate(&pt, 4 * M2 + i * PAGE, &flags), i == 7 ? ~0ull : 6 * M2 + i * PAGE);
	assert_int_equal(pagetable_map(&pt, 9 * M2 + PAGE, PAGE, PAGE, TUTTI_PTE_R), 0);
	assert_int_equal(translate(&pt, 9 * M2, &flags), ~0ull);
	assert_int_equal(translate(&pt, 9 * M2 + PAGE, &flags), PAGE);
	for (unsigned i = 2; i < 512; i++)
		assert_int_equal(translate(&pt, 9 * M2 + i * PAGE, &flags), ~0ull);
	pagetable_fini(&pt);
}

/* What cannot be mapped as a whole is not mapped in part, and what cannot be split stays as it is. */
static void no_more_tables(void **state)
{
	struct pagetable pt;
	uint64_t flags;

	for (size_t tables = 1; tables <= 6; tables++) {
		/* the range needs tables of levels 2, 1, 0 and, behind the gigabyte, of levels 1 and 0 again */
		int error;

		assert_int_equal(pagetable_init(&pt, tables), 0);
		error = pagetable_map(&pt, G1 - PAGE, 5 * G1 - PAGE, 2 * PAGE, TUTTI_PTE_R);
		assert_int_equal(error, tables < 6 ? -ENOMEM : 0);
		assert_int_equal(translate(&pt, G1 - PAGE, &flags), error ? ~0ull : 5 * G1 - PAGE);
		assert_int_equal(translate(&pt, G1, &flags), error ? ~0ull : 5 * G1);
		pagetable_fini(&pt);
		assert_null(pt.pool);
	}
	assert_int_equal(pagetable_init(&pt, 3), 0);
	assert_int_equal(pagetable_map(&pt, 4 * M2, 6 * M2, M2, TUTTI_PTE_R), 0);
	assert_int_equal(pagetable_unmap(&pt, 4 * M2, PAGE), -ENOMEM);
	assert_int_equal(translate(&pt, 4 * M2, &flags), 6 * M2);
	assert_int_equal(pagetable_unmap(&pt, 4 * M2, M2), 0);
	assert_int_equal(translate(&pt, 4 * M2, &flags), ~0ull);
	pagetable_fini(&pt);
	assert_int_equal(pagetable_init(&pt, SIZE_MAX / PAGE), -ENOMEM);
}

/* pagetable_fini() unmaps a pool that pagetable_init() has mapped, and no other. */
static void pool_is_returned(void **state)
{
	struct pagetable pt, other;
	void *pool;

	assert_int_equal(pagetable_init(&pt, 3), 0);
	pool = pt.pool;
	pagetable_init_at(&other, pool, 0, 3);
	pagetable_fini(&other);
	assert_int_equal(msync(pool, 3 * PAGE, MS_ASYNC), 0);
	pagetable_fini(&pt);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(msync((uint8_t *)pool + i * PAGE, PAGE, MS_ASYNC), -1); /* nothing is mapped there */
	pagetable_fini(&pt); /* A second call does nothing. */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(maps_with_large_leaves),
	    cmocka_unit_test(unmap_splits),
	    cmocka_unit_test(refuses),
	    cmocka_unit_test(last_page),
	    cmocka_unit_test(found_behind_holes),
	    cmocka_unit_test(random_pages),
	    cmocka_unit_test(splits_into_one_table),
	    cmocka_unit_test(no_more_tables),
	    cmocka_unit_test(pool_is_returned),
	};

	return cmocka_run_group_tests_name("SYS-06 page tables", tests, NULL, NULL);
}

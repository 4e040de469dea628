/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=madvise,--wrap=sysconf */
/* Arena allocator against a list of what should be allocated (SYS-41). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <sys/mman.h>

#include "memory/arena.h"

#define BYTES (64u << 20)
#define LIVE  600

#define BIG_PAGE 65536u

/* A kernel with larger pages: madvise() refuses what does not start with one, and takes all of the last one. */
static size_t host_page = 4096;
static unsigned discards;
long __real_sysconf(int name);
long __wrap_sysconf(int name);
int __real_madvise(void *start, size_t bytes, int advice);
int __wrap_madvise(void *start, size_t bytes, int advice);

long __wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE ? (long)host_page : __real_sysconf(name);
}

int __wrap_madvise(void *start, size_t bytes, int advice)
{
	if ((uintptr_t)start % host_page) {
		errno = EINVAL;
		return -1;
	}
	discards++;
	return __real_madvise(start, (bytes + host_page - 1) / host_page * host_page, advice);
}

static size_t committed;
static size_t limit = BYTES;

static int commit(void *context, void *start, size_t bytes)
{
	if (committed + bytes > limit)
		return -ENOMEM;
	assert_ptr_equal(start, (uint8_t *)context + committed);
	committed += bytes;
	return 0;
}

static bool visible[BYTES / 4096];
static uint8_t *visible_base;

static void retire(void *context, void *start, size_t bytes)
{
	memset(&visible[((uint8_t *)start - visible_base) / 4096], 0, bytes / 4096);
}

static int revive(void *context, void *start, size_t bytes)
{
	memset(&visible[((uint8_t *)start - visible_base) / 4096], 1, bytes / 4096);
	return 0;
}

/* It starts and ends with a page of any host. */
static uint8_t *memory(void)
{
	uint8_t *p = mmap(NULL, BYTES + 2 * BIG_PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	committed = 0;
	discards = 0;
	return p + (BIG_PAGE - (uintptr_t)p % BIG_PAGE);
}

static void random_use(void **state)
{
	struct live {
		uint8_t *p;
		size_t bytes;
	} live[LIVE] = {{0}};
	struct arena arena;
	uint8_t *base = memory();
	unsigned seed = 7;

	assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, true), 0);
	for (int round = 0; round < 60000; round++) {
		struct live *l = &live[(unsigned)rand_r(&seed) % LIVE];
		size_t bytes, found;
		void *start;

		if (l->p) {
			/* its ends still hold what was written, it is found by any byte */
			assert_int_equal(l->p[0], (uint8_t)(l->bytes * 3));
			assert_int_equal(l->p[l->bytes - 1], (uint8_t)(l->bytes * 3));
			assert_true(
			    arena_find(&arena, l->p + (unsigned)rand_r(&seed) % l->bytes, &start, &found));
			assert_ptr_equal(start, l->p);
			assert_true(found >= l->bytes);
			if (l->bytes > 64)
				assert_int_equal(arena_free(&arena, l->p + 64), -EINVAL);
			assert_int_equal(arena_free(&arena, l->p), 0);
			assert_int_equal(arena_free(&arena, l->p), -EINVAL);
			assert_false(arena_find(&arena, l->p, &start, &found));
			l->p = NULL;
			continue;
		}
		bytes = 1 + (unsigned)rand_r(&seed) % (rand_r(&seed) % 4   ? 300
						       : rand_r(&seed) % 8 ? 20000
									   : 600000);
		l->p = arena_alloc(&arena, bytes);
		if (!l->p)
			continue;
		l->bytes = bytes;
		assert_int_equal((uintptr_t)l->p % (bytes >= 4096 ? 4096 : 64), 0);
		for (size_t i = 0; i < bytes; i += 1 + bytes / 50)
			assert_int_equal(l->p[i], 0);
		assert_int_equal(l->p[bytes - 1], 0);
		memset(l->p, (uint8_t)(bytes * 3), bytes);
		for (int i = 0; i < LIVE; i++)
			if (live[i].p && &live[i] != l)
				assert_true(live[i].p + live[i].bytes <= l->p || l->p + bytes <= live[i].p);
	}
	for (int i = 0; i < LIVE; i++)
		if (live[i].p)
			assert_int_equal(arena_free(&arena, live[i].p), 0);
	assert_int_equal(arena.used_bytes, 0);
	/* everything has grown together again, but for one slab of each class */
	assert_non_null(arena_alloc(&arena, BYTES / 2));
	arena_fini(&arena);
	munmap(base, BYTES);
}

/* SYS-51: what is freed ends within a page of the host whose rest is in use. */
static void random_use_with_big_pages(void **state)
{
	host_page = BIG_PAGE;
	random_use(state);
	host_page = 4096;
	assert_true(discards > 100);
}

/* What is allocated is visible to the card; big blocks are not once they are freed. */
static void retired_and_revived(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *live[64] = {0};
	size_t size[64];
	unsigned seed = 11;

	visible_base = base;
	memset(visible, 1, sizeof(visible));
	assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, true), 0);
	arena.retire = retire;
	arena.revive = revive;
	for (int round = 0; round < 20000; round++) {
		unsigned i = (unsigned)rand_r(&seed) % 64;

		if (live[i]) {
			assert_int_equal(arena_free(&arena, live[i]), 0);
			if (size[i] >= 1 << 20)
				assert_false(visible[(live[i] - base) / 4096]);
			live[i] = NULL;
			continue;
		}
		size[i] = 1 + (unsigned)rand_r(&seed) % (rand_r(&seed) % 4 ? 200000 : 3000000);
		live[i] = arena_alloc(&arena, size[i]);
		for (size_t at = 0; live[i] && at < size[i]; at += 4096)
			assert_true(visible[(live[i] - base + at) / 4096]);
	}
	arena_fini(&arena);
	munmap(base, BYTES);
}

static void fills_up(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *p;
	unsigned n = 0;

	assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, true), 0);
	assert_null(arena_alloc(&arena, BYTES + 1));
	assert_null(arena_alloc(&arena, 0));
	assert_null(arena_alloc(&arena, SIZE_MAX));
	p = arena_alloc(&arena, BYTES);
	assert_non_null(p);
	assert_null(arena_alloc(&arena, 1));
	assert_int_equal(arena_free(&arena, p), 0);
	while (arena_alloc(&arena, 1 << 20))
		n++;
	assert_int_equal(n, BYTES >> 20);
	arena_fini(&arena);
	munmap(base, BYTES);
}

static void commit_fails(void **state)
{
	struct arena arena;
	uint8_t *base = memory();

	limit = 2 << 20;
	assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, true), 0);
	assert_null(arena_alloc(&arena, 3 << 20));
	assert_non_null(arena_alloc(&arena, 2 << 20));
	assert_null(arena_alloc(&arena, 64));
	limit = BYTES;
	assert_non_null(arena_alloc(&arena, 64));
	arena_fini(&arena);
	munmap(base, BYTES);
}

static void foreign_pointers(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *p;
	int here;

	assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, true), 0);
	p = arena_alloc(&arena, 128);
	assert_int_equal(arena_free(&arena, &here), -EINVAL);
	assert_int_equal(arena_free(&arena, NULL), -EINVAL);
	assert_int_equal(arena_free(&arena, p + 1), -EINVAL);
	assert_int_equal(arena_free(&arena, p + 128), -EINVAL);
	assert_int_equal(arena_free(&arena, base + BYTES - 4096), -EINVAL);
	assert_int_equal(arena_free(&arena, base + BYTES), -EINVAL);
	assert_int_equal(arena_free(&arena, p), 0);
	arena_fini(&arena);
	munmap(base, BYTES);
}

static unsigned revived;
static bool revive_fails;

static int count_revived(void *context, void *start, size_t bytes)
{
	revived++;
	return revive_fails ? -ENOMEM : revive(context, start, bytes);
}

/* Only what is not visible is made visible, and only as much of it as is used. What cannot be stays free. */
static void revived_once(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *all, *part, *rest;

	visible_base = base;
	assert_int_equal(arena_init(&arena, base, BYTES, BYTES, commit, base, false), 0);
	arena.retire = retire;
	arena.revive = count_revived;
	revived = 0;
	all = arena_alloc(&arena, BYTES);
	assert_int_equal(revived, 0);
	memset(visible, 1, sizeof(visible));
	assert_int_equal(arena_free(&arena, all), 0);
	for (size_t i = 0; i < BYTES / 4096; i++)
		assert_false(visible[i]);
	revive_fails = true;
	assert_null(arena_alloc(&arena, 40 * 4096));
	assert_int_equal(arena.used_bytes, 0);
	revive_fails = false;
	revived = 0;
	part = arena_alloc(&arena, 40 * 4096);
	assert_int_equal(revived, 1);
	for (size_t i = 0; i < BYTES / 4096; i++)
		assert_int_equal(visible[i], (size_t)(part - base) / 4096 <= i && i < (size_t)(part - base) / 4096 + 40);
	rest = arena_alloc(&arena, BYTES - 40 * 4096);
	assert_non_null(rest);
	assert_int_equal(revived, 2);
	/* a block of less than a megabyte stays visible */
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(arena_free(&arena, part), 0);
		assert_true(visible[(part - base) / 4096]);
		assert_ptr_equal(arena_alloc(&arena, 40 * 4096), part);
		assert_int_equal(revived, 2);
	}
	assert_int_equal(discards, 0); /* which this memory is not for */
	arena_fini(&arena);
	munmap(base, BYTES);
}

/* When all objects of a size have been freed, one of their slabs is kept, and the pages of the others are free again. */
static void slabs_are_given_back(void **state)
{
	enum { SLABS = 3, OBJECTS = 64 * SLABS };
	struct arena arena;
	uint8_t *base = memory();
	void *object[OBJECTS];

	assert_int_equal(arena_init(&arena, base, BYTES, BYTES, commit, base, true), 0);
	for (unsigned i = 0; i < OBJECTS; i++)
		assert_non_null(object[i] = arena_alloc(&arena, 64));
	assert_non_null(arena_alloc(&arena, BYTES - SLABS * 4096));
	assert_null(arena_alloc(&arena, 4096));
	for (unsigned i = 0; i < OBJECTS; i++)
		assert_int_equal(arena_free(&arena, object[i]), 0);
	for (unsigned i = 0; i < SLABS; i++)
		assert_int_equal(arena_alloc(&arena, 4096) != NULL, i < SLABS - 1);
	assert_non_null(arena_alloc(&arena, 64));
	arena_fini(&arena);
	munmap(base, BYTES);
}

/* What is freed becomes one with what is free before and behind it, and nothing is used up by that. */
static void neighbours_join(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *block[3], *guard;
	uint32_t descriptors = 0;

	assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, false), 0);
	for (unsigned i = 0; i < 3; i++)
		block[i] = arena_alloc(&arena, 8192);
	guard = arena_alloc(&arena, 4096);
	for (unsigned round = 0; round < 600; round++) {
		static const uint8_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

		for (unsigned i = 0; i < 3; i++)
			assert_int_equal(arena_free(&arena, block[order[round % 6][i]]), 0);
		assert_ptr_equal(arena_alloc(&arena, 3 * 8192), block[0]);
		assert_int_equal(arena_free(&arena, block[0]), 0);
		for (unsigned i = 0; i < 3; i++)
			assert_ptr_equal(arena_alloc(&arena, 8192), block[i]);
		if (!round)
			descriptors = arena.extents;
	}
	assert_int_equal(arena.extents, descriptors);
	assert_int_equal(arena_free(&arena, guard), 0);
	arena_fini(&arena);
	munmap(base, BYTES);
}

/* Blocks of a megabyte and more are retired, and no smaller ones. */
static void retired_from(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *p;

	visible_base = base;
	for (unsigned pages = 255; pages <= 257; pages++) {
		memset(visible, 1, sizeof(visible));
		assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, false), 0);
		arena.retire = retire;
		arena.revive = revive;
		p = arena_alloc(&arena, pages * 4096ul);
		assert_int_equal(arena_free(&arena, p), 0);
		assert_int_equal(visible[(p - base) / 4096], pages < 256);
		arena_fini(&arena);
		committed = 0;
	}
	munmap(base, BYTES);
}

/* The last chunk may be smaller than the others, and what is free in front of a new one is used with it. */
static void grows_to_the_end(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *first, *last;
	const size_t bytes = (10u << 20) + 3 * 4096;

	limit = bytes;
	assert_int_equal(arena_init(&arena, base, bytes, 1 << 20, commit, base, false), 0);
	first = arena_alloc(&arena, 4096);
	assert_ptr_equal(first, base);
	assert_int_equal(committed, 1 << 20);
	assert_non_null(arena_alloc(&arena, (1 << 20) - 4096));
	assert_int_equal(committed, 1 << 20);
	assert_non_null(arena_alloc(&arena, (1 << 20) + 4096)); /* a chunk is not enough for it */
	assert_int_equal(committed, 3 << 20);
	assert_non_null(arena_alloc(&arena, (2 << 20) - 4096)); /* with what is left over */
	assert_int_equal(committed, 4 << 20);
	assert_null(arena_alloc(&arena, bytes - (4 << 20) + 1));
	last = arena_alloc(&arena, bytes - (4 << 20));
	assert_ptr_equal(last + bytes - (4 << 20), base + bytes);
	assert_int_equal(committed, bytes);
	assert_null(arena_alloc(&arena, 1));
	assert_int_equal(arena.used_bytes, bytes);
	arena_fini(&arena);
	assert_null(arena.owner);
	limit = BYTES;
	for (unsigned i = 0; i < 3; i++) /* less than a page is none; more than an index can name is refused */
		assert_int_equal(arena_init(&arena, base, (const size_t[]){0, 4095, (size_t)UINT32_MAX * 4096}[i], 4096, commit,
					    base, false),
				 -EINVAL);
	munmap(base, BYTES);
}

/* Small blocks have the next power of two, at least 64 bytes; from half a page on they have pages. */
static void sizes(void **state)
{
	struct arena arena;
	uint8_t *base = memory(), *object[64 * 3];
	size_t found;
	void *start;

	assert_int_equal(arena_init(&arena, base, BYTES, 1 << 20, commit, base, false), 0);
	for (size_t bytes = 1; bytes <= 2 * 4096 + 1; bytes++) {
		size_t want = 64, before = arena.used_bytes;
		uint8_t *p = arena_alloc(&arena, bytes);

		while (want < bytes && want < 2048)
			want *= 2;
		if (bytes > 2048)
			want = (bytes + 4095) / 4096 * 4096;
		assert_true(arena_find(&arena, p + bytes - 1, &start, &found));
		assert_ptr_equal(start, p);
		assert_int_equal(found, want);
		assert_int_equal(arena.used_bytes - before, want);
		assert_int_equal(arena_free(&arena, p), 0);
		assert_int_equal(arena.used_bytes, before);
	}
	/* all objects of three slabs, each once, and free again in another order */
	for (unsigned class = 0; class < 6; class++) {
		for (unsigned i = 0; i < 64 * 3; i++) {
			object[i] = arena_alloc(&arena, 64u << class);
			for (unsigned k = 0; k < i; k++)
				assert_ptr_not_equal(object[k], object[i]);
			memset(object[i], 0xee, 64u << class);
		}
		for (unsigned i = 0; i < 64 * 3; i++)
			assert_int_equal(arena_free(&arena, object[i * 7 % (64 * 3)]), 0);
	}
	assert_int_equal(arena.used_bytes, 0);
	arena_fini(&arena);
	munmap(base, BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_use),   cmocka_unit_test(random_use_with_big_pages),
	    cmocka_unit_test(retired_and_revived), cmocka_unit_test(fills_up),
	    cmocka_unit_test(commit_fails), cmocka_unit_test(foreign_pointers),
	    cmocka_unit_test(revived_once), cmocka_unit_test(neighbours_join), cmocka_unit_test(retired_from),
	    cmocka_unit_test(grows_to_the_end), cmocka_unit_test(sizes), cmocka_unit_test(slabs_are_given_back),
	};

	return cmocka_run_group_tests_name("SYS-41 arena", tests, NULL, NULL);
}

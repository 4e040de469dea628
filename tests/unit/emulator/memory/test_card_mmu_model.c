/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_rwlock_rdlock,--wrap=pthread_rwlock_wrlock,--wrap=pthread_rwlock_unlock */
/*
 * The MMU is compared with a simple model of tutti/mmu.h. The page tables are random, with and without defects of every
 * kind. They refer to memory of the card and of the host, of which only a part is registered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>

#include "emulator/base/state.h"
#include "emulator/card/card.h"
#include "emulator/memory/mmu.h"
#include "tutti/fault.h"
#include "tutti/mmu.h"

#define PAGE	     4096ull
#define BLOCK	     (2ull << 20)
#define MEMORY	     (16ull << 20)
#define TABLES	     0x300000ull
#define HOST_PAGES   12u
#define HOST_FIRST   2u /* the first registered page, and how many there are */
#define HOST_NUMBER  7u
#define TABLE_NUMBER 10u
#define FULL	     (TUTTI_PTE_V | TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D)

static uint8_t host[HOST_PAGES * PAGE] __attribute__((aligned(4096)));
static struct tutti_card *card;
static unsigned seed;

static int setup(void **state)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 1 }, .gpcs = 1,
					    .memory_bytes = MEMORY };

	seed = 1;
	if (tutti_card_create(&config, &card))
		return -1;
	return mmu_host_add(card, host + HOST_FIRST * PAGE, HOST_NUMBER * PAGE);
}

static int teardown(void **state)
{
	tutti_card_destroy(card);
	return 0;
}

static uint32_t any(uint32_t n)
{
	return (uint32_t)((rand_r(&seed) ^ (uint32_t)rand_r(&seed) << 15) % n);
}

/* ---- the lock ---------------------------------------------------------------- */

static bool locked; /* whether this thread, the only one, holds the lock */

int __real_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int __real_pthread_rwlock_unlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock);

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	assert_false(locked);
	locked = true;
	return __real_pthread_rwlock_rdlock(lock);
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	assert_false(locked);
	locked = true;
	return __real_pthread_rwlock_wrlock(lock);
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	assert_true(locked);
	locked = false;
	return __real_pthread_rwlock_unlock(lock);
}

/* ---- the model --------------------------------------------------------------- */

struct answer {
	uint8_t cause;
	uint8_t *page;
	uint64_t permissions;
	bool host;
};

/* The page at bus address @bus, if there is one. */
static uint8_t *bus_page(uint64_t bus)
{
	uint64_t at = (bus & (TUTTI_BUS_HOST - 1)) - (uint64_t)(host + HOST_FIRST * PAGE);

	if (!(bus & TUTTI_BUS_HOST))
		return bus < MEMORY ? card->memory + bus : NULL;
	return at < HOST_NUMBER * PAGE ? host + HOST_FIRST * PAGE + at : NULL;
}

static bool good_leaf(uint64_t pte, unsigned level)
{
	bool writable = pte & TUTTI_PTE_W;

	if (level == 3 || pte >> 54 || tutti_pte_bus(pte) % (PAGE << 9 * level))
		return false;
	return pte & TUTTI_PTE_U && pte & TUTTI_PTE_A && (!writable || (pte & TUTTI_PTE_R && pte & TUTTI_PTE_D));
}

/* What the MMU must find at @va, in the context whose root table is at @bus, for an access that needs the rights @needed. */
static struct answer model(uint64_t bus, uint64_t va, uint64_t needed)
{
	uint64_t pte = 0, size;
	unsigned level = 4;

	if (va >= TUTTI_VA_END)
		return (struct answer){ .cause = TUTTI_CAUSE_UNMAPPED };
	while (level-- > 0) {
		const uint64_t *table = (const uint64_t *)bus_page(bus);

		if (!table)
			return (struct answer){ .cause = TUTTI_CAUSE_BUS };
		pte = table[va >> (12 + 9 * level) & 511];
		if (!(pte & TUTTI_PTE_V))
			return (struct answer){ .cause = TUTTI_CAUSE_UNMAPPED };
		if (pte & TUTTI_PTE_LEAF)
			break;
		if (!level || pte >> 54 || pte & (TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D))
			return (struct answer){ .cause = TUTTI_CAUSE_PROTECTION };
		bus = tutti_pte_bus(pte);
	}
	if (!good_leaf(pte, level) || (pte & needed) != needed)
		return (struct answer){ .cause = TUTTI_CAUSE_PROTECTION };
	size = PAGE << 9 * level;
	bus = tutti_pte_bus(pte) + va % size / PAGE * PAGE;
	if (!bus_page(bus))
		return (struct answer){ .cause = TUTTI_CAUSE_BUS };
	return (struct answer){ .page = bus_page(bus), .permissions = pte & TUTTI_PTE_LEAF, .host = bus & TUTTI_BUS_HOST };
}

/* ---- tables at random ---------------------------------------------------------- */

static uint64_t *table(unsigned n)
{
	return (uint64_t *)(card->memory + TABLES + n * PAGE);
}

static uint64_t any_bus(unsigned level)
{
	const uint64_t places[] = { 0, 0x400000, 0x600000, 0x800000, MEMORY - 3 * PAGE, MEMORY - PAGE, MEMORY - BLOCK, MEMORY };
	uint64_t bus = any(4) ? places[any(8)] + any(2) * any(6) * PAGE :
				TUTTI_BUS_HOST | (uint64_t)(host + any(HOST_PAGES) * PAGE);

	if (!any(8)) /* powers of two, some of them too small for the alignment of the leaf */
		return 1ull << (12 + any(18));

	return any(5) ? bus & ~((PAGE << 9 * level) - 1) : bus;
}

static uint64_t any_leaf(unsigned level)
{
	static const uint64_t defects[] = { TUTTI_PTE_U, TUTTI_PTE_A, TUTTI_PTE_D, TUTTI_PTE_R, TUTTI_PTE_W,
					    TUTTI_PTE_R | TUTTI_PTE_W, TUTTI_PTE_W | TUTTI_PTE_D, TUTTI_PTE_V };
	uint64_t pte = tutti_pte(any_bus(level), FULL);

	if (!any(3))
		pte |= any(2) ? TUTTI_PTE_X : TUTTI_PTE_G;
	if (!any(3))
		pte &= ~defects[any(8)];
	return any(12) ? pte : pte | 1ull << (54 + any(10));
}

static uint64_t any_pointer(void)
{
	static const uint64_t defects[] = { TUTTI_PTE_U, TUTTI_PTE_A, TUTTI_PTE_D, 1ull << 54, 1ull << 63 };
	uint64_t pte = tutti_pte(any(12) ? TABLES + any(TABLE_NUMBER) * PAGE : any_bus(0), TUTTI_PTE_V);

	return any(12) ? pte : pte | defects[any(5)];
}

static const unsigned places[] = { 0, 1, 2, 3, 4, 5, 255, 510, 511 };
#define PLACES (sizeof(places) / sizeof(*places))

/* Fill the tables at random. They may refer to each other in any way. Adjacent leaves often refer to adjacent memory. */
static void make_tables(void)
{
	memset(table(0), 0, TABLE_NUMBER * PAGE);
	for (unsigned t = 0; t < TABLE_NUMBER; t++)
		for (unsigned i = 0; i < PLACES; i++) {
			uint64_t *pte = &table(t)[places[i]];

			if (i && t >= 4 && any(3)) {
				*pte = pte[-1] + (pte[-1] ? tutti_pte(PAGE, 0) : 0);
				if (!any(4))
					*pte ^= any(2) ? TUTTI_PTE_X : TUTTI_PTE_A;
				continue;
			}
			if (t < 4)
				*pte = any(5) ? any_pointer() : any_leaf(any(4));
			else
				*pte = any(8) ? any_leaf(t & 1 ? 0 : any(3)) : any_pointer();
		}
	mmu_context(card, 1, TABLES);
	mmu_context(card, 2, TABLES + PAGE);
}

/* An address of context @asid, mostly one that has entries at all levels. */
static uint64_t any_va(uint32_t asid)
{
	uint64_t va = any(2) ? any(4096) : any(2) ? 0 : 4095, bus = TABLES + (asid - 1) * PAGE;

	for (unsigned level = 4; level-- > 0;) {
		const uint64_t *entries = (const uint64_t *)bus_page(bus);
		unsigned i = places[any(PLACES)];

		for (unsigned tries = 0; tries < 4 && entries && !(entries[i] & TUTTI_PTE_V); tries++)
			i = places[any(PLACES)];
		va |= (uint64_t)(level == 3 && any(20) ? i % 256 : i) << (12 + 9 * level);
		bus = entries ? tutti_pte_bus(entries[i]) : MEMORY;
	}
	return va;
}

/* ---- comparisons ------------------------------------------------------------------ */

static const struct {
	unsigned access;
	uint64_t rights;
} accesses[] = {
	{ TUTTI_ACCESS_READ, TUTTI_PTE_R },
	{ TUTTI_ACCESS_WRITE, TUTTI_PTE_W },
	{ TUTTI_ACCESS_EXECUTE, TUTTI_PTE_X },
	{ TUTTI_ACCESS_ATOMIC, TUTTI_PTE_R | TUTTI_PTE_W },
};

/* Compare mmu_page() with the model, twice, since the second time the translation may be in the cache. */
static struct answer expect_page(uint32_t asid, uint64_t va, unsigned k)
{
	struct answer want = model(TABLES + (asid - 1) * PAGE, va, accesses[k].rights);

	for (unsigned i = 0; i < 2; i++) {
		struct mmu_fault fault = { 0xee, ~0ull };
		bool is_host = !want.host;
		uint8_t *p = mmu_page(card, asid, va, accesses[k].access, &is_host, &fault);

		assert_ptr_equal(p, want.page ? want.page + va % PAGE : NULL);
		if (p) {
			assert_int_equal(is_host, want.host);
			continue;
		}
		assert_int_equal(fault.cause, want.cause);
		assert_true(fault.address == va);
	}
	return want;
}

/* Whether the page at @va is @distance bytes after the page of @from in memory, and has the same rights. */
static bool continues(uint64_t root, const struct answer *from, uint64_t va, int64_t distance)
{
	struct answer next = model(root, va, 0);

	return next.page == from->page + distance && next.permissions == from->permissions && next.host == from->host;
}

/* The extent must cover all that follows contiguously in memory with the same rights, and no more. */
static void expect_extent(uint32_t asid, uint64_t va, unsigned k, const struct answer *from)
{
	uint64_t root = TABLES + (asid - 1) * PAGE, first = va / PAGE * PAGE, extent = 0, n = PAGE;
	struct mmu_fault fault;

	assert_ptr_equal(mmu_translate(card, asid, va, accesses[k].access, &extent, &fault), from->page + va % PAGE);
	while (continues(root, from, first + n, (int64_t)n))
		n += PAGE;
	assert_int_equal(extent, n - va % PAGE);
}

/* The span must cover the same in both directions, but only within the 2 MiB block of @va. */
static void expect_span(uint32_t asid, uint64_t va, unsigned k, const struct answer *from)
{
	uint64_t root = TABLES + (asid - 1) * PAGE, first = va / PAGE * PAGE, end = first + PAGE, at = first;
	struct mmu_fault fault;
	struct mmu_span span;

	assert_true(mmu_span(card, asid, va, accesses[k].access, &span, &fault));
	while (first % BLOCK && continues(root, from, first - PAGE, (int64_t)(first - PAGE - at)))
		first -= PAGE;
	while (end % BLOCK && continues(root, from, end, (int64_t)(end - at)))
		end += PAGE;
	assert_int_equal(span.permissions, from->permissions);
	assert_ptr_equal(span.host, from->page - (at - span.first));
	if (!from->host) {
		assert_true(span.first == first);
		assert_int_equal(span.bytes, end - first);
	} else { /* the span may be shorter if a part of its memory is not registered */
		assert_in_range(span.first, first, at);
		assert_in_range(span.first + span.bytes, at + PAGE, end);
	}
}

static void translations(void **state)
{
	unsigned found = 0;

	for (unsigned round = 0; round < 1000; round++) {
		make_tables();
		for (unsigned i = 0; i < 200; i++) {
			uint32_t asid = 1 + any(2);
			uint64_t va = any_va(asid);
			unsigned k = any(4);
			struct answer at = expect_page(asid, va, k);

			if (!at.page || !any(3))
				continue;
			expect_extent(asid, va, k, &at);
			expect_span(asid, va, k, &at);
			found++;
		}
	}
	assert_true(found > 4000);
}

/* ---- contexts ------------------------------------------------------------------------ */

/* Map the first 2 MiB of addresses to the pages from @bus on, by tables 0 to 3; all entries of the last one are used. */
static void map_block(uint64_t bus)
{
	memset(table(0), 0, 4 * PAGE);
	for (unsigned i = 0; i < 3; i++)
		table(i)[0] = tutti_pte(TABLES + (i + 1) * PAGE, TUTTI_PTE_V);
	for (unsigned i = 0; i < TUTTI_PTES; i++)
		table(3)[i] = tutti_pte(bus + i * PAGE, FULL);
}

static bool is_mapped(uint32_t asid)
{
	struct mmu_fault fault = { 0, 0 };
	bool is_host;

	if (mmu_page(card, asid, 0, TUTTI_ACCESS_READ, &is_host, &fault))
		return true;
	assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
	return false;
}

/*
 * A context has page tables from when it gets them until they are taken away. Without them, even a table at address 0 of
 * the card is not used.
 */
static void contexts(void **state)
{
	static const uint32_t asids[] = { 1, 2, 128, TUTTI_MAX_CONTEXTS - 1 };

	map_block(0x400000);
	memcpy(card->memory, table(0), PAGE);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 4; i++) {
			assert_false(is_mapped(asids[i]));
			mmu_context(card, asids[i], TABLES);
			for (unsigned k = 0; k < 4; k++)
				assert_int_equal(is_mapped(asids[k]), k <= i);
		}
		if (round)
			break;
		for (unsigned i = 0; i < 4; i++) {
			mmu_context(card, asids[i], 0);
			for (unsigned k = 0; k < 4; k++)
				assert_int_equal(is_mapped(asids[k]), k > i);
		}
	}
	mmu_reset(card);
	for (unsigned i = 1; i < TUTTI_MAX_CONTEXTS; i++)
		assert_false(is_mapped(i));
}

/*
 * Each change invalidates all older translations by a generation number that has not been used before. Invalid context
 * numbers change nothing.
 */
static void generations(void **state)
{
	enum { COUNT = 60 };
	uint32_t seen[COUNT];
	static const uint32_t none[] = { TUTTI_ASID_BUS, TUTTI_MAX_CONTEXTS, TUTTI_MAX_CONTEXTS + 1, 0xffff };
	uint32_t before = mmu_generation(card);

	for (unsigned i = 0; i < 4; i++) {
		mmu_context(card, none[i], TABLES);
		assert_int_equal(mmu_generation(card), before);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		if (i % 3 == 0)
			mmu_context(card, 1, TABLES);
		else if (i % 3 == 1)
			mmu_reset(card);
		else
			mmu_host_remove(card, host + HOST_FIRST * PAGE);
		seen[i] = mmu_generation(card);
		assert_int_not_equal(seen[i], before);
		for (unsigned k = 0; k < i; k++)
			assert_int_not_equal(seen[i], seen[k]);
	}
}

/* Only the lower half of the address space can be accessed, whatever the tables contain for the upper half. */
static void upper_half(void **state)
{
	const uint64_t last = TUTTI_VA_END - PAGE;
	struct mmu_fault fault;
	bool is_host;

	map_block(0x400000);
	table(0)[255] = table(0)[256] = table(0)[511] = table(0)[0];
	table(1)[511] = table(1)[0];
	table(2)[511] = table(2)[0];
	mmu_context(card, 1, TABLES);
	assert_ptr_equal(mmu_page(card, 1, last + 5, TUTTI_ACCESS_READ, &is_host, &fault), card->memory + 0x5ff005);
	for (uint64_t va = TUTTI_VA_END; va; va <<= 1) {
		assert_null(mmu_page(card, 1, va, TUTTI_ACCESS_READ, &is_host, &fault));
		assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
		assert_true(fault.address == va);
	}
	assert_null(mmu_page(card, 1, -PAGE, TUTTI_ACCESS_READ, &is_host, &fault));
}

/* A cached translation is used only for its own context, or the bus, and its own address, and only until the next change. */
static void remembered(void **state)
{
	static const uint32_t asids[] = { TUTTI_ASID_BUS, 1, 2, 3, 127, 128, 129, 130, 255 };
	const uint64_t places[] = { 0, PAGE, TUTTI_BUS_HOST | (uint64_t)(host + HOST_FIRST * PAGE), (uint64_t)(host + HOST_FIRST * PAGE) };
	struct mmu_fault fault;
	bool is_host;

	for (unsigned round = 0; round < 24; round++) {
		for (unsigned i = 1; i < 9; i++)
			mmu_context(card, asids[i], 0);
		map_block(0x400000 + round * PAGE);
		for (unsigned i = 1; i < 9; i += 1 + round % 3)
			mmu_context(card, asids[i], TABLES);
		for (unsigned n = 0; n < 200; n++) {
			unsigned i = any(9), k = any(4);
			bool mapped = i && (i - 1) % (1 + round % 3) == 0;
			uint8_t *want = i ? (mapped && k < 2 ? card->memory + 0x400000 + (round + k) * PAGE : NULL) : bus_page(places[k]);

			assert_ptr_equal(mmu_page(card, asids[i], places[k], TUTTI_ACCESS_READ, &is_host, &fault), want);
			if (!any(8))
				mmu_invalidate(card);
		}
	}
}

/*
 * Generation numbers repeat after many changes. Even then, old translations must not be found again in any entry of the
 * cache.
 */
static void many_changes(void **state)
{
	static const unsigned changes[] = { 1, 1024, 2048, 4096, 8192 };
	struct mmu_fault fault;
	bool is_host;

	for (unsigned c = 0; c < 5; c++) {
		map_block(0x400000 + c * PAGE);
		for (unsigned i = 1; i < 40; i++)
			table(2)[i] = table(2)[0];
		mmu_context(card, 1, TABLES);
		for (uint64_t page = 0; page < 40 * 512; page++)
			assert_ptr_equal(mmu_page(card, 1, page * PAGE, TUTTI_ACCESS_READ, &is_host, &fault),
					 card->memory + 0x400000 + (c + page % 512) * PAGE);
		map_block(0x800000);
		for (unsigned i = 1; i < 40; i++)
			table(2)[i] = table(2)[0];
		for (unsigned i = 0; i < changes[c]; i++)
			mmu_invalidate(card);
		for (uint64_t page = 0; page < 40 * 512; page++)
			assert_ptr_equal(mmu_page(card, 1, page * PAGE, TUTTI_ACCESS_READ, &is_host, &fault),
					 card->memory + 0x800000 + page % 512 * PAGE);
	}
}

/*
 * Invalid ranges are not registered: those of no bytes, wherever they begin, and those that wrap around the end of all
 * addresses.
 */
static void no_ranges(void **state)
{
	assert_int_equal(mmu_host_add(card, host + 5, 0), -EINVAL);
	assert_int_equal(mmu_host_add(card, (void *)(2 * PAGE), ~0ull), -EINVAL);
	assert_int_equal(mmu_host_add(card, (void *)(2 * PAGE), -2 * PAGE), -EINVAL);
	assert_int_equal(mmu_host_add(card, (void *)(2 * PAGE), -PAGE), -EINVAL);
}

/* Each injected fault refuses one access of a context and names its address; bus accesses are not affected. */
static void injected(void **state)
{
	struct mmu_fault fault = { 0, 0 };
	bool is_host = true;

	map_block(0x400000);
	mmu_context(card, 1, TABLES);
	tutti_card_inject(card, TUTTI_INJECT_PAGE_FAULT, 2);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t va = 0x12345;
		uint8_t *p;

		assert_ptr_equal(mmu_page(card, TUTTI_ASID_BUS, va, TUTTI_ACCESS_WRITE, &is_host, &fault),
				 card->memory + va);
		assert_false(is_host);
		fault = (struct mmu_fault){ 0, 0 };
		p = mmu_page(card, 1, va, TUTTI_ACCESS_READ, &is_host, &fault);
		assert_ptr_equal(p, i < 2 ? NULL : card->memory + 0x400000 + va);
		assert_int_equal(fault.cause, i < 2 ? TUTTI_CAUSE_UNMAPPED : 0);
		assert_true(fault.address == (i < 2 ? va : 0));
	}
}

/* All functions that add, remove or look up memory of the host release the lock that they take, also if they fail. */
static void locks(void **state)
{
	struct mmu_fault fault;
	struct mmu_span span;
	uint64_t extent;

	map_block(0x400000);
	mmu_context(card, 1, TABLES);
	assert_int_equal(mmu_host_add(card, host, 0), -EINVAL);
	assert_false(locked);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(mmu_host_add(card, host, PAGE), 0);
		assert_false(locked);
		mmu_host_remove(card, host + i % 2 * PAGE); /* in every other round, no range begins there */
		assert_false(locked);
		for (uint64_t va = 0; va <= 2 * BLOCK; va += BLOCK) {
			assert_int_equal(!!mmu_translate(card, 1, va, TUTTI_ACCESS_READ, &extent, &fault), !va);
			assert_false(locked);
			assert_int_equal(mmu_span(card, 1, va, TUTTI_ACCESS_WRITE, &span, &fault), !va);
			assert_false(locked);
		}
	}
}

/* ---- host memory that a callback finds -------------------------------------------------- */

static uint8_t single[4 * PAGE] __attribute__((aligned(4096))), together[4 * PAGE] __attribute__((aligned(4096)));

/* The callback that finds memory of the host: a single page is in another place than several pages at once. */
static void *find_memory(void *context, uint64_t bus, uint64_t bytes)
{
	if (bus + bytes > sizeof(single))
		return NULL;
	return (bytes > PAGE ? together : single) + bus;
}

/*
 * With such a callback, a translation holds only the page that was asked for, but all of it, whichever byte was asked for.
 */
static void pages_elsewhere(void **state)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 1 }, .gpcs = 1,
					    .memory_bytes = MEMORY, .host_memory = find_memory };
	static const uint64_t offsets[] = { 0, 1, PAGE - 1 };
	struct mmu_fault fault;
	struct mmu_span span;
	uint64_t extent;

	tutti_card_destroy(card);
	assert_int_equal(tutti_card_create(&config, &card), 0);
	map_block(TUTTI_BUS_HOST);
	memset(table(3) + 4, 0, PAGE - 4 * sizeof(*table(3)));
	mmu_context(card, 1, TABLES);
	for (uint64_t page = 0; page < 4; page++)
		for (unsigned i = 0; i < 3; i++) {
			uint64_t va = page * PAGE + offsets[i];

			assert_ptr_equal(mmu_translate(card, 1, va, TUTTI_ACCESS_READ, &extent, &fault), single + va);
			assert_int_equal(extent, PAGE - offsets[i]);
			assert_true(mmu_span(card, 1, va, TUTTI_ACCESS_READ, &span, &fault));
			assert_true(span.first == page * PAGE);
			assert_int_equal(span.bytes, PAGE);
			assert_ptr_equal(span.host, single + page * PAGE);
		}
}

#define MMU(name, fn) { name, fn, setup, teardown, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		MMU("SYS-06, SYS-52: page tables at random, with and without defects", translations),
		MMU("SYS-52: contexts with tables and without", contexts),
		MMU("SYS-52: what makes translations invalid", generations),
		MMU("SYS-06: the upper half of the address space", upper_half),
		MMU("SYS-52: cached translations", remembered),
		MMU("SYS-52: more changes than generation numbers", many_changes),
		MMU("SYS-10: invalid ranges of the host's memory", no_ranges),
		MMU("SYS-10: the lock of the host's ranges", locks),
		MMU("SYS-15: injected page faults", injected),
		MMU("SYS-11: pages that lie elsewhere when several are asked for", pages_elsewhere),
	};

	return cmocka_run_group_tests_name("MMU: a model", tests, NULL, NULL);
}

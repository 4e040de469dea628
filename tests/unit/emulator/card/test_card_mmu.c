// SPDX-License-Identifier: MIT
/* The MMU: pages of every kind, table defects, extents. */
#include "card_rig.h"

static void test_mmu(void **state)
{
	map_page(tutti_pte(0x500000ull, LEAF));
	assert_int_equal(write_cause(VA + 8), 0);
	assert_int_equal(*(uint32_t *)(memory + 0x500008), 1);
	assert_int_equal(write_cause(VA + 4096), TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(write_cause(VA | 1ull << 47), TUTTI_CAUSE_UNMAPPED);
	map_page(tutti_pte(0x500000ull, LEAF & ~(TUTTI_PTE_W | TUTTI_PTE_D)));
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	assert_int_equal(read_cause(VA), 0);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_R)); /* W without R */
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_U));
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_A));
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF & ~TUTTI_PTE_D));
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(0x500000ull, LEAF) | 1ull << 63);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
	map_page(tutti_pte(64ull << 20, LEAF)); /* behind card memory */
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	map_page(tutti_pte(TUTTI_BUS_HOST | 0x1000, LEAF)); /* host memory nobody registered */
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	map_page(tutti_pte(0x500000ull, TUTTI_PTE_V)); /* not a leaf, and no level left */
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
}

static void test_mmu_tables(void **state)
{
	map_page(tutti_pte(0x500000ull, LEAF));
	table(1)[tutti_va_index(VA, 2)] = tutti_pte(64ull << 20, TUTTI_PTE_V); /* table outside card memory */
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	table(1)[tutti_va_index(VA, 2)] = tutti_pte(TUTTI_BUS_HOST | (TUTTI_BUS_HOST - 4096), TUTTI_PTE_V);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_BUS);
	table(1)[tutti_va_index(VA, 2)] = tutti_pte((uint64_t)TABLES + 4096, TUTTI_PTE_V); /* a loop */
	assert_int_not_equal(read_cause(VA), 0);
	map_page(0);
	table(2)[tutti_va_index(VA, 1)] = tutti_pte(0x600000ull, LEAF); /* 2 MiB */
	assert_int_equal(write_cause(VA), 0);
	assert_int_equal(*(uint32_t *)(memory + 0x600000 + (VA & 0x1fffff)), 1);
	table(2)[tutti_va_index(VA, 1)] = tutti_pte(0x601000ull, LEAF);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION); /* misaligned */
	map_page(0);
	table(0)[tutti_va_index(VA, 3)] = tutti_pte(0ull, LEAF); /* 512 GiB leaf */
	assert_int_equal(write_cause(VA), TUTTI_CAUSE_PROTECTION);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, 1), 0, 0, 0, 0);
	assert_int_equal(read_cause(VA), TUTTI_CAUSE_UNMAPPED);
}

static void test_mmu_extent(void **state)
{
	struct mmu_fault fault;
	uint64_t extent;
	unsigned i;

	map_page(0);
	for (i = 0; i < 8; i++)
		table(3)[i] = tutti_pte(0x500000ull + 4096 * i, LEAF);
	table(3)[5] &= ~TUTTI_PTE_W & ~TUTTI_PTE_D;
	assert_ptr_equal(mmu_translate(card, 1, (VA & ~0x1fffffull) + 100, TUTTI_ACCESS_READ, &extent, &fault),
			 memory + 0x500000 + 100);
	assert_int_equal(extent, 5 * 4096 - 100);
	assert_ptr_equal(mmu_translate(card, 1, (VA & ~0x1fffffull) + 5 * 4096, TUTTI_ACCESS_READ, &extent, &fault),
			 memory + 0x505000);
	assert_int_equal(extent, 4096); /* pages with more rights are not part of it: code is not reached as data */
	assert_ptr_equal(mmu_translate(card, 1, (VA & ~0x1fffffull) + 6 * 4096, TUTTI_ACCESS_READ, &extent, &fault),
			 memory + 0x506000);
	assert_int_equal(extent, 2 * 4096);
	table(3)[7] = tutti_pte(0x400000ull, LEAF);
	mmu_translate(card, 1, (VA & ~0x1fffffull) + 6 * 4096, TUTTI_ACCESS_READ, &extent, &fault);
	assert_int_equal(extent, 4096);
	mmu_translate(card, 0, 0x500000, TUTTI_ACCESS_READ, &extent, &fault);
	assert_int_equal(extent, (64u << 20) - 0x500000);
	/* what lies behind a table is not a part of it */
	for (i = 0; i <= TUTTI_PTES; i++)
		table(3)[i] = tutti_pte(0x600000ull + 4096 * i, LEAF);
	mmu_translate(card, 1, VA | 0x1ff000, TUTTI_ACCESS_READ, &extent, &fault);
	assert_int_equal(extent, 4096);
}

static struct mmu_span span_of(uint64_t va)
{
	struct mmu_span span;
	struct mmu_fault fault;

	assert_true(mmu_span(card, 1, va, TUTTI_ACCESS_READ, &span, &fault));
	assert_in_range(va, span.first, span.first + span.bytes - 1);
	return span;
}

/* What lies around an address, in both directions, and never more than its block of 2 MiB. */
static void test_mmu_span(void **state)
{
	const uint64_t block = VA & ~0x1fffffull;
	struct mmu_span span;
	struct mmu_fault fault;

	map_page(0);
	for (unsigned i = 2; i < 10; i++)
		table(3)[i] = tutti_pte(0x500000ull + 4096 * i, LEAF);
	table(3)[7] &= ~TUTTI_PTE_W & ~TUTTI_PTE_D;
	span = span_of(block + 4 * 4096 + 100);
	assert_int_equal(span.first, block + 2 * 4096);
	assert_int_equal(span.bytes, 5 * 4096);
	assert_ptr_equal(span.host, memory + 0x502000);
	assert_int_equal(span.permissions, TUTTI_PTE_R | TUTTI_PTE_W);
	span = span_of(block + 7 * 4096);
	assert_int_equal(span.first, block + 7 * 4096);
	assert_int_equal(span.bytes, 4096);
	assert_int_equal(span.permissions, TUTTI_PTE_R);
	table(3)[9] = tutti_pte(0x400000ull, LEAF); /* memory elsewhere */
	span = span_of(block + 8 * 4096 + 4095);
	assert_int_equal(span.bytes, 4096);
	assert_ptr_equal(span.host, memory + 0x508000);
	assert_false(mmu_span(card, 1, block + 4096, TUTTI_ACCESS_READ, &span, &fault));
	assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
	assert_false(mmu_span(card, 1, block + 7 * 4096, TUTTI_ACCESS_WRITE, &span, &fault));
	assert_int_equal(fault.cause, TUTTI_CAUSE_PROTECTION);
	/* a whole table, and a large page */
	for (unsigned i = 0; i < TUTTI_PTES; i++)
		table(3)[i] = tutti_pte(0x600000ull + 4096 * i, LEAF);
	table(2)[tutti_va_index(VA, 1) + 1] = tutti_pte(0x800000ull, LEAF);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 1, 1), 0, 0, 0, 0);
	for (unsigned i = 0; i < 2; i++) {
		span = span_of(block + i * 0x200000 + 0x12345);
		assert_int_equal(span.first, block + i * 0x200000);
		assert_int_equal(span.bytes, 0x200000);
		assert_ptr_equal(span.host, memory + 0x600000 + i * 0x200000);
	}
}

/* What would be refused ends what lies around an address, on both sides, though its memory and rights would fit. */
static void test_defects_around(void **state)
{
	const uint64_t block = VA & ~0x1fffffull, bit = tutti_pte(4096ull, 0);
	const struct {
		uint64_t without, with;
	} defects[] = {{TUTTI_PTE_V, 0}, {TUTTI_PTE_U, 0}, {TUTTI_PTE_A, 0},
		       {TUTTI_PTE_D, 0}, {0, 1ull << 63},  {bit, 0}};
	struct mmu_span span;
	struct mmu_fault fault;
	uint64_t extent;

	map_page(0);
	for (unsigned d = 0; d < sizeof(defects) / sizeof(*defects); d++) {
		for (unsigned i = 0; i < 8; i++)
			table(3)[i] = tutti_pte(0x500000ull + 4096 * i, LEAF);
		table(3)[5] = (table(3)[5] & ~defects[d].without) | defects[d].with;
		COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
		span = span_of(block + 3 * 4096);
		assert_int_equal(span.first, block);
		assert_int_equal(span.bytes, 5 * 4096);
		span = span_of(block + 7 * 4096);
		assert_int_equal(span.first, block + 6 * 4096);
		assert_int_equal(span.bytes, 2 * 4096);
		assert_non_null(mmu_translate(card, 1, block + 3 * 4096, TUTTI_ACCESS_READ, &extent, &fault));
		assert_int_equal(extent, 2 * 4096);
	}
}

/* Every place in a leaf of 1 GiB finds its own block of 2 MiB, also the last ones. */
static void test_blocks_of_a_leaf(void **state)
{
	struct tutti_card_config config = config_small(TUTTI_CARD_DETERMINISTIC);
	const uint64_t leaf = VA & ~0x3fffffffull;
	struct tutti_card *other;
	struct mmu_fault fault;
	struct mmu_span span;
	uint64_t *tables;

	config.memory_bytes = 1u << 30;
	assert_int_equal(tutti_card_create(&config, &other), 0);
	tables = (uint64_t *)((uint8_t *)tutti_card_bar(other) + discovery->aperture + TABLES);
	tables[tutti_va_index(VA, 3)] = tutti_pte((uint64_t)TABLES + 4096, TUTTI_PTE_V);
	tables[512 + tutti_va_index(VA, 2)] = tutti_pte(0ull, LEAF);
	mmu_context(other, 1, TABLES);
	for (unsigned i = 0; i < 512; i += i == 2 ? 508 : 1)
		for (uint64_t at = 0x8123; at < 0x200000; at += 0x7f000) {
			assert_true(mmu_span(other, 1, leaf + 0x200000 * i + at, TUTTI_ACCESS_READ, &span, &fault));
			assert_true(span.first == leaf + 0x200000 * i);
			assert_int_equal(span.bytes, 0x200000);
		}
	tutti_card_destroy(other);
}

/* ---- memory of the host ---- */

/* How many bytes of host memory are registered from @address on; 0: that byte is not. */
static uint64_t host_extent(uint64_t address)
{
	struct mmu_fault fault;
	uint64_t extent;
	const void *p =
	    mmu_translate(card, TUTTI_ASID_BUS, TUTTI_BUS_HOST | address, TUTTI_ACCESS_READ, &extent, &fault);

	if (!p)
		assert_int_equal(fault.cause, TUTTI_CAUSE_BUS);
	else
		assert_int_equal((uint64_t)p, address);
	return p ? extent : 0;
}

static void test_host_ranges(void **state)
{
	uint8_t *pages = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t first = (uint64_t)pages;

	/* these are no ranges of host addresses */
	assert_int_equal(tutti_card_host_add(card, pages, 0), -22);
	assert_int_equal(tutti_card_host_add(card, (void *)(TUTTI_BUS_HOST - 4096), 4097), -22);
	assert_int_equal(tutti_card_host_add(card, (void *)(TUTTI_BUS_HOST - 4096), 4096), 0);
	assert_int_equal(host_extent(TUTTI_BUS_HOST - 1), 1);
	tutti_card_host_remove(card, (void *)(TUTTI_BUS_HOST - 4096));
	assert_int_equal(host_extent(TUTTI_BUS_HOST - 1), 0);
	tutti_card_host_remove(card, (void *)(TUTTI_BUS_HOST - 4096)); /* twice: it is not registered any more */
	assert_int_equal(host_extent(TUTTI_BUS_HOST - 1), 0);
	assert_int_equal(tutti_card_host_add(card, (void *)~0xfffull, 4096), -22);
	/* every third page, not in the order of addresses */
	for (unsigned i = 0; i < 21; i++)
		assert_int_equal(tutti_card_host_add(card, pages + 4096 * (3 * (i * 8 % 21)), 4096), 0);
	for (unsigned i = 0; i < 63; i++) {
		assert_int_equal(host_extent(first + 4096 * i), i % 3 ? 0 : 4096);
		assert_int_equal(host_extent(first + 4096 * i + 4095), i % 3 ? 0 : 1);
	}
	assert_int_equal(host_extent(first - 1), 0);
	/* remove one of them, and one that was never registered */
	tutti_card_host_remove(card, pages + 4096 * 30);
	tutti_card_host_remove(card, pages + 4096 * 31);
	for (unsigned i = 0; i < 63; i++)
		assert_int_equal(host_extent(first + 4096 * i), i % 3 || i == 30 ? 0 : 4096);
	/* whole pages are registered: neighbours may share one, which stays until both are removed */
	assert_int_equal(tutti_card_host_add(card, pages + 4096 * 31 + 100, 4096 + 1000), 0);
	assert_int_equal(host_extent(first + 4096 * 31), 2 * 4096);
	assert_int_equal(tutti_card_host_add(card, pages + 4096 * 32 + 2000, 100), 0);
	tutti_card_host_remove(card, pages + 4096 * 31 + 100);
	assert_int_equal(host_extent(first + 4096 * 31), 0);
	assert_int_equal(host_extent(first + 4096 * 32), 4096);
	tutti_card_host_remove(card, pages + 4096 * 32 + 2000);
	assert_int_equal(host_extent(first + 4096 * 32), 0);
	munmap(pages, 64 * 4096);
}

/* There may be any number of ranges, and removing one leaves all others as they are. */
static void test_many_ranges(void **state)
{
	static const unsigned numbers[] = {64, 65, 128, 129, 200};
	uint8_t *pages = mmap(NULL, 400 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned k = 0; k < sizeof(numbers) / sizeof(*numbers); k++) {
		unsigned n = numbers[k];

		for (unsigned i = 0; i < n; i++)
			assert_int_equal(tutti_card_host_add(card, pages + 8192 * i, 4096), 0);
		for (unsigned gone = 1; gone <= n; gone++) {
			tutti_card_host_remove(card, pages + 8192 * (37 * gone % n));
			for (unsigned i = 1; i <= n; i++)
				assert_int_equal(host_extent((uint64_t)pages + 8192 * (37 * i % n)),
						 i <= gone ? 0 : 4096);
		}
	}
	munmap(pages, 400 * 4096);
}

/* Ranges that share pages, or lie in each other: each byte is found as long as one of those that hold it is registered.
 */
static void test_overlaps(void **state)
{
	uint8_t *pages = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct {
		uint32_t first, bytes;
	} ranges[] = {{0, 16 * 4096}, {8192, 4096},	 {4096 + 500, 3 * 4096},
		      {4096, 100},    {4096 + 100, 100}, {4096 + 200, 100}};
	const unsigned n = sizeof(ranges) / sizeof(*ranges);

	for (unsigned skip = 0; skip < n; skip++) {
		for (unsigned i = skip; i < n; i++)
			assert_int_equal(tutti_card_host_add(card, pages + ranges[i].first, ranges[i].bytes), 0);
		for (unsigned p = 0; p < 16; p++) {
			bool held = false;

			for (unsigned i = skip; i < n; i++)
				held |= p * 4096 >= (ranges[i].first & ~4095u) &&
					p * 4096 < ranges[i].first + ranges[i].bytes;
			if (!!host_extent((uint64_t)pages + 4096 * p + 7) != held)
				fail_msg("page %u without the first %u", p, skip);
		}
		for (unsigned i = skip; i < n; i++)
			tutti_card_host_remove(card, pages + ranges[i].first);
		assert_int_equal(host_extent((uint64_t)pages + 4096), 0);
	}
	munmap(pages, 16 * 4096);
}

/* A reset forgets the contexts, and also what was translated in one that has the same tables before and afterwards. */
static void test_reset(void **state)
{
	struct mmu_fault fault;

	map_page(tutti_pte(0x500000ull, LEAF));
	for (unsigned i = 0; i < 4; i++) {
		uint8_t *page = memory + 0x500000 + 4096 * i;

		table(3)[tutti_va_index(VA, 0)] = tutti_pte(0x500000ull + 4096 * i, LEAF);
		mmu_reset(card);
		assert_null(mmu_translate(card, 1, VA, TUTTI_ACCESS_READ, NULL, &fault));
		assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
		mmu_context(card, 1, TABLES);
		assert_ptr_equal(mmu_translate(card, 1, VA, TUTTI_ACCESS_READ, NULL, &fault), page);
	}
}

/* While the link is down no memory of the host is reached, also not where it was reached before. */
static void test_link(void **state)
{
	static uint8_t page[4096] __attribute__((aligned(4096)));

	assert_int_equal(tutti_card_host_add(card, page, sizeof(page)), 0);
	assert_int_equal(host_extent((uint64_t)page), 4096);
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 1);
	assert_int_equal(host_extent((uint64_t)page), 0);
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 0);
	assert_int_equal(host_extent((uint64_t)page), 4096);
}

/* A program that attaches a card may translate bus addresses itself, many pages at once, to memory of any alignment. */
static struct {
	uint64_t most, bus, bytes;
	unsigned calls;
	uint8_t memory[4 * 4096 + 8];
} outside;

static void *outside_memory(void *context, uint64_t bus, uint64_t bytes)
{
	outside.calls++;
	outside.bus = bus;
	outside.bytes = bytes;
	return bytes <= outside.most && bus >= 0x5000 && bus + bytes <= 0x9000 ? outside.memory + 3 + (bus - 0x5000)
									       : NULL;
}

/* A card whose context 1 maps pages @first to @last of a block to that memory and what lies around it. */
static struct tutti_card *outside_card(unsigned first, unsigned last)
{
	struct tutti_card_config config = config_small(TUTTI_CARD_DETERMINISTIC);
	struct tutti_card *other;
	uint64_t *tables;

	config.host_memory = outside_memory;
	assert_int_equal(tutti_card_create(&config, &other), 0);
	tables = (uint64_t *)((uint8_t *)tutti_card_bar(other) + discovery->aperture + TABLES);
	memset(tables, 0, 4 * 4096);
	for (unsigned i = 0; i < 3; i++)
		tables[512 * i + tutti_va_index(VA, 3 - i)] = tutti_pte((uint64_t)TABLES + 4096 * (i + 1), TUTTI_PTE_V);
	for (unsigned i = first; i <= last; i++)
		tables[512 * 3 + i] = tutti_pte(TUTTI_BUS_HOST + 0x4000 + 4096 * i, LEAF);
	mmu_context(other, 1, TABLES);
	return other;
}

/* Pages that are translated together, as one range, are also found as one range. */
static void test_outside_whole(void **state)
{
	const uint64_t block = VA & ~0x1fffffull;
	struct tutti_card *other = outside_card(1, 4);
	struct mmu_fault fault;
	struct mmu_span span;
	uint64_t extent;

	outside.most = 4 * 4096;
	for (unsigned i = 1; i <= 4; i++) {
		assert_true(mmu_span(other, 1, block + 4096 * i + 5, TUTTI_ACCESS_READ, &span, &fault));
		assert_int_equal(span.first, block + 4096);
		assert_int_equal(span.bytes, 4 * 4096);
		assert_ptr_equal(span.host, outside.memory + 3);
		assert_non_null(mmu_translate(other, 1, block + 4096 * i + 5, TUTTI_ACCESS_READ, &extent, &fault));
		assert_int_equal(extent, (5 - i) * 4096 - 5);
	}
	tutti_card_destroy(other);
}

static void test_outside(void **state)
{
	const uint64_t block = VA & ~0x1fffffull;
	struct tutti_card *other = outside_card(0, 5);
	struct mmu_fault fault;
	struct mmu_span span;
	uint64_t extent;

	for (outside.most = 4096; outside.most <= 4 * 4096; outside.most += 3 * 4096) {
		for (unsigned i = 0; i < 2; i++) {
			uint8_t *p = mmu_translate(other, 1, block + 2 * 4096 + 5, TUTTI_ACCESS_WRITE, &extent, &fault);

			assert_ptr_equal(p, outside.memory + 3 + 4096 + 5);
			assert_in_range(extent, 4096 - 5, 3 * 4096 - 5);
		}
		outside.calls = 0;
		mmu_translate(other, 1, block + 2 * 4096, TUTTI_ACCESS_READ, NULL, &fault);
		assert_int_equal(outside.calls, 1); /* it is asked each time: such a pointer cannot be remembered */
		assert_true(mmu_span(other, 1, block + 2 * 4096 + 5, TUTTI_ACCESS_READ, &span, &fault));
		assert_in_range(block + 2 * 4096 + 5, span.first, span.first + span.bytes - 1);
		assert_ptr_equal(span.host + (block + 2 * 4096 - span.first), outside.memory + 3 + 4096);
	}
	assert_null(mmu_translate(other, 1, block + 5 * 4096, TUTTI_ACCESS_READ, NULL, &fault));
	assert_int_equal(fault.cause, TUTTI_CAUSE_BUS);
	assert_null(mmu_translate(other, 1, block, TUTTI_ACCESS_READ, NULL, &fault));
	tutti_card_destroy(other);
}

/* Pages of a context that lie in memory of the host, of which only a part is registered. */
static void test_span_of_host(void **state)
{
	static uint8_t pages[8 * 4096] __attribute__((aligned(4096)));
	const uint64_t block = VA & ~0x1fffffull;
	struct mmu_span span;

	map_page(0);
	for (unsigned i = 0; i < 8; i++)
		table(3)[i] = tutti_pte(TUTTI_BUS_HOST | (uint64_t)(pages + 4096 * i), LEAF);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
	assert_int_equal(tutti_card_host_add(card, pages + 3 * 4096, 3 * 4096), 0);
	for (unsigned i = 0; i < 8; i++) {
		struct mmu_fault fault;

		if (i < 3 || i > 5) {
			assert_false(mmu_span(card, 1, block + 4096 * i, TUTTI_ACCESS_READ, &span, &fault));
			assert_int_equal(fault.cause, TUTTI_CAUSE_BUS);
			continue;
		}
		span = span_of(block + 4096 * i + 9);
		assert_true(span.first >= block + 3 * 4096 && span.first + span.bytes <= block + 6 * 4096);
		assert_ptr_equal(span.host, pages + (span.first - block));
	}
	/* all of them: found from each */
	tutti_card_host_remove(card, pages + 3 * 4096);
	assert_int_equal(tutti_card_host_add(card, pages, sizeof(pages)), 0);
	for (unsigned i = 0; i < 8; i++) {
		span = span_of(block + 4096 * i);
		assert_int_equal(span.first, block);
		assert_int_equal(span.bytes, sizeof(pages));
	}
	tutti_card_host_remove(card, pages);
}

/* Leaves of 1 GiB, rights to execute, and translations from very long ago. */
static void test_odd_leaves(void **state)
{
	struct mmu_fault fault;
	struct mmu_span span;

	map_page(tutti_pte(0x500000ull, LEAF));
	assert_null(mmu_translate(card, 1, VA, TUTTI_ACCESS_EXECUTE, NULL, &fault));
	assert_int_equal(fault.cause, TUTTI_CAUSE_PROTECTION);
	assert_non_null(mmu_translate(card, 1, VA, TUTTI_ACCESS_ATOMIC, NULL, &fault));
	map_page(tutti_pte(0x500000ull, TUTTI_PTE_V | TUTTI_PTE_X | TUTTI_PTE_R | TUTTI_PTE_U | TUTTI_PTE_A));
	assert_non_null(mmu_translate(card, 1, VA, TUTTI_ACCESS_EXECUTE, NULL, &fault));
	assert_null(mmu_translate(card, 1, VA, TUTTI_ACCESS_ATOMIC, NULL, &fault));
	/* entries of tables have no rights */
	for (unsigned i = 0; i < 3; i++) {
		const uint64_t flags[] = {TUTTI_PTE_U, TUTTI_PTE_A, TUTTI_PTE_D};

		map_page(tutti_pte(0x500000ull, LEAF));
		table(1)[tutti_va_index(VA, 2)] |= flags[i];
		assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
		map_page(tutti_pte(0x500000ull, LEAF));
		table(1)[tutti_va_index(VA, 2)] |= 1ull << (54 + 4 * i);
		assert_int_equal(read_cause(VA), TUTTI_CAUSE_PROTECTION);
	}
	/* 1 GiB: what is found ends with the block of 2 MiB, and with card memory */
	map_page(0);
	table(1)[tutti_va_index(VA, 2)] = tutti_pte(0ull, LEAF);
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
	span = span_of((VA & ~0x3fffffffull) + 0x234567);
	assert_int_equal(span.first, (VA & ~0x3fffffffull) + 0x200000);
	assert_int_equal(span.bytes, 0x200000);
	assert_ptr_equal(span.host, memory + 0x200000);
	assert_false(mmu_span(card, 1, (VA & ~0x3fffffffull) + (64u << 20), TUTTI_ACCESS_READ, &span, &fault));
	assert_int_equal(fault.cause, TUTTI_CAUSE_BUS);
	/* no such context, and no such address */
	assert_null(mmu_translate(card, TUTTI_MAX_CONTEXTS, 0, TUTTI_ACCESS_READ, NULL, &fault));
	assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
	assert_null(mmu_translate(card, 0, 2 * TUTTI_BUS_HOST, TUTTI_ACCESS_READ, NULL, &fault));
	assert_null(mmu_translate(card, 1, TUTTI_VA_END, TUTTI_ACCESS_READ, NULL, &fault));
	/* the number of invalidations comes round again */
	map_page(tutti_pte(0x500000ull, LEAF));
	assert_ptr_equal(mmu_translate(card, 1, VA, TUTTI_ACCESS_READ, NULL, &fault), memory + 0x500000);
	table(3)[tutti_va_index(VA, 0)] = tutti_pte(0x501000ull, LEAF);
	for (unsigned i = 0; i < 4096; i++)
		mmu_invalidate(card);
	assert_ptr_equal(mmu_translate(card, 1, VA, TUTTI_ACCESS_READ, NULL, &fault), memory + 0x501000);
}

/* A copy may cross pages that do not lie together; it is done as a whole or not at all. */
static void test_copies(void **state)
{
	const uint64_t block = VA & ~0x1fffffull;
	uint8_t from[9000], to[9000];
	struct mmu_fault fault;

	map_page(0);
	for (unsigned i = 0; i < 3; i++)
		table(3)[i] = tutti_pte(0x500000ull - 8192 * i, LEAF);
	for (unsigned i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i * 7 + (i >> 8));
	assert_int_equal(mmu_copy_out(card, 1, block + 3000, from, sizeof(from), &fault), 0);
	assert_memory_equal(memory + 0x500000 + 3000, from, 1096);
	assert_memory_equal(memory + 0x4fe000, from + 1096, 4096);
	assert_memory_equal(memory + 0x4fc000, from + 5192, 9000 - 5192);
	assert_int_equal(mmu_copy_in(card, 1, to, block + 3000, sizeof(to), &fault), 0);
	assert_memory_equal(to, from, sizeof(to));
	/* the last byte is not there */
	memset(memory + 0x4fc000, 0x11, 4096);
	assert_int_equal(mmu_copy_out(card, 1, block + 3 * 4096 - 20, from, 21, &fault), -14);
	assert_int_equal(fault.cause, TUTTI_CAUSE_UNMAPPED);
	assert_int_equal(fault.address & ~0xfffull, block + 3 * 4096);
	assert_int_equal(memory[0x4fc000 + 4076], 0x11);
	assert_int_equal(mmu_copy_out(card, 1, block + 3 * 4096 - 20, from, 20, &fault), 0);
	assert_memory_equal(memory + 0x4fc000 + 4076, from, 20);
	assert_int_equal(memory[0x4fc000 + 4075], 0x11);
	assert_int_equal(mmu_copy_in(card, 1, to, block + 3 * 4096 - 20, 21, &fault), -14);
	/* nor may it be written */
	table(3)[1] &= ~TUTTI_PTE_W & ~TUTTI_PTE_D;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TLB, 5, 1), 0, 0, 0, 0);
	memset(memory + 0x500000, 0x22, 4096);
	assert_int_equal(mmu_copy_out(card, 1, block + 4000, from, 200, &fault), -14);
	assert_int_equal(fault.cause, TUTTI_CAUSE_PROTECTION);
	assert_int_equal(memory[0x500000 + 4000], 0x22);
	assert_int_equal(mmu_copy_in(card, 1, to, block + 4000, 200, &fault), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_mmu),
	    TEST(test_mmu_tables),
	    TEST(test_mmu_extent),
	    TEST(test_mmu_span),
	    TEST(test_host_ranges),
	    TEST(test_copies),
	    {"SYS-52: what would be refused is not around an address", test_defects_around, setup, teardown, NULL},
	    {"SYS-52: blocks of a leaf of 1 GiB", test_blocks_of_a_leaf, setup, teardown, NULL},
	    {"SYS-10: many ranges of host memory", test_many_ranges, setup, teardown, NULL},
	    {"SYS-10: host memory that is registered twice", test_overlaps, setup, teardown, NULL},
	    {"SYS-52: a reset forgets contexts and translations", test_reset, setup, teardown, NULL},
	    {"SYS-15: host memory while the link is down", test_link, setup, teardown, NULL},
	    {"SYS-11: pages that somebody else translates together", test_outside_whole, setup, teardown, NULL},
	    {"SYS-11: host memory that somebody else translates", test_outside, setup, teardown, NULL},
	    {"SYS-52: pages of which a part is registered", test_span_of_host, setup, teardown, NULL},
	    {"SYS-52: large leaves, rights of tables and leaves, old translations", test_odd_leaves, setup, teardown,
	     NULL},
	};

	return cmocka_run_group_tests(tests, make_image, drop_image);
}

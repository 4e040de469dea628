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

/* ---- memory of the host ---- */

/* How many bytes of host memory are registered from @address on; 0: that byte is not. */
static uint64_t host_extent(uint64_t address)
{
	struct mmu_fault fault;
	uint64_t extent;
	const void *p = mmu_translate(card, TUTTI_ASID_BUS, TUTTI_BUS_HOST | address, TUTTI_ACCESS_READ, &extent, &fault);

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
		TEST(test_mmu), TEST(test_mmu_tables), TEST(test_mmu_extent), TEST(test_mmu_span),
		TEST(test_host_ranges), TEST(test_copies),
	};

	return cmocka_run_group_tests(tests, make_image, drop_image);
}

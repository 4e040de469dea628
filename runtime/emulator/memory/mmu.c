// SPDX-License-Identifier: MIT
/*
 * The MMU walks Sv48 page tables (mmu.h of the contract) and has a translation cache that all threads share without
 * a lock. Page tables are not trusted: the address of every table is checked against card memory and the
 * registered host ranges before the table is read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/counters.h"
#include "emulator/base/inject.h"
#include "emulator/base/state.h"
#include "emulator/memory/mmu.h"

#define MMU_ENTRIES 4096u
#define MMU_EXTENT_CAP (1ull << 30)
#define SPAN_BLOCK (2ull << 20) /* what one table of pages maps */
#define PAGE_MASK ((uint64_t)TUTTI_PAGE_SIZE - 1)
#define PTE_RESERVED 0xffc0000000000000ull /* bits 63..54 */
#define GENERATIONS 4096u                  /* as many as the cache key can tell apart */

/* The low bits of a cached page pointer hold: */
#define PAGE_PERMISSIONS 0x0eull /* TUTTI_PTE_R, W, X in place */
#define PAGE_HOST 0x10ull

/*
 * A cache entry is valid for @key when check ^ data == key. A reader may see one word from before and one from after
 * another thread's update. Such a pair matches no key, since keys are mixed so that no two translations cancel out.
 */
struct mmu_entry {
	uint64_t check;
	uint64_t data; /* pointer to the page | PAGE_* */
};

struct host_range {
	uint64_t start;
	uint64_t end;
	uint64_t key; /* start as the caller gave it, by which the range is removed */
};

struct mmu {
	struct mmu_entry entry[MMU_ENTRIES];
	uint64_t root[TUTTI_MAX_CONTEXTS]; /* bus address | 1; 0 if there is no such context */
	uint32_t generation;
	pthread_rwlock_t lock; /* protects the ranges */
	struct host_range *range; /* sorted by start; they may overlap */
	size_t ranges;
	size_t room;
};

/** struct leaf - the result of a walk. */
struct leaf {
	uint64_t bus;          /* of the page that holds the address */
	uint64_t bytes;        /* from the address to the end of the leaf's page */
	uint64_t permissions;  /* R, W, X */
	const uint64_t *table; /* the table that holds it if its page has 4 KiB, else NULL */
	unsigned index;
};

int mmu_create(struct tutti_card *card)
{
	card->mmu = aligned_alloc(64, (sizeof(*card->mmu) + 63) & ~63ull);
	if (!card->mmu)
		return -ENOMEM;
	memset(card->mmu, 0, sizeof(*card->mmu));
	pthread_rwlock_init(&card->mmu->lock, NULL);
	return 0;
}

void mmu_destroy(struct tutti_card *card)
{
	if (!card->mmu)
		return;
	pthread_rwlock_destroy(&card->mmu->lock);
	free(card->mmu->range);
	free(card->mmu);
	card->mmu = NULL;
}

void mmu_invalidate(struct tutti_card *card)
{
	struct mmu *mmu = card->mmu;
	uint32_t generation = __atomic_add_fetch(&mmu->generation, 1, __ATOMIC_SEQ_CST);
	unsigned i;

	if (generation % GENERATIONS)
		return;
	for (i = 0; i < MMU_ENTRIES; i++)
		tutti_store_relaxed(&mmu->entry[i].data, 0);
}

uint32_t mmu_generation(const struct tutti_card *card)
{
	return tutti_load_acquire(&card->mmu->generation);
}

void mmu_reset(struct tutti_card *card)
{
	unsigned i;

	for (i = 0; i < TUTTI_MAX_CONTEXTS; i++)
		tutti_store_relaxed(&card->mmu->root[i], 0);
	mmu_invalidate(card);
}

void mmu_context(struct tutti_card *card, uint32_t asid, uint64_t root)
{
	if (asid == TUTTI_ASID_BUS || asid >= TUTTI_MAX_CONTEXTS)
		return;
	tutti_store_release(&card->mmu->root[asid], root ? (root & ~PAGE_MASK) | 1 : 0);
	mmu_invalidate(card);
}

/* ---- bus ---- */

int mmu_host_add(struct tutti_card *card, void *start, size_t bytes)
{
	struct mmu *mmu = card->mmu;
	uint64_t first = (uint64_t)start & ~PAGE_MASK, end = ((uint64_t)start + bytes + PAGE_MASK) & ~PAGE_MASK;
	size_t i;

	if (!bytes || end <= first || end > TUTTI_BUS_HOST)
		return -EINVAL;
	pthread_rwlock_wrlock(&mmu->lock);
	if (mmu->ranges == mmu->room) {
		size_t room = mmu->room ? 2 * mmu->room : 64;
		struct host_range *range = realloc(mmu->range, room * sizeof(*range));

		if (!range) {
			pthread_rwlock_unlock(&mmu->lock);
			return -ENOMEM;
		}
		mmu->range = range;
		mmu->room = room;
	}
	for (i = mmu->ranges; i && mmu->range[i - 1].start > first; i--)
		mmu->range[i] = mmu->range[i - 1];
	mmu->range[i] = (struct host_range){ first, end, (uint64_t)start };
	mmu->ranges++;
	pthread_rwlock_unlock(&mmu->lock);
	return 0;
}

void mmu_host_remove(struct tutti_card *card, void *start)
{
	struct mmu *mmu = card->mmu;
	size_t i;

	pthread_rwlock_wrlock(&mmu->lock);
	for (i = 0; i < mmu->ranges; i++)
		if (mmu->range[i].key == (uint64_t)start) {
			memmove(&mmu->range[i], &mmu->range[i + 1], (mmu->ranges - i - 1) * sizeof(mmu->range[0]));
			mmu->ranges--;
			break;
		}
	pthread_rwlock_unlock(&mmu->lock);
	mmu_invalidate(card);
}

/*
 * The range that holds @address, by binary search among the starts. Ranges overlap if their owners share a page, or if one
 * has registered a part of what another has, so that any range that starts before the address may be the one.
 */
static const struct host_range *find_range(const struct mmu *mmu, uint64_t address)
{
	size_t low = 0, high = mmu->ranges;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (mmu->range[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	while (low-- > 0)
		if (mmu->range[low].end > address)
			return &mmu->range[low];
	return NULL;
}

/* Find at least @least bytes at bus address @bus, @wish if possible; @avail gets their number. The lock is held. */
static void *bus_pointer(struct tutti_card *card, uint64_t bus, uint64_t least, uint64_t wish, uint64_t *avail)
{
	const struct host_range *range;
	uint64_t address = bus & (TUTTI_BUS_HOST - 1);
	void *p;

	if (!(bus & TUTTI_BUS_HOST)) {
		if (bus >= card->discovery.memory_bytes || card->discovery.memory_bytes - bus < least)
			return NULL;
		*avail = card->discovery.memory_bytes - bus;
		return card->memory + bus;
	}
	if (inject_is(card, TUTTI_INJECT_LINK_DOWN))
		return NULL;
	if (card->config.host_memory) {
		p = card->config.host_memory(card->config.context, address, wish);
		*avail = wish;
		if (!p && wish > least) {
			p = card->config.host_memory(card->config.context, address, least);
			*avail = least;
		}
		return p;
	}
	range = find_range(card->mmu, address);
	if (!range || range->end - address < least)
		return NULL;
	*avail = range->end - address;
	return (void *)address;
}

/* ---- walk ---- */

static bool refuse(struct mmu_fault *fault, uint8_t cause, uint64_t va)
{
	fault->cause = cause;
	fault->address = va;
	return false;
}

/* Return: the cause for which every access to leaf @pte at @level is refused, or 0 if it is well formed. */
static uint8_t leaf_check(uint64_t pte, unsigned level)
{
	if (level == 3 || (pte & PTE_RESERVED) || (pte & (TUTTI_PTE_R | TUTTI_PTE_W)) == TUTTI_PTE_W)
		return TUTTI_CAUSE_PROTECTION;
	if (tutti_pte_bus(pte) & ((1ull << (12 + 9 * level)) - 1))
		return TUTTI_CAUSE_PROTECTION; /* misaligned superpage */
	if (!(pte & TUTTI_PTE_U) || !(pte & TUTTI_PTE_A) || ((pte & TUTTI_PTE_W) && !(pte & TUTTI_PTE_D)))
		return TUTTI_CAUSE_PROTECTION;
	return TUTTI_CAUSE_NONE;
}

/* Walk the page tables of @asid. The lock is held. */
static bool walk(struct tutti_card *card, uint32_t asid, uint64_t va, struct leaf *leaf, struct mmu_fault *fault)
{
	uint64_t table = asid < TUTTI_MAX_CONTEXTS ? tutti_load_acquire(&card->mmu->root[asid]) : 0;
	uint64_t pte, size, avail;
	const uint64_t *entry;
	unsigned level = TUTTI_MMU_LEVELS;
	uint8_t cause;

	if (!table || va >= TUTTI_VA_END)
		return refuse(fault, TUTTI_CAUSE_UNMAPPED, va);
	table &= ~1ull;
	do {
		level--;
		entry = bus_pointer(card, table, TUTTI_PAGE_SIZE, TUTTI_PAGE_SIZE, &avail);
		if (!entry)
			return refuse(fault, TUTTI_CAUSE_BUS, va);
		pte = tutti_load_acquire(&entry[tutti_va_index(va, level)]);
		if (!(pte & TUTTI_PTE_V))
			return refuse(fault, TUTTI_CAUSE_UNMAPPED, va);
		if (pte & TUTTI_PTE_LEAF)
			break;
		if ((pte & PTE_RESERVED) || (pte & (TUTTI_PTE_U | TUTTI_PTE_A | TUTTI_PTE_D)) || !level)
			return refuse(fault, TUTTI_CAUSE_PROTECTION, va);
		table = tutti_pte_bus(pte);
	} while (level);
	cause = leaf_check(pte, level);
	if (cause)
		return refuse(fault, cause, va);
	size = 1ull << (12 + 9 * level);
	leaf->bus = tutti_pte_bus(pte) | (va & (size - 1) & ~PAGE_MASK);
	leaf->bytes = size - (va & (size - 1) & ~PAGE_MASK);
	leaf->permissions = pte & TUTTI_PTE_LEAF;
	leaf->table = level ? NULL : entry;
	leaf->index = tutti_va_index(va, 0);
	return true;
}

static bool find_leaf(struct tutti_card *card, uint32_t asid, uint64_t va, struct leaf *leaf,
		      struct mmu_fault *fault)
{
	if (asid != TUTTI_ASID_BUS)
		return walk(card, asid, va, leaf, fault);
	if (va >= 2 * TUTTI_BUS_HOST)
		return refuse(fault, TUTTI_CAUSE_BUS, va);
	leaf->bus = va & ~PAGE_MASK;
	leaf->bytes = MMU_EXTENT_CAP;
	leaf->permissions = TUTTI_PTE_LEAF;
	leaf->table = NULL;
	return true;
}

/* Extend a leaf of 4 KiB by the entries after it in the same table, as long as they continue its memory. */
static void leaf_grow(struct leaf *leaf)
{
	uint64_t pte;

	while (leaf->table && ++leaf->index < TUTTI_PTES) {
		pte = tutti_load_relaxed(&leaf->table[leaf->index]);
		if (!(pte & TUTTI_PTE_V) || leaf_check(pte, 0) || tutti_pte_bus(pte) != leaf->bus + leaf->bytes ||
		    (pte & TUTTI_PTE_LEAF) != leaf->permissions)
			return;
		leaf->bytes += TUTTI_PAGE_SIZE;
	}
}

static uint64_t need(unsigned access)
{
	switch (access) {
	case TUTTI_ACCESS_WRITE:
		return TUTTI_PTE_W;
	case TUTTI_ACCESS_EXECUTE:
		return TUTTI_PTE_X;
	case TUTTI_ACCESS_ATOMIC:
		return TUTTI_PTE_R | TUTTI_PTE_W;
	default:
		return TUTTI_PTE_R;
	}
}

/* The finaliser of splitmix64; it is bijective, so that different keys stay different. */
static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t make_key(const struct mmu *mmu, uint32_t asid, uint64_t va)
{
	uint64_t generation = tutti_load_acquire(&mmu->generation) % GENERATIONS;

	return mix((va >> 12) | (uint64_t)(asid & 0xff) << 44 | generation << 52);
}

/* The slow path of mmu_page(): walk the page tables and cache the result. */
static void *page_miss(struct tutti_card *card, uint32_t asid, uint64_t va, uint64_t needed, uint64_t key, bool *host,
		       struct mmu_fault *fault)
{
	struct mmu_entry *entry = &card->mmu->entry[key % MMU_ENTRIES];
	struct leaf leaf;
	uint64_t avail, data;
	uint8_t *page = NULL;

	pthread_rwlock_rdlock(&card->mmu->lock);
	if (find_leaf(card, asid, va, &leaf, fault)) {
		if ((leaf.permissions & needed) != needed) {
			refuse(fault, TUTTI_CAUSE_PROTECTION, va);
		} else {
			page = bus_pointer(card, leaf.bus, TUTTI_PAGE_SIZE, TUTTI_PAGE_SIZE, &avail);
			if (!page)
				refuse(fault, TUTTI_CAUSE_BUS, va);
		}
	}
	pthread_rwlock_unlock(&card->mmu->lock);
	if (!page)
		return NULL;
	*host = leaf.bus & TUTTI_BUS_HOST;
	/* Memory of the caller that is not aligned to a page is not cached: its pointers have no room for the bits. */
	if (!((uint64_t)page & PAGE_MASK)) {
		data = (uint64_t)page | leaf.permissions | (*host ? PAGE_HOST : 0);
		tutti_store_relaxed(&entry->check, key ^ data);
		tutti_store_relaxed(&entry->data, data);
	}
	return page + (va & PAGE_MASK);
}

void *mmu_page(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, bool *host,
	       struct mmu_fault *fault)
{
	uint64_t key, data, needed = need(access);
	const struct mmu_entry *entry;

	if (unlikely(asid >= TUTTI_MAX_CONTEXTS || va >= 2 * TUTTI_BUS_HOST)) {
		refuse(fault, TUTTI_CAUSE_UNMAPPED, va);
		return NULL;
	}
	if (inject_is(card, TUTTI_INJECT_PAGE_FAULT) && asid && inject_take(card, TUTTI_INJECT_PAGE_FAULT)) {
		refuse(fault, TUTTI_CAUSE_UNMAPPED, va);
		return NULL;
	}
	key = make_key(card->mmu, asid, va);
	entry = &card->mmu->entry[key % MMU_ENTRIES];
	data = tutti_load_relaxed(&entry->data);
	if (likely((tutti_load_relaxed(&entry->check) ^ data) == key && (data & needed) == needed && data)) {
		*host = data & PAGE_HOST;
		return (uint8_t *)(data & ~PAGE_MASK) + (va & PAGE_MASK);
	}
	return page_miss(card, asid, va, needed, key, host, fault);
}

/* Return: bytes from @page on that are contiguous and have the same @permissions. The lock is held. */
static uint64_t measure(struct tutti_card *card, uint32_t asid, uint64_t va, const uint8_t *page,
			uint64_t permissions)
{
	struct mmu_fault ignored;
	struct leaf leaf;
	uint64_t bytes = 0, avail;

	while (bytes < MMU_EXTENT_CAP && find_leaf(card, asid, va + bytes, &leaf, &ignored)) {
		if (leaf.permissions != permissions)
			break;
		leaf_grow(&leaf);
		if (bus_pointer(card, leaf.bus, TUTTI_PAGE_SIZE, leaf.bytes, &avail) != page + bytes)
			break;
		if (avail < leaf.bytes)
			return bytes + (avail & ~PAGE_MASK);
		bytes += leaf.bytes;
	}
	return bytes < MMU_EXTENT_CAP ? bytes : MMU_EXTENT_CAP;
}

/* Permissions (TUTTI_PTE_*) of the page that holds @va; 0 if it is not mapped. */
static uint64_t permissions_of(struct tutti_card *card, uint32_t asid, uint64_t va)
{
	struct mmu_fault ignored;
	struct leaf leaf;
	bool found;

	pthread_rwlock_rdlock(&card->mmu->lock);
	found = find_leaf(card, asid, va, &leaf, &ignored);
	pthread_rwlock_unlock(&card->mmu->lock);
	return found ? leaf.permissions : 0;
}

void *mmu_translate(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, uint64_t *extent,
		    struct mmu_fault *fault)
{
	uint64_t permissions;
	uint8_t *p;
	bool host;

	p = mmu_page(card, asid, va, access, &host, fault);
	if (!p || !extent)
		return p;
	permissions = permissions_of(card, asid, va);
	pthread_rwlock_rdlock(&card->mmu->lock);
	*extent = measure(card, asid, va & ~PAGE_MASK, p - (va & PAGE_MASK), permissions);
	pthread_rwlock_unlock(&card->mmu->lock);
	*extent = *extent > (va & PAGE_MASK) ? *extent - (va & PAGE_MASK) : TUTTI_PAGE_SIZE - (va & PAGE_MASK);
	return p;
}

/* Bytes before a leaf of 4 KiB that entries of the same table map in the same way to the memory before its own. */
static uint64_t leaf_before(const struct leaf *leaf)
{
	uint64_t pte, bytes = 0;

	for (unsigned i = leaf->index; leaf->table && i-- > 0; bytes += TUTTI_PAGE_SIZE) {
		pte = tutti_load_relaxed(&leaf->table[i]);
		if (!(pte & TUTTI_PTE_V) || leaf_check(pte, 0) ||
		    tutti_pte_bus(pte) != leaf->bus - bytes - TUTTI_PAGE_SIZE ||
		    (pte & TUTTI_PTE_LEAF) != leaf->permissions)
			break;
	}
	return bytes;
}

/* The pages around @page, which is that of @va, in both directions if its memory allows that. The lock is held. */
static void span_around(struct tutti_card *card, struct leaf *leaf, uint64_t va, uint8_t *page, struct mmu_span *span)
{
	uint64_t at = va & (SPAN_BLOCK - 1) & ~PAGE_MASK, before = leaf->table ? leaf_before(leaf) : at, avail = 0;
	uint8_t *host;

	leaf_grow(leaf);
	if (leaf->bytes > SPAN_BLOCK - at)
		leaf->bytes = SPAN_BLOCK - at;
	host = bus_pointer(card, leaf->bus - before, TUTTI_PAGE_SIZE, before + leaf->bytes, &avail);
	if (!host || host + before != page || avail < before + TUTTI_PAGE_SIZE) {
		before = 0;
		host = bus_pointer(card, leaf->bus, TUTTI_PAGE_SIZE, leaf->bytes, &avail);
		if (host != page)
			avail = TUTTI_PAGE_SIZE;
	}
	avail &= ~PAGE_MASK;
	*span = (struct mmu_span){
		.first = (va & ~PAGE_MASK) - before, .bytes = before + leaf->bytes, .permissions = leaf->permissions,
		.host = page - before,
	};
	if (span->bytes > avail)
		span->bytes = avail;
}

bool mmu_span(struct tutti_card *card, uint32_t asid, uint64_t va, unsigned access, struct mmu_span *span,
	      struct mmu_fault *fault)
{
	struct leaf leaf;
	uint8_t *p;
	bool host, found;

	p = mmu_page(card, asid, va, access, &host, fault);
	if (!p)
		return false;
	pthread_rwlock_rdlock(&card->mmu->lock);
	found = find_leaf(card, asid, va, &leaf, fault);
	if (found)
		span_around(card, &leaf, va, p - (va & PAGE_MASK), span);
	pthread_rwlock_unlock(&card->mmu->lock);
	return found;
}

int mmu_copy_in(struct tutti_card *card, uint32_t asid, void *to, uint64_t va, size_t bytes, struct mmu_fault *fault)
{
	uint8_t *out = to;
	bool host;

	while (bytes) {
		size_t n = TUTTI_PAGE_SIZE - (va & PAGE_MASK);
		const void *p = mmu_page(card, asid, va, TUTTI_ACCESS_READ, &host, fault);

		if (!p)
			return -EFAULT;
		if (n > bytes)
			n = bytes;
		memcpy(out, p, n);
		out += n;
		va += n;
		bytes -= n;
	}
	return 0;
}

int mmu_copy_out(struct tutti_card *card, uint32_t asid, uint64_t va, const void *from, size_t bytes,
		 struct mmu_fault *fault)
{
	const uint8_t *in = from;
	uint64_t at;
	bool host;

	/* Check every page before the first byte is written, so that a fault leaves nothing half copied. */
	for (at = va; at < va + bytes; at = (at | PAGE_MASK) + 1)
		if (!mmu_page(card, asid, at, TUTTI_ACCESS_WRITE, &host, fault))
			return -EFAULT;
	while (bytes) {
		size_t n = TUTTI_PAGE_SIZE - (va & PAGE_MASK);
		void *p = mmu_page(card, asid, va, TUTTI_ACCESS_WRITE, &host, fault);

		if (!p)
			return -EFAULT;
		if (n > bytes)
			n = bytes;
		memcpy(p, in, n);
		in += n;
		va += n;
		bytes -= n;
	}
	return 0;
}

uint64_t card_context_print(struct tutti_card *card, uint32_t asid)
{
	return asid < TUTTI_MAX_CONTEXTS ? tutti_load_relaxed(&card->print[asid]) : 0;
}

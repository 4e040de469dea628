// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "memory/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NONE	      UINT32_MAX
#define RETIRE_PAGES  256u
#define DISCARD_PAGES 64u /* runs of this length or more are zeroed faster by the kernel than by memset */

enum extent_state { SPARE, FREE, USED, SLAB };

/* A run of pages. @next and @prev link the free extents of a bin, partial slabs of a class, or spare descriptors. */
struct extent {
	uint32_t first, pages;
	uint32_t next, prev;
	uint8_t state;
	uint8_t class;
	bool dirty;
	bool retired;	/* at least some of its pages are retired */
	uint64_t taken; /* in a slab, one bit for each allocated object */
};

static unsigned bin_of(size_t pages)
{
	return 63 - __builtin_clzll(pages);
}

static void list_push(struct arena *arena, uint32_t *head, uint32_t e)
{
	arena->extent[e].prev = NONE;
	arena->extent[e].next = *head;
	if (*head != NONE)
		arena->extent[*head].prev = e;
	*head = e;
}

static void list_remove(struct arena *arena, uint32_t *head, uint32_t e)
{
	struct extent *extent = &arena->extent[e];

	if (extent->prev != NONE)
		arena->extent[extent->prev].next = extent->next;
	else
		*head = extent->next;
	if (extent->next != NONE)
		arena->extent[extent->next].prev = extent->prev;
}

int arena_init(struct arena *arena, void *base, size_t bytes, size_t chunk,
	       int (*commit)(void *context, void *start, size_t bytes), void *context, bool discard)
{
	*arena = (struct arena){
	    .base = base,
	    .pages = bytes / ARENA_PAGE,
	    .chunk = chunk / ARENA_PAGE,
	    .commit = commit,
	    .context = context,
	    .discard = discard,
	    .spare = NONE,
	};
	memset(arena->bin, 0xff, sizeof(arena->bin));
	memset(arena->partial, 0xff, sizeof(arena->partial));
	if (!arena->pages || arena->pages >= NONE)
		return -EINVAL;
	arena->owner = mmap(NULL, arena->pages * sizeof(*arena->owner), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (arena->owner == MAP_FAILED) {
		arena->owner = NULL;
		return -ENOMEM;
	}
	return 0;
}

void arena_fini(struct arena *arena)
{
	if (arena->owner)
		munmap(arena->owner, arena->pages * sizeof(*arena->owner));
	free(arena->extent);
	arena->owner = NULL;
	arena->extent = NULL;
}

/* Ensures more than @need spare descriptors, so that no later step of the operation can fail. */
static bool descriptors_ensure(struct arena *arena, unsigned need)
{
	uint32_t have = 0, more;
	struct extent *grown;

	for (uint32_t e = arena->spare; e != NONE && have < need; e = arena->extent[e].next)
		have++;
	if (have == need)
		return true;
	more = arena->extents ? arena->extents : 64;
	grown = realloc(arena->extent, (arena->extents + more) * sizeof(*grown));
	if (!grown)
		return false;
	arena->extent = grown;
	for (uint32_t i = 0; i < more; i++) {
		grown[arena->extents + i] = (struct extent){.next = arena->spare};
		arena->spare = arena->extents + i;
	}
	arena->extents += more;
	return true;
}

static uint32_t extent_new(struct arena *arena, uint32_t first, uint32_t pages, bool dirty)
{
	uint32_t e = arena->spare;

	arena->spare = arena->extent[e].next;
	arena->extent[e] = (struct extent){.first = first, .pages = pages, .dirty = dirty};
	return e;
}

static void extent_retire(struct arena *arena, uint32_t e)
{
	arena->extent[e] = (struct extent){.next = arena->spare};
	arena->spare = e;
}

/* Only the first and last page of a free extent are marked, because merging looks at nothing else. */
static void extent_put_free(struct arena *arena, uint32_t e)
{
	struct extent *extent = &arena->extent[e];

	extent->state = FREE;
	arena->owner[extent->first] = e;
	arena->owner[extent->first + extent->pages - 1] = e;
	list_push(arena, &arena->bin[bin_of(extent->pages)], e);
}

/* Merges the neighbour @n, on either side of @e, into @e if it is free. */
static void extent_merge(struct arena *arena, uint32_t e, uint32_t n)
{
	struct extent *extent = &arena->extent[e], *other = &arena->extent[n];

	if (other->state != FREE)
		return;
	list_remove(arena, &arena->bin[bin_of(other->pages)], n);
	if (other->first < extent->first)
		extent->first = other->first;
	extent->pages += other->pages;
	extent->dirty |= other->dirty;
	extent->retired |= other->retired;
	extent_retire(arena, n);
}

static void extent_release(struct arena *arena, uint32_t e)
{
	struct extent *extent = &arena->extent[e];

	extent->state = SPARE;
	if (extent->first)
		extent_merge(arena, e, arena->owner[extent->first - 1]);
	if (extent->first + extent->pages < arena->committed)
		extent_merge(arena, e, arena->owner[extent->first + extent->pages]);
	extent_put_free(arena, e);
}

static int commit_next(const struct arena *arena, size_t pages)
{
	if (!arena->commit)
		return 0;
	return arena->commit(arena->context, arena->base + arena->committed * ARENA_PAGE, pages * ARENA_PAGE);
}

/* Where the card, or this program's share of it, has no room for a whole chunk there may be enough for less. */
static bool arena_grow(struct arena *arena, size_t pages)
{
	size_t tail = 0, more, start = arena->committed, chunk = arena->chunk;
	int error;

	if (start && arena->extent[arena->owner[start - 1]].state == FREE)
		tail = arena->extent[arena->owner[start - 1]].pages;
	if (!descriptors_ensure(arena, 1))
		return false;
	do {
		more = (pages - tail + chunk - 1) / chunk * chunk;
		if (more > arena->pages - start)
			more = arena->pages - start;
		if (more + tail < pages)
			return false;
		error = commit_next(arena, more);
		chunk /= 2;
	} while (chunk && (error == -ENOSPC || error == -EDQUOT));
	if (error)
		return false;
	arena->committed += more;
	extent_release(arena, extent_new(arena, start, more, arena->garbage));
	return true;
}

static uint32_t find_free(struct arena *arena, size_t pages)
{
	unsigned b = bin_of(pages);

	for (uint32_t e = arena->bin[b]; e != NONE; e = arena->extent[e].next)
		if (arena->extent[e].pages >= pages)
			return e;
	while (++b < ARENA_BINS)
		if (arena->bin[b] != NONE)
			return arena->bin[b];
	return NONE;
}

/*
 * Zero an extent by giving its pages back to the kernel. The host's pages may be larger than ours, and madvise() takes all of
 * the last one: what shares a page with others is cleared here. Return: false: it has not been done.
 */
static bool pages_discard(const struct arena *arena, const struct extent *extent)
{
	uintptr_t start = (uintptr_t)arena->base + (size_t)extent->first * ARENA_PAGE;
	uintptr_t end = start + (size_t)extent->pages * ARENA_PAGE, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = (start + page - 1) & -page, last = end & -page;

	if (!arena->discard || extent->pages < DISCARD_PAGES || first >= last ||
	    madvise((void *)first, last - first, MADV_DONTNEED))
		return false;
	memset((void *)start, 0, first - start);
	memset((void *)last, 0, end - last);
	return true;
}

static void pages_clear(const struct arena *arena, const struct extent *extent)
{
	if (!pages_discard(arena, extent))
		memset(arena->base + (size_t)extent->first * ARENA_PAGE, 0, (size_t)extent->pages * ARENA_PAGE);
}

static uint32_t extent_alloc(struct arena *arena, size_t pages, uint8_t state)
{
	uint32_t e;
	struct extent *extent;

	if (pages > arena->pages || !descriptors_ensure(arena, 2))
		return NONE;
	e = find_free(arena, pages);
	if (e == NONE) {
		if (!arena_grow(arena, pages) || !descriptors_ensure(arena, 2))
			return NONE;
		e = find_free(arena, pages);
	}
	extent = &arena->extent[e];
	list_remove(arena, &arena->bin[bin_of(extent->pages)], e);
	if (extent->pages > pages) {
		uint32_t rest =
		    extent_new(arena, extent->first + pages, extent->pages - pages, extent->dirty);

		arena->extent[rest].retired = extent->retired;
		extent_put_free(arena, rest);
		extent->pages = pages;
	}
	extent->state = SPARE; /* neither allocated nor free while it is revived */
	for (size_t i = 0; i < pages; i++)
		arena->owner[extent->first + i] = e;
	if (extent->retired) {
		if (arena->revive(arena->context, arena->base + (size_t)extent->first * ARENA_PAGE,
				  pages * ARENA_PAGE)) {
			extent_release(arena, e);
			return NONE;
		}
		extent = &arena->extent[e];
		extent->retired = false;
	}
	extent->state = state;
	if (extent->dirty)
		pages_clear(arena, extent);
	extent->dirty = true;
	return e;
}

/* A slab holds 64 objects. Full slabs are on no list. */
static void *slab_alloc(struct arena *arena, size_t bytes)
{
	unsigned class = bytes <= 64 ? 0 : 58 - __builtin_clzll(bytes - 1);
	uint32_t e = arena->partial[class];
	struct extent *extent;
	unsigned object;
	uint8_t *start;

	if (e == NONE) {
		e = extent_alloc(arena, 1u << class, SLAB);
		if (e == NONE)
			return NULL;
		arena->extent[e].class = class;
		arena->extent[e].taken = 0;
		list_push(arena, &arena->partial[class], e);
	}
	extent = &arena->extent[e];
	object = __builtin_ctzll(~extent->taken);
	extent->taken |= 1ull << object;
	if (!~extent->taken)
		list_remove(arena, &arena->partial[class], e);
	start = arena->base + (size_t)extent->first * ARENA_PAGE + ((size_t)object << (6 + class));
	arena->used_bytes += 64u << class;
	return memset(start, 0, 64u << class);
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	size_t pages = bytes / ARENA_PAGE + !!(bytes % ARENA_PAGE);
	uint32_t e;

	if (!bytes)
		return NULL;
	if (bytes <= ARENA_PAGE / 2)
		return slab_alloc(arena, bytes);
	e = extent_alloc(arena, pages, USED);
	if (e == NONE)
		return NULL;
	arena->used_bytes += pages * ARENA_PAGE;
	return arena->base + (size_t)arena->extent[e].first * ARENA_PAGE;
}

bool arena_contains(const struct arena *arena, const void *address)
{
	return (uintptr_t)address - (uintptr_t)arena->base < arena->pages * ARENA_PAGE;
}

static uint32_t owner_of(const struct arena *arena, const void *address)
{
	size_t page = ((uintptr_t)address - (uintptr_t)arena->base) / ARENA_PAGE;
	const struct extent *extent;

	if (!arena_contains(arena, address) || page >= arena->committed)
		return NONE;
	/* Pages inside a free extent may carry a stale mark, even of a descriptor that is spare now, so check them. */
	if (arena->owner[page] >= arena->extents)
		return NONE;
	extent = &arena->extent[arena->owner[page]];
	if ((extent->state != USED && extent->state != SLAB) || page - extent->first >= extent->pages)
		return NONE;
	return arena->owner[page];
}

bool arena_find(const struct arena *arena, const void *address, void **start, size_t *bytes)
{
	uint32_t e = owner_of(arena, address);
	const struct extent *extent;
	uint8_t *base;
	size_t object;

	if (e == NONE)
		return false;
	extent = &arena->extent[e];
	base = arena->base + (size_t)extent->first * ARENA_PAGE;
	if (extent->state == USED) {
		*start = base;
		*bytes = (size_t)extent->pages * ARENA_PAGE;
		return true;
	}
	object = (size_t)((const uint8_t *)address - base) >> (6 + extent->class);
	if (!(extent->taken >> object & 1))
		return false;
	*start = base + (object << (6 + extent->class));
	*bytes = 64u << extent->class;
	return true;
}

static void slab_free(struct arena *arena, uint32_t e, size_t object)
{
	struct extent *extent = &arena->extent[e];

	if (!~extent->taken)
		list_push(arena, &arena->partial[extent->class], e);
	extent->taken &= ~(1ull << object);
	if (extent->taken)
		return;
	/* Keep one empty slab of each class, so that creating and destroying a signal does not move pages. */
	if (arena->partial[extent->class] == e && extent->next == NONE)
		return;
	list_remove(arena, &arena->partial[extent->class], e);
	extent_release(arena, e);
}

int arena_free(struct arena *arena, const void *address)
{
	uint32_t e = owner_of(arena, address);
	void *start;
	size_t bytes;

	if (e == NONE || !arena_find(arena, address, &start, &bytes) || start != address)
		return -EINVAL;
	arena->used_bytes -= bytes;
	if (arena->extent[e].state == SLAB) {
		uint8_t *base = arena->base + (size_t)arena->extent[e].first * ARENA_PAGE;

		slab_free(arena, e, ((const uint8_t *)address - base) >> (6 + arena->extent[e].class));
		return 0;
	}
	if (pages_discard(arena, &arena->extent[e]))
		arena->extent[e].dirty = false;
	if (arena->retire && arena->extent[e].pages >= RETIRE_PAGES) {
		arena->extent[e].state = SPARE; /* neither allocated nor free until the card has let go of it */
		arena->retire(arena->context, start, bytes);
		arena->extent[e].retired = true;
	}
	extent_release(arena, e);
	return 0;
}

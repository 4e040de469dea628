/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_ARENA_H
#define TUTTI_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_PAGE    4096u
#define ARENA_CLASSES 6u /* 64, 128 .. 2048 bytes */
#define ARENA_BINS    33u

/**
 * struct arena - allocator of one address range.
 *
 * Runs of pages (extents) are kept in bins by size; requests smaller than a page come
 * from slabs of 64 objects of one size. The allocator's metadata lies outside of the
 * memory it manages, so that a stray kernel write cannot corrupt it. The range is
 * committed in big chunks, so that the card sees few, large regions; in smaller ones
 * if there is no room for those. There is no lock: the caller serializes calls. Its lock
 * may be released while retire() or revive() works.
 *
 * @commit: back [start, start + bytes) with memory that the card can access; 0 or -errno, of which -ENOSPC and -EDQUOT
 *	say that there may be room for less
 * @retire: remove the card's access to freed [start, start + bytes), a megabyte or more; may be NULL
 * @revive: give the card access again; 0 or -errno. Some of the pages may never have been retired
 * @discard: pages may be returned to the kernel, which gives them back zeroed; otherwise the arena clears them
 * @garbage: memory that is committed may hold anything, such as card memory after power-on; otherwise it is zeroed
 */
struct arena {
	uint8_t *base;
	size_t pages;
	size_t committed;
	size_t chunk;
	int (*commit)(void *context, void *start, size_t bytes);
	void (*retire)(void *context, void *start, size_t bytes);
	int (*revive)(void *context, void *start, size_t bytes);
	void *context;
	bool discard;
	bool garbage;
	uint32_t *owner; /* for each committed page, the index of its extent */
	struct extent *extent;
	uint32_t extents;
	uint32_t spare;
	uint32_t bin[ARENA_BINS];
	uint32_t partial[ARENA_CLASSES];
	size_t used_bytes;
};

int arena_init(struct arena *arena, void *base, size_t bytes, size_t chunk,
	       int (*commit)(void *context, void *start, size_t bytes), void *context, bool discard);
void arena_fini(struct arena *arena);
/** arena_alloc() - allocate zeroed memory, aligned to 64 bytes, or to 4096 for 4096 bytes and more. NULL if full. */
void *arena_alloc(struct arena *arena, size_t bytes);
/** arena_free() - 0, or -EINVAL if @address is not the start of a live allocation. */
int arena_free(struct arena *arena, const void *address);
/** arena_find() - find the live allocation that contains @address. */
bool arena_find(const struct arena *arena, const void *address, void **start, size_t *bytes);
bool arena_contains(const struct arena *arena, const void *address);

#endif

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
 * Page runs (extents) by size bins; below a page, slabs of 64 equal objects. Its
 * books are beside the memory, never in it, so that a wild kernel cannot break
 * them. The range is committed in big chunks, so that the card sees few, big
 * regions. Not locked: the caller does it.
 *
 * @commit: back [start, + bytes) with zeroed memory the card can see; 0 or -errno
 * @retire: the card is to lose sight of freed [start, + bytes), a megabyte or more; may be NULL
 * @revive: it sees them again; 0 or -errno. Some pages may never have been retired
 * @discard: freed pages may be dropped and come back zeroed; else they are cleared
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
	uint32_t *owner; /* extent that holds each committed page */
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
/** arena_alloc() - zeroed; aligned to 64, from 4096 bytes on to 4096. NULL = no room. */
void *arena_alloc(struct arena *arena, size_t bytes);
/** arena_free() - 0, or -EINVAL if @address is not the start of a live allocation. */
int arena_free(struct arena *arena, const void *address);
/** arena_find() - live allocation that holds @address. */
bool arena_find(const struct arena *arena, const void *address, void **start, size_t *bytes);
bool arena_contains(const struct arena *arena, const void *address);

#endif

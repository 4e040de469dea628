// SPDX-License-Identifier: MIT
/* The pools are address ranges into which buffers of the driver are mapped. Locked memory belongs to the process. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include <drm.h>

#include "transport/drm/drm.h"

#define SYSTEM_RESERVE (64ull << 30)
#define ALIGN	       (2ull << 20)

/* A buffer of the driver, and where it is mapped in the process. */
struct drm_backing {
	struct drm_backing *next;
	uint8_t *address;
	size_t bytes;
	uint64_t offset; /* in the driver's file */
	uint32_t handle;
};

/*
 * The first part of a range that lies in one block, or in none. Newer blocks, which come first, hide older ones.
 * Return: its bytes; @found is the block, or NULL where nothing is mapped yet.
 */
static size_t first_part(struct drm_card *card, const uint8_t *address, size_t bytes, struct drm_backing **found)
{
	*found = NULL;
	for (struct drm_backing *block = card->blocks; block; block = block->next) {
		size_t into = (size_t)(address - block->address), before = (size_t)(block->address - address);

		if (into < block->bytes) {
			*found = block;
			return bytes < block->bytes - into ? bytes : block->bytes - into;
		}
		if (before < bytes)
			bytes = before;
	}
	return bytes;
}

/* Creates a buffer for @address, a place in a pool. */
static int create_block(struct drm_card *card, uint8_t *address, size_t bytes, enum tutti_memory pool,
			struct drm_backing **out)
{
	struct drm_tutti_bo_create create = {.size = bytes,
					     .placement = pool == TUTTI_MEMORY_CARD ? DRM_TUTTI_PLACE_CARD
										    : DRM_TUTTI_PLACE_SYSTEM};
	struct drm_backing *block = malloc(sizeof(*block));
	int error = block ? drm_call(card, DRM_IOCTL_TUTTI_BO_CREATE, &create) : -ENOMEM;

	if (error) {
		free(block);
		return error;
	}
	*block = (struct drm_backing){
	    .address = address, .bytes = bytes, .offset = create.mmap_offset, .handle = create.handle};
	*out = block;
	return 0;
}

static void discard_block(struct drm_card *card, struct drm_backing *block)
{
	struct drm_gem_close gone = {.handle = block->handle};

	drm_call(card, DRM_IOCTL_GEM_CLOSE, &gone);
	free(block);
}

/* From now on the process sees @block in its place. */
static int show_block(struct drm_card *card, struct drm_backing *block)
{
	if (mmap(block->address, block->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, card->fd,
		 (off_t)block->offset) == MAP_FAILED)
		return -errno;
	block->next = card->blocks;
	card->blocks = block;
	return 0;
}

static int add_block(struct drm_card *card, uint8_t *address, size_t bytes, enum tutti_memory pool)
{
	struct drm_backing *block;
	int error = create_block(card, address, bytes, pool, &block);

	if (error)
		return error;
	error = show_block(card, block);
	if (error)
		discard_block(card, block);
	return error;
}

static bool in_pool(const struct drm_card *card, enum tutti_memory pool, const void *address)
{
	return (size_t)((const uint8_t *)address - (const uint8_t *)card->pool[pool]) < card->pool_bytes[pool];
}

/* @block holds the whole range. */
static int map_block(struct drm_card *card, const struct drm_backing *block, const uint8_t *address, size_t bytes,
		     unsigned access)
{
	struct drm_tutti_map map = {.context = card->context,
				    .bo = block->handle,
				    .offset = (uint64_t)(address - block->address),
				    .address = (uintptr_t)address,
				    .bytes = bytes,
				    .access = access | DRM_TUTTI_ACCESS_READ};

	if (card->context)
		return drm_call(card, DRM_IOCTL_TUTTI_MAP, &map);
	if (card->earlies == DRM_EARLY_MAPS)
		return -ENOMEM;
	card->early[card->earlies++] = map;
	return 0;
}

static int unmap(struct drm_card *card, const uint8_t *address, size_t bytes)
{
	struct drm_tutti_range range = {
	    .context = card->context, .address = (uintptr_t)address, .bytes = bytes};
	int error = card->context ? drm_call(card, DRM_IOCTL_TUTTI_UNMAP, &range) : 0;

	return error == -ENOENT ? 0 : error;
}

/*
 * A range that was freed and is used again may cross blocks. Each part is mapped from the block that the process sees
 * there; a new block over old ones would hide their memory from the process, but not from the card.
 */
static int map_locked(struct drm_card *card, uint8_t *address, size_t bytes, enum tutti_memory pool,
		      unsigned access)
{
	unsigned earlies = card->earlies;
	size_t done = 0, part;
	int error = 0;

	for (; done < bytes && !error; done += error ? 0 : part) {
		struct drm_backing *block;

		part = first_part(card, address + done, bytes - done, &block);
		if (!block) {
			error = add_block(card, address + done, part, pool);
			block = card->blocks;
		}
		if (!error)
			error = map_block(card, block, address + done, part, access);
	}
	if (error && done) {
		card->earlies = earlies;
		unmap(card, address, done);
	}
	return error;
}

/* The process sees the new block last. Until then the card can be given back what it saw before. */
static int replace_mappings(struct drm_card *card, struct drm_backing *block)
{
	int error = unmap(card, block->address, block->bytes);

	if (!error)
		error = map_block(card, block, block->address, block->bytes, MAP_WRITE);
	return error ? error : show_block(card, block);
}

int drm_one_mapping(struct drm_card *card, void *address, size_t bytes)
{
	enum tutti_memory pool = in_pool(card, TUTTI_MEMORY_CARD, address) ? TUTTI_MEMORY_CARD : TUTTI_MEMORY_SYSTEM;
	struct drm_backing *block;
	int error;

	pthread_mutex_lock(&card->lock);
	error = create_block(card, address, bytes, pool, &block);
	if (!error) {
		error = replace_mappings(card, block);
		if (error) {
			discard_block(card, block);
			unmap(card, address, bytes);
			map_locked(card, address, bytes, pool, MAP_WRITE);
		}
	}
	pthread_mutex_unlock(&card->lock);
	return error;
}

/* Maps existing memory of the process. The mapping keeps the buffer alive, so its handle is closed afterwards. */
static int map_user(struct drm_card *card, void *address, size_t bytes, unsigned access)
{
	struct drm_tutti_bo_userptr user = {.address = (uintptr_t)address, .bytes = bytes};
	struct drm_tutti_map map = {.context = card->context,
				    .address = (uintptr_t)address,
				    .bytes = bytes,
				    .access = access | DRM_TUTTI_ACCESS_READ};
	struct drm_gem_close gone = {0};
	int error = drm_call(card, DRM_IOCTL_TUTTI_BO_USERPTR, &user);

	if (error)
		return error;
	map.bo = gone.handle = user.handle;
	error = drm_call(card, DRM_IOCTL_TUTTI_MAP, &map);
	drm_call(card, DRM_IOCTL_GEM_CLOSE, &gone);
	return error;
}

int drm_map(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool, unsigned access)
{
	struct drm_card *card = drm_card_of(device);
	int error;

	if (!in_pool(card, TUTTI_MEMORY_SYSTEM, address) && !in_pool(card, TUTTI_MEMORY_CARD, address))
		return card->context ? map_user(card, address, bytes, access) : -ENOTSUP;
	pthread_mutex_lock(&card->lock);
	error = map_locked(card, address, bytes, pool, access);
	pthread_mutex_unlock(&card->lock);
	return error;
}

int drm_unmap(struct tutti_device *device, void *address, size_t bytes)
{
	return unmap(drm_card_of(device), address, bytes);
}

/* Reserves aligned address space: it reserves more than needed and releases what is left over at the ends. */
static int reserve_range(struct drm_card *card, unsigned pool, size_t bytes)
{
	uint8_t *all =
	    mmap(NULL, bytes + ALIGN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (all == MAP_FAILED)
		return -ENOMEM;
	before = -(uintptr_t)all & (ALIGN - 1);
	if (before)
		munmap(all, before);
	munmap(all + before + bytes, ALIGN - before);
	card->pool[pool] = all + before;
	card->pool_bytes[pool] = bytes;
	return 0;
}

int drm_reserve(struct tutti_device *device, enum tutti_memory pool, void **base, size_t *bytes)
{
	struct drm_card *card = drm_card_of(device);
	const struct tutti_discovery *known = &device->known;
	size_t size = SYSTEM_RESERVE;
	int error;

	if (pool == TUTTI_MEMORY_CARD)
		size = (known->memory_bytes - known->reserved_bytes) & ~(size_t)(TUTTI_PAGE_SIZE - 1);
	error = reserve_range(card, pool, size);
	*base = card->pool[pool];
	*bytes = size;
	return error;
}

int drm_back(struct tutti_device *device, void *address, size_t bytes, enum tutti_memory pool)
{
	struct drm_card *card = drm_card_of(device);
	int error;

	pthread_mutex_lock(&card->lock);
	error = add_block(card, address, bytes, pool);
	pthread_mutex_unlock(&card->lock);
	return error;
}

int drm_code_invalidate(struct tutti_device *device, const void *address, size_t bytes)
{
	struct drm_card *card = drm_card_of(device);
	struct drm_tutti_range range = {
	    .context = card->context, .address = (uintptr_t)address, .bytes = bytes};

	return drm_call(card, DRM_IOCTL_TUTTI_CODE_INVALIDATE, &range);
}

int drm_memory_start(struct drm_card *card)
{
	int error = 0;

	for (unsigned i = 0; i < card->earlies && !error; i++) {
		card->early[i].context = card->context;
		error = drm_call(card, DRM_IOCTL_TUTTI_MAP, &card->early[i]);
	}
	return error;
}

void drm_memory_fini(struct drm_card *card)
{
	while (card->blocks) {
		struct drm_backing *block = card->blocks;

		card->blocks = block->next;
		free(block);
	}
	for (unsigned i = 0; i < 2; i++)
		if (card->pool[i])
			munmap(card->pool[i], card->pool_bytes[i]);
}

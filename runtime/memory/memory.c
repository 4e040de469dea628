// SPDX-License-Identifier: MIT
/*
 * Three memory pools: system (coherent host memory), card (seen through the aperture),
 * and code. Code has the last part of card memory for itself, because its pages get
 * individual permissions, which would split the big regions of the card pool.
 */
#include "memory/memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "memory/arena.h"

#define SYSTEM_CHUNK	 (32u << 20)
#define CARD_CHUNK	 (64u << 20)
#define CODE_BYTES_MAX	 (64u << 20)
#define CARD_SMALL	 (512u << 20) /* cards with less memory commit it in smaller chunks */
#define CARD_CHUNK_SMALL (4u << 20)
#define PAGE_MASK	 ((uintptr_t)TUTTI_PAGE_SIZE - 1)
#define OBJECT_BYTES	 64u
#define OBJECTS_PER_BYTE (8 * OBJECT_BYTES) /* bytes of the pool for one byte of memory.objects */

/**
 * struct memory - the pools.
 * @pins: held while memory of the program is locked or unlocked, and while the card answers to that; taken before @lock
 * @lock: protects everything but @objects. It is not held while the card is asked, which may take long and would hold up
 *	every thread that creates a signal, except when a new part of a pool is mapped
 * @locked: changes only while both locks are held
 * @objects: a bit for each 64 bytes of the system pool, set where a signal lies; one word is one page
 */
struct memory {
	pthread_mutex_t pins;
	pthread_mutex_t lock;
	struct arena system, card, code;
	struct locked *locked;
	uint64_t *objects;
	size_t objects_bytes;
};

/* A range of host memory locked by tutti_memory_lock(). Two ranges may share pages at their ends. */
struct locked {
	struct locked *next;
	uintptr_t start;
	size_t bytes;
};

static int commit(struct tutti_device *device, void *start, size_t bytes, enum tutti_memory pool)
{
	return device->transport->map(device, start, bytes, pool, MAP_READ | MAP_WRITE);
}

static int commit_system(void *context, void *start, size_t bytes)
{
	return commit(context, start, bytes, TUTTI_MEMORY_SYSTEM);
}

static int commit_card(void *context, void *start, size_t bytes)
{
	return commit(context, start, bytes, TUTTI_MEMORY_CARD);
}

/*
 * Big blocks are unmapped from the card when they are freed, so that a kernel with a
 * stale pointer faults. Small ones stay mapped, so that the card sees few regions. Until the
 * card has answered, the block is neither allocated nor free.
 */
static void retire(void *context, void *start, size_t bytes)
{
	struct tutti_device *device = context;

	pthread_mutex_unlock(&device->memory->lock);
	device->transport->unmap(device, start, bytes);
	pthread_mutex_lock(&device->memory->lock);
}

/* Unmaps first: the run may have merged with neighbours that were never retired and are still mapped. */
static int revive(struct tutti_device *device, void *start, size_t bytes, enum tutti_memory pool)
{
	int error;

	pthread_mutex_unlock(&device->memory->lock);
	device->transport->unmap(device, start, bytes);
	error = commit(device, start, bytes, pool);
	pthread_mutex_lock(&device->memory->lock);
	return error;
}

static int revive_system(void *context, void *start, size_t bytes)
{
	return revive(context, start, bytes, TUTTI_MEMORY_SYSTEM);
}

static int revive_card(void *context, void *start, size_t bytes)
{
	return revive(context, start, bytes, TUTTI_MEMORY_CARD);
}

static struct arena *arena_of(struct memory *memory, enum tutti_memory pool)
{
	return pool == TUTTI_MEMORY_CARD ? &memory->card : &memory->system;
}

static int objects_init(struct memory *memory, size_t pool_bytes)
{
	void *objects = mmap(NULL, pool_bytes / OBJECTS_PER_BYTE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (objects == MAP_FAILED)
		return -ENOMEM;
	memory->objects = objects;
	memory->objects_bytes = pool_bytes / OBJECTS_PER_BYTE;
	return 0;
}

static void objects_fini(struct memory *memory)
{
	if (memory->objects)
		munmap(memory->objects, memory->objects_bytes);
}

/* The word and the bit of @address; false if no object can be there. */
static bool object_at(const struct memory *memory, const void *address, uint64_t **word, uint64_t *bit)
{
	size_t offset = (uintptr_t)address - (uintptr_t)memory->system.base;

	if (offset >= memory->system.pages * ARENA_PAGE || offset % OBJECT_BYTES)
		return false;
	*word = &memory->objects[offset / ARENA_PAGE];
	*bit = 1ull << (offset % ARENA_PAGE / OBJECT_BYTES);
	return true;
}

void memory_object_add(struct tutti_device *device, const void *address)
{
	uint64_t *word, bit;

	if (object_at(device->memory, address, &word, &bit))
		__atomic_fetch_or(word, bit, __ATOMIC_RELEASE);
}

bool memory_object_remove(struct tutti_device *device, const void *address)
{
	uint64_t *word, bit;

	return object_at(device->memory, address, &word, &bit) &&
	       __atomic_fetch_and(word, ~bit, __ATOMIC_ACQ_REL) & bit;
}

bool memory_object(const struct tutti_device *device, const void *address)
{
	uint64_t *word, bit;

	return object_at(device->memory, address, &word, &bit) && tutti_load_relaxed(word) & bit;
}

static int init_system(struct tutti_device *device)
{
	struct arena *arena = &device->memory->system;
	size_t bytes;
	void *base;
	int error = device->transport->reserve(device, TUTTI_MEMORY_SYSTEM, &base, &bytes);

	if (!error)
		error = objects_init(device->memory, bytes);
	if (!error)
		error = arena_init(arena, base, bytes, SYSTEM_CHUNK, commit_system, device,
				   device->transport->discards);
	arena->retire = retire;
	arena->revive = revive_system;
	return error;
}

/*
 * The code pool is the last part of card memory. The host must reach it before it is mapped, because code is written
 * first and then mapped with the access rights of its segments.
 */
static int init_code(struct tutti_device *device, uint8_t *base, size_t bytes)
{
	struct arena *arena = &device->memory->code;
	int error = 0;

	if (device->transport->back)
		error = device->transport->back(device, base, bytes, TUTTI_MEMORY_CARD);
	if (!error)
		error = arena_init(arena, base, bytes, bytes, NULL, NULL, device->transport->discards);
	arena->garbage = !device->transport->zeroed;
	return error;
}

static int init_card(struct tutti_device *device)
{
	struct arena *arena = &device->memory->card;
	size_t bytes, code;
	void *base;
	int error = device->transport->reserve(device, TUTTI_MEMORY_CARD, &base, &bytes);

	if (error)
		return error;
	code = bytes / 16 < CODE_BYTES_MAX ? (bytes / 16) & ~PAGE_MASK : CODE_BYTES_MAX;
	error = arena_init(arena, base, bytes - code, bytes < CARD_SMALL ? CARD_CHUNK_SMALL : CARD_CHUNK,
			   commit_card, device, device->transport->discards);
	if (error)
		return error;
	arena->garbage = !device->transport->zeroed;
	arena->retire = retire;
	arena->revive = revive_card;
	error = init_code(device, (uint8_t *)base + bytes - code, code);
	if (error)
		arena_fini(arena);
	return error;
}

int memory_init(struct tutti_device *device)
{
	struct memory *memory = calloc(1, sizeof(*memory));
	int error;

	if (!memory)
		return -ENOMEM;
	device->memory = memory;
	pthread_mutex_init(&memory->pins, NULL);
	pthread_mutex_init(&memory->lock, NULL);
	error = init_system(device);
	if (error)
		goto free_memory;
	error = init_card(device);
	if (!error)
		return 0;
	arena_fini(&memory->system);
free_memory:
	objects_fini(memory);
	pthread_mutex_destroy(&memory->lock);
	pthread_mutex_destroy(&memory->pins);
	free(memory);
	device->memory = NULL;
	return error;
}

void memory_fini(struct tutti_device *device)
{
	struct memory *memory = device->memory;

	while (memory->locked) {
		struct locked *locked = memory->locked;

		memory->locked = locked->next;
		free(locked);
	}
	arena_fini(&memory->code);
	arena_fini(&memory->card);
	arena_fini(&memory->system);
	objects_fini(memory);
	pthread_mutex_destroy(&memory->lock);
	pthread_mutex_destroy(&memory->pins);
	free(memory);
	device->memory = NULL;
}

int memory_alloc(struct tutti_device *device, enum tutti_memory pool, size_t bytes, void **address)
{
	struct memory *memory = device->memory;
	void *block;

	if (!bytes || !address || (pool != TUTTI_MEMORY_SYSTEM && pool != TUTTI_MEMORY_CARD))
		return -EINVAL;
	pthread_mutex_lock(&memory->lock);
	block = arena_alloc(arena_of(memory, pool), bytes);
	pthread_mutex_unlock(&memory->lock);
	if (!block)
		return pool == TUTTI_MEMORY_CARD ? -ENOSPC : -ENOMEM;
	*address = block;
	return 0;
}

int tutti_memory_alloc(struct tutti_device *device, enum tutti_memory pool, size_t bytes, void **address)
{
	CALL_SCOPE(call);

	return device_call(&call, device) ? memory_alloc(device, pool, bytes, address) : -EINVAL;
}

int memory_free(struct tutti_device *device, void *address)
{
	struct memory *memory = device->memory;
	int error = -EINVAL;

	if (!address)
		return 0;
	pthread_mutex_lock(&memory->lock);
	if (arena_contains(&memory->system, address))
		error = arena_free(&memory->system, address);
	else if (arena_contains(&memory->card, address))
		error = arena_free(&memory->card, address);
	pthread_mutex_unlock(&memory->lock);
	return error;
}

int tutti_memory_free(struct tutti_device *device, void *address)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device) || memory_object(device, address))
		return -EINVAL;
	return memory_free(device, address);
}

void *memory_code_alloc(struct tutti_device *device, size_t bytes)
{
	void *address;

	if (bytes < TUTTI_PAGE_SIZE)
		bytes = TUTTI_PAGE_SIZE;
	pthread_mutex_lock(&device->memory->lock);
	address = arena_alloc(&device->memory->code, bytes);
	pthread_mutex_unlock(&device->memory->lock);
	return address;
}

void memory_code_free(struct tutti_device *device, void *address)
{
	pthread_mutex_lock(&device->memory->lock);
	arena_free(&device->memory->code, address);
	pthread_mutex_unlock(&device->memory->lock);
}

static uintptr_t first_page(const struct locked *locked)
{
	return locked->start & ~PAGE_MASK;
}

static uintptr_t end_page(const struct locked *locked)
{
	return (locked->start + locked->bytes + PAGE_MASK) & ~PAGE_MASK;
}

/* Finds the next run of pages, from *@start on and below @end, that no listed range covers. */
static bool next_uncovered(const struct locked *list, uintptr_t *start, uintptr_t end, uintptr_t *run_end)
{
	const struct locked *locked = list;

	while (locked && *start < end) {
		if (first_page(locked) <= *start && *start < end_page(locked)) {
			*start = end_page(locked);
			locked = list;
		} else {
			locked = locked->next;
		}
	}
	if (*start >= end)
		return false;
	*run_end = end;
	for (locked = list; locked; locked = locked->next)
		if (first_page(locked) > *start && first_page(locked) < *run_end)
			*run_end = first_page(locked);
	return true;
}

/* Unmaps those pages of [start, end) that no listed range covers. */
static int unmap_uncovered(struct tutti_device *device, uintptr_t start, uintptr_t end)
{
	uintptr_t run_end;
	int error = 0;

	for (; next_uncovered(device->memory->locked, &start, end, &run_end); start = run_end) {
		int e = device->transport->unmap(device, (void *)start, run_end - start);

		error = error ? error : e;
	}
	return error;
}

static void list_locked(struct memory *memory, struct locked *locked)
{
	pthread_mutex_lock(&memory->lock);
	locked->next = memory->locked;
	memory->locked = locked;
	pthread_mutex_unlock(&memory->lock);
}

/* Return: the entry that was taken off the list; NULL if there is none that starts at @start. */
static struct locked *unlist_locked(struct memory *memory, uintptr_t start)
{
	struct locked **p, *locked;

	pthread_mutex_lock(&memory->lock);
	for (p = &memory->locked; *p && (*p)->start != start;)
		p = &(*p)->next;
	locked = *p;
	if (locked)
		*p = locked->next;
	pthread_mutex_unlock(&memory->lock);
	return locked;
}

static int lock_pages(struct tutti_device *device, struct locked *locked)
{
	struct memory *memory = device->memory;
	uintptr_t start = first_page(locked), end = end_page(locked), run_end;

	for (; next_uncovered(memory->locked, &start, end, &run_end); start = run_end) {
		int error = device->transport->map(device, (void *)start, run_end - start,
						   TUTTI_MEMORY_SYSTEM, MAP_READ | MAP_WRITE);
		if (error) {
			unmap_uncovered(device, first_page(locked), start);
			return error;
		}
	}
	list_locked(memory, locked);
	return 0;
}

int tutti_memory_lock(struct tutti_device *device, void *address, size_t bytes)
{
	CALL_SCOPE(call);
	struct memory *memory;
	uintptr_t start = (uintptr_t)address;
	struct locked *locked;
	int error;

	if (!device_call(&call, device))
		return -EINVAL;
	memory = device->memory;
	if (arena_contains(&memory->system, address) || arena_contains(&memory->card, address) ||
	    arena_contains(&memory->code, address))
		return -EEXIST;
	if (!address || !bytes || start >= TUTTI_VA_END || bytes > TUTTI_VA_END - start)
		return -EINVAL;
	locked = malloc(sizeof(*locked));
	if (!locked)
		return -ENOMEM;
	*locked = (struct locked){.start = start, .bytes = bytes};
	pthread_mutex_lock(&memory->pins);
	error = lock_pages(device, locked);
	pthread_mutex_unlock(&memory->pins);
	if (error)
		free(locked);
	return error;
}

int tutti_memory_unlock(struct tutti_device *device, void *address)
{
	CALL_SCOPE(call);
	struct memory *memory;
	struct locked *locked;
	int error = -EINVAL;

	if (!device_call(&call, device))
		return -EINVAL;
	memory = device->memory;
	pthread_mutex_lock(&memory->pins);
	locked = unlist_locked(memory, (uintptr_t)address);
	if (locked)
		error = unmap_uncovered(device, first_page(locked), end_page(locked));
	pthread_mutex_unlock(&memory->pins);
	free(locked);
	return error;
}

/* The caller holds memory.lock. */
static bool find(const struct memory *memory, const void *address, void **start, size_t *bytes, enum tutti_memory *pool)
{
	*pool = TUTTI_MEMORY_CARD;
	if (arena_find(&memory->card, address, start, bytes))
		return true;
	*pool = TUTTI_MEMORY_SYSTEM;
	if (arena_find(&memory->system, address, start, bytes))
		return true;
	for (const struct locked *l = memory->locked; l; l = l->next) {
		if ((uintptr_t)address - l->start < l->bytes) {
			*start = (void *)l->start;
			*bytes = l->bytes;
			return true;
		}
	}
	return false;
}

bool memory_find(struct tutti_device *device, const void *address, void **start, size_t *bytes)
{
	enum tutti_memory pool;
	bool found;

	pthread_mutex_lock(&device->memory->lock);
	found = find(device->memory, address, start, bytes, &pool);
	pthread_mutex_unlock(&device->memory->lock);
	return found;
}

bool memory_holds(struct tutti_device *device, const void *address, size_t bytes)
{
	size_t found_bytes;
	void *start;

	return memory_find(device, address, &start, &found_bytes) &&
	       (uintptr_t)address - (uintptr_t)start + bytes <= found_bytes;
}

int tutti_memory_pool(struct tutti_device *device, enum tutti_memory pool, struct tutti_pool *info)
{
	CALL_SCOPE(call);
	const struct arena *arena;

	if (!device_call(&call, device) || !info || (pool != TUTTI_MEMORY_SYSTEM && pool != TUTTI_MEMORY_CARD))
		return -EINVAL;
	arena = arena_of(device->memory, pool);
	*info = (struct tutti_pool){
	    .bytes = arena->pages * ARENA_PAGE, .granule = OBJECT_BYTES, .alignment = TUTTI_PAGE_SIZE};
	pthread_mutex_lock(&device->memory->lock);
	info->used = arena->used_bytes;
	pthread_mutex_unlock(&device->memory->lock);
	return 0;
}

int tutti_memory_info(struct tutti_device *device, const void *address, void **start, size_t *bytes,
		      enum tutti_memory *pool)
{
	CALL_SCOPE(call);
	enum tutti_memory which;
	size_t found_bytes;
	void *found;
	bool any;

	if (!device_call(&call, device))
		return -EINVAL;
	pthread_mutex_lock(&device->memory->lock);
	any = find(device->memory, address, &found, &found_bytes, &which);
	pthread_mutex_unlock(&device->memory->lock);
	if (!any)
		return -ENOENT;
	if (start)
		*start = found;
	if (bytes)
		*bytes = found_bytes;
	if (pool)
		*pool = which;
	return 0;
}

// SPDX-License-Identifier: MIT
#include "base/handle.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Protects the lists of all pools. It is free in a child process, whatever other threads did when it was made. */
static pthread_mutex_t pools = PTHREAD_MUTEX_INITIALIZER;

static void lock_pools(void)
{
	pthread_mutex_lock(&pools);
}

static void unlock_pools(void)
{
	pthread_mutex_unlock(&pools);
}

__attribute__((constructor)) static void prepare_for_fork(void)
{
	pthread_atfork(lock_pools, unlock_pools, unlock_pools);
}

/* The calls of this thread, the innermost first. */
static _Thread_local struct call *calls;

static void *object_of(const struct handle_pool *pool, struct handle *handle)
{
	return (uint8_t *)handle - pool->offset;
}

/* The oldest destroyed object, if there are enough younger ones. */
static struct handle *take_oldest(struct handle_pool *pool)
{
	struct handle *handle = NULL;

	pthread_mutex_lock(&pools);
	if (pool->count > HANDLES_KEPT) {
		handle = pool->first;
		pool->first = handle->next;
		pool->count--;
	}
	pthread_mutex_unlock(&pools);
	return handle;
}

/* Zeroes what is around the handle, whose life and calls others may look at. */
static void clear(const struct handle_pool *pool, struct handle *handle)
{
	uint8_t *object = object_of(pool, handle), *behind = (uint8_t *)(handle + 1);

	memset(object, 0, pool->offset);
	memset(behind, 0, pool->bytes - pool->offset - sizeof(*handle));
}

void handle_begin(struct handle *handle, struct handle *owner)
{
	handle->owner = owner;
	handle->owner_life = owner ? tutti_load_relaxed(&owner->life) : 0;
	handle->next = NULL;
	tutti_store_release(&handle->life, handle->life + 1);
}

void *handle_new(struct handle_pool *pool, struct handle *owner)
{
	struct handle *handle = take_oldest(pool);
	uint8_t *object;

	if (!handle) {
		object = aligned_alloc(64, (pool->bytes + 63) & ~(size_t)63);
		if (!object)
			return NULL;
		handle = (struct handle *)(void *)(object + pool->offset);
		memset(handle, 0, sizeof(*handle));
	}
	clear(pool, handle);
	handle_begin(handle, owner);
	return object_of(pool, handle);
}

static uint32_t own_calls(const struct handle *handle)
{
	uint32_t n = 0;

	for (const struct call *call = calls; call; call = call->outer)
		n += (call->handle == handle) + (call->owner == handle);
	return n;
}

bool call_nested(const struct handle *handle)
{
	return own_calls(handle) != 0;
}

bool handle_close(struct handle *handle)
{
	uint64_t life = tutti_load_relaxed(&handle->life);

	return life & 1 && __atomic_compare_exchange_n(&handle->life, &life, life + 1, false, __ATOMIC_SEQ_CST,
						       __ATOMIC_RELAXED);
}

void handle_drain(const struct handle *handle)
{
	uint32_t own = own_calls(handle);

	while (__atomic_load_n(&handle->calls, __ATOMIC_SEQ_CST) > own)
		sched_yield();
}

bool handle_end(struct handle *handle)
{
	if (!handle_close(handle))
		return false;
	handle_drain(handle);
	return true;
}

void handle_free(struct handle_pool *pool, struct handle *handle)
{
	handle_end(handle);
	handle->next = NULL;
	pthread_mutex_lock(&pools);
	if (pool->count++)
		pool->last->next = handle;
	else
		pool->first = handle;
	pool->last = handle;
	pthread_mutex_unlock(&pools);
}

static void count(struct handle *handle, uint32_t n)
{
	if (handle)
		__atomic_fetch_add(&handle->calls, n, __ATOMIC_SEQ_CST);
}

/* First counted, then looked at: handle_end() does it the other way round, so one of them sees the other. */
static bool begin(struct call *call, struct handle *handle, struct handle *owner, uint64_t owner_life)
{
	count(handle, 1);
	count(owner, 1);
	if ((handle && !(__atomic_load_n(&handle->life, __ATOMIC_SEQ_CST) & 1)) ||
	    (owner && __atomic_load_n(&owner->life, __ATOMIC_SEQ_CST) != owner_life)) {
		count(handle, -1u);
		count(owner, -1u);
		return false;
	}
	*call = (struct call){.handle = handle, .owner = owner, .outer = calls};
	calls = call;
	return true;
}

bool call_count(struct call *call, struct handle *handle)
{
	return handle_live(handle) && begin(call, handle, handle->owner, handle->owner_life);
}

bool call_begin_owner(struct call *call, const struct handle *handle)
{
	*call = (struct call){0};
	return begin(call, NULL, handle->owner, handle->owner_life);
}

void call_end(struct call *call)
{
	if (!call->handle && !call->owner)
		return;
	calls = call->outer;
	count(call->handle, -1u);
	count(call->owner, -1u);
}

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Handles: objects that the application names by their address
 *
 * Every public function checks the handles it is given. That is possible because the memory of such an object is
 * never used for anything but objects of its kind: a handle that is stale, because its object or the device has gone,
 * can be looked at safely and says so. Memory of destroyed objects is used again in turn, after HANDLES_KEPT others
 * of the kind, so a handle that is older than that may name a new object.
 *
 * A call that may block, or that uses what the object points to, is counted from call_begin() to its end. Destroying
 * an object waits for the calls of other threads; calls that wait for the card look at handle_live() meanwhile.
 * The few functions of the submit path only look, so an object must not be destroyed while it is used there.
 */
#ifndef TUTTI_BASE_HANDLE_H
#define TUTTI_BASE_HANDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/barrier.h"

#define HANDLES_KEPT 64u

/**
 * struct handle - part of each such object.
 * @life: odd while the object exists; never goes back, whatever becomes of the memory
 * @owner: the object's device, without which it is not live; NULL for a device
 * @owner_life: what the owner's life must be
 * @calls: calls in progress, of the object and of those it owns
 * @next: the next destroyed object
 */
struct handle {
	uint64_t life;
	struct handle *owner;
	uint64_t owner_life;
	uint32_t calls;
	struct handle *next;
};

/** struct handle_pool - destroyed objects of a kind, the oldest first. */
struct handle_pool {
	size_t bytes, offset;
	struct handle *first, *last;
	unsigned count;
};

/** HANDLE_POOL() - initializer for a pool of objects of a type that has a member "handle". */
#define HANDLE_POOL(type) \
	{.bytes = sizeof(type), .offset = offsetof(type, handle)}

/** handle_new() - a live object, zeroed but for its handle, whose @owner is live; NULL if there is no memory. */
void *handle_new(struct handle_pool *pool, struct handle *owner);
/** handle_begin() - make an object live that is not from a pool, or whose life has ended. */
void handle_begin(struct handle *handle, struct handle *owner);
/**
 * handle_end() - end the life of an object, and wait for the calls that other threads make with it.
 * Return: false if it has ended already; of several threads one gets true.
 */
bool handle_end(struct handle *handle);
/** handle_close() - end the life of an object without waiting. Return: as handle_end(), which is this and handle_drain() */
bool handle_close(struct handle *handle);
/** handle_drain() - wait for the calls that other threads make with an object whose life this thread has ended. */
void handle_drain(const struct handle *handle);
/** handle_free() - give the memory of an object back to its pool; ends its life if that has not been done. */
void handle_free(struct handle_pool *pool, struct handle *handle);

/** handle_live() - do the object and its owner exist? NULL does not. */
static inline bool handle_live(const struct handle *handle)
{
	if (__builtin_expect(!handle || !(tutti_load_acquire(&handle->life) & 1), 0))
		return false;
	return !handle->owner || tutti_load_relaxed(&handle->owner->life) == handle->owner_life;
}

/** struct call - a call in progress, in the frame of the function that makes it. */
struct call {
	struct handle *handle, *owner;
	struct call *outer;
};

/** call_count() - call_begin() of a handle that is not NULL. */
bool call_count(struct call *call, struct handle *handle);
/** call_begin() - count a call on @handle and its owner. False if it is not live. @call can be ended in any case. */
static inline bool call_begin(struct call *call, struct handle *handle)
{
	*call = (struct call){0};
	return handle && call_count(call, handle);
}

/** call_begin_owner() - the same for the owner alone, in the destructor of an object whose life has ended. */
bool call_begin_owner(struct call *call, const struct handle *handle);
void call_end(struct call *call);
/** call_nested() - does this thread make a call on @handle now, from whose callback it has come here? */
bool call_nested(const struct handle *handle);

/** CALL_SCOPE() - declares a struct call, which has not begun, and which ends when its scope does. */
#define CALL_SCOPE(name) struct call name __attribute__((cleanup(call_end))) = {0}

#endif

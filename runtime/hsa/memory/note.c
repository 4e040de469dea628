// SPDX-License-Identifier: MIT
/* What the application notes for its allocations: a pointer of its own, and functions that are called when they go. */
#include "hsa/memory/note.h"

#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>

#include "hsa/base/object.h"
#include "hsa/base/runtime.h"

struct listener {
	struct listener *next;
	hsa_amd_deallocation_callback_t callback;
	void *data;
};

/** struct note - the notes of one allocation, whose address is the handle. */
struct note {
	struct object object;
	void *userdata;
	struct listener *listeners;
};

static void note_free(struct object *object)
{
	struct note *note = (struct note *)object;

	while (note->listeners) {
		struct listener *next = note->listeners->next;

		free(note->listeners);
		note->listeners = next;
	}
	free(note);
}

static struct note *note_of(const void *start)
{
	return object_find(OBJECT_NOTE, (uintptr_t)start);
}

/* The caller holds the lock. NULL if there is no memory. */
static struct note *note_make(const void *start)
{
	struct note *note = note_of(start);

	if (note)
		return note;
	note = calloc(1, sizeof(*note));
	if (!note)
		return NULL;
	note->object.destroy = note_free;
	object_add(&note->object, OBJECT_NOTE, (uintptr_t)start);
	return note;
}

static void *start_of(const void *address)
{
	void *start;

	return address && !tutti_memory_info(runtime_device(), address, &start, NULL, NULL) ? start : NULL;
}

void *note_userdata(const void *start)
{
	struct note *note;
	void *userdata;

	object_lock();
	note = note_of(start);
	userdata = note ? note->userdata : NULL;
	object_unlock();
	return userdata;
}

struct note *note_take(const void *start)
{
	return object_remove(OBJECT_NOTE, (uintptr_t)start);
}

void note_end(struct note *note, bool freed)
{
	uint64_t start;

	if (!note)
		return;
	start = note->object.handle;
	if (!freed) {
		object_add(&note->object, OBJECT_NOTE, start);
		return;
	}
	for (const struct listener *listener = note->listeners; listener; listener = listener->next)
		listener->callback((void *)(uintptr_t)start, listener->data);
	note_free(&note->object);
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *address, void *userdata)
{
	const void *start;
	struct note *note;

	REQUIRE_INIT();
	start = start_of(address);
	REQUIRE(start, INVALID_ARGUMENT);
	object_lock();
	note = note_make(start);
	if (note)
		note->userdata = userdata;
	object_unlock();
	return note ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t hsa_amd_register_deallocation_callback(void *address, hsa_amd_deallocation_callback_t callback, void *data)
{
	struct listener *listener;
	struct note *note = NULL;

	REQUIRE_INIT();
	REQUIRE(address && callback, INVALID_ARGUMENT);
	REQUIRE(start_of(address) == address, INVALID_ALLOCATION);
	listener = malloc(sizeof(*listener));
	object_lock();
	if (listener)
		note = note_make(address);
	if (note) {
		*listener = (struct listener){note->listeners, callback, data};
		note->listeners = listener;
	}
	object_unlock();
	if (!note)
		free(listener);
	return note ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

/* Takes the newest of them out; NULL if there is none. The caller holds the lock. */
static struct listener *take_listener(struct note *note, hsa_amd_deallocation_callback_t callback)
{
	for (struct listener **at = &note->listeners; *at; at = &(*at)->next)
		if ((*at)->callback == callback) {
			struct listener *listener = *at;

			*at = listener->next;
			return listener;
		}
	return NULL;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void *address, hsa_amd_deallocation_callback_t callback)
{
	struct listener *listener;
	struct note *note;

	REQUIRE_INIT();
	object_lock();
	note = note_of(address);
	listener = note ? take_listener(note, callback) : NULL;
	object_unlock();
	REQUIRE(listener, INVALID_ARGUMENT);
	free(listener);
	return HSA_STATUS_SUCCESS;
}

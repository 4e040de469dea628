/* SPDX-License-Identifier: MIT */
/**
 * DOC: Objects that the application makes, and their handles
 *
 * A handle that the application gives back is looked up, never dereferenced, so that a wrong one has the status that
 * the specification names. Handles are numbers that are given out once; queues and signals, whose addresses are
 * visible, are known by them instead.
 */
#ifndef TUTTI_HSA_OBJECT_H
#define TUTTI_HSA_OBJECT_H

#include <stdint.h>

enum object_kind {
	OBJECT_SIGNAL_GROUP,
	OBJECT_HANDLER,
	OBJECT_QUEUE,
	OBJECT_READER,
	OBJECT_CODE_OBJECT,
	OBJECT_EXECUTABLE,
	OBJECT_SYMBOL,
	OBJECT_PROGRAM,
	OBJECT_RECORDING,
	OBJECT_TASK,
	OBJECT_NOTE,
	OBJECT_EVENT_HANDLER,
	OBJECT_REGISTRATION,
};

/**
 * struct object - part of every such object, its first member.
 * @handle: what the application has of it
 * @destroy: frees the object when the runtime is shut down before the application has destroyed it
 * @next, @older: the object's neighbours in the table and in the order of creation
 */
struct object {
	enum object_kind kind;
	uint64_t handle;
	void (*destroy)(struct object *object);
	struct object *next;
	struct object *older, *newer;
};

/** object_add() - enter an object whose @destroy is set; @handle 0: give it a number of its own. */
void object_add(struct object *object, enum object_kind kind, uint64_t handle);
/** object_find() - the object of that kind, or NULL. */
void *object_find(enum object_kind kind, uint64_t handle);
/** object_remove() - the same, and take it out of the table: of several threads one gets it. */
void *object_remove(enum object_kind kind, uint64_t handle);
/** object_destroy_all() - destroy what is left, the newest first. */
void object_destroy_all(void);

/**
 * object_lock() - keep other threads from changing the contents of objects, and from adding an object that may exist only once.
 *
 * Held while no function of the application is called. A child of fork() finds it free.
 */
void object_lock(void);
void object_unlock(void);

/*
 * Around fork(): the child begins with a table that nobody is changing, and with nothing in it, as its memory and
 * threads are not those of the parent.
 */
void object_before_fork(void);
void object_after_fork(void);
void object_in_child(void);

#endif

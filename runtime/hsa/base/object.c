// SPDX-License-Identifier: MIT
#include "hsa/base/object.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define BUCKETS 256u
#define FIRST	0x7475740000000000u /* far from small numbers, which a program may take for a handle by mistake */

/* Taken before the lock of the table. */
static pthread_mutex_t contents = PTHREAD_MUTEX_INITIALIZER;

static struct {
	pthread_mutex_t lock;
	struct object *bucket[BUCKETS];
	struct object *newest;
	uint64_t given;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .given = FIRST};

static struct object **bucket_of(uint64_t handle)
{
	return &table.bucket[(handle ^ handle >> 6 ^ handle >> 14) % BUCKETS];
}

void object_add(struct object *object, enum object_kind kind, uint64_t handle)
{
	struct object **bucket;

	pthread_mutex_lock(&table.lock);
	object->kind = kind;
	object->handle = handle ? handle : ++table.given;
	bucket = bucket_of(object->handle);
	object->next = *bucket;
	*bucket = object;
	object->newer = NULL;
	object->older = table.newest;
	if (table.newest)
		table.newest->newer = object;
	table.newest = object;
	pthread_mutex_unlock(&table.lock);
}

/* The place that points to the object, or NULL. The caller holds the lock. */
static struct object **find(enum object_kind kind, uint64_t handle)
{
	for (struct object **at = bucket_of(handle); *at; at = &(*at)->next)
		if ((*at)->handle == handle && (*at)->kind == kind)
			return at;
	return NULL;
}

static struct object *unlink_at(struct object **at)
{
	struct object *object = *at;

	*at = object->next;
	if (object->older)
		object->older->newer = object->newer;
	if (object->newer)
		object->newer->older = object->older;
	else
		table.newest = object->older;
	return object;
}

void *object_find(enum object_kind kind, uint64_t handle)
{
	struct object **at, *object;

	pthread_mutex_lock(&table.lock);
	at = find(kind, handle);
	object = at ? *at : NULL;
	pthread_mutex_unlock(&table.lock);
	return object;
}

void *object_remove(enum object_kind kind, uint64_t handle)
{
	struct object **at, *object;

	pthread_mutex_lock(&table.lock);
	at = find(kind, handle);
	object = at ? unlink_at(at) : NULL;
	pthread_mutex_unlock(&table.lock);
	return object;
}

static struct object *take_newest(void)
{
	struct object *object, **at;

	pthread_mutex_lock(&table.lock);
	at = table.newest ? find(table.newest->kind, table.newest->handle) : NULL;
	object = at ? unlink_at(at) : NULL;
	pthread_mutex_unlock(&table.lock);
	return object;
}

void object_lock(void)
{
	pthread_mutex_lock(&contents);
}

void object_unlock(void)
{
	pthread_mutex_unlock(&contents);
}

void object_before_fork(void)
{
	object_lock();
	pthread_mutex_lock(&table.lock);
}

void object_after_fork(void)
{
	pthread_mutex_unlock(&table.lock);
	object_unlock();
}

void object_in_child(void)
{
	memset(table.bucket, 0, sizeof(table.bucket));
	table.newest = NULL;
	object_after_fork();
}

void object_destroy_all(void)
{
	struct object *object;

	while ((object = take_newest()))
		object->destroy(object);
}

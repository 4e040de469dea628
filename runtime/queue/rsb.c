// SPDX-License-Identifier: MIT
#include "queue/rsb.h"

#include "memory/memory.h"
#include "queue/queue.h"

static struct handle_pool pool = HANDLE_POOL(struct tutti_rsb_object);

static void locks_init(struct tutti_rsb_object *rsb)
{
	pthread_mutexattr_t attribute;

	pthread_mutexattr_init(&attribute);
	pthread_mutexattr_settype(&attribute, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&rsb->order, &attribute);
	pthread_mutexattr_destroy(&attribute);
	pthread_mutex_init(&rsb->lock, NULL);
}

int rsb_create(struct tutti_device *device, bool in_memory, struct tutti_rsb_object **out)
{
	struct tutti_rsb_object *rsb;
	int error, id = id_take(device, device->rsb_ids, device->known.max_rsbs);

	if (id < 0)
		return id;
	error = -ENOMEM;
	rsb = handle_new(&pool, &device->handle);
	if (!rsb)
		goto give_id;
	error = device->transport->rsb_create(device, (unsigned)id, in_memory);
	if (error)
		goto free_rsb;
	rsb->device = device;
	rsb->id = (uint32_t)id;
	locks_init(rsb);
	*out = rsb;
	return 0;
free_rsb:
	handle_free(&pool, &rsb->handle);
give_id:
	id_give(device, device->rsb_ids, (unsigned)id);
	return error;
}

int tutti_rsb_create(struct tutti_device *device, bool in_memory, struct tutti_rsb_object **out)
{
	CALL_SCOPE(call);

	return device_call(&call, device) && out ? rsb_create(device, in_memory, out) : -EINVAL;
}

static void rsb_free(struct tutti_rsb_object *rsb)
{
	pthread_mutex_destroy(&rsb->lock);
	pthread_mutex_destroy(&rsb->order);
	handle_free(&pool, &rsb->handle);
}

static void rsb_destroy(struct tutti_rsb_object *rsb)
{
	rsb->device->transport->rsb_destroy(rsb->device, rsb->id);
	id_give(rsb->device, rsb->device->rsb_ids, rsb->id);
	rsb_free(rsb);
}

bool rsb_attach(struct tutti_rsb_object *rsb)
{
	bool live;

	pthread_mutex_lock(&rsb->lock);
	live = handle_live(&rsb->handle);
	tutti_store_relaxed(&rsb->users, rsb->users + live);
	pthread_mutex_unlock(&rsb->lock);
	return live;
}

void rsb_detach(struct tutti_rsb_object *rsb, const struct queue *queue)
{
	bool last;

	pthread_mutex_lock(&rsb->lock);
	for (unsigned e = 0; e < TUTTI_REFERENCES; e++)
		if (rsb->user[e] == queue)
			rsb->user[e] = NULL;
	tutti_store_relaxed(&rsb->users, rsb->users - 1);
	last = !rsb->users && rsb->of_queues && handle_close(&rsb->handle);
	pthread_mutex_unlock(&rsb->lock);
	if (last) {
		handle_drain(&rsb->handle);
		rsb_destroy(rsb);
	}
}

/* Ends the life of a buffer that no queue uses, before another one can come to use it. */
static int close_unused(struct tutti_rsb_object *rsb)
{
	CALL_SCOPE(call);
	int error = 0;

	if (!rsb_call(&call, rsb)) /* perhaps because its device has been closed */
		return handle_close(&rsb->handle) ? 0 : -EINVAL;
	pthread_mutex_lock(&rsb->lock);
	if (rsb->users)
		error = -EBUSY;
	else if (!handle_close(&rsb->handle))
		error = -EINVAL;
	pthread_mutex_unlock(&rsb->lock);
	return error;
}

/* A buffer whose device has been closed is gone from the card, but not from the process. */
int tutti_rsb_destroy(struct tutti_rsb_object *rsb)
{
	CALL_SCOPE(call);
	int error;

	if (!rsb)
		return 0;
	call_begin_owner(&call, &rsb->handle);
	error = close_unused(rsb);
	if (error)
		return error;
	handle_drain(&rsb->handle);
	if (call.owner)
		rsb_destroy(rsb);
	else
		rsb_free(rsb);
	return 0;
}

int tutti_rsb_invalidate(struct tutti_rsb_object *rsb, uint32_t entries)
{
	CALL_SCOPE(call);

	if (!rsb_call(&call, rsb) || entries & ~((1u << TUTTI_REFERENCES) - 1))
		return -EINVAL;
	rsb_forget(rsb, 0, entries);
	return rsb->device->transport->rsb_invalidate(rsb->device, rsb->id, entries);
}

int tutti_rsb_read(struct tutti_rsb_object *rsb, struct tutti_rsb *table)
{
	CALL_SCOPE(call);
	struct tutti_device *device;
	struct tutti_rsb *copy;
	int error;

	if (!rsb_call(&call, rsb) || !table)
		return -EINVAL;
	device = rsb->device;
	error = memory_alloc(device, TUTTI_MEMORY_CARD, sizeof(*copy), (void **)&copy);
	if (error)
		return error;
	error = device->transport->rsb_read(device, rsb->id, copy);
	if (!error)
		*table = *copy;
	memory_free(device, copy);
	return error;
}

static unsigned least_useful(const struct tutti_rsb_object *rsb, uint32_t taken)
{
	unsigned best = TUTTI_REFERENCES;

	for (unsigned e = 0; e < TUTTI_REFERENCES; e++) {
		uint32_t weight = rsb->owner[e] ? rsb->weight[e] : 0;

		if (taken >> e & 1)
			continue;
		if (best == TUTTI_REFERENCES || weight < (rsb->owner[best] ? rsb->weight[best] : 0))
			best = e;
	}
	return best;
}

/* The entries that packets in the rings of other queues may still refer to. */
static uint32_t used_elsewhere(const struct tutti_rsb_object *rsb, const struct queue *queue)
{
	uint32_t used = 0;

	for (unsigned e = 0; e < TUTTI_REFERENCES; e++) {
		const struct queue *user = rsb->user[e];

		if (user && user != queue &&
		    tutti_load_acquire(user->public.read_index) != tutti_load_acquire(user->public.write_index))
			used |= 1u << e;
	}
	return used;
}

uint64_t rsb_claim(struct tutti_rsb_object *rsb, uint64_t owner, const struct queue *queue, unsigned n,
		   const uint32_t *weight, uint8_t *entry)
{
	uint64_t epoch = 0;
	uint32_t taken;

	rsb_forget(rsb, owner, 0);
	pthread_mutex_lock(&rsb->lock);
	taken = used_elsewhere(rsb, queue);
	if (n > TUTTI_REFERENCES - (unsigned)__builtin_popcount(taken))
		goto unlock;
	for (unsigned i = 0; i < n; i++) {
		unsigned e = least_useful(rsb, taken);

		taken |= 1u << e;
		rsb->owner[e] = owner;
		rsb->user[e] = queue;
		rsb->weight[e] = weight[i] ? weight[i] : 1;
		entry[i] = (uint8_t)e;
	}
	epoch = rsb->epoch + 1;
	tutti_store_release(&rsb->epoch, epoch);
unlock:
	pthread_mutex_unlock(&rsb->lock);
	return epoch;
}

bool rsb_holds(struct tutti_rsb_object *rsb, uint64_t owner, unsigned n, const uint8_t *entry, uint64_t *epoch)
{
	bool all = true;

	pthread_mutex_lock(&rsb->lock);
	for (unsigned i = 0; i < n; i++)
		all &= rsb->owner[entry[i]] == owner;
	*epoch = rsb->epoch;
	pthread_mutex_unlock(&rsb->lock);
	return all;
}

void rsb_forget(struct tutti_rsb_object *rsb, uint64_t owner, uint32_t entries)
{
	bool any = false;

	pthread_mutex_lock(&rsb->lock);
	for (unsigned e = 0; e < TUTTI_REFERENCES; e++) {
		if (!rsb->owner[e] || (owner ? rsb->owner[e] != owner : !(entries >> e & 1)))
			continue;
		rsb->owner[e] = 0;
		any = true;
	}
	if (any)
		tutti_store_release(&rsb->epoch, rsb->epoch + 1);
	pthread_mutex_unlock(&rsb->lock);
}

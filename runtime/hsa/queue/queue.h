/* SPDX-License-Identifier: MIT */
/**
 * DOC: Queues: the application writes packets into libtutti's ring as they are, and nothing here looks at them
 */
#ifndef TUTTI_HSA_QUEUE_H
#define TUTTI_HSA_QUEUE_H

#include <hsa/hsa.h>
#include <stddef.h>

#include "hsa/base/object.h"
#include "hsa/signal/signal.h"

/**
 * struct queue - a queue of the card, or one that the application itself serves (a soft queue).
 * @public: what the application sees; its address is the queue's handle
 * @bell: doorbell of a queue of the card
 * @card: the queue on the card; NULL for a soft queue
 * @write_index, @read_index: the queue's indexes, in memory of libtutti or in @words
 * @words: indexes of a soft queue
 * @callback: function for errors, and @data its argument; may be NULL
 */
struct queue {
	struct object object;
	hsa_queue_t public;
	struct doorbell bell;
	struct tutti_queue *card;
	uint64_t *write_index;
	uint64_t *read_index;
	uint64_t words[2];
	void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data);
	void *data;
};

/** queue_of() - the queue, which is not checked: for the functions that have no status. */
static inline struct queue *queue_of(const hsa_queue_t *public)
{
	return (struct queue *)((uintptr_t)public - offsetof(struct queue, public));
}

/** queue_find() - the queue; NULL if it is none. */
static inline struct queue *queue_find(const hsa_queue_t *public)
{
	return object_find(OBJECT_QUEUE, (uintptr_t)public);
}

/** queue_new() - a queue without a ring, entered in the table; NULL if there is no memory. */
struct queue *queue_new(hsa_queue_type32_t type, uint32_t features, uint32_t size);
/**
 * queue_create() - hsa_queue_create() with properties that only Tutti knows, of which the ring's are not looked at.
 *
 * What stands in @extra beside flags, priority and references is decided here.
 */
hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			  const struct tutti_queue_options *extra,
			  void (*callback)(hsa_status_t status, hsa_queue_t *queue, void *data), void *data,
			  hsa_queue_t **out);
/** queue_free() - forget a queue that is in no table any more, and destroy what it has. */
void queue_free(struct object *object);

/** event_memory_fault() - tell the application's handler of system events about a fault. */
void event_memory_fault(const struct tutti_fault *fault);

#endif

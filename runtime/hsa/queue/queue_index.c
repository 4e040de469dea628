// SPDX-License-Identifier: MIT
/* Indexes of queues, with each memory order under its old name and its new one. */
#include "hsa/queue/queue.h"

#define LOAD(name, order, index)                                                            \
	uint64_t hsa_queue_load_##index##_##name(const hsa_queue_t *queue)                   \
	{                                                                                   \
		return __atomic_load_n(queue_of(queue)->index, __ATOMIC_##order);           \
	}

#define STORE(name, order, index)                                                           \
	void hsa_queue_store_##index##_##name(const hsa_queue_t *queue, uint64_t value)      \
	{                                                                                   \
		store_##index(queue_of(queue), value, __ATOMIC_##order);                    \
	}

#define ADD(name, order)                                                                    \
	uint64_t hsa_queue_add_write_index_##name(const hsa_queue_t *queue, uint64_t value)  \
	{                                                                                   \
		return __atomic_fetch_add(queue_of(queue)->write_index, value, __ATOMIC_##order); \
	}

#define CAS(name, order, failure)                                                           \
	uint64_t hsa_queue_cas_write_index_##name(const hsa_queue_t *queue, uint64_t expected, uint64_t value) \
	{                                                                                   \
		__atomic_compare_exchange_n(queue_of(queue)->write_index, &expected, value, false, __ATOMIC_##order, \
					    __ATOMIC_##failure);                            \
		return expected;                                                            \
	}

static inline void store_write_index(struct queue *queue, uint64_t value, int order)
{
	__atomic_store_n(queue->write_index, value, order);
}

/* The read index of a queue of the card is the card's. */
static inline void store_read_index(struct queue *queue, uint64_t value, int order)
{
	if (!queue->card)
		__atomic_store_n(queue->read_index, value, order);
}

LOAD(relaxed, RELAXED, read_index)
LOAD(acquire, ACQUIRE, read_index)
LOAD(scacquire, ACQUIRE, read_index)
LOAD(relaxed, RELAXED, write_index)
LOAD(acquire, ACQUIRE, write_index)
LOAD(scacquire, ACQUIRE, write_index)
STORE(relaxed, RELAXED, write_index)
STORE(release, RELEASE, write_index)
STORE(screlease, RELEASE, write_index)
STORE(relaxed, RELAXED, read_index)
STORE(release, RELEASE, read_index)
STORE(screlease, RELEASE, read_index)
ADD(relaxed, RELAXED)
ADD(acquire, ACQUIRE)
ADD(scacquire, ACQUIRE)
ADD(release, RELEASE)
ADD(screlease, RELEASE)
ADD(acq_rel, ACQ_REL)
ADD(scacq_screl, ACQ_REL)
CAS(relaxed, RELAXED, RELAXED)
CAS(acquire, ACQUIRE, ACQUIRE)
CAS(scacquire, ACQUIRE, ACQUIRE)
CAS(release, RELEASE, RELAXED)
CAS(screlease, RELEASE, RELAXED)
CAS(acq_rel, ACQ_REL, ACQUIRE)
CAS(scacq_screl, ACQ_REL, ACQUIRE)

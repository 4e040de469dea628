/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_RUNTIME_RSB_H
#define TUTTI_RUNTIME_RSB_H

#include "device/device.h"
#include "tutti/reference.h"

struct queue;

/**
 * struct tutti_rsb_object - a reference state buffer and the owners of its entries.
 * @order: held while a recording claims its references and sends the packets that use them, if another thread may do
 *	the same: packets have to be in the ring in the order in which entries were claimed. Recursive, because a handler
 *	may replay while its thread waits for room
 * @depth: how often the thread that holds @order has taken it
 * @of_queues: a queue has made it for itself. Others may have come to use it, so it goes with the last of them
 * @epoch: changes whenever an entry gets another owner
 * @owner: number of the recording that has stored the entry; 0 if the entry is free
 * @weight: how many kernels use the entry; the least used entry is replaced first
 * @user: the queue whose recording had the entry last, and whose packets may still refer to it; NULL if there is none
 */
struct tutti_rsb_object {
	struct handle handle;
	struct tutti_device *device;
	pthread_mutex_t order;
	unsigned depth;
	pthread_mutex_t lock; /* protects the fields below */
	uint32_t id;
	uint32_t users;
	bool of_queues;
	uint64_t epoch;
	uint64_t owner[TUTTI_REFERENCES];
	uint32_t weight[TUTTI_REFERENCES];
	const struct queue *user[TUTTI_REFERENCES];
};

/** rsb_call() - begin a call of the application on @rsb; false if that is none. */
static inline bool rsb_call(struct call *call, struct tutti_rsb_object *rsb)
{
	return call_begin(call, rsb ? &rsb->handle : NULL);
}

/** rsb_create() - tutti_rsb_create() for the library itself. */
int rsb_create(struct tutti_device *device, bool in_memory, struct tutti_rsb_object **rsb);
/** rsb_attach() - one more queue uses it. False if it is being destroyed. The caller has begun a call on it. */
bool rsb_attach(struct tutti_rsb_object *rsb);
/** rsb_detach() - @queue no longer uses it. A buffer of queues goes with the last of them. */
void rsb_detach(struct tutti_rsb_object *rsb, const struct queue *queue);
/**
 * rsb_claim() - take entries for @n references of recording @owner of @queue, replacing the least used ones.
 *
 * Packets of two queues have no order. So entries of another queue are not claimed until the card has taken all packets
 * of that queue.
 *
 * Return: the new epoch; 0 if too many entries are in use by other queues.
 */
uint64_t rsb_claim(struct tutti_rsb_object *rsb, uint64_t owner, const struct queue *queue, unsigned n,
		   const uint32_t *weight, uint8_t *entry);
/** rsb_holds() - does @owner still own all entries of @entry[]? @epoch receives the epoch this was true at. */
bool rsb_holds(struct tutti_rsb_object *rsb, uint64_t owner, unsigned n, const uint8_t *entry, uint64_t *epoch);
/** rsb_forget() - free the entries of @owner, or if @owner is 0 those of the mask @entries, whoever owns them. */
void rsb_forget(struct tutti_rsb_object *rsb, uint64_t owner, uint32_t entries);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tensor memory access unit: from requests to mover descriptors (spec TMA-01 .. TMA-29)
 *
 * The hardware puts requests into the request area in the order in which they are to be served, and has already
 * arbitrated between SMs. One request is served at a time (tmau.job); meanwhile the tensor descriptors of those
 * behind it are fetched. A visit writes at most TMAU_VISIT mover descriptors and never waits: what is left is
 * continued after the next event, or at once if there is none.
 *
 *   plain_request.c                requests that break no rule and need one mover descriptor
 *   tensor_requests.c              order, start and end of all others
 *   request_rules.c                the rules of TMA-04
 *   tile.c, im2col.c, bulk_copy.c  the mover descriptors of a request
 */
#ifndef TENSOR_REQUESTS_H
#define TENSOR_REQUESTS_H

#include "core/counters.h"
#include "tensor/tensor_job.h"

#define TMAU_SLOTS 8u
#define TMAU_VISIT 12 /* most mover descriptors that one visit writes */
#define BARRIER_BYTES 8u

struct tmau {
	bool more;          /* the visit has ended, but more can be done without waiting for anything */
	uint32_t missed;    /* number of the request for which a tensor descriptor was fetched last */
	struct job job;
	struct tutti_event fault;     /* JOB_REFUSED: why, in the form in which an SM reports a fault */
	struct tensor_template built; /* compiled from a tensor descriptor that came inside its request */
};
extern struct tmau tmau;
extern struct tutti_tensor_call tmau_calls[TMAU_SLOTS];
extern uint32_t tmau_arrived; /* requests that have been added; counters.tmau_requests are served, in this order */

/** tmau_waiting() - number of requests that are not yet served. */
static inline uint32_t tmau_waiting(void)
{
	return tmau_arrived - counters.tmau_requests;
}

/** tmau_slot() - slot of the first request that is not yet served. */
static inline uint32_t tmau_slot(void)
{
	return counters.tmau_requests % TMAU_SLOTS;
}

void tmau_init(void);
/** tmau_event_request() - a request has been added to the request area. */
void tmau_event_request(void);
/** tmau_look_ahead() - the newest request has to wait for those before it: fetch its tensor descriptor meanwhile. */
void tmau_look_ahead(void);
/** tmau_event_fetch() - the tensor descriptor for entry @number of the cache has been fetched, or could not be. */
void tmau_event_fetch(unsigned number, const struct tutti_event *event);
/** tmau_run() - serve requests, for one visit; called when movers have room, data have come or requests are left. */
void tmau_run(void);
/** tmau_take_fault() - take the event FAULT of a request that was refused. Return: false if there is none */
bool tmau_take_fault(struct tutti_event *fault);
/** tmau_published() - another unit has published the mover ring, with the descriptor that was held back. */
static inline void tmau_published(void)
{
	tmau.job.held = false;
}

#endif

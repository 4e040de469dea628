/* SPDX-License-Identifier: MIT */
/**
 * DOC: Tensor memory access unit: from requests to mover descriptors (spec TMA-01 .. TMA-29)
 *
 * Requests stand in the request area in the order in which they are served; the hardware in front of it has
 * already taken turns between SMs. One is at work, its descriptor that of tmau.job; the descriptors of those
 * behind it are fetched meanwhile. A visit writes at most TMAU_VISIT descriptors and never waits: what is left is
 * continued after the next event, or at once if there is none.
 *
 *   tensor_requests.c           requests, turns, their ends
 *   request_rules.c             rules of TMA-04
 *   tile.c, im2col.c, bulk_copy.c  what a request becomes
 */
#ifndef TENSOR_REQUESTS_H
#define TENSOR_REQUESTS_H

#include "tensor/tensor_job.h"

#define TMAU_SLOTS 8u
#define TMAU_VISIT 12 /* descriptors of one visit */

struct tmau {
	uint32_t head;      /* slot of the first request */
	uint32_t queued;    /* requests that are not yet served */
	bool more;          /* the visit ended, nothing is waited for */
	bool missed;        /* the first request's descriptor was not in the cache */
	bool refused;       /* see @fault */
	struct job job;
	struct tutti_event fault;     /* as an SM reports one: why a request was refused */
	struct tensor_template built; /* of a descriptor that came with its request */
};
extern struct tmau tmau;

void tmau_init(void);
void tmau_event_request(const struct tutti_event *event);
void tmau_event_fetch(unsigned number, const struct tutti_event *event);
/** tmau_run() - serve requests: movers have taken some, a descriptor has come, or some are left. */
void tmau_run(void);
/** tmau_take_fault() - has a request been refused? @fault: why, as an event FAULT for its task. */
bool tmau_take_fault(struct tutti_event *fault);
/** tmau_published() - others have published what was held. */
static inline void tmau_published(void)
{
	tmau.job.held = false;
}




#endif

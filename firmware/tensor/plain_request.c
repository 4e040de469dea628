// SPDX-License-Identifier: MIT
#include "tensor/plain_request.h"

#include "tensor/descriptor_cache.h"
#include "tensor/tile.h"

#define OP_BIT 1u /* of those of word 2 of a request: TUTTI_COPY_LOAD and TUTTI_COPY_STORE differ in it alone */
#define WORD(move) ((move) | (TUTTI_MOVER_CALL | TUTTI_MOVER_LAST) << 8)

_Static_assert(TUTTI_COPY_LOAD == 0 && TUTTI_COPY_STORE == OP_BIT && TUTTI_MOVE_STORE == TUTTI_MOVE_LOAD + 1,
	       "an operation of a plain request and that of its mover descriptor differ by a constant");
_Static_assert(TENSOR_NOT_PLAIN & OP_BIT, "no request equals it without its operation");

/* The rules for @flags and the CTAs of a multicast. */
static inline bool ctas_good(const struct tutti_tensor_request *r, const struct tutti_tensor_call *call, uint32_t op)
{
	return likely(r->flags == TUTTI_REQUEST_TENSOR) ||
	       (r->flags == (TUTTI_REQUEST_TENSOR | TUTTI_REQUEST_MULTICAST) && op == TUTTI_COPY_LOAD && r->cta_mask &&
		!(r->cta_mask & ~call->present));
}

/*
 * The rules of request_check_tensor() in one expression. No size of the dense side is below BARRIER_BYTES, so that
 * nothing is subtracted from a smaller number.
 */
static inline bool places_good(const struct tutti_tensor_request *r, const struct tensor_template *t, uint32_t end,
			       uint32_t op)
{
	if (unlikely(t->bytes > end) || unlikely(r->shared > end - t->bytes) ||
	    unlikely((r->shared & 15) | ((uint32_t)r->coordinate[0] & t->origin)))
		return false;
	if (op == TUTTI_COPY_STORE)
		return r->barrier == TUTTI_BARRIER_NONE;
	return likely(r->barrier <= end - BARRIER_BYTES) && likely(!(r->barrier & (BARRIER_BYTES - 1)));
}

/* Serve the first request, if it is a plain one. */
static inline __attribute__((always_inline)) void serve(uint32_t number)
{
	const struct tutti_tensor_call *call = &tmau_calls[number % TMAU_SLOTS];
	const struct tutti_tensor_request *r = &call->request;
	struct tutti_mover *m;
	struct descriptor *d;
	uint32_t what, op;

	__asm__("" : "+r"(r)); /* otherwise gcc computes it anew for each use */
	call = (const struct tutti_tensor_call *)r;
	d = descriptor_entry((uint32_t)r->descriptor);
	what = *(const uint32_t *)&r->op;
	op = what & OP_BIT;
	if (unlikely(!descriptor_is(d, r->descriptor, call->asid)) || unlikely((what ^ op) != d->t.plain) ||
	    unlikely(!ctas_good(r, call, op)) || unlikely(!places_good(r, &d->t, call->shared_bytes, op)) ||
	    unlikely(mover_tail() - HAL_ENGINES->mover_head >= MOVER_SLOTS - MOVER_RESERVED)) {
		tmau_run();
		return;
	}
	m = mover_begin();
	*(uint32_t *)m = (WORD(TUTTI_MOVE_LOAD) + op) | number % TMAU_SLOTS << 24;
	m->shape = hal_local(&d->t.shape);
	m->shared = r->shared;
	tile_plain(&d->t, r, m);
}

HOT void plain_serve(void)
{
	serve(counters.tmau_requests);
}

HOT void tmau_event_request(void)
{
	uint32_t number = counters.tmau_requests, arrived = tmau_arrived;

	tmau_arrived = arrived + 1;
	if (likely(arrived == number))
		serve(number);
	else
		tmau_look_ahead();
}

HOT void plain_written(struct tensor_template *t)
{
	uint32_t tail = mover_tail() + 1;

	mover_written = tail;
	t->used = tail;
	counters.tmau_requests++;
	hal_release();
	HAL_ENGINES->mover_tail = tail;
}

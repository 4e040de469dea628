// SPDX-License-Identifier: MIT
#include "tensor/request_rules.h"

#include "tensor/tensor_requests.h"

#define BIT(n) (1u << (n))

/* The operations that use shared memory, those that write a tensor, those with a dense side in global memory. */
#define OPS_SHARED (BIT(TUTTI_COPY_LOAD) | BIT(TUTTI_COPY_STORE) | BIT(TUTTI_COPY_REDUCE) | BIT(TUTTI_COPY_SHARED))
#define OPS_STORE (BIT(TUTTI_COPY_STORE) | BIT(TUTTI_COPY_REDUCE) | BIT(TUTTI_COPY_SCATTER))
#define OPS_LINEAR (BIT(TUTTI_COPY_GLOBAL) | BIT(TUTTI_COPY_SCATTER))

static bool place_bad(uint32_t at, uint32_t bytes, uint32_t end)
{
	return bytes > end || at > end - bytes;
}

static unsigned check_barrier(const struct tutti_tensor_call *call)
{
	const struct tutti_tensor_request *r = &call->request;

	if (r->barrier == TUTTI_BARRIER_NONE)
		return r->op == TUTTI_COPY_LOAD ? TUTTI_TENSOR_ERROR_BARRIER_NEEDED : TUTTI_TENSOR_ERROR_NONE;
	if (r->op != TUTTI_COPY_LOAD && r->op != TUTTI_COPY_SHARED)
		return TUTTI_TENSOR_ERROR_BARRIER_UNUSED;
	if (r->barrier & (BARRIER_BYTES - 1) || place_bad(r->barrier, BARRIER_BYTES, call->shared_bytes))
		return TUTTI_TENSOR_ERROR_BARRIER_PLACE;
	return TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_reduce(const struct tutti_tensor_request *r, uint32_t reductions)
{
	if (r->op == TUTTI_COPY_REDUCE || (r->op == TUTTI_COPY_SHARED && r->reduce))
		return r->reduce < TUTTI_REDUCE_OPS && reductions >> r->reduce & 1 ? TUTTI_TENSOR_ERROR_NONE :
										      TUTTI_TENSOR_ERROR_REDUCE;
	return r->reduce ? TUTTI_TENSOR_ERROR_REDUCE : TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_ctas(const struct tutti_tensor_call *call)
{
	const struct tutti_tensor_request *r = &call->request;

	if (r->flags & TUTTI_REQUEST_MULTICAST) {
		if (r->op != TUTTI_COPY_LOAD)
			return TUTTI_TENSOR_ERROR_REQUEST_FLAGS;
		if (!r->cta_mask || r->cta_mask & ~call->present)
			return TUTTI_TENSOR_ERROR_MASK;
	}
	if (r->op == TUTTI_COPY_SHARED && (r->cta >= 16 || !(call->present >> r->cta & 1)))
		return TUTTI_TENSOR_ERROR_CTA;
	return TUTTI_TENSOR_ERROR_NONE;
}

/* Check the request's offsets into shared memory. @bytes may exceed what any CTA has, and is refused then. */
static unsigned check_shared(const struct tutti_tensor_call *call, uint32_t bytes)
{
	const struct tutti_tensor_request *r = &call->request;

	if (r->shared & 15)
		return TUTTI_TENSOR_ERROR_SHARED_ALIGN;
	if (place_bad(r->shared, bytes, call->shared_bytes))
		return TUTTI_TENSOR_ERROR_SHARED_RANGE;
	if (r->op != TUTTI_COPY_SHARED)
		return TUTTI_TENSOR_ERROR_NONE;
	if ((uint32_t)r->other & 15)
		return TUTTI_TENSOR_ERROR_SHARED_ALIGN;
	return r->other >> 32 || place_bad((uint32_t)r->other, bytes, call->shared_bytes) ?
		TUTTI_TENSOR_ERROR_SHARED_RANGE : TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_global(uint64_t address, uint64_t bytes)
{
	return (uint32_t)address & 15 || address > TUTTI_VA_END || bytes > TUTTI_VA_END - address ?
		TUTTI_TENSOR_ERROR_ADDRESS : TUTTI_TENSOR_ERROR_NONE;
}

static unsigned check_column(const struct tutti_tensor_request *r, const struct tensor_template *t)
{
	static const uint8_t offset_bits[SETUP_SPATIAL] = { 16, 16, 15 };
	bool store = OPS_STORE >> r->op & 1;
	unsigned i, n = t->rank - 2u;

	if ((uint32_t)r->offset >> offset_bits[n - 1] || (store && r->offset))
		return TUTTI_TENSOR_ERROR_OFFSET;
	if (store && !t->storable)
		return TUTTI_TENSOR_ERROR_STORE_CORNER;
	for (i = 0; store && i < t->rank; i++)
		if (r->coordinate[i] < 0)
			return TUTTI_TENSOR_ERROR_STORE_COORDINATE;
	for (i = 0; i < n; i++)
		if (r->coordinate[i + 1] < t->lower[i] ||
		    (uint32_t)r->coordinate[i + 1] - (uint32_t)t->lower[i] > t->range[i])
			return TUTTI_TENSOR_ERROR_BASE_PIXEL;
	return TUTTI_TENSOR_ERROR_NONE;
}

/* plain_request.c applies the same rules to the most frequent requests in one expression. */
enum tutti_tensor_error request_check_tensor(const struct tutti_tensor_call *call, const struct tensor_template *t)
{
	const struct tutti_tensor_request *r = &call->request;
	unsigned error;

	if (r->flags & ~(TUTTI_REQUEST_TENSOR | TUTTI_REQUEST_MULTICAST | TUTTI_REQUEST_INLINE))
		return TUTTI_TENSOR_ERROR_REQUEST_FLAGS;
	error = check_ctas(call);
	if (!error)
		error = check_reduce(r, t->reductions);
	if (!error)
		error = check_barrier(call);
	if (!error && OPS_SHARED >> r->op & 1)
		error = check_shared(call, t->bytes);
	if (!error && OPS_LINEAR >> r->op & 1)
		error = check_global(r->other, t->total);
	if (error || r->op == TUTTI_COPY_SHARED)
		return error;
	if (r->op != TUTTI_COPY_PREFETCH && (uint32_t)r->coordinate[0] & t->origin)
		return TUTTI_TENSOR_ERROR_ORIGIN;
	return t->pixels ? check_column(r, t) : TUTTI_TENSOR_ERROR_NONE;
}

enum tutti_tensor_error request_check_block(const struct tutti_tensor_call *call, uint64_t *bytes)
{
	const struct tutti_tensor_request *r = &call->request;
	unsigned shift = r->flags >> TUTTI_REQUEST_BLOCK_SHIFT, error;

	if (r->op > TUTTI_COPY_PREFETCH)
		return TUTTI_TENSOR_ERROR_REQUEST_OP;
	if (r->flags & (0xfff & ~TUTTI_REQUEST_MULTICAST))
		return TUTTI_TENSOR_ERROR_REQUEST_FLAGS;
	if (shift > TUTTI_BLOCK_SHIFT_MAX)
		return TUTTI_TENSOR_ERROR_BLOCK;
	/* This cannot overflow, because 2^32 blocks of 32 KiB are 2^47 bytes. */
	*bytes = (uint64_t)r->blocks * (TUTTI_BLOCK_BYTES << shift);
	if (!r->blocks)
		return TUTTI_TENSOR_ERROR_NONE;
	error = check_ctas(call);
	if (!error)
		error = check_reduce(r, tutti_block_reductions(r->type));
	if (!error)
		error = check_barrier(call);
	if (!error && OPS_SHARED >> r->op & 1)
		error = check_shared(call, *bytes < SETUP_BYTES_MAX ? (uint32_t)*bytes : SETUP_BYTES_MAX);
	if (!error && r->op == TUTTI_COPY_GLOBAL)
		error = check_global(r->other, *bytes);
	if (error || r->op == TUTTI_COPY_SHARED)
		return error;
	/* The address of a prefetch need not be aligned (TMA-24). */
	return check_global(r->op == TUTTI_COPY_PREFETCH ? r->descriptor & ~15ull : r->descriptor, *bytes);
}

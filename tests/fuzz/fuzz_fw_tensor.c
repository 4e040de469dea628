// SPDX-License-Identifier: MIT
/*
 * REL-01, TMA-04: a tensor descriptor and a request of any bytes. Whatever they are, the firmware ends the request, and no
 * mover descriptor leaves the shared memory the request named or the tensor the descriptor describes, or asks for a
 * reduction that movers do not have.
 * Input: 1 byte of choices, 64 bytes request, 128 bytes descriptor. A good request is served first, whose descriptor had
 * the same address, so that the cache holds the template of another tensor.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/command_ring.h"
#include "firmware_reload.h"
#include "queues/queue.h"
#include "tasks/task_table.h"
#include "tensor/tensor_requests.h"
#include "top/host/drive.h"

#define SHARED_BYTES (64u << 10)
#define ASID 3u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static struct tutti_tensor tensor;
static struct tutti_tensor_request request;
static uint32_t head;
static uint64_t dense;
static bool ended;

static void check(bool ok)
{
	if (!ok)
		abort();
}

static __uint128_t extent(void)
{
	unsigned unit = 8u << tensor.interleave, i;
	uint64_t row = (tensor.size_less_1[0] + 1ull) << tutti_type_shift(tensor.type);
	__uint128_t end = tensor.interleave ? unit : row;

	for (i = 1; i < tensor.rank; i++)
		end += (__uint128_t)tensor.stride[i - 1] * tensor.size_less_1[i];
	if (tensor.interleave)
		end += (__uint128_t)tensor.stride[tensor.rank - 3] * (tensor.size_less_1[tensor.rank - 2] + 1ull) *
		       ((row + unit - 1) / unit - 1);
	return end;
}

static void check_walked(const struct tutti_mover *m, const struct tutti_mover_shape *s, const uint16_t *count)
{
	__uint128_t end = s->unit;

	for (unsigned k = 0; k < TUTTI_MOVE_DIMENSIONS; k++) {
		if (!count[k])
			return;
		end += (__uint128_t)s->stride[k] * (count[k] - 1u);
	}
	check(m->global >= tensor.base && m->global + end <= tensor.base + extent());
	check(tensor.base + extent() <= (__uint128_t)1 << 47);
}

static uint64_t check_box(const struct tutti_mover *m)
{
	const struct tutti_mover_shape *s = hal_pointer(m->shape);
	const uint16_t *count = m->flags & TUTTI_MOVER_CLIPPED ? m->count : s->count;
	uint64_t n = s->unit, skipped = 0;

	check_walked(m, s, count);
	for (unsigned k = 0; k < TUTTI_MOVE_DIMENSIONS; k++) {
		uint64_t full = count[k] + (m->flags & TUTTI_MOVER_CLIPPED ? (uint32_t)m->before[k] + m->after[k] : 0u);

		if (m->flags & TUTTI_MOVER_PART) {
			check(m->start[k] < full);
			skipped += m->start[k] * n;
		}
		n *= full;
	}
	if (!(m->flags & TUTTI_MOVER_PART))
		return n;
	check(m->flags & TUTTI_MOVER_CLIPPED && m->bytes <= n - skipped && m->bytes % s->unit == 0);
	return m->bytes;
}

static void check_reduction(const struct tutti_mover *m)
{
	const struct tutti_mover_shape *s = hal_pointer(m->shape);
	uint32_t set = 1u << TUTTI_REDUCE_NONE;

	if (m->op == TUTTI_MOVE_STORE || m->op == TUTTI_MOVE_SHARED)
		set |= m->flags & TUTTI_MOVER_NO_SHAPE ? tutti_block_reductions(m->type) : tutti_tensor_reductions(s->type);
	check(m->reduce < TUTTI_REDUCE_OPS && set >> m->reduce & 1);
}

static void take(const struct tutti_mover *m)
{
	uint64_t bytes;

	check(!ended && m->flags & TUTTI_MOVER_CALL && m->op && m->op <= TUTTI_MOVE_END);
	ended = m->flags & TUTTI_MOVER_LAST;
	if (m->op == TUTTI_MOVE_END) {
		check(ended);
		return;
	}
	check_reduction(m);
	bytes = m->flags & TUTTI_MOVER_LINEAR ? m->bytes : check_box(m);
	dense += bytes;
	if (m->op == TUTTI_MOVE_LOAD || m->op == TUTTI_MOVE_STORE || m->op == TUTTI_MOVE_SHARED) {
		check(m->shared >= request.shared && m->shared <= SHARED_BYTES && bytes <= SHARED_BYTES - m->shared);
		check(dense <= SHARED_BYTES);
	}
	if (m->op == TUTTI_MOVE_SHARED)
		check(m->source <= SHARED_BYTES && bytes <= SHARED_BYTES - m->source);
	if (m->op == TUTTI_MOVE_COPY || m->op == TUTTI_MOVE_SCATTER)
		check(m->other >= request.other && m->other + bytes <= 1ull << 47);
	if (m->flags & TUTTI_MOVER_LINEAR && !(m->flags & TUTTI_MOVER_OUTSIDE) && m->op != TUTTI_MOVE_SHARED)
		check(m->global + bytes <= (1ull << 47) + 16);
}

static void answer(void)
{
	const uint32_t *w;
	unsigned words;

	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_TENSOR) {
			memcpy(hal_pointer(w[5]), &tensor, sizeof(tensor));
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) } });
		}
}

static void seal(void)
{
	uint32_t sum = 0;

	tensor.version = TUTTI_TENSOR_VERSION;
	tensor.check = 0;
	for (unsigned i = 0; i < sizeof(tensor) / 4; i++)
		sum += ((uint32_t *)&tensor)[i];
	tensor.check = -sum;
}

/* So that most inputs pass the first rule. */
static void tame(unsigned choices)
{
	request.flags &= 0xf007;
	if (choices & 1)
		request.flags = TUTTI_REQUEST_TENSOR | (request.flags & TUTTI_REQUEST_INLINE);
	if (choices & 2) {
		request.mode = tensor.mode &= 1;
		request.rank = tensor.rank = (uint8_t)(1 + tensor.rank % 5);
		request.op %= TUTTI_TENSOR_OPS;
		request.barrier = request.op == TUTTI_COPY_LOAD ? 0 : TUTTI_BARRIER_NONE;
		request.reduce = request.op == TUTTI_COPY_REDUCE || request.op == TUTTI_COPY_SHARED ? request.reduce & 15 : 0;
		request.type &= 15;
		tensor.type &= 15;
		request.cta &= 3;
		request.shared &= 0x3ff0;
	}
	if (choices & 4)
		for (unsigned i = 0; i < 4; i++)
			tensor.stride[i] &= 0xfffffff0ull >> (choices >> 5);
	if (choices & 8)
		seal();
	if (choices & 16)
		request.coordinate[0] &= ~15;
	if (!(request.flags & TUTTI_REQUEST_INLINE) && request.flags & TUTTI_REQUEST_TENSOR)
		request.descriptor &= 0x7fffffffffc0ull;
	if (choices & 2 && !(request.flags & TUTTI_REQUEST_TENSOR)) { /* blocks */
		request.flags &= 0x3000;
		request.descriptor &= 0x3ffffffffff0ull;
		request.other &= 0x7ff0;
		request.blocks &= 0x1ff;
	}
}

static void set_up(void)
{
	static struct queue queue;

	firmware_reload();
	memset(&queue, 0, sizeof(queue));
	hal_host_boot(8);
	answer();
	head = hal_host.engines.mover_tail;
	tasks[1].state = TASK_RUNNING;
	tasks[1].queue = &queue;
}

/* Serve @request, with @tensor as its descriptor, to its end. */
static void serve(uint32_t number)
{
	struct tutti_tensor_call *call = (struct tutti_tensor_call *)hal_pointer(hal_host.engines.request_base) + number;
	unsigned patience = 100000;

	ended = false;
	dense = 0;
	*call = (struct tutti_tensor_call){ .request = request, .asid = ASID, .slot = 1, .shared_bytes = SHARED_BYTES,
					    .present = 5, .descriptor = tensor };
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_REQUEST | 1 << 8 | TUTTI_SERVICE_TENSOR << 16 } });
	while (!ended && patience--) {
		answer();
		for (; head != hal_host.engines.mover_tail; head++)
			take((struct tutti_mover *)hal_pointer(hal_host.engines.mover_base) +
			     head % hal_host.engines.mover_slots);
		hal_host.engines.mover_head = head;
		if (!ended)
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_MOVER_ROOM } });
	}
	check(ended && !tmau_waiting());
}

static void serve_good(uint64_t descriptor)
{
	tensor = (struct tutti_tensor){ .base = 0x10000, .type = TUTTI_F32, .rank = 2, .size_less_1 = { 99, 99 },
					.stride = { 400 }, .traversal = { 1, 1 }, .box = { 8, 8 } };
	seal();
	request = (struct tutti_tensor_request){ .descriptor = descriptor & 0x7fffffffffc0ull, .flags = TUTTI_REQUEST_TENSOR,
						 .op = TUTTI_COPY_PREFETCH, .rank = 2, .barrier = TUTTI_BARRIER_NONE };
	serve(0);
	check(dense);
	/* An acquire fence: the next request fetches its own descriptor. */
	counters.acquires++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes != 1 + sizeof(request) + sizeof(tensor))
		return 0;
	set_up();
	memcpy(&request, data + 1, sizeof(request));
	serve_good(request.descriptor);
	memcpy(&request, data + 1, sizeof(request));
	memcpy(&tensor, data + 1 + sizeof(request), sizeof(tensor));
	tame(data[0]);
	serve(1);
	return 0;
}

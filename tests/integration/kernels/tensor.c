/* SPDX-License-Identifier: MIT */
/* Kernels of the tensor tests. */
#include <string.h>

#include "tutti/cga.h"
#include "tutti/tmau.h"
#include "tensor.h"

TUTTI_KERNEL(tensor_job, struct args_tensor)
{
	struct tensor_job *job = &args->job[tutti_cta_linear()];
	uint64_t *shared = tutti_shared(uint64_t, 0), *barrier = NULL;
	uint32_t words = job->shared_bytes / 8;

	if (!tutti_first_wave())
		return;
	job->shared = (uintptr_t)shared;
	for (uint32_t i = 0; i < words; i++)
		shared[i] = job->in[i];
	if (job->request.barrier != TUTTI_BARRIER_NONE && job->expect) {
		barrier = tutti_shared(uint64_t, job->request.barrier);
		tutti_mbarrier_init(barrier, 1);
		tutti_mbarrier_arrive_expect(barrier, job->expect);
	}
	tutti_copy_request(&job->request);
	if (barrier)
		tutti_mbarrier_wait(barrier, 0);
	else
		tutti_wait_all();
	for (uint32_t i = 0; i < words; i++)
		job->out[i] = shared[i];
}

/* Every wrapper once: load, then store, by mode and rank. */
#define MOVE(rank, ...)                                                                       \
	if (im2col) {                                                                         \
		tutti_load_im2col(args->from, data, barrier, args->offset, __VA_ARGS__);      \
		tutti_mbarrier_wait(barrier, 0);                                              \
		tutti_store_im2col(args->to, data, __VA_ARGS__);                              \
	} else {                                                                              \
		tutti_load_tile(args->from, data, barrier, __VA_ARGS__);                      \
		tutti_mbarrier_wait(barrier, 0);                                              \
		tutti_store_tile(args->to, data, __VA_ARGS__);                                \
	}

TUTTI_KERNEL(tensor_move, struct args_move)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0);
	uint8_t *data = tutti_shared(uint8_t, 1024);
	const int32_t *c = args->coordinate;
	bool im2col = args->from->mode == TUTTI_IM2COL;

	tutti_mbarrier_init(barrier, 1);
	tutti_mbarrier_arrive_expect(barrier, args->bytes);
	switch (args->from->rank) {
	case 1:
		MOVE(1, c[0]);
		break;
	case 2:
		MOVE(2, c[0], c[1]);
		break;
	case 3:
		MOVE(3, c[0], c[1], c[2]);
		break;
	case 4:
		MOVE(4, c[0], c[1], c[2], c[3]);
		break;
	case 5:
		MOVE(5, c[0], c[1], c[2], c[3], c[4]);
		break;
	}
	tutti_wait_all();
}

#define STREAM_STAGES 3
#define STREAM_BYTES 1024

/* Wave 0 makes the requests, all others add up; any number of stages is in use. */
TUTTI_KERNEL(tensor_stream, struct args_stream, .group_bytes = STREAM_STAGES * STREAM_BYTES + 64,
	     .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	uint64_t *barriers = tutti_shared(uint64_t, STREAM_STAGES * STREAM_BYTES), sum = 0;
	struct tutti_pipeline ring = tutti_pipeline(barriers, STREAM_STAGES);
	uint32_t users = tutti_wave()->waves - 1;

	tutti_one_sync(tutti_all_waves())
		tutti_pipeline_init(barriers, STREAM_STAGES, users);
	for (uint32_t i = 0; i < args->boxes; i++) {
		uint32_t box = (i + tutti_cta_linear()) % args->boxes;

		if (tutti_first_wave()) {
			uint64_t *full = tutti_pipeline_acquire(&ring, STREAM_BYTES);

			tutti_load_tile(args->tensor, tutti_shared(uint8_t, ring.stage * STREAM_BYTES), full, 0,
					(int32_t)(8 * box));
			tutti_pipeline_advance(&ring);
		} else {
			const uint32_t *x = tutti_shared(uint32_t, tutti_pipeline_wait(&ring) * STREAM_BYTES);

			for (uint32_t k = tutti_wave()->wave - 1; k < STREAM_BYTES / 4; k += users)
				sum += (uint64_t)x[k] * (i + 1);
			tutti_pipeline_release(&ring);
		}
	}
	__atomic_fetch_add(&args->sum[tutti_cta_linear()], sum, __ATOMIC_RELAXED);
}

/* y = scale x + shift in the tensor, 0 in its padding, in one go. */
TUTTI_KERNEL(tensor_normalise, struct args_normalise)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0);
	float *x = tutti_shared(float, 1024);
	uint32_t n = tutti_tensor_box_bytes(args->x) / 4;

	tutti_mbarrier_init(barrier, 1);
	tutti_mbarrier_arrive_expect(barrier, 4 * n);
	tutti_load_tile(args->x, x, barrier, -4, -2);
	tutti_mbarrier_wait(barrier, 0);
	for (uint32_t i = 0; i < n; i++)
		args->y[i] = tutti_is_fill(x[i]) ? 0 : args->scale * x[i] + args->shift;
}

/* Waves with even numbers meet at a barrier of their own. */
TUTTI_KERNEL(tensor_one, struct args_one, .group_bytes = 64, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
{
	uint32_t *shared = tutti_shared(uint32_t, 8), wave = tutti_wave()->wave, before;
	uint64_t *barrier = tutti_shared(uint64_t, 0), all = tutti_all_waves(), even = all & 0x5555555555555555ull;

	tutti_one_sync(all) {
		tutti_mbarrier_init(barrier, (uint32_t)__builtin_popcountll(even));
		shared[0] = shared[1] = 0;
	}
	for (uint32_t round = 0; round < 50; round++) {
		__atomic_fetch_add(&shared[0], 1, __ATOMIC_RELAXED);
		tutti_one_sync(all) {
			args->count[0]++;
			*args->who |= 1u << wave;
			before = shared[0];
			*args->late += before != (round + 1) * tutti_wave()->waves;
		}
		if (!(even >> wave & 1))
			continue;
		tutti_one_sync_at(barrier, even) {
			args->count[1]++;
			*args->who |= 1u << wave;
		}
		*args->late += args->count[1] < round + 1;
	}
}

TUTTI_KERNEL(tensor_change, struct args_change)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0);
	uint32_t *data = tutti_shared(uint32_t, 1024);

	tutti_mbarrier_init(barrier, 1);
	for (uint32_t i = 0; i < 8; i++) {
		tutti_mbarrier_arrive_expect(barrier, 64);
		tutti_load_tile(args->tensor, data, barrier, 0);
		tutti_mbarrier_wait(barrier, i);
		args->out[i] = data[0];
		args->tensor->base = args->base + 64 * (i + 1);
		tutti_tensor_seal(args->tensor);
		tutti_descriptor_changed(args->tensor);
	}
}

/* A descriptor that exists only in this wave. */
TUTTI_KERNEL(tensor_built, struct args_late)
{
	struct tutti_tensor tensor __attribute__((aligned(64)));
	struct tutti_tiled tiles = { .tensor = { .base = args->from, .type = TUTTI_U64, .rank = 1,
						 .size = { 2 * args->blocks } }, .box = { 16 } };
	uint64_t *barrier = tutti_shared(uint64_t, 0), *data = tutti_shared(uint64_t, 1024);

	tutti_assert(!tutti_tensor_encode_tiled(&tensor, &tiles));
	tutti_mbarrier_init(barrier, 1);
	tutti_mbarrier_arrive_expect(barrier, 128);
	tutti_load_tile_built(&tensor, data, barrier, 16);
	memset(&tensor, 0xff, sizeof(tensor)); /* its coordinates came with the request */
	tutti_mbarrier_wait(barrier, 0);
	for (uint32_t i = 0; i < 16; i++)
		data[i]++;
	tiles.tensor.base = args->out;
	tutti_assert(!tutti_tensor_encode_tiled(&tensor, &tiles));
	tutti_store_tile_built(&tensor, data, 0);
	tutti_wait_all();
}

/* Ends while its loads are in progress. */
TUTTI_KERNEL(tensor_leave, struct args_late)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0);

	tutti_mbarrier_init(barrier, 1);
	for (uint32_t i = 0; i < 8; i++)
		tutti_load_block(args->from, tutti_shared(uint8_t, 1024), barrier, args->blocks);
}

/* Loads for ever. */
TUTTI_KERNEL(tensor_endless, struct args_late)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0);

	tutti_mbarrier_init(barrier, 1);
	__atomic_store_n(args->out, 1, __ATOMIC_RELEASE);
	for (;;)
		tutti_load_block(args->from, tutti_shared(uint8_t, 1024), barrier, args->blocks);
}

/* Checks that its shared memory does not change while other workgroups start and end. */
TUTTI_KERNEL(tensor_watch, struct args_late)
{
	volatile uint64_t *shared = tutti_shared(uint64_t, 0);
	uint32_t words = tutti_shared_bytes() / 8;
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < words; i++)
		shared[i] = i;
	for (uint32_t round = 0; round < args->blocks; round++) {
		tutti_yield();
		for (uint32_t i = 0; i < words; i += 64)
			wrong += shared[i] != i;
	}
	__atomic_fetch_add(args->out, wrong, __ATOMIC_RELAXED);
}

/* Blocks in every direction: out = in, in again behind it, in + in, and a copy of that. */
TUTTI_KERNEL(tensor_blocks, struct args_late)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0), *data = tutti_shared(uint64_t, 1024);
	uint32_t n = args->blocks, words = 2 * n;

	tutti_mbarrier_init(barrier, 1);
	tutti_mbarrier_arrive_expect(barrier, 16 * n);
	tutti_prefetch_block(args->from, n);
	tutti_load_block(args->from, data, barrier, n);
	tutti_load_block(args->from, data, barrier, 0); /* nothing, not even a barrier's update */
	tutti_mbarrier_wait(barrier, 0);
	tutti_store_block(args->out, data, n);
	tutti_send_block(0, data + words, data, TUTTI_REDUCE_NONE, TUTTI_U8, NULL, n);
	tutti_wait_all();
	tutti_store_block(args->out + words, data + words, n);
	tutti_store_block(args->out + 2 * words, data, n);
	tutti_wait_all();
	tutti_reduce_block(args->out + 2 * words, TUTTI_REDUCE_ADD, TUTTI_U64, data, n);
	tutti_send_block(0, data + words, data, TUTTI_REDUCE_ADD, TUTTI_U32, NULL, n);
	tutti_wait_all();
	tutti_copy_block(args->out + 3 * words, args->out + 2 * words, n);
	tutti_store_block(args->out + 4 * words, data + words, n);
	tutti_wait_all();
}

/* Reductions by the unit and atomics of waves on the same words. */
TUTTI_KERNEL(tensor_contend, struct args_contend, .group_bytes = 2048)
{
	uint32_t *ones = tutti_shared(uint32_t, 0), *steps = tutti_shared(uint32_t, 1024);

	for (uint32_t i = 0; i < 256; i++) {
		ones[i] = 1;
		steps[i] = 1000000;
	}
	for (uint32_t round = 0; round < args->rounds; round++) {
		tutti_reduce_block(args->cells, TUTTI_REDUCE_ADD, TUTTI_U32, ones, 64);
		tutti_reduce_block(args->ticks, TUTTI_REDUCE_INC, TUTTI_U32, steps, 64);
		for (uint32_t i = 0; i < 256; i++)
			__atomic_fetch_add(&args->cells[i], 1, __ATOMIC_RELAXED);
	}
	tutti_wait_all();
}

/* Each rank of a CGA is sent the same box, and a word by its neighbour. */
TUTTI_KERNEL(tensor_cast, struct args_cast, TUTTI_CGA(4, 1, 1), .group_bytes = 8192)
{
	const struct tutti_wave_info *wave = tutti_wave();
	uint64_t *barrier = tutti_shared(uint64_t, 0), *data = tutti_shared(uint64_t, 1024), *word = barrier + 2;
	uint64_t *out = args->out + (uint64_t)tutti_cta_linear() * 512;

	tutti_mbarrier_init(barrier, 1);
	tutti_mbarrier_init(barrier + 1, 1);
	word[0] = word[1] = 1000 + wave->cga_rank;
	memset(data, 0, 4096);
	tutti_cga_barrier();
	if (args->mask >> wave->cga_rank & 1)
		tutti_mbarrier_arrive_expect(barrier, args->bytes);
	tutti_mbarrier_arrive_expect(barrier + 1, 16);
	if (wave->cga_rank == 0)
		tutti_multicast_tile(args->tensor, (uint16_t)args->mask, data, barrier, 0, 0);
	tutti_send_block((wave->cga_rank + 1) % wave->cga_ctas, word + 2, word, TUTTI_REDUCE_NONE, TUTTI_U8, barrier + 1, 1);
	tutti_mbarrier_wait(barrier + 1, 0);
	if (args->mask >> wave->cga_rank & 1)
		tutti_mbarrier_wait(barrier, 0);
	for (uint32_t i = 0; i < 511; i++)
		out[i] = data[i];
	out[511] = word[2];
	tutti_wait_all();
	tutti_cga_barrier();
}

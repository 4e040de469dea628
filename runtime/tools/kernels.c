/* SPDX-License-Identifier: MIT */
/* Kernels of `tutti validate` and `tutti bench`. */
#include "tutti/device.h"
#include "tutti/tmau.h"
#include "tutti/work.h"

#include "../examples/gemm/kernels.c" /* the kernels of the example, to measure them unchanged */
#include "kernels.h"

/* Does nothing, so that only the launch is measured. */
TUTTI_KERNEL(tool_empty, struct tool_args)
{
}

/* CGAs of 16 and 8 CTAs, for their placement. */
TUTTI_KERNEL(tool_cga_16, struct tool_args, .cga = { 16, 1, 1 }, .cga_kind = TUTTI_CGA_GPC)
{
}

TUTTI_KERNEL(tool_cga_8, struct tool_args, .cga = { 8, 1, 1 }, .cga_kind = TUTTI_CGA_GPC)
{
}

/* The same with other needs. */
TUTTI_KERNEL(tool_cga_other, struct tool_args, .cga = { 16, 1, 1 }, .cga_kind = TUTTI_CGA_GPC, .scalar_blocks = 2)
{
}

/* Reports that it has started, and runs until it is told to end. */
TUTTI_KERNEL(tool_cga_hold, struct tool_args, .cga = { 11, 1, 1 }, .cga_kind = TUTTI_CGA_GPC)
{
	__atomic_fetch_add(args->out + 1, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(args->out, __ATOMIC_RELAXED))
		tutti_yield();
}

TUTTI_KERNEL_DECLARE(tool_empty);

/* Starts @value child tasks, each when the one before it has ended. out[] has room for their metadata and signal. */
TUTTI_KERNEL(tool_parent, struct tool_args)
{
	struct tutti_tmd *tmd = (struct tutti_tmd *)args->out;
	struct tutti_signal *done = (struct tutti_signal *)(tmd + 1);

	__builtin_memset(done, 0, sizeof(*done));
	tutti_task_grid(tmd, TUTTI_KERNEL_OBJECT(tool_empty), args, 1, 1, done);
	for (uint64_t i = 0; i < args->value; i++) {
		__atomic_store_n(&done->value, 1, __ATOMIC_RELAXED);
		if (tutti_task_create(tmd))
			tutti_abort(i);
		tutti_signal_wait(done, 1);
	}
}

/*
 * Puts @value items into the work queue of the task whose metadata is @out, each when the one before it has been
 * consumed.
 */
TUTTI_KERNEL(tool_produce, struct tool_args)
{
	const struct tutti_tmd *tmd = (const struct tutti_tmd *)args->out;
	const struct tutti_work_queue *queue = (const struct tutti_work_queue *)(uintptr_t)tmd->queue;
	uint64_t item = 0;

	for (uint64_t i = 0; i < args->value; i++) {
		uint64_t number = tutti_load_relaxed(&queue->write_index);

		if (tutti_work_put(tmd, &item))
			tutti_abort(i);
		while (tutti_load_acquire(tutti_work_slot(queue, number)) != number + queue->items)
			tutti_yield();
	}
}

/* Consumes items of the work queue @out. */
TUTTI_KERNEL(tool_consume, struct tool_args)
{
	const struct tutti_work_queue *queue = (const struct tutti_work_queue *)args->out;

	for (uint32_t i = 0; i < tutti_work_items(); i++) {
		tutti_work_item(queue, i);
		tutti_work_done(queue, i);
	}
}

/* Every work-item writes its position in the grid to its own place in out[]. */
TUTTI_KERNEL(tool_ids, struct tool_args)
{
	tutti_for_each_item(item) {
		uint64_t x = tutti_global_id(item, 0), y = tutti_global_id(item, 1), z = tutti_global_id(item, 2);

		args->out[x + tutti_grid_size(0) * (y + tutti_grid_size(1) * z)] =
			args->value + (x | y << 16 | z << 32);
	}
}

/* out[] += value, so that a launch which is lost, doubled or out of order shows. */
TUTTI_KERNEL(tool_step, struct tool_args)
{
	tutti_for_each_item(item) {
		uint64_t *word = args->out + tutti_global_id(item, 0);

		*word = *word * 3 + args->value;
	}
}

/* The workgroup reverses its part of out[] through shared memory, which needs the barrier. */
TUTTI_KERNEL(tool_barrier, struct tool_args, .group_bytes = TOOL_GROUP * 8, .flags = TUTTI_KERNEL_BARRIER,
	     .barriers = 1, .workgroup = { TOOL_GROUP, 1, 1 })
{
	uint64_t *shared = tutti_shared(uint64_t, 0);

	tutti_for_each_item(item)
		shared[item] = args->out[tutti_global_id(item, 0)];
	tutti_barrier();
	tutti_for_each_item(item)
		args->out[tutti_global_id(item, 0)] = shared[tutti_item_count() - 1 - item];
}

TUTTI_KERNEL(tool_atomic, struct tool_args)
{
	tutti_for_each_item(item)
		__atomic_fetch_add(args->out, args->value, __ATOMIC_RELAXED);
}

TUTTI_KERNEL(tool_print, struct tool_args)
{
	if (tutti_first_wave())
		tutti_printf("validate %llu %s %.3f\n", (unsigned long long)args->value, "text", 2.5);
}

TUTTI_KERNEL(tool_abort, struct tool_args)
{
	tutti_abort(args->value);
}

/* Writes to whatever address it is given. */
TUTTI_KERNEL(tool_write, struct tool_args)
{
	*(volatile uint64_t *)args->out = args->value;
}

TUTTI_KERNEL(tool_forever, struct tool_args)
{
	while (!__atomic_load_n(args->out, __ATOMIC_RELAXED))
		tutti_yield();
}

TUTTI_KERNEL(tool_tensor, struct tool_tensor_args, .group_bytes = TOOL_TENSOR_SHARED)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0);
	struct tutti_tensor_request other = args->request, load = args->request;

	tutti_mbarrier_init(barrier, 1);
	for (uint32_t i = 0; i < args->requests; i++) {
		if (args->before) {
			other.op = TUTTI_DESCRIPTOR_INVALIDATE;
			tutti_copy_request(&other);
		}
		if (args->before == TOOL_TENSOR_PREFETCH) {
			other.op = TUTTI_DESCRIPTOR_PREFETCH;
			tutti_copy_request(&other);
		}
		tutti_mbarrier_arrive_expect(barrier, args->bytes);
		tutti_copy_request(&load);
		load.descriptor += args->stride;
		tutti_mbarrier_wait(barrier, i & 1);
	}
}

/* Loads into the same place, one after the other; some are in progress at the same time. */
#define STREAMS 8u

TUTTI_KERNEL(tool_stream, struct tool_stream)
{
	uint64_t *barrier = tutti_shared(uint64_t, 0);
	uint8_t *to = tutti_shared(uint8_t, 1024);

	for (uint32_t i = 0; i < STREAMS; i++)
		tutti_mbarrier_init(&barrier[i], 1);
	for (uint32_t i = 0; i < args->times; i++) {
		uint64_t *mine = &barrier[i % STREAMS];

		tutti_mbarrier_wait(mine, i / STREAMS + 1);
		tutti_mbarrier_arrive_expect(mine, args->bytes);
		if (args->tensor)
			tutti_load_tile(args->tensor, to, mine, 0, 0);
		else
			tutti_load_block(args->from, to, mine, args->bytes / 16);
	}
	tutti_wait_all();
}

/* The product of the example, with tiles of a and b brought by the waves themselves. */
TUTTI_KERNEL(tool_gemm_plain, struct tool_gemm, .group_bytes = GROUP_BYTES, .flags = TUTTI_KERNEL_BARRIER,
	     .barriers = 1, .workgroup = { WAVES * 32, 1, 1 })
{
	uint8_t *a = tutti_shared(uint8_t, 0), *b = tutti_shared(uint8_t, TILE_BYTES);
	uint32_t n = tutti_cta_id(0) * TILE, m = tutti_cta_id(1) * TILE, size = args->tensors.k;
	float sum[TILE / WAVES][TILE] = { 0 };

	for (uint32_t k = 0; k < size; k += TILE) {
		for (uint32_t row = tutti_wave()->wave; row < TILE; row += WAVES) {
			const float *from_a = args->a + (m + row) * size + k, *from_b = args->b + (k + row) * size + n;

			for (uint32_t i = 0; i < TILE; i++) {
				atom_at(a, row, i / 4)[i % 4] = from_a[i];
				atom_at(b, row, i / 4)[i % 4] = from_b[i];
			}
		}
		tutti_barrier();
		multiply(sum, a, b);
		tutti_barrier();
	}
	store(&args->tensors, sum, n, m);
}

/* ---- `tutti calibrate`: one class of instructions, @value times sixteen; one resource more than the plain one ---- */

#define CALIBRATE(name, instruction)                                                                 \
	TUTTI_KERNEL(calibrate_##name, struct tool_args)                                             \
	{                                                                                            \
		for (uint64_t i = 0; i < args->value; i++)                                           \
			__asm__ volatile(".rept 16\n" instruction "\n.endr" ::"r"(args->out)         \
					 : "t0", "ft0", "memory");                                   \
	}

CALIBRATE(move, "mv t0, %0")
CALIBRATE(load, "ld t0, 0(%0)")
CALIBRATE(store, "sd zero, 0(%0)")
CALIBRATE(matrix32, "fmul.s ft0, ft1, ft2")
CALIBRATE(matrix64, "fmul.d ft0, ft1, ft2")
CALIBRATE(compare, "slt t0, %0, sp")
CALIBRATE(jump, "beq zero, zero, 1f\n1:")
CALIBRATE(other, "add t0, %0, sp")

TUTTI_KERNEL(calibrate_plain, struct tool_args)
{
}
TUTTI_KERNEL(calibrate_scalar, struct tool_args, .scalar_blocks = 5)
{
}
TUTTI_KERNEL(calibrate_vector, struct tool_args, .vector_blocks = 5)
{
}
TUTTI_KERNEL(calibrate_shared, struct tool_args, .group_bytes = 8192)
{
}
TUTTI_KERNEL(calibrate_barriers, struct tool_args, .flags = TUTTI_KERNEL_BARRIER, .barriers = 4)
{
}

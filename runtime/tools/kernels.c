/* SPDX-License-Identifier: MIT */
/* Kernels of `tutti validate` and `tutti bench`. */
#include "tutti/device.h"

#include "kernels.h"

/* Nothing: what remains is the launch. */
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

/* Every work-item writes where it is, at its flat place in the grid. */
TUTTI_KERNEL(tool_ids, struct tool_args)
{
	tutti_for_each_item(item) {
		uint64_t x = tutti_global_id(item, 0), y = tutti_global_id(item, 1), z = tutti_global_id(item, 2);

		args->out[x + tutti_grid_size(0) * (y + tutti_grid_size(1) * z)] =
			args->value + (x | y << 16 | z << 32);
	}
}

/* out[] += value: order matters between launches, so that a lost or doubled one shows. */
TUTTI_KERNEL(tool_step, struct tool_args)
{
	tutti_for_each_item(item) {
		uint64_t *word = args->out + tutti_global_id(item, 0);

		*word = *word * 3 + args->value;
	}
}

/* The workgroup turns its part of out[] around through shared memory: needs the barrier. */
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

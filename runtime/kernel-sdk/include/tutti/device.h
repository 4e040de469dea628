/* SPDX-License-Identifier: MIT */
/**
 * DOC: Writing kernels
 *
 * A kernel is a C function compiled by tuttic. A workgroup (CTA) is run by waves;
 * a wave is one hart that works for up to 32 work-items by loops:
 *
 *	struct args { float *x; float factor; };
 *
 *	TUTTI_KERNEL(scale, struct args)
 *	{
 *		tutti_for_each_item(item)
 *			args->x[tutti_global_id(item, 0)] *= args->factor;
 *	}
 *
 * A barrier stands between loops, never inside one:
 *
 *	TUTTI_KERNEL(sum, struct args, .group_bytes = 4096, .flags = TUTTI_KERNEL_BARRIER, .barriers = 1)
 *	{
 *		float *part = tutti_shared(float, 0);
 *
 *		tutti_for_each_item(item)
 *			part[item] = ...;
 *		tutti_barrier();
 *		...
 *	}
 *
 * Atomics are the compiler's __atomic builtins (shared, card and host memory
 * alike); tutti_fence() orders a wave's accesses for all observers. math.h, string.h and the parts of the C library that need
 * no system, errno or thread-local variable can be used. (spec SYS-07)
 *
 * With TUTTI_DEVICE_HOST defined the same source compiles for the host, where a
 * test plays the card: it defines tutti_host_wave() and tutti_host_service().
 */
#ifndef TUTTI_DEVICE_H
#define TUTTI_DEVICE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/barrier.h"
#include "tutti/code_object.h"
#include "tutti/wave.h"

/** TUTTI_PRIVATE_BYTES - private memory of a work-item unless a kernel asks for more; a wave gets 32 times it. */
#define TUTTI_PRIVATE_BYTES 256

#ifdef TUTTI_DEVICE_HOST
#define TUTTI_DESCRIPTOR(name)
#else
#ifndef __OPTIMIZE__
#error "kernels need at least -Og: descriptors are computed by the compiler"
#endif

/*
 * name.kd, in assembly because C cannot say "distance between two symbols". The
 * function around it is thrown away by the linker; it is there for its operands.
 */
#define TUTTI_DESCRIPTOR(name)                                                          \
	__attribute__((used, section(".tutti.discard"))) static void name##_emit(void)  \
	{                                                                               \
		__asm__ volatile(".pushsection .tutti.kd, \"a\", @progbits\n\t"         \
				 ".balign 64\n\t"                                       \
				 ".globl " #name ".kd\n\t"                              \
				 ".type " #name ".kd, @object\n\t"                      \
				 ".size " #name ".kd, 64\n"                             \
				 #name ".kd:\n\t"                                       \
				 ".4byte %0, %1, %2, %3\n\t"                            \
				 ".8byte " #name " - " #name ".kd\n\t"                  \
				 ".4byte %4\n\t"                                        \
				 ".2byte %5, %6, %7, %8\n\t"                            \
				 ".2byte %9, %10, %11, %12\n\t"                         \
				 ".2byte %13, %14, %15\n\t"                             \
				 ".byte %16, %17\n\t"                                   \
				 ".4byte 0\n\t.8byte 0\n\t"                             \
				 ".popsection"                                          \
				 :                                                      \
				 : "i"(name##_kd.group_bytes), "i"(name##_kd.private_bytes), \
				   "i"(name##_kd.kernarg_bytes), "i"(name##_kd.kernarg_align), \
				   "i"(TUTTI_KERNEL_MAGIC), "i"(name##_kd.flags),       \
				   "i"(name##_kd.barriers), "i"(name##_kd.scalar_blocks), \
				   "i"(name##_kd.vector_blocks), "i"(name##_kd.workgroup[0]), \
				   "i"(name##_kd.workgroup[1]), "i"(name##_kd.workgroup[2]), \
				   "i"(name##_kd.workgroup_max), "i"(name##_kd.cga[0]), \
				   "i"(name##_kd.cga[1]), "i"(name##_kd.cga[2]),        \
				   "i"(name##_kd.cga_kind), "i"(1));                    \
	}
#endif

/**
 * TUTTI_KERNEL() - define a kernel; its body follows and sees `const args_type *args`.
 * @name: name under which the host finds it
 * @args_type: type of the kernarg segment
 * @...: fields of struct tutti_kernel_descriptor that differ from the default:
 *	.group_bytes (static shared memory of a workgroup), .private_bytes (of a
 *	work-item), .flags (TUTTI_KERNEL_BARRIER, TUTTI_KERNEL_INDEPENDENT), .barriers,
 *	.workgroup = { x, y, z } (required size), .workgroup_max, .scalar_blocks,
 *	.vector_blocks, .cga = { x, y, z }, .cga_kind, .kernarg_align
 */
#define TUTTI_KERNEL(name, args_type, ...)                                              \
	void name(const args_type *args);                                               \
	_Pragma("GCC diagnostic push")                                                  \
	_Pragma("GCC diagnostic ignored \"-Woverride-init\"")                           \
	static const struct tutti_kernel_descriptor name##_kd __attribute__((unused)) = { \
		.private_bytes = TUTTI_PRIVATE_BYTES,                                   \
		.kernarg_bytes = sizeof(args_type),                                     \
		.kernarg_align = _Alignof(args_type) > 16 ? _Alignof(args_type) : 16,   \
		.scalar_blocks = 1,                                                     \
		.vector_blocks = 1,                                                     \
		__VA_ARGS__                                                             \
	};                                                                              \
	_Pragma("GCC diagnostic pop")                                                   \
	TUTTI_DESCRIPTOR(name)                                                          \
	__attribute__((used)) void name(const args_type *args)

/* ---- what the card offers a wave -------------------------------------- */

#ifdef TUTTI_DEVICE_HOST
const struct tutti_wave_info *tutti_host_wave(void);
int64_t tutti_host_service(uint64_t number, uint64_t a0, uint64_t a1);

static inline const struct tutti_wave_info *tutti_wave(void)
{
	return tutti_host_wave();
}

static inline int64_t tutti_service2(uint64_t number, uint64_t a0, uint64_t a1)
{
	return tutti_host_service(number, a0, a1);
}
#else
/** tutti_wave() - everything the wave can know about itself. */
static inline const struct tutti_wave_info *tutti_wave(void)
{
	return __builtin_thread_pointer();
}

/** tutti_service2() - ask the card for service @number (enum tutti_service). */
static inline int64_t tutti_service2(uint64_t number, uint64_t first, uint64_t second)
{
	register uint64_t a0 __asm__("a0") = first;
	register uint64_t a1 __asm__("a1") = second;
	register uint64_t a7 __asm__("a7") = number;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a7) : "memory");
	return (int64_t)a0;
}
#endif

/** tutti_service() - the same with one argument. */
static inline int64_t tutti_service(uint64_t number, uint64_t argument)
{
	return tutti_service2(number, argument, 0);
}

/* ---- where am I: dimensions 0, 1, 2 are x, y, z ------------------------ */

/** tutti_cta_id() - number of this workgroup (CTA) along @d. */
static inline uint32_t tutti_cta_id(unsigned d)
{
	return tutti_wave()->cta[d];
}

/** tutti_group_id() - OpenCL's and HSA's word for tutti_cta_id(). */
static inline uint32_t tutti_group_id(unsigned d)
{
	return tutti_wave()->cta[d];
}

/** tutti_cta_linear() - number of this workgroup in the whole grid, x fastest. */
static inline uint32_t tutti_cta_linear(void)
{
	return tutti_wave()->cta_linear;
}

/** tutti_cta_count() - workgroups of the grid along @d. */
static inline uint32_t tutti_cta_count(unsigned d)
{
	return tutti_wave()->groups[d];
}

/** tutti_grid_size() - work-items of the grid along @d. */
static inline uint32_t tutti_grid_size(unsigned d)
{
	return tutti_wave()->grid[d];
}

/** tutti_workgroup_size() - work-items of a full workgroup along @d. */
static inline uint32_t tutti_workgroup_size(unsigned d)
{
	return tutti_wave()->workgroup[d];
}

/** tutti_current_size() - work-items of this workgroup along @d; less at the grid's edge. */
static inline uint32_t tutti_current_size(unsigned d)
{
	return tutti_wave()->extent[d];
}

/** tutti_item_count() - work-items of this workgroup. */
static inline uint32_t tutti_item_count(void)
{
	const struct tutti_wave_info *wave = tutti_wave();

	return (uint32_t)wave->extent[0] * wave->extent[1] * wave->extent[2];
}

/** tutti_local_id() - place of work-item @item (flat number in the workgroup) along @d. */
static inline uint32_t tutti_local_id(uint32_t item, unsigned d)
{
	const struct tutti_wave_info *wave = tutti_wave();
	uint32_t row = wave->extent[0];

	if (wave->dimensions == 1)
		return d ? 0 : item;
	if (d == 0)
		return item % row;
	if (d == 1)
		return item / row % wave->extent[1];
	return item / (row * wave->extent[1]);
}

/** tutti_global_id() - place of work-item @item in the grid along @d. */
static inline uint32_t tutti_global_id(uint32_t item, unsigned d)
{
	const struct tutti_wave_info *wave = tutti_wave();

	return wave->cta[d] * wave->workgroup[d] + tutti_local_id(item, d);
}

/**
 * tutti_for_each_item() - loop over the work-items this wave works for.
 * @item: name of the loop variable, flat number of the work-item in its workgroup
 */
#define tutti_for_each_item(item)                                                       \
	for (uint32_t item = tutti_wave()->first_item, item##_end = item + tutti_wave()->items; \
	     item < item##_end; item++)

/** tutti_first_wave() - true in one wave of the workgroup: for what is done once. */
static inline bool tutti_first_wave(void)
{
	return tutti_wave()->wave == 0;
}

/* ---- memory, order, time ---------------------------------------------- */

/** tutti_shared() - the workgroup's shared memory from byte @offset on, as @type *. */
#define tutti_shared(type, offset) ((type *)(uintptr_t)(tutti_wave()->shared + (offset)))

/** tutti_shared_bytes() - shared memory of the workgroup, static and dynamic. */
static inline uint32_t tutti_shared_bytes(void)
{
	return tutti_wave()->shared_bytes;
}

/** tutti_barrier() - all waves of the workgroup have come here; their writes are seen behind it. */
static inline void tutti_barrier(void)
{
	tutti_fence();
	tutti_service(TUTTI_SERVICE_BARRIER, 0);
	tutti_fence();
}

/** tutti_yield() - let other waves run; belongs in every loop that waits. */
static inline void tutti_yield(void)
{
	tutti_service(TUTTI_SERVICE_YIELD, 0);
}

/** tutti_clock() - card timer, in ticks of discovery.timer_hz. */
static inline uint64_t tutti_clock(void)
{
	return (uint64_t)tutti_service(TUTTI_SERVICE_TIME, 0);
}

/* ---- ends -------------------------------------------------------------- */

#define TUTTI_ABORT_ASSERT 0xa55e47u /* code of a failed tutti_assert() */

/** tutti_exit() - end this wave here, as returning from the kernel does. */
__attribute__((noreturn)) static inline void tutti_exit(void)
{
	tutti_service(TUTTI_SERVICE_EXIT, 0);
	__builtin_unreachable();
}

/** tutti_abort() - stop the kernel and its queue; the host sees cause ABORT with @code. */
__attribute__((noreturn)) static inline void tutti_abort(uint64_t code)
{
	tutti_service(TUTTI_SERVICE_ABORT, code);
	__builtin_unreachable();
}

__attribute__((noreturn)) void tutti_assert_failed(const char *expression, const char *file, int line);

/** tutti_assert() - print and abort unless @condition holds. Absent with NDEBUG. */
#ifdef NDEBUG
#define tutti_assert(condition) ((void)0)
#else
#define tutti_assert(condition) \
	((condition) ? (void)0 : tutti_assert_failed(#condition, __FILE__, __LINE__))
#endif

/**
 * tutti_printf() - print to the host, formatted on the card.
 *
 * As C's printf, up to 1023 characters a call, each call's text whole or not at
 * all. Needs about 2 KiB of private memory a wave: the default is enough.
 * Return: 0, or negative when there was no room.
 */
__attribute__((format(printf, 1, 2))) int tutti_printf(const char *format, ...);
__attribute__((format(printf, 1, 0))) int tutti_vprintf(const char *format, va_list arguments);

#endif

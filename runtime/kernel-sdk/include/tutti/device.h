/* SPDX-License-Identifier: MIT */
/**
 * DOC: Writing kernels
 *
 * A kernel is a C function compiled by tuttic. A workgroup (CUDA: thread block, CTA)
 * is executed by waves. A wave (CUDA: warp) is one RISC-V hart, which does the work of
 * up to 32 work-items (CUDA: threads) one after another, in a loop that the kernel writes:
 *
 *	struct args { float *x; float factor; };
 *
 *	TUTTI_KERNEL(scale, struct args)
 *	{
 *		tutti_for_each_item(item)
 *			args->x[tutti_global_id(item, 0)] *= args->factor;
 *	}
 *
 * A barrier belongs between such loops, never inside one:
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
 * Atomics are the compiler's __atomic builtins, which work on shared, card and host
 * memory alike; tutti_fence() orders a wave's accesses for all observers. Kernels may
 * use math.h, string.h and those parts of the C library that need no operating system,
 * errno or thread-local variables. (spec SYS-07)
 *
 * With TUTTI_DEVICE_HOST defined, the same source compiles for the host, where a test
 * stands in for the card by defining tutti_host_wave() and tutti_host_service().
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

/** TUTTI_PRIVATE_BYTES - default private memory (stack) of a work-item in bytes; a wave gets 32 times as much. */
#define TUTTI_PRIVATE_BYTES 256

#ifdef TUTTI_DEVICE_HOST
#define TUTTI_DESCRIPTOR(name)
#else
#ifndef __OPTIMIZE__
#error "kernels need at least -Og: descriptors are computed by the compiler"
#endif

/*
 * Attributes that no card takes are errors, and those that most cards do not take are warnings, while the kernel is
 * compiled: calls that are not optimized away, of functions that do not exist.
 */
#define TUTTI_KERNEL_CHECK(name, field, kind, wrong, text)                              \
	do {                                                                            \
		__attribute__((kind("kernel " #name ": ." #field " " text))) void name##_##field##_##kind(void); \
                                                                                        \
		if (wrong)                                                              \
			name##_##field##_##kind();                                      \
	} while (0)
#define TUTTI_KERNEL_CHECKS(name, kd)                                                   \
	TUTTI_KERNEL_CHECK(name, group_bytes, error, (kd).group_bytes > 1u << 24, "is more than 16 MiB");   \
	TUTTI_KERNEL_CHECK(name, group_bytes, warning, (kd).group_bytes > 128u << 10 && (kd).group_bytes <= 1u << 24, \
			   "is more than the 128 KiB that SMs of most cards have");     \
	TUTTI_KERNEL_CHECK(name, private_bytes, warning, (kd).private_bytes > 8u << 10, \
			   "is more than the 8 KiB of a work-item that most cards have"); \
	TUTTI_KERNEL_CHECK(name, barriers, error, (kd).barriers > 16, "is more than 16"); \
	TUTTI_KERNEL_CHECK(name, flags, error, (kd).flags & ~TUTTI_KERNEL_FLAGS, "has a flag that does not exist"); \
	TUTTI_KERNEL_CHECK(name, kernarg_align, error, (kd).kernarg_align < 16 || (kd).kernarg_align > 4096 || \
			   (kd).kernarg_align & ((kd).kernarg_align - 1), "is no power of two from 16 to 4096"); \
	TUTTI_KERNEL_CHECK(name, cga, error, (kd).cga_kind > TUTTI_CGA_GPU ||           \
			   ((kd).cga_kind != TUTTI_CGA_NONE) != ((kd).cga[0] && (kd).cga[1] && (kd).cga[2]), \
			   "has an extent without a kind, a kind without an extent, or an unknown kind"); \
	TUTTI_KERNEL_CHECK(name, workgroup, error, (kd).workgroup_max &&                \
			   (uint64_t)(kd).workgroup[0] * (kd).workgroup[1] * (kd).workgroup[2] > (kd).workgroup_max, \
			   "is more than .workgroup_max")

/*
 * The descriptor name.kd is written in assembly because C cannot express the distance
 * between two symbols. The function around it only supplies the operands; the linker
 * discards it.
 */
#define TUTTI_DESCRIPTOR(name)                                                          \
	__attribute__((used, section(".tutti.discard"))) static void name##_emit(void)  \
	{                                                                               \
		TUTTI_KERNEL_CHECKS(name, name##_kd);                                   \
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
 * TUTTI_KERNEL() - define a kernel. Its body follows, and has the parameter `const args_type *args`.
 * @name: name by which the host finds the kernel
 * @args_type: type of the arguments (the kernarg segment)
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

/* ---- how a wave reaches the card --------------------------------------- */

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
/** tutti_wave() - what the wave knows about itself: its ids, sizes and memory. */
static inline const struct tutti_wave_info *tutti_wave(void)
{
	return __builtin_thread_pointer();
}

/** tutti_service2() - call service @number of the card (enum tutti_service) with two arguments. */
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

/* ---- ids and sizes: dimensions 0, 1, 2 are x, y, z ---------------------- */

/** tutti_cta_id() - index of this workgroup (CTA) along @d; CUDA's blockIdx. */
static inline uint32_t tutti_cta_id(unsigned d)
{
	return tutti_wave()->cta[d];
}

/** tutti_group_id() - the same by the name OpenCL and HSA use. */
static inline uint32_t tutti_group_id(unsigned d)
{
	return tutti_wave()->cta[d];
}

/** tutti_cta_linear() - index of this workgroup in the whole grid; x varies fastest. */
static inline uint32_t tutti_cta_linear(void)
{
	return tutti_wave()->cta_linear;
}

/** tutti_cta_count() - number of workgroups in the grid along @d; CUDA's gridDim. */
static inline uint32_t tutti_cta_count(unsigned d)
{
	return tutti_wave()->groups[d];
}

/** tutti_grid_size() - number of work-items in the grid along @d. */
static inline uint32_t tutti_grid_size(unsigned d)
{
	return tutti_wave()->grid[d];
}

/** tutti_workgroup_size() - number of work-items in a full workgroup along @d; CUDA's blockDim. */
static inline uint32_t tutti_workgroup_size(unsigned d)
{
	return tutti_wave()->workgroup[d];
}

/** tutti_current_size() - number of work-items in this workgroup along @d, which may be fewer at the grid's edge. */
static inline uint32_t tutti_current_size(unsigned d)
{
	return tutti_wave()->extent[d];
}

/** tutti_item_count() - number of work-items in this workgroup. */
static inline uint32_t tutti_item_count(void)
{
	const struct tutti_wave_info *wave = tutti_wave();

	return (uint32_t)wave->extent[0] * wave->extent[1] * wave->extent[2];
}

/** tutti_local_id() - index in the workgroup along @d of the work-item with flat index @item; CUDA's threadIdx. */
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

/** tutti_global_id() - index along @d, in the grid, of the work-item whose flat index in the workgroup is @item. */
static inline uint32_t tutti_global_id(uint32_t item, unsigned d)
{
	const struct tutti_wave_info *wave = tutti_wave();

	return wave->cta[d] * wave->workgroup[d] + tutti_local_id(item, d);
}

/**
 * tutti_for_each_item() - loop over the work-items that this wave executes.
 * @item: name of the loop variable, the flat index of the work-item in its workgroup
 */
#define tutti_for_each_item(item)                                                       \
	for (uint32_t item = tutti_wave()->first_item, item##_end = item + tutti_wave()->items; \
	     item < item##_end; item++)

/** tutti_first_wave() - true in exactly one wave of the workgroup, for work that is done once per workgroup. */
static inline bool tutti_first_wave(void)
{
	return tutti_wave()->wave == 0;
}

/* ---- memory, order, time ---------------------------------------------- */

/** tutti_shared() - pointer of type @type * to byte @offset of the workgroup's shared memory. */
#define tutti_shared(type, offset) ((type *)(uintptr_t)(tutti_wave()->shared + (offset)))

/** tutti_shared_bytes() - size of the workgroup's shared memory in bytes, static and dynamic. */
static inline uint32_t tutti_shared_bytes(void)
{
	return tutti_wave()->shared_bytes;
}

/** tutti_barrier() - wait for all waves of the workgroup; what they wrote before is visible after it. */
static inline void tutti_barrier(void)
{
	tutti_fence();
	tutti_service(TUTTI_SERVICE_BARRIER, 0);
	tutti_fence();
}

/** tutti_yield() - let other waves run. Every loop that waits for something must call it. */
static inline void tutti_yield(void)
{
	tutti_service(TUTTI_SERVICE_YIELD, 0);
}

/** tutti_clock() - the card's timer, which ticks discovery.timer_hz times a second. */
static inline uint64_t tutti_clock(void)
{
	return (uint64_t)tutti_service(TUTTI_SERVICE_TIME, 0);
}

/* ---- ending a wave or a kernel ------------------------------------------ */

#define TUTTI_ABORT_ASSERT 0xa55e47u /* abort code of a failed tutti_assert() */

/** tutti_exit() - end this wave, as returning from the kernel does. */
__attribute__((noreturn)) static inline void tutti_exit(void)
{
	tutti_service(TUTTI_SERVICE_EXIT, 0);
	__builtin_unreachable();
}

/** tutti_abort() - stop the kernel and its queue; the host's fault record has the cause ABORT and @code. */
__attribute__((noreturn)) static inline void tutti_abort(uint64_t code)
{
	tutti_service(TUTTI_SERVICE_ABORT, code);
	__builtin_unreachable();
}

__attribute__((noreturn)) void tutti_assert_failed(const char *expression, const char *file, int line);

/** tutti_assert() - print a message and abort unless @condition holds. NDEBUG removes it. */
#ifdef NDEBUG
#define tutti_assert(condition) ((void)0)
#else
#define tutti_assert(condition) \
	((condition) ? (void)0 : tutti_assert_failed(#condition, __FILE__, __LINE__))
#endif

/**
 * tutti_printf() - print to the host; the card formats the text.
 *
 * Works like C's printf for up to 1023 characters a call; the text of a call arrives
 * as a whole or not at all. It needs about 2 KiB of private memory per wave, which
 * the default size provides.
 * Return: 0, or a negative number if there was no room for the text.
 */
__attribute__((format(printf, 1, 2))) int tutti_printf(const char *format, ...);
__attribute__((format(printf, 1, 0))) int tutti_vprintf(const char *format, va_list arguments);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Memory orders, named once
 *
 * A word that another agent (a thread, the card) reads or writes at the same time
 * is only accessed through one of these macros, in the runtime, in the emulated
 * card and in the tests. The kernel driver uses the kernel's own names (smp_*)
 * instead. They work for integers and pointers, in C and in C++.
 */
#ifndef TUTTI_BARRIER_H
#define TUTTI_BARRIER_H

#include "types.h"

/** tutti_load_relaxed() - read a shared word exactly once; this orders nothing. */
#define tutti_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
/** tutti_load_acquire() - read a shared word; no later access is done before it. */
#define tutti_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
/** tutti_store_relaxed() - write a shared word exactly once; this orders nothing. */
#define tutti_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
/** tutti_store_release() - write a shared word; every earlier access is done before it. */
#define tutti_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
/** tutti_fence() - full fence: also orders a store before a later load, as the sleep handshake of control.h needs. */
#define tutti_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

/**
 * tutti_fence_write_combined() - stores to write-combined memory before this are seen by the card before later stores.
 *
 * Card memory is usually mapped write-combined. Stores to it may then leave the processor in any
 * order, and on x86 a release store does not change that.
 */
static inline void tutti_fence_write_combined(void)
{
#if defined(__x86_64__)
	__asm__ volatile("sfence" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshst" : : : "memory");
#elif defined(__riscv)
	__asm__ volatile("fence ow, ow" : : : "memory");
#else
	tutti_fence();
#endif
}

#endif

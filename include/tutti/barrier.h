/* SPDX-License-Identifier: MIT */
/**
 * DOC: Memory orders, named once
 *
 * Every load or store of a word that another agent writes or reads concurrently
 * goes through one of these, in the runtime, the emulated card and the tests.
 * (The kernel module uses the kernel's own smp_* names.)
 */
#ifndef TUTTI_BARRIER_H
#define TUTTI_BARRIER_H

#include "types.h"

/** tutti_load_relaxed() - read a shared word once; orders nothing. */
#define tutti_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
/** tutti_load_acquire() - read a shared word; later accesses stay behind it. */
#define tutti_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
/** tutti_store_relaxed() - write a shared word once; orders nothing. */
#define tutti_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
/** tutti_store_release() - write a shared word; earlier accesses stay before it. */
#define tutti_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
/** tutti_fence() - full fence: the store-load order the sleep handshake needs. */
#define tutti_fence() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#endif

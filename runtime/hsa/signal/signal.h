/* SPDX-License-Identifier: MIT */
/**
 * DOC: Signals of HSA are signals of libtutti; their handles are addresses in both
 *
 * Only the doorbells of queues differ: HSA gives them out as signals, of which a store is all that is allowed. A doorbell
 * begins like a signal, so that one look at the flags tells which of the two a handle is.
 */
#ifndef TUTTI_HSA_SIGNAL_H
#define TUTTI_HSA_SIGNAL_H

#include <hsa/hsa.h>

#include "tutti.h"

#define SIGNAL_DOORBELL 0x80000000u /* in tutti_signal.flags, where the card never sees it */

/**
 * struct doorbell - what the handle of a doorbell points to.
 * @signal: only its flags are used
 * @queue: NULL when nobody listens any more
 */
struct doorbell {
	struct tutti_signal signal;
	struct tutti_queue *queue;
} __attribute__((aligned(64)));

static inline tutti_signal_t signal_of(hsa_signal_t handle)
{
	return (tutti_signal_t)(uintptr_t)handle.handle;
}

static inline hsa_signal_t signal_handle(tutti_signal_t signal)
{
	return (hsa_signal_t){(uintptr_t)signal};
}

/** signal_timeout_ns() - nanoseconds of a timeout in HSA's clock. */
uint64_t signal_timeout_ns(uint64_t timeout);

/** consumers_ok() - is it a list of different agents, as functions that create something want it? */
bool consumers_ok(uint32_t count, const hsa_agent_t *consumers);

#endif

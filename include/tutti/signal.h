/* SPDX-License-Identifier: MIT */
/**
 * DOC: Signals
 *
 * A signal handle is the address of a struct tutti_signal, 64-byte aligned, in
 * the context's address space; handle 0 is "no signal". The value is only ever
 * changed by atomic operations, by host, waves and the card's atomic unit alike.
 * Completion decrements it by one (HSA 1.2, "signals"; spec PKT-04).
 *
 * With TUTTI_FEATURE_PCIE_ATOMICS (or a signal in card memory) the card
 * fetch-adds @value. Without it the card owns @card_done, a count of decrements
 * it has made with plain writes, and the true value is @value - @card_done;
 * accessors in tutti.h know both forms (@flags tells which).
 */
#ifndef TUTTI_SIGNAL_H
#define TUTTI_SIGNAL_H

#include "types.h"

#define TUTTI_SIGNAL_SPLIT 1u /* flags: true value is value - card_done */

/*
 * What a completion signal is set to when its task was cancelled (spec TSK-12); below every
 * value of use, so that who waits for "less than 1" wakes up. Later decrements by other
 * tasks leave it below TUTTI_SIGNAL_FAILED.
 */
#define TUTTI_SIGNAL_CANCELLED (-(1ll << 62))
#define TUTTI_SIGNAL_FAILED (-(1ll << 61)) /* a true value below this: the work did not finish */

/** struct tutti_signal - one signal, one cache line. */
struct tutti_signal {
	int64_t value;
	int64_t card_done;   /* see above */
	uint32_t waiters;    /* host threads asleep on it; non-zero = card raises an interrupt */
	uint32_t flags;      /* TUTTI_SIGNAL_*; constant after creation */
	uint64_t event;      /* value the host wants back with the interrupt (its own use) */
	uint64_t start_time; /* card timer when the kernel was launched, if profiling is on */
	uint64_t end_time;   /* card timer at completion */
	uint64_t pad[2];
};
TUTTI_SIZE(struct tutti_signal, 64);
TUTTI_AT(struct tutti_signal, value, 0);
TUTTI_AT(struct tutti_signal, card_done, 8);
TUTTI_AT(struct tutti_signal, waiters, 16);
TUTTI_AT(struct tutti_signal, flags, 20);
TUTTI_AT(struct tutti_signal, event, 24);
TUTTI_AT(struct tutti_signal, start_time, 32);
TUTTI_AT(struct tutti_signal, end_time, 40);
TUTTI_AT(struct tutti_signal, pad, 48);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Signals
 *
 * A signal is a 64-bit value that packets decrement when they complete and that
 * programs wait for (HSA 1.2, "signals"; CUDA's events serve the same purpose). Its handle
 * is the address of a struct tutti_signal, 64-byte aligned, in the context's address space;
 * handle 0 is no signal. Host, kernels and card change the value by atomic operations
 * only. (spec PKT-04)
 *
 * If the card has TUTTI_FEATURE_PCIE_ATOMICS, or the signal lies in card memory, the card
 * decrements @value. Otherwise the signal is *split*: the card counts its decrements in
 * @card_done, which only the card writes and which only grows (modulo 2^64), and the true
 * value is @value - @card_done. @flags tells which of the two it is. Who reads a split signal
 * reads @card_done, @value and @card_done, again if @card_done has changed, as tutti_signal_load()
 * does.
 */
#ifndef TUTTI_SIGNAL_H
#define TUTTI_SIGNAL_H

#include "barrier.h"
#include "types.h"

#define TUTTI_SIGNAL_SPLIT 1u /* flags: the true value is value - card_done */

/*
 * What the true value of a completion signal becomes when its task is cancelled (spec TSK-12). It is below every value
 * that programs use, so that a wait for "less than 1" ends. Decrements by other tasks leave it below
 * TUTTI_SIGNAL_FAILED.
 */
#define TUTTI_SIGNAL_CANCELLED (-(1ll << 62))
#define TUTTI_SIGNAL_FAILED (-(1ll << 61)) /* a true value below this says that the work did not finish */

/**
 * struct tutti_signal - one signal, which fills a cache line.
 * @value: the value, or of a split signal the host's part of it
 * @card_done: split signals: decrements that the card has made
 * @waiters: threads of the host that sleep until it changes; if it is not 0 after a decrement the card raises the
 *	queue's interrupt
 * @flags: TUTTI_SIGNAL_*; constant after creation
 * @event: for the host's own use
 * @start_time: the card's timer when the kernel was launched (TUTTI_QUEUE_PROFILE)
 * @end_time: the card's timer when it completed (TUTTI_QUEUE_PROFILE)
 */
struct tutti_signal {
	int64_t value;
	int64_t card_done;
	uint32_t waiters;
	uint32_t flags;
	uint64_t event;
	uint64_t start_time;
	uint64_t end_time;
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

/**
 * tutti_signal_look() - one attempt to read the value of a signal, with acquire order.
 * @signal: the signal
 * @value: gets its value
 *
 * Of a split signal the host changes one word and the card another. The card's only ever grows, so
 * when it is the same before and after, their difference was the signal's value when the host's
 * word was read. Reading each of them once could give a value that the signal never had.
 *
 * Return: false if the card has changed the signal meanwhile, so that it never had that value.
 */
static inline bool tutti_signal_look(const struct tutti_signal *signal, int64_t *value)
{
	int64_t done;

	if (!(signal->flags & TUTTI_SIGNAL_SPLIT)) {
		*value = tutti_load_acquire(&signal->value);
		return true;
	}
	done = tutti_load_acquire(&signal->card_done);
	*value = (int64_t)((uint64_t)tutti_load_acquire(&signal->value) - (uint64_t)done);
	return tutti_load_acquire(&signal->card_done) == done;
}

/** tutti_signal_load() - the value of a signal, with acquire order; 0 if @signal is NULL. */
static inline int64_t tutti_signal_load(const struct tutti_signal *signal)
{
	int64_t value;

	if (__builtin_expect(!signal, 0))
		return 0;
	while (!tutti_signal_look(signal, &value))
		;
	return value;
}

#endif

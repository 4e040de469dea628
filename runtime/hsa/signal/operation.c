// SPDX-License-Identifier: MIT
/*
 * Operations on the value of a signal. Those of libtutti have acquire and release order, so one function serves as every
 * order that HSA names, in the old words and in the new ones.
 */
#include "hsa/signal/signal.h"

#define SAME_AS(name) __attribute__((alias(#name)))

/* The six other orders of an operation whose relaxed form is defined. */
#define ORDERS(type, operation, ...)                                                                     \
	type operation##_acquire(__VA_ARGS__) SAME_AS(operation##_relaxed);                              \
	type operation##_scacquire(__VA_ARGS__) SAME_AS(operation##_relaxed);                            \
	type operation##_release(__VA_ARGS__) SAME_AS(operation##_relaxed);                              \
	type operation##_screlease(__VA_ARGS__) SAME_AS(operation##_relaxed);                            \
	type operation##_acq_rel(__VA_ARGS__) SAME_AS(operation##_relaxed);                              \
	type operation##_scacq_screl(__VA_ARGS__) SAME_AS(operation##_relaxed)

static inline void ring(tutti_signal_t signal, hsa_signal_value_t value)
{
	/* The structure begins with the signal. What is stored is an index, of which the card needs no order. */
	tutti_queue_ring(((struct doorbell *)(void *)signal)->queue, (uint64_t)value);
}

hsa_signal_value_t hsa_signal_load_relaxed(hsa_signal_t handle)
{
	return tutti_signal_load(signal_of(handle));
}
hsa_signal_value_t hsa_signal_load_acquire(hsa_signal_t) SAME_AS(hsa_signal_load_relaxed);
hsa_signal_value_t hsa_signal_load_scacquire(hsa_signal_t) SAME_AS(hsa_signal_load_relaxed);

void hsa_signal_store_relaxed(hsa_signal_t handle, hsa_signal_value_t value)
{
	tutti_signal_t signal = signal_of(handle);

	if (signal && signal->flags & SIGNAL_DOORBELL)
		ring(signal, value);
	else
		tutti_signal_store(signal, value);
}
void hsa_signal_store_release(hsa_signal_t, hsa_signal_value_t) SAME_AS(hsa_signal_store_relaxed);
void hsa_signal_store_screlease(hsa_signal_t, hsa_signal_value_t) SAME_AS(hsa_signal_store_relaxed);

void hsa_signal_silent_store_relaxed(hsa_signal_t handle, hsa_signal_value_t value)
{
	tutti_signal_t signal = signal_of(handle);

	if (signal && signal->flags & SIGNAL_DOORBELL)
		ring(signal, value);
	else
		tutti_signal_store_silent(signal, value);
}
void hsa_signal_silent_store_screlease(hsa_signal_t, hsa_signal_value_t) SAME_AS(hsa_signal_silent_store_relaxed);

hsa_signal_value_t hsa_signal_exchange_relaxed(hsa_signal_t handle, hsa_signal_value_t value)
{
	return tutti_signal_exchange(signal_of(handle), value);
}
ORDERS(hsa_signal_value_t, hsa_signal_exchange, hsa_signal_t, hsa_signal_value_t);

hsa_signal_value_t hsa_signal_cas_relaxed(hsa_signal_t handle, hsa_signal_value_t expected, hsa_signal_value_t value)
{
	return tutti_signal_cas(signal_of(handle), expected, value);
}
ORDERS(hsa_signal_value_t, hsa_signal_cas, hsa_signal_t, hsa_signal_value_t, hsa_signal_value_t);

/* Those that return nothing, by the name that they have in both libraries. */
#define OPERATION(name)                                                                                  \
	void hsa_signal_##name##_relaxed(hsa_signal_t handle, hsa_signal_value_t value)                  \
	{                                                                                                \
		tutti_signal_##name(signal_of(handle), value);                                           \
	}                                                                                                \
	ORDERS(void, hsa_signal_##name, hsa_signal_t, hsa_signal_value_t)

OPERATION(add);
OPERATION(subtract);
OPERATION(and);
OPERATION(or);
OPERATION(xor);

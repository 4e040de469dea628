/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_DEVICE_PRINT_H
#define TUTTI_DEVICE_PRINT_H

#include "device/device.h"

#define PRINT_BYTES (256u << 10) /* of text that fits the ring */

/**
 * struct print - what kernels print: a ring in host memory that the card fills.
 * @busy: a thread reads the ring and calls the handler; no lock is held meanwhile, so that the handler may
 *call the library. Everything below is the reader's
 */
struct print {
	pthread_mutex_t lock;
	pthread_cond_t free;
	bool busy;
	struct print *outer; /* what the reader was reading already, when its handler came here */
	struct tutti_print_ring *ring;
	void (*handler)(void *context, const char *text, size_t bytes);
	void *context;
	uint64_t lost;
};

/** print_init() - read from @ring, which has PRINT_BYTES of room behind it. 0 or -ENOMEM. */
int print_init(struct tutti_device *device, struct tutti_print_ring *ring);
void print_fini(struct tutti_device *device);
/** print_flush() - hand on all text that is complete, or wait for who does it. Nothing without print_init().
 */
void print_flush(struct tutti_device *device);
/** print_take() - the same, but another thread that is at it is left alone. */
void print_take(struct tutti_device *device);

/** print_poll() - print_take() if there is text. Cheap. */
static inline void print_poll(struct tutti_device *device)
{
	const struct tutti_print_ring *ring = device->print ? device->print->ring : NULL;

	if (ring && __builtin_expect(__atomic_load_n(&ring->ready, __ATOMIC_RELAXED) != ring->tail, 0))
		print_take(device);
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_DEVICE_PRINT_H
#define TUTTI_DEVICE_PRINT_H

#include "device/device.h"

#define PRINT_BYTES (256u << 10) /* capacity of the ring */

/**
 * struct print - what kernels print: a ring in host memory that the card fills.
 * @busy: a thread is reading the ring and calling the handler; it holds no lock meanwhile, so that the handler may
 *	call the library. The fields below belong to that thread
 */
struct print {
	pthread_mutex_t lock;
	pthread_cond_t free;
	bool busy;
	struct print *outer; /* the ring whose handler, in the same thread, made the call that reads this one */
	struct tutti_print_ring *ring;
	void (*handler)(void *context, const char *text, size_t bytes);
	void *context;
	uint64_t lost;
};

/** print_init() - start to read from @ring, which PRINT_BYTES of text space follow in memory. 0 or -ENOMEM. */
int print_init(struct tutti_device *device, struct tutti_print_ring *ring);
void print_fini(struct tutti_device *device);
/** print_flush() - pass on all complete text, or wait for the thread that does so. No-op without print_init(). */
void print_flush(struct tutti_device *device);
/** print_take() - the same, but returns at once if another thread is reading the ring. */
void print_take(struct tutti_device *device);

/** print_poll() - print_take() if there is new text. Cheap enough for waiting loops. */
static inline void print_poll(struct tutti_device *device)
{
	const struct tutti_print_ring *ring = device->print ? device->print->ring : NULL;

	if (ring && __builtin_expect(__atomic_load_n(&ring->ready, __ATOMIC_RELAXED) != ring->tail, 0))
		print_take(device);
}

#endif

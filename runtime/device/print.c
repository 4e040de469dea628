// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "device/device.h"

#define PRINT_BYTES (256u << 10)

int print_init(struct tutti_device *device)
{
	struct tutti_print_ring *ring;
	int error;

	pthread_mutex_init(&device->print.lock, NULL);
	error = tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*ring) + PRINT_BYTES, (void **)&ring);
	if (error)
		return error;
	ring->bytes = PRINT_BYTES;
	device->print.ring = ring;
	return 0;
}

void print_fini(struct tutti_device *device)
{
	tutti_memory_free(device, device->print.ring);
	device->print.ring = NULL;
	pthread_mutex_destroy(&device->print.lock);
}

static void print_out(struct print *print, const char *text, size_t bytes)
{
	if (!bytes)
		return;
	if (print->handler)
		print->handler(print->context, text, bytes);
	else
		fwrite(text, 1, bytes, stdout);
}

static void print_lost(struct print *print)
{
	uint64_t lost = tutti_load_relaxed(&print->ring->lost);
	char text[64];

	if (lost == print->lost)
		return;
	print_out(print, text,
		  (size_t)snprintf(text, sizeof(text), "[%llu bytes of kernel output lost]\n",
				   (unsigned long long)(lost - print->lost)));
	print->lost = lost;
}

/*
 * Text between tail and head is whole while every reserved byte is completed. Both
 * counters are the card's: a distance that cannot be is clamped to the ring.
 */
void print_flush(struct tutti_device *device)
{
	struct print *print = &device->print;
	struct tutti_print_ring *ring = print->ring;
	const char *text = (const char *)(ring + 1);
	uint64_t ready, tail, first, n;

	if (!ring)
		return;
	pthread_mutex_lock(&print->lock);
	ready = tutti_load_acquire(&ring->ready);
	tail = ring->tail;
	if (tutti_load_acquire(&ring->head) == ready && ready != tail) {
		n = ready - tail;
		if (n > PRINT_BYTES) {
			tail = ready - PRINT_BYTES;
			n = PRINT_BYTES;
		}
		first = PRINT_BYTES - (tail & (PRINT_BYTES - 1));
		if (first > n)
			first = n;
		print_out(print, text + (tail & (PRINT_BYTES - 1)), first);
		print_out(print, text, n - first);
		tutti_store_release(&ring->tail, ready);
	}
	print_lost(print);
	pthread_mutex_unlock(&print->lock);
}

void tutti_device_flush_print(struct tutti_device *device)
{
	print_flush(device);
	if (!device->print.handler)
		fflush(stdout);
}

void tutti_device_print_handler(struct tutti_device *device,
				void (*handler)(void *context, const char *text, size_t bytes), void *context)
{
	print_flush(device);
	pthread_mutex_lock(&device->print.lock);
	device->print.handler = handler;
	device->print.context = context;
	pthread_mutex_unlock(&device->print.lock);
}

// SPDX-License-Identifier: MIT
#include "device/print.h"

#include <stdio.h>
#include <stdlib.h>

int print_init(struct tutti_device *device, struct tutti_print_ring *ring)
{
	struct print *print = calloc(1, sizeof(*print));

	if (!print)
		return -ENOMEM;
	pthread_mutex_init(&print->lock, NULL);
	pthread_cond_init(&print->free, NULL);
	ring->bytes = PRINT_BYTES;
	print->ring = ring;
	device->print = print;
	return 0;
}

void print_fini(struct tutti_device *device)
{
	pthread_cond_destroy(&device->print->free);
	pthread_mutex_destroy(&device->print->lock);
	free(device->print);
	device->print = NULL;
}

/*
 * The ring that this thread is reading. Its handler may call the library, which may make the same thread read the
 * ring of another device.
 */
static _Thread_local struct print *reading;

static bool is_reading(const struct print *print)
{
	const struct print *p = reading;

	while (p && p != print)
		p = p->outer;
	return p;
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
	uint64_t lost = tutti_load_relaxed(&print->ring->lost), more = lost - print->lost;
	char text[64];

	if (!more)
		return;
	print->lost = lost;
	print_out(print, text,
		  (size_t)snprintf(text, sizeof(text), "[%llu bytes of kernel output lost]\n",
				   (unsigned long long)more));
}

/*
 * The text between tail and head is complete when all reserved bytes have been written. Both
 * counters come from the card, so an impossible distance is limited to the ring's size.
 */
static void print_some(struct print *print)
{
	struct tutti_print_ring *ring = print->ring;
	const char *text = (const char *)(ring + 1);
	uint64_t ready = tutti_load_acquire(&ring->ready), tail = ring->tail, first, n;

	if (tutti_load_acquire(&ring->head) != ready || ready == tail)
		return;
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

/* Become the only reader. False if this thread is the reader already, or if another is and @wait is false. */
static bool reader_begin(struct print *print, bool wait)
{
	bool mine;

	if (is_reading(print))
		return false;
	pthread_mutex_lock(&print->lock);
	while (wait && print->busy)
		pthread_cond_wait(&print->free, &print->lock);
	mine = !print->busy;
	print->busy = true;
	pthread_mutex_unlock(&print->lock);
	if (mine) {
		print->outer = reading;
		reading = print;
	}
	return mine;
}

static void reader_end(struct print *print)
{
	reading = print->outer;
	pthread_mutex_lock(&print->lock);
	print->busy = false;
	pthread_cond_signal(&print->free);
	pthread_mutex_unlock(&print->lock);
}

static void flush(struct print *print, bool wait)
{
	if (!reader_begin(print, wait))
		return;
	print_some(print);
	print_lost(print);
	reader_end(print);
}

void print_flush(struct tutti_device *device)
{
	if (device->print)
		flush(device->print, true);
}

void print_take(struct tutti_device *device)
{
	flush(device->print, false);
}

int tutti_device_flush_print(struct tutti_device *device)
{
	CALL_SCOPE(call);

	if (!device_call(&call, device))
		return -EINVAL;
	print_flush(device);
	if (!device->print->handler)
		fflush(stdout);
	return 0;
}

int tutti_device_print_handler(struct tutti_device *device,
			       void (*handler)(void *context, const char *text, size_t bytes), void *context)
{
	CALL_SCOPE(call);
	struct print *print;
	bool mine;

	if (!device_call(&call, device))
		return -EINVAL;
	print = device->print;
	print_flush(device);
	mine = reader_begin(print, true);
	print->handler = handler;
	print->context = context;
	if (mine)
		reader_end(print);
	return 0;
}

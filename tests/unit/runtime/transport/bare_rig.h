/* SPDX-License-Identifier: MIT */
/**
 * DOC: A card without a driver, whose firmware the test plays
 *
 * Time passes only while the library sleeps; programs that include this are linked with --wrap=clock_gettime.
 */
#ifndef BARE_RIG_H
#define BARE_RIG_H

#include <stdio.h>
#include <time.h>

#include "rt_rig.h"
#include "transport/bare/bare.h"
#include "transport/bare/boot.h"
#include "tutti/reference.h"

#define WINDOW	  (2ull << 20)
#define CARD	  (2ull << 20)
#define RESERVED  (TUTTI_FIRMWARE_BYTES + (512u << 10))
#define BAR_BYTES (WINDOW + CARD)
#define SECOND	  1000000000ull
#define SLOTS	  4u

static uint8_t *card;
static struct bare bare;
static struct tutti_discovery *d;
static struct tutti_control *control;
static struct tutti_status *status;
static uint64_t now;
static void (*on_kick)(void), (*on_sleep)(void);
static unsigned slept, rang;

int __real_clock_gettime(clockid_t which, struct timespec *t);

int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
	if (which != CLOCK_MONOTONIC)
		return __real_clock_gettime(which, t);
	*t = (struct timespec){.tv_sec = (time_t)(now / SECOND), .tv_nsec = (long)(now % SECOND)};
	return 0;
}

static void rings(struct tutti_device *device)
{
	rang++;
	if (on_kick)
		on_kick();
}

static void sleeps(struct tutti_device *device, uint64_t seen, uint64_t deadline)
{
	slept++;
	now = deadline > now ? deadline : now + 1;
	if (on_sleep)
		on_sleep();
}

static struct transport played = {
    .name = "played", .kick = rings, .sleep = sleeps, .interrupts = interrupts, .wake = wake_sleepers, BARE_REQUESTS};

static void region(struct tutti_region *region, uint64_t *at, uint32_t bytes)
{
	*region = (struct tutti_region){.offset = (uint32_t)*at, .bytes = bytes};
	*at += (bytes + 4095) & ~4095u;
}

/* Discovery of a small card. */
static void discovery(void)
{
	uint64_t at = 4096;

	*d = (struct tutti_discovery){.magic = TUTTI_DISCOVERY_MAGIC,
				      .bytes = sizeof(*d),
				      .contract_min = TUTTI_CONTRACT_VERSION,
				      .contract_max = TUTTI_CONTRACT_VERSION,
				      .window_bytes = WINDOW,
				      .aperture = WINDOW,
				      .aperture_bytes = CARD,
				      .memory_bytes = CARD,
				      .reserved_bytes = RESERVED,
				      .max_contexts = 2,
				      .max_queues = 8,
				      .max_rsbs = 5,
				      .ring_packets_min = 64,
				      .ring_packets_max = 64,
				      .sms = 1,
				      .shared_block_bytes = 2048,
				      .local_bytes = 65536,
				      .msix_vectors = 1};
	region(&d->control, &at, sizeof(struct tutti_control));
	region(&d->status, &at, sizeof(struct tutti_status));
	region(&d->host_ring, &at, SLOTS * sizeof(struct tutti_message));
	region(&d->card_ring, &at, SLOTS * sizeof(struct tutti_message));
	region(&d->log, &at, 4096);
	region(&d->crash, &at, sizeof(struct tutti_crash));
	region(&d->counters, &at, TUTTI_COUNTERS * sizeof(uint64_t));
	region(&d->doorbells, &at, 8 * TUTTI_PAGE_SIZE);
}

static int open_card(void **state)
{
	on_kick = on_sleep = NULL;
	slept = rang = 0;
	now = 5 * SECOND;
	card = mmap(NULL, BAR_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	d = (void *)card;
	discovery();
	device = aligned_alloc(64, (sizeof(*device) + 63) & ~63ull);
	memset(device, 0, sizeof(*device));
	memset(&bare, 0, sizeof(bare));
	handle_begin(&device->handle, NULL);
	pthread_mutex_init(&device->lock, NULL);
	device->transport = &played;
	device->private = &bare;
	device->bar = card;
	if (boot_check_card(device, BAR_BYTES))
		return -1;
	control = device->control;
	status = device->status;
	channel_init(device);
	return 0;
}

static int close_card_again(void **state)
{
	channel_fini(device);
	pthread_mutex_destroy(&device->lock);
	free(device);
	munmap(card, BAR_BYTES);
	return 0;
}

/* For tests whose card does something later. */
static uint64_t ready_at __attribute__((unused));

#define CARD_TEST(name, f)                                                                                             \
	{                                                                                                              \
		name, f, open_card, close_card_again, NULL                                                             \
	}

#endif

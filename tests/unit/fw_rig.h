/* SPDX-License-Identifier: MIT */
/* What the firmware's unit tests share: cmocka, seeded numbers, a booted firmware with one context. */
#ifndef TUTTI_TEST_FW_RIG_H
#define TUTTI_TEST_FW_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal.h"

/* A test with the ids of the requirements it proves. */
#define RIG_TEST(ids, function) { ids ": " #function, function, NULL, NULL, NULL }

static uint64_t rig_seed;

/* xorshift64*: the same sequence everywhere */
static inline uint32_t roll(uint32_t n)
{
	rig_seed ^= rig_seed >> 12;
	rig_seed ^= rig_seed << 25;
	rig_seed ^= rig_seed >> 27;
	return (uint32_t)((rig_seed * 0x2545f4914f6cdd1dull >> 32) * n >> 32);
}

static inline uint32_t roll32(void)
{
	return roll(0x10000) << 16 | roll(0x10000);
}

static inline void seed(uint64_t number)
{
	rig_seed = number * 0x9e3779b97f4a7c15ull + 1;
}

static inline void rig_event(uint32_t w0, uint32_t w1, uint32_t w2)
{
	struct tutti_event event = { { w0, w1, w2 } };

	hal_host_event(&event);
}

/* Every command written so far is taken and forgotten. */
static inline void rig_drain(void)
{
	unsigned words;

	while (hal_host_command(&words))
		;
}

/* Send a request; returns the status of its reply (answers to commands are given at once by rig_answer()). */
static inline int rig_message(struct tutti_message *m)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	struct tutti_message *to = (void *)(hal_host.window + d->host_ring.offset);
	const struct tutti_message *from = (void *)(hal_host.window + d->card_ring.offset);
	const uint32_t *w;
	unsigned words;
	int result = 1;

	m->id = control->host_ring_tail + 1;
	to[control->host_ring_tail % (d->host_ring.bytes / 64)] = *m;
	control->host_ring_tail++;
	rig_event(TUTTI_EVENT_MESSAGE, 0, 0);
	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH)
			rig_event(TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u), 0, 0);
	for (; control->card_ring_head != status->card_ring_tail; control->card_ring_head++) {
		const struct tutti_message *answer = &from[control->card_ring_head % (d->card_ring.bytes / 64)];

		if (answer->type == TUTTI_MSG_REPLY && answer->id == m->id)
			result = answer->status;
	}
	return result;
}

static inline int rig_request(unsigned type, uint64_t a, uint64_t b, uint64_t c)
{
	struct tutti_message m = { .type = (uint16_t)type };

	m.arg[0] = a;
	m.arg[1] = b;
	m.arg[2] = c;
	return rig_message(&m);
}

static inline void rig_boot(unsigned sms, unsigned asid)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = asid, .root = 4096 } };

	hal_host_boot(sms);
	assert_int_equal(rig_message(&m), 0);
}

#endif

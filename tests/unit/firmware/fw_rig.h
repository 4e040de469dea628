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

#include "core/command_ring.h"
#include "core/counters.h"
#include "core/visit.h"
#include "place/cta_shape.h"
#include "queues/queue.h" /* the runtime has one too */
#include "top/host/drive.h"

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

/* The visit of the next event has @steps steps. */
static inline void rig_shorten_visit(uint32_t steps)
{
	counters.events++;
	visit_goes_on(VISIT_STEPS - steps);
	counters.events--;
}

/* Every command written so far is taken and forgotten. */
static inline void rig_drain(void)
{
	unsigned words;

	while (hal_host_command(&words))
		;
}

/* Gets the commands that rig_message() meets; NULL: they are forgotten. */
static void (*rig_command)(const uint32_t *w, unsigned words);

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
		if (rig_command)
			rig_command(w, words);
		else if ((w[0] & 0xff) == TUTTI_CMD_FETCH)
			rig_event(TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u), 0, 0);
	for (; control->card_ring_head != status->card_ring_tail; control->card_ring_head++) {
		const struct tutti_message *answer = &from[control->card_ring_head % (d->card_ring.bytes / 64)];

		if (answer->type == TUTTI_MSG_REPLY && answer->id == m->id) {
			result = answer->status;
			m->value = answer->value;
		}
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

/* Boots as after loading the image: variables without an initial value are zero. */
static inline void rig_load(unsigned sms)
{
	memset(&shapes, 0, sizeof(shapes));
	hal_host_boot(sms);
}

static inline void rig_boot(unsigned sms, unsigned asid)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = asid, .root = 4096 } };

	rig_load(sms);
	assert_int_equal(rig_message(&m), 0);
}

static inline void rig_rsb(unsigned id, unsigned asid, unsigned placement)
{
	struct tutti_message m = { .type = TUTTI_MSG_RSB_CREATE,
				   .rsb = { .rsb = (uint16_t)id, .asid = (uint16_t)asid, .placement = placement,
					    .offset = 4096 + id * 1024u } };

	assert_int_equal(rig_message(&m), 0);
}

#define RIG_RING 0x1010000000ull

static unsigned rig_priority = 5; /* flags of the queues made next */

/* A queue of 64 packets; with TUTTI_QUEUE_RSB it uses the buffer of its own number. */
static inline struct queue *rig_queue(unsigned id, unsigned asid, unsigned flags)
{
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
				   .queue = { .queue = (uint16_t)id, .asid = (uint16_t)asid, .flags = (uint16_t)flags,
					      .rsb = (uint16_t)id, .ring = RIG_RING + id * 4096ull,
					      .read_index = 0x20000000ull + id * 64, .size_log2 = 6, .priority = (uint8_t)rig_priority } };

	assert_int_equal(rig_message(&m), 0);
	return queue_at(id);
}

/* A dispatch packet without a fault. */
static inline struct tutti_dispatch_packet rig_packet(uint64_t kernel)
{
	return (struct tutti_dispatch_packet){
		.header = TUTTI_PACKET_KERNEL_DISPATCH, .setup = 1, .workgroup_x = 64, .workgroup_y = 1, .workgroup_z = 1,
		.grid_x = 640, .grid_y = 1, .grid_z = 1, .kernel_object = kernel,
	};
}

static inline struct tutti_kernel_descriptor rig_descriptor(void)
{
	return (struct tutti_kernel_descriptor){
		.magic = TUTTI_KERNEL_MAGIC, .version = 1, .kernarg_align = 16, .entry_offset = 256,
	};
}

/* Answers the fetch of a kernel descriptor, if there is one. Return: fetches answered. */
static inline unsigned rig_kernel_answer(const struct tutti_kernel_descriptor *descriptor, unsigned cause)
{
	const uint32_t *w;
	unsigned words, n = 0;

	command_publish();
	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_KERNEL) {
			assert_int_equal(w[4], sizeof(*descriptor));
			if (!cause)
				memcpy(hal_pointer(w[5]), descriptor, sizeof(*descriptor));
			n++;
			rig_event(TUTTI_EVENT_FETCH | cause << 8 | (w[0] & 0xffff0000u), cause ? w[2] : 0, cause ? w[3] : 0);
		}
	return n;
}

/* Brings a descriptor into the cache. Return: the result that a packet which names it gets then. */
static inline int rig_kernel(struct queue *queue, uint64_t address, const struct tutti_kernel_descriptor *descriptor)
{
	struct tutti_dispatch_packet packet = rig_packet(address);
	uint32_t state[STATE_WORDS];
	struct launch launch;
	int code = packet_dispatch(queue, &packet, state, &launch);

	if (code != PACKET_PARKED)
		return code;
	rig_kernel_answer(descriptor, 0);
	return packet_dispatch(queue, &packet, state, &launch);
}

#endif

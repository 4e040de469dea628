/* SPDX-License-Identifier: MIT */
/*
 * Directed tests of queues: a test writes packets, sees what starts and ends it when it likes. Fetches are answered at
 * once, those of kernel descriptors one at a time where @slow_kernels is set. Kernels that are killed end at once, unless
 * @slow_kills is set: then the test says killed().
 */
#ifndef TUTTI_TEST_FW_DIRECT_H
#define TUTTI_TEST_FW_DIRECT_H

#include "fw_rig.h"
#include "fw_sms.h"
#include "core/counters.h"
#include "top/main.h"
#include "tutti/tmd.h"

#define ASID 4u
#define QUEUES 5u
#ifndef RINGS
#define RINGS 8u /* of these queues, and of some more */
#endif
#define RING 64u
#define KERNELS 128u
#define TMDS 8u
#define KERNEL_AT 0x2130000000ull
#define SIGNAL_AT 0x3240000000ull
#define TMD_AT 0x4350000000ull
#define SLOTS 32u

static union tutti_packet ring[RINGS][RING];
static uint64_t written[RINGS];
static struct tutti_kernel_descriptor descriptor[KERNELS];
static struct tutti_tmd tmd[TMDS];
static struct tutti_signal signal_memory[8]; /* at SIGNAL_AT */

/* What runs in each task slot. */
static struct { uint64_t packet, tmd; unsigned queue, ctas, on[TUTTI_MAX_SMS]; } running[SLOTS];
static unsigned started[RINGS];             /* kernels */
static struct { uint64_t address; bool cancelled; } signals[64];
static unsigned signal_count, replies, acquires;
static uint64_t items_given;                /* the number of the next work item that no CTA has got */
static int32_t reply_value;
static bool slow_kernels, slow_kills;
static struct tutti_event kernel_answer[64];
static unsigned kernel_answers;
static uint8_t packets_fetched[64];         /* numbers of queues, in the order of their fetches */
static unsigned packet_fetches;

static void *user(uint64_t address)
{
	if (address >= TMD_AT)
		return (uint8_t *)tmd + (address - TMD_AT);
	if (address >= SIGNAL_AT)
		return (uint8_t *)signal_memory + (address - SIGNAL_AT);
	if (address >= KERNEL_AT)
		return (uint8_t *)descriptor + (address - KERNEL_AT);
	return (uint8_t *)ring + (address - RIG_RING);
}

static void take_fetch(const uint32_t *w)
{
	struct tutti_event event = { { TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) } };

	if ((w[1] & 0xffff) != TUTTI_ASID_BUS)
		memcpy(hal_pointer(w[5]), user(w[2] | (uint64_t)w[3] << 32), w[4]);
	if ((w[0] >> 16 & TAG_KIND) == TAG_PACKETS)
		packets_fetched[packet_fetches++ % 64] = (uint8_t)(w[0] >> 16 & TAG_NUMBER);
	if (slow_kernels && (w[0] >> 16 & TAG_KIND) == TAG_KERNEL)
		kernel_answer[kernel_answers++] = event;
	else
		hal_host_event(&event);
}

static void take_start(unsigned slot, uint32_t asid_queue, const uint32_t *packet)
{
	memset(&running[slot], 0, sizeof(running[slot]));
	running[slot].queue = asid_queue >> 16;
	running[slot].packet = packet[0] | (uint64_t)packet[1] << 32;
	started[running[slot].queue]++;
}

static void take_launch(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 16 & 0xff, i = w[0] >> 24 & TUTTI_LAUNCH_CGA ? 3 : 1, before = running[slot].ctas, j, b;

	if (w[0] >> 24 & TUTTI_LAUNCH_WORK) {
		assert_int_equal(w[1] | (uint64_t)w[2] << 32, items_given);
		i = 4;
	}
	for (; i < words; i += 1 + (w[i] >> 24))
		for (j = 0; j < w[i] >> 24; j++)
			for (b = 0; b < 32; b++)
				if (w[i + 1 + j] >> b & 1) {
					running[slot].on[32 * ((w[i] >> 16 & 0xff) + j) + b] += w[i] & 0xffff;
					running[slot].ctas += w[i] & 0xffff;
				}
	if (w[0] >> 24 & TUTTI_LAUNCH_WORK)
		items_given += (uint64_t)(running[slot].ctas - before) * w[3];
}

/* Store @values words of 8 bytes, if it is where metadata lie. */
static void take_write(const uint32_t *w, unsigned values)
{
	uint64_t address = w[2] | (uint64_t)w[3] << 32;

	if (address >= TMD_AT)
		memcpy(user(address), w + 4, values * 8);
}

static void killed(unsigned slot)
{
	rig_event(TUTTI_EVENT_KILLED | slot << 8, ~0u, 0);
}

static void take_one(const uint32_t *w, unsigned words)
{
	switch (w[0] & 0xff) {
	case TUTTI_CMD_FETCH: take_fetch(w); break;
	case TUTTI_CMD_STATE:
		take_start(w[0] >> 24, w[1 + STATE_AT(asid)], w + 1 + STATE_AT(packet));
		running[w[0] >> 24].tmd = w[1 + STATE_AT(tmd)] | (uint64_t)w[2 + STATE_AT(tmd)] << 32;
		break;
	case TUTTI_CMD_TASK: take_start(w[0] >> 24, w[2], w + 3); break;
	case TUTTI_CMD_LAUNCH: take_launch(w, words); break;
	case TUTTI_CMD_WRITE: take_write(w, 1); break;
	case TUTTI_CMD_BLOCK: take_write(w, (words - 4) / 2); break;
	case TUTTI_CMD_ORDER: card_reorder(w, words); break;
	case TUTTI_CMD_FENCE: acquires += !!(w[0] >> 16 & TUTTI_FENCE_ACQUIRE); break;
	case TUTTI_CMD_KILL:
		running[w[0] >> 16 & 0xff].ctas = 0;
		if (!slow_kills)
			killed(w[0] >> 16 & 0xff);
		break;
	case TUTTI_CMD_SIGNAL:
		signals[signal_count % 64].cancelled = w[0] >> 16 & TUTTI_SIGNAL_CANCEL;
		signals[signal_count++ % 64].address = w[2] | (uint64_t)w[3] << 32;
		break;
	case TUTTI_CMD_REPLY:
		reply_value = (int32_t)w[2];
		replies++;
		break;
	case TUTTI_CMD_SCRUB:
		for (unsigned i = 0; i < w[4]; i++)
			((union tutti_packet *)user(w[2] | (uint64_t)w[3] << 32))[i].dispatch.header = TUTTI_PACKET_INVALID;
		break;
	default: break;
	}
}

/* Let @carry_out carry out each command in the ring, and those that come meanwhile. */
static void take_by(void (*carry_out)(const uint32_t *w, unsigned words))
{
	uint32_t copy[COMMAND_RECORD];
	const uint32_t *w;
	unsigned words;

	command_publish();
	while ((w = hal_host_command(&words))) {
		memcpy(copy, w, words * 4);
		carry_out(copy, words);
		command_publish();
	}
}

static void take(void)
{
	take_by(take_one);
}

static void start(unsigned sms, unsigned slots)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = ASID, .root = 4096 } };

	hal_host_slots = slots;
	rig_load(sms);
	hal_host_slots = 0;
	card_empty(sms);
	assert_int_equal(rig_message(&m), 0);
	m.context.asid++;
	assert_int_equal(rig_message(&m), 0);
	memset(ring, 0, sizeof(ring));
	memset(written, 0, sizeof(written));
	memset(running, 0, sizeof(running));
	memset(started, 0, sizeof(started));
	memset(tmd, 0, sizeof(tmd));
	for (unsigned q = 0; q < RINGS * RING; q++)
		ring[q / RING][q % RING].dispatch.header = TUTTI_PACKET_INVALID;
	for (unsigned k = 0; k < KERNELS; k++)
		descriptor[k] = rig_descriptor();
	slow_kernels = slow_kills = false;
	signal_count = replies = kernel_answers = packet_fetches = 0;
	acquires = 0;
	items_given = 0;
}

/* The descriptors that kernels wait for, where @slow_kernels is set, arrive. */
static inline void answer_kernels(void)
{
	for (unsigned i = 0; i < kernel_answers; i++) {
		hal_host_event(&kernel_answer[i]);
		take();
	}
	kernel_answers = 0;
}

static inline void destroy(unsigned q)
{
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, q, 0, 0), 0);
	rig_command = NULL;
	take();
}

static inline void ring_doorbell(unsigned q)
{
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	take();
}

static inline void write_packet(unsigned q, const void *packet)
{
	memcpy(&ring[q][written[q]++ % RING], packet, 64);
}

static inline void submit(unsigned q, const void *packet)
{
	write_packet(q, packet);
	ring_doorbell(q);
}

/* A kernel of @groups CTAs of one wave. */
static inline struct tutti_dispatch_packet kernel_packet(unsigned kernel, unsigned groups)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT + 64 * kernel);

	p.workgroup_x = 32;
	p.grid_x = 32 * groups;
	return p;
}

/* Keep a kernel as reference @index, and end it. */
static inline void end_all(unsigned slot);
static inline void store(unsigned q, unsigned index, struct tutti_dispatch_packet p)
{
	p.ref_num = (uint16_t)(TUTTI_REF_STORE | index);
	submit(q, &p);
	assert_int_equal(started[q], 1);
	for (unsigned s = 0; s < SLOTS; s++)
		end_all(s);
	started[q] = 0;
	signal_count = 0;
}

/* A condensed packet of up to four kernels that are as reference 0. */
static inline union tutti_packet condensed(unsigned kernels)
{
	union tutti_packet p = { .condensed = { .type = TUTTI_PACKET_CONDENSED, .num_kernels = (uint8_t)kernels } };

	return p;
}

/* The slot of a running kernel of this packet, or -1. */
static inline int slot_of(unsigned q, uint64_t packet)
{
	for (unsigned s = 0; s < SLOTS; s++)
		if (running[s].ctas && running[s].queue == q && running[s].packet == packet)
			return (int)s;
	return -1;
}

/* A CTA of the kernel in @slot ends on this SM. */
static inline void end_on(unsigned slot, unsigned sm)
{
	struct tutti_event event = { { TUTTI_EVENT_CTA | slot << 8 | sm / 32 << 16 | 1u << 24, 1, 1, 1u << sm % 32 } };

	running[slot].on[sm]--;
	running[slot].ctas--;
	hal_host_event(&event);
	take();
}

/* One CTA of the kernel in @slot ends, on the first SM that has any. */
static inline void end_first(unsigned slot)
{
	unsigned sm = 0;

	while (!running[slot].on[sm])
		sm++;
	end_on(slot, sm);
}

/* The CTAs of the kernel in @slot end. Another one may start there at once. */
static inline void end_all(unsigned slot)
{
	unsigned left = running[slot].ctas;

	while (left)
		for (unsigned sm = 0; sm < card_sms && left; sm++)
			if (running[slot].on[sm]) {
				left--;
				end_on(slot, sm);
			}
}

/* A wave of the task in @slot asks for @service. */
static inline void ask_for(unsigned service, unsigned slot, uint64_t address)
{
	struct tutti_event event = { { TUTTI_EVENT_REQUEST | slot << 8 | service << 16, 0, 0,
				       (uint32_t)address, (uint32_t)(address >> 32) } };

	hal_host_event(&event);
}

static inline void ask_for_child(unsigned slot, uint64_t address)
{
	ask_for(TUTTI_SERVICE_TASK, slot, address);
}

/* A task of its own for a child, or metadata for a packet. */
static inline struct tutti_tmd child(unsigned kernel)
{
	return (struct tutti_tmd){
		.magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION, .kernel_object = KERNEL_AT + 64 * kernel,
		.grid = { 32, 1, 1 }, .workgroup = { 32, 1, 1 }, .setup = 1,
	};
}

#endif

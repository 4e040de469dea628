/* SPDX-License-Identifier: MIT */
/*
 * The firmware between packets with metadata and a card that carries out every command at once: @launched shows which
 * task got the next CTA. For tests of tasks and rounds.
 */
#ifndef TUTTI_TEST_FW_TASKS_H
#define TUTTI_TEST_FW_TASKS_H

#include "core/command_ring.h"
#include "core/counters.h"
#include "top/main.h"
#include "fw_card.h"
#include "tutti/tmd.h"

#define ASID 4u
#define QUEUES 6u
#define RING 64u
#define RING_AT 0x2110000000ull
#define TMD_AT 0x2150000000ull
#define KERNEL_AT 0x2130000000ull
#define MASK_AT 0x2160000000ull
#define SIGNAL_AT 0x2140000000ull
#define TASKS 400u

/* a task, and how far it has come */
struct job {
	unsigned queue, priority, groups, quota;
	bool head, sequence, independent, plain; /* plain: no metadata */
	bool dependent;            /* its metadata say so, whatever the kernel says */
	unsigned waves;            /* of a CTA, 0 = 1 */
	uint32_t mask;             /* SMs it may run on, 0 = all */
	unsigned shared;           /* bytes */
	unsigned split, waves_run; /* CTAs launched by waves, and these */
	unsigned issued, running;
	bool done, resident, leaving, cancelled, signalled, evicted;
};

static union tutti_packet ring[QUEUES][RING];
static uint64_t written[QUEUES];
static struct tutti_tmd tmd[TASKS];
static struct tutti_kernel_descriptor descriptor;
static struct job job[TASKS];
static unsigned jobs;
static unsigned queue_priority[QUEUES]; /* for the next begin(), 0 = 5 */
static unsigned queue_asid_of[QUEUES];  /* likewise, 0 = ASID */
static unsigned card_size = 1;          /* SMs, likewise */
static uint32_t masks[TASKS][TUTTI_MAX_SMS / 32];
static int slot_job[CARD_SLOTS];
static bool slot_split[CARD_SLOTS];
/* SMs that acknowledge (hal_host_acknowledge): states of each slot that were sent and are not acknowledged */
static unsigned unacknowledged[CARD_SLOTS];
static bool late; /* only when a test says so */
static bool marks_late; /* marks, which begin another visit, are not answered */
static bool metadata_late; /* fetches of metadata are not answered, but this is the last one */
static uint32_t metadata_fetch[6];
static unsigned metadata_fetches; /* since begin(), of metadata alone */
/* CTAs in the order of their launch */
static unsigned launched[100000], launches;

static uint8_t *user(uint64_t address, uint32_t bytes)
{
	if (address >= RING_AT && address + bytes <= RING_AT + sizeof(ring))
		return (uint8_t *)ring + (address - RING_AT);
	if (address >= TMD_AT && address + bytes <= TMD_AT + sizeof(tmd))
		return (uint8_t *)tmd + (address - TMD_AT);
	if (address >= MASK_AT && address + bytes <= MASK_AT + sizeof(masks))
		return (uint8_t *)masks + (address - MASK_AT);
	if (address >= KERNEL_AT && address + bytes <= KERNEL_AT + sizeof(descriptor))
		return (uint8_t *)&descriptor + (address - KERNEL_AT);
	return NULL;
}

static uint64_t pair(const uint32_t *w)
{
	return w[0] | (uint64_t)w[1] << 32;
}

/* The same slot again while CTAs run: the task continues after a CTA that was split. */
static void take_state(const uint32_t *w)
{
	struct card_slot *slot = &card_slot[w[0] >> 24];
	struct tutti_task_state state;
	struct job *k;

	memcpy(&state, w + 1, sizeof(state));
	k = &job[state.kernarg / 16];
	if (slot->running)
		assert_ptr_equal(k, &job[slot_job[w[0] >> 24]]);
	else
		memset(slot, 0, sizeof(*slot));
	slot->state = state;
	slot_job[w[0] >> 24] = (int)(k - job);
	slot_split[w[0] >> 24] = w[0] >> 16 & TUTTI_STATE_SPLIT;
	if (slot_split[w[0] >> 24]) {
		/* one CTA, wave by wave (RES-07) */
		assert_int_equal(state.first, k->issued * state.waves);
		assert_true((k->independent || descriptor.flags & TUTTI_KERNEL_INDEPENDENT) && !k->dependent && !k->shared);
		slot->state.waves = 1;
		k->issued++;
		k->split++;
	} else {
		/* it goes on where it stopped (TSK-03) */
		assert_int_equal(state.first, k->issued);
	}
	slot->busy = true;
	unacknowledged[w[0] >> 24] += hal_host_acknowledge;
}

/* Acknowledges some of the states sent for @slot. Return: there were any. */
static bool acknowledge(unsigned slot, unsigned n)
{
	if (!n || !unacknowledged[slot])
		return false;
	unacknowledged[slot] -= n;
	rig_event(TUTTI_EVENT_STATE | slot << 8, n, 0);
	return true;
}

static bool acknowledge_all(void)
{
	bool any = false;

	for (unsigned s = 0; s < CARD_SLOTS; s++)
		any |= acknowledge(s, unacknowledged[s]);
	return any;
}

static void take_launch(const uint32_t *w, unsigned words)
{
	unsigned slot = w[0] >> 16 & 0xff, i = 1, j, b, r;
	struct job *k = &job[slot_job[slot]];

	assert_int_equal(unacknowledged[slot], 0); /* TSK-05 */
	while (i < words) {
		for (r = 0; r < (w[i] & 0xffff); r++)
			for (j = 0; j < w[i] >> 24; j++)
				for (b = 0; b < 32; b++)
					if (w[i + 1 + j] >> b & 1) {
						assert_true(card_start(slot, 32 * ((w[i] >> 16 & 0xff) + j) + b));
						assert_true(!k->mask || k->mask >> b & 1);
						launched[launches++] = (unsigned)slot_job[slot];
						k->issued += !slot_split[slot];
						k->waves_run += slot_split[slot];
						k->running++;
					}
		i += 1 + (w[i] >> 24);
	}
	assert_true(k->issued <= k->groups);
	assert_true(k->waves_run <= k->split * k->waves);
}

static void answer_fetch(const uint32_t *w)
{
	uint8_t *at = (w[1] & 0xffff) == TUTTI_ASID_BUS ? NULL : user(pair(w + 2), w[4]);

	if (at)
		memcpy(hal_pointer(w[5]), at, w[4]);
	rig_event(TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) | (at ? 0 : TUTTI_CAUSE_UNMAPPED << 8), w[2], w[3]);
}

static void take_commands(void)
{
	const uint32_t *w;
	unsigned words;
	uint8_t *at;

	command_publish();
	while ((w = hal_host_command(&words))) {
		switch (w[0] & 0xff) {
		case TUTTI_CMD_FETCH:
			metadata_fetches += (w[0] >> 16 & TAG_KIND) == TAG_TMD;
			if (metadata_late && (w[0] >> 16 & TAG_KIND) == TAG_TMD)
				memcpy(metadata_fetch, w, sizeof(metadata_fetch));
			else if (!marks_late || (w[0] >> 16 & TAG_KIND) != TAG_ROOM)
				answer_fetch(w);
			break;
		case TUTTI_CMD_STATE: take_state(w); break;
		case TUTTI_CMD_LAUNCH: take_launch(w, words); break;
		case TUTTI_CMD_WRITE:
			at = user(pair(w + 2), 8);
			if (at)
				memcpy(at, w + 4, 8);
			break;
		case TUTTI_CMD_BLOCK:
			at = user(pair(w + 2), 4 * (words - 4));
			if (at)
				memcpy(at, w + 4, 4 * (words - 4));
			break;
		case TUTTI_CMD_SCRUB:
			for (unsigned i = 0; i < w[4]; i++)
				((union tutti_packet *)user(pair(w + 2), 64 * w[4]))[i].dispatch.header = TUTTI_PACKET_INVALID;
			break;
		case TUTTI_CMD_SIGNAL:
			job[(pair(w + 2) - SIGNAL_AT) / 64].signalled = true;
			job[(pair(w + 2) - SIGNAL_AT) / 64].cancelled = w[0] >> 16 & TUTTI_SIGNAL_CANCEL;
			break;
		}
		command_publish();
	}
}

/* Everything the firmware asks for happens at once. */
static void pump(void)
{
	do
		take_commands();
	while (!late && acknowledge_all());
}

static void begin(uint64_t number, unsigned slots, unsigned cap, uint32_t fair)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = ASID, .root = 4096 } };
	unsigned q;

	seed(number);
	rig_load(card_size);
	((struct tutti_discovery *)hal_host.window)->task_slots = slots;
	main_init();
	card_reset(card_size);
	memset(ring, 0, sizeof(ring));
	memset(written, 0, sizeof(written));
	memset(job, 0, sizeof(job));
	memset(unacknowledged, 0, sizeof(unacknowledged));
	late = marks_late = metadata_late = false;
	jobs = launches = metadata_fetches = 0;
	descriptor = rig_descriptor();
	assert_int_equal(rig_message(&m), 0);
	m.context.asid = ASID + 1;
	assert_int_equal(rig_message(&m), 0);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CTA_CAP, cap, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SEED, fair, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 255u << 24, 0), 0);
	for (q = 0; q < QUEUES; q++) {
		struct tutti_message c = { .type = TUTTI_MSG_QUEUE_CREATE,
					   .queue = { .queue = (uint16_t)q, .asid = (uint16_t)(queue_asid_of[q] ? queue_asid_of[q] : ASID), .flags = TUTTI_QUEUE_EXTENDED,
						      .ring = RING_AT + q * sizeof(ring[0]), .read_index = 0x20000000ull + q * 64,
						      .size_log2 = 6,
						      .priority = (uint8_t)(queue_priority[q] ? queue_priority[q] : 5) } };

		for (unsigned i = 0; i < RING; i++)
			ring[q][i].dispatch.header = TUTTI_PACKET_INVALID;
		assert_int_equal(rig_message(&c), 0);
	}
}

static inline void submit(const struct job *what)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT);
	unsigned n = jobs++, q = what->queue;

	job[n] = *what;
	if (what->sequence)
		job[n].quota = 0;
	if (!what->waves)
		job[n].waves = 1;
	tmd[n] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION,
				     .priority = (uint8_t)what->priority, .quota = what->quota,
				     .affinity = what->mask ? MASK_AT + n * sizeof(masks[0]) : 0,
				     .flags = (what->head ? TUTTI_TMD_HEAD : 0) | (what->mask ? TUTTI_TMD_AFFINITY : 0) | (what->sequence ? TUTTI_TMD_SEQUENCE : 0) |
					      (what->quota ? TUTTI_TMD_QUOTA : 0) |
					      (what->independent ? TUTTI_TMD_INDEPENDENT : 0) |
					      (what->dependent ? TUTTI_TMD_DEPENDENT : 0) };
	masks[n][0] = what->mask;
	p.group_bytes = what->shared;
	p.workgroup_x = (uint16_t)(32 * job[n].waves);
	p.grid_x = 32 * job[n].waves * what->groups;
	p.kernarg = 16 * n;
	p.signal = SIGNAL_AT + 64 * n;
	p.tmd = what->plain ? 0 : TMD_AT + n * sizeof(tmd[0]);
	ring[q][written[q]++ % RING].dispatch = p;
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	pump();
}

static inline void end_on(unsigned slot, unsigned sm)
{
	struct tutti_event event = { { TUTTI_EVENT_CTA | slot << 8 | 1u << 24, 1, 1, 1u << sm } };

	card_end(slot, sm);
	job[slot_job[slot]].running--;
	hal_host_event(&event);
	pump();
}

static inline void end_one(unsigned slot)
{
	end_on(slot, 0);
}

#endif

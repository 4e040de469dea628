/* SPDX-License-Identifier: MIT */
/*
 * REL-01: the firmware's logic between hostile packets, kernel descriptors and signals on one side and a card that
 * answers its commands in any order on the other. The input is a script: what to put into rings and user memory,
 * which doorbells to ring, which CTAs complete or fault next. Checked: sanitizers, no crash, no SM over-booked, no
 * command that the contract does not know, LAUNCH only for slots that have a state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hal.h"
#include "core/state.h"
#include "firmware_reload.h"
#include "top/host/drive.h"
#include "top/host_channel.h"
#include "top/main.h"

#define SMS 6u
#define QUEUES 3u
#define RING 64u
#define RING_AT 0x100000u    /* rings: one page each */
#define OBJECTS_AT 0x200000u /* user memory the firmware can fetch: descriptors, signals */
#define SLOTS 32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const uint8_t *input, *input_end;
static union tutti_packet ring[QUEUES][RING];
static uint64_t put[QUEUES];
static uint8_t objects[4096];
static struct { struct tutti_task_state state; bool known, faulted; uint32_t running[SMS], unacknowledged; } slot[SLOTS];
static struct tutti_event queue[4096];
static unsigned first, last;

static unsigned byte(void)
{
	return input < input_end ? *input++ : 0;
}

static void later(const struct tutti_event *event)
{
	if (last - first < 4096)
		queue[last++ % 4096] = *event;
}

static const uint8_t *user(uint64_t address, uint32_t length)
{
	if (address >= RING_AT && address + length <= RING_AT + sizeof(ring))
		return (const uint8_t *)ring + (address - RING_AT);
	if (address >= OBJECTS_AT && address + length <= OBJECTS_AT + sizeof(objects))
		return objects + (address - OBJECTS_AT);
	return NULL;
}

static void fetch(const uint32_t *w)
{
	struct tutti_event event = { { TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u) } };
	uint64_t address = w[2] | (uint64_t)w[3] << 32;
	const uint8_t *from = user(address, w[4]);

	if (!w[4] || w[4] > 4096 || w[4] % 4)
		abort();
	if (from) {
		memcpy(hal_pointer(w[5]), from, w[4]);
	} else {
		event.word[0] |= TUTTI_CAUSE_UNMAPPED << 8;
		event.word[1] = w[2];
		event.word[2] = w[3];
	}
	later(&event);
}

static void scrub(const uint32_t *w)
{
	uint64_t address = w[2] | (uint64_t)w[3] << 32;
	uint32_t i;

	for (i = 0; i < w[4]; i++) {
		union tutti_packet *p = (void *)(uintptr_t)user(address + i * 64, 64);

		if (p)
			p->dispatch.header = TUTTI_PACKET_INVALID;
	}
}

static uint32_t shared_blocks = 64; /* of each SM; throttle mode gives some more */

/* room on an SM, by the rule of the contract for the totals */
static void check_room(unsigned sm)
{
	uint64_t ctas = 0, waves = 0, shared = 0, barriers = 0;
	unsigned s;

	for (s = 0; s < SLOTS; s++) {
		ctas += slot[s].running[sm];
		waves += (uint64_t)slot[s].running[sm] * slot[s].state.waves;
		shared += (uint64_t)slot[s].running[sm] * slot[s].state.shared_blocks;
		barriers += (uint64_t)slot[s].running[sm] * slot[s].state.barriers;
	}
	if (ctas > 32 || waves > 32 || shared > shared_blocks || barriers > 16) {
		for (s = 0; s < SLOTS; s++)
			if (slot[s].running[sm])
				fprintf(stderr, "slot %u: %u CTAs of %u waves, %u blocks, %u barriers\n", s, slot[s].running[sm],
					slot[s].state.waves, slot[s].state.shared_blocks, slot[s].state.barriers);
		abort();
	}
}

static void launch(const uint32_t *w, unsigned words)
{
	unsigned s = w[0] >> 16 & 0xff, i = 1, k, sm;

	if (s >= SLOTS || !slot[s].known || slot[s].unacknowledged || w[0] >> 24 & TUTTI_LAUNCH_CGA)
		abort(); /* this card has no CGAs */
	if (w[0] >> 24 & TUTTI_LAUNCH_WORK)
		i += 3;
	while (i < words) {
		unsigned repeat = w[i] & 0xffff, at = w[i] >> 16 & 0xff, n = w[i] >> 24;

		if (!repeat || !n || i + n >= words)
			abort();
		for (k = 0; k < n; k++)
			for (sm = 0; sm < 32; sm++)
				if (w[i + 1 + k] >> sm & 1) {
					if ((at + k) * 32 + sm >= SMS)
						abort();
					slot[s].running[(at + k) * 32 + sm] += repeat;
					check_room((at + k) * 32 + sm);
				}
		i += 1 + n;
	}
}

static void complete(unsigned s, unsigned sm, unsigned repeat)
{
	struct tutti_event event = { { TUTTI_EVENT_CTA | s << 8 | 1u << 24, repeat, repeat, 1u << sm } };

	slot[s].running[sm] -= repeat;
	later(&event);
}

static void kill_slot(unsigned s)
{
	struct tutti_event event = { { TUTTI_EVENT_KILLED | s << 8, ~0u } };
	unsigned sm;

	for (sm = 0; sm < SMS; sm++)
		if (slot[s].running[sm])
			complete(s, sm, slot[s].running[sm]);
	slot[s].faulted = false;
	later(&event);
}

static bool slow; /* the engines take commands now and then, and the ring is full as soon as it may be */

static void commands(void)
{
	static unsigned calls;
	const uint32_t *w;
	unsigned words;

	hal_host_tight = slow;
	if (slow && ++calls % 5)
		return;
	while ((w = hal_host_command(&words))) {
		unsigned s = w[0] >> 24;

		switch (w[0] & 0xff) {
		case TUTTI_CMD_FETCH:
			fetch(w);
			break;
		case TUTTI_CMD_SCRUB:
			scrub(w);
			break;
		case TUTTI_CMD_STATE:
			if (s >= SLOTS || words < 25)
				abort();
			for (unsigned sm = 0; sm < SMS; sm++)
				if (slot[s].running[sm])
					abort(); /* the slot is not free */
			memcpy(&slot[s].state, w + 1, sizeof(slot[s].state));
			slot[s].known = true;
			if (!hal_host_acknowledge)
				break;
			slot[s].unacknowledged++;
			later(&(struct tutti_event){ { TUTTI_EVENT_STATE | s << 8, 1 } });
			break;
		case TUTTI_CMD_LAUNCH:
			launch(w, words);
			break;
		case TUTTI_CMD_THROTTLE:
			shared_blocks = w[0] >> 16 & 1 ? w[1] : 64;
			later(&(struct tutti_event){ { TUTTI_EVENT_THROTTLE | (w[0] >> 16 & 1) << 8 } });
			break;
		case TUTTI_CMD_KILL:
			kill_slot(w[0] >> 16 & 0xff);
			break;
		case TUTTI_CMD_SIGNAL:
			if (!user(w[2] | (uint64_t)w[3] << 32, 64))
				later(&(struct tutti_event){ { TUTTI_EVENT_POST_FAULT | TUTTI_CAUSE_UNMAPPED << 8 |
							       (w[1] & 0xffff0000u), w[2], w[3] } });
			break;
		case TUTTI_CMD_FENCE: case TUTTI_CMD_WRITE: case TUTTI_CMD_BLOCK: case TUTTI_CMD_INTERRUPT: case TUTTI_CMD_CONTEXT:
		case TUTTI_CMD_TLB: case TUTTI_CMD_ORDER: case TUTTI_CMD_TRACE: case TUTTI_CMD_NOP:
		case TUTTI_CMD_REPLY: case TUTTI_CMD_SM_MODE:
			break;
		default:
			abort();
		}
	}
}

/* Commands have been taken: the firmware wakes, and perhaps writes more. */
static void wake(void)
{
	unsigned i;

	slow = hal_host_tight = false;
	for (i = 0; i < 4; i++) {
		commands();
		if (attention.idle & ATTEND_CHANNEL)
			channel_event();
		main_settle();
	}
	commands();
}

static void deliver(unsigned most)
{
	commands();
	while (first != last && most--) {
		const uint32_t *w = queue[first % 4096].word;

		if ((w[0] & 0xff) == TUTTI_EVENT_STATE)
			slot[w[0] >> 8 & 0xff].unacknowledged -= w[1];
		hal_host_event(&queue[first++ % 4096]);
		hal_host.time += 100;
		commands();
	}
}

static void message(struct tutti_message *m)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_control *control = (void *)(hal_host.window + d->control.offset);
	struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	struct tutti_message *to = (void *)(hal_host.window + d->host_ring.offset);

	m->id = control->host_ring_tail + 1;
	to[control->host_ring_tail % (d->host_ring.bytes / 64)] = *m;
	control->host_ring_tail++;
	later(&(struct tutti_event){ { TUTTI_EVENT_MESSAGE } });
	deliver(64);
	control->card_ring_head = status->card_ring_tail;
}

static void set_up(void)
{
	struct tutti_message m = { .type = TUTTI_MSG_CONTEXT_CREATE, .context = { .asid = 1, .root = 4096 } };
	struct tutti_kernel_descriptor *d = (void *)objects;
	unsigned q, k;

	firmware_reload();
	hal_host_boot(SMS);
	memset(slot, 0, sizeof(slot));
	memset(ring, 0, sizeof(ring));
	memset(objects, 0, sizeof(objects));
	memset(put, 0, sizeof(put));
	first = last = 0;
	for (k = 0; k < 8; k++)
		d[k] = (struct tutti_kernel_descriptor){ .magic = TUTTI_KERNEL_MAGIC, .version = 1, .kernarg_align = 16,
			.entry_offset = 64, .scalar_blocks = (uint16_t)k, .group_bytes = k * 3000, .private_bytes = 64 * k,
			.barriers = (uint16_t)(k / 2), .flags = k > 1 };
	message(&m);
	for (q = 0; q < QUEUES; q++) {
		m = (struct tutti_message){ .type = TUTTI_MSG_RSB_CREATE, .rsb = { .rsb = (uint16_t)q, .asid = 1 } };
		message(&m);
		m = (struct tutti_message){ .type = TUTTI_MSG_QUEUE_CREATE, .queue = { .queue = (uint16_t)q, .asid = 1,
			.flags = q ? TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB | (q == 2 ? TUTTI_QUEUE_TABLE_DIFFS | TUTTI_QUEUE_OVERLAP : 0) : 0,
			.rsb = (uint16_t)q, .ring = RING_AT + q * RING * 64, .read_index = OBJECTS_AT + 2048 + q * 64,
			.size_log2 = 6, .priority = 5, .timeout_ms = 1000 } };
		message(&m);
	}
}

static void packet(unsigned q)
{
	union tutti_packet *p = &ring[q][put[q]++ % RING];
	unsigned kind = byte(), i, at;

	memset(p, 0, sizeof(*p));
	if (kind % 3 == 0) {
		for (i = 0; i < 64; i++)
			((uint8_t *)p)[i] = (uint8_t)byte();
	} else if (kind % 3 == 1) {
		p->dispatch = (struct tutti_dispatch_packet){ .header = (uint16_t)(TUTTI_PACKET_KERNEL_DISPATCH | (byte() & 0x1f) << 8),
			.setup = 1, .workgroup_x = (uint16_t)(1 + byte() * 4), .workgroup_y = 1, .workgroup_z = 1,
			.ref_num = (uint16_t)(kind & 8 ? TUTTI_REF_STORE | kind >> 5 : 0), .grid_x = 1 + byte() * 16, .grid_y = 1,
			.grid_z = 1, .group_bytes = byte() * 512, .kernel_object = OBJECTS_AT + (byte() & 7) * 64,
			.signal = byte() & 1 ? OBJECTS_AT + 3072 : 0 };
	} else {
		p->condensed.type = TUTTI_PACKET_CONDENSED;
		p->condensed.num_kernels = (uint8_t)(byte() % 34);
		for (i = 0; i < TUTTI_CONDENSED_UNITS; i++)
			p->condensed.unit[i] = kind & 4 ? (uint16_t)(byte() & 7) : (uint16_t)(byte() | byte() << 8);
	}
	for (i = byte() % 4; i; i--) { /* and a few bytes of damage */
		at = byte() % 64;
		((uint8_t *)p)[at] = (uint8_t)byte();
	}
}

static void settle_some_ctas(unsigned choice)
{
	unsigned s = choice % SLOTS, sm = choice / SLOTS % SMS, tried;

	for (tried = 0; tried < SLOTS * SMS; tried++, sm = sm + 1 == SMS ? (s = (s + 1) % SLOTS, 0) : sm + 1)
		if (slot[s].running[sm] && !slot[s].faulted) {
			if (choice >= 250) {
				slot[s].faulted = true;
				later(&(struct tutti_event){ { TUTTI_EVENT_FAULT | s << 8 | TUTTI_CAUSE_ILLEGAL << 16, sm, 0, 0, 0, 0,
							       TUTTI_ENGINE_WAVE } });
			} else {
				complete(s, sm, choice & 1 ? slot[s].running[sm] : 1);
			}
			return;
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	unsigned rounds = 0, q;
	struct tutti_message m;

	input = data;
	input_end = data + bytes;
	hal_host_acknowledge = bytes & 1; /* half of all inputs */
	slow = false;
	set_up();
	shared_blocks = 64;
	slow = bytes && data[bytes - 1] & 1;
	while (input < input_end && rounds++ < 2000) {
		unsigned op = byte();

		q = op / 8 % QUEUES;
		switch (op % 8) {
		case 0: case 1:
			packet(q);
			break;
		case 2:
			later(&(struct tutti_event){ { TUTTI_EVENT_DOORBELL, 1u << q } });
			break;
		case 3: case 4:
			settle_some_ctas(byte());
			break;
		case 5:
			m = (struct tutti_message){ .type = TUTTI_MSG_QUEUE_RESET };
			m.arg[0] = q;
			message(&m);
			break;
		case 6:
			hal_host.time += (uint64_t)byte() << 20;
			later(&(struct tutti_event){ { TUTTI_EVENT_TIMER } });
			break;
		default:
			objects[byte() * 2] = (uint8_t)byte();
			if (op & 64) {
				memset(&m, 0, sizeof(m));
				m.type = (uint16_t)(byte() % (TUTTI_MSG_OCCUPANCY + 1));
				for (unsigned i = 0; i < 48; i++)
					((uint8_t *)m.arg)[i] = (uint8_t)byte();
				message(&m);
			}
		}
		deliver(op >> 5);
	}
	for (q = 0; q < 8; q++) {
		wake();
		deliver(5000);
	}
	return 0;
}

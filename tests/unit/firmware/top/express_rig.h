/* SPDX-License-Identifier: MIT */
/*
 * A card of 20 SMs and two queues for the tests of how one kernel follows another: it takes every command at once, checks that
 * CTAs go where an oracle places them, and ends kernels when it is told to.
 */
#ifndef EXPRESS_RIG_H
#define EXPRESS_RIG_H

#include "core/counters.h"
#include "core/task_record.h"
#include "core/wait.h"
#include "fw_rig.h"
#include "queues/launch_plain.h"
#include "top/main.h"

#define ASID 3u
#define SMS 20u
#define KERNEL_AT 0x1100400000ull
#define SIGNAL_AT 0x2130000000ull
#define TMD_AT 0x4350000000ull
#define RING 64u

static union tutti_packet ring[2][RING];
static uint64_t written[2];

/* Kernels that were launched, in order. */
static struct run {
	unsigned queue, slot, ctas;
	uint32_t mask, kernarg;
	bool running;
} run[256];
static unsigned runs;
static uint64_t signalled[256];
static unsigned signals, releases, acquires;
static uint8_t used[SMS]; /* CTAs on each SM */
static unsigned slot_queue[FW_TASKS];
static uint32_t slot_kernarg[FW_TASKS];
static struct tutti_task_state states[256]; /* of the tasks, in order */
static unsigned tasks_told, alike;          /* all of them, and those for which a kept state was used again */
static uint16_t more_registers;             /* of all kernels */

/* The SMs of @n CTAs that are placed one after another, each where the fewest run, the first of those. */
static inline uint32_t oracle(unsigned n)
{
	uint32_t mask = 0;

	while (n--) {
		unsigned best = 0, s;

		for (s = 1; s < SMS; s++)
			if (used[s] < used[best])
				best = s;
		used[best]++;
		mask |= 1u << best;
	}
	return mask;
}

static inline void launched(const uint32_t *w, unsigned words)
{
	struct run *r = &run[runs++];
	unsigned s;

	assert_int_equal(words, 3);
	assert_int_equal(w[1], 1 | 1u << 24);
	*r = (struct run){ slot_queue[w[0] >> 16 & 31], w[0] >> 16 & 31, (unsigned)__builtin_popcount(w[2]), w[2],
			   slot_kernarg[w[0] >> 16 & 31], true };
	for (s = 0; s < runs - 1; s++)
		assert_false(run[s].running && run[s].slot == r->slot);
	assert_int_equal(oracle(r->ctas), r->mask);
}

static inline void state(const uint32_t *w)
{
	uint32_t full[STATE_WORDS];
	const struct tutti_task_state *task = (const void *)full;

	command_task_state(w, full);
	slot_queue[w[0] >> 24] = task->queue;
	slot_kernarg[w[0] >> 24] = (uint32_t)task->kernarg;
	acquires += (w[0] & 0xff) == TUTTI_CMD_TASK && w[0] >> 16 & TUTTI_HEADER_SCOPE;
	states[tasks_told++ % 256] = *task;
}

static inline void pump(void)
{
	static const struct tutti_tmd metadata = { .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
	struct tutti_kernel_descriptor descriptor = rig_descriptor();
	const uint32_t *w;
	unsigned words, q;

	command_publish();
	while ((w = hal_host_command(&words))) {
		uint64_t address = words > 3 ? w[2] | (uint64_t)w[3] << 32 : 0;

		switch (w[0] & 0xff) {
		case TUTTI_CMD_FETCH:
			q = (unsigned)(address - RIG_RING) / 4096;
			if ((w[0] >> 16 & TAG_KIND) == TAG_KERNEL) {
				descriptor.scalar_blocks = (uint16_t)((uint16_t)(address - KERNEL_AT) / 64 + more_registers);
				memcpy(hal_pointer(w[5]), &descriptor, sizeof(descriptor));
			} else if ((w[0] >> 16 & TAG_KIND) == TAG_PACKETS) {
				memcpy(hal_pointer(w[5]), (uint8_t *)ring[q] + (address - RIG_RING) % 4096, w[4]);
			} else if ((w[0] >> 16 & TAG_KIND) == TAG_TMD) {
				memcpy(hal_pointer(w[5]), &metadata, w[4]);
			}
			rig_event(TUTTI_EVENT_FETCH | (w[0] & 0xffff0000u), 0, 0);
			break;
		case TUTTI_CMD_STATE:
		case TUTTI_CMD_TASK:
			state(w);
			break;
		case TUTTI_CMD_LAUNCH:
			launched(w, words);
			break;
		case TUTTI_CMD_SIGNAL:
			signalled[signals++] = address;
			break;
		case TUTTI_CMD_FENCE:
			*(w[0] >> 16 & TUTTI_FENCE_RELEASE ? &releases : &acquires) += 1;
			break;
		case TUTTI_CMD_SCRUB:
			q = (unsigned)(address - RIG_RING) / 4096;
			for (unsigned i = 0; i < w[4]; i++)
				ring[q][(address - RIG_RING) % 4096 / 64 + i].dispatch.header = TUTTI_PACKET_INVALID;
			break;
		}
		command_publish();
	}
}

static inline void begin(void)
{
	rig_boot(SMS, ASID);
	for (unsigned q = 0; q < 2; q++) {
		for (unsigned i = 0; i < RING; i++)
			ring[q][i].dispatch.header = TUTTI_PACKET_INVALID;
		rig_rsb(q, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	}
	memset(written, 0, sizeof(written));
	memset(used, 0, sizeof(used));
	runs = signals = releases = acquires = tasks_told = alike = more_registers = 0;
}

static inline struct tutti_dispatch_packet plain(unsigned ctas, unsigned kernel, uint64_t signal)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT + 64 * kernel);

	p.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, true, TUTTI_SCOPE_AGENT,
				signal ? TUTTI_SCOPE_SYSTEM : TUTTI_SCOPE_NONE);
	p.grid_x = 64 * ctas;
	p.signal = signal;
	p.kernarg = 16 * written[0];
	return p;
}

static inline void put(unsigned q, const void *packet)
{
	memcpy(&ring[q][written[q]++ % RING], packet, 64);
}

static inline void put_plain(unsigned q, unsigned ctas, unsigned kernel, uint64_t signal)
{
	struct tutti_dispatch_packet p = plain(ctas, kernel, signal);

	put(q, &p);
}

static inline void bell(unsigned q)
{
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	pump();
}

static inline unsigned running(unsigned q)
{
	unsigned i, n = 0;

	for (i = 0; i < runs; i++)
		n += run[i].running && run[i].queue == q;
	return n;
}

/* All CTAs of kernel @i end at once. */
static inline void end_run(unsigned i)
{
	unsigned s;

	run[i].running = false;
	for (s = 0; s < SMS; s++)
		used[s] -= run[i].mask >> s & 1;
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | run[i].slot << 8 | 1u << 24, 1, run[i].ctas, run[i].mask } });
	pump();
}

/* The CTAs of the kernel that runs in queue @q end. */
static inline void end(unsigned q)
{
	unsigned i = 0;

	while (!(run[i].running && run[i].queue == q))
		i++;
	end_run(i);
}

static inline void nothing_left(void)
{
	const struct task *task;
	unsigned free = 0;

	assert_int_equal(place_state.residents, 0);
	assert_int_equal(shape_last->residents, 0);
	assert_int_equal(shape_last->tasks, 0);
	assert_int_equal(shape_last->lake.top->count, SMS);
	assert_int_equal((unsigned)(shape_last->lake.top - shape_last->lake.row), shape_last->capacity);
	for (task = task_table.free; task; task = task->next) {
		assert_int_equal(task->state, TASK_FREE);
		assert_int_equal(task->resident | task->unissued | task->rare, 0);
		free++;
	}
	assert_int_equal(free, fw.tasks);
}

#endif

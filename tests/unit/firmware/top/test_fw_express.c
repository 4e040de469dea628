// SPDX-License-Identifier: MIT
/*
 * From the end of a kernel straight to the next one of its queue: whatever that one is like, CTAs go where the oracle, which
 * places them one by one, says, and nothing is lost or counted twice.
 */
#include "core/counters.h"
#include "core/task_record.h"
#include "core/wait.h"
#include "fw_rig.h"
#include "queues/launch_plain.h"
#include "top/main.h"

#define ASID 3u
#define SMS 20u
#define KERNEL_AT 0x400000ull
#define SIGNAL_AT 0x30000000ull
#define TMD_AT 0x50000000ull
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
static unsigned alike_metadata;             /* how many of the latter have metadata */
static uint16_t more_registers;             /* of all kernels */

/* The SMs of @n CTAs that are placed one after another, each where the fewest run, the first of those. */
static uint32_t oracle(unsigned n)
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

static void launched(const uint32_t *w, unsigned words)
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

static void state(const uint32_t *w)
{
	uint32_t full[STATE_WORDS];
	const struct tutti_task_state *task = (const void *)full;

	command_task_state(w, full);
	slot_queue[w[0] >> 24] = task->queue;
	slot_kernarg[w[0] >> 24] = (uint32_t)task->kernarg;
	acquires += (w[0] & 0xff) == TUTTI_CMD_TASK && w[0] >> 16 & TUTTI_HEADER_SCOPE;
	states[tasks_told++ % 256] = *task;
}

static void pump(void)
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

static void begin(void)
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

static struct tutti_dispatch_packet plain(unsigned ctas, unsigned kernel, uint64_t signal)
{
	struct tutti_dispatch_packet p = rig_packet(KERNEL_AT + 64 * kernel);

	p.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, true, TUTTI_SCOPE_AGENT,
				signal ? TUTTI_SCOPE_SYSTEM : TUTTI_SCOPE_NONE);
	p.grid_x = 64 * ctas;
	p.signal = signal;
	p.kernarg = 16 * written[0];
	return p;
}

static void put(unsigned q, const void *packet)
{
	memcpy(&ring[q][written[q]++ % RING], packet, 64);
}

static void put_plain(unsigned q, unsigned ctas, unsigned kernel, uint64_t signal)
{
	struct tutti_dispatch_packet p = plain(ctas, kernel, signal);

	put(q, &p);
}

static void bell(unsigned q)
{
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	pump();
}

static unsigned running(unsigned q)
{
	unsigned i, n = 0;

	for (i = 0; i < runs; i++)
		n += run[i].running && run[i].queue == q;
	return n;
}

/* All CTAs of kernel @i end at once. */
static void end_run(unsigned i)
{
	unsigned s;

	run[i].running = false;
	for (s = 0; s < SMS; s++)
		used[s] -= run[i].mask >> s & 1;
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | run[i].slot << 8 | 1u << 24, 1, run[i].ctas, run[i].mask } });
	pump();
}

/* Those of the kernel that runs in queue @q do. */
static void end(unsigned q)
{
	unsigned i = 0;

	while (!(run[i].running && run[i].queue == q))
		i++;
	end_run(i);
}

static void nothing_left(void)
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

/* Plain kernels with 1 to 7 CTAs of three shapes, with and without signals, while another queue comes and goes. */
static void plain_kernels(void **unused)
{
	unsigned round, i, k, sent, others = 0, wants[64];
	uint64_t expected[64];

	(void)unused;
	seed(7);
	for (round = 0; round < 200; round++) {
		unsigned ctas = 1 + roll(3), kernel = roll(2), wanted = 0, fences = 0;

		begin();
		for (sent = 0; sent < 40; sent++) {
			uint64_t signal = roll(3) ? SIGNAL_AT + 64 * sent : 0;

			if (!roll(4))
				ctas = 1 + roll(7);
			put_plain(0, ctas, kernel, signal);
			wants[sent] = ctas;
			if (signal)
				expected[wanted++] = signal, fences++;
		}
		bell(0);
		for (i = 0; i < sent; i++) {
			if (!roll(4) && !running(1)) {
				put_plain(1, 1 + roll(3), kernel, 0);
				bell(1);
				others++;
			} else if (!roll(3) && running(1)) {
				end(1);
			}
			assert_int_equal(running(0), 1);
			for (k = 0; !(run[k].running && !run[k].queue);)
				k++;
			assert_int_equal(run[k].ctas, wants[i]);
			end(0);
		}
		while (running(1))
			end(1);
		assert_int_equal(running(0), 0);
		assert_int_equal(signals, wanted);
		assert_memory_equal(signalled, expected, wanted * sizeof(expected[0]));
		assert_int_equal(releases, fences);
		assert_int_equal(acquires, written[0] + written[1]);
		assert_int_equal(queue_at(0)->retired, 40);
		nothing_left();
	}
	assert_true(others > 500);
}

/* The SM of lowest number has become free meanwhile, so the next kernel does not stay where the one before was. */
static void not_the_same_sm(void **unused)
{
	(void)unused;
	begin();
	put_plain(0, 1, 0, 0);
	bell(0);
	for (unsigned i = 0; i < 3; i++)
		put_plain(1, 1, 0, 0);
	bell(1);
	assert_int_equal(run[1].mask, 2);
	end(1);
	assert_int_equal(run[2].mask, 2);
	end(0);
	end(1);
	assert_int_equal(run[3].mask, 1);
	end(1);
	nothing_left();
}

/* A suspended card starts nothing, also where a kernel ends, and goes on afterwards. */
static void suspended(void **unused)
{
	union tutti_packet p = { .word = { 0 } };

	(void)unused;
	for (unsigned form = 0; form < 2; form++) {
		begin();
		if (form) {
			struct tutti_dispatch_packet reference = plain(2, 0, 0);

			reference.ref_num = TUTTI_REF_STORE;
			put(0, &reference);
			bell(0);
			end(0);
			p.condensed.type = TUTTI_PACKET_CONDENSED;
			p.condensed.num_kernels = 4;
			put(0, &p);
		} else {
			for (unsigned i = 0; i < 4; i++)
				put_plain(0, 2, 0, 0);
		}
		bell(0);
		end(0);
		assert_int_equal(running(0), 1);
		queue_suspend();
		end(0);
		assert_int_equal(running(0), 0);
		queue_resume();
		main_settle();
		pump();
		assert_int_equal(running(0), 1);
		end(0);
		end(0);
		assert_int_equal(runs, 4 + form);
		nothing_left();
	}
}

/* Condensed packets of all simple diffs, empty ones most often, against what their units say. */
static void condensed_kernels(void **unused)
{
	unsigned round, packet, k, i;

	(void)unused;
	seed(8);
	for (round = 0; round < 150; round++) {
		uint32_t kernarg[200];
		unsigned ctas[200], wanted = 0, kernels = 0, first;
		uint64_t expected[200];

		begin();
		for (i = 0; i < TUTTI_REFERENCES; i++) {
			struct tutti_dispatch_packet reference = plain(1 + i % 3, 0, i == 7 ? SIGNAL_AT : 0);

			reference.ref_num = (uint16_t)(TUTTI_REF_STORE | i);
			reference.kernarg = 16 * i;
			put(0, &reference);
		}
		bell(0);
		for (i = 0; i < TUTTI_REFERENCES; i++)
			end(0);
		first = runs;
		signals = releases = 0;
		for (packet = 0; packet < 12; packet++) {
			union tutti_packet p = { .word = { 0 } };
			uint16_t *unit = p.condensed.unit;
			unsigned n = 1 + roll(5), ref = roll(8);

			p.condensed.type = TUTTI_PACKET_CONDENSED;
			p.condensed.num_kernels = (uint8_t)n;
			for (k = 0; k < n; k++) {
				unsigned diff = roll(2) ? 0 : roll(4);

				if (!roll(3))
					ref = roll(8);
				ctas[kernels] = 1 + ref % 3;
				kernarg[kernels] = 16 * ref;
				*unit++ = (uint16_t)((diff == 1 ? TUTTI_DIFF_GRID_X : diff == 2 ? TUTTI_DIFF_KERNARG :
						      diff == 3 ? TUTTI_DIFF_SIGNAL : 0) << TUTTI_DIFF_VECTOR_SHIFT | ref);
				if (diff == 1) {
					ctas[kernels] = 1 + roll(6);
					memcpy(unit, &(uint32_t){ 64 * ctas[kernels] }, 4);
					unit += 2;
				} else if (diff == 2) {
					kernarg[kernels] = 0x1000 + 16 * kernels;
					memcpy(unit, &(uint64_t){ kernarg[kernels] }, 8);
					unit += 4;
				}
				if (diff == 3) {
					expected[wanted] = SIGNAL_AT + 64 * (2 + kernels);
					memcpy(unit, &expected[wanted++], 8);
					unit += 4;
				} else if (ref == 7) {
					expected[wanted++] = SIGNAL_AT;
				}
				kernels++;
			}
			put(0, &p);
		}
		bell(0);
		for (i = 0; i < kernels; i++) {
			assert_int_equal(running(0), 1);
			assert_int_equal(runs, first + i + 1);
			assert_int_equal(run[first + i].ctas, ctas[i]);
			assert_int_equal(run[first + i].kernarg, kernarg[i]);
			end(0);
		}
		assert_int_equal(running(0), 0);
		assert_int_equal(signals, wanted);
		assert_memory_equal(signalled, expected, wanted * sizeof(expected[0]));
		assert_int_equal(queue_at(0)->retired, written[0]);
		assert_int_equal(queue_at(0)->rsb->readers, 0);
		nothing_left();
	}
}

/* Where the command ring has too little room, or wraps, the next kernel comes later and is none the worse. */
static void ring_without_room(void **unused)
{
	unsigned i, left;

	(void)unused;
	for (left = COMMAND_OWED + 1; left < COMMAND_WORDS; left += 61) {
		begin();
		for (i = 0; i < 8; i++)
			put_plain(0, 2, 0, SIGNAL_AT);
		bell(0);
		for (i = 0; i < 8; i++) {
			struct run *r = &run[runs - 1];

			hal_host_fill(left);
			r->running = false;
			used[0]--;
			used[1]--;
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | r->slot << 8 | 1u << 24, 1, 2, 3 } });
			pump();
			main_before_idle();
			pump();
		}
		assert_int_equal(runs, 8);
		assert_int_equal(signals, 8);
		nothing_left();
	}
}

/* Change one field of packet @k, or only a field in which packets that are alike may differ. */
static void vary(struct tutti_dispatch_packet *p, unsigned k)
{
	unsigned scope = roll(4);

	p->kernarg = 16 * roll(1000);
	p->signal = roll(3) ? SIGNAL_AT + 64 * k : 0;
	switch (roll(24)) {
	case 0: p->grid_x = 64 * (1 + roll(5)); break;
	case 1: p->workgroup_x = 32 << roll(2); break;
	case 2: p->grid_y = 1 + roll(2), p->setup = 2, p->grid_z = 1; break;
	case 3: p->grid_z = 1 + roll(2), p->setup = 3, p->grid_y = 1; break;
	case 4: p->setup = 1, p->grid_y = p->grid_z = 1; break;
	case 5: p->private_bytes = 16 * roll(3); break;
	case 6: p->group_bytes = 1024 * roll(3); break;
	case 7: p->kernel_object = KERNEL_AT + 64 * roll(3); break;
	case 8: p->header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, true, scope / 2 ? TUTTI_SCOPE_SYSTEM : TUTTI_SCOPE_NONE,
					 scope % 2 ? TUTTI_SCOPE_AGENT : TUTTI_SCOPE_SYSTEM); break;
	case 9: p->ref_num = (uint16_t)(TUTTI_REF_STORE | roll(8)); break;
	case 10: p->ref_num = 0; break;
	case 11: p->tmd = TMD_AT + 256 * roll(2); break;
	case 12: p->tmd = 0; break;
	default: break;
	}
}

/* Run the kernels of 40 packets. @compare: a packet may be compared with the one before */
static void varied(unsigned round, bool compare)
{
	struct tutti_dispatch_packet p;
	const struct kept *kept;

	seed(round);
	begin();
	p = plain(2, 0, 0);
	for (unsigned k = 0; k < 40; k++) {
		vary(&p, k);
		put(0, &p);
	}
	bell(0);
	for (unsigned k = 0; k < 40; k++) {
		if (!roll(30)) {
			more_registers++;
			assert_int_equal(rig_request(TUTTI_MSG_CODE_INVALIDATE, ASID, 0, 0), 0);
		}
		if (!compare)
			launch_forget();
		end(0);
		for (unsigned i = 0; i < runs; i++)
			if (run[i].running) {
				const struct shape *shape = tasks[run[i].slot].shape;
				const struct tutti_task_state *told = &states[tasks_told - 1];

				assert_int_equal(shape->registers, told->scalar_blocks | told->vector_blocks << 16);
				assert_int_equal(shape->shared, told->shared_blocks | told->barriers << 16);
			}
		/* a packet that is decoded leaves its kernarg in the state */
		kept = &launch_kept[queue_at(0)->buffer - 1];
		if (kept->next && kept->state[STATE_AT(kernarg)] != (uint32_t)states[tasks_told - 1].kernarg) {
			alike++;
			alike_metadata += !!states[tasks_told - 1].tmd;
		}
	}
	assert_int_equal(tasks_told, 40);
	nothing_left();
}

/* Whether a packet is compared with the one before or decoded, the card is told the same, and the same references are kept. */
static void alike_packets(void **unused)
{
	static struct tutti_task_state told[256];
	static struct tutti_reference kept[TUTTI_REFERENCES];
	static uint64_t sent[256];
	unsigned all = 0, fences, count;

	(void)unused;
	for (unsigned round = 0; round < 400; round++) {
		varied(round, true);
		all += alike;
		fences = acquires << 16 | releases;
		count = signals;
		memcpy(sent, signalled, sizeof(sent));
		memcpy(told, states, sizeof(told));
		memcpy(kept, reference_buffer(0)->table, sizeof(kept));
		varied(round, false);
		assert_int_equal(alike, 0);
		assert_int_equal(acquires << 16 | releases, fences);
		assert_int_equal(signals, count);
		assert_memory_equal(sent, signalled, count * sizeof(sent[0]));
		assert_memory_equal(told, states, tasks_told * sizeof(states[0]));
		for (unsigned i = 0; i < TUTTI_REFERENCES; i++) {
			struct tutti_reference *now = &reference_buffer(0)->table[i];

			assert_int_equal(now->flags & TUTTI_REFERENCE_VALID, kept[i].flags & TUTTI_REFERENCE_VALID);
			if (now->flags & TUTTI_REFERENCE_VALID)
				assert_memory_equal(now, &kept[i], offsetof(struct tutti_reference, used));
		}
	}
	assert_in_range(all, 400 * 10, 400 * 35);
	assert_in_range(alike_metadata, 400 * 2, 400 * 20);
}

/* The CTAs of a kernel end a few at a time, so the next kernel needs more SMs than those of the last ones that end. */
static void alike_in_parts(void **unused)
{
	(void)unused;
	begin();
	for (unsigned k = 0; k < 8; k++)
		put_plain(0, 4, 0, SIGNAL_AT);
	bell(0);
	for (unsigned k = 0; k < 8; k++) {
		struct run *r = &run[k];

		assert_int_equal(runs, k + 1);
		assert_int_equal(r->ctas, 4);
		r->running = false;
		for (unsigned s = 4; s--;) {
			used[s]--;
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | r->slot << 8 | 1u << 24, 1, 1, 1u << s } });
			pump();
		}
	}
	nothing_left();
}

/* The two fields that packets that are alike may differ in are checked, too. */
static void alike_but_bad(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 10; i++) {
		struct tutti_dispatch_packet p = plain(2, 0, SIGNAL_AT);
		unsigned k, what = i % 5;

		begin();
		p.tmd = i / 5 * TMD_AT;
		for (k = 0; k < 8; k++) {
			if (k == 6 && what == 1)
				p.signal += 32;
			if (k == 6 && what == 2)
				p.signal |= 1ull << 47;
			if (k == 6 && what == 3)
				p.kernarg |= 1ull << 47;
			if (k == 6 && what == 4)
				p.kernarg |= 1ull << 63;
			put(0, &p);
		}
		bell(0);
		for (k = 0; running(0); k++)
			end(0);
		assert_int_equal(k, what ? 6 : 8);
		assert_int_equal(queue_at(0)->state, what ? QUEUE_STOPPED : QUEUE_RUNNING);
		assert_int_equal(queue_at(0)->error, what ? TUTTI_ERROR_PACKET : 0);
		assert_int_equal(queue_at(0)->head, k);
	}
}

/* A wrong ref_num stops the queue, wherever the packet comes, and no reference is stored. */
static void bad_references(void **unused)
{
	static const uint16_t bad[] = { 3, TUTTI_REF_STORE | 8, TUTTI_REF_STORE | 0x4000 };
	struct tutti_dispatch_packet p = plain(2, 0, 0);

	(void)unused;
	for (unsigned i = 0; i < 6; i++) {
		begin();
		p.ref_num = 0;
		if (i / 3)
			put(0, &p);
		p.ref_num = bad[i % 3];
		put(0, &p);
		bell(0);
		if (i / 3)
			end(0);
		assert_int_equal(runs, i / 3);
		assert_int_equal(queue_at(0)->error, TUTTI_ERROR_PACKET);
		assert_int_equal(reference_buffer(0)->valid, 0);
	}
}

/* A reference is not stored while kernels have yet to read the buffer, or the engines the entry; the packet waits. */
static void references_in_use(void **unused)
{
	struct tutti_dispatch_packet p = plain(2, 0, 0);
	struct rsb *rsb;

	(void)unused;
	for (unsigned i = 0; i < 3; i++) {
		begin();
		rsb = reference_buffer(0);
		p.ref_num = 0;
		if (i)
			put(0, &p);
		p.ref_num = TUTTI_REF_STORE | 3;
		put(0, &p);
		rsb->readers = i < 2;
		bell(0);
		if (i) {
			run[0].running = false;
			used[0]--;
			used[1]--;
			if (i == 2) { /* the last eight words are not taken, and one of them refers to the entry */
				HAL_ENGINES->command_head -= 8;
				rsb->table[3].used = command_tail() - 2;
			}
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | run[0].slot << 8 | 1u << 24, 1, 2, 3 } });
			assert_int_equal(queue_at(0)->wait, i == 2 ? WAIT_ROOM : WAIT_RSB);
			if (i == 2)
				HAL_ENGINES->command_head += 8;
		}
		assert_int_equal(runs, !!i);
		assert_int_equal(rsb->valid, 0);
		rsb->readers = 0;
		wait_wake(WAIT_RSB);
		main_settle();
		pump();
		assert_int_equal(runs, 1 + !!i);
		assert_int_equal(rsb->valid, 1 << 3);
		end(0);
		nothing_left();
	}
}

/* A packet that equals the one before needs its metadata even if a plain kernel that ran beside that one ends last. */
static void alike_beside_a_plain_one(void **unused)
{
	struct tutti_dispatch_packet p = plain(2, 0, 0);

	(void)unused;
	begin();
	put(0, &p);
	p.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
	p.tmd = TMD_AT;
	put(0, &p);
	put(0, &p);
	p.header |= TUTTI_HEADER_BARRIER;
	put(0, &p);
	put(0, &p);
	bell(0);
	assert_int_equal(runs, 3);
	end_run(1);
	end_run(2);
	end_run(0);
	assert_int_equal(runs, 4);
	end_run(3);
	assert_int_equal(runs, 5);
	for (unsigned k = 0; k < 5; k++)
		assert_int_equal(states[k].tmd, k ? TMD_AT : 0);
	end_run(4);
	nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PERF-12 PKT-03 PKT-04", plain_kernels),
		RIG_TEST("PERF-12 CGA-06", not_the_same_sm),
		RIG_TEST("PERF-12 SYS-08", suspended),
		RIG_TEST("PERF-12 PKT-16 PKT-17", condensed_kernels),
		RIG_TEST("PERF-12 REL-11", ring_without_room),
		RIG_TEST("PERF-12 PKT-03 PKT-08 PKT-09", alike_packets),
		RIG_TEST("PERF-12 TSK-08", alike_in_parts),
		RIG_TEST("PERF-12 PKT-06", alike_but_bad),
		RIG_TEST("PERF-12 TSK-01", alike_beside_a_plain_one),
		RIG_TEST("PERF-12 PKT-08", bad_references),
		RIG_TEST("PERF-12 PKT-11", references_in_use),
	};

	return cmocka_run_group_tests_name("firmware: one kernel after another", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Packets that follow the end of a kernel: whether one is compared with the one before, decoded, kept as a reference, refused
 * or made to wait, the card is told what the packet says.
 */
#include "express_rig.h"

static unsigned alike_metadata; /* kernels with metadata for which a kept state was used again */

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
		if (kept->next > (KEPT_METADATA | KEPT_OWN) && kept->state[STATE_AT(kernarg)] != (uint32_t)states[tasks_told - 1].kernarg) {
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
		RIG_TEST("PERF-12 PKT-03 PKT-08 PKT-09", alike_packets),
		RIG_TEST("PERF-12 TSK-08", alike_in_parts),
		RIG_TEST("PERF-12 PKT-06", alike_but_bad),
		RIG_TEST("PERF-12 TSK-01", alike_beside_a_plain_one),
		RIG_TEST("PERF-12 PKT-08", bad_references),
		RIG_TEST("PERF-12 PKT-11", references_in_use),
	};

	return cmocka_run_group_tests_name("firmware: packets that are alike", tests, NULL, NULL);
}

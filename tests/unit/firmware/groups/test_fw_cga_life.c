/* SPDX-License-Identifier: MIT */
/*
 * Kernels with and without CGAs on a card whose CTAs end in any order: nothing is lost or done twice, a CGA runs as a
 * whole, no id is used before its flush, no SM is over-booked, and no kernel starves.
 */
#include "fw_life.h"

#include "tasks/patience.h"

static void random_lives(void **unused)
{
	unsigned round, i, k, all = 0, lost = 0;

	for (round = 0; round < 40; round++) {
		uint16_t sms[8];
		unsigned gpcs = 1 + roll(8);

		seed(500 + round);
		gpcs = 1 + roll(8);
		for (i = 0; i < gpcs; i++)
			sms[i] = (uint16_t)(6 + roll(20));
		begin(sms, gpcs);
		for (k = 0; k < KERNELS / 2; k++) {
			cga_kernel(k, 1 + roll(4), 1 + roll(4), 1 + roll(2), 1);
			if (descriptor[k].cga_kind <= TUTTI_CGA_GPC && !roll(3))
				descriptor[k].flags |= TUTTI_KERNEL_LMEM;
		}
		if (roll(2))
			assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, 0), 0);
		for (i = 0; i < 300; i++) {
			unsigned q = roll(QUEUES);

			k = roll(KERNELS);
			if (!roll(3) && written[q] - queues[q].head < RING - 2)
				submit(q, k, 4 * 3 * (1 + roll(3)), 2 * (1 + roll(2)), 1);
			else if (pooled && roll(3))
				deliver(roll(pooled));
			else
				end_some();
		}
		run_down();
		check_idle();
		for (i = 0; i < QUEUES; i++)
			errors += queues[i].state == QUEUE_STOPPED;
		all += cgas_started;
		for (i = 1; i <= submitted && !errors; i++)
			lost += !signalled[i];
		assert_int_equal(lost, 0);
	}
	assert_true(all > 20000);
}

/* A task whose CTA is told to have made a bad access is killed, its CGAs end, ids come back, others go on. */
static void faults(void **unused)
{
	static const uint16_t sms[] = { 18, 16, 16 };
	unsigned round, gpc, id, other;

	for (round = 0; round < 50; round++) {
		seed(900 + round);
		begin(sms, 3);
		cga_kernel(0, TUTTI_CGA_GPC, 4, 1, 1);
		cga_kernel(1, TUTTI_CGA_GPC, 2, 2, 1);
		submit(0, 0, 400, 1, 1);
		other = submit(1, 1, 40, 2, 1);
		deliver_all();
		gpc = id = 0;
		while (!identity[gpc][id].used || identity[gpc][id].slot != 0)
			if (++id == IDS)
				gpc++, id = 0;
		if (round & 1) {
			rig_event(TUTTI_EVENT_CGA_FAULT | gpc << 8 | id << 16 | TUTTI_CAUSE_CGA_EXITED << 24, 3, 1);
			take_commands();
			assert_true(card_slot[0].killing || !card_slot[0].busy);
		}
		/* of a CGA that is gone: dropped */
		rig_event(TUTTI_EVENT_CGA_FAULT | 2u << 8 | 200u << 16 | TUTTI_CAUSE_CGA_EXITED << 24, 3, 1);
		run_down();
		check_idle();
		assert_int_equal(queues[0].state, round & 1 ? QUEUE_STOPPED : QUEUE_RUNNING);
		if (round & 1)
			assert_int_equal(queues[0].error, TUTTI_ERROR_CGA);
		assert_int_equal(queues[1].state, QUEUE_RUNNING);
		assert_int_equal(signalled[other], 1);
	}
}

/* What can never fit is refused at once; so are grids that are not made of whole CGAs. */
static void refused(void **unused)
{
	static const uint16_t sms[] = { 4, 6, 5 };
	static const struct { unsigned kind, x, y, z, mode; bool ok; } c[] = {
		{ TUTTI_CGA_GPC, 12, 1, 1, 0, true },   /* two of 32 blocks an SM, 6 SMs */
		{ TUTTI_CGA_GPC, 13, 1, 1, 0, false },
		{ TUTTI_CGA_GPC, 6, 1, 1, 1, true },    { TUTTI_CGA_GPC, 7, 1, 1, 1, false },
		{ TUTTI_CGA_GPU, 5, 3, 2, 0, true },    { TUTTI_CGA_GPU, 31, 1, 1, 0, false },
		{ TUTTI_CGA_UGPU, 20, 1, 1, 0, true },  { TUTTI_CGA_UGPU, 21, 1, 1, 0, false },
		{ TUTTI_CGA_CPC, 12, 1, 1, 0, true },   { TUTTI_CGA_CPC, 13, 1, 1, 0, false },
		{ TUTTI_CGA_GPC, 65535, 65535, 65535, 0, false },
	};
	unsigned i, signal;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		seed(i);
		begin(sms, 3);
		rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, c[i].mode, 0);
		descriptor[0].group_bytes = 2048 * 32;
		cga_kernel(0, c[i].kind, c[i].x, c[i].y, c[i].z);
		signal = submit(0, 0, c[i].x * 2, c[i].y, c[i].z);
		run_down();
		assert_int_equal(queues[0].state, c[i].ok ? QUEUE_RUNNING : QUEUE_STOPPED);
		assert_int_equal(signalled[signal], c[i].ok);
		if (!c[i].ok)
			assert_int_equal(queues[0].error, TUTTI_ERROR_GRID);
		check_idle();
		if (!c[i].ok)
			continue;
		submit(0, 0, c[i].x * 2 - 1, c[i].y, c[i].z);
		run_down();
		assert_int_equal(queues[0].error, TUTTI_ERROR_GRID);
	}
}

/* Grids that are not made of whole groups, along each axis. */
static void not_whole(void **unused)
{
	static const uint16_t sms[] = { 8 };
	static const unsigned groups[][3] = { { 3, 2, 4 }, { 4, 3, 4 }, { 4, 2, 3 }, { 4, 2, 4 } };
	unsigned i, signal;

	for (i = 0; i < 4; i++) {
		begin(sms, 1);
		cga_kernel(0, TUTTI_CGA_GPC, 2, 1, 2);
		descriptor[0].cga[1] = 2;
		signal = submit(0, 0, groups[i][0], groups[i][1], groups[i][2]);
		run_down();
		assert_int_equal(queues[0].error, i < 3 ? TUTTI_ERROR_GRID : 0);
		assert_int_equal(signalled[signal], i == 3);
		check_idle();
	}
}

/* Any grid behind one that has left the description of its CGAs in the task slot: it runs if each axis is made of whole CGAs. */
static void described_but_not_whole(void **unused)
{
	static const uint16_t sms[] = { 8 };
	static const unsigned sizes[][3] = { { 1, 1, 4 }, { 4, 1, 1 }, { 1, 4, 1 }, { 2, 2, 2 }, { 1, 2, 4 }, { 3, 1, 2 },
					     { 1, 3, 1 }, { 2, 1, 3 }, { 1, 1, 1 } };
	unsigned good = 0, all = 0;

	for (unsigned i = 0; i < 9 * 40; i++) {
		const unsigned *one = sizes[i % 9];
		unsigned x, y, z, signal;
		bool whole;

		begin(sms, 1);
		seed(i);
		descriptor[0].group_bytes = 2048;
		cga_kernel(0, TUTTI_CGA_GPC, one[0], one[1], one[2]);
		submit(0, 0, 2 * one[0], one[1], 2 * one[2]);
		run_down();
		x = 1 + roll(12);
		y = 1 + roll(12);
		z = 1 + roll(12);
		if (i & 1) /* all axes but one are whole */
			*(i & 2 ? &x : &y) = one[i & 2 ? 0 : 1], *(i & 4 ? &z : i & 2 ? &y : &x) = one[i & 4 ? 2 : i & 2 ? 1 : 0];
		whole = !(x % one[0] || y % one[1] || z % one[2]);
		signal = submit(0, 0, x, y, z);
		run_down();
		if (signalled[signal] != whole || queues[0].error != (whole ? 0 : TUTTI_ERROR_GRID))
			fail_msg("CGA %ux%ux%u, grid %ux%ux%u: error %u", one[0], one[1], one[2], x, y, z, queues[0].error);
		check_idle();
		good += whole;
		all++;
	}
	assert_in_range(good, all / 8, all - all / 8);
}

/* SMs taken away while a CGA waits: when nothing can help it any more it ends with an error. */
static void disabled_meanwhile(void **unused)
{
	static const uint16_t sms[] = { 4, 4 };
	unsigned signal;

	seed(1);
	begin(sms, 2);
	descriptor[0].group_bytes = descriptor[1].group_bytes = 2048 * 64;
	cga_kernel(1, TUTTI_CGA_GPC, 4, 1, 1);
	submit(0, 0, 8, 1, 1);
	deliver_all();
	signal = submit(1, 1, 8, 1, 1);
	deliver_all();
	assert_int_equal(cgas_started, 0);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, 1, 0), 0);
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 5, 1, 0), 0);
	run_down();
	assert_int_equal(queues[1].error, TUTTI_ERROR_GRID);
	assert_int_equal(signalled[signal], 0);
	check_idle();
}

/* Run one grid of kernel @k, of @ctas CTAs. Return: the error with which its queue stopped, or 0 */
static unsigned one_grid(unsigned k, unsigned ctas)
{
	unsigned before = counters.dispatches, signal = submit(0, k, ctas, 1, 1);
	bool good;

	run_down();
	check_idle();
	good = queues[0].state == QUEUE_RUNNING;
	assert_int_equal(signalled[signal], good);
	assert_int_equal(counters.dispatches - before, good); /* others are refused before they count */
	return queues[0].error;
}

/*
 * A task slot keeps the description of its last CGAs for the next grid with the same ones. It does not outlive what it
 * depends on: the CGA, the mode, the SMs that are enabled, and that a grid consists of whole CGAs.
 */
static void described_again(void **unused)
{
	static const uint16_t sms[] = { 4, 4 };
	unsigned i;

	for (i = 0; i < 5; i++) {
		seed(i);
		begin(sms, 2);
		descriptor[0].group_bytes = descriptor[1].group_bytes = 2048 * 32; /* two on an SM */
		cga_kernel(0, TUTTI_CGA_GPC, i == 1 ? 4 : 6, 1, 1);
		cga_kernel(1, TUTTI_CGA_GPC, 8, 1, 1);
		for (unsigned n = 0; n < 3; n++)
			assert_int_equal(one_grid(0, 24), 0);
		assert_int_equal(cgas_started, i == 1 ? 18 : 12);
		switch (i) {
		case 0:
			assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, 0), 0);
			assert_int_equal(one_grid(0, 24), TUTTI_ERROR_GRID); /* six SMs for each */
			break;
		case 1:
			for (unsigned sm = 0; sm < 8; sm += 4)
				for (unsigned two = 1; two < 4; two++)
					assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, sm + two, 1, 0), 0);
			assert_int_equal(one_grid(0, 24), TUTTI_ERROR_GRID); /* one SM is left in each GPC */
			break;
		case 2:
			assert_int_equal(one_grid(1, 24), 0);
			assert_int_equal(cgas_started, 15);
			assert_int_equal(one_grid(0, 24), 0);
			assert_int_equal(cgas_started, 19);
			break;
		case 3:
			assert_int_equal(one_grid(0, 20), TUTTI_ERROR_GRID);
			break;
		default:
			descriptor[0].group_bytes = 2048 * 64; /* one on an SM */
			assert_int_equal(rig_request(TUTTI_MSG_CODE_INVALIDATE, 4, 0, 0), 0);
			assert_int_equal(one_grid(0, 24), TUTTI_ERROR_GRID);
		}
	}
}

/* SMs in the order in which they get CTAs. */
static struct starts {
	uint16_t sm[20000];
	unsigned n;
} *starts;

static void note_start(unsigned slot, unsigned sm)
{
	assert_true(starts->n < sizeof(starts->sm) / sizeof(starts->sm[0]));
	starts->sm[starts->n++] = (uint16_t)sm;
}

/* Rows of grids of one or two CGAs, beside each other and beside plain ones. @flags: of the queues */
static void row_of_grids(unsigned number, unsigned flags, struct starts *log)
{
	uint16_t sms[8];
	unsigned gpcs, i;

	seed(number);
	gpcs = 1 + roll(number % 3 ? 3 : 8);
	for (i = 0; i < gpcs; i++)
		sms[i] = (uint16_t)(4 + roll(7));
	begin(sms, gpcs);
	starts = log;
	starts->n = 0;
	hook.started = note_start;
	for (i = 0; i < KERNELS; i++)
		descriptor[i].group_bytes = 2048 * (i < 4 ? 16 : 24); /* one other shape */
	cga_kernel(0, TUTTI_CGA_GPC, 4, 1, 1);
	cga_kernel(1, number % 4 ? TUTTI_CGA_GPC : TUTTI_CGA_CPC, 2, 1, 1);
	cga_kernel(2, TUTTI_CGA_GPC, 3, 1, 1);
	cga_kernel(4, TUTTI_CGA_GPC, 4, 1, 1);
	if (number % 7 == 3)
		descriptor[0].flags |= TUTTI_KERNEL_LMEM;
	if (number % 5 == 4)
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST, 0), 0);
	for (i = 0; i < QUEUES; i++)
		queues[i].flags |= (uint16_t)flags;
	header_bits = (uint16_t)(TUTTI_HEADER_BARRIER | number % 3 << TUTTI_HEADER_ACQUIRE_SHIFT |
				 number / 3 % 3 << TUTTI_HEADER_RELEASE_SHIFT);
	acquired = released = 0;
	/* once a kernel's descriptor is there, commands and thus their answers come in the same order in both ways */
	for (i = 0; i < 5; i++)
		submit(0, i, 12, 1, 1);
	run_down();
	for (i = 0; i < 400; i++) {
		unsigned q = roll(number % 2 ? 1 : 3), k = roll(8) ? number % 3 : roll(5);
		unsigned ctas = k == 3 ? 12 : descriptor[k].cga[0] * (1u + !roll(6));

		if (!roll(3) && (uint32_t)written[q] - queues[q].retired < RING - 2)
			submit(q, k, ctas, 1, 1);
		else if (pooled && roll(3))
			deliver(roll(pooled));
		else if (roll(8))
			end_whole();
		else
			end_some();
	}
	run_down();
	check_idle();
	for (i = 0; i < QUEUES; i++)
		assert_int_equal(queues[i].state, QUEUE_RUNNING);
	hook.started = NULL;
	header_bits = 0;
	/* every kernel has its fences, however it has come to its SMs (PKT-03) */
	assert_int_equal(counters.dispatches, submitted);
	assert_int_equal(acquired, number % 3 ? submitted : 0);
	assert_int_equal(released, number / 3 % 3 ? submitted : 0);
}

/*
 * A CGA that takes over from the one that has ended gets the SMs that a search would have found. A queue whose condensed
 * kernels may overlap does not let it take over.
 */
static void takes_over(void **unused)
{
	static struct starts quick, searched;

	for (unsigned number = 0; number < 150; number++) {
		row_of_grids(number, 0, &quick);
		row_of_grids(number, TUTTI_QUEUE_OVERLAP, &searched);
		for (unsigned i = 0; i < quick.n || i < searched.n; i++)
			if (quick.sm[i] != searched.sm[i])
				fail_msg("run %u: CTA %u on SM %u, not %u", number, i, quick.sm[i], searched.sm[i]);
	}
}

static void any_state(unsigned slot, const struct tutti_task_state *state)
{
}

/*
 * A grid of CGAs that has started straight from its packet, and still has some to issue, gives its only task slot to a kernel of
 * higher priority. It goes on with whole CGAs, which own linear memory slots as before.
 */
static void evicted(void **unused)
{
	static const uint16_t sms[] = { 8, 8 };
	unsigned cgas, plain;

	seed(1);
	begin(sms, 2);
	task_table.free->next = NULL; /* one slot */
	hook.state = any_state; /* also where another task has left */
	queues[1].priority = 1;
	descriptor[0].group_bytes = descriptor[1].group_bytes = 2048 * 32;
	cga_kernel(0, TUTTI_CGA_GPC, 4, 2, 1);
	descriptor[0].flags |= TUTTI_KERNEL_LMEM;
	cgas = submit(0, 0, 40, 2, 1);
	deliver_all();
	assert_int_equal(cgas_started, 4);
	plain = submit(1, 1, 1, 1, 1);
	while (!signalled[plain])
		if (pooled)
			deliver(0);
		else
			end_some();
	assert_int_equal(counters.evictions, 1);
	assert_int_equal(signalled[cgas], 0);
	while (cgas_started < 6)
		if (pooled)
			deliver(0);
		else
			end_some();
	assert_true(cga_ids_lmem_free() < cga_ids_lmem_slots());
	run_down();
	assert_int_equal(signalled[cgas], 1);
	assert_int_equal(cgas_started, 10);
	check_idle();
	hook.state = NULL;
}

/* Plain work of the highest priority without end: a CGA of a whole GPC still starts (CGA-05). */
static void no_starvation(void **unused)
{
	static const uint16_t sms[] = { 8, 4, 8 };
	unsigned patience, i, started = 0, before, held = 0, signal;

	for (patience = 4; patience <= 256; patience *= 8) {
		seed(patience);
		begin(sms, 3);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_PATIENCE, patience, 0), 0);
		descriptor[0].group_bytes = 2048 * 16;
		descriptor[1].group_bytes = 2048 * 64;
		cga_kernel(1, TUTTI_CGA_GPC, 8, 1, 1);
		submit(0, 0, 1000000, 1, 1);
		deliver_all();
		signal = submit(1, 1, 16, 1, 1);
		deliver_all();
		before = cgas_started;
		for (i = 0; cgas_started == before && i < 20000; i++) {
			struct tutti_event event;

			assert_true(card_complete(0, &event, false));
			card_slot[0].late++;
			later(&event);
			deliver_all();
			/* GPC 1 is no candidate: it is never idle */
			if (patience_holder) {
				held++;
				for (unsigned sm = 8; sm < 12; sm++)
					assert_true(card_sm[sm].ctas >= 3);
			}
		}
		assert_true(cgas_started > before && i >= patience && i < patience + 2000);
		started++;
		(void)signal;
	}
	assert_true(started && held);
}

/* One CTA in task slot 0 ends. */
static void end_first(void)
{
	struct tutti_event event;

	assert_true(card_complete(0, &event, false));
	card_slot[0].late++;
	later(&event);
	deliver_all();
}

/* Domains are held for a CGA. A task of higher priority may use them nevertheless, one of the same priority may not. */
static void passes_a_hold(void **unused)
{
	static const uint16_t sms[] = { 8 };
	unsigned i;

	(void)unused;
	seed(2);
	begin(sms, 1);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CGA_PATIENCE, 4, 0), 0);
	descriptor[0].group_bytes = 2048 * 16;
	descriptor[1].group_bytes = 2048 * 64;
	cga_kernel(1, TUTTI_CGA_GPC, 8, 1, 1);
	queues[2].priority = queues[0].priority - 1;
	submit(0, 0, 1000000, 1, 1);
	deliver_all();
	submit(1, 1, 8, 1, 1);
	for (i = 0; i < 1000 && !patience_holder; i++)
		end_first();
	assert_non_null(patience_holder);
	submit(2, 0, 8, 1, 1);
	submit(3, 0, 8, 1, 1);
	for (i = 0; i < 12; i++)
		end_first();
	assert_non_null(patience_holder);
	assert_int_equal(card_slot[2].launched, 8);
	assert_int_equal(card_slot[3].launched, 0);
	assert_int_equal(cgas_started, 0);
}

/* The largest card: more free slots than there are rows, few ids for each GPC. */
static void large_card(void **unused)
{
	uint16_t sms[GPCS];
	unsigned i, round, signal;

	for (i = 0; i < GPCS; i++)
		sms[i] = 16;
	seed(4);
	begin(sms, GPCS);
	descriptor[0].group_bytes = 0;
	cga_kernel(0, TUTTI_CGA_GPC, 16, 1, 1);
	for (round = 0; round < 20; round++) {
		signal = submit(0, 0, 16 * (round < 10 ? 1 : 200), 1, 1);
		run_down();
		assert_int_equal(signalled[signal], 1);
		check_idle();
	}
}

/* SMs have more free slots than there are rows, so the rows are filled twice, the second time with the CGAs that are left. */
static void rows_filled_twice(void **unused)
{
	enum { CTAS = 32, FIRST = GPCS * (DOMAIN_ROWS / GPCS * 16 / CTAS) }; /* CGAs for which the rows have room */
	uint16_t sms[GPCS];

	for (unsigned i = 0; i < GPCS; i++)
		sms[i] = 16;
	for (unsigned cgas = FIRST + 1; cgas < FIRST + 10; cgas++) {
		seed(cgas);
		begin(sms, GPCS);
		descriptor[0].group_bytes = 0;
		cga_kernel(0, TUTTI_CGA_GPC, CTAS, 1, 1);
		submit(0, 0, CTAS * cgas, 1, 1);
		deliver_all();
		assert_int_equal(cgas_started, cgas);
		run_down();
		check_idle();
	}
}

/* A CGA that waits only for an identity starts as soon as the shared memory of the last one with it has been flushed. */
static void starts_when_flushed(void **unused)
{
	static const uint16_t sms[] = { 16 };

	seed(5);
	begin(sms, 1);
	descriptor[0].group_bytes = 0;
	cga_kernel(0, TUTTI_CGA_GPC, 2, 1, 1);
	submit(0, 0, 2 * (IDS + 2), 1, 1);
	deliver_all();
	assert_int_equal(cgas_started, IDS);
	for (unsigned n = 1; n <= 2; n++) {
		end_whole();
		deliver_all();
		assert_int_equal(cgas_started, IDS + n);
	}
	run_down();
	check_idle();
}

/*
 * A kernel that is new while CGAs of its shape run: the rows lead once more, from what is free then, unless its own
 * CGAs have no ids; in the end the lakes are full again.
 */
static void lead_again(void **unused)
{
	static const uint16_t sms[] = { 8, 8 };
	unsigned signal, kind;

	for (kind = TUTTI_CGA_CPC; kind <= TUTTI_CGA_GPU; kind++) {
		seed(kind);
		begin(sms, 2);
		descriptor[0].group_bytes = descriptor[1].group_bytes = 2048 * 8;
		cga_kernel(0, TUTTI_CGA_GPC, 4, 1, 1);
		cga_kernel(1, kind, 3, 2, 1);
		submit(0, 0, 20, 1, 1);
		deliver_all();
		assert_true(gpc_rows_lead() && place_state.residents == 20);
		signal = submit(1, 1, 6, 2, 1);
		deliver_all();
		assert_int_equal(gpc_rows_lead(), kind <= TUTTI_CGA_GPC);
		assert_int_equal(place_state.residents, 32);
		/* its shape is known by now, so the rows are not computed again */
		submit(0, 0, 4, 1, 1);
		submit(1, 1, 3, 2, 1);
		run_down();
		assert_int_equal(signalled[signal], 1);
		check_idle();
		submit(0, 0, 4, 1, 1);
		deliver_all();
		submit(1, 1, 3, 2, 1);
		run_down();
		check_idle();
	}
}

/*
 * CGAs fill the card when a plain grid of their shape and of higher priority comes. What their ends free is its, though
 * only the rows of GPCs know of it (RES-01).
 */
static void plain_of_the_same_shape(void **unused)
{
	static const uint16_t sms[] = { 8, 8 };
	unsigned cgas, plain, i;

	seed(3);
	begin(sms, 2);
	queues[1].priority = 1;
	descriptor[0].group_bytes = descriptor[1].group_bytes = 2048 * 16;
	cga_kernel(0, TUTTI_CGA_GPC, 4, 1, 1);
	cgas = submit(0, 0, 400, 1, 1);
	deliver_all();
	/* the rows begin to lead on a full card, so the lake is dry for as long as they do */
	domain_settle();
	submit(2, 0, 400, 1, 1);
	deliver_all();
	assert_true(gpc_rows_lead() && place_state.residents == 64);
	assert_ptr_equal(domains.shape->lake.top, domains.shape->lake.row);
	plain = submit(1, 1, 20, 1, 1);
	deliver_all();
	for (i = 0; !signalled[plain] && i < 10000; i++)
		if (pooled)
			deliver(0);
		else
			end_some();
	assert_int_equal(signalled[plain], 1);
	assert_true(!signalled[cgas] && cgas_started < 60);
	run_down();
	assert_int_equal(signalled[cgas], 1);
	check_idle();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-03 CGA-17 CGA-23 CGA-26 CGA-28 CGA-31", random_lives),
		RIG_TEST("CGA-27", faults),
		RIG_TEST("CGA-05 CGA-04", refused),
		RIG_TEST("CGA-02 CGA-05", not_whole),
		RIG_TEST("CGA-02 CGA-05 PERF-12", described_but_not_whole),
		RIG_TEST("CGA-05 CGA-04", disabled_meanwhile),
		RIG_TEST("CGA-05 PERF-12", described_again),
		RIG_TEST("CGA-11 CGA-26 PERF-12", takes_over),
		RIG_TEST("TSK-03 CGA-02", evicted),
		RIG_TEST("CGA-05 RES-01", no_starvation),
		RIG_TEST("RES-01 CGA-05", passes_a_hold),
		RIG_TEST("CGA-04 CGA-23", large_card),
		RIG_TEST("CGA-04 CGA-14", rows_filled_twice),
		RIG_TEST("CGA-23 CGA-26", starts_when_flushed),
		RIG_TEST("CGA-14", lead_again),
		RIG_TEST("RES-01 CGA-14", plain_of_the_same_shape),
	};

	return cmocka_run_group_tests_name("firmware: life of CGAs", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Throttle mode (TSK-07): what SMs are told when it begins, changes and ends, on cards of all sizes, and who runs
 * meanwhile.
 */
#include "fw_direct.h"

#include "groups/occupancy.h"
#include "tasks/throttle.h"
#include "tutti/fault.h"

#define SHARED 64u    /* blocks of an SM, of 2 KiB */
#define MOST 256u     /* blocks that one SM can address */
#define MASK TMDS - 1 /* struct tmd[MASK] is used as an affinity mask of 1024 SMs */
#define MASK_AT (TMD_AT + (MASK) * sizeof(tmd[0]))

static unsigned priority; /* of the next throttle tasks; 0: that of their queue */

static uint32_t *mask(void)
{
	return (uint32_t *)(void *)&tmd[MASK];
}

static void open_card(unsigned sms)
{
	start(sms, 0);
	for (unsigned q = 0; q < 4; q++)
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
}

/* A throttle task of @sms SMs with metadata @n, of @groups CTAs, in queue @q. */
static void throttled(unsigned q, unsigned n, unsigned sms, unsigned groups, bool masked)
{
	struct tutti_dispatch_packet p = kernel_packet(0, groups);

	tmd[n] = child(0);
	tmd[n].flags = TUTTI_TMD_THROTTLE | (masked ? TUTTI_TMD_AFFINITY : 0);
	tmd[n].throttle_sms = sms;
	tmd[n].priority = (uint8_t)priority;
	tmd[n].affinity = masked ? MASK_AT : 0;
	p.tmd = TMD_AT + n * sizeof(tmd[0]);
	write_packet(q, &p);
	rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
}

static bool usable(unsigned sm, bool masked)
{
	return shapes.enabled[sm / 32] >> (sm % 32) & 1 && (!masked || mask()[sm / 32] >> (sm % 32) & 1);
}

/* The next command THROTTLE; what comes before is carried out. */
static const uint32_t *next_throttle(unsigned *words)
{
	static uint32_t copy[COMMAND_RECORD];
	const uint32_t *w;

	for (;;) {
		command_publish();
		w = hal_host_command(words);
		assert_non_null(w);
		memcpy(copy, w, *words * 4);
		if ((copy[0] & 0xff) == TUTTI_CMD_THROTTLE)
			return copy;
		take_one(copy, *words);
	}
}

/* SMs are told that the first @n of those that may be used share the shared memory of all; if @n is 0, that all is as usual. */
static void told(unsigned n, bool masked)
{
	uint32_t want[TUTTI_MAX_SMS / 32] = { 0 };
	unsigned words, got = 0, sm;
	const uint32_t *w = next_throttle(&words);

	for (sm = 0; sm < card_sms; sm++)
		if (!n || (got < n && usable(sm, masked))) {
			want[sm / 32] |= 1u << (sm % 32);
			got++;
		}
	assert_int_equal(words, 2 + (card_sms + 31) / 32);
	assert_int_equal(w[0], TUTTI_CMD_THROTTLE | words << 8 | (uint32_t)!!n << 16);
	assert_int_equal(w[1], n ? min32(MOST, card_sms * SHARED / got) : SHARED);
	assert_memory_equal(w + 2, want, 4 * (words - 2));
	assert_memory_equal(shapes.limit, want, 4 * (words - 2));
}

static void taken_by_sms(void)
{
	rig_event(TUTTI_EVENT_THROTTLE, 0, 0);
	take();
}

static void no_more(void)
{
	uint32_t before = counters.throttles;

	take();
	assert_int_equal(counters.throttles, before);
}

/* The last CTA of a task ends. What the firmware writes then is left for told(). */
static void end_last(unsigned slot)
{
	unsigned sm = 0;
	struct tutti_event event = { { TUTTI_EVENT_CTA | slot << 8 | 1u << 24, 1, 1 } };

	while (!running[slot].on[sm])
		sm++;
	event.word[0] |= sm / 32 << 16;
	event.word[3] = 1u << sm % 32;
	running[slot].ctas = 0;
	hal_host_event(&event);
}

/* The mode begins, its task runs on its SMs alone, and the mode ends. */
static void one_task(unsigned sms, unsigned n, bool masked)
{
	unsigned slot, sm, got = 0, k = 0;

	throttled(0, 0, n, 2 * n, masked);
	told(n, masked);
	no_more();
	assert_int_equal(slot_of(0, 0), -1);
	assert_false(throttle_on());
	taken_by_sms();
	assert_true(throttle_on());
	slot = (unsigned)slot_of(0, 0);
	assert_int_equal(running[slot].ctas, 2 * n);
	for (sm = 0; sm < sms; sm++) {
		got += usable(sm, masked) && k < n;
		if (!usable(sm, masked) || k++ >= n)
			assert_int_equal(running[slot].on[sm], 0);
	}
	for (sm = 0; sm < sms; sm++)
		if (running[slot].on[sm])
			assert_in_range(running[slot].on[sm], 2 * n / got, (2 * n + got - 1) / got);
	while (running[slot].ctas > 1)
		end_first(slot);
	no_more();
	end_last(slot);
	told(0, false);
	no_more();
	taken_by_sms();
	no_more();
	assert_false(throttle_on());
	assert_int_equal(place_state.detours & DETOUR_THROTTLE, 0);
}

static const unsigned sizes[] = { 1, 2, 31, 32, 33, 64, 144, 1024 };

/* The first SMs; in the extreme one, or all. */
static void first_sms(void **unused)
{
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned some[] = { 1, 2, sizes[i] / 2 + 1, sizes[i] };

		for (unsigned k = 0; k < 4; k++)
			if (some[k] <= sizes[i]) {
				open_card(sizes[i]);
				priority = (i + 3 * k) % 11; /* any */
				one_task(sizes[i], some[k], false);
			}
	}
	for (priority = 1; priority <= 10; priority++) {
		open_card(8);
		one_task(8, 2, false);
	}
	priority = 0;
}

/* The first of those that are on and that the task may use; all of them, if they are fewer than it wants. */
static void first_usable_sms(void **unused)
{
	for (unsigned i = 2; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned n = 1; n <= 33; n += 8) {
			if (n > sizes[i])
				continue;
			open_card(sizes[i]);
			seed(10 * i + n);
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 0, 1 + roll(3), 0), 0);
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, sizes[i] - 2, 1, 0), 0);
			for (unsigned w = 0; w < TUTTI_MAX_SMS / 32; w++)
				mask()[w] = n > 8 ? ~0xf0u : roll32() & roll32();
			mask()[0] |= 1u << 29;
			one_task(sizes[i], n, true);
		}
}

/* A workgroup may have as much shared memory as an SM has in the mode, and no more. */
static void shared_memory(void **unused)
{
	static const struct { unsigned sms, n, blocks; } c[] = {
		{ 1, 1, 64 }, { 2, 1, 128 }, { 3, 2, 96 }, { 4, 1, 256 }, { 8, 1, 256 }, { 8, 3, 170 }, { 8, 8, 64 },
		{ 144, 37, 249 },
	};

	for (unsigned i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		for (unsigned more = 0; more < 2; more++) {
			struct tutti_dispatch_packet p = kernel_packet(0, 1);

			open_card(c[i].sms);
			tmd[0] = child(0);
			tmd[0].flags = TUTTI_TMD_THROTTLE;
			tmd[0].throttle_sms = c[i].n;
			p.tmd = TMD_AT;
			p.group_bytes = c[i].blocks * 2048 + more;
			submit(0, &p);
			assert_int_equal(queue_at(0)->state, more ? QUEUE_STOPPED : QUEUE_RUNNING);
			assert_int_equal(queue_at(0)->error, more ? TUTTI_ERROR_GROUP_MEMORY : 0);
			assert_int_equal(counters.throttles, !more);
			if (more)
				continue;
			taken_by_sms();
			assert_int_equal(running[slot_of(0, 0)].ctas, 1);
		}
}

/*
 * In the mode an SM has four times as many blocks, and so a score that may be four times as high: with weights that only
 * just fit otherwise it must not become negative.
 */
static void chosen_by_score(void **unused)
{
	for (unsigned choice = TUTTI_CHOICE_REMAINING; choice <= TUTTI_CHOICE_COMBINED; choice++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);

		open_card(8);
		((struct tutti_discovery *)hal_host.window)->features |= TUTTI_FEATURE_ENERGY;
		for (unsigned i = 0; i < TUTTI_RESOURCES; i++)
			assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_REMAINING_WEIGHT,
						     i << 24 | (i == TUTTI_RESOURCE_SHARED ? 0xffffff : 0), 0), 0);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_COMBINE, 0xffff0001, 0), 0);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CHOICE, choice, 0), 0);
		tmd[0] = child(0);
		tmd[0].flags = TUTTI_TMD_THROTTLE;
		tmd[0].throttle_sms = 1;
		p.tmd = TMD_AT;
		p.group_bytes = 200 * 2048;
		submit(0, &p);
		hal_host.sms[0].shared_blocks = hal_host.sms[0].shared_free = MOST;
		taken_by_sms();
		assert_int_not_equal(slot_of(0, 0), -1);
		assert_int_equal(running[slot_of(0, 0)].on[0], 1);
		end_all((unsigned)slot_of(0, 0));
		hal_host.sms[0].shared_blocks = hal_host.sms[0].shared_free = SHARED;
		taken_by_sms();
		p.tmd = 0;
		p.group_bytes = SHARED * 2048;
		submit(0, &p);
		assert_int_not_equal(slot_of(0, 1), -1);
	}
}

/* The card is emptied first: nobody begins meanwhile but children of those that run, and all do afterwards. */
static void the_card_is_emptied(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 3);
	unsigned before;

	open_card(8);
	submit(1, &p);
	throttled(0, 0, 2, 5, false);
	take();
	assert_int_equal(counters.throttles, 0);
	submit(2, &p);
	assert_int_equal(slot_of(2, 0), -1);
	tmd[1] = child(1);
	before = replies;
	ask_for_child((unsigned)slot_of(1, 0), TMD_AT + sizeof(tmd[0]));
	take();
	assert_int_equal(replies, before + 1);
	assert_int_equal(reply_value, 0);
	assert_int_equal(running[0].ctas + running[1].ctas + running[2].ctas + running[3].ctas, 4);
	for (unsigned slot = 0; slot < SLOTS; slot++)
		if (running[slot].ctas && running[slot].tmd)
			end_all(slot);
	assert_int_equal(counters.throttles, 0);
	end_all((unsigned)slot_of(1, 0));
	assert_int_equal(counters.throttles, 1);
	taken_by_sms();
	assert_int_equal(running[slot_of(0, 0)].ctas, 5);
	assert_int_equal(slot_of(2, 0), -1);
	end_all((unsigned)slot_of(0, 0));
	assert_int_equal(counters.throttles, 2);
	assert_int_equal(slot_of(2, 0), -1);
	taken_by_sms();
	assert_int_equal(running[slot_of(2, 0)].ctas, 3);
}

/* The waves of tasks of packet 0 of queue 1 but its own kernel, which has one. */
static unsigned waves_of_child(void)
{
	unsigned waves = 0;

	for (unsigned slot = 0; slot < SLOTS; slot++)
		if (running[slot].queue == 1)
			waves += running[slot].ctas;
	return waves - 1;
}

/*
 * A child whose CTA is issued wave by wave goes on while the card is being emptied, since its parent may wait for it. The
 * parent and another task leave less than an SM of the two free, so a CTA of 32 waves does not fit.
 */
static void split_child(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1), many = kernel_packet(0, 41);

	for (unsigned before = 0; before < 2; before++) {
		open_card(2);
		submit(1, &p);
		submit(2, &many);
		tmd[1] = child(1);
		tmd[1].flags = TUTTI_TMD_INDEPENDENT;
		tmd[1].workgroup[0] = tmd[1].grid[0] = 32 * 32;
		ask_for_child((unsigned)slot_of(1, 0), TMD_AT + sizeof(tmd[0]));
		take();
		assert_int_equal(replies, 1);
		assert_int_equal(reply_value, 0);
		for (unsigned step = 0; step < 2; step++) {
			if (step == before) {
				throttled(0, 0, 1, 1, false);
			} else {
				hal_host.time += 300 * 1000; /* in ticks: longer than it takes until the CTA is split (RES-07) */
				rig_event(TUTTI_EVENT_TIMER, 0, 0);
			}
			take();
		}
		assert_int_equal(waves_of_child(), 64 - 42);
		end_first((unsigned)slot_of(2, 0));
		assert_int_equal(waves_of_child(), 64 - 41);
	}
}

/* Tasks of one size run in the mode one beside the other; another size needs an empty card again. */
static void sizes_in_turn(void **unused)
{
	open_card(8);
	throttled(0, 0, 2, 3, false);
	take();
	throttled(1, 1, 2, 3, false);
	take();
	throttled(2, 2, 3, 3, false);
	take();
	taken_by_sms();
	assert_int_equal(running[slot_of(0, 0)].ctas, 3);
	assert_int_equal(running[slot_of(1, 0)].ctas, 3);
	assert_int_equal(slot_of(2, 0), -1);
	end_all((unsigned)slot_of(0, 0));
	assert_int_equal(counters.throttles, 1);
	end_all((unsigned)slot_of(1, 0));
	assert_int_equal(counters.throttles, 2);
	taken_by_sms();
	assert_int_equal(running[slot_of(2, 0)].ctas, 3);
	end_all((unsigned)slot_of(2, 0));
	taken_by_sms();
	assert_int_equal(counters.throttles, 3);
	assert_false(throttle_on());
}

/* A card that starts anew is not in the mode, whatever it was in before. */
static void not_after_a_boot(void **unused)
{
	open_card(8);
	throttled(0, 0, 2, 3, false);
	take();
	taken_by_sms();
	assert_true(throttle_on());
	open_card(8);
	assert_false(throttle_on());
	one_task(8, 3, false);
}

/*
 * A throttle task that runs one CTA at a time keeps the card between them, although no CTA is on it then, and although
 * another task that has metadata comes and goes.
 */
static void one_at_a_time(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1), other = kernel_packet(0, 1);

	open_card(8);
	tmd[0] = child(0);
	tmd[0].flags = TUTTI_TMD_THROTTLE | TUTTI_TMD_SEQUENCE;
	tmd[0].throttle_sms = 2;
	p.tmd = TMD_AT;
	p.grid_x = 32 * 3;
	submit(0, &p);
	taken_by_sms();
	tmd[1] = child(0);
	other.tmd = TMD_AT + sizeof(tmd[0]);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(running[slot_of(0, 0)].ctas, 1);
		submit(1, &other);
		assert_int_equal(slot_of(1, i), -1);
		assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 1, i, 0), 0);
		assert_int_equal(counters.throttles, 1);
		end_all((unsigned)slot_of(0, 0));
		taken_by_sms();
	}
	assert_int_equal(counters.throttles, 2);
	assert_int_equal(tmd[0].completed, 3);
	assert_false(throttle_on());
}

/* A throttle task is cancelled while the card is emptied for it: the others need not wait any longer. */
static void cancelled_before_it_begins(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 3);

	open_card(8);
	submit(1, &p);
	throttled(0, 0, 2, 5, false);
	take();
	submit(2, &p);
	assert_int_equal(slot_of(2, 0), -1);
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, 0, 0, 0), 0);
	rig_command = NULL;
	take();
	end_first((unsigned)slot_of(1, 0));
	assert_int_not_equal(slot_of(2, 0), -1);
	assert_int_equal(running[slot_of(1, 0)].ctas, 2);
	assert_int_equal(counters.throttles, 0);
	assert_int_equal(place_state.detours & DETOUR_THROTTLE, 0);
}

/* CGAs run on the SMs that are chosen for their task: the mode of another one, on as many other SMs, will not do. */
static void groups_on_their_sms(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 2);

	open_card(8);
	mask()[0] = 0x3;
	throttled(0, 0, 2, 3, true);
	take();
	tmd[MASK - 1].magic = 0xc;
	tmd[1] = child(0);
	tmd[1].flags = TUTTI_TMD_THROTTLE | TUTTI_TMD_AFFINITY;
	tmd[1].throttle_sms = 2;
	tmd[1].affinity = MASK_AT - sizeof(tmd[0]);
	tmd[1].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
	p.tmd = TMD_AT + sizeof(tmd[0]);
	submit(1, &p);
	taken_by_sms();
	assert_int_equal(running[slot_of(0, 0)].ctas, 3);
	assert_int_equal(slot_of(1, 0), -1);
	end_all((unsigned)slot_of(0, 0));
	assert_int_equal(counters.throttles, 2);
	assert_int_equal(shapes.limit[0], 0xc);
	taken_by_sms();
	assert_int_equal(running[slot_of(1, 0)].ctas, 2);
	assert_int_equal(running[slot_of(1, 0)].on[2] + running[slot_of(1, 0)].on[3], 2);
}

/*
 * Whoever the lot falls on: CGAs that may not use the SMs of the mode wait for their own, although no CTA is on the card. The
 * visit has time for one search.
 */
static void groups_by_lot(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 2);

	for (unsigned lots = 1; lots <= 20; lots++) {
		open_card(8);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SEED, lots << 24, 0), 0);
		for (unsigned i = 0; i < 2; i++) {
			tmd[i] = child(0);
			tmd[i].flags = TUTTI_TMD_THROTTLE | TUTTI_TMD_AFFINITY;
			tmd[i].throttle_sms = 2;
			tmd[i].affinity = TMD_AT + (4 + i) * sizeof(tmd[0]);
			tmd[4 + i].magic = 0x3u << 2 * i;
			tmd[i].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
			p.tmd = TMD_AT + i * sizeof(tmd[0]);
			submit(i, &p);
		}
		rig_shorten_visit(VISIT_STEPS / 2 + 100);
		taken_by_sms();
		assert_int_equal(running[slot_of(0, 0)].ctas, 2);
		assert_int_equal(slot_of(1, 0), -1);
		assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
	}
}

/* A THROTTLE event without a THROTTLE command before it, which only a faulty card would send, changes nothing. */
static void unasked_for(void **unused)
{
	open_card(8);
	taken_by_sms();
	assert_false(throttle_on());
	assert_int_equal(place_state.detours, 0);
	throttled(0, 0, 2, 3, false);
	take();
	taken_by_sms();
	taken_by_sms();
	assert_true(throttle_on());
	assert_int_equal(counters.throttles, 1);
	end_all((unsigned)slot_of(0, 0));
	assert_int_equal(counters.throttles, 2);
	taken_by_sms();
	assert_false(throttle_on());
}

/* Occupancy is that of an idle card, whose SMs have as much shared memory as usual. */
static void occupancy_is_as_usual(void **unused)
{
	struct tutti_msg_occupancy m = { .waves = 1, .shared_blocks = SHARED };
	struct tutti_message answer = { 0 };

	open_card(8);
	throttled(0, 0, 2, 4, false);
	told(2, false);
	taken_by_sms();
	assert_true(throttle_on());
	assert_int_equal(occupancy_answer(&m, &answer), 0);
	assert_int_equal(answer.arg[0], 1);
	assert_int_equal(answer.value, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-07 SYS-14", first_sms),
		RIG_TEST("TSK-07 TSK-04", first_usable_sms),
		RIG_TEST("TSK-07 PKT-06", shared_memory),
		RIG_TEST("TSK-07 RES-13 RES-15", chosen_by_score),
		RIG_TEST("TSK-07 TSK-11", the_card_is_emptied),
		RIG_TEST("TSK-07 TSK-11 RES-07", split_child),
		RIG_TEST("TSK-07", sizes_in_turn),
		RIG_TEST("TSK-07", not_after_a_boot),
		RIG_TEST("TSK-07 TSK-08", one_at_a_time),
		RIG_TEST("TSK-07 TSK-12", cancelled_before_it_begins),
		RIG_TEST("TSK-07 CGA-05 TSK-04", groups_on_their_sms),
		RIG_TEST("TSK-07 CGA-05 RES-02", groups_by_lot),
		RIG_TEST("TSK-07", unasked_for),
		RIG_TEST("TSK-07 CGA-29", occupancy_is_as_usual),
	};

	return cmocka_run_group_tests_name("firmware: throttle mode", tests, NULL, NULL);
}

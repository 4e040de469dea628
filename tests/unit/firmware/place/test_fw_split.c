/* SPDX-License-Identifier: MIT */
/*
 * When a CTA is split into waves (RES-07): an SM of 32 waves, 16 of them held by CTAs that end when the test
 * says so, and tasks whose CTAs have 32 waves and never fit on the same SM.
 */
#include "place/kernel_cache.h"
#include "core/task_record.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "fw_tasks.h"

#define US 1000u /* ticks */
#define HOLD 16u

static unsigned holder; /* slot of the CTAs that stay */

static void timer(uint64_t after_us)
{
	hal_host.time += after_us * US;
	/* as the hardware does: the event comes when the time has */
	if ((hal_host.engines.timer_lo | (uint64_t)hal_host.engines.timer_hi << 32) > hal_host.time)
		return;
	hal_host.engines.timer_hi = TUTTI_TIMER_OFF;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
	pump();
}

/* A card without a heartbeat for ten seconds, half of it taken. */
static void held(unsigned rounds, unsigned slots)
{
	struct tutti_control *control;

	begin(1, slots, 32, 1);
	control = (void *)(hal_host.window + ((struct tutti_discovery *)hal_host.window)->control.offset);
	control->heartbeat_us = 10000000;
	hal_host.time += 1000 * US;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SPLIT_ROUNDS, rounds, 0), 0);
	submit(&(struct job){ .queue = 0, .priority = 3, .groups = HOLD });
	assert_int_equal(job[0].running, HOLD);
	for (holder = 0; !card_slot[holder].running; holder++)
		;
}

static void large(unsigned queue, unsigned groups, bool independent)
{
	submit(&(struct job){ .queue = queue, .priority = 5, .groups = groups, .waves = 32, .independent = independent });
}

/* The clock does not advance here, so each CTA that ends is one round; the eleventh without a match is one too many. */
static void rounds_by_events(void **unused)
{
	unsigned i;

	held(10, 32);
	large(1, 1, true); /* the first round */
	for (i = 1; i < 10; i++) {
		end_one(holder);
		assert_int_equal(job[1].split, 0);
	}
	end_one(holder);
	assert_int_equal(job[1].split, 1);
	/* what is free at once, the rest as room comes, all of it once */
	assert_int_equal(job[1].waves_run, 32 - HOLD + 10);
	while (job[0].running)
		end_one(holder);
	assert_int_equal(job[1].waves_run, 32);
	assert_false(job[1].signalled);
	for (i = 0; job[1].running; i++)
		for (unsigned slot = 0; slot < CARD_SLOTS; slot++)
			if (card_slot[slot].running && slot_job[slot] == 1)
				end_one(slot);
	assert_true(job[1].signalled);
	assert_int_equal(tmd[1].completed, 1);
}

/* Nothing happens: a round each microsecond, and the card wakes up by itself. */
static void rounds_by_time(void **unused)
{
	held(0, 32); /* the default, 256 */
	large(1, 3, true);
	timer(250);
	assert_int_equal(job[1].split, 0);
	timer(10);
	assert_int_equal(job[1].split, 1);
	/* its waves found room, so the count started again, and one CTA at a time is split */
	timer(100000);
	assert_int_equal(job[1].split, 1);
	assert_int_equal(job[1].waves_run, 32 - HOLD);
}

/*
 * The round after the last that is allowed comes to the microsecond, without any other event, for any number of rounds.
 * They count from the last match.
 */
static void to_the_microsecond(void **unused)
{
	static const unsigned limits[] = { 1, 2, 10, 256, 3000 };

	for (unsigned i = 0; i < 5; i++)
		for (unsigned match = 0; match < 2; match++) {
			held(limits[i], 32);
			large(1, 1, true);
			if (match) {
				hal_host.time += limits[i] * US / 2;
				submit(&(struct job){ .queue = 2, .priority = 6, .groups = 1 });
				assert_int_equal(job[2].running, 1);
			}
			if (limits[i] > 1)
				timer(limits[i] - 1);
			assert_int_equal(job[1].split, 0);
			timer(1);
			assert_int_equal(job[1].split, 1);
		}
}

/* Nothing happens for longer than 31 bits of the clock can tell: as many rounds as microseconds all the same. */
static void a_long_pause(void **unused)
{
	held(3000000, 32);
	large(1, 1, true);
	timer(2500000);
	end_one(holder);
	assert_int_equal(job[1].split, 0);
	timer(600000);
	end_one(holder);
	assert_int_equal(job[1].split, 1);
}

/* A new number of rounds begins a new count. */
static void new_limit(void **unused)
{
	unsigned i;

	held(10, 32);
	large(1, 1, true);
	for (i = 1; i < 10; i++)
		end_one(holder);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SPLIT_ROUNDS, 3, 0), 0);
	for (i = 0; i < 3; i++) {
		end_one(holder);
		assert_int_equal(job[1].split, 0);
	}
	end_one(holder);
	assert_int_equal(job[1].split, 1);
}

/* Whoever gets a place restarts the count, small kernels without metadata too. */
static void a_match_restarts(void **unused)
{
	unsigned i, slot;

	held(10, 32);
	large(1, 1, true);
	for (i = 0; i < 40; i++) {
		unsigned n = jobs;

		hal_host.time += 5 * US;
		submit(&(struct job){ .queue = 2, .priority = 6, .groups = 1, .plain = true });
		assert_int_equal(job[n].running, 1);
		for (slot = 0; !card_slot[slot].running || slot_job[slot] != (int)n; slot++)
			;
		end_one(slot);
		assert_int_equal(job[1].split, 0);
	}
	timer(20);
	assert_int_equal(job[1].split, 1);
}

static void only_if_flagged(void **unused)
{
	unsigned i;

	held(10, 32);
	large(1, 1, false);
	for (i = 0; i < 100; i++)
		timer(1000);
	assert_int_equal(job[1].split, 0);
	/* a flagged one behind it in its queue is no head; that of another queue is */
	large(1, 1, true);
	for (i = 0; i < 100; i++)
		timer(1000);
	assert_int_equal(job[2].split, 0);
	large(3, 1, true);
	for (i = 0; i < 100; i++)
		timer(1000);
	assert_int_equal(job[1].split + job[2].split, 0);
	assert_int_equal(job[3].split, 1);
}

static void long_time(void)
{
	unsigned i;

	for (i = 0; i < 100; i++)
		timer(1000);
}

/* The kernel says it, metadata may say otherwise; and never with shared memory or barriers. */
static void never_these(void **unused)
{
	held(10, 32);
	descriptor.flags = TUTTI_KERNEL_INDEPENDENT;
	kernel_invalidate(ASID, 0, 0);
	submit(&(struct job){ .queue = 1, .priority = 5, .groups = 1, .waves = 32, .dependent = true });
	submit(&(struct job){ .queue = 2, .priority = 5, .groups = 1, .waves = 32, .independent = true, .shared = 2048 });
	long_time();
	assert_int_equal(job[1].split + job[2].split, 0);
	submit(&(struct job){ .queue = 3, .priority = 5, .groups = 1, .waves = 32 });
	long_time();
	assert_int_equal(job[3].split, 1);
	/* the same kernel with a barrier */
	held(10, 32);
	descriptor.flags = TUTTI_KERNEL_INDEPENDENT;
	descriptor.barriers = 1;
	kernel_invalidate(ASID, 0, 0);
	submit(&(struct job){ .queue = 3, .priority = 5, .groups = 1, .waves = 32, .independent = true });
	long_time();
	assert_int_equal(job[1].split, 0);
	descriptor.flags = 0;
	descriptor.barriers = 0;
}

/* Nobody asks the cache of descriptors again once the task is made: other kernels may have taken the entry. */
static void evicted_kernel(void **unused)
{
	for (unsigned plain = 0; plain < 2; plain++) {
		held(10, 32);
		descriptor.flags = TUTTI_KERNEL_INDEPENDENT;
		kernel_invalidate(ASID, 0, 0);
		submit(&(struct job){ .queue = 3, .priority = 5, .groups = 1, .waves = 32, .plain = plain });
		descriptor.flags = 0;
		kernel_invalidate(ASID, 0, 0);
		job[1].independent = true; /* for take_state() */
		end_one(holder); /* the first round for a kernel without metadata, which has only been tried at its launch */
		long_time();
		assert_int_equal(job[1].split, 1);
	}
}

/* Waves have the lowest priority: what fits whole goes first. */
static void waves_come_last(void **unused)
{
	unsigned n;

	held(10, 32);
	large(1, 1, true);
	timer(20);
	assert_int_equal(job[1].waves_run, 32 - HOLD);
	n = jobs;
	submit(&(struct job){ .queue = 4, .priority = 10, .groups = 4 });
	while (job[n].running < 4) {
		assert_int_equal(job[1].waves_run, 32 - HOLD);
		end_one(holder);
	}
	end_one(holder);
	assert_int_equal(job[1].waves_run, 32 - HOLD + 1);
}

/* The task itself goes on behind the CTA that was split, and the waves send no signal, not even of whoever had their record. */
static void goes_on_behind(void **unused)
{
	held(10, 32);
	submit(&(struct job){ .queue = 2, .priority = 4, .groups = HOLD + 1 }); /* one has to wait, and keeps a record */
	submit(&(struct job){ .queue = 3, .priority = 4, .groups = HOLD + 1 });
	assert_int_equal(job[1].issued, HOLD);
	while (!job[1].signalled || !job[2].signalled)
		for (unsigned slot = 0; slot < CARD_SLOTS; slot++)
			if (card_slot[slot].running && slot != holder)
				end_one(slot);
	assert_true(pending_idle());
	large(1, 3, true);
	timer(20);
	assert_int_equal(job[3].split, 1);
	for (unsigned slot = 0; slot < CARD_SLOTS; slot++)
		if (card_slot[slot].busy && slot_job[slot] == 3)
			assert_int_equal(card_slot[slot].state.first, slot_split[slot] ? 0 : 1);
	while (job[0].running)
		end_one(holder);
	while (job[3].running)
		for (unsigned slot = 0; slot < CARD_SLOTS; slot++)
			if (card_slot[slot].running && slot_job[slot] == 3)
				end_one(slot);
	assert_true(job[3].signalled);
	assert_int_equal(counters.signals, 4);
}

/* CTAs of two waves can be split, and those of one cannot. */
static void smallest(void **unused)
{
	for (unsigned waves = 1; waves <= 2; waves++) {
		held(10, 32);
		submit(&(struct job){ .queue = 2, .priority = 4, .groups = 32 - HOLD + 1 - waves });
		submit(&(struct job){ .queue = 3, .priority = 5, .groups = 1, .waves = waves, .independent = true });
		assert_int_equal(job[2].issued, 0);
		long_time();
		assert_int_equal(job[2].split, waves - 1);
		assert_int_equal(job[2].waves_run, waves - 1);
	}
}

/* A split CTA needs a slot and a record of its own; until there are both it waits. */
static void without_slot_or_record(void **unused)
{
	unsigned left;

	held(10, 2);
	large(1, 1, true);
	long_time();
	assert_int_equal(job[1].split, 0);
	held(10, 32);
	large(1, 1, true);
	left = pending_free;
	pending_free = 0;
	long_time();
	assert_int_equal(job[1].split, 0);
	assert_int_equal(pending_free, 0);
	pending_free = left;
	end_one(holder);
	assert_int_equal(job[1].split, 1);
}

/* Waves are counted in 32 bits. A CTA whose last wave would have a larger number is not split. */
static void number_of_waves(void **unused)
{
	const unsigned most = (1u << 27) - 2; /* CTAs of 32 waves before it */

	for (unsigned more = 0; more < 2; more++) {
		held(10, 32);
		large(1, 1, true);
		for (unsigned n = 0; n < FW_TMDS; n++)
			if (tmd_at(n)->stage == TMD_TASK && tmd_at(n)->queue == &queues[1])
				tmd_at(n)->groups += most + more;
		job[1].groups += most + more;
		job[1].issued = most + more;
		long_time();
		assert_int_equal(job[1].split, !more);
	}
}

static void end_waves(void)
{
	for (unsigned slot = 0; slot < CARD_SLOTS; slot++)
		while (card_slot[slot].running && slot_split[slot])
			end_one(slot);
}

/* Others take the room of waves that end, until none is left on the card: those still to come are not forgotten. */
static void waves_without_room(void **unused)
{
	held(10, 32);
	large(1, 1, true);
	timer(20);
	assert_int_equal(job[1].waves_run, 32 - HOLD);
	submit(&(struct job){ .queue = 2, .priority = 1, .groups = 32 - HOLD });
	assert_int_equal(job[2].running, 0);
	end_waves();
	assert_int_equal(job[2].running, 32 - HOLD);
	assert_int_equal(job[1].running, 0);
	assert_false(job[1].signalled);
	while (job[0].running)
		end_one(holder);
	end_waves();
	assert_int_equal(job[1].waves_run, 32);
	assert_true(job[1].signalled);
	assert_int_equal(tmd[1].completed, 1);
}

/* The last wave of a CTA ends, and the next CTA of its sequence task starts as a whole: the task has not ended. */
static void next_of_sequence(void **unused)
{
	held(10, 32);
	submit(&(struct job){ .queue = 1, .priority = 5, .groups = 2, .waves = 32, .independent = true, .sequence = true });
	timer(20);
	while (job[0].running)
		end_one(holder);
	assert_int_equal(job[1].waves_run, 32);
	end_waves();
	assert_int_equal(job[1].issued, 2);
	assert_int_equal(job[1].running, 1);
	assert_false(job[1].signalled);
}

/* The mask of a task holds for its waves as well; take_launch() looks. */
static void waves_keep_the_mask(void **unused)
{
	card_size = 2;
	held(10, 32);
	submit(&(struct job){ .queue = 3, .priority = 5, .groups = 1, .waves = 32, .independent = true, .mask = 1 });
	timer(20);
	card_size = 1;
	assert_int_equal(job[1].split, 1);
	assert_int_equal(job[1].waves_run, 32 - HOLD / 2);
}

/* A wave fails, the CTA's other waves end, then the two slots are given up in either order: none too early. */
static void killed_in_pieces(void **unused)
{
	unsigned order, slot, waves, whole;

	for (order = 0; order < 2; order++) {
		held(10, 32);
		large(1, 2, true);
		timer(20);
		for (slot = waves = whole = 0; slot < CARD_SLOTS; slot++)
			if (card_slot[slot].busy && slot_job[slot] == 1)
				*(slot_split[slot] ? &waves : &whole) = slot;
		rig_event(TUTTI_EVENT_FAULT | waves << 8 | TUTTI_CAUSE_UNMAPPED << 16, 0, 0);
		pump();
		while (card_slot[waves].running)
			end_one(waves);
		assert_int_equal(tasks[waves].state, TASK_KILLED);
		rig_event(TUTTI_EVENT_KILLED | (order ? whole : waves) << 8, ~0u, 0);
		pump();
		submit(&(struct job){ .queue = 5, .priority = 10, .groups = 1 });
		assert_int_equal(job[2].running, 1);
		rig_event(TUTTI_EVENT_KILLED | (order ? waves : whole) << 8, ~0u, 0);
		pump();
		for (slot = 0; slot < CARD_SLOTS; slot++)
			assert_int_equal(tasks[slot].resident, slot == holder ? HOLD : slot == (order ? whole : waves));
		assert_int_equal(queue_at(1)->in_flight, 0);
	}
}

static unsigned slot_of(unsigned n, bool split)
{
	unsigned slot = 0;

	while (!card_slot[slot].busy || slot_job[slot] != (int)n || slot_split[slot] != split)
		assert_true(++slot < CARD_SLOTS);
	return slot;
}

/* The slot of the waves of one CTA has become another kernel's when the next CTA is split and fails: nobody else does. */
static void killed_beside_others(void **unused)
{
	unsigned first, other;

	held(10, 32);
	large(1, 3, true);
	timer(20);
	first = slot_of(1, true);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SPLIT_ROUNDS, 1000, 0), 0);
	while (job[0].running > 1)
		end_one(holder);
	end_waves();
	assert_int_equal(job[1].waves_run, 32);
	submit(&(struct job){ .queue = 5, .priority = 1, .groups = 20 });
	other = slot_of(2, false);
	assert_int_equal(other, first);
	timer(2000);
	assert_int_equal(job[1].split, 2);
	assert_int_not_equal(slot_of(1, true), first);
	rig_event(TUTTI_EVENT_FAULT | slot_of(1, false) << 8 | TUTTI_CAUSE_UNMAPPED << 16, 0, 0);
	pump();
	assert_int_equal(tasks[slot_of(1, true)].state, TASK_KILLED);
	assert_int_equal(tasks[slot_of(1, false)].state, TASK_KILLED);
	assert_int_equal(tasks[other].state, TASK_RUNNING);
	while (job[2].running)
		end_one(other);
	assert_true(job[2].signalled);
}

static int boot_acknowledging(void **state)
{
	hal_host_acknowledge = true;
	return 0;
}

static int boot_ordered(void **state)
{
	hal_host_acknowledge = false;
	return 0;
}

/* On a card whose SMs acknowledge task states: a task's state is sent again behind each CTA that was split. */
#define ACKNOWLEDGED(ids, function) { ids ": " #function " (acknowledged)", function, boot_acknowledging, boot_ordered, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-07", rounds_by_events),
		RIG_TEST("RES-07", rounds_by_time),
		RIG_TEST("RES-07", to_the_microsecond),
		RIG_TEST("RES-07", a_long_pause),
		RIG_TEST("RES-07", new_limit),
		RIG_TEST("RES-07", a_match_restarts),
		RIG_TEST("RES-07", only_if_flagged),
		RIG_TEST("RES-07", never_these),
		RIG_TEST("RES-07", evicted_kernel),
		RIG_TEST("RES-07 TSK-03", without_slot_or_record),
		RIG_TEST("RES-07", number_of_waves),
		RIG_TEST("RES-07 PKT-04", goes_on_behind),
		RIG_TEST("RES-07", smallest),
		RIG_TEST("RES-07", waves_come_last),
		RIG_TEST("RES-07 PKT-04", waves_without_room),
		RIG_TEST("RES-07 TSK-08", next_of_sequence),
		RIG_TEST("RES-07 TSK-04", waves_keep_the_mask),
		RIG_TEST("RES-07 REL-05", killed_in_pieces),
		RIG_TEST("RES-07 PKT-06", killed_beside_others),
		ACKNOWLEDGED("RES-07 TSK-05", rounds_by_events),
		ACKNOWLEDGED("RES-07 TSK-05", rounds_by_time),
		ACKNOWLEDGED("RES-07 TSK-05", a_match_restarts),
		ACKNOWLEDGED("RES-07 TSK-05", never_these),
		ACKNOWLEDGED("RES-07 TSK-05", waves_come_last),
	};

	return cmocka_run_group_tests_name("firmware: waves of a CTA", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* What one client can do to another: the rows of the table of bounds in firmware/tasks/BOUNDS.md that tasks/ enforces. */
#include "fw_tasks.h"

#include "tasks/metadata.h"
#include "tasks/patience.h"

#define US 1000u /* ticks */
#define OTHER (ASID + 1)

static unsigned slot_of(unsigned n)
{
	unsigned slot = 0;

	while (!card_slot[slot].running || slot_job[slot] != (int)n)
		slot++;
	return slot;
}

/* @n CTAs of the flood, job @of, end, and others take their places. */
static void flood(unsigned of, unsigned sm, unsigned n)
{
	while (n--) {
		unsigned before = job[of].issued;

		end_on(slot_of(of), sm);
		assert_int_equal(job[of].issued, before + 1);
	}
}

static void time_passes(unsigned us)
{
	hal_host.time += (uint64_t)us * US;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
	pump();
}

/* A task that may only run on an SM that is off waits for ever, and no other task does. */
static void affinity_of_an_sm_that_is_off(void **unused)
{
	unsigned i;

	card_size = 2;
	begin(1, 32, 32, 1);
	submit(&(struct job){ .queue = 0, .groups = 2000 });
	assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, 1, 1, 0), 0);
	submit(&(struct job){ .queue = 1, .groups = 1, .waves = 2, .mask = 2 });
	flood(0, 0, 4 * PATIENCE);
	assert_int_equal(job[1].issued, 0);
	assert_false(place_state.detours & DETOUR_HOLDING);
	/* nor does it keep the SM that is on from being held for a task that needs all of it */
	submit(&(struct job){ .queue = 2, .groups = 1, .waves = 32 });
	for (i = 0; i < 4 * PATIENCE && !job[2].issued; i++)
		end_on(slot_of(0), 0);
	assert_int_equal(job[2].issued, 1);
}

/* It waits for an SM that a long kernel holds: that SM is kept for it, for a limited time, and the others are not. */
static void hold_of_few_sms(void **unused)
{
	unsigned i, held = 0;

	card_size = 2;
	begin(2, 32, 32, 1);
	submit(&(struct job){ .queue = 0, .groups = 1, .waves = 16, .mask = 2 }); /* long, on SM 1 */
	submit(&(struct job){ .queue = 1, .groups = 3000 });
	submit(&(struct job){ .queue = 2, .groups = 1, .waves = 32, .mask = 2 });
	flood(1, 0, 2 * PATIENCE);
	assert_true(place_state.detours & DETOUR_HOLDING);
	end_on(slot_of(1), 1);
	assert_int_equal(card_slot[slot_of(1)].on[1], 15); /* no other task takes its place */
	flood(1, 0, 10);
	/* somebody of higher priority does */
	submit(&(struct job){ .queue = 3, .groups = 1, .priority = 1 });
	assert_int_equal(job[3].issued, 1);
	/* in vain: it ends, and each of the next ones does */
	for (i = 0; i < 12; i++) {
		time_passes(PATIENCE_LAST_US + 1);
		assert_false(place_state.detours & DETOUR_HOLDING);
		flood(1, 0, 2 * PATIENCE);
		held += !!(place_state.detours & DETOUR_HOLDING);
	}
	assert_int_equal(held, 12);
}

/* A CTA on @sm ends, whosever it is. */
static void end_any(unsigned sm)
{
	unsigned slot = 0;

	while (!card_slot[slot].on[sm])
		slot++;
	end_on(slot, sm);
}

/* An SM is held for a CTA that needs all of it. Small ones that are passed over meanwhile do not keep it occupied. */
static void held_for_one(void **unused)
{
	unsigned i, held;

	card_size = 2;
	begin(6, 32, 32, 0);
	submit(&(struct job){ .queue = 0, .groups = 6000 });
	submit(&(struct job){ .queue = 1, .groups = 3000, .waves = 2 });
	submit(&(struct job){ .queue = 2, .groups = 1, .waves = 32 });
	for (i = 0; i < 8 * PATIENCE && !(patience_holder && slot_job[patience_holder->slot] == 2); i++)
		end_any(i % 2);
	assert_non_null(patience_holder);
	held = !(shapes.held[0] & 1);
	for (i = 0; i < 3 * PATIENCE; i++)
		end_any(!held);
	assert_true(tasks[slot_of(1)].passed > PATIENCE);
	assert_int_equal(job[2].issued, 0);
	for (i = 0; i < 32 && !job[2].issued; i++)
		end_any(held);
	assert_int_equal(job[2].issued, 1);
}

/* Of equals that were passed over equally often one has SMs held for it, and the other keeps off them, though it would fit. */
static void equals_keep_off(void **unused)
{
	unsigned i;

	card_size = 1;
	begin(11, 32, 32, 0);
	submit(&(struct job){ .queue = 0, .groups = 6000 });
	submit(&(struct job){ .queue = 1, .groups = 1, .waves = 32 });
	submit(&(struct job){ .queue = 2, .groups = 1, .waves = 16 });
	for (i = 0; i < 4 * PATIENCE && !patience_holder; i++)
		end_any(0);
	assert_non_null(patience_holder);
	assert_int_equal(slot_job[patience_holder->slot], 1);
	for (i = 0; i < 31; i++) {
		end_any(0);
		assert_int_equal(job[2].issued, 0);
	}
	end_any(0);
	assert_int_equal(job[1].issued, 1);
}

/* No more than an eighth of the SMs is held, but at least one. */
static void held_share(void **unused)
{
	static const unsigned sizes[] = { 1, 8, 9, 16, 17 }, shares[] = { 1, 1, 2, 2, 3 };

	for (unsigned k = 0; k < 5; k++) {
		card_size = sizes[k];
		begin(10, 32, 32, 0);
		submit(&(struct job){ .queue = 0, .groups = 6000 });
		submit(&(struct job){ .queue = 1, .groups = 1, .waves = 32 });
		for (unsigned i = 0; i < 20 * PATIENCE && !patience_holder; i++)
			end_any(i % card_size);
		assert_non_null(patience_holder);
		assert_int_equal(popcount32(shapes.held[0]), shares[k]);
	}
}

/* CTAs end on SM 0 until SMs are held. Return: how many have ended */
static unsigned until_held(void)
{
	unsigned n = 0;

	for (; n < 4 * PATIENCE && !patience_holder; n++)
		end_on(slot_of(0), 0);
	assert_non_null(patience_holder);
	return n;
}

/* The hold of now lasts @us, and not longer; the ends of CTAs lead to the rounds that look at the time. */
static void lasts(unsigned us)
{
	hal_host.time += (us - 1) * (uint64_t)US;
	end_on(slot_of(0), 0);
	assert_non_null(patience_holder);
	hal_host.time += US;
	end_on(slot_of(0), 0);
	assert_null(patience_holder);
}

/* Holds in vain become twice as long each, up to a limit, with as much patience between; the task's next CTA begins anew. */
static void holds_become_longer(void **unused)
{
	unsigned us = PATIENCE_FIRST_US, i;

	card_size = 1;
	begin(7, 32, 32, 0);
	submit(&(struct job){ .queue = 0, .groups = 6000 });
	submit(&(struct job){ .queue = 1, .groups = 2, .waves = 32 });
	for (i = 0; i < 9; i++) {
		/* The task has to be passed over PATIENCE + 1 times. The CTA whose end also ends a hold counts as the first. */
		assert_int_equal(until_held(), PATIENCE + !i);
		lasts(us);
		us = us * 2 < PATIENCE_LAST_US ? us * 2 : PATIENCE_LAST_US;
	}
	until_held();
	while (!job[1].issued)
		end_any(0);
	end_any(0);
	until_held();
	lasts(PATIENCE_FIRST_US);
}

/* Of two tasks that lose their patience at once the one of higher priority comes first; a lower one only gives way. */
static void holds_by_priority(void **unused)
{
	unsigned i;

	card_size = 1;
	begin(8, 32, 32, 0);
	submit(&(struct job){ .queue = 0, .groups = 6000, .priority = 8 });
	submit(&(struct job){ .queue = 1, .groups = 1, .waves = 32, .priority = 9 });
	for (i = 0; i < 3 * PATIENCE; i++)
		end_on(slot_of(0), 0);
	assert_null(patience_holder);
	submit(&(struct job){ .queue = 2, .groups = 1, .waves = 32, .priority = 7 });
	submit(&(struct job){ .queue = 3, .groups = 1, .waves = 31, .priority = 6 });
	until_held();
	assert_int_equal(slot_job[patience_holder->slot], 3);
}

/* What is held for one task is held for another of higher priority as soon as that one has lost its patience, too. */
static void higher_takes_over(void **unused)
{
	unsigned i, other;

	card_size = 2;
	begin(9, 32, 32, 0);
	submit(&(struct job){ .queue = 0, .groups = 6000, .priority = 8 });
	submit(&(struct job){ .queue = 1, .groups = 1, .waves = 32, .priority = 7 });
	for (i = 0; i < 4 * PATIENCE && !patience_holder; i++)
		end_any(i % 2);
	assert_non_null(patience_holder);
	assert_int_equal(slot_job[patience_holder->slot], 1);
	other = shapes.held[0] & 1;
	submit(&(struct job){ .queue = 2, .groups = 1, .waves = 32, .priority = 7 }); /* an equal does not */
	flood(0, other, 3 * PATIENCE);
	assert_int_equal(slot_job[patience_holder->slot], 1);
	submit(&(struct job){ .queue = 3, .groups = 1, .waves = 32, .priority = 6 });
	for (i = 0; i < 2 * PATIENCE && slot_job[patience_holder->slot] == 1; i++)
		end_any(other);
	assert_int_equal(slot_job[patience_holder->slot], 3);
}

/* Small kernels that fit on their arrival pass over a task that needs a whole SM; it gets one all the same. */
static void patience_for_arrivals(void **unused)
{
	unsigned i, last;

	card_size = 1;
	begin(3, 32, 32, 1);
	submit(&(struct job){ .queue = 0, .groups = 1, .plain = true });
	submit(&(struct job){ .queue = 1, .groups = 1, .waves = 32 });
	for (i = 0, last = 0; i < 4 * PATIENCE && !job[1].issued; i++) {
		unsigned n = jobs;

		submit(&(struct job){ .queue = 2 + i % 4, .groups = 1, .plain = true });
		end_one(slot_of(last));
		last = n;
	}
	assert_true(job[1].issued);
	assert_in_range(i, PATIENCE / 2, 2 * PATIENCE);
}

static unsigned records_of(unsigned asid, bool with_mask)
{
	unsigned i, n = 0;

	for (i = 0; i < FW_TMDS; i++)
		n += tmd_at(i)->stage != TMD_FREE && queue_asid(tmd_at(i)->queue) == asid &&
		     (!with_mask || tmd_at(i)->affinity);
	return n;
}

static void two_clients(uint32_t mask)
{
	unsigned i;

	card_size = 1;
	queue_asid_of[5] = OTHER;
	begin(4, 32, 32, 1);
	queue_asid_of[5] = 0;
	for (i = 0; i < 60; i++)
		submit(&(struct job){ .queue = i % 5, .groups = 1000, .mask = mask });
}

/* Whatever one client submits, another's metadata find a record. */
static void metadata_slots(void **unused)
{
	two_clients(0);
	assert_in_range(records_of(ASID, false), 2, FW_TMDS / 2);
	submit(&(struct job){ .queue = 5, .groups = 1 });
	assert_int_equal(records_of(OTHER, false), 1);
}

static void affinity_masks(void **unused)
{
	two_clients(1);
	assert_in_range(records_of(ASID, true), 2, FW_AFFINITIES / 2);
	submit(&(struct job){ .queue = 5, .groups = 1, .mask = 1 });
	assert_int_equal(records_of(OTHER, true), 1);
}

static int create(unsigned id, unsigned own, unsigned highest)
{
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
				   .queue = { .queue = (uint16_t)id, .asid = ASID, .flags = TUTTI_QUEUE_EXTENDED,
					      .ring = RING_AT + id * sizeof(ring[0]), .read_index = 0x20000000ull + id * 64,
					      .size_log2 = 6,
					      .priority = (uint8_t)(own | highest << TUTTI_QUEUE_HIGHEST_SHIFT) } };

	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, id, 0, 0), 0);
	return rig_message(&m);
}

/* Metadata cannot raise a task above what the driver allows its queue. */
static void highest_priority(void **unused)
{
	card_size = 1;
	begin(5, 32, 32, 1);
	assert_int_equal(create(0, 4, 5), -TUTTI_EINVAL);
	begin(5, 32, 32, 1);
	assert_int_equal(create(0, 5, 11), -TUTTI_EINVAL);
	begin(5, 32, 32, 1);
	assert_int_equal(create(0, 7, 5), 0);
	submit(&(struct job){ .queue = 0, .groups = 1, .priority = 5 });
	submit(&(struct job){ .queue = 0, .groups = 1, .priority = 10 });
	submit(&(struct job){ .queue = 0, .groups = 1 });
	assert_int_equal(job[0].issued + job[1].issued + job[2].issued, 3);
	assert_int_equal(queue_at(0)->state, QUEUE_RUNNING);
	submit(&(struct job){ .queue = 0, .groups = 1, .priority = 4 });
	assert_int_equal(queue_at(0)->state, QUEUE_STOPPED);
	assert_int_equal(queue_at(0)->error, TUTTI_ERROR_TMD);
	assert_int_equal(job[3].issued, 0);
	assert_int_equal(create(1, 1, 0), 0);
	submit(&(struct job){ .queue = 1, .groups = 1, .priority = 1 });
	assert_int_equal(job[4].issued, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("REL-11 RES-01", affinity_of_an_sm_that_is_off),
		RIG_TEST("REL-11 RES-01", hold_of_few_sms),
		RIG_TEST("REL-11 RES-01", held_for_one),
		RIG_TEST("REL-11 RES-01", equals_keep_off),
		RIG_TEST("REL-11 RES-01", held_share),
		RIG_TEST("REL-11 RES-01", holds_become_longer),
		RIG_TEST("REL-11 RES-01", holds_by_priority),
		RIG_TEST("REL-11 RES-01", higher_takes_over),
		RIG_TEST("REL-11 RES-01", patience_for_arrivals),
		RIG_TEST("REL-11 REL-12", metadata_slots),
		RIG_TEST("REL-11 REL-12", affinity_masks),
		RIG_TEST("REL-12", highest_priority),
	};

	return cmocka_run_group_tests_name("firmware: bounds between clients", tests, NULL, NULL);
}

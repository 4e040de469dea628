/* SPDX-License-Identifier: MIT */
/*
 * For whom SMs are held, which ones and how long (RES-01, REL-11): the guard against starvation by itself, told which
 * tasks found no room, against a plain model, on cards of all sizes.
 */
#include "fw_rig.h"

#include "place/affinity.h"
#include "tasks/issue_rounds.h"
#include "tasks/metadata.h"
#include "tasks/patience.h"

#define TASKS 8u
#define US 1000u /* ticks */

static struct {
	unsigned passed, vain, level;
	bool here, masked;
} model[TASKS];
static int holder;        /* slot, or -1 */
static uint64_t until;
static unsigned next, sms, holds;
static bool all_leave; /* soon */

static struct queue queue_of[TASKS];

static bool in(const uint32_t *mask, unsigned sm)
{
	return mask[sm / 32] >> (sm % 32) & 1;
}

static bool usable(unsigned slot, unsigned sm)
{
	return in(shapes.enabled, sm) && in(shapes.included, sm) && tasks[slot].shape->capacity &&
	       (!model[slot].masked || in(affinity_mask(tmds[slot].affinity), sm));
}

static void check_holder(void)
{
	bool any = false;

	assert_ptr_equal(patience_holder, holder < 0 ? NULL : &tasks[holder]);
	assert_int_equal(!!(place_state.detours & DETOUR_HOLDING), holder >= 0);
	for (unsigned i = 0; i < TASKS; i++)
		if (model[i].here) {
			assert_int_equal(tasks[i].passed, model[i].passed);
			any = true;
		}
	/* where no task has CTAs to issue kernels take the short way again */
	assert_int_equal(!!(place_state.detours & DETOUR_ISSUE), any);
}

/* Held are an eighth of the SMs that the task may use, rounded up: the next ones after those that were held last. */
static void check_held(void)
{
	uint32_t want[LAKE_WORDS] = { 0 };
	unsigned n = 0, sm;

	for (sm = 0; sm < sms; sm++)
		n += usable((unsigned)holder, sm);
	assert_true(n);
	for (n = (n + 7) / 8, sm = next; n; sm = (sm + 1) % sms)
		if (usable((unsigned)holder, sm)) {
			want[sm / 32] |= 1u << (sm % 32);
			n--;
		}
	next = sm;
	assert_memory_equal(shapes.held, want, sizeof(want));
}

static bool any_usable(unsigned slot)
{
	for (unsigned sm = 0; sm < sms; sm++)
		if (usable(slot, sm))
			return true;
	return false;
}

static void hold_for(unsigned slot)
{
	uint32_t us = 1000u << model[slot].vain;

	if (!any_usable(slot)) {
		model[slot].passed = 0;
		return;
	}
	holds++;
	holder = (int)slot;
	until = hal_host.time + (uint64_t)(us < 64000 ? us : 64000) * US;
	check_held();
}

static void let_go(void)
{
	holder = -1;
	assert_true(place_state.blocked); /* others may find room now */
	assert_true(attention.settle & ATTEND_ROOM);
}

/* Which of these tasks has been passed over often enough to hold SMs for it? That of the highest priority, among equals of
 * those that were passed over most often the one in the first slot. */
static int impatient(uint32_t failed, unsigned went)
{
	int best = -1;

	for (unsigned i = 0; i < TASKS; i++) {
		if (!(failed >> i & 1) || model[i].level > model[went].level || tasks[i].shape == tasks[went].shape)
			continue;
		model[i].passed += model[i].passed < 255;
		if (model[i].passed > PATIENCE &&
		    (best < 0 || model[i].level < model[best].level ||
		     (model[i].level == model[best].level && model[i].passed > model[best].passed)))
			best = (int)i;
	}
	return best;
}

static bool comes_before_holder(int slot)
{
	return slot >= 0 && (holder < 0 || model[slot].level < model[holder].level);
}

static void join(unsigned slot)
{
	struct task *task = &tasks[slot];

	model[slot].level = 1 + roll(4);
	model[slot].here = true;
	model[slot].passed = model[slot].vain = 0;
	model[slot].masked = !roll(3);
	queue_of[slot] = (struct queue){ .priority = (uint8_t)model[slot].level };
	*task = (struct task){ .slot = (uint8_t)slot, .queue = &queue_of[slot], .state = TASK_RUNNING, .unissued = 5,
			       .shape = &shapes.shape[roll(4)], .passed = 9 };
	if (model[slot].masked) {
		task->rare = TASK_TMD;
		task->tmd = &tmds[slot];
		for (unsigned w = 0; w < LAKE_WORDS; w++)
			affinity_mask(tmds[slot].affinity)[w] = roll(3) ? roll32() & roll32() : 0;
	}
	rounds_add(task);
}

static void leave(unsigned slot)
{
	place_state.blocked = false;
	rounds_remove(&tasks[slot]);
	if (holder == (int)slot)
		let_go();
	model[slot].here = false;
	check_holder();
}

static void was_placed(unsigned slot)
{
	place_state.blocked = false;
	patience_placed(&tasks[slot]);
	model[slot].passed = 0;
	if (holder == (int)slot) {
		model[slot].vain = 0;
		let_go();
	}
	check_holder();
}

/* Rounds end: @went is the task of the lowest priority that was placed, the others found no room. */
static void passed_over(uint32_t failed, unsigned went, bool late)
{
	int best;

	counters.events++;
	if (late)
		visit_goes_on(VISIT_STEPS);
	patience_lost(failed, &tasks[went]);
	best = impatient(failed, went);
	if (!comes_before_holder(best)) {
		assert_null(patience_waiting);
	} else if (late) {
		assert_ptr_equal(patience_waiting, &tasks[best]);
		assert_true(place_state.detours & DETOUR_CUT); /* so there will be another visit */
		state_detour(DETOUR_CUT, false);
		check_holder();
		counters.events++;
		if (!roll(3))
			leave((unsigned)best);
		else if (!roll(2))
			was_placed((unsigned)best);
		patience_go_on();
		assert_null(patience_waiting);
		if (model[best].here && model[best].passed > PATIENCE)
			hold_for((unsigned)best); /* it still needs them */
	} else {
		hold_for((unsigned)best);
	}
	check_holder();
}

/* Each hold in vain doubles the next one of its task, up to the longest. */
static void look_at_the_time(void)
{
	place_state.blocked = false;
	patience_check();
	if (holder >= 0 && !tasks[holder].unissued) {
		let_go();
	} else if (holder >= 0 && hal_host.time >= until) {
		model[holder].vain += model[holder].vain < 6;
		model[holder].passed = 0;
		let_go();
	}
	check_holder();
}

static void time_passes(uint64_t ticks)
{
	hal_host.time += ticks;
	hal_host.engines.time_lo = (uint32_t)hal_host.time;
	hal_host.engines.time_hi = (uint32_t)(hal_host.time >> 32);
}

static void open_card(unsigned number, unsigned size)
{
	seed(number);
	sms = size;
	rig_load(sms);
	holder = -1;
	next = 0;
	time_passes(0xfff00000);
	memset(model, 0, sizeof(model));
	for (unsigned i = 0; i < 4; i++)
		shapes.shape[i].capacity = i ? 1 : 0; /* no SM has room for the first */
	for (unsigned i = 0; i < TASKS; i++)
		tmds[i] = (struct tmd){ .affinity = (uint8_t)affinity_take() };
}

static void switch_some(void)
{
	unsigned sm = roll(sms);

	if (roll(2))
		shapes.enabled[sm / 32] ^= 1u << (sm % 32);
	else
		shapes.included[sm / 32] ^= 1u << (sm % 32);
}

static void step(void)
{
	unsigned slot = roll(TASKS), what = roll(100);
	uint32_t failed = 0;

	if (!model[slot].here) {
		join(slot);
	} else if (what < 2 || (all_leave && what < 60)) {
		leave(slot);
	} else if (what < 5) {
		was_placed(slot);
	} else if (what < 7) {
		switch_some();
	} else if (what < 10) {
		time_passes(holder >= 0 && roll(2) ? until - hal_host.time - roll(2) : roll(70000) * US);
		look_at_the_time();
	} else if (what < 11) {
		tasks[slot].unissued = 0;
		look_at_the_time();
		tasks[slot].unissued = 5;
	} else {
		for (unsigned i = 0; i < TASKS; i++)
			failed |= (uint32_t)(model[i].here && i != slot && roll(8)) << i;
		passed_over(failed, slot, !roll(10));
	}
}

static void any_card(void **unused)
{
	static const unsigned sizes[] = { 1, 2, 8, 9, 31, 32, 33, 64, 65, 144, 1024 };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned n = 0; n < 4; n++) {
			open_card(10 * i + n, sizes[i]);
			for (unsigned k = 0; k < 2000; k++) {
				all_leave = k % 500 > 450;
				step();
			}
		}
	assert_true(holds > 200);
}

/*
 * Kernels that fit when they come pass over those that wait as well, if their priority is no higher. Where none has come
 * since the last rounds, nobody was passed over.
 */
static void arrivals(void **unused)
{
	unsigned passed = 0;

	open_card(1, 8);
	join(0);
	queue_of[0].priority = 5;
	for (unsigned priority = 3; priority <= 7; priority++)
		for (unsigned again = 0; again < 3; again++) {
			queue_of[1] = (struct queue){ .priority = (uint8_t)priority };
			tasks[1] = (struct task){ .slot = 1, .queue = &queue_of[1], .state = TASK_RUNNING, .resident = 1,
						  .shape = &shapes.shape[2] };
			counters.ctas_issued += !again;
			patience_lost(1, NULL);
			passed += !again && priority >= 5;
			assert_int_equal(tasks[0].passed, passed);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-01 REL-11 TSK-04", any_card),
		RIG_TEST("RES-01 REL-11", arrivals),
	};

	return cmocka_run_group_tests_name("firmware: SMs that are held", tests, NULL, NULL);
}

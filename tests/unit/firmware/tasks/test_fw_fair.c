/* SPDX-License-Identifier: MIT */
/*
 * Which of equal tasks goes next (RES-04), by the definition of the source: marks of queues for each priority. And which
 * priority comes first when (RES-06).
 */
#include "fw_rig.h"

#include "tasks/tie_lots.h"
#include "tasks/issue_rounds.h"
#include "tasks/priority_windows.h"

#define LEVELS 10u
#define TIES 8u

static bool marked[LEVELS + 1][TUTTI_MAX_QUEUES];
static uint32_t lot; /* the newest random number */

static void begin(uint32_t number)
{
	rig_load(1);
	memset(marked, 0, sizeof(marked));
	lots_seed(number);
	lot = number;
	for (unsigned q = 0; q < TUTTI_MAX_QUEUES; q++)
		queue_at(q)->asid_queue = 1 | q << 16;
}

/* The next of Marsaglia's xorshift numbers, as a number below @n. */
static unsigned next_lot(unsigned n)
{
	lot ^= lot << 13;
	lot ^= lot >> 17;
	lot ^= lot << 5;
	return (unsigned)((double)lot * n / 4294967296.0);
}

/* The one to go: by lot among those without a mark or, if all have marks, among all. */
static unsigned by_lot(unsigned level, const unsigned *queue, unsigned n, bool any_free)
{
	unsigned able[TIES], k = 0, i;

	for (i = 0; i < n; i++)
		if (!any_free || !marked[level][queue[i]])
			able[k++] = queue[i];
	return able[next_lot(k)];
}

/* One tie of @n tasks of different queues. Return: the queue that goes */
static unsigned draw(unsigned level, const unsigned *queue, unsigned n)
{
	static struct task task[TIES];
	struct task *tie[TIES] = { NULL }, *went;
	bool any_free = false;
	unsigned i, q;

	for (i = 0; i < n; i++) {
		task[i] = (struct task){ .queue = queue_at(queue[i]) };
		tie[i] = &task[i];
		any_free |= !marked[level][queue[i]];
	}
	went = n > 1 ? lots_choose(level, tie, n) : tie[0];
	q = queue[went - task];
	if (n > 1)
		assert_int_equal(q, by_lot(level, queue, n, any_free));
	lots_went(level, tie, n, went);
	if (n == 1)
		return q; /* alone: marks stay as they are */
	if (!any_free)
		for (i = 0; i < n; i++)
			marked[level][queue[i]] = false;
	marked[level][q] = true;
	return q;
}

static unsigned some_queues(unsigned *queue)
{
	unsigned n = 1 + roll(TIES), i, j;

	for (i = 0; i < n; i++) {
		queue[i] = roll(2) ? roll(12) : roll(TUTTI_MAX_QUEUES);
		for (j = 0; j < i; j++)
			if (queue[j] == queue[i])
				break;
		if (j < i)
			i--;
	}
	return n;
}

/* Ties of any tasks at any priority, one after another: marks of others and of other priorities stay. */
static void marks(void **unused)
{
	unsigned round, i, queue[TIES], n, again = 0;

	for (round = 0; round < 60; round++) {
		seed(round);
		begin(1 + round);
		for (i = 0; i < 3000; i++) {
			unsigned level = 1 + roll(round % 2 ? 2 : LEVELS), j, all = 1;

			n = some_queues(queue);
			for (j = 0; j < n; j++)
				all &= marked[level][queue[j]];
			again += all && n > 1;
			draw(level, queue, n);
		}
	}
	assert_true(again > 1000); /* all had marks: the rule that clears them */
}

/* By lot: of three that always want to go each is the first of a lap about as often, and comes at every place. */
static void lots(void **unused)
{
	const unsigned queue[3] = { 3, 70, 200 };
	unsigned place[3][3] = { { 0 } }, lap, i, j, q;

	begin(4711);
	/* a lap ends when all have marks; the task whose turn it is then keeps its mark and is the first of the next */
	for (lap = 0; lap < 30000; lap++) {
		q = draw(4, queue, 3);
		for (i = 0; i < 3; i++)
			place[0][i] += queue[i] == q;
	}
	for (i = 0; i < 3; i++)
		assert_in_range(place[0][i], 9500, 10500);
	/* the first of many fresh seeds */
	for (lap = 1; lap <= 3000; lap++) {
		begin(lap * 2654435761u);
		for (j = 0; j < 2; j++) {
			q = draw(4, queue, 3);
			for (i = 0; i < 3; i++)
				place[1 + j][i] += queue[i] == q;
		}
	}
	for (j = 1; j < 3; j++)
		for (i = 0; i < 3; i++)
			assert_in_range(place[j][i], 850, 1150);
}

/* Without a seed nobody draws; the seed is what was set last, and is 1 after a boot. The same seed, the same lots. */
static void seeds(void **unused)
{
	static const uint32_t first[] = { 270369, 67634689, 2647435461u, 307599695 }; /* of xorshift32 from 1 */

	rig_load(1);
	assert_int_equal(lots_seed_now(), 1);
	assert_true(lots_seeded());
	lots_seed(0);
	assert_int_equal(lots_seed_now(), 0);
	assert_false(lots_seeded());
	lots_seed(0x80000000);
	assert_int_equal(lots_seed_now(), 0x80000000);
	assert_true(lots_seeded());
	begin(1);
	for (unsigned i = 0; i < 4; i++) {
		unsigned want = (unsigned)((uint64_t)first[i] * 1000 >> 32);
		static struct task task[1000];
		static struct task *tie[1000];

		for (unsigned k = 0; k < 1000; k++) {
			task[k].queue = queue_at(0); /* without a mark, since none has gone yet */
			tie[k] = &task[k];
		}
		assert_ptr_equal(lots_choose(3, tie, 1000), &task[want]);
	}
}

/* A new seed begins with no marks. */
static void seed_clears_marks(void **unused)
{
	const unsigned queue[2] = { 4, 255 };

	begin(9);
	for (unsigned level = 1; level <= LEVELS; level++)
		draw(level, queue, 2);
	begin(9);
	for (unsigned level = 1; level <= LEVELS; level++)
		for (unsigned i = 0; i < 2; i++)
			draw(level, queue, 2);
}

/* ---- priority windows ---- */

#define MOST_WINDOWS 8u
#define NUMBER 255u /* the class whose length is the number of windows */

static struct {
	uint64_t since, now;
	uint32_t length[MOST_WINDOWS];
	unsigned windows, class_of[LEVELS + 1];
} windows;

static void default_windows(void)
{
	static const unsigned ms[MOST_WINDOWS] = { 8, 4, 2, 1, 1, 1, 1, 1 };
	static const unsigned classes[LEVELS + 1] = { 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3 };

	rig_load(1);
	windows.since = windows.now = 0;
	for (unsigned i = 0; i < MOST_WINDOWS; i++)
		windows.length[i] = ms[i] * 1000000;
	for (unsigned i = 0; i <= LEVELS; i++)
		windows.class_of[i] = classes[i];
	windows.windows = 4;
}

/* The class whose window it is now; they come one after another, again and again. */
static unsigned class_now(void)
{
	uint64_t period = 0, at;
	unsigned y = 0;

	for (unsigned i = 0; i < windows.windows; i++)
		period += windows.length[i];
	for (at = (windows.now - windows.since) % period; at >= windows.length[y]; y++)
		at -= windows.length[y];
	return y;
}

static void time_is(uint64_t now)
{
	windows.now = now;
	hal_host.engines.time_lo = (uint32_t)now;
	hal_host.engines.time_hi = (uint32_t)(now >> 32);
}

/* All levels, those of the class whose window it is before the others, and the waves of split CTAs last. */
static void check_order(void)
{
	unsigned n = 0, first = windows.windows ? class_now() : NUMBER;
	const uint8_t *order = window_order();

	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned level = 1; level <= LEVELS; level++)
			if ((windows.class_of[level] == first) != turn)
				assert_int_equal(order[n++], level);
	assert_int_equal(order[n++], ROUNDS_SPLIT_LEVEL);
	assert_int_equal(order[n], 0);
}

static uint32_t asked(uint32_t policy, uint32_t which)
{
	uint32_t value = ~0u;

	assert_true(window_ask(policy, which, &value));
	return value;
}

static void check_settings(void)
{
	for (unsigned i = 0; i < MOST_WINDOWS; i++)
		assert_int_equal(asked(TUTTI_POLICY_WINDOW, i), windows.length[i]);
	for (unsigned i = 1; i <= LEVELS; i++)
		assert_int_equal(asked(TUTTI_POLICY_CLASS, i), windows.class_of[i]);
	assert_int_equal(asked(TUTTI_POLICY_WINDOW, NUMBER), windows.windows);
}

/* A setting that is accepted begins the period anew; others change nothing. */
static void set(unsigned what, unsigned which, uint32_t value)
{
	bool good;

	if (what == 0) {
		good = which >= 1 && which <= LEVELS && value < MOST_WINDOWS;
		assert_int_equal(window_class(which << 8 | value), good);
		if (good)
			windows.class_of[which] = value;
	} else if (which == NUMBER) {
		good = value <= MOST_WINDOWS && value != 1;
		assert_int_equal(window_length(NUMBER << 24 | value), good);
		if (good)
			windows.windows = value;
	} else {
		good = which < MOST_WINDOWS && value;
		assert_int_equal(window_length(which << 24 | value), good);
		if (good)
			windows.length[which] = value;
	}
	if (good)
		windows.since = windows.now;
}

static void set_something(void)
{
	if (!roll(3))
		set(0, roll(13), roll(10));
	else if (!roll(2))
		set(1, NUMBER, roll(10));
	else
		set(1, roll(10), roll(5) ? roll(9) : roll(2) ? 0xffffff : 1);
}

/* Any settings, and any time that passes, short of what the low half of the clock can show. */
static void any_windows(void **unused)
{
	for (unsigned round = 0; round < 40; round++) {
		seed(round);
		default_windows();
		time_is(0);
		window_init();
		check_settings();
		for (unsigned i = 0; i < 600; i++) {
			if (!roll(8))
				set_something();
			time_is(windows.now + (roll(3) ? roll(12) : roll(2) ? roll(9000000) : roll32() / 2));
			check_order();
		}
		check_settings();
	}
}

/* Each window begins with its first tick and lasts as many as it is long, also when the low half of the clock overflows. */
static void borders(void **unused)
{
	default_windows();
	time_is(0xffff0000);
	window_init();
	windows.since = windows.now;
	for (unsigned lap = 0; lap < 3; lap++)
		for (unsigned i = 0; i < 4; i++) {
			check_order();
			time_is(windows.now + windows.length[i] - 1);
			check_order();
			time_is(windows.now + 1);
		}
}

static void no_such_setting(void **unused)
{
	uint32_t value;

	default_windows();
	assert_false(window_ask(TUTTI_POLICY_CLASS, 0, &value));
	assert_false(window_ask(TUTTI_POLICY_CLASS, LEVELS + 1, &value));
	assert_false(window_ask(TUTTI_POLICY_WINDOW, MOST_WINDOWS, &value));
	assert_false(window_ask(TUTTI_POLICY_WINDOW, NUMBER - 1, &value));
	assert_false(window_ask(TUTTI_POLICY_WINDOW, NUMBER + 1, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-04", marks),
		RIG_TEST("RES-04", lots),
		RIG_TEST("RES-04", seeds),
		RIG_TEST("RES-04", seed_clears_marks),
		RIG_TEST("RES-06", any_windows),
		RIG_TEST("RES-06", borders),
		RIG_TEST("RES-06", no_such_setting),
	};

	return cmocka_run_group_tests_name("firmware: fairness among equals and priorities", tests, NULL, NULL);
}

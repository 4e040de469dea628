/* SPDX-License-Identifier: MIT */
/* How many CGAs a session places: as many as a visit has time for, if the command ring has room for them. */
#include "cga_card.h"

#include "core/counters.h"
#include "core/task_record.h"
#include "groups/cga.h"

#define ROOM (COMMAND_WORDS - COMMAND_RECORD - COMMAND_OWED) /* words of the ring for CGAs */

static struct task *task;

/* Four GPCs of 18 SMs, of which each takes 32 CTAs: room for 256 CGAs. */
static void boot(void)
{
	static const unsigned sms[] = { 18, 18, 18, 18 };

	oracle_boot(4, sms);
}

/* The task has as many CGAs to place as one wants, in a new visit. */
static const struct cga *begin(const struct tutti_cga_shape *level, unsigned mode)
{
	task = &tasks[3];
	task->shape = shape_find(0, 2, 1);
	task->unissued = 1u << 30;
	assert_int_equal(task->shape->capacity, 32);
	cga_begin(task, level, mode, false, NULL);
	command_publish();
	rig_drain();
	counters.events++;
	assert_true(domain_sync(task->shape));
	counters.events++;
	place_state.blocked = false;
	attention.settle &= ~ATTEND_ROOM;
	return &cga_grids[task->slot];
}

/* Grids and, counted by hand: the most words of commands that one CGA can need, and how many are placed at once. */
static const struct way {
	struct tutti_cga_shape level[TUTTI_CGA_LEVELS];
	unsigned mode, words, most;
	bool scattered;
} ways[] = {
	/* a head of 3 words, and segments of 2: one for each CTA, or row of an SM's 32 free slots, and one more */
	{ { { 2, 1, 1, TUTTI_CGA_GPC } }, 0, 9, 85, false },
	{ { { 4, 1, 1, TUTTI_CGA_GPC } }, 0, 13, 78, false },
	{ { { 5, 3, 1, TUTTI_CGA_GPC } }, 0, 35, 29, false },
	{ { { 40, 1, 1, TUTTI_CGA_GPC } }, 0, 69, 14, false },
	/* one segment, and one more */
	{ { { 16, 1, 1, TUTTI_CGA_GPC } }, 1, 7, 85, false },
	/* where the usual case does not help, one eighth of as many as there is time for, rounded up: of 68, 48 and 33 */
	{ { { 5, 1, 1, TUTTI_CGA_CPC } }, 0, 15, 9, false },
	{ { { 8, 1, 1, TUTTI_CGA_CPC } }, 0, 21, 6, false },
	{ { { 13, 1, 1, TUTTI_CGA_CPC } }, 0, 31, 5, false },
	{ { { 2, 1, 1, TUTTI_CGA_CPC } }, 1, 7, 11, false },
	{ { { 3, 1, 1, TUTTI_CGA_GPC }, { 2, 3, 1, TUTTI_CGA_GPU } }, 0, 66, 2, false },
	/* a record of 9 words, with a segment of its own, for each CTA and GPC; of 13, if the SMs are in any order */
	{ { { 5, 1, 1, TUTTI_CGA_GPU } }, 0, 81, 2, false },
	{ { { 5, 1, 1, TUTTI_CGA_GPU } }, 0, 99, 2, true },
	/* in each GPC a record of 7 words, and two of 7 that replace it */
	{ { { 60, 1, 1, TUTTI_CGA_GPU } }, 1, 84, 2, false },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static void any_order(void)
{
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SM_ORDER, 3u << 16 | 60, 0), 0);
}

/* A visit ends in time, however many CGAs there are to place; the rest is placed in the next one. */
static void as_many_as_time_allows(void **unused)
{
	(void)unused;
	for (const struct way *way = ways; way < ways + WAYS; way++) {
		const struct cga *cga;

		boot();
		if (way->scattered)
			any_order();
		cga = begin(way->level, way->mode);
		assert_int_equal(cga->words, way->words);
		assert_int_equal(cga_place(task, 200u * cga->ctas), way->most * cga->ctas);
		assert_int_equal(search_end(), SEARCH_ROOM);
		assert_true(attention.settle & ATTEND_ROOM);
		assert_int_equal(task->unissued, (1u << 30) - way->most * cga->ctas);
		assert_true(command_tail() - hal_host.engines.command_head <= way->most * way->words);
		/* what is asked for is not exceeded, and rounded down to whole CGAs */
		boot();
		cga = begin(way->level, way->mode);
		assert_int_equal(cga_place(task, way->most * cga->ctas - 1), (way->most - 1) * cga->ctas);
		assert_false(place_state.blocked);
		boot();
		cga = begin(way->level, way->mode);
		assert_int_equal(cga_place(task, 1), cga->ctas);
		if (!cga->quick)
			continue;
		/* the first session of a kernel, for which the rows of free slots are filled, is as long as others */
		boot();
		cga = begin(way->level, way->mode);
		domain_forget();
		assert_int_equal(cga_place(task, 200u * cga->ctas), way->most * cga->ctas);
	}
}

/* With @used words in the ring: what fits even in the worst case is placed, and the rest when there is room. */
static void with_used(const struct way *way, unsigned used)
{
	unsigned fitting = used < ROOM ? (ROOM - used) / way->words : 0, wanted = fitting < way->most ? fitting : way->most, tail;
	const struct cga *cga = begin(way->level, way->mode);

	hal_host_fill(COMMAND_WORDS - used);
	tail = command_tail();
	assert_int_equal(tail - hal_host.engines.command_head, used);
	if (cga_place(task, 200u * cga->ctas) != wanted * cga->ctas)
		fail_msg("CGAs of %u words, %u words in the ring: not %u CGAs", way->words, used, wanted);
	assert_int_equal(search_end(), SEARCH_ROOM);
	assert_true(attention.settle & ATTEND_ROOM);
	assert_true(wanted || command_tail() == tail);
}

static void as_many_as_the_ring_takes(void **unused)
{
	(void)unused;
	for (const struct way *way = ways; way < ways + WAYS; way++)
		for (unsigned n = 0; n <= way->most + 1; n += n < 3 || n + 3 > way->most ? 1 : way->most - 2 - n)
			for (unsigned less = 0; less < 3; less++) {
				boot();
				if (way->scattered)
					any_order();
				with_used(way, ROOM - n * way->words + 1 - less);
			}
	boot();
	with_used(&ways[0], COMMAND_WORDS - COMMAND_OWED);
}

/* A session that is not quick counts its steps, so that what follows in the same visit knows how much time is left. */
static void counts_its_time(void **unused)
{
	static const struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 5, 1, 1, TUTTI_CGA_CPC } };
	unsigned words;

	(void)unused;
	for (unsigned n = 1; n < 4; n++) {
		boot();
		begin(level, 0);
		assert_int_equal(cga_place(task, 5 * n), 5 * n);
		words = command_tail() - hal_host.engines.command_head;
		assert_true(visit_has(VISIT_STEPS - 300 - 60 * words));
		assert_false(visit_has(VISIT_STEPS - 300 - 60 * words + 1));
	}
}

/*
 * To place a multicast CGA where TPCs have room on one of their SMs only takes 270 steps. A session ends when the visit has no
 * steps left, unless it has placed all that it was to place.
 */
static void single_sms_take_long(void **unused)
{
	static const struct tutti_cga_shape level[TUTTI_CGA_LEVELS] = { { 9, 1, 1, TUTTI_CGA_GPC } };
	unsigned most = (VISIT_STEPS + 269) / 270;

	(void)unused;
	for (unsigned n = most - 1; n < most + 2; n++) {
		boot();
		for (unsigned sm = 0; sm < 72; sm += 2)
			assert_int_equal(rig_request(TUTTI_MSG_SM_ENABLE, sm, 1, 0), 0);
		begin(level, TUTTI_CGA_MULTICAST);
		assert_int_equal(cga_place(task, 9 * n), 9 * (n < most ? n : most));
		if (n > most)
			assert_int_equal(search_end(), SEARCH_ROOM);
		assert_int_equal(visit_late(), n >= most);
		/* that it was short of time says nothing about sessions in later visits */
		do
			counters.events++;
		while (cga_place(task, 9 * 3));
		assert_int_equal(search_end(), SEARCH_FULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-14 REL-11", as_many_as_time_allows),
		RIG_TEST("CGA-14 REL-11", as_many_as_the_ring_takes),
		RIG_TEST("CGA-14 REL-11", counts_its_time),
		RIG_TEST("CGA-10 REL-11", single_sms_take_long),
	};

	return cmocka_run_group_tests_name("firmware: room for CGAs", tests, NULL, NULL);
}

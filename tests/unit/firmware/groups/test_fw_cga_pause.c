/* SPDX-License-Identifier: MIT */
/* Searches for nested CGAs that a visit has no time to finish. */
#include "cga_card.h"

#include "core/counters.h"
#include "core/task_record.h"
#include "groups/cga.h"

#define WORDS 4096u

static struct task *task;

/* Commands as they were written. */
struct log {
	uint32_t word[WORDS];
	unsigned n;
};

static void boot(unsigned number)
{
	static const unsigned sms[][4] = { { 12, 12, 12, 12 }, { 18, 7, 12, 6 }, { 12, 12 }, { 18 } };
	static const unsigned gpcs[] = { 4, 4, 2, 1 };

	oracle_boot(gpcs[number % 4], sms[number % 4]);
	task = &tasks[3];
	task->shape = shape_find(0, 16, 1);
	task->unissued = 1u << 30;
}

/* A grid of two to four levels, of which none is larger than a card. */
static void any_levels(struct tutti_cga_shape *level)
{
	unsigned kinds, i = 0;

	do
		kinds = roll(16);
	while (!(kinds & (kinds - 1)));
	memset(level, 0, TUTTI_CGA_LEVELS * sizeof(*level));
	for (unsigned kind = 1; kind <= 4; kind++)
		if (kinds >> (kind - 1) & 1)
			level[i++] = (struct tutti_cga_shape){ (uint16_t)(1 + roll(3)), (uint16_t)(1 + roll(2)), 1, (uint16_t)kind };
}

/* Begin a visit of @steps steps, and search in it for room for @ctas CTAs. Return: CTAs placed */
static uint32_t visit(uint32_t steps, uint32_t ctas)
{
	uint32_t placed;

	counters.events++;
	visit_goes_on(VISIT_STEPS - steps);
	state_detour(DETOUR_CUT, false);
	assert_true(domain_sync(task->shape));
	placed = search_run(task, &cga_grids[task->slot], ctas);
	domains.issued = counters.ctas_issued;
	if (!placed)
		assert_int_equal(search_end(), place_state.detours & DETOUR_CUT ? SEARCH_ROOM : SEARCH_FULL);
	return placed;
}

/*
 * Place all CGAs for which there is room, in visits of @steps steps, and write down the commands for it. Each visit gets
 * somewhere, even if it has no step left. Return: CTAs placed
 */
static uint32_t fill_card(struct log *log, uint32_t steps)
{
	uint32_t all = 0, now;
	const uint32_t *w;
	unsigned words;

	log->n = 0;
	for (unsigned visits = 0;; visits++) {
		now = visit(steps, 1);
		all += now;
		command_publish();
		while ((w = hal_host_command(&words))) {
			if ((w[0] & 0xff) != TUTTI_CMD_LAUNCH)
				continue;
			assert_true(log->n + words <= WORDS);
			memcpy(log->word + log->n, w, 4 * words);
			log->word[log->n + 1] &= ~0xff0000u; /* any id that is free will do */
			log->n += words;
		}
		if (!now && !(place_state.detours & DETOUR_CUT))
			break;
		assert_true(visits < 1000);
	}
	return all;
}

/*
 * A grid in a slot whose last grid was being searched room for, when it had to leave, is placed like one in an empty slot:
 * nothing of that search goes on. The visit of the first search ends at many places of it.
 */
static void another_grid(void **unused)
{
	static struct log fresh, later;
	unsigned paused = 0, placed = 0;

	(void)unused;
	for (unsigned round = 0; round < 500; round++) {
		struct tutti_cga_shape first[TUTTI_CGA_LEVELS], second[TUTTI_CGA_LEVELS];
		unsigned mode = round & 1, steps;
		uint32_t ctas;

		seed(2200 + round);
		any_levels(first);
		any_levels(second);
		steps = 1 + roll(1500);
		boot(round / 2);
		cga_begin(task, second, mode, false, NULL);
		ctas = fill_card(&fresh, VISIT_STEPS);
		boot(round / 2);
		cga_begin(task, first, mode, false, NULL);
		if (!visit(steps, 1)) {
			paused += place_state.detours & DETOUR_CUT ? 1 : 0;
			rig_drain();
			cga_begin(task, second, mode, false, NULL);
			assert_int_equal(fill_card(&later, round % 4 ? VISIT_STEPS : 0), ctas);
			assert_int_equal(later.n, fresh.n);
			assert_memory_equal(later.word, fresh.word, 4 * fresh.n);
			placed += ctas != 0;
		}
	}
	assert_true(paused > 100 && placed > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-02 CGA-14 REL-11", another_grid),
	};

	return cmocka_run_group_tests_name("firmware: searches for CGAs that pause", tests, NULL, NULL);
}

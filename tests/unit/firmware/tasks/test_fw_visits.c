/* SPDX-License-Identifier: MIT */
/*
 * Issue rounds that a visit has no time for: which tasks come first in the next visits, and what happens when visit
 * after visit is over before the last task had its chance. The card is full of CTAs of job 0, which has no others; each
 * visit begins with the end of one of these, and has time for one attempt to place a CTA.
 */
#include "fw_tasks.h"

#include "tasks/issue_rounds.h"
#include "tasks/patience.h"

#define SM_CTAS 32u /* CTAs of one wave that an SM has room for */
#define FILLER 0u   /* job */
#define FILLER_QUEUE (QUEUES - 1)

static unsigned filler; /* the job that fills the card: FILLER, but for a test that needs its slot */

/* A visit that has any steps left makes an attempt, which takes more than this. */
#define ATTEMPT 1u

static unsigned slot_of(unsigned n)
{
	unsigned slot = 0;

	while (!card_slot[slot].busy || slot_job[slot] != (int)n)
		slot++;
	return slot;
}

static void full_card(unsigned sms, uint32_t fair)
{
	card_size = sms;
	filler = FILLER;
	begin(1, 32, SM_CTAS, fair);
	submit(&(struct job){ .queue = FILLER_QUEUE, .groups = SM_CTAS * sms });
	assert_int_equal(job[FILLER].issued, SM_CTAS * sms);
	launches = 0;
	marks_late = true;
}

/* A CTA of the filler ends on @sm, in a visit for one attempt. */
static void room_on(unsigned sm)
{
	rig_shorten_visit(ATTEMPT);
	end_on(slot_of(filler), sm);
}

/*
 * As many visits as @want has letters, and in each there is room for one CTA more on @sm. The letter says which job
 * takes what there is, 'a' for the one after the filler and so on; '-': none.
 */
static void goes(unsigned sm, const char *want)
{
	char got[64] = "";

	for (unsigned i = 0; want[i]; i++) {
		unsigned before = launches;

		room_on(sm);
		got[i] = launches > before ? (char)('a' + launched[before] - filler - 1) : '-';
		for (; before < launches; before++)
			assert_int_equal(launched[before], launched[launches - 1]);
	}
	assert_string_equal(got, want);
}

static void endless(unsigned queue, unsigned quota, uint32_t mask)
{
	submit(&(struct job){ .queue = queue, .groups = 1000, .quota = quota, .mask = mask });
}

/* The oldest goes first. Those for which a visit had no time come before their equals in the next ones, each once. */
static void equals(void **unused)
{
	(void)unused;
	full_card(1, 0);
	for (unsigned q = 0; q < 3; q++)
		endless(q, 0, 0);
	goes(0, "abcabac");
}

/* Of one queue only the oldest may issue. What is behind it keeps neither it nor other queues from their turns. */
static void oldest_of_its_queue(void **unused)
{
	(void)unused;
	full_card(1, 0);
	endless(0, 0, 0);
	endless(0, 0, 0);
	endless(1, 0, 0);
	goes(0, "acacacac");
}

/* Where quotas decide, tasks take the same turns as in one long visit. */
static void turns_of_quotas(void **unused)
{
	(void)unused;
	full_card(1, 0);
	endless(0, 2, 0);
	endless(1, 1, 0);
	endless(2, 0, 0);
	goes(0, "aabcaabc");
}

/* A task that finds no room has had its chance as well: it may only run on SM 0, which stays full. */
static void chance_in_vain(void **unused)
{
	(void)unused;
	full_card(2, 0);
	endless(0, 0, 1);
	endless(1, 0, 0);
	endless(2, 0, 0);
	goes(1, "-bc-b-c");
}

/* What a round takes is counted as well: 900 steps are not enough for five tasks of which the first four find no room. */
static void many_in_vain(void **unused)
{
	(void)unused;
	full_card(2, 0);
	for (unsigned q = 0; q < 4; q++)
		endless(q, 0, 1);
	endless(4, 0, 0);
	rig_shorten_visit(900);
	end_on(slot_of(FILLER), 1);
	assert_int_equal(launches, 0);
	end_on(slot_of(FILLER), 1);
	assert_true(launches > 0);
	assert_int_equal(launched[0], 5);
}

/* The task in the first slot of the table is a task like the others: it waits for its turn as well. */
static void first_slot(void **unused)
{
	(void)unused;
	full_card(1, 0);
	while (job[FILLER].running > SM_CTAS / 2)
		end_on(slot_of(FILLER), 0);
	filler = jobs;
	submit(&(struct job){ .queue = FILLER_QUEUE, .groups = SM_CTAS / 2 });
	while (job[FILLER].running)
		end_on(slot_of(FILLER), 0);
	for (unsigned q = 0; q < 3; q++)
		endless(q, 0, 0);
	assert_int_equal(slot_of(filler + 1), 0);
	assert_int_equal(job[filler + 1].running, SM_CTAS / 2);
	goes(0, "abcabac");
}

/* @n CTAs of the filler end at once. Return: how many are placed */
static unsigned room_for(unsigned n)
{
	unsigned slot = slot_of(filler), before = launches;
	struct tutti_event event = { { TUTTI_EVENT_CTA | slot << 8 | 1u << 24, n, n, 1 } };

	for (unsigned i = 0; i < n; i++)
		card_end(slot, 0);
	job[filler].running -= n;
	hal_host_event(&event);
	pump();
	return launches - before;
}

/* The same for two, in a visit for one attempt. */
static unsigned room_for_two(void)
{
	rig_shorten_visit(ATTEMPT);
	return room_for(2);
}

/* There is room for more than the quota of a task: it issues no more in its turn, and what is left of its turn comes first. */
static void quotas_with_room(void **unused)
{
	static const unsigned rooms[] = { 7, 2, 1, 4, 8 };
	const char *want = "aaabbcaaabbcaaabbcaaab";
	char got[64] = "";

	(void)unused;
	full_card(1, 0);
	endless(0, 3, 0);
	endless(1, 2, 0);
	endless(2, 0, 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(room_for(rooms[i]), rooms[i]);
	for (unsigned i = 0; i < launches; i++)
		got[i] = (char)('a' + launched[i] - filler - 1);
	assert_string_equal(got, want);
}

/* A task with fewer CTAs left than its quota issues all of them. */
static void fewer_than_the_quota(void **unused)
{
	(void)unused;
	full_card(1, 0);
	submit(&(struct job){ .queue = 0, .groups = 2, .quota = 5 });
	endless(1, 1, 0);
	assert_int_equal(room_for(6), 6);
	assert_int_equal(job[1].issued, 2);
	assert_int_equal(job[2].issued, 4);
}

/* A task of which only others of its own queue are equals gets all there is at once, with lots as without. */
static void alone_in_its_queue(void **unused)
{
	(void)unused;
	for (uint32_t fair = 0; fair < 3; fair++)
		for (unsigned of_queue = 1; of_queue <= 2; of_queue++) {
			full_card(1, fair);
			for (unsigned i = 0; i < of_queue; i++)
				endless(0, 0, 0);
			assert_int_equal(room_for_two(), 2);
			assert_int_equal(launched[0], 1);
		}
	/* equals of two queues take it in turns, if lots are drawn */
	full_card(1, 1);
	endless(0, 0, 0);
	endless(1, 0, 0);
	assert_int_equal(room_for_two(), 1);
}

/* A task that comes first finds room for two CTAs. If lots are drawn each CTA is a turn of its own. */
static void lots_or_not(void **unused)
{
	(void)unused;
	for (uint32_t fair = 0; fair < 2; fair++) {
		full_card(1, fair);
		endless(0, 0, 0);
		endless(1, 0, 0);
		rig_shorten_visit(0);
		end_on(slot_of(FILLER), 0);
		assert_int_equal(launches, 0);
		room_on(0);
		assert_int_equal(launches, fair ? 1 : 2);
		assert_int_equal(launched[0], 1);
	}
}

/* ---- visits that place nothing ---- */

#define CUTS 64u /* visits that place nothing before the rounds begin no more anew, */
#define LATE 32u /* and the most CTAs of a task then */

#define SMS 6u

/* Job 1 has the higher priority, and its only SM is 0, which stays full. Job 2, of @n CTAs, may use those of @mask. */
static void high_and_low(unsigned n, uint32_t mask)
{
	full_card(SMS, 0);
	submit(&(struct job){ .queue = 0, .groups = 1, .priority = 1, .mask = 1 });
	submit(&(struct job){ .queue = 1, .groups = n, .priority = 5, .mask = mask });
}

/* @n visits, each with the end of a CTA on one of the SMs from @first to @last, that have no time for job 2. */
static void in_vain(unsigned n, unsigned first, unsigned last)
{
	unsigned before = launches;

	for (unsigned i = 0; i < n; i++)
		room_on(first + i % (last - first + 1));
	assert_int_equal(launches, before);
}

/*
 * Each end of a CTA begins the rounds anew, with the task of the higher priority. When that has been in vain for long
 * the other one has its chance, though not for all that fits, since there may be room for the first by then.
 */
static void last_has_its_chance(void **unused)
{
	(void)unused;
	high_and_low(1000, 0);
	in_vain(CUTS, 1, SMS - 1);
	room_on(1);
	assert_int_equal(job[2].issued, LATE);
	in_vain(CUTS - 1, 1, SMS - 1); /* the visit before these was cut as well */
	room_on(1);
	assert_int_equal(job[2].issued, 2 * LATE);
	assert_int_equal(job[1].issued, 0);
}

/* It issues no more than it has. */
static void few_are_left(void **unused)
{
	(void)unused;
	high_and_low(3, 0);
	in_vain(CUTS, 1, SMS - 1);
	room_on(1);
	assert_int_equal(job[2].issued, 3);
}

/* There is room for the first task after so many visits: rounds that begin anew begin with it. */
static void first_again(void **unused)
{
	(void)unused;
	high_and_low(1000, 0);
	in_vain(CUTS, 1, SMS - 1);
	room_on(1);
	assert_int_equal(job[2].issued, LATE);
	room_on(0);
	assert_int_equal(job[1].issued, 1);
	assert_int_equal(job[2].issued, LATE);
}

/* When one of the last tasks has had its chance, the first one is tried again before the others, within the same visit. */
static void first_before_others(void **unused)
{
	(void)unused;
	high_and_low(3, 0);
	submit(&(struct job){ .queue = 2, .groups = 1000, .priority = 6 });
	in_vain(CUTS, 1, SMS - 1);
	end_on(slot_of(FILLER), 0);
	assert_int_equal(launched[0], 2);
	assert_int_equal(job[1].issued, 1);
	assert_true(job[3].issued > LATE);
}

/* Visits in vain are counted anew when one had time for every task, though it had no room for any. */
static void long_visit_between(void **unused)
{
	(void)unused;
	high_and_low(1000, 2);
	in_vain(CUTS / 2, 2, SMS - 1);
	end_on(slot_of(FILLER), 2);
	in_vain(SM_CTAS, 1, 1);
	in_vain(CUTS - SM_CTAS, 2, SMS - 1);
	room_on(2);
	assert_int_equal(job[2].issued, SM_CTAS);
}

/* ---- what is put off ---- */

/* An event that leads to nothing but what was put off. */
static void next_visit(void)
{
	rig_event(TUTTI_EVENT_DOORBELL, 1u << FILLER_QUEUE, 0);
	pump();
}

/* SMs are held for a task that was passed over too often: in the next visit if this one is over. */
static void hold_in_another_visit(void **unused)
{
	unsigned before;

	(void)unused;
	for (unsigned late_one = 0; late_one < 2; late_one++) {
		full_card(1, 0);
		submit(&(struct job){ .queue = 0, .groups = 1, .waves = 32 });
		endless(1, 0, 0);
		while (tasks[slot_of(1)].passed < PATIENCE)
			end_on(slot_of(job[FILLER].running ? FILLER : 2), 0);
		before = launches;
		assert_null(patience_holder);
		if (late_one)
			rig_shorten_visit(500); /* enough for both tasks, and not for another round */
		end_on(slot_of(2), 0);
		assert_int_equal(launches, before + 1);
		assert_int_equal(patience_holder != NULL, !late_one);
		next_visit();
		assert_ptr_equal(patience_holder, &tasks[slot_of(1)]);
	}
}

/* Even if issue rounds use up every visit, queues that are ready run in every other one. */
static void queues_in_between(void **unused)
{
	struct queue *queue = queue_at(QUEUES - 2);
	char got[8] = "";

	(void)unused;
	full_card(1, 0);
	endless(0, 0, 0);
	endless(1, 0, 0);
	rig_shorten_visit(0);
	end_on(slot_of(filler), 0);
	for (unsigned i = 0; i < 6; i++) {
		wait_ready(queue);
		room_on(0);
		got[i] = queue_set_has(&queue_table.ready, queue_id(queue)) ? '-' : 'q';
	}
	assert_string_equal(got, "q-q-q-");
	assert_true(launches >= 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-01 REL-11", equals),
		RIG_TEST("RES-01 REL-11", first_slot),
		RIG_TEST("RES-02 REL-11", oldest_of_its_queue),
		RIG_TEST("RES-02 RES-04", alone_in_its_queue),
		RIG_TEST("TSK-09 REL-11", turns_of_quotas),
		RIG_TEST("TSK-09", quotas_with_room),
		RIG_TEST("TSK-09", fewer_than_the_quota),
		RIG_TEST("RES-01 REL-11", chance_in_vain),
		RIG_TEST("RES-01 REL-11", many_in_vain),
		RIG_TEST("RES-04 REL-11", lots_or_not),
		RIG_TEST("RES-01 REL-11", last_has_its_chance),
		RIG_TEST("RES-01 REL-11", few_are_left),
		RIG_TEST("RES-01 REL-11", first_again),
		RIG_TEST("RES-01 REL-11", first_before_others),
		RIG_TEST("RES-01 REL-11", long_visit_between),
		RIG_TEST("RES-01 REL-11", hold_in_another_visit),
		RIG_TEST("SYS-09 REL-11", queues_in_between),
	};

	return cmocka_run_group_tests_name("firmware: rounds over visits", tests, NULL, NULL);
}

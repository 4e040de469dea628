/* SPDX-License-Identifier: MIT */
/* Which of equal tasks goes next (RES-04), by the definition of the source: marks of queues for each priority. */
#include "fw_rig.h"

#include "tasks/tie_lots.h"
#include "tasks/issue_rounds.h"

#define LEVELS 10u
#define TIES 8u

static bool marked[LEVELS + 1][TUTTI_MAX_QUEUES];

static void begin(uint32_t number)
{
	rig_load(1);
	memset(marked, 0, sizeof(marked));
	lots_seed(number);
	for (unsigned q = 0; q < TUTTI_MAX_QUEUES; q++)
		queue_at(q)->asid_queue = 1 | q << 16;
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
	/* one without a mark, if there is one */
	assert_true(n == 1 || !any_free || !marked[level][q]);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("RES-04", marks),
		RIG_TEST("RES-04", lots),
	};

	return cmocka_run_group_tests_name("firmware: fairness among equals", tests, NULL, NULL);
}

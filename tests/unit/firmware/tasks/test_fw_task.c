/* SPDX-License-Identifier: MIT */
/*
 * Which task gets the next CTA: the firmware, between packets with metadata and a card of one SM, against a slow model
 * of the lists, the table and the rounds (TSK-02 .. TSK-04, TSK-08, TSK-09, RES-01, RES-02, RES-04, RES-06).
 */
#include "tasks/metadata.h"
#include "fw_tasks.h"

/* ---- the model: lists, a table in age order, one CTA at a time ---- */

struct model {
	unsigned slots, room;
	int list[11][TASKS];
	unsigned listed[11];
	int table[CARD_SLOTS]; /* oldest first */
	unsigned used;
	int turn[11];
	struct { unsigned issued, running, left; bool leaving; } task[TASKS];
	unsigned expected[100000], n;
};
static struct model model;

static void list_insert(unsigned level, int n, bool head)
{
	unsigned at = head ? 0 : model.listed[level];

	memmove(&model.list[level][at + 1], &model.list[level][at], (model.listed[level] - at) * sizeof(int));
	model.list[level][at] = n;
	model.listed[level]++;
}

static void admit(void)
{
	unsigned level;

	for (level = 1; level <= 10; level++)
		while (model.used < model.slots && model.listed[level]) {
			model.table[model.used++] = model.list[level][0];
			memmove(&model.list[level][0], &model.list[level][1], --model.listed[level] * sizeof(int));
		}
}

static void table_remove(int n)
{
	unsigned i = 0;

	while (model.table[i] != n)
		i++;
	memmove(&model.table[i], &model.table[i + 1], (--model.used - i) * sizeof(int));
}

static void passes(int n)
{
	unsigned level = job[n].priority, i, at = 0;

	for (i = 0; i < model.used; i++)
		if (model.table[i] == n)
			at = i;
	/* the next one of its level in the table that has work, or the first */
	model.turn[level] = -1;
	for (i = 1; i <= model.used; i++) {
		int next = model.table[(at + i) % model.used];

		if (job[next].priority == level && !model.task[next].leaving && next != n &&
		    model.task[next].issued < job[next].groups) {
			model.turn[level] = next;
			return;
		}
	}
}

static bool may(int n)
{
	return !model.task[n].leaving && model.task[n].issued < job[n].groups &&
	       !(job[n].sequence && model.task[n].running);
}

/* The task whose turn it is or, if it may not issue, the one behind it that may; @first if there is none behind. */
static int from_turn(unsigned level, int first)
{
	unsigned i;

	for (i = 0; i < model.used && model.table[i] != model.turn[level]; i++)
		;
	for (; i < model.used; i++)
		if (job[model.table[i]].priority == level && may(model.table[i]))
			return model.table[i];
	return first;
}

static void issue(void)
{
	unsigned level, i, many;
	int who, quota;

	for (;;) {
		who = -1;
		if (!model.room)
			return;
		for (level = 1; level <= 10 && who < 0; level++) {
			many = 0;
			quota = 0;
			for (i = 0; i < model.used; i++)
				if (job[model.table[i]].priority == level && may(model.table[i])) {
					if (who < 0)
						who = model.table[i];
					many++;
					quota |= !!job[model.table[i]].quota;
				}
			if (many > 1 && quota)
				who = model.turn[level] = from_turn(level, who);
		}
		if (who < 0)
			return;
		level = job[who].priority;
		many = 0;
		for (i = 0; i < model.used; i++)
			many += job[model.table[i]].priority == level && may(model.table[i]);
		model.expected[model.n++] = (unsigned)who;
		model.task[who].issued++;
		model.task[who].running++;
		model.room--;
		if (job[who].quota) {
			if (many == 1)
				model.task[who].left = job[who].quota;
			else if (!--model.task[who].left) {
				model.task[who].left = job[who].quota;
				passes(who);
			}
		} else if (many > 1 && quota) {
			passes(who);
		}
		if (model.task[who].issued == job[who].groups && model.turn[level] == who)
			passes(who);
	}
}

static void model_arrive(int n)
{
	unsigned i, level;

	model.task[n].left = job[n].quota;
	list_insert(job[n].priority, n, job[n].head);
	/* the youngest of the lowest priority below gives way */
	for (level = 10; model.used == model.slots && level > job[n].priority; level--) {
		for (i = model.used; i--;) {
			int v = model.table[i];

			if (job[v].priority == level && !model.task[v].leaving && model.task[v].issued < job[v].groups) {
				model.task[v].leaving = true;
				if (model.turn[level] == v)
					passes(v);
				if (!model.task[v].running) {
					model.task[v].leaving = false;
					table_remove(v);
					list_insert(level, v, true);
				}
				level = 1;
				break;
			}
		}
	}
	admit();
	issue();
}

static void model_end(int n)
{
	model.room++;
	model.task[n].running--;
	/* rounds come first, because a task that has ended still has its slot */
	issue();
	if (!model.task[n].running && model.task[n].leaving) {
		model.task[n].leaving = false;
		table_remove(n);
		list_insert(job[n].priority, n, true);
	} else if (!model.task[n].running && model.task[n].issued == job[n].groups) {
		table_remove(n);
	}
	admit();
	issue();
}

static void compare(void)
{
	unsigned i;

	for (i = 0; i < launches || i < model.n; i++)
		if (i >= launches || i >= model.n || launched[i] != model.expected[i])
			fail_msg("CTA %u of task %d, expected %d (%u launched, %u expected)", i,
				 i < launches ? (int)launched[i] : -1, i < model.n ? (int)model.expected[i] : -1, launches,
				 model.n);
}

static unsigned live(void)
{
	unsigned i, n = 0;

	for (i = 0; i < jobs; i++)
		n += !job[i].signalled;
	return n;
}

static void end_random(void)
{
	unsigned s = roll(CARD_SLOTS), i;
	int n;

	for (i = 0; i < CARD_SLOTS && !card_slot[s].running; i++)
		s = (s + 1) % CARD_SLOTS;
	if (i == CARD_SLOTS)
		return;
	n = slot_job[s];
	end_one(s);
	model_end(n);
	compare();
}

static void run(uint64_t number, bool quotas)
{
	unsigned slots = 1, cap = 1, step, i;

	seed(number);
	slots = 1 + roll(5);
	cap = 1 + roll(4);
	begin(number, slots, cap, 0);
	memset(&model, 0, sizeof(model));
	memset(model.turn, 0xff, sizeof(model.turn));
	model.slots = slots;
	model.room = cap;
	for (step = 0; step < 400 && jobs < TASKS; step++) {
		if (roll(3) == 0 && live() < 8) {
			struct job j = { .queue = roll(QUEUES), .priority = 1 + roll(roll(2) ? 3 : 10), .groups = 1 + roll(9),
					 .head = !roll(4), .sequence = !roll(4), .quota = quotas && roll(2) ? 1 + roll(4) : 0 };

			/* a sequence task has no quota test */

			submit(&j);
			model_arrive((int)jobs - 1);
			compare();
		} else {
			end_random();
		}
	}
	for (i = 0; live() && i < 10000; i++)
		end_random();
	for (i = 0; i < jobs; i++) {
		assert_true(job[i].signalled && !job[i].cancelled);
		assert_int_equal(job[i].issued, job[i].groups);
		assert_int_equal(tmd[i].issued, job[i].groups);
		assert_int_equal(tmd[i].completed, job[i].groups);
		assert_int_equal(tmd[i].state, TUTTI_TMD_FINISHED);
	}
}

static void table_and_rounds(void **unused)
{
	uint64_t i, evictions = 0;

	for (i = 0; i < 400; i++) {
		run(1 + i, false);
		evictions += counters.evictions;
	}
	assert_true(evictions > 100);
}

static void turns(void **unused)
{
	uint64_t i, n = 0;

	for (i = 0; i < 400; i++) {
		run(5000 + i, true);
		n += counters.turns;
	}
	assert_true(n > 100);
}

static void end_any(void)
{
	unsigned s = 0;

	while (!card_slot[s].running)
		s++;
	end_one(s);
}

/* Orders of the queues in each lap: as many CTAs as there are queues. */
static void laps(unsigned k, uint32_t fair, uint32_t *order, unsigned n)
{
	unsigned i, j, from;

	begin(10 + k, 32, 1, fair);
	for (i = 0; i < k; i++)
		submit(&(struct job){ .queue = i, .priority = 4, .groups = 300 });
	/* the first one went while it was alone */
	while (launches < 1 + n * k)
		end_any();
	for (i = 0; i < n; i++) {
		uint32_t seen = 0;

		order[i] = 0;
		from = 1 + i * k;
		for (j = 0; j < k; j++) {
			seen |= 1u << job[launched[from + j]].queue;
			order[i] = order[i] * 8 + job[launched[from + j]].queue;
		}
		assert_int_equal(seen, (1u << k) - 1); /* each queue once */
	}
}

/* Equal priorities by lot: in every lap each queue goes once, in changing orders that the seed repeats. */
static void fairness(void **unused)
{
	uint32_t order[30], again[30], other[30];
	unsigned k, i, same;

	for (k = 2; k <= QUEUES; k++) {
		laps(k, 77, order, 30);
		laps(k, 77, again, 30);
		laps(k, 78, other, 30);
		assert_memory_equal(order, again, sizeof(order));
		assert_memory_not_equal(order, other, sizeof(order));
		for (same = 0, i = 1; i < 30; i++)
			same += order[i] == order[0];
		assert_true(same < 29);
	}
}

/* Two classes that always have work: CTAs follow the lengths of the windows; without windows the lower one starves. */
static void windows(void **unused)
{
	unsigned i, n, high, low;

	for (n = 0; n < 4; n++) {
		begin(n, 32, 1, 1);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 0u << 24 | 3000, 0), 0);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 1u << 24 | 1000, 0), 0);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 255u << 24 | (n ? 2 : 0), 0), 0);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CLASS, 1u << 8 | 0, 0), 0);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CLASS, 9u << 8 | (n == 3 ? 0 : 1), 0), 0);
		submit(&(struct job){ .queue = 0, .priority = 1, .groups = 900 });
		submit(&(struct job){ .queue = 1, .priority = 9, .groups = 900 });
		for (i = 0; i < 800; i++) {
			hal_host.time += 100;
			end_any();
		}
		for (high = low = i = 0; i < launches; i++)
			*(launched[i] ? &low : &high) += 1;
		if (n == 0 || n == 3) { /* off; or both of the same class: their order is as ever */
			assert_int_equal(low, 0);
		} else {
			assert_in_range(low, 190, 210);
			assert_in_range(high, 590, 612);
		}
	}
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 255u << 24 | 9, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 8u << 24 | 1, 0), -TUTTI_EINVAL);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_CLASS, 11u << 8, 0), -TUTTI_EINVAL);
}

static unsigned accepted(void)
{
	unsigned i, n = 0;

	for (i = 0; i < FW_TMDS; i++)
		n += tmd_at(i)->stage == TMD_TASK;
	return n;
}

/* Far more tasks with metadata than the firmware keeps: the others wait in their rings, in order, and none is lost. */
static void more_than_records(void **unused)
{
	unsigned last[QUEUES] = { 0 }, i, n, most = 0;

	for (n = 0; n < 20; n++) {
		begin(300 + n, n % 2 ? 32 : 3, 1 + n % 3, n % 4 ? 1 : 0);
		for (i = 0; i < 90; i++) {
			submit(&(struct job){ .queue = i % QUEUES, .priority = 1 + roll(10), .groups = 1 + roll(3) });
			most = accepted() > most ? accepted() : most;
		}
		assert_true(accepted() < 90);
		while (live())
			end_any();
		for (i = 0; i < 90; i++) {
			assert_int_equal(job[i].issued, job[i].groups);
			assert_int_equal(tmd[i].completed, job[i].groups);
		}
		assert_int_equal(accepted(), 0);
	}
	/* one client gets half of them, less what is kept for higher priorities */
	assert_int_equal(most, FW_TMDS / 2 - 5 / 4);
	/* in each queue, of one priority, in ring order */
	begin(400, 32, 1, 1);
	for (i = 0; i < 90; i++)
		submit(&(struct job){ .queue = i % QUEUES, .priority = 4, .groups = 1 });
	while (live())
		end_any();
	for (i = 0; i < launches; i++) {
		assert_true(!last[job[launched[i]].queue] || launched[i] == last[job[launched[i]].queue] + QUEUES);
		last[job[launched[i]].queue] = launched[i];
	}
}

/* All records that low priorities can have are taken: a high one is accepted at once, gets a slot and goes next. */
static void records_for_high_priorities(void **unused)
{
	unsigned i, n, evictions;

	for (i = 0; i < QUEUES; i++)
		queue_priority[i] = i == 5 ? 1 : 9;
	begin(5, 32, 2, 1);
	for (i = 0; i < 60; i++)
		submit(&(struct job){ .queue = i % 5, .priority = 9, .groups = 40 });
	n = jobs;
	submit(&(struct job){ .queue = 5, .priority = 1, .groups = 3 });
	for (i = 0; i < 3; i++) {
		end_any();
		assert_int_equal(launched[launches - 1], n);
	}
	while (live())
		end_any();
	/* the same for kernels without metadata that find no slot */
	begin(6, 8, 2, 1);
	for (i = 0; i < 100; i++)
		submit(&(struct job){ .queue = i % 5, .groups = 40, .plain = true, .priority = 9 });
	n = jobs;
	evictions = counters.evictions;
	submit(&(struct job){ .queue = 5, .groups = 3, .plain = true, .priority = 1 });
	assert_int_equal(counters.evictions, evictions + 1); /* at once: a record was left for it */
	for (i = 0; launched[launches - 1] != n; i++) {
		assert_true(i < 4); /* one task has to leave first */
		end_any();
	}
	while (live())
		end_any();
	memset(queue_priority, 0, sizeof(queue_priority));
}

/* The default: four windows, 8 : 4 : 2 : 1, for levels 1-2, 3-5, 6-8 and 9-10. */
static void default_windows(void **unused)
{
	static const unsigned level[2][4] = { { 1, 3, 6, 9 }, { 2, 5, 8, 10 } };
	unsigned which, i, count[4], order;

	for (which = 0; which < 2; which++) {
		begin(20 + which, 32, 1, 1);
		assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 255u << 24 | 4, 0), 0);
		for (i = 0; i < 4; i++)
			submit(&(struct job){ .queue = i, .priority = level[which][i], .groups = 5000 });
		for (i = 0; i < 6000; i++) {
			hal_host.time += 100000; /* a tenth of a millisecond */
			end_any();
		}
		memset(count, 0, sizeof(count));
		for (i = 0; i < launches; i++)
			count[launched[i]]++;
		assert_in_range(count[0], 3100, 3300);
		assert_in_range(count[1], 1550, 1650);
		assert_in_range(count[2], 750, 850);
		assert_in_range(count[3], 370, 430);
	}
	/* in its window a class comes first, the others keep their order: of two levels of a class the upper one */
	begin(22, 32, 1, 1);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_WINDOW, 255u << 24 | 4, 0), 0);
	submit(&(struct job){ .queue = 0, .priority = 9, .groups = 500 });
	submit(&(struct job){ .queue = 1, .priority = 10, .groups = 500 });
	submit(&(struct job){ .queue = 2, .priority = 4, .groups = 500 });
	for (order = i = 0; i < 400; i++) {
		hal_host.time += 100000;
		end_any();
		order += launched[launches - 1] == 1;
	}
	assert_int_equal(order, 0);
}

/* A CTA that needs a whole SM starts soon, even though small CTAs come and go without end. */
static void starved(unsigned small, unsigned large, bool plain, uint32_t fair)
{
	unsigned i;

	begin(small, 32, 32, fair);
	submit(&(struct job){ .queue = 0, .priority = small, .groups = 5000 });
	submit(&(struct job){ .queue = 1, .priority = large, .groups = 3, .waves = 32, .plain = plain });
	assert_int_equal(job[0].running, 32);
	for (i = 0; !job[1].issued; i++) {
		assert_true(i < 150);
		end_any();
	}
	/* and it costs the others no more than that: they fill the SM again */
	assert_int_equal(job[0].running, 0);
	while (live())
		end_any();
	assert_int_equal(job[0].issued, 5000);
}

static void nobody_starves(void **unused)
{
	uint32_t fair;

	for (fair = 0; fair < 3; fair++) {
		starved(6, 5, false, fair);
		starved(5, 5, false, fair);
		starved(5, 5, true, fair);
		starved(10, 1, false, fair);
	}
}

/* Two requests before all is quiet: both are answered. */
static void two_suspends(void **unused)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	const struct tutti_status *status = (void *)(hal_host.window + d->status.offset);
	uint32_t before;

	begin(3, 32, 1, 1);
	submit(&(struct job){ .queue = 0, .priority = 1, .groups = 1 });
	assert_int_equal(rig_request(TUTTI_MSG_SUSPEND, 0, 0, 0), 1); /* no answer yet */
	assert_int_equal(rig_request(TUTTI_MSG_SUSPEND, 0, 0, 0), 1);
	before = status->card_ring_tail;
	end_any();
	assert_int_equal(status->card_ring_tail, before + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-02 TSK-03 TSK-04 TSK-08 RES-01 RES-02", table_and_rounds),
		RIG_TEST("TSK-09", turns),
		RIG_TEST("RES-04", fairness),
		RIG_TEST("RES-06", windows),
		RIG_TEST("TSK-01 TSK-02 RES-02", more_than_records),
		RIG_TEST("TSK-02 TSK-03 REL-12", records_for_high_priorities),
		RIG_TEST("RES-06", default_windows),
		RIG_TEST("RES-01 RES-06", nobody_starves),
		RIG_TEST("SYS-08", two_suspends),
	};

	return cmocka_run_group_tests_name("firmware: tasks", tests, NULL, NULL);
}

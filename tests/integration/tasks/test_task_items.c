// SPDX-License-Identifier: MIT
/* Queue tasks, which take items from a work queue, through libtutti: TSK-10. */
#include "task_rig.h"

static struct args_items *items_args(uint32_t items, struct tutti_task *t)
{
	struct args_items *a = rig_alloc(rig, sizeof(*a));

	a->tmd = tutti_task_tmd(t);
	a->seen = rig_alloc(rig, items * 4);
	a->ctas = rig_alloc(rig, 64);
	a->items = rig_alloc(rig, 64);
	a->least = rig_alloc(rig, 64);
	a->most = rig_alloc(rig, 64);
	*a->least = ~0ull;
	return a;
}

static void each_once(const struct args_items *a, uint32_t items)
{
	uint32_t i;

	assert_int_equal(*a->items, items);
	for (i = 0; i < items; i++)
		assert_int_equal(a->seen[i], 1);
}

static struct tutti_work *work_queue(uint32_t items)
{
	struct tutti_work *work = NULL;

	assert_int_equal(tutti_work_create(rig->device, items, 8, &work), 0);
	return work;
}

static void push(struct tutti_work *work, uint64_t item)
{
	int error = tutti_work_push(work, &item, RIG_WAIT);

	if (error)
		fail_msg("push: %s", tutti_strerror(error));
}

/* Far more items than the queue holds; closing the queue starts the last ones. */
static void items_from_the_host(void **unused)
{
	struct tutti_task_counters c;
	struct tutti_work *work;
	struct args_items *a;
	tutti_signal_t signal;
	struct tutti_task *t;
	uint64_t i, item = 0;

	begin("gpc 4\n");
	work = work_queue(64);
	t = task(&(struct tutti_task_attributes){ .work = work, .coalesce_min = 8, .coalesce_max = 16, .coalesce_us = 1000000 });
	a = items_args(5003, t);
	signal = start(rig->queue, "consume", 1, a, t);
	for (i = 0; i < 5003; i++)
		push(work, i);
	tutti_work_close(work);
	assert_int_equal(tutti_work_try_push(work, &item), -EPIPE);
	rig_wait(rig, signal);
	each_once(a, 5003);
	assert_true(*a->most <= 16);
	assert_true(*a->ctas >= 5003 / 16);
	tutti_task_counters(t, &c);
	assert_int_equal(c.issued, *a->ctas);
	assert_int_equal(c.outstanding, 0);
	assert_int_equal(c.state, TUTTI_TMD_FINISHED);
	end();
}

/* Fewer items than the minimum start when the timeout has passed, and not before. */
static void coalescing(void **unused)
{
	struct tutti_task_counters c;
	struct tutti_work *work;
	struct args_items *a;
	tutti_signal_t signal;
	struct tutti_task *t;
	uint64_t i, began;

	begin("gpc 4\n");
	work = work_queue(64);
	t = task(&(struct tutti_task_attributes){ .work = work, .coalesce_min = 8, .coalesce_max = 8, .coalesce_us = 50000 });
	a = items_args(64, t);
	signal = start(rig->queue, "consume", 1, a, t);
	for (i = 0; i < 8; i++)
		push(work, i);
	assert_true(rig_await(rig->queue, a->items, 8));
	assert_int_equal(*a->least, 8);
	began = rig_ns();
	for (; i < 11; i++)
		push(work, i);
	assert_true(rig_await(rig->queue, a->items, 11));
	assert_true(rig_ns() - began > 40000000);
	tutti_work_close(work);
	rig_wait(rig, signal);
	each_once(a, 11);
	tutti_task_counters(t, &c);
	assert_in_range(c.timeouts, 1, 3); /* more than one if the three items came far apart */
	assert_int_equal(counter(TUTTI_COUNTER_COALESCE_TIMEOUTS), c.timeouts);
	end();
}

/* Kernels fill the queue while it is consumed; they wait when it is full. */
static void items_from_kernels(void **unused)
{
	struct tutti_work *work;
	struct args_items *a;
	struct args_make *m;
	struct tutti_task *t;
	tutti_signal_t consumed;

	begin("gpc 4\n");
	work = work_queue(16);
	t = task(&(struct tutti_task_attributes){ .work = work, .coalesce_min = 4, .coalesce_max = 4, .coalesce_us = 200 });
	a = items_args(64 * 25, t);
	consumed = start(rig->queue, "consume", 1, a, t);
	m = rig_alloc(rig, sizeof(*m));
	m->tmd = a->tmd;
	m->count = 25;
	rig_wait(rig, start(rig_queue(rig, 0), "produce", 64, m, NULL));
	tutti_work_close(work);
	rig_wait(rig, consumed);
	each_once(a, 64 * 25);
	end();
}

/* An index that has been reserved counts although its item comes later: the CTA that gets it waits for the item. */
static void items_late(void **unused)
{
	const uint64_t later = 7, now = 8;
	struct tutti_work *work;
	struct tutti_work_queue *shared;
	struct args_items *a;
	struct tutti_task *t;
	tutti_signal_t consumed;
	uint64_t *slot;
	unsigned i;

	begin("gpc 1\n");
	work = work_queue(16);
	shared = tutti_work_queue(work);
	t = task(&(struct tutti_task_attributes){ .work = work, .coalesce_min = 2 });
	a = items_args(16, t);
	consumed = start(rig->queue, "consume", 1, a, t);
	slot = (uint64_t *)(uintptr_t)shared->base;
	shared->write_index = 1;
	assert_int_equal(tutti_work_try_push(work, &now), 0);
	for (i = 0; i < 100; i++)
		tutti_signal_wait(rig->device, consumed, TUTTI_EQ, 0, 100000, NULL);
	assert_int_equal(*a->ctas, 1); /* it has both */
	assert_int_equal(*a->items, 0);
	memcpy(slot + 1, &later, sizeof(later));
	tutti_store_release(slot, 1);
	tutti_work_close(work);
	rig_wait(rig, consumed);
	assert_int_equal(*a->items, 2);
	assert_int_equal(a->seen[later], 1);
	assert_int_equal(a->seen[now], 1);
	end();
}

/* Many queue tasks, most of them idle: they do not delay the others. */
static void idle_queue_tasks(void **unused)
{
	enum { TASKS = 16 };
	struct tutti_work *work[TASKS];
	struct args_items *a[TASKS];
	tutti_signal_t signal[TASKS];
	struct args_log *log;
	uint64_t i, j;

	begin("gpc 2\n");
	for (i = 0; i < TASKS; i++) {
		struct tutti_task *t;

		work[i] = work_queue(16);
		t = task(&(struct tutti_task_attributes){ .work = work[i], .coalesce_min = 2 });
		a[i] = items_args(40, t);
		signal[i] = start(rig->queue, "consume", 1, a[i], t);
	}
	log = log_args(500, NULL);
	for (i = 0; i < 40; i++) {
		rig_wait(rig, start(rig->queue, "note", 500, log, NULL));
		for (j = 0; j < TASKS; j++)
			push(work[j], i);
	}
	for (i = 0; i < TASKS; i++)
		tutti_work_close(work[i]);
	for (i = 0; i < TASKS; i++) {
		rig_wait(rig, signal[i]);
		each_once(a[i], 40);
	}
	end();
}

/* Kernels that wait for the host need all slots of the card but one. Idle queue tasks give theirs away. */
static void idle_slots(void **unused)
{
	enum { TASKS = 12, WAITING = 31 };
	struct tutti_work *work[TASKS];
	struct args_items *a[TASKS];
	tutti_signal_t signal[TASKS], waiting[WAITING];
	struct args_gate *g;
	unsigned i;

	begin("gpc 2\n");
	for (i = 0; i < TASKS; i++) {
		struct tutti_task *t;

		work[i] = work_queue(16);
		t = task(&(struct tutti_task_attributes){ .work = work[i] });
		a[i] = items_args(1, t);
		signal[i] = start(rig->queue, "consume", 1, a[i], t);
	}
	g = gate_args();
	for (i = 0; i < WAITING; i++)
		waiting[i] = start(rig->queue, "gate", 1, g, NULL);
	assert_true(rig_await(rig->queue, g->started, WAITING));
	for (i = 0; i < 4; i++)
		rig_wait(rig, start(rig->queue, "note", 10, log_args(10, NULL), NULL));
	assert_int_equal(*g->ended, 0);
	/* when they have work again they get slots */
	tutti_store_release(g->go, 1);
	for (i = 0; i < WAITING; i++)
		rig_wait(rig, waiting[i]);
	for (i = 0; i < TASKS; i++) {
		push(work[i], 0);
		tutti_work_close(work[i]);
		rig_wait(rig, signal[i]);
		each_once(a[i], 1);
	}
	end();
}

static void cancel_queue_task(void **unused)
{
	struct tutti_work *work;
	struct args_items *a;
	tutti_signal_t signal;
	struct tutti_task *t;
	int64_t value;

	begin("gpc 2\n");
	work = work_queue(16);
	t = task(&(struct tutti_task_attributes){ .work = work });
	a = items_args(16, t);
	signal = start(rig->queue, "consume", 1, a, t);
	push(work, 3);
	assert_true(rig_await(rig->queue, a->items, 1));
	assert_int_equal(tutti_task_cancel(t), 0);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_LT, 1, RIG_WAIT, &value), 0);
	assert_true(tutti_signal_cancelled(value));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T("TSK-10: items from the host, many more than fit", items_from_the_host),
		T("TSK-10 TSK-16: coalescing timeout", coalescing),
		T("TSK-10: items from kernels, back pressure", items_from_kernels),
		T("TSK-10: an item that is late is waited for", items_late),
		T("TSK-10 TSK-03: idle queue tasks give way", idle_queue_tasks),
		T("TSK-10 TSK-03 REL-11: idle queue tasks give their slots away", idle_slots),
		T("TSK-12: cancel a queue task", cancel_queue_task),
	};

	return cmocka_run_group_tests_name("task items", tests, NULL, NULL);
}

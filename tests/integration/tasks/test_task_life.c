// SPDX-License-Identifier: MIT
/* Child tasks, cancelled tasks, and a CTA that is launched wave by wave, through libtutti: TSK-11, TSK-12, RES-07. */
#include "task_rig.h"

/* ---- children ---- */

static struct args_parent *parent_args(uint32_t ctas, bool wait)
{
	struct args_parent *a = rig_alloc(rig, sizeof(*a));
	uint32_t i;

	a->child = rig_alloc(rig, ctas * sizeof(struct tutti_tmd));
	a->signal = rig_alloc(rig, ctas * sizeof(struct tutti_signal));
	a->result = rig_alloc(rig, ctas * 8);
	a->child_runs = rig_alloc(rig, 64);
	a->wait = wait;
	a->items = 50;
	for (i = 0; i < ctas; i++)
		a->signal[i].value = 1;
	return a;
}

static void children(void **unused)
{
	struct args_parent *a;
	uint32_t i, made = 0;

	begin("gpc 4\n");
	a = parent_args(4, true);
	rig_wait(rig, start(rig->queue, "parent", 4, a, NULL));
	for (i = 0; i < 4; i++) {
		assert_int_equal(a->result[i], 0);
		assert_int_equal(tutti_signal_load(&a->signal[i]), 0);
	}
	assert_int_equal(*a->child_runs, 4 * 50);
	/* so many that not all can be accepted: each child runs or is refused, and none hangs */
	a = parent_args(300, true);
	rig_wait(rig, start(rig->queue, "parent", 300, a, NULL));
	for (i = 0; i < 300; i++) {
		if (a->result[i])
			assert_int_equal(a->result[i], -TUTTI_EBUSY);
		else
			made++;
		assert_int_equal(tutti_signal_load(&a->signal[i]), !!a->result[i]);
	}
	assert_true(made > 0);
	assert_int_equal(*a->child_runs, made * 50);
	end();
}

/* Waiting parents fill the whole card: creating a child fails, and does not hang. */
static void no_room_for_children(void **unused)
{
	struct args_parent *a;
	uint32_t i, made = 0;

	begin("gpc 1\ncta_slots 2\n");
	a = parent_args(2, true);
	rig_wait(rig, start(rig->queue, "parent", 2, a, NULL));
	for (i = 0; i < 2; i++) {
		made += !a->result[i];
		if (a->result[i])
			assert_int_equal(a->result[i], -TUTTI_EBUSY);
	}
	assert_int_equal(*a->child_runs, made * 50);
	end();
}

static void bad_children(void **unused)
{
	struct args_parent *a;

	begin("gpc 2\n");
	a = parent_args(1, true);
	a->items = 0;
	rig_wait(rig, start(rig->queue, "parent", 1, a, NULL));
	assert_int_equal(a->result[0], -TUTTI_EINVAL);
	assert_int_equal(rig->faults, 0);
	end();
}

/* ---- ends ---- */

static void cancel(void **unused)
{
	struct tutti_task_counters c;
	struct args_gate *g;
	struct tutti_task *t, *late;
	tutti_signal_t signal, next;
	int64_t value;

	begin("gpc 2\n");
	g = gate_args();
	t = task(&(struct tutti_task_attributes){ .priority = 2 });
	late = task(&(struct tutti_task_attributes){ .priority = 4 });
	signal = start(rig->queue, "gate", 1000, g, t);
	assert_true(rig_await(rig->queue, g->started, 64));
	assert_int_equal(tutti_task_cancel(late), -ENOENT);
	assert_int_equal(tutti_task_cancel(t), 0);
	assert_int_equal(tutti_signal_load(signal), 1); /* CTAs that run finish */
	tutti_store_release(g->go, 1);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_LT, 1, RIG_WAIT, &value), 0);
	assert_true(tutti_signal_cancelled(value));
	tutti_task_counters(t, &c);
	assert_int_equal(c.state, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED);
	assert_int_equal(c.error, TUTTI_ERROR_CANCELLED);
	assert_int_equal(c.issued, 64);
	assert_int_equal(*g->ended, 64);
	assert_int_equal(tutti_task_cancel(t), -ENOENT);
	/* the queue goes on */
	next = start(rig->queue, "note", 10, log_args(10, NULL), NULL);
	rig_wait(rig, next);
	assert_int_equal(rig->faults, 0);
	end();
}

/* CTAs with as many waves as an SM has, beside one wave that stays: they never fit as a whole. */
static void split(void **unused)
{
	struct tutti_kernel k;
	struct tutti_launch launch;
	struct args_waves *a;
	struct args_gate *g;
	struct tutti_task *t;
	tutti_signal_t gate;
	uint32_t waves, i;

	begin("gpc 2\n");
	waves = tutti_device_discovery(rig->device)->peus * tutti_device_discovery(rig->device)->peu_waves;
	g = gate_args();
	gate = start(rig_queue(rig, 0), "gate", 2, g, NULL);
	assert_true(rig_await(rig->queue, g->started, 2));
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_SPLIT_ROUNDS, 2), 0);
	k = kernel("waves");
	t = task(&(struct tutti_task_attributes){ .independence = TUTTI_WAVES_INDEPENDENT });
	a = rig_alloc(rig, sizeof(*a));
	a->runs = rig_alloc(rig, 5 * waves * 4);
	a->waves = waves;
	launch = (struct tutti_launch){ .kernel = &k, .grid = { 5 * waves * 32 }, .workgroup = { (uint16_t)(waves * 32) },
					.kernarg = a, .signal = rig_signal(rig, 1), .acquire = TUTTI_SCOPE_SYSTEM,
					.release = TUTTI_SCOPE_SYSTEM };
	assert_int_equal(tutti_task_dispatch(rig->queue, &launch, t), 0);
	rig_wait(rig, launch.signal);
	for (i = 0; i < 5 * waves; i++)
		assert_int_equal(a->runs[i], 1);
	assert_int_equal(tutti_load_acquire(g->ended), 0);
	tutti_store_release(g->go, 1);
	rig_wait(rig, gate);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T("TSK-11: children, waited for", children),
		T("TSK-11: no room for children", no_room_for_children),
		T("TSK-11: bad children", bad_children),
		T("TSK-12: cancel", cancel),
		T("RES-07: a CTA by waves", split),
	};

	return cmocka_run_group_tests_name("task life", tests, NULL, NULL);
}

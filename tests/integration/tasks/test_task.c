// SPDX-License-Identifier: MIT
/* Attributes of tasks, and which task the next CTA is of, through libtutti: TSK-01 .. TSK-09, TSK-16. */
#include "task_rig.h"

/* ---- metadata ---- */

static void defaults_and_counters(void **unused)
{
	struct tutti_task_counters c;
	struct tutti_task *t;
	struct args_log *a;

	begin(NULL);
	t = task(&(struct tutti_task_attributes){ .priority = 3 });
	a = log_args(300, NULL);
	rig_wait(rig, start(rig->queue, "note", 300, a, t));
	ran_once(a, 300);
	tutti_task_counters(t, &c);
	assert_int_equal(c.state, TUTTI_TMD_FINISHED);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.issued, 300);
	assert_int_equal(c.completed, 300);
	/* once more with the same description */
	rig_wait(rig, start(rig->queue, "note", 300, log_args(300, NULL), t));
	assert_true(counter(TUTTI_COUNTER_STATE_SYNCS) >= 2);
	end();
}

/* What each SM has counted adds up to what the card has. */
static void counters_of_sms(void **unused)
{
	enum { SMS = 6 };
	struct tutti_sm_state sm[SMS];
	uint64_t ctas = 0, completed = 0, before;
	struct args_log *a;
	uint32_t on[SMS] = { 0 };
	unsigned i;

	begin("gpc 4 2\n");
	before = counter(TUTTI_COUNTER_STATE_SYNCS);
	a = log_args(300, NULL);
	rig_wait(rig, start(rig->queue, "note", 300, a, NULL));
	for (i = 0; i < 300; i++)
		on[a->sm_of[i]]++;
	assert_int_equal(tutti_device_sm_states(rig->device, 0, SMS, sm), 0);
	for (i = 0; i < SMS; i++) {
		assert_int_equal(sm[i].ctas, on[i]);
		assert_int_equal(sm[i].completed, on[i]);
		assert_int_equal(sm[i].states, counter(TUTTI_COUNTER_STATE_SYNCS) - before);
		assert_int_equal(sm[i].task_assign | sm[i].state_sync, 0);
		assert_true(sm[i].cta_launch);
		assert_int_equal(sm[i].throttles, 0);
		ctas += sm[i].ctas;
		completed += sm[i].completed;
	}
	assert_int_equal(ctas, counter(TUTTI_COUNTER_CTAS_ISSUED));
	assert_int_equal(completed, counter(TUTTI_COUNTER_CTAS_COMPLETED));
	end();
}

static void bad_metadata(void **unused)
{
	static const struct { unsigned offset; uint8_t value; } bad[] = {
		{ offsetof(struct tutti_tmd, magic), 0 },
		{ offsetof(struct tutti_tmd, version), 2 },
		{ offsetof(struct tutti_tmd, type), 2 },
		{ offsetof(struct tutti_tmd, priority), 11 },
		{ offsetof(struct tutti_tmd, cga_mode), 2 },
		{ offsetof(struct tutti_tmd, flags), 0x80 },
		{ offsetof(struct tutti_tmd, flags), TUTTI_TMD_INDEPENDENT | TUTTI_TMD_DEPENDENT },
		{ offsetof(struct tutti_tmd, flags), TUTTI_TMD_QUOTA },
		{ offsetof(struct tutti_tmd, quota), 1 },
		{ offsetof(struct tutti_tmd, affinity), 4 },
		{ offsetof(struct tutti_tmd, queue), 64 },
		{ offsetof(struct tutti_tmd, coalesce_min), 1 },
		{ offsetof(struct tutti_tmd, coalesce_max), 1 },
		{ offsetof(struct tutti_tmd, coalesce_us), 1 },
		{ offsetof(struct tutti_tmd, throttle_sms), 1 },
		{ offsetof(struct tutti_tmd, cga), 1 },
		{ offsetof(struct tutti_tmd, pad0), 1 },
	};
	struct tutti_task *t;
	unsigned i;

	begin(NULL);
	t = task(&(struct tutti_task_attributes){ 0 });
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t *byte = (uint8_t *)tutti_task_tmd(t) + bad[i].offset, before = *byte;
		struct tutti_fault fault;

		*byte = bad[i].value;
		start(rig->queue, "note", 1, log_args(1, NULL), t);
		fault = rig_fault(rig, rig->queue);
		assert_int_equal(fault.code, TUTTI_ERROR_TMD);
		assert_int_equal(fault.field, offsetof(struct tutti_dispatch_packet, tmd));
		assert_in_range(fault.address, (uintptr_t)tutti_task_tmd(t), (uintptr_t)tutti_task_tmd(t) + 256);
		assert_int_equal(tutti_queue_reset(rig->queue), 0);
		rig->faults = 0;
		*byte = before;
	}
	rig_wait(rig, start(rig->queue, "note", 1, log_args(1, NULL), t));
	end();
}

static void in_recordings(void **unused)
{
	struct tutti_recording *recording;
	struct tutti_task *t;
	struct args_log *a;
	struct tutti_kernel k;
	struct tutti_launch launch;
	unsigned i;

	begin("gpc 4\n");
	t = task(&(struct tutti_task_attributes){ .sequence = true });
	k = kernel("note");
	a = log_args(10, NULL);
	launch = (struct tutti_launch){ .kernel = &k, .grid = { 10 }, .workgroup = { 1 }, .kernarg = a, .barrier = true,
					.acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM };
	assert_int_equal(tutti_record_begin(rig->queue), 0);
	for (i = 0; i < 6; i++) {
		if (i == 5)
			launch.signal = rig_signal(rig, 1);
		assert_int_equal(tutti_task_dispatch(rig->queue, &launch, t), 0);
	}
	assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
	for (i = 0; i < 3; i++) {
		tutti_signal_store(launch.signal, 1);
		assert_int_equal(tutti_replay(recording), 0);
		rig_wait(rig, launch.signal);
	}
	assert_int_equal(*a->most, 1); /* the sequence flag counted in every form */
	for (i = 0; i < 10; i++)
		assert_int_equal(a->runs[i], 18);
	tutti_recording_destroy(recording);
	end();
}

/* ---- who issues, and where ---- */

static void sequence(void **unused)
{
	struct args_log *a;
	unsigned i;

	begin("gpc 4\n");
	a = log_args(200, NULL);
	rig_wait(rig, start(rig->queue, "note", 200, a, task(&(struct tutti_task_attributes){ .sequence = true })));
	ran_once(a, 200);
	assert_int_equal(*a->most, 1);
	for (i = 0; i < 200; i++)
		assert_int_equal(a->order[i], i);
	end();
}

static void affinity(void **unused)
{
	const uint32_t mask[2] = { 0x00a00012, 0x1 };
	struct args_log *a;
	unsigned i;

	begin("gpc 18 18\n");
	a = log_args(CTAS, NULL);
	rig_wait(rig, start(rig->queue, "note", CTAS, a,
			    task(&(struct tutti_task_attributes){ .affinity = mask, .affinity_words = 2 })));
	ran_once(a, CTAS);
	for (i = 0; i < CTAS; i++)
		assert_true(mask[a->sm_of[i] / 32] >> (a->sm_of[i] % 32) & 1);
	end();
}

/* More masks than the firmware keeps at once: the other tasks wait for one. */
static void many_masks(void **unused)
{
	tutti_signal_t signal[30];
	struct args_log *a[30];
	uint32_t mask;
	unsigned i, j;

	begin("gpc 8\n");
	for (i = 0; i < 30; i++) {
		mask = 1u << i % 8;
		a[i] = log_args(40, NULL);
		signal[i] = start(rig->queue, "note", 40, a[i],
				  task(&(struct tutti_task_attributes){ .affinity = &mask, .affinity_words = 1 }));
	}
	for (i = 0; i < 30; i++) {
		rig_wait(rig, signal[i]);
		ran_once(a[i], 40);
		for (j = 0; j < 40; j++)
			assert_int_equal(a[i]->sm_of[j], i % 8);
	}
	end();
}

/* Low priorities fill the task table with long grids; high ones come later and end first, and nothing is lost. */
static void eviction(void **unused)
{
	enum { LOW = 60, HIGH = 12, CTAS_LOW = 150 };
	static struct args_log *a[LOW], *b[HIGH];
	static tutti_signal_t low[LOW], high[HIGH];
	struct tutti_queue_options o = { .packets = 256, .priority = 9 };
	struct tutti_queue *queue;
	uint64_t *clock, before;
	unsigned i, j;

	begin("gpc 2\ncta_slots 2\n");
	clock = rig_alloc(rig, 64);
	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
	for (i = 0; i < LOW; i++) {
		a[i] = log_args(CTAS_LOW, clock);
		low[i] = start(queue, "note", CTAS_LOW, a[i], NULL);
	}
	while (!tutti_load_acquire(clock))
		tutti_queue_poll(queue);
	for (i = 0; i < HIGH; i++) {
		b[i] = log_args(20, NULL);
		high[i] = start(rig->queue, "note", 20, b[i],
				task(&(struct tutti_task_attributes){ .priority = (uint8_t)(1 + i % 3), .head = i & 1 }));
	}
	for (i = 0; i < HIGH; i++)
		rig_wait(rig, high[i]);
	before = tutti_load_acquire(clock);
	assert_true(before < LOW * CTAS_LOW); /* the others were still running */
	for (i = 0; i < LOW; i++)
		rig_wait(rig, low[i]);
	for (i = 0; i < LOW; i++)
		ran_once(a[i], CTAS_LOW);
	for (j = 0; j < HIGH; j++)
		ran_once(b[j], 20);
	assert_true(counter(TUTTI_COUNTER_TMD_EVICTIONS) > 0);
	tutti_queue_destroy(queue);
	end();
}

/* One CTA fits at a time: two tasks with quotas take turns, each with as many CTAs as its quota. */
static void quota(void **unused)
{
	struct tutti_task *t[2];
	struct args_log *a[2];
	tutti_signal_t signal[2], gate;
	struct tutti_queue *other;
	struct args_gate *g;
	uint64_t *clock;
	unsigned i, turns = 0, run = 0, last = 2;
	uint8_t who[196];

	begin("gpc 1\ncta_slots 1\n");
	other = rig_queue(rig, TUTTI_QUEUE_EXTENDED);
	clock = rig_alloc(rig, 64);
	g = gate_args();
	gate = start(rig_queue(rig, 0), "gate", 1, g, NULL);
	assert_true(rig_await(rig->queue, g->started, 1));
	for (i = 0; i < 2; i++) {
		t[i] = task(&(struct tutti_task_attributes){ .quota = 7 });
		a[i] = log_args(98, clock);
		signal[i] = start(i ? other : rig->queue, "note", 98, a[i], t[i]);
	}
	/* both are in the table before the card is free */
	while (counter(TUTTI_COUNTER_PACKETS_DISPATCH) < 3)
		tutti_queue_poll(rig->queue);
	tutti_store_release(g->go, 1);
	rig_wait(rig, gate);
	for (i = 0; i < 2; i++)
		rig_wait(rig, signal[i]);
	for (i = 0; i < 98; i++) {
		who[a[0]->order[i]] = 0;
		who[a[1]->order[i]] = 1;
	}
	for (i = 0; i < 196; i++) {
		if (who[i] != last) {
			turns++;
			if (last < 2 && turns > 1)
				assert_int_equal(run, 7);
			run = 0;
			last = who[i];
		}
		run++;
	}
	assert_true(turns >= 28);
	end();
}

static void throttle(void **unused)
{
	struct tutti_kernel k;
	struct tutti_launch launch;
	struct tutti_task *t;
	struct args_log *a, *b;
	tutti_signal_t before, after;
	struct tutti_sm_state sm;
	uint32_t most;

	begin("gpc 4\n");
	most = tutti_device_discovery(rig->device)->shared_blocks * tutti_device_discovery(rig->device)->shared_block_bytes;
	k = kernel("note");
	a = log_args(6, NULL);
	b = log_args(400, NULL);
	before = start(rig->queue, "note", 400, b, NULL);
	t = task(&(struct tutti_task_attributes){ .throttle_sms = 2 });
	launch = (struct tutti_launch){ .kernel = &k, .grid = { 6 }, .workgroup = { 1 }, .kernarg = a,
					.dynamic_group_bytes = 2 * most, .signal = rig_signal(rig, 1),
					.acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM };
	assert_int_equal(tutti_task_dispatch(rig->queue, &launch, t), 0);
	after = start(rig->queue, "note", 50, log_args(50, NULL), NULL);
	rig_wait(rig, before);
	rig_wait(rig, launch.signal);
	rig_wait(rig, after);
	ran_once(a, 6);
	assert_true(*a->most <= 2);
	assert_int_equal(counter(TUTTI_COUNTER_THROTTLE_SWITCHES), 2);
	assert_int_equal(tutti_device_sm_states(rig->device, 0, 1, &sm), 0);
	assert_int_equal(sm.throttles, 2);
	/* without the flag the workgroup is too large for any SM */
	assert_int_equal(tutti_launch_check(rig->device, &launch), TUTTI_ERROR_GROUP_MEMORY);
	assert_int_equal(tutti_dispatch(rig->queue, &launch), -EINVAL);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T("TSK-01 TSK-16: defaults, counters of a task", defaults_and_counters),
		T("TSK-16, TSK-05: counters of SMs", counters_of_sms),
		T("TSK-01: every bad field is refused and named", bad_metadata),
		T("TSK-01 PKT-22: metadata in recordings", in_recordings),
		T("TSK-08: a sequence task", sequence),
		T("TSK-04: affinity", affinity),
		T("TSK-04: more masks than there is room for", many_masks),
		T("TSK-02 TSK-03 TSK-14: many tasks of all priorities", eviction),
		T("TSK-09: quotas alternate", quota),
		T("TSK-07: throttle mode", throttle),
	};

	return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}

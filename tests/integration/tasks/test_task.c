/* SPDX-License-Identifier: MIT */
/* Tasks end to end, through libtutti: attributes, queue tasks, children, cancelling (TSK-01 .. TSK-16, RES-07). */
#include <pthread.h>

#include "kernels/task.h"
#include "rig.h"
#include "tutti/policy.h"
#include "tutti/task.h"

#define T(name, function) { name, function, NULL, NULL, NULL }
#define CTAS 4000u

static struct tutti_executable *code;

static struct tutti_kernel kernel(const char *name)
{
	struct tutti_kernel k;

	if (tutti_executable_kernel(code, name, &k))
		return rig_kernel(rig, name);
	return k;
}

static void begin(const char *topology)
{
	const char *message = "";

	rig = topology ? rig_topology(topology) : rig_open(NULL);
	assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tests/integration/kernels/task.tco"), &code,
						    &message), 0);
}

static void end(void)
{
	tutti_executable_destroy(code);
	rig_close(rig);
}

static struct tutti_task *task(const struct tutti_task_attributes *attributes)
{
	struct tutti_task *t = NULL;

	assert_int_equal(tutti_task_create(rig->device, attributes, &t), 0);
	return t;
}

/* Dispatch @ctas workgroups of one wave without a barrier. */
static tutti_signal_t start(struct tutti_queue *queue, const char *name, uint32_t ctas, void *args, struct tutti_task *t)
{
	struct tutti_kernel k = kernel(name);
	struct tutti_launch launch = { .kernel = &k, .grid = { ctas }, .workgroup = { 1 }, .kernarg = args,
				       .signal = rig_signal(rig, 1), .acquire = TUTTI_SCOPE_SYSTEM,
				       .release = TUTTI_SCOPE_SYSTEM };

	if (t)
		assert_int_equal(tutti_task_dispatch(queue, &launch, t), 0);
	else
		assert_int_equal(tutti_dispatch(queue, &launch), 0);
	return launch.signal;
}

static struct args_log *log_args(uint32_t ctas, uint64_t *clock)
{
	struct args_log *a = rig_alloc(rig, sizeof(*a));

	a->clock = clock ? clock : rig_alloc(rig, 64);
	a->order = rig_alloc(rig, ctas * 4);
	a->runs = rig_alloc(rig, ctas * 4);
	a->sm_of = rig_alloc(rig, ctas * 4);
	a->now = rig_alloc(rig, 64);
	a->most = rig_alloc(rig, 64);
	return a;
}

static void ran_once(const struct args_log *a, uint32_t ctas)
{
	uint32_t i;

	for (i = 0; i < ctas; i++)
		assert_int_equal(a->runs[i], 1);
}

static uint64_t counter(enum tutti_counter which)
{
	uint64_t counters[TUTTI_COUNTERS];

	rig_counters(rig, counters);
	return counters[which];
}

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

/* More masks than the firmware keeps at once: the others wait for one. */
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

/* Low priorities fill the table with grids that take long; high ones come later, are done first, and nothing is lost. */
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
	assert_true(before < LOW * CTAS_LOW); /* the others were still at it */
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

/* One slot for one CTA: two tasks with quotas take turns; their CTAs come in quota-sized pieces. */
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
	g = rig_alloc(rig, sizeof(*g));
	g->started = rig_alloc(rig, 64);
	g->go = rig_alloc(rig, 64);
	g->ended = rig_alloc(rig, 64);
	gate = start(rig_queue(rig, 0), "gate", 1, g, NULL);
	assert_true(rig_poll_until(rig->queue, g->started, 1, 10000));
	for (i = 0; i < 2; i++) {
		t[i] = task(&(struct tutti_task_attributes){ .quota = 7 });
		a[i] = log_args(98, clock);
		signal[i] = start(i ? other : rig->queue, "note", 98, a[i], t[i]);
	}
	/* both are in the table before the card is free */
	for (i = 0; i < 1000; i++)
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
	/* without the flag it is too large for any SM */
	launch.signal = rig_signal(rig, 1);
	assert_int_equal(tutti_dispatch(rig->queue, &launch), 0);
	assert_int_equal(rig_fault(rig, rig->queue).code, TUTTI_ERROR_GROUP_MEMORY);
	end();
}

/* ---- items ---- */

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

/* Far more items than the queue holds; the last ones come by the end of the queue. */
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

/* Fewer than the minimum go when the timeout has passed, and not before. */
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
	assert_true(rig_poll_until(rig->queue, a->items, 8, 10000));
	assert_int_equal(*a->least, 8);
	began = rig_ns();
	for (; i < 11; i++)
		push(work, i);
	assert_true(rig_poll_until(rig->queue, a->items, 11, 10000));
	assert_true(rig_ns() - began > 40000000);
	tutti_work_close(work);
	rig_wait(rig, signal);
	each_once(a, 11);
	tutti_task_counters(t, &c);
	assert_in_range(c.timeouts, 1, 3); /* more than one if the three came far apart */
	assert_int_equal(counter(TUTTI_COUNTER_COALESCE_TIMEOUTS), c.timeouts);
	end();
}

/* Kernels fill the queue while it is consumed; a full queue holds them up. */
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

/* A number that is taken counts, though its item comes later: whoever got it waits for the item. */
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

/* More queue tasks than slots, most of them with nothing to do: they are in nobody's way. */
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
	/* so many that not all can be accepted: each is done or was refused, clearly; nobody hangs */
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

/* Waiting parents fill the whole card: creation fails, it does not hang. */
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
	g = rig_alloc(rig, sizeof(*g));
	g->started = rig_alloc(rig, 64);
	g->go = rig_alloc(rig, 64);
	g->ended = rig_alloc(rig, 64);
	t = task(&(struct tutti_task_attributes){ .priority = 2 });
	late = task(&(struct tutti_task_attributes){ .priority = 4 });
	signal = start(rig->queue, "gate", 1000, g, t);
	assert_true(rig_poll_until(rig->queue, g->started, 64, 10000));
	assert_int_equal(tutti_task_cancel(late), -ENOENT);
	assert_int_equal(tutti_task_cancel(t), 0);
	assert_int_equal(tutti_signal_load(signal), 1); /* CTAs in flight finish */
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
	assert_true(rig_poll_until(rig->queue, a->items, 1, 10000));
	assert_int_equal(tutti_task_cancel(t), 0);
	assert_int_equal(tutti_signal_wait(rig->device, signal, TUTTI_LT, 1, RIG_WAIT, &value), 0);
	assert_true(tutti_signal_cancelled(value));
	end();
}

/* CTAs of as many waves as an SM has, beside one wave that stays: they never fit whole. */
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
	g = rig_alloc(rig, sizeof(*g));
	g->started = rig_alloc(rig, 64);
	g->go = rig_alloc(rig, 64);
	g->ended = rig_alloc(rig, 64);
	gate = start(rig_queue(rig, 0), "gate", 2, g, NULL);
	assert_true(rig_poll_until(rig->queue, g->started, 2, 10000));
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
		T("TSK-10: items from the host, many more than fit", items_from_the_host),
		T("TSK-10 TSK-16: coalescing timeout", coalescing),
		T("TSK-10: items from kernels, back pressure", items_from_kernels),
		T("TSK-10: an item that is late is waited for", items_late),
		T("TSK-10 TSK-03: idle queue tasks give way", idle_queue_tasks),
		T("TSK-11: children, waited for", children),
		T("TSK-11: no room for children", no_room_for_children),
		T("TSK-11: bad children", bad_children),
		T("TSK-12: cancel", cancel),
		T("TSK-12: cancel a queue task", cancel_queue_task),
		T("RES-07: a CTA by waves", split),
	};

	return cmocka_run_group_tests_name("tasks", tests, NULL, NULL);
}

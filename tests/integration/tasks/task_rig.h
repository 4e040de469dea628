/* SPDX-License-Identifier: MIT */
/* Tests of tasks: a card with the kernels of kernels/task.c, and launches whose CTAs write a log. */
#ifndef TUTTI_TEST_TASK_RIG_H
#define TUTTI_TEST_TASK_RIG_H

#include "kernels/task.h"
#include "rig.h"
#include "tutti/policy.h"
#include "tutti/task.h"

#define T(name, function) { name, function, NULL, NULL, NULL }
#define CTAS 4000u

static struct tutti_executable *code;

static inline struct tutti_kernel kernel(const char *name)
{
	struct tutti_kernel k;

	if (tutti_executable_kernel(code, name, &k))
		return rig_kernel(rig, name);
	return k;
}

static inline void begin(const char *topology)
{
	const char *message = "";

	rig = topology ? rig_topology(topology) : rig_open(NULL);
	assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tests/integration/kernels/task.tco"), &code,
						    &message), 0);
}

static inline void end(void)
{
	tutti_executable_destroy(code);
	rig_close(rig);
}

static inline struct tutti_task *task(const struct tutti_task_attributes *attributes)
{
	struct tutti_task *t = NULL;

	assert_int_equal(tutti_task_create(rig->device, attributes, &t), 0);
	return t;
}

/* Dispatch @ctas workgroups of one wave without a barrier. */
static inline tutti_signal_t start(struct tutti_queue *queue, const char *name, uint32_t ctas, void *args, struct tutti_task *t)
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

static inline struct args_log *log_args(uint32_t ctas, uint64_t *clock)
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

/* Workgroups of "gate" count in @started, wait until @go is not 0, and count in @ended. */
static inline struct args_gate *gate_args(void)
{
	struct args_gate *g = rig_alloc(rig, sizeof(*g));

	*g = (struct args_gate){ rig_alloc(rig, 64), rig_alloc(rig, 64), rig_alloc(rig, 64) };
	return g;
}

static inline void ran_once(const struct args_log *a, uint32_t ctas)
{
	uint32_t i;

	for (i = 0; i < ctas; i++)
		assert_int_equal(a->runs[i], 1);
}

static inline uint64_t counter(enum tutti_counter which)
{
	uint64_t counters[TUTTI_COUNTERS];

	rig_counters(rig, counters);
	return counters[which];
}

#endif

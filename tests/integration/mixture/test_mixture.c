/* SPDX-License-Identifier: MIT */
/*
 * REL-10: seeded scenarios of everything at once, from the application's calls to the memory of the kernels: in this
 * process, and in the guest through the driver. TUTTI_MIXTURE_SEED and TUTTI_MIXTURE_COUNT choose others; a failure says
 * its seed.
 */
#include "mixture.h"

#define COUNT	   120u
#define OPERATIONS 28u

struct mixture mixture;

static const char *const feature_names[] = {
#define X(name) #name,
	FEATURES(X)
#undef X
};
static unsigned together[F_COUNT][F_COUNT];

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

/* ---- queues ---- */

static void create(unsigned queue)
{
	static const uint32_t flags[QUEUES] = { 0, TUTTI_QUEUE_EXTENDED, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_OVERLAP,
						TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_TABLE_DIFFS };
	struct tutti_queue_options options = { .flags = flags[queue], .priority = (uint8_t)(1 + draw(5)),
					       .timeout_ms = UINT32_MAX, .rsb_in_memory = flags[queue] && chance(2) };

	assert_int_equal(tutti_queue_create(rig->device, &options, &mixture.queue[queue]), 0);
}

/* What is in the queue may not run any more. */
static void stopped(unsigned queue)
{
	for (unsigned i = 0; i < mixture.jobs; i++) {
		struct job *job = &mixture.job[i];

		if (job->queue != queue || job->state == JOB_DONE)
			continue;
		job->state = JOB_MAY;
		job->cancelled = false;
	}
}

static void destroy(unsigned queue)
{
	assert_int_equal(tutti_queue_destroy(mixture.queue[queue]), 0);
	mixture.queue[queue] = NULL;
	stopped(queue);
	for (unsigned i = 0; i < mixture.jobs; i++)
		if (mixture.job[i].queue == queue && mixture.job[i].state != JOB_DONE) {
			job_check(&mixture.job[i]);
			job_end(&mixture.job[i]);
		}
}

/* Nothing waits any more for items that have yet to come, or for an SM that is off. */
static void let_all_end(void)
{
	for (unsigned i = 0; i < mixture.jobs; i++)
		job_feed(&mixture.job[i]);
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, mixture.sms, true), 0);
}

/* A kernel of the queue fails. What others do must not change. */
static void fail_queue(unsigned queue)
{
	struct tutti_fault fault;

	let_all_end();
	job_trap(queue);
	met(F_FAULT);
	fault = rig_fault(rig, mixture.queue[queue]);
	assert_int_equal(fault.code, TUTTI_ERROR_KERNEL_TRAP);
	stopped(queue);
	if (chance(2)) {
		assert_int_equal(tutti_queue_reset(mixture.queue[queue]), 0);
		met(F_RESET);
	} else {
		destroy(queue);
		create(queue);
	}
}

/* ---- what happens beside the jobs ---- */

static void switch_sms(void)
{
	unsigned first = draw(mixture.sms), count = 1 + draw(mixture.sms - first);

	if (count > mixture.sms / 2)
		count = mixture.sms / 2;
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, mixture.sms, true), 0);
	if (!count || chance(3))
		return;
	assert_int_equal(tutti_device_enable_sms(rig->device, first, count, false), 0);
	met(F_SMS_OFF);
}

/* Not that of CGAs: with SMs that are off, one of which each CTA has an SM of its own may be too large for the card. */
static const struct { enum tutti_policy policy; uint32_t values; } policies[] = {
	{ TUTTI_POLICY_ISSUE, 2 }, { TUTTI_POLICY_LEVEL_SEARCH, 3 }, { TUTTI_POLICY_CHOICE, 2 },
	{ TUTTI_POLICY_SEARCH, 4 }, { TUTTI_POLICY_SPLIT, 2 }, { TUTTI_POLICY_SPLIT_ROUNDS, 8 },
	{ TUTTI_POLICY_SEED, 5 }, { TUTTI_POLICY_CGA_PATIENCE, 8 },
};
#define POLICIES (sizeof(policies) / sizeof(*policies))

static void change_policy(void)
{
	unsigned i = draw(POLICIES);
	int error = tutti_device_policy(rig->device, policies[i].policy, draw(policies[i].values));

	if (error != -EBUSY || policies[i].policy != TUTTI_POLICY_SPLIT)
		assert_int_equal(error, 0);
	met(F_POLICY);
}

static void usual_policies(void)
{
	for (unsigned i = 0; i < POLICIES; i++)
		assert_int_equal(tutti_device_policy(rig->device, policies[i].policy, 0), 0);
}

static struct job *any_job(void)
{
	return mixture.jobs ? &mixture.job[draw(mixture.jobs)] : NULL;
}

static void cancel(struct job *job)
{
	if (!job || !job->task || job->state != JOB_MUST || job->times > 1)
		return;
	if (!tutti_task_cancel(job->task)) {
		job->state = JOB_MAY;
		job->cancelled = true;
		met(F_CANCEL);
	}
}

static void finish(struct job *job)
{
	if (job->state != JOB_MUST && !job->cancelled)
		return;
	job_wait(job);
	job_check(job);
}

static void wait_for(struct job *job)
{
	if (!job || job->state != JOB_MUST)
		return;
	let_all_end();
	finish(job);
}

static void operation(void)
{
	unsigned queue = draw(QUEUES);

	switch (draw(16)) {
	case 0:
		cancel(any_job());
		break;
	case 1:
		wait_for(any_job());
		break;
	case 2:
		switch_sms();
		break;
	case 3:
		change_policy();
		break;
	case 4:
		if (chance(2))
			fail_queue(queue);
		break;
	case 5:
		if (chance(2))
			break;
		destroy(queue);
		create(queue);
		met(F_DESTROY);
		break;
	default:
		job_start(queue);
	}
}

/* ---- a scenario ---- */

/* Nothing is left behind: a grid that fills the card and CGAs run as on a fresh one. */
static void card_is_whole(void)
{
	uint64_t *sum = memory_take(64);
	tutti_signal_t signal = rig_signal(rig, 1);

	create(1);
	rig_launch(rig, mixture.queue[1], "count", mixture.sms * 64 * 8, 8, rig_args(rig, sum, 1, 0), signal);
	rig_wait(rig, signal);
	assert_int_equal(*sum, mixture.sms * 64 * 8);
	tutti_signal_destroy(rig->device, signal);
	assert_int_equal(tutti_queue_destroy(mixture.queue[1]), 0);
}

static void scenario(uint64_t seed)
{
	unsigned i, k;

	print_message("# seed %llu\n", (unsigned long long)seed);
	memset(&mixture.job, 0, sizeof(mixture.job));
	mixture.seed = seed;
	mixture.random = seed * 0x9e3779b97f4a7c15ull | 1;
	mixture.jobs = mixture.features = 0;
	memory_begin();
	mixture.clock = memory_take(64);
	*mixture.clock = 1;
	for (i = 0; i < QUEUES; i++)
		create(i);
	for (i = 0; i < OPERATIONS; i++)
		operation();
	let_all_end();
	for (i = 0; i < mixture.jobs; i++)
		finish(&mixture.job[i]);
	for (i = 0; i < QUEUES; i++)
		destroy(i);
	usual_policies();
	card_is_whole();
	for (i = 0; i < F_COUNT; i++)
		for (k = 0; k < F_COUNT; k++)
			together[i][k] += mixture.features >> i & mixture.features >> k & 1;
}

static void scenarios(const char *topology, uint64_t first, uint64_t count)
{
	mixture_open(topology);
	for (uint64_t seed = first; seed < first + count; seed++)
		scenario(seed);
	mixture_close();
}

/* ---- tests ---- */

static void any_card(void **unused)
{
	scenarios(NULL, setting("TUTTI_MIXTURE_SEED", 1), setting("TUTTI_MIXTURE_COUNT", COUNT / 4));
}

static void small_card(void **unused)
{
	rig_needs_emulator();
	scenarios("gpc 4 2\n", setting("TUTTI_MIXTURE_SEED", 1000), setting("TUTTI_MIXTURE_COUNT", COUNT));
}

static void other_card(void **unused)
{
	rig_needs_emulator();
	scenarios("gpc 6*3\ncta_slots 4\n", setting("TUTTI_MIXTURE_SEED", 2000), setting("TUTTI_MIXTURE_COUNT", COUNT));
}

static void pairs(void **unused)
{
	unsigned holes = 0;

	rig_needs_emulator();
	if (getenv("TUTTI_MIXTURE_COUNT"))
		skip();
	for (unsigned i = 0; i < F_COUNT; i++)
		for (unsigned k = 0; k < i; k++) {
			if (!together[i][k])
				print_message("# %s never met %s\n", feature_names[i], feature_names[k]);
			holes += !together[i][k];
		}
	print_message("# %u of %u pairs met\n", F_COUNT * (F_COUNT - 1) / 2 - holes, F_COUNT * (F_COUNT - 1) / 2);
	assert_int_equal(holes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "REL-10: everything at once", any_card, NULL, NULL, NULL },
		{ "REL-10: everything at once, on a card of six SMs", small_card, NULL, NULL, NULL },
		{ "REL-10: everything at once, with few CTAs on an SM", other_card, NULL, NULL, NULL },
		{ "REL-10: each pair of features has met", pairs, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

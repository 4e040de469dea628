// SPDX-License-Identifier: MIT
/* Occupancy queries against the card: as many as they promise can be launched, and not one more. */
#include "rig.h"
#include "tutti/message.h"
#include "tutti/occupancy.h"

#define T(name, function) { name, function, NULL, NULL, NULL }

/* A launch: @waves of a workgroup, its @shared bytes, its CGAs by @attributes. */
struct job {
	unsigned waves;
	uint32_t shared;
	struct tutti_task_attributes attributes;
};

static struct tutti_launch launch_of(const struct job *job, struct tutti_kernel *kernel)
{
	*kernel = rig_kernel(rig, "park");
	return (struct tutti_launch){ .kernel = kernel, .workgroup = { (uint16_t)(32 * job->waves) },
				      .dynamic_group_bytes = job->shared };
}

static uint32_t promised(const struct job *job)
{
	struct tutti_kernel kernel;
	struct tutti_launch launch = launch_of(job, &kernel);
	uint32_t n = ~0u;

	assert_int_equal(tutti_occupancy_max_active_cgas(rig->device, &launch, &job->attributes, &n), 0);
	return n;
}

static uint32_t ctas_of(const struct job *job)
{
	uint32_t n = 1;

	for (unsigned i = 0; i < TUTTI_CGA_LEVELS && job->attributes.cga[i].kind; i++)
		n *= (uint32_t)job->attributes.cga[i].x * job->attributes.cga[i].y * job->attributes.cga[i].z;
	return n;
}

static bool cga_fits(const struct job *job)
{
	return job->attributes.cga[0].kind && promised(job);
}

/* Number of CGAs that fit, by launching too many, which run until the host lets them end. */
static uint32_t placed(const struct job *job, uint32_t cgas, bool *refused)
{
	struct args_park *args = rig_alloc(rig, sizeof(*args));
	struct tutti_queue_options o = { .packets = 64, .timeout_ms = UINT32_MAX, .flags = TUTTI_QUEUE_EXTENDED };
	uint32_t each = ctas_of(job), ctas = cgas * each, seen, quiet;
	struct tutti_kernel kernel;
	struct tutti_launch launch = launch_of(job, &kernel);
	struct tutti_queue *queue;
	struct tutti_task *task;

	args->sm_of = rig_alloc(rig, ctas * 4);
	args->runs = rig_alloc(rig, ctas * 4);
	args->started = rig_alloc(rig, 64);
	args->go = rig_alloc(rig, 64);
	/* the grid grows along the axes of the CGA, CGA after CGA along x */
	launch.grid[0] = 32 * job->waves * cgas;
	launch.grid[1] = launch.grid[2] = 1;
	for (unsigned i = 0; i < TUTTI_CGA_LEVELS && job->attributes.cga[i].kind; i++) {
		launch.grid[0] *= job->attributes.cga[i].x;
		launch.grid[1] *= job->attributes.cga[i].y;
		launch.grid[2] *= job->attributes.cga[i].z;
	}
	launch.kernarg = args;
	launch.signal = rig_signal(rig, 1);
	assert_int_equal(tutti_queue_create(rig->device, &o, &queue), 0);
	assert_int_equal(tutti_task_create(rig->device, &job->attributes, &task), 0);
	assert_int_equal(tutti_task_dispatch(queue, &launch, task), 0);
	for (seen = 0, quiet = 0; quiet < 30 && !(*refused = tutti_queue_error(queue, NULL)); quiet++) {
		tutti_signal_wait(rig->device, launch.signal, TUTTI_EQ, 0, 1, NULL);
		if (*args->started != seen)
			quiet = 0;
		seen = (uint32_t)*args->started;
	}
	assert_int_equal(seen % (each * job->waves), 0); /* whole ones only */
	if (!*refused) {
		tutti_store_release(args->go, 1);
		rig_wait(rig, launch.signal);
	}
	tutti_queue_destroy(queue);
	tutti_task_destroy(task);
	tutti_memory_free(rig->device, args->sm_of);
	tutti_memory_free(rig->device, args->runs);
	return seen / each / job->waves;
}

static void check(const struct job *job, const char *what)
{
	uint32_t want = promised(job), got;
	bool refused = false;

	got = placed(job, want + 1, &refused);
	if (got != want || refused != !want)
		fail_msg("%s: %u waves, %u bytes, kind %u of %ux%ux%u, kind %u of %ux%ux%u, multicast %u: %u promised, %u placed",
			 what, job->waves, job->shared, job->attributes.cga[0].kind, job->attributes.cga[0].x,
			 job->attributes.cga[0].y, job->attributes.cga[0].z, job->attributes.cga[1].kind,
			 job->attributes.cga[1].x, job->attributes.cga[1].y, job->attributes.cga[1].z,
			 job->attributes.multicast, want, got);
}

static struct job random_job(unsigned *seed)
{
	static const uint32_t shared[] = { 0, 0, 2000, 10000, 30000 };
	static const uint16_t sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 12, 16 };
	struct job job = { .waves = 4u + (unsigned)rand_r(seed) % 13, .shared = shared[rand_r(seed) % 5] };
	unsigned kind = (unsigned)rand_r(seed) % 5;

	if (!kind)
		return job;
	job.attributes.cga[0] = (struct tutti_cga_shape){ sizes[rand_r(seed) % 10], 1, 1, (uint16_t)kind };
	job.attributes.multicast = rand_r(seed) % 3 == 0;
	if (kind < TUTTI_CGA_GPU && rand_r(seed) % 2)
		job.attributes.cga[1] = (struct tutti_cga_shape){
			(uint16_t)(1 + rand_r(seed) % 3), (uint16_t)(1 + rand_r(seed) % 2), 1,
			(uint16_t)(kind + 1 + (unsigned)rand_r(seed) % (TUTTI_CGA_GPU - kind)) };
	return job;
}

static void random_jobs(const char *card, unsigned seed, unsigned jobs)
{
	unsigned some = 0;

	rig = rig_deterministic(card);
	for (unsigned i = 0; i < jobs; i++) {
		struct job job = random_job(&seed);

		check(&job, card);
		some += cga_fits(&job);
	}
	assert_true(some >= jobs / 4);
	rig_close(rig);
}

static void promises(void **state)
{
	random_jobs("gpc 8\nmemory 256M\n", 1, 25);
	random_jobs("gpc 4+4+2 3+3\nugpu 1 1\nmemory 256M\n", 2, 25);
	random_jobs("gpc 3\ngpc 5\ngpc 1\ngpc 4\nmemory 256M\n", 3, 25);
}

/* Identifiers are fewer than slots: CGAs of small workgroups. */
static void ids_run_out(void **state)
{
	struct job job = { .waves = 1, .attributes.cga = { { 2, 1, 1, TUTTI_CGA_GPC } } };

	rig = rig_deterministic("gpc 8\nmemory 256M\n");
	assert_int_equal(promised(&job), tutti_device_discovery(rig->device)->cga_ids);
	check(&job, "one GPC");
	job.attributes.cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_CPC };
	job.attributes.cga[1] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
	check(&job, "CPCs in a GPC");
	rig_close(rig);
}

/* SMs that are off, a cap on workgroups: the answer is about the card as it is set now. */
static void settings(void **state)
{
	struct job job = { .waves = 8, .attributes.cga = { { 4, 1, 1, TUTTI_CGA_GPC } } };
	struct tutti_kernel kernel;
	struct tutti_launch launch;
	uint32_t all, n;

	rig = rig_deterministic("gpc 8\ngpc 5\nmemory 256M\n");
	launch = launch_of(&job, &kernel);
	all = promised(&job);
	assert_int_equal(all, 8 * 4 / 4 + 5 * 4 / 4);
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, 5, false), 0);
	assert_int_equal(promised(&job), 3 + 5);
	check(&job, "three SMs of eight");
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_CTA_CAP, 1), 0);
	assert_int_equal(tutti_occupancy_max_active_ctas(rig->device, &launch, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(promised(&job), 1);
	check(&job, "a cap of one");
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_CTA_CAP, 0), 0);
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, 5, true), 0);
	assert_int_equal(promised(&job), all);
	rig_close(rig);
}

static uint32_t largest(const struct job *job, unsigned kind, bool multicast)
{
	struct tutti_kernel kernel;
	struct tutti_launch launch = launch_of(job, &kernel);
	uint32_t n = ~0u;

	assert_int_equal(tutti_occupancy_max_cga_size(rig->device, &launch, kind, multicast, &n), 0);
	return n;
}

/* The largest CGA runs, one CTA more does not; 8 always run on a GPC of 4 TPCs, however large the workgroup is. */
static void largest_cga(void **state)
{
	struct job job = { .waves = 1 };
	unsigned i, kind;

	rig = rig_deterministic("gpc 8\ngpc 3\nmemory 256M\n");
	for (i = 0; i < 6; i++) {
		job.waves = 1u << i;
		if (job.waves * 32 > tutti_device_discovery(rig->device)->workgroup_items)
			break;
		assert_true(largest(&job, TUTTI_CGA_GPC, false) >= 8);
		assert_true(largest(&job, TUTTI_CGA_GPC, true) == 8);
		for (kind = TUTTI_CGA_CPC; kind <= TUTTI_CGA_GPU; kind++) {
			uint32_t n = largest(&job, kind, false);

			job.attributes.cga[0] = (struct tutti_cga_shape){ (uint16_t)n, 1, 1, (uint16_t)kind };
			assert_true(promised(&job));
			job.attributes.cga[0].x++;
			assert_int_equal(promised(&job), 0);
		}
		job.attributes.cga[0] = (struct tutti_cga_shape){ 8, 1, 1, TUTTI_CGA_GPC };
		check(&job, "eight");
	}
	assert_true(i >= 5);
	rig_close(rig);
}

/* The CGAs that the kernel declares count when the launch names none; impossible questions are refused. */
static void from_kernel(void **state)
{
	struct job job = { .waves = 1 };
	struct tutti_kernel kernel;
	struct tutti_launch launch;
	struct tutti_task_attributes other = { .cga = { { 2, 1, 1, TUTTI_CGA_GPC } } };
	uint32_t n = 77, m;

	rig = rig_deterministic("gpc 8\nmemory 256M\n");
	rig_load(rig, "tests/integration/kernels/cga.tco");
	kernel = rig_kernel(rig, "cga_giant"); /* of 1024 */
	launch = (struct tutti_launch){ .kernel = &kernel, .workgroup = { 512 } };
	assert_int_equal(tutti_occupancy_max_active_cgas(rig->device, &launch, NULL, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(tutti_occupancy_max_active_cgas(rig->device, &launch, &other, &n), 0);
	assert_int_equal(n, 8 * 2 / 2);
	kernel = rig_kernel(rig, "cga_look_8");
	assert_int_equal(tutti_occupancy_max_active_cgas(rig->device, &launch, NULL, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_MULTICAST), 0);
	assert_int_equal(tutti_device_enable_sms(rig->device, 7, 1, false), 0);
	assert_int_equal(tutti_occupancy_max_active_cgas(rig->device, &launch, NULL, &n), 0);
	assert_int_equal(n, 0); /* seven SMs for eight workgroups on an SM each */
	assert_int_equal(tutti_device_policy(rig->device, TUTTI_POLICY_CGA_MODE, TUTTI_CGA_LOAD_BALANCE), 0);
	assert_int_equal(tutti_occupancy_max_active_cgas(rig->device, &launch, NULL, &n), 0);
	assert_int_equal(n, 1);
	launch = launch_of(&job, &kernel);
	assert_int_equal(tutti_occupancy_max_active_ctas(rig->device, &launch, &n), 0);
	assert_int_equal(tutti_occupancy_max_active_cgas(rig->device, &launch, NULL, &m), 0);
	assert_int_equal(m, 7 * n); /* no CGAs: workgroups */
	launch.dynamic_group_bytes = 1u << 30;
	assert_int_equal(tutti_occupancy_max_active_ctas(rig->device, &launch, &n), -EINVAL);
	launch = launch_of(&job, &kernel);
	launch.workgroup[1] = 4096;
	assert_int_equal(tutti_occupancy_max_active_ctas(rig->device, &launch, &n), -EINVAL);
	launch = launch_of(&job, &kernel);
	assert_int_equal(tutti_occupancy_max_cga_size(rig->device, &launch, TUTTI_CGA_NONE, false, &n), -EINVAL);
	assert_int_equal(tutti_occupancy_max_cga_size(rig->device, &launch, 5, false, &n), -EINVAL);
	rig_close(rig);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("CGA-29: as many CGAs as promised are placed and not one more, on three cards", promises),
		T("CGA-29, CGA-17: identifiers run out before slots do", ids_run_out),
		T("CGA-29, CGA-04: SMs that are off and caps count", settings),
		T("CGA-29: the largest CGA runs, a larger one would not; 8 always fit a GPC of 4 TPCs", largest_cga),
		T("CGA-29: CGAs of kernels, mode of the card, questions that make no sense", from_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

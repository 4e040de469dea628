/* SPDX-License-Identifier: MIT */
/*
 * Groups of workgroups compute sums together: CGAs reduce through each other's shared memory while plain grids of
 * another queue keep the card full. `--apart` shows what may happen without CGAs.
 */
#include "example.h"
#include "reduce.h"
#include "tutti/message.h"
#include "tutti/occupancy.h"

#define EACH 20000u  /* numbers of a workgroup */
#define GROUPS 48u
#define LOADS 8u     /* grids */
#define PATIENCE 8u  /* how often placing a group may fail before SMs are kept free for it */
#define FEW_SMS 8u   /* of the run without CGAs */

static struct tutti_device *device;
static struct tutti_executable *executable;

static void *memory(size_t bytes)
{
	void *p;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, bytes, &p));
	return p;
}

static struct tutti_queue *queue_of(uint32_t timeout_ms)
{
	const struct tutti_queue_options options = { .flags = TUTTI_QUEUE_EXTENDED, .timeout_ms = timeout_ms };
	struct tutti_queue *queue;

	CHECK(tutti_queue_create(device, &options, &queue));
	return queue;
}

/* ---- what runs ---- */

/* A launch of @workgroups; each takes a part of an SM's shared memory: @parts of them fill it. */
static struct tutti_launch launch_of(const char *name, struct tutti_kernel *kernel, uint32_t workgroups, uint32_t parts,
				     void *args)
{
	const struct tutti_discovery *card = tutti_device_discovery(device);
	uint32_t most = card->shared_blocks / parts * card->shared_block_bytes;
	struct tutti_launch launch = { .kernel = kernel, .grid = { 64 * workgroups }, .workgroup = { 64 }, .kernarg = args,
				       .acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM };

	CHECK(tutti_executable_kernel(executable, name, kernel));
	launch.dynamic_group_bytes = most - kernel->group_bytes;
	CHECK(tutti_signal_create(device, 1, &launch.signal));
	return launch;
}

static struct reduce_args *numbers(uint32_t groups)
{
	uint32_t ctas = groups * GROUP, *in = memory((size_t)ctas * EACH * sizeof(*in));
	struct reduce_args *args = memory(sizeof(*args));

	for (uint32_t i = 0; i < ctas * EACH; i++)
		in[i] = i * 2654435761u >> 8;
	*args = (struct reduce_args){ .in = in, .out = memory(groups * 8), .each = EACH, .sums = memory(ctas * 8),
				      .arrived = memory(groups * 8) };
	return args;
}

static unsigned wrong_sums(const struct reduce_args *args, uint32_t groups)
{
	unsigned wrong = 0;

	for (uint32_t g = 0; g < groups; g++) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < GROUP * EACH; i++)
			sum += args->in[g * GROUP * EACH + i];
		wrong += sum != args->out[g];
	}
	return wrong;
}

/* ---- under load ---- */

static int under_load(void)
{
	struct tutti_queue *queue = queue_of(0), *busy = queue_of(0);
	struct load_args *load = memory(sizeof(*load));
	struct reduce_args *args = numbers(GROUPS);
	struct tutti_kernel reduce, other;
	struct tutti_launch groups = launch_of("reduce", &reduce, GROUPS * GROUP, 2, args), fill;
	uint32_t largest, at_once, each;
	unsigned wrong;

	fill = launch_of("load", &other, 1, 2, load);
	CHECK(tutti_occupancy_max_cga_size(device, &groups, TUTTI_CGA_GPC, false, &largest));
	CHECK(tutti_occupancy_max_active_cgas(device, &groups, NULL, &at_once));
	CHECK(tutti_occupancy_max_active_cgas(device, &fill, NULL, &each));
	*load = (struct load_args){ memory(8), tutti_device_discovery(device)->timer_hz / 2000 };
	fill.grid[0] = each * 64;
	tutti_signal_store(fill.signal, LOADS);
	for (unsigned i = 0; i < LOADS; i++)
		CHECK(tutti_dispatch(busy, &fill));
	/*
	 * The groups meet a full card, so SMs should be kept free for them soon. Where that policy cannot be set, they
	 * wait longer.
	 */
	tutti_device_policy(device, TUTTI_POLICY_CGA_PATIENCE, PATIENCE);
	CHECK(tutti_signal_wait(device, fill.signal, TUTTI_LT, LOADS, TUTTI_WAIT_FOREVER, NULL));
	CHECK(tutti_dispatch(queue, &groups));
	CHECK(example_wait(queue, groups.signal));
	CHECK(example_wait(busy, fill.signal));
	wrong = wrong_sums(args, GROUPS) + (*load->done != (uint64_t)LOADS * each);
	printf("reduce: %u groups of %u workgroups (%u at once on an idle card, groups of up to %u) beside %u others, %u wrong\n",
	       GROUPS, GROUP, at_once, largest, LOADS * each, wrong);
	tutti_signal_destroy(device, groups.signal);
	tutti_signal_destroy(device, fill.signal);
	tutti_queue_destroy(queue);
	tutti_queue_destroy(busy);
	return wrong != 0;
}

/* ---- without the guarantee ---- */

/*
 * Two queues, each with a kernel of one group. There are as many SMs as one group has workgroups, and each SM holds one
 * workgroup.
 */
static bool two_groups(const char *name, unsigned *sums)
{
	uint32_t few = (1u << FEW_SMS) - 1;
	const struct tutti_task_attributes attributes = { .affinity = &few, .affinity_words = 1 };
	struct tutti_queue *queue[2] = { queue_of(500), queue_of(500) }, *busy = queue_of(0);
	struct load_args *load = memory(sizeof(*load));
	struct reduce_args *args[2] = { numbers(1), numbers(1) };
	struct tutti_kernel kernel, other;
	struct tutti_launch launch[2], fill = launch_of("load", &other, FEW_SMS, 1, load);
	struct tutti_task *task[3];
	bool stuck = false;

	*load = (struct load_args){ memory(8), tutti_device_discovery(device)->timer_hz / 200 };
	for (unsigned i = 0; i < 3; i++)
		CHECK(tutti_task_create(device, &attributes, &task[i]));
	CHECK(tutti_task_dispatch(busy, &fill, task[2]));
	for (unsigned i = 0; i < 2; i++) {
		launch[i] = launch_of(name, &kernel, GROUP, 1, args[i]);
		CHECK(tutti_task_dispatch(queue[i], &launch[i], task[i]));
	}
	CHECK(example_wait(busy, fill.signal));
	for (unsigned i = 0; i < 2; i++) {
		int error;

		do
			error = tutti_signal_wait(device, launch[i].signal, TUTTI_EQ, 0, 10000000, NULL);
		while (error == -ETIMEDOUT && !tutti_queue_error(queue[i], NULL));
		stuck |= tutti_queue_error(queue[i], NULL) == TUTTI_ERROR_TIMEOUT;
		*sums += !error && !wrong_sums(args[i], 1);
	}
	for (unsigned i = 0; i < 2; i++)
		tutti_queue_destroy(queue[i]);
	tutti_queue_destroy(busy);
	for (unsigned i = 0; i < 3; i++)
		tutti_task_destroy(task[i]);
	return stuck;
}

static int apart(void)
{
	unsigned together_sums = 0, apart_sums = 0;
	bool together_stuck = two_groups("reduce", &together_sums), apart_stuck = two_groups("reduce_apart", &apart_sums);

	printf("two groups of %u on %u SMs as CGAs: %s, %u sums right; as plain workgroups: %s, %u sums right\n", GROUP, FEW_SMS,
	       together_stuck ? "stuck" : "done", together_sums, apart_stuck ? "stuck until killed" : "done", apart_sums);
	return together_stuck || together_sums != 2;
}

int main(int argc, char **argv)
{
	bool without = argc == 2 && !strcmp(argv[1], "--apart");
	int result;

	if (argc > 2 || (argc == 2 && !without)) {
		fprintf(stderr, "usage: reduce [--apart]\n");
		return 2;
	}
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "reduce.tco");
	if (without && tutti_device_discovery(device)->gpc[0].sms < FEW_SMS) {
		fprintf(stderr, "reduce: needs a GPC of %u SMs\n", FEW_SMS);
		return 1;
	}
	result = without ? apart() : under_load();
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return result;
}

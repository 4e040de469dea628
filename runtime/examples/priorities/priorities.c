/* SPDX-License-Identifier: MIT */
/*
 * Two kernels of different priority share the card by priority windows, then two of equal priority by quotas. `tutti
 * trace run -- priorities` and `tutti trace svg` show how.
 */
#include "example.h"
#include "priorities.h"
#include "tutti/occupancy.h"
#include "tutti/policy.h"

#define HIGH 2u
#define LOW 8u
#define EQUAL 5u
#define ROUNDS 6u /* workgroups of a grid, in multiples of what the card holds at once */
#define COUNT 255u /* in place of a class: number of windows */

static struct tutti_device *device;
static struct tutti_executable *executable;

struct side {
	struct tutti_queue *queue;
	struct tutti_task *task;
	struct turn_args *args;
	struct tutti_launch launch;
};

static void *memory(size_t bytes)
{
	void *p;

	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, bytes, &p));
	return p;
}

/* Two workgroups fill an SM, so that the chart can be read. */
static void side_init(struct side *side, const struct tutti_task_attributes *attributes, uint64_t *next, uint64_t ticks)
{
	const struct tutti_queue_options options = { .flags = TUTTI_QUEUE_EXTENDED };
	const struct tutti_discovery *card = tutti_device_discovery(device);
	static struct tutti_kernel kernel;
	uint32_t slots;

	CHECK(tutti_executable_kernel(executable, "turn", &kernel));
	CHECK(tutti_queue_create(device, &options, &side->queue));
	CHECK(tutti_task_create(device, attributes, &side->task));
	side->launch = (struct tutti_launch){ .kernel = &kernel, .grid = { 1 }, .workgroup = { 32 },
					      .dynamic_group_bytes = card->shared_blocks / 2 * card->shared_block_bytes,
					      .acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM };
	CHECK(tutti_occupancy_max_active_cgas(device, &side->launch, NULL, &slots));
	CHECK(tutti_signal_create(device, 1, &side->launch.signal));
	side->launch.grid[0] = 32 * ROUNDS * slots;
	side->args = memory(sizeof(*side->args));
	*side->args = (struct turn_args){ next, memory(ROUNDS * slots * sizeof(uint64_t)), ticks };
	side->launch.kernarg = side->args;
}

static uint32_t workgroups(const struct side *side)
{
	return side->launch.grid[0] / 32;
}

static void side_fini(struct side *side)
{
	tutti_queue_destroy(side->queue);
	tutti_task_destroy(side->task);
	tutti_signal_destroy(device, side->launch.signal);
	tutti_memory_free(device, side->args->turn);
	tutti_memory_free(device, side->args);
}

/* Share of @side, in percent, of the workgroups that started before one of the kernels had started all of its own. */
static unsigned share(const struct side *side, const struct side *other)
{
	uint64_t last[2] = { 0, 0 }, end, mine = 0;

	for (uint32_t i = 0; i < workgroups(side); i++)
		last[0] = side->args->turn[i] > last[0] ? side->args->turn[i] : last[0];
	for (uint32_t i = 0; i < workgroups(other); i++)
		last[1] = other->args->turn[i] > last[1] ? other->args->turn[i] : last[1];
	end = last[0] < last[1] ? last[0] : last[1];
	for (uint32_t i = 0; i < workgroups(side); i++)
		mine += side->args->turn[i] <= end;
	return (unsigned)(100 * mine / (end + 1));
}

static void run(struct side side[2])
{
	for (unsigned i = 0; i < 2; i++)
		CHECK(tutti_task_dispatch(side[i].queue, &side[i].launch, side[i].task));
	for (unsigned i = 0; i < 2; i++)
		CHECK(example_wait(side[i].queue, side[i].launch.signal));
}

/* Priorities 1 to 5 come first in the first window of @ticks, the others in the second one, which is half as long. */
static void set_windows(unsigned windows, uint32_t ticks)
{
	CHECK(tutti_device_policy(device, TUTTI_POLICY_WINDOW, 0u << 24 | 2 * ticks));
	CHECK(tutti_device_policy(device, TUTTI_POLICY_WINDOW, 1u << 24 | ticks));
	for (uint32_t level = 1; level <= 10; level++)
		CHECK(tutti_device_policy(device, TUTTI_POLICY_CLASS, level << 8 | (level > 5)));
	CHECK(tutti_device_policy(device, TUTTI_POLICY_WINDOW, COUNT << 24 | windows));
}

static void with_windows(uint64_t *next, uint32_t ticks)
{
	const struct tutti_task_attributes high = { .priority = HIGH }, low = { .priority = LOW };
	struct side side[2];

	set_windows(2, 2 * ticks);
	side_init(&side[0], &high, next, ticks);
	side_init(&side[1], &low, next, ticks);
	run(side);
	printf("windows 2:1: the kernel of high priority started %u %% of the workgroups while both had some left\n",
	       share(&side[0], &side[1]));
	side_fini(&side[0]);
	side_fini(&side[1]);
}

static void with_quotas(uint64_t *next, uint32_t ticks)
{
	const struct tutti_task_attributes twelve = { .priority = EQUAL, .quota = 12 }, four = { .priority = EQUAL, .quota = 4 };
	struct tutti_task_counters counters[2];
	struct side side[2];

	set_windows(0, 2 * ticks);
	*next = 0;
	side_init(&side[0], &twelve, next, ticks);
	side_init(&side[1], &four, next, ticks);
	run(side);
	for (unsigned i = 0; i < 2; i++)
		tutti_task_counters(side[i].task, &counters[i]);
	printf("quotas 12 and 4: %u and %u workgroups, the first kernel started %u %% of them while both had some left\n",
	       counters[0].turns, counters[1].turns, share(&side[0], &side[1]));
	side_fini(&side[0]);
	side_fini(&side[1]);
}

int main(int argc, char **argv)
{
	uint64_t *next;
	uint32_t ticks;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "priorities.tco");
	next = memory(sizeof(*next));
	ticks = (uint32_t)(tutti_device_discovery(device)->timer_hz / 2500);
	with_windows(next, ticks);
	with_quotas(next, ticks);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Two queue tasks as a pipeline: the host feeds numbers to the first stage, which squares them and feeds the second
 * one, which adds them up. Both queues are much smaller than the number of items; a last batch that is not full starts
 * after a timeout.
 */
#include "example.h"
#include "pipeline.h"
#include "tutti/task.h"

#define NUMBERS 5000u

static struct tutti_device *device;
static struct tutti_executable *executable;
static struct tutti_queue *queue;

static struct stage *stage_start(const char *name, struct tutti_work *work, struct tutti_task **task,
				 struct tutti_task *next, tutti_signal_t *done)
{
	const struct tutti_task_attributes attributes = {
		.work = work, .coalesce_min = 8, .coalesce_max = 16, .coalesce_us = 500 };
	struct tutti_kernel kernel;
	struct stage *stage;

	CHECK(tutti_executable_kernel(executable, name, &kernel));
	CHECK(tutti_task_create(device, &attributes, task));
	CHECK(tutti_signal_create(device, 1, done));
	CHECK(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, sizeof(*stage) + 2 * sizeof(uint64_t), (void **)&stage));
	stage->self = tutti_task_tmd(*task);
	stage->next = next ? tutti_task_tmd(next) : NULL;
	stage->sum = (uint64_t *)(stage + 1);
	stage->count = stage->sum + 1;

	const struct tutti_launch launch = {
		.kernel = &kernel, .grid = { 1 }, .workgroup = { 64 }, .kernarg = stage, .signal = *done,
		.acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM,
	};
	CHECK(tutti_task_dispatch(queue, &launch, *task));
	return stage;
}

int main(int argc, char **argv)
{
	const struct tutti_queue_options options = { .flags = TUTTI_QUEUE_EXTENDED };
	struct tutti_work *numbers, *squares;
	struct tutti_task *first, *second;
	struct tutti_task_counters counters;
	tutti_signal_t first_done, second_done;
	struct stage *square, *sum;
	uint64_t expected = 0;
	bool right;

	example_no_arguments(argc, argv);
	CHECK(tutti_device_open(NULL, &device));
	executable = example_load(device, "pipeline.tco");
	CHECK(tutti_queue_create(device, &options, &queue));
	CHECK(tutti_work_create(device, 64, sizeof(uint64_t), &numbers));
	CHECK(tutti_work_create(device, 32, sizeof(uint64_t), &squares));
	sum = stage_start("sum", squares, &second, NULL, &second_done);
	square = stage_start("square", numbers, &first, second, &first_done);

	for (uint64_t i = 1; i <= NUMBERS; i++) {
		CHECK(tutti_work_push(numbers, &i, TUTTI_WAIT_FOREVER));
		expected += i * i;
	}
	tutti_work_close(numbers);
	CHECK(example_wait(queue, first_done));
	tutti_work_close(squares);
	CHECK(example_wait(queue, second_done));

	right = *sum->sum == expected && *sum->count == NUMBERS;
	tutti_task_counters(first, &counters);
	printf("pipeline: %u numbers through queues of 64 and 32, sum of squares %llu (%s), %llu workgroups, %u timeouts\n",
	       NUMBERS, (unsigned long long)*sum->sum, right ? "right" : "wrong",
	       (unsigned long long)counters.completed, counters.timeouts);

	tutti_queue_destroy(queue);
	tutti_task_destroy(first);
	tutti_task_destroy(second);
	tutti_work_destroy(numbers);
	tutti_work_destroy(squares);
	tutti_memory_free(device, square);
	tutti_memory_free(device, sum);
	tutti_signal_destroy(device, first_done);
	tutti_signal_destroy(device, second_done);
	tutti_executable_destroy(executable);
	tutti_device_close(device);
	return !right;
}

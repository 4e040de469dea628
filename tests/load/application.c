// SPDX-License-Identifier: MIT
/*
 * An application, built once, that runs with this library and with a later one whose structures are longer. Behind each
 * structure that it gives to the library begins memory that cannot be read.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tutti.h"
#include "tutti/task.h"

#define PAGE 4096

static void *at_the_end(const void *structure, size_t bytes)
{
	char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE))
		return NULL;
	return memcpy(pages + PAGE - bytes, structure, bytes);
}
#define AT_THE_END(structure) at_the_end(&(structure), sizeof(structure))

static int check(int error, const char *what)
{
	if (error)
		printf("%s: %s\n", what, tutti_strerror(error));
	return error;
}

int main(int argc, char **argv)
{
	struct tutti_device_options device_options = {.name = "emulator"};
	struct tutti_queue_options queue_options = {.flags = TUTTI_QUEUE_EXTENDED};
	struct tutti_task_attributes attributes = {.priority = 4, .bytes = sizeof(attributes)};
	struct tutti_kernel empty = {0}, *kernel = AT_THE_END(empty);
	struct tutti_launch launch = {.kernel = kernel, .grid = {64}, .workgroup = {64}, .bytes = sizeof(launch)};
	struct tutti_executable *executable;
	struct tutti_device *device;
	struct tutti_queue *queue;
	struct tutti_task *task;

	if (argc != 2 || check(tutti_device_open(AT_THE_END(device_options), &device), "device") ||
	    check(tutti_executable_load_file(device, argv[1], &executable, NULL), argv[1]) ||
	    check(tutti_executable_kernel(executable, "hello", kernel), "kernel") ||
	    check(tutti_queue_create(device, AT_THE_END(queue_options), &queue), "queue") ||
	    check(tutti_task_create(device, AT_THE_END(attributes), &task), "task") ||
	    check(tutti_signal_create(device, 2, &launch.signal), "signal") ||
	    check(tutti_memory_alloc(device, TUTTI_MEMORY_SYSTEM, kernel->kernarg_bytes, &launch.kernarg), "arguments"))
		return 1;
	strcpy(launch.kernarg, "application");
	if (check(tutti_dispatch(queue, AT_THE_END(launch)), "dispatch") ||
	    check(tutti_task_dispatch(queue, AT_THE_END(launch), task), "task dispatch") ||
	    check(tutti_signal_wait(device, launch.signal, TUTTI_EQ, 0, 20000000000ull, NULL), "wait"))
		return 1;
	return check(tutti_device_close(device), "close") != 0;
}

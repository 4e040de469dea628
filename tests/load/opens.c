// SPDX-License-Identifier: MIT
/*
 * SYS-55: opens LIBRARY as a plug-in, as a program does that was not linked with it, runs kernel vector_add of FILE on
 * the emulated card, and checks that no symbol of library or card is visible outside.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "tutti.h"

#define COUNT 1000u

struct args {
	const float *a, *b;
	float *sum;
};

static void *library;

static void check(bool right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void *function(const char *name)
{
	void *address = dlsym(library, name);

	check(address != NULL, name);
	return address;
}

#define CALL(name, ...) ((__typeof__(&name))function(#name))(__VA_ARGS__)

static struct args *make_args(struct tutti_device *device)
{
	struct args *args;
	float *a, *b;

	check(!CALL(tutti_memory_alloc, device, TUTTI_MEMORY_SYSTEM, sizeof(*args), (void **)&args), "args");
	check(!CALL(tutti_memory_alloc, device, TUTTI_MEMORY_CARD, COUNT * sizeof(*a), (void **)&a), "a");
	check(!CALL(tutti_memory_alloc, device, TUTTI_MEMORY_CARD, COUNT * sizeof(*b), (void **)&b), "b");
	check(!CALL(tutti_memory_alloc, device, TUTTI_MEMORY_CARD, COUNT * sizeof(*b), (void **)&args->sum),
	      "sum");
	for (unsigned i = 0; i < COUNT; i++) {
		a[i] = (float)i;
		b[i] = 0.5f;
	}
	args->a = a;
	args->b = b;
	return args;
}

static void run_kernel(struct tutti_device *device, const char *file)
{
	struct tutti_executable *executable;
	struct tutti_kernel kernel;
	struct tutti_queue *queue;
	struct args *args = make_args(device);
	tutti_signal_t done;
	struct tutti_launch launch = {.kernel = &kernel, .grid = {COUNT}, .workgroup = {64}, .kernarg = args};

	check(!CALL(tutti_executable_load_file, device, file, &executable, NULL),
	      "cannot load the code object");
	check(!CALL(tutti_executable_kernel, executable, "vector_add", &kernel), "no kernel");
	check(!CALL(tutti_queue_create, device, NULL, &queue), "no queue");
	check(!CALL(tutti_signal_create, device, 1, &done), "no signal");
	launch.signal = done;
	launch.release = launch.acquire = TUTTI_SCOPE_SYSTEM;
	check(!CALL(tutti_dispatch, queue, &launch), "cannot dispatch");
	check(!CALL(tutti_signal_wait, device, done, TUTTI_EQ, 0, 10000000000ull, NULL),
	      "the kernel did not end");
	for (unsigned i = 0; i < COUNT; i++)
		check(args->sum[i] == (float)i + 0.5f, "wrong sum");
	CALL(tutti_signal_destroy, device, done);
	CALL(tutti_queue_destroy, queue);
	CALL(tutti_executable_destroy, executable);
}

int main(int argc, char **argv)
{
	static const char *const private[] = {"tutti_device_open", "tutti_card_plugin", "tutti_card_create",
					      "uc_open", "tlb_set_page_riscv64"};
	struct tutti_device *device;

	check(argc == 3, "usage: opens LIBRARY FILE");
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	check(library != NULL, library ? "" : dlerror());
	for (int round = 0; round < 2; round++) {
		check(!CALL(tutti_device_open, NULL, &device), "cannot open the card");
		run_kernel(device, argv[2]);
		CALL(tutti_device_close, device);
	}
	for (unsigned i = 0; i < sizeof(private) / sizeof(*private); i++)
		check(!dlsym(RTLD_DEFAULT, private[i]), private[i]);
	check(!dlclose(library), "dlclose");
	return 0;
}

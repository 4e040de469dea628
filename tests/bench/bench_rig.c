/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "tools/kernels.h"

int bench_rig_init(struct bench_rig *rig, const struct tutti_device_options *options, uint32_t flags, uint32_t packets)
{
	struct tutti_queue_options queue = { .flags = flags, .packets = packets };
	int error;

	memset(rig, 0, sizeof(*rig));
	rig->device = tool_open(options);
	if (!rig->device)
		return -1;
	rig->executable = tool_load(rig->device);
	error = rig->executable ? 0 : -1;
	if (!error)
		error = tutti_executable_kernel(rig->executable, "tool_empty", &rig->empty);
	if (!error)
		error = tutti_executable_kernel(rig->executable, "tool_step", &rig->step);
	if (!error)
		error = tutti_queue_create(rig->device, &queue, &rig->queue);
	if (!error)
		error = tutti_signal_create(rig->device, 0, &rig->done);
	if (!error)
		error = tutti_memory_alloc(rig->device, TUTTI_MEMORY_SYSTEM, sizeof(struct tool_args), &rig->args);
	if (!error)
		error = tutti_memory_alloc(rig->device, TUTTI_MEMORY_CARD, 4096, (void **)&rig->out);
	if (error) {
		fprintf(stderr, "tutti bench: %s\n", tutti_strerror(error));
		bench_rig_fini(rig);
		return error;
	}
	*(struct tool_args *)rig->args = (struct tool_args){ rig->out, 1 };
	return 0;
}

void bench_rig_fini(struct bench_rig *rig)
{
	tutti_memory_free(rig->device, rig->out);
	tutti_memory_free(rig->device, rig->args);
	if (rig->done)
		tutti_signal_destroy(rig->device, rig->done);
	if (rig->queue)
		tutti_queue_destroy(rig->queue);
	if (rig->executable)
		tutti_executable_destroy(rig->executable);
	tutti_device_close(rig->device);
}

struct tutti_launch bench_rig_launch(const struct bench_rig *rig, bool signal)
{
	return (struct tutti_launch){
		.kernel = &rig->empty,
		.grid = { 1 },
		.workgroup = { 1 },
		.kernarg = rig->args,
		.signal = signal ? rig->done : NULL,
		.barrier = true,
		.acquire = TUTTI_SCOPE_AGENT,
		.release = signal ? TUTTI_SCOPE_SYSTEM : TUTTI_SCOPE_AGENT,
	};
}

int bench_rig_record(struct bench_rig *rig, unsigned kernels, enum tutti_replay_form form,
		     struct tutti_recording **recording)
{
	int error = tutti_record_begin(rig->queue);

	for (unsigned k = 0; k < kernels && !error; k++) {
		struct tutti_launch launch = bench_rig_launch(rig, k == kernels - 1);

		error = tutti_dispatch(rig->queue, &launch);
	}
	if (!error)
		error = tutti_record_end(rig->queue, recording);
	if (!error)
		error = tutti_recording_form(*recording, form);
	return error;
}

int bench_rig_wait(struct bench_rig *rig)
{
	struct tutti_fault fault = { 0 };
	int error = tutti_signal_wait(rig->device, rig->done, TUTTI_EQ, 0, 1000000, NULL);

	if (error)
		error = tool_wait(rig->queue, rig->done, 60, &fault);
	if (fault.code)
		tool_fault_print(rig->queue, &fault);
	else if (error)
		fprintf(stderr, "tutti bench: %s\n", tutti_strerror(error));
	return error;
}

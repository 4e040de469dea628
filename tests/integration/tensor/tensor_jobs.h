/* SPDX-License-Identifier: MIT */
/**
 * DOC: Launches of the tensor test kernels
 *
 * Functions end the test when they fail.
 */
#ifndef TUTTI_TENSOR_JOBS_H
#define TUTTI_TENSOR_JOBS_H

#include "rig.h"
#include "tensor_random.h"
#include "kernels/tensor.h"

#define JOB_SHARED (48u << 10)

static struct tutti_executable *code;

static inline int jobs_open_on(struct rig *opened)
{
	rig = opened;
	assert_int_equal(tutti_executable_load_file(rig->device, rig_out("tests/integration/kernels/tensor.tco"), &code,
						    NULL), 0);
	random_state = 0x7477;
	return 0;
}

static inline int jobs_open(void **state)
{
	return jobs_open_on(rig_open(NULL));
}

static inline int jobs_close(void **state)
{
	tutti_executable_destroy(code);
	rig_close(rig);
	return 0;
}

/** jobs_start() - @n workgroups of kernel @name on @queue. */
static inline void jobs_start(struct tutti_queue *queue, const char *name, unsigned n, uint16_t items, uint32_t shared,
			      void *args, tutti_signal_t signal)
{
	struct tutti_kernel kernel;
	struct tutti_launch l = { .kernel = &kernel, .grid = { items * n }, .workgroup = { items }, .kernarg = args,
				  .dynamic_group_bytes = shared, .signal = signal, .barrier = true, .acquire = 2,
				  .release = 2 };

	assert_int_equal(tutti_executable_kernel(code, name, &kernel), 0);
	assert_int_equal(tutti_dispatch(queue, &l), 0);
}

/** jobs_wait() - like rig_wait(), but prints the error of a queue that stops. */
static inline void jobs_wait(struct tutti_queue *queue, tutti_signal_t signal)
{
	struct tutti_fault f;

	while (tutti_signal_wait(rig->device, signal, TUTTI_EQ, 0, 1000000000, NULL)) {
		tutti_queue_poll(queue);
		if (tutti_queue_error(queue, &f))
			fail_msg("code %u cause %u (%s) address %#llx", f.code, f.cause,
				 f.cause >= TUTTI_CAUSE_TENSOR ? tutti_tensor_strerror(f.cause - TUTTI_CAUSE_TENSOR) : "",
				 (unsigned long long)f.address);
	}
}

static inline void jobs_kernel(const char *name, unsigned n, uint16_t items, uint32_t shared, void *args)
{
	tutti_signal_t signal = rig_signal(rig, 1);

	jobs_start(rig->queue, name, n, items, shared, args, signal);
	jobs_wait(rig->queue, signal);
	tutti_signal_destroy(rig->device, signal);
}

/** jobs_run() - one request for each of @n workgroups. */
static inline void jobs_run(struct tensor_job *job, unsigned n)
{
	struct args_tensor *args = rig_alloc(rig, sizeof(*args));

	args->job = job;
	jobs_kernel("tensor_job", n, 32, JOB_SHARED, args);
	tutti_memory_free(rig->device, args);
}

#endif

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--allow-multiple-definition */
/*
 * Calibration of a card whose energies are known returns the card's weights. If any step fails, it returns no weights and
 * frees everything (RES-13, RES-14, REL-01). The card and the rest of the library are replaced by fakes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "observe/calibrate.c"

#define JOBS 3u
#define SMS 5u

/* Energy of one instruction of each class, and of one unit of each resource that a job holds, by enum value. */
static const uint64_t of_class[TUTTI_CLASSES] = {10, 200, 300, 150, 400, 20, 30, 50};
static const uint64_t of_resource[TUTTI_RESOURCES] = {1000, 100, 250, 640, 80, 2000};

static struct tutti_device device;
static struct tutti_queue a_queue;
static struct tutti_signal a_signal;
static uint64_t args[512];
static struct tutti_sm_state sm, coming; /* the SM now, and when all jobs have ended */
static struct tutti_kernel_descriptor descriptor;
static int measured; /* the class that the kernel repeats; -1: none */

static unsigned step, fails_at, queues, signals, blocks, disabled, jobs, since; /* since: jobs since the last wait */
static int unknown; /* the error of tutti_executable_kernel(), if not 0 */

/* Counts a step. Return: its error, if it is the step that is to fail; otherwise 0. */
static int next(void)
{
	return ++step == fails_at ? -EPROTO : 0;
}

int tutti_executable_kernel(struct tutti_executable *executable, const char *name, struct tutti_kernel *kernel)
{
	int error = unknown ? unknown : next();

	assert_ptr_equal(executable, &step);
	measured = -1;
	for (unsigned i = 0; i < TUTTI_CLASSES; i++)
		if (!strcmp(name + strlen("calibrate_"), tutti_class_name(i)))
			measured = (int)i;
	descriptor = (struct tutti_kernel_descriptor){.scalar_blocks = 1, .vector_blocks = 1};
	if (!strcmp(name, "calibrate_scalar"))
		descriptor.scalar_blocks = 4;
	else if (!strcmp(name, "calibrate_vector"))
		descriptor.vector_blocks = 6;
	else if (!strcmp(name, "calibrate_shared"))
		descriptor.group_bytes = 2 * 2048 + 1; /* three blocks */
	else if (!strcmp(name, "calibrate_barriers"))
		descriptor.barriers = 7;
	else
		assert_true(measured >= 0 || !strcmp(name, "calibrate_plain"));
	if (!error)
		*kernel = (struct tutti_kernel){.descriptor = &descriptor};
	return error;
}

int tutti_device_sm_states(struct tutti_device *of, unsigned first, unsigned count, struct tutti_sm_state *states)
{
	assert_true(first == 0 && count == 1);
	*states = sm;
	return next();
}

/* Adds what the job executes and holds to the SM's counters. The loop itself adds jumps and arithmetic. */
int tutti_dispatch(struct tutti_queue *queue, const struct tutti_launch *launch)
{
	uint64_t waves = launch->workgroup[0] / 32u, turns = args[1], held;

	assert_true(queue == &a_queue && launch->signal == &a_signal && launch->kernarg == args);
	assert_true(launch->grid[0] == launch->workgroup[0] && waves * 32 == launch->workgroup[0] && launch->barrier);
	assert_int_equal(disabled, 1);
	/* kernels store their results in the same block, behind the arguments */
	assert_true(args[0] >= (uintptr_t)(args + 2) && args[0] + launch->grid[0] * sizeof(*args) <= (uintptr_t)(args + 512));
	jobs++;
	since++;
	for (unsigned i = 0; i < TUTTI_CLASSES; i++) {
		uint64_t n = waves * (2 + i + turns * ((int)i == measured ? 16 : i >= TUTTI_CLASS_JUMP));

		coming.instructions[i] += n;
		coming.energy += n * of_class[i];
	}
	held = waves * (of_resource[TUTTI_RESOURCE_WAVES] + descriptor.scalar_blocks * of_resource[TUTTI_RESOURCE_SCALAR] +
			descriptor.vector_blocks * of_resource[TUTTI_RESOURCE_VECTOR]);
	held += (descriptor.group_bytes + 2047) / 2048 * of_resource[TUTTI_RESOURCE_SHARED];
	held += descriptor.barriers * of_resource[TUTTI_RESOURCE_BARRIERS] + of_resource[TUTTI_RESOURCE_CTAS];
	coming.energy += held;
	return next();
}

int tutti_signal_wait(struct tutti_device *of, tutti_signal_t signal, enum tutti_condition condition, int64_t value,
		      uint64_t timeout, int64_t *seen)
{
	assert_true(signal == &a_signal && condition == TUTTI_EQ && value == 0);
	assert_int_equal(a_signal.value, since);
	since = 0;
	sm = coming;
	return next() ? -ETIMEDOUT : 0;
}

int tutti_queue_create(struct tutti_device *of, const struct tutti_queue_options *options, struct tutti_queue **queue)
{
	int error = next();

	if (!error) {
		queues++;
		*queue = &a_queue;
	}
	return error;
}

int tutti_queue_destroy(struct tutti_queue *queue)
{
	assert_ptr_equal(queue, &a_queue);
	queues--;
	return 0;
}

int tutti_signal_create(struct tutti_device *of, int64_t value, tutti_signal_t *signal)
{
	int error = next();

	if (!error) {
		signals++;
		*signal = &a_signal;
	}
	return error;
}

int tutti_signal_destroy(struct tutti_device *of, tutti_signal_t signal)
{
	assert_ptr_equal(signal, &a_signal);
	signals--;
	return 0;
}

int tutti_memory_alloc(struct tutti_device *of, enum tutti_memory pool, size_t bytes, void **address)
{
	int error = next();

	assert_int_equal(pool, TUTTI_MEMORY_SYSTEM);
	assert_true(bytes <= sizeof(args));
	if (!error) {
		blocks++;
		*address = args;
	}
	return error;
}

int tutti_memory_free(struct tutti_device *of, void *address)
{
	if (address) {
		assert_ptr_equal(address, args);
		blocks--;
	}
	return 0;
}

/* Must be called for all SMs but the one that is measured. */
int tutti_device_enable_sms(struct tutti_device *of, unsigned first, unsigned count, bool enable)
{
	int error = next();

	assert_true(first == 1 && count == SMS - 1);
	if (enable || !error)
		disabled += enable ? -1u : 1;
	return error;
}

static int calibrate(unsigned how_often, struct tutti_weights *weights)
{
	step = queues = signals = blocks = disabled = jobs = since = 0;
	memset(&sm, 0, sizeof(sm));
	memset(&coming, 0, sizeof(coming));
	memset(&a_signal, 0, sizeof(a_signal));
	memset(weights, 0x5a, sizeof(*weights));
	return tutti_calibrate(&device, (struct tutti_executable *)&step, how_often, weights);
}

static void assert_nothing_left(void)
{
	assert_int_equal(queues | signals | blocks | disabled, 0);
}

/* The largest energy of all classes, and that of all resources, has the weight 65535; the others are in proportion. */
static void energies(void **state)
{
	struct tutti_weights weights;

	fails_at = 0;
	for (unsigned how_often = 0; how_often <= JOBS; how_often++) {
		assert_int_equal(calibrate(how_often, &weights), 0);
		for (unsigned i = 0; i < TUTTI_CLASSES; i++)
			assert_int_equal(weights.power[i], (of_class[i] * 0xffff * 2 + 400) / 800);
		for (unsigned i = 0; i < TUTTI_RESOURCES; i++)
			assert_int_equal(weights.remaining[i], (of_resource[i] * 0xffff * 2 + 2000) / 4000);
		assert_int_equal(jobs % (how_often ? how_often : 1), 0);
		assert_int_equal(jobs, 22 * (how_often ? how_often : 1)); /* two for each class, six for the resources */
		assert_nothing_left();
	}
}

/*
 * Whichever step fails, the call returns an error, leaves the weights as they were and frees everything. Step 1 is left
 * out: it only checks the executable, and only -EINVAL from it ends the calibration.
 */
static void steps_that_fail(void **state)
{
	struct tutti_weights weights, untouched;
	unsigned steps;

	memset(&untouched, 0x5a, sizeof(untouched));
	fails_at = 0;
	assert_int_equal(calibrate(1, &weights), 0);
	steps = step;
	for (fails_at = 2; fails_at <= steps; fails_at++) {
		int error = calibrate(1, &weights);

		if (error != -EPROTO && error != -EIO) /* -EIO: the card did not end a job in time */
			fail_msg("step %u: %d", fails_at, error);
		assert_memory_equal(&weights, &untouched, sizeof(weights));
		assert_true(step == fails_at || step == fails_at + 1); /* at most, all SMs are enabled again */
		assert_nothing_left();
	}
	fails_at = 0;
}

/* Invalid arguments, and cards that do not measure energy, are refused before anything is created. */
static void refused(void **state)
{
	struct tutti_weights weights;

	unknown = -EINVAL;
	assert_int_equal(calibrate(1, &weights), -EINVAL);
	device.known.features = 0;
	assert_int_equal(calibrate(1, &weights), -EINVAL);
	unknown = 0;
	assert_int_equal(calibrate(1, &weights), -ENOTSUP);
	assert_int_equal(step, 1);
	device.known.features = TUTTI_FEATURE_ENERGY;
	assert_int_equal(tutti_calibrate(&device, (struct tutti_executable *)&step, 1, NULL), -EINVAL);
	assert_int_equal(tutti_calibrate(NULL, (struct tutti_executable *)&step, 1, &weights), -EINVAL);
	assert_int_equal(step, 1);
}

static int setup(void **state)
{
	handle_begin(&device.handle, NULL);
	device.known.sms = SMS;
	device.known.shared_block_bytes = 2048;
	device.known.features = TUTTI_FEATURE_ENERGY;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(energies), cmocka_unit_test(steps_that_fail),
					   cmocka_unit_test(refused)};

	return cmocka_run_group_tests_name("RES-13, RES-14, REL-01 calibration, step by step", tests, setup, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * Calibration (spec RES-13, RES-14): measures the energy of instruction classes and resources.
 *
 * For instructions, each kernel repeats one class; the counted instructions of all kernels and the energy each of
 * them took form a system of linear equations. For resources, the energy of a job that holds more of one resource is
 * compared with that of a plain job.
 */
#include <string.h>

#include "device/device.h"
#include "tutti/policy.h"
#include "tutti/queue.h"

#define SM 0u          /* the SM that is measured */
#define REPEAT 64u     /* iterations of the loop of a class */
#define WEIGHT_MOST 0xffffu

/** struct cost - the measured cost of a job. */
struct cost {
	double energy;
	double executed[TUTTI_CLASSES];
};

struct calibration {
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_queue *queue;
	tutti_signal_t done;
	struct { uint64_t *out, value; } *args;
	unsigned jobs;
};

static int state(struct calibration *c, struct tutti_sm_state *sm)
{
	return tutti_device_sm_states(c->device, SM, 1, sm);
}

/* Runs kernel @name with @turns and @waves as often as there are jobs to measure; returns the cost of one job. */
static int run(struct calibration *c, const char *name, uint64_t turns, unsigned waves, struct cost *cost)
{
	struct tutti_sm_state before, after;
	struct tutti_kernel kernel;
	struct tutti_launch launch = {
		.kernel = &kernel, .grid = { waves * TUTTI_WAVE_ITEMS }, .workgroup = { (uint16_t)(waves * TUTTI_WAVE_ITEMS) },
		.kernarg = c->args, .signal = c->done, .barrier = true,
		.acquire = TUTTI_SCOPE_SYSTEM, .release = TUTTI_SCOPE_SYSTEM,
	};
	int error = tutti_executable_kernel(c->executable, name, &kernel);

	if (!error)
		error = state(c, &before);
	c->args->value = turns;
	tutti_signal_store(c->done, c->jobs);
	for (unsigned i = 0; i < c->jobs && !error; i++)
		error = tutti_dispatch(c->queue, &launch);
	if (!error)
		error = tutti_signal_wait(c->device, c->done, TUTTI_EQ, 0, 60000000000ull, NULL);
	if (!error)
		error = state(c, &after);
	if (error)
		return error == -ETIMEDOUT ? -EIO : error;
	cost->energy = (double)(after.energy - before.energy) / c->jobs;
	for (unsigned i = 0; i < TUTTI_CLASSES; i++)
		cost->executed[i] = (double)(after.instructions[i] - before.instructions[i]) / c->jobs;
	return 0;
}

/* Gaussian elimination with partial pivoting. Return: false if the equations have no unique solution. */
static bool solve(double m[TUTTI_CLASSES][TUTTI_CLASSES + 1])
{
	for (unsigned k = 0; k < TUTTI_CLASSES; k++) {
		unsigned best = k;

		for (unsigned r = k + 1; r < TUTTI_CLASSES; r++)
			if (m[r][k] * m[r][k] > m[best][k] * m[best][k])
				best = r;
		if (m[best][k] * m[best][k] < 1e-12)
			return false;
		for (unsigned i = 0; i <= TUTTI_CLASSES; i++) {
			double t = m[k][i];

			m[k][i] = m[best][i];
			m[best][i] = t;
		}
		for (unsigned r = 0; r < TUTTI_CLASSES; r++) {
			double factor = m[r][k] / m[k][k];

			for (unsigned i = k; r != k && i <= TUTTI_CLASSES; i++)
				m[r][i] -= factor * m[k][i];
		}
	}
	return true;
}

static int classes(struct calibration *c, double *energy)
{
	double m[TUTTI_CLASSES][TUTTI_CLASSES + 1];

	for (unsigned k = 0; k < TUTTI_CLASSES; k++) {
		struct cost none, many;
		char name[64];
		int error;

		snprintf(name, sizeof(name), "calibrate_%s", tutti_class_name(k));
		error = run(c, name, 0, 1, &none);
		if (!error)
			error = run(c, name, REPEAT, 1, &many);
		if (error)
			return error;
		for (unsigned i = 0; i < TUTTI_CLASSES; i++)
			m[k][i] = many.executed[i] - none.executed[i];
		m[k][TUTTI_CLASSES] = many.energy - none.energy;
	}
	if (!solve(m))
		return -EIO;
	for (unsigned k = 0; k < TUTTI_CLASSES; k++)
		energy[k] = m[k][TUTTI_CLASSES] / m[k][k];
	return 0;
}

/* The energy of a job minus that of its instructions, which leaves that of the resources it holds. */
static int held(struct calibration *c, const char *name, unsigned waves, const double *instruction, double *energy)
{
	struct cost cost;
	int error = run(c, name, 0, waves, &cost);

	*energy = cost.energy;
	for (unsigned i = 0; i < TUTTI_CLASSES && !error; i++)
		*energy -= cost.executed[i] * instruction[i];
	return error;
}

static int resources(struct calibration *c, const double *instruction, double *energy)
{
	static const struct { const char *kernel; unsigned which; } more[] = {
		{ "calibrate_scalar", TUTTI_RESOURCE_SCALAR },
		{ "calibrate_vector", TUTTI_RESOURCE_VECTOR },
		{ "calibrate_shared", TUTTI_RESOURCE_SHARED },
		{ "calibrate_barriers", TUTTI_RESOURCE_BARRIERS },
	};
	uint32_t block = c->device->known.shared_block_bytes;
	double plain, other;
	int error = held(c, "calibrate_plain", 1, instruction, &plain);

	for (unsigned i = 0; i < sizeof(more) / sizeof(*more) && !error; i++) {
		const struct tutti_kernel_descriptor *d;
		struct tutti_kernel kernel;
		double extra;

		error = tutti_executable_kernel(c->executable, more[i].kernel, &kernel);
		if (!error)
			error = held(c, more[i].kernel, 1, instruction, &other);
		if (error)
			return error;
		d = kernel.descriptor;
		/* The plain job holds one block of each kind of register and nothing else. */
		extra = more[i].which == TUTTI_RESOURCE_SCALAR	 ? d->scalar_blocks - 1u
			: more[i].which == TUTTI_RESOURCE_VECTOR ? d->vector_blocks - 1u
			: more[i].which == TUTTI_RESOURCE_SHARED ? (d->group_bytes + block - 1) / block
								 : d->barriers;
		energy[more[i].which] = (other - plain) / extra;
	}
	if (!error)
		error = held(c, "calibrate_plain", 2, instruction, &other);
	if (error)
		return error;
	energy[TUTTI_RESOURCE_WAVES] =
		other - plain - energy[TUTTI_RESOURCE_SCALAR] - energy[TUTTI_RESOURCE_VECTOR];
	energy[TUTTI_RESOURCE_CTAS] = plain - (other - plain);
	return 0;
}

/* Scales to integers, so that the largest becomes WEIGHT_MOST. */
static void scale(const double *energy, unsigned n, uint32_t *weight)
{
	double most = 0;

	for (unsigned i = 0; i < n; i++)
		most = energy[i] > most ? energy[i] : most;
	for (unsigned i = 0; i < n; i++)
		weight[i] = energy[i] > 0 && most > 0 ? (uint32_t)(energy[i] / most * WEIGHT_MOST + 0.5) : 0;
}

static int begin(struct calibration *c)
{
	int error = tutti_queue_create(c->device, NULL, &c->queue);

	if (!error)
		error = tutti_signal_create(c->device, 0, &c->done);
	if (!error)
		error = tutti_memory_alloc(c->device, TUTTI_MEMORY_SYSTEM, 4096, (void **)&c->args);
	if (!error)
		c->args->out = (uint64_t *)c->args + 256;
	return error;
}

static void end(struct calibration *c)
{
	if (c->queue)
		tutti_queue_destroy(c->queue);
	if (c->done)
		tutti_signal_destroy(c->device, c->done);
	tutti_memory_free(c->device, c->args);
}

int tutti_calibrate(struct tutti_device *device, struct tutti_executable *executable, unsigned jobs,
		    struct tutti_weights *weights)
{
	struct calibration c = { .device = device, .executable = executable, .jobs = jobs ? jobs : 1 };
	double instruction[TUTTI_CLASSES], resource[TUTTI_RESOURCES];
	CALL_SCOPE(call);
	struct tutti_kernel kernel;
	unsigned sms;
	int error, undo;

	if (!device_call(&call, device) || !weights)
		return -EINVAL;
	if (tutti_executable_kernel(executable, "calibrate_plain", &kernel) == -EINVAL)
		return -EINVAL;
	sms = device->known.sms;
	if (!(device->known.features & TUTTI_FEATURE_ENERGY))
		return -ENOTSUP;
	error = begin(&c);
	if (!error)
		error = tutti_device_enable_sms(device, SM + 1, sms - 1, false);
	if (!error) {
		error = classes(&c, instruction);
		if (!error)
			error = resources(&c, instruction, resource);
		undo = tutti_device_enable_sms(device, SM + 1, sms - 1, true);
		error = error ? error : undo;
	}
	end(&c);
	if (error)
		return error;
	scale(instruction, TUTTI_CLASSES, weights->power);
	scale(resource, TUTTI_RESOURCES, weights->remaining);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * PERF-03: the latency of one empty kernel, and the rate of many. The targets are PoCL's figures in the same run: its latency,
 * 1.5 times its batch, and what it makes of a command buffer, 3 times for the device "basic" and 8 times for "pthread".
 */
#include <math.h>

#include "bench.h"

static double target(double peer, double factor)
{
	return peer > 0 ? peer * factor : BENCH_NO_TARGET;
}

/* Median time from enqueue to observed completion. */
static int latency(struct bench *bench, struct bench_rig *rig, struct tutti_recording *recording, double *us)
{
	enum { ROUNDS = 20000 };
	static double sample[ROUNDS];
	const unsigned rounds = bench->quick ? 2000 : ROUNDS;
	const struct tutti_launch launch = bench_rig_launch(rig, true);
	int error = 0;

	for (unsigned r = 0; r < rounds && !error; r++) {
		double start;

		tutti_signal_store(rig->done, 1);
		start = tool_seconds();
		error = recording ? tutti_replay(recording) : tutti_dispatch(rig->queue, &launch);
		if (!error)
			error = tutti_signal_wait(rig->device, rig->done, TUTTI_EQ, 0, 1000000000, NULL);
		sample[r] = 1e6 * (tool_seconds() - start);
	}
	*us = bench_median(sample, rounds);
	return error;
}

/* Kernels per second when the host never waits in between. */
static int batch_plain(struct bench *bench, struct bench_rig *rig, bool ordered, double *rate)
{
	const unsigned kernels = bench->quick ? 20000 : 200000;
	struct tutti_launch launch = bench_rig_launch(rig, false);
	double start = tool_seconds();
	int error = 0;

	launch.barrier = ordered;
	tutti_signal_store(rig->done, 1);
	for (unsigned k = 1; k < kernels && !error; k++)
		error = tutti_dispatch(rig->queue, &launch);
	launch = bench_rig_launch(rig, true);
	if (!error)
		error = tutti_dispatch(rig->queue, &launch);
	if (!error)
		error = bench_rig_wait(rig);
	*rate = kernels / (tool_seconds() - start);
	return error;
}

static int batch_replay(struct bench *bench, struct bench_rig *rig, unsigned kernels, enum tutti_replay_form form,
			double *rate)
{
	const unsigned rounds = (bench->quick ? 20000 : 400000) / kernels;
	struct tutti_recording *recording = NULL;
	double start;
	int error = bench_rig_record(rig, kernels, form, &recording);

	tutti_signal_store(rig->done, rounds + 1);
	if (!error)
		error = tutti_replay(recording); /* sends the references */
	start = tool_seconds();
	for (unsigned r = 0; r < rounds && !error; r++)
		error = tutti_replay(recording);
	if (!error)
		error = bench_rig_wait(rig);
	*rate = (double)rounds * kernels / (tool_seconds() - start);
	if (recording)
		tutti_recording_destroy(recording);
	return error;
}

static int result(struct bench *bench, int error, const char *name, double value, const char *unit, double goal,
		  enum bench_better better)
{
	if (error)
		return bench_failed(bench, "PERF-03", name, tutti_strerror(error));
	bench_report(bench, "PERF-03", name, value, unit, goal, better);
	return 0;
}

static int latencies(struct bench *bench, struct bench_rig *rig)
{
	struct tutti_recording *recording = NULL;
	double value = 0;
	int failed, error = latency(bench, rig, NULL, &value);

	failed = result(bench, error, "empty_plain_latency", value, "us", target(bench->basic.latency_us, 1),
			BENCH_LOWER);
	error = bench_rig_record(rig, 1, TUTTI_REPLAY_CONDENSED, &recording);
	if (!error)
		error = latency(bench, rig, recording, &value);
	failed |= result(bench, error, "empty_condensed_latency", value, "us", target(bench->basic.latency_us, 1),
			 BENCH_LOWER);
	if (recording)
		tutti_recording_destroy(recording);
	return failed;
}

/* The higher one of two targets; none if neither peer was measured. */
static double replay_target(const struct bench *bench)
{
	return fmax(target(bench->basic.replay_per_second, 3), target(bench->pthread.replay_per_second, 8));
}

int bench_launch(struct bench *bench)
{
	struct bench_rig rig;
	double rate = 0;
	int failed, error;

	if (bench_rig_init(&rig, NULL, TUTTI_QUEUE_EXTENDED, 1024))
		return bench_failed(bench, "PERF-03", "all", "no card");
	failed = latencies(bench, &rig);
	error = batch_plain(bench, &rig, true, &rate);
	failed |= result(bench, error, "batch_plain_in_order", rate, "kernels/s", BENCH_NO_TARGET, BENCH_HIGHER);
	error = batch_plain(bench, &rig, false, &rate);
	failed |= result(bench, error, "batch_plain_any_order", rate, "kernels/s",
			 target(bench->basic.kernels_per_second, 1.5), BENCH_HIGHER);
	error = batch_replay(bench, &rig, 31, TUTTI_REPLAY_REFERENCE, &rate);
	failed |= result(bench, error, "batch_reference_31", rate, "kernels/s", BENCH_NO_TARGET, BENCH_HIGHER);
	error = batch_replay(bench, &rig, 6, TUTTI_REPLAY_CONDENSED, &rate);
	failed |= result(bench, error, "batch_condensed_6", rate, "kernels/s", BENCH_NO_TARGET, BENCH_HIGHER);
	error = batch_replay(bench, &rig, 31, TUTTI_REPLAY_CONDENSED, &rate);
	failed |= result(bench, error, "batch_condensed_31", rate, "kernels/s", replay_target(bench), BENCH_HIGHER);
	bench_rig_fini(&rig);
	return failed;
}

/* SPDX-License-Identifier: MIT */
/** DOC: `tutti bench`: one file per group of figures, one place that prints them */
#ifndef TUTTI_TOOL_BENCH_H
#define TUTTI_TOOL_BENCH_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "tools/tool.h"

#define BENCH_NO_TARGET NAN

/** enum bench_better - whether smaller or larger figures are better. */
enum bench_better { BENCH_LOWER, BENCH_HIGHER };

/** struct bench_peer - PoCL's figures of the same run; 0 = not measured. */
struct bench_peer {
	double latency_us;        /* one empty kernel, enqueue to observed completion */
	double kernels_per_second;
	double replay_per_second; /* kernels of a replayed command buffer */
	double saxpy_seconds, matmul_seconds; /* the loops of PERF-13, from the second launch on */
};

/** struct bench - where results are written. */
struct bench {
	FILE *json;
	bool quick;
	bool profile;    /* PERF-01, PERF-07, PERF-12: every firmware function */
	bool where;      /* PERF-12: instructions by unit */
	unsigned results;
	unsigned missed; /* targets not met */
	struct bench_peer basic, pthread;
};

/** bench_report() - one result: a line of the table, an object of the JSON file. */
void bench_report(struct bench *bench, const char *id, const char *name, double value, const char *unit, double target,
		  enum bench_better better);
/** bench_failed() - report a measurement that could not be made. Return: 0, for `return bench_failed(...)`. */
int bench_failed(struct bench *bench, const char *id, const char *name, const char *why);
/** bench_median() - sorts @values. */
double bench_median(double *values, unsigned count);

/** struct bench_rig - device, kernels, a queue and a signal for launching. */
struct bench_rig {
	struct tutti_device *device;
	struct tutti_executable *executable;
	struct tutti_kernel empty, step;
	struct tutti_queue *queue;
	tutti_signal_t done;
	void *args;
	uint64_t *out;
};

/** bench_rig_init() - @flags of the queue; ring of @packets. 0 or -errno after a message. */
int bench_rig_init(struct bench_rig *rig, const struct tutti_device_options *options, uint32_t flags, uint32_t packets);
void bench_rig_fini(struct bench_rig *rig);
/** bench_rig_launch() - an empty kernel: one work-item, barrier bit set. */
struct tutti_launch bench_rig_launch(const struct bench_rig *rig, bool signal);
/** bench_rig_record() - @kernels empty kernels, only the last with a signal. */
int bench_rig_record(struct bench_rig *rig, unsigned kernels, enum tutti_replay_form form,
		     struct tutti_recording **recording);
/** bench_rig_wait() - 0, or negative after a message. */
int bench_rig_wait(struct bench_rig *rig);

/* Groups; each returns 0, or negative when it could not measure. */
int bench_firmware(struct bench *bench); /* PERF-01 */
int bench_place(struct bench *bench);    /* PERF-04, PERF-06, PERF-08 */
int bench_cga(struct bench *bench);      /* PERF-05, PERF-06 */
int bench_task(struct bench *bench);     /* PERF-11 */
int bench_way(struct bench *bench);      /* PERF-12 */
int bench_host(struct bench *bench);     /* PERF-02 */
int bench_opencl(struct bench *bench);   /* PoCL, which PERF-03 is compared with */
int bench_xrt(struct bench *bench);
int bench_launch(struct bench *bench);   /* PERF-03 */
int bench_kernels(struct bench *bench);  /* PERF-13 */
int bench_tmau(struct bench *bench);     /* PERF-07, PERF-14 */
int bench_growth(struct bench *bench);   /* PERF-06 */
int bench_card(struct bench *bench);     /* PERF-09 */
int bench_hsa(struct bench *bench);      /* the HSA runtime (spec SYS-43) */
int bench_tensor(struct bench *bench);   /* PERF-09, tensor requests */

#endif

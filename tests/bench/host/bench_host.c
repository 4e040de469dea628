/* SPDX-License-Identifier: MIT */
/* PERF-02: the time that a replay takes on the host, per kernel. */
#include "bench.h"

#define BURST 32 /* replays sent in a row; the ring has room for all of them */

/* Median over bursts of the time tutti_replay() takes, per kernel. */
static int replay_ns(struct bench *bench, struct bench_rig *rig, unsigned kernels, enum tutti_replay_form form,
		     double *ns)
{
	enum { BURSTS = 400 };
	static double sample[BURSTS];
	const unsigned bursts = bench->quick ? 40 : BURSTS;
	struct tutti_recording *recording = NULL;
	int error = bench_rig_record(rig, kernels, form, &recording);

	for (unsigned b = 0; b < bursts && !error; b++) {
		double start;

		tutti_signal_store(rig->done, BURST);
		start = tool_seconds();
		for (unsigned r = 0; r < BURST && !error; r++)
			error = tutti_replay(recording);
		sample[b] = 1e9 * (tool_seconds() - start) / (BURST * kernels);
		if (!error)
			error = bench_rig_wait(rig);
	}
	*ns = bench_median(sample, bursts);
	if (recording)
		tutti_recording_destroy(recording);
	return error;
}

int bench_host(struct bench *bench)
{
	static const struct {
		const char *name;
		unsigned kernels;
		enum tutti_replay_form form;
		double target;
	} cases[] = {
		{ "replay_condensed_31", 31, TUTTI_REPLAY_CONDENSED, 10 },
		{ "replay_condensed_6", 6, TUTTI_REPLAY_CONDENSED, 10 },
		{ "replay_condensed_1", 1, TUTTI_REPLAY_CONDENSED, BENCH_NO_TARGET },
		{ "replay_reference_6", 6, TUTTI_REPLAY_REFERENCE, BENCH_NO_TARGET },
		{ "replay_plain_6", 6, TUTTI_REPLAY_PLAIN, BENCH_NO_TARGET },
	};
	int failed = 0;

	for (unsigned c = 0; c < sizeof(cases) / sizeof(*cases); c++) {
		struct bench_rig rig;
		double ns;
		int error = bench_rig_init(&rig, NULL, TUTTI_QUEUE_EXTENDED, 1024);

		if (error)
			return bench_failed(bench, "PERF-02", cases[c].name, "no card");
		error = replay_ns(bench, &rig, cases[c].kernels, cases[c].form, &ns);
		if (error)
			failed = bench_failed(bench, "PERF-02", cases[c].name, tutti_strerror(error));
		else
			bench_report(bench, "PERF-02", cases[c].name, ns, "ns/kernel", cases[c].target, BENCH_LOWER);
		bench_rig_fini(&rig);
	}
	return failed;
}

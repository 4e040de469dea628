/* SPDX-License-Identifier: MIT */
/*
 * PERF-11: soft-core instructions of a replayed kernel of 1024 workgroups on 128 idle SMs of 8 slots each, from the
 * packet to the launch message; completions are counted apart. Exact: the emulated card counts by function in
 * deterministic mode.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "emulator/card/card.h"
#include "transport/emulator.h"

#define REPLAYS 32
#define KERNELS 6
#define FUNCTIONS 1024
#define SMS 128
#define SLOTS 8

/* Functions between the packet and the launch message; the others fetch, complete or idle. */
static const char *const counted[] = {
	"condensed_expand", "condensed_same", "condensed_block_find", "launch_condensed", "launch_next", "launch_last",
	"launch_end", "launch_block_free", "start_new", "start_slow", "start_task", "place_now", "lake_pour", "task_complete",
	"express_retire", "retire_signal",
};

static uint64_t sum(struct tutti_card *card)
{
	static struct tutti_card_function function[FUNCTIONS];
	size_t n = tutti_card_profile(card, function, FUNCTIONS), f, c;
	uint64_t all = 0;

	for (f = 0; f < n && f < FUNCTIONS; f++)
		for (c = 0; c < sizeof(counted) / sizeof(*counted); c++)
			if (!strncmp(function[f].name, counted[c], strlen(counted[c])) &&
			    strchr(".", function[f].name[strlen(counted[c])]))
				all += function[f].instructions;
	return all;
}

static int record(struct bench_rig *rig, struct tutti_recording **recording)
{
	int error = tutti_record_begin(rig->queue);
	unsigned k;

	for (k = 0; k < KERNELS && !error; k++) {
		struct tutti_launch launch = bench_rig_launch(rig, k == KERNELS - 1);

		launch.grid[0] = SMS * SLOTS;
		error = tutti_dispatch(rig->queue, &launch);
	}
	return error ? error : tutti_record_end(rig->queue, recording);
}

static int replay(struct bench_rig *rig, struct tutti_recording *recording, unsigned times)
{
	int error = 0;

	while (times-- && !error) {
		tutti_signal_store(rig->done, 1);
		error = tutti_replay(recording);
		if (!error)
			error = bench_rig_wait(rig);
	}
	return error;
}

static int measure(struct bench *bench, struct bench_rig *rig)
{
	unsigned sms = tutti_device_discovery(rig->device)->sms;
	struct tutti_card *card = emulator_card(rig->device);
	struct tutti_recording *recording = NULL;
	uint64_t before = 0, instructions = 0;
	int error = sms < SMS ? -ENODEV : 0;

	if (!error && sms > SMS)
		error = tutti_device_enable_sms(rig->device, SMS, sms - SMS, false);
	if (!error)
		error = tutti_device_policy(rig->device, TUTTI_POLICY_CTA_CAP, SLOTS);
	if (!error)
		error = record(rig, &recording);
	if (!error)
		error = replay(rig, recording, 4);
	if (!error) {
		before = sum(card);
		instructions = tutti_card_instructions(card);
		error = replay(rig, recording, REPLAYS);
	}
	if (error)
		return bench_failed(bench, "PERF-11", "replayed_kernel_1024_ctas", tutti_strerror(error));
	bench_report(bench, "PERF-11", "replayed_kernel_1024_ctas", (double)(sum(card) - before) / (REPLAYS * KERNELS),
		     "instructions/kernel", 200, BENCH_LOWER);
	bench_report(bench, "PERF-11", "replayed_kernel_1024_ctas_whole",
		     (double)(tutti_card_instructions(card) - instructions) / (REPLAYS * KERNELS), "instructions/kernel",
		     BENCH_NO_TARGET, BENCH_LOWER);
	tutti_recording_destroy(recording);
	return 0;
}

int bench_task(struct bench *bench)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true };
	struct bench_rig rig;
	int failed = 0;

	if (bench_rig_init(&rig, &options, TUTTI_QUEUE_EXTENDED, 256))
		return bench_failed(bench, "PERF-11", "all", "no card");
	if (emulator_card(rig.device))
		failed = measure(bench, &rig);
	bench_rig_fini(&rig);
	return failed;
}

/* SPDX-License-Identifier: MIT */
/*
 * PERF-01: soft-core instructions from a packet in local memory to a task record.
 * Exact: the emulated card counts them by firmware function, in deterministic mode.
 */
#include <string.h>

#include "bench.h"
#include "emulator/card/card.h"
#include "examples/packet_cost.h"
#include "packet_forms.h"
#include "transport/emulator.h"

#define FUNCTIONS 1024

/** struct profile - the counts of all functions at one moment. */
struct profile {
	struct tutti_card_function function[FUNCTIONS];
	size_t count;
	uint64_t all;
};

static void profile_take(struct tutti_card *card, struct profile *profile)
{
	profile->count = tutti_card_profile(card, profile->function, FUNCTIONS);
	if (profile->count > FUNCTIONS)
		profile->count = FUNCTIONS;
	profile->all = tutti_card_instructions(card);
}

/* Instructions of one stage; @after comes from the same card, in the same order. */
static uint64_t profile_sum(const struct profile *before, const struct profile *after, enum packet_stage stage)
{
	uint64_t sum = 0;

	for (size_t f = 0; f < after->count; f++)
		if (packet_stage(after->function[f].name) == stage)
			sum += after->function[f].instructions - before->function[f].instructions;
	return sum;
}

/* Every function that ran; * marks those that count. */
static void profile_print(const struct profile *before, const struct profile *after, unsigned kernels)
{
	for (size_t f = 0; f < after->count; f++) {
		const struct tutti_card_function *function = &after->function[f];
		uint64_t spent = function->instructions - before->function[f].instructions;
		char mark = " *r"[packet_stage(function->name)];

		if (spent)
			printf("           %c %-30s %10.2f in %8.3f calls\n", mark, function->name,
			       (double)spent / kernels, (double)(function->calls - before->function[f].calls) / kernels);
	}
}

static void report(struct bench *bench, const char *name, const char *suffix, double value, double target)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", name, suffix);
	if (value > 0)
		bench_report(bench, "PERF-01", full, value, "instructions/kernel", target, BENCH_LOWER);
}

static int measure(struct bench *bench, struct bench_rig *rig, const struct packet_form *form)
{
	static struct profile before, after;
	struct tutti_card *card = emulator_card(rig->device);
	unsigned kernels, all = 0, batch = packet_form_batch(form);
	int error = packet_form_references(rig);

	if (!error)
		error = packet_form_send(rig, form, PACKET_WARM_UP, &kernels);
	profile_take(card, &before);
	for (unsigned sent = 0; sent < PACKET_ROUNDS && !error; sent += batch, all += kernels) {
		error = packet_form_prepare(rig, form);
		if (!error)
			error = packet_form_send(rig, form, batch, &kernels);
	}
	profile_take(card, &after);
	if (error)
		return bench_failed(bench, "PERF-01", form->name, tutti_strerror(error));
	report(bench, form->name, "", (double)profile_sum(&before, &after, PACKET_EXPAND) / all, form->decoding);
	report(bench, form->name, "_read", (double)profile_sum(&before, &after, PACKET_READ) / all, BENCH_NO_TARGET);
	report(bench, form->name, "_whole", (double)(after.all - before.all) / all, BENCH_NO_TARGET);
	if (bench->profile)
		profile_print(&before, &after, all);
	return 0;
}

int bench_firmware(struct bench *bench)
{
	const struct tutti_device_options options = { .deterministic = true, .count = true };
	struct bench_rig rig;
	int failed = 0;

	if (bench_rig_init(&rig, &options, TUTTI_QUEUE_EXTENDED, 256))
		return bench_failed(bench, "PERF-01", "all", "no card");
	if (!emulator_card(rig.device))
		printf("%-8s needs the emulated card: not measured on this one\n", "PERF-01");
	for (const struct packet_form *form = packet_forms; emulator_card(rig.device) && form->name; form++)
		failed |= measure(bench, &rig, form);
	bench_rig_fini(&rig);
	return failed;
}

/* SPDX-License-Identifier: MIT */
/*
 * PERF-01: soft-core instructions from a packet in local memory to a task record.
 * Exact: the emulated card counts them by firmware function, in deterministic
 * mode. The packets are written by hand, so that each case is exactly its packet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "emulator/card/card.h"
#include "examples/packet_cost.h"
#include "transport/emulator.h"

#define ROUNDS 64    /* packets of one measurement */
#define WARM_UP 4    /* packets before the measurement, so that the kernel descriptor is cached */
#define FUNCTIONS 1024

/** struct maker - writes packet number @round of a case. Returns its kernels. */
typedef unsigned (*maker)(const struct bench_rig *rig, unsigned round, union tutti_packet *packet);

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

/* A plain dispatch of @dimensions; @ref_num as in the packet. */
static void plain(const struct bench_rig *rig, unsigned dimensions, uint16_t ref_num, bool signal,
		  struct tutti_dispatch_packet *packet)
{
	struct tutti_launch launch = bench_rig_launch(rig, signal);

	for (unsigned d = 0; d < dimensions; d++) {
		launch.grid[d] = 8;
		launch.workgroup[d] = 4;
	}
	tutti_launch_packet(&launch, packet);
	packet->setup = (uint16_t)dimensions;
	packet->ref_num = ref_num;
}

static unsigned plain_1d(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	plain(rig, 1, 0, true, &packet->dispatch);
	return 1;
}

static unsigned plain_2d(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	plain(rig, 2, 0, true, &packet->dispatch);
	return 1;
}

static unsigned plain_3d(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	plain(rig, 3, 0, true, &packet->dispatch);
	return 1;
}

/* Stores into empty entries, eight at a time. */
static unsigned store_1d(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	if (round % TUTTI_REFERENCES == 0) {
		tutti_queue_drain(rig->queue, 1000000000);
		tutti_rsb_invalidate(tutti_queue_rsb(rig->queue), 0xff);
	}
	plain(rig, 1, (uint16_t)(TUTTI_REF_STORE | round % TUTTI_REFERENCES), true, &packet->dispatch);
	return 1;
}

static unsigned replace_1d(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	plain(rig, 1, TUTTI_REF_STORE | 6, true, &packet->dispatch);
	return 1;
}

/* References 0 to 5 have no signal, 6 and 7 have one, which the last kernel of a packet names. */
static unsigned condensed(union tutti_packet *packet, unsigned kernels, unsigned vector, unsigned round,
			  unsigned (*values)(unsigned round, unsigned kernel, uint16_t *unit))
{
	uint16_t *unit = packet->condensed.unit;

	packet->condensed.type = TUTTI_PACKET_CONDENSED;
	packet->condensed.num_kernels = (uint8_t)kernels;
	for (unsigned k = 0; k < kernels; k++) {
		/* odd rounds differ from even ones, because a packet that equals the one before is cheaper */
		unsigned reference = k == kernels - 1 ? 7 - round % 2 : (k + round % 2) % 6;

		*unit++ = (uint16_t)(vector << TUTTI_DIFF_VECTOR_SHIFT | reference);
		if (values)
			unit += values(round, k, unit);
	}
	return kernels;
}

static unsigned empty_1(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	return condensed(packet, 1, 0, round, NULL);
}

static unsigned empty_6(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	return condensed(packet, 6, 0, round, NULL);
}

static unsigned empty_31(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	return condensed(packet, 31, 0, round, NULL);
}

static unsigned same_6(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	return condensed(packet, 6, 0, 0, NULL);
}

static unsigned same_31(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	return condensed(packet, 31, 0, 0, NULL);
}

static const struct bench_rig *current; /* for the two below */

static unsigned kernarg_values(unsigned round, unsigned kernel, uint16_t *unit)
{
	uint64_t address = (uintptr_t)current->args + 16 * (round % 2);

	memcpy(unit, &address, 8);
	return 4;
}

static unsigned grid_values(unsigned round, unsigned kernel, uint16_t *unit)
{
	uint32_t grid = 4 * (1 + (round + kernel) % 3);

	memcpy(unit, &grid, 4);
	return 2;
}

static unsigned kernarg_1(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	current = rig;
	return condensed(packet, 1, TUTTI_DIFF_KERNARG, round, kernarg_values);
}

static unsigned kernarg_6(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	current = rig;
	return condensed(packet, 6, TUTTI_DIFF_KERNARG, round, kernarg_values);
}

static unsigned grid_6(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	return condensed(packet, 6, TUTTI_DIFF_GRID_X, round, grid_values);
}

static unsigned kernarg_signal_1(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	uint64_t values[2] = { (uintptr_t)rig->args + 16 * (round % 2), (uintptr_t)rig->done };

	condensed(packet, 1, TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL, round, NULL);
	memcpy(&packet->condensed.unit[1], values, sizeof(values));
	return 1;
}

/* Every field, 27 units. */
static unsigned general_1(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	struct tutti_dispatch_packet full;
	uint16_t *unit = &packet->condensed.unit[1];

	plain(rig, 3, 0, true, &full);
	full.kernarg += 16 * (round % 2);
	condensed(packet, 1, TUTTI_DIFF_ALL, round, NULL);
	*unit++ = full.header >> 8;
	*unit++ = full.setup;
	memcpy(unit, &full.workgroup_x, 6);
	memcpy(unit + 3, &full.grid_x, 20);
	memcpy(unit + 13, &full.kernel_object, 16);
	memcpy(unit + 21, &full.signal, 8);
	return 1;
}

static int send(struct bench_rig *rig, maker make, unsigned rounds, unsigned *kernels)
{
	int error = 0;

	*kernels = 0;
	tutti_signal_store(rig->done, rounds);
	for (unsigned r = 0; r < rounds && !error; r++) {
		union tutti_packet packet = { .word = { 0 } };

		*kernels += make(rig, r, &packet);
		error = tutti_queue_submit(rig->queue, &packet);
	}
	return error ? error : bench_rig_wait(rig);
}

static int references_store(struct bench_rig *rig)
{
	int error = 0;

	tutti_signal_store(rig->done, 2);
	for (unsigned i = 0; i < TUTTI_REFERENCES && !error; i++) {
		union tutti_packet packet;

		plain(rig, 1, (uint16_t)(TUTTI_REF_STORE | i), i >= 6, &packet.dispatch);
		error = tutti_queue_submit(rig->queue, &packet);
	}
	return error ? error : bench_rig_wait(rig);
}

static const struct {
	const char *name;
	maker make;
	double target;
} cases[] = {
	{ "plain_1d", plain_1d, 140 },
	{ "plain_2d", plain_2d, 156 },
	{ "plain_3d", plain_3d, 160 },
	{ "reference_store_1d", store_1d, 140 + 35 },
	{ "reference_replace_1d", replace_1d, BENCH_NO_TARGET },
	{ "condensed_empty_1", empty_1, 65 },
	{ "condensed_empty_6", empty_6, 20 },
	{ "condensed_empty_31", empty_31, 13.5 },
	{ "condensed_kernarg_1", kernarg_1, BENCH_NO_TARGET },
	{ "condensed_kernarg_6", kernarg_6, 46 },
	{ "condensed_grid_x_6", grid_6, 53 },
	{ "condensed_kernarg_signal_1", kernarg_signal_1, 130 },
	{ "condensed_all_fields_1", general_1, 600 },
	{ "condensed_same_6", same_6, 7 },
	{ "condensed_same_31", same_31, 4.5 },
};

static void report(struct bench *bench, const char *name, const char *suffix, double value, double target)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", name, suffix);
	if (value > 0)
		bench_report(bench, "PERF-01", full, value, "instructions/kernel", target, BENCH_LOWER);
}

static int measure(struct bench *bench, struct bench_rig *rig, unsigned c)
{
	static struct profile before, after;
	struct tutti_card *card = emulator_card(rig->device);
	unsigned kernels;
	int error = references_store(rig);

	if (!error)
		error = send(rig, cases[c].make, WARM_UP, &kernels);
	profile_take(card, &before);
	if (!error)
		error = send(rig, cases[c].make, ROUNDS, &kernels);
	profile_take(card, &after);
	if (error)
		return bench_failed(bench, "PERF-01", cases[c].name, tutti_strerror(error));
	report(bench, cases[c].name, "", (double)profile_sum(&before, &after, PACKET_EXPAND) / kernels, cases[c].target);
	report(bench, cases[c].name, "_read", (double)profile_sum(&before, &after, PACKET_READ) / kernels, BENCH_NO_TARGET);
	report(bench, cases[c].name, "_whole", (double)(after.all - before.all) / kernels, BENCH_NO_TARGET);
	if (bench->profile)
		profile_print(&before, &after, kernels);
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
	for (unsigned c = 0; emulator_card(rig.device) && c < sizeof(cases) / sizeof(*cases); c++)
		failed |= measure(bench, &rig, c);
	bench_rig_fini(&rig);
	return failed;
}

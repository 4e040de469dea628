/* SPDX-License-Identifier: MIT */
#include "packet_forms.h"

#include <string.h>

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

/* Replaces one reference after another. */
static unsigned replace_1d(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	plain(rig, 1, (uint16_t)(TUTTI_REF_STORE | round % TUTTI_REFERENCES), true, &packet->dispatch);
	return 1;
}

/* Stores each into an empty entry: see packet_form_prepare(). */
static unsigned store_1d(const struct bench_rig *rig, unsigned round, union tutti_packet *packet)
{
	return replace_1d(rig, round, packet);
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

const struct packet_form packet_forms[] = {
	{ "plain_1d", plain_1d, 140, 400 },
	{ "plain_2d", plain_2d, 156, BENCH_NO_TARGET },
	{ "plain_3d", plain_3d, 160, BENCH_NO_TARGET },
	{ "reference_store_1d", store_1d, 140 + 35, 700 },
	{ "reference_replace_1d", replace_1d, BENCH_NO_TARGET, 700 },
	{ "condensed_empty_1", empty_1, 65, 450 },
	{ "condensed_empty_6", empty_6, 20, 250 },
	{ "condensed_empty_31", empty_31, 13.5, 200 },
	{ "condensed_kernarg_1", kernarg_1, BENCH_NO_TARGET, BENCH_NO_TARGET },
	{ "condensed_kernarg_6", kernarg_6, 46, BENCH_NO_TARGET },
	{ "condensed_grid_x_6", grid_6, 53, BENCH_NO_TARGET },
	{ "condensed_kernarg_signal_1", kernarg_signal_1, 130, BENCH_NO_TARGET },
	{ "condensed_all_fields_1", general_1, 600, BENCH_NO_TARGET },
	{ "condensed_same_6", same_6, 7, 240 },
	{ "condensed_same_31", same_31, 4.5, 190 },
	{ 0 },
};

unsigned packet_form_batch(const struct packet_form *form)
{
	return form->make == store_1d ? TUTTI_REFERENCES : PACKET_ROUNDS;
}

int packet_form_prepare(struct bench_rig *rig, const struct packet_form *form)
{
	return form->make == store_1d ? tutti_rsb_invalidate(tutti_queue_rsb(rig->queue), 0xff) : 0;
}

int packet_form_send(struct bench_rig *rig, const struct packet_form *form, unsigned rounds, unsigned *kernels)
{
	int error = 0;

	*kernels = 0;
	tutti_signal_store(rig->done, rounds);
	for (unsigned r = 0; r < rounds && !error; r++) {
		union tutti_packet packet = { .word = { 0 } };

		*kernels += form->make(rig, r, &packet);
		error = tutti_queue_submit(rig->queue, &packet);
	}
	if (!error)
		error = bench_rig_wait(rig);
	/* what the firmware does for the references before it sleeps is part of it */
	return error || form->make != store_1d ? error : tutti_queue_drain(rig->queue, 1000000000);
}

int packet_form_references(struct bench_rig *rig)
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

/* SPDX-License-Identifier: MIT */
/*
 * The iteration in plain C, close to the equations, to check the card's results. Sums are taken in the same order as in
 * kernels.c; no code is shared with it. Compile with -ffp-contract=off.
 */
#include <math.h>
#include <stdlib.h>

#include "problem.h"

#define PSI(field, d, g, z) (field)[((uint64_t)(d) * args->groups + (g)) * args->zone_count + (z)]
#define PHI PSI

static void ltimes(const struct kripke_args *args)
{
	for (uint32_t nm = 0; nm < args->moments; nm++)
		for (uint32_t g = 0; g < args->groups; g++)
			for (uint32_t z = 0; z < args->zone_count; z++)
				PHI(args->phi, nm, g, z) = 0.0;
	for (uint32_t nm = 0; nm < args->moments; nm++)
		for (uint32_t d = 0; d < args->directions; d++)
			for (uint32_t g = 0; g < args->groups; g++)
				for (uint32_t z = 0; z < args->zone_count; z++)
					PHI(args->phi, nm, g, z) += args->ell[(uint64_t)nm * args->directions + d] *
								    PSI(args->psi, d, g, z);
}

/* Macroscopic cross-section for scattering @from -> @to in one zone. */
static double sigma_s(const struct kripke_args *args, uint32_t z, uint32_t n, uint32_t to, uint32_t from)
{
	double sum = 0.0;

	for (uint32_t mix = args->mix_start[z]; mix < args->mix_start[z + 1]; mix++) {
		const double *matrix = args->sigs + (uint64_t)(args->mix_material[mix] * args->orders + n) *
							    args->groups * args->groups;

		sum += matrix[(uint64_t)to * args->groups + from] * args->mix_fraction[mix];
	}
	return sum;
}

static void scattering(const struct kripke_args *args)
{
	for (uint32_t nm = 0; nm < args->moments; nm++)
		for (uint32_t g = 0; g < args->groups; g++)
			for (uint32_t z = 0; z < args->zone_count; z++) {
				double sum = 0.0;

				for (uint32_t from = 0; from < args->groups; from++)
					sum += sigma_s(args, z, args->order[nm], g, from) *
					       PHI(args->phi, nm, from, z);
				PHI(args->phi_out, nm, g, z) = sum;
			}
}

static void source(const struct kripke_args *args)
{
	for (uint32_t z = 0; z < args->zone_count; z++)
		for (uint32_t mix = args->mix_start[z]; mix < args->mix_start[z + 1]; mix++)
			for (uint32_t g = 0; g < args->groups && args->mix_material[mix] == 0; g++)
				PHI(args->phi_out, 0, g, z) += args->source * args->mix_fraction[mix];
}

static void lplustimes(const struct kripke_args *args)
{
	for (uint32_t d = 0; d < args->directions; d++)
		for (uint32_t g = 0; g < args->groups; g++)
			for (uint32_t z = 0; z < args->zone_count; z++) {
				double sum = 0.0;

				for (uint32_t nm = 0; nm < args->moments; nm++)
					sum += args->ell_plus[(uint64_t)d * args->moments + nm] *
					       PHI(args->phi_out, nm, g, z);
				PSI(args->rhs, d, g, z) = sum;
			}
}

/* Flux out of a zone at its far face, by diamond differences. @in is the flux into it at the near face. */
static double outflow(double centre, double in)
{
	return 2.0 * centre - in;
}

/* Flux into zone (i, j, k) along axis @a: 0 at the boundary, else what left the upwind neighbour. */
static double inflow(const struct kripke_args *args, const double *centre, const int32_t *step, uint32_t zone,
		     uint32_t index, unsigned a, const double *entered)
{
	const uint32_t stride[3] = { 1, args->zones[0], args->zones[0] * args->zones[1] };
	uint32_t first = step[a] > 0 ? 0 : args->zones[a] - 1;
	uint32_t upwind = zone - (uint32_t)step[a] * stride[a];

	return index == first ? 0.0 : outflow(centre[upwind], entered[upwind]);
}

/*
 * Sweep of one direction and group. Stores the flux into every zone along every axis in @entered (3 x zone_count),
 * unlike the kernel, which carries it along.
 */
static void sweep_pair(const struct kripke_args *args, uint32_t d, uint32_t g, double *entered)
{
	const double *cosine = args->cosine + 3u * d;
	const int32_t *step = args->step + 3u * d;
	double *psi = &PSI(args->psi, d, g, 0);
	double flow[3];

	for (unsigned a = 0; a < 3; a++)
		flow[a] = 2.0 * cosine[a] / args->width[a];
	for (uint32_t c = 0; c < args->zone_count; c++) {
		uint32_t at[3] = { c % args->zones[0], c / args->zones[0] % args->zones[1],
				   c / args->zones[0] / args->zones[1] };
		uint32_t zone;
		double *in[3];

		for (unsigned a = 0; a < 3; a++)
			at[a] = step[a] > 0 ? at[a] : args->zones[a] - 1 - at[a];
		zone = at[0] + args->zones[0] * (at[1] + args->zones[1] * at[2]);
		for (unsigned a = 0; a < 3; a++) {
			in[a] = entered + (uint64_t)a * args->zone_count;
			in[a][zone] = inflow(args, psi, step, zone, at[a], a, in[a]);
		}
		psi[zone] = (PSI(args->rhs, d, g, zone) + in[0][zone] * flow[0] + in[1][zone] * flow[1] +
			     in[2][zone] * flow[2]) /
			    (flow[0] + flow[1] + flow[2] + args->sigt[(uint64_t)g * args->zone_count + zone]);
	}
}

static double population(const struct kripke_args *args)
{
	const uint64_t share = (uint64_t)args->groups * args->zone_count;
	double total = 0.0;

	for (uint32_t d = 0; d < args->directions; d++) {
		double of_direction = 0.0;

		for (uint64_t part = 0; part < KRIPKE_SUMMERS; part++) {
			double sum = 0.0;

			for (uint64_t at = part * share / KRIPKE_SUMMERS; at < (part + 1) * share / KRIPKE_SUMMERS; at++)
				sum += args->weight[d] * args->psi[d * share + at] * args->volume;
			of_direction += sum;
		}
		total += of_direction;
	}
	return total;
}

double kripke_cpu_iterate(const struct kripke_args *args)
{
	double *entered = calloc(3ull * args->zone_count, sizeof(*entered));

	if (!entered)
		return NAN;
	ltimes(args);
	scattering(args);
	source(args);
	lplustimes(args);
	for (uint32_t d = 0; d < args->directions; d++)
		for (uint32_t g = 0; g < args->groups; g++)
			sweep_pair(args, d, g, entered);
	free(entered);
	return population(args);
}

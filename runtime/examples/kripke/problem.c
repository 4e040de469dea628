/* SPDX-License-Identifier: MIT */
/*
 * The three-region problem of Kobayashi (problem 3, a dog-leg void duct), mirrored to the full space [-60, 60] x [-100,
 * 100] x [-60, 60]: a cube with a source, a nearly empty duct, and a shield around them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "quadrature.h"

#define SAMPLES 4 /* sampling points along each axis of a zone, which find its materials */

static const double half_size[3] = { 60.0, 100.0, 60.0 };

void kripke_defaults(struct kripke_options *options)
{
	*options = (struct kripke_options){
		.zones = { 16, 16, 16 },
		.groups = 32,
		.legendre = 4,
		.directions = 96,
		.sigt = { 0.1, 0.0001, 0.1 },
		.sigs = { 0.05, 0.00005, 0.05 },
		.iterations = 10,
	};
}

const char *kripke_problem_check(const struct kripke_options *options)
{
	for (unsigned a = 0; a < 3; a++)
		if (options->zones[a] < 1 || options->zones[a] > 1024)
			return "--zones must be three numbers from 1 to 1024";
	if (options->groups < 1 || options->groups > 4096)
		return "--groups must be from 1 to 4096";
	if (options->legendre > 16)
		return "--legendre must be from 0 to 16";
	if (options->polar && (options->polar % 4 || !options->azimuthal || options->azimuthal % 2))
		return "--quad polar:azimuthal needs a multiple of 4 and one of 2";
	if (options->directions < 8 || options->directions % 8 || options->directions > 65536)
		return "--quad must be a multiple of 8, from 8 to 65536";
	if ((uint64_t)options->groups * options->zones[0] * options->zones[1] * options->zones[2] > UINT32_MAX)
		return "groups times zones must stay below 2^32";
	return NULL;
}

double kripke_problem_bytes(const struct kripke_options *options)
{
	double zones = (double)options->zones[0] * options->zones[1] * options->zones[2];
	double moments = (options->legendre + 1.0) * (options->legendre + 1.0);

	return 8.0 * options->groups * (zones * 2.0 * (options->directions + moments) +
		(double)options->directions * options->zones[0] * (options->zones[1] + 1.0));
}

/* Material at a point; the problem is given for one octant. */
static unsigned material_at(double x, double y, double z)
{
	x = fabs(x);
	y = fabs(y);
	z = fabs(z);
	if (x <= 10 && y <= 10 && z <= 10)
		return 0;
	if ((x <= 10 && y <= 60 && z <= 10) ||
	    (x <= 40 && y >= 50 && y <= 60 && z <= 10) ||
	    (x >= 30 && x <= 40 && y >= 50 && y <= 60 && z <= 40) ||
	    (x >= 30 && x <= 40 && y >= 50 && z >= 30 && z <= 40))
		return 1;
	return 2;
}

/* Shares of the materials in one zone, by sampling. */
static void mix_sample(const struct kripke_args *args, const uint32_t at[3], double share[KRIPKE_MATERIALS])
{
	double point[3][SAMPLES];

	memset(share, 0, sizeof(*share) * KRIPKE_MATERIALS);
	for (unsigned a = 0; a < 3; a++)
		for (unsigned s = 0; s < SAMPLES; s++)
			point[a][s] = (args->width[a] * at[a] - half_size[a]) + args->width[a] * (s + 1.0) / (SAMPLES + 1.0);
	for (unsigned s = 0; s < SAMPLES * SAMPLES * SAMPLES; s++)
		share[material_at(point[0][s % SAMPLES], point[1][s / SAMPLES % SAMPLES],
				  point[2][s / (SAMPLES * SAMPLES)])] += 1.0 / (SAMPLES * SAMPLES * SAMPLES);
}

/* Memory that kripke_problem_fini() will free; NULL once any allocation has failed. */
static void *take(struct kripke_problem *problem, uint64_t count, size_t bytes)
{
	void *memory;

	if (problem->memories && !problem->memory[problem->memories - 1])
		return NULL;
	memory = problem->alloc(problem->context, count * bytes);
	problem->memory[problem->memories++] = memory;
	return memory;
}

static bool fields_alloc(struct kripke_problem *problem)
{
	struct kripke_args *args = &problem->args;
	uint64_t share = (uint64_t)args->groups * args->zone_count;

	args->phi = take(problem, args->moments * share, sizeof(double));
	args->phi_out = take(problem, args->moments * share, sizeof(double));
	args->psi = take(problem, args->directions * share, sizeof(double));
	args->rhs = take(problem, args->directions * share, sizeof(double));
	args->plane = take(problem, (uint64_t)args->directions * args->groups * args->zones[0] * (args->zones[1] + 1),
			   sizeof(double));
	args->partial = take(problem, args->directions, sizeof(double));
	args->count = take(problem, 1, sizeof(double));
	args->ticket = take(problem, 1, sizeof(uint32_t));
	return args->ticket;
}

static bool directions_init(struct kripke_problem *problem, const struct kripke_options *options)
{
	struct kripke_args *args = &problem->args;
	uint32_t count = args->directions, moments = args->moments;
	struct kripke_direction *set = calloc(count, sizeof(*set));
	double *ell = take(problem, (uint64_t)count * moments, sizeof(double));
	double *ell_plus = take(problem, (uint64_t)count * moments, sizeof(double));
	double *weight = take(problem, count, sizeof(double));
	double *cosine = take(problem, count * 3ull, sizeof(double));
	int32_t *step = take(problem, count * 3ull, sizeof(int32_t));
	uint32_t *order = take(problem, moments, sizeof(uint32_t));

	if (!set || !ell || !ell_plus || !weight || !cosine || !step || !order) {
		free(set);
		return false;
	}
	kripke_quadrature(options, set);
	for (uint32_t d = 0; d < count; d++) {
		uint32_t moment = 0;

		weight[d] = set[d].weight;
		for (unsigned a = 0; a < 3; a++) {
			cosine[3 * d + a] = fabs(set[d].omega[a]);
			step[3 * d + a] = set[d].omega[a] > 0 ? 1 : -1;
		}
		for (int n = 0; n <= (int)options->legendre; n++)
			for (int m = -n; m <= n; m++, moment++) {
				double harmonic = kripke_harmonic(n, m, set[d].omega);

				order[moment] = (uint32_t)n;
				ell[(uint64_t)moment * count + d] = set[d].weight * harmonic / sqrt(4 * M_PI);
				ell_plus[(uint64_t)d * moments + moment] = harmonic * sqrt(4 * M_PI);
			}
	}
	free(set);
	args->ell = ell;
	args->ell_plus = ell_plus;
	args->weight = weight;
	args->cosine = cosine;
	args->step = step;
	args->order = order;
	return true;
}

/*
 * Scattering stays in its energy group and is isotropic. The kernels make no use of that: they handle the general case.
 */
static bool scattering_init(struct kripke_problem *problem, const struct kripke_options *options)
{
	struct kripke_args *args = &problem->args;
	uint64_t square = (uint64_t)args->groups * args->groups;
	double *sigs = take(problem, KRIPKE_MATERIALS * args->orders * square, sizeof(double));

	if (!sigs)
		return false;
	for (unsigned m = 0; m < KRIPKE_MATERIALS; m++)
		for (uint32_t g = 0; g < args->groups; g++)
			sigs[m * args->orders * square + (uint64_t)g * args->groups + g] = options->sigs[m];
	args->sigs = sigs;
	return true;
}

static bool zones_init(struct kripke_problem *problem, const struct kripke_options *options)
{
	struct kripke_args *args = &problem->args;
	uint32_t count = args->zone_count, entries = 0;
	double *sigt = take(problem, (uint64_t)args->groups * count, sizeof(double));
	uint32_t *start = take(problem, count + 1ull, sizeof(uint32_t));
	uint32_t *material = take(problem, (uint64_t)count * KRIPKE_MATERIALS, sizeof(uint32_t));
	double *fraction = take(problem, (uint64_t)count * KRIPKE_MATERIALS, sizeof(double));

	if (!sigt || !start || !material || !fraction)
		return false;
	for (uint32_t zone = 0; zone < count; zone++) {
		const uint32_t at[3] = { zone % args->zones[0], zone / args->zones[0] % args->zones[1],
					 zone / args->zones[0] / args->zones[1] };
		double share[KRIPKE_MATERIALS];

		mix_sample(args, at, share);
		for (unsigned m = 0; m < KRIPKE_MATERIALS; m++) {
			if (share[m] == 0.0)
				continue;
			problem->volumes[m] += share[m] * args->volume;
			sigt[zone] += share[m] * options->sigt[m];
			material[entries] = m;
			fraction[entries++] = share[m];
		}
		start[zone + 1] = entries;
	}
	for (uint32_t g = 1; g < args->groups; g++)
		memcpy(sigt + (uint64_t)g * count, sigt, count * sizeof(*sigt));
	args->sigt = sigt;
	args->mix_start = start;
	args->mix_material = material;
	args->mix_fraction = fraction;
	return true;
}

bool kripke_problem_init(struct kripke_problem *problem, const struct kripke_options *options)
{
	struct kripke_args *args = &problem->args;

	memset(args, 0, sizeof(*args));
	memset(problem->volumes, 0, sizeof(problem->volumes));
	problem->memories = 0;
	memcpy(args->zones, options->zones, sizeof(args->zones));
	args->zone_count = args->zones[0] * args->zones[1] * args->zones[2];
	args->groups = options->groups;
	args->directions = options->directions;
	args->orders = options->legendre + 1;
	args->moments = args->orders * args->orders;
	args->source = 1.0;
	args->volume = 1.0;
	for (unsigned a = 0; a < 3; a++) {
		args->width[a] = 2.0 * half_size[a] / args->zones[a];
		args->volume *= args->width[a];
	}
	if (directions_init(problem, options) && scattering_init(problem, options) && zones_init(problem, options) &&
	    fields_alloc(problem))
		return true;
	kripke_problem_fini(problem);
	return false;
}

void kripke_problem_fini(struct kripke_problem *problem)
{
	while (problem->memories) {
		void *memory = problem->memory[--problem->memories];

		if (memory)
			problem->free(problem->context, memory);
	}
}

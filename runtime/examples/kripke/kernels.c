/* SPDX-License-Identifier: MIT */
/*
 * Kripke's six kernels. Every sum is taken in one fixed order, the same as in the CPU version, so that the results are
 * equal bit for bit (compile with -ffp-contract=off).
 */
#include "tutti/device.h"

#include "kripke.h"

#define LANES 8u /* neighbouring work-items whose sums are computed together */

/*
 * out[l] = sum of a[n] b[n * stride + l] over n, for @lanes neighbours at once: they
 * share a[n], and their b[] lie side by side.
 */
static inline __attribute__((always_inline)) void dot(const double *a, const double *b, uint64_t stride,
						      uint32_t count, unsigned lanes, double *out)
{
	double sum[LANES] = { 0 };

	for (uint32_t n = 0; n < count; n++, b += stride) {
#pragma GCC unroll 8
		for (unsigned l = 0; l < lanes; l++)
			sum[l] += a[n] * b[l];
	}
#pragma GCC unroll 8
	for (unsigned l = 0; l < lanes; l++)
		out[l] = sum[l];
}

/* out = matrix in, for this wave's work-items: one per (group, zone). @matrix is [rows][columns]. */
static void multiply(const struct kripke_args *args, const double *matrix, uint32_t rows, uint32_t columns,
		     const double *in, double *out)
{
	const uint64_t stride = (uint64_t)args->groups * args->zone_count;
	uint64_t at = tutti_global_id(tutti_wave()->first_item, 0);
	const uint64_t end = at + tutti_wave()->items;

	for (; at + LANES <= end; at += LANES)
		for (uint32_t r = 0; r < rows; r++)
			dot(matrix + (uint64_t)r * columns, in + at, stride, columns, LANES, out + r * stride + at);
	for (; at < end; at++)
		for (uint32_t r = 0; r < rows; r++)
			dot(matrix + (uint64_t)r * columns, in + at, stride, columns, 1, out + r * stride + at);
}

TUTTI_KERNEL(ltimes, struct kripke_args)
{
	multiply(args, args->ell, args->moments, args->directions, args->psi, args->phi);
}

/* One work-item per (group scattered to, zone). */
TUTTI_KERNEL(scattering, struct kripke_args)
{
	const uint64_t stride = (uint64_t)args->groups * args->zone_count;

	tutti_for_each_item(item) {
		uint64_t at = tutti_global_id(item, 0);
		uint32_t group = (uint32_t)(at / args->zone_count);
		uint32_t zone = (uint32_t)(at % args->zone_count);
		uint32_t first = args->mix_start[zone];
		uint32_t end = args->mix_start[zone + 1];

		for (uint32_t m = 0; m < args->moments; m++) {
			const double *phi = args->phi + m * stride + zone;
			double sum = 0.0;

			for (uint32_t from = 0; from < args->groups; from++, phi += args->zone_count) {
				double sigma = 0.0;

				for (uint32_t mix = first; mix < end; mix++) {
					uint64_t table = args->mix_material[mix] * args->orders + args->order[m];

					sigma += args->sigs[(table * args->groups + group) * args->groups + from] *
						 args->mix_fraction[mix];
				}
				sum += sigma * *phi;
			}
			args->phi_out[m * stride + at] = sum;
		}
	}
}

/* One work-item per (group, zone); the source is isotropic: moment 0 only. */
TUTTI_KERNEL(source, struct kripke_args)
{
	tutti_for_each_item(item) {
		uint32_t at = tutti_global_id(item, 0);
		uint32_t zone = at % args->zone_count;

		for (uint32_t mix = args->mix_start[zone]; mix < args->mix_start[zone + 1]; mix++)
			if (args->mix_material[mix] == 0)
				args->phi_out[at] += args->source * args->mix_fraction[mix];
	}
}

TUTTI_KERNEL(lplustimes, struct kripke_args)
{
	multiply(args, args->ell_plus, args->directions, args->moments, args->phi_out, args->rhs);
}

/* First zone that particles of a direction reach along one axis. */
static uint32_t sweep_start(uint32_t zones, int32_t step)
{
	return step > 0 ? 0 : zones - 1;
}

/*
 * All zones for one direction and group, upwind first. The flux that enters along
 * i is carried in a register, along j in a row, along k in a plane.
 */
static void sweep_one(const struct kripke_args *args, uint32_t direction, uint32_t group)
{
	const uint32_t nx = args->zones[0], ny = args->zones[1], nz = args->zones[2];
	const double *cosine = args->cosine + 3u * direction;
	const int32_t *step = args->step + 3u * direction;
	const uint64_t pair = (uint64_t)direction * args->groups + group;
	const double *rhs = args->rhs + pair * args->zone_count;
	const double *sigt = args->sigt + (uint64_t)group * args->zone_count;
	double *psi = args->psi + pair * args->zone_count;
	double *row = args->plane + pair * (nx + (uint64_t)nx * ny);
	double *plane = row + nx;
	const double x = 2.0 * cosine[0] / args->width[0];
	const double y = 2.0 * cosine[1] / args->width[1];
	const double z = 2.0 * cosine[2] / args->width[2];

	for (uint32_t at = 0; at < nx * ny; at++)
		plane[at] = 0.0;
	for (uint32_t c = 0, k = sweep_start(nz, step[2]); c < nz; c++, k += (uint32_t)step[2]) {
		for (uint32_t at = 0; at < nx; at++)
			row[at] = 0.0;
		for (uint32_t b = 0, j = sweep_start(ny, step[1]); b < ny; b++, j += (uint32_t)step[1]) {
			double left = 0.0;

			for (uint32_t a = 0, i = sweep_start(nx, step[0]); a < nx; a++, i += (uint32_t)step[0]) {
				uint32_t face = i + nx * j;
				uint32_t zone = face + nx * ny * k;
				double flux = (rhs[zone] + left * x + row[i] * y + plane[face] * z) /
					      (x + y + z + sigt[zone]);

				psi[zone] = flux;
				left = 2.0 * flux - left;
				row[i] = 2.0 * flux - row[i];
				plane[face] = 2.0 * flux - plane[face];
			}
		}
	}
}

/* One work-item per (direction, group): all of them are independent. */
TUTTI_KERNEL(sweep, struct kripke_args)
{
	tutti_for_each_item(item) {
		uint32_t pair = tutti_global_id(item, 0);

		sweep_one(args, pair / args->groups, pair % args->groups);
	}
}

/* The workgroup that finishes last adds up the results of all. */
static void population_finish(const struct kripke_args *args)
{
	double sum = 0.0;

	if (__atomic_add_fetch(args->ticket, 1, __ATOMIC_ACQ_REL) != tutti_cta_count(0))
		return;
	for (uint32_t d = 0; d < args->directions; d++)
		sum += args->partial[d];
	*args->count = sum;
	__atomic_store_n(args->ticket, 0, __ATOMIC_RELEASE);
}

/* One workgroup per direction; each work-item adds up its share of it. */
TUTTI_KERNEL(population, struct kripke_args, .group_bytes = KRIPKE_SUMMERS * sizeof(double),
	     .flags = TUTTI_KERNEL_BARRIER, .barriers = 1, .workgroup = { KRIPKE_SUMMERS, 1, 1 })
{
	const uint64_t stride = (uint64_t)args->groups * args->zone_count;
	const uint32_t direction = tutti_cta_id(0);
	const double *psi = args->psi + direction * stride;
	const double weight = args->weight[direction];
	double *share = tutti_shared(double, 0);
	double sum = 0.0;

	tutti_for_each_item(item) {
		uint64_t end = (item + 1) * stride / KRIPKE_SUMMERS;

		sum = 0.0;
		for (uint64_t at = item * stride / KRIPKE_SUMMERS; at < end; at++)
			sum += weight * psi[at] * args->volume;
		share[item] = sum;
	}
	tutti_barrier();
	if (!tutti_first_wave())
		return;
	sum = 0.0;
	for (uint32_t item = 0; item < KRIPKE_SUMMERS; item++)
		sum += share[item];
	args->partial[direction] = sum;
	population_finish(args);
}

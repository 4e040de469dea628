/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kripke on Tutti: what host and kernels share
 *
 * Steady-state particle transport by discrete ordinates, after the published
 * description of LLNL's Kripke (Kunen, Bailey, Brown, "Kripke: a massively parallel
 * transport mini-app", 2015). One iteration:
 *
 *	phi     = L psi                  LTimes      moments of the angular flux
 *	phi_out = sigma_s phi            Scattering
 *	phi_out += Q                     Source
 *	rhs     = L+ phi_out             LPlusTimes
 *	psi     = H^-1 rhs               Sweep       diamond differences, upwind order
 *	count   = sum w psi volume       Population
 *
 * Arrays are stored as named, last index fastest: psi[direction][group][zone],
 * phi[moment][group][zone], zone = i + nx (j + ny k).
 */
#ifndef KRIPKE_H
#define KRIPKE_H

#include <stdint.h>

#define KRIPKE_MATERIALS 3u
#define KRIPKE_SUMMERS 64u /* work-items that add up one direction's part of the population */

/** struct kripke_args - problem and fields; the kernarg segment of all six kernels. */
struct kripke_args {
	uint32_t zones[3];
	uint32_t zone_count;
	uint32_t groups;
	uint32_t directions;
	uint32_t moments;
	uint32_t orders;             /* Legendre orders: --legendre + 1 */
	double width[3];             /* of a zone */
	double volume;               /* of a zone */
	double source;               /* strength of the source in material 0 */

	/* constant */
	const double *ell;           /* [moment][direction] */
	const double *ell_plus;      /* [direction][moment] */
	const double *weight;        /* [direction] */
	const double *cosine;        /* [direction][3], absolute values */
	const int32_t *step;         /* [direction][3], +1 or -1: the direction of flight */
	const uint32_t *order;       /* [moment]: its Legendre order */
	const double *sigs;          /* [material][order][group to][group from] */
	const double *sigt;          /* [group][zone] */
	const uint32_t *mix_start;   /* [zone + 1]: a zone's first entry in the two below */
	const uint32_t *mix_material;
	const double *mix_fraction;

	/* fields */
	double *phi;
	double *phi_out;
	double *psi;
	double *rhs;
	double *plane;               /* [direction][group][nx + nx ny]: flux on the faces being swept */
	double *partial;             /* [direction]: population of one direction */
	double *count;               /* the population: result of an iteration */
	uint32_t *ticket;            /* workgroups of Population that have finished; 0 between launches */
};

#endif

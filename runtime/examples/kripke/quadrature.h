/* SPDX-License-Identifier: MIT */
/** DOC: Directions, their weights, and spherical harmonics */
#ifndef KRIPKE_QUADRATURE_H
#define KRIPKE_QUADRATURE_H

#include "problem.h"

/** struct kripke_direction - one point of the quadrature set. */
struct kripke_direction {
	double omega[3]; /* unit vector */
	double weight;   /* all weights add up to 4 pi */
};

/** kripke_quadrature() - fill options->directions points, octant by octant. */
void kripke_quadrature(const struct kripke_options *options, struct kripke_direction *directions);
/** kripke_harmonic() - real spherical harmonic of order @n, degree @m (-n..n), orthonormal, at @omega. */
double kripke_harmonic(int n, int m, const double omega[3]);

#endif

/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <string.h>

#include "quadrature.h"

/* Legendre polynomial P_n and its derivative at x, by the three-term recurrence. */
static double legendre(unsigned n, double x, double *derivative)
{
	double before = 1.0, value = x;

	for (unsigned i = 2; i <= n; i++) {
		double next = ((2.0 * i - 1.0) * x * value - (i - 1.0) * before) / i;

		before = value;
		value = next;
	}
	*derivative = n * (x * value - before) / (x * x - 1.0);
	return value;
}

/* Root number @i of P_n (from the top), by Newton's method, and its weight. */
static double gauss_point(unsigned n, unsigned i, double *weight)
{
	double x = cos(M_PI * (i + 0.75) / (n + 0.5)), move, derivative;

	do {
		move = legendre(n, x, &derivative) / derivative;
		x -= move;
	} while (fabs(move) > 4 * DBL_EPSILON);
	legendre(n, x, &derivative);
	*weight = 2.0 / ((1.0 - x * x) * derivative * derivative);
	return x;
}

static unsigned octant(const double omega[3])
{
	return (omega[0] > 0) | (omega[1] > 0) << 1 | (omega[2] > 0) << 2;
}

/* Polar angles by Gauss-Legendre, azimuthal angles equally spaced; sorted by octant. */
static void product_set(const struct kripke_options *options, struct kripke_direction *directions)
{
	const double step = 2.0 * M_PI / options->azimuthal;

	for (unsigned o = 0; o < 8; o++)
		for (unsigned p = 0; p < options->polar; p++)
			for (unsigned a = 0; a < options->azimuthal; a++) {
				double weight, z = -gauss_point(options->polar, p, &weight);
				double flat = sqrt(1.0 - z * z), angle = (a + 0.5) * step;
				double omega[3] = { flat * cos(angle), flat * sin(angle), z };

				if (octant(omega) != o)
					continue;
				memcpy(directions->omega, omega, sizeof(omega));
				directions->weight = weight * step;
				directions++;
			}
}

/* One point per octant, repeated: as much work as a large set of directions, with the result of a small one. */
static void repeated_set(const struct kripke_options *options, struct kripke_direction *directions)
{
	const unsigned each = options->directions / 8;

	for (unsigned d = 0; d < options->directions; d++) {
		unsigned o = d / each;

		directions[d].omega[0] = (o & 1 ? 1 : -1) * M_SQRT1_2;
		directions[d].omega[1] = (o & 2 ? 1 : -1) * 0.5;
		directions[d].omega[2] = (o & 4 ? 1 : -1) * 0.5;
		directions[d].weight = 4.0 * M_PI / options->directions;
	}
}

void kripke_quadrature(const struct kripke_options *options, struct kripke_direction *directions)
{
	if (options->polar)
		product_set(options, directions);
	else
		repeated_set(options, directions);
}

/* Associated Legendre function P_n^m with the Condon-Shortley phase. */
static double associated(int n, int m, double x)
{
	double diagonal = 1.0, value, before = 0.0;

	for (int i = 1; i <= m; i++)
		diagonal *= -(2 * i - 1) * sqrt((1.0 - x) * (1.0 + x));
	value = diagonal;
	for (int i = m + 1; i <= n; i++) {
		double next = ((2 * i - 1) * x * value - (i + m - 1) * before) / (i - m);

		before = value;
		value = next;
	}
	return value;
}

double kripke_harmonic(int n, int m, const double omega[3])
{
	int degree = m < 0 ? -m : m;
	double angle = atan2(omega[1], omega[0]);
	double ratio = 1.0; /* (n - degree)! / (n + degree)! */
	double scale;

	for (int i = n - degree + 1; i <= n + degree; i++)
		ratio /= i;
	scale = sqrt((2 * n + 1) * ratio / ((m ? 2.0 : 4.0) * M_PI));
	return scale * associated(n, degree, omega[2]) * (m >= 0 ? cos(m * angle) : sin(degree * angle));
}

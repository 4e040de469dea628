/* SPDX-License-Identifier: MIT */
/* link: -Wl,--allow-multiple-definition */
/* The arithmetic of calibration: systems of equations, and weights from energies (RES-13, RES-14). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "observe/calibrate.c"

#define N TUTTI_CLASSES

static double m[N][N + 1];

/* Row @r says: the unknowns, of which number k is k + 2, times these factors. */
static void fill_row(unsigned r, const double *factor)
{
	m[r][N] = 0;
	for (unsigned k = 0; k < N; k++) {
		m[r][k] = factor[k];
		m[r][N] += factor[k] * (k + 2);
	}
}

static void assert_solved(void)
{
	assert_true(solve(m));
	for (unsigned k = 0; k < N; k++) {
		double found = m[k][N] / m[k][k];

		if (!(found > k + 2 - 1e-6 && found < k + 2 + 1e-6))
			fail_msg("unknown %u is %f", k, found);
	}
}

/* In whatever order the equations come: a class need not be counted in the kernel that is named after it. */
static void equations(void **state)
{
	for (unsigned shift = 0; shift < N; shift++) {
		for (unsigned r = 0; r < N; r++) {
			double factor[N] = {0};

			factor[(r + shift) % N] = r % 2 ? -3 : 64;
			fill_row(r, factor);
		}
		assert_solved();
		for (unsigned r = 0; r < N; r++) {
			double factor[N];

			for (unsigned k = 0; k < N; k++)
				factor[k] = k == (r + shift) % N ? 0 : 1 + (double)(r * k % 3);
			factor[(r + 3) % N] += 50;
			fill_row(r, factor);
		}
		assert_solved();
	}
}

/* Pivots that are all but 0 would make any error large. */
static void small_pivots(void **state)
{
	for (unsigned r = 0; r < N; r++) {
		double factor[N] = {0};

		factor[r] = 1e-5;
		factor[(r + 1) % N] = 1000;
		fill_row(r, factor);
	}
	assert_solved();
}

static void no_solution(void **state)
{
	for (unsigned twice = 0; twice < N; twice++) {
		for (unsigned r = 0; r < N; r++) {
			double factor[N] = {0};

			factor[r == twice ? (r + 1) % N : r] = 5;
			fill_row(r, factor);
		}
		assert_false(solve(m));
	}
}

static void weights(void **state)
{
	const double energy[] = {0, -1, 2, 4, 1e-9, 3.99999, 1};
	uint32_t weight[8] = {9, 9, 9, 9, 9, 9, 9, 9};

	scale(energy, 7, weight);
	assert_int_equal(weight[0], 0);
	assert_int_equal(weight[1], 0);
	assert_int_equal(weight[2], 32768); /* half of 65535, rounded */
	assert_int_equal(weight[3], 0xffff);
	assert_int_equal(weight[4], 0);
	assert_int_equal(weight[5], 0xffff);
	assert_int_equal(weight[6], 16384);
	assert_int_equal(weight[7], 9);
	scale((const double[]){0.5, 0.25}, 2, weight); /* the first is the largest, and all are below 1 */
	assert_true(weight[0] == 0xffff && weight[1] == 32768);
	scale((const double[]){-1, 0, -5}, 3, weight);
	assert_int_equal(weight[0] | weight[1] | weight[2], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(equations), cmocka_unit_test(small_pivots),
					   cmocka_unit_test(no_solution), cmocka_unit_test(weights)};

	return cmocka_run_group_tests_name("RES-13, RES-14 arithmetic of calibration", tests, NULL, NULL);
}

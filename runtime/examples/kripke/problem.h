/* SPDX-License-Identifier: MIT */
/** DOC: The transport problem: options, quadrature, geometry, memory for all of it */
#ifndef KRIPKE_PROBLEM_H
#define KRIPKE_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>

#include "kripke.h"

/** struct kripke_options - the original's problem options, same meaning and defaults. */
struct kripke_options {
	uint32_t zones[3];
	uint32_t groups;
	uint32_t legendre;
	uint32_t directions;
	uint32_t polar, azimuthal; /* Gauss-Legendre by equal angles; 0 = repeated S2 points */
	double sigt[KRIPKE_MATERIALS];
	double sigs[KRIPKE_MATERIALS];
	uint32_t iterations;
};

/** kripke_defaults() - the original's default problem. */
void kripke_defaults(struct kripke_options *options);
/** kripke_problem_check() - NULL, or what is wrong with @options. */
const char *kripke_problem_check(const struct kripke_options *options);

/**
 * struct kripke_problem - constants and fields in memory of the caller's choice.
 * @alloc: zeroed memory or NULL
 * @free: gives it back
 */
struct kripke_problem {
	struct kripke_args args;
	double volumes[KRIPKE_MATERIALS]; /* of the materials, for the report */
	void *(*alloc)(void *context, size_t bytes);
	void (*free)(void *context, void *memory);
	void *context;
	void *memory[24];
	unsigned memories;
};

/**
 * kripke_problem_init() - build the problem; @problem->alloc, free, context are set.
 * Return: true, or false when memory ran out (nothing is kept then).
 */
bool kripke_problem_init(struct kripke_problem *problem, const struct kripke_options *options);
void kripke_problem_fini(struct kripke_problem *problem);
/** kripke_problem_bytes() - memory a problem takes, about. */
double kripke_problem_bytes(const struct kripke_options *options);

/** kripke_cpu_iterate() - one iteration in plain C; returns the particle count, NAN without memory. */
double kripke_cpu_iterate(const struct kripke_args *args);

#endif

/* SPDX-License-Identifier: MIT */
/* link: -ffp-contract=off -DTUTTI_DEVICE_HOST -Iruntime/kernel-sdk/include -Iruntime/examples/kripke runtime/examples/kripke/problem.c runtime/examples/kripke/quadrature.c runtime/examples/kripke/cpu.c -lm */
/*
 * Kripke's physics and kernels without a card: the CPU version against published
 * output of the original, the kernels (compiled for the host, with this test
 * playing the card) against the CPU version, bit for bit.
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../runtime/examples/kripke/kernels.c"
#include "problem.h"
#include "quadrature.h"

/* ---- the player: one workgroup after the other, a thread for each of its waves ---- */

static _Thread_local struct tutti_wave_info wave_info;
static pthread_barrier_t wave_barrier;

const struct tutti_wave_info *tutti_host_wave(void)
{
	return &wave_info;
}

int64_t tutti_host_service(uint64_t number, uint64_t a0, uint64_t a1)
{
	assert_int_equal(number, TUTTI_SERVICE_BARRIER);
	pthread_barrier_wait(&wave_barrier);
	return 0;
}

struct wave_job {
	void (*kernel)(const struct kripke_args *args);
	const struct kripke_args *args;
	struct tutti_wave_info info;
};

static void *wave_run(void *context)
{
	struct wave_job *job = context;

	wave_info = job->info;
	job->kernel(job->args);
	return NULL;
}

static void play(void (*kernel)(const struct kripke_args *), const struct kripke_args *args, uint32_t grid,
		 uint16_t workgroup)
{
	static uint64_t shared[64];
	struct wave_job job[8];
	pthread_t thread[8];

	for (uint32_t cta = 0; cta * workgroup < grid; cta++) {
		uint32_t items = grid - cta * workgroup < workgroup ? grid - cta * workgroup : workgroup;
		uint32_t waves = (items + TUTTI_WAVE_ITEMS - 1) / TUTTI_WAVE_ITEMS;

		pthread_barrier_init(&wave_barrier, NULL, waves);
		for (uint32_t w = 0; w < waves; w++) {
			uint32_t first = w * TUTTI_WAVE_ITEMS;

			job[w] = (struct wave_job){ kernel, args, {
				.shared = (uintptr_t)shared,
				.items = items - first < TUTTI_WAVE_ITEMS ? items - first : TUTTI_WAVE_ITEMS,
				.first_item = first,
				.wave = w,
				.waves = waves,
				.cta = { cta },
				.groups = { (grid + workgroup - 1) / workgroup, 1, 1 },
				.grid = { grid, 1, 1 },
				.workgroup = { workgroup, 1, 1 },
				.extent = { (uint16_t)items, 1, 1 },
				.dimensions = 1,
			} };
			assert_int_equal(pthread_create(&thread[w], NULL, wave_run, &job[w]), 0);
		}
		for (uint32_t w = 0; w < waves; w++)
			pthread_join(thread[w], NULL);
		pthread_barrier_destroy(&wave_barrier);
	}
}

static double play_iteration(const struct kripke_args *args)
{
	const uint32_t flat = args->groups * args->zone_count;

	play(ltimes, args, flat, 256);
	play(scattering, args, flat, 256);
	play(source, args, flat, 256);
	play(lplustimes, args, flat, 256);
	play(sweep, args, args->directions * args->groups, 32);
	play(population, args, args->directions * KRIPKE_SUMMERS, KRIPKE_SUMMERS);
	return *args->count;
}

/* ---- helpers ---- */

static void *alloc(void *context, size_t bytes)
{
	unsigned *left = context;

	return left && !(*left)-- ? NULL : calloc(1, bytes);
}

static void release(void *context, void *memory)
{
	free(memory);
}

static void init(struct kripke_problem *problem, const struct kripke_options *options)
{
	*problem = (struct kripke_problem){ .alloc = alloc, .free = release };
	assert_null(kripke_problem_check(options));
	assert_true(kripke_problem_init(problem, options));
}

static void assert_printed(double count, const char *expected)
{
	char text[32];

	snprintf(text, sizeof(text), "%e", count);
	assert_string_equal(text, expected);
}

/* ---- tests ---- */

/* Volumes and counts the original prints for its default problem; groups do not couple and are all alike. */
static void default_problem_counts_as_published(void **state)
{
	static const char *const published[] = { "3.743744e+07", "5.629276e+07", "6.569619e+07", "7.036907e+07" };
	struct kripke_options options;
	struct kripke_problem problem;

	kripke_defaults(&options);
	options.groups = 1;
	init(&problem, &options);
	assert_printed(problem.volumes[0], "8.789062e+03");
	assert_printed(problem.volumes[1], "1.177734e+05");
	assert_printed(problem.volumes[2], "2.753438e+06");
	for (unsigned i = 0; i < 4; i++)
		assert_printed(32 * kripke_cpu_iterate(&problem.args), published[i]);
	kripke_problem_fini(&problem);
}

static void counts_converge(void **state)
{
	struct kripke_options options;
	struct kripke_problem problem;
	double last = 0, change = 1;

	kripke_defaults(&options);
	memcpy(options.zones, (uint32_t[]){ 6, 6, 6 }, sizeof(options.zones));
	options.groups = 2;
	options.legendre = 1;
	options.polar = 4;
	options.azimuthal = 4;
	options.directions = 16;
	init(&problem, &options);
	for (unsigned i = 0; i < 20; i++) {
		double count = kripke_cpu_iterate(&problem.args), now = (count - last) / count;

		assert_true(now > 0 && now <= change);
		last = count;
		change = now;
	}
	assert_true(change < 1e-5);
	kripke_problem_fini(&problem);
}

/* L L+ = 1 for a set that integrates products of the harmonics exactly; weights add up to the sphere. */
static void quadrature_is_exact(void **state)
{
	struct kripke_options options;
	struct kripke_problem problem;
	double weights = 0;

	kripke_defaults(&options);
	memcpy(options.zones, (uint32_t[]){ 1, 1, 1 }, sizeof(options.zones));
	options.polar = 8;
	options.azimuthal = 12;
	init(&problem, &options);
	for (unsigned d = 0; d < 96; d++)
		weights += problem.args.weight[d];
	assert_true(fabs(weights - 4 * M_PI) < 1e-13);
	for (unsigned i = 0; i < 25; i++)
		for (unsigned j = 0; j < 25; j++) {
			double sum = 0;

			for (unsigned d = 0; d < 96; d++)
				sum += problem.args.ell[i * 96 + d] * problem.args.ell_plus[d * 25 + j];
			assert_true(fabs(sum - (i == j)) < 1e-13);
		}
	kripke_problem_fini(&problem);
}

static void compare(const struct kripke_options *options)
{
	struct kripke_problem cpu, card;
	uint64_t fluxes;

	init(&cpu, options);
	init(&card, options);
	fluxes = (uint64_t)cpu.args.directions * cpu.args.groups * cpu.args.zone_count;
	for (unsigned i = 0; i < 3; i++) {
		double expected = kripke_cpu_iterate(&cpu.args), got = play_iteration(&card.args);

		assert_memory_equal(&expected, &got, sizeof(got));
		assert_memory_equal(cpu.args.psi, card.args.psi, fluxes * sizeof(double));
		assert_int_equal(*card.args.ticket, 0);
	}
	kripke_problem_fini(&cpu);
	kripke_problem_fini(&card);
}

/* All octants, unequal axes, sizes that do not fill waves and workgroups. */
static void kernels_equal_cpu(void **state)
{
	struct kripke_options options;

	kripke_defaults(&options);
	memcpy(options.zones, (uint32_t[]){ 5, 4, 7 }, sizeof(options.zones));
	options.groups = 3;
	options.legendre = 2;
	options.polar = 4;
	options.azimuthal = 6;
	options.directions = 24;
	compare(&options);
	memcpy(options.zones, (uint32_t[]){ 1, 9, 2 }, sizeof(options.zones));
	options.groups = 1;
	options.legendre = 0;
	options.polar = 0;
	options.directions = 8;
	compare(&options);
}

static void bad_options_are_refused(void **state)
{
	struct kripke_options good, bad;

	kripke_defaults(&good);
	bad = good;
	bad.zones[1] = 0;
	assert_non_null(kripke_problem_check(&bad));
	bad = good;
	bad.groups = 0;
	assert_non_null(kripke_problem_check(&bad));
	bad = good;
	bad.directions = 12;
	assert_non_null(kripke_problem_check(&bad));
	bad = good;
	bad.polar = 6;
	bad.azimuthal = 8;
	assert_non_null(kripke_problem_check(&bad));
	bad = good;
	bad.legendre = 17;
	assert_non_null(kripke_problem_check(&bad));
}

/* Whichever allocation fails, nothing is kept (the sanitizer build sees leaks). */
static void out_of_memory_is_survived(void **state)
{
	struct kripke_options options;

	kripke_defaults(&options);
	memcpy(options.zones, (uint32_t[]){ 2, 2, 2 }, sizeof(options.zones));
	for (unsigned fail = 0;; fail++) {
		unsigned left = fail;
		struct kripke_problem problem = { .alloc = alloc, .free = release, .context = &left };

		if (kripke_problem_init(&problem, &options)) {
			kripke_problem_fini(&problem);
			assert_true(fail > 10);
			return;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_problem_counts_as_published),
		cmocka_unit_test(counts_converge),
		cmocka_unit_test(quadrature_is_exact),
		cmocka_unit_test(kernels_equal_cpu),
		cmocka_unit_test(bad_options_are_refused),
		cmocka_unit_test(out_of_memory_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

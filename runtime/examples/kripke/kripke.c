/* SPDX-License-Identifier: MIT */
/* Kripke's loop on Tutti: six kernels an iteration, launched in three ways. See kripke.h. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "report.h"

struct settings {
	struct kripke_options problem;
	bool launch[KRIPKE_LAUNCHES];
	bool check;
	bool json;
	bool count; /* soft-core instructions */
};

/* Results to compare with: those of the CPU, or else of the first run. */
struct baseline {
	double *psi;
	double *counts;
	size_t psi_bytes;
	const char *name; /* NULL: nothing yet */
	double seconds;   /* that the CPU took */
};

static void usage(FILE *file)
{
	fputs("usage: kripke [options]\n"
	      "\n"
	      "Discrete-ordinates transport after the published description of LLNL's Kripke:\n"
	      "six kernels an iteration, all on the card.\n"
	      "\n"
	      "Problem (as in the original):\n"
	      "  --zones X,Y,Z      zones along each axis (16,16,16)\n"
	      "  --groups N         energy groups (32)\n"
	      "  --legendre N       scattering Legendre order (4)\n"
	      "  --quad N           S2 points repeated to N directions, or\n"
	      "  --quad P:A         Gauss-Legendre, P polar by A azimuthal angles (96)\n"
	      "  --sigt A,B,C       total cross-sections (0.1,0.0001,0.1)\n"
	      "  --sigs A,B,C       scattering cross-sections (0.05,0.00005,0.05)\n"
	      "  --niter N          iterations (10)\n"
	      "  --small            a problem for the emulator: zones 8,8,8, groups 16,\n"
	      "                     legendre 2, quad 4:8; later options change it\n"
	      "Launching:\n"
	      "  --launch MODE      plain, reference or condensed (all three, one after the other)\n"
	      "  --check            run the plain C version on the CPU too and compare bit for bit\n"
	      "  --no-count         do not count soft-core instructions\n"
	      "  --json             one JSON object a line for each mode, nothing else\n"
	      "  --help             this text\n"
	      "\n"
	      "exit status: 0 all results equal, 1 not, 2 wrong usage\n", file);
}

static int wrong(const char *option, const char *value)
{
	fprintf(stderr, "kripke: bad value for --%s: %s; try --help\n", option, value);
	return 2;
}

static bool parse_number(const char *text, uint32_t *value)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	*value = (uint32_t)number;
	return *text >= '0' && *text <= '9' && !*end && !errno && number <= UINT32_MAX;
}

static bool parse_triple(const char *text, double value[3])
{
	char end;

	return sscanf(text, "%lf,%lf,%lf%c", &value[0], &value[1], &value[2], &end) == 3 && isfinite(value[0]) &&
	       isfinite(value[1]) && isfinite(value[2]);
}

static bool parse_zones(const char *text, uint32_t zones[3])
{
	char part[3][16], end;

	/* %u would take numbers that are too large modulo 2^32 */
	return sscanf(text, "%15[0-9],%15[0-9],%15[0-9]%c", part[0], part[1], part[2], &end) == 3 &&
	       parse_number(part[0], &zones[0]) && parse_number(part[1], &zones[1]) && parse_number(part[2], &zones[2]);
}

static bool parse_quad(const char *text, struct kripke_options *problem)
{
	char end;

	problem->polar = problem->azimuthal = 0;
	if (!strchr(text, ':'))
		return parse_number(text, &problem->directions);
	if (sscanf(text, "%u:%u%c", &problem->polar, &problem->azimuthal, &end) != 2)
		return false;
	problem->directions = problem->polar * problem->azimuthal;
	return problem->polar && problem->polar <= 4096 && problem->azimuthal <= 4096;
}

static bool parse_launch(const char *text, bool launch[KRIPKE_LAUNCHES])
{
	bool known = false;

	for (unsigned l = 0; l < KRIPKE_LAUNCHES; l++) {
		launch[l] = !strcmp(text, kripke_launch_name[l]) || !strcmp(text, "all");
		known |= launch[l];
	}
	return known;
}

static void small(struct kripke_options *problem)
{
	problem->zones[0] = problem->zones[1] = problem->zones[2] = 8;
	problem->groups = 16;
	problem->legendre = 2;
	parse_quad("4:8", problem);
}

static bool parse_option(int option, const char *value, struct settings *settings)
{
	struct kripke_options *problem = &settings->problem;

	switch (option) {
	case 'z':
		return parse_zones(value, problem->zones);
	case 'g':
		return parse_number(value, &problem->groups);
	case 'l':
		return parse_number(value, &problem->legendre);
	case 'q':
		return parse_quad(value, problem);
	case 't':
		return parse_triple(value, problem->sigt);
	case 's':
		return parse_triple(value, problem->sigs);
	case 'n':
		return parse_number(value, &problem->iterations) && problem->iterations <= 1000000;
	case 'L':
		return parse_launch(value, settings->launch);
	case 'S':
		small(problem);
		return true;
	case 'c':
		settings->check = true;
		return true;
	case 'C':
		settings->count = false;
		return true;
	case 'j':
		settings->json = true;
		return true;
	}
	return false;
}

/* 0: go on; otherwise the exit status plus one. */
static int parse(int argc, char **argv, struct settings *settings)
{
	static const struct option options[] = {
		{ "zones", required_argument, NULL, 'z' },    { "groups", required_argument, NULL, 'g' },
		{ "legendre", required_argument, NULL, 'l' }, { "quad", required_argument, NULL, 'q' },
		{ "sigt", required_argument, NULL, 't' },     { "sigs", required_argument, NULL, 's' },
		{ "niter", required_argument, NULL, 'n' },    { "launch", required_argument, NULL, 'L' },
		{ "small", no_argument, NULL, 'S' },	      { "check", no_argument, NULL, 'c' },
		{ "no-count", no_argument, NULL, 'C' },	      { "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },	      { NULL, 0, NULL, 0 }
	};
	const char *problem;
	int option, index = 0;

	while ((option = getopt_long(argc, argv, "h", options, &index)) != -1) {
		if (option == 'h') {
			usage(stdout);
			return 1;
		}
		if (option == '?') {
			fprintf(stderr, "kripke: try --help\n");
			return 3;
		}
		if (!parse_option(option, optarg, settings))
			return 1 + wrong(options[index].name, optarg ? optarg : "");
	}
	problem = optind < argc ? "unexpected argument" : kripke_problem_check(&settings->problem);
	if (problem)
		fprintf(stderr, "kripke: %s; try --help\n", problem);
	return problem ? 3 : 0;
}

static void *cpu_alloc(void *context, size_t bytes)
{
	return calloc(1, bytes);
}

static void cpu_free(void *context, void *memory)
{
	free(memory);
}

/* Keep results for comparison. @psi is copied. */
static bool baseline_set(struct baseline *baseline, const char *name, const struct kripke_args *args,
			 const double *counts, unsigned iterations)
{
	baseline->psi_bytes = (uint64_t)args->directions * args->groups * args->zone_count * sizeof(double);
	baseline->psi = malloc(baseline->psi_bytes);
	baseline->counts = calloc(iterations + 1, sizeof(double));
	if (!baseline->psi || !baseline->counts)
		return false;
	memcpy(baseline->psi, args->psi, baseline->psi_bytes);
	memcpy(baseline->counts, counts, iterations * sizeof(double));
	baseline->name = name;
	return true;
}

/* Compute the problem on the CPU. */
static bool run_cpu(const struct settings *settings, struct baseline *baseline)
{
	struct kripke_problem problem = { .alloc = cpu_alloc, .free = cpu_free };
	double *counts = calloc(settings->problem.iterations + 1, sizeof(*counts));
	bool done = false;

	if (!counts || !kripke_problem_init(&problem, &settings->problem)) {
		free(counts);
		return false;
	}
	if (!settings->json)
		printf("\nCPU\n");
	for (unsigned i = 0; i < settings->problem.iterations; i++) {
		double start = kripke_seconds();

		counts[i] = kripke_cpu_iterate(&problem.args);
		baseline->seconds += kripke_seconds() - start;
		if (!settings->json)
			kripke_report_iteration(i, counts[i], i ? counts[i - 1] : 0.0);
	}
	done = baseline_set(baseline, "CPU", &problem.args, counts, settings->problem.iterations);
	kripke_problem_fini(&problem);
	free(counts);
	return done;
}

static void compare(const struct baseline *baseline, const struct kripke_args *args, struct kripke_run *run)
{
	bool equal = !memcmp(baseline->psi, args->psi, baseline->psi_bytes) &&
		     !memcmp(baseline->counts, run->counts, run->cost.iterations * sizeof(double));

	run->against = baseline->name;
	run->verdict = equal ? KRIPKE_EQUAL : KRIPKE_DIFFERENT;
}

/* Run one launch mode from the initial fields. */
static void run_card(const struct settings *settings, struct kripke_card *card, struct baseline *baseline,
		     struct kripke_run *run)
{
	const struct kripke_args *args = &kripke_card_problem(card)->args;
	int error = kripke_card_start(card, run->launch);

	if (!settings->json)
		printf("\nCard, launch=%s\n", kripke_launch_name[run->launch]);
	for (unsigned i = 0; i < settings->problem.iterations && !error; i++) {
		error = kripke_card_iterate(card, &run->counts[i]);
		if (!settings->json && !error)
			kripke_report_iteration(i, run->counts[i], i ? run->counts[i - 1] : 0.0);
	}
	kripke_card_stop(card, &run->cost);
	run->cpu_seconds = baseline->seconds;
	run->verdict = error ? KRIPKE_FAILED : KRIPKE_FIRST;
	if (error)
		fprintf(stderr, "kripke: launch=%s: %s\n", kripke_launch_name[run->launch], tutti_strerror(error));
	else if (baseline->name)
		compare(baseline, args, run);
	else
		baseline_set(baseline, kripke_launch_name[run->launch], args, run->counts, run->cost.iterations);
}

/* A warning, because a large problem takes minutes on the emulated card. */
static void warn_slow(struct tutti_device *device, const struct kripke_options *options)
{
	const double zones = (double)options->zones[0] * options->zones[1] * options->zones[2];
	const double moments = (options->legendre + 1.0) * (options->legendre + 1.0);
	const double sums = zones * options->groups * (moments * (2.0 * options->directions + 2.0 * options->groups) +
						       6.0 * options->directions);

	if (tutti_device_discovery(device)->features & TUTTI_FEATURE_EMULATED && sums > 2e8)
		fprintf(stderr, "kripke: on the emulated card an iteration of this problem takes about %.0f s; "
			"--small is a problem of its size\n", sums * 6e-9);
}

static int run_all(const struct settings *settings, struct kripke_card *card, struct baseline *baseline)
{
	struct kripke_run runs[KRIPKE_LAUNCHES] = { 0 };
	unsigned count = 0;
	int status = 0;

	for (enum kripke_launch l = 0; l < KRIPKE_LAUNCHES; l++) {
		if (!settings->launch[l])
			continue;
		runs[count].launch = l;
		runs[count].counts = calloc(settings->problem.iterations + 1, sizeof(double));
		if (!runs[count].counts)
			return 1;
		run_card(settings, card, baseline, &runs[count]);
		status |= runs[count].verdict == KRIPKE_DIFFERENT || runs[count].verdict == KRIPKE_FAILED;
		count++;
	}
	if (settings->json)
		kripke_report_json(&settings->problem, runs, count);
	else
		kripke_report_table(runs, count);
	for (unsigned i = 0; i < count; i++)
		free(runs[i].counts);
	return status;
}

int main(int argc, char **argv)
{
	struct settings settings = { .launch = { true, true, true }, .count = true };
	struct tutti_device_options options = { 0 };
	struct baseline baseline = { 0 };
	struct tutti_device *device;
	struct kripke_card *card;
	int status;

	kripke_defaults(&settings.problem);
	status = parse(argc, argv, &settings);
	if (status)
		return status - 1;
	options.count = settings.count;
	status = tutti_device_open(&options, &device);
	if (status) {
		fprintf(stderr, "kripke: cannot open the card: %s\n", tutti_strerror(status));
		return 1;
	}
	if (!settings.json)
		kripke_report_problem(&settings.problem);
	warn_slow(device, &settings.problem);
	card = kripke_card_create(device, &settings.problem);
	if (!card || (settings.check && !run_cpu(&settings, &baseline)))
		status = 1;
	else
		status = run_all(&settings, card, &baseline);
	if (card)
		kripke_card_destroy(card);
	free(baseline.psi);
	free(baseline.counts);
	tutti_device_close(device);
	return status;
}

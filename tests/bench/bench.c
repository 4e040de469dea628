/* SPDX-License-Identifier: MIT */
/* tutti-bench, the program behind `tutti bench`: measures, prints a table, writes JSON. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct {
	const char *id;
	int (*run)(struct bench *bench);
	const char *text;
} groups[] = {
	{ "PERF-01", bench_firmware, "soft-core instructions from packet to task record" },
	{ "PERF-02", bench_host, "host time per kernel in a replay" },
	{ "POCL", bench_opencl, "PoCL in this process, the peer of PERF-03 and 13" },
	{ "PERF-03", bench_launch, "latency of an empty kernel, kernels per second" },
	{ "XRT", bench_xrt, "Xilinx XRT's own start and wait of a kernel, without a card, beside PERF-02 and 03" },
	{ "PERF-04", bench_place, "instructions to place workgroups; growth (PERF-06); free runs (PERF-08)" },
	{ "PERF-05", bench_cga, "soft-core instructions of placing CGAs (and PERF-06)" },
	{ "PERF-07", bench_tmau, "instructions of tensor requests (and PERF-14)" },
	{ "PERF-11", bench_task, "instructions of a replayed kernel of 1024 workgroups, packet to launch message" },
	{ "PERF-12", bench_way, "instructions of the whole way of a kernel, doorbell to completion" },
	{ "PERF-06", bench_growth, "instructions of a kernel by number of workgroup shapes and of queues" },
	{ "PERF-09", bench_card, "boot, empty workgroups per second, copies" },
	{ "PERF-13", bench_kernels, "kernels against the same C of the host's compiler" },
	{ "HSA", bench_hsa, "a launch through the HSA runtime, against libtutti's" },
	{ "TMAU", bench_tensor, "tiles against memcpy (PERF-09, PERF-14), matrix product with and without TMAU" },
};
#define GROUPS (sizeof(groups) / sizeof(*groups))

/* Groups that another one is measured with. */
static const struct {
	const char *id, *with;
} needs[] = {
	{ "PERF-03", "POCL" },
	{ "PERF-13", "POCL" },
	{ "PERF-14", "PERF-07" },
};

static bool is_of(size_t group, const char *id)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (!strcmp(id, needs[i].id) && !strcmp(groups[group].id, needs[i].with))
			return true;
	return !strcmp(id, groups[group].id);
}

static void usage(void)
{
	puts("usage: tutti bench [--quick] [--profile] [--where] [--output FILE] [--only ID]\n\n"
	     "  --quick        fewer repetitions\n"
	     "  --profile      PERF-01, PERF-07, PERF-12: instructions of every firmware function; * counts, r reads records\n"
	     "  --where        PERF-12: instructions by unit of the firmware\n"
	     "  --output FILE  JSON, one object a line (build/bench.json when there is build/, else bench.json)\n"
	     "  --only ID      one group:\n");
	for (size_t g = 0; g < GROUPS; g++)
		printf("                   %-8s %s\n", groups[g].id, groups[g].text);
	puts("\nTimes on a shared machine are noise; instruction counts are exact. A target missed is\n"
	     "no failure of the benchmark: the exit status is 0 when everything could be measured.");
}

static bool met(double value, double target, enum bench_better better)
{
	return better == BENCH_LOWER ? value <= target : value >= target;
}

void bench_report(struct bench *bench, const char *id, const char *name, double value, const char *unit, double target,
		  enum bench_better better)
{
	const char *verdict = isnan(target) ? "" : met(value, target, better) ? "met" : "MISSED";
	char goal[48] = "";
	char wanted[32] = "null";

	if (!isnan(target)) {
		snprintf(goal, sizeof(goal), "%s %.6g", better == BENCH_LOWER ? "<=" : ">=", target);
		snprintf(wanted, sizeof(wanted), "%.9g", target);
	}
	printf("%-8s %-34s %14.6g %-22s %-18s %s\n", id, name, value, unit, goal, verdict);
	fflush(stdout);
	if (bench->json)
		fprintf(bench->json,
			"{\"id\":\"%s\",\"case\":\"%s\",\"value\":%.9g,\"unit\":\"%s\",\"target\":%s,\"better\":\"%s\"}\n",
			id, name, value, unit, wanted, better == BENCH_LOWER ? "lower" : "higher");
	bench->results++;
	bench->missed += *verdict == 'M';
}

int bench_failed(struct bench *bench, const char *id, const char *name, const char *why)
{
	printf("%-8s %-34s %14s %s\n", id, name, "-", why);
	fflush(stdout);
	return -EIO;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

double bench_median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

static int run(struct bench *bench, const char *only)
{
	int failed = 0;

	printf("%-8s %-34s %14s %-22s %-18s\n", "id", "case", "value", "unit", "target");
	for (size_t g = 0; g < GROUPS; g++)
		if (!only || is_of(g, only))
			failed |= groups[g].run(bench) < 0;
	printf("%u results, %u targets missed%s\n", bench->results, bench->missed,
	       failed ? "; NOT everything could be measured" : "");
	return failed ? EXIT_FAILS : EXIT_WORKS;
}

static bool known(const char *id)
{
	for (size_t g = 0; g < GROUPS; g++)
		if (is_of(g, id))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quick", no_argument, NULL, 'q' },	  { "profile", no_argument, NULL, 'p' },
		{ "where", no_argument, NULL, 'w' },
		{ "output", required_argument, NULL, 'o' },
		{ "only", required_argument, NULL, 'i' }, { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	const char *output = NULL, *only = NULL;
	struct bench bench = { 0 };
	int option, status;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		bench.quick |= option == 'q';
		bench.profile |= option == 'p';
		bench.where |= option == 'w';
		if (option == 'o')
			output = optarg;
		if (option == 'i')
			only = optarg;
		if (option == 'h') {
			usage();
			return EXIT_WORKS;
		}
		if (option == '?')
			return EXIT_USAGE;
	}
	if (optind < argc || (only && !known(only)))
		return tool_usage_error("bench", "no group \"%s\"", only ? only : argv[optind]);
	if (output)
		bench.json = fopen(output, "w");
	else if (!(bench.json = fopen("build/bench.json", "w")))
		bench.json = fopen("bench.json", "w");
	if (!bench.json) {
		fprintf(stderr, "tutti bench: %s: %s\n", output ? output : "bench.json", strerror(errno));
		return EXIT_FAILS;
	}
	status = run(&bench, only);
	fclose(bench.json);
	return status;
}

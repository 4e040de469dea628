/* SPDX-License-Identifier: MIT */
/* A launch through the HSA runtime against one through libtutti. The program hsa_launch measures both. */
#include <stdio.h>

#include "bench.h"

int bench_hsa(struct bench *bench)
{
	double through_hsa, own, ratio;
	char command[8192], library[4096];
	FILE *program;
	int found;

	/* tool_sibling() has one buffer */
	snprintf(library, sizeof(library), "%s", tool_sibling("hsa"));
	snprintf(command, sizeof(command), "LD_LIBRARY_PATH='%s' '%s'", library, tool_sibling("tests/bench/hsa/hsa_launch"));
	program = popen(command, "r");
	found = program ? fscanf(program, "%lf %lf %lf", &through_hsa, &own, &ratio) : 0;
	if (program)
		pclose(program);
	if (found != 3)
		return bench_failed(bench, "HSA", "launch", "hsa_launch does not run");
	bench_report(bench, "HSA", "launch", through_hsa, "us", BENCH_NO_TARGET, BENCH_LOWER);
	bench_report(bench, "HSA", "launch_of_libtutti", own, "us", BENCH_NO_TARGET, BENCH_LOWER);
	bench_report(bench, "HSA", "launch_ratio", ratio, "ratio", 1.2, BENCH_LOWER);
	return 0;
}

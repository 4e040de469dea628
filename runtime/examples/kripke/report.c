/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "report.h"

static const char *const verdict_name[] = { "first", "equal", "DIFFERENT", "FAILED" };

void kripke_report_problem(const struct kripke_options *options)
{
	printf("Problem: zones %u x %u x %u, groups %u, Legendre order %u, ", options->zones[0], options->zones[1],
	       options->zones[2], options->groups, options->legendre);
	if (options->polar)
		printf("quadrature Gauss-Legendre %u x %u (%u directions)\n", options->polar, options->azimuthal,
		       options->directions);
	else
		printf("quadrature S2 with %u points\n", options->directions);
	printf("Physics: sigt=[%f, %f, %f] sigs=[%f, %f, %f], %u iterations, %.1f MB\n", options->sigt[0],
	       options->sigt[1], options->sigt[2], options->sigs[0], options->sigs[1], options->sigs[2],
	       options->iterations, kripke_problem_bytes(options) / 1e6);
}

void kripke_report_iteration(unsigned iteration, double count, double last)
{
	printf("  iter %u: particle count=%e, change=%e\n", iteration, count, (count - last) / count);
	fflush(stdout);
}

static double per(double value, unsigned count)
{
	return count ? value / count : 0.0;
}

void kripke_report_table(const struct kripke_run *runs, unsigned count)
{
	printf("\n%-10s %7s %7s %7s   %-25s %9s %12s %8s  %s\n", "", "kernels", "packets", "bytes",
	       "per iteration, after the", "host", "soft-core", "wall", "");
	printf("%-10s %7s %7s %7s   %-25s %9s %12s %8s  %s\n", "mode", "in all", "written", "written",
	       "first: packets fences sig", "ns/kernel", "instr/kernel", "seconds", "results");
	for (unsigned r = 0; r < count; r++) {
		const struct kripke_cost *cost = &runs[r].cost;
		unsigned kernels = cost->kernels * cost->steady;
		char instructions[32] = "not counted";

		if (cost->instructions)
			snprintf(instructions, sizeof(instructions), "%.1f", per((double)cost->instructions, kernels));
		printf("%-10s %7u %7llu %7llu   %7s%7.1f %6.1f %3.1f %9.1f %12s %8.3f  %s%s%s\n",
		       kripke_launch_name[runs[r].launch], cost->kernels * cost->iterations,
		       (unsigned long long)cost->packets, (unsigned long long)cost->bytes, "",
		       per((double)cost->processed, cost->steady), per((double)cost->fences, cost->steady),
		       per((double)cost->signals, cost->steady), per(cost->enqueue_ns, kernels), instructions,
		       cost->wall_seconds, verdict_name[runs[r].verdict], runs[r].against ? " to " : "",
		       runs[r].against ? runs[r].against : "");
	}
}

void kripke_report_json(const struct kripke_options *options, const struct kripke_run *runs, unsigned count)
{
	for (unsigned r = 0; r < count; r++) {
		const struct kripke_cost *cost = &runs[r].cost;
		unsigned kernels = cost->kernels * cost->steady;

		printf("{\"mode\":\"%s\",\"zones\":[%u,%u,%u],\"groups\":%u,\"legendre\":%u,\"directions\":%u,",
		       kripke_launch_name[runs[r].launch], options->zones[0], options->zones[1], options->zones[2],
		       options->groups, options->legendre, options->directions);
		printf("\"iterations\":%u,\"kernels\":%u,\"packets_written\":%llu,\"bytes_written\":%llu,",
		       cost->iterations, cost->kernels * cost->iterations, (unsigned long long)cost->packets,
		       (unsigned long long)cost->bytes);
		printf("\"packets_per_iteration\":%g,\"fences_per_iteration\":%g,\"signals_per_iteration\":%g,",
		       per((double)cost->processed, cost->steady), per((double)cost->fences, cost->steady),
		       per((double)cost->signals, cost->steady));
		printf("\"host_ns_per_kernel\":%.2f,\"soft_core_instructions_per_kernel\":%.2f,\"wall_seconds\":%.6f,",
		       per(cost->enqueue_ns, kernels), per((double)cost->instructions, kernels), cost->wall_seconds);
		printf("\"results\":\"%s\",\"particle_counts\":[", verdict_name[runs[r].verdict]);
		for (unsigned i = 0; i < cost->iterations; i++)
			printf("%s%.17g", i ? "," : "", runs[r].counts[i]);
		printf("]}\n");
	}
}

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
	printf("\n%-10s %8s %8s %8s  %22s %10s  %18s %8s\n", "", "kernels", "packets", "bytes", "each iteration but 1st:",
	       "host", "soft-core instr.", "wall");
	printf("%-10s %8s %8s %8s  %8s %7s %7s %10s  %8s %9s %8s  %s\n", "mode", "in all", "written", "written", "packets",
	       "fences", "signals", "ns/kernel", "packet", "in all", "seconds", "results");
	for (unsigned r = 0; r < count; r++) {
		const struct kripke_cost *cost = &runs[r].cost;
		unsigned kernels = cost->kernels * cost->steady;

		printf("%-10s %8u %8llu %8llu  %8.1f %7.1f %7.1f %10.1f  ", kripke_launch_name[runs[r].launch],
		       cost->kernels * cost->iterations, (unsigned long long)cost->packets,
		       (unsigned long long)cost->bytes, per((double)cost->processed, cost->steady),
		       per((double)cost->fences, cost->steady), per((double)cost->signals, cost->steady),
		       per(cost->enqueue_ns, cost->kernels));
		if (cost->instructions)
			printf("%8.1f %9.0f ", per((double)cost->packet_instructions, kernels),
			       per((double)cost->instructions, kernels));
		else
			printf("%8s %9s ", "-", "-");
		printf("%8.3f  %s%s%s\n", cost->wall_seconds, verdict_name[runs[r].verdict],
		       runs[r].against ? " to " : "", runs[r].against ? runs[r].against : "");
	}
	if (count && runs[0].cpu_seconds > 0)
		printf("plain C on one CPU core: %.3f seconds\n", runs[0].cpu_seconds);
	printf("soft-core instr. are per kernel: from packet to launch; and in all, with placing and completing workgroups\n");
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
		printf("\"host_ns_per_kernel\":%.2f,\"packet_instructions_per_kernel\":%.2f,"
		       "\"soft_core_instructions_per_kernel\":%.2f,\"wall_seconds\":%.6f,",
		       per(cost->enqueue_ns, cost->kernels), per((double)cost->packet_instructions, kernels), per((double)cost->instructions, kernels), cost->wall_seconds);
		if (runs[r].cpu_seconds > 0)
			printf("\"cpu_seconds\":%.6f,", runs[r].cpu_seconds);
		printf("\"results\":\"%s\",\"particle_counts\":[", verdict_name[runs[r].verdict]);
		for (unsigned i = 0; i < cost->iterations; i++)
			printf("%s%.17g", i ? "," : "", runs[r].counts[i]);
		printf("]}\n");
	}
}

/* SPDX-License-Identifier: MIT */
#include "counts.h"

#include <stdio.h>

void counts_take(struct tutti_card *card, struct counts *counts)
{
	counts->n = tutti_card_profile(card, counts->function, COUNTS_FUNCTIONS);
	if (counts->n > COUNTS_FUNCTIONS)
		counts->n = COUNTS_FUNCTIONS;
	counts->all = tutti_card_instructions(card);
}

void counts_leave_out(struct counts *counts, const struct counts *before, const struct counts *after)
{
	for (size_t f = 0; f < counts->n; f++) {
		struct tutti_card_function *sum = &counts->function[f];
		const struct tutti_card_function *then = &before->function[f], *now = &after->function[f];

		sum->instructions += now->instructions - then->instructions;
		sum->calls += now->calls - then->calls;
		sum->cycles += now->cycles - then->cycles;
		sum->divisions += now->divisions - then->divisions;
	}
	counts->all += after->all - before->all;
}

/* Negative if something rare, such as the wrap of the command ring, happened in what is left out and not in the rest. */
static double more(uint64_t after, uint64_t before)
{
	return (double)(int64_t)(after - before);
}

void counts_spent(const struct counts *before, const struct counts *after, double weight, struct spent *spent)
{
	for (size_t f = 0; f < after->n; f++) {
		const struct tutti_card_function *function = &after->function[f];
		int unit = unit_of(function->name, function->address);
		double cycles = weight * more(function->cycles, before->function[f].cycles);

		spent->all_cycles += cycles;
		if (unit < 0)
			continue;
		spent->unit[unit] += weight * more(function->instructions, before->function[f].instructions);
		spent->cycles[unit] += cycles;
		if (unit != UNIT_HOST && unit != UNIT_IDLE)
			spent->divisions += weight * more(function->divisions, before->function[f].divisions);
	}
	spent->all += weight * more(after->all, before->all);
}

bool counts_units_known(const struct counts *counts)
{
	const char *unused = unit_unused();
	bool known = !unused;

	for (size_t f = 0; f < counts->n; f++)
		if (unit_of(counts->function[f].name, counts->function[f].address) < 0) {
			printf("           the function %s has no unit\n", counts->function[f].name);
			known = false;
		}
	if (unused)
		printf("           the table of units has a line for %s, which the firmware does not contain\n", unused);
	return known;
}

void counts_print(const struct spent *spent)
{
	bool done[UNITS] = { false };

	for (unsigned i = 0; i < UNITS; i++) {
		unsigned most = UNITS;

		for (unsigned u = 0; u < UNITS; u++)
			if (!done[u] && spent->unit[u] && (most == UNITS || spent->unit[u] > spent->unit[most]))
				most = u;
		if (most == UNITS)
			break;
		done[most] = true;
		printf("           %-12s %10.2f instructions %10.2f cycles\n", unit_names[most], spent->unit[most],
		       spent->cycles[most]);
	}
}

void counts_print_functions(const struct counts *before, const struct counts *after, double kernels)
{
	for (size_t f = 0; f < after->n; f++) {
		const struct tutti_card_function *function = &after->function[f];
		double spent = more(function->instructions, before->function[f].instructions);
		int unit = unit_of(function->name, function->address);

		if (spent != 0)
			printf("           %-12s %-30s %10.2f in %8.3f calls\n", unit < 0 ? "?" : unit_names[unit], function->name,
			       spent / kernels, more(function->calls, before->function[f].calls) / kernels);
	}
}

void counts_print_divisions(const struct counts *before, const struct counts *after, double kernels)
{
	for (size_t f = 0; f < after->n; f++)
		if (after->function[f].divisions != before->function[f].divisions)
			printf("           %-30s %10.2f divisions\n", after->function[f].name,
			       more(after->function[f].divisions, before->function[f].divisions) / kernels);
}

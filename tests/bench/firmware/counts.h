/* SPDX-License-Identifier: MIT */
/** DOC: The counts of all functions of the firmware at one moment, and what was spent between two moments */
#ifndef BENCH_COUNTS_H
#define BENCH_COUNTS_H

#include "emulator/card/card.h"
#include "units.h"

#define COUNTS_FUNCTIONS 1024

/** struct counts - @all: all instructions of the soft core, also those of no function. */
struct counts {
	struct tutti_card_function function[COUNTS_FUNCTIONS];
	size_t n;
	uint64_t all;
};

/**
 * struct spent - instructions and, on the core of emulator/core/cost.c, cycles by unit.
 * @divisions: without those of the driver's messages and of the heartbeat
 */
struct spent {
	double all, unit[UNITS];
	double all_cycles, cycles[UNITS];
	double divisions;
};

void counts_take(struct tutti_card *card, struct counts *counts);
/**
 * counts_leave_out() - add to @counts what was spent between @before and @after, so that it is subtracted from what comes
 * later. @counts and @after may be the same.
 */
void counts_leave_out(struct counts *counts, const struct counts *before, const struct counts *after);
/** counts_spent() - add what was spent between @before and @after, which come from one card, times @weight. */
void counts_spent(const struct counts *before, const struct counts *after, double weight, struct spent *spent);
/** counts_units_known() - has each function of the firmware a unit? Names those without on the standard output. */
bool counts_units_known(const struct counts *counts);
/** counts_print() - instructions and cycles by unit, those first that spend most. */
void counts_print(const struct spent *spent);
/** counts_print_functions() - each function that ran, divided by @kernels. */
void counts_print_functions(const struct counts *before, const struct counts *after, double kernels);

/** counts_print_divisions() - how often each function divided or took a remainder, for each of @kernels. */
void counts_print_divisions(const struct counts *before, const struct counts *after, double kernels);

#endif

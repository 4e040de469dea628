/* SPDX-License-Identifier: MIT */
/** DOC: Which functions of the firmware a visit spends its instructions in */
#ifndef COMBINE_BACKEND_COST_H
#define COMBINE_BACKEND_COST_H

#include <stdio.h>

#include "cpu.h"
#include "tutti/contract.h"

/** cost_begin() - count the instructions of each function of @image from now on. */
void cost_begin(struct cpu *cpu, const struct tutti_image *image);
/** cost_end() - stop counting. @keep: cost_print() is to print these counts rather than those kept before */
void cost_end(struct cpu *cpu, bool keep);
/** cost_print() - print the most expensive functions of the counts that were kept to @file, and forget them. */
void cost_print(FILE *file, uint64_t instructions);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Output of kernels */
#ifndef TUTTI_EMULATOR_WAVES_PRINT_H
#define TUTTI_EMULATOR_WAVES_PRINT_H

#include "emulator/unicorn/hart.h"

/** print_text() - what a wave prints. Return: 0 or an error for the wave. */
int64_t print_text(struct hart *hart, uint64_t text, uint64_t bytes);

#endif

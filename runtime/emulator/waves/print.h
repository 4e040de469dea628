/* SPDX-License-Identifier: MIT */
/** DOC: What kernels print */
#ifndef TUTTI_EMULATOR_WAVES_PRINT_H
#define TUTTI_EMULATOR_WAVES_PRINT_H

#include "emulator/hart/hart.h"

/** print_text() - put text of the running wave into its context's print ring. Return: 0 or an error for the wave. */
int64_t print_text(struct hart *hart, uint64_t text, uint64_t bytes);

#endif

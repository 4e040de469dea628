/* SPDX-License-Identifier: MIT */
/** DOC: Hints to the compiler about which way a branch goes */
#ifndef TUTTI_EMULATOR_BASE_HINTS_H
#define TUTTI_EMULATOR_BASE_HINTS_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif

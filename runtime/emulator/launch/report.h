/* SPDX-License-Identifier: MIT */
/** DOC: Reports of completions and faults to the firmware, by events */
#ifndef TUTTI_EMULATOR_LAUNCH_REPORT_H
#define TUTTI_EMULATOR_LAUNCH_REPORT_H

#include "emulator/sm/array.h"

/** sm_array_report() - turn what has completed or faulted into events. Return: true if an event was put. */
bool sm_array_report(struct sm_array *array);

#endif

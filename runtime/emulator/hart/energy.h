/* SPDX-License-Identifier: MIT */
/** DOC: Instruction classes and energy of SMs, see energy.c */
#ifndef TUTTI_EMULATOR_ENERGY_H
#define TUTTI_EMULATOR_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#include "tutti/contract.h"

struct engine;
struct hart;
struct sm;
struct sm_array;

/** energy_init() - energies of the configuration, factors of the SMs. */
void energy_init(struct sm_array *array);
int energy_hart_init(struct hart *hart);
void energy_hart_fini(struct hart *hart);
/** energy_hart_forget() - code has changed. */
void energy_hart_forget(struct hart *hart);
/** energy_start() - the current wave of @hart is about to run. energy_count() - count what it has executed. */
void energy_start(struct hart *hart);
void energy_count(struct hart *hart);
/** energy_flush() - give what @engine has counted to its SM. */
void energy_flush(struct engine *engine);
/** energy_recent() - instructions of the last window. Return: there were some. */
bool energy_recent(struct sm_array *array, const struct sm *sm, uint32_t *recent);
/** energy_of_resources() - picojoules of one CTA's resources. */
uint64_t energy_of_resources(const struct sm_array *array, const struct tutti_task_state *state);
uint64_t energy_of_sm(const struct sm_array *array, const struct sm *sm);

#endif

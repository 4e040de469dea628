/* SPDX-License-Identifier: MIT */
/** DOC: HSAIL modules in their binary form (BRIG), as far as a program that never compiles them has to look at one */
#ifndef TUTTI_HSA_MODULE_H
#define TUTTI_HSA_MODULE_H

#include <hsa/hsa.h>
#include <stdbool.h>

/**
 * struct module - what a module says of itself.
 * @start, @bytes: all of it
 * @machine_model, @profile: for what it was made
 */
struct module {
	const void *start;
	size_t bytes;
	hsa_machine_model_t machine_model;
	hsa_profile_t profile;
};

/** module_read() - false if it is no module. Nothing outside of the size that it claims is looked at. */
bool module_read(const void *start, struct module *module);

#endif

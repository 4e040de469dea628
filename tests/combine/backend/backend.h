/* SPDX-License-Identifier: MIT */
/**
 * DOC: The firmware that the scenarios run on
 *
 * There are two programs, which differ in nothing else: `combine` has the firmware's logic built for the host
 * (host.c), `combine-image` the images that are shipped, on the processor of the emulated card (image.c).
 */
#ifndef COMBINE_BACKEND_H
#define COMBINE_BACKEND_H

#include <stdio.h>

#include "core/hal.h"

/**
 * struct backend - what a visit of the firmware costs.
 * @unit: in what it is counted
 * @limit: what no visit costs on a card of up to 144 SMs in 36 GPCs today; whoever comes nearer to @aim lowers this
 * @aim: what none should
 * @hangs: a visit that costs more has no end
 */
extern const struct backend {
	const char *unit;
	uint64_t limit, aim, hangs;
} backend;

/** backend_boot() - load the firmware, all of whose variables are then as after a reset, and boot it. */
void backend_boot(unsigned sms);
/** backend_event() - hand it an event, and wait until it is done with it. Return: the cost */
uint64_t backend_event(const struct tutti_event *event);
/** backend_memory() - local or card memory, at an address of the soft core. */
void *backend_memory(uint32_t address);
/**
 * backend_explain() - let the next backend_event() print to @file which functions the cost is made of.
 * Return: false: this program cannot do that
 */
bool backend_explain(FILE *file);

#endif

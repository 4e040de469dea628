/* SPDX-License-Identifier: MIT */
/** DOC: Which firmware functions belong to a packet: for Kripke's table and the benchmark PERF-01 */
#ifndef EXAMPLE_PACKET_COST_H
#define EXAMPLE_PACKET_COST_H

#include <stdint.h>

#include "tutti.h"

/** enum packet_stage - what a firmware function does for a packet. */
enum packet_stage {
	PACKET_OTHER,  /* launch, placement, completion, idling ... */
	PACKET_EXPAND, /* checks the packet in local memory, makes a task record of it */
	PACKET_READ,   /* reads a record's launch fields; a plain packet's record needs none */
};

/** packet_stage() - stage of the firmware function @name (firmware/README.md). */
enum packet_stage packet_stage(const char *name);
/** packet_cost() - soft-core instructions spent on packets since boot; 0 on a card that does not count. */
uint64_t packet_cost(struct tutti_device *device);

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: Which firmware functions belong to a packet: for PERF-01 and for Kripke's table */
#ifndef TUTTI_TOOL_PACKET_COST_H
#define TUTTI_TOOL_PACKET_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/card/card.h"

/** enum packet_stage - what a firmware function does for a packet. */
enum packet_stage {
	PACKET_OTHER,  /* launch, placement, completion, idling ... */
	PACKET_EXPAND, /* checks the packet in local memory, makes a task record of it */
	PACKET_READ,   /* reads a record's launch fields; a plain packet's record needs none */
};

/** packet_stage() - stage of the firmware function @name (firmware/README.md). */
enum packet_stage packet_stage(const char *name);
/** packet_cost() - soft-core instructions spent in @stage since boot; exact while counting is on. */
uint64_t packet_cost(struct tutti_card *card, enum packet_stage stage);

#endif

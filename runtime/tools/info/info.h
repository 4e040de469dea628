/* SPDX-License-Identifier: MIT */
/** DOC: What `tutti info` has read, and its forms */
#ifndef TUTTI_TOOLS_INFO_H
#define TUTTI_TOOLS_INFO_H

#include <jansson.h>
#include <stdbool.h>

#include "tutti.h"
#include "tutti/policy.h"

/** struct info - a card and what was asked for besides; NULL = that was not. */
struct info {
	struct tutti_device *device;
	const struct tutti_discovery *card;
	uint64_t *counters;
	struct tutti_sm_state *sm;
	char *log;
};

/** info_feature() - name of feature number @number if @set has it, "" if not, NULL behind the last one. */
const char *info_feature(unsigned number, uint64_t set);
/** info_instructions() - instructions of all classes that @sm has executed. */
uint64_t info_instructions(const struct tutti_sm_state *sm);
/** info_print_json() - all of @info as one JSON object on stdout. Return: an exit status. */
int info_print_json(const struct info *info);

/** bus_print() - what the card looks like on the PCI bus; nothing if it is on none. */
void bus_print(struct tutti_device *device);
/** bus_json() - the same as JSON; NULL if it is on none. */
json_t *bus_json(struct tutti_device *device);

#endif

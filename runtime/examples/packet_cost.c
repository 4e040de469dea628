/* SPDX-License-Identifier: MIT */
#include "packet_cost.h"

#include <string.h>

#include "tutti/profile.h"

/* By prefix: the compiler splits functions and adds suffixes. */
static const struct {
	const char *prefix;
	enum packet_stage stage;
} functions[] = {
	{ "packet_", PACKET_EXPAND },
	{ "refuse_sizes", PACKET_EXPAND },
	{ "required_ok", PACKET_EXPAND },
	{ "reference_keep", PACKET_EXPAND },
	{ "reference_replace", PACKET_EXPAND },
	{ "follow_alike", PACKET_EXPAND },
	{ "launch_next", PACKET_READ }, /* more than that: it makes the task as well */
	{ "launch_changed", PACKET_READ },
	{ "launch_again", PACKET_READ }, /* so does this */
	{ "condensed_kernel", PACKET_READ },
	{ "condensed_", PACKET_EXPAND },
	{ "expand_", PACKET_EXPAND },
	{ "rare", PACKET_EXPAND },
	{ "derive_", PACKET_EXPAND },
	{ "patch", PACKET_EXPAND },
	{ "groups_ok", PACKET_EXPAND },
	{ "diff_units", PACKET_EXPAND },
	{ "table_", PACKET_EXPAND },
	{ "shape_capacity", PACKET_EXPAND },
	{ "kernel_slot", PACKET_EXPAND },
};

enum packet_stage packet_stage(const char *name)
{
	for (size_t f = 0; f < sizeof(functions) / sizeof(*functions); f++)
		if (!strncmp(name, functions[f].prefix, strlen(functions[f].prefix)))
			return functions[f].stage;
	return PACKET_OTHER;
}

static void add(void *sum, const char *name, uint64_t calls, uint64_t instructions)
{
	(void)calls;
	if (packet_stage(name) != PACKET_OTHER)
		*(uint64_t *)sum += instructions;
}

uint64_t packet_cost(struct tutti_device *device)
{
	uint64_t sum = 0;

	tutti_profile_each(device, add, &sum);
	return sum;
}

/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <stdbool.h>
#include <string.h>

const char *const unit_names[UNITS] = { "fetch",      "check",  "decode", "task",   "choose", "place", "message",
					"completion", "signal", "index",  "tensor", "idle",   "host",  "library" };

/* By prefix. The first line that fits decides, so single functions come before their file, and files before folders. */
static const struct rule {
	const char *file, *function;
	enum unit unit;
} rules[] = {
	{ "core/command_ring", "", UNIT_MESSAGE },
	{ "core/memory", "", UNIT_MESSAGE },
	{ "core/clock", "", UNIT_IDLE },
	{ "core/counters", "", UNIT_IDLE },
	{ "core/wait", "", UNIT_COMPLETION },
	{ "core/visit", "", UNIT_PLACE },
	{ "core/", "", UNIT_HOST },
	{ "groups/cga_search", "", UNIT_CHOOSE },
	{ "groups/nested_search", "", UNIT_CHOOSE },
	{ "groups/cga_query", "", UNIT_CHOOSE },
	{ "groups/query_cache", "", UNIT_CHOOSE },
	{ "groups/trial_launch", "", UNIT_PLACE },
	{ "groups/cga_ids", "", UNIT_PLACE },
	{ "groups/cga", "cga_event", UNIT_COMPLETION },
	{ "groups/cga", "", UNIT_PLACE },
	{ "groups/occupancy", "", UNIT_HOST },
	{ "packets/dispatch_packet", "", UNIT_CHECK },
	{ "packets/condensed_metadata", "", UNIT_CHECK },
	{ "packets/", "", UNIT_DECODE },
	{ "place/kernel_cache", "", UNIT_FETCH },
	{ "place/", "", UNIT_PLACE },
	{ "queues/launch_", "", UNIT_TASK },
	{ "queues/fetch_buffers", "", UNIT_FETCH },
	{ "queues/queue_timer", "", UNIT_FETCH },
	{ "queues/queue_life", "", UNIT_HOST },
	{ "queues/queue", "queue_run", UNIT_DECODE },
	{ "queues/queue", "queue_retire", UNIT_INDEX },
	{ "queues/queue", "report_progress", UNIT_INDEX },
	{ "queues/queue", "notify", UNIT_INDEX },
	{ "queues/queue", "queue_finished", UNIT_COMPLETION },
	{ "queues/queue", "finished_general", UNIT_COMPLETION },
	{ "queues/queue", "", UNIT_FETCH },
	{ "queues/", "", UNIT_DECODE },
	{ "tasks/issue_rounds", "", UNIT_CHOOSE },
	{ "tasks/priority_windows", "", UNIT_CHOOSE },
	{ "tasks/tie_lots", "", UNIT_CHOOSE },
	{ "tasks/patience", "", UNIT_CHOOSE },
	{ "tasks/task_start", "", UNIT_PLACE },
	{ "tasks/metadata", "tmd_write", UNIT_COMPLETION },
	{ "tasks/metadata", "tmd_end", UNIT_COMPLETION },
	{ "tasks/metadata", "tmd_fetch", UNIT_FETCH },
	{ "tasks/metadata", "tmd_event_fetch", UNIT_CHECK },
	{ "top/main", "metadata_fetched", UNIT_CHECK },
	{ "tasks/task_table", "clean_up", UNIT_SIGNAL },
	{ "tasks/task_table", "task_clean_up", UNIT_SIGNAL },
	{ "tasks/task_table", "", UNIT_COMPLETION },
	{ "tasks/", "", UNIT_TASK },
	{ "tensor/", "", UNIT_TENSOR },
	{ "top/express", "", UNIT_COMPLETION },
	{ "top/main", "", UNIT_IDLE },
	{ "top/heartbeat", "", UNIT_IDLE },
	{ "top/", "", UNIT_HOST },
	{ "libgcc", "", UNIT_LIBRARY },
};
#define RULES (sizeof(rules) / sizeof(*rules))

/** struct range - the code that a file of the firmware has at one place. */
struct range {
	uint32_t start, bytes;
	const char *file;
};

static const struct range usual[] = {
#include "ranges.inc"
};
static const struct range large[] = {
#include "ranges_large.inc"
};
static const struct range *ranges = usual, *ranges_end = usual + sizeof(usual) / sizeof(*usual);

void unit_image(unsigned sms)
{
	ranges = sms > 256 ? large : usual;
	ranges_end = ranges + (sms > 256 ? sizeof(large) : sizeof(usual)) / sizeof(*ranges);
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

int unit_of(const char *name, uint32_t address)
{
	const struct range *range = ranges;

	while (range < ranges_end && address - range->start >= range->bytes)
		range++;
	if (range == ranges_end)
		return -1;
	for (size_t r = 0; r < RULES; r++)
		if (begins(range->file, rules[r].file) && begins(name, rules[r].function))
			return (int)rules[r].unit;
	return -1;
}

const char *unit_unused(void)
{
	for (size_t r = 0; r < RULES; r++) {
		const struct range *range = ranges;

		while (range < ranges_end && !begins(range->file, rules[r].file))
			range++;
		if (range == ranges_end)
			return rules[r].file;
	}
	return NULL;
}

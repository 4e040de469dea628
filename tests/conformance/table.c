// SPDX-License-Identifier: MIT
#include <string.h>

#include "table.h"

#define COLUMNS 40
#define CALLS 64

/** struct column - what became of one defect or state, in @cells[i] of calls[i]. */
static struct column {
	const char *what;
	enum outcome cells[CALLS];
} columns[COLUMNS];
static unsigned column_count;

/* Bytes of the arguments of each call that some subtest has spoiled. */
static bool spoiled[CALLS][ARGS_MAX];
static enum outcome fields[CALLS];

/* Every call must have a subtest for each of these; the other columns are about handles, which not every call has. */
static const char *const for_all[] = {
	"all of it right", "null and kernel pointers", "arguments end with their page", "arguments at an odd address",
	"last byte of the arguments not readable", "arguments read-only", "a newer, longer structure",
	"an older, shorter structure", "neither reads nor writes", "letter of another subsystem",
	"each allocation fails in turn", "from before a reset", "in a context that was killed", "on a card that was given up",
	"from before a removal", /* the last one: only with --pci */
};

/* Fields in which no value is wrong by itself. Handles are spoiled in every call that has one. */
static const struct free_field {
	unsigned long request;
	uint32_t at, bytes;
} free_fields[] = {
#define FREE(call, type, field) \
	{DRM_IOCTL_TUTTI_##call, (uint32_t)offsetof(struct drm_tutti_##type, field), \
	 sizeof(((struct drm_tutti_##type *)0)->field)}
	FREE(QUERY, query, size), /* the answer is cut off */
	FREE(BO_INFO, bo_info, size), FREE(BO_INFO, bo_info, mmap_offset), FREE(BO_INFO, bo_info, placement),
	FREE(QUEUE_CREATE, queue_create, timeout_ms),
	FREE(QUEUE_QUERY, queue_query, progress), FREE(QUEUE_QUERY, queue_query, errors),
	FREE(QUEUE_QUERY, queue_query, fault), FREE(QUEUE_QUERY, queue_query, stopped),
	FREE(WAIT, wait, deadline), FREE(FENCE, fence, packet),
	FREE(POLICY_GET, policy, value), FREE(OCCUPANCY, occupancy, cgas), FREE(OCCUPANCY, occupancy, ctas),
	FREE(OCCUPANCY, occupancy, sms),
	/* nothing is written where there are no records; calls/tracing.c */
	FREE(TRACE_READ, trace_read, pointer), FREE(TRACE_READ, trace_read, count), FREE(TRACE_READ, trace_read, lost),
#undef FREE
};

static unsigned place(const struct call *call)
{
	return (unsigned)(call - calls);
}

static struct column *find(const char *what, bool make)
{
	for (unsigned i = 0; i < column_count; i++)
		if (!strcmp(columns[i].what, what))
			return &columns[i];
	if (!make || column_count == COLUMNS)
		return NULL;
	columns[column_count].what = what;
	return &columns[column_count++];
}

void table_note(const struct call *call, const char *what, enum outcome outcome)
{
	struct column *column = find(what, true);

	if (column && place(call) < CALLS)
		column->cells[place(call)] = outcome;
}

void table_note_field(const struct call *call, uint32_t at, uint32_t bytes, enum outcome outcome)
{
	memset(spoiled[place(call)] + at, 1, bytes);
	if (outcome > fields[place(call)])
		fields[place(call)] = outcome;
}

/* ---- holes ---- */

static void take_free_fields(const struct call *call)
{
	for (size_t i = 0; i < sizeof(free_fields) / sizeof(free_fields[0]); i++)
		if (free_fields[i].request == call->request)
			memset(spoiled[place(call)] + free_fields[i].at, 1, free_fields[i].bytes);
	if (call->object != NO_OBJECT)
		memset(spoiled[place(call)] + call->handle_at, 1, 4);
	if (call->bo_at)
		memset(spoiled[place(call)] + call->bo_at, 1, 4);
}

static unsigned field_holes(const struct call *call)
{
	unsigned holes = 0;

	take_free_fields(call);
	for (uint32_t at = 0; at < call_bytes(call); at += 4) {
		if (spoiled[place(call)][at])
			continue;
		printf("# hole: no wrong value at byte %u of %s\n", at, call->name);
		holes++;
	}
	return holes;
}

static unsigned column_holes(const struct call *call)
{
	unsigned holes = 0;

	for (size_t i = 0; i < sizeof(for_all) / sizeof(for_all[0]) - !pci_address; i++) {
		const struct column *column = find(for_all[i], false);

		if (column && column->cells[place(call)] != NO_SUBTEST)
			continue;
		printf("# hole: %s, %s\n", call->name, for_all[i]);
		holes++;
	}
	return holes;
}

unsigned table_holes(void)
{
	unsigned holes = 0;

	for (const struct call *call = calls; call->name; call++)
		holes += field_holes(call) + column_holes(call);
	return holes;
}

/* ---- the table ---- */

static char letter(enum outcome outcome)
{
	static const char letters[] = {
		[NO_SUBTEST] = ' ', [NOT_RUN] = '.', [SKIPPED] = 's', [PASSED] = '+', [FAILED] = 'F',
	};

	return letters[outcome];
}

void table_print(void)
{
	printf("# +: passed, F: failed, s: skipped, .: not run, blank: does not apply\n");
	for (unsigned i = 0; i < column_count; i++)
		printf("# column %2u: %s\n", i + 1, columns[i].what);
	printf("# column %2u: one wrong field\n", column_count + 1);
	for (const struct call *call = calls; call->name; call++) {
		printf("# %-16s", call->name);
		for (unsigned i = 0; i < column_count; i++)
			printf(" %c", letter(columns[i].cells[place(call)]));
		printf(" %c\n", letter(fields[place(call)]));
	}
}

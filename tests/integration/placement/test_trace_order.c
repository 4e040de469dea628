// SPDX-License-Identifier: MIT
/* The examples `priorities` and `reduce`, by the records of what the card placed: the order is as it should be. */
#include "rig.h"
#include "tutti/discovery.h"
#include "tutti/softcore.h"
#include "tutti/trace_api.h"

#define T(name, function) { name, function, NULL, NULL, NULL }
#define TICKS 400000.0        /* ticks of a workgroup of the example, whose windows are four and two times as long */
#define LONG (4 * TICKS)
#define PERIOD (6 * TICKS)
#define LATE 60000.0          /* from the decision to the record, at most */

static struct tutti_trace *records;
static unsigned count;

/* Runs an example on an emulated card of 4 GPCs of 8 SMs in deterministic mode; its records are in @records. */
static void trace(const char *example)
{
	struct tutti_trace_file head;
	struct tutti_discovery card;
	char path[256], command[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s", rig_out("tests/integration/order"));
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("gpc 8\ngpc 8\ngpc 8\ngpc 8\nmemory 256M\n", file);
	fclose(file);
	snprintf(command, sizeof(command), "TUTTI_DEVICE=emulator %s trace run -o %s.trace --deterministic --topology %s -- %s > %s.log 2>&1",
		 rig_out("tutti"), path, path, example, path);
	if (system(command))
		fail_msg("%s: see %s.log", example, path);
	strcat(path, ".trace");
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fread(&head, sizeof(head), 1, file), 1);
	assert_true(head.magic == TUTTI_TRACE_MAGIC && !head.lost);
	assert_int_equal(fread(&card, sizeof(card), 1, file), 1);
	assert_int_equal(fseek(file, head.places * (long)sizeof(struct tutti_sm_place), SEEK_CUR), 0);
	records = calloc(100000, sizeof(*records));
	count = (unsigned)fread(records, sizeof(*records), 100000, file);
	assert_in_range(count, 100, 99999);
	fclose(file);
}

/* struct part - records of one part of a program: two tasks at the same time. */
struct part {
	unsigned first, end;     /* records: both tasks have work to place */
	unsigned queue[2];
};

/*
 * The part that begins with the STATE number @number: from when both tasks are there until one has placed its last CTA.
 */
static struct part part_of(unsigned number)
{
	struct part part = { .end = count };
	uint32_t left[2] = { 0 };
	unsigned states = 0, i;

	for (i = 0; i < count && states < number + 2; i++) {
		if (records[i].kind == TUTTI_TRACE_STATE && states++ >= number) {
			part.queue[states - number - 1] = records[i].queue;
			left[states - number - 1] = records[i].cta;
			part.first = i;
		} else if (records[i].kind == TUTTI_TRACE_PLACE && states == number + 1) {
			left[0] -= records[i].cta;
		}
	}
	assert_int_equal(states, number + 2);
	assert_int_not_equal(part.queue[0], part.queue[1]);
	for (; i < count; i++) {
		if (records[i].kind != TUTTI_TRACE_PLACE)
			continue;
		for (unsigned q = 0; q < 2; q++)
			left[q] -= records[i].queue == part.queue[q] ? records[i].cta : 0;
		if (!left[0] || !left[1]) {
			part.end = i;
			break;
		}
	}
	return part;
}

/* Position of @time in the period that began at @start. */
static double phase(double time, double start)
{
	double at = time - start;

	while (at < 0)
		at += PERIOD;
	while (at >= PERIOD)
		at -= PERIOD;
	return at;
}

/* Placements outside of the windows of their level, if a period began at @start. */
static unsigned outside(const struct part *part, double start)
{
	unsigned n = 0;

	for (unsigned i = part->first; i < part->end; i++) {
		double at = phase((double)records[i].time, start);

		if (records[i].kind != TUTTI_TRACE_PLACE)
			continue;
		if (records[i].queue == part->queue[0])
			n += at > LONG + LATE;
		else
			n += at < LONG && at > LATE;
	}
	return n;
}

static void windows(void **state)
{
	struct part part;
	double start, least = 1e9, turns = 0;
	unsigned ctas[2] = { 0 }, last = ~0u;

	trace("priorities");
	part = part_of(0);
	for (unsigned i = part.first; i < part.end; i++) {
		unsigned q = records[i].queue == part.queue[1];

		if (records[i].kind != TUTTI_TRACE_PLACE)
			continue;
		ctas[q] += records[i].cta;
		turns += q != last;
		last = q;
	}
	/* both were placed, in turns, and the lower one less often */
	assert_true(turns >= 4);
	assert_in_range(ctas[1], 64, ctas[0]);
	/* the records do not say when the periods began, but one time must explain all of them */
	for (start = 0; start < PERIOD; start += LATE / 8)
		least = outside(&part, start) < least ? outside(&part, start) : least;
	assert_true(least == 0);
	/* other times must not */
	assert_true(outside(&part, PERIOD / 4) || outside(&part, PERIOD / 2));
	free(records);
}

static void quotas(void **state)
{
	static const unsigned quota[2] = { 12, 4 };
	struct part part;
	unsigned run = 0, runs = 0, now = ~0u;

	trace("priorities");
	part = part_of(2);
	for (unsigned i = part.first; i < part.end; i++) {
		unsigned q = records[i].queue == part.queue[1];

		if (records[i].kind != TUTTI_TRACE_PLACE)
			continue;
		if (q != now) {
			/* the first turn may have begun before the other task came */
			if (runs > 1)
				assert_int_equal(run, quota[now]);
			runs++;
			run = 0;
			now = q;
		}
		run += records[i].cta;
	}
	assert_true(runs > 20);
	free(records);
}

/* Every CGA is on one GPC, placed as a whole by one message, beside workgroups of the other queue. */
static void groups(void **state)
{
	unsigned left = 0, gpc = 0, found = 0, plain = 0, among = 0, alone = 0, others = 0;
	uint32_t group = 0;

	trace("reduce");
	for (unsigned i = 0; i < count; i++)
		others += records[i].kind == TUTTI_TRACE_CTA_DONE && records[i].queue == 1;
	for (unsigned i = 0; i < count; i++) {
		const struct tutti_trace *r = &records[i];

		if (r->kind == TUTTI_TRACE_PLACE) {
			assert_int_equal(left, 0);
			if (r->value >> 24 & TUTTI_LAUNCH_CGA) {
				assert_true(r->value >> 24 & TUTTI_LAUNCH_END_OF_CGA);
				left = r->cta;
				gpc = r->sm;
				found++;
				among += plain != 0;
				alone += !plain && others;
				assert_int_equal(left, 8);
			}
		} else if (r->kind == TUTTI_TRACE_CTA && r->value) {
			assert_int_equal(r->sm / 8, gpc);
			group = left == 8 ? r->value : group;
			assert_int_equal(r->value, group);
			left--;
		} else if (r->kind == TUTTI_TRACE_CTA) {
			plain++;
		} else if (r->kind == TUTTI_TRACE_CTA_DONE && r->queue == 1) {
			plain--;
			others--;
		}
	}
	assert_int_equal(found, 48);
	/* some before the other queue has ended, and those hardly ever alone: only between two of its kernels */
	assert_true(among >= 10);
	assert_true(alone <= 8);
	free(records);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("RES-06, CGA-30: priority windows, in the records of what was placed", windows),
		T("TSK-09, CGA-30: quota turns, in the records", quotas),
		T("CGA-03, CGA-30: groups of the reduction, in the records", groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

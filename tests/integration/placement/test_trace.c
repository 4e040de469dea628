// SPDX-License-Identifier: MIT
/* Traces of placements: the records against what is known of the placement; the file; the pictures made of it. */
#include <sys/stat.h>

#include "kernels/cga_args.h"
#include "rig.h"
#include "tutti/task.h"
#include "tutti/trace_api.h"

#define T(name, function) { name, function, NULL, NULL, NULL }
#define CARD "gpc 8\ngpc 8\ngpc 8\ngpc 8\nmemory 256M\n"
#define SMS 32u
#define WAVES 4u      /* shared memory of a workgroup: an SM takes eight */
#define DEPTH 8u
#define RECORDS 8192u

static struct tutti_trace records[RECORDS];

/* Figures 21 to 23: SM3, 4, 6, 8, 31 full; 10, 11, 12, 17, 18 partly loaded; 2, 5, 7 empty. */
static const uint8_t figure_21[SMS] = {
	6, 5, 8, 0, 0, 8, 0, 8, 0, 6, 3, 4, 2, 6, 5, 7, 5, 3, 4, 6, 5, 7, 6, 6, 5, 7, 6, 5, 6, 7, 5, 0,
};

struct parked {
	struct args_park *args;
	tutti_signal_t signal;
	struct tutti_queue *queue;
};

/* @ctas workgroups that run until the host lets them end. */
static struct parked park(unsigned ctas)
{
	struct parked p = { .args = rig_alloc(rig, sizeof(*p.args)), .signal = rig_signal(rig, 1) };
	struct tutti_kernel kernel = rig_kernel(rig, "park");
	struct tutti_queue_options o = { .packets = 64, .timeout_ms = UINT32_MAX };
	struct tutti_launch launch = { .kernel = &kernel, .grid = { 32 * WAVES * ctas }, .workgroup = { 32 * WAVES },
				       .signal = p.signal, .kernarg = p.args };

	p.args->sm_of = rig_alloc(rig, ctas * 4);
	p.args->runs = rig_alloc(rig, ctas * 4);
	p.args->started = rig_alloc(rig, 64);
	p.args->go = rig_alloc(rig, 64);
	assert_int_equal(tutti_queue_create(rig->device, &o, &p.queue), 0);
	assert_int_equal(tutti_dispatch(p.queue, &launch), 0);
	assert_true(rig_poll_until(p.queue, p.args->started, ctas * WAVES, 20000));
	return p;
}

static void let_go(struct parked *p)
{
	tutti_store_release(p->args->go, 1);
	rig_wait(rig, p->signal);
	tutti_queue_destroy(p->queue);
}

/* Occupies SMs so that @free of their DEPTH slots are left. */
static unsigned load(const uint8_t *free_slots, struct parked *parked)
{
	unsigned n = 0;

	for (unsigned used = 1; used <= DEPTH; used++) {
		unsigned same = 0;

		assert_int_equal(tutti_device_enable_sms(rig->device, 0, SMS, false), 0);
		for (unsigned i = 0; i < SMS; i++)
			if (free_slots[i] == DEPTH - used) {
				assert_int_equal(tutti_device_enable_sms(rig->device, i, 1, true), 0);
				same++;
			}
		if (same)
			parked[n++] = park(used * same);
	}
	assert_int_equal(tutti_device_enable_sms(rig->device, 0, SMS, true), 0);
	return n;
}

/* The definition: one at a time, on the SM with the most free slots, the first of them. */
static unsigned deepest(uint8_t *free_slots)
{
	unsigned best = 0;

	for (unsigned i = 1; i < SMS; i++)
		if (free_slots[i] > free_slots[best])
			best = i;
	assert_true(free_slots[best]);
	free_slots[best]--;
	return best;
}

static int read_all(uint64_t *lost)
{
	int n = tutti_trace_read(rig->device, records, RECORDS, lost);

	assert_true(n >= 0);
	return n;
}

static void check_free(int count)
{
	unsigned seen = 0;

	for (int i = 0; i < count; i++) {
		struct tutti_trace_free f;

		memcpy(&f, &records[i], sizeof(f));
		if (f.kind != TUTTI_TRACE_FREE)
			continue;
		assert_int_equal(f.first, seen);
		assert_memory_equal(f.free, figure_21 + f.first, f.sms);
		seen += f.sms;
	}
	assert_int_equal(seen, SMS);
}

static void figure_records(void **state)
{
	struct parked parked[DEPTH + 1], more;
	uint8_t left[SMS];
	unsigned loads, ctas = 0, placed = 0, starts = 0;
	uint64_t lost;
	int n;

	rig = rig_deterministic(CARD);
	loads = load(figure_21, parked);
	assert_int_equal(read_all(NULL), 0); /* tracing is off: nothing is written */
	assert_int_equal(tutti_trace_start(rig->device, TUTTI_TRACE_PLACEMENT), 0);
	more = park(137);
	n = read_all(&lost);
	assert_int_equal(lost, 0);
	check_free(n);
	memcpy(left, figure_21, sizeof(left));
	for (int i = 0; i < n; i++) {
		const struct tutti_trace *r = &records[i];

		assert_true(!i || r->time >= records[i - 1].time);
		if (r->kind == TUTTI_TRACE_PLACE)
			placed += r->cta;
		if (r->kind == TUTTI_TRACE_RUN)
			starts++;
		if (r->kind != TUTTI_TRACE_CTA)
			continue;
		assert_int_equal(r->cta, ctas++);
		assert_int_equal(r->sm, deepest(left));
		assert_int_equal(r->sm, more.args->sm_of[r->cta]);
		assert_int_equal(r->value, 0);
		assert_int_equal(r->queue, more.queue->id);
	}
	assert_int_equal(ctas, 137);
	assert_int_equal(placed, 137);
	assert_int_equal(starts, 137);
	let_go(&more);
	n = read_all(NULL);
	for (ctas = 0, placed = 0; n--;) {
		ctas += records[n].kind == TUTTI_TRACE_CTA_DONE;
		placed += records[n].kind == TUTTI_TRACE_COMPLETE && records[n].packet == (uintptr_t)more.signal;
	}
	assert_int_equal(ctas, 137);
	assert_int_equal(placed, 1);
	while (loads--)
		let_go(&parked[loads]);
	rig_close(rig);
}

/* Messages of a CGA name it; the records of its CTAs follow, all of them, on one GPC. */
static void group_records(void **state)
{
	struct args_cga_sum *args;
	struct tutti_kernel kernel;
	struct tutti_launch launch = { .kernel = &kernel, .grid = { 40 * 64 }, .workgroup = { 64 } };
	unsigned ids[4] = { 0 }, gpc = 0, ctas = 0, group = 0;
	int n;

	rig = rig_deterministic(CARD);
	rig_load(rig, "tests/integration/kernels/cga.tco");
	kernel = rig_kernel(rig, "cga_exchange"); /* CGAs of 4 */
	args = rig_alloc(rig, sizeof(*args));
	args->out = rig_alloc(rig, 80 * 8);
	args->rounds = 1;
	launch.kernarg = args;
	launch.signal = rig_signal(rig, 1);
	assert_int_equal(tutti_trace_start(rig->device, TUTTI_TRACE_PLACEMENT & ~TUTTI_TRACE_BIT(TUTTI_TRACE_FREE)), 0);
	assert_int_equal(tutti_dispatch(rig->queue, &launch), 0);
	rig_wait(rig, launch.signal);
	n = read_all(NULL);
	for (int i = 0; i < n; i++) {
		const struct tutti_trace *r = &records[i];

		assert_int_not_equal(r->kind, TUTTI_TRACE_FREE);
		if (r->kind == TUTTI_TRACE_STATE) {
			assert_int_equal(r->cta, 40);
			assert_int_equal(r->value, 4 | TUTTI_CGA_GPC << 24);
		}
		if (r->kind == TUTTI_TRACE_PLACE) {
			assert_int_equal(r->cta, 4);
			assert_int_equal(r->value & 0xffff, group);
			gpc = r->sm;
			assert_in_range(gpc, 0, 3);
			ids[gpc]++;
			group++;
		}
		if (r->kind == TUTTI_TRACE_CTA) {
			assert_int_equal(r->cta, ctas);
			assert_int_equal(r->value, 1 + ctas / 4);
			assert_int_equal(r->sm / 8, gpc);
			ctas++;
		}
	}
	assert_int_equal(ctas, 40);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(ids[i], 2, 3); /* balanced */
	rig_close(rig);
}

/* Without a reader the oldest records stay, and the others are counted. */
static void full_ring(void **state)
{
	unsigned ring, n;
	uint64_t lost, *word;

	rig = rig_deterministic(CARD);
	ring = tutti_device_discovery(rig->device)->trace.bytes / sizeof(struct tutti_trace);
	assert_true(ring <= RECORDS);
	word = rig_alloc(rig, 64);
	assert_int_equal(tutti_trace_start(rig->device, TUTTI_TRACE_BIT(TUTTI_TRACE_CTA_DONE)), 0);
	rig_run(rig, "count", ring + 100, 1, rig_args(rig, word, 1, 0));
	assert_int_equal(read_all(&lost), ring);
	assert_int_equal(lost, 100);
	assert_int_equal(records[0].kind, TUTTI_TRACE_CTA_DONE);
	assert_int_equal(read_all(&lost), 0);
	assert_int_equal(lost, 0);
	rig_run(rig, "count", 7, 1, rig_args(rig, word, 1, 0));
	assert_int_equal(read_all(&lost), 7);
	assert_int_equal(lost, 0);
	assert_int_equal(tutti_trace_stop(rig->device), 0);
	rig_run(rig, "count", 7, 1, rig_args(rig, word, 1, 0));
	assert_int_equal(read_all(NULL), 0);
	assert_int_equal(tutti_trace_start(rig->device, 0), -EINVAL);
	assert_int_equal(tutti_trace_start(rig->device, ~0u), -EINVAL);
	for (n = 0; n < TUTTI_TRACE_KINDS; n++)
		assert_non_null(tutti_trace_name(n));
	assert_null(tutti_trace_name(n));
	rig_close(rig);
}

/* Instructions of the soft core for the same work. */
static uint64_t instructions(bool traced)
{
	uint64_t counters[TUTTI_COUNTERS], *word;

	rig = rig_deterministic(CARD);
	word = rig_alloc(rig, 64);
	if (traced)
		assert_int_equal(tutti_trace_start(rig->device, TUTTI_TRACE_ALL), 0);
	for (unsigned i = 0; i < 10; i++)
		rig_run(rig, "count", 64 * (i + 1), 32, rig_args(rig, word, 1, 0));
	rig_counters(rig, counters);
	rig_close(rig);
	return counters[TUTTI_COUNTER_CORE_INSTRUCTIONS];
}

static void costs_nothing(void **state)
{
	assert_true(instructions(false) == instructions(true));
}

/* ---- the file and the pictures ---- */

/* Elements nest and end, and attributes are quoted: mistakes that a parser would reject. */
static unsigned well_formed(const char *text, const char *what)
{
	unsigned depth = 0, found = 0;
	const char *p = strchr(text, '<');

	assert_non_null(p);
	for (; p; p = strchr(p, '<')) {
		const char *end = strchr(p, '>'), *q;
		unsigned quotes = 0;

		assert_non_null(end);
		for (q = p + 1; q < end; q++) {
			assert_true(*q != '<');
			quotes += *q == '"';
		}
		assert_int_equal(quotes % 2, 0);
		if (p[1] == '/') {
			assert_true(depth);
			depth--;
		} else if (p[1] != '?' && end[-1] != '/') {
			depth++;
		}
		found += !strncmp(end + 1, what, strlen(what));
		p = end;
		for (q = strchr(p, '&'); q && q < strchr(p, '<'); q = strchr(q + 1, '&'))
			assert_true(!strncmp(q, "&amp;", 5) || !strncmp(q, "&lt;", 4) || !strncmp(q, "&gt;", 4));
	}
	assert_int_equal(depth, 0);
	assert_non_null(strstr(text, "</svg>"));
	return found;
}

static char *slurp(const char *path)
{
	struct stat info;
	FILE *file = fopen(path, "r");
	char *text;

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &info), 0);
	text = calloc(1, (size_t)info.st_size + 1);
	assert_int_equal(fread(text, 1, (size_t)info.st_size, file), info.st_size);
	fclose(file);
	return text;
}

static int tool(const char *arguments, const char *path)
{
	char command[1024];

	snprintf(command, sizeof(command), "%s trace %s %s > %s.log 2>&1", rig_out("tutti"), arguments, path, path);
	return system(command);
}

static void figure_pictures(void **state)
{
	struct parked parked[DEPTH + 1], more;
	char path[256], svg[300], *text;
	unsigned loads, ctas = 0;

	for (unsigned i = 0; i < SMS; i++)
		ctas += DEPTH - figure_21[i];
	snprintf(path, sizeof(path), "%s", rig_out("tests/integration/figure21.trace"));
	setenv("TUTTI_TRACE", path, 1);
	rig = rig_deterministic(CARD);
	unsetenv("TUTTI_TRACE");
	assert_int_equal(tutti_trace_start(rig->device, TUTTI_TRACE_ALL), -EBUSY);
	loads = load(figure_21, parked);
	more = park(137);
	let_go(&more);
	while (loads--)
		let_go(&parked[loads]);
	rig_close(rig);

	assert_int_equal(tool("list", path), 0);
	assert_int_equal(tool("svg", path), 0);
	snprintf(svg, sizeof(svg), "%s", rig_out("tests/integration/figure21-lake.svg"));
	text = slurp(svg);
	assert_int_equal(well_formed(text, "CTA "), 137); /* the largest placement */
	assert_non_null(strstr(text, "137 CTAs poured over 32 SMs"));
	free(text);
	snprintf(svg, sizeof(svg), "%s", rig_out("tests/integration/figure21-time.svg"));
	text = slurp(svg);
	assert_int_equal(well_formed(text, "SM "), 137 + ctas);
	assert_non_null(strstr(text, "(time of this machine, unless the card was deterministic)"));
	free(text);
	assert_int_not_equal(tool("svg --placement 999", path), 0);
	assert_int_not_equal(tool("svg", rig_out("tutti")), 0); /* is no trace */
}

/* More records than the ring holds: a wait reads them in time. */
static void long_file(void **state)
{
	struct tutti_trace_file head;
	char path[256];
	uint64_t *word;
	struct stat info;
	FILE *file;

	snprintf(path, sizeof(path), "%s", rig_out("tests/integration/long.trace"));
	setenv("TUTTI_TRACE", path, 1);
	rig = rig_deterministic(CARD);
	unsetenv("TUTTI_TRACE");
	word = rig_alloc(rig, 64);
	rig_run(rig, "count", 40000, 1, rig_args(rig, word, 1, 0));
	rig_close(rig);
	file = fopen(path, "r"); /* each further device of a process writes its own file */
	if (!file) {
		strcat(path, ".1");
		file = fopen(path, "r");
	}
	assert_non_null(file);
	assert_int_equal(fread(&head, sizeof(head), 1, file), 1);
	assert_int_equal(fstat(fileno(file), &info), 0);
	fclose(file);
	assert_true(head.magic == TUTTI_TRACE_MAGIC);
	assert_int_equal(head.lost, 0);
	assert_true((uint64_t)info.st_size > 3 * 40000 * sizeof(struct tutti_trace));
	unlink(path);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("CGA-30, CGA-06: records of 137 CTAs on 32 SMs (figures 21-23)", figure_records),
		T("CGA-30, CGA-16: records of CGAs: message by message, on one GPC", group_records),
		T("CGA-30, TSK-16: a ring that nobody reads drops and counts", full_ring),
		T("CGA-30, SYS-12: tracing costs the firmware not one instruction", costs_nothing),
		T("CGA-30: trace file, level diagram and time chart of figures 21-23", figure_pictures),
		T("CGA-30: a trace longer than the ring is whole", long_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

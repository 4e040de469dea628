/* SPDX-License-Identifier: MIT */
/* tutti trace: run a program and keep the card's trace; show traces as text and pictures. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/options.h"
#include "tools/tool.h"
#include "trace_draw.h"

#define TIMES                                                                                                 \
	"Times are the card's. The emulated card takes them from this machine's clock, so that they say how long the "  \
	"emulation took; with --deterministic it runs in one thread and counts its own time, by the instructions that " \
	"are executed and by what transfers cost, so that the same run gives the same trace on every machine."

static void usage(void)
{
	puts("usage: tutti trace run [-o FILE] [--deterministic] [--topology FILE] [--] PROGRAM [ARGUMENTS]\n"
	     "       tutti trace list FILE\n"
	     "       tutti trace json FILE\n"
	     "       tutti trace html FILE [-o PAGE]\n"
	     "       tutti trace svg FILE [-o PREFIX] [--placement N] [--from US] [--to US]\n\n"
	     "run    run PROGRAM, and record in FILE where its CTAs are placed and when they run\n"
	     "list   print the records, one per line\n"
	     "json   print them for chrome://tracing and Perfetto\n"
	     "html   write one page that shows them in any browser\n"
	     "svg    draw how a placement filled the SMs, and SMs over time\n\n"
	     "`tutti trace run --help` and so on list the options of each.");
}

/* ---- run ---- */

struct run {
	const char *file;
	char **program;
};

static const struct argp_option run_options[] = {
	{ "output", 'o', "FILE", 0, "where the trace is written (tutti.trace)", 0 },
	{ "deterministic", 'D', NULL, 0, "let the emulated card count its own time, so that the same run gives the same trace", 0 },
	{ "topology", 't', "FILE", 0, "the emulated card that the program sees", 0 },
	{ 0 },
};

static int run_take(int key, char *value, void *to)
{
	struct run *wanted = to;

	if (key == 'o')
		wanted->file = value;
	else if (key == 'D')
		setenv("TUTTI_DETERMINISTIC", "1", 1);
	else if (key == 't')
		setenv("TUTTI_TOPOLOGY", value, 1);
	else if (key == ARGP_KEY_ARGS)
		wanted->program = (char **)value;
	return 0;
}

static int run(int argc, char **argv)
{
	static const struct tool_command command = {
		.name = "trace run", .arguments = "[--] PROGRAM [ARGUMENTS]", .options = run_options, .take = run_take, .program = true,
		.about = "Runs a program, and records where its workgroups (CTAs) are placed and when they run. PROGRAM may be the name of "
			 "an example.\v" TIMES,
	};
	struct run wanted = { .file = "tutti.trace" };

	tool_options(&command, argc, argv, &wanted);
	if (!wanted.program)
		return tool_usage_error("trace run", "which program?");
	setenv("TUTTI_TRACE", wanted.file, 1);
	tool_run_example(wanted.program[0], wanted.program);
	execvp(wanted.program[0], wanted.program);
	fprintf(stderr, "tutti trace: %s: %s\n", wanted.program[0], strerror(errno));
	return EXIT_FAILS;
}

/* ---- list ---- */

static void list_free(const struct tutti_trace *record)
{
	struct tutti_trace_free free;

	memcpy(&free, record, sizeof(free));
	printf(" slot %u SMs from %u:", free.slot, free.first);
	for (unsigned i = 0; i < free.sms && i < TUTTI_TRACE_SMS; i++)
		printf(" %u", free.free[i]);
	putchar('\n');
}

static void list_entry(const struct trace_model *model, const struct tutti_trace *r)
{
	uint32_t kernel = trace_kernel_at(model, r->packet);

	printf(" slot %u kernel %s at %#llx\n", r->slot, kernel == TRACE_NAMELESS ? "?" : model->kernels[kernel].name,
	       (unsigned long long)r->packet);
}

static void list_record(const struct trace_model *model, const struct tutti_trace *r)
{
	const char *name = tutti_trace_name(r->kind);

	printf("%12.3f %-8s", trace_us(model, r->time), name ? name : "?");
	if (r->kind == TUTTI_TRACE_FREE) {
		list_free(r);
		return;
	}
	if (r->queue != 0xffff)
		printf(" queue %u", r->queue);
	if (r->kind == TUTTI_TRACE_ENTRY)
		list_entry(model, r);
	else if (r->kind == TUTTI_TRACE_STATE)
		printf(" slot %u packet %llu: %u CTAs of %u waves, CGA %u kind %u\n", r->slot, (unsigned long long)r->packet, r->cta,
		       r->sm, r->value & 0xffffff, r->value >> 24);
	else if (r->kind == TUTTI_TRACE_PLACE)
		printf(" slot %u packet %llu: %u CTAs, gpc %d, sequence %u id %u flags %u\n", r->slot,
		       (unsigned long long)r->packet, r->cta, (int16_t)r->sm, r->value & 0xffff, r->value >> 16 & 0xff,
		       r->value >> 24);
	else if (r->kind == TUTTI_TRACE_COMPLETE)
		printf(" signal %#llx\n", (unsigned long long)r->packet);
	else
		printf(" slot %u packet %llu sm %d cta %u value %u\n", r->slot, (unsigned long long)r->packet, (int16_t)r->sm,
		       r->cta, r->value);
}

/* The pictures have a place for each SM of the card. */
static int check_gpcs(const struct trace_model *model, const char *path)
{
	for (unsigned g = 0; g < model->card.gpcs; g++) {
		const struct tutti_gpc *gpc = &model->card.gpc[g];

		if (gpc->sms && gpc->first_sm + gpc->sms <= model->card.sms)
			continue;
		fprintf(stderr, "tutti trace: %s: damaged: GPC %u is said to have %u SMs from %u on, and the card has %u\n",
			path, g, gpc->sms, gpc->first_sm, model->card.sms);
		return -EINVAL;
	}
	return 0;
}

static int load(struct trace_model *model, const char *path)
{
	int error = trace_load(model, path);

	if (error) {
		fprintf(stderr, "tutti trace: %s: %s\n", path,
			error == -EINVAL    ? "not a trace, or one of another version"
			: error == -ENODATA ? "the trace is cut short: was the program killed, or is it running still?"
					    : strerror(-error));
		return error;
	}
	error = check_gpcs(model, path);
	if (error)
		trace_unload(model);
	return error;
}

/* The options of the commands that read a trace. */
struct wanted {
	const char *file, *output;
	long placement; /* -1 = the largest */
	double from, to;
};

static int wanted_take(int key, char *value, void *to)
{
	struct wanted *wanted = to;
	uint64_t placement;

	switch (key) {
	case 'o':
		wanted->output = value;
		return 0;
	case 'p':
		if (!number_read(value, INT_MAX, &placement))
			return -EINVAL;
		wanted->placement = (long)placement;
		return 0;
	case 'f':
		return number_read_real(value, 0, 1e15, &wanted->from) ? 0 : -EINVAL;
	case 't':
		return number_read_real(value, 0, 1e15, &wanted->to) ? 0 : -EINVAL;
	}
	if (wanted->file)
		return -EINVAL;
	wanted->file = value;
	return 0;
}

static const struct argp_option no_options[] = { { 0 } };

/* Reads the options of @command and the trace that they name. Return: an exit status. */
static int open_trace(const struct tool_command *command, int argc, char **argv, struct wanted *wanted,
		      struct trace_model *model)
{
	*wanted = (struct wanted){ .placement = -1, .to = NAN }; /* NAN: to the end */
	tool_options(command, argc, argv, wanted);
	if (!wanted->file)
		return tool_usage_error(command->name, "name one file");
	if (wanted->to <= wanted->from)
		return tool_usage_error(command->name, "--to is not behind --from");
	return load(model, wanted->file) ? EXIT_FAILS : EXIT_WORKS;
}

static int list(int argc, char **argv)
{
	static const struct tool_command command = { .name = "trace list", .arguments = "FILE", .options = no_options,
						     .take = wanted_take, .about = "Prints the records of a trace, one a line, with times in µs." };
	struct trace_model model;
	struct wanted wanted;
	int status = open_trace(&command, argc, argv, &wanted, &model);

	if (status)
		return status;
	trace_from_start(&model);
	for (size_t i = 0; i < model.count; i++)
		list_record(&model, &model.records[i]);
	if (model.head.lost)
		printf("%llu records were dropped\n", (unsigned long long)model.head.lost);
	trace_unload(&model);
	return EXIT_WORKS;
}

static int json(int argc, char **argv)
{
	static const struct tool_command command = { .name = "trace json", .arguments = "FILE", .options = no_options,
						     .take = wanted_take, .about = "Prints a trace for Perfetto and chrome://tracing." };
	struct trace_model model;
	struct wanted wanted;
	int status = open_trace(&command, argc, argv, &wanted, &model);

	if (status)
		return status;
	trace_from_start(&model);
	status = trace_write_json(&model, stdout) ? EXIT_FAILS : EXIT_WORKS;
	trace_unload(&model);
	return status;
}

/* ---- html ---- */

static int finish(FILE *file, const char *path, int error)
{
	if (fclose(file) && !error)
		error = -errno;
	if (error) {
		fprintf(stderr, "tutti trace: %s: %s\n", path,
			error == -ENODATA ? "the trace does not say how many slots were free" : strerror(-error));
		unlink(path);
		return error;
	}
	puts(path);
	return 0;
}

/* @path without its extension. */
static int stem_bytes(const char *path)
{
	const char *dot = strrchr(path, '.');

	return (int)(dot && !strchr(dot, '/') ? dot - path : (long)strlen(path));
}

static int write_page(struct trace_model *model, const char *path)
{
	FILE *file = fopen(path, "we");
	int error;

	if (!file) {
		fprintf(stderr, "tutti trace: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	trace_from_start(model);
	error = trace_write_html(model, file);
	return finish(file, path, error);
}

static int html(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "output", 'o', "PAGE", 0, "name of the page (FILE with .html in place of its extension)", 0 }, { 0 }
	};
	static const struct tool_command command = {
		.name = "trace html", .arguments = "FILE", .options = options, .take = wanted_take,
		.about = "Writes one page that shows a trace in any browser: SMs over time, with zoom, SMs at work, queue depth.",
	};
	char path[PATH_MAX];
	struct trace_model model;
	struct wanted wanted;
	int status = open_trace(&command, argc, argv, &wanted, &model);

	if (status)
		return status;
	if (wanted.output)
		snprintf(path, sizeof(path), "%s", wanted.output);
	else
		snprintf(path, sizeof(path), "%.*s.html", stem_bytes(wanted.file), wanted.file);
	status = write_page(&model, path) ? EXIT_FAILS : EXIT_WORKS;
	trace_unload(&model);
	return status;
}

/* ---- svg ---- */

/* The name of a picture begins with this. */
static void prefix_of(const struct wanted *wanted, char *prefix, size_t bytes)
{
	if (wanted->output)
		snprintf(prefix, bytes, "%s", wanted->output);
	else
		snprintf(prefix, bytes, "%.*s", stem_bytes(wanted->file), wanted->file);
}

static FILE *create(const struct wanted *wanted, const char *what, char *path, size_t bytes)
{
	char prefix[512];
	FILE *file;

	prefix_of(wanted, prefix, sizeof(prefix));
	snprintf(path, bytes, "%s-%s.svg", prefix, what);
	file = fopen(path, "we");
	if (!file)
		fprintf(stderr, "tutti trace: %s: %s\n", path, strerror(errno));
	return file;
}

static const struct trace_placement *choose(const struct trace_model *model, long number)
{
	const struct trace_placement *best = NULL;

	if (number >= 0)
		return number < (long)model->placement_count ? &model->placements[number] : NULL;
	for (uint32_t i = 0; i < model->placement_count; i++)
		if (!best || model->placements[i].ctas > best->ctas)
			best = &model->placements[i];
	return best;
}

static int draw(const struct trace_model *model, const struct wanted *wanted)
{
	const struct trace_placement *placement = choose(model, wanted->placement);
	double to = isnan(wanted->to) ? trace_us(model, model->last) : wanted->to;
	char path[600];
	FILE *file;
	int error;

	if (!placement) {
		fprintf(stderr, "tutti trace: there is no such placement; the trace has %u\n", model->placement_count);
		return -ENOENT;
	}
	file = create(wanted, "lake", path, sizeof(path));
	if (!file)
		return -EIO;
	error = finish(file, path, trace_draw_lake(model, placement, file));
	if (error)
		return error;
	file = create(wanted, "time", path, sizeof(path));
	return file ? finish(file, path, trace_draw_time(model, wanted->from, to, file)) : -EIO;
}

static int svg(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "output", 'o', "PREFIX", 0, "what the names of the pictures begin with (FILE without its extension)", 0 },
		{ "placement", 'p', "N", 0, "draw placement N, counted from 0; default: the largest one", 0 },
		{ "from", 'f', "US", 0, "begin of the time chart, in µs after the first task started", 0 },
		{ "to", 't', "US", 0, "its end", 0 },
		{ 0 },
	};
	static const struct tool_command command = {
		.name = "trace svg", .arguments = "FILE", .options = options, .take = wanted_take,
		.about = "Draws PREFIX-lake.svg: free slots of each SM and how a placement filled them, level by level; and "
			 "PREFIX-time.svg: SMs over time.",
	};
	struct trace_model model;
	struct wanted wanted;
	int status = open_trace(&command, argc, argv, &wanted, &model);

	if (status)
		return status;
	status = draw(&model, &wanted) ? EXIT_FAILS : EXIT_WORKS;
	trace_unload(&model);
	return status;
}

int command_trace(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} parts[] = { { "run", run }, { "list", list }, { "json", json }, { "html", html }, { "svg", svg } };

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		usage();
		return EXIT_WORKS;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run(argc - 1, argv + 1);
	return tool_usage_error("trace", "run, list, json, html or svg?");
}

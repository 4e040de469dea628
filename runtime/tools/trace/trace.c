/* SPDX-License-Identifier: MIT */
/* tutti trace: run a program and keep the card's trace; show traces as text and pictures. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"
#include "trace_draw.h"

static void usage(void)
{
	puts("usage: tutti trace run [-o FILE] [--deterministic] [--topology FILE] -- PROGRAM [ARGUMENTS]\n"
	     "       tutti trace list FILE\n"
	     "       tutti trace json FILE\n"
	     "       tutti trace html FILE [-o PAGE]\n"
	     "       tutti trace svg FILE [-o PREFIX] [--placement N] [--from US] [--to US]\n\n"
	     "run    run PROGRAM, and record in FILE where its CTAs are placed and when they run\n"
	     "       (default: tutti.trace). PROGRAM may be the name of an example.\n"
	     "list   print the records, one per line\n"
	     "json   print them for chrome://tracing and Perfetto\n"
	     "html   write one page that shows them in any browser: SMs over time, with zoom, SMs at work, queue depth\n"
	     "       (default PAGE: FILE with .html in place of its extension)\n"
	     "svg    draw PREFIX-lake.svg: free slots of each SM and how a placement filled them, level by level;\n"
	     "       and PREFIX-time.svg: SMs over time (default PREFIX: FILE without its extension)\n\n"
	     "Times are the card's. The emulated card takes them from this machine's clock, so that they say how long the\n"
	     "emulation took; with --deterministic it runs in one thread and counts its own time, by the instructions that\n"
	     "are executed and by what transfers cost, so that the same run gives the same trace on every machine.\n\n"
	     "  --deterministic  see above\n"
	     "  --placement N    draw placement N, counted from 0; default: the largest one\n"
	     "  --from, --to     part of the time chart, in µs after the first task started");
}

/* ---- run ---- */

static int run(int argc, char **argv)
{
	static const struct option options[] = { { "deterministic", no_argument, NULL, 'd' },
						 { "topology", required_argument, NULL, 't' },
						 { NULL, 0, NULL, 0 } };
	const char *file = "tutti.trace";
	int option;

	while ((option = getopt_long(argc, argv, "+o:", options, NULL)) != -1) {
		if (option == 'o')
			file = optarg;
		else if (option == 'd')
			setenv("TUTTI_DETERMINISTIC", "1", 1);
		else if (option == 't')
			setenv("TUTTI_TOPOLOGY", optarg, 1);
		else
			return EXIT_USAGE;
	}
	if (optind >= argc)
		return tool_usage_error("trace run", "which program?");
	setenv("TUTTI_TRACE", file, 1);
	argv += optind;
	tool_run_example(argv[0], argv);
	execvp(argv[0], argv);
	fprintf(stderr, "tutti trace: %s: %s\n", argv[0], strerror(errno));
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

static int load(struct trace_model *model, const char *path)
{
	int error = trace_load(model, path);

	if (error)
		fprintf(stderr, "tutti trace: %s: %s\n", path,
			error == -EINVAL    ? "not a trace, or one of another version"
			: error == -ENODATA ? "the trace is cut short: was the program killed, or is it running still?"
					    : strerror(-error));
	return error;
}

static int list(int argc, char **argv)
{
	struct trace_model model;

	if (argc != 2)
		return tool_usage_error("trace list", "name one file");
	if (load(&model, argv[1]))
		return EXIT_FAILS;
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
	struct trace_model model;
	int error;

	if (argc != 2)
		return tool_usage_error("trace json", "name one file");
	if (load(&model, argv[1]))
		return EXIT_FAILS;
	trace_from_start(&model);
	error = trace_write_json(&model, stdout);
	trace_unload(&model);
	return error ? EXIT_FAILS : EXIT_WORKS;
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
	char path[PATH_MAX] = "";
	struct trace_model model;
	int option, error;

	while ((option = getopt(argc, argv, "o:")) != -1) {
		if (option != 'o')
			return EXIT_USAGE;
		snprintf(path, sizeof(path), "%s", optarg);
	}
	if (argc - optind != 1)
		return tool_usage_error("trace html", "name one file");
	if (load(&model, argv[optind]))
		return EXIT_FAILS;
	if (!*path)
		snprintf(path, sizeof(path), "%.*s.html", stem_bytes(argv[optind]), argv[optind]);
	error = write_page(&model, path);
	trace_unload(&model);
	return error ? EXIT_FAILS : EXIT_WORKS;
}

/* ---- svg ---- */

struct pictures {
	const char *file;
	char prefix[512];
	long placement; /* -1 = the largest */
	double from, to;
};

static FILE *create(const struct pictures *pictures, const char *what, char *path, size_t bytes)
{
	FILE *file;

	snprintf(path, bytes, "%s-%s.svg", pictures->prefix, what);
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

static int draw(const struct trace_model *model, const struct pictures *pictures)
{
	const struct trace_placement *placement = choose(model, pictures->placement);
	double to = isnan(pictures->to) ? trace_us(model, model->last) : pictures->to;
	char path[600];
	FILE *file;
	int error;

	if (!placement) {
		fprintf(stderr, "tutti trace: there is no such placement; the trace has %u\n", model->placement_count);
		return -ENOENT;
	}
	file = create(pictures, "lake", path, sizeof(path));
	if (!file)
		return -EIO;
	error = finish(file, path, trace_draw_lake(model, placement, file));
	if (error)
		return error;
	file = create(pictures, "time", path, sizeof(path));
	return file ? finish(file, path, trace_draw_time(model, pictures->from, to, file)) : -EIO;
}

static bool parse(int argc, char **argv, struct pictures *pictures)
{
	static const struct option options[] = { { "placement", required_argument, NULL, 'p' },
						 { "from", required_argument, NULL, 'f' },
						 { "to", required_argument, NULL, 't' },
						 { NULL, 0, NULL, 0 } };
	const char *prefix = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		uint64_t placement;

		if (option == 'o')
			prefix = optarg;
		else if (option == 'p' && number_read(optarg, INT_MAX, &placement))
			pictures->placement = (long)placement;
		else if (option == 'f' && number_read_real(optarg, 0, 1e15, &pictures->from))
			continue;
		else if (option == 't' && number_read_real(optarg, 0, 1e15, &pictures->to))
			continue;
		else
			return false;
	}
	/* @to is NAN if it was not given */
	if (!(pictures->from >= 0) || pictures->to <= pictures->from)
		return false;
	if (argc - optind != 1)
		return false;
	pictures->file = argv[optind];
	snprintf(pictures->prefix, sizeof(pictures->prefix), "%.*s", prefix ? 500 : stem_bytes(pictures->file),
		 prefix ? prefix : pictures->file);
	return true;
}

static int svg(int argc, char **argv)
{
	struct pictures pictures = { .placement = -1, .to = NAN };
	struct trace_model model;
	int error;

	if (!parse(argc, argv, &pictures))
		return tool_usage_error("trace svg", "name one file, and give numbers to options that take numbers");
	if (load(&model, pictures.file))
		return EXIT_FAILS;
	error = draw(&model, &pictures);
	trace_unload(&model);
	return error ? EXIT_FAILS : EXIT_WORKS;
}

int command_trace(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} parts[] = { { "run", run }, { "list", list }, { "json", json }, { "html", html }, { "svg", svg } };

	for (int i = 1; i < argc && i < 3; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage();
			return EXIT_WORKS;
		}
	for (size_t i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run(argc - 1, argv + 1);
	return tool_usage_error("trace", "run, list, json, html or svg?");
}

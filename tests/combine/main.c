// SPDX-License-Identifier: MIT
/* Runs scenarios and prints the results: as TAP, one test for each rule, and the table of the pairs that met. */
#include "combine.h"

#include <getopt.h>
#include <stdlib.h>
#include <time.h>

/* What is checked; the names are those that rule() gives. */
static const char *const rules[] = {
    "order (PKT-03)",
    "order (PKT-06)",
    "order (PKT-07)",
    "order (RES-02)",
    "barrier (PKT-03)",
    "sequence (PKT-16)",
    "sequence (PKT-18)",
    "acquire (PKT-04)",
    "release (PKT-04)",
    "signal (PKT-04)",
    "signal (PKT-10)",
    "signal (PKT-17)",
    "retire (PKT-05)",
    "retire (PKT-06)",
    "retire (PKT-08)",
    "state (PKT-09)",
    "state (PKT-10)",
    "acknowledged (TSK-05)",
    "state (CGA-01)",
    "once (TSK-03)",
    "evict (TSK-03)",
    "affinity (TSK-04)",
    "sequence (TSK-08)",
    "quota (TSK-09)",
    "items (TSK-10)",
    "coalescing (TSK-10)",
    "cancel (TSK-12)",
    "metadata (TSK-01)",
    "metadata (TSK-16)",
    "throttle (TSK-07)",
    "disabled (CGA-04)",
    "cap (CGA-04)",
    "domain (CGA-01)",
    "multicast (CGA-10)",
    "whole (CGA-03)",
    "whole (CGA-16)",
    "ids (CGA-23)",
    "lmem (CGA-28)",
    "flush (CGA-26)",
    "flush (CGA-28)",
    "room (RES-05)",
    "split (RES-07)",
    "unsplit (RES-07)",
    "priority (RES-01)",
    "lots (RES-04)",
    "idle (RES-01)",
    "starved (RES-01)",
    "starved queue (RES-01)",
    "error (PKT-06)",
    "channel (SYS-08)",
    "notice (SYS-26)",
    "occupancy (CGA-29)",
    "suspend (SYS-08)",
    "destroy (SYS-08)",
    "end (REL-10)",
    "end (SYS-08)",
    "leak (REL-05)",
    "ring (REL-11)",
    "visit (REL-11)",
    "command",
    "order",
    "crash",
    "model",
};
#define ALSO  192u /* seeds that may be named beside the range */
#define RULES (sizeof(rules) / sizeof(rules[0]))

struct known {
	char rule[32];
	struct features with;
	char reason[200];
	unsigned met;
};

static struct known known[64];
static unsigned knowns;
static bool explain, each;
static struct {
	unsigned failures, expected;
	struct scenario first;
	char text[440];
} found[RULES];

/* ---- what is known to fail ---- */

/* Lines of "rule | FEATURE,FEATURE | reason". */
static void read_known(const char *path)
{
	char line[400], list[200], *name, *more;
	FILE *file = fopen(path, "r");
	unsigned f;

	while (file && knowns < 64 && fgets(line, sizeof(line), file)) {
		struct known *k = &known[knowns];

		memset(k, 0, sizeof(*k));
		if (line[0] == '#' ||
		    sscanf(line, " %31[^|] | %199[^|] | %199[^\n]", k->rule, list, k->reason) != 3)
			continue;
		while (k->rule[0] && k->rule[strlen(k->rule) - 1] == ' ')
			k->rule[strlen(k->rule) - 1] = 0;
		for (name = strtok_r(list, ", ", &more); name; name = strtok_r(NULL, ", ", &more)) {
			f = feature_find(name);
			if (f < F_COUNT)
				features_add(&k->with, f);
		}
		knowns++;
	}
	if (file)
		fclose(file);
}

static struct known *is_known(const struct scenario *s)
{
	unsigned i, f;

	for (i = 0; i < knowns; i++) {
		if (strcmp(known[i].rule, "*") && strcmp(known[i].rule, failure.rule))
			continue;
		for (f = 0; f < F_COUNT && (!features_has(&known[i].with, f) || features_has(&s->allowed, f));
		     f++)
			;
		if (f == F_COUNT)
			return &known[i];
	}
	return NULL;
}

/* ---- running ---- */

static void failed(const struct scenario *s)
{
	struct known *k = is_known(s);
	unsigned i;

	for (i = 0; i < RULES - 1 && strcmp(rules[i], failure.rule); i++)
		;
	if (each)
		printf("# seed %lu: %s: %s\n", s->seed, failure.rule, failure.text);
	if (k) {
		k->met++;
		found[i].expected++;
		return;
	}
	if (!found[i].failures++) {
		found[i].first = *s;
		snprintf(found[i].text, sizeof(found[i].text), "%s: %s", failure.rule, failure.text);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static unsigned report(unsigned shrink)
{
	unsigned i, k, n = 0, bad = 0;

	for (i = 0; i < RULES; i++) {
		const char *reason = NULL;

		for (k = 0; k < knowns; k++)
			if (!strcmp(known[k].rule, rules[i]))
				reason = "see tests/combine/known";
		if (found[i].failures) {
			bad++;
			printf("not ok %u - REL-10 %s: %u scenarios break it\n", ++n, rules[i],
			       found[i].failures);
			printf("# %s\n", found[i].text);
			if (!shrink) {
				printf("# seed %lu\n", found[i].first.seed);
				continue;
			}
			scenario_shrink(&found[i].first, rules[i], shrink);
			printf("# shrunk: %s: %s\n", failure.rule, failure.text);
			scenario_print(stdout, &found[i].first);
			trace = explain ? stdout : NULL;
			if (trace)
				scenario_run(&found[i].first);
			trace = NULL;
		} else if (found[i].expected) {
			printf("not ok %u - REL-10 %s # TODO %u scenarios, see tests/combine/known\n", ++n,
			       rules[i], found[i].expected);
		} else if (reason) {
			printf("ok %u - REL-10 %s # nothing breaks it any more: take it out of "
			       "tests/combine/known\n",
			       ++n, rules[i]);
		} else {
			printf("ok %u - REL-10 %s\n", ++n, rules[i]);
		}
	}
	for (k = 0; k < knowns; k++)
		printf("# known: %s | %s: %u scenarios%s\n", known[k].rule, known[k].reason, known[k].met,
		       known[k].met ? "" : "; if it was mended take it out of tests/combine/known");
	return bad;
}

static void usage(FILE *file)
{
	fprintf(file, "usage: combine [--seed N] [--count N] [--also N]... [--seconds N] [--only FEATURE,...] [--without "
		      "FEATURE,...] [--known FILE] [--shrink RUNS]\n"
		      "               [--trace] [--explain] [--each] [--table] [--list] [--help]\n");
	exit(file == stdout ? 0 : 2);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 0);

	if (*text >= '0' && *text <= '9' && !*end)
		return value;
	fprintf(stderr, "%s is not a number\n", text);
	usage(stderr);
	return 0;
}

static void parse_only(char *list, struct features *only)
{
	char *more, *name;
	unsigned f;

	for (name = strtok_r(list, ",", &more); name; name = strtok_r(NULL, ",", &more)) {
		f = feature_find(name);
		if (f == F_COUNT) {
			fprintf(stderr, "no feature %s; --list names them\n", name);
			exit(2);
		}
		features_add(only, f);
	}
}

static void run_seed(uint64_t seed, const struct features *only)
{
	struct scenario s;

	scenario_make(&s, seed, only);
	if (trace)
		scenario_print(trace, &s);
	if (!scenario_run(&s))
		failed(&s);
	if (trace && failure.rule[0])
		printf("# %s: %s\n", failure.rule, failure.text);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	    {"seed", 1, NULL, 's'},   {"count", 1, NULL, 'n'},	 {"seconds", 1, NULL, 't'},
	    {"only", 1, NULL, 'o'},   {"without", 1, NULL, 'w'}, {"known", 1, NULL, 'k'},
	    {"shrink", 1, NULL, 'r'}, {"trace", 0, NULL, 'T'},	 {"table", 0, NULL, 'P'},
	    {"list", 0, NULL, 'l'},   {"explain", 0, NULL, 'e'}, {"each", 0, NULL, 'E'},
	    {"also", 1, NULL, 'a'},   {"help", 0, NULL, 'h'},	 {NULL, 0, NULL, 0},
	};
	uint64_t seed = 1, count = 0, also[ALSO], i;
	unsigned alsos = 0;
	double limit = 0, start = seconds();
	struct features only = {{0}}, without = {{0}};
	unsigned shrink = 600, f, holes, bad;
	bool table = false, all;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		switch (option) {
		case 's':
			seed = number(optarg);
			break;
		case 'n':
			count = number(optarg);
			break;
		case 't':
			limit = (double)number(optarg);
			break;
		case 'o':
			parse_only(optarg, &only);
			break;
		case 'w':
			parse_only(optarg, &without);
			only = (struct features){{~without.word[0], ~without.word[1]}};
			break;
		case 'a':
			if (alsos == ALSO)
				usage(stderr);
			also[alsos++] = number(optarg);
			break;
		case 'k':
			read_known(optarg);
			break;
		case 'r':
			shrink = (unsigned)number(optarg);
			break;
		case 'T':
			trace = stdout;
			break;
		case 'P':
			table = true;
			break;
		case 'e':
			explain = true;
			break;
		case 'E':
			each = true;
			break;
		case 'l':
			for (f = 0; f < F_COUNT; f++)
				printf("%s\n", feature_name(f));
			return 0;
		case 'h':
			usage(stdout);
			break;
		default:
			usage(stderr);
		}
	if (optind < argc)
		usage(stderr);
	if (!count && limit == 0)
		count = 1;
	for (i = 0; (!count || i < count) && (limit == 0 || seconds() - start < limit); i++)
		run_seed(seed + i, &only);
	while (alsos)
		run_seed(also[--alsos], &only);
	trace = NULL;
	printf("# %lu scenarios\n", i);
	printf("# most words in the command ring: %u; most packets begun while a queue's oldest one waited: %u; most "
	       "visits in which a task was passed over: %u\n",
	       visits.ring, visits.waited, visits.passed);
	visits_report(&only);
	if (table)
		features_table(stdout);
	all = !(only.word[0] | only.word[1]) && (count >= 2500 || limit >= 60);
	holes = features_holes(all ? stdout : NULL);
	printf("1..%u\n", (unsigned)RULES + 1);
	bad = report(shrink);
	printf("%sok %u - REL-10 %u of %u pairs of features met\n", holes && all ? "not " : "",
	       (unsigned)RULES + 1, features_pairs() - holes, features_pairs());
	return bad || (holes && all);
}

// SPDX-License-Identifier: MIT
/* tutti-conformance: what the driver's calls promise, one defect per subtest (spec SYS-31). KTAP. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "table.h"

static char reason[256];
static const char *skipped;
static const char *only = "";
static const char *group_name;
static bool list_only;
static unsigned number, failed;

bool fail(const char *file, int line, const char *text, long got, long wanted)
{
	if (reason[0]) /* the innermost message says most */
		return false;
	snprintf(reason, sizeof(reason), "%s:%d: %s", file, line, text);
	if (got != wanted)
		snprintf(reason + strlen(reason), sizeof(reason) - strlen(reason), " gives %ld (%s), wanted %ld (%s)",
			 got, strerror((int)got), wanted, strerror((int)wanted));
	return false;
}

const char *fail_text(void)
{
	return reason;
}

bool skip(const char *why)
{
	skipped = why;
	return true;
}

static enum outcome report(const char *name, bool good)
{
	number++;
	if (!good) {
		printf("not ok %u - %s\n# %s\n", number, name, reason);
		failed++;
		return FAILED;
	}
	if (skipped) {
		printf("ok %u - %s # SKIP %s\n", number, name, skipped);
		return SKIPPED;
	}
	printf("ok %u - %s\n", number, name);
	return PASSED;
}

/* @only is a list: a|b */
static bool is_wanted(const char *name)
{
	const char *text = only;

	for (;;) {
		char one[100];
		size_t bytes = strcspn(text, "|");

		snprintf(one, sizeof(one), "%.*s", (int)bytes, text);
		if (strstr(name, one) || strstr(group_name, one))
			return true;
		if (!text[bytes])
			return false;
		text += bytes + 1;
	}
}

enum outcome subtest(const char *name, subtest_fn *run, const void *data)
{
	struct rig rig = {.fd = -1};
	bool good;

	if (!is_wanted(name))
		return NOT_RUN;
	if (list_only) {
		printf("%s\t%s\n", group_name, name);
		return NOT_RUN;
	}
	reason[0] = 0;
	skipped = NULL;
	good = run(&rig, data);
	rig_close(&rig);
	return report(name, good);
}

static bool no_holes(struct rig *rig, const void *data)
{
	EXPECT(0, table_holes());
	return true;
}

/* After all others: what they have noted in the table, whether or not they were run. */
static void table_group(void)
{
	subtest("SYS-31: no call without a subtest for each state, no field without a wrong value", no_holes, NULL);
	if (!list_only && !*only)
		table_print();
}

static bool run_plain(struct rig *rig, const void *data)
{
	const struct subtest *test = data;

	return test->run(rig);
}

void subtests(const struct subtest *tests)
{
	for (; tests->name; tests++)
		subtest(tests->name, run_plain, tests);
}

static const struct group {
	const char *name;
	void (*run)(void);
} groups[] = {
	{"arguments", arguments_group}, {"calls", calls_group},	    {"defects", defects_group},
	{"limits", limits_group},	{"waits", waits_group},
	{"report", report_group},	{"references", references_group},
	{"tenant", tenant_group},	{"dump", dump_group}, {"prompt", prompt_group}, {"leaks", leaks_group},
	{"imported", imported_group},
	{"memory", memory_group},	{"spaces", spaces_group}, {"mmap", mmap_group},	    {"queue", queue_group},
	{"sync", sync_group},		{"trust", trust_group},	    {"process", process_group},
	{"life", life_group},		{"recover", recover_group}, {"reset", reset_group},
	{"killed", killed_group},	{"discovery", discovery_group},
	{"unplug", unplug_group},	{"power", power_group},	    {"storm", storm_group},
	{"faults", faults_group},	{"policy", policy_group}, {"tracing", tracing_group}, {"core", core_group},
	{"table", table_group},
};

static void usage(FILE *out)
{
	fputs("usage: tutti-conformance [options]\n"
	      "Checks tutti.ko call by call; needs root for resets and what follows them. KTAP on stdout.\n"
	      "  --device NODE    /dev/accel/accelN or /dev/dri/renderDN (default: the first of tutti's)\n"
	      "  --pci ADDRESS    may unbind, remove and rescan this card: hot-unplug and power subtests\n"
	      "  --inject COMMAND COMMAND KIND [ARG] makes a fault happen in the card (emulated cards only)\n"
	      "  --plug COMMAND   puts a card into the empty slot: subtests that pull the card out\n"
	      "  --only TEXT|...  subtests and groups whose name contains one of the TEXTs\n"
	      "  --rounds N       how often the storms kill, remove and open (default 20)\n"
	      "  --seed N         of whatever is random (default: the time)\n"
	      "  --list           print names, run nothing\n",
	      out);
}

static int options(int argc, char **argv)
{
	static const struct option longs[] = {
		{"device", required_argument, NULL, 'd'}, {"pci", required_argument, NULL, 'p'},
		{"inject", required_argument, NULL, 'i'}, {"only", required_argument, NULL, 'o'},
		{"plug", required_argument, NULL, 'g'},
		{"rounds", required_argument, NULL, 'r'}, {"seed", required_argument, NULL, 's'},
		{"list", no_argument, NULL, 'l'},	  {"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		switch (option) {
		case 'd': device_path = optarg; break;
		case 'p': pci_address = optarg; break;
		case 'i': inject_command = optarg; break;
		case 'g': plug_command = optarg; break;
		case 'o': only = optarg; break;
		case 'r': rounds = (unsigned)atoi(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'l': list_only = true; break;
		case 'h': usage(stdout); exit(0);
		default: usage(stderr); return 2;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	int fd, error;

	seed = now_ns();
	error = options(argc, argv);
	if (error)
		return error;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!list_only) {
		printf("KTAP version 1\n# seed %llu\n", (unsigned long long)seed);
		fd = device_open();
		if (fd < 0) {
			puts("1..0 # SKIP no node of tutti.ko");
			return 4;
		}
		close(fd);
	}
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		group_name = groups[g].name;
		groups[g].run();
	}
	if (!list_only)
		printf("1..%u\n", number);
	return failed ? 1 : 0;
}

// SPDX-License-Identifier: MIT
/* tutti-conformance: what the driver's calls promise, one defect per subtest (spec SYS-31). KTAP. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"

static char reason[256];

bool fail(const char *file, int line, const char *text, long got, long wanted)
{
	snprintf(reason, sizeof(reason), "%s:%d: %s", file, line, text);
	if (got != wanted)
		snprintf(reason + strlen(reason), sizeof(reason) - strlen(reason), " gives %ld (%s), wanted %ld (%s)",
			 got, strerror((int)got), wanted, strerror((int)wanted));
	return false;
}

static const struct {
	const char *name;
	const struct subtest *tests;
} groups[] = {
	{"arguments", arguments_tests},
	{"memory", memory_tests},
	{"queue", queue_tests},
	{"life", life_tests},
};

static bool run(const struct subtest *test)
{
	struct rig rig = {.fd = -1};
	bool good;

	reason[0] = 0;
	good = test->run(&rig);
	rig_close(&rig);
	return good;
}

int main(int argc, char **argv)
{
	const char *only = "";
	unsigned number = 0, failed = 0;
	int fd;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--device") && i + 1 < argc) {
			device_path = argv[++i];
		} else if (!strcmp(argv[i], "--pci") && i + 1 < argc) {
			pci_address = argv[++i];
		} else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
			only = argv[++i];
		} else {
			fputs("usage: tutti-conformance [--device NODE] [--pci ADDRESS] [--only TEXT]\n", stderr);
			return 2;
		}
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("KTAP version 1");
	fd = device_open();
	if (fd < 0) {
		puts("1..0 # SKIP no node of tutti.ko");
		return 4;
	}
	close(fd);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		for (const struct subtest *test = groups[g].tests; test->name; test++) {
			if (!strstr(test->name, only) && !strstr(groups[g].name, only))
				continue;
			if (run(test)) {
				printf("ok %u - %s: %s\n", ++number, groups[g].name, test->name);
				continue;
			}
			printf("not ok %u - %s: %s\n# %s\n", ++number, groups[g].name, test->name, reason);
			failed++;
		}
	}
	printf("1..%u\n", number);
	return failed ? 1 : 0;
}

/* SPDX-License-Identifier: MIT */
#include "live/choice.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* The device file of the card at PCI address @address: that of an accelerator, or a render node on older kernels. */
static bool node_of(const char *address, char *name, size_t bytes)
{
	static const char *const patterns[] = {
		"/sys/bus/pci/devices/%s/accel/accel*", "/sys/bus/pci/devices/%s/drm/renderD*"
	};
	static const char *const folders[] = { "/dev/accel", "/dev/dri" };
	char pattern[128];
	bool found = false;

	for (unsigned i = 0; i < 2 && !found; i++) {
		glob_t matches;

		snprintf(pattern, sizeof(pattern), patterns[i], address);
		if (glob(pattern, 0, NULL, &matches))
			continue;
		snprintf(name, bytes, "drm:%s/%s", folders[i], strrchr(matches.gl_pathv[0], '/') + 1);
		globfree(&matches);
		found = true;
	}
	return found;
}

static bool is_pci_address(const char *text)
{
	unsigned domain, bus, slot, function;
	int end = 0;

	return sscanf(text, "%4x:%2x:%2x.%1u%n", &domain, &bus, &slot, &function, &end) == 4 && !text[end];
}

bool device_choose(const char *text)
{
	char name[PATH_MAX + 8];
	uint64_t number;

	if (is_pci_address(text)) {
		if (!node_of(text, name, sizeof(name))) {
			fprintf(stderr, "tutti: at PCI address %s is no card that the driver tutti serves\n", text);
			return false;
		}
	} else if (number_read(text, 65535, &number)) {
		snprintf(name, sizeof(name), "drm:/dev/accel/accel%u", (unsigned)number);
	} else if (*text == '/') {
		snprintf(name, sizeof(name), "drm:%s", text);
	} else {
		snprintf(name, sizeof(name), "%s", text);
	}
	return !setenv("TUTTI_DEVICE", name, 1);
}

/* Takes away @count arguments from @at. */
static void arguments_drop(int *argc, char **argv, int at, int count)
{
	memmove(argv + at, argv + at + count, (size_t)(*argc - at - count + 1) * sizeof(*argv));
	*argc -= count;
}

/* The value of -d, --device or --device= at @at, and how many arguments it takes; NULL if there is none. */
static const char *value_at(int argc, char **argv, int at, int *count)
{
	const char *text = argv[at];

	*count = 1;
	if (!strncmp(text, "--device=", 9))
		return text + 9;
	if (!strncmp(text, "-d", 2) && text[2] && text[2] != '-')
		return text + 2;
	*count = 2;
	if (!strcmp(text, "-d") || !strcmp(text, "--device"))
		return at + 1 < argc ? argv[at + 1] : "";
	*count = 0;
	return NULL;
}

int device_option(int *argc, char **argv, int from, int to)
{
	for (int at = from; at < *argc && at < to && strcmp(argv[at], "--");) {
		int count;
		const char *value = value_at(*argc, argv, at, &count);

		if (!value) {
			at++;
			continue;
		}
		if (!*value)
			return tool_usage_error("-d", "a device is wanted");
		if (!device_choose(value))
			return EXIT_FAILS;
		arguments_drop(argc, argv, at, count);
		to -= count;
	}
	return EXIT_WORKS;
}

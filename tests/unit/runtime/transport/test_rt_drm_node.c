/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=open,--wrap=stat,--wrap=readlink */
/* A card that is there but cannot be opened: the user learns which one and why (SYS-42). */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "tutti.h"

/* Two nodes, of which the second is one of tutti.ko. Neither is to be opened. */
static const char *const nodes[] = {"/dev/accel/accel0", "/dev/accel/accel1"};
static const char *const drivers[] = {"../../bus/pci/drivers/other", "../../bus/pci/drivers/tutti"};
static int reason;

static int node_of(const char *path)
{
	for (int i = 0; i < 2; i++)
		if (!strcmp(path, nodes[i]))
			return i;
	return -1;
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	errno = node_of(path) < 0 ? ENOENT : reason;
	return -1;
}

int __real_stat(const char *path, struct stat *stat);
int __wrap_stat(const char *path, struct stat *stat);
int __wrap_stat(const char *path, struct stat *stat)
{
	if (node_of(path) < 0)
		return __real_stat(path, stat);
	*stat = (struct stat){.st_rdev = makedev(261, (unsigned)node_of(path))};
	return 0;
}

ssize_t __real_readlink(const char *path, char *to, size_t bytes);
ssize_t __wrap_readlink(const char *path, char *to, size_t bytes);
ssize_t __wrap_readlink(const char *path, char *to, size_t bytes)
{
	for (unsigned i = 0; i < 2; i++) {
		char link[64];

		snprintf(link, sizeof(link), "/sys/dev/char/261:%u/device/driver", i);
		if (strcmp(path, link))
			continue;
		assert_true(strlen(drivers[i]) <= bytes);
		memcpy(to, drivers[i], strlen(drivers[i])); /* a link has no zero at its end */
		return (ssize_t)strlen(drivers[i]);
	}
	return __real_readlink(path, to, bytes);
}

static char said[4][256];
static unsigned lines;

static void on_message(const char *line)
{
	snprintf(said[lines++ % 4], sizeof(said[0]), "%s", line);
}

static void reasons_are_said(void **state)
{
	static const int reasons[] = {EACCES, EMFILE};
	struct tutti_device_options options = {.name = "drm"};
	struct tutti_device *device;

	tutti_message_handler(on_message);
	for (unsigned i = 0; i < 2; i++) {
		lines = 0;
		reason = reasons[i];
		assert_int_equal(tutti_device_open(&options, &device), -ENODEV);
		assert_int_equal(lines, 2); /* the other one is no concern of the user's */
		assert_non_null(strstr(said[0], nodes[1]));
		assert_non_null(strstr(said[0], strerror(reason)));
	}
	tutti_message_handler(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-42: why a card cannot be opened", reasons_are_said, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SYS-42 nodes of the driver", tests, NULL, NULL);
}

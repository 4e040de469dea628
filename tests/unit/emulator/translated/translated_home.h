/* SPDX-License-Identifier: MIT */
/* A folder of its own for each test of translations. */
#ifndef TUTTI_TEST_TRANSLATED_HOME_H
#define TUTTI_TEST_TRANSLATED_HOME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulator/translated/parts.h"
#include "emulator/translated/translated.h"
#include "open_files.h"

static char home[64];

static inline int setup(void **state)
{
	strcpy(home, "/tmp/tutti-folder-XXXXXX");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	return mkdtemp(home) ? 0 : -1;
}

static inline int teardown(void **state)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -r %s", home);
	return system(command);
}

/* How many threads this process has. */
static inline unsigned threads(void)
{
	DIR *list = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned n = 0;

	assert_non_null(list);
	while ((entry = readdir(list)))
		n += entry->d_name[0] != '.';
	closedir(list);
	return n;
}

static inline const char *below(const char *path)
{
	static char whole[512];

	snprintf(whole, sizeof(whole), "%s/%s", home, path);
	return whole;
}

#endif

// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=mkdtemp */
/* The cache folder of translations: where it is, what is made on the way to it, and when it is not trusted. */
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

static char home[64];
static bool full; /* no more folders can be made for a while */

char *__real_mkdtemp(char *path);
char *__wrap_mkdtemp(char *path);

char *__wrap_mkdtemp(char *path)
{
	return full ? NULL : __real_mkdtemp(path);
}

static int setup(void **state)
{
	strcpy(home, "/tmp/tutti-folder-XXXXXX");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	return mkdtemp(home) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -r %s", home);
	return system(command);
}

static const char *below(const char *path)
{
	static char whole[512];

	snprintf(whole, sizeof(whole), "%s/%s", home, path);
	return whole;
}

/* @folder holds @name and nothing else. */
static void only(const char *folder, const char *name)
{
	DIR *list = opendir(below(folder));
	const struct dirent *entry;
	unsigned n = 0;

	assert_non_null(list);
	while ((entry = readdir(list)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
			assert_string_equal(entry->d_name, name);
			n++;
		}
	assert_int_equal(n, 1);
	closedir(list);
}

static bool opens(const char *path)
{
	struct stat is, should;
	int folder = cache_open();

	if (folder < 0)
		return false;
	assert_int_equal(fstat(folder, &is) | stat(below(path), &should), 0);
	assert_true(is.st_ino == should.st_ino && is.st_dev == should.st_dev);
	assert_int_equal(should.st_mode & 0777, 0700);
	close(folder);
	return true;
}

/* Every folder of the path is made, and none besides them; once it is there it stays as it is. */
static void made(void **state)
{
	setenv("XDG_CACHE_HOME", below("deep/er"), 1);
	for (unsigned i = 0; i < 2; i++) {
		assert_true(opens("deep/er/tutti/translations"));
		only("", "deep");
		only("deep", "er");
		only("deep/er", "tutti");
		only("deep/er/tutti", "translations");
	}
}

/* XDG_CACHE_HOME before HOME; both count only if they are absolute. */
static void places(void **state)
{
	assert_false(opens(""));
	setenv("HOME", below("h"), 1);
	assert_true(opens("h/.cache/tutti/translations"));
	setenv("XDG_CACHE_HOME", below("x"), 1);
	assert_true(opens("x/tutti/translations"));
	setenv("XDG_CACHE_HOME", "relative", 1);
	assert_true(opens("h/.cache/tutti/translations"));
	setenv("XDG_CACHE_HOME", "", 1);
	assert_true(opens("h/.cache/tutti/translations"));
	setenv("HOME", "relative", 1);
	assert_false(opens(""));
	assert_int_equal(access("relative", F_OK), -1);
}

/* What others may enter, a link, or a file is not the cache folder. */
static void trust(void **state)
{
	static const mode_t modes[] = {0701, 0710, 0740, 0720, 0777};
	char folder[512];

	setenv("XDG_CACHE_HOME", home, 1);
	assert_true(opens("tutti/translations"));
	strcpy(folder, below("tutti/translations"));
	for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		chmod(folder, modes[i]);
		assert_false(opens("tutti/translations"));
	}
	chmod(folder, 0700);
	assert_true(opens("tutti/translations"));
	assert_int_equal(rename(folder, below("elsewhere")), 0);
	assert_int_equal(symlink(below("elsewhere"), folder), 0);
	assert_false(opens("tutti/translations"));
	assert_int_equal(unlink(folder), 0);
	fclose(fopen(folder, "w"));
	assert_false(opens("tutti/translations"));
}

static unsigned threads(void)
{
	DIR *list = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(list);
	while (readdir(list))
		n++;
	closedir(list);
	return n;
}

/* Without any folder code is interpreted, and no thread begins to translate it. */
static void nowhere(void **state)
{
	static const char *const modes[] = {"wait", "background"};
	static const uint32_t code[] = {0x00150513, 0x00000073};
	const unsigned before = threads();

	for (unsigned i = 0; i < 2; i++) {
		struct translator *translator;

		setenv("TUTTI_TRANSLATE", modes[i], 1);
		translator = translator_create(NULL, NULL);
		assert_non_null(strstr(translator_text(translator), "compiled by"));
		full = true;
		for (unsigned k = 0; k < 2; k++)
			assert_null(translator_find(translator, (const uint8_t *)code, sizeof(code)));
		full = false;
		assert_int_equal(threads(), before);
		translator_destroy(translator);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: the cache folder is made", made, setup, teardown, NULL},
	    {"SYS-51: where the cache folder is", places, setup, teardown, NULL},
	    {"SYS-51: when the cache folder is not trusted", trust, setup, teardown, NULL},
	    {"SYS-51: when there is no folder at all", nowhere, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("translations: their folder", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=mkdtemp -Wl,--wrap=geteuid -Wl,--wrap=getauxval */
/*
 * The cache folder of translations: where it is, what is made on the way to it, when it is not trusted, and what is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <time.h>

#include "translated_home.h"

#define KEPT	  512u  /* files that stay */
#define LOOKED_AT 2048u /* files that one call of cache_bound() looks at */

static bool full;    /* no more folders can be made for a while */
static bool another; /* whose files are there is another user's */
static bool secure;  /* the program has more rights than its user */
static char newest[64]; /* the folder that mkdtemp() was called for last */

char *__real_mkdtemp(char *path);
char *__wrap_mkdtemp(char *path);

char *__wrap_mkdtemp(char *path)
{
	char *result = full ? NULL : __real_mkdtemp(path);

	snprintf(newest, sizeof(newest), "%s", path);
	return result;
}

uid_t __real_geteuid(void);
uid_t __wrap_geteuid(void);

uid_t __wrap_geteuid(void)
{
	return __real_geteuid() + another;
}

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);

unsigned long __wrap_getauxval(unsigned long type)
{
	return type == AT_SECURE ? secure : __real_getauxval(type);
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
	const unsigned files = open_files();
	char folder[512];

	setenv("XDG_CACHE_HOME", home, 1);
	assert_true(opens("tutti/translations"));
	another = true;
	assert_false(opens("tutti/translations"));
	another = false;
	secure = true; /* its user chooses the environment */
	assert_false(opens("tutti/translations"));
	secure = false;
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
	assert_int_equal(open_files(), files);
}

/* Files of other users are not trusted, and there is no folder for this process alone that is not its own. */
static void others(void **state)
{
	const unsigned files = open_files();
	int folder = open(home, O_RDONLY | O_DIRECTORY), file;
	char path[64];

	fclose(fopen(below("a.so"), "w"));
	assert_int_equal(chmod(below("a.so"), 0600), 0);
	file = cache_trusted(folder, "a.so");
	assert_true(file >= 0);
	close(file);
	another = true;
	assert_int_equal(cache_trusted(folder, "a.so"), -1);
	assert_int_equal(cache_spare(path), -1);
	assert_string_equal(path, "");
	another = false;
	assert_int_equal(access(newest, F_OK), -1);
	close(folder);
	assert_int_equal(open_files(), files);
}

/* ---- what is removed ---- */

/* A file or, with @mode 0, a folder that was used @seconds ago. */
static void old(int folder, const char *name, mode_t mode, time_t seconds, off_t bytes)
{
	const struct timespec used = {.tv_sec = time(NULL) - seconds}, times[2] = {used, used};
	int file;

	if (!mode) {
		assert_int_equal(mkdirat(folder, name, 0700), 0);
	} else {
		file = openat(folder, name, O_CREAT | O_WRONLY, mode);
		assert_int_equal(ftruncate(file, bytes), 0);
		close(file);
	}
	assert_int_equal(utimensat(folder, name, times, 0), 0);
}

static bool is_there(int folder, const char *name)
{
	return !faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Folders to work in which a crash has left are removed with what they hold; whoever may still use one keeps it. */
static void left_behind(void **state)
{
	const unsigned files = open_files();
	int folder = open(home, O_RDONLY | O_DIRECTORY), inside;

	old(folder, "work-1-1", 0, 0, 0);
	inside = openat(folder, "work-1-1", O_RDONLY | O_DIRECTORY);
	old(inside, "unit.c", 0600, 0, 9);
	old(inside, "unit.so", 0600, 0, 9);
	assert_int_equal(futimens(inside, (const struct timespec[2]){{.tv_sec = 1000}, {.tv_sec = 1000}}), 0);
	close(inside);
	old(folder, "work-2-1", 0, 1800, 0);
	old(folder, "word-3-1", 0, 7200, 0);
	old(folder, "work-file", 0600, 7200, 0);
	cache_bound(folder);
	assert_false(is_there(folder, "work-1-1"));
	assert_true(is_there(folder, "work-2-1"));
	assert_true(is_there(folder, "word-3-1"));
	assert_true(is_there(folder, "work-file"));
	close(folder);
	assert_int_equal(open_files(), files);
}

/* 128 MiB are kept, and those that were used last; what no translation is called stays and does not count. */
static void bytes_kept(void **state)
{
	static const char longest[] = "0123456789012345678901234567890123456.so"; /* one more than a name has */
	const unsigned files = open_files();
	int folder = open(home, O_RDONLY | O_DIRECTORY);

	old(folder, "first.so", 0600, 10, (128 << 20) - 7);
	old(folder, "second.so", 0600, 20, 7);
	old(folder, longest, 0600, 5, 1 << 20);
	old(folder, "folder.so", 0, 5, 0);
	cache_bound(folder);
	assert_true(is_there(folder, "first.so") && is_there(folder, "second.so") && is_there(folder, longest));
	old(folder, "third.so", 0600, 15, 1);
	cache_bound(folder);
	assert_true(is_there(folder, "first.so") && is_there(folder, "third.so") && is_there(folder, longest));
	assert_true(is_there(folder, "folder.so"));
	assert_false(is_there(folder, "second.so"));
	close(folder);
	assert_int_equal(open_files(), files);
}

/* Return: how many of @files files are left; @newest: how many of the KEPT that were used last, which have the lowest numbers */
static unsigned left_of(int folder, unsigned files, unsigned *newest)
{
	unsigned left = 0;

	*newest = 0;
	for (unsigned i = 0; i < files; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u.so", i);
		left += is_there(folder, name);
		*newest += i < KEPT && is_there(folder, name);
	}
	return left;
}

/* The 512 files that were used last are kept. If there are very many, each call looks at a part of them. */
static void files_kept(void **state)
{
	int folder = open(home, O_RDONLY | O_DIRECTORY);
	const unsigned files = 2100;
	unsigned newest;

	for (unsigned i = 0; i < files; i++) {
		unsigned n = i * 7919 % files; /* in no order */
		const struct timespec used = {.tv_sec = 1000000 - n}, times[2] = {used, used};
		char name[16];
		int file;

		snprintf(name, sizeof(name), "%u.so", n);
		file = openat(folder, name, O_CREAT | O_WRONLY, 0600);
		assert_int_equal(futimens(file, times), 0);
		close(file);
	}
	cache_bound(folder);
	assert_int_equal(left_of(folder, files, &newest), files - LOOKED_AT + KEPT);
	assert_int_equal(newest, KEPT);
	for (unsigned i = 0; i < 2; i++) {
		cache_bound(folder);
		assert_int_equal(left_of(folder, files, &newest), KEPT);
		assert_int_equal(newest, KEPT);
	}
	close(folder);
}

/*
 * The folder of a single process, and those that compilers work in, are removed with all that they hold, and at once if they
 * cannot be opened.
 */
static void folders_go(void **state)
{
	const unsigned files = open_files();
	int folder = open(home, O_RDONLY | O_DIRECTORY), spare, work;
	struct rlimit kept, none;
	char path[64], name[64];

	spare = cache_spare(path);
	assert_true(spare >= 0);
	old(spare, "a.so", 0600, 0, 1);
	cache_spare_remove(spare, path);
	assert_int_equal(access(path, F_OK), -1);
	work = cache_work(folder, name);
	assert_true(work >= 0 && is_there(folder, name));
	old(work, "unit.c", 0600, 0, 1);
	cache_work_remove(folder, work, name);
	assert_false(is_there(folder, name));
	getrlimit(RLIMIT_NOFILE, &kept);
	none = kept;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	spare = cache_spare(path);
	work = cache_work(folder, name);
	setrlimit(RLIMIT_NOFILE, &kept);
	assert_int_equal(spare, -1);
	assert_int_equal(access(newest, F_OK), -1);
	assert_int_equal(work, -1);
	assert_false(is_there(folder, name));
	close(folder);
	assert_int_equal(open_files(), files);
}

/* The report names the folder that there is or will be, and counts the files in it, not what else is there. */
static void usage(void **state)
{
	const unsigned files = open_files();
	char path[CACHE_PATH], folder[512];
	uint32_t n = 77;
	uint64_t bytes = 77;
	int at;

	setenv("XDG_CACHE_HOME", home, 1);
	strcpy(folder, below("tutti/translations"));
	cache_usage(path, &n, &bytes);
	assert_string_equal(path, folder);
	assert_int_equal(n + bytes, 0);
	at = cache_open();
	old(at, "a.so", 0600, 0, 100);
	old(at, "b.so", 0600, 0, 23);
	old(at, "work-1-1", 0, 0, 0);
	assert_int_equal(symlinkat("a.so", at, "c.so"), 0);
	close(at);
	cache_usage(path, &n, &bytes);
	assert_string_equal(path, folder);
	assert_int_equal(n, 2);
	assert_int_equal(bytes, 123);
	another = true;
	cache_usage(path, &n, &bytes);
	another = false;
	assert_string_equal(path, "");
	assert_int_equal(n + bytes, 0);
	assert_int_equal(rename(folder, below("elsewhere")), 0);
	fclose(fopen(folder, "w"));
	cache_usage(path, &n, &bytes);
	assert_string_equal(path, "");
	assert_int_equal(open_files(), files);
}

/* A program may have closed its standard input, so that folders have its number. */
static void without_stdin(void **state)
{
	int kept = dup(0), folder = open(home, O_RDONLY | O_DIRECTORY);
	const unsigned files = open_files();
	char path[CACHE_PATH], name[64], spare[64];
	uint64_t bytes;
	uint32_t n;

	setenv("XDG_CACHE_HOME", home, 1);
	close(0);
	assert_int_equal(cache_open(), 0);
	old(0, "a.so", 0600, 0, 1);
	close(0);
	cache_usage(path, &n, &bytes);
	assert_int_equal(n, 1);
	assert_int_equal(cache_spare(spare), 0);
	old(0, "a.so", 0600, 0, 1);
	cache_spare_remove(0, spare);
	assert_int_equal(access(spare, F_OK), -1);
	another = true;
	assert_int_equal(cache_open(), -1);
	errno = ENOENT; /* of something else */
	cache_usage(path, &n, &bytes);
	assert_string_equal(path, "");
	another = false;
	assert_int_equal(cache_work(folder, name), 0);
	old(0, "unit.c", 0600, 0, 1);
	cache_work_remove(folder, 0, name);
	assert_false(is_there(folder, name));
	old(folder, "work-1-1", 0, 7200, 0);
	cache_bound(folder);
	assert_false(is_there(folder, "work-1-1"));
	assert_int_equal(open_files(), files - 1);
	dup2(kept, 0);
	close(kept);
	close(folder);
}

/* The same when it is the descriptor for listing a folder that gets number 0. */
static void emptied_without_stdin(void **state)
{
	int kept = dup(0), folder = open(home, O_RDONLY | O_DIRECTORY), work, alone;
	const unsigned files = open_files();
	char name[64], spare[64];

	work = cache_work(folder, name);
	alone = cache_spare(spare);
	assert_true(work > 0 && alone > 0);
	close(0);
	old(work, "unit.c", 0600, 0, 1);
	cache_work_remove(folder, work, name);
	assert_false(is_there(folder, name));
	old(alone, "a.so", 0600, 0, 1);
	cache_spare_remove(alone, spare);
	assert_int_equal(access(spare, F_OK), -1);
	assert_int_equal(open_files(), files - 1);
	dup2(kept, 0);
	close(kept);
	close(folder);
}

/* ---- without a folder ---- */

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

/* A program that finds no folder at first may find the cache later, and leaves in it what others have translated. */
static void later(void **state)
{
	static const uint32_t code[] = {0x00150513, 0x00000073}, more[] = {0x00250513, 0x00000073};
	int folder;

	setenv("XDG_CACHE_HOME", home, 1);
	setenv("TUTTI_TRANSLATE", "wait", 1);
	setenv("TUTTI_HOST_CC", "/bin/false", 1);
	folder = cache_open();
	old(folder, "a.so", 0600, 0, 1);
	for (unsigned i = 0; i < 2; i++) {
		struct translator *translator = translator_create(NULL, NULL);

		another = true;
		full = i;
		assert_null(translator_find(translator, (const uint8_t *)code, sizeof(code)));
		another = full = false;
		assert_null(translator_find(translator, (const uint8_t *)more, sizeof(more)));
		translator_destroy(translator);
		assert_true(is_there(folder, "a.so"));
	}
	unsetenv("TUTTI_HOST_CC");
	close(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: the cache folder is made", made, setup, teardown, NULL},
	    {"SYS-51: where the cache folder is", places, setup, teardown, NULL},
	    {"SYS-51: when the cache folder is not trusted", trust, setup, teardown, NULL},
	    {"SYS-51: files and folders of other users", others, setup, teardown, NULL},
	    {"SYS-51: what crashes have left is removed", left_behind, setup, teardown, NULL},
	    {"SYS-51: how many files are kept", files_kept, setup, teardown, NULL},
	    {"SYS-51: how much is kept", bytes_kept, setup, teardown, NULL},
	    {"SYS-51: folders that are not needed any more", folders_go, setup, teardown, NULL},
	    {"SYS-51: what the report says of the folder", usage, setup, teardown, NULL},
	    {"SYS-51: folders without a standard input", without_stdin, setup, teardown, NULL},
	    {"SYS-51: folders are emptied without a standard input", emptied_without_stdin, setup, teardown, NULL},
	    {"SYS-51: when there is no folder at all", nowhere, setup, teardown, NULL},
	    {"SYS-51: when there is no folder at first", later, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("translations: their folder", tests, NULL, NULL);
}

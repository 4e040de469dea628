// SPDX-License-Identifier: MIT
/*
 * The cache folder, tutti/translations below $XDG_CACHE_HOME or ~/.cache. What is in it is executed in this process: the folder
 * has to be the user's own, and closed to all others, and so do the files.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emulator/translated/parts.h"

#define BYTES_MOST  (128ll << 20)
#define FILES_MOST  512u
#define STALE	    3600 /* in seconds: a folder to work in that is older has been left behind */
#define FOLDER_OPEN (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* ---- opening it ---- */

static bool own_folder(int folder)
{
	struct stat status;

	return !fstat(folder, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 077);
}

/* Make @path, and what lies above it, as far as it is not there. */
static void make(const char *path)
{
	char part[CACHE_PATH];

	for (size_t n = 1; path[n - 1]; n++) {
		if (path[n] && path[n] != '/')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		mkdir(part, 0700);
	}
}

/* A folder of its own below tutti/, which others may look into. Return: false: there is none. */
static bool find_path(char path[static CACHE_PATH])
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	path[0] = 0;
	if (getauxval(AT_SECURE))
		return false;
	if (base && base[0] == '/')
		snprintf(path, CACHE_PATH, "%.4000s/tutti/translations", base);
	else if (home && home[0] == '/')
		snprintf(path, CACHE_PATH, "%.4000s/.cache/tutti/translations", home);
	return path[0];
}

int cache_open(void)
{
	char path[CACHE_PATH];
	int folder;

	if (!find_path(path))
		return -1;
	make(path);
	folder = open(path, FOLDER_OPEN);
	if (folder >= 0 && own_folder(folder))
		return folder;
	if (folder >= 0)
		close(folder);
	return -1;
}

int cache_spare(char path[static 64])
{
	int folder;

	snprintf(path, 64, "/tmp/tutti-XXXXXX");
	if (mkdtemp(path)) {
		folder = open(path, FOLDER_OPEN);
		if (folder >= 0 && own_folder(folder))
			return folder;
		cache_spare_remove(folder, path);
	}
	path[0] = 0;
	return -1;
}

int cache_trusted(int folder, const char *name)
{
	int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat status;

	if (file < 0)
		return -1;
	if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 022))
		return file;
	close(file);
	return -1;
}

/* ---- folders to work in ---- */

/* Remove all files in @folder. It holds no folders. */
static void empty(int folder)
{
	int copy = openat(folder, ".", FOLDER_OPEN);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (copy >= 0 && !list)
		close(copy);
	while (list && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(folder, entry->d_name, 0);
	if (list)
		closedir(list);
}

void cache_spare_remove(int folder, const char *path)
{
	if (folder >= 0) {
		empty(folder);
		close(folder);
	}
	rmdir(path);
}

int cache_work(int folder, char name[static 64])
{
	static uint32_t number;
	int work;

	snprintf(name, 64, "work-%ld-%u", (long)getpid(), __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
	if (mkdirat(folder, name, 0700))
		return -1;
	work = openat(folder, name, FOLDER_OPEN);
	if (work < 0)
		unlinkat(folder, name, AT_REMOVEDIR);
	return work;
}

void cache_work_remove(int folder, int work, const char *name)
{
	empty(work);
	close(work);
	unlinkat(folder, name, AT_REMOVEDIR);
}

/* ---- its size ---- */

struct old {
	char name[KEY_BYTES];
	time_t used;
	off_t bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct old *fa = a, *fb = b;

	return fa->used < fb->used ? 1 : fa->used > fb->used ? -1 : 0;
}

/* Remove a folder to work in whose process has ended long ago. */
static void sweep(int folder, const char *name, const struct stat *status)
{
	int work;

	if (strncmp(name, "work-", 5) || !S_ISDIR(status->st_mode) || status->st_mtime + STALE > time(NULL))
		return;
	work = openat(folder, name, FOLDER_OPEN);
	if (work >= 0)
		cache_work_remove(folder, work, name);
}

/* List the files of @folder in @old, @most at most. Return: how many there are. */
static size_t list_files(int folder, DIR *list, struct old *old, size_t most)
{
	struct dirent *entry;
	struct stat status;
	size_t n = 0;

	while ((entry = readdir(list)) && n < most) {
		if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW))
			continue;
		sweep(folder, entry->d_name, &status);
		if (!S_ISREG(status.st_mode) || strlen(entry->d_name) >= KEY_BYTES)
			continue;
		strcpy(old[n].name, entry->d_name);
		old[n].used = status.st_mtime;
		old[n++].bytes = status.st_size;
	}
	return n;
}

void cache_usage(char path[static CACHE_PATH], uint32_t *files, uint64_t *bytes)
{
	int folder = find_path(path) ? open(path, FOLDER_OPEN) : -1;
	bool missing = folder < 0 && errno == ENOENT; /* it is made when it is needed */
	DIR *list = folder >= 0 && own_folder(folder) ? fdopendir(folder) : NULL;
	struct dirent *entry;
	struct stat status;

	*files = 0;
	*bytes = 0;
	if (!list && !missing)
		path[0] = 0;
	if (!list && folder >= 0)
		close(folder);
	while (list && (entry = readdir(list))) {
		if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
			continue;
		++*files;
		*bytes += (uint64_t)status.st_size;
	}
	if (list)
		closedir(list);
}

void cache_bound(int folder)
{
	size_t most = 4 * FILES_MOST, n;
	struct old *old = calloc(most, sizeof(*old));
	int copy = openat(folder, ".", FOLDER_OPEN);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	off_t bytes = 0;

	if (copy >= 0 && !list)
		close(copy);
	if (!old || !list) {
		free(old);
		if (list)
			closedir(list);
		return;
	}
	n = list_files(folder, list, old, most);
	qsort(old, n, sizeof(*old), by_age);
	for (size_t i = 0; i < n; i++) {
		bytes += old[i].bytes;
		if (i >= FILES_MOST || bytes > BYTES_MOST)
			unlinkat(folder, old[i].name, 0);
	}
	closedir(list);
	free(old);
}

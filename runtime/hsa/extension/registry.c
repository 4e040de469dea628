// SPDX-License-Identifier: MIT
#include "hsa/extension/registry.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hsa/code/code.h"

#define MODULE_SUFFIX ".brig"
#define CODE_SUFFIX   ".tco"

static bool read_whole(int folder, const char *name, void **bytes, size_t *size)
{
	int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is no entry, and would wait */
	bool ok = file >= 0 && code_read_file(file, bytes, size) && *bytes;

	if (file >= 0)
		close(file);
	return ok;
}

static bool is_same(int folder, const char *name, const struct module *module)
{
	void *bytes;
	size_t size;
	bool same;

	if (!read_whole(folder, name, &bytes, &size))
		return false;
	same = size == module->bytes && !memcmp(bytes, module->start, size);
	free(bytes);
	return same;
}

/* Code of the module in the file @name. */
static bool take_code(int folder, const char *name, void **code, size_t *bytes)
{
	char path[NAME_MAX + sizeof(CODE_SUFFIX)];

	snprintf(path, sizeof(path), "%.*s" CODE_SUFFIX, (int)(strlen(name) - strlen(MODULE_SUFFIX)), name);
	return read_whole(folder, path, code, bytes);
}

static bool is_module(const char *name)
{
	size_t length = strlen(name), suffix = strlen(MODULE_SUFFIX);

	return length > suffix && !strcmp(name + length - suffix, MODULE_SUFFIX);
}

bool registry_find(const struct module *module, void **code, size_t *bytes)
{
	const char *path = getenv("TUTTI_HSAIL_REGISTRY");
	DIR *folder = opendir(path ? path : REGISTRY_FOLDER);
	const struct dirent *entry;
	bool found = false;

	while (folder && !found && (entry = readdir(folder)))
		if (is_module(entry->d_name) && is_same(dirfd(folder), entry->d_name, module))
			found = take_code(dirfd(folder), entry->d_name, code, bytes);
	if (folder)
		closedir(folder);
	return found;
}

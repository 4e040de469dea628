// SPDX-License-Identifier: MIT
/*
 * What was compiled, as a file. It ends with a sum of its contents, since a machine that lost its power may have left half of
 * it, and it has inside the code that it was made from, so that names may be equal by chance.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulator/cpu/hash.h"
#include "emulator/translated/parts.h"

#define BYTES_MOST (64ll << 20)

struct seal {
	char magic[8];
	uint64_t sum;
};

static const char magic[8] = "tutti-tr";

/* Read all of @file. Return: memory that the caller frees, or NULL. */
static uint8_t *read_all(int file, size_t *bytes)
{
	struct stat status;
	uint8_t *data;
	ssize_t got;
	size_t at = 0;

	if (fstat(file, &status) || status.st_size <= 0 || status.st_size > BYTES_MOST)
		return NULL;
	*bytes = (size_t)status.st_size;
	data = calloc(1, *bytes);
	while (data && at < *bytes) {
		got = pread(file, data + at, *bytes - at, (off_t)at);
		if (got <= 0) {
			free(data);
			return NULL;
		}
		at += (size_t)got;
	}
	return data;
}

bool library_seal(int folder, const char *name)
{
	int file = openat(folder, name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
	struct seal seal;
	uint8_t *data;
	size_t bytes;
	bool good;

	data = file < 0 ? NULL : read_all(file, &bytes);
	if (data) {
		memcpy(seal.magic, magic, sizeof(magic));
		seal.sum = cpu_hash(data, bytes);
	}
	good = data && write(file, &seal, sizeof(seal)) == sizeof(seal) && !fchmod(file, 0600);
	free(data);
	if (file >= 0 && close(file))
		good = false;
	return good;
}

static bool intact(int file)
{
	struct seal seal = {{0}, 0};
	size_t bytes = 0;
	uint8_t *data = read_all(file, &bytes);
	bool good = data && bytes > sizeof(seal);

	if (good) {
		memcpy(&seal, data + bytes - sizeof(seal), sizeof(seal));
		good = !memcmp(seal.magic, magic, sizeof(magic)) && seal.sum == cpu_hash(data, bytes - sizeof(seal));
	}
	free(data);
	return good;
}

static bool is_of(void *library, const uint8_t *code, uint64_t bytes)
{
	const char *version = dlsym(library, SYMBOL "_version");
	const uint8_t *origin = dlsym(library, SYMBOL "_code");
	const uint64_t *origin_bytes = dlsym(library, SYMBOL "_bytes");

	return version && origin && origin_bytes && !strcmp(version, source_version()) && *origin_bytes == bytes &&
	       !memcmp(origin, code, bytes);
}

const struct cpu_translation *library_open(int folder, const char *name, const uint8_t *code, uint64_t bytes)
{
	const struct cpu_translation *translation = NULL;
	int file = cache_trusted(folder, name);
	char path[128];
	void *library;

	if (file < 0)
		return NULL;
	/* What was used longest ago is removed first. */
	futimens(file, NULL);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", folder, name);
	library = intact(file) ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	close(file);
	if (!library)
		return NULL;
	if (is_of(library, code, bytes))
		translation = dlsym(library, SYMBOL);
	if (!translation)
		dlclose(library);
	return translation;
}

static uint64_t mix(uint64_t hash, const void *data, uint64_t bytes)
{
	const uint8_t *at = data;

	while (bytes--)
		hash = (hash ^ *at++) * 0x100000001b3ull + (hash >> 47);
	return hash;
}

void library_key(char name[static KEY_BYTES], const struct compiler *compiler, const uint8_t *code, uint64_t bytes)
{
	uint64_t low = 0xcbf29ce484222325ull, high = 0x9e3779b97f4a7c15ull;

	low = mix(mix(mix(low, compiler->identity, strlen(compiler->identity)), source_version(), strlen(source_version())), code,
		  bytes);
	high = mix(mix(high, code, bytes), &low, sizeof(low));
	snprintf(name, KEY_BYTES, "%016llx%016llx.so", (unsigned long long)high, (unsigned long long)low);
}

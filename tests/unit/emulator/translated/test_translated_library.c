// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=pread */
/* Cached files are sealed when they are complete. They are opened only if the seal is right and nobody else could write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulator/cpu/hash.h"
#include "emulator/translated/parts.h"
#include "open_files.h"

#define SEAL 16u		   /* bytes: a word that names it and a sum */
#define MOST ((off_t)64 << 20)	   /* bytes of a file */

static const uint8_t code[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static char home[64];
static int folder;

static size_t most = SIZE_MAX; /* the most bytes that one pread() gives */
static off_t end = MOST * 2;   /* pread() from this offset on returns end_result */
static ssize_t end_result;

ssize_t __real_pread(int file, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at);

ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at)
{
	if (at >= end)
		return end_result;
	bytes = bytes < most ? bytes : most;
	return __real_pread(file, to, bytes < (size_t)(end - at) ? bytes : (size_t)(end - at), at);
}

static int setup(void **state)
{
	strcpy(home, "/tmp/tutti-library-XXXXXX");
	if (!mkdtemp(home))
		return -1;
	folder = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder < 0;
}

static int teardown(void **state)
{
	char command[160];

	close(folder);
	snprintf(command, sizeof(command), "rm -r %s", home);
	return system(command);
}

static void file_of(const char *name, off_t size)
{
	int file = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(file >= 0);
	assert_int_equal(write(file, "what was compiled", 17), 17);
	assert_int_equal(ftruncate(file, size), 0);
	close(file);
}

static off_t size_of(const char *name)
{
	struct stat status;

	assert_int_equal(fstatat(folder, name, &status, 0), 0);
	return status.st_size;
}

/* The seal is a checksum of everything before it; once sealed, only the owner may use the file. */
static void sealed(void **state)
{
	static const off_t sizes[] = {1, 17, 4096};
	unsigned files = open_files();

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint8_t data[4096 + SEAL];
		struct stat status;
		uint64_t sum;
		int file;

		file_of("a.so", sizes[i]);
		assert_true(library_seal(folder, "a.so"));
		file = openat(folder, "a.so", O_RDONLY | O_CLOEXEC);
		assert_int_equal(read(file, data, sizeof(data)), sizes[i] + SEAL);
		assert_int_equal(fstat(file, &status), 0);
		close(file);
		assert_int_equal(status.st_mode & 0777, 0600);
		assert_memory_equal(data, "what was compiled", sizes[i] < 17 ? 1 : 17);
		assert_memory_equal(data + sizes[i], "tutti-tr", 8);
		memcpy(&sum, data + sizes[i] + 8, sizeof(sum));
		assert_true(sum == cpu_hash(data, (uint64_t)sizes[i]));
	}
	assert_int_equal(open_files(), files);
}

/* Some files are not sealed: missing ones, links, empty ones, and any larger than a translation can be. */
static void not_sealed(void **state)
{
	unsigned files = open_files();

	assert_false(library_seal(folder, "none.so"));
	file_of("a.so", 17);
	assert_int_equal(symlinkat("a.so", folder, "link.so"), 0);
	assert_false(library_seal(folder, "link.so"));
	assert_int_equal(size_of("a.so"), 17);
	file_of("empty.so", 0);
	assert_false(library_seal(folder, "empty.so"));
	assert_int_equal(size_of("empty.so"), 0);
	file_of("large.so", MOST + 1);
	assert_false(library_seal(folder, "large.so"));
	assert_int_equal(size_of("large.so"), MOST + 1);
	file_of("large.so", MOST);
	assert_true(library_seal(folder, "large.so"));
	assert_int_equal(size_of("large.so"), MOST + SEAL);
	assert_int_equal(open_files(), files);
}

/* What an object says about itself; "" for a symbol that it does not have. */
struct object {
	const char *version, *code, *bytes, *translation;
};

static void compile(const char *name, const struct object *object)
{
	char command[512], path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/unit.c", home);
	file = fopen(path, "w");
	fprintf(file, "%s\n%s\n%s\n%s\n", object->version, object->code, object->bytes, object->translation);
	fclose(file);
	snprintf(command, sizeof(command), "cc -shared -fPIC -o %s/%s %s && rm %s", home, name, path, path);
	assert_int_equal(system(command), 0);
	assert_true(library_seal(folder, name));
}

static struct object good_object(void)
{
	static char version[256];

	snprintf(version, sizeof(version), "const char tutti_translated_version[] = \"%s\";", source_version());
	return (struct object){
		version,
		"const unsigned char tutti_translated_code[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};",
		"const unsigned long tutti_translated_bytes = 10;",
		"const long tutti_translated[64] = {0};",
	};
}

static bool opens(const char *name, uint64_t bytes)
{
	return library_open(folder, name, code, bytes);
}

static int count_object(struct dl_phdr_info *info, size_t bytes, void *n)
{
	++*(unsigned *)n;
	return 0;
}

/* How many libraries this process has loaded. */
static unsigned loaded(void)
{
	unsigned n = 0;

	dl_iterate_phdr(count_object, &n);
	return n;
}

/* It is opened for the code that it was made from by this version, and for nothing else. */
static void what_it_was_made_from(void **state)
{
	uint8_t other[sizeof(code)];
	const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	struct object object = good_object();
	unsigned files, libraries;
	struct stat status;

	compile("good.so", &object);
	files = open_files();
	assert_int_equal(utimensat(folder, "good.so", long_ago, 0), 0);
	assert_true(opens("good.so", sizeof(code)));
	libraries = loaded();
	assert_int_equal(fstatat(folder, "good.so", &status, 0), 0);
	assert_true(status.st_mtime > 1000); /* it has been used, so that others are removed before it */
	assert_false(opens("good.so", sizeof(code) - 1));
	for (unsigned i = 0; i < sizeof(code); i++) {
		memcpy(other, code, sizeof(code));
		other[i] ^= 0x80;
		assert_null(library_open(folder, "good.so", other, sizeof(other)));
	}
	object.version = "const char tutti_translated_version[] = \"another\";";
	compile("version.so", &object);
	assert_false(opens("version.so", sizeof(code)));
	for (unsigned i = 0; i < 4; i++) {
		char name[16];

		object = good_object();
		*(i == 0 ? &object.version : i == 1 ? &object.code : i == 2 ? &object.bytes : &object.translation) = "";
		snprintf(name, sizeof(name), "less%u.so", i);
		compile(name, &object);
		assert_false(opens(name, sizeof(code)));
	}
	assert_int_equal(open_files(), files);
	assert_int_equal(loaded(), libraries); /* libraries that were refused have been unloaded */
}

/* A program may have closed its standard input, so that files have its number, when they are sealed and when they are opened. */
static void without_stdin(void **state)
{
	struct object object = good_object();
	int kept = dup(0);

	compile("good.so", &object);
	file_of("a.so", 17);
	close(0);
	assert_true(library_seal(folder, "a.so"));
	assert_int_equal(fcntl(0, F_GETFD), -1);
	assert_true(opens("good.so", sizeof(code)));
	assert_int_equal(fcntl(0, F_GETFD), -1);
	dup2(kept, 0);
	close(kept);
	assert_int_equal(size_of("a.so"), 17 + SEAL);
}

/* Files may be read in pieces. One that cannot be read to its end is neither sealed nor opened. */
static void pieces(void **state)
{
	struct object object = good_object();
	unsigned files;

	compile("good.so", &object);
	file_of("a.so", 17);
	files = open_files();
	most = 1000;
	assert_true(opens("good.so", sizeof(code)));
	for (end_result = -1; end_result <= 0; end_result++) {
		end = 2000;
		assert_false(opens("good.so", sizeof(code)));
		end = 10;
		assert_false(library_seal(folder, "a.so"));
		end = MOST * 2;
	}
	most = 5;
	assert_true(library_seal(folder, "a.so"));
	most = SIZE_MAX;
	assert_int_equal(size_of("a.so"), 17 + SEAL);
	assert_int_equal(open_files(), files);
}

static void copy_good(const char *name)
{
	char command[256];

	snprintf(command, sizeof(command), "cp %s/good.so %s/%s", home, home, name);
	assert_int_equal(system(command), 0);
}

static void copy_changed(const char *name, off_t at)
{
	uint8_t byte;
	int file;

	copy_good(name);
	file = openat(folder, name, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(file, &byte, 1, at), 1);
	byte ^= 1;
	assert_int_equal(pwrite(file, &byte, 1, at), 1);
	assert_int_equal(fchmod(file, 0600), 0);
	close(file);
}

/* A file with a wrong bit anywhere, or without its end, is never loaded, since loading it would run its code. */
static void damaged(void **state)
{
	struct object object = good_object();
	off_t size;

	compile("good.so", &object);
	size = size_of("good.so");
	for (unsigned i = 0; i < 24; i++) {
		copy_changed("changed.so", i < SEAL + 2 ? size - 1 - (off_t)i : (off_t)(i - SEAL - 2) * 100);
		assert_false(opens("changed.so", sizeof(code)));
	}
	for (off_t cut = 1; cut <= SEAL + 1; cut++) {
		int file;

		copy_good("cut.so");
		file = openat(folder, "cut.so", O_WRONLY | O_CLOEXEC);
		assert_int_equal(ftruncate(file, size - cut), 0);
		close(file);
		assert_false(opens("cut.so", sizeof(code)));
	}
	/* a seal alone is no file */
	file_of("seal.so", 1);
	assert_true(library_seal(folder, "seal.so"));
	assert_false(opens("seal.so", sizeof(code)));
}

/* Files that others could have written are not opened, as their mode or their type tells. */
static void trusted(void **state)
{
	static const struct {
		mode_t mode;
		bool good;
	} rows[] = {{0600, true}, {0644, true}, {0400, true}, {0620, false}, {0602, false}, {0666, false}};
	unsigned files = open_files();
	int file;

	file_of("a", 17);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(fchmodat(folder, "a", rows[i].mode, 0), 0);
		file = cache_trusted(folder, "a");
		assert_int_equal(file >= 0, rows[i].good);
		if (file >= 0)
			close(file);
	}
	assert_int_equal(fchmodat(folder, "a", 0600, 0), 0);
	assert_int_equal(symlinkat("a", folder, "link"), 0);
	assert_int_equal(mkdirat(folder, "directory", 0700), 0);
	assert_int_equal(mkfifoat(folder, "pipe", 0600), 0);
	assert_int_equal(cache_trusted(folder, "none"), -1);
	assert_int_equal(cache_trusted(folder, "link"), -1);
	assert_int_equal(cache_trusted(folder, "directory"), -1);
	assert_int_equal(cache_trusted(folder, "pipe"), -1);
	assert_int_equal(open_files(), files);
}

/* The file name depends on every byte of the code, its length and the compiler, and on nothing else. */
static void keys(void **state)
{
	struct compiler compiler = {.identity = "a compiler"}, newer = {.identity = "b compiler"}, moved = compiler;
	char first[KEY_BYTES], key[KEY_BYTES];
	uint8_t other[sizeof(code)];

	library_key(first, &compiler, code, sizeof(code));
	assert_int_equal(strlen(first), 32 + 3);
	assert_int_equal(strspn(first, "0123456789abcdef"), 32);
	assert_string_equal(first + 32, ".so");
	strcpy(moved.path, "/elsewhere");
	library_key(key, &moved, code, sizeof(code));
	assert_string_equal(key, first);
	library_key(key, &newer, code, sizeof(code));
	assert_string_not_equal(key, first);
	library_key(key, &compiler, code, sizeof(code) - 1);
	assert_string_not_equal(key, first);
	for (unsigned i = 0; i < 8 * sizeof(code); i++) {
		memcpy(other, code, sizeof(code));
		other[i / 8] ^= (uint8_t)(1u << i % 8);
		library_key(key, &compiler, other, sizeof(other));
		assert_true(memcmp(key, first, 16) && memcmp(key + 16, first + 16, 16)); /* both halves */
	}
}

static const uint32_t insns[] = {0x00150513 /* addi a0, a0, 1 */, 0x00000073 /* ecall */};

/* The source cannot be written if one of its files already exists as a folder. */
static void no_place_for_the_source(void **state)
{
	static const char *const names[] = {"generated.h", "unit.c"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		unlinkat(folder, "generated.h", 0);
		assert_int_equal(mkdirat(folder, names[i], 0700), 0);
		assert_false(source_write(folder, (const uint8_t *)insns, sizeof(insns)));
		assert_int_equal(unlinkat(folder, names[i], AT_REMOVEDIR), 0);
	}
	unlinkat(folder, "generated.h", 0);
}

/* What a compiler has written counts only if it ends well: not if it fails afterwards, nor if it is killed. */
static void ends_of_compilers(void **state)
{
	static const char *const ends[] = {"exit 0", "exit 1", "kill -KILL $$", "kill -TERM $$"};

	assert_true(source_write(folder, (const uint8_t *)insns, sizeof(insns)));
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		for (unsigned background = 0; background < 2; background++) {
			struct compiler compiler;
			char script[96];
			FILE *file;

			snprintf(script, sizeof(script), "%s/cc%u%u", home, i, background);
			file = fopen(script, "w");
			fprintf(file, "#!/bin/sh\ncc \"$@\"\n%s\n", ends[i]);
			fclose(file);
			assert_int_equal(chmod(script, 0755), 0);
			setenv("TUTTI_HOST_CC", script, 1);
			compiler_find(&compiler);
			assert_string_equal(compiler.path, script);
			assert_int_equal(compiler_run(&compiler, folder, sizeof(insns), background), i == 0);
			assert_int_equal(unlinkat(folder, "unit.so", 0), 0); /* it was written each time */
			assert_int_equal(compiler.running, 0);
		}
	unsetenv("TUTTI_HOST_CC");
}

/* A compiler is found by its name or by its path, but only if the file may be executed. */
static void compilers(void **state)
{
	struct compiler compiler, again;
	char path[96], kept[4096];

	snprintf(kept, sizeof(kept), "%s", getenv("PATH"));
	snprintf(path, sizeof(path), "%s/own-cc", home);
	file_of("own-cc", 17);
	assert_int_equal(fchmodat(folder, "own-cc", 0644, 0), 0);
	setenv("TUTTI_HOST_CC", path, 1);
	compiler_find(&compiler);
	assert_string_equal(compiler.path, "");
	assert_int_equal(fchmodat(folder, "own-cc", 0755, 0), 0);
	compiler_find(&compiler);
	assert_string_equal(compiler.path, path);
	setenv("TUTTI_HOST_CC", "own-cc", 1);
	compiler_find(&again);
	assert_string_equal(again.path, "");
	setenv("PATH", home, 1);
	compiler_find(&again);
	assert_string_equal(again.path, path);
	assert_string_equal(again.identity, compiler.identity);
	file_of("own-cc", 18); /* an update */
	compiler_find(&again);
	assert_string_not_equal(again.identity, compiler.identity);
	setenv("TUTTI_HOST_CC", "", 1); /* as if unset: the usual names are tried, none of which exists here */
	compiler_find(&again);
	assert_string_equal(again.path, "");
	setenv("PATH", kept, 1);
	compiler_find(&again);
	assert_string_not_equal(again.path, "");
	unsetenv("TUTTI_HOST_CC");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: files are sealed", sealed, setup, teardown, NULL},
	    {"SYS-51: what is not sealed", not_sealed, setup, teardown, NULL},
	    {"SYS-51: files are sealed without a standard input", without_stdin, setup, teardown, NULL},
	    {"SYS-51: a translation is of one code and one version", what_it_was_made_from, setup, teardown, NULL},
	    {"SYS-51: files that are read in pieces", pieces, setup, teardown, NULL},
	    {"SYS-51: damaged files are not loaded", damaged, setup, teardown, NULL},
	    {"SYS-51: files of others are not trusted", trusted, setup, teardown, NULL},
	    {"SYS-51: no place for the source", no_place_for_the_source, setup, teardown, NULL},
	    {"SYS-51: a compiler that ends badly", ends_of_compilers, setup, teardown, NULL},
	    {"SYS-51: which compiler is used", compilers, setup, teardown, NULL},
	    {"SYS-51: names of files", keys, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("translations: their files", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=calloc -Wl,--wrap=malloc -Wl,--wrap=realloc */
/*
 * SYS-10, SYS-51: kernels are translated in an application's process. Lack of memory must not end that process: whichever
 * allocation fails, the kernel is interpreted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/translated/parts.h"
#include "emulator/translated/translated.h"

static unsigned left = ~0u; /* so many allocations succeed before one fails */
static unsigned failed;
static char folder[64];

void *__real_calloc(size_t n, size_t bytes);
void *__real_malloc(size_t bytes);
void *__real_realloc(void *old, size_t bytes);

static bool fails(void)
{
	bool now = !left--;

	failed += now;
	return now;
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __real_calloc(n, bytes);
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __real_realloc(old, bytes);
}

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/tutti-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	setenv("XDG_CACHE_HOME", folder, 1);
	setenv("TUTTI_TRANSLATE", "wait", 1);
	unsetenv("TUTTI_HOST_CC");
	return 0;
}

static int remove_folder(void **state)
{
	char command[128];

	left = ~0u;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static size_t read_all(int at, const char *name, uint8_t *text, size_t most)
{
	int file = openat(at, name, O_RDONLY);
	ssize_t bytes = read(file, text, most);

	assert_in_range(bytes, 1, most - 1);
	close(file);
	return (size_t)bytes;
}

/* The source for the compiler is written completely, or writing it fails. */
static void every_allocation_of_the_source(void **state)
{
	static const char *const guests[] = {CPU_GUESTS "/loops.text", CPU_GUESTS "/mixed.text"};
	static uint8_t code[65536], whole[4u << 20], again[4u << 20];
	int at = open(folder, O_RDONLY | O_DIRECTORY);

	for (unsigned guest = 0; guest < 2; guest++) {
		size_t bytes = read_all(AT_FDCWD, guests[guest], code, sizeof(code)), length;
		unsigned n = 0;

		assert_true(source_write(at, code, bytes));
		length = read_all(at, "unit.c", whole, sizeof(whole));
		for (bool good = false; !good; n++) {
			unlinkat(at, "unit.c", 0);
			unlinkat(at, "generated.h", 0);
			left = n;
			failed = 0;
			good = source_write(at, code, bytes);
			left = ~0u;
			assert_int_equal(failed, !good);
		}
		assert_in_range(n, 20, 100000); /* so many allocations are made at least */
		assert_int_equal(read_all(at, "unit.c", again, sizeof(again)), length);
		assert_memory_equal(again, whole, length);
		unlinkat(at, "unit.c", 0);
		unlinkat(at, "generated.h", 0);
	}
	close(at);
}

/* Allocations around the translation: for the code object, for the compiler's process. */
static void every_allocation_of_a_load(void **state)
{
	static uint8_t code[] = {0x13, 0x05, 0x15, 0x00, 0x73, 0x00, 0x00, 0x00}; /* addi a0, a0, 1; ecall */
	unsigned n = 0;

	do {
		const struct cpu_translation *translation;
		struct translator *translator;

		left = n++;
		failed = 0;
		translator = translator_create(NULL, NULL);
		translation = translator_find(translator, code, sizeof(code));
		left = ~0u;
		assert_true(failed || translation);
		if (n <= 8) /* later allocations only serve the cache, which may hold the translation already */
			assert_null(translation);
		translator_destroy(translator);
	} while (failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{"SYS-10, SYS-51: no memory for the C text of a kernel", every_allocation_of_the_source, make_folder, remove_folder, NULL},
		{"SYS-10, SYS-51: no memory to have a kernel translated", every_allocation_of_a_load, make_folder, remove_folder, NULL},
	};

	return cmocka_run_group_tests_name("translator: no memory", tests, NULL, NULL);
}

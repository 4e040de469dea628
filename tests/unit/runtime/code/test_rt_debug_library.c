/* SPDX-License-Identifier: MIT */
/* link: -Wl,--no-as-needed -ldw */
/* link: -Wl,--wrap=dlopen,--wrap=dlsym */
/*
 * Without libdw, or with one that lacks a function, nothing is known of arguments and lines, and nothing else goes wrong
 * (SYS-58). The program itself is linked with libdw, so that its functions would be found in another place.
 */
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "code/debug.h"

static bool no_library;
static unsigned asked, lacks; /* the how many-th function does not exist; 0: all do */

void *__real_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags);
void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);

void *__wrap_dlopen(const char *path, int flags)
{
	return no_library ? NULL : __real_dlopen(path, flags);
}

void *__wrap_dlsym(void *library, const char *name)
{
	return ++asked == lacks ? NULL : __real_dlsym(library, name);
}

static int visit(const struct tutti_argument *argument, void *context)
{
	return 0;
}

/* The library is looked for once in a process, so that each case has its own. Return: what its status says. */
static int in_a_process(void)
{
	struct debug_file file = {.data = (void *)"no code", .bytes = 7};
	char text[16];
	int status;
	pid_t child = fork();

	if (!child) {
		int error = debug_arguments(&file, "kernel", visit, NULL);

		_exit(debug_line(&file, 0, text, sizeof(text)) || asked > 30 ? 99 : -error);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void not_there(void **state)
{
	no_library = true;
	assert_int_equal(in_a_process(), ENOTSUP);
	no_library = false;
	assert_int_equal(in_a_process(), ENODATA); /* of which this is no file */
}

static void not_complete(void **state)
{
	for (lacks = 1; in_a_process() == ENOTSUP; lacks++)
		;
	assert_in_range(lacks - 1, 10, 30); /* functions that are needed */
	assert_int_equal(in_a_process(), ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(not_there), cmocka_unit_test(not_complete)};

	return cmocka_run_group_tests_name("SYS-58 without debug information", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* link: -Wl,--no-as-needed -ldw */
/* link: -Wl,--wrap=dlopen,--wrap=dlsym */
/*
 * Without libdw, or with a libdw that lacks a function, arguments and lines are unknown, and nothing else goes wrong
 * (SYS-58). This program itself is linked with libdw, so that dlsym() would find its functions even without a library
 * from dlopen(): code that ignored the failure of dlopen() would be noticed.
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
static unsigned asked, lacks; /* number of calls of dlsym(), and which of them fails; 0: none */

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

/* The library is opened only once per process, so each case runs in a child process. Return: its exit status. */
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
	assert_int_equal(in_a_process(), ENODATA); /* libdw is there, but this is not an ELF file */
}

static void not_complete(void **state)
{
	for (lacks = 1; in_a_process() == ENOTSUP; lacks++)
		;
	assert_in_range(lacks - 1, 10, 30); /* the number of functions that are needed */
	assert_int_equal(in_a_process(), ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(not_there), cmocka_unit_test(not_complete)};

	return cmocka_run_group_tests_name("SYS-58 debug information without libdw", tests, NULL, NULL);
}

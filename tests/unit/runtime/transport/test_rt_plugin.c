/* SPDX-License-Identifier: MIT */
/* link: -Wl,--allow-multiple-definition,--wrap=dlopen,--wrap=dlsym,--wrap=dlerror,--wrap=access,--wrap=own_folder */
/* Which plug-in is taken for the emulated card, and where it is looked for, in a program that is not linked with it
 * (SYS-06). */
#define TUTTI_LIBDIR "/installed/lib"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "transport/card_plugin.h"
#undef TUTTI_CARD_PLUGIN_SYMBOL
#define TUTTI_CARD_PLUGIN_SYMBOL "card_that_is_not_linked"
#include "transport/card_plugin.c"

#include "tutti.h"

static const char *present;   /* the only file that can be read; NULL: none can */
static const char *beside;    /* the library's folder; NULL: it is not known */
static bool loads, has_table; /* whether it can be loaded, and has what is looked for */
static struct tutti_card_plugin table;
static pid_t child;
static char loaded[PATH_MAX + 64], looked[8][PATH_MAX + 64], heard[512];
static unsigned looks, loadings;
static bool forks; /* while it is loaded, another thread of the program calls fork() */

int __wrap_access(const char *path, int mode);
void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlsym(void *file, const char *name);
char *__wrap_dlerror(void);
bool __wrap_own_folder(char folder[PATH_MAX]);

int __wrap_access(const char *path, int mode)
{
	assert_int_equal(mode, R_OK);
	assert_true(looks < 8);
	snprintf(looked[looks++], sizeof(looked[0]), "%s", path);
	return present && !strcmp(path, present) ? 0 : -1;
}

void *__wrap_dlopen(const char *path, int flags)
{
	assert_true(flags & RTLD_NODELETE); /* its threads may run at any time */
	snprintf(loaded, sizeof(loaded), "%s", path);
	loadings++;
	if (forks) {
		forks = false;
		child = fork();
		if (!child) {
			alarm(10);
			_exit(card_plugin() != &table);
		}
	}
	return loads ? &table : NULL;
}

void *__wrap_dlsym(void *file, const char *name)
{
	assert_ptr_equal(file, &table);
	assert_string_equal(name, TUTTI_CARD_PLUGIN_SYMBOL);
	return has_table ? &table : NULL;
}

char *__wrap_dlerror(void)
{
	return "reasons";
}

bool __wrap_own_folder(char folder[PATH_MAX])
{
	if (beside)
		strcpy(folder, beside);
	return beside != NULL;
}

static void hear(const char *line)
{
	snprintf(heard, sizeof(heard), "%s", line);
}

static int setup(void **state)
{
	table =
	    (struct tutti_card_plugin){.abi = TUTTI_CARD_PLUGIN_ABI, .config_bytes = sizeof(struct tutti_card_config)};
	loads = has_table = true;
	beside = "/lib";
	present = "/lib/" TUTTI_CARD_PLUGIN_FILE;
	looks = loadings = 0;
	*heard = 0;
	tutti_message_handler(hear);
	return 0;
}

/* Beside the library comes first, then where it is installed. */
static void places(void **state)
{
	static const char *const files[] = {"/lib/" TUTTI_CARD_PLUGIN_FILE, "/lib/tutti/" TUTTI_CARD_PLUGIN_FILE,
					    "/lib/../lib/tutti/" TUTTI_CARD_PLUGIN_FILE,
					    "/installed/lib/tutti/" TUTTI_CARD_PLUGIN_FILE};

	for (unsigned i = 0; i < 4; i++) {
		present = files[i];
		looks = 0;
		assert_ptr_equal(find_and_open(), &table);
		assert_string_equal(loaded, files[i]);
		assert_int_equal(looks, i + 1);
		for (unsigned k = 0; k <= i; k++)
			assert_string_equal(looked[k], files[k]);
	}
	assert_string_equal(heard, "");
	beside = NULL;
	looks = 0;
	assert_ptr_equal(find_and_open(), &table);
	assert_int_equal(looks, 1);
	present = NULL;
	loadings = 0;
	assert_null(find_and_open());
	assert_int_equal(loadings, 0);
	assert_non_null(strstr(heard, "not installed"));
}

/* It is refused unless both table and settings are of this version, and what is wrong is said. */
static void versions(void **state)
{
	for (unsigned wrong = 0; wrong < 4; wrong++) {
		table.abi = TUTTI_CARD_PLUGIN_ABI + (wrong & 1);
		table.config_bytes = sizeof(struct tutti_card_config) - (wrong & 2);
		*heard = 0;
		assert_ptr_equal(find_and_open(), wrong ? NULL : &table);
		assert_int_equal(!wrong, !strstr(heard, "another version"));
	}
	has_table = false;
	assert_null(find_and_open());
	assert_non_null(strstr(heard, "reasons"));
	*heard = 0;
	loads = false;
	assert_null(find_and_open());
	assert_non_null(strstr(heard, "reasons"));
}

/* The plug-in is looked for in each call until it has been found. Later calls return the same one. */
static void asked_again(void **state)
{
	present = NULL;
	assert_null(card_plugin());
	assert_int_equal(loadings, 0);
	looks = 0;
	present = "/lib/" TUTTI_CARD_PLUGIN_FILE;
	for (unsigned i = 0; i < 3; i++)
		assert_ptr_equal(card_plugin(), &table);
	assert_int_equal(loadings, 1);
	assert_int_equal(pthread_mutex_trylock(&lock), 0); /* card_plugin() has released it */
	assert_int_equal(pthread_mutex_unlock(&lock), 0);
}

/* A child process can load it, too, also if another thread of its parent was just about to. */
static void child_of_the_program(void **state)
{
	int status;

	opened = NULL;
	forks = true;
	assert_ptr_equal(card_plugin(), &table);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    {"SYS-06: where the plug-in is looked for", places, setup, NULL, NULL},
	    {"SYS-06: the plug-in is loaded once", asked_again, setup, NULL, NULL},
	    {"SYS-06: which plug-in is refused", versions, setup, NULL, NULL},
	    {"SYS-06: a child process loads the plug-in", child_of_the_program, setup, NULL, NULL},
	};

	return cmocka_run_group_tests_name("SYS-06 the plug-in of the emulated card", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* link: -Wl,--wrap=clone */
/* Which compiler has code translated, what surrounds it while it runs, and the thread that waits for it. */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>

#include "translated_home.h"

/* Make a shell script pass for the compiler: what it prints to file 3 is written into the test's folder. */
static void compiler_of(struct compiler *compiler, const char *script)
{
	char path[512];
	FILE *file;

	strcpy(path, below("cc"));
	file = fopen(path, "w");
	fprintf(file, "#!/bin/sh\nexec 3>told\n%s\n", script);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
	setenv("TUTTI_HOST_CC", path, 1);
	compiler_find(compiler);
	assert_string_equal(compiler->path, path);
}

static sigset_t blocked_at_clone;

int __real_clone(int (*function)(void *), void *stack, int flags, void *data);
int __wrap_clone(int (*function)(void *), void *stack, int flags, void *data);

/*
 * Note which signals are blocked in our program. The second process calls this, too, on a stack that AddressSanitizer does
 * not know.
 */
__attribute__((no_sanitize("address"))) int __wrap_clone(int (*function)(void *), void *stack, int flags, void *data)
{
	if (!(flags & CLONE_VFORK))
		pthread_sigmask(SIG_SETMASK, NULL, &blocked_at_clone);
	return __real_clone(function, stack, flags, data);
}

static const char *told(void)
{
	static char text[1024];
	FILE *file = fopen(below("told"), "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

/* A compiler runs in the folder with limits, reads and prints nothing, and has neither our files nor our signals. */
static void surroundings(void **state)
{
	static const char script[] = "pwd -P >&3\n"
				     "echo $(ulimit -t) $(ulimit -v) $(ulimit -c) >&3\n"
				     "echo $(readlink /proc/$$/fd/0) $(readlink /proc/$$/fd/1) $(readlink /proc/$$/fd/2) >&3\n"
				     "test -e /proc/$$/fd/77 && echo file 77 >&3\n"
				     "grep -E '^Sig(Blk|Pnd)' /proc/$$/status | tr '\\t\\n' '  ' >&3\n"
				     "echo $LC_ALL $TMPDIR $HOME $SECRET >&3\n";
	int folder = open(home, O_RDONLY | O_DIRECTORY);
	const unsigned files = open_files();
	struct compiler compiler;
	sigset_t some, before, after;
	struct rlimit core;
	char want[512];

	getrlimit(RLIMIT_CORE, &core);
	core.rlim_cur = core.rlim_max; /* the program itself may leave a core */
	setrlimit(RLIMIT_CORE, &core);
	setenv("HOME", "/home/somebody", 1);
	setenv("SECRET", "secret", 1);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	sigprocmask(SIG_SETMASK, &some, &before);
	dup2(folder, 77);
	compiler_of(&compiler, script);
	assert_true(compiler_run(&compiler, folder, 8, false));
	close(77);
	sigprocmask(SIG_SETMASK, &before, &after);
	for (int i = 1; i < 32; i++)
		assert_int_equal(sigismember(&after, i), i == SIGUSR2);
	snprintf(want, sizeof(want), "%s\n120 4194304 0\n/dev/null /dev/null /dev/null\n", home);
	snprintf(want + strlen(want), sizeof(want) - strlen(want),
		 "SigPnd: %016x SigBlk: %016x C . /home/somebody\n", 0, 0);
	assert_string_equal(told(), want);
	assert_int_equal(open_files(), files);
	unsetenv("SECRET");
	close(folder);
}

/*
 * All signals are blocked while a compiler starts, since a handler would run in a new process that shares our memory. The C
 * library reserves two signals, which it does not let us block.
 */
static void no_handlers(void **state)
{
	int folder = open(home, O_RDONLY | O_DIRECTORY);
	struct compiler compiler;

	compiler_of(&compiler, "true");
	sigemptyset(&blocked_at_clone);
	assert_true(compiler_run(&compiler, folder, 8, false));
	for (int i = 1; i <= SIGRTMAX; i++)
		if (i != SIGKILL && i != SIGSTOP && (i < 32 || i >= SIGRTMIN))
			assert_true(sigismember(&blocked_at_clone, i));
	close(folder);
}

/* A daemon may have closed its standard files, so that the folder or the null device has one of their numbers. */
static void of_a_daemon(void **state)
{
	for (int closed = 1; closed <= 6; closed++) {
		int kept[3], folder = closed > 3 ? open(home, O_RDONLY | O_DIRECTORY) : -1, early = folder;
		struct compiler compiler;
		bool good;

		compiler_of(&compiler, "echo $(readlink /proc/$$/fd/0) $(readlink /proc/$$/fd/1) $(readlink /proc/$$/fd/2) >&3");
		fflush(stdout);
		for (int i = 0; i < 3; i++)
			kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
		for (int i = 0; i <= (closed - 1) % 3; i++)
			close(i);
		if (early < 0)
			folder = open(home, O_RDONLY | O_DIRECTORY);
		good = compiler_run(&compiler, folder, 8, false);
		close(folder);
		for (int i = 0; i < 3; i++) {
			dup2(kept[i], i);
			close(kept[i]);
		}
		assert_int_equal(folder, early < 0 ? 0 : early);
		assert_true(good);
		assert_string_equal(told(), "/dev/null /dev/null /dev/null\n");
		assert_int_equal(unlink(below("told")), 0);
	}
}

/* A program that takes no notice of how its children end has code translated all the same, and still takes no notice. */
static void children_ignored(void **state)
{
	static const struct sigaction ways[] = {{.sa_handler = SIG_IGN}, {.sa_flags = SA_NOCLDWAIT}};
	int folder = open(home, O_RDONLY | O_DIRECTORY);
	struct compiler compiler;

	compiler_of(&compiler, "true");
	for (unsigned i = 0; i < 2; i++) {
		struct sigaction before, after;
		bool good;

		sigaction(SIGCHLD, &ways[i], &before);
		good = compiler_run(&compiler, folder, 8, false);
		sigaction(SIGCHLD, &before, &after);
		assert_true(good);
		assert_ptr_equal(after.sa_handler, ways[i].sa_handler);
		assert_int_equal(after.sa_flags & SA_NOCLDWAIT, ways[i].sa_flags);
	}
	close(folder);
}

struct run {
	struct compiler compiler;
	int folder;
	bool good;
};

static void *runs(void *data)
{
	struct run *run = data;

	run->good = compiler_run(&run->compiler, run->folder, 8, false);
	return NULL;
}

/* What the program closes while a compiler runs is closed: who reads the other end of a pipe sees the end of it. */
static void files_closed(void **state)
{
	struct run run = {.folder = open(home, O_RDONLY | O_DIRECTORY)};
	int pipe_ends[2], go;
	pthread_t thread;
	ssize_t bytes;
	char byte;

	compiler_of(&run.compiler, "read line <go");
	assert_int_equal(mkfifo(below("go"), 0600), 0);
	assert_int_equal(pipe(pipe_ends), 0);
	fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
	alarm(30);
	pthread_create(&thread, NULL, runs, &run);
	go = open(below("go"), O_WRONLY); /* waits until the compiler reads it */
	close(pipe_ends[1]);
	bytes = read(pipe_ends[0], &byte, 1);
	assert_int_equal(write(go, "\n", 1), 1);
	pthread_join(thread, NULL);
	alarm(0);
	assert_int_equal(bytes, 0);
	assert_true(run.good);
	close(go);
	close(pipe_ends[0]);
	close(run.folder);
}

/* In the background a compiler gives way to the program, and only then. */
static void gives_way(void **state)
{
	int folder = open(home, O_RDONLY | O_DIRECTORY), usual = getpriority(PRIO_PROCESS, 0);
	struct compiler compiler;
	char want[16];

	if (usual > 10) { /* it gives way already */
		close(folder);
		skip();
	}
	compiler_of(&compiler, "nice >&3");
	for (unsigned background = 0; background < 2; background++) {
		assert_true(compiler_run(&compiler, folder, 8, background));
		snprintf(want, sizeof(want), "%d\n", background ? 10 : usual);
		assert_string_equal(told(), want);
	}
	close(folder);
}

/*
 * A translator lets its compiler give way only in the background; a program that waits for a translation gets it as soon as
 * possible.
 */
static void gives_way_to_programs(void **state)
{
	static const uint32_t code[] = {0x00150513, 0x00000073};
	const int usual = getpriority(PRIO_PROCESS, 0);
	char script[256], want[16];

	if (usual > 10) /* it gives way already */
		skip();
	setenv("XDG_CACHE_HOME", home, 1);
	snprintf(script, sizeof(script), "nice >%s/told; exit 1", home);
	for (unsigned background = 0; background < 2; background++) {
		struct compiler compiler;
		struct translator *translator;

		compiler_of(&compiler, script);
		setenv("TUTTI_TRANSLATE", background ? "background" : "wait", 1);
		translator = translator_create(NULL, NULL);
		assert_null(translator_find(translator, (const uint8_t *)code, sizeof(code)));
		translator_idle(translator);
		translator_destroy(translator);
		snprintf(want, sizeof(want), "%d\n", background ? 10 : usual);
		assert_string_equal(told(), want);
	}
	unsetenv("TUTTI_HOST_CC");
}

/* If the null device cannot be opened, no compiler is run, since it would use the standard files of our program. */
static void no_null_device(void **state)
{
	int folder = open(home, O_RDONLY | O_DIRECTORY), copies[40], n = 0;
	const unsigned files = open_files();
	struct rlimit kept, few;
	struct compiler compiler;
	bool good;

	compiler_of(&compiler, "exit 0");
	getrlimit(RLIMIT_NOFILE, &kept);
	few = kept;
	few.rlim_cur = 40;
	setrlimit(RLIMIT_NOFILE, &few);
	while ((copies[n] = dup(folder)) >= 0)
		n++;
	good = compiler_run(&compiler, folder, 8, false);
	while (n--)
		close(copies[n]);
	setrlimit(RLIMIT_NOFILE, &kept);
	assert_false(good);
	assert_int_equal(access(below("told"), F_OK), -1);
	assert_true(compiler_run(&compiler, folder, 8, false));
	assert_int_equal(open_files(), files);
	close(folder);
}

/* Unless one is chosen, the first that there is of cc, gcc and clang is the compiler. */
static void usual_names(void **state)
{
	static const char *const names[] = {"cc", "gcc", "clang"};
	char kept[4096];
	struct compiler compiler;

	snprintf(kept, sizeof(kept), "%s", getenv("PATH"));
	setenv("PATH", home, 1);
	unsetenv("TUTTI_HOST_CC");
	for (unsigned i = 0; i < 3; i++) {
		fclose(fopen(below(names[i]), "w"));
		assert_int_equal(chmod(below(names[i]), 0700), 0);
	}
	for (unsigned i = 0; i < 3; i++) {
		compiler_find(&compiler);
		assert_string_equal(compiler.path, below(names[i]));
		assert_int_equal(unlink(below(names[i])), 0);
	}
	compiler_find(&compiler);
	assert_string_equal(compiler.path, "");
	setenv("PATH", kept, 1);
}

/* Nothing is compiled without a folder, or once that has been stopped; without a PATH only a whole path finds a compiler. */
static void stopped(void **state)
{
	int folder = open(home, O_RDONLY | O_DIRECTORY);
	struct compiler compiler;
	char kept[4096], want[512];

	compiler_of(&compiler, "exit 0");
	assert_true(compiler_run(&compiler, folder, 8, false));
	assert_false(compiler_run(&compiler, -1, 8, false)); /* nor anywhere else than in its folder */
	compiler_of(&compiler, "sleep 60");
	compiler_stop(&compiler);
	alarm(30);
	assert_false(compiler_run(&compiler, folder, 8, false));
	alarm(0);
	snprintf(kept, sizeof(kept), "%s", getenv("PATH"));
	unsetenv("PATH");
	strcpy(want, compiler.path);
	compiler_find(&compiler);
	assert_string_equal(compiler.path, want);
	setenv("TUTTI_HOST_CC", home, 1); /* a folder */
	compiler_find(&compiler);
	assert_string_equal(compiler.path, "");
	setenv("TUTTI_HOST_CC", "cc", 1);
	compiler_find(&compiler);
	assert_string_equal(compiler.path, "");
	setenv("PATH", kept, 1);
	unsetenv("TUTTI_HOST_CC");
	close(folder);
}

/* ---- the thread ---- */

/* Signals that thread @task takes by itself, of those that a program may be sent. */
static uint64_t signals_of(const char *task)
{
	const uint64_t some = 1u << (SIGINT - 1) | 1u << (SIGTERM - 1) | 1u << (SIGALRM - 1) | 1u << (SIGUSR1 - 1) |
			      1u << (SIGCHLD - 1);
	char path[300], line[200];
	uint64_t blocked = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "SigBlk:", 7))
			blocked = strtoull(line + 7, NULL, 16);
	fclose(file);
	return some & ~blocked;
}

/* A program's signals are taken by its own threads, one of which is this, and not by the one that has code compiled. */
static void takes_no_signals(void)
{
	DIR *list = opendir("/proc/self/task");
	const struct dirent *entry;
	unsigned others = 0;

	assert_non_null(list);
	while ((entry = readdir(list))) {
		if (entry->d_name[0] == '.')
			continue;
		if (atoi(entry->d_name) == getpid()) {
			assert_true(signals_of(entry->d_name) != 0);
			continue;
		}
		assert_true(signals_of(entry->d_name) == 0);
		others++;
	}
	closedir(list);
	assert_in_range(others, 1, 2);
}

/* In the background one code after the other is compiled, also those that come when nothing waits any more. */
static void one_by_one(void **state)
{
	struct compiler compiler;
	struct translator *translator;

	setenv("XDG_CACHE_HOME", home, 1);
	setenv("TUTTI_TRANSLATE", "background", 1);
	compiler_of(&compiler, "exit 1");
	translator = translator_create(NULL, NULL);
	alarm(60);
	for (uint32_t i = 0; i < 3; i++) {
		const uint32_t code[] = {0x00050513 | i << 20, 0x00000073};

		assert_null(translator_find(translator, (const uint8_t *)code, sizeof(code)));
		translator_idle(translator);
		usleep(2000); /* the thread waits */
	}
	alarm(0);
	takes_no_signals();
	assert_int_equal(translator_news(translator), 0);
	translator_destroy(translator);
	unsetenv("TUTTI_HOST_CC");
}

/* A program that wants no translations, or has no compiler, leaves the file system alone and gets no thread. */
static void off(void **state)
{
	static const uint32_t code[] = {0x00150513, 0x00000073};

	for (unsigned without = 0; without < 2; without++) {
		const unsigned files = open_files(), before = threads();
		struct translator *translator;

		setenv("XDG_CACHE_HOME", home, 1);
		setenv("TUTTI_TRANSLATE", without ? "background" : "off", 1);
		if (without)
			setenv("TUTTI_HOST_CC", "/nonexistent/cc", 1);
		translator = translator_create(NULL, NULL);
		assert_null(translator_find(translator, (const uint8_t *)code, sizeof(code)));
		assert_int_equal(access(below("tutti"), F_OK), -1);
		assert_int_equal(open_files(), files);
		assert_int_equal(threads(), before);
		translator_destroy(translator);
		unsetenv("TUTTI_HOST_CC");
	}
}

/* A card may do without a translator. */
static void no_translator(void **state)
{
	static const uint32_t code[] = {0x00150513, 0x00000073};

	assert_string_equal(translator_text(NULL), "interpreted");
	assert_int_equal(translator_news(NULL), 0);
	assert_null(translator_find(NULL, (const uint8_t *)code, sizeof(code)));
	translator_idle(NULL);
	translator_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-51: what surrounds a compiler", surroundings, setup, teardown, NULL},
	    {"SYS-51: no signal handlers run while a compiler starts", no_handlers, setup, teardown, NULL},
	    {"SYS-51: a compiler of a program without standard files", of_a_daemon, setup, teardown, NULL},
	    {"SYS-51: a compiler of a program that ignores its children", children_ignored, setup, teardown, NULL},
	    {"SYS-51: a compiler of a program that closes files", files_closed, setup, teardown, NULL},
	    {"SYS-51: a compiler in the background gives way", gives_way, setup, teardown, NULL},
	    {"SYS-51: compilers give way only in the background", gives_way_to_programs, setup, teardown, NULL},
	    {"SYS-51: no compiler without a null device", no_null_device, setup, teardown, NULL},
	    {"SYS-51: the usual names of compilers", usual_names, setup, teardown, NULL},
	    {"SYS-51: a compiler that has been stopped, or is not found", stopped, setup, teardown, NULL},
	    {"SYS-51: code that comes later", one_by_one, setup, teardown, NULL},
	    {"SYS-51: no translations", off, setup, teardown, NULL},
	    {"SYS-51: without a translator", no_translator, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("translations: their compiler", tests, NULL, NULL);
}

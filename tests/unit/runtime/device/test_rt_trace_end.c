/* SPDX-License-Identifier: MIT */
/* link: -Wl,--wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock,--wrap=nanosleep,--wrap=write,--wrap=sigaction */
/* When a program that traces ends, or has child processes, its file still holds all records (CGA-30, SYS-41). */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lock_check.h"
#include "trace_rig.h"

static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
#define ENDS (sizeof(ends) / sizeof(ends[0]))

/* Call @does in a child process in which no signal has a handler yet. Return: the status that waitpid() gives. */
static int child(void (*does)(void *data), void *data)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (unsigned i = 0; i < ENDS; i++)
			signal(ends[i], SIG_DFL);
		does(data);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void writes_and_ends(void *data)
{
	const int *by = data;

	open_file();
	record(RING + 3);
	if (!*by)
		exit(0);
	raise(*by);
}

/* Run a program that traces and ends by signal @signal_of, or by exit() if that is 0. Return: its status from waitpid(). */
static int ends_by(int signal_of)
{
	return child(writes_and_ends, &signal_of);
}

static void expect_whole_file(void)
{
	const struct tutti_trace_file *head;

	assert_int_equal(rename(child_path, path), 0);
	slurp();
	unlink(path);
	head = next_bytes(sizeof(*head));
	assert_int_equal(head->lost, 3);
	next_bytes(sizeof(device->known) + SMS * sizeof(struct tutti_sm_place));
	expect_records(0, RING);
	assert_int_equal(file_at, file_bytes);
}

/* However the program ends, the file holds what was recorded, and the program ends as it would without a trace. */
static void programs_that_end(void **state)
{
	struct rlimit none = { 0 }, cores;

	getrlimit(RLIMIT_CORE, &cores);
	none.rlim_max = cores.rlim_max;
	setrlimit(RLIMIT_CORE, &none);
	snprintf(child_path, sizeof(child_path), "%s.1", path); /* the first trace was made by trace_once() */
	for (unsigned i = 0; i < ENDS; i++) {
		int status = ends_by(ends[i]);

		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), ends[i]);
		expect_whole_file();
	}
	assert_true(WIFEXITED(ends_by(0)));
	expect_whole_file();
	setrlimit(RLIMIT_CORE, &cores);
}

static void writes_two_files(void *second)
{
	setenv("TUTTI_TRACE", path, 1);
	memcpy(second, device, sizeof(*device));
	if (trace_open(device) || trace_open(second))
		_exit(99);
	record(RING + 3);
	raise(SIGTERM);
}

/* The files of all devices are completed: each says how many records were dropped since it was opened. */
static void all_files(void **state)
{
	struct tutti_device *second = aligned_alloc(64, (sizeof(*second) + 63) & ~63ull);

	assert_true(WIFSIGNALED(child(writes_two_files, second)));
	for (unsigned i = 1; i <= 2; i++) {
		snprintf(child_path, sizeof(child_path), "%s.%u", path, i);
		assert_int_equal(rename(child_path, path), 0);
		slurp();
		unlink(path);
		assert_int_equal(((const struct tutti_trace_file *)next_bytes(sizeof(struct tutti_trace_file)))->lost, 3);
	}
	free(second);
}

static void own_handler(int signal)
{
}

static void assert_handler(int signal, void (*handler)(int))
{
	struct sigaction now;

	assert_int_equal(sigaction(signal, NULL, &now), 0);
	assert_ptr_equal(now.sa_handler, handler);
}

/*
 * The library does not touch signals that the program handles or ignores. For the others it has a handler until the last
 * trace is closed.
 */
static void signals_of_the_program(void **state)
{
	struct tutti_device *second = aligned_alloc(64, (sizeof(*second) + 63) & ~63ull);
	struct sigaction caught;

	signal(SIGHUP, own_handler);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	open_file();
	memcpy(second, device, sizeof(*second));
	second->trace = NULL;
	setenv("TUTTI_TRACE", path, 1);
	assert_int_equal(trace_open(second), 0);
	unsetenv("TUTTI_TRACE");
	assert_handler(SIGHUP, own_handler);
	assert_handler(SIGINT, SIG_IGN);
	assert_int_equal(sigaction(SIGTERM, NULL, &caught), 0);
	assert_ptr_not_equal(caught.sa_handler, SIG_DFL);
	assert_true(caught.sa_flags & (int)SA_RESETHAND);
	trace_close(device); /* the older one, which is the last in the list */
	assert_handler(SIGTERM, caught.sa_handler);
	trace_close(second);
	assert_handler(SIGTERM, SIG_DFL);
	assert_handler(SIGHUP, own_handler);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	for (unsigned i = 1; i <= 2; i++) {
		snprintf(child_path, sizeof(child_path), "%s.%u", path, i);
		assert_int_equal(unlink(child_path), 0);
	}
	free(second);
}

/* A child process that fork() has made has a copy of the trace, but does not write to the file when it ends. */
static void child_of_the_program(void **state)
{
	int status;
	pid_t pid;

	signal(SIGTERM, SIG_DFL);
	open_file();
	snprintf(child_path, sizeof(child_path), "%s.3", path);
	record(5);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		raise(SIGTERM);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	record(RING);
	trace_close(device);
	assert_int_equal(rename(child_path, path), 0);
	slurp();
	unlink(path);
	assert_int_equal(((const struct tutti_trace_file *)next_bytes(sizeof(struct tutti_trace_file)))->lost, 5);
	next_bytes(sizeof(device->known) + SMS * sizeof(struct tutti_sm_place));
	expect_records(0, RING);
	assert_int_equal(file_at, file_bytes);
}

static pid_t forked; /* by another thread while one changes what signals do; -1: not yet */

/* The parent's trace is none of its business. It makes one of its own. */
static void *fork_and_trace(void *unused)
{
	forked = fork();
	if (forked)
		return NULL;
	alarm(10);
	device->trace = NULL;
	if (trace_open(device) || !device->trace)
		_exit(1);
	trace_close(device);
	_exit(0);
}

int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old);

int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	pthread_t thread;

	if (forked < 0 && signal == SIGHUP) {
		forked = 0;
		pthread_create(&thread, NULL, fork_and_trace, NULL);
		pthread_join(thread, NULL);
	}
	return __real_sigaction(signal, action, old);
}

/* A child process can trace also if another thread of its parent was just opening a trace. */
static void child_of_a_program_with_threads(void **state)
{
	int status;

	fflush(stdout);
	forked = -1;
	open_file();
	assert_int_equal(waitpid(forked, &status, 0), forked);
	assert_int_equal(status, 0);
	trace_close(device);
	unlink_others();
}

static unsigned *patience; /* counts the pauses of a child process, which take no time there */

int __real_nanosleep(const struct timespec *time, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *time, struct timespec *rest);

int __wrap_nanosleep(const struct timespec *time, struct timespec *rest)
{
	if (!patience)
		return __real_nanosleep(time, rest);
	++*patience;
	return 0;
}

ssize_t __real_write(int fd, const void *data, size_t n);
ssize_t __wrap_write(int fd, const void *data, size_t n);

ssize_t __wrap_write(int fd, const void *data, size_t n)
{
	if (patience)
		raise(SIGTERM);
	return __real_write(fd, data, n);
}

static void is_interrupted(void *shared)
{
	open_file();
	record(3);
	patience = shared;
	trace_drain(device);
}

/*
 * The handler of a signal that comes during a write waits for the writer, but only for a limited time, because the writer
 * may be the thread that the signal has interrupted.
 */
static void ends_while_it_writes(void **state)
{
	unsigned *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = child(is_interrupted, shared);

	unlink_others();
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(*shared, 200); /* pauses of a millisecond each */
	munmap(shared, 4096);
}

static bool looks_at_end;

/* This is the last destructor of the program. The library may have been unloaded by now, so its handlers must be gone. */
__attribute__((destructor(101))) static void at_the_end(void)
{
	struct sigaction now;

	if (looks_at_end && (sigaction(SIGTERM, NULL, &now) || now.sa_handler != SIG_DFL))
		_exit(3);
}

static void has_file_number_0(void *unused)
{
	close(STDIN_FILENO);
	setenv("TUTTI_TRACE", path, 1);
	if (trace_open(device) || !device->trace || fcntl(STDIN_FILENO, F_GETFD) < 0)
		_exit(2);
	looks_at_end = true;
	exit(0);
}

/*
 * A program without standard input may get descriptor 0 for the file. Once the library has written the last records, when
 * the program exits, it no longer handles signals.
 */
static void first_and_last(void **state)
{
	int status = child(has_file_number_0, NULL);

	unlink_others();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Make a first trace, so that the files of the tests have a number in their names. */
static int trace_once(void **state)
{
	int error;

	close(mkstemp(path));
	error = open_traced(state);
	open_file();
	trace_close(device);
	unlink(path);
	return error || close_fake(state);
}

#define TRACED(f) cmocka_unit_test_setup_teardown(f, open_traced, close_fake)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACED(programs_that_end),    TRACED(all_files),	    TRACED(signals_of_the_program),
		TRACED(child_of_the_program), TRACED(child_of_a_program_with_threads),
		TRACED(ends_while_it_writes), TRACED(first_and_last),
	};

	return cmocka_run_group_tests_name("CGA-30, SYS-41 traces of programs that end", tests, trace_once, NULL);
}

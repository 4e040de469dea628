// SPDX-License-Identifier: MIT
/*
 * The system's compiler. The process that uses this library may have children and signals of its own: the compiler is a
 * child that none of its wait() calls sees, and that sends no signal when it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulator/translated/parts.h"

#define STACK_BYTES  (64u << 10)
#define SECONDS_MOST 120u
#define MEMORY_MOST  (4ull << 30)
#define SMALL	     (8u << 10) /* code that is worth -O2, which takes twice the time and makes loops up to twice as fast */

/* What the compiler is told of code of @bytes. Its text is part of the compiler's identity. */
#define OPTIONS(bytes)                                                                                                  \
	(bytes) <= SMALL ? "-O2" : "-O1", "-w", "-fPIC", "-shared", "-nostdlib", "-ffreestanding", "-fno-strict-aliasing", \
		"-fno-math-errno", "-ffp-contract=off", "-fno-stack-protector", "-fno-schedule-insns2"
#define SPELLED(...)	    SPELLED_TEXT(__VA_ARGS__)
#define SPELLED_TEXT(...) #__VA_ARGS__

/* ---- finding it ---- */

static bool executable(const char *path)
{
	struct stat status;

	return path[0] == '/' && !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

static bool in_path(const char *name, char *path, size_t bytes)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t length = strcspn(at, ":");

		if ((size_t)snprintf(path, bytes, "%.*s/%s", (int)length, at, name) < bytes && executable(path))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

static bool find(char *path, size_t bytes)
{
	static const char *const names[] = {"cc", "gcc", "clang"};
	const char *chosen = getenv("TUTTI_HOST_CC");

	if (chosen && *chosen) {
		if (strchr(chosen, '/'))
			return (size_t)snprintf(path, bytes, "%s", chosen) < bytes && executable(path);
		return in_path(chosen, path, bytes);
	}
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (in_path(names[i], path, bytes))
			return true;
	return false;
}

static bool can_fuse(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("fma");
#else
	return false; /* a processor that always does it is known to the compiler */
#endif
}

void compiler_find(struct compiler *compiler)
{
	struct stat status;

	*compiler = (struct compiler){.fused = can_fuse()};
	if (!find(compiler->path, sizeof(compiler->path)) || stat(compiler->path, &status)) {
		compiler->path[0] = 0;
		return;
	}
	snprintf(compiler->identity, sizeof(compiler->identity), "%s %lld %lld.%ld %d %s", compiler->path,
		 (long long)status.st_size, (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, compiler->fused,
		 SPELLED(OPTIONS(bytes)));
}

/* ---- running it ---- */

/**
 * struct job - what the new process does, which shares the memory of its parent until it has become the compiler. Until then
 * it runs on @stack.
 */
struct job {
	const char *path;
	char *const *arguments;
	char *const *environment;
	int folder, null;
	bool in_background;
	void *stack;
};

static void limit(int what, rlim_t most)
{
	struct rlimit limits = {most, most};

	setrlimit(what, &limits);
}

/* AddressSanitizer does not know the stacks of the two processes, and would look for them at vfork() and before each end. */
#define OWN_STACK __attribute__((no_sanitize("address")))

static OWN_STACK int become_compiler(void *data)
{
	const struct job *job = data;
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit(RLIMIT_CPU, SECONDS_MOST);
	limit(RLIMIT_AS, MEMORY_MOST);
	limit(RLIMIT_CORE, 0);
	if (job->in_background)
		setpriority(PRIO_PROCESS, 0, 10);
	/* Our program may have closed its standard files, so that the folder and the null device have their numbers. */
	if (fchdir(job->folder))
		return 127;
	for (int number = 0; number < 3; number++) {
		dup2(job->null, number);
		fcntl(number, F_SETFD, 0);
	}
	syscall(SYS_close_range, 3u, ~0u, 0u);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(job->path, job->arguments, job->environment);
	return 127;
}

/*
 * This process shares our memory and our files, so that what our program closes is closed, and waits for the compiler. Our
 * program's own wait() calls do not see it, since it sends no signal when it ends; the compiler itself they would see, since
 * a process that calls execve() always sends one.
 */
static OWN_STACK int attend(void *data)
{
	const struct job *job = data;
	const struct sigaction usual = {.sa_handler = SIG_DFL}; /* our program may ignore its children */
	pid_t pid;
	int status = -1;

	sigaction(SIGCHLD, &usual, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pid = clone(become_compiler, job->stack, CLONE_VM | CLONE_VFORK | SIGCHLD, data);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : 1;
}

static bool wait_for(pid_t pid)
{
	int status = -1;
	pid_t ended;

	do
		ended = waitpid(pid, &status, __WCLONE);
	while (ended < 0 && errno == EINTR);
	return ended == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

static void *stack_end(char *stack, unsigned number)
{
	return (void *)((uintptr_t)(stack + (number + 1) * STACK_BYTES) & ~(uintptr_t)63);
}

/* All signals are blocked meanwhile, since handlers of the new processes would run in the memory of this one. */
static bool run(struct compiler *compiler, struct job *job)
{
	char *stack = malloc(2 * STACK_BYTES);
	sigset_t all, kept;
	bool good = false;
	pid_t pid;

	if (!stack)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &kept);
	job->stack = stack_end(stack, 1);
	pid = clone(attend, stack_end(stack, 0), CLONE_VM | CLONE_FILES, job);
	if (pid > 0) {
		setpgid(pid, pid);
		__atomic_store_n(&compiler->running, pid, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&compiler->stopped, __ATOMIC_SEQ_CST))
			kill(-pid, SIGKILL);
		good = wait_for(pid);
		__atomic_store_n(&compiler->running, 0, __ATOMIC_SEQ_CST);
	}
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	free(stack);
	return good;
}

static void variable(char *to, size_t bytes, const char *name)
{
	const char *value = getenv(name);

	snprintf(to, bytes, "%s=%s", name, value ? value : "");
}

bool compiler_run(struct compiler *compiler, int folder, uint64_t bytes, bool in_background)
{
	char path[4096], home[512];
	char *arguments[] = {compiler->path, OPTIONS(bytes), "-o", "unit.so", "unit.c", compiler->fused ? "-mfma" : NULL, NULL};
	char *environment[] = {path, home, "TMPDIR=.", "LC_ALL=C", "CCACHE_DISABLE=1", NULL};
	struct job job = {
		.path = compiler->path,
		.arguments = arguments,
		.environment = environment,
		.folder = folder,
		.null = open("/dev/null", O_RDWR | O_CLOEXEC),
		.in_background = in_background,
	};
	bool good;

	if (job.null < 0)
		return false;
	variable(path, sizeof(path), "PATH");
	variable(home, sizeof(home), "HOME");
	good = run(compiler, &job);
	close(job.null);
	return good;
}

void compiler_stop(struct compiler *compiler)
{
	pid_t pid;

	__atomic_store_n(&compiler->stopped, true, __ATOMIC_SEQ_CST);
	pid = __atomic_load_n(&compiler->running, __ATOMIC_SEQ_CST);
	if (pid > 0)
		kill(-pid, SIGKILL);
}

// SPDX-License-Identifier: MIT
/*
 * Linked into programs that run under user emulation. QEMU's has threads and fork(), but no processes that share memory, as
 * the compiler of kernels is started by (runtime/emulator/translated/compiler.c). Here they get a copy of it, and are
 * children like any other.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int clone(int (*run)(void *), void *stack, int flags, void *data, ...)
{
	pid_t pid;

	if (flags & CLONE_THREAD) {
		errno = ENOSYS;
		return -1;
	}
	pid = fork();
	if (!pid)
		_exit(run(data));
	return pid;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait4(pid, status, options & ~__WCLONE, NULL);
}

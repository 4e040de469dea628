/* SPDX-License-Identifier: MIT */
/** DOC: Static locks of a source file, in the child processes that fork() makes */
#ifndef TUTTI_BASE_FORK_H
#define TUTTI_BASE_FORK_H

#include <pthread.h>

/**
 * FREE_IN_CHILD() - a static mutex is free in a child process, even if another thread held it when the child was made.
 *
 * It is for locks that are held too long for fork() to wait for them. What they protect is as that thread left it.
 */
#define FREE_IN_CHILD(lock)                                            \
	static void lock##_in_child(void)                              \
	{                                                              \
		pthread_mutex_init(&(lock), NULL);                     \
	}                                                              \
	__attribute__((constructor)) static void lock##_at_fork(void)  \
	{                                                              \
		pthread_atfork(NULL, NULL, lock##_in_child);           \
	}

#endif

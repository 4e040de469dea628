/* SPDX-License-Identifier: MIT */
/** DOC: Locks of a file in processes that fork() makes */
#ifndef TUTTI_BASE_FORK_H
#define TUTTI_BASE_FORK_H

#include <pthread.h>

/**
 * FREE_IN_CHILD() - a static mutex is free in a child process, also if another thread held it when the child was made.
 *
 * For locks that are held too long to let fork() wait for them. What they protect is found as that thread has left it.
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

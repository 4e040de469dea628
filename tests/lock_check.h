/* SPDX-License-Identifier: MIT */
/**
 * DOC: Each mutex is unlocked by the thread that holds it, and by no other
 *
 * Programs that include this are linked with --wrap=pthread_mutex_lock,--wrap=pthread_mutex_trylock,--wrap=pthread_mutex_unlock.
 * AFTER_UNLOCK() may be defined beforehand: what a thread does when it has unlocked a mutex, such as letting others run.
 */
#ifndef LOCK_CHECK_H
#define LOCK_CHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define HELD_MOST 32
#ifndef AFTER_UNLOCK
#define AFTER_UNLOCK() ((void)0)
#endif
#ifndef MAY_NEST /* may a thread lock a mutex that it holds? */
#define MAY_NEST(mutex) false
#endif

static _Thread_local const pthread_mutex_t *held[HELD_MOST];

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static const pthread_mutex_t **held_slot(const pthread_mutex_t *mutex)
{
	for (unsigned i = 0; i < HELD_MOST; i++)
		if (held[i] == mutex)
			return &held[i];
	return NULL;
}

static void wrong(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort(); /* in any thread */
}

static void hold(const pthread_mutex_t *mutex)
{
	const pthread_mutex_t **slot = held_slot(NULL);

	if (!slot)
		wrong("a thread holds too many mutexes");
	*slot = mutex;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (held_slot(mutex) && !MAY_NEST(mutex))
		wrong("a thread locks a mutex twice");
	hold(mutex);
	return __real_pthread_mutex_lock(mutex);
}

int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int error = __real_pthread_mutex_trylock(mutex);

	if (!error)
		hold(mutex);
	return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const pthread_mutex_t **slot = held_slot(mutex);
	int error;

	if (!slot)
		wrong("a mutex is unlocked by a thread that does not hold it");
	*slot = NULL;
	error = __real_pthread_mutex_unlock(mutex);
	AFTER_UNLOCK();
	return error;
}

#endif

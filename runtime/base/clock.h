/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BASE_CLOCK_H
#define TUTTI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** time_ns() - CLOCK_MONOTONIC in nanoseconds, the clock of all deadlines in the library. */
static inline uint64_t time_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** time_of_thread_ns() - the processor time that the calling thread has had, in nanoseconds. */
static inline uint64_t time_of_thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif

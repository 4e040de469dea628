/* SPDX-License-Identifier: MIT */
#ifndef TUTTI_BASE_CLOCK_H
#define TUTTI_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** clock_ns() - what a clock of the host shows, in nanoseconds. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** time_ns() - the time of CLOCK_MONOTONIC in nanoseconds. All deadlines of the library are times of this clock. */
static inline uint64_t time_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/** time_of_thread_ns() - the processor time that the calling thread has had, in nanoseconds. */
static inline uint64_t time_of_thread_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif

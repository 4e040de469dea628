/* SPDX-License-Identifier: MIT */
/**
 * DOC: A card through libtutti, for tests
 *
 * Functions end the test (cmocka assertion) when they fail.
 */
#ifndef TUTTI_TEST_RIG_H
#define TUTTI_TEST_RIG_H

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "kernels/test.h"
#include "tutti.h"

struct rig {
	struct tutti_device *device;
	struct tutti_executable *code, *more;
	struct tutti_queue *queue;
	struct tutti_fault fault;   /* last error reported to the queue's callback */
	unsigned faults;            /* errors reported */
};

#define RIG_SECONDS 60
#define RIG_WAIT (RIG_SECONDS * 1000000000ull)

/** The card of a whole test program; rig_group_open() and rig_group_close() are its cmocka fixtures. */
extern struct rig *rig;
int rig_group_open(void **state);
int rig_group_close(void **state);

/** rig_out() - path below the build directory. */
const char *rig_out(const char *path);
/** rig_transport() - the kind of device that rig_open() opens by default. */
const char *rig_transport(void);
/**
 * rig_acknowledge() - TUTTI_TEST_ACKNOWLEDGE: turns after which emulated SMs acknowledge task states; 0: they need not.
 */
uint32_t rig_acknowledge(void);
/** rig_idle_traps() - whether TUTTI_TEST_IDLE_TRAPS asks for emulated cards whose soft core has no idle unit. */
uint32_t rig_idle_traps(void);
/** rig_split_signals() - whether TUTTI_TEST_SPLIT_SIGNALS asks for emulated cards without atomics across the bus. */
uint32_t rig_split_signals(void);
/** rig_needs_emulator() - skips the test unless the card is emulated, so that the test can choose what it is like. */
void rig_needs_emulator(void);
/** rig_open() - device (NULL: TUTTI_DEVICE, else the emulator), test kernels, an extended queue. */
struct rig *rig_open(const struct tutti_device_options *options);
struct rig *rig_topology(const char *text);
struct rig *rig_deterministic(const char *topology_text);
/** rig_load() - kernels of one more code object, below the build directory. */
void rig_load(struct rig *rig, const char *path);
void rig_close(struct rig *rig);
struct tutti_queue *rig_queue(struct rig *rig, uint32_t flags);
struct tutti_kernel rig_kernel(struct rig *rig, const char *name);
/** rig_alloc() - system memory; rig_args(): three words of it. */
void *rig_alloc(struct rig *rig, size_t bytes);
uint64_t *rig_args(struct rig *rig, const void *arg0, uint64_t arg1, uint64_t arg2);
tutti_signal_t rig_signal(struct rig *rig, int64_t value);
/** rig_launch() - one-dimensional launch with barrier and system scopes. */
void rig_launch(struct rig *rig, struct tutti_queue *queue, const char *kernel, uint32_t items, uint16_t workgroup,
		void *args, tutti_signal_t signal);
/** rig_run() - rig_launch() on the rig's queue and wait. */
void rig_run(struct rig *rig, const char *kernel, uint32_t items, uint16_t workgroup, void *args);
/** rig_wait() - wait until the signal is 0. */
void rig_wait(struct rig *rig, tutti_signal_t signal);
/** rig_fails() - launch, expect the queue to stop with @code; resets the queue, checks that it works. */
struct tutti_fault rig_fails(struct rig *rig, const char *kernel, uint32_t items, uint16_t workgroup, void *args,
			     unsigned code);
/**
 * rig_refused() - a launch that this card cannot run: tutti_launch_check() gives @code, tutti_dispatch() refuses it,
 * and so does the card when the packet comes to it all the same.
 */
void rig_refused(struct rig *rig, const char *kernel, uint32_t items, uint16_t workgroup, uint32_t shared,
		 unsigned code);
/** rig_fault() - wait until the queue reports an error; returns the record. */
struct tutti_fault rig_fault(struct rig *rig, struct tutti_queue *queue);
/** rig_poll_until() - poll the queue until *word == value. */
bool rig_poll_until(struct tutti_queue *queue, const void *word, int64_t value, unsigned ms);
/** rig_await() - the same, for as long as a busy machine may need. */
static inline bool rig_await(struct tutti_queue *queue, const void *word, int64_t value)
{
	return rig_poll_until(queue, word, value, RIG_SECONDS * 1000);
}
/** rig_sem_wait() - wait until another thread posts @sem, for as long. */
void rig_sem_wait(sem_t *sem);
void rig_counters(struct rig *rig, uint64_t counters[TUTTI_COUNTERS]);
uint64_t rig_ns(void);

#endif

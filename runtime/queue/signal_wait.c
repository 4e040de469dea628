// SPDX-License-Identifier: MIT
/* Waiting for one signal or for several. */
#include <stdlib.h>

#include "base/clock.h"
#include "device/print.h"
#include "device/trace.h"
#include "device/wait.h"
#include "memory/memory.h"
#include "queue/lost.h"
#include "queue/queue.h"

#define SPIN_NS	   20000ull /* about as long as falling asleep and being woken takes */
#define SPIN_LOOKS 32u	    /* between two looks at the clock */

#define FEW 8u /* conditions for which no memory is allocated */

/**
 * struct signal_wait - a wait for signals.
 * @all: until each of @watch has been met; else until any is
 * @met: all: for each of @watch, whether it has been met
 * @first: which of @watch has been met, if one is enough
 */
struct signal_wait {
	struct wait wait;
	struct signal_watch *watch;
	size_t count;
	bool all;
	uint8_t *met;
	size_t first;
};

static bool all_met(struct signal_wait *wait)
{
	bool all = true;

	for (size_t i = 0; i < wait->count; i++) {
		if (!wait->met[i])
			wait->met[i] = watch_holds(&wait->watch[i]);
		all &= wait->met[i];
	}
	return all;
}

static bool any_met(struct signal_wait *wait)
{
	for (size_t i = 0; i < wait->count; i++) {
		wait->first = i;
		if (watch_holds(&wait->watch[i]))
			return true;
	}
	return false;
}

static inline bool met(struct signal_wait *wait)
{
	if (__builtin_expect(wait->count == 1, 1))
		return watch_holds(wait->watch);
	return wait->all ? all_met(wait) : any_met(wait);
}

static bool satisfied(const struct wait *wait)
{
	return met((struct signal_wait *)wait);
}

static void sleeps(const struct wait *wait, int change)
{
	const struct signal_wait *signals = (const struct signal_wait *)wait;

	for (size_t i = 0; i < signals->count; i++)
		__atomic_fetch_add(&signals->watch[i].signal->waiters, (uint32_t)change, __ATOMIC_SEQ_CST);
}

/* Whoever gives up a signal stores its last value first, so it is looked at last. */
static bool lost_unmet(const struct signal_wait *wait, size_t i)
{
	return !(wait->met && wait->met[i]) && watch_lost_now(wait->wait.device, &wait->watch[i]) &&
	       !watch_holds(&wait->watch[i]);
}

static bool in_vain(const struct wait *wait)
{
	const struct signal_wait *signals = (const struct signal_wait *)wait;
	size_t lost = 0;

	for (size_t i = 0; i < signals->count; i++)
		lost += lost_unmet(signals, i);
	return signals->all ? lost > 0 : lost == signals->count;
}

/* The card calls this after each step while this thread drives it. */
static bool met_or_pending(void *context)
{
	struct signal_wait *wait = context;

	return met(wait) || device_pending(wait->wait.device);
}

/* The card asks before each of its steps: after the first one that is enough. */
static bool has_stepped(void *context)
{
	unsigned *asked = context;

	return (*asked)++;
}

static void list(struct signal_wait *wait)
{
	for (size_t i = 0; i < wait->count; i++)
		watch_begin(wait->wait.device, &wait->watch[i]);
}

static void unlist(struct signal_wait *wait)
{
	for (size_t i = 0; i < wait->count; i++)
		watch_end(wait->wait.device, &wait->watch[i]);
}

static int look(struct signal_wait *wait)
{
	struct tutti_device *device = wait->wait.device;
	unsigned asked = 0;
	bool vain;

	/* In deterministic mode time passes only while the card is driven, so whoever only looks drives it a step. */
	if (device->deterministic && device->run)
		device->run(device, has_stepped, &asked);
	if (met(wait))
		return 0;
	if (device_poll(device))
		return -EIO;
	list(wait);
	vain = in_vain(&wait->wait);
	unlist(wait);
	if (vain)
		return -EIO;
	return met(wait) ? 0 : -ETIMEDOUT;
}

/* A short kernel may end, on a card that works by itself, before this thread could fall asleep. */
static bool spin(struct signal_wait *wait, uint64_t most)
{
	uint64_t start = time_ns();

	do
		for (unsigned i = 0; i < SPIN_LOOKS; i++)
			if (met(wait))
				return true;
	while (time_ns() - start < most);
	return false;
}

/* The first drive has no clock, watchdog or event handling, because a launch that is waited for at once comes here. */
static int drive_and_wait(struct signal_wait *wait, uint64_t timeout_ns)
{
	struct tutti_device *device = wait->wait.device;
	uint64_t most = timeout_ns < SPIN_NS ? timeout_ns : SPIN_NS;

	if (device->run) {
		device->run(device, met_or_pending, wait);
		if (__builtin_expect(met(wait), 1))
			return 0;
	} else if (spin(wait, most)) {
		return 0;
	} else if (timeout_ns != TUTTI_WAIT_FOREVER) {
		timeout_ns -= most;
	}
	return wait_for(&wait->wait, timeout_ns);
}

static int wait_slowly(struct signal_wait *wait, uint64_t timeout_ns)
{
	int error;

	if (!timeout_ns)
		return look(wait);
	list(wait);
	error = drive_and_wait(wait, timeout_ns);
	unlist(wait);
	return error;
}

/* The caller has begun a call on the device and checked the signals. */
static inline int wait_signals(struct tutti_device *device, struct signal_wait *wait, uint64_t timeout_ns)
{
	int error;

	wait->wait = (struct wait){
	    .device = device,
	    .satisfied = satisfied,
	    .sleeps = sleeps,
	    .in_vain = in_vain,
	    .handle = device_handle(device),
	    .deliver = true,
	};
	error = met(wait) ? 0 : wait_slowly(wait, timeout_ns);
	if (__builtin_expect(device_pending(device) || tutti_load_relaxed(&device->errors), 0))
		device_poll(device);
	print_poll(device);
	trace_poll(device);
	return error;
}

int tutti_signal_wait(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition, int64_t value,
		      uint64_t timeout_ns, int64_t *seen)
{
	CALL_SCOPE(call);
	struct signal_watch watch = {.signal = signal, .value = value, .condition = (uint8_t)condition};
	struct signal_wait wait = {.watch = &watch, .count = 1};
	int error;

	if (!device_call(&call, device) || !signal_ok(device, signal) || (unsigned)condition > TUTTI_GTE)
		return -EINVAL;
	error = wait_signals(device, &wait, timeout_ns);
	if (seen)
		*seen = watch.seen;
	return error;
}

static bool waits_ok(struct tutti_device *device, const struct tutti_wait *waits, size_t count)
{
	if (!waits || !count || count > SIZE_MAX / 2 / sizeof(struct signal_watch))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!signal_ok(device, waits[i].signal) || waits[i].condition > TUTTI_GTE)
			return false;
	return true;
}

static void copy_in(struct signal_watch *watch, const struct tutti_wait *waits, size_t count)
{
	for (size_t i = 0; i < count; i++)
		watch[i] = (struct signal_watch){
		    .signal = waits[i].signal, .value = waits[i].value, .condition = (uint8_t)waits[i].condition};
}

static int wait_several(struct tutti_device *device, struct signal_wait *wait, struct tutti_wait *waits,
			uint64_t timeout_ns)
{
	struct signal_watch few[FEW];
	uint8_t met_few[FEW] = {0};
	bool many = wait->count > FEW;
	int error = -ENOMEM;

	wait->watch = many ? malloc(wait->count * sizeof(*wait->watch)) : few;
	wait->met = many ? calloc(wait->count, sizeof(*wait->met)) : met_few;
	if (wait->watch && wait->met) {
		copy_in(wait->watch, waits, wait->count);
		error = wait_signals(device, wait, timeout_ns);
		for (size_t i = 0; i < wait->count; i++)
			waits[i].seen = wait->watch[i].seen;
	}
	if (many) {
		free(wait->watch);
		free(wait->met);
	}
	return error;
}

int tutti_signal_wait_any(struct tutti_device *device, struct tutti_wait *waits, size_t count, uint64_t timeout_ns,
			  size_t *index)
{
	CALL_SCOPE(call);
	struct signal_wait wait = {.count = count};
	int error;

	if (!device_call(&call, device) || !waits_ok(device, waits, count))
		return -EINVAL;
	error = wait_several(device, &wait, waits, timeout_ns);
	if (!error && index)
		*index = wait.first;
	return error;
}

int tutti_signal_wait_all(struct tutti_device *device, struct tutti_wait *waits, size_t count, uint64_t timeout_ns)
{
	CALL_SCOPE(call);
	struct signal_wait wait = {.count = count, .all = true};

	if (!device_call(&call, device) || !waits_ok(device, waits, count))
		return -EINVAL;
	return wait_several(device, &wait, waits, timeout_ns);
}

// SPDX-License-Identifier: MIT
#include "device/device.h"

#include "base/say.h"
#include "device/print.h"
#include "device/trace.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* protects the list of open devices */
static struct tutti_device *devices;

static void lock_list(void)
{
	pthread_mutex_lock(&list_lock);
}

static void unlock_list(void)
{
	pthread_mutex_unlock(&list_lock);
}

/* A child process has the memory of an emulated card, but none of the threads. Its devices are those that it opens. */
static void forget_list(void)
{
	for (; devices; devices = devices->next)
		handle_close(&devices->handle); /* unless another thread of the parent has begun to */
	unlock_list();
}

__attribute__((constructor)) static void prepare_for_fork(void)
{
	pthread_atfork(lock_list, unlock_list, forget_list);
}

void device_list_add(struct tutti_device *device)
{
	pthread_mutex_lock(&list_lock);
	device->next = devices;
	devices = device;
	pthread_mutex_unlock(&list_lock);
}

void device_list_remove(struct tutti_device *device)
{
	struct tutti_device **at;

	pthread_mutex_lock(&list_lock);
	for (at = &devices; *at != device;)
		at = &(*at)->next;
	*at = device->next;
	pthread_mutex_unlock(&list_lock);
}

void device_wake_all(void)
{
	pthread_mutex_lock(&list_lock);
	for (struct tutti_device *device = devices; device; device = device->next)
		device->transport->wake(device);
	pthread_mutex_unlock(&list_lock);
}

const char *device_state_name(uint32_t state)
{
	static const char *const name[] = {"off", "loading", "running", "crashed", "failed to boot"};

	return state < sizeof(name) / sizeof(name[0]) ? name[state] : "unknown";
}

bool contract_holds(const char *who, uint32_t min, uint32_t max)
{
	const uint32_t own = TUTTI_CONTRACT_VERSION;

	if (own >= min && own <= max)
		return true;
	say("%s speaks contract %u.%u to %u.%u, this library %u.%u", who, TUTTI_VERSION_MAJOR(min),
	    TUTTI_VERSION_MINOR(min), TUTTI_VERSION_MAJOR(max), TUTTI_VERSION_MINOR(max),
	    TUTTI_VERSION_MAJOR(own), TUTTI_VERSION_MINOR(own));
	return false;
}

static void say_dead(struct tutti_device *device, const char *why)
{
	const struct tutti_crash *crash = (const void *)(device->bar + device->known.crash.offset);
	bool said = __atomic_exchange_n(&device->said_dead, true, __ATOMIC_RELAXED);

	if (said)
		return;
	/* In a transport that shows only parts of the window the record is empty. */
	if (tutti_load_relaxed(&device->status->state) == TUTTI_STATE_CRASHED && crash->cause != TUTTI_CRASH_NONE)
		say("%s: cause %u (%u), pc 0x%x, tval 0x%x, queue %d, packet %llu: %.*s", why, crash->cause,
		    crash->cause_code, crash->pc, crash->tval, (int)crash->queue,
		    (unsigned long long)crash->packet, (int)sizeof(crash->text), crash->text);
	else
		say("%s (state %s)", why, device_state_name(tutti_load_relaxed(&device->status->state)));
}

void device_fail(struct tutti_device *device, const char *why)
{
	__atomic_store_n(&device->dead, true, __ATOMIC_RELEASE);
	say_dead(device, why);
}

bool device_dead(struct tutti_device *device)
{
	if (__atomic_load_n(&device->dead, __ATOMIC_ACQUIRE))
		return true;
	if (__atomic_load_n((uint64_t *)device->bar, __ATOMIC_RELAXED) != TUTTI_DISCOVERY_MAGIC)
		device_fail(device, "the card is gone");
	else if (tutti_load_acquire(&device->status->state) != TUTTI_STATE_RUNNING)
		device_fail(device, "the firmware has died");
	else if (tutti_load_relaxed(&device->status->boot_sequence) != device->boot_sequence)
		device_fail(device, "the card was booted anew by somebody else");
	return __atomic_load_n(&device->dead, __ATOMIC_RELAXED);
}

int device_poll(struct tutti_device *device)
{
	device->transport->poll(device);
	if (device->serve)
		device->serve(device);
	print_poll(device);
	trace_poll(device);
	return device_dead(device) ? -EIO : 0;
}

int id_take(struct tutti_device *device, uint64_t *ids, unsigned limit)
{
	int id = -ENOSPC;

	pthread_mutex_lock(&device->lock);
	for (unsigned w = 0; w * 64 < limit; w++) {
		unsigned bit;

		if (!~ids[w])
			continue;
		bit = __builtin_ctzll(~ids[w]);
		if (w * 64 + bit >= limit)
			break;
		ids[w] |= 1ull << bit;
		id = (int)(w * 64 + bit);
		break;
	}
	pthread_mutex_unlock(&device->lock);
	return id;
}

void id_give(struct tutti_device *device, uint64_t *ids, unsigned id)
{
	pthread_mutex_lock(&device->lock);
	ids[id / 64] &= ~(1ull << id % 64);
	pthread_mutex_unlock(&device->lock);
}

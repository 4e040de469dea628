// SPDX-License-Identifier: MIT
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

#include "device/wait.h"
#include "observe/trace.h"
#include "queue/queue.h"

static const struct transport *const transports[] = {&transport_drm, &transport_xrt, &transport_emulator};
#define TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

/* The first kind of card that is there; the emulator always is, and that is said once. */
static const struct transport *default_transport(void)
{
	static bool said;
	const struct transport *found = &transport_emulator;

	for (unsigned i = 0; i < TRANSPORTS; i++) {
		if (transports[i]->present()) {
			found = transports[i];
			break;
		}
	}
	if (found == &transport_emulator && !__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		say("no card found, using the emulated one (TUTTI_DEVICE=emulator says so beforehand)");
	return found;
}

static const struct transport *find_transport(const char *name)
{
	if (!name || !*name)
		name = getenv("TUTTI_DEVICE");
	if (!name || !*name)
		return default_transport();
	for (unsigned i = 0; i < TRANSPORTS; i++) {
		size_t n = strlen(transports[i]->name);

		if (!strncmp(name, transports[i]->name, n) && (!name[n] || name[n] == ':'))
			return transports[i];
	}
	say("unknown device '%s' (emulator, drm, xrt)", name);
	return NULL;
}

int tutti_device_open(const struct tutti_device_options *options, struct tutti_device **out)
{
	static const struct tutti_device_options defaults;
	struct tutti_device *device;
	int error;

	if (!out)
		return -EINVAL;
	*out = NULL;
	if (!options)
		options = &defaults;
	device = aligned_alloc(64, (sizeof(*device) + 63) & ~(size_t)63);
	if (!device)
		return -ENOMEM;
	memset(device, 0, sizeof(*device));
	pthread_mutex_init(&device->lock, NULL);
	device->transport = find_transport(options->name);
	error = -ENODEV;
	if (device->transport) {
		device->run = device->transport->run;
		error = device->transport->open(device, options);
	}
	if (!error && (error = trace_open(device)))
		device->transport->close(device);
	if (error) {
		pthread_mutex_destroy(&device->lock);
		free(device);
		return error;
	}
	*out = device;
	return 0;
}

void tutti_device_close(struct tutti_device *device)
{
	if (!device)
		return;
	for (unsigned i = 0; i < TUTTI_MAX_QUEUES; i++)
		if (device->queue[i])
			tutti_queue_destroy(&device->queue[i]->public);
	print_flush(device);
	trace_close(device);
	device->transport->close(device);
	pthread_mutex_destroy(&device->lock);
	free(device);
}

const struct tutti_discovery *tutti_device_discovery(const struct tutti_device *device)
{
	return &device->known;
}

const char *tutti_device_transport(const struct tutti_device *device)
{
	return device->transport->name;
}

int tutti_device_pci_address(struct tutti_device *device, char *address, size_t bytes)
{
	return device->transport->pci_address ? device->transport->pci_address(device, address, bytes) : -ENOTSUP;
}

uint32_t tutti_device_firmware_version(const struct tutti_device *device)
{
	return device->status->firmware_version;
}

int tutti_profile_each(struct tutti_device *device, tutti_profile_fn each, void *context)
{
	return device->transport->profile ? device->transport->profile(device, each, context) : -ENOTSUP;
}

const char *device_state_name(uint32_t state)
{
	static const char *const name[] = {"off", "loading", "running", "crashed", "failed to boot"};

	return state < sizeof(name) / sizeof(name[0]) ? name[state] : "unknown";
}

static void say_dead(struct tutti_device *device, const char *why)
{
	const struct tutti_crash *crash = (const void *)(device->bar + device->known.crash.offset);
	bool said = __atomic_exchange_n(&device->said_dead, true, __ATOMIC_RELAXED);

	if (said)
		return;
	if (tutti_load_relaxed(&device->status->state) == TUTTI_STATE_CRASHED)
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
	if (tutti_load_acquire(&device->errors))
		queue_deliver_errors(device);
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

int device_request(struct tutti_device *device, unsigned type, uint64_t arg0, uint64_t arg1, uint64_t arg2,
		   uint64_t *value)
{
	struct tutti_message message = {.type = (uint16_t)type, .arg = {arg0, arg1, arg2}};
	int error = device->transport->request(device, &message);

	if (value)
		*value = message.value;
	return error;
}

int tutti_device_policy(struct tutti_device *device, unsigned policy, uint32_t value)
{
	return device_request(device, TUTTI_MSG_POLICY, policy, value, 0, NULL);
}

int tutti_device_enable_sms(struct tutti_device *device, unsigned first, unsigned count, bool enable)
{
	if (first > device->known.sms || count > device->known.sms - first)
		return -EINVAL;
	return device_request(device, TUTTI_MSG_SM_ENABLE, first, count, enable, NULL);
}

/*
 * The firmware writes its timer with each heartbeat; between two of them the host's
 * clock goes on from the last one seen (not in deterministic mode, whose time is its own).
 */
uint64_t tutti_device_time(struct tutti_device *device)
{
	const struct tutti_status *status = device->status;
	struct device_time *last = &device->time;
	uint64_t beat, time, now = time_ns();

	do {
		beat = tutti_load_acquire(&status->heartbeat);
		time = tutti_load_acquire(&status->heartbeat_time);
	} while (beat != tutti_load_acquire(&status->heartbeat));
	pthread_mutex_lock(&device->lock);
	if (time != last->beat_time) {
		last->beat_time = time;
		last->host_ns = now;
	}
	if (!device->deterministic)
		time += (uint64_t)((double)(now - last->host_ns) * (double)device->known.timer_hz / 1e9);
	if (time < last->given)
		time = last->given; /* never backwards */
	last->given = time;
	pthread_mutex_unlock(&device->lock);
	return time;
}

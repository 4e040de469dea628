// SPDX-License-Identifier: MIT
/* Signals and files: an eventfd or a sync_file that follows a signal, a signal that follows one of these. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "queue/handler.h"
#include "queue/queue.h"

/* The handler's context is the number of its own copy of the file, since the application may close the one it gave. */
static void close_copy(void *context)
{
	close((int)(intptr_t)context);
}

static bool write_once(tutti_signal_t signal, int64_t value, int error, void *context)
{
	const uint64_t one = 1;

	(void)signal, (void)value, (void)error; /* whoever reads it looks at the signal */
	if (write((int)(intptr_t)context, &one, sizeof(one)) < 0) {
		/* Its count is at its end, so that it is readable anyway. */
	}
	close_copy(context);
	return false;
}

static bool subtract_once(tutti_signal_t signal, int64_t value, int error, void *context)
{
	(void)value;
	if (!error)
		tutti_signal_subtract(signal, 1);
	close_copy(context);
	return false;
}

static bool is_eventfd(int fd)
{
	char path[32], target[32] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return readlink(path, target, sizeof(target) - 1) > 0 && !strcmp(target, "anon_inode:[eventfd]");
}

static int add(struct tutti_device *device, struct handler *wanted, int copy)
{
	int error;

	wanted->drop = close_copy;
	wanted->context = (void *)(intptr_t)copy;
	error = handler_add(device, wanted);
	if (error)
		close(copy);
	return error;
}

int tutti_signal_to_eventfd(struct tutti_device *device, tutti_signal_t signal, enum tutti_condition condition,
			    int64_t value, int fd)
{
	CALL_SCOPE(call);
	struct handler wanted = {
	    .watch = {.signal = signal, .value = value, .condition = (uint8_t)condition},
	    .fd = NO_FILE,
	    .call = write_once,
	};
	int copy;

	if (!device_call(&call, device) || !signal_ok(device, signal) || (unsigned)condition > TUTTI_GTE)
		return -EINVAL;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	if (!is_eventfd(copy)) {
		close(copy);
		return -EINVAL;
	}
	return add(device, &wanted, copy);
}

int tutti_signal_from_fd(struct tutti_device *device, tutti_signal_t signal, int fd)
{
	CALL_SCOPE(call);
	struct handler wanted = {.watch = {.signal = signal}, .call = subtract_once};

	if (!device_call(&call, device) || !signal_ok(device, signal))
		return -EINVAL;
	wanted.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return wanted.fd < 0 ? -errno : add(device, &wanted, wanted.fd);
}

int tutti_signal_to_sync_file(struct tutti_queue *public, tutti_signal_t signal, int *fd)
{
	CALL_SCOPE(call);
	struct queue *queue = queue_of(public);
	union tutti_packet packet = {
	    .barrier = {.header = tutti_header(TUTTI_PACKET_BARRIER_AND, false, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE),
			.dependency = {(uintptr_t)signal}}};
	uint64_t index;
	int error;

	if (!queue_call(&call, public) || !signal_ok(queue->device, signal) || !fd)
		return -EINVAL;
	if (!queue->device->transport->sync_file)
		return -ENOTSUP;
	if (queue->recording)
		return -EBUSY;
	error = queue_stopped(queue) ? -EIO : tutti_queue_put(public, &packet, &index);
	return error ? error : queue->device->transport->sync_file(queue->device, public->id, index + 1, fd);
}

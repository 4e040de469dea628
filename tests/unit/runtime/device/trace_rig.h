/* SPDX-License-Identifier: MIT */
/** DOC: A card whose trace records are written by the test itself, and the file in which they are saved */
#ifndef TRACE_RIG_H
#define TRACE_RIG_H

#include <fcntl.h>
#include <stdio.h>

#include "device/trace.h"
#include "rt_rig.h"

#define RING 512u
#define SMS  3u

static struct tutti_trace *ring;
static uint64_t made; /* records made so far, with those that were not written */
static char path[] = "/tmp/tutti-trace-XXXXXX";

__attribute__((unused)) static int open_traced(void **state)
{
	int error = open_fake(state);

	transport.traces = true;
	device->known.features |= TUTTI_FEATURE_TRACE;
	device->known.trace.offset = 0xc000;
	device->known.trace.bytes = RING * sizeof(*ring);
	device->known.sms = SMS;
	device->known.sm_table.offset = 0x3000;
	device->known.sm_table.bytes = SMS * sizeof(struct tutti_sm_place);
	memset(bar + 0x3000, 0x77, SMS * sizeof(struct tutti_sm_place));
	ring = (void *)(bar + 0xc000);
	made = 0;
	return error;
}

/* Make @n records as the card does: those for which the ring has no room are only counted. */
__attribute__((unused)) static void record(unsigned n)
{
	for (; n--; made++) {
		uint64_t tail = device->status->trace_tail;

		if (!device->control->trace_enable)
			continue;
		if (tail - device->control->trace_head == RING) {
			device->status->trace_lost++;
			continue;
		}
		ring[tail % RING] = (struct tutti_trace){.kind = TUTTI_TRACE_RUN, .packet = made};
		device->status->trace_tail++;
	}
}

static uint8_t file[1 << 20];
static size_t file_bytes, file_at;

__attribute__((unused)) static void slurp(void)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, file, sizeof(file));

	assert_true(fd >= 0 && n > 0 && n < (ssize_t)sizeof(file));
	close(fd);
	file_bytes = (size_t)n;
	file_at = 0;
}

__attribute__((unused)) static const void *next_bytes(size_t n)
{
	file_at += n;
	assert_true(file_at <= file_bytes);
	return file + file_at - n;
}

__attribute__((unused)) static void expect_records(uint64_t first, unsigned n)
{
	struct tutti_trace r;

	for (unsigned i = 0; i < n; i++) {
		memcpy(&r, next_bytes(sizeof(r)), sizeof(r));
		assert_int_equal(r.packet, first + i);
	}
}

static char child_path[sizeof(path) + 8];

__attribute__((unused)) static void open_file(void)
{
	setenv("TUTTI_TRACE", path, 1);
	assert_int_equal(trace_open(device), 0);
	unsetenv("TUTTI_TRACE");
}

/* Delete the files of all traces of this program except the first. */
__attribute__((unused)) static void unlink_others(void)
{
	for (unsigned i = 1; i < 16; i++) {
		snprintf(child_path, sizeof(child_path), "%s.%u", path, i);
		unlink(child_path);
	}
}

#endif

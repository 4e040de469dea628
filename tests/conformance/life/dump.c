// SPDX-License-Identifier: MIT
/* The core dump of a card that has crashed: every part of it, with what was true then (spec SYS-28). */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"
#include "tutti/counter.h"
#include "tutti/discovery.h"
#include "tutti/dump.h"

#define DUMP_MAX (1u << 20)

/* There is one for each device, and it stays until somebody has read it. */
static FILE *dump_open(const char *mode)
{
	glob_t paths = {0};
	FILE *file = NULL;

	if (!glob("/sys/class/devcoredump/devcd*/data", 0, NULL, &paths))
		file = fopen(paths.gl_pathv[0], mode);
	globfree(&paths);
	return file;
}

static bool dump_drop(void)
{
	FILE *file;

	for (unsigned i = 0; i < 100; i++) {
		file = dump_open("we");
		if (!file)
			return true;
		fputc('1', file);
		fclose(file);
		usleep(50000);
	}
	return false;
}

/* Its size. */
static size_t dump_read(uint8_t *dump)
{
	FILE *file = dump_open("re");
	size_t bytes = file ? fread(dump, 1, DUMP_MAX, file) : 0;

	if (file)
		fclose(file);
	return bytes;
}

static const void *section(const uint8_t *dump, uint32_t kind, uint64_t bytes)
{
	const struct tutti_dump_header *header = (const void *)dump;

	for (uint32_t i = 0; i < header->sections; i++) {
		const struct tutti_dump_section *s = &header->section[i];

		if (s->kind == kind && s->bytes == bytes && !(s->offset & 7) && s->offset >= sizeof(*header) &&
		    s->offset + bytes <= header->bytes)
			return dump + s->offset;
	}
	return NULL;
}

static const struct tutti_dump_queue *queue_of(const uint8_t *dump, const struct tutti_discovery *known, uint32_t id)
{
	const struct tutti_dump_queue *queues =
		section(dump, TUTTI_DUMP_QUEUES, known->max_queues * sizeof(struct tutti_dump_queue));

	for (uint32_t i = 0; queues && i < known->max_queues; i++)
		if (queues[i].present && queues[i].queue == id)
			return &queues[i];
	return NULL;
}

static bool queue_is_true(struct rig *rig, const uint8_t *dump, const struct tutti_discovery *known, unsigned context)
{
	const struct tutti_dump_queue *queue = queue_of(dump, known, rig->queue_number);

	CHECK(queue && queue->ring == BASE + RING_AT && queue->ring_bytes == 64u << RING_LOG2);
	EXPECT(context, queue->context);
	EXPECT(3, (long)queue->progress);
	EXPECT(1, (long)queue->errors);
	EXPECT(TUTTI_ERROR_PACKET, queue->stopped);
	EXPECT(TUTTI_ERROR_PACKET, queue->fault.code);
	EXPECT(3, (long)queue->fault.packet);
	return true;
}

static bool is_true(const uint8_t *dump, size_t bytes, const struct tutti_discovery *known,
		    const struct drm_tutti_state *state)
{
	const struct tutti_dump_header *header = (const void *)dump;
	const struct tutti_status *status = section(dump, TUTTI_DUMP_STATUS, sizeof(*status));
	const struct tutti_crash *crash = section(dump, TUTTI_DUMP_CRASH, sizeof(*crash));
	const uint64_t *counters = section(dump, TUTTI_DUMP_COUNTERS, TUTTI_COUNTERS * sizeof(uint64_t));
	const void *discovery = section(dump, TUTTI_DUMP_DISCOVERY, sizeof(*known));

	CHECK(header->magic == TUTTI_DUMP_MAGIC && header->version == TUTTI_DUMP_VERSION && header->time);
	EXPECT((long)bytes, (long)header->bytes);
	EXPECT(9, header->sections);
	EXPECT((long)state->generation, (long)header->generation);
	EXPECT(state->firmware_version, header->firmware_version);
	EXPECT(TUTTI_CONTRACT_VERSION, header->contract);
	CHECK(discovery && !memcmp(discovery, known, sizeof(*known)));
	CHECK(status && status->state == TUTTI_STATE_CRASHED && status->boot_sequence == state->boot_sequence);
	CHECK(crash && crash->text[0] && counters && counters[TUTTI_COUNTER_PACKETS]);
	CHECK(section(dump, TUTTI_DUMP_CONTROL, sizeof(struct tutti_control)));
	CHECK(section(dump, TUTTI_DUMP_HOST_RING, known->host_ring.bytes));
	CHECK(section(dump, TUTTI_DUMP_CARD_RING, known->card_ring.bytes));
	CHECK(section(dump, TUTTI_DUMP_LOG, known->log.bytes));
	return true;
}

static bool crash(struct rig *rig)
{
	struct drm_tutti_counters counters = {0};
	struct drm_tutti_state state;
	struct drm_tutti_query query = {DRM_TUTTI_QUERY_STATE, sizeof(state), (uintptr_t)&state};
	struct tutti_discovery known;
	struct tutti_fault fault;
	static uint8_t dump[DUMP_MAX];
	unsigned context;
	size_t bytes;

	SKIP_UNLESS(inject_command && !getuid(), "needs root and --inject");
	CHECK(dump_drop() && rig_queue(rig));
	SKIP_UNLESS(context_number(rig, &context), "debugfs cannot be read");
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUERY, &query));
	CHECK(discovery(rig->fd, &known));
	for (unsigned i = 0; i < 3; i++)
		CHECK(rig_works(rig));
	rig_publish(rig_slot(rig), 0x77);
	rig_ring(rig);
	EXPECT(0, queue_error(rig, &fault));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_COUNTERS, &counters));
	CHECK(inject("firmware-crash"));
	rig_signal(rig, 5, 1);
	EXPECT(EIO, rig_wait(rig, 5, 0, PATIENCE));
	bytes = dump_read(dump);
	CHECK(bytes >= sizeof(struct tutti_dump_header));
	CHECK(is_true(dump, bytes, &known, &state) && queue_is_true(rig, dump, &known, context));
	rig_close(rig);
	CHECK(rig_fresh(rig) && rig_works(rig));
	return true;
}

void dump_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-28: the core dump of a crash, part by part", crash},
		{0},
	};

	subtests(tests);
}

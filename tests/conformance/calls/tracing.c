// SPDX-License-Identifier: MIT
/* The card's trace: who may read it, one file at a time, and what it says (spec SYS-29, SYS-46). */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/trace.h"

#define KINDS (1u << TUTTI_TRACE_COMPLETE | 1u << TUTTI_TRACE_DOORBELL)

static int trace_start(int fd, uint32_t kinds)
{
	struct drm_tutti_trace_start args = {.kinds = kinds};

	return call(fd, DRM_IOCTL_TUTTI_TRACE_START, &args);
}

static int trace_read(int fd, struct tutti_trace *records, uint32_t *count, uint32_t *lost)
{
	struct drm_tutti_trace_read args = {.pointer = (uintptr_t)records, .count = *count};
	int error = call(fd, DRM_IOCTL_TUTTI_TRACE_READ, &args);

	*count = args.count;
	*lost = args.lost;
	return error;
}

static unsigned count_of(const struct tutti_trace *records, uint32_t count, unsigned kind, unsigned queue)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < count; i++)
		n += records[i].kind == kind && records[i].queue == queue;
	return n;
}

/* A record may follow the signal by a moment: waits until there are records, ten seconds at most. */
static bool read_soon(int fd, struct tutti_trace *records, uint32_t *count, uint32_t *lost)
{
	uint64_t end = now_ns() + PATIENCE;
	uint32_t room = *count;

	do {
		*count = room;
		EXPECT(0, trace_read(fd, records, count, lost));
	} while (!*count && now_ns() < end);
	CHECK(*count);
	return true;
}

/* The records of packets that have run; of the wanted kinds only, and none a second time. */
static bool records(struct rig *rig)
{
	struct tutti_trace got[64] = {0};
	unsigned rung = 0, completed = 0;
	uint32_t count, lost;

	SKIP_UNLESS(!getuid(), "takes CAP_PERFMON");
	CHECK(rig_queue(rig));
	EXPECT(0, trace_start(rig->fd, KINDS));
	for (unsigned i = 0; i < 3; i++)
		CHECK(rig_works(rig));
	while (completed < 3) {
		count = 64;
		CHECK(read_soon(rig->fd, got, &count, &lost) && !lost);
		rung += count_of(got, count, TUTTI_TRACE_DOORBELL, rig->queue_number);
		completed += count_of(got, count, TUTTI_TRACE_COMPLETE, rig->queue_number);
		for (uint32_t i = 0; i < count; i++)
			CHECK(KINDS >> got[i].kind & 1);
	}
	EXPECT(3, completed);
	CHECK(rung);
	usleep(100000);
	count = 64;
	EXPECT(0, trace_read(rig->fd, got, &count, &lost));
	EXPECT(0, count_of(got, count, TUTTI_TRACE_COMPLETE, rig->queue_number));
	return true;
}

/* No record more than there is room for is written; the others are still there. */
static bool parts(struct rig *rig)
{
	struct tutti_trace got[2];
	uint32_t count, lost;

	SKIP_UNLESS(!getuid(), "takes CAP_PERFMON");
	CHECK(rig_queue(rig));
	EXPECT(0, trace_start(rig->fd, 1u << TUTTI_TRACE_COMPLETE));
	for (unsigned i = 0; i < 4; i++)
		CHECK(rig_works(rig));
	for (unsigned i = 0; i < 4; i++) {
		memset(got, 0xa5, sizeof(got));
		count = 1;
		CHECK(read_soon(rig->fd, got, &count, &lost));
		EXPECT(1, count);
		EXPECT(TUTTI_TRACE_COMPLETE, got[0].kind);
		for (unsigned b = 0; b < sizeof(got[1]); b++)
			CHECK(((uint8_t *)&got[1])[b] == 0xa5);
	}
	CHECK(rig_works(rig));
	usleep(100000);
	count = 1;
	EXPECT(EFAULT, trace_read(rig->fd, NULL, &count, &lost));
	EXPECT(1, count);
	return true;
}

/* Create a queue whose ring is in card memory and has no packet that is ready. */
static bool idle_queue(struct rig *rig, uint32_t *number)
{
	struct drm_tutti_queue_create args = queue_args(rig);
	uint64_t offset;
	uint32_t bo, *words;

	EXPECT(0, bo_create(rig->fd, RIG_BYTES, DRM_TUTTI_PLACE_CARD, &bo, &offset));
	words = mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)offset);
	CHECK(words != MAP_FAILED);
	for (unsigned i = 0; i < PAGE / 4; i++)
		words[SPARE_RING_AT / 4 + i] = TUTTI_PACKET_INVALID;
	munmap(words, RIG_BYTES);
	EXPECT(0, bo_map(rig->fd, rig->context, bo, 2 * BASE, RIG_BYTES));
	args.ring = 2 * BASE + SPARE_RING_AT;
	args.read_index = BASE + SPARE_INDEX_AT;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args));
	*number = args.id;
	return true;
}

/* Twice a second, the driver rings the doorbells of queues that stand still with a packet at their head, but no others. */
static bool nobody_rings(struct rig *rig)
{
	struct tutti_trace got[64];
	uint32_t count = 64, lost, number = 0;

	SKIP_UNLESS(!getuid(), "takes CAP_PERFMON");
	CHECK(rig_queue(rig) && idle_queue(rig, &number));
	for (unsigned i = 0; i < 17; i++) /* more packets than the ring has slots */
		CHECK(rig_works(rig));
	EXPECT(0, trace_start(rig->fd, 1u << TUTTI_TRACE_DOORBELL));
	usleep(1800000);
	EXPECT(0, trace_read(rig->fd, got, &count, &lost));
	EXPECT(0, count_of(got, count, TUTTI_TRACE_DOORBELL, number));
	EXPECT(0, count_of(got, count, TUTTI_TRACE_DOORBELL, rig->queue_number));
	return true;
}

/* More than the ring holds, while nobody reads: what is lost is counted. */
static bool overflow(struct rig *rig)
{
	static const uint32_t nothing[] = {0x00008067 /* ret */};
	static struct tutti_trace got[1024];
	uint32_t count, lost, all = 0, dropped = 0;

	SKIP_UNLESS(!getuid(), "takes CAP_PERFMON");
	CHECK(rig_queue(rig));
	rig_code(rig, nothing, sizeof(nothing));
	EXPECT(0, trace_start(rig->fd, 1u << TUTTI_TRACE_CTA_DONE | 1u << TUTTI_TRACE_RUN));
	rig_signal(rig, 1, 1);
	rig_dispatch(rig, 20000, 0, 1);
	rig_ring(rig);
	EXPECT(0, rig_wait(rig, 1, 0, PATIENCE));
	do {
		count = 4000;
		EXPECT(0, trace_read(rig->fd, got, &count, &lost));
		CHECK(count <= 1024);
		all += count;
		dropped += lost;
	} while (count);
	CHECK(all && dropped);
	return true;
}

static bool one_reader(struct rig *rig)
{
	struct rig other = {.fd = -1}, third = {.fd = -1};
	struct tutti_trace got[8];
	uint32_t count = 8, lost;

	SKIP_UNLESS(!getuid(), "takes CAP_PERFMON");
	CHECK(rig_queue(rig) && rig_open(&other) && rig_open(&third));
	EXPECT(EINVAL, trace_read(rig->fd, got, &count, &lost));
	EXPECT(0, trace_start(rig->fd, KINDS));
	EXPECT(EBUSY, trace_start(other.fd, KINDS));
	EXPECT(EBUSY, trace_start(other.fd, 0));
	EXPECT(EINVAL, trace_read(other.fd, got, &count, &lost));
	CHECK(rig_works(rig));
	usleep(100000);
	EXPECT(0, trace_start(rig->fd, 0));
	EXPECT(0, trace_read(rig->fd, got, &count, &lost)); /* what was there */
	CHECK(count);
	CHECK(rig_works(rig));
	usleep(100000);
	count = 8;
	EXPECT(0, trace_read(rig->fd, got, &count, &lost));
	EXPECT(0, count);
	EXPECT(0, trace_start(other.fd, KINDS));
	EXPECT(EINVAL, trace_read(rig->fd, got, &count, &lost));
	rig_close(&other); /* ends it */
	EXPECT(0, trace_start(third.fd, KINDS));
	rig_close(&third);
	CHECK(rig_open(&third)); /* may reuse the memory of the file just closed, but does not own the trace of that file */
	EXPECT(EINVAL, trace_read(third.fd, got, &count, &lost));
	rig_close(&third);
	CHECK(rig_works(rig));
	return true;
}

static bool reader_of_before(struct rig *rig)
{
	struct rig after = {.fd = -1};
	struct tutti_trace got[8];
	uint32_t count = 8, lost;

	SKIP_UNLESS(!getuid(), "only root resets the card");
	CHECK(rig_open(rig));
	EXPECT(0, trace_start(rig->fd, KINDS));
	EXPECT(0, device_reset());
	EXPECT(EIO, trace_read(rig->fd, got, &count, &lost));
	CHECK(rig_fresh(&after));
	EXPECT(0, trace_start(after.fd, KINDS));
	rig_close(rig); /* is not the reader any more */
	CHECK(rig_works(&after));
	CHECK(read_soon(after.fd, got, &count, &lost));
	CHECK(count_of(got, count, TUTTI_TRACE_COMPLETE, after.queue_number) == 1);
	rig_close(&after);
	return true;
}

static bool nobody_reads(void *data)
{
	struct rig rig = {.fd = -1};

	CHECK(!setgid(65534) && !setuid(65534) && rig_open(&rig));
	EXPECT(EACCES, trace_start(rig.fd, KINDS));
	EXPECT(EACCES, trace_start(rig.fd, 0));
	rig_close(&rig);
	return true;
}

static bool nobody(struct rig *rig)
{
	SKIP_UNLESS(!getuid(), "needs root, to be somebody else");
	CHECK(rig_open(rig));
	allow_everybody();
	return in_child(nobody_reads, NULL);
}

void tracing_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-29 SYS-46: the trace shows what has run", records},
		{"SYS-29: the trace is read in parts", parts},
		{"SYS-28 SYS-29: the driver does not ring for a queue without a packet", nobody_rings},
		{"SYS-29: records that do not fit the trace ring are counted", overflow},
		{"SYS-29: the trace has one reader at a time", one_reader},
		{"SYS-28 SYS-29: after a reset the trace is free again", reader_of_before},
		{"SYS-27 SYS-29: nobody reads the trace", nobody},
		{0},
	};

	subtests(tests);
}

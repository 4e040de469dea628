// SPDX-License-Identifier: MIT
/* Calls at the last value that is good; its neighbour, which is not, is in calls/defects.c or beside it. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"
#include "tutti/discovery.h"
#include "tutti/trace.h"

#define VA_END (1ull << 47)

/** struct field - of the arguments of a call, and what it is set to. No bytes: there is no such field. */
struct field {
	uint32_t at, bytes;
	uint64_t value;
};

/** struct limit - valid arguments of a call, but for some fields. */
struct limit {
	unsigned long request;
	struct field field[4];
	int error;
	const char *what;
};

#define FIELD(type, name, value) \
	{(uint32_t)offsetof(struct drm_tutti_##type, name), sizeof(((struct drm_tutti_##type *)0)->name), (uint64_t)(value)}
#define ONE(call, type, name, value, error, what) {DRM_IOCTL_TUTTI_##call, {FIELD(type, name, value)}, error, what}
#define TWO(call, type, name, value, name2, value2, error, what) \
	{DRM_IOCTL_TUTTI_##call, {FIELD(type, name, value), FIELD(type, name2, value2)}, error, what}

/* A range of addresses. */
#define RANGE(call, from, size, error, what) TWO(call, range, address, from, bytes, size, error, what)
#define QUEUE(name, value, error, what) ONE(QUEUE_CREATE, queue_create, name, value, error, what)
#define FLAGS(value, error, what) ONE(QUEUE_CREATE, queue_create, flags, value, error, what)
#define WAIT(wanted, what, ...) {DRM_IOCTL_TUTTI_WAIT, {__VA_ARGS__}, wanted, what}
#define KIND(kind_) FIELD(wait, kind, DRM_TUTTI_WAIT_##kind_)

static const struct limit limits[] = {
	ONE(MAP, map, address, VA_END - 2 * PAGE, 0, "the last pages of the address space"),
	ONE(MAP, map, address, 0, 0, "the first pages of the address space"),
	ONE(MAP, map, address, BASE - 2 * PAGE, 0, "up to where something is mapped"),
	ONE(MAP, map, address, BASE + RIG_BYTES, 0, "from where something ends"),
	ONE(MAP, map, offset, RIG_BYTES - 2 * PAGE, 0, "the last pages of the buffer"),
	ONE(MAP, map, bytes, RIG_BYTES - PAGE, 0, "from a page on to the buffer's end"),
	TWO(MAP, map, offset, 0, bytes, RIG_BYTES, 0, "the whole buffer"),
	ONE(MAP, map, access, 3, 0, "read and write"),
	ONE(MAP, map, access, 5, 0, "read and execute"),
	ONE(MAP, map, access, 7, 0, "all access"),
	ONE(MAP, map, access, 7 | 8, EINVAL, "all access, and a bit more"),
	ONE(MAP, map, offset, PAGE + 1, EINVAL, "a byte past a page boundary of the buffer"),
	ONE(MAP, map, address, 2 * BASE + 1, EINVAL, "a byte past a page boundary of the address space"),
	RANGE(UNMAP, BASE + RIG_BYTES - PAGE, VA_END - (BASE + RIG_BYTES - PAGE), 0, "up to the address space's end"),
	RANGE(UNMAP, BASE + RIG_BYTES - PAGE, VA_END - (BASE + RIG_BYTES - 2 * PAGE), EINVAL, "a page beyond it"),
	RANGE(UNMAP, BASE - PAGE, PAGE, ENOENT, "up to where something is mapped"),
	RANGE(UNMAP, BASE + RIG_BYTES, PAGE, ENOENT, "from where something ends"),
	RANGE(UNMAP, BASE - PAGE, 2 * PAGE, EBUSY, "its last page holds a ring"),
	RANGE(UNMAP, BASE + INDEX_AT, 2 * PAGE, EBUSY, "its first page holds a read index"),
	RANGE(UNMAP, BASE + SIGNAL_AT, RIG_BYTES, 0, "all but ring and read index"),
	RANGE(CODE_INVALIDATE, BASE + CODE_AT, 1, 0, "one byte"),
	RANGE(CODE_INVALIDATE, VA_END - 1, 1, 0, "the last byte of the address space"),
	RANGE(CODE_INVALIDATE, VA_END - 1, 2, EINVAL, "a byte beyond it"),
	ONE(CONTEXT_CREATE, context_create, print_ring, 64, 0, "print ring at the lowest address"),
	ONE(CONTEXT_CREATE, context_create, print_ring, VA_END - 64, 0, "print ring at the highest address"),
	ONE(CONTEXT_CREATE, context_create, print_ring, 65, EINVAL, "print ring at an odd address"),
	QUEUE(priority, 10, 0, "lowest priority"),
	QUEUE(ring, BASE + RIG_BYTES - (64u << RING_LOG2), 0, "ring at its mapping's end"),
	QUEUE(read_index, BASE + RIG_BYTES - 8, 0, "read index at its mapping's end"),
	QUEUE(read_index, BASE + RIG_BYTES, EFAULT, "read index behind its mapping's end"),
	QUEUE(read_index, VA_END - 8, EFAULT, "read index at the highest address"),
	QUEUE(ring, BASE + SPARE_RING_AT + 1, EINVAL, "ring at an odd address"),
	QUEUE(read_index, BASE + SPARE_INDEX_AT + 1, EINVAL, "read index at an odd address"),
	QUEUE(timeout_ms, ~0u, 0, "longest time limit"),
	FLAGS(TUTTI_QUEUE_EXTENDED, 0, "extended"),
	FLAGS(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_OVERLAP, 0, "extended, with overlap"),
	FLAGS(TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_TABLE_DIFFS, 0, "extended, with table diffs"),
	FLAGS(TUTTI_QUEUE_PROFILE, 0, "with profile"),
	TWO(QUEUE_CREATE, queue_create, flags, TUTTI_QUEUE_EXTENDED, rsb, 0x7777, ENOENT, "RSB never given out"),
	ONE(RSB_CREATE, rsb_create, placement, TUTTI_RSB_MEMORY, 0, "in card memory"),
	ONE(RSB_INVALIDATE, rsb_invalidate, mask, 0, 0, "no entry"),
	ONE(RSB_INVALIDATE, rsb_invalidate, mask, 0x80, 0, "the last entry"),
	TWO(WAIT, wait, offset, RIG_BYTES - 64, value, 0, 0, "the last signal of the buffer"),
	ONE(WAIT, wait, offset, SIGNAL_AT + 1, EINVAL, "a byte past the start of a signal"),
	WAIT(EINVAL, "progress, with an offset", KIND(PROGRESS)),
	WAIT(EINVAL, "progress, with a condition", KIND(PROGRESS), FIELD(wait, offset, 0), FIELD(wait, condition, 1)),
	WAIT(EINVAL, "interrupts, with a handle", KIND(INTERRUPT), FIELD(wait, offset, 0)),
	WAIT(EINVAL, "interrupts, with an offset", KIND(INTERRUPT), FIELD(wait, handle, 0)),
	WAIT(EINVAL, "interrupts, with a condition", KIND(INTERRUPT), FIELD(wait, handle, 0), FIELD(wait, offset, 0),
	     FIELD(wait, condition, 1)),
	TWO(SM_ENABLE, sm_enable, first, 0, count, 0, 0, "no SM"),
	TWO(POLICY_SET, policy, policy, TUTTI_POLICY_CTA_CAP, value, 1ull << 32, EINVAL, "value right but for bit 32"),
	ONE(OCCUPANCY, occupancy, waves, 0xffff, 0, "as many waves as there is a word for"),
	ONE(OCCUPANCY, occupancy, lmem, 1, 0, "with linear memory"),
	ONE(TRACE_START, trace_start, kinds, (1u << TUTTI_TRACE_KINDS) - 1, 0, "all kinds"),
	ONE(TRACE_START, trace_start, kinds, 1u << (TUTTI_TRACE_KINDS - 1), 0, "the last kind"),
};

static bool run(struct rig *rig, const void *data)
{
	const struct limit *limit = data;
	uint8_t args[ARGS_MAX];

	CHECK(rig_queue(rig) && call_find(limit->request)->fill(rig, args));
	for (unsigned i = 0; i < 4; i++)
		memcpy(args + limit->field[i].at, &limit->field[i].value, limit->field[i].bytes);
	EXPECT(limit->error, call(rig->fd, limit->request, args));
	return true;
}

/* ---- limits that the card sets ---- */

static int sm_enable(int fd, uint32_t first, uint32_t count)
{
	struct drm_tutti_sm_enable args = {.first = first, .count = count, .enable = 1};

	return call(fd, DRM_IOCTL_TUTTI_SM_ENABLE, &args);
}

static bool last_sm(struct rig *rig)
{
	struct tutti_discovery known;

	SKIP_UNLESS(!getuid(), "only root switches SMs");
	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	EXPECT(0, sm_enable(rig->fd, known.sms - 1, 1));
	EXPECT(0, sm_enable(rig->fd, 0, known.sms));
	EXPECT(EINVAL, sm_enable(rig->fd, known.sms - 1, 2));
	EXPECT(EINVAL, sm_enable(rig->fd, known.sms, 0));
	EXPECT(EINVAL, sm_enable(rig->fd, 1, known.sms));
	return true;
}

static int ring_of(struct rig *rig, uint32_t log2)
{
	struct drm_tutti_queue_create args = queue_args(rig);

	args.ring = 4 * BASE;
	args.size_log2 = log2;
	return call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &args);
}

static bool ring_sizes(struct rig *rig)
{
	struct tutti_discovery known;
	uint32_t bo, least, most;

	CHECK(rig_queue(rig) && discovery(rig->fd, &known));
	least = (uint32_t)__builtin_ctz(known.ring_packets_min);
	most = (uint32_t)__builtin_ctz(known.ring_packets_max);
	EXPECT(0, bo_create(rig->fd, 64ull << most, DRM_TUTTI_PLACE_SYSTEM, &bo, NULL));
	EXPECT(0, bo_map(rig->fd, rig->context, bo, 4 * BASE, 64ull << most));
	if (least)
		EXPECT(EINVAL, ring_of(rig, least - 1));
	for (uint32_t log2 = least; log2 <= most; log2++)
		EXPECT(0, ring_of(rig, log2));
	EXPECT(EINVAL, ring_of(rig, most + 1));
	CHECK(rig_works(rig));
	return true;
}

static uint64_t memory_of_host(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;

	if (file && fscanf(file, "MemTotal: %llu", &kib) != 1)
		kib = 0;
	if (file)
		fclose(file);
	return kib << 10;
}

/* As large as all memory is no nonsense, though it may be too much; a byte more is. */
static bool buffer_sizes(struct rig *rig)
{
	struct drm_tutti_bo_userptr own = {.bytes = memory_of_host()};
	struct tutti_discovery known;
	struct drm_gem_close gone = {0};
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED && !munmap(page, PAGE) && own.bytes); /* there is nothing there */
	CHECK(rig_open(rig) && discovery(rig->fd, &known));
	EXPECT(ENOSPC, bo_create(rig->fd, known.memory_bytes, DRM_TUTTI_PLACE_CARD, &gone.handle, NULL));
	EXPECT(EINVAL, bo_create(rig->fd, known.memory_bytes + 1, DRM_TUTTI_PLACE_CARD, &gone.handle, NULL));
	EXPECT(0, bo_create(rig->fd, own.bytes, DRM_TUTTI_PLACE_SYSTEM, &gone.handle, NULL));
	EXPECT(0, call(rig->fd, DRM_IOCTL_GEM_CLOSE, &gone));
	EXPECT(EINVAL, bo_create(rig->fd, own.bytes + 1, DRM_TUTTI_PLACE_SYSTEM, &gone.handle, NULL));
	own.address = (uintptr_t)page;
	EXPECT(EFAULT, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &own));
	own.bytes += PAGE;
	EXPECT(EINVAL, call(rig->fd, DRM_IOCTL_TUTTI_BO_USERPTR, &own));
	return true;
}

/* What a new buffer's call says is what is asked for later. */
static bool buffer_answers(struct rig *rig)
{
	CHECK(rig_open(rig));
	for (uint32_t placement = 0; placement < 2; placement++)
		for (uint64_t size = PAGE - 1; size <= PAGE + 1; size++) {
			struct drm_tutti_bo_create made = {.size = size, .placement = placement};
			struct drm_tutti_bo_info info = {0};

			EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_CREATE, &made));
			info.handle = made.handle;
			EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_BO_INFO, &info));
			EXPECT(size > PAGE ? 2 * (long)PAGE : (long)PAGE, (long)made.size);
			CHECK(info.size == made.size && info.mmap_offset == made.mmap_offset && made.mmap_offset);
			EXPECT(placement, info.placement);
		}
	return true;
}

/* How many there can be more of. Each try has arguments of its own, and what it makes stays. */
static bool count(struct rig *rig, unsigned long request, unsigned *number)
{
	uint8_t args[ARGS_MAX];
	int error = 0;

	for (*number = 0; !error && *number < 4096; *number += !error) {
		CHECK(call_find(request)->fill(rig, args));
		error = call(rig->fd, request, args);
	}
	EXPECT(ENOSPC, error);
	return true;
}

/* As many as the card says that it has; the rig has a context and a queue of them. */
static bool numbers(struct rig *rig)
{
	unsigned contexts, queues, rsbs;
	struct tutti_discovery known;

	SKIP_UNLESS(!getuid(), "takes CAP_SYS_RESOURCE");
	CHECK(rig_queue(rig) && discovery(rig->fd, &known));
	CHECK(count(rig, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &contexts) && count(rig, DRM_IOCTL_TUTTI_QUEUE_CREATE, &queues) &&
	      count(rig, DRM_IOCTL_TUTTI_RSB_CREATE, &rsbs));
	EXPECT(known.max_contexts - 1, contexts + 1);
	EXPECT(known.max_queues, queues + 1);
	EXPECT(known.max_rsbs, rsbs);
	return true;
}

/* ---- handles ---- */

static bool first_handles(struct rig *rig)
{
	struct drm_tutti_rsb_create rsb = {0};

	CHECK(rig_queue(rig));
	rsb.context = rig->context;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	EXPECT(1, rig->context);
	EXPECT(1, rig->bo);
	EXPECT(1, rig->queue);
	EXPECT(1, rsb.handle);
	return true;
}

static bool foreign_rsb(struct rig *rig)
{
	struct drm_tutti_context_create context = {0};
	struct drm_tutti_rsb_create rsb = {0};
	struct drm_tutti_handle handle = {0};
	struct drm_tutti_queue_create queue;

	CHECK(rig_queue(rig));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &context));
	rsb.context = context.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &rsb));
	queue = queue_args(rig);
	queue.ring = BASE + SPARE_RING_AT;
	queue.flags = TUTTI_QUEUE_EXTENDED;
	queue.rsb = rsb.handle;
	EXPECT(EPERM, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &queue));
	handle.handle = context.handle;
	EXPECT(EBUSY, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &handle)); /* for the RSB in it */
	handle.handle = rsb.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_DESTROY, &handle)); /* the queue that was refused does not use it */
	handle.handle = context.handle;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_DESTROY, &handle));
	CHECK(rig_works(rig));
	return true;
}

void limits_group(void)
{
	static const struct subtest tests[] = {
		{"SYS-41: the last SM, and the one behind it", last_sm},
		{"SYS-24: rings of all sizes that the card takes, and of the next ones", ring_sizes},
		{"SYS-22: buffers as large as all memory, and larger", buffer_sizes},
		{"SYS-22: sizes are rounded up to pages", buffer_answers},
		{"SYS-23 SYS-24 SYS-25: as many objects as the card has", numbers},
		{"SYS-30: handles start at 1", first_handles},
		{"SYS-25 SYS-27: RSB of another context", foreign_rsb},
		{0},
	};
	char name[120];

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct call *it = call_find(limits[i].request);

		snprintf(name, sizeof(name), "%s: %s at a limit: %s", it->ids, it->name, limits[i].what);
		subtest(name, run, &limits[i]);
	}
	subtests(tests);
}

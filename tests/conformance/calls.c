// SPDX-License-Identifier: MIT
/*
 * Every call with one thing wrong that any call can have wrong: its pointer, its size, its handle. Each is first made
 * with nothing wrong.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "table.h"
#include "tutti/trace.h"

/* ---- valid arguments ---- */

static bool fill_query(struct rig *rig, void *args)
{
	static struct drm_tutti_state state;

	*(struct drm_tutti_query *)args = (struct drm_tutti_query){
		.what = DRM_TUTTI_QUERY_STATE, .size = sizeof(state), .pointer = (uintptr_t)&state};
	return true;
}

static bool fill_bo_create(struct rig *rig, void *args)
{
	*(struct drm_tutti_bo_create *)args = (struct drm_tutti_bo_create){.size = PAGE};
	return true;
}

static bool fill_bo_userptr(struct rig *rig, void *args)
{
	static uint8_t memory[2 * PAGE] __attribute__((aligned(PAGE)));

	*(struct drm_tutti_bo_userptr *)args = (struct drm_tutti_bo_userptr){
		.address = (uintptr_t)memory, .bytes = sizeof(memory)};
	return true;
}

static bool fill_bo_info(struct rig *rig, void *args)
{
	*(struct drm_tutti_bo_info *)args = (struct drm_tutti_bo_info){.handle = rig->bo};
	return true;
}

static bool fill_context_create(struct rig *rig, void *args)
{
	*(struct drm_tutti_context_create *)args = (struct drm_tutti_context_create){0};
	return true;
}

static bool fill_context_destroy(struct rig *rig, void *args)
{
	struct drm_tutti_context_create create = {0};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_CONTEXT_CREATE, &create));
	*(struct drm_tutti_handle *)args = (struct drm_tutti_handle){.handle = create.handle};
	return true;
}

static bool fill_map(struct rig *rig, void *args)
{
	*(struct drm_tutti_map *)args = (struct drm_tutti_map){
		.context = rig->context, .bo = rig->bo, .address = 2 * BASE, .offset = PAGE, .bytes = 2 * PAGE,
		.access = DRM_TUTTI_ACCESS_READ};
	return true;
}

static bool fill_range(struct rig *rig, void *args)
{
	*(struct drm_tutti_range *)args = (struct drm_tutti_range){
		.context = rig->context, .address = BASE + RIG_BYTES - PAGE, .bytes = PAGE};
	return true;
}

static bool fill_queue_create(struct rig *rig, void *args)
{
	struct drm_tutti_queue_create create = queue_args(rig);

	create.ring = BASE + SPARE_RING_AT;
	create.read_index = BASE + SPARE_INDEX_AT;
	memset(rig->memory + SPARE_RING_AT, 0, PAGE); /* nothing that is ready */
	*(struct drm_tutti_queue_create *)args = create;
	return true;
}

static bool fill_queue_destroy(struct rig *rig, void *args)
{
	struct drm_tutti_queue_create create;

	fill_queue_create(rig, &create);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &create));
	*(struct drm_tutti_handle *)args = (struct drm_tutti_handle){.handle = create.handle};
	return true;
}

/* Only a stopped queue can be reset, so this makes a second queue with a packet that stops it. */
static bool fill_queue_reset(struct rig *rig, void *args)
{
	struct drm_tutti_wait wait = {.kind = DRM_TUTTI_WAIT_PROGRESS, .value = 1, .deadline = now_ns() + PATIENCE};
	struct drm_tutti_queue_create create;
	struct drm_tutti_kick kick = {0};
	volatile uint64_t *doorbell;

	fill_queue_create(rig, &create);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &create));
	doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)create.doorbell_offset);
	CHECK(doorbell != MAP_FAILED);
	*(volatile uint32_t *)(void *)(rig->memory + SPARE_RING_AT) = 0x77;
	*doorbell = 0;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_KICK, &kick));
	munmap((void *)doorbell, PAGE);
	wait.handle = create.handle;
	EXPECT(ECANCELED, call(rig->fd, DRM_IOCTL_TUTTI_WAIT, &wait));
	*(struct drm_tutti_handle *)args = (struct drm_tutti_handle){.handle = create.handle};
	return true;
}

static bool fill_queue_query(struct rig *rig, void *args)
{
	*(struct drm_tutti_queue_query *)args = (struct drm_tutti_queue_query){.handle = rig->queue};
	return true;
}

static bool fill_rsb_create(struct rig *rig, void *args)
{
	*(struct drm_tutti_rsb_create *)args = (struct drm_tutti_rsb_create){.context = rig->context};
	return true;
}

static bool fill_rsb_destroy(struct rig *rig, void *args)
{
	struct drm_tutti_rsb_create create = {.context = rig->context};

	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_RSB_CREATE, &create));
	*(struct drm_tutti_handle *)args = (struct drm_tutti_handle){.handle = create.handle};
	return true;
}

static bool fill_rsb_invalidate(struct rig *rig, void *args)
{
	struct drm_tutti_handle handle = {0};

	CHECK(fill_rsb_destroy(rig, &handle));
	*(struct drm_tutti_rsb_invalidate *)args = (struct drm_tutti_rsb_invalidate){handle.handle, 0xff};
	return true;
}

static bool fill_rsb_read(struct rig *rig, void *args)
{
	static struct tutti_rsb table;
	struct drm_tutti_handle handle = {0};

	CHECK(fill_rsb_destroy(rig, &handle));
	*(struct drm_tutti_rsb_read *)args =
		(struct drm_tutti_rsb_read){.handle = handle.handle, .pointer = (uintptr_t)&table};
	return true;
}

static bool fill_wait(struct rig *rig, void *args)
{
	rig_signal(rig, 3, 7);
	*(struct drm_tutti_wait *)args = (struct drm_tutti_wait){
		.kind = DRM_TUTTI_WAIT_SIGNAL, .handle = rig->bo, .value = 7,
		.offset = SIGNAL_AT + 3 * sizeof(struct tutti_signal)};
	return true;
}

static bool fill_event(struct rig *rig, void *args)
{
	*(struct drm_tutti_event *)args = (struct drm_tutti_event){.handle = rig->queue, .fd = -1};
	return true;
}

static bool fill_fence(struct rig *rig, void *args)
{
	uint64_t syncobj = syncobj_create(rig->fd);

	CHECK(syncobj);
	*(struct drm_tutti_fence *)args =
		(struct drm_tutti_fence){.handle = rig->queue, .syncobj = (uint32_t)syncobj, .point = 1};
	return true;
}

static bool fill_kick(struct rig *rig, void *args)
{
	*(struct drm_tutti_kick *)args = (struct drm_tutti_kick){0};
	return true;
}

static bool fill_counters(struct rig *rig, void *args)
{
	*(struct drm_tutti_counters *)args = (struct drm_tutti_counters){0};
	return true;
}

/* Only a task that runs can be cancelled: this makes a second queue, with a kernel that says so and never ends. */
static bool fill_task_cancel(struct rig *rig, void *args)
{
	static const uint32_t begin[] = {0x00100293 /* li t0, 1 */, 0x00553023 /* sd t0, 0(a0) */, 0x0000006f /* j . */};
	uint64_t *begun = (void *)(rig->memory + SPARE_DATA_AT), end = now_ns() + PATIENCE;
	struct drm_tutti_queue_create create;
	volatile uint64_t *doorbell;
	struct drm_tutti_kick kick = {0};

	fill_queue_create(rig, &create);
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_QUEUE_CREATE, &create));
	doorbell = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, rig->fd, (off_t)create.doorbell_offset);
	CHECK(doorbell != MAP_FAILED);
	__atomic_store_n(begun, 0, __ATOMIC_RELAXED);
	rig_code(rig, begin, sizeof(begin));
	rig_dispatch_at((void *)(rig->memory + SPARE_RING_AT), 1, BASE + SPARE_DATA_AT);
	*doorbell = 0;
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_KICK, &kick));
	munmap((void *)doorbell, PAGE);
	while (!__atomic_load_n(begun, __ATOMIC_ACQUIRE) && now_ns() < end)
		usleep(1000);
	CHECK(__atomic_load_n(begun, __ATOMIC_ACQUIRE));
	*(struct drm_tutti_task_cancel *)args = (struct drm_tutti_task_cancel){.handle = create.handle};
	return true;
}

/* None, so that no SM is off whatever is cut off. */
static bool fill_sm_enable(struct rig *rig, void *args)
{
	SKIP_UNLESS(!getuid(), "only root switches SMs");
	*(struct drm_tutti_sm_enable *)args = (struct drm_tutti_sm_enable){.enable = 1};
	return true;
}

static bool fill_policy_set(struct rig *rig, void *args)
{
	SKIP_UNLESS(!getuid(), "only root sets policies");
	*(struct drm_tutti_policy *)args = (struct drm_tutti_policy){.policy = TUTTI_POLICY_CTA_CAP};
	return true;
}

static bool fill_policy_get(struct rig *rig, void *args)
{
	*(struct drm_tutti_policy *)args = (struct drm_tutti_policy){.policy = TUTTI_POLICY_CTA_CAP};
	return true;
}

static bool fill_occupancy(struct rig *rig, void *args)
{
	*(struct drm_tutti_occupancy *)args = (struct drm_tutti_occupancy){.waves = 1};
	return true;
}

/* One file at a time: another rig can call this when the first one is closed. */
static bool fill_trace_start(struct rig *rig, void *args)
{
	SKIP_UNLESS(!getuid(), "takes CAP_PERFMON");
	*(struct drm_tutti_trace_start *)args = (struct drm_tutti_trace_start){.kinds = 1u << TUTTI_TRACE_COMPLETE};
	return true;
}

static bool fill_trace_read(struct rig *rig, void *args)
{
	struct drm_tutti_trace_start start;
	static struct tutti_trace records[4];

	CHECK(fill_trace_start(rig, &start));
	EXPECT(0, call(rig->fd, DRM_IOCTL_TUTTI_TRACE_START, &start));
	*(struct drm_tutti_trace_read *)args = (struct drm_tutti_trace_read){.pointer = (uintptr_t)records, .count = 4};
	return true;
}

#define AT(type, field) (uint32_t) offsetof(struct drm_tutti_##type, field)
const struct call calls[] = {
	{"QUERY", "SYS-30", DRM_IOCTL_TUTTI_QUERY, fill_query, NO_OBJECT, 0, 0},
	{"BO_CREATE", "SYS-22", DRM_IOCTL_TUTTI_BO_CREATE, fill_bo_create, NO_OBJECT, 0, 0},
	{"BO_INFO", "SYS-22", DRM_IOCTL_TUTTI_BO_INFO, fill_bo_info, BO, AT(bo_info, handle), 0},
	{"CONTEXT_CREATE", "SYS-23", DRM_IOCTL_TUTTI_CONTEXT_CREATE, fill_context_create, NO_OBJECT, 0, 0},
	{"CONTEXT_DESTROY", "SYS-23", DRM_IOCTL_TUTTI_CONTEXT_DESTROY, fill_context_destroy, CONTEXT, 0, 0},
	{"MAP", "SYS-23", DRM_IOCTL_TUTTI_MAP, fill_map, CONTEXT, AT(map, context), AT(map, bo)},
	{"UNMAP", "SYS-23", DRM_IOCTL_TUTTI_UNMAP, fill_range, CONTEXT, AT(range, context), 0},
	{"CODE_INVALIDATE", "SYS-23", DRM_IOCTL_TUTTI_CODE_INVALIDATE, fill_range, CONTEXT, AT(range, context), 0},
	{"QUEUE_CREATE", "SYS-24", DRM_IOCTL_TUTTI_QUEUE_CREATE, fill_queue_create, CONTEXT, AT(queue_create, context), 0},
	{"QUEUE_DESTROY", "SYS-24", DRM_IOCTL_TUTTI_QUEUE_DESTROY, fill_queue_destroy, QUEUE, 0, 0},
	{"QUEUE_RESET", "SYS-24", DRM_IOCTL_TUTTI_QUEUE_RESET, fill_queue_reset, QUEUE, 0, 0},
	{"QUEUE_QUERY", "SYS-24", DRM_IOCTL_TUTTI_QUEUE_QUERY, fill_queue_query, QUEUE, AT(queue_query, handle), 0},
	{"RSB_CREATE", "SYS-25 PKT-10", DRM_IOCTL_TUTTI_RSB_CREATE, fill_rsb_create, CONTEXT, AT(rsb_create, context), 0},
	{"RSB_DESTROY", "SYS-25 PKT-10", DRM_IOCTL_TUTTI_RSB_DESTROY, fill_rsb_destroy, RSB, 0, 0},
	{"RSB_INVALIDATE", "SYS-25 PKT-10", DRM_IOCTL_TUTTI_RSB_INVALIDATE, fill_rsb_invalidate, RSB, 0, 0},
	{"RSB_READ", "SYS-25 PKT-10", DRM_IOCTL_TUTTI_RSB_READ, fill_rsb_read, RSB, AT(rsb_read, handle), 0},
	{"WAIT", "SYS-26", DRM_IOCTL_TUTTI_WAIT, fill_wait, BO, AT(wait, handle), 0},
	{"EVENT", "SYS-26", DRM_IOCTL_TUTTI_EVENT, fill_event, QUEUE, AT(event, handle), 0},
	{"FENCE", "SYS-26", DRM_IOCTL_TUTTI_FENCE, fill_fence, QUEUE, AT(fence, handle), 0},
	{"KICK", "SYS-30", DRM_IOCTL_TUTTI_KICK, fill_kick, NO_OBJECT, 0, 0},
	{"COUNTERS", "SYS-30", DRM_IOCTL_TUTTI_COUNTERS, fill_counters, NO_OBJECT, 0, 0},
	{"BO_USERPTR", "SYS-22 SYS-41", DRM_IOCTL_TUTTI_BO_USERPTR, fill_bo_userptr, NO_OBJECT, 0, 0},
	{"TASK_CANCEL", "SYS-30 TSK-12", DRM_IOCTL_TUTTI_TASK_CANCEL, fill_task_cancel, QUEUE, AT(task_cancel, handle), 0},
	{"SM_ENABLE", "SYS-41", DRM_IOCTL_TUTTI_SM_ENABLE, fill_sm_enable, NO_OBJECT, 0, 0},
	{"POLICY_SET", "SYS-41", DRM_IOCTL_TUTTI_POLICY_SET, fill_policy_set, NO_OBJECT, 0, 0},
	{"POLICY_GET", "SYS-41", DRM_IOCTL_TUTTI_POLICY_GET, fill_policy_get, NO_OBJECT, 0, 0},
	{"OCCUPANCY", "SYS-41 CGA-29", DRM_IOCTL_TUTTI_OCCUPANCY, fill_occupancy, NO_OBJECT, 0, 0},
	{"TRACE_START", "SYS-30", DRM_IOCTL_TUTTI_TRACE_START, fill_trace_start, NO_OBJECT, 0, 0},
	{"TRACE_READ", "SYS-30", DRM_IOCTL_TUTTI_TRACE_READ, fill_trace_read, NO_OBJECT, 0, 0},
	{0},
};

const struct call *call_find(unsigned long request)
{
	const struct call *found = calls;

	while (found->name && found->request != request)
		found++;
	return found;
}

/* ---- pointers ---- */

static bool valid(struct rig *rig, const void *data)
{
	const struct call *it = data;
	uint8_t args[ARGS_MAX];

	CHECK(rig_queue(rig) && it->fill(rig, args));
	EXPECT(0, call(rig->fd, it->request, args));
	CHECK(rig_works(rig));
	return true;
}

/* Two pages, the second of which nobody may touch. */
static uint8_t *guarded_pages(void)
{
	uint8_t *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) ? NULL : pages;
}

/* Arguments that end @beyond bytes behind the page's end, aligned or not. */
static bool with_pointer(struct rig *rig, const struct call *it, long from_end, int wanted)
{
	uint8_t args[ARGS_MAX], *pages = guarded_pages();
	size_t bytes = call_bytes(it);
	uint8_t *at = pages + PAGE - bytes + from_end;

	CHECK(pages && rig_queue(rig) && it->fill(rig, args));
	memcpy(at, args, from_end > 0 ? bytes - (size_t)from_end : bytes);
	EXPECT(wanted, call(rig->fd, it->request, at));
	munmap(pages, 2 * PAGE);
	CHECK(rig_works(rig));
	return true;
}

static bool page_end(struct rig *rig, const void *data)
{
	return with_pointer(rig, data, 0, 0);
}

static bool misaligned(struct rig *rig, const void *data)
{
	return with_pointer(rig, data, -3, 0);
}

static bool cut_off(struct rig *rig, const void *data)
{
	return with_pointer(rig, data, 1, EFAULT);
}

static bool null_pointer(struct rig *rig, const void *data)
{
	const struct call *it = data;

	CHECK(rig_queue(rig));
	EXPECT(EFAULT, call(rig->fd, it->request, NULL));
	EXPECT(EFAULT, call(rig->fd, it->request, (void *)0xffff888000000000ul));
	return true;
}

static bool read_only(struct rig *rig, const void *data)
{
	const struct call *it = data;
	uint8_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED && rig_queue(rig) && it->fill(rig, page));
	CHECK(!mprotect(page, PAGE, PROT_READ));
	EXPECT(EFAULT, call(rig->fd, it->request, page));
	munmap(page, PAGE);
	CHECK(rig_works(rig));
	return true;
}

/* ---- sizes: DRM fills up with zeroes and cuts off ---- */

static unsigned long resized(const struct call *it, size_t bytes)
{
	return (it->request & ~(0x3ffful << 16)) | bytes << 16;
}

static bool newer(struct rig *rig, const void *data)
{
	const struct call *it = data;
	uint8_t args[ARGS_MAX + 64] = {0};
	size_t bytes = call_bytes(it);

	CHECK(rig_queue(rig) && it->fill(rig, args));
	EXPECT(0, call(rig->fd, resized(it, bytes + 64), args));
	for (unsigned i = 0; i < 64; i++)
		CHECK(!args[bytes + i]);
	CHECK(rig_works(rig));
	return true;
}

/* A field that is cut off counts as zero, and nothing is written there. */
static bool older(struct rig *rig, const void *data)
{
	const struct call *it = data;
	struct rig other = {.fd = -1};
	uint8_t args[ARGS_MAX];
	size_t bytes = call_bytes(it) - 8;
	int wanted;

	if (!bytes)
		return skip("the structure has one word");
	CHECK(rig_queue(rig) && it->fill(rig, args));
	memset(args + bytes, 0, 8);
	wanted = call(rig->fd, it->request, args);
	rig_close(rig);
	CHECK(rig_queue(&other) && it->fill(&other, args));
	memset(args + bytes, 0xa5, 8);
	EXPECT(wanted, call(other.fd, resized(it, bytes), args));
	for (unsigned i = 0; i < 8; i++)
		CHECK(args[bytes + i] == 0xa5);
	rig_close(&other);
	return true;
}

/* A call number with neither direction: the arguments count as zeroes, and no memory of the caller is touched. */
static bool no_data(struct rig *rig, const void *data)
{
	const struct call *it = data;
	uint8_t zero[ARGS_MAX] = {0}, untouched[ARGS_MAX];
	int wanted;

	CHECK(rig_queue(rig));
	memset(untouched, 0xa5, sizeof(untouched));
	wanted = call(rig->fd, it->request, zero);
	EXPECT(wanted, call(rig->fd, it->request & 0xffff, untouched));
	for (unsigned i = 0; i < sizeof(untouched); i++)
		CHECK(untouched[i] == 0xa5);
	return true;
}

/* ---- handles ---- */

static bool other_handle(struct rig *rig, const struct call *it, uint32_t at, uint32_t handle)
{
	uint8_t args[ARGS_MAX], before[ARGS_MAX];

	CHECK(rig_queue(rig) && it->fill(rig, args));
	memcpy(args + at, &handle, sizeof(handle));
	memcpy(before, args, sizeof(before));
	EXPECT(ENOENT, call(rig->fd, it->request, args));
	CHECK(!memcmp(before, args, call_bytes(it)));
	CHECK(rig_works(rig));
	return true;
}

static bool handle_zero(struct rig *rig, const void *data)
{
	return other_handle(rig, data, ((const struct call *)data)->handle_at, 0);
}

static bool handle_never(struct rig *rig, const void *data)
{
	return other_handle(rig, data, ((const struct call *)data)->handle_at, 0x7777);
}

static bool handle_huge(struct rig *rig, const void *data)
{
	return other_handle(rig, data, ((const struct call *)data)->handle_at, ~0u);
}

static bool bo_never(struct rig *rig, const void *data)
{
	return other_handle(rig, data, ((const struct call *)data)->bo_at, 0x7777);
}

/* Arguments that are valid in one file, used in another file that has nothing. */
static bool handle_foreign(struct rig *rig, const void *data)
{
	const struct call *it = data;
	uint8_t args[ARGS_MAX];
	int other;

	CHECK(rig_queue(rig) && it->fill(rig, args));
	other = device_open();
	CHECK(other >= 0);
	EXPECT(ENOENT, call(other, it->request, args));
	close(other);
	CHECK(rig_works(rig));
	return true;
}

static int destroy(struct rig *rig, enum object object, uint32_t handle)
{
	static const unsigned long requests[] = {
		[BO] = DRM_IOCTL_GEM_CLOSE, [CONTEXT] = DRM_IOCTL_TUTTI_CONTEXT_DESTROY,
		[QUEUE] = DRM_IOCTL_TUTTI_QUEUE_DESTROY, [RSB] = DRM_IOCTL_TUTTI_RSB_DESTROY,
	};
	struct drm_tutti_handle args = {.handle = handle}; /* as struct drm_gem_close */

	return call(rig->fd, requests[object], &args);
}

/* The object has just been destroyed, so its number must not name anything. */
static bool handle_closed(struct rig *rig, const void *data)
{
	const struct call *it = data;
	uint8_t args[ARGS_MAX];
	uint32_t handle;

	CHECK(rig_queue(rig));
	if (it->object == CONTEXT && it->request != DRM_IOCTL_TUTTI_CONTEXT_DESTROY)
		EXPECT(0, queue_call(rig, DRM_IOCTL_TUTTI_QUEUE_DESTROY));
	CHECK(it->fill(rig, args));
	memcpy(&handle, args + it->handle_at, sizeof(handle));
	EXPECT(0, destroy(rig, it->object, handle));
	EXPECT(ENOENT, call(rig->fd, it->request, args));
	return true;
}

/* ---- the file itself ---- */

/* An ioctl number of ours with another subsystem's letter, and a number nobody has. */
static bool other_letter(struct rig *rig, const void *data)
{
	const struct call *it = data;
	uint8_t args[ARGS_MAX] = {0};

	CHECK(rig_open(rig));
	EXPECT(ENOTTY, call(rig->fd, (it->request & ~0xff00ul) | 'Z' << 8, args));
	return true;
}

static void each(const char *what, subtest_fn *run, bool (*applies)(const struct call *))
{
	char name[100];

	for (const struct call *it = calls; it->name; it++) {
		if (applies && !applies(it))
			continue;
		snprintf(name, sizeof(name), "%s: %s, %s", it->ids, it->name, what);
		table_note(it, what, subtest(name, run, it));
	}
}

static bool has_handle(const struct call *it)
{
	return it->object != NO_OBJECT;
}

static bool has_bo(const struct call *it)
{
	return it->bo_at;
}

void calls_group(void)
{
	each("all of it right", valid, NULL);
	each("null and kernel pointers", null_pointer, NULL);
	each("arguments end with their page", page_end, NULL);
	each("arguments at an odd address", misaligned, NULL);
	each("last byte of the arguments not readable", cut_off, NULL);
	each("arguments read-only", read_only, NULL);
	each("a newer, longer structure", newer, NULL);
	each("an older, shorter structure", older, NULL);
	each("neither reads nor writes", no_data, NULL);
	each("letter of another subsystem", other_letter, NULL);
	each("handle 0", handle_zero, has_handle);
	each("handle never given out", handle_never, has_handle);
	each("handle with all bits set", handle_huge, has_handle);
	each("buffer handle never given out", bo_never, has_bo);
	each("handle of another file", handle_foreign, has_handle);
	each("handle already closed", handle_closed, has_handle);
}

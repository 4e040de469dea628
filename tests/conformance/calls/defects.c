// SPDX-License-Identifier: MIT
/* Calls with one wrong field. The errno is exact, nothing is changed, and the card works afterwards. */
#include <string.h>

#include "table.h"
#include "tutti/discovery.h"
#include "tutti/trace.h"

/** struct defect - @value in a field of a call's valid arguments. */
struct defect {
	unsigned long request;
	const char *field;
	uint32_t at, bytes;
	uint64_t value;
	int error;
	const char *why;
};

#define D(call, type, field, value, error, why)                                                            \
	{                                                                                                  \
		DRM_IOCTL_TUTTI_##call, #field, (uint32_t)offsetof(struct drm_tutti_##type, field),        \
			sizeof(((struct drm_tutti_##type *)0)->field), (uint64_t)(value), error, why       \
	}
/* A pad or an output field that is not zero. */
#define P(call, type, field) \
	D(call, type, field, 1, EINVAL, "not zero"), D(call, type, field, 1ull << 31, EINVAL, "highest bit set")
/* A bit of flags that has no meaning. */
#define F(call, type, field, bit) D(call, type, field, 1ull << (bit), EINVAL, "bit " #bit)

/* A field of a level of CGAs that is right but for bit 16. */
#define L(level, field) D(OCCUPANCY, occupancy, cga[level].field, 0x10000, EINVAL, "right but for bit 16")

#define VA_END (1ull << 47)

static const struct defect defects[] = {
	D(QUERY, query, what, DRM_TUTTI_QUERY_SM_PLACES + 1, EINVAL, "unknown"),
	D(QUERY, query, what, ~0u, EINVAL, "unknown"),
	D(QUERY, query, pointer, 0, EFAULT, "null"),
	D(QUERY, query, pointer, 0xffff888000000000ull, EFAULT, "kernel address"),

	P(BO_USERPTR, bo_userptr, flags), P(BO_USERPTR, bo_userptr, handle),
	D(BO_USERPTR, bo_userptr, bytes, 0, EINVAL, "zero"),
	D(BO_USERPTR, bo_userptr, bytes, PAGE / 2, EINVAL, "part of a page"),
	D(BO_USERPTR, bo_userptr, bytes, 1ull << 60, EINVAL, "beyond all memory"),
	D(BO_USERPTR, bo_userptr, address, 64, EINVAL, "inside of a page"),
	D(BO_USERPTR, bo_userptr, address, 0, EFAULT, "nothing is there"),
	D(BO_USERPTR, bo_userptr, address, 1ull << 63, EFAULT, "the kernel's"),
	P(BO_CREATE, bo_create, flags), P(BO_CREATE, bo_create, handle), P(BO_CREATE, bo_create, pad),
	P(BO_CREATE, bo_create, mmap_offset),
	D(BO_CREATE, bo_create, placement, 2, EINVAL, "unknown"),
	D(BO_CREATE, bo_create, placement, ~0u, EINVAL, "unknown"),
	D(BO_CREATE, bo_create, size, 0, EINVAL, "zero"),
	D(BO_CREATE, bo_create, size, ~0ull, EINVAL, "wraps when rounded up"),
	D(BO_CREATE, bo_create, size, ~0ull - PAGE + 1, EINVAL, "the last whole page"),
	D(BO_CREATE, bo_create, size, 1ull << 63, EINVAL, "negative"),
	D(BO_CREATE, bo_create, size, 1ull << 50, EINVAL, "beyond all memory"),

	P(BO_INFO, bo_info, pad), P(BO_INFO, bo_info, pad1),

	P(CONTEXT_CREATE, context_create, flags), P(CONTEXT_CREATE, context_create, handle),
	D(CONTEXT_CREATE, context_create, print_ring, 8, EINVAL, "misaligned"),
	D(CONTEXT_CREATE, context_create, print_ring, VA_END, EINVAL, "too high"),
	D(CONTEXT_CREATE, context_create, print_ring, ~63ull, EINVAL, "far too high"),
	P(CONTEXT_DESTROY, handle, pad),

	P(MAP, map, pad),
	F(MAP, map, access, 3), F(MAP, map, access, 31),
	D(MAP, map, access, 0, EINVAL, "none"),
	D(MAP, map, access, DRM_TUTTI_ACCESS_WRITE, EINVAL, "write without read"),
	D(MAP, map, access, DRM_TUTTI_ACCESS_EXECUTE, EINVAL, "execute without read"),
	D(MAP, map, bytes, 0, EINVAL, "zero"),
	D(MAP, map, bytes, 8, EINVAL, "less than a page"),
	D(MAP, map, bytes, PAGE + 8, EINVAL, "not whole pages"),
	D(MAP, map, bytes, RIG_BYTES, EINVAL, "one page more than from the offset to the end"),
	D(MAP, map, bytes, 0 - PAGE, EINVAL, "wraps with the offset"),
	D(MAP, map, bytes, 1ull << 63, EINVAL, "negative"),
	D(MAP, map, offset, RIG_BYTES, EINVAL, "at the buffer's end"),
	D(MAP, map, offset, RIG_BYTES - PAGE, EINVAL, "runs over the buffer's end"),
	D(MAP, map, offset, 8, EINVAL, "misaligned"),
	D(MAP, map, offset, 0 - PAGE, EINVAL, "wraps with the size"),
	D(MAP, map, offset, 1ull << 63, EINVAL, "negative"),
	D(MAP, map, address, 2 * BASE + 8, EINVAL, "misaligned"),
	D(MAP, map, address, VA_END, EINVAL, "at the address space's end"),
	D(MAP, map, address, VA_END - PAGE, EINVAL, "runs over the address space's end"),
	D(MAP, map, address, 0 - 2 * PAGE, EINVAL, "ends at the wrap"),
	D(MAP, map, address, 0 - PAGE, EINVAL, "wraps"),
	D(MAP, map, address, BASE, EEXIST, "something is there"),
	D(MAP, map, address, BASE - PAGE, EEXIST, "something is at its end"),
	D(MAP, map, address, BASE + RIG_BYTES - PAGE, EEXIST, "something is at its start"),

	P(UNMAP, range, pad),
	D(UNMAP, range, bytes, 0, EINVAL, "zero"),
	D(UNMAP, range, bytes, 8, EINVAL, "not whole pages"),
	D(UNMAP, range, bytes, 0 - PAGE, EINVAL, "wraps with the address"),
	D(UNMAP, range, bytes, VA_END, EINVAL, "runs over the address space's end"),
	D(UNMAP, range, address, BASE + 8, EINVAL, "misaligned"),
	D(UNMAP, range, address, VA_END, EINVAL, "at the address space's end"),
	D(UNMAP, range, address, 0 - PAGE, EINVAL, "wraps"),
	D(UNMAP, range, address, 4 * BASE, ENOENT, "nothing is there"),
	D(UNMAP, range, address, BASE + RING_AT, EBUSY, "ring of a queue"),
	D(UNMAP, range, address, BASE + INDEX_AT, EBUSY, "read index of a queue"),

	P(CODE_INVALIDATE, range, pad),
	D(CODE_INVALIDATE, range, bytes, 0, EINVAL, "zero"),
	D(CODE_INVALIDATE, range, bytes, VA_END, EINVAL, "runs over the address space's end"),
	D(CODE_INVALIDATE, range, bytes, ~0ull, EINVAL, "wraps"),
	D(CODE_INVALIDATE, range, address, VA_END, EINVAL, "at the address space's end"),
	D(CODE_INVALIDATE, range, address, ~0ull, EINVAL, "wraps"),

	P(QUEUE_CREATE, queue_create, handle), P(QUEUE_CREATE, queue_create, id),
	P(QUEUE_CREATE, queue_create, doorbell_offset),
	F(QUEUE_CREATE, queue_create, flags, 5), F(QUEUE_CREATE, queue_create, flags, 16),
	F(QUEUE_CREATE, queue_create, flags, 31),
	D(QUEUE_CREATE, queue_create, flags, TUTTI_QUEUE_RSB, EINVAL, "the driver's own"),
	D(QUEUE_CREATE, queue_create, flags, TUTTI_QUEUE_OVERLAP, EINVAL, "for extended queues only"),
	D(QUEUE_CREATE, queue_create, flags, TUTTI_QUEUE_TABLE_DIFFS, EINVAL, "for extended queues only"),
	D(QUEUE_CREATE, queue_create, rsb, 1, EINVAL, "for extended queues only"),
	D(QUEUE_CREATE, queue_create, ring, BASE + SPARE_RING_AT + 8, EINVAL, "misaligned"),
	D(QUEUE_CREATE, queue_create, ring, VA_END, EINVAL, "too high"),
	D(QUEUE_CREATE, queue_create, ring, ~63ull, EINVAL, "wraps"),
	D(QUEUE_CREATE, queue_create, ring, VA_END - 64, EFAULT, "runs over the address space's end"),
	D(QUEUE_CREATE, queue_create, ring, 3 * BASE, EFAULT, "not mapped"),
	D(QUEUE_CREATE, queue_create, ring, 0, EFAULT, "null"),
	D(QUEUE_CREATE, queue_create, ring, BASE + RIG_BYTES - 15 * 64, EFAULT, "its last packet not mapped"),
	D(QUEUE_CREATE, queue_create, ring, BASE - 64, EFAULT, "its first packet not mapped"),
	D(QUEUE_CREATE, queue_create, read_index, BASE + SPARE_INDEX_AT + 4, EINVAL, "misaligned"),
	D(QUEUE_CREATE, queue_create, read_index, VA_END, EINVAL, "too high"),
	D(QUEUE_CREATE, queue_create, read_index, ~7ull, EINVAL, "wraps"),
	D(QUEUE_CREATE, queue_create, read_index, 3 * BASE, EFAULT, "not mapped"),
	D(QUEUE_CREATE, queue_create, read_index, 0, EFAULT, "null"),
	D(QUEUE_CREATE, queue_create, size_log2, 0, EINVAL, "too small"),
	D(QUEUE_CREATE, queue_create, size_log2, 31, EINVAL, "too large"),
	D(QUEUE_CREATE, queue_create, size_log2, 32, EINVAL, "as wide as a word"),
	D(QUEUE_CREATE, queue_create, size_log2, 63, EINVAL, "far too large"),
	D(QUEUE_CREATE, queue_create, size_log2, 64 + RING_LOG2, EINVAL, "right but for bit 6"),
	D(QUEUE_CREATE, queue_create, size_log2, 256 + RING_LOG2, EINVAL, "right but for bit 8"),
	D(QUEUE_CREATE, queue_create, size_log2, ~0u, EINVAL, "all bits"),
	D(QUEUE_CREATE, queue_create, priority, 0, EINVAL, "too high"),
	D(QUEUE_CREATE, queue_create, priority, 11, EINVAL, "too low"),
	D(QUEUE_CREATE, queue_create, priority, 256 + 5, EINVAL, "right but for bit 8"),
	P(QUEUE_DESTROY, handle, pad), P(QUEUE_RESET, handle, pad),
	P(QUEUE_QUERY, queue_query, pad), P(QUEUE_QUERY, queue_query, pad1),

	P(RSB_CREATE, rsb_create, handle), P(RSB_CREATE, rsb_create, pad), P(RSB_CREATE, rsb_create, mmap_offset),
	D(RSB_CREATE, rsb_create, placement, 2, EINVAL, "unknown"),
	D(RSB_CREATE, rsb_create, placement, ~0u, EINVAL, "unknown"),
	P(RSB_DESTROY, handle, pad),
	D(RSB_INVALIDATE, rsb_invalidate, mask, 0x100, EINVAL, "an entry too many"),
	D(RSB_INVALIDATE, rsb_invalidate, mask, ~0u, EINVAL, "all bits"),
	P(RSB_READ, rsb_read, pad),
	D(RSB_READ, rsb_read, pointer, 0, EFAULT, "null"),
	D(RSB_READ, rsb_read, pointer, 0xffff888000000000ull, EFAULT, "kernel address"),

	P(WAIT, wait, pad), P(WAIT, wait, events),
	D(WAIT, wait, kind, 3, EINVAL, "unknown"),
	D(WAIT, wait, kind, ~0u, EINVAL, "unknown"),
	D(WAIT, wait, condition, 4, EINVAL, "unknown"),
	D(WAIT, wait, condition, ~0u, EINVAL, "unknown"),
	D(WAIT, wait, offset, SIGNAL_AT + 8, EINVAL, "misaligned"),
	D(WAIT, wait, offset, RIG_BYTES, EINVAL, "at the buffer's end"),
	D(WAIT, wait, offset, 0 - 64ull, EINVAL, "wraps"),
	D(WAIT, wait, offset, 1ull << 63, EINVAL, "negative"),
	D(WAIT, wait, value, 8, ETIME, "not so, and the deadline is past"),
	D(WAIT, wait, handle, 0, ENOENT, "zero"),

	P(EVENT, event, pad),
	F(EVENT, event, flags, 2), F(EVENT, event, flags, 31),
	D(EVENT, event, flags, DRM_TUTTI_EVENT_ERROR, EINVAL, "without an eventfd"),
	D(EVENT, event, fd, 0, EINVAL, "without flags"),
	D(FENCE, fence, point, 0, EINVAL, "zero"),
	D(FENCE, fence, syncobj, 0, ENOENT, "zero"),
	D(FENCE, fence, syncobj, 0x7777, ENOENT, "never given out"),
	P(KICK, kick, pad),
	P(TRACE_START, trace_start, pad),
	D(TRACE_START, trace_start, kinds, 1u << TUTTI_TRACE_KINDS, EINVAL, "an unknown kind"),
	D(TRACE_START, trace_start, kinds, ~0u, EINVAL, "all bits"),
	P(COUNTERS, counters, pad),
	P(TASK_CANCEL, task_cancel, pad),
	D(TASK_CANCEL, task_cancel, packet, 1, ENOENT, "not there yet"),
	D(TASK_CANCEL, task_cancel, packet, ~0ull, ENOENT, "all bits"),
	P(SM_ENABLE, sm_enable, pad),
	D(SM_ENABLE, sm_enable, first, TUTTI_MAX_SMS, EINVAL, "more than any card has"),
	D(SM_ENABLE, sm_enable, first, ~0u, EINVAL, "wraps with the count"),
	D(SM_ENABLE, sm_enable, count, TUTTI_MAX_SMS + 1, EINVAL, "more than any card has"),
	D(SM_ENABLE, sm_enable, count, ~0u, EINVAL, "all bits"),
	D(SM_ENABLE, sm_enable, enable, 2, EINVAL, "neither on nor off"),
	D(SM_ENABLE, sm_enable, enable, 1u << 31, EINVAL, "highest bit set"),
	D(POLICY_SET, policy, policy, TUTTI_POLICIES, EINVAL, "unknown"),
	D(POLICY_SET, policy, policy, ~0u, EINVAL, "all bits"),
	D(POLICY_SET, policy, which, 1, EINVAL, "of a policy that is no table"),
	D(POLICY_SET, policy, value, 1ull << 32, EINVAL, "right but for bit 32"),
	D(POLICY_GET, policy, policy, TUTTI_POLICIES, EINVAL, "unknown"),
	D(POLICY_GET, policy, policy, ~0u, EINVAL, "all bits"),
	D(POLICY_GET, policy, which, 1, EINVAL, "of a policy that is no table"),
	P(OCCUPANCY, occupancy, pad),
	D(OCCUPANCY, occupancy, waves, 0, EINVAL, "none"),
	D(OCCUPANCY, occupancy, waves, 0x10001, EINVAL, "right but for bit 16"),
	D(OCCUPANCY, occupancy, scalar_blocks, 0x10000, EINVAL, "too many"),
	D(OCCUPANCY, occupancy, vector_blocks, 0x10000, EINVAL, "too many"),
	D(OCCUPANCY, occupancy, shared_blocks, 0x10000, EINVAL, "too many"),
	D(OCCUPANCY, occupancy, barriers, 0x10000, EINVAL, "too many"),
	D(OCCUPANCY, occupancy, mode, 0x100, EINVAL, "right but for bit 8"),
	D(OCCUPANCY, occupancy, mode, TUTTI_OCCUPANCY_MODE_CARD + 1, EINVAL, "unknown"),
	D(OCCUPANCY, occupancy, lmem, 0x100, EINVAL, "right but for bit 8"),
	D(OCCUPANCY, occupancy, lmem, 2, EINVAL, "neither yes nor no"),
	L(0, x), L(0, y), L(0, z), L(0, kind), L(1, x), L(1, y), L(1, z), L(1, kind),
	L(2, x), L(2, y), L(2, z), L(2, kind), L(3, x), L(3, y), L(3, z), L(3, kind),
};

/* Outputs of a failed call are as the caller left them; WAIT reports what it saw. */
static bool unchanged(const struct defect *defect, uint8_t *args, const uint8_t *before)
{
	struct drm_tutti_wait *wait = (void *)args;

	if (defect->request == DRM_IOCTL_TUTTI_WAIT) {
		const struct drm_tutti_wait *was = (const void *)before;

		if (defect->at != offsetof(struct drm_tutti_wait, events))
			wait->events = was->events;
		wait->value = was->value;
	}
	return !memcmp(args, before, call_bytes(call_find(defect->request)));
}

static bool run(struct rig *rig, const void *data)
{
	const struct defect *defect = data;
	uint8_t args[ARGS_MAX], before[ARGS_MAX];

	CHECK(rig_queue(rig) && call_find(defect->request)->fill(rig, args));
	memcpy(args + defect->at, &defect->value, defect->bytes);
	memcpy(before, args, sizeof(before));
	EXPECT(defect->error, call(rig->fd, defect->request, args));
	CHECK(unchanged(defect, args, before));
	CHECK(rig_works(rig));
	return true;
}

void defects_group(void)
{
	char name[120];

	for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); i++) {
		const struct call *it = call_find(defects[i].request);

		snprintf(name, sizeof(name), "%s: %s.%s %s", it->ids, it->name, defects[i].field, defects[i].why);
		table_note_field(it, defects[i].at, defects[i].bytes, subtest(name, run, &defects[i]));
	}
}

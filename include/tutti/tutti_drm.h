/* SPDX-License-Identifier: MIT */
/**
 * DOC: uAPI of tutti.ko
 *
 * Rules, for this header and for who extends it (spec SYS-30):
 * - only __u32, __u64 and __s64; naturally aligned; sizes a multiple of 8; pointers
 *   are __u64; no unions; the same layout for 32- and 64-bit programs.
 * - pads and fields marked "out" must be zero on entry where they say so; a non-zero
 *   pad or an unknown flag is -EINVAL, so that they can get a meaning later.
 * - structures grow at the end only, zero meaning "as before"; an addition raises the driver's minor version.
 * - handles belong to the file that made them, start at 1, and are never valid in
 *   another file. Everything a file made goes when it is closed.
 * - timeouts are absolute CLOCK_MONOTONIC nanoseconds, and every call can be repeated after -EINTR.
 * - what belongs to the card as a whole (policies, which SMs are on, resets) is changed by
 *   CAP_SYS_ADMIN only, holds for all files and through resets, until the driver is unbound. Everybody
 *   may ask for policies; what single SMs do shows others' work, and takes CAP_PERFMON.
 * - a file may have so many contexts, queues and RSBs as the module's file_contexts_max,
 *   file_queues_max and file_rsbs_max say, and it and all files of its user so much of the card's
 *   memory as file_card_percent and user_card_percent say: -EDQUOT, but not with CAP_SYS_RESOURCE.
 *
 * Errors every call may give, not repeated below: -ENODEV the card is gone; -EIO the file was opened before a
 * device reset, or the card is wedged: close and reopen; -EINVAL non-zero pad or unknown flag; -EFAULT bad
 * pointer; -ENOMEM; -EINTR; -ETIMEDOUT the firmware did not answer (a reset has been started).
 *
 * What each minor version of the driver (DRM_IOCTL_VERSION, major 1) added:
 * 0  what is not named below
 * 1  RESET by rung (DRM_TUTTI_RESET_*)
 * 2  BO_USERPTR; card memory as a dma-buf for other files
 * 3  POLICY_GET; OCCUPANCY; QUERY: SM_STATES
 * 4  limits of a file (-EDQUOT), priorities above 5 take CAP_SYS_NICE (-EACCES); pinned memory
 *    counts as VmPin instead of VmLck
 * 5  limits of card memory (-EDQUOT); policies and SMs that are off stay so through a reset
 * 6  COUNTERS, TASK_CANCEL, SM_ENABLE, POLICY_SET, POLICY_GET, RESET, OCCUPANCY in place of CONTROL (0x14) and of a
 *    question of QUERY, which no release had; TRACE_START, TRACE_READ; QUERY: SM_PLACES
 */
#ifndef TUTTI_DRM_H
#define TUTTI_DRM_H

#if defined(__KERNEL__)
#include <drm/drm.h>
#else
#include <drm.h>
#endif

#include "types.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Numbers of the calls */
enum {
	DRM_TUTTI_QUERY = 0x00, DRM_TUTTI_BO_CREATE = 0x01, DRM_TUTTI_BO_INFO = 0x02,
	DRM_TUTTI_CONTEXT_CREATE = 0x03, DRM_TUTTI_CONTEXT_DESTROY = 0x04, DRM_TUTTI_MAP = 0x05,
	DRM_TUTTI_UNMAP = 0x06, DRM_TUTTI_CODE_INVALIDATE = 0x07, DRM_TUTTI_QUEUE_CREATE = 0x08,
	DRM_TUTTI_QUEUE_DESTROY = 0x09, DRM_TUTTI_QUEUE_RESET = 0x0a, DRM_TUTTI_QUEUE_QUERY = 0x0b,
	DRM_TUTTI_RSB_CREATE = 0x0c, DRM_TUTTI_RSB_DESTROY = 0x0d, DRM_TUTTI_RSB_INVALIDATE = 0x0e,
	DRM_TUTTI_RSB_READ = 0x0f, DRM_TUTTI_WAIT = 0x10, DRM_TUTTI_EVENT = 0x11, DRM_TUTTI_FENCE = 0x12,
	DRM_TUTTI_KICK = 0x13, DRM_TUTTI_COUNTERS = 0x14, DRM_TUTTI_BO_USERPTR = 0x15,
	DRM_TUTTI_TASK_CANCEL = 0x16, DRM_TUTTI_SM_ENABLE = 0x17, DRM_TUTTI_POLICY_SET = 0x18,
	DRM_TUTTI_POLICY_GET = 0x19, DRM_TUTTI_RESET = 0x1a, DRM_TUTTI_OCCUPANCY = 0x1b,
	DRM_TUTTI_TRACE_START = 0x1c, DRM_TUTTI_TRACE_READ = 0x1d
};

/* mmap offsets that are not a buffer's. Pages are mapped shared and whole, one at a time. */
#define DRM_TUTTI_MMAP_BASE (1ull << 43)
#define DRM_TUTTI_MMAP_WINDOW 0ull   /* read-only: page of the control window (see QUERY) */
#define DRM_TUTTI_MMAP_DOORBELL 1ull /* queue handle: its doorbell page */
#define DRM_TUTTI_MMAP_RSB 2ull      /* read-only: RSB handle (placement scratch) */
#define DRM_TUTTI_MMAP_OFFSET(kind, index) (DRM_TUTTI_MMAP_BASE | (kind) << 40 | (__u64)(index) << 12)

/* struct drm_tutti_query.what */
#define DRM_TUTTI_QUERY_DISCOVERY 0 /* struct tutti_discovery */
#define DRM_TUTTI_QUERY_STATE 1     /* struct drm_tutti_state */
#define DRM_TUTTI_QUERY_SM_STATES 2 /* struct tutti_sm_state of each SM, up to date; CAP_PERFMON */
#define DRM_TUTTI_QUERY_SM_PLACES 3 /* struct tutti_sm_place of each SM */

/** struct drm_tutti_state - how the card is. */
struct drm_tutti_state {
	__u64 generation;       /* device resets so far */
	__u32 firmware_version; /* TUTTI_VERSION */
	__u32 boot_sequence;    /* of the firmware that runs */
	__u32 status_offset;    /* control window offsets that MMAP_WINDOW allows: status page, */
	__u32 counters_offset;  /* counters */
	__u32 vectors;          /* interrupt vectors in use */
	__u32 pad;
};
TUTTI_SIZE(struct drm_tutti_state, 32);
TUTTI_AT(struct drm_tutti_state, generation, 0);
TUTTI_AT(struct drm_tutti_state, firmware_version, 8);
TUTTI_AT(struct drm_tutti_state, boot_sequence, 12);
TUTTI_AT(struct drm_tutti_state, status_offset, 16);
TUTTI_AT(struct drm_tutti_state, counters_offset, 20);
TUTTI_AT(struct drm_tutti_state, vectors, 24);
TUTTI_AT(struct drm_tutti_state, pad, 28);

/**
 * struct drm_tutti_query - read-only data of the device.
 *
 * At most @size bytes are copied to @pointer; @size then tells how many there are.
 * Errors: -EINVAL unknown @what; SM_STATES: -EACCES; SM_STATES, SM_PLACES: -ENOTSUP the card does not
 * show them.
 */
struct drm_tutti_query {
	__u32 what;
	__u32 size;
	__u64 pointer;
};
TUTTI_SIZE(struct drm_tutti_query, 16);
TUTTI_AT(struct drm_tutti_query, what, 0);
TUTTI_AT(struct drm_tutti_query, size, 4);
TUTTI_AT(struct drm_tutti_query, pointer, 8);

/* Placement of a buffer */
#define DRM_TUTTI_PLACE_SYSTEM 0
#define DRM_TUTTI_PLACE_CARD 1
#define DRM_TUTTI_PLACE_USER 2 /* memory of a process: BO_USERPTR only */

/**
 * struct drm_tutti_bo_create - buffer object of @size bytes (rounded up to pages), zeroed.
 *
 * Errors: -EINVAL size 0 or beyond any memory, placement; -ENOSPC card memory is full; -EDQUOT; -EIO not all was zeroed.
 */
struct drm_tutti_bo_create {
	__u64 size;      /* in and out */
	__u32 placement;
	__u32 flags;     /* 0 */
	__u32 handle;    /* out */
	__u32 pad;
	__u64 mmap_offset; /* out */
};
TUTTI_SIZE(struct drm_tutti_bo_create, 32);
TUTTI_AT(struct drm_tutti_bo_create, size, 0);
TUTTI_AT(struct drm_tutti_bo_create, placement, 8);
TUTTI_AT(struct drm_tutti_bo_create, flags, 12);
TUTTI_AT(struct drm_tutti_bo_create, handle, 16);
TUTTI_AT(struct drm_tutti_bo_create, pad, 20);
TUTTI_AT(struct drm_tutti_bo_create, mmap_offset, 24);

/**
 * struct drm_tutti_bo_userptr - a buffer that is memory the calling process has already.
 *
 * Its pages are pinned, and count for RLIMIT_MEMLOCK, until handle and mappings have gone. It can be mapped on
 * the card, but not by mmap, nor exported, nor waited on. Errors: -EINVAL zero, unaligned or beyond any memory;
 * -EFAULT not all mapped and writable, or memory that cannot be pinned; -ENOMEM also more than RLIMIT_MEMLOCK.
 */
struct drm_tutti_bo_userptr {
	__u64 address;
	__u64 bytes;
	__u32 flags;  /* 0 */
	__u32 handle; /* out */
};
TUTTI_SIZE(struct drm_tutti_bo_userptr, 24);
TUTTI_AT(struct drm_tutti_bo_userptr, address, 0);
TUTTI_AT(struct drm_tutti_bo_userptr, bytes, 8);
TUTTI_AT(struct drm_tutti_bo_userptr, flags, 16);
TUTTI_AT(struct drm_tutti_bo_userptr, handle, 20);

/** struct drm_tutti_bo_info - look a buffer up. Errors: -ENOENT no such handle. */
struct drm_tutti_bo_info {
	__u32 handle;
	__u32 pad;
	__u64 size;        /* out */
	__u64 mmap_offset; /* out */
	__u32 placement;   /* out */
	__u32 pad1;
};
TUTTI_SIZE(struct drm_tutti_bo_info, 32);
TUTTI_AT(struct drm_tutti_bo_info, handle, 0);
TUTTI_AT(struct drm_tutti_bo_info, pad, 4);
TUTTI_AT(struct drm_tutti_bo_info, size, 8);
TUTTI_AT(struct drm_tutti_bo_info, mmap_offset, 16);
TUTTI_AT(struct drm_tutti_bo_info, placement, 24);
TUTTI_AT(struct drm_tutti_bo_info, pad1, 28);

/**
 * struct drm_tutti_context_create - an address space.
 * @print_ring: address (in the context) of a struct tutti_print_ring, 0 = none
 *
 * Errors: -EINVAL print_ring misaligned or too high; -ENOSPC no address space id left.
 */
struct drm_tutti_context_create {
	__u64 print_ring;
	__u32 flags;  /* 0 */
	__u32 handle; /* out */
};
TUTTI_SIZE(struct drm_tutti_context_create, 16);
TUTTI_AT(struct drm_tutti_context_create, print_ring, 0);
TUTTI_AT(struct drm_tutti_context_create, flags, 8);
TUTTI_AT(struct drm_tutti_context_create, handle, 12);

/**
 * struct drm_tutti_handle - a handle and nothing else: CONTEXT_DESTROY, QUEUE_DESTROY,
 * QUEUE_RESET, RSB_DESTROY.
 *
 * Errors: -ENOENT; CONTEXT_DESTROY and RSB_DESTROY: -EBUSY a queue uses it; QUEUE_RESET: -EINVAL
 * the queue has not stopped.
 */
struct drm_tutti_handle {
	__u32 handle;
	__u32 pad;
};
TUTTI_SIZE(struct drm_tutti_handle, 8);
TUTTI_AT(struct drm_tutti_handle, handle, 0);
TUTTI_AT(struct drm_tutti_handle, pad, 4);

/* Access of a mapping; write needs read */
#define DRM_TUTTI_ACCESS_READ 1
#define DRM_TUTTI_ACCESS_WRITE 2
#define DRM_TUTTI_ACCESS_EXECUTE 4

/**
 * struct drm_tutti_map - make part of a buffer visible to the card.
 *
 * Errors: -ENOENT context or buffer; -EINVAL zero or unaligned sizes, outside of the buffer or of the address
 * space, access, or an imported buffer that is not made of whole pages; -EEXIST something is mapped there.
 */
struct drm_tutti_map {
	__u32 context;
	__u32 bo;
	__u64 address;
	__u64 offset;
	__u64 bytes;
	__u32 access;
	__u32 pad;
};
TUTTI_SIZE(struct drm_tutti_map, 40);
TUTTI_AT(struct drm_tutti_map, context, 0);
TUTTI_AT(struct drm_tutti_map, bo, 4);
TUTTI_AT(struct drm_tutti_map, address, 8);
TUTTI_AT(struct drm_tutti_map, offset, 16);
TUTTI_AT(struct drm_tutti_map, bytes, 24);
TUTTI_AT(struct drm_tutti_map, access, 32);
TUTTI_AT(struct drm_tutti_map, pad, 36);

/**
 * struct drm_tutti_range - UNMAP, CODE_INVALIDATE.
 *
 * UNMAP takes away whatever is mapped in the range; afterwards the card does not touch it.
 * Errors: -ENOENT context, or nothing mapped there; -EBUSY ring or index of a queue;
 * -EINVAL zero, unaligned (UNMAP) or too high range.
 */
struct drm_tutti_range {
	__u32 context;
	__u32 pad;
	__u64 address;
	__u64 bytes;
};
TUTTI_SIZE(struct drm_tutti_range, 24);
TUTTI_AT(struct drm_tutti_range, context, 0);
TUTTI_AT(struct drm_tutti_range, pad, 4);
TUTTI_AT(struct drm_tutti_range, address, 8);
TUTTI_AT(struct drm_tutti_range, bytes, 16);

/**
 * struct drm_tutti_queue_create - a user-mode queue.
 * @flags: TUTTI_QUEUE_* of message.h without TUTTI_QUEUE_RSB
 * @ring: address of the ring, inside one writable mapping
 * @read_index: address of the word that mirrors the read index, likewise
 * @size_log2: packets
 * @priority: 1 (highest) .. 10; without CAP_SYS_NICE neither it nor a task's metadata may be above 5
 * @timeout_ms: no workgroup completed for so long = hung; 0 = never
 * @rsb: handle, 0 = none (extended queues only)
 *
 * The ring's mapping stays while the queue is. mmap @doorbell_offset for the doorbell.
 * Errors: -ENOENT context or RSB; -EINVAL flags, size, priority, alignment; -EFAULT ring or
 * index not mapped writable; -EPERM RSB of another context; -ENOSPC no queue left; -EACCES a
 * priority above 5 without CAP_SYS_NICE.
 */
struct drm_tutti_queue_create {
	__u32 context;
	__u32 flags;
	__u64 ring;
	__u64 read_index;
	__u32 size_log2;
	__u32 priority;
	__u32 timeout_ms;
	__u32 rsb;
	__u32 handle;          /* out */
	__u32 id;              /* out: number in counters and traces */
	__u64 doorbell_offset; /* out */
};
TUTTI_SIZE(struct drm_tutti_queue_create, 56);
TUTTI_AT(struct drm_tutti_queue_create, context, 0);
TUTTI_AT(struct drm_tutti_queue_create, flags, 4);
TUTTI_AT(struct drm_tutti_queue_create, ring, 8);
TUTTI_AT(struct drm_tutti_queue_create, read_index, 16);
TUTTI_AT(struct drm_tutti_queue_create, size_log2, 24);
TUTTI_AT(struct drm_tutti_queue_create, priority, 28);
TUTTI_AT(struct drm_tutti_queue_create, timeout_ms, 32);
TUTTI_AT(struct drm_tutti_queue_create, rsb, 36);
TUTTI_AT(struct drm_tutti_queue_create, handle, 40);
TUTTI_AT(struct drm_tutti_queue_create, id, 44);
TUTTI_AT(struct drm_tutti_queue_create, doorbell_offset, 48);

/**
 * struct drm_tutti_queue_query - state of a queue.
 *
 * Errors: -ENOENT; -EIO also when the queue was lost with its context.
 */
struct drm_tutti_queue_query {
	__u32 handle;
	__u32 pad;
	__u64 progress; /* out: packets retired */
	__u64 errors;   /* out: errors so far */
	__u64 fault[6]; /* out: struct tutti_fault of the last one */
	__u32 stopped;  /* out: its code, 0 = running */
	__u32 pad1;
};
TUTTI_SIZE(struct drm_tutti_queue_query, 80);
TUTTI_AT(struct drm_tutti_queue_query, handle, 0);
TUTTI_AT(struct drm_tutti_queue_query, pad, 4);
TUTTI_AT(struct drm_tutti_queue_query, progress, 8);
TUTTI_AT(struct drm_tutti_queue_query, errors, 16);
TUTTI_AT(struct drm_tutti_queue_query, fault, 24);
TUTTI_AT(struct drm_tutti_queue_query, stopped, 72);
TUTTI_AT(struct drm_tutti_queue_query, pad1, 76);

/**
 * struct drm_tutti_rsb_create - a reference state buffer.
 *
 * Errors: -ENOENT context; -EINVAL placement; -ENOSPC no RSB left.
 */
struct drm_tutti_rsb_create {
	__u32 context;
	__u32 placement;   /* TUTTI_RSB_* */
	__u32 handle;      /* out */
	__u32 pad;
	__u64 mmap_offset; /* out: 0 unless placed in scratch RAM */
};
TUTTI_SIZE(struct drm_tutti_rsb_create, 24);
TUTTI_AT(struct drm_tutti_rsb_create, context, 0);
TUTTI_AT(struct drm_tutti_rsb_create, placement, 4);
TUTTI_AT(struct drm_tutti_rsb_create, handle, 8);
TUTTI_AT(struct drm_tutti_rsb_create, pad, 12);
TUTTI_AT(struct drm_tutti_rsb_create, mmap_offset, 16);

/** struct drm_tutti_rsb_invalidate - forget entries. Errors: -ENOENT; -EINVAL mask beyond 8 entries. */
struct drm_tutti_rsb_invalidate {
	__u32 handle;
	__u32 mask;
};
TUTTI_SIZE(struct drm_tutti_rsb_invalidate, 8);
TUTTI_AT(struct drm_tutti_rsb_invalidate, handle, 0);
TUTTI_AT(struct drm_tutti_rsb_invalidate, mask, 4);

/** struct drm_tutti_rsb_read - copy the table (1024 bytes) to @pointer. Errors: -ENOENT. */
struct drm_tutti_rsb_read {
	__u32 handle;
	__u32 pad;
	__u64 pointer;
};
TUTTI_SIZE(struct drm_tutti_rsb_read, 16);
TUTTI_AT(struct drm_tutti_rsb_read, handle, 0);
TUTTI_AT(struct drm_tutti_rsb_read, pad, 4);
TUTTI_AT(struct drm_tutti_rsb_read, pointer, 8);

/* struct drm_tutti_wait.kind */
#define DRM_TUTTI_WAIT_SIGNAL 0    /* struct tutti_signal at @offset of buffer @handle, against @value */
#define DRM_TUTTI_WAIT_PROGRESS 1  /* queue @handle has retired @value packets */
#define DRM_TUTTI_WAIT_INTERRUPT 2 /* interrupts and events of this file are not @value any more */

/* struct drm_tutti_wait.condition, of WAIT_SIGNAL */
#define DRM_TUTTI_EQ 0
#define DRM_TUTTI_NE 1
#define DRM_TUTTI_LT 2
#define DRM_TUTTI_GE 3

/**
 * struct drm_tutti_wait - wait for something.
 * @value: compared with; out: value last seen (signal, progress, interrupt count)
 * @deadline: absolute CLOCK_MONOTONIC nanoseconds; in the past: only look
 * @events: out: queue errors told to this file so far
 *
 * Errors: -ETIME deadline passed; -ENOENT handle; -EINVAL kind, condition, offset not a
 * multiple of 64 or outside, imported buffer; -ECANCELED the queue has stopped (PROGRESS);
 * -EIO also when the signal was in card memory that is lost.
 */
struct drm_tutti_wait {
	__u32 kind;
	__u32 handle; /* 0 for INTERRUPT */
	__u64 offset; /* SIGNAL only */
	__u32 condition;
	__u32 pad;
	__s64 value;
	__u64 deadline;
	__u64 events;
};
TUTTI_SIZE(struct drm_tutti_wait, 48);
TUTTI_AT(struct drm_tutti_wait, kind, 0);
TUTTI_AT(struct drm_tutti_wait, handle, 4);
TUTTI_AT(struct drm_tutti_wait, offset, 8);
TUTTI_AT(struct drm_tutti_wait, condition, 16);
TUTTI_AT(struct drm_tutti_wait, pad, 20);
TUTTI_AT(struct drm_tutti_wait, value, 24);
TUTTI_AT(struct drm_tutti_wait, deadline, 32);
TUTTI_AT(struct drm_tutti_wait, events, 40);

/* struct drm_tutti_event.flags */
#define DRM_TUTTI_EVENT_ERROR 1      /* the queue stops, or is lost */
#define DRM_TUTTI_EVENT_COMPLETION 2 /* an interrupt that may be for the queue */

/**
 * struct drm_tutti_event - signal an eventfd; @fd -1 (and flags 0) takes it back.
 *
 * Errors: -ENOENT queue; -EBADF or -EINVAL not an eventfd.
 */
struct drm_tutti_event {
	__u32 handle;
	__u32 flags;
	__s32 fd;
	__u32 pad;
};
TUTTI_SIZE(struct drm_tutti_event, 16);
TUTTI_AT(struct drm_tutti_event, handle, 0);
TUTTI_AT(struct drm_tutti_event, flags, 4);
TUTTI_AT(struct drm_tutti_event, fd, 8);
TUTTI_AT(struct drm_tutti_event, pad, 12);

/**
 * struct drm_tutti_fence - timeline point @point of @syncobj follows the queue.
 * @packet: the point is signalled when so many packets have retired
 *
 * A fence never waits for ever: -ETIMEDOUT after the module's fence_timeout_ms, -ECANCELED when the queue stops, has
 * stopped or goes, -EIO by a reset, -ENODEV when the card goes; none of these if its packets had retired before. Errors:
 * -ENOENT queue or syncobj; -EINVAL point 0; -EDQUOT as many fences of the queue are to come as queue_fences_max says.
 */
struct drm_tutti_fence {
	__u32 handle;
	__u32 syncobj;
	__u64 point;
	__u64 packet;
};
TUTTI_SIZE(struct drm_tutti_fence, 24);
TUTTI_AT(struct drm_tutti_fence, handle, 0);
TUTTI_AT(struct drm_tutti_fence, syncobj, 4);
TUTTI_AT(struct drm_tutti_fence, point, 8);
TUTTI_AT(struct drm_tutti_fence, packet, 16);

/** struct drm_tutti_kick - the card said it sleeps: wake it. */
struct drm_tutti_kick {
	__u64 pad;
};
TUTTI_SIZE(struct drm_tutti_kick, 8);
TUTTI_AT(struct drm_tutti_kick, pad, 0);

/** struct drm_tutti_counters - bring the counters that MMAP_WINDOW shows, and the states of the SMs, up to date. */
struct drm_tutti_counters {
	__u64 pad;
};
TUTTI_SIZE(struct drm_tutti_counters, 8);
TUTTI_AT(struct drm_tutti_counters, pad, 0);

/**
 * struct drm_tutti_task_cancel - give up the task that packet @packet of a queue has created (spec TSK-12).
 *
 * Errors: -ENOENT no such queue, or the packet has no task (yet, or any more); -EIO also when the queue was lost.
 */
struct drm_tutti_task_cancel {
	__u32 handle;
	__u32 pad;
	__u64 packet;
};
TUTTI_SIZE(struct drm_tutti_task_cancel, 16);
TUTTI_AT(struct drm_tutti_task_cancel, handle, 0);
TUTTI_AT(struct drm_tutti_task_cancel, pad, 4);
TUTTI_AT(struct drm_tutti_task_cancel, packet, 8);

/**
 * struct drm_tutti_sm_enable - let SMs @first to @first + @count - 1 take work, or not.
 * @enable: 1, or 0: workgroups on them go on, and no other is placed there
 *
 * Errors: -EACCES; -EINVAL SMs that the card has not, @enable.
 */
struct drm_tutti_sm_enable {
	__u32 first;
	__u32 count;
	__u32 enable;
	__u32 pad;
};
TUTTI_SIZE(struct drm_tutti_sm_enable, 16);
TUTTI_AT(struct drm_tutti_sm_enable, first, 0);
TUTTI_AT(struct drm_tutti_sm_enable, count, 4);
TUTTI_AT(struct drm_tutti_sm_enable, enable, 8);
TUTTI_AT(struct drm_tutti_sm_enable, pad, 12);

/**
 * struct drm_tutti_policy - POLICY_SET, POLICY_GET: how the card chooses among SMs and among tasks.
 * @policy: enum tutti_policy (message.h)
 * @which: of the values of a policy that is a table (tutti_policy_shift()); 0 for others
 * @value: POLICY_GET: out
 *
 * Errors: -EACCES (POLICY_SET); -EINVAL there is no such policy, no such value of it, or @value is not possible;
 * -ENOTSUP not on this card.
 */
struct drm_tutti_policy {
	__u32 policy;
	__u32 which;
	__u64 value;
};
TUTTI_SIZE(struct drm_tutti_policy, 16);
TUTTI_AT(struct drm_tutti_policy, policy, 0);
TUTTI_AT(struct drm_tutti_policy, which, 4);
TUTTI_AT(struct drm_tutti_policy, value, 8);

/* struct drm_tutti_reset.rung */
#define DRM_TUTTI_RESET_FIRMWARE 0 /* reload the firmware: no context survives, memory does */
#define DRM_TUTTI_RESET_FUNCTION 1 /* and reset the PCI function: card memory is lost too */

/**
 * struct drm_tutti_reset - begin a reset of the card; returns before it has ended.
 *
 * Errors: -EACCES; -EINVAL @rung.
 */
struct drm_tutti_reset {
	__u32 rung;
	__u32 pad;
};
TUTTI_SIZE(struct drm_tutti_reset, 8);
TUTTI_AT(struct drm_tutti_reset, rung, 0);
TUTTI_AT(struct drm_tutti_reset, pad, 4);

#define DRM_TUTTI_CGA_LEVELS 4

/** struct drm_tutti_cga - a level of nested CGAs: CTAs, or CGAs of the level below. Each below 65536. */
struct drm_tutti_cga {
	__u32 x, y, z;
	__u32 kind; /* TUTTI_CGA_* of code_object.h; 0: the level is not used */
};
TUTTI_SIZE(struct drm_tutti_cga, 16);
TUTTI_AT(struct drm_tutti_cga, x, 0);
TUTTI_AT(struct drm_tutti_cga, y, 4);
TUTTI_AT(struct drm_tutti_cga, z, 8);
TUTTI_AT(struct drm_tutti_cga, kind, 12);

/**
 * struct drm_tutti_occupancy - how much of a kernel an idle card holds at once, with the SMs and policies of now.
 * @waves: of a CTA
 * @scalar_blocks, @vector_blocks: register blocks of a wave
 * @shared_blocks: blocks of shared memory of a CTA
 * @barriers: of a CTA
 * @mode: TUTTI_CGA_LOAD_BALANCE, TUTTI_CGA_MULTICAST or TUTTI_OCCUPANCY_MODE_CARD (message.h)
 * @lmem: 1: each CGA owns a linear memory slot
 * @cga: innermost level first
 * @cgas: out: CGAs, or CTAs if there are no CGAs
 * @ctas: out: CTAs of an SM
 * @sms: out: that take CTAs
 *
 * Errors: -EINVAL a field above what the card could ever have, or a kernel that makes no sense.
 */
struct drm_tutti_occupancy {
	__u32 waves;
	__u32 scalar_blocks;
	__u32 vector_blocks;
	__u32 shared_blocks;
	__u32 barriers;
	__u32 mode;
	__u32 lmem;
	__u32 pad;
	struct drm_tutti_cga cga[DRM_TUTTI_CGA_LEVELS];
	__u64 cgas;
	__u32 ctas;
	__u32 sms;
};
TUTTI_SIZE(struct drm_tutti_occupancy, 112);
TUTTI_AT(struct drm_tutti_occupancy, waves, 0);
TUTTI_AT(struct drm_tutti_occupancy, scalar_blocks, 4);
TUTTI_AT(struct drm_tutti_occupancy, vector_blocks, 8);
TUTTI_AT(struct drm_tutti_occupancy, shared_blocks, 12);
TUTTI_AT(struct drm_tutti_occupancy, barriers, 16);
TUTTI_AT(struct drm_tutti_occupancy, mode, 20);
TUTTI_AT(struct drm_tutti_occupancy, lmem, 24);
TUTTI_AT(struct drm_tutti_occupancy, pad, 28);
TUTTI_AT(struct drm_tutti_occupancy, cga, 32);
TUTTI_AT(struct drm_tutti_occupancy, cgas, 96);
TUTTI_AT(struct drm_tutti_occupancy, ctas, 104);
TUTTI_AT(struct drm_tutti_occupancy, sms, 108);

/**
 * struct drm_tutti_trace_start - from now on this file reads the card's trace, which shows everybody's work.
 * @kinds: mask of enum tutti_trace_kind (trace.h), and what is in the ring already is dropped; 0: nothing more is
 *	recorded, and what is there can be read until another file starts. Closing the file ends it, too
 *
 * Errors: -EACCES without CAP_PERFMON; -EBUSY another file reads it; -ENOTSUP
 * the card has no trace; -EINVAL unknown kinds.
 */
struct drm_tutti_trace_start {
	__u32 kinds;
	__u32 pad;
};
TUTTI_SIZE(struct drm_tutti_trace_start, 8);
TUTTI_AT(struct drm_tutti_trace_start, kinds, 0);
TUTTI_AT(struct drm_tutti_trace_start, pad, 4);

/**
 * struct drm_tutti_trace_read - take records out of the trace ring; does not wait.
 * @pointer: gets struct tutti_trace records
 * @count: room for so many; out: how many there are now, 1024 at most
 * @lost: out: records that the card has dropped since the last call, because the ring was full
 *
 * After -EFAULT the records are gone. Errors: -EINVAL this file has not called TRACE_START.
 */
struct drm_tutti_trace_read {
	__u64 pointer;
	__u32 count;
	__u32 lost;
};
TUTTI_SIZE(struct drm_tutti_trace_read, 16);
TUTTI_AT(struct drm_tutti_trace_read, pointer, 0);
TUTTI_AT(struct drm_tutti_trace_read, count, 8);
TUTTI_AT(struct drm_tutti_trace_read, lost, 12);

#define DRM_TUTTI_IOWR(nr, type) DRM_IOWR(DRM_COMMAND_BASE + (nr), struct type)

#define DRM_IOCTL_TUTTI_QUERY DRM_TUTTI_IOWR(DRM_TUTTI_QUERY, drm_tutti_query)
#define DRM_IOCTL_TUTTI_BO_CREATE DRM_TUTTI_IOWR(DRM_TUTTI_BO_CREATE, drm_tutti_bo_create)
#define DRM_IOCTL_TUTTI_BO_INFO DRM_TUTTI_IOWR(DRM_TUTTI_BO_INFO, drm_tutti_bo_info)
#define DRM_IOCTL_TUTTI_CONTEXT_CREATE DRM_TUTTI_IOWR(DRM_TUTTI_CONTEXT_CREATE, drm_tutti_context_create)
#define DRM_IOCTL_TUTTI_CONTEXT_DESTROY DRM_TUTTI_IOWR(DRM_TUTTI_CONTEXT_DESTROY, drm_tutti_handle)
#define DRM_IOCTL_TUTTI_MAP DRM_TUTTI_IOWR(DRM_TUTTI_MAP, drm_tutti_map)
#define DRM_IOCTL_TUTTI_UNMAP DRM_TUTTI_IOWR(DRM_TUTTI_UNMAP, drm_tutti_range)
#define DRM_IOCTL_TUTTI_CODE_INVALIDATE DRM_TUTTI_IOWR(DRM_TUTTI_CODE_INVALIDATE, drm_tutti_range)
#define DRM_IOCTL_TUTTI_QUEUE_CREATE DRM_TUTTI_IOWR(DRM_TUTTI_QUEUE_CREATE, drm_tutti_queue_create)
#define DRM_IOCTL_TUTTI_QUEUE_DESTROY DRM_TUTTI_IOWR(DRM_TUTTI_QUEUE_DESTROY, drm_tutti_handle)
#define DRM_IOCTL_TUTTI_QUEUE_RESET DRM_TUTTI_IOWR(DRM_TUTTI_QUEUE_RESET, drm_tutti_handle)
#define DRM_IOCTL_TUTTI_QUEUE_QUERY DRM_TUTTI_IOWR(DRM_TUTTI_QUEUE_QUERY, drm_tutti_queue_query)
#define DRM_IOCTL_TUTTI_RSB_CREATE DRM_TUTTI_IOWR(DRM_TUTTI_RSB_CREATE, drm_tutti_rsb_create)
#define DRM_IOCTL_TUTTI_RSB_DESTROY DRM_TUTTI_IOWR(DRM_TUTTI_RSB_DESTROY, drm_tutti_handle)
#define DRM_IOCTL_TUTTI_RSB_INVALIDATE DRM_TUTTI_IOWR(DRM_TUTTI_RSB_INVALIDATE, drm_tutti_rsb_invalidate)
#define DRM_IOCTL_TUTTI_RSB_READ DRM_TUTTI_IOWR(DRM_TUTTI_RSB_READ, drm_tutti_rsb_read)
#define DRM_IOCTL_TUTTI_WAIT DRM_TUTTI_IOWR(DRM_TUTTI_WAIT, drm_tutti_wait)
#define DRM_IOCTL_TUTTI_EVENT DRM_TUTTI_IOWR(DRM_TUTTI_EVENT, drm_tutti_event)
#define DRM_IOCTL_TUTTI_FENCE DRM_TUTTI_IOWR(DRM_TUTTI_FENCE, drm_tutti_fence)
#define DRM_IOCTL_TUTTI_KICK DRM_TUTTI_IOWR(DRM_TUTTI_KICK, drm_tutti_kick)
#define DRM_IOCTL_TUTTI_COUNTERS DRM_TUTTI_IOWR(DRM_TUTTI_COUNTERS, drm_tutti_counters)
#define DRM_IOCTL_TUTTI_BO_USERPTR DRM_TUTTI_IOWR(DRM_TUTTI_BO_USERPTR, drm_tutti_bo_userptr)
#define DRM_IOCTL_TUTTI_TASK_CANCEL DRM_TUTTI_IOWR(DRM_TUTTI_TASK_CANCEL, drm_tutti_task_cancel)
#define DRM_IOCTL_TUTTI_SM_ENABLE DRM_TUTTI_IOWR(DRM_TUTTI_SM_ENABLE, drm_tutti_sm_enable)
#define DRM_IOCTL_TUTTI_POLICY_SET DRM_TUTTI_IOWR(DRM_TUTTI_POLICY_SET, drm_tutti_policy)
#define DRM_IOCTL_TUTTI_POLICY_GET DRM_TUTTI_IOWR(DRM_TUTTI_POLICY_GET, drm_tutti_policy)
#define DRM_IOCTL_TUTTI_RESET DRM_TUTTI_IOWR(DRM_TUTTI_RESET, drm_tutti_reset)
#define DRM_IOCTL_TUTTI_OCCUPANCY DRM_TUTTI_IOWR(DRM_TUTTI_OCCUPANCY, drm_tutti_occupancy)
#define DRM_IOCTL_TUTTI_TRACE_START DRM_TUTTI_IOWR(DRM_TUTTI_TRACE_START, drm_tutti_trace_start)
#define DRM_IOCTL_TUTTI_TRACE_READ DRM_TUTTI_IOWR(DRM_TUTTI_TRACE_READ, drm_tutti_trace_read)

#if defined(__cplusplus)
}
#endif

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernel channel: messages between host driver and firmware
 *
 * Two rings of 64-byte messages in the control window: host_ring and card_ring, as many
 * messages as fit each region. Their indexes are in struct tutti_control and struct
 * tutti_status. A request carries an id that the host has chosen; the firmware answers
 * it by a TUTTI_MSG_REPLY with the same id. Several requests may be under way, and are
 * answered in any order. An answer comes when the thing is done, never before: after the answer to
 * QUEUE_DESTROY nothing of that queue is in flight. Messages that nobody asked for have id 0.
 *
 * Only the driver (or the library, for an emulated card in its process) writes here;
 * nothing of this can be said through the rings of user queues. (spec SYS-08)
 */
#ifndef TUTTI_MESSAGE_H
#define TUTTI_MESSAGE_H

#include "code_object.h"
#include "fault.h"
#include "packet.h"

/** enum tutti_message_type - requests with their arguments, and what the card sends. */
enum tutti_message_type {
	TUTTI_MSG_NONE = 0,
	/* host to card */
	TUTTI_MSG_PING = 1,              /* arg 0 comes back as the reply's value */
	TUTTI_MSG_CONTEXT_CREATE = 2,    /* struct tutti_msg_context */
	TUTTI_MSG_CONTEXT_DESTROY = 3,   /* arg 0: asid, whose queues must be gone */
	/*
	 * TLB_INVALIDATE: arg 0: asid, 1: address, 2: bytes (0 = all): page table entries have changed. When it is
	 * answered, accesses and walks that began with the old entries have ended, and what they reached may be freed.
	 */
	TUTTI_MSG_TLB_INVALIDATE = 4,
	TUTTI_MSG_CODE_INVALIDATE = 5,   /* arg 0: asid, 1: address, 2: bytes: code has changed */
	TUTTI_MSG_QUEUE_CREATE = 6,      /* struct tutti_msg_queue */
	TUTTI_MSG_QUEUE_DESTROY = 7,     /* arg 0: queue; stops its kernels */
	TUTTI_MSG_QUEUE_RESET = 8,       /* arg 0: queue: clears its error; it goes on behind the bad packet */
	TUTTI_MSG_QUEUE_QUERY = 9,       /* arg 0: queue; the reply's args: read index, state, error */
	TUTTI_MSG_RSB_CREATE = 10,       /* struct tutti_msg_rsb */
	TUTTI_MSG_RSB_DESTROY = 11,      /* arg 0: RSB; -EBUSY while a queue uses it */
	TUTTI_MSG_RSB_INVALIDATE = 12,   /* arg 0: RSB, 1: mask of the entries to forget */
	TUTTI_MSG_RSB_READ = 13,         /* arg 0: RSB, 1: offset in card memory to copy its table to */
	TUTTI_MSG_SM_ENABLE = 14,        /* arg 0: first SM, 1: how many, 2: 1 = enable, 0 = disable */
	/*
	 * POLICY: arg 0: enum tutti_policy, 1: new value. With arg 2 = 1 it asks instead: the reply's value is the
	 * policy's; arg 1 says which one, for policies whose value names it in its upper bits.
	 */
	TUTTI_MSG_POLICY = 15,
	TUTTI_MSG_SUSPEND = 16,          /* no new kernels start; answered when nothing is in flight */
	TUTTI_MSG_RESUME = 17,           /* ends that */
	TUTTI_MSG_TASK_CANCEL = 18,      /* arg 0: queue, 1: packet index (spec TSK-12) */
	TUTTI_MSG_COUNTERS = 19,         /* bring the counters and the host's copy of the SM states up to date */
	/*
	 * QUEUE_NOTIFY: arg 0: queue, 1: packets. Raises the queue's interrupt once, behind its progress word, as
	 * soon as so many packets have retired. Of several requests the smallest number counts. Nothing happens for a
	 * queue without a progress word.
	 */
	TUTTI_MSG_QUEUE_NOTIFY = 20,
	/* the reply's value: free task slots; its args 0: CTAs that run, 1: SMs that take CTAs */
	TUTTI_MSG_LOAD = 21,
	/*
	 * OCCUPANCY: struct tutti_msg_occupancy: how much an idle card would hold at once, with the SMs and policies
	 * of now (spec CGA-29). The reply's value: CGAs, or CTAs if it has no CGAs; its args 0: CTAs of an SM, 1:
	 * SMs.
	 */
	TUTTI_MSG_OCCUPANCY = 22,
	/* card to host */
	TUTTI_MSG_REPLY = 64,            /* answer to the request with the same id */
	TUTTI_MSG_QUEUE_ERROR = 65,      /* struct tutti_fault: a queue has stopped; id = 0 */
};

/* struct tutti_message.status is 0 or one of these, negative; the values are those of errno in Linux */
#define TUTTI_EPERM 1
#define TUTTI_ENOENT 2
#define TUTTI_EBUSY 16
#define TUTTI_EEXIST 17
#define TUTTI_EINVAL 22
#define TUTTI_ENOSPC 28
#define TUTTI_ENOTSUP 95

/** struct tutti_msg_context - create an address space. */
struct tutti_msg_context {
	uint32_t asid;        /* id, 1 to max_contexts - 1, not in use */
	uint32_t pad0;
	uint64_t root;        /* bus address of its root page table */
	uint64_t print_ring;  /* address (in the context) of a struct tutti_print_ring, 0 = none */
	uint64_t pad1[3];
};
TUTTI_SIZE(struct tutti_msg_context, 48);
TUTTI_AT(struct tutti_msg_context, asid, 0);
TUTTI_AT(struct tutti_msg_context, pad0, 4);
TUTTI_AT(struct tutti_msg_context, root, 8);
TUTTI_AT(struct tutti_msg_context, print_ring, 16);
TUTTI_AT(struct tutti_msg_context, pad1, 24);

/* struct tutti_msg_queue.flags */
#define TUTTI_QUEUE_EXTENDED 1u    /* reference and condensed packets, task metadata */
#define TUTTI_QUEUE_OVERLAP 2u     /* kernels of a condensed packet may run at the same time (spec PKT-16) */
#define TUTTI_QUEUE_TABLE_DIFFS 4u /* condensed packets: TUTTI_TABLE_FIELDS (spec PKT-20) */
#define TUTTI_QUEUE_PROFILE 8u     /* write start and end times into signals */
#define TUTTI_QUEUE_RSB 16u        /* the field rsb is valid */
#define TUTTI_QUEUE_FLAGS 31u

/*
 * struct tutti_msg_queue.priority: the queue's own, and in the upper bits the highest that task metadata of its packets
 * and kernels may ask for, so that no program raises itself above what its driver allows; 0 = any.
 */
#define TUTTI_QUEUE_PRIORITY 15u
#define TUTTI_QUEUE_HIGHEST_SHIFT 4

/** struct tutti_msg_queue - create a queue, whose doorbell page is that of its id. */
struct tutti_msg_queue {
	uint16_t queue;       /* id, 0 to max_queues - 1, not in use */
	uint16_t asid;        /* its context */
	uint16_t flags;       /* TUTTI_QUEUE_* */
	uint16_t rsb;         /* extended queues: reference state buffer it uses */
	uint64_t ring;        /* address of the ring, 64-byte aligned */
	uint64_t read_index;  /* address of the 64-bit word that gets the read index */
	uint64_t progress;    /* bus address of a 64-bit word of the driver's that counts retired packets, 0 = none */
	uint8_t size_log2;    /* log2 of its packets */
	uint8_t priority;     /* 1 (highest) to 10 (lowest) | highest of its tasks << TUTTI_QUEUE_HIGHEST_SHIFT */
	uint16_t vector;      /* MSI-X vector for its signals */
	uint32_t timeout_ms;  /* a kernel is stopped when no CTA of it completes for so long; 0 = never */
	uint64_t start;       /* index of its first packet */
};
TUTTI_SIZE(struct tutti_msg_queue, 48);
TUTTI_AT(struct tutti_msg_queue, queue, 0);
TUTTI_AT(struct tutti_msg_queue, asid, 2);
TUTTI_AT(struct tutti_msg_queue, flags, 4);
TUTTI_AT(struct tutti_msg_queue, rsb, 6);
TUTTI_AT(struct tutti_msg_queue, ring, 8);
TUTTI_AT(struct tutti_msg_queue, read_index, 16);
TUTTI_AT(struct tutti_msg_queue, progress, 24);
TUTTI_AT(struct tutti_msg_queue, size_log2, 32);
TUTTI_AT(struct tutti_msg_queue, priority, 33);
TUTTI_AT(struct tutti_msg_queue, vector, 34);
TUTTI_AT(struct tutti_msg_queue, timeout_ms, 36);
TUTTI_AT(struct tutti_msg_queue, start, 40);

/* struct tutti_msg_rsb.placement */
#define TUTTI_RSB_SCRATCH 0u /* the soft core's local memory */
#define TUTTI_RSB_MEMORY 1u  /* card memory */

/** struct tutti_msg_rsb - create a reference state buffer. */
struct tutti_msg_rsb {
	uint16_t rsb;       /* id, 0 to max_rsbs - 1, not in use */
	uint16_t asid;      /* its context: only queues of that may use it */
	uint32_t placement; /* TUTTI_RSB_* */
	uint64_t offset;    /* TUTTI_RSB_MEMORY: in card memory, inside reserved_bytes - TUTTI_FIRMWARE_BYTES, 64-byte aligned */
	uint64_t pad0[4];
};
TUTTI_SIZE(struct tutti_msg_rsb, 48);
TUTTI_AT(struct tutti_msg_rsb, rsb, 0);
TUTTI_AT(struct tutti_msg_rsb, asid, 2);
TUTTI_AT(struct tutti_msg_rsb, placement, 4);
TUTTI_AT(struct tutti_msg_rsb, offset, 8);
TUTTI_AT(struct tutti_msg_rsb, pad0, 16);

#define TUTTI_OCCUPANCY_MODE_CARD 2u /* the card's TUTTI_POLICY_CGA_MODE, as for launches without a TMD */

/** struct tutti_msg_occupancy - what a kernel needs. */
struct tutti_msg_occupancy {
	uint16_t waves;         /* waves of a CTA */
	uint16_t scalar_blocks; /* register blocks of a wave */
	uint16_t vector_blocks;
	uint16_t shared_blocks; /* shared memory blocks of a CTA */
	uint16_t barriers;      /* barriers of a CTA */
	uint8_t mode;           /* TUTTI_CGA_LOAD_BALANCE, _MULTICAST, TUTTI_OCCUPANCY_MODE_CARD */
	uint8_t lmem;           /* 1: each CGA owns a linear memory slot */
	uint32_t pad0;
	struct tutti_cga_shape cga[TUTTI_CGA_LEVELS]; /* innermost level first; all of kind 0: no CGAs */
};
TUTTI_SIZE(struct tutti_msg_occupancy, 48);
TUTTI_AT(struct tutti_msg_occupancy, waves, 0);
TUTTI_AT(struct tutti_msg_occupancy, scalar_blocks, 2);
TUTTI_AT(struct tutti_msg_occupancy, vector_blocks, 4);
TUTTI_AT(struct tutti_msg_occupancy, shared_blocks, 6);
TUTTI_AT(struct tutti_msg_occupancy, barriers, 8);
TUTTI_AT(struct tutti_msg_occupancy, mode, 10);
TUTTI_AT(struct tutti_msg_occupancy, lmem, 11);
TUTTI_AT(struct tutti_msg_occupancy, pad0, 12);
TUTTI_AT(struct tutti_msg_occupancy, cga, 16);

/**
 * enum tutti_policy - what TUTTI_MSG_POLICY sets: how the firmware chooses among SMs and among tasks.
 *
 * @TUTTI_POLICY_ISSUE: 0: CTAs go to the SMs with most room; 1: SM after SM (spec TSK-06)
 * @TUTTI_POLICY_CTA_CAP: most CTAs on an SM; 0 = as many as fit (spec CGA-04)
 * @TUTTI_POLICY_LEVEL_SEARCH: how the last level of a launch is found: 0 automatically, 1 by a scan, 2 by a binary
 *	search; the result is the same (spec CGA-07)
 * @TUTTI_POLICY_SM_ORDER: position << 16 | SM: one place of the SM priority order
 * @TUTTI_POLICY_CGA_MODE: TUTTI_CGA_LOAD_BALANCE or _MULTICAST for launches without a TMD
 * @TUTTI_POLICY_CGA_PATIENCE: how often a CGA may fail to fit before the parts of the card where it could take no new
 *	work; 0 = 256 (spec CGA-05)
 * @TUTTI_POLICY_CHOICE: TUTTI_CHOICE_*: among SMs that a CTA fits (spec RES-13 .. RES-15); -ENOTSUP without the
 *	counters
 * @TUTTI_POLICY_SEARCH: TUTTI_SEARCH_*: how runs of free blocks are searched (spec RES-08 .. RES-11)
 * @TUTTI_POLICY_SPLIT: waves of a CTA go: 0 to the PEUs with most room, 1 round the PEUs (spec RES-12)
 * @TUTTI_POLICY_SPLIT_ROUNDS: rounds in which nothing fits before a CTA is split into waves; 0 = 256 (spec RES-07)
 * @TUTTI_POLICY_WINDOW: class << 24 | ticks: length of a class's priority window; class 255: number of windows
 *	(spec RES-06)
 * @TUTTI_POLICY_CLASS: level << 8 | class: class of a priority level (spec RES-06)
 * @TUTTI_POLICY_SEED: seed of the lot drawn among tasks of equal priority; 0 = no lot, the oldest goes (spec RES-04,
 *	TSK-04)
 * @TUTTI_POLICY_REMAINING_WEIGHT: resource << 24 | weight of what is free of it (A_h of RES-13)
 * @TUTTI_POLICY_POWER_WEIGHT: class << 24 | weight of its instructions (B_s of RES-14)
 * @TUTTI_POLICY_POWER_WINDOW: timer ticks over which instructions count, a power of two from 8 on; 0 = 1024 (spec
 *	RES-14)
 * @TUTTI_POLICY_COMBINE: weight of RES-13 << 16 | weight of RES-14 (spec RES-15)
 */
enum tutti_policy {
	TUTTI_POLICY_ISSUE = 0,
	TUTTI_POLICY_CTA_CAP = 1,
	TUTTI_POLICY_LEVEL_SEARCH = 2,
	TUTTI_POLICY_SM_ORDER = 3,
	TUTTI_POLICY_CGA_MODE = 4,
	TUTTI_POLICY_CGA_PATIENCE = 5,
	TUTTI_POLICY_CHOICE = 6,
	TUTTI_POLICY_SEARCH = 7,
	TUTTI_POLICY_SPLIT = 8,
	TUTTI_POLICY_SPLIT_ROUNDS = 9,
	TUTTI_POLICY_WINDOW = 10,
	TUTTI_POLICY_CLASS = 11,
	TUTTI_POLICY_SEED = 12,
	TUTTI_POLICY_REMAINING_WEIGHT = 13,
	TUTTI_POLICY_POWER_WEIGHT = 14,
	TUTTI_POLICY_POWER_WINDOW = 15,
	TUTTI_POLICY_COMBINE = 16,
	TUTTI_POLICIES = 17
};

/**
 * tutti_policy_shift() - the bit of a value of @policy from which on its place stands, if the policy is a table of
 * positions, classes, levels or resources. 32: the policy is one value.
 */
static inline uint32_t tutti_policy_shift(uint32_t policy)
{
	switch (policy) {
	case TUTTI_POLICY_SM_ORDER:
		return 16;
	case TUTTI_POLICY_WINDOW:
	case TUTTI_POLICY_REMAINING_WEIGHT:
	case TUTTI_POLICY_POWER_WEIGHT:
		return 24;
	case TUTTI_POLICY_CLASS:
		return 8;
	default:
		return 32;
	}
}

#define TUTTI_CHOICE_MOST_FREE 0u /* the SM that can take most CTAs */
#define TUTTI_CHOICE_REMAINING 1u /* the largest weighted sum of free resources */
#define TUTTI_CHOICE_POWER 2u     /* the smallest weighted sum of instructions executed lately */
#define TUTTI_CHOICE_COMBINED 3u  /* both */
#define TUTTI_CHOICE_LARGEST 4u   /* or'ed to REMAINING or COMBINED: largest free runs count instead of free blocks */

#define TUTTI_SEARCH_FULL 0u    /* exact */
#define TUTTI_SEARCH_GROUPED 1u /* by groups of four blocks */
#define TUTTI_SEARCH_SAMPLED 2u /* for some lengths only */
#define TUTTI_SEARCH_SHARED 3u  /* several maps at a time */

/** struct tutti_message - one slot of either ring; replies have their results in @value and @arg. */
struct tutti_message {
	uint16_t type;   /* enum tutti_message_type */
	int16_t status;  /* replies: 0 or -TUTTI_E* */
	uint32_t id;     /* chosen by the host and given back; 0 = not asked for */
	uint64_t value;  /* replies: the main result */
	__extension__ union {
		uint64_t arg[6];
		struct tutti_msg_context context;
		struct tutti_msg_queue queue;
		struct tutti_msg_rsb rsb;
		struct tutti_msg_occupancy occupancy;
		struct tutti_fault fault;
	};
};
TUTTI_SIZE(struct tutti_message, 64);
TUTTI_AT(struct tutti_message, type, 0);
TUTTI_AT(struct tutti_message, status, 2);
TUTTI_AT(struct tutti_message, id, 4);
TUTTI_AT(struct tutti_message, value, 8);
TUTTI_AT(struct tutti_message, arg, 16);
TUTTI_AT(struct tutti_message, context, 16);
TUTTI_AT(struct tutti_message, queue, 16);
TUTTI_AT(struct tutti_message, rsb, 16);
TUTTI_AT(struct tutti_message, occupancy, 16);
TUTTI_AT(struct tutti_message, fault, 16);

/**
 * struct tutti_print_ring - text printed by kernels, in the context's memory; the text follows the structure.
 * @head: bytes ever reserved by waves, by atomic additions
 * @ready: bytes ever written by them; the text is whole up to here whenever it equals @head
 * @lost: bytes dropped because the ring was full
 * @tail: bytes ever read by the host
 * @bytes: size of the text, a power of two
 */
struct tutti_print_ring {
	uint64_t head;
	uint64_t ready;
	uint64_t lost;
	uint64_t pad0[5];
	uint64_t tail;
	uint64_t bytes;
	uint64_t pad1[6];
};
TUTTI_SIZE(struct tutti_print_ring, 128);
TUTTI_AT(struct tutti_print_ring, head, 0);
TUTTI_AT(struct tutti_print_ring, ready, 8);
TUTTI_AT(struct tutti_print_ring, lost, 16);
TUTTI_AT(struct tutti_print_ring, pad0, 24);
TUTTI_AT(struct tutti_print_ring, tail, 64);
TUTTI_AT(struct tutti_print_ring, bytes, 72);
TUTTI_AT(struct tutti_print_ring, pad1, 80);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Kernel channel: messages between host driver and firmware
 *
 * Two rings of 64-byte messages in the control window (regions host_ring and
 * card_ring, as many messages as fit; indices free running in struct
 * tutti_control and struct tutti_status). Requests carry an id chosen by the
 * host; the firmware answers each with a TUTTI_MSG_REPLY of the same id, in any
 * order, several in flight. The firmware never answers before the thing is done:
 * after the reply to QUEUE_DESTROY nothing of that queue is in flight. Unasked
 * messages (events) have id 0. Only the driver (or the in-process transport)
 * writes here; none of these messages exists in user rings. (spec SYS-08)
 */
#ifndef TUTTI_MESSAGE_H
#define TUTTI_MESSAGE_H

#include "code_object.h"
#include "fault.h"
#include "packet.h"

enum tutti_message_type {
	TUTTI_MSG_NONE = 0,
	/* host to card */
	TUTTI_MSG_PING = 1,              /* arg 0 comes back in the reply's value */
	TUTTI_MSG_CONTEXT_CREATE = 2,    /* struct tutti_msg_context */
	TUTTI_MSG_CONTEXT_DESTROY = 3,   /* arg 0: asid; its queues must be gone */
	TUTTI_MSG_TLB_INVALIDATE = 4,    /* arg 0: asid, 1: address, 2: bytes (0 = all) */
	TUTTI_MSG_CODE_INVALIDATE = 5,   /* arg 0: asid, 1: address, 2: bytes: code changed */
	TUTTI_MSG_QUEUE_CREATE = 6,      /* struct tutti_msg_queue */
	TUTTI_MSG_QUEUE_DESTROY = 7,     /* arg 0: queue; kills what runs, answers when quiet */
	TUTTI_MSG_QUEUE_RESET = 8,       /* arg 0: queue: error cleared, goes on behind the bad packet */
	TUTTI_MSG_QUEUE_QUERY = 9,       /* arg 0: queue; reply args: read index, state, error */
	TUTTI_MSG_RSB_CREATE = 10,       /* struct tutti_msg_rsb */
	TUTTI_MSG_RSB_DESTROY = 11,      /* arg 0: rsb; -EBUSY while attached */
	TUTTI_MSG_RSB_INVALIDATE = 12,   /* arg 0: rsb, 1: mask of entries */
	TUTTI_MSG_RSB_READ = 13,         /* arg 0: rsb, 1: card memory offset to copy it to */
	TUTTI_MSG_SM_ENABLE = 14,        /* arg 0: first SM, 1: number, 2: 1 = enable, 0 = disable */
	/*
	 * POLICY: arg 0: enum tutti_policy, 1: value. arg 2 = 1: asks, the reply's value is what
	 * is set; arg 1: which of them, for policies whose value names one in its upper bits.
	 */
	TUTTI_MSG_POLICY = 15,
	TUTTI_MSG_SUSPEND = 16,          /* answers when nothing is in flight */
	TUTTI_MSG_RESUME = 17,
	TUTTI_MSG_TASK_CANCEL = 18,      /* arg 0: queue, 1: packet index (spec TSK-12) */
	TUTTI_MSG_COUNTERS = 19,         /* firmware brings the counter region up to date */
	/*
	 * arg 0: queue, 1: packets. One interrupt (the queue's vector), behind the progress word, when so
	 * many have retired or now if they have; then none until asked again. The smallest number asked
	 * for counts. Nothing happens for a queue without a progress word.
	 */
	TUTTI_MSG_QUEUE_NOTIFY = 20,
	TUTTI_MSG_LOAD = 21,             /* reply's value: free task slots; arg 0: resident CTAs, 1: SMs that take CTAs */
	/*
	 * struct tutti_msg_occupancy: what an idle card holds at once, with the SMs and caps of now (spec
	 * CGA-29). Reply's value: CGAs, or CTAs if there are none; arg 0: CTAs of an SM, 1: SMs.
	 */
	TUTTI_MSG_OCCUPANCY = 22,
	/* card to host */
	TUTTI_MSG_REPLY = 64,
	TUTTI_MSG_QUEUE_ERROR = 65,      /* struct tutti_fault; id = 0 */
};

/* struct tutti_message.status: 0 or one of these (values of Linux errno) */
#define TUTTI_EPERM 1
#define TUTTI_ENOENT 2
#define TUTTI_EBUSY 16
#define TUTTI_EEXIST 17
#define TUTTI_EINVAL 22
#define TUTTI_ENOSPC 28
#define TUTTI_ENOTSUP 95

/** struct tutti_msg_context - create an address space. */
struct tutti_msg_context {
	uint32_t asid;        /* 1 .. max_contexts - 1, not in use */
	uint32_t pad0;
	uint64_t root;        /* bus address of the root page table */
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
#define TUTTI_QUEUE_EXTENDED 1u    /* reference and condensed packets, TMDs */
#define TUTTI_QUEUE_OVERLAP 2u     /* kernels of a condensed packet may overlap (spec PKT-16) */
#define TUTTI_QUEUE_TABLE_DIFFS 4u /* diffs name table fields (spec PKT-20) */
#define TUTTI_QUEUE_PROFILE 8u     /* start and end times into signals */
#define TUTTI_QUEUE_RSB 16u        /* rsb is valid */
#define TUTTI_QUEUE_FLAGS 31u

/** struct tutti_msg_queue - create a queue; its doorbell page is the one of its id. */
struct tutti_msg_queue {
	uint16_t queue;       /* id, 0 .. max_queues - 1, not in use */
	uint16_t asid;
	uint16_t flags;       /* TUTTI_QUEUE_* */
	uint16_t rsb;         /* RSB it uses (extended queues) */
	uint64_t ring;        /* address of the ring, 64-byte aligned */
	uint64_t read_index;  /* address of the word that mirrors the read index */
	uint64_t progress;    /* bus address of a kernel-owned word that counts retired packets, 0 = none */
	uint8_t size_log2;    /* packets */
	uint8_t priority;     /* 1 (highest) .. 10 */
	uint16_t vector;      /* MSI-X vector for its signals */
	uint32_t timeout_ms;  /* no CTA completed for so long = hung; 0 = never */
	uint64_t start;       /* first packet index */
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
#define TUTTI_RSB_SCRATCH 0u /* soft core's scratch RAM */
#define TUTTI_RSB_MEMORY 1u  /* card memory */

/** struct tutti_msg_rsb - create a reference state buffer. */
struct tutti_msg_rsb {
	uint16_t rsb;       /* id */
	uint16_t asid;      /* owner: only its queues may attach */
	uint32_t placement; /* TUTTI_RSB_* */
	uint64_t offset;    /* in card memory, inside reserved_bytes, 64-byte aligned (MEMORY) */
	uint64_t pad0[4];
};
TUTTI_SIZE(struct tutti_msg_rsb, 48);
TUTTI_AT(struct tutti_msg_rsb, rsb, 0);
TUTTI_AT(struct tutti_msg_rsb, asid, 2);
TUTTI_AT(struct tutti_msg_rsb, placement, 4);
TUTTI_AT(struct tutti_msg_rsb, offset, 8);
TUTTI_AT(struct tutti_msg_rsb, pad0, 16);

#define TUTTI_OCCUPANCY_MODE_CARD 2u /* the mode of kernels without a TMD: TUTTI_POLICY_CGA_MODE */

/** struct tutti_msg_occupancy - a kernel's needs; those of the waves are for each of them. */
struct tutti_msg_occupancy {
	uint16_t waves;         /* of a workgroup */
	uint16_t scalar_blocks;
	uint16_t vector_blocks;
	uint16_t shared_blocks; /* of a workgroup */
	uint16_t barriers;
	uint8_t mode;           /* TUTTI_CGA_LOAD_BALANCE, _MULTICAST, TUTTI_OCCUPANCY_MODE_CARD */
	uint8_t lmem;           /* 1: CGAs own a linear memory slot */
	uint32_t pad0;
	struct tutti_cga_shape cga[TUTTI_CGA_LEVELS]; /* innermost first; kind 0 from the first on: no CGAs */
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

/* TUTTI_MSG_POLICY settings */
enum tutti_policy {
	TUTTI_POLICY_ISSUE = 0,      /* 0 load balance (water filling), 1 round robin */
	TUTTI_POLICY_CTA_CAP = 1,    /* most CTAs per SM, 0 = what fits */
	TUTTI_POLICY_LEVEL_SEARCH = 2, /* 0 automatic, 1 scan, 2 binary search (spec CGA-07) */
	TUTTI_POLICY_SM_ORDER = 3,   /* (position << 16 | SM): one entry of the SM priority order */
	TUTTI_POLICY_CGA_MODE = 4,   /* default for grids without a TMD: TUTTI_CGA_LOAD_BALANCE or _MULTICAST */
	TUTTI_POLICY_CGA_PATIENCE = 5, /* failed sessions before a CGA's domains take no new work; 0 = 256 (spec CGA-05) */
	TUTTI_POLICY_CHOICE = 6,     /* among matching SMs: TUTTI_CHOICE_* (spec RES-13 .. RES-15); -ENOTSUP without the counters */
	TUTTI_POLICY_SEARCH = 7,     /* largest free run: TUTTI_SEARCH_* (spec RES-08 .. RES-11) */
	TUTTI_POLICY_SPLIT = 8,      /* waves to PEUs: 0 most free, 1 rotated (spec RES-12) */
	TUTTI_POLICY_SPLIT_ROUNDS = 9, /* rounds without a match before a CTA is split into waves; 0 = 256 (spec RES-07) */
	TUTTI_POLICY_WINDOW = 10,    /* (class << 24 | ticks): length of a priority window; class 255: number of windows (spec RES-06) */
	TUTTI_POLICY_CLASS = 11,     /* (level << 8 | class): class of a priority level */
	TUTTI_POLICY_SEED = 12,      /* of the fair choice among equals (spec RES-04); 0 = no draw, the oldest in the table goes (TSK-04) */
	TUTTI_POLICY_REMAINING_WEIGHT = 13, /* (resource << 24 | weight): RES-13's A_h */
	TUTTI_POLICY_POWER_WEIGHT = 14,     /* (class << 24 | weight): RES-14's B_s */
	TUTTI_POLICY_POWER_WINDOW = 15,     /* timer ticks, power of two from 8 on; 0 = 1024 (spec RES-14) */
	TUTTI_POLICY_COMBINE = 16,   /* (weight of RES-13 << 16 | weight of RES-14) (spec RES-15) */
	TUTTI_POLICIES = 17
};

#define TUTTI_CHOICE_MOST_FREE 0u /* water filling: most free slots */
#define TUTTI_CHOICE_REMAINING 1u
#define TUTTI_CHOICE_POWER 2u
#define TUTTI_CHOICE_COMBINED 3u
#define TUTTI_CHOICE_LARGEST 4u /* with REMAINING or COMBINED: largest free runs in place of counts of blocks */

#define TUTTI_SEARCH_FULL 0u
#define TUTTI_SEARCH_GROUPED 1u
#define TUTTI_SEARCH_SAMPLED 2u
#define TUTTI_SEARCH_SHARED 3u

/** struct tutti_message - one slot of either ring. */
struct tutti_message {
	uint16_t type;   /* enum tutti_message_type */
	int16_t status;  /* replies: 0 or -TUTTI_E* */
	uint32_t id;     /* chosen by the host, given back; 0 = event */
	uint64_t value;  /* replies: main result */
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
 * struct tutti_print_ring - text printed by kernels, in the context's memory.
 * @head: bytes ever reserved by waves (atomic add by the card)
 * @tail: bytes read by the host
 * @lost: bytes dropped because the ring was full
 * @ready: bytes ever completed; text up to here is whole while head == ready
 * @bytes: size of the text that follows, a power of two
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

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Packets in the rings of queues
 *
 * The packets of HSA 1.2 (AQL, the architected queuing language), field for field, and
 * Tutti's condensed packet. A ring is an array of 64-byte slots, a power of two of them. A
 * producer reserves an index, writes the body into the slot, stores the first 32 bits
 * last with release order, and rings the doorbell; queue.h does that.
 *
 * On *extended* queues a kernel dispatch packet can also be kept as a *reference*: the
 * card stores what it has worked out about the kernel in one of eight entries of the
 * queue's reference state buffer (reference.h). A condensed packet then launches up to 31
 * kernels, each of them as an entry and the fields in which it differs.
 * (spec PKT-01 .. PKT-21)
 */
#ifndef TUTTI_PACKET_H
#define TUTTI_PACKET_H

#include "types.h"

#define TUTTI_PACKET_BYTES 64u

/* Packet types, low byte of the first word */
#define TUTTI_PACKET_VENDOR 0u    /* with format 0 it counts as not ready, like INVALID */
#define TUTTI_PACKET_INVALID 1u   /* the slot is free, or its packet not ready */
#define TUTTI_PACKET_KERNEL_DISPATCH 2u
#define TUTTI_PACKET_BARRIER_AND 3u
#define TUTTI_PACKET_AGENT_DISPATCH 4u
#define TUTTI_PACKET_BARRIER_OR 5u
#define TUTTI_PACKET_CONDENSED 0x43u /* extended queues only */

/* AQL header, 16 bits: type, barrier bit, scope of the acquire fence (2 bits), scope of the release fence (2 bits) */
#define TUTTI_HEADER_TYPE 0x00ffu
#define TUTTI_HEADER_BARRIER 0x0100u /* start when all earlier packets of the queue have completed */
#define TUTTI_HEADER_ACQUIRE_SHIFT 9
#define TUTTI_HEADER_RELEASE_SHIFT 11
#define TUTTI_HEADER_SCOPE 3u
#define TUTTI_HEADER_RESERVED 0xe000u
#define TUTTI_SCOPE_NONE 0u
#define TUTTI_SCOPE_AGENT 1u  /* the card */
#define TUTTI_SCOPE_SYSTEM 2u /* the card and the host */

/** tutti_header() - AQL header from its parts. */
#define tutti_header(type, barrier, acquire, release)                        \
	((uint16_t)((type) | ((barrier) ? TUTTI_HEADER_BARRIER : 0) |        \
		    ((acquire) << TUTTI_HEADER_ACQUIRE_SHIFT) |              \
		    ((release) << TUTTI_HEADER_RELEASE_SHIFT)))

/* setup: number of dimensions, 1 to 3, in bits 1..0; the other bits are 0 */
#define TUTTI_SETUP_DIMENSIONS 3u

/* ref_num of a kernel dispatch packet on an extended queue (spec PKT-08); the other bits are 0 */
#define TUTTI_REF_STORE 0x8000u /* keep the kernel as a reference */
#define TUTTI_REF_INDEX 0x0007u /* in this entry */

/** struct tutti_dispatch_packet - kernel dispatch (type 2); grid and workgroup in work-items. */
struct tutti_dispatch_packet {
	uint16_t header;
	uint16_t setup;
	uint16_t workgroup_x;
	uint16_t workgroup_y;
	uint16_t workgroup_z;
	uint16_t ref_num;       /* HSA: reserved0. Extended queues: TUTTI_REF_*, else ignored */
	uint32_t grid_x;
	uint32_t grid_y;
	uint32_t grid_z;
	uint32_t private_bytes; /* private memory of a work-item */
	uint32_t group_bytes;   /* shared memory of a workgroup, static and dynamic */
	uint64_t kernel_object; /* address of the kernel descriptor */
	uint64_t kernarg;       /* address of the arguments */
	uint64_t tmd;           /* HSA: reserved2. Extended queues: address of a struct tutti_tmd, 0 = defaults */
	uint64_t signal;        /* completion signal, 0 = none */
};
TUTTI_SIZE(struct tutti_dispatch_packet, 64);
TUTTI_AT(struct tutti_dispatch_packet, header, 0);
TUTTI_AT(struct tutti_dispatch_packet, setup, 2);
TUTTI_AT(struct tutti_dispatch_packet, workgroup_x, 4);
TUTTI_AT(struct tutti_dispatch_packet, workgroup_y, 6);
TUTTI_AT(struct tutti_dispatch_packet, workgroup_z, 8);
TUTTI_AT(struct tutti_dispatch_packet, ref_num, 10);
TUTTI_AT(struct tutti_dispatch_packet, grid_x, 12);
TUTTI_AT(struct tutti_dispatch_packet, grid_y, 16);
TUTTI_AT(struct tutti_dispatch_packet, grid_z, 20);
TUTTI_AT(struct tutti_dispatch_packet, private_bytes, 24);
TUTTI_AT(struct tutti_dispatch_packet, group_bytes, 28);
TUTTI_AT(struct tutti_dispatch_packet, kernel_object, 32);
TUTTI_AT(struct tutti_dispatch_packet, kernarg, 40);
TUTTI_AT(struct tutti_dispatch_packet, tmd, 48);
TUTTI_AT(struct tutti_dispatch_packet, signal, 56);

/** struct tutti_barrier_packet - waits until all signals have been 0 (barrier-AND, 3) or one has (barrier-OR, 5). */
struct tutti_barrier_packet {
	uint16_t header;
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t dependency[5]; /* signals, 0 = none */
	uint64_t reserved2;
	uint64_t signal;        /* completion signal, 0 = none */
};
TUTTI_SIZE(struct tutti_barrier_packet, 64);
TUTTI_AT(struct tutti_barrier_packet, header, 0);
TUTTI_AT(struct tutti_barrier_packet, reserved0, 2);
TUTTI_AT(struct tutti_barrier_packet, reserved1, 4);
TUTTI_AT(struct tutti_barrier_packet, dependency, 8);
TUTTI_AT(struct tutti_barrier_packet, reserved2, 48);
TUTTI_AT(struct tutti_barrier_packet, signal, 56);

/* Agent dispatch: functions of the card. Any other one is TUTTI_ERROR_AGENT. */
#define TUTTI_AGENT_NOP 0u
#define TUTTI_AGENT_COPY 1u  /* arg: destination, source, bytes */
#define TUTTI_AGENT_FILL 2u  /* arg: destination, 32-bit pattern, bytes; destination and bytes are multiples of 4 */
#define TUTTI_AGENT_TIME 3u  /* stores the card's timer, 64 bits, at return_address */

/** struct tutti_agent_packet - agent dispatch (type 4): something the card does itself. */
struct tutti_agent_packet {
	uint16_t header;
	uint16_t type;           /* TUTTI_AGENT_* */
	uint32_t reserved0;
	uint64_t return_address;
	uint64_t arg[4];
	uint64_t reserved2;
	uint64_t signal;         /* completion signal, 0 = none */
};
TUTTI_SIZE(struct tutti_agent_packet, 64);
TUTTI_AT(struct tutti_agent_packet, header, 0);
TUTTI_AT(struct tutti_agent_packet, type, 2);
TUTTI_AT(struct tutti_agent_packet, reserved0, 4);
TUTTI_AT(struct tutti_agent_packet, return_address, 8);
TUTTI_AT(struct tutti_agent_packet, arg, 16);
TUTTI_AT(struct tutti_agent_packet, reserved2, 48);
TUTTI_AT(struct tutti_agent_packet, signal, 56);

/* Condensed packets (spec PKT-12 .. PKT-20) */
#define TUTTI_CONDENSED_UNITS 31u    /* 16-bit units of a packet */
#define TUTTI_CONDENSED_KERNELS 31u  /* most kernels of a packet */
#define TUTTI_REFERENCES 8u          /* entries of a reference state buffer */
#define TUTTI_DIFF_REF 0x0007u       /* diff header, bits 2..0: entry */
#define TUTTI_DIFF_VECTOR_SHIFT 3    /* diff header, bits 15..3: diff vector, a bit for each field that differs */

/**
 * struct tutti_condensed_packet - up to 31 kernels, each as its difference from a reference.
 *
 * For each kernel a diff header, then the values of the fields named in its diff vector. The kernels run one after
 * another; the packet is checked as a whole before the first of them starts.
 */
struct tutti_condensed_packet {
	uint8_t type;        /* TUTTI_PACKET_CONDENSED */
	uint8_t num_kernels; /* 1 to 31 */
	uint16_t unit[TUTTI_CONDENSED_UNITS]; /* those behind the last kernel are ignored */
};
TUTTI_SIZE(struct tutti_condensed_packet, 64);
TUTTI_AT(struct tutti_condensed_packet, type, 0);
TUTTI_AT(struct tutti_condensed_packet, num_kernels, 1);
TUTTI_AT(struct tutti_condensed_packet, unit, 2);

/**
 * TUTTI_DIFF_FIELDS() - fields of a diff vector, as X(bit, name, units): bit in the vector, size in 16-bit units.
 *
 * Values follow the diff header in this order, least significant unit first. They are those of struct
 * tutti_dispatch_packet; SCOPES is the upper byte of its header (barrier bit and scopes) in the low byte.
 */
#define TUTTI_DIFF_FIELDS(X)    \
	X(0, SCOPES, 1)         \
	X(1, SETUP, 1)          \
	X(2, WORKGROUP_X, 1)    \
	X(3, WORKGROUP_Y, 1)    \
	X(4, WORKGROUP_Z, 1)    \
	X(5, GRID_X, 2)         \
	X(6, GRID_Y, 2)         \
	X(7, GRID_Z, 2)         \
	X(8, PRIVATE_BYTES, 2)  \
	X(9, GROUP_BYTES, 2)    \
	X(10, KERNEL_OBJECT, 4) \
	X(11, KERNARG, 4)       \
	X(12, SIGNAL, 4)

/**
 * TUTTI_TABLE_FIELDS() - the same for queues with TUTTI_QUEUE_TABLE_DIFFS (spec PKT-20).
 *
 * There the values are what the card would work out of a packet, and go into the entry as they are. WORKGROUP: x, y
 * and z, then waves of a workgroup. GRID_*: work-items (32 bits), then workgroups (32 bits). PRIVATE: bytes of a wave.
 * SHARED: bytes of a workgroup, rounded up to whole blocks. The firmware checks each value against the
 * others, by multiplications only; what no packet could lead to is an invalid packet.
 */
#define TUTTI_TABLE_FIELDS(X)  \
	X(0, SCOPES, 1)        \
	X(1, SETUP, 1)         \
	X(2, WORKGROUP, 4)     \
	X(3, GRID_X, 4)        \
	X(4, GRID_Y, 4)        \
	X(5, GRID_Z, 4)        \
	X(6, PRIVATE, 2)       \
	X(7, SHARED, 2)        \
	X(8, KERNEL_OBJECT, 4) \
	X(9, KERNARG, 4)       \
	X(10, SIGNAL, 4)

#define TUTTI_DIFF_ENUM(bit, name, units) TUTTI_DIFF_##name = 1u << (bit),
enum tutti_diff { TUTTI_DIFF_FIELDS(TUTTI_DIFF_ENUM) TUTTI_DIFF_ALL = 0x1fffu };
#define TUTTI_TABLE_ENUM(bit, name, units) TUTTI_TABLE_##name = 1u << (bit),
enum tutti_table { TUTTI_TABLE_FIELDS(TUTTI_TABLE_ENUM) TUTTI_TABLE_ALL = 0x07ffu };
#undef TUTTI_DIFF_ENUM
#undef TUTTI_TABLE_ENUM

/** union tutti_packet - one slot of a ring. */
union tutti_packet {
	uint32_t word[16];
	struct tutti_dispatch_packet dispatch;
	struct tutti_barrier_packet barrier;
	struct tutti_agent_packet agent;
	struct tutti_condensed_packet condensed;
};
TUTTI_SIZE(union tutti_packet, 64);
TUTTI_AT(union tutti_packet, word, 0);
TUTTI_AT(union tutti_packet, dispatch, 0);
TUTTI_AT(union tutti_packet, barrier, 0);
TUTTI_AT(union tutti_packet, agent, 0);
TUTTI_AT(union tutti_packet, condensed, 0);

#endif

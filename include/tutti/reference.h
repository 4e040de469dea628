/* SPDX-License-Identifier: MIT */
/**
 * DOC: Reference state buffer (RSB) and its table (RST)
 *
 * What the firmware keeps of a reference packet: everything that a launch of the kernel
 * needs, checked and worked out, and what is to be done when the kernel completes. Only
 * the firmware writes it; the host can look at it (a read-only page, RSB_READ). It lies in the
 * soft core's local memory or in card memory, as its creator chooses. (spec PKT-09, PKT-10)
 */
#ifndef TUTTI_REFERENCE_H
#define TUTTI_REFERENCE_H

#include "code_object.h"
#include "packet.h"

/* struct tutti_reference.flags */
#define TUTTI_REFERENCE_DIMENSIONS 3u /* number of dimensions, as in @setup */
#define TUTTI_REFERENCE_VALID 4u      /* the entry is in use */
#define TUTTI_REFERENCE_TMD 8u        /* @tmd is valid: it is not a plain grid */
/* Of the kernel's flags, TUTTI_KERNEL_INDEPENDENT and TUTTI_KERNEL_LMEM, this many bits further left. */
#define TUTTI_REFERENCE_KERNEL_SHIFT 6
#define TUTTI_REFERENCE_INDEPENDENT (TUTTI_KERNEL_INDEPENDENT << TUTTI_REFERENCE_KERNEL_SHIFT)
#define TUTTI_REFERENCE_LMEM (TUTTI_KERNEL_LMEM << TUTTI_REFERENCE_KERNEL_SHIFT)

/** struct tutti_reference - one entry of the table, 128 bytes. */
struct tutti_reference {
	/* dispatch information, laid out as in struct tutti_task_state so that the command TASK can name it */
	uint64_t entry;          /* address of the first instruction */
	uint64_t kernarg;        /* address of the arguments */
	uint32_t groups_x;       /* grid in workgroups */
	uint32_t groups_y;
	uint32_t groups_z;
	uint32_t grid_x;         /* grid in work-items */
	uint32_t grid_y;
	uint32_t grid_z;
	uint16_t workgroup_x;    /* work-items of a workgroup */
	uint16_t workgroup_y;
	uint16_t workgroup_z;
	uint16_t waves;          /* waves of one CTA */
	uint32_t shared_bytes;   /* shared memory of a CTA, rounded up to whole blocks */
	uint32_t private_bytes;  /* private memory of a wave, rounded up to 16 */
	uint16_t scalar_blocks;  /* register blocks of a wave */
	uint16_t vector_blocks;
	uint16_t shared_blocks;  /* shared memory blocks of a CTA */
	uint16_t barriers;       /* barriers of a CTA */
	uint16_t no_cga[3];      /* 0; CGAs are in @cga */
	uint16_t setup;          /* as in the packet */
	/* clean-up information */
	uint64_t signal;         /* completion signal, 0 = none */
	/* what the firmware keeps beside it */
	uint64_t tmd;            /* TUTTI_REFERENCE_TMD: address of the task metadata */
	uint32_t groups;         /* CTAs of the grid, below 2^32 */
	uint16_t header;         /* as in the packet: barrier bit and scopes */
	uint16_t flags;          /* TUTTI_REFERENCE_* */
	struct tutti_cga_shape cga; /* the kernel's CGAs; TUTTI_CGA_NONE: it has none */
	uint64_t kernel_object;  /* as in the packet */
	uint32_t item_private;   /* private memory of a work-item, as in the packet */
	uint32_t group_bytes;    /* as in the packet */
	/* of no meaning to others */
	uint32_t used;           /* command_head from which on the entry may be changed */
	uint32_t shape;          /* the firmware's name for its resource needs, 0 = not known */
};
TUTTI_SIZE(struct tutti_reference, 128);
TUTTI_AT(struct tutti_reference, entry, 0);
TUTTI_AT(struct tutti_reference, kernarg, 8);
TUTTI_AT(struct tutti_reference, groups_x, 16);
TUTTI_AT(struct tutti_reference, groups_y, 20);
TUTTI_AT(struct tutti_reference, groups_z, 24);
TUTTI_AT(struct tutti_reference, grid_x, 28);
TUTTI_AT(struct tutti_reference, grid_y, 32);
TUTTI_AT(struct tutti_reference, grid_z, 36);
TUTTI_AT(struct tutti_reference, workgroup_x, 40);
TUTTI_AT(struct tutti_reference, workgroup_y, 42);
TUTTI_AT(struct tutti_reference, workgroup_z, 44);
TUTTI_AT(struct tutti_reference, waves, 46);
TUTTI_AT(struct tutti_reference, shared_bytes, 48);
TUTTI_AT(struct tutti_reference, private_bytes, 52);
TUTTI_AT(struct tutti_reference, scalar_blocks, 56);
TUTTI_AT(struct tutti_reference, vector_blocks, 58);
TUTTI_AT(struct tutti_reference, shared_blocks, 60);
TUTTI_AT(struct tutti_reference, barriers, 62);
TUTTI_AT(struct tutti_reference, no_cga, 64);
TUTTI_AT(struct tutti_reference, setup, 70);
TUTTI_AT(struct tutti_reference, signal, 72);
TUTTI_AT(struct tutti_reference, tmd, 80);
TUTTI_AT(struct tutti_reference, groups, 88);
TUTTI_AT(struct tutti_reference, header, 92);
TUTTI_AT(struct tutti_reference, flags, 94);
TUTTI_AT(struct tutti_reference, cga, 96);
TUTTI_AT(struct tutti_reference, kernel_object, 104);
TUTTI_AT(struct tutti_reference, item_private, 112);
TUTTI_AT(struct tutti_reference, group_bytes, 116);
TUTTI_AT(struct tutti_reference, used, 120);
TUTTI_AT(struct tutti_reference, shape, 124);

/** struct tutti_rsb - a reference state buffer. */
struct tutti_rsb {
	struct tutti_reference reference[TUTTI_REFERENCES];
};
TUTTI_SIZE(struct tutti_rsb, 1024);
TUTTI_AT(struct tutti_rsb, reference, 0);

#endif

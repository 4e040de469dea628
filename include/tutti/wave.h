/* SPDX-License-Identifier: MIT */
/**
 * DOC: What a wave sees: registers, wave information block, services
 *
 * A wave (a warp of CUDA) is an RV64IMAFD hart that does the work of up to 32 work-items, by
 * loops that the compiler makes. At its start pc is the kernel's entry, a0 the address of
 * the arguments, sp the top of its private memory (16-byte aligned), tp the address of its
 * struct tutti_wave_info (read-only), and ra an address whose execution ends the wave.
 * All other registers are 0. Floating point is on and rounds to nearest; the exception flags may
 * hold anything (the emulated card sets NX).
 *
 * Addresses below 2^47 go through the context's page tables, and one that is not mapped is a
 * memory fault. Above them lie the following windows, of which a wave reaches its own part only: shared memory ends with
 * the CTA's, rounded up to 16 bytes, and nothing is mapped below and above the stack.
 */
#ifndef TUTTI_WAVE_H
#define TUTTI_WAVE_H

#include "code_object.h"

#define TUTTI_WAVE_ROM 0x0000800000000000ull    /* what ra points to: it ends the wave */
#define TUTTI_WAVE_INFO 0x0000800000100000ull   /* wave information blocks */
#define TUTTI_WAVE_SHARED 0x0000801000000000ull /* shared memory; tutti_wave_info.shared says where the CTA's own is */
#define TUTTI_WAVE_PRIVATE 0x0000802000000000ull /* private memory: the stack */
#define TUTTI_WAVE_DSMEM 0x0000803000000000ull  /* shared memory of a CTA of the CGA (DSMEM): + rank << 24 | offset */
/* the CGA's linear memory slot, tutti_discovery.lmem_slot_bytes long (spec CGA-28) */
#define TUTTI_WAVE_LMEM 0x0000804000000000ull

/** struct tutti_wave_info - what a wave can read about itself, its CTA (workgroup) and its CGA (spec TSK-15). */
struct tutti_wave_info {
	uint64_t kernarg;       /* address of the arguments */
	uint64_t shared;        /* address of the CTA's shared memory, 16-byte aligned */
	uint32_t shared_bytes;  /* size of that */
	uint32_t items;         /* work-items of this wave, 0..32 */
	uint32_t first_item;    /* number of the first one in the workgroup, x fastest */
	uint32_t wave;          /* number of the wave in its CTA */
	uint32_t waves;         /* waves of the CTA */
	uint32_t cta[3];        /* coordinates of the CTA in the grid */
	uint32_t groups[3];     /* CTAs of the grid along x, y, z */
	uint32_t grid[3];       /* work-items of the grid along x, y, z */
	uint16_t workgroup[3];  /* work-items of a full workgroup */
	uint16_t extent[3];     /* work-items of this workgroup, which is smaller at the edge of the grid */
	uint32_t cta_linear;    /* number of the CTA in the grid, x fastest */
	uint32_t sm;            /* SM it runs on */
	uint16_t queue;
	uint16_t dimensions;    /* of the grid, 1 to 3 */
	uint32_t cga_id;        /* number of the CGA on its GPC (gpc_local_cga_id) */
	/* number of the CTA in the CGA, in the order of launch: CTAs of an inner CGA follow each other */
	uint32_t cga_rank;
	uint32_t cga_ctas;      /* CTAs of the CGA; 1 = no CGA */
	uint32_t gpc;           /* GPC of the SM */
	uint64_t tmd;           /* address of the task metadata, 0 = none */
	uint64_t packet;        /* index of the packet in its queue */
	uint32_t cga[3];        /* coordinates of the CGA in the grid of CGAs */
	uint32_t lmem;          /* index of the CGA's linear memory slot, ~0 = none */
	uint64_t work_first;    /* queue tasks: number of the first item given to this CTA */
	uint32_t work_items;    /* queue tasks: how many items it was given */
	uint32_t pad0;
	uint64_t time;          /* the card's timer when the wave started */
	struct tutti_cga_shape cga_level[TUTTI_CGA_LEVELS]; /* shape of the CGAs, innermost level first */
	uint16_t cga_size[3];   /* CTAs of the CGA along x, y, z */
	uint16_t pad1;
	uint64_t pad2[5];
};
TUTTI_SIZE(struct tutti_wave_info, 248);
TUTTI_AT(struct tutti_wave_info, kernarg, 0);
TUTTI_AT(struct tutti_wave_info, shared, 8);
TUTTI_AT(struct tutti_wave_info, shared_bytes, 16);
TUTTI_AT(struct tutti_wave_info, items, 20);
TUTTI_AT(struct tutti_wave_info, first_item, 24);
TUTTI_AT(struct tutti_wave_info, wave, 28);
TUTTI_AT(struct tutti_wave_info, waves, 32);
TUTTI_AT(struct tutti_wave_info, cta, 36);
TUTTI_AT(struct tutti_wave_info, groups, 48);
TUTTI_AT(struct tutti_wave_info, grid, 60);
TUTTI_AT(struct tutti_wave_info, workgroup, 72);
TUTTI_AT(struct tutti_wave_info, extent, 78);
TUTTI_AT(struct tutti_wave_info, cta_linear, 84);
TUTTI_AT(struct tutti_wave_info, sm, 88);
TUTTI_AT(struct tutti_wave_info, queue, 92);
TUTTI_AT(struct tutti_wave_info, dimensions, 94);
TUTTI_AT(struct tutti_wave_info, cga_id, 96);
TUTTI_AT(struct tutti_wave_info, cga_rank, 100);
TUTTI_AT(struct tutti_wave_info, cga_ctas, 104);
TUTTI_AT(struct tutti_wave_info, gpc, 108);
TUTTI_AT(struct tutti_wave_info, tmd, 112);
TUTTI_AT(struct tutti_wave_info, packet, 120);
TUTTI_AT(struct tutti_wave_info, cga, 128);
TUTTI_AT(struct tutti_wave_info, lmem, 140);
TUTTI_AT(struct tutti_wave_info, work_first, 144);
TUTTI_AT(struct tutti_wave_info, work_items, 152);
TUTTI_AT(struct tutti_wave_info, pad0, 156);
TUTTI_AT(struct tutti_wave_info, time, 160);
TUTTI_AT(struct tutti_wave_info, cga_level, 168);
TUTTI_AT(struct tutti_wave_info, cga_size, 200);
TUTTI_AT(struct tutti_wave_info, pad1, 206);
TUTTI_AT(struct tutti_wave_info, pad2, 208);

/**
 * enum tutti_service - what a wave can ask for by `ecall`.
 *
 * The number is in a7, arguments are in a0 to a2, the result comes in a0 (negative: -TUTTI_E*). All
 * other registers are kept. Services from 16 to 18 are done by the firmware (TUTTI_EVENT_REQUEST).
 */
enum tutti_service {
	TUTTI_SERVICE_EXIT = 0,    /* ends the wave, as returning from the kernel does */
	TUTTI_SERVICE_BARRIER = 1, /* workgroup barrier: waits for all waves of the CTA that still run */
	TUTTI_SERVICE_PRINT = 2,   /* a0 address of text, a1 bytes (at most 4096): printed as a whole or not at all */
	TUTTI_SERVICE_ABORT = 3,   /* a0 code: the kernel fails with TUTTI_CAUSE_ABORT */
	TUTTI_SERVICE_YIELD = 4,   /* lets other waves run; to be used in loops that wait for memory */
	TUTTI_SERVICE_TIME = 5,    /* the card's timer */
	TUTTI_SERVICE_TASK = 16,   /* a0 address of a TMD: create a child task (spec TSK-11); its TMD names a signal */
	TUTTI_SERVICE_QUEUE_NOTIFY = 17, /* a0 address of the TMD of a queue task: items were added */
	/* a0 address of a struct tutti_tensor_request; goes on as soon as there is room for it */
	TUTTI_SERVICE_TENSOR = 18,
	TUTTI_SERVICE_WAIT_ALL = 19, /* waits until all earlier tensor requests of this CTA are done */
	TUTTI_SERVICE_CGA_BARRIER = 32, /* CGA_ARRIVE and CGA_WAIT in one */
	/* a0 offset of an mbarrier in shared memory, a1 parity of the phase to wait for */
	TUTTI_SERVICE_MBARRIER_WAIT = 33,
	TUTTI_SERVICE_CGA_ARRIVE = 34, /* this wave has come to the CGA's barrier; CGA_WAIT must follow */
	TUTTI_SERVICE_CGA_WAIT = 35,   /* waits until all waves of the CGA that still run have arrived */
};

#endif

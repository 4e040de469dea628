/* SPDX-License-Identifier: MIT */
/**
 * DOC: Discovery data
 *
 * The first page of the control window says everything that differs from card to
 * card; driver, runtime and firmware are compiled for none of it. The card writes it
 * before the host may look, and it is constant afterwards. (spec SYS-03)
 *
 * A reader checks, in this order: @magic (all ones: there is no card), @bytes, the contract
 * range, and that every offset and size lies inside the window. Fields that were added
 * after a card was made lie beyond its @bytes and count as 0.
 */
#ifndef TUTTI_DISCOVERY_H
#define TUTTI_DISCOVERY_H

#include "types.h"

#define TUTTI_DISCOVERY_MAGIC 0x4452434954545554ull /* "TUTTICRD" */

/* Features, struct tutti_discovery.features */
#define TUTTI_FEATURE_DOORBELL_WAKES (1ull << 0) /* doorbells never need a kick */
#define TUTTI_FEATURE_PCIE_ATOMICS   (1ull << 1) /* the card can do atomic operations in host memory */
#define TUTTI_FEATURE_CARD_RINGS     (1ull << 2) /* rings may lie in card memory */
#define TUTTI_FEATURE_CGA            (1ull << 3) /* groups of workgroups (clusters), DSMEM, CGA barriers */
#define TUTTI_FEATURE_TMAU           (1ull << 4) /* tensor requests from kernels */
#define TUTTI_FEATURE_QUEUE_TASKS    (1ull << 5) /* work-item queues, child tasks */
#define TUTTI_FEATURE_ENERGY         (1ull << 6) /* energy and instruction-class counters */
#define TUTTI_FEATURE_EMULATED       (1ull << 7) /* it is the emulated card */
#define TUTTI_FEATURE_TRACE          (1ull << 8) /* there is a trace ring */
/* SMs take a LAUNCH only behind the STATE before it, see TUTTI_CMD_STATE */
#define TUTTI_FEATURE_ORDERED_STATES (1ull << 9)

/** struct tutti_gpc - one GPC, a group of SMs with consecutive numbers. */
struct tutti_gpc {
	uint16_t first_sm; /* number of its first SM on the card */
	uint16_t sms;      /* SMs it has */
	uint16_t cpcs;     /* CPCs that its SMs are divided into */
	uint16_t ugpu;     /* number of the group of GPCs it belongs to */
};
TUTTI_SIZE(struct tutti_gpc, 8);
TUTTI_AT(struct tutti_gpc, first_sm, 0);
TUTTI_AT(struct tutti_gpc, sms, 2);
TUTTI_AT(struct tutti_gpc, cpcs, 4);
TUTTI_AT(struct tutti_gpc, ugpu, 6);

/** struct tutti_sm_place - where one SM is; the table at tutti_discovery.sm_table has one for each SM. */
struct tutti_sm_place {
	uint8_t gpc; /* number of its GPC on the card */
	uint8_t cpc; /* number of its CPC in the GPC */
	uint8_t tpc; /* number of its TPC in the GPC */
	uint8_t sm;  /* its number in the TPC, 0 or 1 */
};
TUTTI_SIZE(struct tutti_sm_place, 4);
TUTTI_AT(struct tutti_sm_place, gpc, 0);
TUTTI_AT(struct tutti_sm_place, cpc, 1);
TUTTI_AT(struct tutti_sm_place, tpc, 2);
TUTTI_AT(struct tutti_sm_place, sm, 3);

/**
 * struct tutti_region - a part of the control window.
 * @offset: bytes from the start of the window, 64-byte aligned
 * @bytes: size
 */
struct tutti_region {
	uint32_t offset;
	uint32_t bytes;
};
TUTTI_SIZE(struct tutti_region, 8);
TUTTI_AT(struct tutti_region, offset, 0);
TUTTI_AT(struct tutti_region, bytes, 4);

/**
 * TUTTI_FIRMWARE_BYTES - size of the end of struct tutti_discovery.reserved_bytes that belongs to the firmware, which
 * keeps data of its own there. No image and no RSB may lie in it.
 */
#define TUTTI_FIRMWARE_BYTES (1u << 20)

/** tutti_image_room() - bytes of card memory from @offset on that may hold the firmware image; 0 if there are none. */
#define tutti_image_room(discovery, offset) \
	((discovery)->reserved_bytes > (offset) + TUTTI_FIRMWARE_BYTES ? \
		 (discovery)->reserved_bytes - TUTTI_FIRMWARE_BYTES - (offset) : 0)

/** struct tutti_discovery - page 0 of the control window. */
struct tutti_discovery {
	uint64_t magic;
	uint32_t bytes;        /* sizeof(struct tutti_discovery) when written */
	uint32_t contract_min; /* TUTTI_VERSION range the hardware speaks */
	uint32_t contract_max;
	uint32_t serial;
	uint64_t features;     /* TUTTI_FEATURE_* */
	char name[32];         /* NUL-terminated */

	/* memory */
	uint64_t window_bytes;   /* control window, from BAR offset 0 */
	uint64_t aperture;       /* BAR offset at which card memory is visible */
	uint64_t aperture_bytes; /* how much of it is visible, from its start */
	uint64_t memory_bytes;   /* size of card memory */
	uint64_t reserved_bytes; /* at its start, for RSBs and image; the last TUTTI_FIRMWARE_BYTES are the firmware's */

	/* regions of the control window */
	struct tutti_region control;    /* struct tutti_control, which the host writes */
	struct tutti_region status;     /* struct tutti_status, which the card writes */
	struct tutti_region host_ring;  /* struct tutti_message[], host to card */
	struct tutti_region card_ring;  /* struct tutti_message[], card to host */
	struct tutti_region log;        /* struct tutti_log */
	struct tutti_region crash;      /* struct tutti_crash */
	struct tutti_region counters;   /* uint64_t[TUTTI_COUNTERS] */
	struct tutti_region trace;      /* struct tutti_trace[], a power of two of them */
	struct tutti_region sm_table;   /* struct tutti_sm_place[sms] */
	struct tutti_region doorbells;  /* struct tutti_doorbell_page[max_queues]; the last region */
	/* copies of the RSBs that lie in local memory, a page each, for the host to read */
	struct tutti_region rsb_window;

	/* limits */
	uint32_t max_contexts;    /* address space ids go from 1 to max_contexts - 1 */
	uint32_t max_queues;      /* queue ids go from 0 to max_queues - 1 */
	uint32_t max_rsbs;        /* reference state buffers, see reference.h */
	uint32_t task_slots;      /* slots of the task table (spec TSK-03) */
	uint32_t ring_packets_min; /* smallest ring, packets, a power of two */
	uint32_t ring_packets_max; /* largest ring, packets, a power of two */
	uint32_t msix_vectors;    /* vector 0 is the driver's, the others are shared by the queues */

	/* engines */
	uint32_t soft_cores;      /* cores that run the firmware */
	uint32_t soft_core_hz;    /* their clock */
	uint32_t local_bytes;     /* local memory of one soft core */
	uint32_t movers;          /* copy engines */
	uint32_t pad0;
	uint64_t timer_hz;        /* the timer's clock, in which every time stamp is given */

	/* compute */
	uint32_t gpcs;            /* entries of @gpc */
	uint32_t sms;             /* SMs of the card */
	uint32_t peus;            /* PEUs (sub-cores) of an SM */
	uint32_t peu_waves;       /* waves that a PEU holds */
	uint32_t scalar_blocks;   /* blocks of scalar registers of a PEU */
	uint32_t vector_blocks;   /* blocks of vector registers of a PEU */
	uint32_t shared_blocks;   /* blocks of shared memory of an SM */
	uint32_t shared_block_bytes; /* a power of two from 128 on; an SM has at most 16 MiB, in throttle mode, too */
	uint32_t barriers;        /* workgroup barriers of one SM */
	uint32_t cta_slots;       /* CTAs that an SM holds */
	uint32_t private_bytes;   /* largest private memory of one wave */
	uint32_t workgroup_items; /* work-items of the largest workgroup */
	uint32_t cga_ids;         /* CGAs with ranks that a GPC holds */
	uint32_t cga_ctas;        /* CTAs of the largest CGA with ranks */
	uint32_t lmem_slots;      /* linear memory slots of CGAs (spec CGA-28) */
	uint32_t lmem_slot_bytes;
	uint32_t tmau_requests;   /* tensor requests that wait in one SM */
	uint32_t pad1;

	struct tutti_gpc gpc[TUTTI_MAX_GPCS];
	struct tutti_region sm_states; /* struct tutti_sm_state[sms], the host's copy */
};
TUTTI_SIZE(struct tutti_discovery, 840);
TUTTI_AT(struct tutti_discovery, magic, 0);
TUTTI_AT(struct tutti_discovery, bytes, 8);
TUTTI_AT(struct tutti_discovery, contract_min, 12);
TUTTI_AT(struct tutti_discovery, contract_max, 16);
TUTTI_AT(struct tutti_discovery, serial, 20);
TUTTI_AT(struct tutti_discovery, features, 24);
TUTTI_AT(struct tutti_discovery, name, 32);
TUTTI_AT(struct tutti_discovery, window_bytes, 64);
TUTTI_AT(struct tutti_discovery, aperture, 72);
TUTTI_AT(struct tutti_discovery, aperture_bytes, 80);
TUTTI_AT(struct tutti_discovery, memory_bytes, 88);
TUTTI_AT(struct tutti_discovery, reserved_bytes, 96);
TUTTI_AT(struct tutti_discovery, control, 104);
TUTTI_AT(struct tutti_discovery, status, 112);
TUTTI_AT(struct tutti_discovery, host_ring, 120);
TUTTI_AT(struct tutti_discovery, card_ring, 128);
TUTTI_AT(struct tutti_discovery, log, 136);
TUTTI_AT(struct tutti_discovery, crash, 144);
TUTTI_AT(struct tutti_discovery, counters, 152);
TUTTI_AT(struct tutti_discovery, trace, 160);
TUTTI_AT(struct tutti_discovery, sm_table, 168);
TUTTI_AT(struct tutti_discovery, doorbells, 176);
TUTTI_AT(struct tutti_discovery, rsb_window, 184);
TUTTI_AT(struct tutti_discovery, max_contexts, 192);
TUTTI_AT(struct tutti_discovery, max_queues, 196);
TUTTI_AT(struct tutti_discovery, max_rsbs, 200);
TUTTI_AT(struct tutti_discovery, task_slots, 204);
TUTTI_AT(struct tutti_discovery, ring_packets_min, 208);
TUTTI_AT(struct tutti_discovery, ring_packets_max, 212);
TUTTI_AT(struct tutti_discovery, msix_vectors, 216);
TUTTI_AT(struct tutti_discovery, soft_cores, 220);
TUTTI_AT(struct tutti_discovery, soft_core_hz, 224);
TUTTI_AT(struct tutti_discovery, local_bytes, 228);
TUTTI_AT(struct tutti_discovery, movers, 232);
TUTTI_AT(struct tutti_discovery, pad0, 236);
TUTTI_AT(struct tutti_discovery, timer_hz, 240);
TUTTI_AT(struct tutti_discovery, gpcs, 248);
TUTTI_AT(struct tutti_discovery, sms, 252);
TUTTI_AT(struct tutti_discovery, peus, 256);
TUTTI_AT(struct tutti_discovery, peu_waves, 260);
TUTTI_AT(struct tutti_discovery, scalar_blocks, 264);
TUTTI_AT(struct tutti_discovery, vector_blocks, 268);
TUTTI_AT(struct tutti_discovery, shared_blocks, 272);
TUTTI_AT(struct tutti_discovery, shared_block_bytes, 276);
TUTTI_AT(struct tutti_discovery, barriers, 280);
TUTTI_AT(struct tutti_discovery, cta_slots, 284);
TUTTI_AT(struct tutti_discovery, private_bytes, 288);
TUTTI_AT(struct tutti_discovery, workgroup_items, 292);
TUTTI_AT(struct tutti_discovery, cga_ids, 296);
TUTTI_AT(struct tutti_discovery, cga_ctas, 300);
TUTTI_AT(struct tutti_discovery, lmem_slots, 304);
TUTTI_AT(struct tutti_discovery, lmem_slot_bytes, 308);
TUTTI_AT(struct tutti_discovery, tmau_requests, 312);
TUTTI_AT(struct tutti_discovery, pad1, 316);
TUTTI_AT(struct tutti_discovery, gpc, 320);
TUTTI_AT(struct tutti_discovery, sm_states, 832);

#endif

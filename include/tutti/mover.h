/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mover descriptors
 *
 * Movers copy boxes of up to four dimensions and know nothing of tensors.
 * Dimension 0 counts bytes. One side is walked with strides, the other is dense
 * (shared memory) or walked too (global to global). Firmware writes descriptors
 * into the mover ring in local memory; each names the barrier to update, so
 * responses may come in any order. (spec TMA-20, TMA-21)
 *
 * COPY: @global is the source, walked; @other the destination, dense. FILL:
 * @global is the destination, walked; @fill one element of @type.
 */
#ifndef TUTTI_MOVER_H
#define TUTTI_MOVER_H

#include "types.h"

/* struct tutti_mover.op */
#define TUTTI_MOVE_COPY 1u     /* global to global */
#define TUTTI_MOVE_LOAD 2u     /* global to shared */
#define TUTTI_MOVE_STORE 3u    /* shared to global */
#define TUTTI_MOVE_SHARED 4u   /* shared to shared */
#define TUTTI_MOVE_FILL 5u     /* fill value to global */
#define TUTTI_MOVE_PREFETCH 6u
#define TUTTI_MOVE_DIMENSIONS 4u

/** struct tutti_mover - one mover descriptor, 128 bytes. */
struct tutti_mover {
	uint8_t op;           /* TUTTI_MOVE_* */
	uint8_t swizzle;      /* enum tutti_swizzle, shared side */
	uint8_t reduce;       /* enum tutti_reduce_op, destination */
	uint8_t type;         /* element type for reduce, fill and rounding */
	uint16_t asid;
	uint16_t tag;         /* given back in TUTTI_EVENT_MOVER */
	uint64_t global;      /* walked side: address of the first element */
	uint64_t other;       /* second global address, or offset in SM shared memory */
	uint16_t sm;          /* SM of the shared side */
	uint16_t cta_mask;    /* multicast: CTA ranks in the CGA, 0 = just the SM above */
	uint32_t barrier;     /* offset in SM shared memory of the barrier, ~0 = none */
	uint32_t count[TUTTI_MOVE_DIMENSIONS];  /* dimension 0 in bytes, others in steps; 0 = 1 */
	uint32_t stride[TUTTI_MOVE_DIMENSIONS - 1]; /* walked side, low 32 bits, bytes */
	uint32_t step;        /* bytes between elements along dimension 0, 0 = dense */
	uint16_t before[TUTTI_MOVE_DIMENSIONS]; /* padding before, dimension 0 in bytes */
	uint16_t after[TUTTI_MOVE_DIMENSIONS];
	uint8_t stride_high[TUTTI_MOVE_DIMENSIONS]; /* bits 39..32 of stride */
	uint8_t fill_kind;    /* enum tutti_fill */
	uint8_t cga_slot;
	uint8_t flags;        /* 1 = event when done */
	uint8_t slot;         /* task slot the access is accounted to */
	uint64_t fill;
	uint64_t pad0[4];
};
TUTTI_SIZE(struct tutti_mover, 128);
TUTTI_AT(struct tutti_mover, op, 0);
TUTTI_AT(struct tutti_mover, swizzle, 1);
TUTTI_AT(struct tutti_mover, reduce, 2);
TUTTI_AT(struct tutti_mover, type, 3);
TUTTI_AT(struct tutti_mover, asid, 4);
TUTTI_AT(struct tutti_mover, tag, 6);
TUTTI_AT(struct tutti_mover, global, 8);
TUTTI_AT(struct tutti_mover, other, 16);
TUTTI_AT(struct tutti_mover, sm, 24);
TUTTI_AT(struct tutti_mover, cta_mask, 26);
TUTTI_AT(struct tutti_mover, barrier, 28);
TUTTI_AT(struct tutti_mover, count, 32);
TUTTI_AT(struct tutti_mover, stride, 48);
TUTTI_AT(struct tutti_mover, step, 60);
TUTTI_AT(struct tutti_mover, before, 64);
TUTTI_AT(struct tutti_mover, after, 72);
TUTTI_AT(struct tutti_mover, stride_high, 80);
TUTTI_AT(struct tutti_mover, fill_kind, 84);
TUTTI_AT(struct tutti_mover, cga_slot, 85);
TUTTI_AT(struct tutti_mover, flags, 86);
TUTTI_AT(struct tutti_mover, slot, 87);
TUTTI_AT(struct tutti_mover, fill, 88);
TUTTI_AT(struct tutti_mover, pad0, 96);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Trace: what was decided and what happened, as the hardware saw it (spec CGA-30, TSK-16)
 *
 * A unit beside the launch channel copies what passes there - task states, launch
 * messages, the free slots they met, CTAs as SMs take and end them - into a ring of
 * 32-byte records, time-stamped. The firmware does not know of it, so a
 * traced card decides as an untraced one does, in as many instructions.
 *
 * Ring: region trace of the control window. Card: a record is written, then
 * status.trace_tail goes up; with no room it is dropped and status.trace_lost goes up.
 * Host: reads records up to trace_tail, then stores control.trace_head. Only kinds whose bit is set in
 * control.trace_enable are written. A boot sets trace_tail and trace_lost to 0, whereupon the host sets
 * trace_head to 0.
 */
#ifndef TUTTI_TRACE_H
#define TUTTI_TRACE_H

#include "types.h"

/** enum tutti_trace_kind - struct tutti_trace.kind, bit numbers of control.trace_enable. */
enum tutti_trace_kind {
	TUTTI_TRACE_DOORBELL = 0, /* @queue was rung */
	TUTTI_TRACE_FETCH = 1,    /* @value bytes fetched by the firmware */
	TUTTI_TRACE_EXPAND = 2,   /* the firmware's own, by command TRACE */
	/*
	 * A LAUNCH message: @cta CTAs, @sm the GPC or 0xffff; of a CGA @value = sequence |
	 * gpc_local_cga_id << 16 | TUTTI_LAUNCH_* << 24, else 0. Its FREE records stand before it
	 * (if enabled), its CTA records behind it.
	 */
	TUTTI_TRACE_PLACE = 3,
	TUTTI_TRACE_RUN = 4,      /* CTA @cta starts its first wave on @sm; @value waves */
	TUTTI_TRACE_CTA_DONE = 5, /* CTA @cta has ended, what it took of @sm is free again */
	TUTTI_TRACE_COMPLETE = 6, /* a completion signal at @packet is decremented for @queue */
	TUTTI_TRACE_FAULT = 7,    /* CTA @cta has a fault of cause @value */
	/*
	 * A STATE message for task slot @slot: packet @packet of @queue, @cta CTAs in its grid; @sm
	 * waves each; @value = CTAs of an outermost CGA | its TUTTI_CGA_* kind << 24, else 0.
	 */
	TUTTI_TRACE_STATE = 8,
	TUTTI_TRACE_CTA = 9,      /* CTA @cta has its slot and resources on @sm; @value: 1 + its CGA's number in the grid, 0 = none */
	TUTTI_TRACE_FREE = 10,    /* struct tutti_trace_free */
	TUTTI_TRACE_KINDS = 11
};

/** struct tutti_trace - one record. */
struct tutti_trace {
	uint64_t time;   /* card timer */
	uint16_t kind;   /* enum tutti_trace_kind */
	uint16_t queue;  /* 0xffff = none */
	uint16_t sm;     /* number of an SM, 0xffff = none */
	uint16_t slot;   /* task slot */
	uint64_t packet; /* packet index in the queue */
	uint32_t cta;    /* number of a CTA in its grid, x fastest */
	uint32_t value;
};
TUTTI_SIZE(struct tutti_trace, 32);
TUTTI_AT(struct tutti_trace, time, 0);
TUTTI_AT(struct tutti_trace, kind, 8);
TUTTI_AT(struct tutti_trace, queue, 10);
TUTTI_AT(struct tutti_trace, sm, 12);
TUTTI_AT(struct tutti_trace, slot, 14);
TUTTI_AT(struct tutti_trace, packet, 16);
TUTTI_AT(struct tutti_trace, cta, 24);
TUTTI_AT(struct tutti_trace, value, 28);

#define TUTTI_TRACE_SMS 16u /* of one FREE record */

/**
 * struct tutti_trace_free - how many more CTAs of the task in @slot each SM could take just before its
 * next launch message (spec TSK-06: availability), whatever the firmware lets it take.
 * @first: SM of free[0]
 * @sms: entries of free[] in use
 */
struct tutti_trace_free {
	uint64_t time;
	uint16_t kind;
	uint16_t first;
	uint16_t sms;
	uint16_t slot;
	uint8_t free[TUTTI_TRACE_SMS];
};
TUTTI_SIZE(struct tutti_trace_free, 32);
TUTTI_AT(struct tutti_trace_free, time, 0);
TUTTI_AT(struct tutti_trace_free, kind, 8);
TUTTI_AT(struct tutti_trace_free, first, 10);
TUTTI_AT(struct tutti_trace_free, sms, 12);
TUTTI_AT(struct tutti_trace_free, slot, 14);
TUTTI_AT(struct tutti_trace_free, free, 16);

#endif

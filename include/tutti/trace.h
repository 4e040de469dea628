/* SPDX-License-Identifier: MIT */
/**
 * DOC: Trace: what was decided and what happened, as the hardware saw it (spec CGA-30, TSK-16)
 *
 * A unit beside the launch channel writes down what passes there - task states, launch
 * messages and the free slots they met, CTAs as SMs take, start and end them - as time-stamped
 * records of 32 bytes in a ring. The firmware does not know of it, so that a card that is
 * traced decides as one that is not, in as many instructions.
 *
 * The ring is the region "trace" of the control window. The card writes a record, then
 * counts status.trace_tail up; without room it drops the record and counts status.trace_lost up.
 * The host reads records up to trace_tail, then stores control.trace_head. Only kinds whose bit is
 * set in control.trace_enable are written. A boot sets trace_tail and trace_lost to 0, after
 * which the host sets trace_head to 0.
 */
#ifndef TUTTI_TRACE_H
#define TUTTI_TRACE_H

#include "types.h"

/** enum tutti_trace_kind - struct tutti_trace.kind; also bit numbers of control.trace_enable. */
enum tutti_trace_kind {
	TUTTI_TRACE_DOORBELL = 0, /* @queue was rung */
	TUTTI_TRACE_FETCH = 1,    /* the firmware has fetched @value bytes */
	TUTTI_TRACE_EXPAND = 2,   /* written by the firmware itself, by command TRACE */
	/*
	 * A LAUNCH message of @cta CTAs, with @sm = the GPC or 0xffff. Of a CGA @value is its sequence number |
	 * gpc_local_cga_id << 16 | TUTTI_LAUNCH_* << 24, else 0. The FREE records that belong to it stand
	 * before it, its CTA records behind it.
	 */
	TUTTI_TRACE_PLACE = 3,
	TUTTI_TRACE_RUN = 4,      /* CTA @cta starts its first of @value waves on @sm */
	TUTTI_TRACE_CTA_DONE = 5, /* CTA @cta has ended; what it took of @sm is free again */
	TUTTI_TRACE_COMPLETE = 6, /* the completion signal at address @packet was decremented for @queue */
	TUTTI_TRACE_FAULT = 7,    /* CTA @cta has a fault of cause @value */
	/*
	 * A STATE message for task slot @slot: packet @packet of @queue has a grid of @cta CTAs of @sm waves each.
	 * @value is the number of CTAs of an outermost CGA | its TUTTI_CGA_* kind << 24, without CGAs 0.
	 */
	TUTTI_TRACE_STATE = 8,
	/* CTA @cta has its slot and resources on @sm; @value: 1 + number of its CGA in the grid, 0 = no CGA */
	TUTTI_TRACE_CTA = 9,
	TUTTI_TRACE_FREE = 10,    /* struct tutti_trace_free */
	/* The kernel of the STATE record before it, in @slot: @packet is the address of its first instruction. */
	TUTTI_TRACE_ENTRY = 11,
	TUTTI_TRACE_KINDS = 12
};

/** struct tutti_trace - one record. */
struct tutti_trace {
	uint64_t time;   /* the card's timer */
	uint16_t kind;   /* enum tutti_trace_kind */
	uint16_t queue;  /* 0xffff = none */
	uint16_t sm;     /* number of an SM, 0xffff = none */
	uint16_t slot;   /* task slot */
	uint64_t packet; /* packet index in the queue */
	uint32_t cta;    /* number of a CTA in its grid, x fastest */
	uint32_t value;  /* see the kinds */
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

#define TUTTI_TRACE_SMS 16u /* SMs of one FREE record */

/**
 * struct tutti_trace_free - how many more CTAs of a task SMs could take just before a launch message (spec TSK-06).
 * @time: the card's timer
 * @kind: TUTTI_TRACE_FREE
 * @first: SM of free[0]; those that follow have the next numbers
 * @sms: entries of @free in use
 * @slot: task slot
 * @free: CTAs, as far as resources go: the firmware may let an SM take fewer
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

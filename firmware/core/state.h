/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mutable state that units of several floors read and write
 *
 * Everything else belongs to one unit. What stands here is either copied once at boot (fw), a set of bits by which
 * a lower unit tells the event loop that there is more to do (attention), or a word that the short way of a kernel
 * looks at to find out whether it may be taken (place_state). Queues and tasks have headers of their own,
 * queue_record.h and task_record.h; their storage is in state.c as well.
 */
#ifndef STATE_H
#define STATE_H

#include "core/base.h"

/** struct fw_limits - discovery data the checks need, copied once at boot. */
struct fw_limits {
	uint32_t sms;
	uint32_t words;          /* of a mask of SMs */
	uint32_t tasks;          /* task slots */
	uint32_t cta_slots;
	uint32_t workgroup_items;
	uint32_t private_bytes;
	uint32_t item_private;   /* of that for one work-item */
	uint32_t shared_blocks;
	uint32_t shared_shift;   /* log2 of bytes in a shared block */
	uint32_t scalar_blocks;
	uint32_t vector_blocks;
	uint32_t barriers;
	uint32_t peus;
	uint32_t peu_waves;
	uint32_t max_queues;
	uint32_t max_contexts;
	uint32_t max_rsbs;
	uint32_t ring_min, ring_max;
	uint32_t vectors;
	uint32_t ticks_per_us;   /* of the timer */
	uint64_t reserved_bytes;
};
extern struct fw_limits fw;

/** fw_limits_init() - copy what is needed out of the discovery data. False: the card makes no sense. */
bool fw_limits_init(const struct tutti_discovery *discovery);

/** struct attention - not 0: something is to be done that is not part of every event. */
struct attention {
	uint32_t settle;  /* ATTEND_*, after the event */
	uint32_t idle;    /* before the firmware sleeps */
};
extern struct attention attention;

#define ATTEND_READY 1u    /* queues are ready to run */
#define ATTEND_ROOM 2u     /* something waits for room in the command ring */
#define ATTEND_BARRIER 4u  /* queues are parked at barrier packets */
#define ATTEND_TMAU 8u     /* tensor requests are left */
#define ATTEND_CHILD 16u   /* child tasks wait for a kernel descriptor or a shape */
#define ATTEND_CGA 32u     /* tasks whose CGAs will never fit */
#define ATTEND_ENDED 64u   /* kernels of queues have ended */
#define ATTEND_SUSPEND 128u /* a queue may have become quiet while the card is being suspended */
#define ATTEND_FAULT 256u  /* a tensor request was refused: its task fails */
#define ATTEND_MIRROR 1u   /* reference buffers have changed */
#define ATTEND_CHANNEL 2u  /* requests or messages are left */

/*
 * struct place_state.detours: why kernels do not take the short way. Each bit is looked at by completions, by launches, or
 * by both; the masks are such that one instruction makes each.
 */
#define DETOUR_ISSUE 1u        /* tasks have CTAs to issue: completions */
#define DETOUR_PENDING 2u      /* tasks wait for a slot: completions */
#define DETOUR_WAITERS 4u      /* queues wait for a slot or a shape: completions */
#define DETOUR_BESIDE 8u       /* what is free beside other shapes is kept (mixed_shapes.h): completions */
#define DETOUR_ROUND_ROBIN 16u /* TUTTI_POLICY_ISSUE: launches */
#define DETOUR_DRAIN 32u       /* a task that was passed over too often has the card to itself: launches */
#define DETOUR_THROTTLE 64u    /* throttle mode, or on the way to it or back: both */
#define DETOUR_STATE 128u      /* always on cards whose SMs acknowledge task states (tasks/state_sync.h): launches */
/* a shape's own lake may not be the truth: both */
#define DETOUR_SHAPES 256u     /* enable table or cap differ from what the lakes hold */
#define DETOUR_HOLDING 512u    /* see struct shape_state.held */
#define DETOUR_TAINTED (1u << 16) /* see struct shape_state.tainted */
#define DETOUR_ROWS_LEAD (1u << 31) /* CGAs of one shape are all that is resident, and its lake does not know of them: the
				       rows of gpc_slots.h do */

#define DETOUR_ENDS ~(DETOUR_ROUND_ROBIN | DETOUR_DRAIN | DETOUR_STATE)
#define DETOUR_LAUNCHES ~(DETOUR_ISSUE | DETOUR_PENDING | DETOUR_WAITERS | DETOUR_BESIDE)
#define DETOUR_LAKES (DETOUR_LAUNCHES & ~(DETOUR_ROUND_ROBIN | DETOUR_DRAIN | DETOUR_THROTTLE | DETOUR_STATE))

/** struct place_state - policies, and what keeps kernels from the short way. */
struct place_state {
	union {
		uint32_t detours;       /* DETOUR_* */
		struct {
			uint8_t others[2];
			uint8_t any_tainted; /* DETOUR_TAINTED, a byte of its own: set by one store */
		};
	};
	uint8_t level_search;   /* TUTTI_POLICY_LEVEL_SEARCH: enum lake_search */
	uint8_t choice;         /* TUTTI_POLICY_CHOICE: TUTTI_CHOICE_*, 0 = water filling */
	uint32_t round_next;    /* position after the last that received a CTA */
	uint32_t message_words; /* room a placement may need */
	uint32_t free_words;    /* free words of the ring that make command_room() true for it and a kernel */
	bool blocked;           /* the rounds wait for room in the command ring */
};
extern struct place_state place_state;

/** state_detour() - reason @bit counts from now on, or no longer. */
static inline void state_detour(uint32_t bit, bool on)
{
	place_state.detours = on ? place_state.detours | bit : place_state.detours & ~bit;
}

/** state_retry() - something found no room now: after the event, or when there is room, the rounds look at it again. */
static inline void state_retry(void)
{
	place_state.blocked = true;
	attention.settle |= ATTEND_ROOM;
}

/* Outcomes of working on a packet; positive: TUTTI_ERROR_* */
#define PACKET_DONE 0
#define PACKET_PARKED (-1)
#define PACKET_SPECIAL (-2) /* has metadata, or its kernel CGAs: launch_special() */

/** struct packet_error - details of the last refused packet. */
struct packet_error {
	uint32_t field;   /* byte or unit */
	uint32_t kernel;
	uint32_t cause;
	uint64_t address;
	uint8_t engine, access;
};
extern struct packet_error packet_error;

/** packet_refuse() - note where the fault lies; returns @code. */
int packet_refuse(int code, uint32_t field);

#endif

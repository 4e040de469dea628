/* SPDX-License-Identifier: MIT */
/**
 * DOC: Mutable state that units in several folders read and write
 *
 * All other state belongs to one unit. This header holds the limits that are copied once at boot (fw), the bits by
 * which a lower unit tells the event loop that there is more to do (attention), and the conditions under which a
 * kernel may take the fast path through launch and completion (place_state). The records of queues and tasks have
 * headers of their own, queue_record.h and task_record.h, but their storage is in state.c as well.
 */
#ifndef STATE_H
#define STATE_H

#include "core/base.h"

/** struct fw_limits - the discovery data that checks need, copied once at boot. */
struct fw_limits {
	uint32_t sms;
	uint32_t words;          /* 32-bit words in a mask of SMs */
	uint32_t tasks;          /* task slots */
	uint32_t cta_slots;
	uint32_t workgroup_items;
	uint32_t item_private;   /* the most private memory of one work-item */
	uint32_t shared_blocks;  /* of an SM */
	uint32_t cta_shared;     /* most shared blocks of a CTA: more while packet_special() decodes for throttle mode */
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
	uint32_t ticks_per_us;   /* timer ticks per microsecond */
	uint64_t reserved_bytes;
};
extern struct fw_limits fw;

/** fw_limits_init() - copy the limits out of the discovery data. Return: false if the firmware cannot run this card */
bool fw_limits_init(const struct tutti_discovery *discovery);

/** struct attention - work that is not part of every event; a word is 0 while there is none. */
struct attention {
	uint32_t settle;  /* ATTEND_READY to ATTEND_TURNS: to be done after the current event */
	uint32_t idle;    /* ATTEND_MIRROR, ATTEND_CHANNEL: to be done before the firmware sleeps */
};
extern struct attention attention;

#define ATTEND_READY 1u    /* queues are ready to run */
#define ATTEND_ROOM 2u     /* a queue or unit waits for room in the command ring */
#define ATTEND_BARRIER 4u  /* queues are parked at barrier packets */
#define ATTEND_TMAU 8u     /* tensor requests remain to be served */
#define ATTEND_CHILD 16u   /* child tasks wait for a kernel descriptor or a shape */
#define ATTEND_CGA 32u     /* there are tasks whose CGAs can never fit the card */
#define ATTEND_ENDED 64u   /* kernels of queues have ended */
#define ATTEND_SUSPEND 128u /* a queue may have become quiet while the card is being suspended */
#define ATTEND_FAULT 256u  /* a tensor request was refused, so its task must fail */
#define ATTEND_VISIT 512u  /* the visit has used up its steps (core/visit.h) */
#define ATTEND_TURNS 1024u /* the card is shared, so that clients take turns (queues/turns.h); it stays set */
#define ATTEND_MIRROR 1u   /* reference buffers have changed, so the copies that the driver reads are out of date */
#define ATTEND_CHANNEL 2u  /* requests from the host or messages to it are left */

/*
 * struct place_state.detours: the reasons why kernels do not take the fast path. Completions, launches or both test a
 * bit, as its comment says. The values are chosen so that one instruction can load each of the masks below.
 */
#define DETOUR_ISSUE 1u        /* completions: tasks have CTAs to issue */
#define DETOUR_PENDING 2u      /* completions: tasks wait for a slot */
#define DETOUR_WAITERS 4u      /* completions: queues wait for a slot or a shape */
#define DETOUR_BESIDE 8u       /* both: free slots were counted for CTAs of mixed shapes (mixed_shapes.h) */
#define DETOUR_ROUND_ROBIN 16u /* launches: TUTTI_POLICY_ISSUE chooses round robin */
#define DETOUR_CUT 32u         /* both: the issue rounds were cut short and go on in another visit (visit.h) */
#define DETOUR_THROTTLE 64u    /* both: the card is in throttle mode, or about to enter or leave it */
#define DETOUR_STATE 128u      /* launches: SMs acknowledge task states; always set then (tasks/task_start.h) */
/* Both test the following bits: the free slots counted in a shape's own lake (water_fill.h) may be wrong. */
#define DETOUR_SHAPES 256u     /* the enable table or the cap differ from those the lakes were made with */
#define DETOUR_HOLDING 512u    /* see struct shape_state.held */
#define DETOUR_TAINTED (1u << 16) /* see struct shape_state.tainted */
#define DETOUR_ROWS_LEAD (1u << 31) /* only CGAs of one shape are resident; the rows of gpc_slots.h count them, but the
				       shape's lake does not */

#define DETOUR_ENDS ~(DETOUR_ROUND_ROBIN | DETOUR_STATE)
#define DETOUR_LAUNCHES ~(DETOUR_ISSUE | DETOUR_PENDING | DETOUR_WAITERS)
#define DETOUR_LAKES (DETOUR_LAUNCHES & ~(DETOUR_BESIDE | DETOUR_ROUND_ROBIN | DETOUR_CUT | DETOUR_THROTTLE | DETOUR_STATE))

/** struct place_state - policies, and the conditions that keep kernels from the fast path. */
struct place_state {
	union {
		uint32_t detours;       /* DETOUR_* */
		struct {
			uint8_t others[2];
			uint8_t any_tainted; /* DETOUR_TAINTED: a byte of its own, so that one store sets it */
		};
	};
	uint32_t residents;     /* CTAs of all shapes on the card */
	uint8_t level_search;   /* TUTTI_POLICY_LEVEL_SEARCH: enum lake_search */
	uint8_t choice;         /* TUTTI_POLICY_CHOICE: TUTTI_CHOICE_*; 0 is water filling */
	uint32_t round_next;    /* round robin: position after the SM that received the last CTA */
	uint32_t message_words; /* most command words that one placement writes */
	uint32_t free_words;    /* free words that command_room() asks for before a placement and one launch */
	bool blocked;           /* the issue rounds wait for room in the command ring */
	bool any_independent;   /* a kernel with TUTTI_KERNEL_INDEPENDENT has been in the cache of descriptors */
};
extern struct place_state place_state;

/** state_detour() - reason @bit for leaving the fast path holds from now on, or no longer, as @on says. */
static inline void state_detour(uint32_t bit, bool on)
{
	place_state.detours = on ? place_state.detours | bit : place_state.detours & ~bit;
}

/** state_retry() - have the issue rounds try again after this event, or once the command ring has room. */
static inline void state_retry(void)
{
	place_state.blocked = true;
	attention.settle |= ATTEND_ROOM;
}

/* Outcomes of working on a packet; positive values are TUTTI_ERROR_* */
#define PACKET_DONE 0
#define PACKET_PARKED (-1)
#define PACKET_SPECIAL (-2) /* it has metadata, or is a reference to a kernel with KERNEL_WAVES */
#define PACKET_GROUPED (-3) /* its kernel has CGAs */

/** struct packet_error - details of the last refused packet. */
struct packet_error {
	uint32_t field;   /* offset of the offending byte, or number of the offending unit */
	uint32_t kernel;
	uint32_t cause;
	uint64_t address;
	uint8_t engine, access;
};
extern struct packet_error packet_error;

/**
 * packet_refuse() - note in which @field of the packet the fault lies, and forget all that was noted of an earlier one.
 * Who knows more adds it afterwards. Return: @code
 */
int packet_refuse(int code, uint32_t field);

#endif

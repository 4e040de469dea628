/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the firmware sees of the card
 *
 * Soft core: RV32IMC, machine mode, little endian, no interrupts: it takes
 * events from a ring and executes `ecall` when there is none. `ecall` is the idle
 * instruction: it returns (to the next instruction, all registers kept) when an
 * event is in the ring or commands have been taken. A core without such a unit
 * traps to the firmware's handler, which executes `wfi`. Any other trap goes to
 * mtvec with mcause, mepc and mtval set as usual. (spec SYS-04, SYS-09)
 *
 * Memory map
 *   0x00000000  local memory (code, data, scratch), local_bytes
 *   0x10000000  engine page: struct tutti_engines, plain memory that the engines watch
 *   0x10001000  device registers: reads and writes have effects, ~30 cycles each
 *   0x20000000  struct tutti_sm_state of each SM (sm_state.h), read-only
 *   0x40000000  control window (discovery, status, rings, ... doorbell pages excluded)
 *   0x80000000  card memory, first 1 GiB of it
 *
 * Commands (firmware to engines) are variable-length records of 32-bit words in
 * a ring in local memory; engines take them in order. Events (engines to
 * firmware) are 32-byte records in a ring in local memory: word 0 is written
 * last and is non-zero; firmware takes the record and writes word 0 back to 0,
 * which frees the slot. When the ring is full the engines wait; nothing is lost.
 * Card memory and host memory are reached only by commands and the window.
 */
#ifndef TUTTI_SOFTCORE_H
#define TUTTI_SOFTCORE_H

#include "types.h"

#define TUTTI_CORE_LOCAL 0x00000000u
#define TUTTI_CORE_ENGINES 0x10000000u
#define TUTTI_CORE_REGISTERS 0x10001000u
#define TUTTI_CORE_SMS 0x20000000u
#define TUTTI_CORE_CONTROL 0x40000000u
#define TUTTI_CORE_CARD 0x80000000u
#define TUTTI_CORE_CARD_BYTES 0x40000000u

/* Device registers, offsets from TUTTI_CORE_REGISTERS */
#define TUTTI_REG_TIME_LO 0x00u /* timer, low half; reading latches the high half */
#define TUTTI_REG_TIME_HI 0x04u
#define TUTTI_REG_HALT 0x08u    /* written: firmware gives up (crash record is complete) */
#define TUTTI_REG_CORE 0x0cu    /* number of this soft core */
#define TUTTI_REG_MARK 0x10u    /* written: profiling mark (bench and tests only) */

/**
 * struct tutti_engines - the engine page.
 *
 * Firmware sets ring bases and sizes once, before its first idle. Words marked
 * (fw) are the firmware's to write, (hw) the hardware's.
 */
struct tutti_engines {
	/* command ring */
	uint32_t command_base;   /* (fw) local address of uint32_t[command_words] */
	uint32_t command_words;  /* (fw) power of two */
	uint32_t command_tail;   /* (fw) words written, free running */
	uint32_t command_head;   /* (hw) words taken, free running */
	/* event ring */
	uint32_t event_base;     /* (fw) local address of struct tutti_event[event_slots] */
	uint32_t event_slots;    /* (fw) power of two */
	uint32_t pad0[2];
	/* mover ring */
	uint32_t mover_base;     /* (fw) local address of struct tutti_mover[mover_slots] */
	uint32_t mover_slots;    /* (fw) power of two */
	uint32_t mover_tail;     /* (fw) descriptors written, free running */
	uint32_t mover_head;     /* (hw) descriptors taken */
	/* request area: tensor requests, see struct tutti_tensor_call */
	uint32_t request_base;   /* (fw) local address of struct tutti_tensor_call[request_slots], 8-byte aligned */
	uint32_t request_slots;  /* (fw) 1 .. 256 */
	/*
	 * Doorbell indexes: before the DOORBELL event is delivered the low half of the index
	 * that was rung is stored here. The event ring only wakes; this says what was promised.
	 */
	uint32_t doorbell_index; /* (fw) local address of uint32_t[TUTTI_MAX_QUEUES], 0 = none */
	uint32_t mover_notice;   /* (fw) event MOVER_ROOM when mover_head becomes this */
	/* timer */
	uint32_t timer_lo;       /* (fw) event TIMER when the timer reaches this value; write hi last */
	uint32_t timer_hi;       /* (fw) ~0 = off; hardware sets it to ~0 when it has fired */
	uint32_t time_lo;        /* (hw) timer when the newest event was delivered */
	uint32_t time_hi;
	/* doorbells */
	uint32_t doorbell_enable[TUTTI_MAX_QUEUES / 32]; /* (fw) queues whose doorbells are watched */
};
TUTTI_SIZE(struct tutti_engines, 112);
TUTTI_AT(struct tutti_engines, command_base, 0);
TUTTI_AT(struct tutti_engines, command_words, 4);
TUTTI_AT(struct tutti_engines, command_tail, 8);
TUTTI_AT(struct tutti_engines, command_head, 12);
TUTTI_AT(struct tutti_engines, event_base, 16);
TUTTI_AT(struct tutti_engines, event_slots, 20);
TUTTI_AT(struct tutti_engines, pad0, 24);
TUTTI_AT(struct tutti_engines, mover_base, 32);
TUTTI_AT(struct tutti_engines, mover_slots, 36);
TUTTI_AT(struct tutti_engines, mover_tail, 40);
TUTTI_AT(struct tutti_engines, mover_head, 44);
TUTTI_AT(struct tutti_engines, request_base, 48);
TUTTI_AT(struct tutti_engines, request_slots, 52);
TUTTI_AT(struct tutti_engines, doorbell_index, 56);
TUTTI_AT(struct tutti_engines, mover_notice, 60);
TUTTI_AT(struct tutti_engines, timer_lo, 64);
TUTTI_AT(struct tutti_engines, timer_hi, 68);
TUTTI_AT(struct tutti_engines, time_lo, 72);
TUTTI_AT(struct tutti_engines, time_hi, 76);
TUTTI_AT(struct tutti_engines, doorbell_enable, 80);
#define TUTTI_TIMER_OFF 0xffffffffu

/*
 * Commands. Word 0: op in bits 7..0, length of the record in words (with word 0)
 * in bits 15..8, op-dependent bits 31..16 (`sub`). A record never wraps: the
 * firmware fills the rest of the ring with one NOP record.
 */
#define TUTTI_COMMAND(op, words, sub) \
	((uint32_t)(op) | ((uint32_t)(words) << 8) | ((uint32_t)(sub) << 16))

enum tutti_command {
	TUTTI_CMD_NOP = 0,   /* length in bits 31..8 */
	/*
	 * FENCE: sub = scope | 4 for release, | 8 for acquire. Done before later
	 * commands start. Acquire also drops stale lines of SM caches.
	 */
	TUTTI_CMD_FENCE = 1, /* 1 word */
	/*
	 * FETCH: sub = tag (16 bits). words: [1] asid | flags << 16, [2] address low,
	 * [3] high, [4] bytes (multiple of 4, at most 4096), [5] local address (4-byte aligned).
	 * Flag PACKETS: the area is packets; of each 64 bytes the first word is read
	 * first, with acquire order, then the rest. Event FETCH.
	 */
	TUTTI_CMD_FETCH = 2, /* 6 words */
	/*
	 * WRITE: sub = bytes (4 or 8) | flags. words: [1] asid | queue << 16,
	 * [2] address low, [3] high, [4] value low, [5] high. A release store.
	 */
	TUTTI_CMD_WRITE = 3, /* 6 words */
	/*
	 * SCRUB: retire packets of a ring: first word of each slot becomes INVALID
	 * (16-bit store of 1 at offset 0); sub bit 0: bytes 10..11 are cleared too,
	 * before. words: [1] asid | queue << 16, [2] address of first slot low, [3] high,
	 * [4] number of slots (contiguous).
	 */
	TUTTI_CMD_SCRUB = 4, /* 5 words */
	/*
	 * SIGNAL: decrement a signal by 1, atomically; if its waiters word is
	 * non-zero raise the MSI-X vector. sub = vector | 0x8000: also write end_time.
	 * sub | 0x4000: instead of the decrement the true value becomes TUTTI_SIGNAL_CANCELLED.
	 * words: [1] asid | queue << 16, [2] address low, [3] high. Failure: event POST_FAULT.
	 */
	TUTTI_CMD_SIGNAL = 5, /* 4 words */
	/* INTERRUPT: sub = MSI-X vector. */
	TUTTI_CMD_INTERRUPT = 6, /* 1 word */
	/*
	 * STATE: task state to SMs (spec TSK-05). words: struct tutti_task_state, then
	 * (TUTTI_STATE_CGA) struct tutti_cga_shape[TUTTI_CGA_LEVELS], innermost first; then
	 * (TUTTI_STATE_MASK) mask words for the SMs meant, else all. sub bits 15..8: task slot,
	 * below: TUTTI_STATE_*. A LAUNCH of the slot starts nothing on an SM that has not
	 * acknowledged the STATE before it: CTAs wait there, those of a CGA all together, and
	 * other tasks go on. sm_state.h shows where each SM is (TASK_ASSIGN, STATE_SYNC, CTA_LAUNCH).
	 */
	TUTTI_CMD_STATE = 7,
	/*
	 * LAUNCH: starts CTAs (spec CGA-16, CGA-19). sub bits 7..0 = task slot, 15..8 flags
	 * TUTTI_LAUNCH_*. words: if CGA: sequence | gpc_local_cga_id << 16 | gpc << 24, then
	 * lmem_blk_idx (~0 = none); if WORK: first item's index low, high, items of each CTA;
	 * then segments: one word repeat | first mask word << 16 |
	 * mask words << 24, then that many mask words; bit b of mask word w is the SM at
	 * position 32 w + b of the SM priority order. A segment starts `repeat` CTAs
	 * on each SM of its mask, mask after mask: in the order of CTA numbers, repeat
	 * copies of "one CTA on each SM of the mask, in order".
	 *
	 * CGA with gpc < TUTTI_GPC_NONE: the CTAs are (part of) the CGA with that id on that
	 * GPC: the outermost level of kind GPC or CPC, the one that has DSMEM, a barrier and
	 * ranks ("identity CGA"). Masks are GPC-local: one word, bit b is the b-th SM of the
	 * GPC in SM priority order; completions come as TUTTI_EVENT_CGA. All launches of
	 * one outermost CGA carry the same sequence number, the last END_OF_CGA, and none of
	 * its CTAs starts before that one was taken. gpc = TUTTI_GPC_NONE: a CGA that
	 * spans GPCs and has no identity CGA inside; masks and completions as for plain grids.
	 */
	TUTTI_CMD_LAUNCH = 8,
	/* KILL: sub = task slot. Stops its CTAs; each is reported in CTA events as usual, then event KILLED. */
	TUTTI_CMD_KILL = 9, /* 1 word */
	/* CONTEXT: sub = asid. words: [1] root low, [2] high (0 = context gone), [3] print ring low, [4] high. */
	TUTTI_CMD_CONTEXT = 10, /* 5 words */
	/* TLB: sub = asid; bit 15: code changed as well. words: [1] address low, [2] high, [3] bytes low, [4] high (0 = all). */
	TUTTI_CMD_TLB = 11, /* 5 words */
	/* ORDER: SM priority order. words: [1] first position, then SM numbers, two per word, low half first. */
	TUTTI_CMD_ORDER = 12,
	/* TRACE: a record of the firmware's (trace.h). sub = kind. words: [1] queue, [2] argument. */
	TUTTI_CMD_TRACE = 13, /* 3 words */
	/*
	 * FLUSH: sub = gpc | TUTTI_FLUSH_* << 8. words: [1] cga id or lmem slot, [2] GPC-local
	 * mask of the SMs meant. Event FLUSHED, one or more. DSMEM: all CTAs of the CGA have
	 * completed; its id is free when every SM that ran one has answered. LMEM: the slot is cleared.
	 */
	TUTTI_CMD_FLUSH = 14, /* 3 words */
	/*
	 * THROTTLE: shared memory of SMs (spec TSK-07). sub = 1 on, 0 off. words: [1] shared blocks each
	 * SM of the mask may use while on, [2..] mask words by position, from word 0. Needs
	 * SMs without CTAs. Event THROTTLE when all have answered.
	 */
	TUTTI_CMD_THROTTLE = 15,
	/* REPLY to a wave that waits for an SM request: words: [1] sm | wave << 16, [2] low, [3] high of a0. */
	TUTTI_CMD_REPLY = 16, /* 4 words */
	/*
	 * SM_MODE: sub bits 7..0 = TUTTI_SM_*, for all SMs, until the next one; 15..8 = log2 of
	 * the window of struct tutti_sm_state.recent in timer ticks. Rotated split: later
	 * LAUNCHes put wave i of a CTA on PEU (split + 1 + i) % peus, split being the PEU that
	 * got the SM's last one; else each wave goes to the PEU with most free wave slots
	 * that has room. (spec RES-12)
	 */
	TUTTI_CMD_SM_MODE = 17, /* 1 word */
	/*
	 * TASK: STATE for all SMs of a state that lies in memory, that of a stored reference. sub
	 * bits 15..8: task slot; 7..0: scope of an acquire fence before it (0 none) |
	 * TUTTI_TASK_*. words: [1] address, as the soft core sees it (local memory or card memory), of the
	 * first TUTTI_TASK_WORDS words of a struct tutti_task_state, [2] asid | queue << 16, [3] packet low, [4] high;
	 * TUTTI_TASK_NEW_GRID: grid_x, groups_x; TUTTI_TASK_NEW_KERNARG: kernarg low, high in place of
	 * those there. @first and @tmd are 0. The state is read before the record counts as taken.
	 */
	TUTTI_CMD_TASK = 18, /* 5, 7 or 9 words */
};

#define TUTTI_FETCH_PACKETS 1u
#define TUTTI_FENCE_RELEASE 4u
#define TUTTI_FENCE_ACQUIRE 8u
#define TUTTI_SIGNAL_TIMES 0x8000u
#define TUTTI_SIGNAL_CANCEL 0x4000u

#define TUTTI_LAUNCH_CGA 1u
#define TUTTI_LAUNCH_END_OF_CGA 2u
#define TUTTI_LAUNCH_WORK 4u
#define TUTTI_GPC_NONE 0xffu

#define TUTTI_STATE_MASK 1u
#define TUTTI_STATE_ACK 2u /* event STATE when all SMs meant have acknowledged */
#define TUTTI_STATE_CGA 4u
/*
 * CTAs of this slot are launched wave by wave (spec RES-07): launch number n, counted from
 * @first, is wave n % waves of CTA n / waves, takes the registers and wave slot of one wave
 * and a CTA slot, and completes by itself. Not with shared memory, barriers or CGAs.
 */
#define TUTTI_STATE_SPLIT 8u

#define TUTTI_TASK_WORDS 18u /* of struct tutti_task_state: what is the same for every launch of a kernel */
#define TUTTI_TASK_NEW_GRID 8u
#define TUTTI_TASK_NEW_KERNARG 16u

#define TUTTI_SM_TABLE 1u  /* keep the table of SM states (sm_state.h) current */
#define TUTTI_SM_UPDATE 2u /* bring it and the host's copy up to date once */
#define TUTTI_SM_ROTATE 4u /* rotated split of waves */

#define TUTTI_FLUSH_DSMEM 0u
#define TUTTI_FLUSH_LMEM 1u

/**
 * struct tutti_task_state - what every SM must know of a task before its CTAs.
 *
 * CTA i of the grid has coordinates x = i % groups_x and so on; SMs count
 * launches themselves, starting from @first (spec CGA-19, CGA-22).
 */
struct tutti_task_state {
	/* the same for every launch of a kernel: TUTTI_TASK_WORDS, also the start of struct tutti_reference */
	uint64_t entry;
	uint64_t kernarg;
	uint32_t groups_x;
	uint32_t groups_y;
	uint32_t groups_z;
	uint32_t grid_x;
	uint32_t grid_y;
	uint32_t grid_z;
	uint16_t workgroup_x;
	uint16_t workgroup_y;
	uint16_t workgroup_z;
	uint16_t waves;
	uint32_t shared_bytes;
	uint32_t private_bytes;  /* per wave */
	uint16_t scalar_blocks;  /* per wave */
	uint16_t vector_blocks;
	uint16_t shared_blocks;  /* per CTA */
	uint16_t barriers;
	uint16_t cga_x;          /* CTAs of the identity CGA (see LAUNCH), 0 = none */
	uint16_t cga_y;
	uint16_t cga_z;
	uint16_t dimensions;
	/* of one launch */
	uint16_t asid;
	uint16_t queue;
	uint32_t first;          /* CTAs of this grid launched before, by anyone */
	uint64_t tmd;
	uint64_t packet;         /* packet index, for reports */
};
TUTTI_SIZE(struct tutti_task_state, 96);
TUTTI_AT(struct tutti_task_state, entry, 0);
TUTTI_AT(struct tutti_task_state, kernarg, 8);
TUTTI_AT(struct tutti_task_state, groups_x, 16);
TUTTI_AT(struct tutti_task_state, groups_y, 20);
TUTTI_AT(struct tutti_task_state, groups_z, 24);
TUTTI_AT(struct tutti_task_state, grid_x, 28);
TUTTI_AT(struct tutti_task_state, grid_y, 32);
TUTTI_AT(struct tutti_task_state, grid_z, 36);
TUTTI_AT(struct tutti_task_state, workgroup_x, 40);
TUTTI_AT(struct tutti_task_state, workgroup_y, 42);
TUTTI_AT(struct tutti_task_state, workgroup_z, 44);
TUTTI_AT(struct tutti_task_state, waves, 46);
TUTTI_AT(struct tutti_task_state, shared_bytes, 48);
TUTTI_AT(struct tutti_task_state, private_bytes, 52);
TUTTI_AT(struct tutti_task_state, scalar_blocks, 56);
TUTTI_AT(struct tutti_task_state, vector_blocks, 58);
TUTTI_AT(struct tutti_task_state, shared_blocks, 60);
TUTTI_AT(struct tutti_task_state, barriers, 62);
TUTTI_AT(struct tutti_task_state, cga_x, 64);
TUTTI_AT(struct tutti_task_state, cga_y, 66);
TUTTI_AT(struct tutti_task_state, cga_z, 68);
TUTTI_AT(struct tutti_task_state, dimensions, 70);
TUTTI_AT(struct tutti_task_state, asid, 72);
TUTTI_AT(struct tutti_task_state, queue, 74);
TUTTI_AT(struct tutti_task_state, first, 76);
TUTTI_AT(struct tutti_task_state, tmd, 80);
TUTTI_AT(struct tutti_task_state, packet, 88);

/*
 * Events. Word 0: type in bits 7..0 (non-zero), op-dependent bits 31..8.
 */
enum tutti_event_type {
	TUTTI_EVENT_NONE = 0,
	TUTTI_EVENT_DOORBELL = 1, /* [0] 15..8: number of words; words [1..7]: 32-bit masks pairs: see below */
	TUTTI_EVENT_MESSAGE = 2,  /* host ring has messages, or the boot word changed */
	TUTTI_EVENT_TIMER = 3,
	TUTTI_EVENT_FETCH = 4,    /* [0] 31..16: tag, [0] 15..8: cause (TUTTI_CAUSE_*, 0 = done), [1] address low, [2] high of the fault */
	/*
	 * CTA: completions. [0] 15..8: task slot, 23..16: first mask word, 31..24: mask words
	 * (1..5); [1]: repeat: each SM of the mask completed so many CTAs; [2]: CTAs in this
	 * event in all; [3..7]: mask words (positions of the SM priority order).
	 */
	TUTTI_EVENT_CTA = 5,
	/*
	 * FAULT of a wave: [0] 15..8: task slot, 23..16: cause, 31..24: access; [1] sm | wave << 16;
	 * [2..3] pc, [4..5] address, [6] engine. The wave's CTA stays until killed.
	 */
	TUTTI_EVENT_FAULT = 6,
	TUTTI_EVENT_KILLED = 7,     /* [0] 15..8: task slot: no CTA of it is left; [1] sm | wave << 16 and [2..3] pc of one wave that was running ([1] = ~0: none) */
	TUTTI_EVENT_POST_FAULT = 8, /* WRITE, SCRUB or SIGNAL failed: [0] 15..8: cause, 31..16: queue; [1..2] address */
	TUTTI_EVENT_STATE = 9,      /* STATE acknowledged: [0] 15..8: task slot */
	TUTTI_EVENT_MOVER = 10,     /* descriptor without CALL: [0] 31..16: tag, 15..8: cause; [1..2] address */
	TUTTI_EVENT_REQUEST = 11,   /* SM request: [0] 15..8: task slot, 31..16: service; [1] sm | wave << 16; [2] slot of the request area (TENSOR); [3] a0 low, [4] high, [5] a1 low, [6] high, [7] a2 low */
	TUTTI_EVENT_FLUSHED = 12,   /* [0] 15..8: gpc, 23..16: TUTTI_FLUSH_*; [1] id or slot; [2] mask of the SMs that have answered now */
	TUTTI_EVENT_THROTTLE = 13,  /* [0] 15..8: 1 on, 0 off */
	TUTTI_EVENT_BARRIER = 14,
	/*
	 * CGA: completions of CTAs of one identity CGA. [0] 15..8: task slot, 23..16: gpc,
	 * 31..24: gpc_local_cga_id; [1] repeat; [2] CTAs in this event; [3] GPC-local mask.
	 */
	TUTTI_EVENT_CGA = 15,
	/*
	 * CGA_FAULT: access to an exited CTA or past its segment, found by the target (spec CGA-27).
	 * [0] 15..8: gpc, 23..16: id, 31..24: cause; [1] SM of the target; [2] rank | offset << 8. No pc.
	 */
	TUTTI_EVENT_CGA_FAULT = 16,
	TUTTI_EVENT_MOVER_ROOM = 17, /* mover_head has reached mover_notice */
};
/*
 * DOORBELL: [0] 15..8: first 32-queue word; [1]: mask of queues rung in it (bit b =
 * queue 32 * word + b). One event per word of queues.
 */

/** struct tutti_event - one slot of the event ring. */
struct tutti_event {
	uint32_t word[8];
};
TUTTI_SIZE(struct tutti_event, 32);
TUTTI_AT(struct tutti_event, word, 0);

#endif

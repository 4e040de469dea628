/* SPDX-License-Identifier: MIT */
/**
 * DOC: What the firmware sees of the card
 *
 * The firmware runs on a soft core beside the card's engines. It tells the engines what to
 * do through a ring of commands and hears of what happens through a ring of events;
 * both rings lie in the core's local memory. It never handles an interrupt.
 * include/HARDWARE.md says the same from the point of view of who builds the core.
 * (spec SYS-04, SYS-09)
 *
 * Core: RV32IMC with Zicsr, machine mode, little endian. Of the CSRs the firmware uses
 * mtvec, mscratch, mcause, mepc, mtval and mie, of the privileged instructions mret and
 * wfi. No atomics (A), no counters, no fence.i, no misaligned access.
 *
 * Idle: `ecall` is the idle instruction. On a core that has the idle unit it waits until the
 * event ring is not empty and then goes on with the next instruction, all registers
 * kept; it does not wait at all if the ring is not empty. On any other core it traps
 * (mcause 11) to the firmware's handler, which executes `wfi`. Events wake the core, nothing
 * else needs to; waking it for no reason is allowed.
 *
 * Memory map
 *   0x00000000  local memory: code, data and stack, tutti_discovery.local_bytes
 *   0x10000000  engine page: struct tutti_engines, memory that the engines watch; words only
 *   0x10001000  device registers: reads and writes have effects; words only, about 30 cycles each
 *   0x20000000  struct tutti_sm_state of each SM (sm_state.h), read-only
 *   0x40000000  control window up to the doorbell pages
 *   0x80000000  card memory, the first 1 GiB of it
 * An access anywhere else is an access fault (mcause 1, 5 or 7): between these areas, and above the last one, where a
 * stack that grows below address 0 ends up.
 *
 * Commands (firmware to engines) are records of 32-bit words, of different length. The
 * engines take them in order, and command_head says how far they are. That they have been taken
 * is not an event: a firmware that waits for room writes a FETCH and waits for its event.
 *
 * Events (engines to firmware) are records of 32 bytes. Word 0 is never 0 and is written
 * last. The firmware frees a slot by writing 0 to its word 0, once for each event and in their
 * order. While the ring is full the engines wait; no event is lost.
 *
 * Host memory is reached by commands only, card memory by commands and through its window.
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
#define TUTTI_REG_TIME_LO 0x00u /* timer, low half; reading it keeps the high half for TIME_HI */
#define TUTTI_REG_TIME_HI 0x04u /* timer, high half as of the last read of TIME_LO */
#define TUTTI_REG_HALT 0x08u    /* written: the firmware gives up; its crash record and status are complete */
#define TUTTI_REG_CORE 0x0cu    /* number of this soft core, 0 for the first */
#define TUTTI_REG_MARK 0x10u    /* written: a mark for profilers; hardware ignores it */

/**
 * struct tutti_engines - the engine page.
 *
 * Words marked (fw) are written by the firmware, those marked (hw) by the hardware, which leaves all
 * others alone; only @timer_hi is written by both. When the core starts all words are 0 except for
 * @timer_hi, which is TUTTI_TIMER_OFF, and the time. The firmware sets the bases and sizes of the rings
 * once. Rings of size 0 are not there yet: nothing is put into them or taken out of them.
 *
 * Head and tail count words (or slots) ever taken and written, modulo 2^32; they are equal when
 * the ring is empty. The engines may read a ring as soon as the tail says so.
 *
 * Timer. When the card's timer has reached @timer_hi:@timer_lo, and @timer_hi is not TUTTI_TIMER_OFF,
 * the hardware waits for a free event slot, writes TUTTI_TIMER_OFF to @timer_hi and then puts a TIMER
 * event. To set it, the firmware writes TUTTI_TIMER_OFF to @timer_hi, then @timer_lo, then @timer_hi; a time that
 * has passed fires at once. When both write @timer_hi in the same cycle either may win, because a
 * TIMER event follows and the firmware sets the timer anew after each of them.
 *
 * Time. @time_lo and @time_hi are the timer, at most as old as the newest event; the hardware may let them
 * run. They change in the same cycle. As reading them takes two instructions the firmware reads
 * @time_hi, @time_lo and @time_hi, again if the high words differ; for differences @time_lo is enough.
 */
struct tutti_engines {
	/* command ring */
	uint32_t command_base;   /* (fw) local address of uint32_t[command_words], 4-byte aligned */
	uint32_t command_words;  /* (fw) power of two */
	uint32_t command_tail;   /* (fw) words written */
	uint32_t command_head;   /* (hw) words taken, whole records */
	/* event ring */
	uint32_t event_base;     /* (fw) local address of struct tutti_event[event_slots], 4-byte aligned */
	uint32_t event_slots;    /* (fw) power of two */
	uint32_t pad0[2];
	/* mover ring */
	uint32_t mover_base;     /* (fw) local address of struct tutti_mover[mover_slots], 8-byte aligned */
	uint32_t mover_slots;    /* (fw) power of two */
	uint32_t mover_tail;     /* (fw) descriptors written */
	uint32_t mover_head;     /* (hw) descriptors taken */
	/* request area: tensor requests of waves, see struct tutti_tensor_call */
	uint32_t request_base;   /* (fw) local address of struct tutti_tensor_call[request_slots], 8-byte aligned */
	uint32_t request_slots;  /* (fw) 1 to 256, any number */
	/*
	 * Where the low half of the newest index rung on each queue's doorbell is stored, before the DOORBELL
	 * event is put. The event only wakes; the index says how many packets were promised.
	 */
	uint32_t doorbell_index; /* (fw) local address of uint32_t[TUTTI_MAX_QUEUES], 0 = they are not wanted */
	uint32_t mover_notice;   /* (fw) a MOVER_ROOM event is put when mover_head becomes this */
	/* timer, see above */
	uint32_t timer_lo;       /* (fw) */
	uint32_t timer_hi;       /* (fw, hw) */
	uint32_t time_lo;        /* (hw) */
	uint32_t time_hi;        /* (hw) */
	/* doorbells */
	uint32_t doorbell_enable[TUTTI_MAX_QUEUES / 32]; /* (fw) bit mask of the queues whose doorbells are watched */
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

/** TUTTI_TIMER_OFF - struct tutti_engines.timer_hi: the timer is off. */
#define TUTTI_TIMER_OFF 0xffffffffu

/**
 * TUTTI_COMMAND() - word 0 of a command.
 *
 * The operation in bits 7..0, the length of the record in words (word 0 included) in bits 15..8, and
 * in bits 31..16 what the operation makes of them, called "sub" below. A record does not wrap
 * around the end of the ring: the firmware fills the rest with NOPs.
 */
#define TUTTI_COMMAND(op, words, sub) \
	((uint32_t)(op) | ((uint32_t)(words) << 8) | ((uint32_t)(sub) << 16))

/**
 * enum tutti_command - operations; [n] is word n of the record, "low, high" are the halves of 64 bits.
 *
 * Addresses belong to the address space asid (mmu.h). A "task slot" is one of the task_slots places
 * for tasks whose state the SMs hold. An SM's "position" is its place in the SM priority order (ORDER).
 */
enum tutti_command {
	/* NOP: skipped. sub = 0; like every record it is at most 255 words long. */
	TUTTI_CMD_NOP = 0,
	/*
	 * FENCE: sub = TUTTI_SCOPE_* | TUTTI_FENCE_RELEASE | TUTTI_FENCE_ACQUIRE. It is complete before later
	 * commands start. Acquire also drops stale lines of the SMs' caches.
	 */
	TUTTI_CMD_FENCE = 1, /* 1 word */
	/*
	 * FETCH: read memory into local memory. sub = tag, any 16 bits. [1] asid | flags << 16, [2..3] address low,
	 * high, [4] bytes (a multiple of 4, at most 4096), [5] local address (4-byte aligned).
	 * Flag TUTTI_FETCH_PACKETS: the area holds packets; of each 64 bytes the first word is read first,
	 * with acquire order, then the rest. Ends with an event FETCH.
	 */
	TUTTI_CMD_FETCH = 2, /* 6 words */
	/*
	 * WRITE: a release store. sub = bytes, 4 or 8. [1] asid | queue << 16, [2..3] address low, high, [4..5]
	 * value low, high. Failure: event POST_FAULT, which names the queue.
	 */
	TUTTI_CMD_WRITE = 3, /* 6 words */
	/*
	 * SCRUB: retire packets of a ring: the first 16 bits of each slot become TUTTI_PACKET_INVALID; with sub bit 0
	 * bytes 10..11 are cleared before. [1] asid | queue << 16, [2..3] address of the first slot low, high, [4]
	 * number of slots, which follow each other. Failure: event POST_FAULT.
	 */
	TUTTI_CMD_SCRUB = 4, /* 5 words */
	/*
	 * SIGNAL: decrement a signal by 1, atomically, and raise an interrupt if its @waiters is not 0 then.
	 * sub = MSI-X vector | TUTTI_SIGNAL_TIMES: write end_time before | TUTTI_SIGNAL_CANCEL: the value becomes
	 * TUTTI_SIGNAL_CANCELLED instead. [1] asid | queue << 16, [2..3] address low, high. Failure: event POST_FAULT.
	 */
	TUTTI_CMD_SIGNAL = 5, /* 4 words */
	/* INTERRUPT: raise MSI-X vector sub. */
	TUTTI_CMD_INTERRUPT = 6, /* 1 word */
	/*
	 * STATE: send the state of a task to SMs (spec TSK-05). sub = task slot << 8 | TUTTI_STATE_*. struct
	 * tutti_task_state; with TUTTI_STATE_CGA then struct tutti_cga_shape[TUTTI_CGA_LEVELS], innermost first;
	 * with TUTTI_STATE_MASK then a mask of the positions meant, else all SMs are. TASK_ASSIGN, STATE_SYNC and
	 * CTA_LAUNCH of each SM can be seen in struct tutti_sm_state.
	 *
	 * With TUTTI_FEATURE_ORDERED_STATES each SM takes what it is sent in order, so that it has the state when a
	 * LAUNCH behind the STATE reaches it: that order is the acknowledgement, and there is no event STATE. Without
	 * it SMs acknowledge every STATE and every TASK, and event STATE says when all SMs meant have done so; a
	 * LAUNCH of the slot before that is an error of the firmware, which the card stops with a crash record.
	 */
	TUTTI_CMD_STATE = 7,
	/*
	 * LAUNCH: start CTAs (spec CGA-16, CGA-19). sub = task slot | TUTTI_LAUNCH_* << 8. With TUTTI_LAUNCH_CGA:
	 * sequence number | gpc_local_cga_id << 16 | GPC << 24, then the index of the linear memory slot (~0 = none).
	 * With TUTTI_LAUNCH_WORK: index of the first item low, high, then items of each CTA. Then segments up to the
	 * end of the record: a word repeat | number of the first mask word << 16 | mask words << 24, and the mask
	 * words. Bit b of mask word w is the SM at position 32 w + b. A segment starts "repeat" CTAs on each SM of
	 * its mask; their numbers run through the mask, position by position, and then through it again.
	 *
	 * A CGA that has ranks, DSMEM and a barrier lies on one GPC: it is the outermost level of kind GPC or CPC
	 * (the "identity CGA"). Its launches name the GPC; their masks are one word, whose bit b is the b-th SM of
	 * that GPC in SM priority order, and its completions are events CGA. All launches of one outermost CGA carry
	 * the same sequence number and the last one TUTTI_LAUNCH_END_OF_CGA; none of its CTAs starts before that one
	 * was taken. With GPC TUTTI_GPC_NONE it is a CGA over several GPCs that has no identity CGA in it: masks and
	 * completions are those of plain grids.
	 */
	TUTTI_CMD_LAUNCH = 8,
	/*
	 * KILL: stop the CTAs of task slot sub. Their ends are told in CTA and CGA events as usual, then
	 * an event KILLED is put. It is the last event about those CTAs: a REQUEST or FAULT that
	 * came later would be blamed on the task that has the slot next.
	 */
	TUTTI_CMD_KILL = 9, /* 1 word */
	/*
	 * CONTEXT: sub = asid. [1..2] root of its page tables low, high (0 = it is gone), [3..4] print ring low,
	 * high.
	 */
	TUTTI_CMD_CONTEXT = 10, /* 5 words */
	/*
	 * TLB: forget translations. sub = asid | 0x8000 if code has changed too. [1..2] address low, high, [3..4] bytes
	 * (0 = all). It has ended, as a FENCE behind it shows, when no access by a translation from before is under way,
	 * and no walk of the page tables: the host frees pages and page tables right after.
	 */
	TUTTI_CMD_TLB = 11, /* 5 words */
	/* ORDER: SM priority order, from position [1] on: numbers of SMs, two in a word, low half first. */
	TUTTI_CMD_ORDER = 12,
	/* TRACE: write a trace record of the firmware's own (trace.h). sub = kind, [1] queue, [2] value. */
	TUTTI_CMD_TRACE = 13, /* 3 words */
	/*
	 * FLUSH: sub = GPC | TUTTI_FLUSH_* << 8. [1] gpc_local_cga_id, or index of the linear memory slot, [2]
	 * GPC-local mask of the SMs meant. Answered by one or more events FLUSHED. DSMEM: all CTAs of the CGA have
	 * completed; its id is free when every SM that ran one of them has answered. LMEM: the slot is cleared.
	 */
	TUTTI_CMD_FLUSH = 14, /* 3 words */
	/*
	 * THROTTLE: divide the shared memory of the SMs anew (spec TSK-07). sub = 1 on, 0 off. [1] blocks that each
	 * SM of the mask has while it is on, [2..] mask of positions from word 0 on. The SMs must not run CTAs. Event
	 * THROTTLE when all of them have answered.
	 */
	TUTTI_CMD_THROTTLE = 15,
	/* REPLY: answer a wave that waits for a service: [1] SM | wave << 16, [2..3] its a0 low, high. */
	TUTTI_CMD_REPLY = 16, /* 4 words */
	/*
	 * SM_MODE: how all SMs work from now on. sub = TUTTI_SM_* | log2 of the window of tutti_sm_state.recent, in
	 * timer ticks, << 8. With TUTTI_SM_ROTATE later LAUNCHes put wave i of a CTA on PEU (split + 1 + i) modulo
	 * the PEUs, split being the PEU that got the SM's last wave (spec RES-12); without it each wave goes to the
	 * PEU with most free wave slots that has the registers.
	 */
	TUTTI_CMD_SM_MODE = 17, /* 1 word */
	/*
	 * TASK: STATE to all SMs, of a state that lies in memory already: that of a stored reference. sub = task slot
	 * << 8 | scope of an acquire fence before it (0 = none) | TUTTI_TASK_*. [1] address, as the core sees it
	 * (local or card memory), of the first TUTTI_TASK_WORDS words of a struct tutti_task_state, [2] asid | queue
	 * << 16, [3..4] packet low, high; then with TUTTI_TASK_NEW_GRID grid_x and groups_x, with
	 * TUTTI_TASK_NEW_KERNARG kernarg low, high, in place of those there. @first and @tmd are 0. The state has
	 * been read when command_head is past the record.
	 */
	TUTTI_CMD_TASK = 18, /* 5, 7 or 9 words */
	/*
	 * BLOCK: store 1 to 8 consecutive values of 8 bytes within an aligned block of 64 bytes. The first one is stored
	 * last, by a release store: whoever sees it sees the others, too. sub = 0. [1] asid | queue << 16, [2..3] address
	 * of the first value low, high, [4..] the values, each low, high. Failure: event POST_FAULT, and nothing is stored.
	 */
	TUTTI_CMD_BLOCK = 19, /* 6, 8, ... 20 words */
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
#define TUTTI_STATE_CGA 4u
/*
 * The CTAs of this slot are launched wave by wave (spec RES-07). Launch number n, counted from tutti_task_state.first,
 * is wave n % waves of CTA n / waves; it takes a CTA slot and the registers and wave slot of one
 * wave, and completes by itself. Not with shared memory, barriers or CGAs.
 */
#define TUTTI_STATE_SPLIT 8u

#define TUTTI_TASK_WORDS 18u /* words of struct tutti_task_state that are the same for every launch of a kernel */
#define TUTTI_TASK_NEW_GRID 8u
#define TUTTI_TASK_NEW_KERNARG 16u

#define TUTTI_SM_TABLE 1u  /* keep the table of SM states (sm_state.h) current */
#define TUTTI_SM_UPDATE 2u /* bring it, the host's copy and the hardware's counters (counter.h) up to date once */
#define TUTTI_SM_ROTATE 4u /* rotate the waves of CTAs over the PEUs */

#define TUTTI_FLUSH_DSMEM 0u
#define TUTTI_FLUSH_LMEM 1u

/**
 * struct tutti_task_state - what every SM must know of a task before it gets CTAs of it.
 *
 * LAUNCH carries no coordinates. Every SM counts all CTAs of the task that are launched anywhere, beginning with
 * @first, and derives those of its own: CTA i has x = i % groups_x, y = i / groups_x % groups_y and so on
 * (spec CGA-19, CGA-22).
 */
struct tutti_task_state {
	/* the same for every launch of a kernel: TUTTI_TASK_WORDS words, also the start of struct tutti_reference */
	uint64_t entry;          /* address of the first instruction */
	uint64_t kernarg;        /* address of the arguments */
	uint32_t groups_x;       /* grid in CTAs */
	uint32_t groups_y;
	uint32_t groups_z;
	uint32_t grid_x;         /* grid in work-items */
	uint32_t grid_y;
	uint32_t grid_z;
	uint16_t workgroup_x;    /* work-items of a CTA */
	uint16_t workgroup_y;
	uint16_t workgroup_z;
	uint16_t waves;          /* waves of a CTA */
	uint32_t shared_bytes;   /* shared memory of a CTA */
	uint32_t private_bytes;  /* private memory of a wave */
	uint16_t scalar_blocks;  /* register blocks of a wave */
	uint16_t vector_blocks;
	uint16_t shared_blocks;  /* shared memory blocks of a CTA */
	uint16_t barriers;       /* barriers of a CTA */
	uint16_t cga_x;          /* CTAs of the identity CGA (see LAUNCH), 0 = none */
	uint16_t cga_y;
	uint16_t cga_z;
	uint16_t dimensions;     /* of the grid, 1 to 3 */
	/* of one launch */
	uint16_t asid;
	uint16_t queue;
	uint32_t first;          /* CTAs of this grid that were launched before, by anybody */
	uint64_t tmd;            /* address of its metadata, 0 = none */
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

/**
 * enum tutti_event_type - types of events, in bits 7..0 of word 0; [n] is word n, bits 31..8 are the type's own.
 */
enum tutti_event_type {
	TUTTI_EVENT_NONE = 0, /* the slot is free */
	/*
	 * DOORBELL: [0] 15..8: number w of a word of queues; [1] mask: bit b: queue 32 w + b was rung. One event for
	 * all queues of a word.
	 */
	TUTTI_EVENT_DOORBELL = 1,
	TUTTI_EVENT_MESSAGE = 2, /* the host has written messages */
	TUTTI_EVENT_TIMER = 3,   /* the timer has fired and is off */
	/* FETCH: [0] 31..16: tag, 15..8: TUTTI_CAUSE_*, 0 = all bytes are there; [1..2] address of a fault. */
	TUTTI_EVENT_FETCH = 4,
	/*
	 * CTA: completions of plain CTAs. [0] 15..8: task slot, 23..16: number of the first mask word, 31..24: mask
	 * words (1 to 5); [1] each SM of the mask has completed so many; [2] CTAs in this event; [3..7] mask of
	 * positions.
	 */
	TUTTI_EVENT_CTA = 5,
	/*
	 * FAULT of a wave: [0] 15..8: task slot, 23..16: TUTTI_CAUSE_*, 31..24: TUTTI_ACCESS_*; [1] SM | wave << 16;
	 * [2..3] pc; [4..5] address; [6] TUTTI_ENGINE_*. Its CTA stays until it is killed.
	 */
	TUTTI_EVENT_FAULT = 6,
	/*
	 * KILLED: [0] 15..8: task slot, no CTA of which is left; [1] SM | wave << 16 of a wave that was running (~0 =
	 * none), [2..3] its pc.
	 */
	TUTTI_EVENT_KILLED = 7,
	/* WRITE, BLOCK, SCRUB or SIGNAL failed: [0] 15..8: TUTTI_CAUSE_*, 31..16: queue; [1..2] address */
	TUTTI_EVENT_POST_FAULT = 8,
	/*
	 * STATE: [0] 15..8: task slot; [1] how many STATEs and TASKs of it all SMs meant have acknowledged since the
	 * last such event, whether or not the task was killed meanwhile.
	 */
	TUTTI_EVENT_STATE = 9,
	/* a descriptor without CALL has ended: [0] 31..16: tag, 15..8: TUTTI_CAUSE_*, 0 = done; [1..2] address */
	TUTTI_EVENT_MOVER = 10,
	/*
	 * REQUEST: a wave wants a service of the firmware (enum tutti_service). [0] 15..8: task slot, 31..16:
	 * service; [1] SM | wave << 16; TENSOR: [2] slot of the request area; others: [3..4] a0, [5..6] a1, [7] low
	 * half of a2.
	 */
	TUTTI_EVENT_REQUEST = 11,
	/*
	 * FLUSHED: [0] 15..8: GPC, 23..16: TUTTI_FLUSH_*; [1] id or slot; [2] mask of the SMs that have answered now.
	 */
	TUTTI_EVENT_FLUSHED = 12,
	TUTTI_EVENT_THROTTLE = 13, /* all SMs have answered: [0] 15..8: 1 on, 0 off */
	TUTTI_EVENT_BARRIER = 14,  /* not used */
	/*
	 * CGA: completions of CTAs of one identity CGA. [0] 15..8: task slot, 23..16: GPC, 31..24:
	 * gpc_local_cga_id; [1] each SM of the mask has completed so many; [2] CTAs in this event; [3] GPC-local mask.
	 */
	TUTTI_EVENT_CGA = 15,
	/*
	 * CGA_FAULT: an access to a CTA that has exited, or past the end of its segment, found by the target's SM and
	 * therefore without a pc (spec CGA-27). [0] 15..8: GPC, 23..16: id, 31..24: TUTTI_CAUSE_*; [1] SM of the
	 * target; [2] rank | offset << 8.
	 */
	TUTTI_EVENT_CGA_FAULT = 16,
	TUTTI_EVENT_MOVER_ROOM = 17, /* mover_head has become mover_notice */
};

/** struct tutti_event - one slot of the event ring; see above for @word. */
struct tutti_event {
	uint32_t word[8];
};
TUTTI_SIZE(struct tutti_event, 32);
TUTTI_AT(struct tutti_event, word, 0);

#endif

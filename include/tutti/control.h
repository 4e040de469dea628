/* SPDX-License-Identifier: MIT */
/**
 * DOC: Control window: boot, status, sleep, log, crash record, doorbells
 *
 * Plain memory, visible to host (BAR2) and soft core. Nothing here has a side
 * effect on being read or written (spec SYS-02); the host tells the card to look
 * by a *kick* (the interrupt of ivshmem, a function call in the in-process card,
 * nothing at all on a card with TUTTI_FEATURE_DOORBELL_WAKES).
 *
 * Sleep handshake. Card: store asleep = 1, full fence, look once more at
 * doorbells, host ring and boot word; work found: asleep = 0 and go on; else
 * sleep until kicked. Host: store doorbell (or ring tail), full fence, load
 * asleep; non-zero: kick. Neither side can miss the other.
 *
 * Boot. The host copies the firmware image to card memory (inside
 * reserved_bytes), fills @image_offset and @image_bytes, then stores a new
 * @boot_sequence and kicks. The card's loader resets the soft core, checks the
 * image (firmware.h), loads its segments, starts it at its entry and sets
 * boot_sequence in the status block to the same number with @state RUNNING
 * (written by the firmware itself) or FAILED and @boot_error.
 *
 * Stop. A boot request with @image_bytes 0 is how a driver stops the card (removal, shutdown,
 * function-level reset where the bus has none). As with every boot request the card first
 * resets all of itself: soft core, SMs, movers, page table roots, doorbell enables. Then it
 * finds no image: FAILED, boot_error BAD_SIZE. Once that state is seen no access to host memory
 * and no interrupt of the card's is in flight. Card memory keeps its contents, a reset
 * of the PCI function need not.
 */
#ifndef TUTTI_CONTROL_H
#define TUTTI_CONTROL_H

#include "types.h"

/** struct tutti_control - what the host says. Card never writes it. */
struct tutti_control {
	uint32_t boot_sequence;  /* changed by the host = please boot (0 = never) */
	uint32_t pad0;
	uint64_t image_offset;   /* of the firmware image in card memory */
	uint64_t image_bytes;
	uint32_t host_ring_tail; /* messages written by the host, free running */
	uint32_t card_ring_head; /* messages read by the host, free running */
	uint32_t heartbeat_us;   /* period wanted; 0 = default 10 ms */
	uint32_t trace_enable;   /* kinds wanted: bit TUTTI_TRACE_*, see trace.h */
	uint64_t trace_head;     /* trace records read by the host, free running */
	uint64_t pad1;
};
TUTTI_SIZE(struct tutti_control, 56);
TUTTI_AT(struct tutti_control, boot_sequence, 0);
TUTTI_AT(struct tutti_control, pad0, 4);
TUTTI_AT(struct tutti_control, image_offset, 8);
TUTTI_AT(struct tutti_control, image_bytes, 16);
TUTTI_AT(struct tutti_control, host_ring_tail, 24);
TUTTI_AT(struct tutti_control, card_ring_head, 28);
TUTTI_AT(struct tutti_control, heartbeat_us, 32);
TUTTI_AT(struct tutti_control, trace_enable, 36);
TUTTI_AT(struct tutti_control, trace_head, 40);
TUTTI_AT(struct tutti_control, pad1, 48);

/* struct tutti_status.state */
#define TUTTI_STATE_OFF 0u     /* no firmware */
#define TUTTI_STATE_LOADING 1u
#define TUTTI_STATE_RUNNING 2u
#define TUTTI_STATE_CRASHED 3u /* crash record is valid */
#define TUTTI_STATE_FAILED 4u  /* boot refused, see boot_error */

/** struct tutti_status - what the card says. Host never writes it. */
struct tutti_status {
	uint32_t state;             /* TUTTI_STATE_* */
	uint32_t boot_sequence;     /* of the boot this state belongs to */
	uint32_t boot_error;        /* TUTTI_IMAGE_* */
	uint32_t firmware_version;  /* TUTTI_VERSION */
	uint32_t contract_min;      /* range the firmware speaks */
	uint32_t contract_max;
	uint32_t asleep;            /* 1 = kick after doorbells and messages */
	uint32_t host_ring_head;    /* messages read by the card, free running */
	uint32_t card_ring_tail;    /* messages written by the card, free running */
	uint32_t trace_lost;        /* trace records dropped because the ring was full, free running */
	uint64_t heartbeat;         /* goes up while the firmware is well */
	uint64_t heartbeat_time;    /* timer value at the last beat */
	uint64_t trace_tail;        /* trace records written, free running */
};
TUTTI_SIZE(struct tutti_status, 64);
TUTTI_AT(struct tutti_status, state, 0);
TUTTI_AT(struct tutti_status, boot_sequence, 4);
TUTTI_AT(struct tutti_status, boot_error, 8);
TUTTI_AT(struct tutti_status, firmware_version, 12);
TUTTI_AT(struct tutti_status, contract_min, 16);
TUTTI_AT(struct tutti_status, contract_max, 20);
TUTTI_AT(struct tutti_status, asleep, 24);
TUTTI_AT(struct tutti_status, host_ring_head, 28);
TUTTI_AT(struct tutti_status, card_ring_tail, 32);
TUTTI_AT(struct tutti_status, trace_lost, 36);
TUTTI_AT(struct tutti_status, heartbeat, 40);
TUTTI_AT(struct tutti_status, heartbeat_time, 48);
TUTTI_AT(struct tutti_status, trace_tail, 56);

/** struct tutti_log - text log of the firmware; overwrites its oldest bytes. */
struct tutti_log {
	uint64_t head; /* bytes ever written, free running */
	uint32_t bytes; /* size of text[], a power of two */
	uint32_t pad0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* C++ knows flexible arrays as an extension only */
	char text[]; /* byte i of the stream is at i & (bytes - 1) */
#pragma GCC diagnostic pop
};
TUTTI_SIZE(struct tutti_log, 16);
TUTTI_AT(struct tutti_log, head, 0);
TUTTI_AT(struct tutti_log, bytes, 8);
TUTTI_AT(struct tutti_log, pad0, 12);
TUTTI_AT(struct tutti_log, text, 16);

/* struct tutti_crash.cause */
#define TUTTI_CRASH_NONE 0u
#define TUTTI_CRASH_TRAP 1u   /* the soft core trapped: cause_code is mcause */
#define TUTTI_CRASH_PANIC 2u  /* a firmware check failed: cause_code is its line */
#define TUTTI_CRASH_WATCHDOG 3u /* card hardware saw no event taken for too long */

/** struct tutti_crash - left by firmware (or card hardware) when it dies. */
struct tutti_crash {
	uint32_t cause;        /* TUTTI_CRASH_* */
	uint32_t cause_code;
	uint32_t pc;
	uint32_t ra;
	uint32_t sp;
	uint32_t tval;
	uint32_t queue;        /* queue being worked on, ~0 = none */
	uint32_t pad0;
	uint64_t packet;       /* packet index being worked on */
	uint64_t time;
	char text[64];         /* NUL-terminated */
	uint32_t x[32];        /* integer registers, best effort */
};
TUTTI_SIZE(struct tutti_crash, 240);
TUTTI_AT(struct tutti_crash, cause, 0);
TUTTI_AT(struct tutti_crash, cause_code, 4);
TUTTI_AT(struct tutti_crash, pc, 8);
TUTTI_AT(struct tutti_crash, ra, 12);
TUTTI_AT(struct tutti_crash, sp, 16);
TUTTI_AT(struct tutti_crash, tval, 20);
TUTTI_AT(struct tutti_crash, queue, 24);
TUTTI_AT(struct tutti_crash, pad0, 28);
TUTTI_AT(struct tutti_crash, packet, 32);
TUTTI_AT(struct tutti_crash, time, 40);
TUTTI_AT(struct tutti_crash, text, 48);
TUTTI_AT(struct tutti_crash, x, 112);

/**
 * struct tutti_doorbell_page - one page per queue, at doorbells.offset + id * 4096.
 * @doorbell: a mailbox. Host: store the index of the latest ready packet. Card:
 *	exchanges it with TUTTI_DOORBELL_EMPTY, so no ring is lost and a ring of the
 *	same value is seen again. It only wakes (spec PKT-05).
 */
struct tutti_doorbell_page {
	uint64_t doorbell;
	uint64_t pad[511];
};
TUTTI_SIZE(struct tutti_doorbell_page, 4096);
TUTTI_AT(struct tutti_doorbell_page, doorbell, 0);
TUTTI_AT(struct tutti_doorbell_page, pad, 8);
#define TUTTI_DOORBELL_EMPTY (~0ull)

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Control window: boot, status, sleep, log, crash record, doorbells
 *
 * The control window is plain memory that host (through the PCIe BAR) and soft core
 * see. No read or write of it has a side effect (spec SYS-02). The host gets the card's
 * attention by a *kick*: the interrupt of ivshmem, a function call for the card in
 * the process, nothing at all on a card with TUTTI_FEATURE_DOORBELL_WAKES.
 *
 * Sleep. A card that has nothing to do stores asleep = 1, does a full fence, and looks
 * once more at the doorbells, the host ring and boot_sequence; if there is work it stores
 * asleep = 0 and goes on, else it sleeps until it is kicked. The host stores a doorbell
 * (or host_ring_tail, or boot_sequence), does a full fence and loads asleep; if it is not
 * 0 the host kicks. So one of the two always sees the other.
 *
 * Boot. The host copies a firmware image into card memory, inside reserved_bytes but not in their
 * last TUTTI_FIRMWARE_BYTES, where the firmware refuses to start, sets @image_offset and @image_bytes, then stores a new @boot_sequence and kicks. The card's loader
 * resets the whole card: soft core, SMs, movers, page table roots, doorbell enables, all of
 * struct tutti_status (to 0) and the hardware's counters. It checks the image (firmware.h). A bad
 * one is answered by @boot_error, @state FAILED and @boot_sequence, in this order. A good one
 * is copied to local memory, status gets the versions of its header, @state LOADING and
 * @boot_sequence, and the core starts. The firmware goes on: it clears the crash record,
 * the log and its counters, skips what is in both message rings (host_ring_head =
 * host_ring_tail, card_ring_tail = card_ring_head), and stores @state RUNNING last.
 *
 * Stop. A boot request with @image_bytes 0 stops the card; a driver does that when it is removed, at
 * shutdown, and as function-level reset where the bus has none. The card resets itself
 * as above and finds no image: FAILED with BAD_SIZE. Once the host sees that state, no access of
 * the card to host memory and no interrupt is under way. Card memory keeps its contents;
 * after a reset of the PCI function it need not.
 *
 * Death. When the firmware gives up it fills struct tutti_crash, stores @state CRASHED and
 * writes TUTTI_REG_HALT. When the hardware has to stop the core (the watchdog, a command
 * that makes no sense) it fills in the record itself. In either case it then resets SMs and movers, stores
 * CRASHED, as the firmware may no longer have come to that, and raises MSI-X vector 0. A new boot
 * request is the only way out.
 *
 * Numbers of 64 bits that the firmware writes (heartbeat, log head, counters) are two stores of 32 bits: a host that
 * reads in between may see one new half. Who needs them exactly reads until two readings agree.
 */
#ifndef TUTTI_CONTROL_H
#define TUTTI_CONTROL_H

#include "types.h"

/**
 * struct tutti_control - what the host says; the card only reads it. All 0 at power-on.
 * @boot_sequence: another number than before asks the card to boot; 0 = never asked
 * @image_offset: where the firmware image lies in card memory
 * @image_bytes: its size; 0 = stop
 * @host_ring_tail: messages written by the host, modulo 2^32
 * @card_ring_head: messages read by the host, modulo 2^32
 * @heartbeat_us: microseconds between two heartbeats, 100 to 10 000 000; 0 = 10 000
 * @trace_enable: mask of the kinds of trace records wanted (trace.h)
 * @trace_head: trace records ever read by the host
 */
struct tutti_control {
	uint32_t boot_sequence;
	uint32_t pad0;
	uint64_t image_offset;
	uint64_t image_bytes;
	uint32_t host_ring_tail;
	uint32_t card_ring_head;
	uint32_t heartbeat_us;
	uint32_t trace_enable;
	uint64_t trace_head;
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
#define TUTTI_STATE_OFF 0u     /* no firmware was asked for */
#define TUTTI_STATE_LOADING 1u /* the firmware starts */
#define TUTTI_STATE_RUNNING 2u
#define TUTTI_STATE_CRASHED 3u /* struct tutti_crash says why */
#define TUTTI_STATE_FAILED 4u  /* the image was refused, @boot_error says why */

/**
 * struct tutti_status - what the card says; the host only reads it.
 * @state: TUTTI_STATE_*
 * @boot_sequence: the boot request that @state belongs to
 * @boot_error: TUTTI_IMAGE_*
 * @firmware_version: TUTTI_VERSION of the firmware
 * @contract_min: oldest contract version it speaks
 * @contract_max: newest contract version it speaks
 * @asleep: 1 = the card has to be kicked after doorbells and messages
 * @host_ring_head: messages read by the card, modulo 2^32
 * @card_ring_tail: messages written by the card, modulo 2^32
 * @trace_lost: trace records dropped since boot because the ring was full, modulo 2^32
 * @heartbeat: goes up while the firmware is well
 * @heartbeat_time: the timer at the last heartbeat
 * @trace_tail: trace records written since boot
 */
struct tutti_status {
	uint32_t state;
	uint32_t boot_sequence;
	uint32_t boot_error;
	uint32_t firmware_version;
	uint32_t contract_min;
	uint32_t contract_max;
	uint32_t asleep;
	uint32_t host_ring_head;
	uint32_t card_ring_tail;
	uint32_t trace_lost;
	uint64_t heartbeat;
	uint64_t heartbeat_time;
	uint64_t trace_tail;
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

/**
 * struct tutti_log - text log of the firmware, which overwrites its oldest bytes.
 * @head: bytes ever written since boot
 * @bytes: size of @text, a power of two
 * @text: byte i of the log is at i & (@bytes - 1)
 */
struct tutti_log {
	uint64_t head;
	uint32_t bytes;
	uint32_t pad0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic" /* in C++ an array without a size is an extension */
	char text[];
#pragma GCC diagnostic pop
};
TUTTI_SIZE(struct tutti_log, 16);
TUTTI_AT(struct tutti_log, head, 0);
TUTTI_AT(struct tutti_log, bytes, 8);
TUTTI_AT(struct tutti_log, pad0, 12);
TUTTI_AT(struct tutti_log, text, 16);

/* struct tutti_crash.cause */
#define TUTTI_CRASH_NONE 0u
#define TUTTI_CRASH_TRAP 1u     /* the soft core has trapped: @cause_code is mcause, from 24 on one of the engines' */
#define TUTTI_CRASH_PANIC 2u    /* a check in the firmware has failed: @cause_code is its line */
#define TUTTI_CRASH_WATCHDOG 3u /* the core has neither idled nor taken an event for too long */

/**
 * struct tutti_crash - why the firmware has died. The firmware clears it when it starts.
 * @cause: TUTTI_CRASH_*; written last
 * @cause_code: see there
 * @pc: where it happened
 * @ra: return address there
 * @sp: stack pointer there
 * @tval: mtval of a trap; of a command that makes no sense, its word 0
 * @queue: queue that was being worked on, ~0 = none
 * @packet: index of the packet that was being worked on
 * @time: the timer
 * @text: what happened, NUL-terminated
 * @x: integer registers of the core as far as they are known
 */
struct tutti_crash {
	uint32_t cause;
	uint32_t cause_code;
	uint32_t pc;
	uint32_t ra;
	uint32_t sp;
	uint32_t tval;
	uint32_t queue;
	uint32_t pad0;
	uint64_t packet;
	uint64_t time;
	char text[64];
	uint32_t x[32];
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
 * struct tutti_doorbell_page - doorbell of a queue, a page for each at doorbells.offset + id * 4096.
 * @doorbell: a mailbox. The host stores the index of the newest packet that is ready. The card exchanges it with
 *	TUTTI_DOORBELL_EMPTY, so that no ring is lost and the same index can be rung again. It only
 *	wakes the card (spec PKT-05).
 *
 * The host stores TUTTI_DOORBELL_EMPTY before it asks for the queue; before that the page may hold anything.
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

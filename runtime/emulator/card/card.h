/* SPDX-License-Identifier: MIT */
/**
 * DOC: The emulated card as a library
 *
 * A struct tutti_card is the hardware of the contract (include/tutti): soft core,
 * engines, MMU, SM array. It runs the shipped firmware binary; no scheduling
 * decision is made here. It is attached in two ways: by the emulator transport
 * inside the process, and by the tutti-card process behind QEMU. Both see the
 * same BAR: control window, then card memory.
 */
#ifndef TUTTI_CARD_H
#define TUTTI_CARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tutti/contract.h"

struct tutti_card;

/* Modes (spec SYS-12) */
enum tutti_card_mode {
	TUTTI_CARD_FAST,          /* background thread and workers */
	TUTTI_CARD_DETERMINISTIC, /* one thread, advances only in tutti_card_run() */
};

/* Faults on demand (spec SYS-15), also TUTTI_INJECT="kind[:arg[:count]][,...]" */
enum tutti_card_fault {
	TUTTI_INJECT_FIRMWARE_HANG,  /* soft core stops taking events */
	TUTTI_INJECT_FIRMWARE_CRASH, /* soft core traps at its next instruction */
	TUTTI_INJECT_LOST_DOORBELL,  /* arg: doorbells to lose */
	TUTTI_INJECT_LOST_INTERRUPT, /* arg: interrupts to lose */
	TUTTI_INJECT_TORN_FETCH,     /* arg: packet fetches to deliver half-written */
	TUTTI_INJECT_STUCK_SM,       /* arg: SM that no longer runs its waves */
	TUTTI_INJECT_KERNEL_TRAP,    /* arg: waves to trap at their start */
	TUTTI_INJECT_PAGE_FAULT,     /* arg: translations to refuse */
	TUTTI_INJECT_MEMORY_ERROR,   /* arg: fetches that report an ECC error */
	TUTTI_INJECT_LINK_DOWN,      /* host memory and BAR accesses fail until cleared */
	TUTTI_INJECT_REMOVED,        /* discovery reads all ones, card stops for good */
	TUTTI_INJECT_BOOT_FAILURE,   /* arg: how many good images are refused as damaged */
	TUTTI_INJECT_SILENT_SM,      /* arg: SM that does not acknowledge task states, where SMs do (@acknowledge) */
	TUTTI_INJECT_KINDS
};

#define TUTTI_CARD_CPCS 16u /* most CPCs of a GPC */

/**
 * struct tutti_card_config - what card to build.
 * @mode: fast or deterministic
 * @seed: for everything random in deterministic mode
 * @workers: threads that run waves beside the driving one; 0 = cores - 1
 * @topology: SMs of each GPC
 * @gpcs: entries of @topology; 0 = the default card (8 GPCs x 18 SMs)
 * @cpc: SMs of each CPC of each GPC, up to the first 0; none = six each. A CPC's SMs are
 *	paired in TPCs: with an odd number the last TPC has one SM
 * @ugpu: GPCs of each µGPU, @ugpus of them; 0 = two halves
 * @memory_bytes: card memory; 0 = 1 GiB (allocated when touched)
 * @count: count soft-core instructions by function (always on in deterministic mode)
 * @bar: if not NULL, memory shared with the host side, at least tutti_card_bar_bytes()
 * @host_memory: translate @bytes at host bus address @bus to a pointer, NULL = refused;
 *	called from any thread. NULL: identity for ranges given to tutti_card_host_add()
 * @interrupt: MSI-X vector raised; called from any thread, must not call back
 * @context: first argument of the callbacks
 *
 * @energy: count instruction classes and energy of SMs (TUTTI_FEATURE_ENERGY); costs speed
 * @energy_class: picojoules of an instruction (enum tutti_class), @energy_resource: of a
 *	wave slot, block ... taken by a CTA (enum tutti_resource)
 * @energy_variation: how much SMs differ, per mille; drawn from @seed
 *
 * @acknowledge: 0: SMs take states and launches in order (TUTTI_FEATURE_ORDERED_STATES); n: they acknowledge each
 *	task state n turns later, and the firmware has to wait for that
 *
 * Limits left 0 take the default card's: 256 KiB of local memory (at most 512), 4 PEUs x 8 waves, 64 shared blocks of
 * 2 KiB, 32 CTA slots, 16 barriers, 32 scalar and vector blocks per PEU.
 */
struct tutti_card_config {
	enum tutti_card_mode mode;
	uint64_t seed;
	unsigned workers;
	uint16_t topology[TUTTI_MAX_GPCS];
	unsigned gpcs;
	uint8_t cpc[TUTTI_MAX_GPCS][TUTTI_CARD_CPCS];
	uint8_t ugpu[TUTTI_MAX_GPCS];
	unsigned ugpus;
	uint64_t memory_bytes;
	bool count;
	uint32_t peus, peu_waves, scalar_blocks, vector_blocks;
	uint32_t shared_blocks, shared_block_bytes, barriers, cta_slots;
	uint32_t local_bytes;
	uint32_t acknowledge;
	uint32_t energy, energy_variation;
	uint32_t energy_class[TUTTI_CLASSES], energy_resource[TUTTI_RESOURCES];
	void *bar;
	void *(*host_memory)(void *context, uint64_t bus, uint64_t bytes);
	void (*interrupt)(void *context, unsigned vector);
	void *context;
};

/** tutti_card_config_read() - fill @config from a topology file (spec SYS-14). Returns 0 or -errno. */
int tutti_card_config_read(struct tutti_card_config *config, FILE *file);

/** tutti_card_bar_bytes() - bytes of control window and card memory for @config. */
size_t tutti_card_bar_bytes(const struct tutti_card_config *config);

/** tutti_card_create() - build a card in reset. Returns 0 or -errno. */
int tutti_card_create(const struct tutti_card_config *config, struct tutti_card **card);
/** tutti_card_destroy() - stops all threads, then frees. */
void tutti_card_destroy(struct tutti_card *card);
/** tutti_card_reset() - function-level reset: soft core off, SMs empty, window as at power-on. */
void tutti_card_reset(struct tutti_card *card);

/** tutti_card_bar() - the BAR: control window at 0, card memory at discovery.aperture. */
void *tutti_card_bar(struct tutti_card *card);
/** tutti_card_kick() - the host has written something and saw asleep set. */
void tutti_card_kick(struct tutti_card *card);

/**
 * tutti_card_run() - let the calling thread be the card for a while.
 * @done: checked often; returns true = stop. May be NULL.
 *
 * Runs until @done says so, nothing is left to do, or about a millisecond (fast
 * mode) or 2^20 instructions (deterministic mode) have passed.
 * Return: true if there is nothing left to do (only timers or kicks can make
 * more), false otherwise. If another thread drives the card already, waits for a
 * moment and returns false. In deterministic mode an idle card moves its clock
 * to the next timer.
 */
bool tutti_card_run(struct tutti_card *card, bool (*done)(void *), void *context);

/** tutti_card_host_add() - host memory the card may reach, at bus address = pointer. */
int tutti_card_host_add(struct tutti_card *card, void *start, size_t bytes);
void tutti_card_host_remove(struct tutti_card *card, void *start);

/** tutti_card_inject() - make a fault happen; @arg as in enum tutti_card_fault. Returns 0 or -EINVAL. */
int tutti_card_inject(struct tutti_card *card, enum tutti_card_fault fault, uint64_t arg);
/** tutti_card_inject_string() - the same from "kind[:arg],..."; names as in the enum, lower case, dashes. */
int tutti_card_inject_string(struct tutti_card *card, const char *text);

/** struct tutti_card_function - soft-core instructions of one firmware function, callees not included. */
struct tutti_card_function {
	const char *name;
	uint32_t address;
	uint64_t calls;
	uint64_t instructions;
};
/**
 * tutti_card_profile() - instruction counts by function (SYS-13), from the image's symbols.
 * Returns the number of functions; fills at most @max of @functions.
 */
size_t tutti_card_profile(struct tutti_card *card, struct tutti_card_function *functions, size_t max);
/** tutti_card_instructions() - all soft-core instructions since reset, exact. */
uint64_t tutti_card_instructions(struct tutti_card *card);
/** tutti_card_count() - switch counting on or off (fast mode). */
void tutti_card_count(struct tutti_card *card, bool on);
/** tutti_card_marks() - instruction count at each write to TUTTI_REG_MARK since the last call; see softcore.h. */
size_t tutti_card_marks(struct tutti_card *card, uint64_t (*marks)[2], size_t max);

#endif

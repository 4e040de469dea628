/* SPDX-License-Identifier: MIT */
/** DOC: What card is built, and the faults it can be told to have */
#ifndef TUTTI_EMULATOR_BASE_CONFIG_H
#define TUTTI_EMULATOR_BASE_CONFIG_H

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

/** card_config() - of this card. */
const struct tutti_card_config *card_config(const struct tutti_card *card);

#endif

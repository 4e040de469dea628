/* SPDX-License-Identifier: MIT */
/** DOC: The configuration of an emulated card, and the faults that can be injected into it */
#ifndef TUTTI_EMULATOR_BASE_CONFIG_H
#define TUTTI_EMULATOR_BASE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tutti/contract.h"

struct tutti_card;

/* How the card runs (spec SYS-12) */
enum tutti_card_mode {
	TUTTI_CARD_FAST,          /* a background thread drives the card, worker threads run waves */
	TUTTI_CARD_DETERMINISTIC, /* one thread; the card advances only in tutti_card_run() */
};

/* Faults that can be injected (spec SYS-15), also by TUTTI_INJECT="kind[:arg[:count]][,...]" */
enum tutti_card_fault {
	TUTTI_INJECT_FIRMWARE_HANG,  /* the soft core stops taking events, which its watchdog notices; see inject_booted() */
	TUTTI_INJECT_FIRMWARE_CRASH, /* the soft core traps at its next instruction */
	TUTTI_INJECT_LOST_DOORBELL,  /* arg: number of doorbells to lose */
	TUTTI_INJECT_LOST_INTERRUPT, /* arg: number of interrupts to lose */
	TUTTI_INJECT_TORN_FETCH,     /* arg: number of packet fetches that deliver a half-written packet */
	TUTTI_INJECT_STUCK_SM,       /* arg: the SM that no longer runs its waves */
	TUTTI_INJECT_KERNEL_TRAP,    /* arg: number of waves that trap when they start */
	TUTTI_INJECT_PAGE_FAULT,     /* arg: number of address translations to refuse */
	TUTTI_INJECT_MEMORY_ERROR,   /* arg: number of fetches that report an ECC error */
	TUTTI_INJECT_LINK_DOWN,      /* accesses to host memory and to the BAR fail until cleared */
	TUTTI_INJECT_REMOVED,        /* discovery data read as all ones; the card stops for good */
	TUTTI_INJECT_BOOT_FAILURE,   /* arg: number of good firmware images to refuse as damaged */
	TUTTI_INJECT_SILENT_SM,      /* arg: the SM that does not acknowledge task states */
	TUTTI_INJECT_FIRMWARE_SILENT, /* the soft core does nothing, and its watchdog does not notice */
	TUTTI_INJECT_KINDS
};

#define TUTTI_CARD_CPCS 16u /* the most CPCs that a GPC may have */

/**
 * struct tutti_card_config - the configuration of a card to build.
 * @mode: fast or deterministic
 * @seed: start of all random numbers in deterministic mode
 * @workers: number of threads that run waves in addition to the driving thread; 0 means the host's cores less one
 * @topology: number of SMs of each GPC
 * @gpcs: number of entries of @topology; 0 means the default card (8 GPCs of 18 SMs)
 * @cpc: number of SMs of each CPC of each GPC, up to the first 0; CPCs have six SMs if there are no entries. The SMs
 *	of a CPC are paired in TPCs; if their number is odd, the last TPC has one SM
 * @ugpu: number of GPCs of each µGPU
 * @ugpus: number of entries of @ugpu; 0 means two µGPUs of half the GPCs each
 * @memory_bytes: size of card memory; 0 means 1 GiB. Host memory is allocated only for pages that are touched
 * @count: count soft-core instructions by function; the firmware is interpreted meanwhile
 * @bar: if not NULL, memory shared with the host side that holds the BAR, at least tutti_card_bar_bytes()
 * @host_memory: translates @bytes at host bus address @bus to a pointer, or returns NULL to refuse the access; called
 *	from any thread. If it is NULL, bus addresses are pointers into ranges given to tutti_card_host_add()
 * @interrupt: called when an MSI-X vector is raised, from any thread; it must not call the card
 * @context: first argument of the callbacks
 *
 * @energy: count instruction classes and energy of SMs (TUTTI_FEATURE_ENERGY), which makes kernels slower
 * @energy_class: picojoules of an instruction of each class (enum tutti_class)
 * @energy_resource: picojoules of each unit of a resource that a CTA takes (enum tutti_resource)
 * @energy_variation: by how many per mille the energy of SMs may differ; the factors are drawn from @seed
 *
 * @acknowledge: 0 if SMs take states and launches in order (TUTTI_FEATURE_ORDERED_STATES); otherwise the number of
 *	turns after which they acknowledge a task state, for which the firmware has to wait
 *
 * @idle_traps: not 0 if the soft core has no idle unit: ecall traps, and wfi waits until mip & mie is not 0
 *
 * @split_signals: not 0 if the card makes no atomic operations across the bus (without TUTTI_FEATURE_PCIE_ATOMICS)
 *
 * @slice: in deterministic mode, the most instructions that the soft core executes before other parts of the card get a
 *	turn; each time the number is drawn from the seed. 0: it executes until it idles
 * @garbage: bytes of card memory behind reserved_bytes that hold garbage at power-on, as all of it may; a multiple of 8
 *
 * Limits that are 0 have the values of the default card: 256 KiB of local memory (at most 512 KiB), 4 PEUs of 8 waves
 * each, 64 blocks of shared memory of 2 KiB, 32 CTA slots, 16 barriers, 32 scalar and 32 vector blocks for each PEU.
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
	uint32_t idle_traps;
	uint32_t split_signals;
	uint32_t garbage;
	uint32_t slice;
	uint32_t energy, energy_variation;
	uint32_t energy_class[TUTTI_CLASSES], energy_resource[TUTTI_RESOURCES];
	void *bar;
	void *(*host_memory)(void *context, uint64_t bus, uint64_t bytes);
	void (*interrupt)(void *context, unsigned vector);
	void *context;
};

/**
 * tutti_card_config_read() - fill @config from a topology file (spec SYS-14).
 *
 * Return: 0 or -errno; -EINVAL: @file stands behind the line that is wrong, or at its end.
 */
int tutti_card_config_read(struct tutti_card_config *config, FILE *file);

/** card_config() - the configuration that @card was built from. */
const struct tutti_card_config *card_config(const struct tutti_card *card);

#endif

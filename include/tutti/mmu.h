/* SPDX-License-Identifier: MIT */
/**
 * DOC: Bus addresses and page tables
 *
 * Every access that the card makes for a context goes through the context's page
 * tables: RISC-V Sv48, that is four levels with leaves of 4 KiB, 2 MiB and 1 GiB (RISC-V
 * privileged specification, "Sv48"). The host builds and changes them; the card only
 * reads them and never sets A or D. A buffer has the same address on host and card, so
 * that only the lower half is used: addresses are below 2^47. (spec SYS-06)
 *
 * A *bus address* is what a page table entry holds (PPN << 12), 56 bits. With bit 55
 * clear it is a byte offset in card memory, with bit 55 set the bits below are a DMA
 * address of the host.
 */
#ifndef TUTTI_MMU_H
#define TUTTI_MMU_H

#include "types.h"

#define TUTTI_BUS_HOST (1ull << 55)
#define TUTTI_VA_END (1ull << 47)

#define TUTTI_PTE_V (1ull << 0) /* valid */
#define TUTTI_PTE_R (1ull << 1) /* readable */
#define TUTTI_PTE_W (1ull << 2) /* writable (needs R) */
#define TUTTI_PTE_X (1ull << 3) /* executable by waves */
#define TUTTI_PTE_U (1ull << 4) /* must be set in every leaf */
#define TUTTI_PTE_G (1ull << 5) /* ignored */
#define TUTTI_PTE_A (1ull << 6) /* must be set in every leaf */
#define TUTTI_PTE_D (1ull << 7) /* must be set in every writable leaf */
#define TUTTI_PTE_LEAF (TUTTI_PTE_R | TUTTI_PTE_W | TUTTI_PTE_X)
#define TUTTI_PTE_PPN_SHIFT 10
#define TUTTI_PTE_PPN_MASK (((1ull << 44) - 1) << TUTTI_PTE_PPN_SHIFT)
#define TUTTI_PTES 512u
#define TUTTI_MMU_LEVELS 4u

/** tutti_pte() - page table entry for bus address @bus (4 KiB aligned). */
#define tutti_pte(bus, flags) ((((bus) >> 12) << TUTTI_PTE_PPN_SHIFT) | (flags))
/** tutti_pte_bus() - bus address that page table entry @pte points to. */
#define tutti_pte_bus(pte) ((((pte) & TUTTI_PTE_PPN_MASK) >> TUTTI_PTE_PPN_SHIFT) << 12)
/** tutti_va_index() - index of @va in its table at @level (3 = root .. 0 = 4 KiB). */
#define tutti_va_index(va, level) (((va) >> (12 + 9 * (level))) & (TUTTI_PTES - 1))

/**
 * TUTTI_ASID_BUS - address space id of the bus itself, whose addresses are bus addresses.
 *
 * The firmware uses it only for addresses that came over the kernel channel, never for one that
 * came from a packet. Ids from 1 on are contexts.
 */
#define TUTTI_ASID_BUS 0u

#endif

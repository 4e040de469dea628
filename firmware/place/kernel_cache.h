/* SPDX-License-Identifier: MIT */
/**
 * DOC: Cache of checked kernel descriptors
 *
 * Direct-mapped by address space and address. A descriptor lies in user memory: it is fetched once, checked, and
 * the copy is used until CODE_INVALIDATE. On a miss the packet parks and is decoded again when the descriptor is
 * here.
 */
#ifndef KERNEL_CACHE_H
#define KERNEL_CACHE_H

#include "core/base.h"

struct queue;

enum kernel_state { KERNEL_NONE, KERNEL_FETCHING, KERNEL_READY, KERNEL_BAD };

struct kernel {
	uint32_t low, high;     /* key: address; high half with the asid in bits 31..16. high = ~0: not READY */
	uint32_t asked;         /* high half of what is being fetched or is bad */
	uint32_t entry[2];
	uint32_t registers;     /* scalar blocks | vector blocks << 16 */
	uint32_t barriers;      /* << 16 */
	uint32_t group_bytes;
	uint32_t private_bytes; /* per work-item */
	uint32_t items_max;
	uint16_t workgroup[3];  /* required, 0 = any */
	uint8_t required;       /* one of them is not 0 */
	uint8_t state;          /* enum kernel_state */
	/* why it is bad */
	uint8_t code, cause;
	uint8_t stale;          /* invalidated while being fetched */
	uint8_t grouped;        /* has CGAs: @high stays ~0, see packet_special() */
	uint64_t address;
	struct tutti_kernel_descriptor fetched;
};
extern struct kernel kernels[FW_KERNELS];

void kernel_init(void);
/** kernel_slot() - where the descriptor at this address is, if it is in the cache. */
static inline struct kernel *kernel_slot(uint32_t low)
{
	struct kernel *kernel = &kernels[low >> 6 & (FW_KERNELS - 1)];

#ifdef __riscv
	/* or gcc makes the address anew at every use */
	__asm__("" : "+r"(kernel));
#endif
	return kernel;
}
/**
 * kernel_miss() - the slot does not hold the wanted descriptor: fetch it, or say why not.
 * Return: TUTTI_ERROR_* or PACKET_PARKED
 */
int kernel_miss(struct queue *queue, uint32_t low, uint32_t high);
/** kernel_check() - fill @kernel from its fetched descriptor. 0 or TUTTI_ERROR_*. */
int kernel_check(struct kernel *kernel);
/** kernel_cga() - the level of CGAs of a kernel that has one. */
struct tutti_cga_shape kernel_cga(const struct kernel *kernel);
void kernel_event_fetch(unsigned number, const struct tutti_event *event);
/** kernel_invalidate() - descriptors of @asid in the range are stale (bytes 0: all). */
void kernel_invalidate(unsigned asid, uint64_t address, uint64_t bytes);

#endif

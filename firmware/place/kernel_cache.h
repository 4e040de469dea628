/* SPDX-License-Identifier: MIT */
/**
 * DOC: Cache of checked kernel descriptors
 *
 * The cache is direct-mapped; its key is the address space and the address. A descriptor lies in user memory, so it is
 * fetched once and checked, and the copy is used until CODE_INVALIDATE. On a miss the queue parks, and the packet is
 * decoded again when the descriptor has arrived.
 */
#ifndef KERNEL_CACHE_H
#define KERNEL_CACHE_H

#include "core/base.h"

struct queue;

enum kernel_state { KERNEL_NONE, KERNEL_FETCHING, KERNEL_READY, KERNEL_BAD };

struct kernel {
	uint32_t low, high;     /* key: address, with the asid in bits 31..16 of @high, which is ~0 if not READY */
	uint32_t asked;         /* @high of the descriptor that is being fetched or is bad */
	uint32_t entry[2];
	uint32_t registers;     /* scalar blocks | vector blocks << 16 */
	uint32_t barriers;      /* their number << 16 */
	uint32_t group_bytes;
	uint32_t private_bytes; /* per work-item */
	uint32_t items_max;
	uint16_t workgroup[3];  /* required size, 0 if any will do */
	uint8_t required;       /* whether one of them is not 0 */
	uint8_t state;          /* enum kernel_state */
	/* for KERNEL_BAD: TUTTI_ERROR_*, and the cause and address of a fault of the fetch */
	uint8_t code, cause;
	uint8_t stale;          /* it was invalidated while it was being fetched */
	uint8_t grouped;        /* it has CGAs; then @high stays ~0 so that packet_special() decodes its packets */
	uint64_t address;
	struct tutti_kernel_descriptor fetched;
};
extern struct kernel kernels[FW_KERNELS];

void kernel_init(void);
/** kernel_slot() - the only entry that can hold the descriptor at this address. */
static inline struct kernel *kernel_slot(uint32_t low)
{
	struct kernel *kernel = &kernels[low >> 6 & (FW_KERNELS - 1)];

#ifdef __riscv
	/* Without this gcc computes the address again at every use. */
	__asm__("" : "+r"(kernel));
#endif
	return kernel;
}
/**
 * kernel_miss() - the entry does not hold the wanted descriptor: fetch it, or say why it cannot be used.
 * Return: TUTTI_ERROR_* or PACKET_PARKED
 */
int kernel_miss(struct queue *queue, uint32_t low, uint32_t high);
/** kernel_check() - check the fetched descriptor and decode it into @kernel. Return: 0 or TUTTI_ERROR_* */
int kernel_check(struct kernel *kernel);
/** kernel_cga() - the shape of the CGAs of a kernel that has CGAs. */
struct tutti_cga_shape kernel_cga(const struct kernel *kernel);
/** kernel_event_fetch() - the fetch for entry @number is complete, or has failed. */
void kernel_event_fetch(unsigned number, const struct tutti_event *event);
/** kernel_invalidate() - forget the descriptors of @asid in the range; @bytes 0: all of them. */
void kernel_invalidate(unsigned asid, uint64_t address, uint64_t bytes);

#endif

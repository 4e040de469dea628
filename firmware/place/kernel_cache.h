/* SPDX-License-Identifier: MIT */
/**
 * DOC: Cache of checked kernel descriptors
 *
 * The cache is direct-mapped; its key is the address space and the address. A descriptor lies in user memory, so it is
 * fetched once and checked, and the copy is used until CODE_INVALIDATE. On a miss the queue parks, and the packet is
 * decoded again when the descriptor has arrived.
 *
 * Queues whose kernels share an entry take turns: until the queue that asked for a descriptor has run, the others are put
 * off, and then the one behind it in the order of queue_run_ready() comes first. So a queue waits for one fetch of each of
 * the others at most.
 */
#ifndef KERNEL_CACHE_H
#define KERNEL_CACHE_H

#include "core/divisor.h"
#include "core/queue_record.h"

enum kernel_state { KERNEL_NONE, KERNEL_FETCHING, KERNEL_READY, KERNEL_BAD };

/* struct kernel.demands */
#define KERNEL_SIZE 1u  /* @workgroup is not all 0 */
#define KERNEL_WAVES 2u /* TUTTI_KERNEL_INDEPENDENT: packet_special() decodes references to it, which keep this flag */

/* In struct kernel.barriers: the kernel has CGAs. No shape has this bit, so packet_dispatch() does not take any for it. */
#define KERNEL_GROUPED (1u << 31)

struct kernel {
	/*
	 * Key: address, with the asid in bits 31..16 of @high. @high is ~0, so that packet_dispatch() leaves its packets
	 * to kernel_get(), while the descriptor is not READY or was not used yet.
	 */
	uint32_t low, high;
	uint32_t asked;         /* @high of the descriptor that was fetched last, whatever became of it */
	uint32_t entry[2];
	uint32_t registers;     /* scalar blocks | vector blocks << 16 */
	uint32_t barriers;      /* their number << 16, and KERNEL_GROUPED */
	uint32_t group_bytes;
	uint32_t private_bytes; /* per work-item */
	uint32_t items_max;
	uint16_t workgroup[3];  /* required size, 0 if any will do */
	/* what makes the kernel unusual; all 0: nothing */
	union {
		struct {
			uint8_t demands; /* KERNEL_SIZE, KERNEL_WAVES */
			uint8_t grouped; /* it has CGAs */
		};
		uint16_t unusual;
	};
	uint8_t state;          /* enum kernel_state */
	/* for KERNEL_BAD: TUTTI_ERROR_*, and the cause and address of a fault of the fetch */
	uint8_t code, cause;
	uint8_t stale;          /* it was invalidated while it was being fetched */
	uint8_t unused;         /* @owner has not used it yet */
	uint16_t owner;         /* the queue that asked for it */
	uint64_t address;
	union {
		struct tutti_kernel_descriptor fetched;
		/* the last workgroup size along x, y and z; it overwrites fields that only kernel_check() needs */
		struct divisor size[3];
	};
};
_Static_assert(sizeof(struct divisor[3]) <= offsetof(struct tutti_kernel_descriptor, magic), "flags and CGAs are kept");
extern struct kernel kernels[FW_KERNELS];

void kernel_init(void);
/**
 * kernel_slot() - the only entry that can hold the descriptor at this address in the address space of a queue. Address
 * spaces count, because two processes that run the same program have its kernels at the same addresses.
 */
static inline struct kernel *kernel_slot(uint32_t low, uint32_t asid_queue)
{
	struct kernel *kernel = &kernels[(low >> 6 ^ asid_queue) & (FW_KERNELS - 1)];

#ifdef __riscv
	/* Without this gcc computes the address again at every use. */
	__asm__("" : "+r"(kernel));
#endif
	return kernel;
}
/**
 * kernel_resize() - keep workgroups of @x by @y by @z items, none of which is 0, as the last size.
 * Return: struct kernel.size
 */
const struct divisor *kernel_resize(const struct kernel *kernel, uint32_t x, uint32_t y, uint32_t z);
/** kernel_sizes() - the same, but quick if that is the last size already. */
static inline const struct divisor *kernel_sizes(const struct kernel *kernel, uint32_t x, uint32_t y, uint32_t z)
{
	const struct divisor *size = kernel->size;

	return likely(size[0].by == x && size[1].by == y && size[2].by == z) ? size : kernel_resize(kernel, x, y, z);
}
/**
 * kernel_get() - find the checked kernel whose descriptor lies at @object. Fetches it if the cache does not hold it.
 * Return: 0 (@kernel is set), TUTTI_ERROR_* or PACKET_PARKED
 */
int kernel_get(struct queue *queue, uint64_t object, const struct kernel **kernel);
/** kernel_check() - check the fetched descriptor and decode it into @kernel. Return: 0 or TUTTI_ERROR_* */
int kernel_check(struct kernel *kernel);
/** kernel_flags_at() - TUTTI_KERNEL_* of the kernel that begins at address @low, @high, 0 if the cache does not hold it. */
uint32_t kernel_flags_at(unsigned asid, uint32_t low, uint32_t high);
/** kernel_cga() - the shape of the CGAs of a kernel that has CGAs. */
struct tutti_cga_shape kernel_cga(const struct kernel *kernel);
/** kernel_event_fetch() - the fetch for entry @number is complete, or has failed. */
void kernel_event_fetch(unsigned number, const struct tutti_event *event);
/** kernel_invalidate() - forget the descriptors of @asid in the range; @bytes 0: all of them. */
void kernel_invalidate(unsigned asid, uint64_t address, uint64_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: What a kernel allows and needs, whichever kind of packet starts it
 *
 * Dispatch packets and condensed ones have their sizes in different records. The rules that compare those sizes with
 * the kernel's descriptor and with the card are kept here, once for both.
 */
#ifndef KERNEL_RULES_H
#define KERNEL_RULES_H

#include "core/state.h"
#include "place/kernel_cache.h"

/** kernel_takes() - whether the kernel can run with workgroups of @x by @y by @z items: it may require a size. */
static inline bool kernel_takes(const struct kernel *kernel, uint32_t x, uint32_t y, uint32_t z)
{
	const uint16_t *need = kernel->workgroup;

	return (!need[0] || need[0] == x) && (!need[1] || need[1] == y) && (!need[2] || need[2] == z);
}

/** kernel_waves() - number of waves of a workgroup. */
static inline uint32_t kernel_waves(uint32_t items)
{
	return (items + TUTTI_WAVE_ITEMS - 1) / TUTTI_WAVE_ITEMS;
}

/**
 * kernel_private() - the private memory of a wave when the packet asks for @bytes for each work-item.
 * Return: false if a work-item cannot have as much
 */
static inline __attribute__((always_inline)) bool kernel_private(const struct kernel *kernel, uint32_t bytes, uint32_t *wave)
{
	if (bytes < kernel->private_bytes)
		bytes = kernel->private_bytes;
	if (unlikely(bytes > fw.item_private))
		return false;
	*wave = bytes * TUTTI_WAVE_ITEMS;
	return true;
}

/**
 * kernel_shared() - the blocks of shared memory of a workgroup when the packet asks for @bytes.
 * @limit: those that an SM has; they are read only if the kernel needs any
 * Return: false if it needs more than that
 */
static inline __attribute__((always_inline)) bool kernel_shared(const struct kernel *kernel, uint32_t bytes,
								 const uint32_t *limit, uint32_t *blocks)
{
	if (bytes < kernel->group_bytes)
		bytes = kernel->group_bytes;
	*blocks = 0;
	if (bytes) {
		*blocks = ((bytes - 1) >> fw.shared_shift) + 1;
		if (unlikely(*blocks > *limit))
			return false;
	}
	return true;
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Hardware access: the only layer between the firmware's logic and the card
 *
 * On the soft core these are fixed addresses and single instructions. In the host
 * build (unit tests, fuzzers) core/host/hal.c puts plain memory in their place.
 */
#ifndef HAL_H
#define HAL_H

#include "core/base.h"

#ifdef __riscv

#define HAL_ENGINES ((volatile struct tutti_engines *)TUTTI_CORE_ENGINES)
#define HAL_WINDOW ((uint8_t *)TUTTI_CORE_CONTROL)
#define HAL_SMS ((const volatile struct tutti_sm_state *)TUTTI_CORE_SMS)
#define HAL_REGISTER(offset) (*(volatile uint32_t *)(TUTTI_CORE_REGISTERS + (offset)))

/** hal_local() - the address in local memory by which engines know what @pointer points to. */
static inline uint32_t hal_local(const void *pointer)
{
	return (uint32_t)pointer;
}

/** hal_pointer() - the inverse of hal_local(). */
static inline void *hal_pointer(uint32_t local)
{
	return (void *)local;
}

/** hal_card() - pointer to @bytes of card memory at @offset, or NULL if the firmware cannot reach them. */
static inline void *hal_card(uint64_t offset, uint32_t bytes)
{
	return offset <= TUTTI_CORE_CARD_BYTES - bytes ? (void *)(TUTTI_CORE_CARD + (uint32_t)offset) : NULL;
}

/** hal_time() - the card's timer now. It reads two device registers, which is too slow for hot paths. */
static inline uint64_t hal_time(void)
{
	uint32_t low = HAL_REGISTER(TUTTI_REG_TIME_LO);

	return low | (uint64_t)HAL_REGISTER(TUTTI_REG_TIME_HI) << 32;
}

static inline void hal_idle(void)
{
	__asm__ volatile("ecall" ::: "memory");
}

static inline void hal_halt(void)
{
	HAL_REGISTER(TUTTI_REG_HALT) = 1;
}

/** hal_release() - order earlier reads and writes before later writes, as others see them. */
static inline void hal_release(void)
{
	__asm__ volatile("fence rw, w" ::: "memory");
}

/** hal_acquire() - order earlier reads before later reads and writes. */
static inline void hal_acquire(void)
{
	__asm__ volatile("fence r, rw" ::: "memory");
}

#else
#include "core/host/hal_host.h"
#endif

/** hal_region() - start of a region of the control window. */
static inline void *hal_region(struct tutti_region region)
{
	return HAL_WINDOW + region.offset;
}

#endif

/* SPDX-License-Identifier: MIT */
/** DOC: What every unit of the firmware uses: the card contract, the sizes of tables, small helpers */
#ifndef BASE_H
#define BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tutti/contract.h"

#define FW_VERSION TUTTI_VERSION(1, 0)
#define FW_CONTRACT_MIN TUTTI_VERSION(1, 1) /* the first version that has the command BLOCK */

/*
 * Sizes of the firmware's tables, all of which live in the 256 KiB of local memory. There is
 * one image for cards of up to 256 SMs and one for larger cards, which has less of what is
 * hardly ever needed at once (spec CGA-04). The host build serves cards of every size.
 */
#ifdef __riscv
#ifndef FW_MAX_SMS
#define FW_MAX_SMS TUTTI_SMALL_CARD_SMS
#endif
#define FW_LARGE (FW_MAX_SMS > TUTTI_SMALL_CARD_SMS)
#else
#define FW_MAX_SMS TUTTI_MAX_SMS
#define FW_LARGE 0
#endif
#define FW_TASKS 32u         /* most task slots used, whatever the card offers */
#define FW_BUFFERS 5u        /* fetch buffers */
#define FW_BUFFER_PACKETS 16u
#define FW_BLOCKS (FW_LARGE ? 6u : 8u)   /* condensed packets that are expanded at once */
#define FW_GENERAL_BLOCKS 2u /* how many of them may differ in rarely changed fields */
/* Card memory takes what exceeds the next three: it works as well, only slower. */
#define FW_RSBS_SCRATCH 4u   /* reference state buffers placed in scratch RAM that local memory holds */
#define FW_QUEUES (FW_LARGE ? 30u : 72u) /* queues whose records local memory holds */
#define FW_RSBS 64u          /* reference state buffers whose records local memory holds */
#define FW_SHAPES (FW_LARGE ? 4u : 6u)
#define FW_KERNELS 16u
#define FW_AGENTS 8u
#define FW_PROBES 8u         /* barrier packets whose signals are being read */
#define FW_TMDS 36u          /* tasks with metadata of their own */
#define FW_PENDING 28u       /* task states that are kept: of waiting tasks and of those that can be evicted */
#define FW_AFFINITIES 12u    /* masks of SMs */
#define FW_QUEUE_WORDS (TUTTI_MAX_QUEUES / 32)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
/* Code that runs for every kernel is kept together, because an emulated core pays for jumps to another 4 KiB page. */
#define HOT __attribute__((noinline, section(".text.hot")))
#define COLD __attribute__((noinline, cold))
#ifdef __riscv
#define HOT_DATA __attribute__((section(".bss.hot"))) /* within reach of gp */
#define HOT_DATA_LONG __attribute__((section(".bss.hot_long"))) /* at least its start is within reach of gp */
#define HOT_DATA_RING __attribute__((section(".bss.hot_ring")))
#else
#define HOT_DATA
#define HOT_DATA_LONG
#define HOT_DATA_RING
#endif

/** fw_address_ok() - whether an address from a packet is below 2^47, as user addresses are. */
static inline bool fw_address_ok(uint64_t address)
{
	return !((uint32_t)(address >> 32) >> (47 - 32));
}

static inline uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/** words_copy() - copy 32-bit words; @to and @from are aligned. Code into which it is not inlined calls that in base.c. */
inline void words_copy(void *to, const void *from, unsigned words)
{
	uint32_t *t = to;
	const uint32_t *f = from;

	for (; words >= 4; words -= 4, t += 4, f += 4) {
		uint32_t a = f[0], b = f[1], c = f[2], d = f[3];

		t[0] = a;
		t[1] = b;
		t[2] = c;
		t[3] = d;
	}
	while (words--)
		*t++ = *f++;
}

/** words_clear() - clear 32-bit words; @to is aligned. */
static inline void words_clear(void *to, unsigned words)
{
	volatile uint32_t *t = to;

	while (words--)
		*t++ = 0;
}

/*
 * The factor passes through an empty asm, because gcc would expand a multiplication by a known constant. For code into
 * which it is not inlined, see words_copy().
 */
inline unsigned popcount32(uint32_t x)
{
	uint32_t m5 = 0x55555555u, m3 = 0x33333333u, mf = 0x0f0f0f0fu, m1 = 0x01010101u;

	__asm__("" : "+r"(m1));
	x -= (x >> 1) & m5;
	x = (x & m3) + ((x >> 2) & m3);
	x = (x + (x >> 4)) & mf;
	return (x * m1) >> 24;
}

/** bit_number() - number of the only set bit of @bit; RV32IMC has no instruction for that. */
static inline unsigned bit_number(uint32_t bit)
{
	extern const uint8_t lowest_bit_table[32];

	return lowest_bit_table[(bit * 0x077cb531u) >> 27];
}

/** single_bit() - the lowest set bit of @x. The asm keeps gcc from turning its removal into x & (x - 1). */
static inline uint32_t single_bit(uint32_t x)
{
	x &= -x;
	__asm__("" : "+r"(x));
	return x;
}

/** without_bit() - @x without its set bit @bit. The asm keeps gcc from testing the result before it is computed. */
static inline uint32_t without_bit(uint32_t x, uint32_t bit)
{
	x ^= bit;
	__asm__("" : "+r"(x));
	return x;
}

/** lowest_bit() - number of the lowest set bit of @x, which is not 0. */
static inline unsigned lowest_bit(uint32_t x)
{
	return bit_number(x & -x);
}

#endif

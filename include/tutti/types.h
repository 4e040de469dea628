/* SPDX-License-Identifier: MIT */
/**
 * DOC: Fixed-width types and layout checks shared by every side of the contract
 *
 * Driver (kernel C), firmware (RV32), device code (RV64), runtime, emulated card and
 * tests (x86-64) include these headers unchanged; applications do so too, in C99 or
 * newer and in C++11 or newer. Everything is little endian. No structure has a
 * hidden hole: pads are named, and are zero. Every field's offset is asserted right
 * below its structure, so that two sides that disagree do not compile.
 * (spec SYS-01, SYS-55)
 */
#ifndef TUTTI_TYPES_H
#define TUTTI_TYPES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#ifndef __cplusplus
#include <stdbool.h>
#endif
#include <stddef.h>
#include <stdint.h>
#endif

/**
 * TUTTI_STATIC_ASSERT() - make the compiler refuse the file if a constant condition does not hold.
 *
 * C and C++ spell it differently, and in C99 it is an extension.
 */
#if defined(__cplusplus)
#define TUTTI_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define TUTTI_STATIC_ASSERT(condition, text) __extension__ _Static_assert(condition, text)
#endif

/** TUTTI_SIZE() - assert the size of a shared structure, in bytes. */
#define TUTTI_SIZE(type, bytes) TUTTI_STATIC_ASSERT(sizeof(type) == (bytes), "size of " #type)

/** TUTTI_AT() - assert the offset of one field of a shared structure, in bytes. */
#define TUTTI_AT(type, field, offset) \
	TUTTI_STATIC_ASSERT(__builtin_offsetof(type, field) == (offset), "offset of " #type "." #field)

/**
 * TUTTI_CONTRACT_VERSION - version of the card contract that these headers describe.
 *
 * A version has its major number in bits 31..16 and its minor number in bits 15..0. A card and
 * a firmware state the range they speak; host software works with those whose range holds its own
 * version. (spec SYS-05)
 */
#define TUTTI_VERSION(major, minor) (((uint32_t)(major) << 16) | (uint32_t)(minor))
#define TUTTI_VERSION_MAJOR(v) ((uint32_t)(v) >> 16)
#define TUTTI_VERSION_MINOR(v) ((uint32_t)(v) & 0xffffu)
#define TUTTI_CONTRACT_VERSION TUTTI_VERSION(1, 1)

/* Ceilings for arrays and masks. What a card really has is in its discovery data. */
#define TUTTI_MAX_SMS 1024u
#define TUTTI_SMALL_CARD_SMS 256u /* a card with more needs the large firmware image (TUTTI_IMAGE_NAME_LARGE) */
#define TUTTI_MAX_GPCS 64u
#define TUTTI_MAX_QUEUES 256u
#define TUTTI_MAX_CONTEXTS 256u
#define TUTTI_MAX_RSBS 256u
#define TUTTI_WAVE_ITEMS 32u /* most work-items of a wave */
#define TUTTI_PAGE_SIZE 4096u

#endif

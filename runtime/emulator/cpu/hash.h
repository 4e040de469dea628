/* SPDX-License-Identifier: MIT */
/** DOC: The hash by which a translation knows its program */
#ifndef CPU_HASH_H
#define CPU_HASH_H

#include <stdint.h>

/** cpu_hash() - 64-bit FNV-1a. */
static inline uint64_t cpu_hash(const uint8_t *data, uint64_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	while (bytes--)
		hash = (hash ^ *data++) * 0x100000001b3ull;
	return hash;
}

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Condensed packets (spec PKT-12 .. PKT-19)
 *
 * One pass validates a packet and expands it into a block of records; no kernel is launched before the whole packet
 * has passed.
 */
#ifndef CONDENSED_H
#define CONDENSED_H

#include "packets/condensed_block.h"
#include "place/kernel_cache.h"

#define BLOCK_FULL (-2)
#define BLOCK_CHECKED (-3)

/* Diffs that have records of their own. */
#define SIMPLE_FIELDS (TUTTI_DIFF_GRID_X | TUTTI_DIFF_KERNARG | TUTTI_DIFF_SIGNAL)

/**
 * condensed_expand() - validate and expand @packet.
 * Return: 0, TUTTI_ERROR_PACKET or another error, PACKET_PARKED, BLOCK_FULL: it needs room for general records, of which
 * only the block in card memory has any left; or BLOCK_CHECKED: it may start, but some of its kernels have metadata or CGAs,
 * which have been checked as well
 */
int condensed_expand(struct queue *queue, const union tutti_packet *packet, struct block *block);
/** diff_units() - how many units of values follow a diff header with this 13-bit vector. table_units() - for PKT-20. */
unsigned diff_units(uint32_t vector);
unsigned table_units(uint32_t vector);

#endif

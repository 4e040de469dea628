/* SPDX-License-Identifier: MIT */
/**
 * DOC: Rare differences in condensed packets (spec PKT-14, PKT-19, PKT-20)
 *
 * Any subset of the 13 fields may differ. The differences are applied to a private copy of the reference entry, which
 * is then checked like a packet of its own and becomes a record.
 */
#ifndef CONDENSED_FIELDS_H
#define CONDENSED_FIELDS_H

#include "packets/condensed.h"
#include "place/kernel_cache.h"

/** condensed_general() - make a record of any subset of fields. @values: the units after the diff header @head */
int condensed_general(struct queue *queue, struct block *block, const uint16_t *values, uint32_t head,
		      uint32_t *record);
/** table_diff() - condensed_general() for queues with TUTTI_QUEUE_TABLE_DIFFS (PKT-20). */
int table_diff(struct queue *queue, struct block *block, const uint16_t *values, uint32_t head,
	       uint32_t *record);
/** condensed_derive() - compute and check everything in @entry that depends on its sizes and its kernel. */
int condensed_derive(struct tutti_reference *entry, const struct kernel *kernel);
/** condensed_scopes() - patch header bits 15..8 of @entry. Return: false if a reserved bit is set or a scope is bad */
bool condensed_scopes(struct tutti_reference *entry, uint32_t unit);

#endif

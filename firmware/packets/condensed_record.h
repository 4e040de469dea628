/* SPDX-License-Identifier: MIT */
/**
 * DOC: Records: what a condensed packet says of one kernel, checked
 *
 * A record is one word (entry << 7 | what follows) and the values that differ from the entry. For rare diffs the record
 * carries a whole patched entry.
 */
#ifndef CONDENSED_RECORD_H
#define CONDENSED_RECORD_H

#include "packets/dispatch_packet.h"
#include "tutti/reference.h"

/* Bits of a record word: 9..7 are the entry; those below say which values follow, in this order. */
#define RECORD_GENERAL 1u  /* a struct tutti_reference, as far as a launch needs it (RECORD_WORDS) */
#define RECORD_GRID TUTTI_TASK_NEW_GRID       /* grid x, groups x, groups */
#define RECORD_KERNARG TUTTI_TASK_NEW_KERNARG /* two words */
#define RECORD_SIGNAL 4u   /* two words */
#define RECORD_TMD 2u      /* the entry has metadata; its kernel is launched by launch_general() */
#define RECORD_CGA 32u     /* launch_general() launches it too: its kernel has CGAs, or the entry is patched and its waves independent */
#define RECORD_ENTRY_SHIFT 7
#define RECORD_DIFFERS 127u

/**
 * condensed_kernel() - read one record into a task state.
 * Return: the next record. All of *@launch but its shape and kernel is set.
 */
const uint32_t *condensed_kernel(const struct queue *queue, const uint32_t *record, uint32_t *state,
				 struct launch *launch);
/**
 * condensed_cga() - CGAs of the record that @queue is at. @flags: TUTTI_KERNEL_* of its kernel, as
 * far as the entry keeps them
 */
struct tutti_cga_shape condensed_cga(const struct queue *queue, uint32_t *flags);
/** condensed_special() - the bits RECORD_TMD and RECORD_CGA for a kernel of @entry. */
static inline uint32_t condensed_special(const struct tutti_reference *entry)
{
	uint32_t what = entry->flags / TUTTI_REFERENCE_TMD * RECORD_TMD & (RECORD_TMD | RECORD_CGA);

	_Static_assert(TUTTI_REFERENCE_INDEPENDENT / TUTTI_REFERENCE_TMD * RECORD_TMD == RECORD_CGA, "both bits at once");

	return unlikely(entry->cga.kind) ? what | RECORD_CGA : what;
}
/** condensed_entry() - what the record @queue is at launches: a reference, or a patched copy of RECORD_WORDS words. */
const uint32_t *condensed_entry(const struct queue *queue);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Reference state buffers (spec PKT-08 .. PKT-11)
 *
 * The table of a buffer lies in local memory or in card memory; the same code handles both. Which entries are valid
 * and which release scopes they have is kept apart from the table, in masks, so that a whole condensed packet can be
 * checked with a few instructions.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "core/hal.h"
#include "packets/dispatch_packet.h"
#include "tutti/reference.h"

#define RSB_FAR 0xffu /* local memory is full: the table lies in the firmware's part of card memory */

struct rsb {
	struct tutti_reference *table; /* NULL: not created */
	union {
		uint32_t masks;
		struct {
			uint8_t valid;          /* mask of the plain entries that are valid */
			uint8_t release_agent;  /* entries with release scope agent */
			uint8_t release_system;
			uint8_t dirty;          /* entries whose copy for the host is out of date */
		};
	};
	uint32_t generation;           /* changes with every store or invalidation, and when code may have changed */
	uint32_t used;                 /* command ring index behind the last condensed packet's commands */
	uint16_t asid;
	uint16_t attached;             /* number of queues that use it */
	uint16_t readers;              /* expanded packets with kernels that are not launched yet */
	uint8_t special;               /* mask of entries with metadata or CGAs; they are not in @valid, but see reference_valid() */
	uint8_t scratch;               /* for placement SCRATCH: number of the local table + 1, or RSB_FAR */
};
/** reference_buffer() - buffer number @id, or NULL if it was not created. */
struct rsb *reference_buffer(uint32_t id);

/** reference_valid() - is entry @index valid? */
static inline bool reference_valid(const struct rsb *rsb, unsigned index)
{
	return likely(rsb->valid >> index & 1) ||
	       (rsb->special >> index & 1 && rsb->table[index].flags & TUTTI_REFERENCE_VALID);
}

void reference_init(void);
/**
 * reference_keep() - make entry @e, into which the task state of a packet was decoded, valid. It must not be valid yet.
 * @w: the packet, from which the rest of the entry is filled in
 */
void reference_keep(struct rsb *rsb, uint32_t *e, unsigned index, const uint32_t *w, const struct launch *launch);
/** reference_replace() - invalidate entry @index and give it this task state; reference_keep() may follow. */
void reference_replace(struct rsb *rsb, unsigned index, const uint32_t *state);
/** reference_long_ago() - reference_taken() where @used may be too old for a signed difference of 32 bits. */
bool reference_long_ago(const struct rsb *rsb, unsigned index);
/** reference_taken() - have the engines taken all commands that refer to entry @index? */
static inline __attribute__((always_inline)) bool reference_taken(const struct rsb *rsb, unsigned index)
{
	uint32_t head = HAL_ENGINES->command_head;

	if (likely((int32_t)(head - rsb->used) >= 0) && likely((int32_t)(head - rsb->table[index].used) >= 0))
		return true;
	return reference_long_ago(rsb, index);
}
/** reference_store() - keep the decoded @packet as entry @index. @state: its task state, which is copied */
void reference_store(struct rsb *rsb, unsigned index, const struct tutti_dispatch_packet *packet,
		     const uint32_t *state, const struct launch *launch);
/**
 * reference_special() - the entry just stored has metadata or CGAs, which the fast expansion does not handle.
 * @tmd: address of its metadata, or 0
 * @cga, @kernel_flags: CGAs and TUTTI_KERNEL_* of its kernel
 */
void reference_special(struct rsb *rsb, unsigned index, uint64_t tmd, const struct tutti_cga_shape *cga, uint32_t kernel_flags);
/** reference_flags() - the entry just stored is one of a kernel with these TUTTI_KERNEL_*, some of which it keeps. */
void reference_flags(struct rsb *rsb, unsigned index, uint32_t kernel_flags);
/** reference_create() - create the buffer that a message of the driver describes. Return: 0 or -TUTTI_E* */
int reference_create(const struct tutti_msg_rsb *message);
/** reference_destroy() - destroy buffer @id. Return: 0, -TUTTI_ENOENT, or -TUTTI_EBUSY while queues use it */
int reference_destroy(uint32_t id);
/** reference_invalidate() - invalidate the entries in @mask. Return: 0 or -TUTTI_ENOENT */
int reference_invalidate(uint32_t id, uint32_t mask);
/**
 * reference_expand_again() - code of @asid may have changed: packets that were expanded before are expanded anew.
 * Return: does @asid have any buffers?
 */
bool reference_expand_again(unsigned asid);
/**
 * reference_read() - copy the table of buffer @id to @offset in card memory. Return: 0, -TUTTI_ENOENT or -TUTTI_EINVAL
 */
int reference_read(uint32_t id, uint64_t offset);
/** reference_mirror() - bring the copies of scratch buffers that the host can read up to date. */
void reference_mirror(void);

#endif

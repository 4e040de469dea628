/* SPDX-License-Identifier: MIT */
/**
 * DOC: Reference state buffers (spec PKT-08 .. PKT-11)
 *
 * The table of a buffer lies in local memory or in card memory; the code is the
 * same. Which entries are valid and what release scopes they have is kept apart,
 * so that a whole condensed packet is judged by masks.
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
			uint8_t valid;          /* mask of entries */
			uint8_t release_agent;  /* entries with release scope agent */
			uint8_t release_system;
			uint8_t dirty;          /* entries whose mirror is old */
		};
	};
	uint32_t generation;           /* changes with every store or invalidation */
	uint32_t used;                 /* end of the last condensed packet's commands (free running words) */
	uint16_t asid;
	uint16_t attached;             /* queues */
	uint16_t readers;              /* expanded packets not launched whole */
	uint8_t special;               /* mask of valid entries with metadata; not in @valid */
	uint8_t scratch;               /* placement SCRATCH: which table in local memory + 1, or RSB_FAR */
};
/** reference_buffer() - the buffer with a number, NULL: there is none. */
struct rsb *reference_buffer(uint32_t id);

void reference_init(void);
/**
 * reference_keep() - the task state of a packet was decoded into entry @e, which was not valid: the rest of it.
 * @w: the packet
 */
void reference_keep(struct rsb *rsb, uint32_t *e, unsigned index, const uint32_t *w, const struct launch *launch);
/** reference_replace() - entry @index is valid no longer and has this task state: reference_keep() may follow. */
void reference_replace(struct rsb *rsb, unsigned index, const uint32_t *state);
/** reference_long_ago() - reference_taken() where @used may be older than differences of 32 bits can tell. */
bool reference_long_ago(const struct rsb *rsb, unsigned index);
/** reference_taken() - no command is left that the engines have not taken and that refers to entry @index. */
static inline bool reference_taken(const struct rsb *rsb, unsigned index)
{
	uint32_t head = HAL_ENGINES->command_head;

	if (likely((int32_t)(head - rsb->used) >= 0) && likely((int32_t)(head - rsb->table[index].used) >= 0))
		return true;
	return reference_long_ago(rsb, index);
}
/** reference_store() - keep the processed state of @packet as entry @index: @state is copied. */
void reference_store(struct rsb *rsb, unsigned index, const struct tutti_dispatch_packet *packet,
		     const uint32_t *state, const struct launch *launch);
/**
 * reference_special() - the entry just stored is no quick one.
 * @tmd: address of its metadata, or 0
 * @cga, @lmem: its kernel's CGAs
 */
void reference_special(struct rsb *rsb, unsigned index, uint64_t tmd, const struct tutti_cga_shape *cga, bool lmem);
int reference_create(const struct tutti_msg_rsb *message);
int reference_destroy(uint32_t id);
int reference_invalidate(uint32_t id, uint32_t mask);
int reference_read(uint32_t id, uint64_t offset);
/** reference_mirror() - bring the host's view of scratch buffers up to date. */
void reference_mirror(void);

#endif

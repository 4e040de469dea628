/* SPDX-License-Identifier: MIT */
/**
 * DOC: Reference state buffers (spec PKT-08 .. PKT-11)
 *
 * The table of a buffer lies in local memory or in card memory; the code is the
 * same. Which entries are valid and what release scopes they have is kept apart,
 * so that a whole condensed packet is judged by masks.
 */
#ifndef FW_REFERENCE_H
#define FW_REFERENCE_H

#include "packet.h"
#include "tutti/reference.h"

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
	uint8_t placement;
	uint8_t special;               /* mask of valid entries with metadata; not in @valid */
	uint32_t generation;           /* changes with every store or invalidation */
	uint16_t asid;
	uint16_t attached;             /* queues */
	uint16_t readers;              /* expanded packets not launched whole */
	uint8_t scratch;               /* which table in local memory */
};
extern struct rsb rsbs[TUTTI_MAX_RSBS];

void reference_init(void);
/** reference_store() - keep the processed state of @packet as entry @index. */
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

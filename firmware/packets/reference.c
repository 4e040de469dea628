// SPDX-License-Identifier: MIT
#include "packets/reference.h"

#include "core/card_memory.h"
#include "core/command_ring.h"
#include "core/context.h"
#include "core/state.h"
#include "place/kernel_cache.h"

static struct rsb rsbs[FW_RSBS];

static struct tutti_reference scratch[FW_RSBS_SCRATCH][TUTTI_REFERENCES] __attribute__((aligned(128)));
static uint32_t scratch_used;
static uint32_t far_rsbs; /* how many of the buffers in card memory exist */
static uint32_t near_end; /* no buffer in local memory from this number on was ever created */

_Static_assert((TUTTI_MAX_RSBS - FW_RSBS) * sizeof(struct rsb) <= CARD_RSBS_BYTES, "the others lie in card memory");

static COLD struct rsb *rsb_at(unsigned id)
{
	return id < FW_RSBS ? &rsbs[id] : (struct rsb *)card_memory(CARD_RSBS) + (id - FW_RSBS);
}

/* A table in local memory or, if that is full, in the firmware's part of card memory. */
static COLD struct tutti_reference *scratch_take(unsigned id, uint8_t *which)
{
	unsigned i = 0;

	while (i < FW_RSBS_SCRATCH && scratch_used >> i & 1)
		i++;
	if (i == FW_RSBS_SCRATCH) {
		*which = RSB_FAR;
		return ((struct tutti_rsb *)card_memory(CARD_TABLES) + id)->reference;
	}
	scratch_used |= 1u << i;
	*which = (uint8_t)(i + 1);
	return scratch[i];
}

COLD void reference_init(void)
{
	unsigned i;

	for (i = 0; i < TUTTI_MAX_RSBS; i++)
		*rsb_at(i) = (struct rsb){ 0 };
	scratch_used = far_rsbs = near_end = 0;
}

/* Only commands between head and tail are still in the ring; any others were taken, however long ago that was. */
static bool is_taken(uint32_t used)
{
	uint32_t head = HAL_ENGINES->command_head;

	return used - head > command_tail() - head || used == head;
}

COLD bool reference_long_ago(const struct rsb *rsb, unsigned index)
{
	return is_taken(rsb->used) && is_taken(rsb->table[index].used);
}

/* Entry @index is about to become invalid. */
static inline __attribute__((always_inline)) void unmask(struct rsb *rsb, unsigned index)
{
	uint32_t bit = 1u << index;

	rsb->masks = (rsb->masks & ~(bit | bit << 8 | bit << 16)) | bit << 24;
	rsb->generation++;
	attention.idle |= ATTEND_MIRROR;
}

/* Invalidate entry @index and empty it, as far as reference_keep() does not fill it in anyway. */
static inline __attribute__((always_inline)) void forget(struct rsb *rsb, unsigned index)
{
	unmask(rsb, index);
	rsb->special &= (uint8_t)~(1u << index);
	rsb->table[index].flags = 0;
	rsb->table[index].cga = (struct tutti_cga_shape){ 0 };
}

void reference_keep(struct rsb *rsb, uint32_t *e, unsigned index, const uint32_t *w, const struct launch *launch)
{
	uint32_t head = w[0], masks;

	e[REFERENCE_AT(signal)] = w[14];
	e[REFERENCE_AT(signal) + 1] = w[15];
	e[REFERENCE_AT(groups)] = launch->groups;
	e[REFERENCE_AT(header)] = head | TUTTI_REFERENCE_VALID << 16;
	e[REFERENCE_AT(shape)] = 0;
	e[REFERENCE_AT(item_private)] = w[6];
	e[REFERENCE_AT(group_bytes)] = w[7];
	e[REFERENCE_AT(kernel_object)] = w[8];
	e[REFERENCE_AT(kernel_object) + 1] = w[9];

	/* one read and one write change all masks: valid, dirty, and that of its release scope */
	masks = rsb->masks | (1u | 1u << 24) << index;
	head = head >> TUTTI_HEADER_RELEASE_SHIFT & TUTTI_HEADER_SCOPE;
	rsb->masks = masks | 1u << index << 8 * head;
	attention.idle |= ATTEND_MIRROR;
}

COLD void reference_replace(struct rsb *rsb, unsigned index, const uint32_t *state)
{
	uint32_t *e = (uint32_t *)&rsb->table[index];
	unsigned i;

	forget(rsb, index);
#pragma GCC unroll 18
	for (i = 0; i < TUTTI_TASK_WORDS; i++)
		e[i] = state[i];
}

COLD void reference_store(struct rsb *rsb, unsigned index, const struct tutti_dispatch_packet *packet,
			  const uint32_t *state, const struct launch *launch)
{
	reference_replace(rsb, index, state);
	reference_keep(rsb, (uint32_t *)&rsb->table[index], index, (const uint32_t *)packet, launch);
}

COLD void reference_flags(struct rsb *rsb, unsigned index, uint32_t kernel_flags)
{
	kernel_flags &= TUTTI_KERNEL_LMEM | TUTTI_KERNEL_INDEPENDENT;
	rsb->table[index].flags |= (uint16_t)(kernel_flags << TUTTI_REFERENCE_KERNEL_SHIFT);
}

/* Valid entries with metadata or CGAs are in @special instead of @valid, so that the fast expansion refuses them. */
COLD void reference_special(struct rsb *rsb, unsigned index, uint64_t tmd, const struct tutti_cga_shape *cga, uint32_t kernel_flags)
{
	rsb->valid &= (uint8_t)~(1u << index);
	rsb->special |= (uint8_t)(1u << index);
	rsb->table[index].tmd = tmd;
	rsb->table[index].cga = *cga;
	/* the state says what the SMs are told of the CGAs of this packet; those of later kernels may have another size */
	for (unsigned i = 0; i < 3; i++)
		rsb->table[index].no_cga[i] = 0;
	if (tmd)
		rsb->table[index].flags |= TUTTI_REFERENCE_TMD;
	reference_flags(rsb, index, kernel_flags);
}

/* words_copy() of a whole entry, as references are stored often enough for that to count. */
static void copy_entry(uint32_t *to, const uint32_t *from)
{
	unsigned i, k;

	for (i = 0; i < sizeof(struct tutti_reference) / 4; i += 16)
#pragma GCC unroll 16
		for (k = 0; k < 16; k++)
			to[i + k] = from[i + k];
}

/* Bring the copy of a scratch buffer that the host can read up to date; the window need not have pages for all. */
static COLD void mirror(struct rsb *rsb, unsigned id)
{
	const struct tutti_discovery *discovery = (const void *)HAL_WINDOW;
	uint8_t *page = (uint8_t *)hal_region(discovery->rsb_window) + id * TUTTI_PAGE_SIZE;
	unsigned i;

	if ((id + 1) * TUTTI_PAGE_SIZE > discovery->rsb_window.bytes)
		return;
	for (i = 0; i < TUTTI_REFERENCES; i++)
		if (rsb->dirty >> i & 1)
			copy_entry((uint32_t *)(void *)page + i * sizeof(struct tutti_reference) / 4,
				   (const uint32_t *)&rsb->table[i]);
	rsb->dirty = 0;
}

COLD int reference_create(const struct tutti_msg_rsb *message)
{
	struct rsb *rsb = rsb_at(message->rsb & (TUTTI_MAX_RSBS - 1));
	struct tutti_reference *table;
	uint8_t which = 0;

	if (message->rsb >= fw.max_rsbs)
		return -TUTTI_EINVAL;
	if (!context_exists(message->asid))
		return -TUTTI_ENOENT;
	if (rsb->table)
		return -TUTTI_EEXIST;
	if (message->placement == TUTTI_RSB_SCRATCH) {
		table = scratch_take(message->rsb, &which);
	} else if (message->placement == TUTTI_RSB_MEMORY) {
		if (message->offset & 63 || message->offset > fw.reserved_bytes - TUTTI_FIRMWARE_BYTES ||
		    fw.reserved_bytes - TUTTI_FIRMWARE_BYTES - message->offset < sizeof(struct tutti_rsb))
			return -TUTTI_EINVAL;
		table = hal_card(message->offset, sizeof(struct tutti_rsb));
		if (!table)
			return -TUTTI_EINVAL;
	} else {
		return -TUTTI_EINVAL;
	}
	for (uint32_t *w = (uint32_t *)table, *end = w + sizeof(struct tutti_rsb) / 4; w < end; w++)
		*w = 0;
	for (unsigned k = 0; k < TUTTI_REFERENCES; k++)
		table[k].used = HAL_ENGINES->command_head;
	*rsb = (struct rsb){ .table = table,
			     .scratch = which,
			     .used = HAL_ENGINES->command_head,
			     .asid = message->asid,
			     .dirty = 0xff };
	if (message->rsb >= FW_RSBS)
		far_rsbs++;
	else if (near_end <= message->rsb)
		near_end = message->rsb + 1;
	if (which)
		mirror(rsb, message->rsb);
	return 0;
}

COLD struct rsb *reference_buffer(uint32_t id)
{
	return id < TUTTI_MAX_RSBS && rsb_at(id)->table ? rsb_at(id) : NULL;
}

COLD int reference_destroy(uint32_t id)
{
	struct rsb *rsb = reference_buffer(id);

	if (!rsb)
		return -TUTTI_ENOENT;
	if (rsb->attached)
		return -TUTTI_EBUSY;
	reference_invalidate(id, 0xff);
	reference_mirror();
	if (rsb->scratch && rsb->scratch != RSB_FAR)
		scratch_used &= ~(1u << (rsb->scratch - 1));
	rsb->table = NULL;
	far_rsbs -= id >= FW_RSBS;
	return 0;
}

/*
 * Invalidate entry @index, from which kernels may still have to be launched: these get all that it held. One with metadata or
 * CGAs stays in @special, so that it is emptied before another reference is stored there.
 */
static COLD void invalidate(struct rsb *rsb, unsigned index)
{
	unmask(rsb, index);
	rsb->table[index].flags &= (uint16_t)~TUTTI_REFERENCE_VALID;
}

COLD int reference_invalidate(uint32_t id, uint32_t mask)
{
	struct rsb *rsb = reference_buffer(id);
	unsigned i;

	if (!rsb)
		return -TUTTI_ENOENT;
	for (i = 0; i < TUTTI_REFERENCES; i++)
		if (mask >> i & 1 && rsb->readers)
			invalidate(rsb, i);
		else if (mask >> i & 1)
			forget(rsb, i);
	return 0;
}

COLD bool reference_expand_again(unsigned asid)
{
	unsigned i = far_rsbs ? TUTTI_MAX_RSBS : near_end;
	bool any = false;

	while (i--) {
		struct rsb *rsb = rsb_at(i);

		if (rsb->table && rsb->asid == asid) {
			rsb->generation++;
			any = true;
		}
	}
	return any;
}

COLD int reference_read(uint32_t id, uint64_t offset)
{
	struct rsb *rsb = reference_buffer(id);
	void *to;

	if (!rsb)
		return -TUTTI_ENOENT;
	to = offset & 3 ? NULL : hal_card(offset, sizeof(struct tutti_rsb));
	if (!to)
		return -TUTTI_EINVAL;
	words_copy(to, rsb->table, sizeof(struct tutti_rsb) / 4);
	return 0;
}

COLD void reference_mirror(void)
{
	unsigned i;

	if (!(attention.idle & ATTEND_MIRROR))
		return;
	attention.idle &= ~ATTEND_MIRROR;
	for (i = 0; i < near_end; i++)
		if (rsbs[i].table && rsbs[i].dirty && rsbs[i].scratch)
			mirror(&rsbs[i], i);
	for (i = FW_RSBS; far_rsbs && i < TUTTI_MAX_RSBS; i++) {
		struct rsb *rsb = rsb_at(i);

		if (rsb && rsb->table && rsb->dirty && rsb->scratch)
			mirror(rsb, i);
	}
}

// SPDX-License-Identifier: MIT
#include "core/state.h"

#include "core/card_memory.h"
#include "core/task_record.h"
#include "core/wait.h"
#include "tutti/reference.h"

_Static_assert(TUTTI_MAX_RSBS * sizeof(struct tutti_rsb) <= CARD_TABLES_BYTES, "all buffers could lie in card memory");

struct fw_limits fw HOT_DATA;
struct attention attention HOT_DATA;
struct place_state place_state HOT_DATA;
struct packet_error packet_error;
struct queue_table queue_table HOT_DATA_LONG;
struct queue queues[FW_QUEUES];
struct task_table task_table HOT_DATA;
struct task tasks[FW_TASKS];

/* Has reserved memory room for all parts of card_memory.h beside RSBs and firmware image? */
static COLD bool card_memory_fits(const struct tutti_discovery *d)
{
	const volatile struct tutti_control *control = hal_region(d->control);
	uint64_t rsbs = (uint64_t)d->max_rsbs * sizeof(struct tutti_rsb), others;

	if (d->peus > CARD_WAVES || d->peus * d->peu_waves > CARD_WAVES || d->reserved_bytes < TUTTI_FIRMWARE_BYTES ||
	    d->reserved_bytes > d->memory_bytes || d->reserved_bytes > TUTTI_CORE_CARD_BYTES)
		return false;
	others = d->reserved_bytes - TUTTI_FIRMWARE_BYTES;
	return rsbs <= others && control->image_bytes <= others && control->image_offset <= others - control->image_bytes;
}

bool fw_limits_init(const struct tutti_discovery *d)
{
	uint32_t shift = 0;

	if (d->magic != TUTTI_DISCOVERY_MAGIC || !d->sms || d->sms > FW_MAX_SMS || !d->peus || !d->peu_waves)
		return false;
	if (d->timer_hz >> 38) /* 274 GHz: ticks_per_us is computed in 32 bits */
		return false;
	while (shift < 31 && 1u << shift < d->shared_block_bytes)
		shift++;
	if (1u << shift != d->shared_block_bytes || !card_memory_fits(d))
		return false;
	fw = (struct fw_limits){
		.sms = d->sms,
		.words = (d->sms + 31) / 32,
		.tasks = min32(d->task_slots, FW_TASKS),
		.cta_slots = d->cta_slots,
		.workgroup_items = min32(d->workgroup_items, d->peus * d->peu_waves * TUTTI_WAVE_ITEMS),
		.item_private = d->private_bytes / TUTTI_WAVE_ITEMS,
		.shared_blocks = d->shared_blocks,
		.cta_shared = d->shared_blocks,
		.shared_shift = shift,
		.scalar_blocks = d->scalar_blocks,
		.vector_blocks = d->vector_blocks,
		.barriers = d->barriers,
		.peus = d->peus,
		.peu_waves = d->peu_waves,
		.max_queues = min32(d->max_queues, TUTTI_MAX_QUEUES),
		.max_contexts = min32(d->max_contexts, TUTTI_MAX_CONTEXTS),
		.max_rsbs = min32(d->max_rsbs, TUTTI_MAX_RSBS),
		.ring_min = d->ring_packets_min,
		.ring_max = d->ring_packets_max,
		.vectors = d->msix_vectors,
		.ticks_per_us = d->timer_hz >= 1000000 ? (uint32_t)(d->timer_hz >> 6) / 15625u : 1,
		.reserved_bytes = d->reserved_bytes,
	};
	return true;
}

COLD int packet_refuse(int code, uint32_t field)
{
	packet_error = (struct packet_error){ .field = field };
	return code;
}

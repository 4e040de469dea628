// SPDX-License-Identifier: MIT
#include "core/card_memory.h"

#include "tutti/reference.h"

_Static_assert(TUTTI_MAX_RSBS * sizeof(struct tutti_rsb) <= CARD_TABLES_BYTES, "all buffers could lie here");

COLD bool card_memory_fits(const struct tutti_discovery *d)
{
	const volatile struct tutti_control *control = hal_region(d->control);
	uint64_t rsbs = (uint64_t)d->max_rsbs * sizeof(struct tutti_rsb), others;

	if (d->peus > CARD_WAVES || d->peus * d->peu_waves > CARD_WAVES || d->reserved_bytes < TUTTI_FIRMWARE_BYTES ||
	    d->reserved_bytes > d->memory_bytes || d->reserved_bytes > TUTTI_CORE_CARD_BYTES)
		return false;
	others = d->reserved_bytes - TUTTI_FIRMWARE_BYTES;
	return rsbs <= others && control->image_bytes <= others && control->image_offset <= others - control->image_bytes;
}

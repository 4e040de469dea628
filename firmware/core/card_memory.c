// SPDX-License-Identifier: MIT
#include "core/card_memory.h"

COLD bool card_memory_fits(const struct tutti_discovery *d)
{
	const volatile struct tutti_control *control = hal_region(d->control);
	uint64_t rsbs = (uint64_t)d->max_rsbs * sizeof(struct tutti_rsb);

	if (d->reserved_bytes < sizeof(struct card_memory) || d->reserved_bytes > TUTTI_CORE_CARD_BYTES ||
	    d->peus > CARD_WAVES || d->peus * d->peu_waves > CARD_WAVES)
		return false;
	return rsbs <= d->reserved_bytes - sizeof(struct card_memory) &&
	       control->image_offset + control->image_bytes <= d->reserved_bytes - sizeof(struct card_memory);
}

// SPDX-License-Identifier: GPL-2.0 OR MIT
/* What the card says of itself is checked once, before it is believed (spec SYS-03; include/tutti/discovery.h). */
#include "card/discovery.h"

/** tutti_discovery_range_holds() - the driver's contract version is in the range; says both if not. */
bool tutti_discovery_range_holds(struct tutti_device *tdev, const char *who, u32 min, u32 max)
{
	const u32 own = TUTTI_CONTRACT_VERSION;

	if (own >= min && own <= max)
		return true;
	drm_err(&tdev->drm, "%s speaks contract %u.%u to %u.%u, this driver %u.%u\n", who, TUTTI_VERSION_MAJOR(min),
		TUTTI_VERSION_MINOR(min), TUTTI_VERSION_MAJOR(max), TUTTI_VERSION_MINOR(max), TUTTI_VERSION_MAJOR(own),
		TUTTI_VERSION_MINOR(own));
	return false;
}

static bool tutti_discovery_region_ok(const struct tutti_region *region, u64 window, u64 least, u32 align)
{
	return !(region->offset & (align - 1)) && region->offset <= window &&
	       region->bytes <= window - region->offset && region->bytes >= least;
}

static bool tutti_discovery_regions_ok(const struct tutti_discovery *d)
{
	u64 w = d->window_bytes;

	return tutti_discovery_region_ok(&d->control, w, sizeof(struct tutti_control), 64) &&
	       tutti_discovery_region_ok(&d->status, w, sizeof(struct tutti_status), PAGE_SIZE) &&
	       tutti_discovery_region_ok(&d->host_ring, w, sizeof(struct tutti_message), 64) &&
	       tutti_discovery_region_ok(&d->card_ring, w, sizeof(struct tutti_message), 64) &&
	       tutti_discovery_region_ok(&d->log, w, sizeof(struct tutti_log), 64) &&
	       tutti_discovery_region_ok(&d->crash, w, sizeof(struct tutti_crash), 64) &&
	       tutti_discovery_region_ok(&d->counters, w, TUTTI_COUNTERS * sizeof(u64), PAGE_SIZE) &&
	       tutti_discovery_region_ok(&d->trace, w, 0, 64) && tutti_discovery_region_ok(&d->sm_states, w, 0, 64) &&
	       tutti_discovery_region_ok(&d->sm_table, w, 0, 4) &&
	       tutti_discovery_region_ok(&d->rsb_window, w, 0, PAGE_SIZE) &&
	       tutti_discovery_region_ok(&d->doorbells, w, (u64)d->max_queues * TUTTI_PAGE_SIZE, PAGE_SIZE);
}

static bool tutti_discovery_memory_ok(const struct tutti_discovery *d, u64 bar_bytes)
{
	return d->window_bytes <= d->aperture && d->aperture <= bar_bytes && PAGE_ALIGNED(d->aperture) &&
	       d->aperture_bytes <= bar_bytes - d->aperture && d->reserved_bytes <= d->aperture_bytes &&
	       d->reserved_bytes <= d->memory_bytes && PAGE_ALIGNED(d->reserved_bytes) &&
	       (u64)d->max_rsbs * sizeof(struct tutti_rsb) <= d->reserved_bytes;
}

static bool tutti_discovery_limits_ok(const struct tutti_discovery *d)
{
	return d->max_queues && d->max_queues <= TUTTI_MAX_QUEUES && d->max_contexts >= 2 &&
	       d->max_contexts <= TUTTI_MAX_CONTEXTS && d->max_rsbs <= TUTTI_MAX_RSBS && d->sms &&
	       d->sms <= TUTTI_MAX_SMS && d->msix_vectors && is_power_of_2(d->ring_packets_min) &&
	       is_power_of_2(d->ring_packets_max) && d->ring_packets_max >= d->ring_packets_min;
}

/* In the order discovery.h gives. */
int tutti_discovery_check(struct tutti_device *tdev)
{
	struct tutti_discovery *known = &tdev->known;
	struct drm_device *drm = &tdev->drm;

	if (known->magic != TUTTI_DISCOVERY_MAGIC) {
		drm_err(drm, "no card: discovery reads %s (%#llx)\n",
			known->magic == U64_MAX ? "all ones" : known->magic ? "nonsense" : "zero", known->magic);
		return -ENODEV;
	}
	if (known->bytes < sizeof(*known)) {
		drm_err(drm, "discovery data has %u bytes, %zu are needed\n", known->bytes, sizeof(*known));
		return -ENODEV;
	}
	if (!tutti_discovery_range_holds(tdev, "the card", known->contract_min, known->contract_max))
		return -ENODEV;
	if (!tutti_discovery_regions_ok(known) || !tutti_discovery_memory_ok(known, tdev->bar_bytes) ||
	    !tutti_discovery_limits_ok(known)) {
		drm_err(drm, "the card's discovery data is not consistent\n");
		return -ENODEV;
	}
	known->name[sizeof(known->name) - 1] = 0;
	return 0;
}

// SPDX-License-Identifier: MIT
/* Settings of the whole card, and queries. */
#include <string.h>

#include "transport/drm/drm.h"
#include "tutti/sm_state.h"

int drm_counters(struct tutti_device *device)
{
	struct drm_tutti_counters args = {0};

	return drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_COUNTERS, &args);
}

/* In this transport the table in the window is plain memory, which the driver fills on request. */
int drm_sm_states(struct tutti_device *device)
{
	struct drm_tutti_query query = {.what = DRM_TUTTI_QUERY_SM_STATES,
					.size = device->known.sms * sizeof(struct tutti_sm_state),
					.pointer = (uintptr_t)device->bar + device->known.sm_states.offset};

	return drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_QUERY, &query);
}

int drm_sm_enable(struct tutti_device *device, unsigned first, unsigned count, bool enable)
{
	struct drm_tutti_sm_enable args = {.first = first, .count = count, .enable = enable};

	return drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_SM_ENABLE, &args);
}

int drm_policy_set(struct tutti_device *device, unsigned policy, uint32_t value)
{
	uint32_t shift = tutti_policy_shift(policy);
	struct drm_tutti_policy args = {.policy = policy,
					.which = (uint32_t)((uint64_t)value >> shift),
					.value = value & ((1ull << shift) - 1)};

	return drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_POLICY_SET, &args);
}

int drm_policy_get(struct tutti_device *device, unsigned policy, uint32_t which, uint32_t *value)
{
	struct drm_tutti_policy args = {.policy = policy, .which = which};
	int error = drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_POLICY_GET, &args);

	if (!error)
		*value = (uint32_t)args.value;
	return error;
}

int drm_occupancy(struct tutti_device *device, const struct tutti_msg_occupancy *ask,
		  struct transport_fit *fit)
{
	struct drm_tutti_occupancy args = {
	    .waves = ask->waves, .scalar_blocks = ask->scalar_blocks, .vector_blocks = ask->vector_blocks,
	    .shared_blocks = ask->shared_blocks, .barriers = ask->barriers, .mode = ask->mode, .lmem = ask->lmem};
	int error;

	for (unsigned i = 0; i < DRM_TUTTI_CGA_LEVELS; i++)
		args.cga[i] = (struct drm_tutti_cga){ask->cga[i].x, ask->cga[i].y, ask->cga[i].z, ask->cga[i].kind};
	error = drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_OCCUPANCY, &args);
	if (!error)
		*fit = (struct transport_fit){.cgas = (uint32_t)args.cgas, .ctas = args.ctas, .sms = args.sms};
	return error;
}

/* ---- the trace ---- */

int drm_trace_start(struct tutti_device *device, uint32_t kinds)
{
	struct drm_tutti_trace_start args = {.kinds = kinds};

	return drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_TRACE_START, &args);
}

int drm_trace_read(struct tutti_device *device, struct tutti_trace *records, unsigned count, uint64_t *lost)
{
	struct drm_tutti_trace_read args = {.pointer = (uintptr_t)records, .count = count};
	int error = drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_TRACE_READ, &args);

	if (error)
		return error;
	*lost = args.lost;
	return (int)args.count;
}

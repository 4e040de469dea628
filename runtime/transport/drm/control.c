// SPDX-License-Identifier: MIT
/* Settings of the whole card, and queries. */
#include <string.h>

#include "transport/drm/drm.h"
#include "tutti/sm_state.h"

int drm_control(struct drm_card *card, uint32_t op, uint64_t arg0, uint64_t arg1, uint64_t arg2)
{
	struct drm_tutti_control args = {.op = op, .arg = {arg0, arg1, arg2}};

	return drm_call(card, DRM_IOCTL_TUTTI_CONTROL, &args);
}

int drm_counters(struct tutti_device *device)
{
	return drm_control(drm_card_of(device), DRM_TUTTI_CONTROL_COUNTERS, 0, 0, 0);
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
	return drm_control(drm_card_of(device), DRM_TUTTI_CONTROL_SM_ENABLE, first, count, enable);
}

int drm_policy_set(struct tutti_device *device, unsigned policy, uint32_t value)
{
	return drm_control(drm_card_of(device), DRM_TUTTI_CONTROL_POLICY, policy, value, 0);
}

int drm_policy_get(struct tutti_device *device, unsigned policy, uint32_t which, uint32_t *value)
{
	struct drm_tutti_control ask = {.op = DRM_TUTTI_CONTROL_POLICY_ASK, .arg = {policy, which}};
	int error = drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_CONTROL, &ask);

	if (!error)
		*value = (uint32_t)ask.arg[2];
	return error;
}

int drm_occupancy(struct tutti_device *device, const struct tutti_msg_occupancy *ask,
		  struct transport_fit *fit)
{
	struct drm_tutti_occupancy occupancy = {0};
	struct drm_tutti_query query = {
	    .what = DRM_TUTTI_QUERY_OCCUPANCY, .size = sizeof(occupancy), .pointer = (uintptr_t)&occupancy};
	int error;

	_Static_assert(sizeof(occupancy.ask) == sizeof(*ask), "the driver takes the message as it is");
	memcpy(occupancy.ask, ask, sizeof(occupancy.ask));
	error = drm_call(drm_card_of(device), DRM_IOCTL_TUTTI_QUERY, &query);
	if (!error)
		*fit = (struct transport_fit){.cgas = (uint32_t)occupancy.cgas,
					      .ctas = (uint32_t)occupancy.ctas,
					      .sms = (uint32_t)occupancy.sms};
	return error;
}

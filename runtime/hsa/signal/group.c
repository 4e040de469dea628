// SPDX-License-Identifier: MIT
/* Signal groups, and waiting for any of several signals. */
#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/base/object.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/signal/signal.h"

struct group {
	struct object object;
	uint32_t count;
	hsa_signal_t signal[];
};

static void group_free(struct object *object)
{
	free(object);
}

static bool all_there(uint32_t count, const hsa_signal_t *signals)
{
	for (uint32_t i = 0; i < count; i++)
		if (!signals[i].handle)
			return false;
	return true;
}

hsa_status_t hsa_signal_group_create(uint32_t count, const hsa_signal_t *signals, uint32_t consumer_count,
				     const hsa_agent_t *consumers, hsa_signal_group_t *handle)
{
	struct group *group;

	REQUIRE_INIT();
	REQUIRE(handle && count && signals && all_there(count, signals), INVALID_ARGUMENT);
	REQUIRE(consumers_ok(consumer_count, consumers), INVALID_ARGUMENT);
	group = malloc(sizeof(*group) + count * sizeof(*signals));
	REQUIRE(group, OUT_OF_RESOURCES);
	group->count = count;
	memcpy(group->signal, signals, count * sizeof(*signals));
	group->object.destroy = group_free;
	object_add(&group->object, OBJECT_SIGNAL_GROUP, 0);
	handle->handle = group->object.handle;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t handle)
{
	struct group *group;

	REQUIRE_INIT();
	group = object_remove(OBJECT_SIGNAL_GROUP, handle.handle);
	REQUIRE(group, INVALID_SIGNAL_GROUP);
	group_free(&group->object);
	return HSA_STATUS_SUCCESS;
}

/* Waits for any of @count signals; those with handle 0 never meet their condition. Returns a negative errno or 0. */
static int wait_any(uint32_t count, const hsa_signal_t *signals, const hsa_signal_condition_t *conditions,
		    const hsa_signal_value_t *values, uint64_t timeout_ns, uint32_t *index, hsa_signal_value_t *seen)
{
	struct tutti_wait *waits = calloc(count ? count : 1, sizeof(*waits));
	uint32_t *place = calloc(count ? count : 1, sizeof(*place));
	size_t used = 0, met = 0;
	int error = -1;

	for (uint32_t i = 0; waits && place && i < count; i++) {
		if (!signals[i].handle)
			continue;
		waits[used] = (struct tutti_wait){
			.signal = signal_of(signals[i]), .condition = (uint32_t)conditions[i], .value = values[i]};
		place[used++] = i;
	}
	if (used)
		error = tutti_signal_wait_any(runtime_device(), waits, used, timeout_ns, &met);
	if (!error) {
		*index = place[met];
		*seen = waits[met].seen;
	}
	free(waits);
	free(place);
	return error;
}

hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t handle, const hsa_signal_condition_t *conditions,
					       const hsa_signal_value_t *values, hsa_wait_state_t hint,
					       hsa_signal_t *signal, hsa_signal_value_t *value)
{
	const struct group *group;
	uint32_t index;

	(void)hint;
	REQUIRE_INIT();
	group = object_find(OBJECT_SIGNAL_GROUP, handle.handle);
	REQUIRE(group, INVALID_SIGNAL_GROUP);
	REQUIRE(conditions && values && signal && value, INVALID_ARGUMENT);
	if (wait_any(group->count, group->signal, conditions, values, TUTTI_WAIT_FOREVER, &index, value))
		return HSA_STATUS_ERROR;
	*signal = group->signal[index];
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t, const hsa_signal_condition_t *,
						 const hsa_signal_value_t *, hsa_wait_state_t, hsa_signal_t *,
						 hsa_signal_value_t *)
	__attribute__((alias("hsa_signal_group_wait_any_relaxed")));

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals, hsa_signal_condition_t *conditions,
				 hsa_signal_value_t *values, uint64_t timeout, hsa_wait_state_t hint,
				 hsa_signal_value_t *satisfying)
{
	hsa_signal_value_t seen;
	uint32_t index;

	(void)hint;
	if (!runtime_device() || !signals || !conditions || !values ||
	    wait_any(count, signals, conditions, values, signal_timeout_ns(timeout), &index, &seen))
		return UINT32_MAX;
	if (satisfying)
		*satisfying = seen;
	return index;
}

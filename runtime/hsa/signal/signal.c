// SPDX-License-Identifier: MIT
#include "hsa/signal/signal.h"

#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"

#define SAME_AS(name) __attribute__((alias(#name)))

/* Both count the conditions in the same order. */
_Static_assert((int)HSA_SIGNAL_CONDITION_EQ == (int)TUTTI_EQ && (int)HSA_SIGNAL_CONDITION_NE == (int)TUTTI_NE &&
		       (int)HSA_SIGNAL_CONDITION_LT == (int)TUTTI_LT && (int)HSA_SIGNAL_CONDITION_GTE == (int)TUTTI_GTE,
	       "conditions");

bool consumers_ok(uint32_t count, const hsa_agent_t *consumers)
{
	if (count && !consumers)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (agent_of(consumers[i]) == AGENTS)
			return false;
		for (uint32_t k = 0; k < i; k++)
			if (consumers[k].handle == consumers[i].handle)
				return false;
	}
	return true;
}

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
			       hsa_signal_t *handle)
{
	tutti_signal_t signal;
	int error;

	REQUIRE_INIT();
	REQUIRE(handle && consumers_ok(count, consumers), INVALID_ARGUMENT);
	error = tutti_signal_create(runtime_device(), value, &signal);
	if (!error)
		*handle = signal_handle(signal);
	return status_of(error);
}

/* A signal of another process is what no transport can make yet. */
hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t count, const hsa_agent_t *consumers,
				   uint64_t attributes, hsa_signal_t *handle)
{
	REQUIRE_INIT();
	REQUIRE(!(attributes & ~(uint64_t)HSA_AMD_SIGNAL_AMD_GPU_ONLY), INVALID_ARGUMENT);
	return hsa_signal_create(value, count, consumers, handle);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t handle)
{
	REQUIRE_INIT();
	REQUIRE(handle.handle, INVALID_ARGUMENT);
	REQUIRE(!tutti_signal_destroy(runtime_device(), signal_of(handle)), INVALID_SIGNAL);
	return HSA_STATUS_SUCCESS;
}

uint64_t signal_timeout_ns(uint64_t timeout)
{
	uint64_t tick_ns;

	if (timeout == UINT64_MAX)
		return TUTTI_WAIT_FOREVER;
	tick_ns = 1000000000u / timestamp_hz();
	return timeout > (UINT64_MAX - 1) / tick_ns ? UINT64_MAX - 1 : timeout * tick_ns;
}

/* A wait may end early: the caller looks at the value. It does so here when nothing can change the signal any more. */
hsa_signal_value_t hsa_signal_wait_relaxed(hsa_signal_t handle, hsa_signal_condition_t condition,
					   hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t hint)
{
	int64_t seen = 0;

	(void)hint;
	tutti_signal_wait(runtime_device(), signal_of(handle), (enum tutti_condition)condition, value,
			  signal_timeout_ns(timeout), &seen);
	return seen;
}
hsa_signal_value_t hsa_signal_wait_acquire(hsa_signal_t, hsa_signal_condition_t, hsa_signal_value_t, uint64_t,
					   hsa_wait_state_t) SAME_AS(hsa_signal_wait_relaxed);
hsa_signal_value_t hsa_signal_wait_scacquire(hsa_signal_t, hsa_signal_condition_t, hsa_signal_value_t, uint64_t,
					     hsa_wait_state_t) SAME_AS(hsa_signal_wait_relaxed);

/* Only a whole signal has its value in one word. */
hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t handle, volatile hsa_signal_value_t **pointer)
{
	tutti_signal_t signal = signal_of(handle);

	REQUIRE_INIT();
	REQUIRE(signal && pointer, INVALID_ARGUMENT);
	REQUIRE(!(signal->flags & (SIGNAL_DOORBELL | TUTTI_SIGNAL_SPLIT)), INVALID_SIGNAL);
	*pointer = &signal->value;
	return HSA_STATUS_SUCCESS;
}

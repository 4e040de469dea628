// SPDX-License-Identifier: MIT
/* When kernels and copies began and ended, on HSA's clock. The card writes these times into their signals. */
#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/signal/signal.h"

/* False if it is the signal of nothing that has completed. */
static bool times_of(hsa_signal_t handle, uint64_t *start, uint64_t *end)
{
	tutti_signal_t signal = signal_of(handle);

	if (!signal || tutti_memory_info(runtime_device(), signal, NULL, NULL, NULL) || !signal->end_time)
		return false;
	*start = timestamp(signal->start_time);
	*end = timestamp(signal->end_time);
	return true;
}

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
						 hsa_amd_profiling_dispatch_time_t *time)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) == AGENT_CARD, INVALID_AGENT);
	REQUIRE(time, INVALID_ARGUMENT);
	REQUIRE(times_of(signal, &time->start, &time->end), INVALID_SIGNAL);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
	REQUIRE_INIT();
	tutti_device_copy_times(runtime_device(), enable);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
	REQUIRE_INIT();
	REQUIRE(time, INVALID_ARGUMENT);
	REQUIRE(times_of(signal, &time->start, &time->end), INVALID_SIGNAL);
	return HSA_STATUS_SUCCESS;
}

/* The times that an application gets are on the system's clock already. */
hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick, uint64_t *system)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) == AGENT_CARD, INVALID_AGENT);
	REQUIRE(system, INVALID_ARGUMENT);
	*system = tick;
	return HSA_STATUS_SUCCESS;
}

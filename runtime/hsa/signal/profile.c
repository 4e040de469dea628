// SPDX-License-Identifier: MIT
/* When kernels began and ended, on HSA's clock. The card writes these times into their signals. */
#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/signal/signal.h"

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t handle,
						 hsa_amd_profiling_dispatch_time_t *time)
{
	tutti_signal_t signal = signal_of(handle);

	REQUIRE_INIT();
	REQUIRE(agent_of(agent) == AGENT_CARD, INVALID_AGENT);
	REQUIRE(time, INVALID_ARGUMENT);
	REQUIRE(signal && !tutti_memory_info(runtime_device(), signal, NULL, NULL, NULL), INVALID_SIGNAL);
	REQUIRE(signal->end_time, INVALID_SIGNAL); /* it is the signal of no kernel that has completed */
	time->start = timestamp(signal->start_time);
	time->end = timestamp(signal->end_time);
	return HSA_STATUS_SUCCESS;
}

/* Kernels have times, copies have none: the card writes them for kernels only. */
hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
	REQUIRE_INIT();
	return enable ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
	(void)signal;
	REQUIRE_INIT();
	REQUIRE(time, INVALID_ARGUMENT);
	return HSA_STATUS_ERROR_INVALID_SIGNAL;
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

// SPDX-License-Identifier: MIT
/* Copies and fills that the card makes, which signals start and end. */
#include <errno.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/signal/signal.h"

/* A handle is the signal's address, and both types hold nothing else. */
_Static_assert(sizeof(hsa_signal_t) == sizeof(tutti_signal_t), "arrays of signals");

hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
				       size_t size, uint32_t count, const hsa_signal_t *after, hsa_signal_t done)
{
	int error;

	REQUIRE_INIT();
	REQUIRE(agent_of(to_agent) != AGENTS && agent_of(from_agent) != AGENTS, INVALID_AGENT);
	REQUIRE(to && from && !after == !count, INVALID_ARGUMENT);
	REQUIRE(done.handle, INVALID_SIGNAL);
	error = tutti_device_copy(runtime_device(), to, from, size, (const tutti_signal_t *)(const void *)after, count,
				  signal_of(done));
	return error == -EINVAL ? HSA_STATUS_ERROR_INVALID_SIGNAL : status_of(error);
}

static bool in_one_allocation(const void *address, size_t bytes)
{
	void *start;
	size_t there;

	return !tutti_memory_info(runtime_device(), address, &start, &there, NULL) &&
	       bytes <= there - (size_t)((const char *)address - (char *)start);
}

hsa_status_t hsa_amd_memory_fill(void *address, uint32_t value, size_t count)
{
	tutti_signal_t done;
	int error;

	REQUIRE_INIT();
	REQUIRE(address && !((uintptr_t)address & 3), INVALID_ARGUMENT);
	REQUIRE(count <= SIZE_MAX / 4 && in_one_allocation(address, count * 4), INVALID_ALLOCATION);
	if (!count)
		return HSA_STATUS_SUCCESS;
	error = tutti_signal_create(runtime_device(), 1, &done);
	if (error)
		return status_of(error);
	error = tutti_device_fill(runtime_device(), address, value, count * 4, NULL, 0, done);
	if (!error)
		error = tutti_signal_wait(runtime_device(), done, TUTTI_LT, 1, TUTTI_WAIT_FOREVER, NULL);
	if (!error && tutti_signal_load(done))
		error = -EIO;
	tutti_signal_destroy(runtime_device(), done);
	return status_of(error);
}

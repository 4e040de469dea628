// SPDX-License-Identifier: MIT
/* The application's handler of system events; the one event there is is a fault of memory. */
#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/queue/queue.h"

/* A handler belongs to the device that was there when it was registered, and goes with it. */
static struct {
	const struct tutti_device *device;
	hsa_amd_system_event_callback_t callback;
	void *data;
} handler;

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *data)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	REQUIRE_INIT();
	REQUIRE(callback, INVALID_ARGUMENT);
	object_lock();
	if (handler.device == runtime_device()) {
		status = HSA_STATUS_ERROR;
	} else {
		handler.device = runtime_device();
		handler.callback = callback;
		handler.data = data;
	}
	object_unlock();
	return status;
}

static uint32_t reason_of(const struct tutti_fault *fault)
{
	if (fault->cause != TUTTI_CAUSE_PROTECTION)
		return HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
	return fault->access == TUTTI_ACCESS_EXECUTE ? HSA_AMD_MEMORY_FAULT_NX : HSA_AMD_MEMORY_FAULT_READ_ONLY;
}

void event_memory_fault(const struct tutti_fault *fault)
{
	const hsa_amd_event_t event = {
		.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT,
		.memory_fault = {.agent = agent_handle(AGENT_CARD),
				 .virtual_address = fault->address,
				 .fault_reason_mask = reason_of(fault)},
	};
	hsa_amd_system_event_callback_t callback;
	void *data;

	object_lock();
	callback = handler.device == runtime_device() ? handler.callback : NULL;
	data = handler.data;
	object_unlock();
	if (callback)
		callback(&event, data);
}

// SPDX-License-Identifier: MIT
/* The application's handler of system events; the one event there is is a fault of memory. */
#include <hsa/hsa_ext_amd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"
#include "hsa/queue/queue.h"

#define HANDLE 1u

static void handler_stays(struct object *object)
{
	(void)object;
}

/* It is registered while it is in the table of objects, which the runtime empties when it is shut down. */
static struct {
	struct object object;
	hsa_amd_system_event_callback_t callback;
	void *data;
} handler = {.object.destroy = handler_stays};

/* The caller holds the lock of objects. */
static bool registered(void)
{
	return object_find(OBJECT_EVENT_HANDLER, HANDLE);
}

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void *data)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	REQUIRE_INIT();
	REQUIRE(callback, INVALID_ARGUMENT);
	object_lock();
	if (registered()) {
		status = HSA_STATUS_ERROR;
	} else {
		handler.callback = callback;
		handler.data = data;
		object_add(&handler.object, OBJECT_EVENT_HANDLER, HANDLE);
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
	callback = registered() ? handler.callback : NULL;
	data = handler.data;
	object_unlock();
	if (callback)
		callback(&event, data);
}

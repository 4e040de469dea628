// SPDX-License-Identifier: MIT
#include <errno.h>
#include <hsa/hsa_ext_amd.h>
#include <stdlib.h>
#include <string.h>

#include "hsa/agent/agent.h"
#include "hsa/base/object.h"
#include "hsa/base/runtime.h"
#include "hsa/base/status.h"
#include "hsa/memory/note.h"

hsa_status_t hsa_memory_allocate(hsa_region_t handle, size_t size, void **address)
{
	const struct region *region = region_of(handle.handle);

	REQUIRE_INIT();
	REQUIRE(region, INVALID_REGION);
	return region_allocate(region, size, address);
}

hsa_status_t hsa_memory_free(void *address)
{
	struct note *note;
	bool freed;

	REQUIRE_INIT();
	note = note_take(address); /* before another thread is given the same address */
	freed = !tutti_memory_free(runtime_device(), address);
	note_end(note, freed);
	return freed ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ALLOCATION;
}

hsa_status_t hsa_amd_memory_pool_free(void *address)
{
	return hsa_memory_free(address);
}

/* The host reaches all memory that HSA has, so it copies by itself. */
hsa_status_t hsa_memory_copy(void *to, const void *from, size_t size)
{
	REQUIRE_INIT();
	REQUIRE(to && from, INVALID_ARGUMENT);
	memcpy(to, from, size);
	return HSA_STATUS_SUCCESS;
}

/* Host and card see all memory at any time, so who owns it changes nothing. */
hsa_status_t hsa_memory_assign_agent(void *address, hsa_agent_t agent, hsa_access_permission_t access)
{
	REQUIRE_INIT();
	REQUIRE(agent_of(agent) != AGENTS, INVALID_AGENT);
	REQUIRE(address, INVALID_ARGUMENT);
	REQUIRE(access >= HSA_ACCESS_PERMISSION_RO && access <= HSA_ACCESS_PERMISSION_RW, INVALID_ARGUMENT);
	return HSA_STATUS_SUCCESS;
}

/** struct registration - memory that hsa_memory_register() has locked. Its address is the handle. */
struct registration {
	struct object object;
	size_t size;
};

static void registration_free(struct object *object)
{
	free(object);
}

/* Locks are counted, registrations are not. The caller holds the lock of objects. */
static int register_once(void *address, size_t size)
{
	struct registration *registration = object_find(OBJECT_REGISTRATION, (uintptr_t)address);
	int error;

	if (registration && registration->size >= size)
		return 0;
	registration = malloc(sizeof(*registration));
	if (!registration)
		return -ENOMEM;
	*registration = (struct registration){.object.destroy = registration_free, .size = size};
	error = tutti_memory_lock(runtime_device(), address, size);
	if (error)
		free(registration);
	else
		object_add(&registration->object, OBJECT_REGISTRATION, (uintptr_t)address);
	return error;
}

hsa_status_t hsa_memory_register(void *address, size_t size)
{
	int error;

	REQUIRE_INIT();
	REQUIRE(address || !size, INVALID_ARGUMENT);
	if (!address)
		return HSA_STATUS_SUCCESS;
	REQUIRE(size, INVALID_ARGUMENT);
	object_lock();
	error = register_once(address, size);
	object_unlock();
	return error == -EEXIST ? HSA_STATUS_SUCCESS : status_of(error);
}

hsa_status_t hsa_memory_deregister(void *address, size_t size)
{
	struct registration *registration;

	(void)size;
	REQUIRE_INIT();
	registration = object_remove(OBJECT_REGISTRATION, (uintptr_t)address);
	if (registration) /* there is none of memory of hsa_memory_allocate() */
		tutti_memory_unlock(runtime_device(), address);
	free(registration);
	return HSA_STATUS_SUCCESS;
}

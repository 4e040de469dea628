// SPDX-License-Identifier: MIT
#include "hsa_test.h"

struct found found;

const uint64_t bad_handles[BAD_HANDLES] = {0, 1, 0xdeadbeefdeadbeef, UINT64_MAX};

static hsa_status_t take_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type = -1;
	hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);

	(void)data;
	found.agents++;
	if (type == HSA_DEVICE_TYPE_CPU)
		found.host = agent;
	else
		found.card = agent;
	return status;
}

static void take_global(hsa_region_t region)
{
	uint32_t flags = 0;

	hsa_region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
	if (flags & HSA_REGION_GLOBAL_FLAG_KERNARG)
		found.kernarg = region;
	else if (flags & HSA_REGION_GLOBAL_FLAG_FINE_GRAINED)
		found.fine = region;
	else
		found.local = region;
}

static hsa_status_t take_region(hsa_region_t region, void *data)
{
	hsa_region_segment_t segment = -1;
	hsa_status_t status = hsa_region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment);

	(void)data;
	if (segment == HSA_REGION_SEGMENT_GLOBAL)
		take_global(region);
	else if (segment == HSA_REGION_SEGMENT_READONLY)
		found.readonly = region;
	else if (segment == HSA_REGION_SEGMENT_GROUP)
		found.group = region;
	else if (segment == HSA_REGION_SEGMENT_PRIVATE)
		found.private = region;
	return status;
}

/* What has been found decides nothing here: the tests say what is missing. */
int found_all(void **state)
{
	(void)state;
	if (hsa_init() || hsa_iterate_agents(take_agent, NULL))
		return -1;
	return hsa_agent_iterate_regions(found.card, take_region, NULL);
}

int found_done(void **state)
{
	(void)state;
	hsa_shut_down();
	return 0;
}

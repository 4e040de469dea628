// SPDX-License-Identifier: MIT
/* What hsa_ext_amd.h adds to the attributes of agents; rocminfo asks for most of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hsa/agent/agent.h"
#include "hsa/base/runtime.h"

#define CACHE_LINE_BYTES 64u

/* Domain, bus, device and function of the card; zeros when it is on no bus. */
static void pci_place(unsigned place[4])
{
	char address[32];

	if (tutti_device_pci_address(runtime_device(), address, sizeof(address)) ||
	    sscanf(address, "%x:%x:%x.%x", &place[0], &place[1], &place[2], &place[3]) != 4)
		memset(place, 0, 4 * sizeof(*place));
}

static uint32_t ugpus(const struct tutti_discovery *card)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < card->gpcs; i++)
		if (card->gpc[i].ugpu > last)
			last = card->gpc[i].ugpu;
	return last + 1;
}

static hsa_status_t card_compute(uint32_t attribute, void *value)
{
	const struct tutti_discovery *card = runtime_card();

	switch (attribute) {
	case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
	case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
		VALUE(uint32_t, card->sms);
	case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
		VALUE(uint32_t, card->peus * card->peu_waves);
	case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
		VALUE(uint32_t, card->peus);
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
		VALUE(uint32_t, ugpus(card));
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
		VALUE(uint32_t, card->gpcs / ugpus(card));
	case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
		VALUE(uint32_t, card->soft_core_hz / 1000000u);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

static hsa_status_t card_identity(uint32_t attribute, void *value)
{
	const struct tutti_discovery *card = runtime_card();
	unsigned place[4];

	switch (attribute) {
	case HSA_AMD_AGENT_INFO_BDFID:
		pci_place(place);
		VALUE(uint32_t, place[1] << 8 | place[2] << 3 | place[3]);
	case HSA_AMD_AGENT_INFO_DOMAIN:
		pci_place(place);
		VALUE(uint32_t, place[0]);
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		return value_text(value, 64, card->name);
	case HSA_AMD_AGENT_INFO_UUID:
		memset(value, 0, 21);
		snprintf(value, 21, "GPU-%016x", card->serial);
		return HSA_STATUS_SUCCESS;
	default:
		return card_compute(attribute, value);
	}
}

static hsa_status_t host_info(uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT:
		VALUE(uint32_t, sysconf(_SC_NPROCESSORS_ONLN));
	case HSA_AMD_AGENT_INFO_PRODUCT_NAME:
		return value_text(value, 64, "host processor");
	case HSA_AMD_AGENT_INFO_UUID:
		return value_text(value, 21, "CPU-XX");
	case HSA_AMD_AGENT_INFO_BDFID:
	case HSA_AMD_AGENT_INFO_DOMAIN:
	case HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY:
	case HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU:
	case HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU:
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ENGINES:
	case HSA_AMD_AGENT_INFO_NUM_SHADER_ARRAYS_PER_SE:
	case HSA_AMD_AGENT_INFO_COOPERATIVE_COMPUTE_UNIT_COUNT:
		VALUE(uint32_t, 0);
	default:
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	}
}

hsa_status_t agent_amd_info(enum agent agent, uint32_t attribute, void *value)
{
	switch (attribute) {
	case HSA_AMD_AGENT_INFO_DRIVER_NODE_ID:
		VALUE(uint32_t, agent);
	case HSA_AMD_AGENT_INFO_CACHELINE_SIZE:
		VALUE(uint32_t, CACHE_LINE_BYTES);
	case HSA_AMD_AGENT_INFO_CHIP_ID:
	case HSA_AMD_AGENT_INFO_ASIC_REVISION:
	case HSA_AMD_AGENT_INFO_MAX_ADDRESS_WATCH_POINTS:
	case HSA_AMD_AGENT_INFO_MEMORY_WIDTH:
	case HSA_AMD_AGENT_INFO_MEMORY_MAX_FREQUENCY:
		VALUE(uint32_t, 0); /* not known, or there are none */
	case HSA_AMD_AGENT_INFO_COOPERATIVE_QUEUES:
	case HSA_AMD_AGENT_INFO_SVM_DIRECT_HOST_ACCESS:
		VALUE(bool, false);
	case HSA_AMD_AGENT_INFO_HDP_FLUSH:
		memset(value, 0, sizeof(hsa_amd_hdp_flush_t)); /* the aperture needs no flush */
		return HSA_STATUS_SUCCESS;
	default:
		return agent == AGENT_CARD ? card_identity(attribute, value) : host_info(attribute, value);
	}
}

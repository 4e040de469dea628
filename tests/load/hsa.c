/* SPDX-License-Identifier: MIT */
/* An HSA program that knows nothing of Tutti: prints the names of its agents. */
#include <stdio.h>

#include <hsa/hsa.h>

static hsa_status_t print_name(hsa_agent_t agent, void *context)
{
	char name[64] = "";
	hsa_status_t status = hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);

	(void)context;
	puts(name);
	return status;
}

int main(void)
{
	return hsa_init() || hsa_iterate_agents(print_name, NULL) || hsa_shut_down();
}

// SPDX-License-Identifier: MIT
#include "top/host/drive.h"

#include "core/command_ring.h"
#include "top/main.h"

void (*hal_host_visit_over)(void);

void hal_host_boot(unsigned sms)
{
	hal_host_reset(sms);
	main_init();
}

void hal_host_event(const struct tutti_event *event)
{
	struct tutti_event copy = *event;

	if (hal_host_tight)
		hal_host_fill(COMMAND_OWED);
	hal_host.engines.time_lo = (uint32_t)hal_host.time;
	hal_host.engines.time_hi = (uint32_t)(hal_host.time >> 32);
	main_event(&copy);
	main_settle();
	while (main_goes_on()) {
		if (hal_host_visit_over)
			hal_host_visit_over();
		main_before_idle();
	}
}

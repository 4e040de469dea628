/* SPDX-License-Identifier: MIT */
#include "tutti/device.h"

struct args {
	char greeting[16];
};

/* One line from each wave. */
TUTTI_KERNEL(hello, struct args)
{
	const struct tutti_wave_info *wave = tutti_wave();

	tutti_printf("%s from workgroup %u of %u, wave %u of %u, on SM %u\n", args->greeting, wave->cta[0],
		     wave->groups[0], wave->wave, wave->waves, wave->sm);
}

// SPDX-License-Identifier: MIT
/* Movers: execute descriptors of the mover ring (mover.h of the contract). */
#include "hardware.h"

bool mover_run(struct tutti_card *card)
{
	(void)card;
	return false;
}

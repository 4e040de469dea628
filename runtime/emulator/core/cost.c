// SPDX-License-Identifier: MIT
/*
 * What an instruction costs on a standard soft core: an in-order RV32IMC pipeline with a multiplier of one cycle and a
 * divider of 18 (bit-serial ones take 32 and 34), whose local memory answers a load in the second cycle. The wait states
 * are those of HARDWARE.md.
 */
#include "emulator/core/core.h"

const struct cpu_cost core_cost = {
	.load = 2,
	.taken = 2,
	.multiplication = 1,
	.division = 18,
	.region = {
		{ TUTTI_CORE_ENGINES, 0x1000, 2 },
		{ TUTTI_CORE_REGISTERS, 0x1000, 30 },
		{ TUTTI_CORE_SMS, TUTTI_CORE_CARD - TUTTI_CORE_SMS, 20 }, /* the table of SM states, the control window */
		{ TUTTI_CORE_CARD, TUTTI_CORE_CARD_BYTES, 60 },
	},
};

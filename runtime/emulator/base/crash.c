// SPDX-License-Identifier: MIT
#include "emulator/base/crash.h"

#include <string.h>

#include "emulator/base/clock.h"
#include "emulator/base/state.h"

void card_die(struct tutti_card *card, uint32_t cause, uint32_t code, uint32_t pc, uint32_t tval, const char *text)
{
	struct tutti_crash *crash = card->crash;
	unsigned i;

	card->alive = false;
	card->died = true;
	if (cause == TUTTI_CRASH_NONE)
		return;
	memset(crash, 0, sizeof(*crash));
	crash->cause_code = code;
	crash->pc = pc;
	crash->tval = tval;
	crash->queue = ~0u;
	crash->time = card_time(card);
	for (i = 0; i < 32; i++)
		crash->x[i] = card->ops->reg(card->core, i);
	crash->ra = crash->x[1];
	crash->sp = crash->x[2];
	strncpy(crash->text, text, sizeof(crash->text) - 1);
	tutti_store_release(&crash->cause, cause);
}

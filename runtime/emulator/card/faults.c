// SPDX-License-Identifier: MIT
/* Injection of faults (SYS-15). What attaches the card passes TUTTI_INJECT to it as soon as the firmware runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/inject.h"
#include "emulator/base/state.h"
#include "emulator/card/card.h"
#include "emulator/memory/mmu.h"

int tutti_card_inject(struct tutti_card *card, enum tutti_card_fault fault, uint64_t arg)
{
	int error;

	if (fault == TUTTI_INJECT_FIRMWARE_HANG && !inject_is(card, fault))
		card->hung_at = 0;
	error = inject_arm(card, fault, arg);
	if (error)
		return error;
	if (fault == TUTTI_INJECT_REMOVED)
		memset(card->bar, 0xff, TUTTI_PAGE_SIZE);
	/* Cached translations into host memory would still work while the link is down. */
	mmu_invalidate(card);
	tutti_card_kick(card);
	return 0;
}

static int inject_one(struct tutti_card *card, char *text)
{
	enum tutti_card_fault fault;
	uint64_t arg;
	int error = inject_parse(text, &fault, &arg);

	return error ? error : tutti_card_inject(card, fault, arg);
}

int tutti_card_inject_string(struct tutti_card *card, const char *text)
{
	char *copy = strdup(text), *save = NULL, *one;
	int error = copy ? 0 : -ENOMEM;

	for (one = copy ? strtok_r(copy, ", ", &save) : NULL; one && !error; one = strtok_r(NULL, ", ", &save))
		error = inject_one(card, one);
	free(copy);
	return error;
}

// SPDX-License-Identifier: MIT
/* Injection of faults (SYS-15): which faults are armed, and how often they still happen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/base/inject.h"
#include "emulator/base/state.h"

#define UNTIL_BOOT 2u /* argument of the faults that inject_booted() ends */

/**
 * struct inject - the armed faults.
 * @left: how often each fault still happens; not 0 for lasting faults that are armed
 * @arg: the argument it was armed with
 */
struct inject {
	uint64_t left[TUTTI_INJECT_KINDS];
	uint64_t arg[TUTTI_INJECT_KINDS];
};

/* With @counts, the argument says how often the fault happens. Other faults last until armed with argument @off. */
static const struct {
	const char *name;
	bool counts;
	uint64_t off;
} kinds[TUTTI_INJECT_KINDS] = {
	[TUTTI_INJECT_FIRMWARE_HANG] = { "firmware-hang", false, 0 },
	[TUTTI_INJECT_FIRMWARE_CRASH] = { "firmware-crash", true, 0 },
	[TUTTI_INJECT_LOST_DOORBELL] = { "lost-doorbell", true, 0 },
	[TUTTI_INJECT_LOST_INTERRUPT] = { "lost-interrupt", true, 0 },
	[TUTTI_INJECT_TORN_FETCH] = { "torn-fetch", true, 0 },
	[TUTTI_INJECT_STUCK_SM] = { "stuck-sm", false, ~0ull },
	[TUTTI_INJECT_KERNEL_TRAP] = { "kernel-trap", true, 0 },
	[TUTTI_INJECT_PAGE_FAULT] = { "page-fault", true, 0 },
	[TUTTI_INJECT_MEMORY_ERROR] = { "memory-error", true, 0 },
	[TUTTI_INJECT_LINK_DOWN] = { "link-down", false, 0 },
	[TUTTI_INJECT_REMOVED] = { "removed", false, 0 },
	[TUTTI_INJECT_SILENT_SM] = { "silent-sm", false, ~0ull },
	[TUTTI_INJECT_BOOT_FAILURE] = { "boot-failure", true, 0 },
	[TUTTI_INJECT_FIRMWARE_SILENT] = { "firmware-silent", false, 0 },
};

bool inject_armed(struct tutti_card *card, enum tutti_card_fault fault, uint64_t *arg)
{
	if (!inject_is(card, fault))
		return false;
	if (arg)
		*arg = tutti_load_relaxed(&card->inject->arg[fault]);
	return true;
}

bool inject_take(struct tutti_card *card, enum tutti_card_fault fault)
{
	uint64_t *left = &card->inject->left[fault], n;

	if (!inject_is(card, fault))
		return false;
	if (!kinds[fault].counts)
		return true;
	n = tutti_load_relaxed(left);
	do {
		if (!n)
			return false;
	} while (!__atomic_compare_exchange_n(left, &n, n - 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	if (n == 1)
		__atomic_and_fetch(&card->armed, ~(1u << fault), __ATOMIC_ACQ_REL);
	return true;
}

int inject_arm(struct tutti_card *card, enum tutti_card_fault fault, uint64_t arg)
{
	bool off;

	if ((unsigned)fault >= TUTTI_INJECT_KINDS)
		return -EINVAL;
	/* These need no argument: both can only be armed. */
	if (fault == TUTTI_INJECT_FIRMWARE_CRASH || fault == TUTTI_INJECT_REMOVED)
		arg = 1;
	off = arg == kinds[fault].off;
	tutti_store_relaxed(&card->inject->arg[fault], arg);
	tutti_store_relaxed(&card->inject->left[fault], off ? 0 : kinds[fault].counts ? arg : 1);
	if (off)
		__atomic_and_fetch(&card->armed, ~(1u << fault), __ATOMIC_ACQ_REL);
	else
		__atomic_or_fetch(&card->armed, 1u << fault, __ATOMIC_ACQ_REL);
	return 0;
}

static void end_at_boot(struct tutti_card *card, enum tutti_card_fault fault)
{
	uint64_t arg;

	if (inject_armed(card, fault, &arg) && arg == UNTIL_BOOT)
		inject_arm(card, fault, kinds[fault].off);
}

void inject_booted(struct tutti_card *card)
{
	end_at_boot(card, TUTTI_INJECT_FIRMWARE_HANG);
	end_at_boot(card, TUTTI_INJECT_FIRMWARE_SILENT);
}

int inject_parse(char *text, enum tutti_card_fault *fault, uint64_t *arg)
{
	char *colon = strchr(text, ':'), *end = NULL;
	unsigned i;

	*arg = 1;
	if (colon) {
		*colon++ = 0;
		*arg = strtoull(colon, &end, 0);
		if (end == colon || *end)
			return -EINVAL;
	}
	for (i = 0; i < TUTTI_INJECT_KINDS; i++)
		if (!strcmp(text, kinds[i].name)) {
			if (!colon && kinds[i].off)
				*arg = 0;
			*fault = (enum tutti_card_fault)i;
			return 0;
		}
	return -EINVAL;
}

int inject_create(struct tutti_card *card)
{
	card->inject = calloc(1, sizeof(*card->inject));
	return card->inject ? 0 : -ENOMEM;
}

void inject_destroy(struct tutti_card *card)
{
	free(card->inject);
	card->inject = NULL;
}

// SPDX-License-Identifier: MIT
/*
 * The firmware images of this tree are translated to C when it is built (build.mk), which makes them several times
 * faster than interpreting. Any other image is interpreted: firmware in development, or with a single byte changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/core/translation.h"
#include "emulator/cpu/translation.h"

/* Programs that hold the card need not hold these. */
extern const struct cpu_translation tutti_fw_translation __attribute__((weak));
extern const struct cpu_translation tutti_fw_large_translation __attribute__((weak));

static const struct cpu_translation *translation_of(const struct tutti_card *card)
{
	const struct cpu_translation *const shipped[] = { &tutti_fw_translation, &tutti_fw_large_translation };

	for (unsigned i = 0; i < sizeof(shipped) / sizeof(*shipped); i++)
		if (shipped[i] && cpu_translation_fits(shipped[i], card->local, card->discovery.local_bytes))
			return shipped[i];
	return NULL;
}

static bool forced(void)
{
	const char *text = getenv("TUTTI_INTERPRET");

	return text && *text && strcmp(text, "0");
}

static void say_once(const char *why)
{
	static uint32_t said;

	if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		fprintf(stderr, "tutti: the emulated card interprets its firmware, which takes several times as long: %s\n",
			why);
}

void core_translate(struct core *core)
{
	const struct cpu_translation *translation = NULL;

	core->kind = "interpreted";
	if (forced())
		say_once("TUTTI_INTERPRET is set");
	else if (!(translation = translation_of(core->card)))
		say_once("it is not an image that this build has translated");
	if (translation && !cpu_translate(core->cpu, translation))
		core->kind = "translated";
}

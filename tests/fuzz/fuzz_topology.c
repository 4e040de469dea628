/* SPDX-License-Identifier: MIT */
/* REL-01, SYS-14: any text as a topology file. */
#include <stdlib.h>

#include "emulator/card/card.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct tutti_card_config config = { 0 };
	FILE *file = bytes ? fmemopen((void *)data, bytes, "r") : NULL;
	unsigned sms = 0;

	if (!file)
		return 0;
	if (!tutti_card_config_read(&config, file)) {
		for (unsigned i = 0; i < config.gpcs; i++)
			sms += config.topology[i];
		if (config.gpcs > TUTTI_MAX_GPCS || sms > TUTTI_MAX_SMS)
			abort();
	}
	fclose(file);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * The fetch engine. What it reads is in the memory of the soft core when the event FETCH comes, whatever the firmware
 * has done with that memory meanwhile; before, that memory holds neither the old nor the new bytes. Commands take effect
 * in order, so what was asked for earlier has arrived by then, too, even if its event has not.
 */
#include "card/card.h"

#define FETCHES	    64u
#define FETCH_BYTES 4096u

static struct {
	uint32_t to, bytes;
	uint8_t data[FETCH_BYTES];
} fetches[FETCHES];
static uint64_t asked, arrived; /* numbers of fetches, from 1 on: the newest one, and the newest that has arrived */

void fetches_begin(void)
{
	asked = arrived = 0;
}

uint64_t fetch_read(const void *from, uint32_t bytes, uint32_t to)
{
	if (!features_has(&w.scenario.allowed, F_FETCH_LATE)) {
		memcpy(backend_memory(to), from, bytes);
		return 0;
	}
	if (asked - arrived == FETCHES)
		fetch_arrives(arrived + 1);
	asked++;
	fetches[asked % FETCHES].to = to;
	fetches[asked % FETCHES].bytes = bytes;
	memcpy(fetches[asked % FETCHES].data, from, bytes);
	memset(backend_memory(to), 0xa5, bytes);
	feature_on(F_FETCH_LATE);
	return asked;
}

void fetch_arrives(uint64_t number)
{
	while (arrived < number) {
		arrived++;
		feature_off(F_FETCH_LATE);
		memcpy(backend_memory(fetches[arrived % FETCHES].to), fetches[arrived % FETCHES].data,
		       fetches[arrived % FETCHES].bytes);
	}
}

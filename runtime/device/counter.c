// SPDX-License-Identifier: MIT
#include "device/device.h"

/* Counters are named as in the enum, but in lower case; the preprocessor spells the list out once. */
static const char *const counter_spelling[] = {
#define TUTTI_COUNTER_SPELLING(name, text) #name,
    TUTTI_COUNTER_LIST(TUTTI_COUNTER_SPELLING)
#undef TUTTI_COUNTER_SPELLING
};

#define NAME_BYTES 32
static char counter_name[TUTTI_COUNTERS][NAME_BYTES];

__attribute__((constructor)) static void counter_names_init(void)
{
	for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
		for (unsigned c = 0; c < NAME_BYTES - 1 && counter_spelling[i][c]; c++)
			counter_name[i][c] = counter_spelling[i][c] >= 'A' && counter_spelling[i][c] <= 'Z'
						 ? counter_spelling[i][c] | 0x20
						 : counter_spelling[i][c];
}

const char *tutti_counter_name(enum tutti_counter counter)
{
	return (unsigned)counter < TUTTI_COUNTERS ? counter_name[counter] : NULL;
}

int tutti_device_counters(struct tutti_device *device, uint64_t counters[TUTTI_COUNTERS])
{
	CALL_SCOPE(call);
	const uint64_t *shared;
	int error;

	if (!device_call(&call, device) || !counters)
		return -EINVAL;
	shared = (const void *)(device->bar + device->known.counters.offset);
	error = device->transport->counters(device);
	for (unsigned i = 0; i < TUTTI_COUNTERS; i++)
		counters[i] = tutti_load_relaxed(&shared[i]);
	return error;
}

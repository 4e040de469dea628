// SPDX-License-Identifier: MIT
/* What the firmware reads and clears when the hardware writes meanwhile or has left garbage (include/HARDWARE.md). */
#include <pthread.h>

#include "core/clock.h"
#include "fw_rig.h"
#include "tutti/reference.h"

#define STEP 0x90000000ull /* no difference of high words alone is a multiple of it */
#define READS 2000000u

static bool stop;

/* Both words change at once, as in hardware. */
static void *hardware(void *unused)
{
	uint64_t *pair = (uint64_t *)(void *)&hal_host.engines.time_lo, time = 0;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		__atomic_store_n(pair, time += STEP, __ATOMIC_RELAXED);
	return NULL;
}

/* A pair of words of different times would be no multiple of the step. */
static void time_does_not_tear(void **state)
{
	pthread_t thread;
	uint64_t last = 0, now;
	unsigned changes = 0;

	rig_load(4);
	hal_host.engines.time_lo = hal_host.engines.time_hi = 0;
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, hardware, NULL), 0);
	for (unsigned i = 0; i < READS || !changes; i++) {
		now = clock_now();
		if (now % STEP || now < last)
			break;
		changes += now != last;
		last = now;
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_int_equal(now % STEP, 0);
}

/* The page of a buffer in local memory shows its table, not what was there before, when the reply comes. */
static void new_buffer_is_shown_empty(void **state)
{
	static const struct tutti_reference none;
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_reference *page;

	rig_boot(4, 1);
	for (unsigned id = 1; id < TUTTI_MAX_RSBS; id += 60) {
		page = (void *)(hal_host.window + d->rsb_window.offset + id * TUTTI_PAGE_SIZE);
		memset(page, 0xa5, TUTTI_REFERENCES * sizeof(*page));
		rig_rsb(id, 1, TUTTI_RSB_SCRATCH);
		for (unsigned i = 0; i < TUTTI_REFERENCES; i++) {
			page[i].used = 0;
			assert_memory_equal(&page[i], &none, sizeof(none));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-04", time_does_not_tear),
		RIG_TEST("PKT-09", new_buffer_is_shown_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/* What the firmware reads and clears when the hardware writes meanwhile or has left garbage (include/HARDWARE.md). */
#include "core/hal.h"

/* Before each access of the firmware's clock to the engine page the hardware may do something. */
static volatile struct tutti_engines *engines_changing(void);
#pragma push_macro("HAL_ENGINES")
#undef HAL_ENGINES
#define HAL_ENGINES engines_changing()
#include "core/clock.h"
#pragma pop_macro("HAL_ENGINES")

#include "fw_rig.h"
#include "tutti/reference.h"

#define ACCESSES 6u /* that are disturbed; those that come later find quiet */

static uint64_t had[ACCESSES + 1];
static unsigned script, times;

static void set_time(uint64_t time)
{
	hal_host.engines.time_lo = (uint32_t)time;
	hal_host.engines.time_hi = (uint32_t)(time >> 32);
	had[times++] = time;
}

/* By how much the time may go on between two accesses: the low word, both words or only the high one changes. */
static volatile struct tutti_engines *engines_changing(void)
{
	static const uint64_t step[] = { 0, 3, 0x90000000, 1ull << 32 };
	unsigned kind = script % 4;

	script /= 4;
	if (kind)
		set_time(had[times - 1] + step[kind]);
	return &hal_host.engines;
}

static bool was(uint64_t time)
{
	unsigned i;

	for (i = 0; i < times && had[i] != time; i++)
		;
	return i < times;
}

static void time_does_not_tear(void **state)
{
	for (unsigned i = 0; i < 1u << 2 * ACCESSES; i++) {
		times = 0;
		set_time(0xfffffffe);
		script = i;
		if (!was(clock_now()))
			fail_msg("script %x", i);
	}
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

/* The end of reserved memory is the firmware's own. */
static void no_buffer_in_the_firmwares_memory(void **state)
{
	const struct tutti_discovery *d = (void *)hal_host.window;
	struct tutti_message m = { .type = TUTTI_MSG_RSB_CREATE, .rsb = { .rsb = 1, .asid = 1, .placement = TUTTI_RSB_MEMORY } };

	rig_boot(4, 1);
	m.rsb.offset = d->reserved_bytes - TUTTI_FIRMWARE_BYTES - sizeof(struct tutti_rsb) + 64;
	assert_int_equal(rig_message(&m), -TUTTI_EINVAL);
	m.rsb.offset = d->reserved_bytes - sizeof(struct tutti_rsb);
	assert_int_equal(rig_message(&m), -TUTTI_EINVAL);
	m.rsb.offset = d->reserved_bytes - TUTTI_FIRMWARE_BYTES - sizeof(struct tutti_rsb);
	assert_int_equal(rig_message(&m), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-04", time_does_not_tear),
		RIG_TEST("PKT-09", new_buffer_is_shown_empty),
		RIG_TEST("PKT-09 SYS-09", no_buffer_in_the_firmwares_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Searches for CGAs, and the steps that a visit has for them. */
#include "fw_life.h"

static unsigned start_event; /* the event in whose visit a CTA has started */

static void note_event(unsigned slot, unsigned sm)
{
	(void)slot;
	(void)sm;
	start_event = counters.events;
}

/* A search begins in a visit that has half of its steps left; otherwise the next one does it. */
static void search_in_another_visit(void **unused)
{
	static const uint16_t sms[] = { 8, 8 };

	(void)unused;
	for (unsigned less = 0; less < 2; less++) {
		unsigned event;

		seed(1);
		begin(sms, 2);
		queues[0].flags |= TUTTI_QUEUE_OVERLAP; /* no CGA takes over from another one without a search */
		descriptor[0].group_bytes = 2048 * 32;
		cga_kernel(0, TUTTI_CGA_GPC, 4, 2, 1);
		submit(0, 0, 40, 2, 1);
		deliver_all();
		hook.started = note_event;
		start_event = 0;
		while (!pooled)
			end_whole();
		event = counters.events + 1;
		rig_shorten_visit(VISIT_STEPS / 2 - less);
		deliver(0);
		assert_int_equal(start_event, less ? 0 : event);
		deliver_all();
		assert_true(start_event >= event + less);
		hook.started = NULL;
		run_down();
		check_idle();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("CGA-05 REL-11", search_in_another_visit),
	};

	return cmocka_run_group_tests_name("firmware: CGAs over visits", tests, NULL, NULL);
}

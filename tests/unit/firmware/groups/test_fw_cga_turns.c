/* SPDX-License-Identifier: MIT */
/* Kernels with CGAs and plain ones of the same priority: whose turn it is when visits are short. */
#include "fw_direct.h"

#include "tasks/task_table.h"

/* So many CTAs of the kernel in @slot end on SM 0 at once. The engines carry out what the firmware writes when take() says so. */
static void end_together(unsigned slot, unsigned n)
{
	struct tutti_event event = { { TUTTI_EVENT_CTA | slot << 8 | 1u << 24, n, n, 1 } };

	assert_true(running[slot].on[0] >= n);
	running[slot].on[0] -= n;
	running[slot].ctas -= n;
	hal_host_event(&event);
}

/* A full card, a plain kernel of many CTAs that waits, and behind it one of CGAs of two. Lots are not drawn. */
static void plain_before_groups(void)
{
	struct tutti_dispatch_packet filler = kernel_packet(0, 64), plain = kernel_packet(0, 1000), pairs = kernel_packet(1, 20);

	start(2, 0);
	assert_int_equal(rig_request(TUTTI_MSG_POLICY, TUTTI_POLICY_SEED, 0, 0), 0);
	for (unsigned q = 0; q < 3; q++)
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &filler);
	submit(1, &plain);
	tmd[0] = child(1);
	tmd[0].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
	pairs.tmd = TMD_AT;
	submit(2, &pairs);
	assert_int_equal(running[0].ctas, 64);
	assert_int_equal(running[1].ctas + running[2].ctas, 0);
}

/*
 * A search for CGAs needs half of a visit. Where the kernel before it has used that up, the search comes first in the next
 * visit; the other kernel, though older, would take all there is in each visit.
 */
static void search_comes_first(void **unused)
{
	(void)unused;
	plain_before_groups();
	rig_shorten_visit(VISIT_STEPS / 2 + 1);
	end_together(0, 2);
	end_together(0, 2); /* before the mark that would have brought about another visit */
	take();
	assert_int_equal(running[1].ctas, 2);
	assert_int_equal(running[2].ctas, 2);
}

/* In visits that are long enough the older kernel goes first. */
static void older_comes_first(void **unused)
{
	(void)unused;
	plain_before_groups();
	for (unsigned i = 1; i <= 3; i++) {
		end_together(0, 2);
		take();
		assert_int_equal(running[1].ctas, 2 * i);
		assert_int_equal(running[2].ctas, 0);
	}
}

/* Metadata arrive in a visit that is over: their kernel, for which there is room, starts in the next one. */
static void not_in_a_late_visit(void **unused)
{
	struct tutti_dispatch_packet pairs = kernel_packet(0, 2);
	uint32_t copy[COMMAND_RECORD], issued;
	const uint32_t *w;
	unsigned words;

	(void)unused;
	for (unsigned late = 0; late < 2; late++) {
		start(2, 0);
		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
		submit(0, &pairs); /* so that the kernel is known */
		tmd[0] = child(0);
		tmd[0].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
		pairs.tmd = TMD_AT;
		write_packet(0, &pairs);
		pairs.tmd = 0;
		rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
		do {
			command_publish();
			w = hal_host_command(&words);
			assert_non_null(w);
			memcpy(copy, w, words * 4);
			if ((copy[0] & 0xff) == TUTTI_CMD_FETCH && (copy[0] >> 16 & TAG_KIND) == TAG_TMD)
				break;
			take_one(copy, words);
		} while (true);
		issued = counters.ctas_issued;
		if (late)
			rig_shorten_visit(0);
		take_one(copy, words);
		assert_int_equal(counters.ctas_issued, issued + (late ? 0 : 2));
		take();
		assert_int_equal(counters.ctas_issued, issued + 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("REL-11 CGA-05", search_comes_first),
		RIG_TEST("RES-01 TSK-04", older_comes_first),
		RIG_TEST("REL-11 CGA-05", not_in_a_late_visit),
	};

	return cmocka_run_group_tests_name("firmware: turns of kernels with CGAs", tests, NULL, NULL);
}

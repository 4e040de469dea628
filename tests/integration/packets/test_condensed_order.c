// SPDX-License-Identifier: MIT
/* Order of the kernels of a condensed packet, and what follows its last one: PKT-12, PKT-16, PKT-17. */
#include "condensed_rig.h"

static void kernels_one_after_the_other(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	words[1] = 1;
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&queue, &p);
	store(&queue, 2, 10, 5, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	raw_retired(&queue);
	raw_settle(raw);
	words[1] = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, 0); /* no barrier bit anywhere: the kernels still run one by one */
	raw_diff(&c, 2, 0);
	send(&c);
	assert_true(raw_until(raw, &words[0], 2, RAW_PATIENCE));
	raw_run(raw, 20);
	assert_int_equal(*cell, 5);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 55, RAW_PATIENCE));
}

static void overlap_option(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_queue overlap;
	struct raw_condensed c;

	make_queue(&overlap, 6, TUTTI_QUEUE_OVERLAP, 2);
	words[1] = 1;
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	p.dispatch.ref_num = TUTTI_REF_STORE | 1;
	raw_submit(&overlap, &p);
	store(&overlap, 2, 10, 5, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	store(&overlap, 3, 7, 2, NULL, NONE); /* with the barrier bit */
	raw_retired(&overlap);
	raw_settle(raw);
	assert_int_equal(*cell, 37);
	words[1] = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	raw_diff(&c, 2, 0); /* may start while the first runs */
	raw_diff(&c, 3, 0); /* may not */
	raw_submit(&overlap, &c.packet);
	assert_true(raw_until(raw, cell, 375, RAW_PATIENCE));
	assert_int_equal(words[2], 1);
	raw_run(raw, 20);
	assert_int_equal(*cell, 375);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 375 * 7 + 2, RAW_PATIENCE));
	assert_int_equal(words[2], 2);
}

static void ordered_as_its_first_kernel(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	store(&queue, 1, 10, 5, NULL, NONE);
	store(&queue, 2, 10, 6, NULL, tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0));
	raw_retired(&queue);
	raw_settle(raw);
	*cell = 1;
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 2, 0); /* no barrier bit: does not wait for the gate */
	send(&c);
	assert_true(raw_until(raw, cell, 16, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 1, 0); /* barrier bit of the reference: waits */
	send(&c);
	raw_run(raw, 20);
	assert_int_equal(*cell, 16);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 165, RAW_PATIENCE));
}

static void barrier_bit_of_the_diff(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	stored(1, 10, 5);
	p.dispatch.header = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 0, 0, 0);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 1, RAW_PATIENCE));
	raw_condensed(&c);
	raw_diff(&c, 1, TUTTI_DIFF_SCOPES);
	raw_units(&c, 0, 1);
	send(&c);
	assert_true(raw_until(raw, cell, 55, RAW_PATIENCE));
	words[1] = 1;
	raw_settle(raw);
}

static void later_barrier_waits_for_last_kernel(void **state)
{
	uint64_t *words = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1,
					    raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]), NULL);
	struct raw_condensed c;

	words[1] = 1;
	stored(1, 10, 5);
	p.dispatch.ref_num = TUTTI_REF_STORE | 2;
	raw_submit(&queue, &p);
	raw_retired(&queue);
	raw_settle(raw);
	words[1] = 0;
	raw_condensed(&c);
	raw_diff(&c, 1, 0);
	raw_diff(&c, 2, 0); /* the last one waits */
	send(&c);
	p = raw_step(&space, cell, 10, 7, NULL);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &words[0], 2, RAW_PATIENCE));
	raw_run(raw, 20);
	assert_int_equal(*cell, 55);
	words[1] = 1;
	assert_true(raw_until(raw, cell, 557, RAW_PATIENCE));
}

static void one_clean_up(void **state)
{
	unsigned system = tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, TUTTI_SCOPE_SYSTEM, TUTTI_SCOPE_SYSTEM);
	struct tutti_signal *last = raw_signal(&space, 4);
	struct raw_condensed c;
	unsigned i, kernels = 6;

	for (i = 0; i < kernels; i++)
		store(&queue, i, 3, i, NULL, system);
	raw_retired(&queue);
	raw_settle(raw);
	/* the last kernel alone has a signal: one release, one signal; acquires for each kernel */
	raw_condensed(&c);
	for (i = 0; i < kernels - 1; i++)
		raw_diff(&c, i, 0);
	raw_diff(&c, i, TUTTI_DIFF_SIGNAL);
	raw_units(&c, (uintptr_t)last, 4);
	count_from_here();
	send(&c);
	assert_true(raw_until(raw, &last->value, 3, RAW_PATIENCE));
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_KERNELS), 6);
	assert_int_equal(counted(TUTTI_COUNTER_PACKETS), 1);
	assert_int_equal(counted(TUTTI_COUNTER_PACKETS_CONDENSED), 1);
	assert_int_equal(counted(TUTTI_COUNTER_ACQUIRES), 6);
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 1);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 1);
	/* no signal at all: one release */
	raw_condensed(&c);
	for (i = 0; i < kernels; i++)
		raw_diff(&c, i, 0);
	count_from_here();
	send(&c);
	raw_retired(&queue);
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 1);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 0);
	/* kernel 2 and the last one have signals: kernel 2 has a completion of its own */
	raw_condensed(&c);
	for (i = 0; i < kernels; i++) {
		raw_diff(&c, i, i == 2 || i == 5 ? TUTTI_DIFF_SIGNAL : 0);
		if (i == 2 || i == 5)
			raw_units(&c, (uintptr_t)last, 4);
	}
	count_from_here();
	send(&c);
	assert_true(raw_until(raw, &last->value, 1, RAW_PATIENCE));
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 2);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 2);
	/* the same launches as plain packets: six completions */
	count_from_here();
	for (i = 0; i < kernels; i++) {
		union tutti_packet p = raw_step(&space, cell, 3, i, last);

		last->value = 6;
		raw_submit(&queue, &p);
	}
	raw_retired(&queue);
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_PACKETS), 6);
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 6);
	assert_int_equal(counted(TUTTI_COUNTER_SIGNALS), 6);
}

static void no_scope_no_fence(void **state)
{
	struct raw_condensed c;
	unsigned i;

	stored(1, 3, 1);
	raw_condensed(&c);
	for (i = 0; i < 31; i++)
		raw_diff(&c, 1, 0);
	count_from_here();
	send(&c);
	raw_retired(&queue);
	count_to_here();
	assert_int_equal(counted(TUTTI_COUNTER_KERNELS), 31);
	assert_int_equal(counted(TUTTI_COUNTER_ACQUIRES), 0);
	assert_int_equal(counted(TUTTI_COUNTER_RELEASES), 0);
}

static void kernels_see_earlier_writes(void **state)
{
	uint64_t expect = 1;
	struct raw_condensed c;
	unsigned i;

	/* no fence anywhere, many CTAs: kernel i+1 reads what i wrote */
	stored(1, 7, 1);
	for (i = 0; i < 20; i++) {
		unsigned k;

		raw_condensed(&c);
		for (k = 0; k < 31; k++) {
			raw_diff(&c, 1, 0);
			expect = step(expect, 7, 1);
		}
		send(&c);
	}
	raw_retired(&queue);
	raw_settle(raw);
	assert_int_equal(*cell, expect);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		BOTH("PKT-16: kernels of a packet one after the other", kernels_one_after_the_other),
		BOTH("PKT-16: overlap option", overlap_option),
		BOTH("PKT-16: kernels see earlier writes without a fence", kernels_see_earlier_writes),
		BOTH("PKT-12: ordered as its first kernel", ordered_as_its_first_kernel),
		BOTH("PKT-12: barrier bit of the diff", barrier_bit_of_the_diff),
		BOTH("PKT-12: a later barrier bit waits for the last kernel", later_barrier_waits_for_last_kernel),
		BOTH("PKT-17: one clean-up for a packet", one_clean_up),
		BOTH("PKT-17: no scope, no fence", no_scope_no_fence),
	};

	return cmocka_run_group_tests_name("condensed order", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Recording and replay: PKT-22, PKT-23. */
#include "rig.h"

#define T(name, function) { name, function, open_rig, rig_group_close, NULL }

static uint64_t *cell;
static const char *const many[] = { "step", "count", "fill", "empty", "tree", "poke", "look", "leavers", "gate", "vadd" };

static int open_rig(void **state)
{
	rig = rig_open(NULL);
	cell = rig_alloc(rig, 64);
	return 0;
}

static uint64_t *step_args(uint64_t mul, uint64_t add)
{
	return rig_args(rig, cell, mul, add);
}

static void finish(void)
{
	tutti_signal_t signal = rig_signal(rig, 1);

	rig_launch(rig, rig->queue, "empty", 1, 1, rig_args(rig, NULL, 0, 0), signal);
	rig_wait(rig, signal);
	tutti_signal_destroy(rig->device, signal);
}

static void step_kernels(unsigned n, tutti_signal_t last, struct tutti_recording **recording)
{
	unsigned i;

	assert_int_equal(tutti_record_begin(rig->queue), 0);
	for (i = 0; i < n; i++)
		rig_launch(rig, rig->queue, "step", 1, 1, step_args(3, i), i == n - 1 ? last : NULL);
	assert_int_equal(tutti_record_end(rig->queue, recording), 0);
	assert_int_equal(tutti_recording_kernels(*recording), n);
}

static uint64_t steps(uint64_t value, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		value = value * 3 + i;
	return value;
}

static void records_without_running(void **state)
{
	struct tutti_recording *recording;

	step_kernels(4, NULL, &recording);
	finish();
	assert_int_equal(*cell, 0);
	assert_int_equal(tutti_replay(recording), 0);
	finish();
	assert_int_equal(*cell, steps(0, 4));
	tutti_recording_destroy(recording);
}

static void replays(void **state)
{
	static const unsigned sizes[] = { 1, 2, 6, 8, 31, 32, 62, 100 };
	struct tutti_recording *recording;
	unsigned i, k, form;

	for (form = TUTTI_REPLAY_CONDENSED; form <= TUTTI_REPLAY_PLAIN; form++)
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			tutti_signal_t signal = rig_signal(rig, 50);
			uint64_t expect = 0;

			*cell = 0;
			step_kernels(sizes[i], signal, &recording);
			assert_int_equal(tutti_recording_form(recording, form), 0);
			for (k = 0; k < 50; k++) {
				assert_int_equal(tutti_replay(recording), 0);
				expect = steps(expect, sizes[i]);
			}
			rig_wait(rig, signal);
			finish();
			assert_int_equal(*cell, expect);
			if (form != TUTTI_REPLAY_CONDENSED)
				assert_int_equal(tutti_recording_packets(recording), sizes[i]);
			else
				assert_true(tutti_recording_packets(recording) <= (sizes[i] + 4) / 5);
			tutti_recording_destroy(recording);
		}
}

static void as_few_packets_as_possible(void **state)
{
	struct tutti_recording *recording;
	uint64_t *args = step_args(3, 1);
	unsigned i;

	/* the same launch 31 times: empty diffs, one packet */
	assert_int_equal(tutti_record_begin(rig->queue), 0);
	for (i = 0; i < 31; i++)
		rig_launch(rig, rig->queue, "step", 1, 1, args, NULL);
	assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
	assert_int_equal(tutti_replay(recording), 0);
	assert_int_equal(tutti_recording_packets(recording), 1);
	tutti_recording_destroy(recording);
	/* eight different launches: a reference each, empty diffs */
	step_kernels(8, NULL, &recording);
	assert_int_equal(tutti_replay(recording), 0);
	assert_int_equal(tutti_replay(recording), 0);
	assert_int_equal(tutti_recording_packets(recording), 1);
	finish();
	tutti_recording_destroy(recording);
}

static void counts_of_a_loop(void **state)
{
	static const unsigned forms[] = { TUTTI_REPLAY_PLAIN, TUTTI_REPLAY_CONDENSED };
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];
	unsigned i, k;

	/* PKT-23: enqueues, packets, fences, signals for each iteration: 6/6/6/6 plain, 1/1/1/1 condensed */
	for (i = 0; i < 2; i++) {
		tutti_signal_t signal[6];
		struct tutti_recording *recording;
		uint64_t write;

		assert_int_equal(tutti_record_begin(rig->queue), 0);
		for (k = 0; k < 6; k++) {
			signal[k] = i == 0 || k == 5 ? rig_signal(rig, 101) : NULL;
			rig_launch(rig, rig->queue, many[k % 2 ? 0 : 3], 1, 1, step_args(3, k), signal[k]);
		}
		assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
		assert_int_equal(tutti_recording_form(recording, forms[i]), 0);
		assert_int_equal(tutti_replay(recording), 0);
		finish();
		rig_counters(rig, before);
		write = *rig->queue->write_index;
		for (k = 0; k < 100; k++)
			assert_int_equal(tutti_replay(recording), 0);
		rig_wait(rig, signal[5]);
		assert_int_equal(*rig->queue->write_index - write, i == 0 ? 600 : 100);
		tutti_queue_drain(rig->queue, RIG_WAIT);
		rig_counters(rig, after);
		assert_int_equal(after[TUTTI_COUNTER_KERNELS] - before[TUTTI_COUNTER_KERNELS], 600);
		assert_int_equal(after[TUTTI_COUNTER_PACKETS] - before[TUTTI_COUNTER_PACKETS], i == 0 ? 600 : 100);
		assert_int_equal(after[TUTTI_COUNTER_RELEASES] - before[TUTTI_COUNTER_RELEASES], i == 0 ? 600 : 100);
		assert_int_equal(after[TUTTI_COUNTER_SIGNALS] - before[TUTTI_COUNTER_SIGNALS], i == 0 ? 600 : 100);
		tutti_recording_destroy(recording);
	}
}

static void changed_arguments(void **state)
{
	struct tutti_recording *recording;
	uint64_t expect = 0;
	unsigned form, i;

	for (form = TUTTI_REPLAY_CONDENSED; form <= TUTTI_REPLAY_PLAIN; form++) {
		step_kernels(6, NULL, &recording);
		assert_int_equal(tutti_recording_form(recording, form), 0);
		*cell = 0;
		expect = 0;
		for (i = 0; i < 20; i++) {
			unsigned which = i % 6, k;

			assert_int_equal(tutti_recording_set_kernarg(recording, which, step_args(7, 100 + i)), 0);
			assert_int_equal(tutti_replay(recording), 0);
			for (k = 0; k < 6; k++) {
				unsigned last = i - (i % 6 + 6 - k) % 6; /* newest change of launch k */

				if (k <= i)
					expect = expect * 7 + 100 + last;
				else
					expect = expect * 3 + k;
			}
		}
		finish();
		assert_int_equal(*cell, expect);
		tutti_recording_destroy(recording);
	}
}

static void changed_grid(void **state)
{
	static const uint32_t sizes[] = { 1, 64, 1000, 3, 100000, 64 };
	uint64_t *word = rig_alloc(rig, 64), expect = 0;
	struct tutti_recording *recording;
	unsigned i;

	assert_int_equal(tutti_record_begin(rig->queue), 0);
	for (i = 0; i < 3; i++)
		rig_launch(rig, rig->queue, "count", 10, 32, rig_args(rig, word, i + 1, 0), NULL);
	assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
	for (i = 0; i < 6; i++) {
		const uint32_t grid[3] = { sizes[i], 1, 1 };

		assert_int_equal(tutti_recording_set_grid(recording, 1, grid), 0);
		assert_int_equal(tutti_replay(recording), 0);
		expect += 10 * (1 + 3) + sizes[i] * 2;
	}
	finish();
	assert_int_equal(*word, expect);
	tutti_recording_destroy(recording);
}

static void changed_signal(void **state)
{
	tutti_signal_t a = rig_signal(rig, 1), b = rig_signal(rig, 1), c = rig_signal(rig, 1);
	struct tutti_recording *recording;

	step_kernels(5, a, &recording);
	assert_int_equal(tutti_replay(recording), 0);
	rig_wait(rig, a);
	assert_int_equal(tutti_recording_set_signal(recording, 4, b), 0);
	assert_int_equal(tutti_replay(recording), 0);
	rig_wait(rig, b);
	assert_int_equal(tutti_recording_set_signal(recording, 4, NULL), 0);
	assert_int_equal(tutti_recording_set_signal(recording, 2, c), 0);
	assert_int_equal(tutti_replay(recording), 0);
	rig_wait(rig, c);
	finish();
	assert_int_equal(tutti_signal_load(a), 0);
	assert_int_equal(tutti_signal_load(b), 0);
	assert_int_equal(*cell, steps(steps(steps(0, 5), 5), 5));
	tutti_recording_destroy(recording);
}

static void only_changes_are_sent(void **state)
{
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];
	struct tutti_recording *recording;
	unsigned i;

	step_kernels(6, NULL, &recording);
	assert_int_equal(tutti_replay(recording), 0);
	finish();
	rig_counters(rig, before);
	for (i = 0; i < 50; i++)
		assert_int_equal(tutti_replay(recording), 0);
	finish();
	rig_counters(rig, after);
	/* the same packet again and again: the firmware notices */
	assert_int_equal(after[TUTTI_COUNTER_PACKETS_CONDENSED] - before[TUTTI_COUNTER_PACKETS_CONDENSED], 50);
	assert_int_equal(after[TUTTI_COUNTER_PACKETS_REFERENCE] - before[TUTTI_COUNTER_PACKETS_REFERENCE], 0);
	assert_in_range(after[TUTTI_COUNTER_REPEATED] - before[TUTTI_COUNTER_REPEATED], 45, 50);
	tutti_recording_destroy(recording);
}

/* random recordings with random changes: all forms give what the host computes */
static void random_recordings(void **state)
{
	unsigned seed = 3, round, i, k, form;

	for (round = 0; round < 40; round++) {
		unsigned n = 1 + (unsigned)rand_r(&seed) % 70, kinds = 1 + (unsigned)rand_r(&seed) % 20;
		uint64_t *args[20], *used[70], expect = 0;
		struct tutti_recording *recording;

		form = round % 3;
		for (i = 0; i < kinds; i++)
			args[i] = step_args(2 * i + 3, (unsigned)rand_r(&seed));
		assert_int_equal(tutti_record_begin(rig->queue), 0);
		for (i = 0; i < n; i++) {
			used[i] = args[(unsigned)rand_r(&seed) % kinds];
			rig_launch(rig, rig->queue, "step", 1 + (unsigned)rand_r(&seed) % 3 * 40,
				   (uint16_t)(1 + (unsigned)rand_r(&seed) % 64), used[i], NULL);
		}
		assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
		assert_int_equal(tutti_recording_form(recording, form), 0);
		*cell = 0;
		for (k = 0; k < 10; k++) {
			if (k % 2) {
				unsigned which = (unsigned)rand_r(&seed) % n;

				used[which] = args[(unsigned)rand_r(&seed) % kinds];
				assert_int_equal(tutti_recording_set_kernarg(recording, which, used[which]), 0);
			}
			assert_int_equal(tutti_replay(recording), 0);
			for (i = 0; i < n; i++)
				expect = expect * used[i][1] + used[i][2];
		}
		finish();
		if (*cell != expect)
			fail_msg("round %u: %u launches of %u kinds, form %u", round, n, kinds, form);
		tutti_recording_destroy(recording);
	}
}

static void more_than_eight_kernels(void **state)
{
	uint64_t *word = rig_alloc(rig, 4096 * 8), expect = 0;
	static const char *const names[] = { "step", "count", "poke", "three_by_two", "at_most_64", "globals", "empty",
					     "fill", "check", "bad_service", "tree", "leavers" };
	struct tutti_recording *recording;
	uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];
	unsigned i, k;

	rig_counters(rig, before);
	assert_int_equal(tutti_record_begin(rig->queue), 0);
	for (i = 0; i < 12; i++) {
		const char *name = names[i];
		void *args = rig_args(rig, word, 1, 5);

		if (!strcmp(name, "three_by_two") || !strcmp(name, "bad_service"))
			continue;
		rig_launch(rig, rig->queue, name, 1, 1, args, NULL);
		rig_launch(rig, rig->queue, "step", 1, 1, step_args(5, i), NULL);
	}
	assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
	/* 20 kernels, 10 of them different: still condensed, with references replaced meanwhile */
	assert_int_equal(tutti_recording_form(recording, TUTTI_REPLAY_CONDENSED), 0);
	assert_true(tutti_recording_packets(recording) < 20);
	for (k = 0; k < 10; k++) {
		assert_int_equal(tutti_replay(recording), 0);
		for (i = 0; i < 12; i++)
			if (i != 3 && i != 9)
				expect = expect * 5 + i;
	}
	finish();
	assert_int_equal(*cell, expect);
	assert_int_equal(tutti_queue_error(rig->queue, NULL), 0);
	rig_counters(rig, after);
	assert_int_equal(after[TUTTI_COUNTER_KERNELS] - before[TUTTI_COUNTER_KERNELS], 201); /* and that of finish() */
	assert_true(after[TUTTI_COUNTER_PACKETS_CONDENSED] > before[TUTTI_COUNTER_PACKETS_CONDENSED]);
	assert_true(after[TUTTI_COUNTER_PACKETS] - before[TUTTI_COUNTER_PACKETS] < 200);
	tutti_recording_destroy(recording);
}

static void two_recordings_one_queue(void **state)
{
	struct tutti_recording *a, *b;
	uint64_t expect = 0;
	unsigned i;

	step_kernels(7, NULL, &a);
	step_kernels(9, NULL, &b);
	for (i = 0; i < 20; i++) {
		assert_int_equal(tutti_replay(i % 3 ? a : b), 0);
		expect = steps(expect, i % 3 ? 7 : 9);
	}
	finish();
	assert_int_equal(*cell, expect);
	tutti_recording_destroy(a);
	for (i = 0; i < 5; i++) {
		assert_int_equal(tutti_replay(b), 0);
		expect = steps(expect, 9);
	}
	finish();
	assert_int_equal(*cell, expect);
	tutti_recording_destroy(b);
}

static void with_plain_dispatches_between(void **state)
{
	struct tutti_recording *recording;
	uint64_t expect = 0;
	unsigned i;

	step_kernels(6, NULL, &recording);
	for (i = 0; i < 30; i++) {
		assert_int_equal(tutti_replay(recording), 0);
		rig_launch(rig, rig->queue, "step", 1, 1, step_args(11, i), NULL);
		expect = steps(expect, 6) * 11 + i;
	}
	finish();
	assert_int_equal(*cell, expect);
	tutti_recording_destroy(recording);
}

static void references_lost_under_it(void **state)
{
	struct tutti_recording *recording;
	uint64_t expect;

	step_kernels(6, NULL, &recording);
	assert_int_equal(tutti_replay(recording), 0);
	finish();
	expect = steps(0, 6);
	assert_int_equal(tutti_rsb_invalidate(tutti_queue_rsb(rig->queue), 0xff), 0);
	assert_int_equal(tutti_replay(recording), 0);
	finish();
	expect = steps(expect, 6);
	assert_int_equal(*cell, expect);
	assert_int_equal(tutti_queue_error(rig->queue, NULL), 0);
	tutti_recording_destroy(recording);
}

static void misuse(void **state)
{
	struct tutti_queue *plain = rig_queue(rig, 0);
	struct tutti_recording *recording = NULL;
	const uint32_t grid[3] = { 1, 1, 1 };

	assert_int_equal(tutti_record_end(rig->queue, &recording), -EINVAL);
	assert_true(tutti_record_begin(plain) < 0);
	assert_int_equal(tutti_record_begin(rig->queue), 0);
	assert_true(tutti_record_begin(rig->queue) < 0);
	assert_int_equal(tutti_record_end(rig->queue, &recording), 0);
	assert_int_equal(tutti_recording_kernels(recording), 0);
	assert_int_equal(tutti_replay(recording), 0);
	assert_true(tutti_recording_set_kernarg(recording, 0, NULL) < 0);
	assert_true(tutti_recording_set_grid(recording, 5, grid) < 0);
	assert_true(tutti_recording_set_signal(recording, 0, NULL) < 0);
	assert_true(tutti_recording_form(recording, 77) < 0);
	tutti_recording_destroy(recording);
	tutti_queue_destroy(plain);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("PKT-22: a recording is recorded, not run", records_without_running),
		T("PKT-22: replays of 1 to 100 kernels, in all forms", replays),
		T("PKT-22: as few packets as possible", as_few_packets_as_possible),
		T("PKT-23, PKT-17: enqueues, packets, fences, signals of a loop", counts_of_a_loop),
		T("PKT-22: arguments changed between replays", changed_arguments),
		T("PKT-22: grids changed between replays", changed_grid),
		T("PKT-22: signals changed between replays", changed_signal),
		T("PKT-22, PKT-19: only changes are sent", only_changes_are_sent),
		T("PKT-22: random recordings and changes", random_recordings),
		T("PKT-22: more than eight different kernels", more_than_eight_kernels),
		T("PKT-22: two recordings share a queue's references", two_recordings_one_queue),
		T("PKT-22: plain dispatches between replays", with_plain_dispatches_between),
		T("PKT-22, PKT-10: references invalidated between replays", references_lost_under_it),
		T("PKT-22: misuse is refused", misuse),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}

// SPDX-License-Identifier: MIT
/*
 * From the end of a kernel straight to the next one of its queue: whatever that one is like, CTAs go where the oracle, which
 * places them one by one, says, and nothing is lost or counted twice.
 */
#include "express_rig.h"

/* Plain kernels with 1 to 7 CTAs of three shapes, with and without signals, while another queue comes and goes. */
static void plain_kernels(void **unused)
{
	unsigned round, i, k, sent, others = 0, wants[64];
	uint64_t expected[64];

	(void)unused;
	seed(7);
	for (round = 0; round < 200; round++) {
		unsigned ctas = 1 + roll(3), kernel = roll(2), wanted = 0, fences = 0;

		begin();
		for (sent = 0; sent < 40; sent++) {
			uint64_t signal = roll(3) ? SIGNAL_AT + 64 * sent : 0;

			if (!roll(4))
				ctas = 1 + roll(7);
			put_plain(0, ctas, kernel, signal);
			wants[sent] = ctas;
			if (signal)
				expected[wanted++] = signal, fences++;
		}
		bell(0);
		for (i = 0; i < sent; i++) {
			if (!roll(4) && !running(1)) {
				put_plain(1, 1 + roll(3), kernel, 0);
				bell(1);
				others++;
			} else if (!roll(3) && running(1)) {
				end(1);
			}
			assert_int_equal(running(0), 1);
			for (k = 0; !(run[k].running && !run[k].queue);)
				k++;
			assert_int_equal(run[k].ctas, wants[i]);
			end(0);
		}
		while (running(1))
			end(1);
		assert_int_equal(running(0), 0);
		assert_int_equal(signals, wanted);
		assert_memory_equal(signalled, expected, wanted * sizeof(expected[0]));
		assert_int_equal(releases, fences);
		assert_int_equal(acquires, written[0] + written[1]);
		assert_int_equal(queue_at(0)->retired, 40);
		nothing_left();
	}
	assert_true(others > 500);
}

/* The SM of lowest number has become free meanwhile, so the next kernel does not stay where the one before was. */
static void not_the_same_sm(void **unused)
{
	(void)unused;
	begin();
	put_plain(0, 1, 0, 0);
	bell(0);
	for (unsigned i = 0; i < 3; i++)
		put_plain(1, 1, 0, 0);
	bell(1);
	assert_int_equal(run[1].mask, 2);
	end(1);
	assert_int_equal(run[2].mask, 2);
	end(0);
	end(1);
	assert_int_equal(run[3].mask, 1);
	end(1);
	nothing_left();
}

/* A suspended card starts nothing, also where a kernel ends, and goes on afterwards. */
static void suspended(void **unused)
{
	union tutti_packet p = { .word = { 0 } };

	(void)unused;
	for (unsigned form = 0; form < 2; form++) {
		begin();
		if (form) {
			struct tutti_dispatch_packet reference = plain(2, 0, 0);

			reference.ref_num = TUTTI_REF_STORE;
			put(0, &reference);
			bell(0);
			end(0);
			p.condensed.type = TUTTI_PACKET_CONDENSED;
			p.condensed.num_kernels = 4;
			put(0, &p);
		} else {
			for (unsigned i = 0; i < 4; i++)
				put_plain(0, 2, 0, 0);
		}
		bell(0);
		end(0);
		assert_int_equal(running(0), 1);
		queue_suspend();
		end(0);
		assert_int_equal(running(0), 0);
		queue_resume();
		main_settle();
		pump();
		assert_int_equal(running(0), 1);
		end(0);
		end(0);
		assert_int_equal(runs, 4 + form);
		nothing_left();
	}
}

/* Condensed packets of all simple diffs, empty ones most often, against what their units say. */
static void condensed_kernels(void **unused)
{
	unsigned round, packet, k, i;

	(void)unused;
	seed(8);
	for (round = 0; round < 150; round++) {
		uint32_t kernarg[200];
		unsigned ctas[200], wanted = 0, kernels = 0, first;
		uint64_t expected[200];

		begin();
		for (i = 0; i < TUTTI_REFERENCES; i++) {
			struct tutti_dispatch_packet reference = plain(1 + i % 3, 0, i == 7 ? SIGNAL_AT : 0);

			reference.ref_num = (uint16_t)(TUTTI_REF_STORE | i);
			reference.kernarg = 16 * i;
			put(0, &reference);
		}
		bell(0);
		for (i = 0; i < TUTTI_REFERENCES; i++)
			end(0);
		first = runs;
		signals = releases = 0;
		for (packet = 0; packet < 12; packet++) {
			union tutti_packet p = { .word = { 0 } };
			uint16_t *unit = p.condensed.unit;
			unsigned n = 1 + roll(5), ref = roll(8);

			p.condensed.type = TUTTI_PACKET_CONDENSED;
			p.condensed.num_kernels = (uint8_t)n;
			for (k = 0; k < n; k++) {
				unsigned diff = roll(2) ? 0 : roll(4);

				if (!roll(3))
					ref = roll(8);
				ctas[kernels] = 1 + ref % 3;
				kernarg[kernels] = 16 * ref;
				*unit++ = (uint16_t)((diff == 1 ? TUTTI_DIFF_GRID_X : diff == 2 ? TUTTI_DIFF_KERNARG :
						      diff == 3 ? TUTTI_DIFF_SIGNAL : 0) << TUTTI_DIFF_VECTOR_SHIFT | ref);
				if (diff == 1) {
					ctas[kernels] = 1 + roll(6);
					memcpy(unit, &(uint32_t){ 64 * ctas[kernels] }, 4);
					unit += 2;
				} else if (diff == 2) {
					kernarg[kernels] = 0x1000 + 16 * kernels;
					memcpy(unit, &(uint64_t){ kernarg[kernels] }, 8);
					unit += 4;
				}
				if (diff == 3) {
					expected[wanted] = SIGNAL_AT + 64 * (2 + kernels);
					memcpy(unit, &expected[wanted++], 8);
					unit += 4;
				} else if (ref == 7) {
					expected[wanted++] = SIGNAL_AT;
				}
				kernels++;
			}
			put(0, &p);
		}
		bell(0);
		for (i = 0; i < kernels; i++) {
			assert_int_equal(running(0), 1);
			assert_int_equal(runs, first + i + 1);
			assert_int_equal(run[first + i].ctas, ctas[i]);
			assert_int_equal(run[first + i].kernarg, kernarg[i]);
			end(0);
		}
		assert_int_equal(running(0), 0);
		assert_int_equal(signals, wanted);
		assert_memory_equal(signalled, expected, wanted * sizeof(expected[0]));
		assert_int_equal(queue_at(0)->retired, written[0]);
		assert_int_equal(queue_at(0)->rsb->readers, 0);
		nothing_left();
	}
}

/* Where the command ring has too little room, or wraps, the next kernel comes later and is none the worse. */
static void ring_without_room(void **unused)
{
	unsigned i, left;

	(void)unused;
	for (left = COMMAND_OWED + 1; left < COMMAND_WORDS; left += 61) {
		begin();
		for (i = 0; i < 8; i++)
			put_plain(0, 2, 0, SIGNAL_AT);
		bell(0);
		for (i = 0; i < 8; i++) {
			struct run *r = &run[runs - 1];

			hal_host_fill(left);
			r->running = false;
			used[0]--;
			used[1]--;
			hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | r->slot << 8 | 1u << 24, 1, 2, 3 } });
			pump();
			main_before_idle();
			pump();
		}
		assert_int_equal(runs, 8);
		assert_int_equal(signals, 8);
		nothing_left();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PERF-12 PKT-03 PKT-04", plain_kernels),
		RIG_TEST("PERF-12 CGA-06", not_the_same_sm),
		RIG_TEST("PERF-12 SYS-08", suspended),
		RIG_TEST("PERF-12 PKT-16 PKT-17", condensed_kernels),
		RIG_TEST("PERF-12 REL-11", ring_without_room),
	};

	return cmocka_run_group_tests_name("firmware: one kernel after another", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Barrier packets (PKT-03, PKT-04): which signals complete them, what they write then, and how soon a queue looks at its
 * signals again.
 */
#define RINGS 24u
#include "fw_notes.h"

#include "queues/queue_life.h"

#define DEPENDENCIES 5u
#define WAITING 20u /* queues, of which FW_PROBES can read signals at the same time */

static union tutti_packet barrier(bool all, unsigned named)
{
	union tutti_packet p = { .barrier = { .header = all ? TUTTI_PACKET_BARRIER_AND : TUTTI_PACKET_BARRIER_OR } };

	for (unsigned i = 0; i < DEPENDENCIES; i++)
		if (named >> i & 1)
			p.barrier.dependency[i] = SIGNAL_AT + 64 * i;
	return p;
}

static void pass_time(unsigned us)
{
	hal_host.time += us * fw.ticks_per_us;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
	take();
}

/* Let @us microseconds pass, with an event of the timer after each of them. */
static void pass_slowly(unsigned us)
{
	while (us--)
		pass_time(1);
}

static void set_signals(unsigned zero)
{
	for (unsigned i = 0; i < DEPENDENCIES; i++)
		signal_memory[i] = (struct tutti_signal){ .value = !(zero >> i & 1) };
}

/* Of the dependencies @named those in @seen have been 0. */
static bool complete(bool all, unsigned named, unsigned seen)
{
	return !named || (all ? (seen & named) == named : (seen & named) != 0);
}

/* ---- what completes a barrier ---- */

/* Every set of dependencies with every set of signals that are 0, and then one signal after another. */
static void every_set(void **unused)
{
	union tutti_packet p;

	(void)unused;
	seed(8);
	start(1, 0);
	rig_queue(0, ASID, 0);
	for (unsigned all = 0; all < 2; all++)
		for (unsigned named = 0; named < 32; named++)
			for (unsigned zero = 0; zero < 32; zero++) {
				uint64_t index = queue_at(0)->head;
				unsigned seen = zero;

				set_signals(zero);
				p = barrier(all, named);
				submit(0, &p);
				while (!complete(all, named, seen)) {
					unsigned now = 1u << roll(DEPENDENCIES);

					assert_int_equal(queue_at(0)->head, index);
					set_signals(now); /* those that were 0 before need not be any more */
					pass_time(1000);
					seen |= now;
				}
				assert_int_equal(queue_at(0)->head, index + 1);
			}
}

/* What a barrier has seen is nothing to the next one, nor to itself after a reset. */
static void nothing_is_left_of_it(void **unused)
{
	union tutti_packet first = barrier(true, 3), second = barrier(true, 3);
	struct tutti_fault stop = { .code = TUTTI_ERROR_MEMORY };

	(void)unused;
	for (unsigned reset = 0; reset < 2; reset++) {
		start(1, 0);
		rig_queue(0, ASID, 0);
		set_signals(1);
		submit(0, &first);
		submit(0, &second);
		assert_int_equal(queue_at(0)->head, 0);
		if (reset) {
			queue_stop(queue_at(0), &stop);
			set_signals(2);
			rig_command = take_one;
			assert_int_equal(rig_request(TUTTI_MSG_QUEUE_RESET, 0, 0, 0), 0);
			rig_command = NULL;
			take();
			pass_time(1000);
			assert_int_equal(queue_at(0)->head, 0);
			continue;
		}
		set_signals(2);
		pass_time(1000);
		assert_int_equal(queue_at(0)->head, 1);
		set_signals(1);
		pass_time(1000);
		assert_int_equal(queue_at(0)->head, 2);
	}
}

/* ---- what it writes ---- */

/* The fences that its header asks for, and its signal behind them; nothing before it is complete. */
static void fences_and_signal(void **unused)
{
	(void)unused;
	for (unsigned scopes = 0; scopes < 9; scopes++)
		for (unsigned with = 0; with < 4; with++) {
			unsigned acquire = scopes % 3, release = scopes / 3, at = 0;
			union tutti_packet p = barrier(true, with & 2);
			uint64_t signals_before;

			start(1, 0);
			rig_queue(0, ASID, 0);
			queue_at(0)->vector = 5;
			p.barrier.header = tutti_header(TUTTI_PACKET_BARRIER_AND, 1, acquire, release);
			p.barrier.signal = with & 1 ? 0x112233445540ull : 0;
			set_signals(0);
			set_signals(with & 2 ? 0 : ~0u);
			signals_before = counters.signals;
			write_packet(0, &p);
			rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
			take_noted();
			assert_int_equal(noted[at++].word[0] & 0xff, TUTTI_CMD_FETCH); /* of the packet */
			if (with & 2) {
				assert_int_equal(noted[at].word[0] & 0xff, TUTTI_CMD_FETCH); /* of the signal */
				assert_int_equal(notes, 2);
				set_signals(~0u);
				hal_host.time += 1000 * fw.ticks_per_us;
				rig_event(TUTTI_EVENT_TIMER, 0, 0);
				take_noted();
			}
			if (acquire)
				expect_command(at++, TUTTI_CMD_FENCE, acquire | TUTTI_FENCE_ACQUIRE, NULL, 0);
			if (release)
				expect_command(at++, TUTTI_CMD_FENCE, release | TUTTI_FENCE_RELEASE, NULL, 0);
			if (with & 1)
				expect_command(at++, TUTTI_CMD_SIGNAL, 5, (uint32_t[]){ ASID, 0x33445540, 0x1122 }, 3);
			assert_int_equal(noted[at].word[0] & 0xff, TUTTI_CMD_SCRUB);
			assert_int_equal(counters.signals - signals_before, with & 1);
		}
}

/* ---- how soon it looks again ---- */

static unsigned looks;

static void count_looks(void)
{
	take_noted();
	for (unsigned i = 0; i < notes; i++)
		looks += (noted[i].word[0] & 0xff) == TUTTI_CMD_FETCH && (noted[i].word[0] >> 16 & TAG_KIND) == TAG_PROBE;
}

/* At first it looks often, later every quarter of a millisecond or half as much later. */
static void looks_less_often(void **unused)
{
	union tutti_packet p = barrier(true, 1);
	unsigned first, us;

	(void)unused;
	start(1, 0);
	rig_queue(0, ASID, 0);
	set_signals(0);
	write_packet(0, &p);
	looks = 0;
	rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
	count_looks();
	assert_int_equal(looks, 1);
	for (us = 0; us < 1000; us++) {
		hal_host.time += fw.ticks_per_us;
		rig_event(TUTTI_EVENT_TIMER, 0, 0);
		count_looks();
	}
	first = looks;
	assert_in_range(first, 1 + 6 + 1, 1 + 6 + 3); /* 4, 8, 16, 32, 64, 128 us, and then 256 */
	for (; us < 11000; us++) {
		hal_host.time += fw.ticks_per_us;
		rig_event(TUTTI_EVENT_TIMER, 0, 0);
		count_looks();
	}
	assert_in_range(looks - first, 10000 / 384, 10000 / 256);
}

static void look_for(unsigned us)
{
	for (looks = 0; us; us--) {
		hal_host.time += fw.ticks_per_us;
		rig_event(TUTTI_EVENT_TIMER, 0, 0);
		count_looks();
	}
}

/* A queue that has waited long looks often again at its next barrier, and when the card has sent any signal. */
static void looks_often_again(void **unused)
{
	union tutti_packet first = barrier(true, 1), second = barrier(true, 2), other = barrier(true, 0);

	(void)unused;
	start(1, 0);
	rig_queue(0, ASID, 0);
	rig_queue(1, ASID, 0);
	set_signals(0);
	submit(0, &first);
	submit(0, &second);
	look_for(5000);
	look_for(256);
	assert_in_range(looks, 0, 1);
	set_signals(1);
	while (!queue_at(0)->head)
		look_for(1);
	set_signals(0);
	look_for(200);
	assert_in_range(looks, 4, 7);
	look_for(5000);
	other.barrier.signal = SIGNAL_AT + 5 * 64;
	submit(1, &other);
	look_for(200);
	assert_in_range(looks, 4, 7);
	assert_int_equal(queue_at(0)->head, 1);
}

/* When no queue is at a barrier any more there is nothing to attend to. */
static void nothing_to_attend_to(void **unused)
{
	union tutti_packet p = barrier(false, 7);

	(void)unused;
	start(1, 0);
	for (unsigned q = 0; q < 3; q++)
		rig_queue(q, ASID, 0);
	set_signals(0);
	for (unsigned q = 0; q < 3; q++)
		submit(q, &p);
	assert_true(attention.settle & ATTEND_BARRIER);
	destroy(1);
	set_signals(4);
	pass_time(1000);
	assert_int_equal(queue_at(0)->head + queue_at(2)->head, 2);
	main_settle();
	assert_false(attention.settle & ATTEND_BARRIER);
}

/* The kernel of queue 1 sends the signal that queue 0 waits for. */
static void end_sender(void)
{
	struct tutti_event event = { { TUTTI_EVENT_CTA | (uint32_t)slot_of(1, 0) << 8 | 1u << 24, 1, 1, 1 } };

	signal_memory[0].value = 0;
	hal_host_event(&event);
}

/* For a signal that the card itself sends nobody has to wait for the time to look again. */
static void sees_own_signals_at_once(void **unused)
{
	struct tutti_dispatch_packet sender = kernel_packet(0, 1), next = kernel_packet(0, 1);
	union tutti_packet p = barrier(true, 1);

	(void)unused;
	sender.signal = SIGNAL_AT;
	for (unsigned early = 0; early < 2; early++) {
		uint32_t look = 0;

		start(1, 0);
		rig_queue(0, ASID, 0);
		rig_queue(1, ASID, 0);
		set_signals(0);
		submit(1, &sender);
		write_packet(0, &p);
		write_packet(0, &next);
		if (!early) {
			ring_doorbell(0);
			pass_time(5000); /* it looks rarely by now */
		} else { /* it is looking just now, and what it sees is old */
			const uint32_t *w;
			unsigned words;

			rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
			while ((w = hal_host_command(&words)))
				if ((w[0] & 0xff) != TUTTI_CMD_FETCH) {
					continue;
				} else if ((w[0] >> 16 & TAG_KIND) == TAG_PROBE) {
					memcpy(hal_pointer(w[5]), &signal_memory[0], w[4]);
					look = w[0];
				} else {
					take_fetch(w);
				}
			assert_true(look);
		}
		assert_int_equal(started[0], 0);
		end_sender();
		if (early) {
			rig_event(TUTTI_EVENT_FETCH | (look & 0xffff0000u), 0, 0);
			assert_int_equal(started[0], 0);
		}
		take();
		assert_int_equal(started[0], 1);
	}
}

/* ---- a look that is under way when its queue stops ---- */

/* What was read for the queue before the reset counts for nothing, and the probe is free for others. */
static void look_from_before_the_reset(void **unused)
{
	union tutti_packet p = barrier(true, 1);
	struct tutti_fault stop = { .code = TUTTI_ERROR_MEMORY };
	const uint32_t *w;
	uint32_t look = 0;
	unsigned words;

	(void)unused;
	for (unsigned round = 0; round < 2 * FW_PROBES; round++) {
		if (!round) {
			start(1, 0);
			rig_queue(0, ASID, 0);
			set_signals(0);
			write_packet(0, &p);
			rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
		} else {
			hal_host.time += 1000000;
			rig_event(TUTTI_EVENT_TIMER, 0, 0);
		}
		for (look = 0; (w = hal_host_command(&words));)
			if ((w[0] & 0xff) != TUTTI_CMD_FETCH) {
				continue;
			} else if ((w[0] >> 16 & TAG_KIND) == TAG_PROBE) {
				memset(hal_pointer(w[5]), 0, w[4]); /* the signal was 0 for a moment */
				look = w[0];
			} else {
				take_fetch(w);
			}
		assert_true(look);
		queue_stop(queue_at(0), &stop);
		rig_command = take_one;
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_RESET, 0, 0, 0), 0);
		rig_command = NULL;
		take();
		rig_event(TUTTI_EVENT_FETCH | (look & 0xffff0000u), 0, 0);
		take();
		assert_int_equal(queue_at(0)->head, 0);
	}
	set_signals(1);
	pass_time(1000);
	assert_int_equal(queue_at(0)->head, 1);
}

/* ---- many queues ---- */

static uint32_t held_looks[64];
static unsigned looks_held;

/* As take(), but looks at signals stay under way. */
static void take_all_but_looks(void)
{
	const uint32_t *w;
	unsigned words;

	while ((w = hal_host_command(&words)))
		if ((w[0] & 0xff) == TUTTI_CMD_FETCH && (w[0] >> 16 & TAG_KIND) == TAG_PROBE) {
			memcpy(hal_pointer(w[5]), user(w[2] | (uint64_t)w[3] << 32), w[4]);
			held_looks[looks_held++ % 64] = w[0];
		} else if ((w[0] & 0xff) == TUTTI_CMD_FETCH) {
			take_fetch(w);
		}
}

/* As many queues look as can at a time. Each look that ends lets another queue begin, at once. */
static void looks_in_turn(void **unused)
{
	union tutti_packet p = barrier(true, 1);

	(void)unused;
	start(1, 0);
	set_signals(1);
	looks_held = 0;
	for (unsigned q = 0; q < WAITING; q++)
		rig_queue(q, ASID, 0);
	for (unsigned q = 0; q < WAITING; q++) {
		write_packet(q, &p);
		rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
		take_all_but_looks();
	}
	assert_int_equal(looks_held, FW_PROBES);
	for (unsigned i = 0; i < WAITING; i++) {
		assert_true(i < looks_held);
		rig_event(TUTTI_EVENT_FETCH | (held_looks[i] & 0xffff0000u), 0, 0);
		take_all_but_looks();
	}
	assert_int_equal(looks_held, WAITING);
	for (unsigned q = 0; q < WAITING; q++)
		assert_int_equal(queue_at(q)->head, 1);
}

/* A queue that looks at signals gives its fetch buffer to the first queue in line at once. */
static void gives_its_buffer_away(void **unused)
{
	union tutti_packet p = barrier(true, 1);
	uint32_t fetch[16];
	unsigned fetches = 0, words;
	const uint32_t *w;

	(void)unused;
	start(1, 0);
	set_signals(0);
	for (unsigned q = 0; q < FW_BUFFERS + 2; q++)
		rig_queue(q, ASID, 0);
	for (unsigned q = 0; q < FW_BUFFERS + 2; q++) {
		write_packet(q, &p);
		rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	}
	while ((w = hal_host_command(&words))) {
		assert_int_equal(w[0] & 0xff, TUTTI_CMD_FETCH);
		fetch[fetches++] = w[0];
		memcpy(hal_pointer(w[5]), &p, 64);
	}
	assert_int_equal(fetches, FW_BUFFERS);
	assert_int_equal(queue_at(FW_BUFFERS)->wait, WAIT_BUFFER);
	rig_event(TUTTI_EVENT_FETCH | (fetch[1] & 0xffff0000u), 0, 0);
	assert_int_equal(queue_at(1)->wait, WAIT_SIGNAL);
	assert_int_equal(queue_at(1)->buffer, 0);
	assert_int_equal(queue_at(FW_BUFFERS)->wait, WAIT_FETCH);
	assert_int_equal(queue_at(FW_BUFFERS + 1)->wait, WAIT_BUFFER);
}

/* Queues that began to wait at different times: each is looked at in its own time, also after others have gone on. */
static void each_in_its_time(void **unused)
{
	(void)unused;
	seed(32);
	for (unsigned round = 0; round < 30; round++) {
		unsigned zero = 0;

		start(1, 0);
		set_signals(0);
		for (unsigned q = 0; q < DEPENDENCIES; q++)
			rig_queue(q, ASID, 0);
		for (unsigned q = 0; q < DEPENDENCIES; q++) {
			union tutti_packet p = barrier(true, 1u << q);

			submit(q, &p);
			pass_slowly(roll(2000));
		}
		while (zero != 31) {
			unsigned q = roll(DEPENDENCIES);

			zero |= 1u << q;
			set_signals(zero);
			pass_slowly(400);
			for (q = 0; q < DEPENDENCIES; q++)
				assert_int_equal(queue_at(q)->head, zero >> q & 1);
		}
	}
}

/* One that looks rarely by now is not forgotten when another one, which looks often, goes on. */
static void rare_looks_are_kept(void **unused)
{
	union tutti_packet patient = barrier(true, 1), quick = barrier(true, 2);

	(void)unused;
	for (unsigned since = 0; since < 256; since += 5) {
		start(1, 0);
		set_signals(0);
		rig_queue(0, ASID, 0);
		rig_queue(1, ASID, 0);
		submit(0, &patient);
		pass_slowly(3000 + since);
		submit(1, &quick);
		set_signals(2);
		pass_slowly(20);
		assert_int_equal(queue_at(1)->head, 1);
		set_signals(1);
		pass_slowly(400);
		assert_int_equal(queue_at(0)->head, 1);
	}
}

/* The hardware's timer alone wakes the queues: there are no timer events other than those for which it was set. */
static void woken_by_the_timer(void **unused)
{
	union tutti_packet first = barrier(true, 1), second = barrier(true, 2);

	(void)unused;
	for (unsigned since = 0; since < 256; since += 15) {
		start(1, 0);
		set_signals(0);
		rig_queue(0, ASID, 0);
		rig_queue(1, ASID, 0);
		pass_time(1);
		submit(0, &first);
		for (unsigned us = 0; us < 3500 + since; us++) {
			if (us == 3000 + since)
				submit(1, &second);
			set_signals(us < 3001 + since ? 0 : us < 3010 + since ? 2 : 1);
			hal_host.time += fw.ticks_per_us;
			if (hal_host.time >= (hal_host.engines.timer_lo | (uint64_t)hal_host.engines.timer_hi << 32))
				pass_time(0);
			assert_true(us < 3009 + since || queue_at(1)->head);
		}
		assert_int_equal(queue_at(0)->head, 1);
	}
}

static int ask_meanwhile(unsigned type, unsigned q)
{
	int status;

	rig_command = take_one;
	status = rig_request(type, q, 0, 0);
	rig_command = NULL;
	return status;
}

static uint32_t messages(void)
{
	const struct tutti_discovery *d = (const void *)hal_host.window;

	return ((const struct tutti_status *)(hal_host.window + d->status.offset))->card_ring_tail;
}

/*
 * A look under way writes into the firmware's memory, so its queue is gone, and the card is quiet, only when it has ended. What
 * it has seen meanwhile completes nothing; after RESUME the queue looks again.
 */
static void looks_are_waited_for(void **unused)
{
	union tutti_packet p = barrier(true, 1);
	uint32_t before;

	(void)unused;
	for (unsigned suspend = 0; suspend < 2; suspend++) {
		start(1, 0);
		rig_queue(0, ASID, 0);
		set_signals(1);
		looks_held = 0;
		write_packet(0, &p);
		rig_event(TUTTI_EVENT_DOORBELL, 1, 0);
		take_all_but_looks();
		assert_int_equal(looks_held, 1);
		before = messages();
		assert_int_equal(ask_meanwhile(suspend ? TUTTI_MSG_SUSPEND : TUTTI_MSG_QUEUE_DESTROY, 0), 1);
		assert_int_equal(messages(), before);
		rig_event(TUTTI_EVENT_FETCH | (held_looks[0] & 0xffff0000u), 0, 0);
		take();
		assert_int_equal(queue_at(0)->head, 0);
		assert_int_equal(messages(), before + 1);
		assert_int_equal(queue_at(0)->state, suspend ? QUEUE_RUNNING : QUEUE_NONE);
		if (!suspend)
			continue;
		assert_int_equal(ask_meanwhile(TUTTI_MSG_RESUME, 0), 0);
		take();
		assert_int_equal(queue_at(0)->head, 1);
	}
}

/* More queues wait than can look at the same time: each of them sees its signal soon, and none before that. */
static void more_queues_than_probes(void **unused)
{
	union tutti_packet p;

	(void)unused;
	start(1, 0);
	seed(31);
	for (unsigned q = 0; q < WAITING; q++) {
		rig_queue(q, ASID, 0);
		p = barrier(q & 1, 1u << q % DEPENDENCIES);
		write_packet(q, &p);
	}
	set_signals(0);
	for (unsigned q = 0; q < WAITING; q++)
		rig_event(TUTTI_EVENT_DOORBELL, 1u << q, 0);
	take();
	for (unsigned round = 0; round < 50; round++)
		pass_time(roll(300));
	for (unsigned i = 0; i < DEPENDENCIES; i++) {
		for (unsigned q = 0; q < WAITING; q++)
			assert_int_equal(queue_at(q)->head, q % DEPENDENCIES < i);
		set_signals((2u << i) - 1);
		for (unsigned us = 0; us < 2000; us += 100)
			pass_time(100);
	}
	for (unsigned q = 0; q < WAITING; q++)
		assert_int_equal(queue_at(q)->head, 1);
}

/* A barrier with the barrier bit waits for the kernels before it, even if its signals are 0. */
static void waits_for_kernels_before(void **unused)
{
	struct tutti_dispatch_packet before = kernel_packet(0, 1), behind = kernel_packet(0, 1);

	(void)unused;
	for (unsigned bit = 0; bit < 2; bit++) {
		union tutti_packet p = barrier(true, 1);

		p.word[0] |= bit ? TUTTI_HEADER_BARRIER : 0;
		start(1, 0);
		rig_queue(0, ASID, 0);
		set_signals(1);
		submit(0, &before);
		submit(0, &p);
		submit(0, &behind);
		assert_int_equal(started[0], bit ? 1 : 2);
		end_all((unsigned)slot_of(0, 0));
		assert_int_equal(started[0], 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("PKT-03", every_set),
		RIG_TEST("PKT-03 PKT-06", nothing_is_left_of_it),
		RIG_TEST("PKT-03 PKT-04", fences_and_signal),
		RIG_TEST("PKT-03 PERF-06", looks_less_often),
		RIG_TEST("PKT-03 PERF-06", looks_often_again),
		RIG_TEST("PKT-03 PERF-06", nothing_to_attend_to),
		RIG_TEST("PKT-03 PERF-06", sees_own_signals_at_once),
		RIG_TEST("PKT-03 PKT-06", look_from_before_the_reset),
		RIG_TEST("PKT-03 REL-11", looks_in_turn),
		RIG_TEST("PKT-03 REL-11", gives_its_buffer_away),
		RIG_TEST("PKT-03 PERF-06", each_in_its_time),
		RIG_TEST("PKT-03 PERF-06", rare_looks_are_kept),
		RIG_TEST("PKT-03 PERF-06", woken_by_the_timer),
		RIG_TEST("PKT-03 SYS-08", looks_are_waited_for),
		RIG_TEST("PKT-03 REL-11", more_queues_than_probes),
		RIG_TEST("PKT-03", waits_for_kernels_before),
	};

	return cmocka_run_group_tests_name("firmware: barrier packets", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Many queues share few fetch buffers: no queue fetches in vain, and none waits for ever. Time stands still unless a
 * test moves it, so that no queue polls.
 */
#define RINGS 48u
#include "fw_direct.h"

#include "core/wait.h"
#include "queues/queue_life.h"

#define PACKETS 4u /* as many as a queue fetches when it wakes */

static void doorbells(unsigned from, unsigned to)
{
	for (unsigned q = from; q < to; q++)
		rig_event(TUTTI_EVENT_DOORBELL | q / 32 << 8, 1u << q % 32, 0);
}

static void write_kernel(unsigned q)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	p.header |= TUTTI_HEADER_BARRIER;
	write_packet(q, &p);
}

/* Queues @from up to @to write @n kernels each. Their doorbells are rung before any of their packets is fetched. */
static void submit_all(unsigned from, unsigned to, unsigned n)
{
	for (unsigned q = from; q < to; q++)
		for (unsigned k = 0; k < n; k++)
			write_kernel(q);
	doorbells(from, to);
	take();
}

static void queues_create(void)
{
	for (unsigned q = 0; q < RINGS; q++)
		rig_queue(q, ASID, 0);
}

/* End what runs, one kernel after the other, until nothing does. */
static void end_everything(void)
{
	bool any;

	do {
		any = false;
		for (unsigned s = 0; s < SLOTS; s++)
			if (running[s].ctas) {
				any = true;
				end_all(s);
			}
	} while (any);
}

static unsigned waiting(enum queue_wait wait)
{
	unsigned n = 0;

	for (unsigned q = 0; q < RINGS; q++)
		n += queue_at(q)->wait == wait;
	return n;
}

/*
 * One slot, taken by a kernel that lasts; behind it as many kernels as can be accepted; then queues that wait for a slot
 * and have all buffers, and queues in line.
 */
static void crowd(void)
{
	start(1, 1);
	queues_create();
	submit_all(0, RINGS - 1, 1);
	assert_int_equal(waiting(WAIT_SLOT), FW_BUFFERS);
	assert_in_range(waiting(WAIT_BUFFER), 4, RINGS);
}

/* A queue fetches its packets once and then, to see that there are no more, once again. */
static void fetched_once(void **unused)
{
	(void)unused;
	for (unsigned slots = 1; slots <= SLOTS; slots += SLOTS - 1) {
		start(1, slots);
		queues_create();
		submit_all(0, RINGS, PACKETS);
		end_everything();
		for (unsigned q = 0; q < RINGS; q++)
			assert_int_equal(started[q], PACKETS);
		assert_in_range(packet_fetches, RINGS, 2 * RINGS);
	}
}

/* While the queues have to wait, none of them fetches, whatever else happens. */
static void waits_at_no_cost(void **unused)
{
	unsigned before;

	(void)unused;
	crowd();
	before = packet_fetches;
	for (unsigned n = 0; n < 100; n++)
		doorbells(0, RINGS - 1);
	take();
	assert_int_equal(packet_fetches, before);
	end_everything();
	for (unsigned q = 0; q < RINGS - 1; q++)
		assert_int_equal(started[q], 1);
	/* each queue has rung again after its first fetch */
	assert_in_range(packet_fetches, before, 3 * RINGS);
}

/* A buffer goes to the queues in line, in the order of their numbers, and not to a queue that comes later. */
static void line_in_order(void **unused)
{
	unsigned first = 0, n;

	(void)unused;
	crowd();
	while (queue_at(first)->wait != WAIT_BUFFER)
		first++;
	packet_fetches = 0;
	for (n = 0; first + n < RINGS - 1; n++) {
		submit_all(RINGS - 1, RINGS, n == 0);
		for (unsigned s = 0; s < SLOTS; s++)
			if (running[s].ctas) {
				end_all(s);
				break;
			}
	}
	end_everything();
	for (n = 0; n < RINGS; n++)
		assert_int_equal(started[n], 1);
	for (n = 0; first + n < RINGS; n++) {
		unsigned at = 0;

		while (at < packet_fetches && packets_fetched[at] != first + n)
			at++;
		for (unsigned before = 0; before < at; before++)
			assert_true(packets_fetched[before] <= first + n);
	}
}

/* The line goes by the numbers of queues, whichever they are, round and round. */
static void line_of_any_numbers(void **unused)
{
	enum { STEP = 21, N = TUTTI_MAX_QUEUES / STEP };

	(void)unused;
	start(1, 0);
	for (unsigned k = 0; k < N; k++) {
		struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
					   .queue = { .queue = (uint16_t)(k * STEP), .asid = ASID, .ring = RIG_RING + k * 4096ull,
						      .read_index = 0x20000000, .size_log2 = 6, .priority = 5 } };

		assert_int_equal(rig_message(&m), 0);
	}
	for (unsigned first = 0; first < N; first++) {
		packet_fetches = 0;
		for (unsigned k = 0; k < N; k++) { /* from the first on; no packet arrives yet */
			unsigned q = (first + k) % N * STEP;

			rig_event(TUTTI_EVENT_DOORBELL | q / 32 << 8, 1u << q % 32, 0);
		}
		take(); /* there are none, so each buffer goes to the next in line */
		assert_in_range(packet_fetches, N, 64);
		for (unsigned k = FW_BUFFERS + 1; k < N; k++) {
			unsigned before = packets_fetched[k - 1], now = packets_fetched[k];

			/* a queue in line lies between two that are neighbours here, or there is none between them */
			assert_true(now > before || now < packets_fetched[FW_BUFFERS]);
		}
	}
}

/* More queues than there are buffers always have packets: all of them make progress, whatever their numbers are. */
static void greedy_in_turn(void **unused)
{
	enum { MANY = 2 * FW_BUFFERS + 1 };
	unsigned all = 0;

	(void)unused;
	start(1, 0);
	queues_create();
	for (unsigned round = 0; round < 2000; round++) {
		for (unsigned q = 0; q < MANY; q++)
			while (written[q] - queue_at(q)->retired < RING)
				write_kernel(q);
		doorbells(0, MANY);
		take();
		for (unsigned s = 0; s < SLOTS; s++)
			end_all(s);
	}
	for (unsigned q = 0; q < MANY; q++)
		all += started[q];
	assert_true(all > 2000);
	for (unsigned q = 0; q < MANY; q++)
		assert_in_range(started[q], all / MANY / 2, 2 * all / MANY);
	assert_in_range(packet_fetches, 0, all / 2);
}

/* Write a packet that needs no task slot into the last queue, whose signal is sent as soon as the packet is read. */
static void write_barrier(void)
{
	union tutti_packet p = { .barrier = { .header = TUTTI_PACKET_BARRIER_AND, .signal = SIGNAL_AT } };

	write_packet(RINGS - 1, &p);
}

static void pass_time(unsigned us)
{
	hal_host.time += us * fw.ticks_per_us;
	rig_event(TUTTI_EVENT_TIMER, 0, 0);
	take();
}

/* The owners of all buffers may wait for what a queue in line is to send, so the line moves although they do not. */
static void line_moves(void **unused)
{
	unsigned n;

	(void)unused;
	crowd();
	signal_count = 0;
	write_barrier();
	doorbells(RINGS - 1, RINGS);
	take();
	for (n = 0; n < 1000 && !signal_count; n++)
		pass_time(1);
	/* as many at a time as there are buffers */
	assert_in_range(n, 64, 64 * (RINGS / FW_BUFFERS));
	assert_int_equal(waiting(WAIT_BUFFER), 0);
	packet_fetches = 0;
	pass_time(10);
	assert_int_equal(packet_fetches, 0);
	end_everything();
	for (unsigned q = 0; q < RINGS - 1; q++)
		assert_int_equal(started[q], 1);
}

/* A queue of higher priority gets the buffer of one that waits for a slot at once; one of the same priority does not. */
static void priority_first(void **unused)
{
	(void)unused;
	for (unsigned priority = 4; priority <= 5; priority++) {
		crowd();
		assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, RINGS - 1, 0, 0), 0);
		rig_priority = priority;
		rig_queue(RINGS - 1, ASID, 0);
		rig_priority = 5;
		signal_count = 0;
		write_barrier();
		doorbells(RINGS - 1, RINGS);
		take();
		assert_int_equal(signal_count, priority < 5);
	}
}

/* A queue that is stopped or destroyed while it is in line leaves it, and those behind it go on. */
static void leaves_the_line(void **unused)
{
	struct tutti_fault fault = { .code = TUTTI_ERROR_PACKET };
	unsigned first = 0;

	(void)unused;
	crowd();
	while (queue_at(first)->wait != WAIT_BUFFER)
		first++;
	queue_stop(queue_at(first), &fault);
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_DESTROY, first + 1, 0, 0), 0);
	end_everything();
	for (unsigned q = 0; q < RINGS - 1; q++)
		assert_int_equal(started[q], q != first && q != first + 1);
	assert_int_equal(waiting(WAIT_BUFFER), 0);
	assert_int_equal(queue_at(first)->buffer, 0);
	/* and when it is reset it gets one */
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_QUEUE_RESET, first, 0, 0), 0);
	rig_command = NULL;
	take();
	end_everything();
	assert_int_equal(started[first], 1);
}

/* All owners wait for signals: they do not keep a queue waiting, and they find their packets again. */
static void signals_give_way(void **unused)
{
	union tutti_packet wait = { .barrier = { .header = TUTTI_PACKET_BARRIER_AND, .dependency = { SIGNAL_AT } } };
	unsigned q;

	(void)unused;
	start(1, 0);
	queues_create();
	signal_memory[0].value = 1;
	for (q = 0; q <= FW_BUFFERS; q++) {
		if (q < FW_BUFFERS)
			write_packet(q, &wait);
		write_kernel(q);
	}
	doorbells(0, FW_BUFFERS + 1);
	take();
	assert_int_equal(started[FW_BUFFERS], 1);
	for (q = 0; q < FW_BUFFERS; q++)
		assert_int_equal(started[q], 0);
	signal_memory[0].value = 0;
	for (q = 0; q < 100; q++)
		pass_time(10);
	for (q = 0; q <= FW_BUFFERS; q++)
		assert_int_equal(started[q], 1);
}

/* Queues whose kernels last do not keep another one waiting while no queue is in line. */
static void running_gives_way(void **unused)
{
	(void)unused;
	start(1, 0);
	queues_create();
	submit_all(0, FW_BUFFERS, PACKETS);
	submit_all(FW_BUFFERS, FW_BUFFERS + 1, 1);
	assert_int_equal(started[FW_BUFFERS], 1);
	end_everything();
	for (unsigned q = 0; q < FW_BUFFERS; q++)
		assert_int_equal(started[q], PACKETS);
}

/* Buffers of queues that wait are taken in turn: those that have come last keep theirs. */
static void taken_in_turn(void **unused)
{
	(void)unused;
	start(4, 0);
	queues_create();
	for (unsigned q = 0; q < 3 * FW_BUFFERS; q++) {
		submit_all(q, q + 1, 2); /* the second kernel waits for the first */
		assert_int_equal(started[q], 1);
		for (unsigned k = 0; k <= q; k++)
			assert_int_equal(queue_at(k)->buffer != 0, k + FW_BUFFERS > q);
	}
}

/*
 * A queue that waits for a kernel descriptor keeps its buffer, so that it uses the descriptor as soon as it arrives. If the
 * queue had to fetch its packets again, another one could replace the descriptor in the cache each time.
 */
static void descriptor_keeps_buffer(void **unused)
{
	unsigned q;

	(void)unused;
	start(1, 0);
	queues_create();
	slow_kernels = true;
	for (q = 0; q <= FW_BUFFERS; q++) {
		struct tutti_dispatch_packet p = kernel_packet(FW_KERNELS * q, 1); /* all of them in one entry */

		write_packet(q, &p);
	}
	doorbells(0, FW_BUFFERS + 1);
	take();
	assert_int_equal(waiting(WAIT_KERNEL), FW_BUFFERS);
	assert_int_equal(waiting(WAIT_BUFFER), 1);
	pass_time(64);
	assert_int_equal(packet_fetches, FW_BUFFERS);
	answer_kernels();
	for (q = 0; q <= FW_BUFFERS; q++)
		assert_int_equal(started[q], 1);
	/* each descriptor was used when it came, so none was fetched again */
	assert_int_equal(counters.kernel_misses, FW_BUFFERS + 1);
}

/* A program rings for the packet @index of queue 0. */
static void ring_for(uint32_t index)
{
	((uint32_t *)hal_pointer(hal_host.engines.doorbell_index))[0] = index;
	doorbells(0, 1);
	take();
}

/*
 * Several threads write packets and ring in any order: a doorbell for packets that are still being written, and a later one
 * with a lower index. The queue looks again by itself until all packets up to the highest index have come, and not longer.
 */
static void looks_again(void **unused)
{
	static const uint64_t starts[] = { 0, 3, 0x7ffffffd, 0xfffffffeull, 0xffffffffffull };
	struct tutti_message create = { .type = TUTTI_MSG_QUEUE_CREATE,
					.queue = { .asid = ASID, .ring = RIG_RING, .read_index = 0x20000000, .size_log2 = 6,
						   .priority = 5 } };
	unsigned fetches;

	(void)unused;
	for (unsigned i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		start(1, SLOTS);
		hal_host.time = 1000;
		create.queue.start = starts[i];
		assert_int_equal(rig_message(&create), 0);
		written[0] = (unsigned)starts[i];
		write_kernel(0);
		ring_for((uint32_t)starts[i] + 3); /* the fourth packet */
		ring_for((uint32_t)starts[i]);
		end_everything();
		assert_int_equal(started[0], 1);
		for (unsigned k = 2; k <= 4; k++) {
			for (unsigned n = 0; n < 10; n++)
				pass_time(20000);
			assert_int_equal(started[0], k - 1);
			write_kernel(0); /* nobody rings any more */
			pass_time(20000);
			end_everything();
			assert_int_equal(started[0], k);
		}
		for (unsigned n = 0; n < 10; n++)
			pass_time(20000);
		fetches = packet_fetches;
		for (unsigned n = 0; n < 10; n++)
			pass_time(20000);
		assert_int_equal(packet_fetches, fetches);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		RIG_TEST("PERF-06 REL-11", fetched_once),
		RIG_TEST("PERF-06 REL-11", waits_at_no_cost),
		RIG_TEST("REL-11 REL-12", line_in_order),
		RIG_TEST("REL-11 REL-12", line_of_any_numbers),
		RIG_TEST("RES-01 REL-11", greedy_in_turn),
		RIG_TEST("REL-11 REL-12", line_moves),
		RIG_TEST("PKT-04 PKT-05", looks_again),
		RIG_TEST("RES-01 REL-12", priority_first),
		RIG_TEST("REL-11 PKT-06", leaves_the_line),
		RIG_TEST("PKT-03 REL-12", signals_give_way),
		RIG_TEST("REL-12", running_gives_way),
		RIG_TEST("PERF-06 REL-11", taken_in_turn),
		RIG_TEST("REL-11 REL-12", descriptor_keeps_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * Two clients share the card (REL-12): which queue goes on, which has to wait, and what is reserved for the other client.
 * Queues 0 to OTHER - 1 belong to a busy client, those from OTHER on to the other one.
 */
#define RINGS 48u
#include "fw_direct.h"

#include "queues/queue.h"
#include "queues/turns.h"

#define OTHER (RINGS - 2)

static void write_kernel(unsigned q, bool in_order)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	if (in_order)
		p.header |= TUTTI_HEADER_BARRIER;
	write_packet(q, &p);
}

static void doorbell(unsigned q)
{
	rig_event(TUTTI_EVENT_DOORBELL | q / 32 << 8, 1u << q % 32, 0);
}

/* A queue of the other client launches one kernel. */
static void launch_other(void)
{
	write_kernel(OTHER, false);
	doorbell(OTHER);
	take();
}

/* Each of the first @n queues of the busy client has one kernel. */
static void launch_busy(unsigned n)
{
	for (unsigned q = 0; q < n; q++)
		write_kernel(q, false);
	for (unsigned q = 0; q < n; q++)
		doorbell(q);
	take();
}

static void queues_create(unsigned sms, unsigned slots)
{
	start(sms, slots);
	for (unsigned q = 0; q < RINGS; q++)
		rig_queue(q, q < OTHER ? ASID : ASID + 1, 0);
}

static unsigned on_card(unsigned from, unsigned to)
{
	unsigned n = 0;

	for (unsigned s = 0; s < SLOTS; s++)
		n += running[s].ctas && running[s].queue >= from && running[s].queue < to;
	return n;
}

static unsigned waiting(enum queue_wait wait)
{
	unsigned n = 0;

	for (unsigned q = 0; q < RINGS; q++)
		n += queue_at(q)->wait == wait;
	return n;
}

static bool is_ready(unsigned q)
{
	return queue_set_has(&queue_table.ready, q);
}

/* The card is shared while two clients have queues; a client without queues does not count. */
static void shared_while_there_are_two(void **unused)
{
	(void)unused;
	start(8, 0);
	rig_queue(0, ASID, 0);
	rig_queue(1, ASID, 0);
	assert_false(queue_table.shared);
	rig_queue(2, ASID + 1, 0);
	rig_queue(3, ASID + 1, 0);
	assert_true(queue_table.shared);
	destroy(2);
	assert_true(queue_table.shared);
	destroy(3);
	assert_false(queue_table.shared);
	assert_int_equal(attention.settle & ATTEND_TURNS, 0);
}

/* The busy client has work for all task slots. It may use the last ones only while it is alone. */
static void last_slots_are_left(void **unused)
{
	(void)unused;
	queues_create(8, SLOTS);
	launch_busy(OTHER);
	assert_int_equal(on_card(0, OTHER), SLOTS - TURN_SLOTS);
	launch_other();
	assert_int_equal(on_card(OTHER, RINGS), 1);
	for (unsigned q = OTHER; q < RINGS; q++) {
		while (on_card(q, q + 1))
			end_all((unsigned)slot_of(q, 0));
		destroy(q);
	}
	end_all(0);
	assert_int_equal(on_card(0, OTHER), SLOTS);
}

/* Nor when it has fetched the metadata of more kernels by the time that the first of them starts. */
static void left_after_metadata(void **unused)
{
	enum { BEFORE = SLOTS - TURN_SLOTS - 1 };

	(void)unused;
	start(8, SLOTS);
	for (unsigned q = 0; q < RINGS; q++)
		rig_queue(q, q < OTHER ? ASID : ASID + 1, TUTTI_QUEUE_EXTENDED);
	launch_busy(BEFORE);
	for (unsigned i = 0; i < TURN_SLOTS; i++) {
		struct tutti_dispatch_packet p = kernel_packet(0, 1);

		tmd[i] = child(0);
		p.tmd = TMD_AT + i * sizeof(tmd[0]);
		write_packet(BEFORE + i, &p);
		p.header |= TUTTI_HEADER_BARRIER;
		write_packet(BEFORE + i, &p);
		doorbell(BEFORE + i);
	}
	take();
	assert_int_equal(on_card(0, OTHER), SLOTS - TURN_SLOTS);
	end_all(0);
	assert_int_equal(on_card(0, OTHER), SLOTS - TURN_SLOTS);
}

/* A client with few tasks may use the last slots as well. */
static void few_tasks_may_have_them(void **unused)
{
	(void)unused;
	queues_create(8, TURN_SLOTS);
	launch_busy(OTHER);
	assert_int_equal(on_card(0, OTHER), TURN_SLOTS);
}

/* Some queues of the busy client hold a buffer and wait for a task slot; all its others wait for a buffer. */
static void last_buffer_is_left(void **unused)
{
	unsigned before;

	(void)unused;
	queues_create(1, 1);
	launch_busy(OTHER);
	assert_int_equal(waiting(WAIT_SLOT), FW_BUFFERS - 1);
	before = packet_fetches;
	launch_other();
	assert_int_equal(packet_fetches, before + 1);
	assert_int_equal(packets_fetched[before % 64], OTHER);
}

/* A buffer that the other client returns does not go to the busy one, although that one's queues have waited longer. */
static void last_buffer_stays_left(void **unused)
{
	unsigned before;

	(void)unused;
	queues_create(1, 1);
	launch_busy(OTHER);
	launch_other();
	write_kernel(OTHER + 1, false);
	doorbell(OTHER + 1);
	take();
	assert_int_equal(queue_at(OTHER + 1)->wait, WAIT_BUFFER);
	before = packet_fetches;
	destroy(OTHER);
	assert_int_equal(packet_fetches, before + 1);
	assert_int_equal(packets_fetched[before % 64], OTHER + 1);
	/* nor when no queue of the other client waits */
	destroy(OTHER + 1);
	assert_int_equal(packet_fetches, before + 1);
}

/* A client that has its share of the buffers takes those of its own queues that wait, and never one of another client's. */
static void takes_buffers_of_its_own(void **unused)
{
	enum { OWN = FW_BUFFERS - 1, MORE = 3 * FW_BUFFERS };
	static const unsigned other = OTHER;

	(void)unused;
	queues_create(8, 0);
	for (unsigned i = 0; i < OWN + 1; i++) {
		unsigned q = i ? i - 1 : other;

		write_kernel(q, true);
		write_kernel(q, true); /* it waits for the first one, in the buffer */
		doorbell(q);
		take();
		assert_int_not_equal(queue_at(q)->buffer, 0);
	}
	for (unsigned q = OWN; q < OWN + MORE; q++) {
		write_kernel(q, true);
		write_kernel(q, true);
		doorbell(q);
		take();
		assert_int_equal(started[q], 1);
		assert_int_not_equal(queue_at(other)->buffer, 0);
	}
}

/* A queue of the busy client that was passed over is destroyed; its number now belongs to the other client. */
static void number_changes_hands(void **unused)
{
	enum { REUSED = OTHER - 1 };

	(void)unused;
	queues_create(1, 1);
	launch_busy(OTHER);
	launch_other();
	write_kernel(OTHER + 1, false);
	doorbell(OTHER + 1);
	take();
	destroy(OTHER); /* all others in line are passed over */
	destroy(REUSED);
	written[REUSED] = 0;
	rig_queue(REUSED, ASID + 1, 0);
	write_kernel(REUSED, false);
	doorbell(REUSED);
	take();
	assert_int_equal(queue_at(REUSED)->wait, WAIT_BUFFER);
	destroy(OTHER + 1);
	assert_int_not_equal(queue_at(REUSED)->buffer, 0);
}

static unsigned next_turn(void)
{
	struct queue *queue = turns_next();

	return queue ? queue_id(queue) : ~0u;
}

/* The other client's queue passes two queues of the busy client, which keep their places. */
static void clients_alternate(void **unused)
{
	(void)unused;
	queues_create(8, 0);
	for (unsigned q = OTHER - 3; q <= OTHER; q++)
		wait_ready(queue_at(q));
	assert_int_equal(next_turn(), OTHER - 3);
	assert_int_equal(next_turn(), OTHER);
	assert_int_equal(next_turn(), OTHER - 2);
	wait_ready(queue_at(OTHER));
	assert_int_equal(next_turn(), OTHER);
	assert_int_equal(next_turn(), OTHER - 1);
	assert_int_equal(queue_table.any_ready, 0);
}

/* Ready queues go on at once if no event waits, and otherwise after some events, since there might always be more. */
static void not_before_all_events(void **unused)
{
	(void)unused;
	queues_create(8, 0);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned n = 1; n < TURN_EVENTS; n++)
			assert_false(turns_due(true));
		assert_true(turns_due(true));
	}
	assert_false(turns_due(true));
	assert_true(turns_due(false));
	assert_false(turns_due(true));
}

/* The kernel of @q ends while more events wait. Ready queues have not gone on yet. */
static void end_crowded(unsigned q)
{
	unsigned slot = (unsigned)slot_of(q, 0), sm = 0;
	struct tutti_event event;

	while (!running[slot].on[sm])
		sm++;
	event = (struct tutti_event){ { TUTTI_EVENT_CTA | slot << 8 | sm / 32 << 16 | 1u << 24, 1, 1, 1u << sm % 32 } };
	running[slot].on[sm] = running[slot].ctas = 0;
	turns_begin(true);
	main_event(&event);
}

/* On a crowded card a client's first queue goes on and its second one becomes ready, until another client's has gone on. */
static void one_of_each_client(void **unused)
{
	static const unsigned who[] = { 0, 1, OTHER, 2, 3 };

	(void)unused;
	queues_create(8, 0);
	for (unsigned i = 0; i < 5; i++) {
		write_kernel(who[i], true);
		write_kernel(who[i], true);
		doorbell(who[i]);
		take();
	}
	end_crowded(0);
	end_crowded(1);
	assert_false(is_ready(0));
	assert_true(is_ready(1));
	end_crowded(OTHER);
	end_crowded(2);
	end_crowded(3);
	assert_false(is_ready(OTHER));
	assert_false(is_ready(2));
	assert_true(is_ready(3));
	/* and when no event waits, all go on */
	while (main_goes_on())
		main_settle();
	take();
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(started[who[i]], 2);
}

/* Behind the answer to the command there are more events, and another client has always just gone on. */
static void take_one_crowded(const uint32_t *w, unsigned words)
{
	turns_begin(true);
	turns.last = 0;
	take_one(w, words);
}

/* On a crowded card a kernel whose metadata have come starts when it is its client's turn, as one without metadata does. */
static void metadata_in_a_crowd(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	start(8, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	rig_queue(OTHER, ASID + 1, 0);
	tmd[0] = child(0);
	p.tmd = TMD_AT;
	for (unsigned i = 1; i < 10; i++) {
		write_packet(0, &p);
		doorbell(0);
		take_by(take_one_crowded);
		assert_int_equal(started[0], i);
		assert_int_equal(waiting(WAIT_ROOM), 0);
	}
}

/* While the other client fetches packets the busy one has no turn, and the firmware may sleep. */
static void gives_way_to_a_fetch(void **unused)
{
	(void)unused;
	queues_create(8, 0);
	wait_ready(queue_at(0));
	queue_run_turn();
	write_kernel(OTHER, false);
	doorbell(OTHER); /* take() will answer the fetch */
	wait_ready(queue_at(1));
	for (unsigned n = 0; n < 1000; n++)
		assert_null(turns_next());
	assert_true(turns_held());
	assert_false(main_goes_on());
	take();
	assert_int_equal(started[OTHER], 1);
	assert_false(is_ready(1));
}

/* The busy client gives way to a kernel that has just started: for a moment, and once between two of its turns. */
static void gives_way_for_a_moment(void **unused)
{
	unsigned n = 0;

	(void)unused;
	queues_create(8, 0);
	launch_other(); /* now its descriptor is in the cache */
	wait_ready(queue_at(0));
	queue_run_turn();
	launch_other();
	wait_ready(queue_at(1));
	for (queue_run_turn(); is_ready(1); queue_run_turn())
		n++;
	assert_int_equal(n, TURN_MOMENT);
	launch_other();
	assert_int_equal(turns.moment, TURN_MOMENT);
	turns.moment = 0;
	launch_other();
	assert_int_equal(turns.moment, 0);
}

/* Nobody gives way to the client that had the last turn. */
static void not_to_the_busy_one(void **unused)
{
	(void)unused;
	queues_create(8, 0);
	wait_ready(queue_at(0));
	queue_run_turn();
	write_kernel(1, false);
	doorbell(1);
	assert_null(turns.fetch);
	take();
	assert_int_equal(started[1], 1);
	assert_int_equal(turns.moment, 0);
}

#define CROWD 4u /* queues that wait for a slot beside queue 0 */

/*
 * The busy client has its slots, and five queues that wait for more. One of these, queue 0, has a condensed packet of four
 * kernels like @reference, all of which are checked before the first one starts.
 */
static void crowd_with(struct tutti_dispatch_packet reference)
{
	union tutti_packet p = condensed(4);

	rig_rsb(0, ASID, TUTTI_RSB_SCRATCH);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	for (unsigned q = 1; q < RINGS; q++)
		rig_queue(q, q < OTHER ? ASID : ASID + 1, 0);
	store(0, 0, reference);
	for (unsigned q = 1; q <= SLOTS - TURN_SLOTS + CROWD; q++) {
		write_kernel(q, false);
		doorbell(q);
		take();
	}
	assert_int_equal(on_card(0, OTHER), SLOTS - TURN_SLOTS);
	submit(0, &p);
	assert_int_equal(waiting(WAIT_SLOT), CROWD + 1);
}

/* The queue waits for a slot only twice, not for each kernel: before they are checked, and before the first one starts. */
static void checks_wait_once(void **unused)
{
	struct tutti_dispatch_packet reference = kernel_packet(0, 1);

	(void)unused;
	start(8, SLOTS);
	tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
	reference.tmd = TMD_AT;
	crowd_with(reference);
	for (unsigned q = 1; q <= CROWD; q++)
		end_all((unsigned)slot_of(q, 0));
	assert_int_equal(waiting(WAIT_SLOT), 1);
	assert_int_equal(queue_at(0)->seen, 4);
	assert_int_equal(started[0], 0);
	end_all((unsigned)slot_of(CROWD + 1, 0));
	assert_int_equal(started[0], 1);
	assert_int_equal(on_card(0, OTHER), SLOTS - TURN_SLOTS);
}

/*
 * The visit is over before the CGAs of all kernels have been checked, and then the slot is gone. The number of
 * kernels that have been checked must not stay for the queue's next packet: a barrier would take it for signals that are 0.
 */
static void checks_are_forgotten(void **unused)
{
	unsigned seen = 0;

	(void)unused;
	start(8, SLOTS);
	descriptor[1].cga_kind = TUTTI_CGA_GPC;
	descriptor[1].cga[0] = descriptor[1].cga[1] = descriptor[1].cga[2] = 1;
	crowd_with(kernel_packet(1, 1));
	for (unsigned q = 1; q <= CROWD + 1; q++) {
		assert_int_equal(started[0], 0);
		rig_shorten_visit(0);
		end_all((unsigned)slot_of(q, 0));
		seen |= queue_at(0)->seen;
	}
	assert_int_equal(seen, 4);
	assert_int_equal(started[0], 1);
	assert_int_equal(queue_at(0)->seen, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "REL-12: a card is shared while queues of two clients exist", shared_while_there_are_two, NULL, NULL, NULL },
		{ "REL-12: the last task slots are left to other clients", last_slots_are_left, NULL, NULL, NULL },
		{ "REL-12, TSK-01: nor do kernels whose metadata were fetched meanwhile take them", left_after_metadata, NULL, NULL, NULL },
		{ "REL-12: a client with few tasks may have them", few_tasks_may_have_them, NULL, NULL, NULL },
		{ "REL-12: the last fetch buffer is left to other clients", last_buffer_is_left, NULL, NULL, NULL },
		{ "REL-12: nor is it taken from a queue of theirs that waits", takes_buffers_of_its_own, NULL, NULL, NULL },
		{ "REL-12: and stays so when it is returned", last_buffer_stays_left, NULL, NULL, NULL },
		{ "REL-12: a queue in line has the number of one that was passed over", number_changes_hands, NULL, NULL, NULL },
		{ "REL-12: ready queues go on client by client", clients_alternate, NULL, NULL, NULL },
		{ "REL-12: ready queues go on although events come", not_before_all_events, NULL, NULL, NULL },
		{ "REL-12: on a crowded card one queue of each client goes on", one_of_each_client, NULL, NULL, NULL },
		{ "REL-12, TSK-01: and if its kernels have metadata, too", metadata_in_a_crowd, NULL, NULL, NULL },
		{ "REL-12: a busy client gives way to a fetch", gives_way_to_a_fetch, NULL, NULL, NULL },
		{ "REL-12: a busy client gives way to a kernel for a moment", gives_way_for_a_moment, NULL, NULL, NULL },
		{ "REL-12, RES-01: metadata are checked without waiting for a slot for each", checks_wait_once, NULL, NULL, NULL },
		{ "PKT-03, REL-12: checks of CGAs are forgotten when the kernels start", checks_are_forgotten, NULL, NULL, NULL },
		{ "REL-12: nobody gives way to the busy client", not_to_the_busy_one, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

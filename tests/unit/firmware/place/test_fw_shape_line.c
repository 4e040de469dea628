/* SPDX-License-Identifier: MIT */
/*
 * Queues whose kernels need more shapes of CTA than the table has entries (REL-11): who gets the next entry, and when.
 * Queues below FW_SHAPES are busy: each always has a kernel on the card, all of one shape. The others want to launch one.
 */
#define RINGS 16u
#include "fw_direct.h"

#include "place/shape_line.h"
#include "queues/fetch_buffers.h"

#define FIRST FW_SHAPES
#define SECOND (FIRST + 1)
#define URGENT (FIRST + 2) /* has a higher priority than all others */

static uint64_t oldest[RINGS]; /* the packet of each busy queue that is on the card */

static void queues_create(void)
{
	start(8, 0);
	memset(oldest, 0, sizeof(oldest));
	for (unsigned q = 0; q < RINGS; q++) {
		rig_priority = q == URGENT ? 2 : 5;
		rig_rsb(q, ASID, TUTTI_RSB_SCRATCH);
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	}
	rig_priority = 5;
}

/* A kernel whose CTA has as many waves as no other queue's. */
static struct tutti_dispatch_packet kernel_of(unsigned q)
{
	struct tutti_dispatch_packet p = kernel_packet(q, 1);

	p.workgroup_x = p.grid_x = (uint16_t)(TUTTI_WAVE_ITEMS * (q + 1));
	return p;
}

static void launch(unsigned q)
{
	struct tutti_dispatch_packet p = kernel_of(q);

	submit(q, &p);
}

/* The oldest kernel of a busy queue ends. */
static void end(unsigned q)
{
	int slot = slot_of(q, oldest[q]);

	assert_true(slot >= 0);
	oldest[q]++;
	end_all((unsigned)slot);
}

/* A busy queue launches another kernel before its last one ends. */
static void follow(unsigned q)
{
	launch(q);
	end(q);
}

static void all_busy(void)
{
	queues_create();
	for (unsigned q = 0; q < FIRST; q++)
		launch(q);
	for (unsigned q = 0; q < FIRST; q++)
		assert_int_equal(started[q], 1);
}

/* All busy queues but @except go on in turn until @queue has launched a kernel. Return: how many turns there were */
static unsigned until_started(unsigned queue, unsigned except)
{
	unsigned before = started[queue], n;

	for (n = 0; started[queue] == before; n++) {
		assert_true(n < 1000);
		if (n % FIRST != except && slot_of(n % FIRST, oldest[n % FIRST]) >= 0)
			follow(n % FIRST);
	}
	return n;
}

/* @n kernels start while the first is in line. All shapes are in use. */
static void first_waits_for(unsigned n)
{
	all_busy();
	launch(FIRST);
	for (unsigned i = 0; i < n; i++)
		follow(1 + i % (FIRST - 1));
}

/* The first in line has waited for so long that shape 0 is closed for it. */
static void first_loses_patience(void)
{
	first_waits_for(SHAPE_PATIENCE);
}

/* Which shape is closed, or FW_SHAPES if none is. */
static unsigned closed(void)
{
	unsigned i, found = FW_SHAPES;

	for (i = 0; i < FW_SHAPES; i++)
		if (!shapes.shape[i].match) {
			assert_int_equal(found, FW_SHAPES);
			found = i;
		}
	return found;
}

/* There is an entry for the first in line, but it has to fetch its kernel descriptor again before it can use it. */
static void first_fetches(void)
{
	all_busy();
	launch(FIRST);
	slow_kernels = true;
	memset(&kernels[0], 0, sizeof(kernels[0]) * FW_KERNELS);
	end(0);
	slow_kernels = false;
}

/*
 * Every entry always has a task. A queue that needs another shape gets one all the same, and then so does the queue that had
 * to give up its own.
 */
static void busy_queues_make_room(void **unused)
{
	(void)unused;
	all_busy();
	launch(FIRST);
	assert_int_equal(started[FIRST], 0);
	assert_true(until_started(FIRST, RINGS) <= SHAPE_PATIENCE + 2 * FIRST);
	assert_true(until_started(0, RINGS) <= SHAPE_PATIENCE + 2 * FIRST);
}

/* The kernel of the first shape that is closed does not end, so another one is closed. */
static void another_is_closed(void **unused)
{
	(void)unused;
	all_busy();
	launch(FIRST);
	assert_true(until_started(FIRST, 0) <= 3 * SHAPE_PATIENCE + 3 * FIRST);
	assert_true(slot_of(0, 0) >= 0);
	follow(0); /* its shape is open again */
	assert_int_equal(started[0], 2);
}

/* A queue that has waited for long behind another one does not begin to wait anew when that one has got its entry. */
static void patience_counts_behind_others(void **unused)
{
	(void)unused;
	all_busy();
	launch(FIRST);
	launch(SECOND);
	until_started(FIRST, RINGS);
	assert_int_equal(started[SECOND], 0);
	assert_true(until_started(SECOND, RINGS) < SHAPE_PATIENCE);
}

/* Kernels of a condensed packet are launched without looking up their shape. While it is closed they wait all the same. */
static void condensed_kernels_wait(void **unused)
{
	struct tutti_dispatch_packet p = kernel_of(0);
	union tutti_packet four = condensed(4);

	(void)unused;
	queues_create();
	store(0, 0, p);
	submit(0, &four);
	for (unsigned q = 1; q < FIRST; q++)
		launch(q);
	launch(FIRST);
	for (unsigned n = 1; n < SHAPE_PATIENCE; n++)
		follow(1 + n % (FIRST - 1));
	launch(1);
	submit(SECOND, &p); /* so that the shape is the one that was used last */
	assert_int_equal(started[SECOND], 1);
	end(1);
	end_all((unsigned)slot_of(SECOND, 0));
	assert_int_equal(started[0], 1);
	end_all((unsigned)slot_of(0, 1));
	assert_int_equal(started[0], 1);
	assert_int_equal(started[FIRST], 1);
}

/* Queues get entries in the order in which they have come. */
static void first_come_first_served(void **unused)
{
	(void)unused;
	all_busy();
	launch(SECOND);
	launch(FIRST);
	end(0);
	assert_int_equal(started[SECOND], 1);
	assert_int_equal(started[FIRST], 0);
	end(1);
	assert_int_equal(started[FIRST], 1);
}

/* The entry is kept for the first in line, although another queue could use it at once. */
static void no_entry_for_others(void **unused)
{
	(void)unused;
	first_fetches();
	launch(SECOND);
	assert_int_equal(started[FIRST], 0);
	assert_int_equal(started[SECOND], 0);
	answer_kernels();
	assert_int_equal(started[FIRST], 1);
	end(1);
	assert_int_equal(started[SECOND], 1);
}

/* A queue of higher priority overtakes those in line as long as they are patient. */
static void higher_priorities_come_first(void **unused)
{
	(void)unused;
	all_busy();
	launch(FIRST);
	launch(URGENT);
	end(0);
	assert_int_equal(started[URGENT], 1);
	assert_int_equal(started[FIRST], 0);
}

/* A queue of higher priority gets that entry at once, although no task ends, which is what wakes queues otherwise. */
static void higher_priorities_take_the_entry(void **unused)
{
	(void)unused;
	first_fetches();
	launch(URGENT);
	assert_int_equal(started[FIRST], 0);
	assert_int_equal(started[URGENT], 1);
}

/* Those that have lost their patience are not overtaken. */
static void but_not_for_ever(void **unused)
{
	(void)unused;
	first_loses_patience();
	launch(URGENT);
	end(0);
	assert_int_equal(started[FIRST], 1);
	assert_int_equal(started[URGENT], 0);
}

/* When the first in line is destroyed, the shape that was closed for it can be used again. */
static void the_first_leaves(void **unused)
{
	(void)unused;
	first_loses_patience();
	launch(0);
	assert_int_equal(started[0], 1);
	destroy(FIRST);
	assert_int_equal(started[0], 2);
}

/* The same when its packet is cancelled. It has no other, so it would never look whether its turn has come. */
static void the_first_is_cancelled(void **unused)
{
	union tutti_packet four = condensed(4);
	unsigned last = FIRST - 1;

	(void)unused;
	queues_create();
	store(FIRST, 0, kernel_of(FIRST));
	for (unsigned q = 0; q < FIRST; q++)
		launch(q);
	submit(FIRST, &four);
	for (unsigned n = 0; n < SHAPE_PATIENCE; n++)
		follow(n % last);
	assert_int_equal(closed(), 0); /* the shape of the last one, which has replaced that of the reference */
	launch(last);
	assert_int_equal(started[last], 1);
	rig_command = take_one;
	assert_int_equal(rig_request(TUTTI_MSG_TASK_CANCEL, FIRST, 1, 0), 0);
	rig_command = NULL;
	take();
	assert_int_equal(started[FIRST], 0);
	assert_int_equal(closed(), FW_SHAPES);
	assert_int_equal(started[last], 2);
}

/*
 * The first in line has lost its fetch buffer, and its program has taken the packet back, or put a barrier packet there that
 * waits for ever. Others need not wait for it: those that came later, and those that looked too early.
 */
static void the_first_has_gone(void **unused)
{
	union tutti_packet other = { .barrier = { .header = TUTTI_PACKET_BARRIER_AND, .dependency = { SIGNAL_AT } } };

	(void)unused;
	signal_memory[0].value = 1;
	for (unsigned barrier = 0; barrier < 2; barrier++) {
		all_busy();
		launch(FIRST);
		launch(SECOND);
		buffer_drop(queue_at(FIRST));
		if (barrier)
			ring[FIRST][0] = other;
		else
			ring[FIRST][0].dispatch.header = TUTTI_PACKET_INVALID;
		end(0);
		assert_int_equal(started[FIRST], 0);
		assert_int_equal(started[SECOND], 1);
		launch(FIRST - 1); /* it goes on, too */
		end(1);
		launch(URGENT);
		assert_int_equal(started[URGENT], 1);
	}
}

/* The same if no queue is waiting for the closed shape. */
static void shapes_open_again(void **unused)
{
	(void)unused;
	first_loses_patience();
	destroy(FIRST);
	end(1);
	launch(SECOND);
	assert_int_equal(started[SECOND], 1);
	launch(0);
	assert_int_equal(started[0], 2);
}

/* The first in line has stopped because an earlier kernel of it has failed. Nobody waits until that is killed. */
static void the_first_fails(void **unused)
{
	struct tutti_dispatch_packet p = kernel_of(0);
	unsigned slot;

	(void)unused;
	all_busy();
	submit(FIRST, &p);
	slot = (unsigned)slot_of(FIRST, 0);
	launch(FIRST);
	slow_kills = true;
	rig_event(TUTTI_EVENT_FAULT | slot << 8 | TUTTI_CAUSE_ILLEGAL << 16, 0, 0x1234);
	take();
	end(1);
	launch(SECOND);
	assert_int_equal(started[SECOND], 1);
	killed(slot);
}

/* A new queue without packets is not taken for the one of the same number that was in line. */
static void a_namesake_is_not_in_line(void **unused)
{
	(void)unused;
	first_loses_patience();
	destroy(FIRST);
	rig_queue(FIRST, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
	end(1);
	launch(SECOND);
	assert_int_equal(started[SECOND], 1);
}

/* A queue is patient for exactly so many kernels, and the closed shape loses its number, by which references know it. */
static void patience_is_exact(void **unused)
{
	uint32_t id;

	(void)unused;
	first_waits_for(SHAPE_PATIENCE - 1);
	assert_int_equal(closed(), FW_SHAPES);
	id = shapes.shape[0].id;
	follow(1);
	assert_int_equal(closed(), 0);
	assert_true(shapes.shape[0].id != id && shapes.shape[0].id == shapes.ids);
	assert_int_equal(started[FIRST], 0);
}

/*
 * Kernels of a closed shape do not end: another shape is closed when as many have started again as somebody was patient for,
 * and then each time after twice as many. All shapes come in turn.
 */
static void closed_in_turn(void **unused)
{
	static const unsigned from[] = { SHAPE_PATIENCE, 2 * SHAPE_PATIENCE, 4 * SHAPE_PATIENCE, 8 * SHAPE_PATIENCE };
	unsigned n, want = FW_SHAPES, k = 0;

	(void)unused;
	all_busy();
	launch(FIRST);
	for (n = 1; n < 10 * SHAPE_PATIENCE; n++) {
		follow(FIRST - 1);
		if (k < 4 && n == from[k])
			want = k++;
		assert_int_equal(closed(), want);
	}
	/* when the line is empty, none is closed; the next time it begins with the next one */
	destroy(FIRST);
	assert_int_equal(closed(), FW_SHAPES);
	launch(SECOND);
	for (n = 0; n < SHAPE_PATIENCE; n++)
		follow(FIRST - 1);
	assert_int_equal(closed(), 4);
	for (n = 1; n <= SHAPE_PATIENCE; n++) { /* and the time is short again; shape 5 is that of the busy queue */
		assert_int_equal(closed(), 4);
		follow(FIRST - 1);
	}
	assert_int_equal(closed(), 5);
}

/* The first in line gets the very shape that was closed for it, if that is what its kernel has become. */
static void wants_the_closed_shape(void **unused)
{
	(void)unused;
	first_loses_patience();
	assert_int_equal(closed(), 0);
	/* a kernel of that shape by another queue waits */
	shape_line_lifted = true;
	assert_ptr_equal(shape_find(shapes.shape[0].registers, shapes.shape[0].shared, shapes.shape[0].waves), &shapes.shape[0]);
	assert_int_equal(closed(), 0); /* while the line does not count, it stays closed for those that do */
	shape_line_lifted = false;
	assert_null(shape_find(shapes.shape[0].registers, shapes.shape[0].shared, shapes.shape[0].waves));
	assert_int_equal(closed(), 0);
	assert_null(shape_find(0, 0, 31)); /* nor does anybody else get an entry */
	assert_int_equal(closed(), 0);
}

/* The first in line got another entry, and the next one wants the shape that was closed: it is open again with that. */
static void next_wants_the_closed_shape(void **unused)
{
	(void)unused;
	first_loses_patience();
	launch(0);
	assert_int_equal(started[0], 1);
	end(1);
	assert_int_equal(started[FIRST], 1); /* it has no other kernel, so it wakes those behind it in line */
	assert_int_equal(started[0], 2);
	assert_int_equal(closed(), FW_SHAPES);
}

/* A queue that does not stand in line leaves it as it is. */
static void others_leave(void **unused)
{
	(void)unused;
	first_waits_for(2);
	destroy(FIRST - 1);
	launch(SECOND);
	destroy(SECOND + 2);
	assert_int_equal(started[FIRST], 0);
	end(0);
	assert_int_equal(started[FIRST], 1);
	assert_int_equal(started[SECOND], 0);
	destroy(SECOND + 1); /* nor when it is empty again */
	end(1);
	assert_int_equal(started[SECOND], 1);
}

/* There is room in line for six queues; the others join it as those leave, each in its turn. */
static void a_full_line(void **unused)
{
	unsigned q, n, all;

	(void)unused;
	all_busy();
	for (q = FIRST; q < RINGS; q++)
		if (q != URGENT)
			launch(q);
	launch(URGENT); /* before all others */
	for (n = 0; n < FW_SHAPES; n++) {
		end(n);
		for (all = 0, q = FIRST; q < RINGS; q++)
			all += started[q];
		assert_int_equal(all, n + 1);
		assert_int_equal(started[URGENT], 1);
	}
	while (all < RINGS - FIRST) {
		for (q = FIRST; q < RINGS; q++)
			if (slot_of(q, 0) >= 0) {
				end_all((unsigned)slot_of(q, 0));
				break;
			}
		assert_int_not_equal(q, RINGS);
		for (all = 0, q = FIRST; q < RINGS; q++)
			all += started[q];
		assert_int_equal(all, ++n);
	}
	assert_int_equal(closed(), FW_SHAPES);
}

/*
 * The first in line wants to store a reference, too, and finds that a queue behind it in line has a condensed packet which
 * reads references of the same buffer.
 */
static void the_first_waits_for_another(void **unused)
{
	struct tutti_message m = { .type = TUTTI_MSG_QUEUE_CREATE,
				   .queue = { .queue = SECOND, .asid = ASID, .flags = TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB,
					      .rsb = FIRST, .ring = RIG_RING + SECOND * 4096ull,
					      .read_index = 0x20000000ull + SECOND * 64, .size_log2 = 6, .priority = 5 } };
	struct tutti_dispatch_packet p = kernel_of(SECOND);
	union tutti_packet one = condensed(1);

	(void)unused;
	queues_create();
	destroy(SECOND);
	assert_int_equal(rig_message(&m), 0);
	store(FIRST, 0, kernel_of(FIRST));
	for (unsigned q = 0; q < FIRST; q++)
		launch(q);
	p.ref_num = TUTTI_REF_STORE | 1;
	submit(SECOND, &p);
	submit(FIRST, &one);
	assert_int_equal(started[SECOND] + started[FIRST], 0);
	end(0);
	assert_int_equal(started[FIRST], 1);
	end(1);
	assert_int_equal(started[SECOND], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "REL-11: busy queues make room for another shape", busy_queues_make_room, NULL, NULL, NULL },
		{ "REL-11: another shape is closed when the first takes too long", another_is_closed, NULL, NULL, NULL },
		{ "REL-11: patience counts behind others, too", patience_counts_behind_others, NULL, NULL, NULL },
		{ "REL-11: condensed packets wait while their shape is closed", condensed_kernels_wait, NULL, NULL, NULL },
		{ "REL-11: who comes first gets a shape first", first_come_first_served, NULL, NULL, NULL },
		{ "REL-11: the first in line loses no entry while it fetches", no_entry_for_others, NULL, NULL, NULL },
		{ "REL-11: higher priorities get shapes first", higher_priorities_come_first, NULL, NULL, NULL },
		{ "REL-11: higher priorities take an entry that is free", higher_priorities_take_the_entry, NULL, NULL, NULL },
		{ "REL-11: those that have lost patience are not overtaken", but_not_for_ever, NULL, NULL, NULL },
		{ "REL-11: the first in line for a shape is destroyed", the_first_leaves, NULL, NULL, NULL },
		{ "REL-11, TSK-12: the first in line for a shape is cancelled", the_first_is_cancelled, NULL, NULL, NULL },
		{ "REL-11: the first in line for a shape has no kernel any more", the_first_has_gone, NULL, NULL, NULL },
		{ "REL-11: shapes are closed no longer than somebody is in line", shapes_open_again, NULL, NULL, NULL },
		{ "REL-11: the first in line for a shape has failed", the_first_fails, NULL, NULL, NULL },
		{ "REL-11: a new queue with the number of one that was in line", a_namesake_is_not_in_line, NULL, NULL, NULL },
		{ "REL-11: patience lasts for exactly so many kernels", patience_is_exact, NULL, NULL, NULL },
		{ "REL-11: shapes are closed in turn, each for twice as long", closed_in_turn, NULL, NULL, NULL },
		{ "REL-11: who gets a closed shape", wants_the_closed_shape, NULL, NULL, NULL },
		{ "REL-11: the next in line wants the shape that was closed", next_wants_the_closed_shape, NULL, NULL, NULL },
		{ "REL-11: queues leave that are not in line", others_leave, NULL, NULL, NULL },
		{ "REL-11, PKT-10: the first in line waits for another", the_first_waits_for_another, NULL, NULL, NULL },
		{ "REL-11: as many queues as the line has room for", a_full_line, NULL, NULL, NULL },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

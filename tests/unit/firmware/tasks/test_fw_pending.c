/* SPDX-License-Identifier: MIT */
/* Tasks that wait for a slot, and what is kept of them once they have one. */
#include "fw_direct.h"

#include "core/wait.h"
#include "tasks/metadata.h"
#include "tasks/pending_tasks.h"
#include "tasks/task_table.h"
#include "tutti/fault.h"

/* Once all CTAs of a kernel, in CGAs of two, have started, nothing is kept of its state, whether or not it waited for a slot. */
static void nothing_is_kept_of_groups(void **unused)
{
	struct tutti_dispatch_packet first = kernel_packet(0, 1), groups = kernel_packet(1, 4);

	(void)unused;
	for (unsigned waits = 0; waits < 2; waits++) {
		start(4, waits ? 1 : 2);
		for (unsigned q = 0; q < 2; q++)
			rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
		tmd[0] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
		tmd[0].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
		groups.tmd = TMD_AT;
		submit(0, &first);
		submit(1, &groups);
		if (waits) {
			assert_false(pending_idle());
			end_all((unsigned)slot_of(0, 0));
		}
		assert_int_equal(running[slot_of(1, 0)].ctas, 4);
		assert_true(pending_idle());
	}
}

/* So many records a task gets that a task of each higher priority would get one more. */
static void records_by_priority(void **unused)
{
	struct pending *p;
	unsigned n;

	(void)unused;
	for (unsigned priority = 1; priority <= 10; priority++) {
		start(1, 0);
		for (n = 0; (p = pending_get(priority)); n++) {
			assert_int_equal(p->place, PENDING_KEPT);
			assert_int_equal(p->cga.kind, TUTTI_CGA_NONE);
			assert_int_equal(pending_free, FW_PENDING - n - 1);
		}
		assert_int_equal(n, FW_PENDING + 1 - priority);
		for (unsigned higher = priority; --higher;)
			assert_non_null(pending_get(higher));
		assert_null(pending_get(1));
	}
}

/* Queue 0 has the only slot; queues 1 and 2 have three packets each that wait, with metadata and signals of their number. */
static void six_wait(void)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	start(4, 1);
	for (unsigned q = 0; q < 3; q++)
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
	submit(0, &p);
	for (unsigned i = 0; i < 6; i++) {
		tmd[i] = child(0);
		p.tmd = TMD_AT + i * sizeof(tmd[0]);
		p.signal = SIGNAL_AT + 64 * i;
		submit(1 + i % 2, &p);
	}
	assert_true(pending_any());
	assert_int_equal(pending_free, FW_PENDING - 6);
}

static const struct tmd *metadata_of(unsigned i)
{
	for (unsigned n = 0; n < FW_TMDS; n++)
		if (tmd_at(n)->stage != TMD_FREE && tmd_at(n)->address == TMD_AT + i * sizeof(tmd[0]))
			return tmd_at(n);
	fail();
	return NULL;
}

/* The signals sent since last time are those of the metadata whose bits @which has, cancelled, in this order. */
static void cancelled(uint32_t which)
{
	unsigned n = 0;

	take();
	for (unsigned i = 0; i < 6; i++)
		if (which >> i & 1) {
			assert_true(n < signal_count);
			assert_int_equal(signals[n].address, SIGNAL_AT + 64 * i);
			assert_true(signals[n++].cancelled);
			assert_int_equal(tmd[i].state, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED);
			assert_int_equal(tmd[i].error, TUTTI_ERROR_CANCELLED);
			assert_int_equal(tmd[i].issued + tmd[i].completed, 0);
		}
	assert_int_equal(signal_count, n);
	signal_count = 0;
}

/* Of tasks that wait, those of one packet or of one queue are dropped, and no others. */
static void some_are_dropped(void **unused)
{
	const uint64_t second = 1, none = 3;

	(void)unused;
	six_wait();
	assert_int_equal(pending_oldest(queue_at(1), ~0ull), 0);
	assert_false(pending_drop_all(queue_at(1), &none, true));
	assert_false(pending_drop_all(queue_at(0), NULL, true));
	cancelled(0);
	assert_true(pending_drop_all(queue_at(2), &second, true));
	cancelled(1u << 3);
	assert_false(pending_drop_all(queue_at(2), &second, true));
	assert_int_equal(pending_free, FW_PENDING - 5);
	assert_int_equal(pending_oldest(queue_at(2), ~0ull), 0);
	assert_int_equal(queue_at(2)->in_flight, 2);
	assert_true(pending_drop_all(queue_at(1), NULL, true));
	cancelled(1u << 0 | 1u << 2 | 1u << 4);
	assert_int_equal(pending_oldest(queue_at(1), 77), 77);
	assert_int_equal(pending_oldest(queue_at(2), 77), 0);
	assert_int_equal(queue_at(1)->in_flight, 0);
	assert_true(pending_drop_all(queue_at(2), NULL, false)); /* and without their signals */
	take();
	assert_int_equal(signal_count, 0);
	assert_int_equal(tmd[1].state & tmd[5].state, TUTTI_TMD_FINISHED | TUTTI_TMD_CANCELLED);
	assert_false(pending_any());
	assert_true(pending_idle());
	assert_int_equal(place_state.detours & DETOUR_PENDING, 0);
	end_all(0);
	assert_int_equal(tmd_free_count, FW_TMDS);
}

/* There is no room for the commands that end them: they count as waiting until then, and end once, whoever drops them again. */
static void dropped_later(void **unused)
{
	struct pending *p;

	(void)unused;
	six_wait();
	p = pending_with(metadata_of(2));
	assert_int_equal(p->packet, 1);
	assert_int_equal(p->place, PENDING_LISTED);
	hal_host_fill(COMMAND_OWED);
	pending_drop(p, true);
	pending_drop(p, false); /* too late: its signal will be sent as cancelled */
	assert_true(pending_drop_all(queue_at(1), NULL, true));
	assert_int_equal(p->place, PENDING_DROPPED);
	assert_int_equal(pending_free, FW_PENDING - 6);
	assert_ptr_equal(pending_with(metadata_of(2)), p);
	assert_int_equal(pending_oldest(queue_at(1), ~0ull), 0);
	assert_int_equal(pending_oldest(queue_at(2), ~0ull), 0);
	assert_false(pending_drop_all(queue_at(1), NULL, true));
	cancelled(0);
	pending_resume();
	take();
	assert_int_equal(signal_count, 3);
	assert_int_equal(pending_free, FW_PENDING - 3);
	assert_int_equal(pending_oldest(queue_at(1), ~0ull), ~0ull);
	pending_resume();
	take();
	assert_int_equal(signal_count, 3);
	assert_int_equal(queue_at(1)->in_flight, 0);
}

/* A slot becomes free while the command ring is full: the next task gets it as soon as there is room, without another end. */
static void slot_without_room(void **unused)
{
	unsigned sm = 0;

	(void)unused;
	six_wait();
	while (!running[0].on[sm])
		sm++;
	running[0].on[sm] = running[0].ctas = 0;
	hal_host_fill(COMMAND_OWED + 20);
	hal_host_event(&(struct tutti_event){ { TUTTI_EVENT_CTA | 1u << 24, 1, 1, 1u << sm } });
	assert_int_equal(tasks[0].state, TASK_FREE);
	assert_int_equal(pending_free, FW_PENDING - 6);
	main_before_idle();
	take();
	assert_int_equal(slot_of(1, 0), 0);
	assert_int_equal(pending_free, FW_PENDING - 5);
}

/* A record that is free belongs to nobody, whatever it was used for before. */
static void free_records(void **unused)
{
	const struct tmd *gone;

	(void)unused;
	six_wait();
	gone = metadata_of(4);
	assert_non_null(pending_with(gone));
	assert_true(pending_drop_all(queue_at(1), NULL, true));
	assert_null(pending_with(gone));
	assert_int_equal(pending_oldest(queue_at(1), ~0ull), ~0ull);
	assert_int_equal(pending_oldest(queue_at(2), ~0ull), 0);
}

/* More shapes than the firmware has entries for: a kernel with CGAs waits for one, and for nothing else. */
static void waits_for_a_shape(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 1);

	(void)unused;
	start(8, 0);
	for (unsigned q = 0; q < 2; q++)
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
	for (unsigned i = 0; i < FW_SHAPES; i++) {
		p.workgroup_x = p.grid_x = (uint16_t)(32 * (i + 1));
		submit(0, &p);
	}
	tmd[0] = child(0);
	tmd[0].cga[0] = (struct tutti_cga_shape){ 2, 1, 1, TUTTI_CGA_GPC };
	p.workgroup_x = 32 * (FW_SHAPES + 1);
	p.grid_x = 2 * 32 * (FW_SHAPES + 1);
	p.tmd = TMD_AT;
	submit(1, &p);
	assert_int_equal(slot_of(1, 0), -1);
	assert_int_equal(queue_at(1)->state, QUEUE_RUNNING);
	end_all((unsigned)slot_of(0, 3));
	assert_int_equal(running[slot_of(1, 0)].ctas, 2);
	end_all((unsigned)slot_of(1, 0));
	assert_int_equal(tmd[0].state, TUTTI_TMD_FINISHED);
	assert_int_equal(tmd[0].completed, 2);
}

/* CGAs of all levels there are. The kernel that only metadata of a child name may be anything in those of a packet. */
static void all_levels(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 8);

	(void)unused;
	start(18, 0);
	rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
	tmd[0] = child(1);
	tmd[0].kernel_object = ~0ull;
	for (unsigned i = 0; i < TUTTI_CGA_LEVELS; i++)
		tmd[0].cga[i] = (struct tutti_cga_shape){ i < 2 ? 2 : 1, 1, 1, (uint16_t)(TUTTI_CGA_CPC + i) };
	p.tmd = TMD_AT;
	submit(0, &p);
	assert_int_equal(queue_at(0)->state, QUEUE_RUNNING);
	assert_int_equal(running[0].ctas, 8);
}

/* Each level lies inside the next, has a size, and behind the last there is nothing. */
static bool sound(const struct tutti_cga_shape *level)
{
	unsigned n = 0, kind = 0;

	for (; n < TUTTI_CGA_LEVELS && level[n].kind; kind = level[n++].kind)
		if (level[n].kind <= kind || level[n].kind > TUTTI_CGA_GPU || !level[n].x || !level[n].y || !level[n].z)
			return false;
	for (; n < TUTTI_CGA_LEVELS; n++)
		if (level[n].kind | level[n].x | level[n].y | level[n].z)
			return false;
	return true;
}

/* Sound levels, of which a few fields are changed. */
static void any_levels(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 8);
	unsigned good = 0, rounds = 600;

	(void)unused;
	seed(7);
	start(18, 0);
	p.tmd = TMD_AT;
	for (unsigned i = 0; i < rounds; i++) {
		struct tutti_cga_shape *level = tmd[0].cga;
		unsigned kind = 0, n;

		rig_queue(0, ASID, TUTTI_QUEUE_EXTENDED);
		memset(ring[0], 0, sizeof(ring[0]));
		tmd[0] = child(1);
		for (n = 0; n < TUTTI_CGA_LEVELS && kind < TUTTI_CGA_GPU && roll(4); n++) {
			kind += 1 + roll(2) * (kind < 3);
			level[n] = (struct tutti_cga_shape){ 1, 1, 1, (uint16_t)kind };
		}
		for (n = roll(3); n--;)
			((uint16_t *)(void *)level)[roll(4 * TUTTI_CGA_LEVELS)] = (uint16_t)roll(6);
		written[0] = 0;
		submit(0, &p);
		assert_int_equal(queue_at(0)->error == TUTTI_ERROR_TMD, !sound(level));
		good += sound(level);
		for (unsigned slot = 0; slot < SLOTS; slot++)
			end_all(slot);
		destroy(0);
	}
	assert_in_range(good, rounds / 5, rounds * 4 / 5);
}

/* Of a kernel whose CTAs wait it is kept whether they may be split, also if a packet names it by a reference. */
static void kept_flags(void **unused)
{
	for (unsigned flagged = 0; flagged < 2; flagged++)
		for (unsigned by_reference = 0; by_reference < 2; by_reference++) {
			struct tutti_dispatch_packet p = kernel_packet(1, 1), fill = kernel_packet(0, 1);
			union tutti_packet again = condensed(1);
			unsigned kept = 0;

			(void)unused;
			start(1, 0);
			rig_rsb(1, ASID, TUTTI_RSB_SCRATCH);
			rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB);
			rig_queue(2, ASID, TUTTI_QUEUE_EXTENDED);
			descriptor[1].flags = flagged ? TUTTI_KERNEL_INDEPENDENT : 0;
			descriptor[2].flags = TUTTI_KERNEL_INDEPENDENT; /* there is one on the card in any case */
			fill.kernel_object = KERNEL_AT + 64 * 2;
			p.workgroup_x = p.grid_x = 1024;
			store(1, 0, p);
			submit(2, &fill);
			if (by_reference)
				submit(1, &again);
			else
				submit(1, &p);
			for (unsigned i = 0; i < FW_PENDING; i++)
				if (pending_at(i)->place == PENDING_KEPT && pending_at(i)->queue == queue_at(1)) {
					assert_int_equal(pending_at(i)->kernel_flags & TUTTI_KERNEL_INDEPENDENT,
							 flagged ? TUTTI_KERNEL_INDEPENDENT : 0);
					kept++;
				}
			assert_int_equal(kept, 1);
		}
}

/*
 * So it is of a kernel with metadata that is like the one before, also when meanwhile the descriptor of another queue's kernel
 * has taken the place of its own. The other one leaves no room for its CTA.
 */
static void kept_flags_of_the_next(void **unused)
{
	(void)unused;
	for (unsigned flagged = 0; flagged < 2; flagged++) {
		struct tutti_dispatch_packet p = kernel_packet(1, 1), fill = kernel_packet(1 + FW_KERNELS, 1);
		int slot;

		start(1, 0);
		rig_queue(1, ASID, TUTTI_QUEUE_EXTENDED);
		rig_queue(2, ASID, TUTTI_QUEUE_EXTENDED);
		descriptor[1].flags = flagged ? TUTTI_KERNEL_INDEPENDENT : 0;
		descriptor[2].flags = TUTTI_KERNEL_INDEPENDENT; /* there is one on the card in any case */
		fill.kernel_object = KERNEL_AT + 64 * 2;
		submit(2, &fill);
		end_all((unsigned)slot_of(2, 0));
		fill.kernel_object = KERNEL_AT + 64 * (1 + FW_KERNELS);
		p.header |= TUTTI_HEADER_BARRIER;
		p.workgroup_x = p.grid_x = fill.workgroup_x = fill.grid_x = 1024;
		for (unsigned i = 0; i < 2; i++) {
			tmd[i] = (struct tutti_tmd){ .magic = TUTTI_TMD_MAGIC, .version = TUTTI_TMD_VERSION };
			p.tmd = TMD_AT + i * sizeof(tmd[0]);
			write_packet(1, &p);
		}
		ring_doorbell(1);
		assert_int_equal(started[1], 1);
		submit(2, &fill);
		end_all((unsigned)slot_of(1, 0));
		assert_int_equal(started[1], 2);
		end_all((unsigned)slot_of(2, 1));
		slot = slot_of(1, 1);
		assert_true(slot >= 0);
		assert_int_equal(tasks[slot].kept->kernel_flags & TUTTI_KERNEL_INDEPENDENT, flagged ? TUTTI_KERNEL_INDEPENDENT : 0);
	}
}

/* Each task state that is sent is counted once, whether its task starts at once, waits or goes on after an eviction. */
static void states_are_counted(void **unused)
{
	struct tutti_dispatch_packet p = kernel_packet(0, 40), urgent = kernel_packet(0, 1);
	const struct tutti_discovery *d = (void *)hal_host.window;
	const uint64_t *count = (const void *)(hal_host.window + d->counters.offset);
	unsigned sent = 0;

	(void)unused;
	start(1, 2);
	rig_priority = 9;
	for (unsigned q = 0; q < 2; q++)
		rig_queue(q, ASID, TUTTI_QUEUE_EXTENDED);
	rig_priority = 1;
	rig_queue(2, ASID, TUTTI_QUEUE_EXTENDED);
	rig_priority = 5;
	submit(0, &p);
	submit(1, &p);
	submit(2, &urgent);
	for (unsigned i = 0; i < 100 && task_any(); i++)
		for (unsigned slot = 0; slot < 2; slot++)
			if (running[slot].ctas)
				end_first(slot);
	for (unsigned q = 0; q < 3; q++)
		sent += started[q];
	counter_flush(0, 0);
	assert_int_equal(counters.evictions, 1);
	assert_int_equal(count[TUTTI_COUNTER_KERNELS], 3);
	assert_int_equal(sent, 4);
	assert_int_equal(count[TUTTI_COUNTER_STATE_SYNCS], sent);
}

/* ---- what is asked about tasks ---- */

/* The oldest packet of a queue with a kernel, in a slot or waiting; whether any is there; whether one has failed. */
static void oldest_of_all(void **unused)
{
	(void)unused;
	six_wait();
	assert_int_equal(task_oldest(queue_at(0), ~0ull), 0);
	assert_int_equal(task_oldest(queue_at(1), ~0ull), 0);
	assert_true(task_any());
	end_all(0); /* the first of queue 1 gets the slot, with metadata 0 */
	assert_int_equal(task_oldest(queue_at(0), 55), 55);
	assert_int_equal(task_oldest(queue_at(1), ~0ull), 0);
	assert_int_equal(pending_oldest(queue_at(1), ~0ull), 1);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(task_oldest(queue_at(1 + i % 2), ~0ull), i / 2);
		assert_int_equal(task_oldest(queue_at(1 + i % 2), 0), 0);
		assert_false(task_failed(queue_at(1 + i % 2), i / 2));
		assert_true(task_any());
		end_all(0);
	}
	assert_false(task_any());
	assert_int_equal(task_oldest(queue_at(2), 4), 4);
	assert_true(pending_idle());
}

/* ---- what metadata say about a task ---- */

/* Which tasks may start without a round: grids, without CGAs, that no attribute binds to anything. */
static void plain_metadata(void **unused)
{
	static const uint32_t harmless = TUTTI_TMD_HEAD | TUTTI_TMD_INDEPENDENT | TUTTI_TMD_DEPENDENT;
	static const uint32_t binding[] = { TUTTI_TMD_AFFINITY, TUTTI_TMD_SEQUENCE, TUTTI_TMD_QUOTA, TUTTI_TMD_THROTTLE };
	struct tmd record = { .stage = TMD_TASK };
	struct tutti_tmd *t = (struct tutti_tmd *)(void *)record.word;

	(void)unused;
	t->flags = harmless;
	assert_true(tmd_plain(&record));
	for (unsigned i = 0; i < 4; i++) {
		t->flags = harmless | binding[i];
		assert_false(tmd_plain(&record));
	}
	t->flags = 0;
	t->type = TUTTI_TASK_QUEUE;
	assert_false(tmd_plain(&record));
	t->type = TUTTI_TASK_GRID;
	t->cga[0].kind = TUTTI_CGA_CPC;
	assert_false(tmd_plain(&record));
}

/* The priority is that in the metadata, if they name one, and otherwise that of the queue. */
static void priority_of_a_task(void **unused)
{
	struct tmd record = { .stage = TMD_TASK };
	const struct queue queue = { .priority = 7 };

	(void)unused;
	assert_int_equal(tmd_priority(NULL, &queue), 7);
	assert_int_equal(tmd_priority(&record, &queue), 7);
	((struct tutti_tmd *)(void *)record.word)->priority = 3;
	assert_int_equal(tmd_priority(&record, &queue), 3);
}

/* A tag or an event may name any number; records that there are not are the first one, and those there are themselves. */
static void record_numbers(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < 4096; i++)
		assert_int_equal(tmd_number(tmd_at(i)), i < FW_TMDS ? i : 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("TSK-03 CGA-05", nothing_is_kept_of_groups),
		RIG_TEST("TSK-02 REL-12", records_by_priority),
		RIG_TEST("TSK-12 TSK-02", some_are_dropped),
		RIG_TEST("TSK-12 REL-11", dropped_later),
		RIG_TEST("TSK-03 REL-11", slot_without_room),
		RIG_TEST("TSK-02", free_records),
		RIG_TEST("TSK-02 CGA-05 SYS-09", waits_for_a_shape),
		RIG_TEST("TSK-01 CGA-03", all_levels),
		RIG_TEST("TSK-01 CGA-03", any_levels),
		RIG_TEST("RES-07 PKT-12", kept_flags),
		RIG_TEST("RES-07 REL-12", kept_flags_of_the_next),
		RIG_TEST("TSK-16 TSK-03", states_are_counted),
		RIG_TEST("TSK-02 TSK-12", oldest_of_all),
		RIG_TEST("TSK-01 TSK-06", plain_metadata),
		RIG_TEST("TSK-01 TSK-02", priority_of_a_task),
		RIG_TEST("TSK-01 SYS-09", record_numbers),
	};

	return cmocka_run_group_tests_name("firmware: tasks that wait for a slot", tests, NULL, NULL);
}

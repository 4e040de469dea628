// SPDX-License-Identifier: MIT
/*
 * Sets of queues, and who waits for what: against a list of numbers. Queues take turns by number (SYS-09), whoever waits
 * for something that several share is woken when some of it is free, and nobody else is.
 */
#include "core/card_memory.h"
#include "core/context.h"
#include "core/task_record.h"
#include "core/wait.h"
#include "fw_rig.h"

#define IDS TUTTI_MAX_QUEUES

static struct queue_set set;
static bool member[IDS];
static uint32_t words;

static void put(unsigned id)
{
	queue_set_add(&set, id);
	words |= 1u << (id / 32);
	member[id] = true;
}

/* The first member from @from on or, if there is none, the first of all. */
static unsigned next_member(unsigned from)
{
	unsigned id = from;

	while (!member[id])
		id = (id + 1) % IDS;
	return id;
}

static unsigned members(void)
{
	unsigned n = 0;

	for (unsigned id = 0; id < IDS; id++) {
		n += member[id];
		assert_int_equal(queue_set_has(&set, id), member[id]);
		if (id % 32 == 0)
			assert_int_equal(words >> (id / 32) & 1, !!set.word[id / 32]);
	}
	return n;
}

static void empty(void)
{
	rig_load(1);
	memset(&set, 0, sizeof(set));
	memset(member, 0, sizeof(member));
	words = 0;
}

/* Any pair of queues, seen from their own numbers and from those beside them. */
static void pairs(void **unused)
{
	static const unsigned ids[] = { 0, 1, 30, 31, 32, 33, 63, 64, 71, 72, 127, 128, 223, 224, 254, 255 };
	const unsigned n = sizeof(ids) / sizeof(ids[0]);

	empty();
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < n; b++)
			for (unsigned from = 0; from < IDS; from++) {
				put(ids[a]);
				put(ids[b]);
				assert_int_equal(queue_set_next(&set, words, from), next_member(from));
				assert_ptr_equal(queue_set_take(&set, &words, from), queue_at(next_member(from)));
				member[next_member(from)] = false;
				if (words)
					assert_ptr_equal(queue_set_take(&set, &words, 0), queue_at(next_member(0)));
				memset(member, 0, sizeof(member));
				assert_int_equal(words, 0);
			}
	assert_int_equal(members(), 0);
}

static void any_sets(void **unused)
{
	empty();
	seed(1);
	for (unsigned step = 0; step < 40000; step++) {
		unsigned id = roll(step / 5000 % 2 ? IDS : 40), want;

		if (roll(3) && step / 100 % 2) {
			put(id);
		} else if (!roll(4)) {
			queue_set_remove(&set, id);
			member[id] = false;
			if (!set.word[id / 32])
				words &= ~(1u << (id / 32));
		} else if (words) {
			want = next_member(id);
			assert_int_equal(queue_set_next(&set, words, id), want);
			assert_ptr_equal(queue_set_take(&set, &words, id), queue_at(want));
			member[want] = false;
		} else {
			put(id);
		}
		if (step % 16 == 0)
			members();
	}
}

/* Each queue has a record of its own: the first ones in local memory, the others in their part of card memory. */
static void records(void **unused)
{
	const struct queue *far, *end;

	empty();
	far = card_memory(CARD_QUEUES);
	end = (const void *)((const uint8_t *)far + CARD_QUEUES_BYTES);
	for (unsigned id = 0; id < IDS; id++)
		if (id < FW_QUEUES) {
			assert_ptr_equal(queue_at(id), &queues[id]);
		} else {
			assert_ptr_equal(queue_at(id), far + (id - FW_QUEUES));
			assert_true(queue_at(id) + 1 <= end);
		}
}

/* ---- who waits ---- */

#define QUEUES 6u

static const unsigned number[QUEUES] = { 0, 31, 32, 71, 72, 255 }; /* in several words, in both kinds of memory */
static enum queue_wait waits[QUEUES];
static bool ready[QUEUES];
static unsigned most[WAIT_FOLLOW + 1]; /* no more queues than this wait: it counts those that were forgotten as well */

static struct queue *queue(unsigned i)
{
	return queue_at(number[i]);
}

static void nobody_waits(void)
{
	rig_load(4);
	for (unsigned i = 0; i < QUEUES; i++) {
		*queue(i) = (struct queue){ .asid_queue = 1 | number[i] << 16 };
		waits[i] = WAIT_NONE;
		ready[i] = false;
	}
	memset(most, 0, sizeof(most));
	attention.settle = 0;
	place_state.detours = 0;
}

static bool shared(enum queue_wait wait)
{
	return wait >= WAIT_SLOT && wait < QUEUE_WAITS;
}

static void check_waits(void)
{
	for (unsigned i = 0; i < QUEUES; i++) {
		assert_int_equal(queue_set_has(&queue_table.ready, number[i]), ready[i]);
		if (ready[i])
			assert_true(queue_table.any_ready >> (number[i] / 32) & 1);
		for (unsigned w = WAIT_SLOT; w < QUEUE_WAITS; w++)
			assert_int_equal(queue_set_has(&queue_table.waiting[w - WAIT_SLOT], number[i]), waits[i] == w);
	}
	assert_int_equal(!!(place_state.detours & DETOUR_WAITERS), most[WAIT_SLOT] || most[WAIT_SHAPE]);
}

/* A queue begins to wait for @wait. What it waits for decides who has to look after it. */
static void park(unsigned i, enum queue_wait wait)
{
	attention.settle = 0;
	assert_int_equal(wait_park(queue(i), wait), PACKET_PARKED);
	assert_int_equal(queue(i)->wait, wait);
	waits[i] = wait;
	most[wait]++;
	assert_int_equal(attention.settle, wait == WAIT_ROOM ? ATTEND_ROOM : 0);
}

static void wake(enum queue_wait wait)
{
	attention.settle = 0;
	wait_wake(wait);
	assert_int_equal(attention.settle, most[wait] ? ATTEND_READY : 0);
	most[wait] = 0;
	for (unsigned i = 0; i < QUEUES; i++)
		if (waits[i] == wait) {
			ready[i] = true;
			waits[i] = WAIT_NONE;
		}
}

static void taken(void)
{
	for (unsigned i = 0; i < QUEUES; i++)
		ready[i] = false;
	while (queue_table.any_ready)
		queue_set_take(&queue_table.ready, &queue_table.any_ready, 0);
}

static void waiting(void **unused)
{
	seed(2);
	for (unsigned round = 0; round < 200; round++) {
		nobody_waits();
		for (unsigned step = 0; step < 60; step++) {
			unsigned i = roll(QUEUES), of_shared = WAIT_SLOT + roll(QUEUE_WAITS - WAIT_SLOT);
			enum queue_wait wait = (enum queue_wait)(round % 2 ? of_shared : roll(WAIT_FOLLOW) + 1);

			if (roll(2) && !ready[i] && !shared(waits[i])) {
				park(i, wait);
			} else if (!roll(3)) {
				taken();
			} else if (roll(2) && shared(wait)) {
				wake(wait);
			} else if (!roll(4)) {
				wait_forget(queue(i));
				waits[i] = WAIT_NONE;
				assert_int_equal(queue(i)->wait, WAIT_NONE);
			}
			check_waits();
		}
	}
}

/* Nobody waits for what becomes free: nothing is to be done about it. */
static void nobody_to_wake(void **unused)
{
	nobody_waits();
	park(1, WAIT_KERNEL);
	for (unsigned w = WAIT_SLOT; w < QUEUE_WAITS; w++)
		if (w != WAIT_KERNEL) {
			wait_wake((enum queue_wait)w);
			assert_int_equal(attention.settle, 0);
		}
	check_waits();
}

static void made_ready(void **unused)
{
	for (unsigned i = 0; i < QUEUES; i++) {
		nobody_waits();
		wait_ready(queue(i));
		ready[i] = true;
		assert_int_equal(attention.settle, ATTEND_READY);
		assert_int_equal(queue_table.any_ready, 1u << (number[i] / 32));
		check_waits();
	}
}

/* Kernels in flight: of all packets, and of the condensed packet that is being launched. Each that ends is looked at. */
static void in_flight(void **unused)
{
	for (unsigned i = 0; i < QUEUES; i++) {
		nobody_waits();
		queue(i)->run_packet = 0x500000007;
		queue(i)->run_kernels = 3;
		queue_adopt(queue(i), 7);
		queue_adopt(queue(i), 7);
		queue_adopt(queue(i), 8);
		assert_int_equal(queue(i)->in_flight, 3);
		assert_int_equal(queue(i)->run_in_flight, 2);
		wait_ended(queue(i), 7);
		assert_int_equal(queue(i)->in_flight, 2);
		assert_int_equal(queue(i)->run_in_flight, 1);
		assert_true(queue_set_has(&queue_table.ended, number[i]));
		assert_int_equal(queue_table.any_ended, 1u << (number[i] / 32));
		assert_int_equal(attention.settle, ATTEND_ENDED);
		wait_ended(queue(i), 8);
		assert_int_equal(queue(i)->in_flight, 1);
		assert_int_equal(queue(i)->run_in_flight, 1);
		queue(i)->run_kernels = 0; /* none is being launched any more */
		queue_adopt(queue(i), 7);
		assert_int_equal(queue(i)->run_in_flight, 1);
		assert_int_equal(queue(i)->in_flight, 2);
	}
}

/* ---- contexts ---- */

/* Clients are contexts that have queues; one that has some cannot be destroyed. */
static void clients(void **unused)
{
	unsigned has[8] = { 0 }, n;
	bool exists[8] = { false };

	rig_load(4);
	fw.max_contexts = 7;
	seed(3);
	for (unsigned step = 0; step < 5000; step++) {
		unsigned asid = roll(8), what = roll(4);
		bool good = asid && asid < 7;

		if (what == 0)
			assert_int_equal(context_create(asid), !good ? -TUTTI_EINVAL : exists[asid] ? -TUTTI_EEXIST : 0);
		if (what == 1)
			assert_int_equal(context_destroy(asid), !exists[asid] ? -TUTTI_ENOENT : has[asid] ? -TUTTI_EBUSY : 0);
		if (what == 0)
			exists[asid] = good;
		if (what == 1 && !has[asid])
			exists[asid] = false;
		if (what == 2 && exists[asid]) {
			context_queue_created(asid);
			has[asid]++;
		}
		if (what == 3 && has[asid]) {
			context_queue_destroyed(asid);
			has[asid]--;
		}
		for (n = asid = 0; asid < 8; asid++) {
			n += !!has[asid];
			assert_int_equal(context_exists(asid), exists[asid]);
		}
		assert_int_equal(context_clients(), n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-04 SYS-09", records),
		RIG_TEST("SYS-09", pairs),
		RIG_TEST("SYS-09", any_sets),
		RIG_TEST("SYS-09 REL-11", waiting),
		RIG_TEST("SYS-09", nobody_to_wake),
		RIG_TEST("SYS-09", made_ready),
		RIG_TEST("SYS-09 PKT-05", in_flight),
		RIG_TEST("SYS-08 REL-11", clients),
	};

	return cmocka_run_group_tests_name("firmware: sets of queues, contexts", tests, NULL, NULL);
}

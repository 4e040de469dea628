/* SPDX-License-Identifier: MIT */
/* Injected faults (SYS-15). The card survives or reports each of them, and other work finishes correctly. */
#include <stdlib.h>
#include <unistd.h>

#include "raw_pair.h"

#define T(name, function) { name, function, raw_pair_deterministic, raw_pair_close, NULL }, \
	{ name ", fast mode", function, raw_pair_fast, raw_pair_close, NULL }

static void inject(enum tutti_card_fault fault, uint64_t arg)
{
	assert_int_equal(tutti_card_inject(raw->card, fault, arg), 0);
}

static void alive(struct raw_queue *q)
{
	uint64_t *word = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_STORE, 1, 1, raw_args(&space, word, 77, 0), NULL);

	raw_submit(q, &p);
	assert_true(raw_until(raw, word, 77, RAW_PATIENCE));
}

static void reboot(void)
{
	assert_int_equal(raw_boot(raw, NULL), TUTTI_STATE_RUNNING);
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 0, 0, 6);
	alive(&queue);
}

static void firmware_hang(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 0, 1, NULL);
	uint64_t beat;

	inject(TUTTI_INJECT_FIRMWARE_HANG, 1);
	raw_submit(&queue, &p);
	raw_run(raw, 50);
	beat = raw->status->heartbeat;
	raw_run(raw, 100);
	assert_int_equal(*cell, 0);
	assert_int_equal(raw->status->heartbeat, beat); /* this is the only sign */
	inject(TUTTI_INJECT_FIRMWARE_HANG, 0);
	reboot();
}

/* The card's watchdog ends a hang as a crash, and not before a second has passed. With argument 2 a boot heals it. */
static void firmware_hang_until_boot(void **state)
{
	const struct tutti_crash *crash = (const void *)(raw->bar + raw->discovery->crash.offset);

	raw_settle(raw); /* nothing is to be done, and nothing asks the card for anything */
	inject(TUTTI_INJECT_FIRMWARE_HANG, 2);
	while (raw->status->state == TUTTI_STATE_RUNNING)
		raw_run(raw, 50);
	assert_int_equal(raw->status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
	reboot();
}

/* The watchdog does not notice firmware that is only silent. */
static void firmware_silent(void **state)
{
	uint64_t beat;

	inject(TUTTI_INJECT_FIRMWARE_SILENT, 2);
	raw_run(raw, 50);
	beat = raw->status->heartbeat;
	raw_run(raw, 1500);
	assert_int_equal(raw->status->state, TUTTI_STATE_RUNNING);
	assert_int_equal(raw->status->heartbeat, beat);
	usleep(50000);
	assert_int_equal(raw->status->asleep, 0); /* a host does not miss the heartbeat of a card that sleeps */
	reboot();
	inject(TUTTI_INJECT_FIRMWARE_SILENT, 1);
	inject(TUTTI_INJECT_FIRMWARE_SILENT, 0);
	alive(&queue);
}

static void firmware_crash(void **state)
{
	const struct tutti_crash *crash = (const void *)(raw->bar + raw->discovery->crash.offset);

	inject(TUTTI_INJECT_FIRMWARE_CRASH, 1);
	tutti_card_kick(raw->card);
	raw_run(raw, 60);
	assert_int_equal(raw->status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, TUTTI_CRASH_TRAP);
	reboot();
	assert_int_equal(crash->cause, TUTTI_CRASH_NONE);
}

static void lost_doorbell(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 10, 1, NULL);

	inject(TUTTI_INJECT_LOST_DOORBELL, 1);
	raw_submit(&queue, &p);
	raw_run(raw, 20);
	assert_int_equal(*cell, 0);
	alive(&other);
	raw_submit(&queue, &p); /* the next interrupt serves both */
	assert_true(raw_until(raw, cell, 11, RAW_PATIENCE));
}

static void lost_interrupt(void **state)
{
	struct tutti_signal *signal = raw_signal(&space, 2);
	union tutti_packet p = raw_step(&space, cell, 10, 1, signal);
	unsigned before;

	signal->waiters = 1;
	raw_settle(raw); /* interrupts of replies may still be under way */
	inject(TUTTI_INJECT_LOST_INTERRUPT, 1);
	before = raw->interrupts;
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &signal->value, 1, RAW_PATIENCE)); /* the data is there nevertheless */
	raw_settle(raw);
	assert_int_equal(raw->interrupts, before);
	raw_submit(&queue, &p);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	raw_settle(raw);
	assert_int_equal(raw->interrupts, before + 1);
}

static void torn_fetch(void **state)
{
	uint64_t expect = 0;
	unsigned i;

	inject(TUTTI_INJECT_TORN_FETCH, 3);
	for (i = 0; i < 30; i++) {
		union tutti_packet p = raw_step(&space, cell, 3, i, NULL);

		raw_submit(&queue, &p);
		expect = expect * 3 + i;
		if (i % 8 == 0)
			raw_run(raw, 2);
	}
	/* the torn packet looked not ready; without another doorbell, the firmware looks again by itself */
	raw_retired(&queue);
	raw_settle(raw);
	assert_true(raw_until(raw, cell, (int64_t)expect, RAW_PATIENCE));
	raw_no_fault(raw);
}

static void stuck_sm(void **state)
{
	struct tutti_message create;
	struct raw_queue hasty;
	uint64_t *counts = raw_new(&space, 4096);
	union tutti_packet p = raw_dispatch(raw, RAW_COUNT, 72, 1, raw_args(&space, counts, 0, 0), NULL);
	struct tutti_fault fault;
	unsigned i, ran = 0;

	create = raw_queue_message(&space, &hasty, 5, 0, 6);
	create.queue.timeout_ms = 60;
	assert_int_equal(raw_call(raw, &create).status, 0);
	inject(TUTTI_INJECT_STUCK_SM, 2);
	raw_submit(&hasty, &p);
	if (!raw_until(raw, &counts[511], 1, 300)) {
		struct tutti_message event;

		assert_true(raw_event(raw, TUTTI_MSG_QUEUE_ERROR, &event, RAW_PATIENCE));
		fault = event.fault;
		assert_int_equal(fault.queue, 5);
		assert_true(fault.code == TUTTI_ERROR_TIMEOUT || fault.code == TUTTI_ERROR_SM);
	}
	for (i = 0; i < 72; i++)
		ran += counts[i] == 1;
	assert_int_equal(ran, 60); /* all but those of SM 2 */
	inject(TUTTI_INJECT_STUCK_SM, ~0ull);
	alive(&other);
	raw_reset_queue(&hasty);
	alive(&hasty);
}

/*
 * An SM that does not acknowledge a task's state: the task waits, nothing is lost, and the watchdog ends a wait that
 * lasts too long.
 */
static void silent_sm(void **state)
{
	uint64_t *counts = raw_new(&space, 4096);
	struct tutti_signal *signal = raw_signal(&space, 1);
	union tutti_packet p = raw_dispatch(raw, RAW_COUNT, 72, 1, raw_args(&space, counts, 0, 0), signal);
	struct tutti_message create;
	struct raw_queue hasty;
	struct tutti_fault fault;
	unsigned i, ran = 0;

	inject(TUTTI_INJECT_SILENT_SM, 2);
	raw_submit(&queue, &p);
	raw_run(raw, 100);
	for (i = 0; i < 72; i++)
		ran += counts[i] != 0;
	assert_int_equal(ran, 0); /* the firmware launches no CTA of it on any SM */
	assert_int_equal(signal->value, 1);
	inject(TUTTI_INJECT_SILENT_SM, ~0ull);
	assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
	for (i = 0; i < 72; i++)
		assert_int_equal(counts[i], 1);
	/* for ever: the queue times out, its task is stopped, and the SM works again */
	create = raw_queue_message(&space, &hasty, 5, 0, 6);
	create.queue.timeout_ms = 60;
	assert_int_equal(raw_call(raw, &create).status, 0);
	inject(TUTTI_INJECT_SILENT_SM, 2);
	raw_submit(&hasty, &p);
	fault = raw_fault(&hasty, TUTTI_ERROR_TIMEOUT, 0);
	assert_int_equal(fault.queue, 5);
	inject(TUTTI_INJECT_SILENT_SM, ~0ull);
	alive(&other);
	raw_reset_queue(&hasty);
	alive(&hasty);
}

static int acknowledging_deterministic(void **state)
{
	return raw_pair_open((struct tutti_card_config){ .mode = TUTTI_CARD_DETERMINISTIC, .acknowledge = 2 });
}

static int acknowledging_fast(void **state)
{
	return raw_pair_open((struct tutti_card_config){ .mode = TUTTI_CARD_FAST, .acknowledge = 2 });
}

static void kernel_trap(void **state)
{
	uint64_t *sum = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_ADD, 64, 1, raw_args(&space, sum, 1, 0), NULL);

	inject(TUTTI_INJECT_KERNEL_TRAP, 1);
	raw_submit(&queue, &p);
	assert_int_equal(raw_fault(&queue, TUTTI_ERROR_KERNEL_TRAP, 0).engine, TUTTI_ENGINE_WAVE);
	raw_no_fault(raw);
	assert_true(*sum < 64);
	alive(&other);
	raw_reset_queue(&queue);
	alive(&queue);
}

static void page_fault(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 10, 1, NULL);
	struct tutti_message event;

	assert_int_equal(raw_ask(raw, TUTTI_MSG_TLB_INVALIDATE, 1, 0, 0), 0);
	inject(TUTTI_INJECT_PAGE_FAULT, 1);
	raw_submit(&queue, &p);
	assert_true(raw_event(raw, TUTTI_MSG_QUEUE_ERROR, &event, RAW_PATIENCE));
	assert_int_equal(event.fault.queue, queue.id);
	assert_true(event.fault.code == TUTTI_ERROR_RING_FAULT || event.fault.code == TUTTI_ERROR_MEMORY_FAULT ||
		    event.fault.code == TUTTI_ERROR_CODE_OBJECT);
	raw_no_fault(raw);
	alive(&other);
	raw_reset_queue(&queue);
	alive(&queue);
}

static void memory_error(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 10, 1, NULL);
	struct tutti_message event;

	inject(TUTTI_INJECT_MEMORY_ERROR, 1);
	raw_submit(&queue, &p);
	assert_true(raw_event(raw, TUTTI_MSG_QUEUE_ERROR, &event, RAW_PATIENCE));
	assert_int_equal(event.fault.queue, queue.id);
	assert_int_equal(event.fault.code, TUTTI_ERROR_MEMORY);
	assert_int_equal(event.fault.cause, TUTTI_CAUSE_ECC);
	assert_int_equal(*cell, 0);
	alive(&other);
	raw_reset_queue(&queue);
	alive(&queue);
}

static void link_down(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 10, 1, NULL);

	inject(TUTTI_INJECT_LINK_DOWN, 1);
	raw_submit(&queue, &p);
	raw_run(raw, 30);
	assert_int_equal(*cell, 0);
	inject(TUTTI_INJECT_LINK_DOWN, 0);
	reboot();
}

static void surprise_removal(void **state)
{
	union tutti_packet p = raw_step(&space, cell, 10, 1, NULL);

	inject(TUTTI_INJECT_REMOVED, 1);
	tutti_card_kick(raw->card);
	raw_run(raw, 20);
	assert_true(raw->discovery->magic == ~0ull); /* all ones = no card */
	queue.ring[0] = p;
	raw_run(raw, 30);
	assert_int_equal(*cell, 0);
}

static void strings(void **state)
{
	assert_int_equal(tutti_card_inject_string(raw->card, "lost-doorbell:1,torn-fetch:2"), 0);
	assert_int_equal(tutti_card_inject_string(raw->card, "stuck-sm:1"), 0);
	assert_true(tutti_card_inject_string(raw->card, "no-such-fault") < 0);
	assert_true(tutti_card_inject_string(raw->card, "lost-doorbell:x") < 0);
	assert_true(tutti_card_inject(raw->card, TUTTI_INJECT_KINDS, 0) < 0);
}

/* many recoverable faults on one queue, while another one computes correctly */
static void storm(void **state)
{
	uint64_t expect = 0;
	unsigned i, seed = 5;
	struct tutti_message event;

	for (i = 0; i < 200; i++) {
		union tutti_packet p = raw_step(&space, cell, 3, i, NULL), bad;

		switch ((unsigned)rand_r(&seed) % 4) {
		case 0:
			bad = raw_dispatch(raw, RAW_TRAP, 8, 1, NULL, NULL);
			break;
		case 1:
			bad = raw_dispatch(raw, RAW_LOAD, 8, 1, raw_args(&space, NULL, 0, 0), NULL);
			break;
		case 2:
			bad = raw_dispatch(raw, RAW_EMPTY, 0, 1, NULL, NULL);
			break;
		default:
			bad = raw_dispatch(raw, RAW_EMPTY, 8, 1, NULL, (void *)0x1000);
		}
		raw_submit(&queue, &bad);
		raw_submit(&other, &p);
		expect = expect * 3 + i;
		if (!raw_event(raw, TUTTI_MSG_QUEUE_ERROR, &event, RAW_PATIENCE))
			fail_msg("round %u: no error", i);
		assert_int_equal(event.fault.queue, queue.id);
		raw_reset_queue(&queue);
		if (i % 16 == 15)
			raw_retired(&other);
	}
	raw_retired(&other);
	assert_true(raw_until(raw, cell, (int64_t)expect, RAW_PATIENCE));
	alive(&queue);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-15: hung firmware", firmware_hang),
		T("SYS-15, SYS-28: a hang that a boot heals", firmware_hang_until_boot),
		T("SYS-15, SYS-28: silent firmware", firmware_silent),
		T("SYS-15: firmware crash", firmware_crash),
		T("SYS-15, PKT-05: lost doorbell", lost_doorbell),
		T("SYS-15: lost interrupt", lost_interrupt),
		T("SYS-15, PKT-07: torn packet fetch", torn_fetch),
		T("SYS-15: stuck SM", stuck_sm),
		{ "SYS-15, TSK-05: an SM that does not acknowledge task states", silent_sm,
		  acknowledging_deterministic, raw_pair_close, NULL },
		{ "SYS-15, TSK-05: an SM that does not acknowledge task states, fast mode", silent_sm,
		  acknowledging_fast, raw_pair_close, NULL },
		T("SYS-15: trapping kernel", kernel_trap),
		T("SYS-15: page fault", page_fault),
		T("SYS-15: memory error", memory_error),
		T("SYS-15: link down", link_down),
		T("SYS-15: surprise removal", surprise_removal),
		T("SYS-15: faults by name", strings),
		T("SYS-15, PKT-06: a storm of faults beside good work", storm),
	};

	return cmocka_run_group_tests_name("inject", tests, NULL, NULL);
}

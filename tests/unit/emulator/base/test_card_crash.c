// SPDX-License-Identifier: MIT
/*
 * Crash records that the card itself writes (SYS-10): every field of each kind of record, and the state and the interrupt
 * that the host sees with it.
 */
#include "card_rig.h"

#include <errno.h>

#include "emulator/base/clock.h"
#include "emulator/base/state.h"

#define UNTOUCHED 0x5a

/* Fill the page of the crash record with a known byte, and mark that there is no record yet. */
static void no_record(void)
{
	memset(crash, UNTOUCHED, TUTTI_PAGE_SIZE);
	crash->cause = TUTTI_CRASH_NONE;
	interrupts = 0;
}

static void expect_text(const char *text)
{
	char want[sizeof(crash->text)] = {0};

	memcpy(want, text, strlen(text));
	assert_memory_equal(crash->text, want, sizeof(want));
}

/* The soft core has stopped, so that its registers still have the values that were recorded. */
static void expect_registers(void)
{
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(crash->x[i], card->ops->reg(card->core, i));
	assert_int_equal(crash->x[0], 0);
	assert_int_equal(crash->ra, crash->x[1]);
	assert_int_equal(crash->sp, crash->x[2]);
}

static void expect_record(uint32_t cause, uint32_t code, uint32_t tval, uint64_t since, const char *text)
{
	const uint8_t *page = (const uint8_t *)crash;

	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, cause);
	assert_int_equal(crash->cause_code, code);
	assert_int_equal(crash->tval, tval);
	assert_int_equal(crash->queue, ~0u); /* the card does not know for which queue the firmware was working */
	assert_int_equal(crash->pad0 | crash->packet, 0);
	assert_in_range(crash->time, since, card_time(card));
	expect_text(text);
	expect_registers();
	for (unsigned i = sizeof(*crash); i < TUTTI_PAGE_SIZE; i++)
		assert_int_equal(page[i], UNTOUCHED);
	/* the driver is notified by vector 0, the only one that it handles itself */
	assert_int_equal(interrupts, 1);
	assert_int_equal(vectors[0], 0);
}

/*
 * If the engines or the watchdog have stopped the core, or if it has halted, the record has the address of the instruction
 * that the core would execute next.
 */
static void expect_next(void)
{
	assert_int_equal(crash->pc, card->ops->reg(card->core, 32));
	assert_in_range(crash->pc, 0x100, 0x10000);
}

static uint32_t instruction_at(uint32_t pc)
{
	uint32_t word;

	assert_in_range(pc, 0x100, 0x10000);
	memcpy(&word, card->local + pc, 4);
	return word;
}

/* A trap for which there is no handler, or whose handler traps again and again. */
static void test_traps(void **state)
{
	for (unsigned again = 0; again < 2; again++) {
		uint64_t since = card_time(card);

		no_record();
		((uint32_t *)(memory + TRAPS))[3] = again; /* if 1, the trap handler traps as well */
		SCRIPT_WORDS(again ? OP_ILLEGAL : OP_NO_HANDLER, 0);
		expect_record(TUTTI_CRASH_TRAP, 2, 0xffffffff, since, "no trap handler, or it traps for ever");
		assert_int_equal(instruction_at(crash->pc), 0xffffffff);
		boot(image_file, image_bytes);
	}
	((uint32_t *)(memory + TRAPS))[3] = 0;
}

static void test_commands(void **state)
{
	const uint32_t unknown = TUTTI_COMMAND(TUTTI_CMD_BLOCK + 1, 3, 0x1234);
	const uint32_t launch = TUTTI_COMMAND(TUTTI_CMD_LAUNCH, 3, 7);
	uint64_t since = card_time(card);

	no_record();
	COMMAND(unknown, 0, 0);
	expect_record(TUTTI_CRASH_TRAP, CARD_CAUSE_COMMAND, unknown, since, "bad command");
	expect_next();
	boot(image_file, image_bytes);
	for (unsigned late = 0; late < 2; late++) {
		since = card_time(card);
		no_record();
		sms.refuse = late ? -EAGAIN : -EINVAL;
		COMMAND(launch, 1 | 1u << 24, 1);
		expect_record(TUTTI_CRASH_TRAP, CARD_CAUSE_LAUNCH, launch, since,
			      late ? "LAUNCH before the task's STATE is acknowledged" : "LAUNCH refused by the SMs");
		expect_next();
		sms.refuse = 0;
		boot(image_file, image_bytes);
	}
}

static void test_watchdog(void **state)
{
	uint64_t since = card_time(card);

	no_record();
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1);
	for (unsigned i = 0; i < 3000 && status->state == TUTTI_STATE_RUNNING; i++)
		tutti_card_run(card, NULL, NULL);
	settle();
	expect_record(TUTTI_CRASH_WATCHDOG, 0, 0, since + 1000000000, "no event taken");
	expect_next();
}

static void test_halt(void **state)
{
	for (unsigned called = 0; called < 2; called++) {
		uint64_t since = card_time(card);

		no_record();
		SCRIPT_WORDS(called ? OP_JUMP : OP_HALT, 0x50000); /* no code is there: the trap handler halts */
		expect_record(TUTTI_CRASH_PANIC, 0, 0, since, "firmware halted without a record");
		expect_next();
		if (!called)
			assert_int_equal(crash->x[31], 31);
		else
			assert_in_range(crash->ra, 0x100, 0x10000); /* OP_JUMP is a call, which sets ra */
		boot(image_file, image_bytes);
	}
}

static bool counted;

/* The card calls this before each of its rounds. */
static bool has_crashed(void *unused)
{
	const uint64_t *counters = (const uint64_t *)(bar + discovery->counters.offset);

	if (status->state != TUTTI_STATE_CRASHED)
		return false;
	assert_int_equal(counters[TUTTI_COUNTER_CORE_INSTRUCTIONS], card->ops->instructions(card->core));
	return counted = true;
}

/* SYS-13: once the host sees that the firmware has crashed, all instructions that it has executed are counted. */
static void test_counted(void **state)
{
	script_begin(OP_HALT, (uint32_t[]){0}, 1);
	while (!counted)
		tutti_card_run(card, has_crashed, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-10: records of traps", test_traps, setup, teardown, NULL},
	    {"SYS-10: records of commands that are refused", test_commands, setup, teardown, NULL},
	    {"SYS-10: the record of a hang", test_watchdog, setup, teardown, NULL},
	    {"SYS-10: the record of firmware that halts without one", test_halt, setup, teardown, NULL},
	    {"SYS-13: counters at a crash", test_counted, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: crash records", tests, make_image, drop_image);
}

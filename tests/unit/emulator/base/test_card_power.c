// SPDX-License-Identifier: MIT
/*
 * A card at power-on and after a reset, whatever it has done before: its state, its counters, the time on the engine page,
 * and the message about firmware that is interpreted.
 */
#include "card_rig.h"

#include <sys/wait.h>

#include "emulator/base/clock.h"
#include "emulator/base/interrupt.h"
#include "emulator/base/state.h"
#include "emulator/base/trace.h"

static const uint64_t *counters(void)
{
	return (const uint64_t *)(bar + discovery->counters.offset);
}

/* Return: whether the table of SM states is updated before the firmware runs. The firmware has to ask for that. */
static bool has_table(void)
{
	unsigned before = sms.tables;

	SCRIPT_WORDS(OP_PEEK, 0, 1);
	return sms.tables > before;
}

/* Change every kind of state of the card, so that a reset has something to clear. */
static void live(void)
{
	assert_false(has_table());
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_TABLE));
	assert_true(has_table());
	control->trace_enable = ~0u;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_CONTEXT, 5, 7), TABLES, 0, 0x12345000, 0x67);
	assert_true(card_context_print(card, 7) == 0x6712345000);
	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	*doorbell(0) = 1;
	settle();
	for (uint64_t i = 0; i < card->trace_records + 3; i++)
		card_trace(card, TUTTI_TRACE_EXPAND, 1, 2, 3, i, 5, 6);
	assert_true(status->trace_lost >= 3);
	assert_true(counters()[TUTTI_COUNTER_DOORBELLS] == 1 && counters()[TUTTI_COUNTER_CORE_INSTRUCTIONS]);
	for (unsigned i = 0; i < 9; i++)
		card_interrupt(card, i);
	interrupts = 0;
}

/* Check that the host, the firmware and waves find the card as if it had just been powered on. */
static void nothing_is_left(void)
{
	static const uint8_t zeros[TUTTI_PAGE_SIZE];

	assert_memory_equal(status, zeros, sizeof(*status));
	assert_memory_equal(control, zeros, sizeof(*control));
	for (unsigned i = 0; i < TUTTI_MAX_CONTEXTS; i++)
		assert_true(card_context_print(card, i) == 0);
	assert_int_equal(card->page->timer_hi, TUTTI_TIMER_OFF);
	card->page->timer_hi = 0;
	assert_memory_equal(card->page, zeros, sizeof(*card->page));
	card->page->timer_hi = TUTTI_TIMER_OFF;
	assert_false(trace_leave(card));
}

/* Check that the counters of the hardware are 0, except for the core's instructions, which start from 0 at the next boot. */
static void nothing_is_counted(void)
{
	for (unsigned i = TUTTI_COUNTER_CORE_INSTRUCTIONS + 1; i < TUTTI_COUNTERS; i++)
		assert_true(counters()[i] == 0);
}

static void empty_doorbells(void)
{
	for (unsigned i = 0; i < discovery->max_queues; i++)
		*doorbell(i) = TUTTI_DOORBELL_EMPTY;
}

/* Check that trace records are numbered from 0 again, and that the first one is written to the beginning of the ring. */
static void expect_new_trace(void)
{
	const struct tutti_trace *ring = (const void *)(bar + discovery->trace.offset);

	control->trace_enable = 1u << TUTTI_TRACE_EXPAND;
	COMMAND(TUTTI_COMMAND(TUTTI_CMD_TRACE, 3, TUTTI_TRACE_EXPAND), 9, 17);
	assert_true(status->trace_tail == 1);
	assert_int_equal(status->trace_lost, 0);
	assert_int_equal(ring[0].kind, TUTTI_TRACE_EXPAND);
	assert_int_equal(ring[0].queue, 9);
}

static void test_reset(void **state)
{
	card_open(TUTTI_CARD_DETERMINISTIC);
	nothing_is_left();
	for (unsigned round = 0; round < 3; round++) {
		uint64_t time;

		boot(image_file, image_bytes);
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
		assert_int_equal(counters()[TUTTI_COUNTER_CORE_INSTRUCTIONS], tutti_card_instructions(card));
		assert_int_equal(counters()[TUTTI_COUNTER_DOORBELLS], 0);
		expect_new_trace();
		live();
		time = card_time(card);
		tutti_card_reset(card);
		nothing_is_left();
		empty_doorbells();
		settle();
		nothing_is_counted();
		assert_int_equal(interrupts, 0); /* those that had not reached the host are dropped */
		assert_true(card_time(card) >= time); /* a reset does not set back the time */
	}
	teardown(state);
}

static bool has_booted(void *unused)
{
	if (status->boot_sequence != boots)
		return false;
	for (unsigned i = TUTTI_COUNTER_CORE_INSTRUCTIONS; i < TUTTI_COUNTERS; i++)
		assert_true(counters()[i] == 0);
	return true;
}

/* SYS-13: once the host sees that the firmware boots, all counters of the hardware are 0, whatever they were before. */
static void test_counters(void **state)
{
	for (unsigned round = 0; round < 3; round++) {
		memset(bar + discovery->counters.offset, 0x5a, TUTTI_COUNTERS * sizeof(uint64_t));
		memcpy(memory, image_file, image_bytes);
		control->boot_sequence = ++boots;
		assert_false(tutti_card_run(card, has_booted, NULL));
		assert_int_equal(status->boot_sequence, boots);
		settle();
	}
}

/* SYS-12: while the core runs, the engine page has both halves of the time at which this run of the core began. */
static void test_time(void **state)
{
	const uint32_t at = TUTTI_CORE_ENGINES + offsetof(struct tutti_engines, time_lo);

	for (unsigned i = 0; i < 4; i++) {
		static const uint64_t times[] = {0xfffff000, 0x180000000, 0x5234567890, 0x8000000000000};
		uint64_t before = card->virtual_time = times[i];
		uint32_t told[2];

		peek(at, told, 2);
		assert_in_range(told[0] | (uint64_t)told[1] << 32, before, card_time(card));
	}
}

/* SYS-13: a host may turn counting on before the firmware boots. It stays on at each boot until the host turns it off. */
static void test_counts(void **state)
{
	struct tutti_card_function functions[2];

	card_open(TUTTI_CARD_DETERMINISTIC);
	tutti_card_count(card, true);
	assert_string_equal(tutti_card_core(card), "none");
	for (unsigned i = 0; i < 2; i++) {
		boot(image_file, image_bytes);
		SCRIPT_WORDS(OP_PEEK, 0, 100);
		assert_string_equal(tutti_card_core(card), "interpreted, counted by function");
		assert_int_equal(tutti_card_profile(card, functions, 2), 2);
		assert_int_equal(functions[0].instructions + functions[1].instructions, tutti_card_instructions(card));
	}
	tutti_card_count(card, false);
	boot(image_file, image_bytes);
	assert_int_equal(tutti_card_profile(card, functions, 2), 2);
	assert_int_equal(functions[0].instructions + functions[1].instructions, 0);
	teardown(state);
}

/* Return: what a process that boots a card three times prints to its standard error. @interpret: TUTTI_INTERPRET, or NULL */
static const char *printed(const char *interpret)
{
	static char text[4096];
	size_t n = 0;
	ssize_t got;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(ends[1], 2);
		close(ends[1]);
		interpret ? setenv("TUTTI_INTERPRET", interpret, 1) : unsetenv("TUTTI_INTERPRET");
		card_open(TUTTI_CARD_DETERMINISTIC);
		for (unsigned i = 0; i < 3; i++)
			boot(image_file, image_bytes);
		_exit(strcmp(tutti_card_core(card), "interpreted") != 0);
	}
	close(ends[1]);
	while ((got = read(ends[0], text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &ends[0], 0), pid);
	assert_int_equal(ends[0], 0);
	return text;
}

/* SYS-12: a program prints only once that its firmware is interpreted, and why. */
static void test_told_once(void **state)
{
	static const char what[] = "tutti: the emulated card interprets its firmware, which takes several times as long: ";
	static const struct {
		const char *interpret, *why;
	} rows[] = {
	    {NULL, "it is not an image that this build has translated\n"},
	    {"", "it is not an image that this build has translated\n"},
	    {"0", "it is not an image that this build has translated\n"},
	    {"1", "TUTTI_INTERPRET is set\n"},
	    {"00", "TUTTI_INTERPRET is set\n"},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char want[sizeof(what) + 64];

		snprintf(want, sizeof(want), "%s%s", what, rows[i].why);
		assert_string_equal(printed(rows[i].interpret), want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-12: the reason why firmware is interpreted is printed once", test_told_once, NULL, NULL, NULL},
	    {"SYS-10: a card that was reset is like a new one", test_reset, NULL, NULL, NULL},
	    {"SYS-13: counters begin with 0", test_counters, setup, teardown, NULL},
	    {"SYS-12: the time on the engine page", test_time, setup, teardown, NULL},
	    {"SYS-13: counts that are asked for before the firmware boots", test_counts, NULL, NULL, NULL},
	};

	return cmocka_run_group_tests_name("card: power-on", tests, make_image, drop_image);
}

// SPDX-License-Identifier: MIT
/*
 * What the firmware leaves behind when it gives up (SYS-05): a record for the driver, a line in the log, its state. The
 * host build ends with an illegal instruction then, from which the tests return.
 */
#include "core/crash.h"
#include "core/log.h"
#include "fw_rig.h"

#include <signal.h>

static sigjmp_buf over;

static const struct tutti_discovery *card(void)
{
	return (const void *)hal_host.window;
}

static struct tutti_crash *record(void)
{
	return (void *)(hal_host.window + card()->crash.offset);
}

static uint32_t state(void)
{
	return ((const struct tutti_status *)(const void *)(hal_host.window + card()->status.offset))->state;
}

/* The text of the log, from its byte @from on. */
static const char *log_from(uint64_t from)
{
	const struct tutti_log *log = (const void *)(hal_host.window + card()->log.offset);
	static char text[256];
	unsigned i;

	for (i = 0; i < sizeof(text) - 1 && from + i < log->head; i++)
		text[i] = log->text[(from + i) & (log->bytes - 1)];
	text[i] = 0;
	return text;
}

static uint64_t log_head(void)
{
	return ((const struct tutti_log *)(const void *)(hal_host.window + card()->log.offset))->head;
}

static void return_from_it(int signal)
{
	(void)signal;
	siglongjmp(over, 1);
}

static void begin(void)
{
	rig_load(4);
	memset(record(), 0xa5, sizeof(struct tutti_crash));
	crash_init();
	crash_note.queue = 17;
	crash_note.packet = 0x123456789abcull;
	hal_host.time = 0x1122334455667788ull;
	signal(SIGILL, return_from_it);
	assert_int_equal(state(), TUTTI_STATE_RUNNING);
}

/* The firmware gave up; who watches the card sees it. */
static void end(void)
{
	signal(SIGILL, SIG_DFL);
	assert_int_equal(state(), TUTTI_STATE_CRASHED);
	assert_int_equal(hal_host.halted, 1);
	crash_note.queue = ~0u;
}

static void at_work(void)
{
	assert_int_equal(record()->queue, 17);
	assert_int_equal(record()->packet, 0x123456789abcull);
	assert_int_equal(record()->time, 0x1122334455667788ull);
}

/* Firmware that starts clears the record, all of it and nothing else. */
static void cleared(void **unused)
{
	static const struct tutti_crash none;
	const uint8_t *at;

	rig_load(4);
	memset(hal_host.window + card()->crash.offset - 8, 0xa5, sizeof(none) + 16);
	crash_init();
	at = hal_host.window + card()->crash.offset;
	assert_memory_equal(at, &none, sizeof(none));
	for (unsigned i = 1; i <= 8; i++)
		assert_true(at[-(int)i] == 0xa5 && at[sizeof(none) + i - 1] == 0xa5);
}

static void a_check_fails(void **unused);

/* Is it an address in the test below? */
static bool in_the_test(uint32_t address)
{
	return address - hal_local((const void *)(uintptr_t)a_check_fails) < 4096;
}

static void a_check_fails(void **unused)
{
	uint64_t from;

	begin();
	from = log_head();
	if (!sigsetjmp(over, 1))
		crash_panic("this is so", 0x4d2);
	end();
	at_work();
	assert_int_equal(record()->cause, TUTTI_CRASH_PANIC);
	assert_int_equal(record()->cause_code, 0x4d2);
	assert_string_equal(record()->text, "this is so");
	assert_int_equal(record()->pc, record()->ra);
	assert_true(in_the_test(record()->pc));
	assert_int_not_equal(record()->sp, 0);
	assert_string_equal(log_from(from), "panic: this is so line 0x4d2\n");
}

/* The text has an end, however long the check is. */
static void a_long_text(void **unused)
{
	char text[2 * sizeof(record()->text)];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	begin();
	if (!sigsetjmp(over, 1))
		crash_panic(text, 1);
	end();
	assert_int_equal(strnlen(record()->text, sizeof(record()->text)), sizeof(record()->text) - 1);
}

static uint32_t x[32];

static void trap(uint32_t cause)
{
	for (unsigned i = 0; i < 32; i++)
		x[i] = 0x1000 + i;
	if (!sigsetjmp(over, 1))
		crash_trap(x, cause, 0x5555, 0x6666);
	end();
}

static void a_trap(void **unused)
{
	uint64_t from;

	begin();
	from = log_head();
	trap(0xb);
	at_work();
	assert_int_equal(record()->cause, TUTTI_CRASH_TRAP);
	assert_int_equal(record()->cause_code, 0xb);
	assert_int_equal(record()->pc, 0x5555);
	assert_int_equal(record()->tval, 0x6666);
	assert_int_equal(record()->ra, 0x1001);
	assert_int_equal(record()->sp, 0x1002);
	assert_memory_equal(record()->x, x, sizeof(x));
	assert_string_equal(record()->text, "trap");
	assert_string_equal(log_from(from), "trap: mcause 0xb\ntrap: pc 0x5555\n");
}

/* A trap while a panic reports itself: the panic's record says more, so it stays. */
static void a_trap_in_a_panic(void **unused)
{
	struct tutti_crash first;

	begin();
	if (!sigsetjmp(over, 1))
		crash_panic("first", 3);
	first = *record();
	trap(5);
	assert_memory_equal(record(), &first, sizeof(first));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST("SYS-05 SYS-09", cleared),
		RIG_TEST("SYS-05", a_check_fails),
		RIG_TEST("SYS-05", a_long_text),
		RIG_TEST("SYS-05", a_trap),
		RIG_TEST("SYS-05", a_trap_in_a_panic),
	};

	return cmocka_run_group_tests_name("firmware: what it leaves when it gives up", tests, NULL, NULL);
}

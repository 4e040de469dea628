// SPDX-License-Identifier: MIT
/* Injected faults kind by kind, interrupts under way, and a soft core that waits or gives up. */
#include "card_rig.h"
#include "emulator/base/inject.h"
#include "emulator/base/interrupt.h"
#include "emulator/base/state.h"

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

/* ---- arming ---- */

static const struct {
	const char *name;
	enum tutti_card_fault fault;
	uint64_t plain, off; /* the argument without one in the text; the one that ends the fault */
} kinds[] = {
    {"firmware-hang", TUTTI_INJECT_FIRMWARE_HANG, 1, 0},   {"lost-doorbell", TUTTI_INJECT_LOST_DOORBELL, 1, 0},
    {"lost-interrupt", TUTTI_INJECT_LOST_INTERRUPT, 1, 0}, {"torn-fetch", TUTTI_INJECT_TORN_FETCH, 1, 0},
    {"stuck-sm", TUTTI_INJECT_STUCK_SM, 0, ~0ull},	   {"kernel-trap", TUTTI_INJECT_KERNEL_TRAP, 1, 0},
    {"page-fault", TUTTI_INJECT_PAGE_FAULT, 1, 0},	   {"memory-error", TUTTI_INJECT_MEMORY_ERROR, 1, 0},
    {"link-down", TUTTI_INJECT_LINK_DOWN, 1, 0},	   {"silent-sm", TUTTI_INJECT_SILENT_SM, 0, ~0ull},
    {"boot-failure", TUTTI_INJECT_BOOT_FAILURE, 1, 0},	   {"firmware-silent", TUTTI_INJECT_FIRMWARE_SILENT, 1, 0},
};

static void test_names(void **state)
{
	static const char *const wrong[] = {"",		 ":",		":3",	      "firmware",
					    "stuck-sm:", "stuck-sm:3x", "stuck-sm:x", "link-down,nothing"};
	char text[64];
	uint64_t arg;

	for (unsigned i = 0; i < LENGTH(kinds); i++) {
		assert_int_equal(tutti_card_inject_string(card, kinds[i].name), 0);
		assert_true(inject_armed(card, kinds[i].fault, &arg));
		assert_true(arg == kinds[i].plain);
		assert_int_equal(tutti_card_inject(card, kinds[i].fault, kinds[i].off), 0);
		assert_false(inject_armed(card, kinds[i].fault, NULL));
		snprintf(text, sizeof(text), "%s:5", kinds[i].name);
		assert_int_equal(tutti_card_inject_string(card, text), 0);
		assert_true(inject_armed(card, kinds[i].fault, &arg));
		assert_int_equal(arg, 5);
		tutti_card_inject(card, kinds[i].fault, kinds[i].off);
	}
	assert_int_equal(tutti_card_inject_string(card, "stuck-sm:1, lost-doorbell:0x10,torn-fetch"), 0);
	assert_true(inject_armed(card, TUTTI_INJECT_LOST_DOORBELL, &arg));
	assert_int_equal(arg, 16);
	assert_true(inject_armed(card, TUTTI_INJECT_STUCK_SM, &arg) &&
		    inject_armed(card, TUTTI_INJECT_TORN_FETCH, NULL));
	assert_int_equal(arg, 1);
	for (unsigned i = 1; i < LENGTH(wrong); i++)
		if (tutti_card_inject_string(card, wrong[i]) != -22)
			fail_msg("not refused: %s", wrong[i]);
	assert_int_equal(tutti_card_inject_string(card, wrong[0]), 0);
	assert_int_equal(tutti_card_inject(card, TUTTI_INJECT_KINDS, 1), -22);
	assert_int_equal(tutti_card_inject(card, (enum tutti_card_fault) - 1, 1), -22);
}

/* What happens a number of times happens exactly so often; what lasts is not used up. */
static void test_times(void **state)
{
	for (unsigned i = 0; i < LENGTH(kinds); i++) {
		bool counts = kinds[i].fault != TUTTI_INJECT_FIRMWARE_HANG && kinds[i].fault != TUTTI_INJECT_STUCK_SM &&
			      kinds[i].fault != TUTTI_INJECT_LINK_DOWN && kinds[i].fault != TUTTI_INJECT_SILENT_SM &&
			      kinds[i].fault != TUTTI_INJECT_FIRMWARE_SILENT;
		unsigned n = 0;

		assert_false(inject_take(card, kinds[i].fault));
		tutti_card_inject(card, kinds[i].fault, 3);
		while (n < 10 && inject_take(card, kinds[i].fault))
			n++;
		assert_int_equal(n, counts ? 3 : 10);
		assert_int_equal(inject_armed(card, kinds[i].fault, NULL), !counts);
		tutti_card_inject(card, kinds[i].fault, kinds[i].off);
		if (!counts)
			continue;
		/* another thread has taken the last one, and is about to say so */
		__atomic_or_fetch(&card->armed, 1u << kinds[i].fault, __ATOMIC_SEQ_CST);
		assert_false(inject_take(card, kinds[i].fault));
		assert_false(inject_take(card, kinds[i].fault));
		__atomic_and_fetch(&card->armed, ~(1u << kinds[i].fault), __ATOMIC_SEQ_CST);
	}
}

/* ---- the firmware ---- */

static void wait_virtual(unsigned runs)
{
	for (unsigned i = 0; i < runs; i++)
		tutti_card_run(card, NULL, NULL);
}

/* A hang ends by the watchdog; a silent firmware looks alive to it. Both end with the next boot if armed with 2. */
static void test_hangs(void **state)
{
	for (unsigned i = 0; i < 4; i++) {
		bool silent = i & 1;
		enum tutti_card_fault fault = silent ? TUTTI_INJECT_FIRMWARE_SILENT : TUTTI_INJECT_FIRMWARE_HANG;

		tutti_card_inject(card, fault, 1 + i / 2);
		*(uint32_t *)(memory + EVENTS) = 0;
		script_begin(OP_PEEK, (uint32_t[]){0, 0}, 2);
		wait_virtual(3000);
		assert_int_equal(status->state, silent ? TUTTI_STATE_RUNNING : TUTTI_STATE_CRASHED);
		assert_int_equal(*(uint32_t *)(memory + EVENTS), 0);
		if (!silent)
			assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
		memcpy(memory, image_file, image_bytes);
		control->boot_sequence = ++boots;
		wait_virtual(50);
		assert_int_equal(status->state, i < 2 ? TUTTI_STATE_LOADING : TUTTI_STATE_RUNNING);
		assert_int_equal(inject_armed(card, fault, NULL), i < 2);
		tutti_card_inject(card, fault, 0);
		boot(image_file, image_bytes);
		assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	}
}

/* A hang takes a second of the core's time, not of what passed before it, and not less. */
static void test_watchdog_time(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t begin;
		uint32_t now[2];

		peek(TUTTI_CORE_REGISTERS, now, 2);
		begin = now[0] | (uint64_t)now[1] << 32;
		if (i)
			tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1);
		script_begin(OP_SPIN, (uint32_t[]){0}, 1);
		for (unsigned k = 0; k < 3000 && status->state == TUTTI_STATE_RUNNING; k++)
			tutti_card_run(card, NULL, NULL);
		assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
		assert_in_range(crash->time - begin, 1000000000, 1020000000);
		tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 0);
		boot(image_file, image_bytes);
	}
}

/* So it is for a firmware that hangs from its start on, however long ago the one before it has hung. */
static void test_hangs_again(void **state)
{
	uint64_t begin = 0;

	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1);
	script_begin(OP_PEEK, (uint32_t[]){0, 0}, 2);
	for (unsigned i = 0; i < 2; i++) {
		wait_virtual(3000);
		assert_int_equal(status->state, TUTTI_STATE_CRASHED);
		assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
		assert_true(crash->time - begin >= 1000000000);
		card->virtual_time += 10000000000;
		begin = card->virtual_time;
		memcpy(memory, image_file, image_bytes);
		control->boot_sequence = ++boots;
	}
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 0);
}

/* Run for @ns of virtual time, or until the firmware has crashed. */
static void run_for(uint64_t ns)
{
	for (uint64_t end = card->virtual_time + ns; card->virtual_time < end && status->state == TUTTI_STATE_RUNNING;)
		tutti_card_run(card, NULL, NULL);
}

/* A hang that has ended counts no more for the next one, and other faults do not prolong a hang. */
static void test_hang_by_hang(void **state)
{
	uint64_t begin;

	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1);
	script_begin(OP_PEEK, (uint32_t[]){0, 0}, 2);
	run_for(500000000);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 0);
	settle();
	card->virtual_time += 10000000000;
	begin = card->virtual_time;
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 1);
	script_begin(OP_PEEK, (uint32_t[]){0, 0}, 2);
	run_for(600000000);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
	tutti_card_inject(card, TUTTI_INJECT_LOST_DOORBELL, 1);
	run_for(2000000000);
	assert_int_equal(crash->cause, TUTTI_CRASH_WATCHDOG);
	assert_in_range(crash->time - begin, 1000000000, 1400000000);
	tutti_card_inject(card, TUTTI_INJECT_FIRMWARE_HANG, 0);
}

static void test_boot_failure(void **state)
{
	tutti_card_inject(card, TUTTI_INJECT_BOOT_FAILURE, 2);
	for (unsigned i = 0; i < 3; i++) {
		boot(image_file, image_bytes);
		assert_int_equal(status->state, i < 2 ? TUTTI_STATE_FAILED : TUTTI_STATE_RUNNING);
		assert_int_equal(status->boot_error, i < 2 ? TUTTI_IMAGE_BAD_CRC : 0);
		assert_int_equal(status->boot_sequence, boots);
	}
	/* sequence 0 is none: the card is as after power-on */
	control->boot_sequence = 0;
	settle();
	assert_int_equal(status->state, TUTTI_STATE_OFF);
	assert_int_equal(status->boot_sequence, 0);
	boot(image_file, image_bytes);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

/* A record that the firmware has written before it halts stays as it is; otherwise the card writes one. */
static void test_halts(void **state)
{
	memset(crash, 0x5a, sizeof(*crash));
	crash->cause = 77;
	SCRIPT_WORDS(OP_HALT, 0);
	assert_int_equal(status->state, TUTTI_STATE_CRASHED);
	assert_int_equal(crash->cause, 77);
	assert_int_equal(crash->pc, 0x5a5a5a5a);
	boot(image_file, image_bytes);
	memset(crash, 0x5a, sizeof(*crash));
	crash->cause = 0;
	SCRIPT_WORDS(OP_HALT, 0);
	assert_int_equal(crash->cause, TUTTI_CRASH_PANIC);
	assert_int_equal(crash->queue, ~0u);
	assert_in_range(crash->pc, 0x100, 0x10000);
	assert_in_range(crash->sp, 0x30000, 0x40000);
	assert_int_equal(crash->x[2], crash->sp);
	assert_int_equal(crash->x[1], crash->ra);
	assert_int_equal(crash->x[0], 0);
}

/* wfi waits for the event ring, if mie enables that; if not, it waits for ever, and is no hang. */
static void test_wfi(void **state)
{
	const uint32_t *woken = (uint32_t *)(memory + COPY);

	SCRIPT_WORDS(OP_ENABLE, 0, 1);
	SCRIPT_WORDS(OP_WFI, 0x800);
	assert_int_equal(*woken, 0);
	*doorbell(0) = 1;
	settle();
	assert_int_equal(*woken, 1);
	assert_non_null(event_of(TUTTI_EVENT_DOORBELL));
	/* mie matters only to a core that waits: one that has waited before takes what comes */
	for (unsigned i = 0; i < 2; i++) {
		SCRIPT_WORDS(OP_MIE, 0);
		assert_non_null(event_of(TUTTI_EVENT_MESSAGE));
	}
	SCRIPT_WORDS(OP_WFI, 0);
	*doorbell(0) = 1;
	wait_virtual(2000);
	assert_int_equal(*woken, 0);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

/* Without an idle unit the core's ecall is a trap, which the firmware's handler sees at the ecall itself. */
static void test_idle_traps(void **state)
{
	const uint32_t *traps = (uint32_t *)(memory + TRAPS);
	uint32_t at;

	idle_traps = 1;
	card_open(TUTTI_CARD_DETERMINISTIC);
	idle_traps = 0;
	boot(image_file, image_bytes);
	for (unsigned i = 0; i < 5; i++) {
		uint32_t before = traps[5];

		SCRIPT_WORDS(OP_TIMER, 0, 0);
		assert_non_null(event_of(TUTTI_EVENT_TIMER));
		assert_true(traps[5] > before);
		assert_int_equal(traps[0], 11);
	}
	peek(traps[1], &at, 1);
	assert_int_equal(at, 0x00000073);
	assert_int_equal(status->state, TUTTI_STATE_RUNNING);
}

/* ---- interrupts ---- */

/* In deterministic mode interrupts are late; whatever their number, all arrive, in their order. */
static void test_many_interrupts(void **state)
{
	uint32_t words[200];

	for (unsigned i = 0; i < 200; i++)
		words[i] = TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, i * 7 % 31);
	for (unsigned n = 60; n <= 200; n += 4) {
		interrupts = 0;
		script(OP_COMMANDS, words, n);
		assert_int_equal(interrupts, n);
		for (unsigned i = 0; i < n; i++)
			assert_int_equal(vectors[i], i * 7 % 31);
	}
}

/* An interrupt comes up to six rounds after what it tells of, and is counted at once; one that is not there never
 * comes. */
static void test_lateness(void **state)
{
	uint64_t counted = card->counts[TUTTI_COUNTER_INTERRUPTS];
	unsigned seen = 0;

	for (unsigned i = 0; i < 300; i++) {
		unsigned before = interrupts, rounds = 0;

		card_interrupt(card, i % discovery->msix_vectors);
		assert_int_equal(card->counts[TUTTI_COUNTER_INTERRUPTS], counted + i + 1);
		for (; interrupts_arrive(card); rounds++)
			card->round++;
		assert_int_equal(interrupts, before + 1);
		assert_int_equal(vectors[before % 256], i % discovery->msix_vectors);
		assert_in_range(rounds, 0, 6);
		seen |= 1u << rounds;
	}
	assert_int_equal(seen, 0x7f);
	card_interrupt(card, discovery->msix_vectors);
	assert_false(interrupts_arrive(card));
	assert_int_equal(card->counts[TUTTI_COUNTER_INTERRUPTS], counted + 300);
}

static bool first_arrived(void *context)
{
	return interrupts;
}

/* While the link is down nothing gets through, also what was under way before. */
static void test_link_down(void **state)
{
	uint32_t words[50];
	unsigned before;

	for (unsigned i = 0; i < 50; i++)
		words[i] = TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, i % 32);
	interrupts = 0;
	script_begin(OP_COMMANDS, words, 50);
	for (unsigned i = 0; i < 100 && !interrupts; i++)
		tutti_card_run(card, first_arrived, NULL);
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 1);
	before = interrupts;
	assert_in_range(before, 1, 49);
	control->host_ring_tail = 0;
	control->boot_sequence = ++boots;
	settle();
	assert_int_equal(status->boot_sequence, boots - 1);
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 0);
	settle();
	assert_int_equal(status->boot_sequence, boots);
	assert_int_equal(interrupts, before);
}

/* SYS-15: what has been removed reads as ones, and a reset does not bring it back. */
static void test_removed(void **state)
{
	tutti_card_inject(card, TUTTI_INJECT_REMOVED, 0);
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < TUTTI_PAGE_SIZE; k++)
			assert_int_equal(bar[k], 0xff);
		control->boot_sequence = ++boots;
		settle();
		assert_int_not_equal(status->boot_sequence, boots);
		tutti_card_reset(card);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    {"SYS-15: names and arguments of faults", test_names, setup, teardown, NULL},
	    {"SYS-15: how often faults happen", test_times, setup, teardown, NULL},
	    {"SYS-15: firmware that hangs or is silent", test_hangs, setup, teardown, NULL},
	    {"SYS-15: the watchdog's second", test_watchdog_time, setup, teardown, NULL},
	    {"SYS-15: a firmware that hangs after one that hung", test_hangs_again, setup, teardown, NULL},
	    {"SYS-15: hangs that follow each other, and other faults meanwhile", test_hang_by_hang, setup, teardown, NULL},
	    {"SYS-15: images that are refused, and no image", test_boot_failure, setup, teardown, NULL},
	    {"SYS-10: crash records of firmware that halts", test_halts, setup, teardown, NULL},
	    {"SYS-10: wfi", test_wfi, setup, teardown, NULL},
	    {"SYS-10: a core without an idle unit", test_idle_traps, NULL, teardown, NULL},
	    {"SYS-12: many interrupts at once", test_many_interrupts, setup, teardown, NULL},
	    {"SYS-12: how late interrupts come", test_lateness, setup, teardown, NULL},
	    {"SYS-15: the link is down", test_link_down, setup, teardown, NULL},
	    {"SYS-15: a card that was removed", test_removed, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("card: faults", tests, make_image, drop_image);
}

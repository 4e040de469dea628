/* SPDX-License-Identifier: MIT */
/* link: -Wl,-z,muldefs */
/*
 * A turn of the engines: they handle random doorbells, messages, timers and commands, while the event ring has more or
 * less room. The results are compared with models of what softcore.h says.
 */
#include "card_mover_rig.h"
#include "emulator/base/clock.h"
#include "emulator/base/counters.h"
#include "emulator/engines/engines.h"
#include "emulator/memory/event_ring.h"

#define SLOTS 8u
#define WORDS (TUTTI_MAX_QUEUES / 32)
#define TOLD 0xa000u /* where the engines store the indices of doorbells */

static unsigned head; /* the next event that the firmware would take */
static unsigned mode; /* the last one that the SMs were set to */

void sm_array_mode(struct sm_array *array, unsigned now) { mode = now; }
void sm_array_table(struct sm_array *array, struct tutti_sm_state *table) { }
void sm_array_sync(struct sm_array *array, struct tutti_sm_state *table) { }

static int setup_poll(void **state)
{
	int error = setup(state);

	head = 0;
	card->page->event_slots = SLOTS;
	for (unsigned q = 0; q < TUTTI_MAX_QUEUES; q++)
		card->doorbells[q].doorbell = TUTTI_DOORBELL_EMPTY;
	assert_true(engines_room(card)); /* the engines accept the event ring here, and start with an empty one */
	return error;
}

/* Check that the oldest event is this one, and free it. */
static void expect_event(uint32_t word0, uint32_t word1)
{
	struct tutti_event *slot = (struct tutti_event *)(card->local + EVENTS) + head++ % SLOTS;

	assert_int_equal(slot->word[0], word0);
	assert_int_equal(slot->word[1], word1);
	for (unsigned i = 2; i < 8; i++)
		assert_int_equal(slot->word[i], 0);
	slot->word[0] = 0;
}

static void expect_no_event(void)
{
	assert_int_equal(card->engines.event_tail, head);
}

/* Fill the ring with dummy events until at most @room slots are free. Return: the number of these events */
static unsigned fill_ring(unsigned room)
{
	struct tutti_event *slots = (void *)(card->local + EVENTS);
	unsigned n = 0;

	for (; SLOTS - (card->engines.event_tail - head) > room; n++)
		slots[card->engines.event_tail++ % SLOTS] = (struct tutti_event){ { 0x55 } };
	return n;
}

static void drop_fillers(unsigned n)
{
	for (; n; n--)
		expect_event(0x55, 0);
}

static uint32_t any_bits(void)
{
	return any(2) ? any(1u << 16) << 16 | any(1u << 16) : any(2) ? 1u << any(32) : 0;
}

/* ---- doorbells ------------------------------------------------------------ */

static uint32_t rung[WORDS], pending[WORDS]; /* doorbells that are not taken yet; those that no event has reported yet */

static void ring_some(void)
{
	for (unsigned w = 0; w < WORDS; w++) {
		uint32_t more = any(2) ? any_bits() : 0;

		card->page->doorbell_enable[w] = any_bits();
		for (unsigned b = 0; b < 32; b++)
			if (more >> b & 1)
				card->doorbells[32 * w + b].doorbell = 1000 * any(1000) + 32 * w + b;
		rung[w] |= more;
	}
}

/*
 * Check that the enabled doorbells that were rung have been emptied and their indices stored if @told, and that all others
 * are unchanged. Return: how many doorbells were emptied
 */
static unsigned expect_scanned(const uint64_t *before, bool told)
{
	const uint32_t *index = (const uint32_t *)(card->local + TOLD);
	unsigned n = 0;

	for (unsigned q = 0; q < TUTTI_MAX_QUEUES; q++) {
		bool taken = rung[q / 32] & card->page->doorbell_enable[q / 32] & 1u << q % 32;

		assert_true(card->doorbells[q].doorbell == (taken ? TUTTI_DOORBELL_EMPTY : before[q]));
		if (told && taken)
			assert_int_equal(index[q], (uint32_t)before[q]);
		n += taken;
	}
	return n;
}

static void doorbells(void **state)
{
	uint64_t before[TUTTI_MAX_QUEUES], counted = 0;

	memset(rung, 0, sizeof(rung));
	memset(pending, 0, sizeof(pending));
	for (unsigned round = 0; round < 600; round++) {
		unsigned room = any(SLOTS + 1), fillers = fill_ring(room), n = 0;
		bool put;

		ring_some();
		card->page->doorbell_index = any(2) ? TOLD : 0;
		for (unsigned q = 0; q < TUTTI_MAX_QUEUES; q++)
			before[q] = card->doorbells[q].doorbell;
		put = engines_poll(card, true);
		counted += expect_scanned(before, card->page->doorbell_index);
		assert_int_equal(card->counts[TUTTI_COUNTER_DOORBELLS], counted);
		drop_fillers(fillers);
		for (unsigned w = 0; w < WORDS; w++) {
			uint32_t taken = rung[w] & card->page->doorbell_enable[w];

			rung[w] &= ~taken;
			pending[w] |= taken;
			if (!pending[w] || n == room)
				continue;
			expect_event(TUTTI_EVENT_DOORBELL | w << 8, pending[w]);
			pending[w] = 0;
			n++;
		}
		expect_no_event();
		assert_int_equal(put, n > 0);
	}
}

/* Indices are 32-bit words: nothing is stored at an address for them that is not aligned, but the event still comes. */
static void crooked_place(void **state)
{
	for (unsigned off = 1; off <= 4; off++) {
		memset(card->local + TOLD, 0xee, 64);
		card->page->doorbell_enable[0] = 2;
		card->page->doorbell_index = TOLD + off;
		card->doorbells[1].doorbell = 7;
		assert_true(engines_poll(card, true));
		expect_event(TUTTI_EVENT_DOORBELL, 2);
		for (unsigned i = 0; i < 64; i++)
			if (off < 4 || i / 4 != 2)
				assert_int_equal(card->local[TOLD + i], 0xee);
		assert_int_equal(*(uint32_t *)(card->local + TOLD + 8), off < 4 ? 0xeeeeeeee : 7);
	}
}

/* There are masks only for the doorbells that exist. What the firmware keeps after them in its page is not a mask. */
static void behind_the_masks(void **state)
{
	uint32_t *words = (uint32_t *)card->page;

	memset(words + sizeof(struct tutti_engines) / 4, 0xff, TUTTI_PAGE_SIZE - sizeof(struct tutti_engines));
	card->doorbells[TUTTI_MAX_QUEUES].doorbell = 5; /* the page after the last doorbell is not a doorbell */
	assert_false(engines_poll(card, true));
	assert_false(engines_visible(card));
	assert_int_equal(card->doorbells[TUTTI_MAX_QUEUES].doorbell, 5);
	expect_no_event();
}

/* ---- messages and the timer ----------------------------------------------- */

/* Each new tail is reported once, whatever its value is, as soon as there is room for the event. */
static void messages(void **state)
{
	bool waits = false;

	for (unsigned round = 0; round < 200; round++) {
		unsigned room = any(2), fillers = fill_ring(room);

		if (any(2)) {
			card->control->host_ring_tail += any(3) - 1;
			waits = card->control->host_ring_tail != card->engines.message_seen;
		}
		assert_int_equal(engines_visible(card), waits);
		assert_int_equal(engines_poll(card, any(2)), waits && room);
		drop_fillers(fillers);
		if (waits && room)
			expect_event(TUTTI_EVENT_MESSAGE, 0);
		waits &= !room;
		expect_no_event();
	}
}

static void set_timer(uint64_t at)
{
	card->page->timer_lo = (uint32_t)at;
	card->page->timer_hi = (uint32_t)(at >> 32);
}

/*
 * The timer fires once, not before its time, and only if it is checked and there is room for the event. When off, it never
 * fires.
 */
static void timer(void **state)
{
	uint64_t now;

	card->virtual_time = 0x500000000ull;
	now = card_time(card);
	for (unsigned round = 0; round < 200; round++) {
		unsigned room = any(2), fillers = fill_ring(room);
		bool due = any(2), looks = any(4);

		set_timer(due ? now - any(3) : now + 1 + (uint64_t)any(2) * 0x100000000ull);
		assert_int_equal(engines_poll(card, looks), due && looks && room);
		drop_fillers(fillers);
		if (!due || !looks || !room) {
			assert_int_not_equal(card->page->timer_hi, TUTTI_TIMER_OFF);
			expect_no_event();
			continue;
		}
		assert_int_equal(card->page->timer_hi, TUTTI_TIMER_OFF);
		expect_event(TUTTI_EVENT_TIMER, 0);
		assert_false(engines_poll(card, true));
		expect_no_event();
	}
}

/* The time when the timer will fire: never if it is off, or if the firmware no longer runs. */
static void timer_time(void **state)
{
	set_timer(0x123456789aull);
	assert_true(engines_timer(card) == 0x123456789aull);
	card->alive = false;
	assert_true(engines_timer(card) == ~0ull);
	card->alive = true;
	card->page->timer_hi = TUTTI_TIMER_OFF;
	assert_true(engines_timer(card) == ~0ull);
}

/* While the link is down, doorbells, messages, the timer and boot requests are not seen, but none is lost. */
static void link_down(void **state)
{
	card->page->doorbell_enable[1] = 4;
	card->doorbells[34].doorbell = 9;
	card->control->host_ring_tail++;
	set_timer(0);
	assert_true(engines_visible(card));
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 1);
	assert_false(engines_poll(card, true));
	assert_true(engines_timer(card) == ~0ull);
	assert_false(engines_visible(card));
	card->control->boot_sequence++;
	assert_false(engines_visible(card));
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 0);
	assert_true(engines_timer(card) == 0);
	assert_true(engines_visible(card));
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 1);
	card->boot_seen = card->control->boot_sequence;
	assert_int_equal(card->doorbells[34].doorbell, 9);
	expect_no_event();
	tutti_card_inject(card, TUTTI_INJECT_LINK_DOWN, 0);
	card->alive = false;
	assert_false(engines_visible(card));
	card->alive = true;
	assert_true(engines_poll(card, true));
	expect_event(TUTTI_EVENT_DOORBELL | 1 << 8, 4);
	expect_event(TUTTI_EVENT_MESSAGE, 0);
	expect_event(TUTTI_EVENT_TIMER, 0);
	expect_no_event();
}

/* ---- commands --------------------------------------------------------------- */

#define COMMANDS 0xb000u
#define COMMAND_WORDS 32u
#define PLACE 0x500000u /* in card memory */

struct record {
	uint32_t op, words, tag;
};

/* Any command that fits into the @left words before the end of the ring. A NOP may have any length up to that. */
static struct record any_record(uint32_t left, uint32_t tag)
{
	static const struct record kinds[] = {
		{ TUTTI_CMD_FENCE, 1, 0 }, { TUTTI_CMD_WRITE, 6, 0 }, { TUTTI_CMD_FETCH, 6, 0 }, { TUTTI_CMD_TRACE, 3, 0 },
	};
	struct record r = kinds[any(4)];

	if (r.words > left || !any(5))
		r = (struct record){ TUTTI_CMD_NOP, 1 + any(left), 0 };
	r.tag = tag;
	return r;
}

static void write_record(const struct record *r, uint32_t at)
{
	uint32_t *w = (uint32_t *)(card->local + COMMANDS) + at % COMMAND_WORDS;

	for (unsigned i = 1; i < r->words; i++)
		w[i] = 0;
	w[0] = r->op == TUTTI_CMD_NOP ? r->words << 8 : TUTTI_COMMAND(r->op, r->words, r->op == TUTTI_CMD_WRITE ? 8 : r->tag);
	if (r->op == TUTTI_CMD_WRITE || r->op == TUTTI_CMD_FETCH)
		w[2] = PLACE;
	if (r->op == TUTTI_CMD_WRITE)
		w[4] = r->tag;
	if (r->op == TUTTI_CMD_FETCH) {
		w[4] = 4;
		w[5] = TOLD;
	}
}

/*
 * What the engines must execute: a command that may put an event waits for room, and so do those after it. Return: the
 * length of the executed commands in words
 */
static uint32_t model_run(const struct record *records, unsigned n, unsigned *done, unsigned room, uint32_t *written)
{
	uint32_t words = 0;

	for (; *done < n; ++*done) {
		const struct record *r = &records[*done];

		if ((r->op == TUTTI_CMD_FETCH || r->op == TUTTI_CMD_WRITE) && !room)
			break;
		room -= r->op == TUTTI_CMD_FETCH;
		*written = r->op == TUTTI_CMD_WRITE ? r->tag : *written;
		words += r->words;
	}
	return words;
}

static void commands(void **state)
{
	static struct record records[4000];
	unsigned n = 0, done = 0;
	uint32_t tail = 0, taken = 0, written = 0;

	card->page->command_base = COMMANDS;
	card->page->command_words = COMMAND_WORDS;
	memset(card->memory + PLACE, 0, 8);
	assert_false(engines_commands(card));
	for (unsigned round = 0; round < 1000; round++) {
		unsigned room = any(4), fillers = fill_ring(room), before = done;
		uint64_t time = card->virtual_time, cost = 0;

		while (any(4) && n < 4000) {
			uint32_t left = COMMAND_WORDS - tail % COMMAND_WORDS;
			struct record r = any_record(left, n & 0xffff);

			if (tail + r.words - taken > COMMAND_WORDS)
				break;
			write_record(&r, tail);
			records[n++] = r;
			tail += r.words;
		}
		card->page->command_tail = tail;
		taken += model_run(records, n, &done, room, &written);
		assert_int_equal(engines_commands(card), done > before);
		assert_int_equal(card->page->command_head, taken);
		assert_int_equal(*(uint32_t *)(card->memory + PLACE), written);
		drop_fillers(fillers);
		for (; before < done; before++) {
			cost += records[before].op == TUTTI_CMD_FETCH ? 20 + 500 : 20;
			if (records[before].op == TUTTI_CMD_FETCH)
				expect_event(TUTTI_EVENT_FETCH | records[before].tag << 16, 0);
		}
		expect_no_event();
		assert_int_equal(card->virtual_time - time, cost);
		assert_true(card->alive);
	}
	assert_true(n > 1000);
}

/* Set up a command ring and have a NOP executed that takes all of its words except the last three. */
static uint32_t *nearly_full_ring(void)
{
	uint32_t *ring = (uint32_t *)(card->local + COMMANDS);

	engines_reset(card);
	card->page->command_base = COMMANDS;
	card->page->command_words = COMMAND_WORDS;
	card->page->event_base = EVENTS;
	card->page->event_slots = SLOTS;
	card->alive = true;
	memset(ring, 0, 4 * COMMAND_WORDS);
	ring[0] = (COMMAND_WORDS - 3) << 8;
	card->page->command_tail = COMMAND_WORDS - 3;
	assert_true(engines_commands(card));
	return ring;
}

/*
 * When the core starts, all words of the engine page are 0, except the one that says that the timer is off, and nothing is
 * pending.
 */
static void at_the_start(void **state)
{
	static const struct tutti_engines start = { .timer_hi = TUTTI_TIMER_OFF };
	static const struct engines none;

	nearly_full_ring();
	card->page->doorbell_enable[0] = 1;
	card->doorbells[0].doorbell = 5;
	fill_ring(0);
	assert_false(engines_poll(card, true));
	call((struct engines_call){ .asid = 3 });
	engines_reset(card);
	assert_memory_equal(card->page, &start, sizeof(start));
	assert_memory_equal(&card->engines, &none, sizeof(none));
}

/* A command must not extend beyond the end of the ring, not even a NOP. */
static void over_the_end(void **state)
{
	static const struct {
		uint32_t word, length;
	} rows[] = {
		{ 3 << 8, 3 }, { TUTTI_COMMAND(TUTTI_CMD_TRACE, 3, 0), 3 },
		{ 4 << 8, 4 }, { TUTTI_COMMAND(TUTTI_CMD_SIGNAL, 4, 0), 4 },
	};

	for (unsigned i = 0; i < 4; i++) {
		bool fits = rows[i].length == 3;

		nearly_full_ring()[COMMAND_WORDS - 3] = rows[i].word;
		card->page->command_tail = COMMAND_WORDS - 3 + rows[i].length;
		assert_true(engines_commands(card));
		assert_int_equal(card->alive, fits);
		assert_int_equal(card->page->command_head, fits ? COMMAND_WORDS : COMMAND_WORDS - 3);
	}
}

/* The counters that the host reads are updated when the firmware asks for it, and when it interrupts the host. */
static void counters(void **state)
{
	static const uint32_t orders[] = { TUTTI_COMMAND(TUTTI_CMD_FENCE, 1, 0),
					   TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_UPDATE),
					   TUTTI_COMMAND(TUTTI_CMD_SM_MODE, 1, TUTTI_SM_TABLE),
					   TUTTI_COMMAND(TUTTI_CMD_INTERRUPT, 1, 0) };
	uint64_t known = 0;

	card_publish(card);
	for (unsigned i = 0; i < 4; i++) {
		nearly_full_ring()[COMMAND_WORDS - 3] = orders[i];
		card->page->command_tail++;
		count(card, TUTTI_COUNTER_MOVER_BYTES, 7);
		assert_true(engines_commands(card));
		known = i & 1 ? 7 * (i + 1) : known;
		assert_int_equal(card->counters[TUTTI_COUNTER_MOVER_BYTES], known);
	}
	assert_int_equal(mode, TUTTI_SM_TABLE);
}

#define POLL(name, function) { name, function, setup_poll, teardown, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		POLL("PKT-01 SYS-12: doorbells at random, with more or less room for events", doorbells),
		POLL("PKT-01: a misaligned address for the indices of doorbells", crooked_place),
		POLL("SYS-10: there are no masks behind the masks of doorbells", behind_the_masks),
		POLL("SYS-12: each new tail of the host's ring is reported once", messages),
		POLL("SYS-12: the timer fires once, at its time", timer),
		POLL("SYS-12: the time for which the card may sleep", timer_time),
		POLL("SYS-15: nothing is seen or lost while the link is down", link_down),
		POLL("SYS-10: commands at random, with more or less room for events", commands),
		POLL("SYS-10: the engines when the core starts", at_the_start),
		POLL("SYS-13: when the host's counters are updated", counters),
		POLL("SYS-10: commands do not extend beyond the end of their ring", over_the_end),
	};

	return cmocka_run_group_tests_name("card: a turn of the engines", tests, NULL, NULL);
}

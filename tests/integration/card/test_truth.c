/* SPDX-License-Identifier: MIT */
/* SYS-09: the host sees copies of the card's state, and a completion becomes visible in a fixed order. */
#include <stdlib.h>

#include "raw.h"

#define T(name, function) { name, function, setup, teardown, NULL }

static struct raw *raw;
static struct raw_space space;
static struct raw_queue queue;
static uint64_t *cell, expect;
static struct tutti_signal *signal;

/* What was visible when the interrupt came; the callback may be called by any thread. */
static struct sight {
	uint64_t word, read_index;
	int64_t signal;
} sight;
static unsigned interrupts;

static void look(void *context, unsigned vector)
{
	if (!signal)
		return;
	sight.word = tutti_load_acquire(cell);
	sight.signal = tutti_load_acquire(&signal->value);
	sight.read_index = tutti_load_acquire(queue.read_index);
	__atomic_fetch_add(&interrupts, 1, __ATOMIC_RELEASE);
}

static int make(enum tutti_card_mode mode)
{
	struct tutti_card_config config = { .mode = mode, .topology = { 4, 2 }, .gpcs = 2, .workers = 1,
					    .interrupt = look };

	signal = NULL;
	interrupts = 0;
	expect = 0;
	raw = raw_create(&config);
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 1, TUTTI_QUEUE_EXTENDED, 6);
	cell = raw_small(&space);
	signal = raw_signal(&space, 0);
	return 0;
}

static int setup(void **state)
{
	return make(TUTTI_CARD_DETERMINISTIC);
}

static int teardown(void **state)
{
	raw_destroy(raw);
	return 0;
}

static void step(union tutti_packet p, uint64_t mul, uint64_t add, unsigned reference)
{
	p.dispatch.ref_num = (uint16_t)(reference ? TUTTI_REF_STORE | reference : 0);
	raw_submit(&queue, &p);
	expect = expect * mul + add;
}

/* ---- every word that is shared ---- */

/* A plain packet, then references 3 and 4 condensed, 3 with other arguments. */
static void works(const uint64_t *args[2], const char *what, unsigned at)
{
	struct raw_condensed c;

	tutti_store_release(&signal->value, 2);
	step(raw_dispatch(raw, RAW_STEP, 1, 1, args[0], signal), 5, 1, 0);
	raw_condensed(&c);
	raw_diff(&c, 3, TUTTI_DIFF_KERNARG);
	raw_units(&c, (uintptr_t)args[1], 4);
	raw_diff(&c, 4, 0);
	raw_submit(&queue, &c.packet);
	expect = (expect * 7 + 2) * 3 + 4;
	if (!raw_until(raw, &signal->value, 0, 3000) || *cell != expect)
		fail_msg("word %u of %s was relied upon", at, what);
}

static void flip(const char *what, void *start, unsigned bytes, unsigned stride, const uint64_t *args[2])
{
	uint32_t *word = start;
	unsigned i;

	for (i = 0; i < bytes / 4; i += 1 + (stride > 1 ? (unsigned)rand() % (2 * stride - 1) : 0)) {
		uint32_t old = word[i], other = rand() % 3 ? ~old : (uint32_t)rand();

		if (&word[i] == &raw->status->asleep) /* no copy, but one half of the handshake with the host */
			continue;
		tutti_store_relaxed(&word[i], other);
		works(args, what, i);
		if (word[i] == other)
			tutti_store_relaxed(&word[i], old);
	}
}

static void shared_words_are_mirrors(void **state)
{
	const uint64_t *args[2] = { raw_args(&space, cell, 5, 1), raw_args(&space, cell, 7, 2) };
	const struct tutti_discovery *d = raw->discovery;
	uint8_t *bar = raw->bar;
	union tutti_packet p;

	srand(1);
	p = raw_dispatch(raw, RAW_STEP, 1, 1, raw_args(&space, cell, 2, 3), NULL);
	step(p, 2, 3, 3);
	p = raw_dispatch(raw, RAW_STEP, 1, 1, raw_args(&space, cell, 3, 4), signal);
	step(p, 3, 4, 4);
	raw_settle(raw);
	flip("read index", queue.read_index, 64, 1, args);
	flip("status", bar + d->status.offset, sizeof(struct tutti_status), 1, args);
	flip("log", bar + d->log.offset, 64, 1, args);
	flip("log", bar + d->log.offset, d->log.bytes, 60, args);
	flip("crash", bar + d->crash.offset, sizeof(struct tutti_crash), 1, args);
	flip("counters", bar + d->counters.offset, TUTTI_COUNTERS * 8, 1, args);
	flip("RSB mirror", bar + d->rsb_window.offset + queue.id * TUTTI_PAGE_SIZE, sizeof(struct tutti_rsb), 1, args);
	flip("answers", bar + d->card_ring.offset, d->card_ring.bytes, 10, args);
	flip("requests", bar + d->host_ring.offset, d->host_ring.bytes, 10, args);
	flip("SM table", bar + d->sm_table.offset, d->sm_table.bytes, 20, args);
	flip("SM states", bar + d->sm_states.offset, d->sm_states.bytes, 400, args);
	flip("trace", bar + d->trace.offset, d->trace.bytes < 65536 ? d->trace.bytes : 65536, 400, args);
	/* nothing was lost */
	assert_int_equal(raw_ask(raw, TUTTI_MSG_PING, 0, 0, 0), 0);
	raw_retired(&queue);
	raw_no_fault(raw);
	assert_int_equal(raw->status->state, TUTTI_STATE_RUNNING);
}

/* ---- order of completion ---- */

/* At each interrupt, the data, the signal and the read index are visible. */
static void interrupt_comes_last(void)
{
	uint64_t *args = raw_args(&space, cell, 0, 0);
	unsigned i;

	signal->waiters = 1;
	raw_settle(raw); /* interrupts of replies may still be under way */
	tutti_store_release(&interrupts, 0);
	for (i = 1; i <= 300; i++) {
		union tutti_packet p = raw_dispatch(raw, RAW_STORE, 1, 1, args, signal);
		uint64_t end = raw_ms() + 5000;

		args[1] = i;
		tutti_store_release(&signal->value, 1);
		raw_submit(&queue, &p);
		while (tutti_load_acquire(&interrupts) != i && raw_ms() < end)
			tutti_card_run(raw->card, NULL, NULL);
		assert_int_equal(interrupts, i);
		assert_int_equal(sight.word, i);
		assert_int_equal(sight.signal, 0);
		assert_int_equal(sight.read_index, i);
	}
}

/* Once no kernel runs and the firmware has nothing to do, the page of a reference buffer shows what was stored. */
static void references_are_shown(void **state)
{
	const struct tutti_reference *shown = (void *)((uint8_t *)raw->bar + raw->discovery->rsb_window.offset +
						       queue.id * TUTTI_PAGE_SIZE);

	for (unsigned i = 1; i < 40; i++) {
		const uint64_t *args = raw_args(&space, cell, 2, i);

		step(raw_dispatch(raw, RAW_STEP, 1, 1, args, NULL), 2, i, 1 + i % 7);
		assert_true(raw_until(raw, cell, expect, RAW_PATIENCE));
		raw_settle(raw);
		assert_int_equal(shown[1 + i % 7].kernarg, (uintptr_t)args);
		assert_true(shown[1 + i % 7].flags & TUTTI_REFERENCE_VALID);
	}
}

static void interrupt_last(void **state)
{
	interrupt_comes_last();
}

static void interrupt_last_fast(void **state)
{
	raw_destroy(raw);
	make(TUTTI_CARD_FAST);
	interrupt_comes_last();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		T("SYS-09: every shared word is flipped while packets run, and none is relied upon", shared_words_are_mirrors),
		T("PKT-10: the page of a reference buffer shows its references", references_are_shown),
		T("SYS-09, PKT-04: data, signal, read index, then the interrupt", interrupt_last),
		T("SYS-09, PKT-04: data, signal, read index, then the interrupt, fast mode", interrupt_last_fast),
	};

	return cmocka_run_group_tests_name("truth", tests, NULL, NULL);
}

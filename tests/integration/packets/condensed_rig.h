/* SPDX-License-Identifier: MIT */
/*
 * Fixture: an extended queue with a reference state buffer, and a plain queue. Everything that touches the buffer runs
 * with it in scratch RAM and in card memory (PKT-10).
 */
#ifndef TUTTI_TEST_CONDENSED_RIG_H
#define TUTTI_TEST_CONDENSED_RIG_H

#include "raw.h"

#define BOTH(name, function)                                               \
	{ name " (RSB in scratch RAM)", function, scratch, teardown, NULL }, \
	{ name " (RSB in card memory)", function, memory, teardown, NULL }

#define NONE tutti_header(TUTTI_PACKET_KERNEL_DISPATCH, 1, TUTTI_SCOPE_NONE, TUTTI_SCOPE_NONE)

static struct raw *raw;
static struct raw_space space;
static struct raw_queue queue, plain;
static uint64_t *cell;
static unsigned placement;
static uint64_t before[TUTTI_COUNTERS], after[TUTTI_COUNTERS];

static inline void make_rsb(unsigned id, uint32_t asid)
{
	struct tutti_message rsb = { .type = TUTTI_MSG_RSB_CREATE };

	rsb.rsb.rsb = (uint16_t)id;
	rsb.rsb.asid = (uint16_t)asid;
	rsb.rsb.placement = placement;
	if (placement == TUTTI_RSB_MEMORY) {
		rsb.rsb.offset = raw->card_used;
		raw->card_used += 4096;
		assert_true(raw->card_used <= raw->discovery->reserved_bytes);
	}
	assert_int_equal(raw_call(raw, &rsb).status, 0);
}

static inline void make_queue(struct raw_queue *q, unsigned id, unsigned flags, unsigned rsb)
{
	struct tutti_message create =
		raw_queue_message(&space, q, id, flags | TUTTI_QUEUE_EXTENDED | TUTTI_QUEUE_RSB, 6);

	create.queue.rsb = (uint16_t)rsb;
	assert_int_equal(raw_call(raw, &create).status, 0);
}

static inline int setup(unsigned where)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 4, 2 }, .gpcs = 2 };

	placement = where;
	raw = raw_create(&config);
	raw_space_init(raw, &space, 1);
	make_rsb(2, 1);
	make_queue(&queue, 3, 0, 2);
	raw_queue_init(&space, &plain, 9, 0, 6);
	cell = raw_small(&space);
	return 0;
}

static inline int scratch(void **state)
{
	return setup(TUTTI_RSB_SCRATCH);
}

static inline int memory(void **state)
{
	return setup(TUTTI_RSB_MEMORY);
}

static inline int teardown(void **state)
{
	raw_destroy(raw);
	return 0;
}

static inline uint64_t step(uint64_t value, uint64_t mul, uint64_t add)
{
	return value * mul + add;
}

/* store reference @entry: kernel *cell = *cell * mul + add (runs as well) */
static void store(struct raw_queue *q, unsigned entry, uint64_t mul, uint64_t add, struct tutti_signal *signal,
		  unsigned header)
{
	union tutti_packet p = raw_step(&space, cell, mul, add, signal);

	p.dispatch.header = (uint16_t)header;
	p.dispatch.ref_num = (uint16_t)(TUTTI_REF_STORE | entry);
	raw_submit(q, &p);
}

static inline void stored(unsigned entry, uint64_t mul, uint64_t add)
{
	store(&queue, entry, mul, add, NULL, NONE);
	raw_retired(&queue);
	raw_settle(raw);
}

static inline void send(struct raw_condensed *c)
{
	raw_submit(&queue, &c->packet);
}

static inline void count_from_here(void)
{
	raw_counters(raw, before);
}

static inline uint64_t counted(enum tutti_counter counter)
{
	return after[counter] - before[counter];
}

static inline void count_to_here(void)
{
	raw_counters(raw, after);
}

#endif

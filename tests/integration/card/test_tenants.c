// SPDX-License-Identifier: MIT
/*
 * What a busy client does to the latency of another one (REL-12): the soft core's instructions from the doorbell of an
 * empty kernel to its signal, alone and beside queues of another client that are never empty. Waves run beside the soft
 * core in small slices of time, as they would on a card. Most of the instructions counted are work for the other client,
 * or are spent waiting.
 */
#include "raw.h"

#define SLICE 200u     /* the soft core executes at most this many instructions before the rest of the card has a turn */
#define KERNELS 400u   /* how many kernels are measured */
#define MOST_QUEUES 64u
#define RING_LOG2 12u

static struct raw *raw;
static struct raw_space busy_space, space;
static struct raw_queue busy[MOST_QUEUES], queue;

/* The work of the busy client. */
static const struct busy {
	const char *name;
	unsigned queues;
	uint32_t ctas; /* of each kernel */
	bool in_order;
	uint32_t most; /* the highest latency allowed beside it, in percent of the latency alone */
} cases[] = {
	{ "a queue of empty kernels", 1, 1, false, 300 },
	{ "64 queues of empty kernels", 64, 1, false, 300 },
	{ "64 queues of empty kernels, each in order", 64, 1, true, 300 },
	{ "a queue of grids of 256 CTAs", 1, 256, false, 300 },
	/* several grids are in flight, and the ends of their CTAs cost more than the other client's whole kernel */
	{ "64 queues of grids of 256 CTAs", 64, 256, false, 350 },
};

struct latency {
	uint64_t mean, worst;
};

static void open_card(void)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .seed = 7, .slice = SLICE };

	raw = raw_create(&config);
	raw_space_init(raw, &busy_space, 1);
	raw_space_init(raw, &space, 2);
}

/* Launch empty kernels, one after the other. */
static struct latency measure(void)
{
	struct latency latency = { 0 };
	struct tutti_signal *signal = raw_signal(&space, 0);
	union tutti_packet packet = raw_dispatch(raw, RAW_EMPTY, 64, 64, NULL, signal);

	for (unsigned i = 0; i < KERNELS; i++) {
		uint64_t began = tutti_card_instructions(raw->card), took;

		signal->value = 1;
		raw_submit(&queue, &packet);
		assert_true(raw_until(raw, &signal->value, 0, RAW_PATIENCE));
		took = tutti_card_instructions(raw->card) - began;
		latency.mean += took;
		if (took > latency.worst)
			latency.worst = took;
	}
	latency.mean /= KERNELS;
	return latency;
}

/* Fill the ring of a queue of the busy client. */
static void fill(struct raw_queue *to, const union tutti_packet *packet)
{
	while (to->write <= to->mask)
		raw_put(to, packet);
	raw_ring(to, to->write - 1);
}

/* Return: whether a queue of the busy client still has packets, so that the client was busy all the time */
static bool still_busy(unsigned queues)
{
	for (unsigned i = 0; i < queues; i++)
		if (tutti_load_acquire(busy[i].read_index) < busy[i].write)
			return true;
	return false;
}

static void print(const char *where, struct latency latency, struct latency alone)
{
	print_message("# %-42s %llu instructions, at most %llu, %llu.%02llu times\n", where,
		      (unsigned long long)latency.mean, (unsigned long long)latency.worst,
		      (unsigned long long)(latency.mean / alone.mean), (unsigned long long)(latency.mean * 100 / alone.mean % 100));
}

static void beside(void **state)
{
	const struct busy *it = *state;
	struct latency alone, idle, latency;
	union tutti_packet packet;

	open_card();
	packet = raw_dispatch(raw, RAW_EMPTY, it->ctas * 64, 64, NULL, NULL);
	if (!it->in_order)
		packet.dispatch.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
	raw_queue_init(&space, &queue, 100, 0, 6);
	measure();
	alone = measure();
	for (unsigned i = 0; i < it->queues; i++)
		raw_queue_init(&busy_space, &busy[i], i, 0, RING_LOG2);
	idle = measure();
	for (unsigned i = 0; i < it->queues; i++)
		fill(&busy[i], &packet);
	while (tutti_load_acquire(busy[0].read_index) < 64)
		raw_run(raw, 1);
	latency = measure();
	assert_true(still_busy(it->queues));
	print("alone on the card", alone, alone);
	print("beside idle queues of another client", idle, alone);
	print(it->name, latency, alone);
	assert_true(idle.mean * 100 <= alone.mean * 150);
	assert_true(latency.mean * 100 <= alone.mean * it->most);
	raw_destroy(raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		{ "REL-12: latency beside a queue of another client", beside, NULL, NULL, (void *)&cases[0] },
		{ "REL-12: latency beside many queues of another client", beside, NULL, NULL, (void *)&cases[1] },
		{ "REL-12: latency beside many queues of kernels in order", beside, NULL, NULL, (void *)&cases[2] },
		{ "REL-12: latency beside large grids of another client", beside, NULL, NULL, (void *)&cases[3] },
		{ "REL-12: latency beside many queues of large grids", beside, NULL, NULL, (void *)&cases[4] },
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

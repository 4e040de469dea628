/* SPDX-License-Identifier: MIT */
/* Tests of plain packets: names for tests in either mode, and packets and checks that several files use. */
#ifndef TUTTI_TEST_AQL_RIG_H
#define TUTTI_TEST_AQL_RIG_H

#include "raw_pair.h"

#define T(name, function) { name, function, raw_pair_deterministic, raw_pair_close, NULL }
#define TFAST(name, function) { name, function, raw_pair_fast, raw_pair_close, NULL }

static inline uint64_t step(uint64_t value, uint64_t mul, uint64_t add)
{
	return value * mul + add;
}

/* the queue still works: one more kernel runs */
static inline void alive(struct raw_queue *q)
{
	uint64_t *word = raw_small(&space);
	union tutti_packet p = raw_dispatch(raw, RAW_STORE, 1, 1, raw_args(&space, word, 77, 0), NULL);

	raw_submit(q, &p);
	assert_true(raw_until(raw, word, 77, RAW_PATIENCE));
}

static union tutti_packet agent(unsigned function, uint64_t a0, uint64_t a1, uint64_t a2, void *ret,
				struct tutti_signal *signal)
{
	union tutti_packet p = { .agent = {
		.header = tutti_header(TUTTI_PACKET_AGENT_DISPATCH, 1, 2, 2),
		.type = (uint16_t)function,
		.return_address = (uintptr_t)ret,
		.arg = { a0, a1, a2, 0 },
		.signal = (uintptr_t)signal,
	} };

	return p;
}

static inline void gate(struct raw_queue *q, uint64_t *words, bool barrier, struct tutti_signal *signal)
{
	/* words: started, go, ended */
	uint64_t *args = raw_args(&space, &words[0], (uintptr_t)&words[1], (uintptr_t)&words[2]);
	union tutti_packet p = raw_dispatch(raw, RAW_GATE, 1, 1, args, signal);

	if (!barrier)
		p.dispatch.header &= (uint16_t)~TUTTI_HEADER_BARRIER;
	raw_submit(q, &p);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Fixture: a small card with two queues and a word of memory, in deterministic or fast mode. */
#ifndef TUTTI_TEST_RAW_PAIR_H
#define TUTTI_TEST_RAW_PAIR_H

#include "raw.h"

static struct raw *raw;
static struct raw_space space;
static struct raw_queue queue, other;
static uint64_t *cell;

static int raw_pair_open(struct tutti_card_config config)
{
	config.topology[0] = 4;
	config.topology[1] = 2;
	config.gpcs = 2;
	config.workers = 1;
	raw = raw_create(&config);
	raw_space_init(raw, &space, 1);
	raw_queue_init(&space, &queue, 3, 0, 6);
	raw_queue_init(&space, &other, 40, 0, 6);
	cell = raw_small(&space);
	return 0;
}

static int raw_pair_deterministic(void **state)
{
	return raw_pair_open((struct tutti_card_config){ .mode = TUTTI_CARD_DETERMINISTIC });
}

static int raw_pair_fast(void **state)
{
	return raw_pair_open((struct tutti_card_config){ .mode = TUTTI_CARD_FAST });
}

static int raw_pair_close(void **state)
{
	raw_destroy(raw);
	return 0;
}

#endif

/* SPDX-License-Identifier: MIT */
/* Fixture: a small card in deterministic mode, booted or switched off. */
#ifndef TUTTI_TEST_CHANNEL_RIG_H
#define TUTTI_TEST_CHANNEL_RIG_H

#include "raw.h"
#include "rig.h"

#define T(name, function) { name, function, setup, teardown, NULL }
#define TOFF(name, function) { name, function, setup_off, teardown, NULL }

static struct raw *raw;
static struct raw_space space;
static const struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .topology = { 4, 2 }, .gpcs = 2 };

static inline int setup(void **state)
{
	raw = raw_create(&config);
	raw_space_init(raw, &space, 1);
	return 0;
}

static inline int setup_off(void **state)
{
	raw = raw_create_off(&config);
	return 0;
}

static inline int teardown(void **state)
{
	raw_destroy(raw);
	return 0;
}

#endif

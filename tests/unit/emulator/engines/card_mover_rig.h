/* SPDX-License-Identifier: MIT */
/* Copy engines ("movers") alone, on a card without SMs and firmware; the SM array is four pieces of memory. */
#ifndef TUTTI_TEST_CARD_MOVER_RIG_H
#define TUTTI_TEST_CARD_MOVER_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "emulator/card/card.h"
#include "emulator/engines/mover.h"
#include "emulator/engines/mover_parts.h"

#define SHARED_BYTES 65536u
#define CTAS 4u
#define RING 0x1000u
#define SHAPE 0x8000u
#define EVENTS 0x9000u
#define CALL 3u
#define GLOBAL_BYTES (1u << 20)

struct sm_array {
	uint8_t shared[CTAS][SHARED_BYTES] __attribute__((aligned(1024)));
	unsigned done, failed, progress;
	uint32_t fewer; /* bytes by which shared memory is smaller than SHARED_BYTES */
	bool dropped, exited;
};
static struct sm_array sms;
static struct tutti_card *card;
static unsigned seed;

/* What the card calls of the SM array; the library has the rest, which nobody calls here. */
int sm_array_create(struct tutti_card *c, struct sm_array **array) { *array = &sms; return 0; }
void sm_array_destroy(struct sm_array *array) { }
void sm_array_reset(struct sm_array *array) { }
bool sm_array_run(struct sm_array *array) { return false; }
bool sm_array_report(struct sm_array *array) { return false; }
bool sm_array_busy(struct sm_array *array) { return false; }
bool sm_array_request(struct sm_array *array, struct tutti_tensor_call *call) { return false; }
uint8_t sm_array_shared(struct sm_array *array, uint32_t cta, uint32_t rank, struct sm_shared *shared)
{
	assert_int_equal(cta, 77);
	rank = rank == SM_SELF ? 0 : rank;
	if (rank >= CTAS || array->exited)
		return TUTTI_CAUSE_SERVICE;
	*shared = (struct sm_shared){ array->shared[rank], SHARED_BYTES - array->fewer };
	return 0;
}
bool sm_array_call_dropped(struct sm_array *array, uint32_t cta) { return array->dropped; }
void sm_array_call_failed(struct sm_array *array, uint32_t cta) { array->failed++; }
void sm_array_call_done(struct sm_array *array, uint32_t cta) { array->done++; }
void sm_array_progress(struct sm_array *array) { array->progress++; }

/* ---- rig ---------------------------------------------------------------- */

static inline int setup(void **state)
{
	struct tutti_card_config config = { .mode = TUTTI_CARD_DETERMINISTIC, .memory_bytes = 64u << 20 };

	memset(&sms, 0, sizeof(sms));
	seed = 1;
	if (tutti_card_create(&config, &card))
		return -1;
	memset(card->local, 0, card->discovery.local_bytes);
	card->page->event_base = EVENTS;
	card->page->event_slots = 16;
	card->page->mover_base = RING;
	card->page->mover_slots = 4;
	card->page->mover_notice = ~0u;
	card->alive = true;
	return 0;
}

static inline int teardown(void **state)
{
	card->alive = false;
	tutti_card_destroy(card);
	return 0;
}

static inline struct tutti_event event(void)
{
	static const struct tutti_event none;
	struct tutti_event *slots = (void *)(card->local + EVENTS), found = none;

	for (unsigned i = 0; i < 16; i++)
		if (slots[i].word[0]) {
			found = slots[i];
			slots[i].word[0] = 0;
		}
	return found;
}

static inline void start(struct tutti_mover d, const struct tutti_mover_shape *shape)
{
	d.shape = SHAPE;
	d.call = CALL;
	memcpy(card->local + SHAPE, shape, sizeof(*shape));
	memcpy(card->local + RING + card->page->mover_tail % 4 * sizeof(d), &d, sizeof(d));
	card->page->mover_tail++;
}

static inline struct tutti_event run(const struct tutti_mover *d, const struct tutti_mover_shape *shape)
{
	start(*d, shape);
	while (mover_run(card))
		;
	return event();
}

static inline void call(struct engines_call c)
{
	c.busy = true;
	c.cta = 77;
	card->engines.call[CALL] = c;
}

static inline uint32_t any(uint32_t n)
{
	return (uint32_t)((rand_r(&seed) ^ (uint32_t)rand_r(&seed) << 15) % n);
}

static inline void scramble(uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)rand_r(&seed);
}

/* Where byte @offset of shared memory lies. */
static inline uint32_t place(unsigned swizzle, uint32_t offset)
{
	static const uint32_t mask[] = { 0, 0x10, 0x30, 0x70 };

	return offset ^ (offset >> 3 & mask[swizzle]);
}

#define TEST(name, function) { name, function, setup, teardown, NULL }

#endif

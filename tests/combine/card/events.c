// SPDX-License-Identifier: MIT
/* Events that wait until the card delivers them, in any order. */
#include "card/card.h"

#define POOL 8192u

static struct {
	struct tutti_event event;
	uint64_t data;
	int late_slot;
} pool[POOL];
static unsigned pooled, fetching;

void events_begin(void)
{
	pooled = fetching = 0;
}

void event_later(const struct tutti_event *event, int late_slot, uint64_t data)
{
	RULE(pooled < POOL, "model", "more than %u events are under way", POOL);
	pool[pooled].event = *event;
	pool[pooled].late_slot = late_slot;
	pool[pooled++].data = data;
	fetching += (event->word[0] & 0xff) == TUTTI_EVENT_FETCH;
}

void card_later(const struct tutti_event *event)
{
	event_later(event, -1, 0);
}

unsigned card_fetching(void)
{
	return fetching;
}

unsigned events_pending(void)
{
	return pooled;
}

struct tutti_event event_take(unsigned i, int *late_slot, uint64_t *data)
{
	struct tutti_event event = pool[i].event;

	*late_slot = pool[i].late_slot;
	*data = pool[i].data;
	memmove(&pool[i], &pool[i + 1], (--pooled - i) * sizeof(pool[0]));
	fetching -= (event.word[0] & 0xff) == TUTTI_EVENT_FETCH;
	return event;
}

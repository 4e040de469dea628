// SPDX-License-Identifier: MIT
#include "groups/query_cache.h"

struct query_cache query_cache HOT_DATA;

COLD void cached_init(void)
{
	struct cached_word *word;
	unsigned s;

	query_cache.ask.whole = 0;
	query_cache.end = query_cache.word;
	for (word = query_cache.word; word < query_cache.word + CACHED_WORDS; word++) {
		word->stale = word->used = 0;
		for (s = 0; s < LAKE_LEVELS; s++)
			word->fast[s] = 0;
	}
}

/* Remove all domains of a word from the sets by speed. */
static inline void reset(struct cached_word *word)
{
	uint32_t used;

	for (used = word->used; used; used &= used - 1)
		word->fast[31 - lowest_bit(used)] = 0;
	word->used = word->stale = 0;
}

/* A question about another kind of domain, of which the card has @n: mark all of them stale. */
static COLD void ask_others(unsigned n)
{
	struct cached_word *word;
	unsigned i;

	for (word = query_cache.word; word < query_cache.end; word++)
		reset(word);
	query_cache.end = query_cache.word + (n + 31) / 32;
	for (i = 0; i < n; i++) {
		query_cache.word[i / 32].speed[i % 32] = QUERY_INVALID;
		query_cache.word[i / 32].stale |= 1u << (i % 32);
	}
}

static inline void put(struct cached_word *word, uint32_t domains, int speed)
{
	if (speed < 0)
		return;
	word->fast[speed] |= domains;
	word->used |= 0x80000000u >> speed;
}

/* Ask all GPCs of a card that has one word of them. Neighbours mostly have one speed, so they are noted together. */
static inline __attribute__((always_inline)) void ask_gpcs(uint32_t n, bool multicast)
{
	const struct gpc *gpc = domains.gpc, *end = domains.end;
	struct cached_word *word = query_cache.word;
	uint32_t bit = 1, same = 0;
	int8_t *speed = word->speed;
	int last = QUERY_INVALID, now;

	reset(word);
	do {
		now = cached_gpc(gpc, n, multicast);
		__asm__("" : "+r"(now)); /* keeps gcc from extending the sign again for the store */
		*speed++ = (int8_t)now;
		if (unlikely(now != last)) {
			put(word, same, last);
			same = 0;
			last = now;
		}
		same |= bit;
		bit <<= 1;
	} while (++gpc < end);
	put(word, same, last);
}

static COLD void ask_multicast(uint32_t n)
{
	ask_gpcs(n, true);
}

static COLD void ask_slowly(struct query_ask ask, bool same)
{
	if (!FW_LARGE && same && ask.kind == TUTTI_CGA_GPC && ask.identity && ask.multicast &&
	    query_cache.end == query_cache.word + 1)
		ask_multicast(ask.ctas);
	else
		ask_others(domain_inside(ask.kind, DOMAIN_KIND_CARD, 0).n);
}

/* The part of a question other than the number of CTAs. */
static inline uint32_t question(struct query_ask ask)
{
	return ask.whole >> 16;
}

HOT void cached_ask(struct query_ask ask)
{
	const struct query_ask usual = { .kind = TUTTI_CGA_GPC, .identity = 1 };
	bool same = question(query_cache.ask) == question(ask);

	domains.asked = ask.whole;
	query_cache.ask = ask;
	if (unlikely(!same) || unlikely(question(ask) != question(usual)) || unlikely(query_cache.end != query_cache.word + 1))
		ask_slowly(ask, same);
	else
		ask_gpcs(ask.ctas, false);
}

COLD void cached_stale_slow(const struct gpc *gpc)
{
	unsigned first = 0, n = 1;

	if (query_cache.ask.kind == TUTTI_CGA_CPC) {
		first = gpc->cpc;
		n = gpc->cpcs;
	} else if (query_cache.ask.kind == TUTTI_CGA_UGPU) {
		first = gpc->ugpu;
	}
	for (; n--; first++)
		query_cache.word[first / 32].stale |= 1u << (first % 32);
}

static int speed_of(unsigned domain)
{
	const struct query_ask *ask = &query_cache.ask;
	const struct gpc *gpc;
	uint32_t within;

	if (ask->kind >= TUTTI_CGA_UGPU)
		return query_share(domain_inside(TUTTI_CGA_GPC, ask->kind, domain), ask->ctas, ask->multicast, NULL);
	gpc = query_gpc(ask->kind, domain, &within);
	if (ask->identity && !gpc->credits)
		return QUERY_INVALID;
	return query_speed(gpc, within, ask->ctas, ask->multicast);
}

HOT void cached_refresh(void)
{
	struct cached_word *word;
	uint32_t stale;
	unsigned number;

	for (word = query_cache.word; word < query_cache.end; word++) {
		for (stale = word->stale; stale; stale &= stale - 1) {
			number = lowest_bit(stale);
			cached_note(word, number, stale & -stale, speed_of(cached_number(word) + number));
		}
		word->stale = 0;
	}
}

/* SPDX-License-Identifier: MIT */
/**
 * DOC: Cached speeds of one kind of CGA in all innermost domains (spec CGA-11, CGA-15)
 *
 * The speed that a CGA would have in a domain is kept until something changes there. There is a set of domains for each
 * speed, so that the fastest ones are found quickly on a card of any size.
 */
#ifndef QUERY_CACHE_H
#define QUERY_CACHE_H

#include "groups/cga_query.h"

#define CACHED_WORDS (DOMAIN_CPCS / 32)

/** struct cached_set - a set of innermost domains. */
struct cached_set {
	uint32_t word[CACHED_WORDS];
};

/** struct cached_word - the answers of 32 domains. */
struct cached_word {
	uint32_t stale;                 /* domains to be asked again */
	uint32_t used;                  /* speeds that some domain has: speed s is bit 31 - s */
	int8_t speed[32];               /* of each domain, or QUERY_INVALID */
	uint32_t fast[LAKE_LEVELS];     /* the domains of each speed */
};

struct query_cache {
	struct query_ask ask;
	struct cached_word *end;        /* one past the last word in use */
	struct cached_word word[CACHED_WORDS];
};
extern struct query_cache query_cache;

/** cached_init() - forget everything. */
void cached_init(void);
/** cached_ask() - the question is @ask from now on: ask all domains. */
void cached_ask(struct query_ask ask);
/** cached_stale_slow() - see cached_stale(). */
void cached_stale_slow(const struct gpc *gpc);

/** cached_begin() - the question is @ask from now on; nothing to do if it was already. */
static inline void cached_begin(struct query_ask ask)
{
	if (unlikely(domains.asked != ask.whole))
		cached_ask(ask);
}

/** cached_stale() - the free slots or the credits of a GPC have changed, so its answers are stale. */
static inline void cached_stale(const struct gpc *gpc)
{
	if (likely(query_cache.ask.kind == TUTTI_CGA_GPC))
		query_cache.word[gpc->index / 32].stale |= 1u << (gpc->index % 32);
	else
		cached_stale_slow(gpc);
}

/** cached_gpc() - the speed of a CGA of @n CTAs in a GPC; QUERY_INVALID if the GPC has no credit left. */
static inline __attribute__((always_inline)) int cached_gpc(const struct gpc *gpc, uint32_t n, bool multicast)
{
	if (unlikely(!gpc->credits))
		return QUERY_INVALID;
	if (!multicast)
		return query_speed_gpc(gpc, n);
	return query_paired(gpc) ? query_speed_paired(gpc, n) : query_speed(gpc, gpc->all, n, true);
}

/** cached_number() - the number of the first domain in a word. */
static inline unsigned cached_number(const struct cached_word *word)
{
	return 32 * (unsigned)(word - query_cache.word);
}

/** cached_note() - note that the speed in domain @number of a word, which has bit @bit there, is @now. */
static inline void cached_note(struct cached_word *word, unsigned number, uint32_t bit, int now)
{
	int old = word->speed[number];

	if (likely(now == old))
		return;
	word->speed[number] = (int8_t)now;
	if (now >= 0) {
		word->fast[now] |= bit;
		word->used |= 0x80000000u >> now;
	}
	if (old >= 0) {
		word->fast[old] ^= bit;
		if (!word->fast[old])
			word->used ^= 0x80000000u >> old;
	}
}

/** cached_refresh() - ask all domains again whose answers are stale. */
void cached_refresh(void);

/**
 * cached_fastest() - the highest speed in the domains @within (NULL: all).
 * @single: all domains of the card are in one word
 * Return: QUERY_INVALID if no domain has room
 */
static inline int cached_fastest(const uint32_t *within, bool single)
{
	const struct cached_word *word = query_cache.word;
	uint32_t used = 0;
	int speed;

	do
		used |= word->used;
	while (!single && ++word < query_cache.end);
	for (; likely(used); used &= used - 1) {
		speed = (int)(31 - lowest_bit(used));
		if (!within)
			return speed;
		for (word = query_cache.word; word < query_cache.end; word++)
			if (word->fast[speed] & within[word - query_cache.word])
				return speed;
	}
	return QUERY_INVALID;
}

#endif

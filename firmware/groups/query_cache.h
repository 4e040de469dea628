/* SPDX-License-Identifier: MIT */
/**
 * DOC: Answers of the innermost domains to one question (spec CGA-11, CGA-15)
 *
 * The speed that a CGA would have in each domain is kept until something changes there. Domains stand in sets by
 * speed, so that the fastest ones are found whatever the size of the card.
 */
#ifndef QUERY_CACHE_H
#define QUERY_CACHE_H

#include "groups/cga_query.h"

#define CACHED_WORDS (DOMAIN_CPCS / 32)

/** struct cached_set - of innermost domains. */
struct cached_set {
	uint32_t word[CACHED_WORDS];
};

/** struct cached_word - 32 domains. */
struct cached_word {
	uint32_t stale;                 /* those to be asked again */
	uint32_t used;                  /* speeds that one of them has: s at bit 31 - s */
	int8_t speed[32];               /* of each domain, or QUERY_INVALID */
	uint32_t fast[LAKE_LEVELS];     /* those of each speed */
};

struct query_cache {
	struct query_ask ask;
	struct cached_word *end;        /* of those in use */
	struct cached_word word[CACHED_WORDS];
};
extern struct query_cache query_cache;

void cached_init(void);
/** cached_ask() - the question is @ask from now on; all domains are asked. */
void cached_ask(struct query_ask ask);
/** cached_stale_slow() - see cached_stale(). */
void cached_stale_slow(const struct gpc *gpc);
/** cached_other() - the speed in a domain, however it is found. */
int cached_other(unsigned domain);

/** cached_begin() - @ask is what is asked for now. */
static inline void cached_begin(struct query_ask ask)
{
	if (unlikely(domains.asked != ask.whole))
		cached_ask(ask);
}

/** cached_stale() - a GPC has other free slots or credits than when it was asked. */
static inline void cached_stale(const struct gpc *gpc)
{
	if (likely(query_cache.ask.kind == TUTTI_CGA_GPC))
		query_cache.word[gpc->index / 32].stale |= 1u << (gpc->index % 32);
	else
		cached_stale_slow(gpc);
}

/** cached_gpc() - the speed in a GPC, while it has ids, of a CGA of @n CTAs. */
static inline __attribute__((always_inline)) int cached_gpc(const struct gpc *gpc, uint32_t n, bool multicast)
{
	if (unlikely(!gpc->credits))
		return QUERY_INVALID;
	if (!multicast)
		return query_query_gpc(gpc, n);
	return query_paired(gpc) ? query_query_paired(gpc, n) : query_query(gpc, gpc->all, n, true);
}

/** cached_number() - of the first domain in a word. */
static inline unsigned cached_number(const struct cached_word *word)
{
	return 32 * (unsigned)(word - query_cache.word);
}

/** cached_note() - domain @number of a word, bit @bit, answers @now. */
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

/** cached_refresh() - ask again whoever may answer otherwise now. */
void cached_refresh(void);

/**
 * cached_fastest() - highest speed of the domains @within, NULL = all; QUERY_INVALID = there are none.
 * @single: the card has one word of domains
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
